//! Debugging by environment variables: the engine, copies of programs, checks of values.

use stablo::ir::OpRef;
use stablo::numerics::{Complex32, Complex64, bf16, f16};
use stablo::{DType, Engine, Observer, ProcessId, RuntimeValue, Tensor, Unobserved};
use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// True if a variable is set to something other than nothing or 0.
fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}

/// The engine that `STABLO_ENGINE` names; the fast one by default.
pub fn engine() -> Engine {
    match std::env::var("STABLO_ENGINE").as_deref() {
        Ok("reference") => Engine::Reference,
        _ => Engine::default(),
    }
}

/// Writes a program to the folder of `STABLO_DUMP`, with a number and its name, as it arrived:
/// `stablo run` takes it. Programs are numbered in the order in which they are compiled.
pub fn dump(name: &str, source: &[u8]) {
    static FOLDER: LazyLock<Option<PathBuf>> =
        LazyLock::new(|| std::env::var_os("STABLO_DUMP").filter(|f| !f.is_empty()).map(Into::into));
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let Some(folder) = &*FOLDER else { return };
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .take(80)
        .collect();
    let ending = if stablo::is_bytecode(source) { "mlir.bc" } else { "mlir" };
    let path = folder.join(format!("{number:05}_{name}.{ending}"));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, source));
    if let Err(error) = written {
        // Debugging must not change what a program does.
        let _ =
            writeln!(std::io::stderr(), "STABLO_DUMP: cannot write {}: {error}", path.display());
    }
}

/// The observer of an execution: with `STABLO_CHECK_NANS`, it ends at the first op that makes a NaN
/// or an infinity.
pub fn observer() -> Box<dyn Observer> {
    static CHECKS: LazyLock<bool> = LazyLock::new(|| is_set("STABLO_CHECK_NANS"));
    if *CHECKS { Box::new(NanCheck) } else { Box::new(Unobserved) }
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
