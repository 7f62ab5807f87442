//! Arrays on disk: inputs and expected results of `stablo run`.

use crate::io::{CommandFailure, Io};
use stablo::arrays::{npy, npz, safetensors};
use stablo::{DType, Tensor};
use std::path::{Path, PathBuf};

/// An array of a program: an argument or a result.
pub(crate) struct Wanted<'a> {
    /// `input` or `output`, the stem of names with numbers.
    pub stem: &'static str,
    /// Its position among the arguments or results.
    pub number: &'a str,
    /// Its name in the program.
    pub name: Option<&'a str>,
}

impl Wanted<'_> {
    /// The names that the array may have in a file, the preferred one first.
    fn names(&self) -> Vec<String> {
        let Wanted { stem, number, name } = *self;
        let own = name.map(str::to_string);
        // The last ones are the names that `numpy.savez` gives, and plain numbers.
        let numbered = [format!("{stem}_{number}"), format!("arr_{number}"), number.to_string()];
        own.into_iter().chain(numbered).collect()
    }
}

/// A file or directory of arrays.
pub(crate) enum Arrays {
    /// A directory of `.npy` files.
    Directory(PathBuf),
    /// An `.npy` file; `None` once its array is taken.
    Npy(Option<Vec<u8>>),
    /// An archive of NumPy.
    Npz(npz::Archive),
    /// A file of named tensors.
    Safetensors(safetensors::File),
}

impl Arrays {
    /// Opens a file, whose content tells its format, or a directory.
    ///
    /// # Errors
    /// If it cannot be read, or has another format.
    pub(crate) fn open(path: &Path, io: &mut Io<'_>) -> Result<Arrays, CommandFailure> {
        if io.path(path).is_dir() {
            return Ok(Arrays::Directory(path.to_path_buf()));
        }
        let bytes = io.read(path)?;
        let failed = |e| CommandFailure::input(format!("cannot read {}: {e}", path.display()));
        match &bytes[..] {
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Ok(Arrays::Npy(Some(bytes))),
            [b'P', b'K', ..] => npz::Archive::new(bytes).map(Arrays::Npz).map_err(failed),
            // The length of a header in JSON comes first.
            [_, _, _, _, _, _, _, _, b'{', ..] => {
                safetensors::File::new(bytes).map(Arrays::Safetensors).map_err(failed)
            }
            _ => Err(CommandFailure::input(format!(
                "cannot read {}: it is no .npy, .npz or safetensors file",
                path.display()
            ))),
        }
    }

    /// The array for an argument or result, with elements of type `dtype`.
    ///
    /// # Errors
    /// If there is none, or it cannot be read as that type.
    pub(crate) fn find(
        &mut self,
        wanted: &Wanted<'_>,
        dtype: DType,
        io: &mut Io<'_>,
    ) -> Result<Tensor, String> {
        let candidates = wanted.names();
        if matches!(self, Arrays::Npy(_)) {
            return self.only(dtype, io);
        }
        let names = self.names(io);
        let Some(name) = candidates.iter().find(|name| names.contains(name)) else {
            let quoted = |names: &[String]| {
                let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                quoted.join(", ")
            };
            let has = if names.is_empty() { "no arrays".into() } else { quoted(&names) };
            return Err(format!("there is no array {}; it has {has}", quoted(&candidates)));
        };
        self.named(name, dtype, io)
    }

    /// True if there is an array for an argument or result.
    pub(crate) fn has(&self, wanted: &Wanted<'_>, io: &Io<'_>) -> bool {
        let names = self.names(io);
        wanted.names().iter().any(|name| names.contains(name))
    }

    /// The array of that name, with elements of type `dtype`.
    ///
    /// # Errors
    /// If there is none, or it cannot be read as that type.
    pub(crate) fn named(
        &mut self,
        name: &str,
        dtype: DType,
        io: &mut Io<'_>,
    ) -> Result<Tensor, String> {
        let array = match self {
            Arrays::Directory(directory) => {
                let file = io.read(&directory.join(format!("{name}.npy")));
                npy::read(file.map_err(|failure| failure.to_string())?, dtype)
            }
            Arrays::Npy(_) => return Err("an .npy file has one array, without a name".into()),
            Arrays::Npz(archive) => archive.tensor(name, dtype),
            Arrays::Safetensors(file) => file.tensor(name, dtype),
        };
        array.map_err(|error| error.to_string())
    }

    /// The array of a file of one, with elements of type `dtype`.
    ///
    /// # Errors
    /// If there are several, or it cannot be read as that type.
    pub(crate) fn only(&mut self, dtype: DType, io: &mut Io<'_>) -> Result<Tensor, String> {
        if let Arrays::Npy(file) = self {
            let file = file.take().ok_or("an .npy file has only one array")?;
            return npy::read(file, dtype).map_err(|error| error.to_string());
        }
        match &self.names(io)[..] {
            [name] => self.named(name, dtype, io),
            names => Err(format!("it has {} arrays; write FILE:NAME for one of them", names.len())),
        }
    }

    /// The names of the arrays.
    fn names(&self, io: &Io<'_>) -> Vec<String> {
        match self {
            Arrays::Directory(directory) => {
                let files = std::fs::read_dir(io.path(directory)).into_iter().flatten().flatten();
                let name = |name: std::ffi::OsString| {
                    Some(name.to_str()?.strip_suffix(".npy")?.to_string())
                };
                let mut names: Vec<String> =
                    files.filter_map(|file| name(file.file_name())).collect();
                names.sort_unstable();
                names
            }
            Arrays::Npy(_) => Vec::new(),
            Arrays::Npz(archive) => archive.names(),
            Arrays::Safetensors(file) => file.names(),
        }
    }
}
