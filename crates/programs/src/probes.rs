//! Output of `interpreter.probe`: files `probeN_name.npy`, and `index.csv` with a line
//! `probe_id,type,file` for each.
//!
//! Source: StableHLO, `docs/reference.md` and `stablehlo-translate --probe-output-dir`.

use crate::files::write_whole;
use stablo::arrays::npy;
use stablo::{Tensor, Type};
use std::path::{Path, PathBuf};

/// Name of the index file.
const INDEX: &str = "index.csv";

/// An output directory for probes.
pub struct Probes {
    /// As given by the user.
    directory: PathBuf,
    /// The directory that it is relative to.
    cwd: PathBuf,
    saved: Vec<Probe>,
}

struct Probe {
    name: String,
    ty: Type,
    file: PathBuf,
}

impl Probes {
    /// Probes in `directory`, relative to `cwd`, which is created when the first one is saved.
    pub fn new(directory: PathBuf, cwd: PathBuf) -> Probes {
        Probes { directory, cwd, saved: Vec::new() }
    }

    /// Saves a tensor under a name, which may be repeated.
    ///
    /// # Errors
    /// If the files cannot be written, or the name contains characters that the index cannot
    /// represent.
    pub fn save(&mut self, name: &str, ty: &Type, tensor: &Tensor) -> Result<(), String> {
        if name.contains([',', '\n', '\r']) {
            return Err(format!(
                "a probe cannot be named `{}`: the index has a line of fields for each",
                name.escape_debug()
            ));
        }
        let directory = self.cwd.join(&self.directory);
        std::fs::create_dir_all(&directory)
            .map_err(|e| format!("cannot make the directory {}: {e}", self.directory.display()))?;
        let file =
            self.directory.join(format!("probe{}_{}.npy", self.saved.len() + 1, file_part(name)));
        self.write(&file, |out| npy::write(tensor, out))?;
        self.saved.push(Probe { name: name.to_string(), ty: ty.clone(), file });
        Ok(())
    }

    /// Writes the index of all saved probes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(&self) -> Result<(), String> {
        if self.saved.is_empty() {
            return Ok(());
        }
        let lines =
            self.saved.iter().map(|p| format!("{},{},{}\n", p.name, p.ty, p.file.display()));
        let text: String = lines.collect();
        self.write(&self.directory.join(INDEX), |out| out.write_all(text.as_bytes()))
    }

    fn write(
        &self,
        file: &Path,
        write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> Result<(), String> {
        write_whole(&self.cwd.join(file), |out| write(out))
            .map_err(|e| format!("cannot write {}: {e}", file.display()))
    }

    /// The value saved under a name in the given iteration, counted from 0.
    ///
    /// # Errors
    /// If there is no such file, or it cannot be read.
    pub fn read(&self, name: &str, iteration: usize) -> Result<(String, Tensor), String> {
        let mut named = self.saved.iter().filter(|probe| probe.name == name);
        let probe = named
            .nth(iteration)
            .ok_or_else(|| format!("there is no iteration {iteration} of the probe `{name}`"))?;
        let dtype =
            stablo::storage_dtype(&probe.ty).ok_or("elements of this type have no storage")?;
        let bytes = std::fs::read(self.cwd.join(&probe.file))
            .map_err(|e| format!("cannot read {}: {e}", probe.file.display()))?;
        let tensor = npy::read(bytes, dtype).map_err(|error| error.to_string())?;
        Ok((probe.ty.to_string(), tensor))
    }
}

/// A form of the name that is valid in file names.
fn file_part(name: &str) -> String {
    const LONGEST: usize = 64;
    let allowed =
        |c: char| if c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c) { c } else { '_' };
    name.chars().take(LONGEST).map(allowed).collect()
}
