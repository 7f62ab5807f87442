//! The results of `stablo run`: printed, saved or compared with expected ones.

use crate::array_files::{Arrays, Wanted};
use crate::display::{display, element};
use crate::files::{FileSet, WriteSeek};
use crate::io::{CommandFailure, Io, cannot_print};
use stablo::arrays::{npy, npz, safetensors};
use stablo::dialects::func::FuncOp;
use stablo::{Comparison, Grid, ProcessId, RuntimeValue, Tensor, Tolerance, Type, counted};
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

/// The flags on results.
#[derive(clap::Args)]
pub(crate) struct ResultFlags {
    /// Save the results in this directory, as output_0.npy, output_1.npy, …, or in this .npz or
    /// .safetensors file, instead of printing them; with several processes, in subdirectories
    /// process_R_P
    #[arg(long, value_name = "PATH", visible_alias = "output-dir")]
    outputs: Option<PathBuf>,
    /// Compare the results with those in this directory or .npy, .npz or safetensors file, and fail
    /// if they differ; floats may differ as far as `torch.testing.assert_close` allows for their
    /// type
    #[arg(long, value_name = "PATH")]
    expect: Option<PathBuf>,
    /// With --expect: allowed distance from the expected number
    #[arg(long, value_name = "X", requires = "expect", value_parser = tolerance)]
    atol: Option<f64>,
    /// With --expect: allowed distance in proportion to the expected number
    #[arg(long, value_name = "X", requires = "expect", value_parser = tolerance)]
    rtol: Option<f64>,
    /// With --expect: allowed distance in units in the last place
    #[arg(long, value_name = "N", requires = "expect")]
    ulps: Option<u64>,
}

impl ResultFlags {
    /// Fails if the results would go to a directory whose name is that of a file of one array.
    ///
    /// # Errors
    /// See above.
    pub(crate) fn check(&self, io: &Io<'_>) -> Result<(), CommandFailure> {
        let array = |path: &&PathBuf| path.extension().is_some_and(|end| end == "npy");
        match self.outputs.as_ref().filter(array) {
            Some(path) if !io.path(path).is_dir() => Err(CommandFailure::usage(format!(
                "results are saved in a directory, a .npz or a .safetensors file, not in {}",
                path.display()
            ))),
            _ => Ok(()),
        }
    }

    /// How far a result may be from the expected one.
    fn tolerance(&self, leaf: &Leaf<'_>) -> Tolerance {
        match self {
            ResultFlags { atol: None, rtol: None, ulps: None, .. } => {
                Tolerance::of(leaf.tensor.dtype())
            }
            ResultFlags { atol, rtol, ulps, .. } => Tolerance {
                absolute: atol.unwrap_or_default(),
                relative: rtol.unwrap_or_default(),
                ulps: ulps.unwrap_or_default(),
            },
        }
    }
}

/// Parses a distance.
pub(crate) fn tolerance(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "this is not a number".to_string())?;
    if number >= 0.0 { Ok(number) } else { Err("it must be at least 0".into()) }
}

/// The directory of the inputs or outputs of a process.
pub(crate) fn folder(process: ProcessId) -> String {
    format!("process_{}_{}", process.replica, process.partition)
}

/// A tensor among the results.
struct Leaf<'a> {
    /// Its position among the results; of an element of a tuple, such as `0_1`, also within that.
    number: String,
    /// The name in the program.
    name: Option<&'a str>,
    tensor: &'a Tensor,
}

impl Leaf<'_> {
    fn file_stem(&self) -> String {
        format!("output_{}", self.number)
    }
}

/// The results of each process.
pub(crate) struct RunResults<'m> {
    types: &'m [Type],
    names: Vec<Option<String>>,
    grid: Option<Grid>,
    values: Vec<Vec<RuntimeValue>>,
}

