//! Debugging by environment variables: the engine, copies of programs, checks and files of values,
//! profiles.

use crate::executable::Compiled;
use stablo::arrays::npy;
use stablo::ir::OpRef;
use stablo::numerics::{Complex32, Complex64, bf16, f16};
use stablo::{
    DType, Engine, Module, Observer, ProcessId, Profile, Profiling, RuntimeValue, Tensor,
    TraceIndex, Unobserved,
};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// True if a variable is set to something other than nothing or 0.
fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}

/// True if a variable asks for something that depends on the program as it arrived: programs of the
/// same content are then compiled again.
pub(crate) fn is_on() -> bool {
    static IS_ON: LazyLock<bool> = LazyLock::new(|| {
        let all = ["CHECK_NANS", "DUMP", "ENGINE", "PROFILE", "TRACE", "VERIFY"];
        all.iter().any(|name| is_set(&format!("STABLO_{name}")))
    });
    *IS_ON
}

/// The path in a variable, if it is set.
fn path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|path| !path.is_empty()).map(Into::into)
}

/// Reports what debugging could not do: it must not change what a program does.
fn complain(name: &str, path: &Path, error: &dyn std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{name}: cannot write {}: {error}", path.display());
}

/// The engine that `STABLO_ENGINE` names; the fast one by default.
///
/// # Errors
/// If there is no engine of that name.
pub(crate) fn engine() -> Result<Engine, String> {
    match std::env::var("STABLO_ENGINE").as_deref() {
        Err(_) | Ok("") => Ok(Engine::default()),
        Ok(name) => Engine::from_name(name).ok_or_else(|| {
            let names: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
            format!("STABLO_ENGINE is {name}, not one of {}", names.join(", "))
        }),
    }
}

/// True if `STABLO_VERIFY` asks to compare each execution with the interpreter.
pub(crate) fn verifies() -> bool {
    static VERIFIES: LazyLock<bool> = LazyLock::new(|| is_set("STABLO_VERIFY"));
    *VERIFIES
}

/// Writes a program to the folder of `STABLO_DUMP`, with a number and its name, as it arrived:
/// `stablo run` takes it. Programs are numbered in the order in which they are compiled. Returns
/// number and name, as folders and files have them.
pub(crate) fn dump(name: &str, source: &[u8]) -> String {
    static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| path("STABLO_DUMP"));
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .take(80)
        .collect();
    let title = format!("{number:05}_{name}");
    let Some(folder) = &*FOLDER else { return title };
    let ending = if stablo::is_bytecode(source) { "mlir.bc" } else { "mlir" };
    let path = folder.join(format!("{title}.{ending}"));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, source));
    if let Err(error) = written {
        complain("STABLO_DUMP", &path, &error);
    }
    title
}

/// The maximum number of executions of steps that a profile keeps of each program.
const MAX_EXECUTIONS: usize = 100_000;

/// Records of the runs of programs: with `STABLO_PROFILE`, each execution of a step.
pub(crate) fn profiling() -> Profiling {
    match *PROFILE {
        Some(_) => Profiling::Executions(MAX_EXECUTIONS),
        None => Profiling::Off,
    }
}

/// The file of `STABLO_PROFILE`.
static PROFILE: LazyLock<Option<PathBuf>> = LazyLock::new(|| path("STABLO_PROFILE"));

/// The programs that are profiled, in the order of compilation.
static PROFILED: Mutex<Vec<Arc<Compiled>>> = Mutex::new(Vec::new());

/// Keeps a program for the profile, if there is to be one.
pub(crate) fn keep_for_profile(compiled: &Arc<Compiled>) {
    if PROFILE.is_some() {
        PROFILED.lock().unwrap_or_else(PoisonError::into_inner).push(compiled.clone());
    }
}

/// Writes the profile of all programs, if there is to be one: a client is done.
pub(crate) fn write_profile() {
    let Some(path) = &*PROFILE else { return };
    let mut all = Profile::default();
    for compiled in PROFILED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        all.append(compiled.program.profile());
    }
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        all.write_trace(&mut out)?;
        out.flush()
    });
    if let Err(error) = written {
        complain("STABLO_PROFILE", path, &error);
    }
}

