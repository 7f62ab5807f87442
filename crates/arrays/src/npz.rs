//! NumPy's `.npz` files: archives of `.npy` files, as `numpy.savez` and `savez_compressed` write
//! them.

use crate::{ArrayError, npy};
use numerics::{Bytes, DType, Tensor};
use std::io::{Cursor, Seek, Write};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The extension of the members of an archive, which their names lack.
const EXTENSION: &str = ".npy";

/// An archive that is open for reading.
pub struct Archive {
    zip: ZipArchive<Cursor<Bytes>>,
    limit: usize,
}

impl Archive {
    /// Opens the archive in `bytes`, without reading its members.
    ///
    /// # Errors
    /// If the bytes are not a zip archive.
    pub fn new(bytes: impl Into<Bytes>) -> Result<Archive, ArrayError> {
        let zip = ZipArchive::new(Cursor::new(bytes.into()));
        zip.map(|zip| Archive { zip, limit: usize::MAX })
            .map_err(|e| failed("this is not an .npz file", &e))
    }

    /// Sets the largest size in bytes of a tensor that [`Archive::tensor`] reads, with its header.
    /// An archive may be a thousand times smaller than what it expands to. By default there is no
    /// limit but the memory budget of the thread.
    #[must_use]
    pub fn with_limit(self, bytes: usize) -> Archive {
        Archive { limit: bytes, ..self }
    }

    /// The names of the tensors, in the order of the archive.
    pub fn names(&self) -> Vec<String> {
        let members = self.zip.file_names().filter_map(Result::ok);
        members.filter_map(|name| Some(name.strip_suffix(EXTENSION)?.to_string())).collect()
    }

    /// Reads the tensor of that name with elements of type `dtype`, or of the type that they are
    /// stored as.
    ///
    /// # Errors
    /// If there is no such tensor, it is larger than the limit, or it cannot be read as that type.
    pub fn tensor(
        &mut self,
        name: &str,
        dtype: impl Into<Option<DType>>,
    ) -> Result<Tensor, ArrayError> {
        let member = self.zip.by_name(&format!("{name}{EXTENSION}"));
        let mut member = member.map_err(|e| failed(&format!("no tensor `{name}`"), &e))?;
        // The size that the archive announces may be wrong: reading decides.
        let expected = usize::try_from(member.size()).unwrap_or(0);
        let file = Bytes::read(&mut member, expected, self.limit)?;
        npy::read(file.into_vec(), dtype).map_err(|e| ArrayError::new(format!("`{name}`: {e}")))
    }
}

/// Writes an archive of tensors under names, compressed if `compress`.
///
/// # Errors
/// If two names are equal or `out` cannot be written.
pub fn write<'t>(
    tensors: impl IntoIterator<Item = (&'t str, &'t Tensor)>,
    compress: bool,
    out: impl Write + Seek,
) -> Result<(), ArrayError> {
    let method = if compress { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method).large_file(true);
    let mut zip = ZipWriter::new(out);
    let cannot = |e: ZipError| failed("cannot write the archive", &e);
    for (name, tensor) in tensors {
        zip.start_file(format!("{name}{EXTENSION}"), options).map_err(cannot)?;
        npy::write(tensor, &mut zip)?;
    }
    zip.finish().map(drop).map_err(cannot)
}

fn failed(what: &str, error: &ZipError) -> ArrayError {
    ArrayError::new(format!("{what}: {error}"))
}