impl<'m> RunResults<'m> {
    /// The results of a run of `function`.
    pub(crate) fn new(
        function: FuncOp<'m>,
        grid: Option<Grid>,
        values: Vec<Vec<RuntimeValue>>,
    ) -> RunResults<'m> {
        let (types, names) = (function.signature().1, stablo::result_names(function));
        RunResults { types, names, grid, values }
    }

    /// Prints, saves or compares the results.
    ///
    /// # Errors
    /// If they cannot be written, or are not as expected.
    pub(crate) fn output(
        &self,
        flags: &ResultFlags,
        io: &mut Io<'_>,
    ) -> Result<(), CommandFailure> {
        if flags.outputs.is_none() && flags.expect.is_none() {
            return self.print(io);
        }
        if let Some(path) = &flags.outputs {
            self.save(path, io)?;
        }
        match &flags.expect {
            Some(path) => self.compare(path, flags, io),
            None => Ok(()),
        }
    }

    /// The results of each process, with the process if there are several.
    fn processes(&self) -> impl Iterator<Item = (Option<ProcessId>, &[RuntimeValue])> {
        let process = |number| self.grid.and_then(|grid| grid.process(number));
        self.values.iter().enumerate().map(move |(number, values)| (process(number), &values[..]))
    }

    fn leaves<'a>(&'a self, values: &'a [RuntimeValue]) -> Vec<Leaf<'a>> {
        fn add<'a>(
            value: &'a RuntimeValue,
            number: String,
            name: Option<&'a str>,
            all: &mut Vec<Leaf<'a>>,
        ) {
            match value {
                RuntimeValue::Tensor(tensor) => all.push(Leaf { number, name, tensor }),
                RuntimeValue::Token => {}
                RuntimeValue::Tuple(values) => {
                    for (i, value) in values.iter().enumerate() {
                        add(value, format!("{number}_{i}"), None, all);
                    }
                }
            }
        }
        let mut all = Vec::new();
        for ((index, value), name) in values.iter().enumerate().zip(&self.names) {
            add(value, index.to_string(), name.as_deref(), &mut all);
        }
        all
    }

    fn print(&self, io: &mut Io<'_>) -> Result<(), CommandFailure> {
        for (process, values) in self.processes() {
            for (index, (value, ty)) in values.iter().zip(self.types).enumerate() {
                let name = describe(process, &index.to_string(), self.names[index].as_deref());
                display(io.stdout, &name, value, ty).map_err(cannot_print)?;
            }
        }
        Ok(())
    }

    fn save(&self, path: &Path, io: &mut Io<'_>) -> Result<(), CommandFailure> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let format = extension.filter(|extension| ["npz", "safetensors"].contains(extension));
        let Some(format) = format else { return self.save_in_directory(path, io) };
        let [values] = &self.values[..] else {
            return Err(CommandFailure::usage("the results of several processes need a directory"));
        };
        let leaves = self.leaves(values);
        let name = |leaf: &Leaf<'_>| leaf.name.map_or_else(|| leaf.file_stem(), str::to_string);
        let named: Vec<(String, &Tensor)> =
            leaves.iter().map(|leaf| (name(leaf), leaf.tensor)).collect();
        let named = named.iter().map(|(name, tensor)| (&**name, *tensor));
        if format == "npz" {
            return io.write_file(path, |out| write_archive(named, out));
        }
        let file = safetensors::write(named).map_err(|error| {
            CommandFailure::input(format!("cannot write {}: {error}", path.display()))
        });
        io.write(path, &file?)
    }

    fn save_in_directory(&self, directory: &Path, io: &mut Io<'_>) -> Result<(), CommandFailure> {
        let mut files = FileSet::default();
        for (process, values) in self.processes() {
            let directory =
                process.map_or(directory.to_path_buf(), |process| directory.join(folder(process)));
            std::fs::create_dir_all(io.path(&directory)).map_err(|e| {
                CommandFailure::input(format!(
                    "cannot make the directory {}: {e}",
                    directory.display()
                ))
            })?;
            for leaf in self.leaves(values) {
                let file = directory.join(format!("{}.npy", leaf.file_stem()));
                io.add_file(&mut files, &file, |out| npy::write(leaf.tensor, out))?;
            }
        }
        files.commit().map_err(|e| CommandFailure::input(format!("cannot write the outputs: {e}")))
    }

    fn compare(
        &self,
        path: &Path,
        flags: &ResultFlags,
        io: &mut Io<'_>,
    ) -> Result<(), CommandFailure> {
        let (mut different, mut total) = (0, 0);
        for (process, values) in self.processes() {
            let own = process.map(|process| path.join(folder(process)));
            let path = own.filter(|own| io.path(own).is_dir()).unwrap_or(path.to_path_buf());
            let mut arrays = Arrays::open(&path, io)?;
            for leaf in self.leaves(values) {
                let wanted = Wanted { stem: "output", number: &leaf.number, name: leaf.name };
                let expected = arrays.find(&wanted, leaf.tensor.dtype(), io);
                let verdict = expected
                    .and_then(|expected| verdict(leaf.tensor, &expected, &flags.tolerance(&leaf)));
                total += 1;
                different += usize::from(verdict.is_err());
                let (Ok(text) | Err(text)) = verdict;
                let what = describe(process, &leaf.number, leaf.name);
                io.print(format!("{what}: {text}\n"))?;
            }
        }
        match different {
            0 => Ok(()),
            _ => {
                let are = if different == 1 { "is" } else { "are" };
                Err(CommandFailure::input(format!(
                    "{different} of {} {are} not as expected in {}",
                    counted(total, "output"),
                    path.display()
                )))
            }
        }
    }
}