/// The observer of an execution: with `STABLO_CHECK_NANS`, it ends at the first op that makes a NaN
/// or an infinity; with `STABLO_TRACE`, it saves every value.
pub(crate) fn observer<'m>(title: &str, module: &'m Module) -> Box<dyn Observer + 'm> {
    static CHECKS: LazyLock<bool> = LazyLock::new(|| is_set("STABLO_CHECK_NANS"));
    static TRACE: LazyLock<Option<PathBuf>> = LazyLock::new(|| path("STABLO_TRACE"));
    static EXECUTION: AtomicUsize = AtomicUsize::new(0);
    match &*TRACE {
        Some(folder) => {
            let number = EXECUTION.fetch_add(1, Ordering::Relaxed);
            let folder = folder.join(format!("{number:05}_of_{title}"));
            Box::new(TraceFolder::new(module, folder, *CHECKS))
        }
        None if *CHECKS => Box::new(NanCheck),
        None => Box::new(Unobserved),
    }
}

/// Saves the values of an execution in a folder, as `.npy` files with an index of their ops and
/// places.
struct TraceFolder<'m> {
    folder: PathBuf,
    names: TraceIndex<'m>,
    saved: usize,
    /// The index, unless it cannot be written.
    index: Option<BufWriter<File>>,
    checks: bool,
}

impl<'m> TraceFolder<'m> {
    fn new(module: &'m Module, folder: PathBuf, checks: bool) -> TraceFolder<'m> {
        let made = fs::create_dir_all(&folder);
        let index = made.and_then(|()| File::create(folder.join("index.jsonl")));
        let index = index.map_err(|error| complain("STABLO_TRACE", &folder, &error)).ok();
        let index = index.map(BufWriter::new);
        TraceFolder { folder, names: TraceIndex::of(module), saved: 0, index, checks }
    }

    fn save(
        &mut self,
        process: ProcessId,
        (op, index): (OpRef<'_>, usize),
        tensor: &Tensor,
    ) -> std::io::Result<()> {
        let Some(out) = &mut self.index else { return Ok(()) };
        let file = format!("value_{:06}.npy", self.saved);
        let name = self.names.name(op, index);
        writeln!(out, "{}", self.names.line(process, (op, index), &name, tensor, &file))?;
        self.saved += 1;
        npy::write(tensor, &mut BufWriter::new(File::create(self.folder.join(file))?))
    }
}

impl Drop for TraceFolder<'_> {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.index.as_mut().map(BufWriter::flush) {
            complain("STABLO_TRACE", &self.folder, &error);
        }
    }
}

impl Observer for TraceFolder<'_> {
    fn traces(&self) -> bool {
        true
    }

    fn value(
        &mut self,
        process: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        if let RuntimeValue::Tensor(tensor) = value
            && index < op.num_results()
            && let Err(error) = self.save(process, (op, index), tensor)
        {
            complain("STABLO_TRACE", &self.folder, &error);
            self.index = None;
        }
        if self.checks { NanCheck.value(process, op, index, value) } else { Ok(()) }
    }
}

/// Ends a run at the first value that is not finite.
struct NanCheck;

impl Observer for NanCheck {
    fn traces(&self) -> bool {
        true
    }

    fn value(
        &mut self,
        _: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        // Constants such as the initial value of a maximum are meant.
        if op.operands().is_empty() {
            return Ok(());
        }
        let RuntimeValue::Tensor(tensor) = value else { return Ok(()) };
        match first_not_finite(tensor) {
            Some((at, found)) => Err(format!(
                "STABLO_CHECK_NANS: result {index} of {} has the element {found} at {at:?}",
                op.name()
            )),
            None => Ok(()),
        }
    }
}

/// The index and the text of the first element that is NaN or infinite.
fn first_not_finite(tensor: &Tensor) -> Option<(Vec<usize>, String)> {
    fn find<T: stablo::numerics::Element>(
        tensor: &Tensor,
        is_finite: impl Fn(&T) -> bool,
    ) -> Option<usize> {
        tensor.as_slice::<T>().ok()?.iter().position(|x| !is_finite(x))
    }
    let found = match tensor.dtype() {
        DType::F16 => find(tensor, |x: &f16| x.is_finite()),
        DType::BF16 => find(tensor, |x: &bf16| x.is_finite()),
        DType::F32 => find(tensor, |x: &f32| x.is_finite()),
        DType::F64 => find(tensor, |x: &f64| x.is_finite()),
        DType::C64 => find(tensor, |x: &Complex32| x.is_finite()),
        DType::C128 => find(tensor, |x: &Complex64| x.is_finite()),
        _ => None,
    }?;
    let mut rest = found;
    let mut at: Vec<usize> = Vec::new();
    for &size in tensor.shape().iter().rev() {
        at.push(rest % size);
        rest /= size;
    }
    at.reverse();
    let element = tensor.take(&at).ok()?;
    let text = match element.dtype() {
        DType::F32 => element.item::<f32>().ok()?.to_string(),
        DType::F64 => element.item::<f64>().ok()?.to_string(),
        other => format!("of {} that is not finite", other.name()),
    };
    Some((at, text))
}