/// Writes an archive where it is to be, or in memory first if it is written to a pipe.
fn write_archive<'t>(
    tensors: impl IntoIterator<Item = (&'t str, &'t Tensor)>,
    out: &mut dyn WriteSeek,
) -> io::Result<()> {
    if out.stream_position().is_ok() {
        return npz::write(tensors, false, out).map_err(io::Error::other);
    }
    let mut file = Cursor::new(Vec::new());
    npz::write(tensors, false, &mut file).map_err(io::Error::other)?;
    out.write_all(file.get_ref())
}

/// `output 0`, with its process and name if it has them.
fn describe(process: Option<ProcessId>, number: &str, name: Option<&str>) -> String {
    let of = process.map_or(String::new(), |process| format!("process {process} "));
    let name = name.map_or(String::new(), |name| format!(" ({name})"));
    format!("{of}output {number}{name}")
}

/// How a result compares with the expected one; an error if it is not close.
pub(crate) fn verdict(
    found: &Tensor,
    expected: &Tensor,
    tolerance: &Tolerance,
) -> Result<String, String> {
    if found.shape() != expected.shape() {
        let (found, expected) = (found.shape(), expected.shape());
        return Err(format!("the shape is {found:?}, but {expected:?} is expected"));
    }
    let comparison = stablo::compare(found, expected, tolerance).map_err(|e| e.to_string())?;
    let Comparison { differing, worst, max_distance, max_ulps } = comparison;
    let Some(worst) = worst else { return Ok("equal".into()) };
    let ulps = match max_ulps {
        Some(u64::MAX) | None => String::new(),
        Some(ulps) => format!(", {ulps} ULP"),
    };
    let distance = format!("up to {max_distance:.3e}{ulps}");
    if differing == 0 {
        return Ok(format!("close (off by {distance})"));
    }
    let mut at = Vec::with_capacity(found.rank());
    let mut rest = worst;
    for stride in found.strides() {
        at.push(rest / stride.max(1));
        rest %= stride.max(1);
    }
    let are = if differing == 1 { "is" } else { "are" };
    Err(format!(
        "{differing} of {} {are} off by {distance}; at {at:?}, {} is expected, found {}",
        counted(found.num_elements() as u64, "element"),
        element(expected, worst),
        element(found, worst)
    ))
}
