//! Output files: each is written whole or not at all, and several together or none.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Symbolic links that are followed to the file that they stand for.
const MAX_LINKS: usize = 40;

/// A file that is written. Seeking fails in pipes and other special files.
pub trait WriteSeek: Write + Seek {}

impl<T: Write + Seek> WriteSeek for T {}

/// A file that was written, but is not at its path yet.
///
/// Until then it has no name where the system supports that, so that nothing is left of a process
/// that is killed. Dropping it discards it.
pub struct Staged {
    content: FileContent,
    path: PathBuf,
}

enum FileContent {
    /// In a special file, such as a pipe, to which writing is final.
    Final,
    /// In a file without a name, in the directory of the path.
    Unnamed(File),
    /// In a temporary file.
    Named(Temporary),
}

/// The path of a temporary file, which is removed when it is dropped.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // Renaming it was successful, or the failure is reported already.
        let _ = fs::remove_file(&self.0);
    }
}

impl Staged {
    /// Writes a file. Existing devices, pipes and other special files are written in place, as
    /// replacing them would end them.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(
        path: &Path,
        write: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
    ) -> io::Result<Staged> {
        let existing = fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|m| !m.is_file() && !m.is_dir()) {
            fill(&File::options().write(true).open(path)?, write)?;
            return Ok(Staged { content: FileContent::Final, path: path.to_path_buf() });
        }
        let path = resolve_links(path)?;
        if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let (file, content) = match unnamed_file(directory(&path)) {
            Ok(file) => (file.try_clone()?, FileContent::Unnamed(file)),
            Err(_) => {
                let name = temporary_path(&path);
                (File::create_new(&name)?, FileContent::Named(Temporary(name)))
            }
        };
        if let Some(existing) = existing {
            file.set_permissions(existing.permissions())?;
        }
        fill(&file, write)?;
        Ok(Staged { content, path })
    }

    /// Moves the file to its path, atomically.
    ///
    /// # Errors
    /// If it cannot be moved.
    pub fn commit(self) -> io::Result<()> {
        let temporary = match self.content {
            FileContent::Final => return Ok(()),
            FileContent::Named(temporary) => temporary,
            FileContent::Unnamed(file) => {
                let temporary = Temporary(temporary_path(&self.path));
                name_file(&file, &temporary.0)?;
                temporary
            }
        };
        fs::rename(&temporary.0, &self.path)
    }

    /// Gives the file a temporary name, so that it needs no open file.
    fn close(mut self) -> io::Result<Staged> {
        if let FileContent::Unnamed(file) = &self.content {
            let temporary = Temporary(temporary_path(&self.path));
            name_file(file, &temporary.0)?;
            self.content = FileContent::Named(temporary);
        }
        Ok(self)
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
) -> io::Result<()> {
    Staged::write(path, write)?.commit()
}

/// Files that appear together once all are written.
#[derive(Default)]
pub struct FileSet {
    files: Vec<Staged>,
}

impl FileSet {
    /// Files that are kept open; a process may not have many more.
    const MAX_OPEN: usize = 64;

    /// Adds a file.
    ///
    /// # Errors
    /// If it cannot be written, or has the path of another one of the set.
    pub fn add(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>,
    ) -> io::Result<()> {
        let staged = Staged::write(path, write)?;
        let is_open = self.files.len() < FileSet::MAX_OPEN;
        self.files.push(if is_open { staged } else { staged.close()? });
        Ok(())
    }

    /// Moves all files to their paths.
    ///
    /// # Errors
    /// The first file that cannot be moved.
    pub fn commit(self) -> io::Result<()> {
        self.files.into_iter().try_for_each(Staged::commit)
    }
}

/// True if two paths stand for the same file, existing or not.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let normal = |path: &Path| {
        let path = resolve_links(path).ok()?;
        Some(fs::canonicalize(directory(&path)).ok()?.join(path.file_name()?))
    };
    a == b || normal(a).is_some_and(|a| Some(a) == normal(b))
}

fn fill(file: &File, write: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()
}

/// Follows symbolic links to a path that may not exist.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = directory(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// An unused path beside `path`. Its name is short, as the one of `path` may be as long as names
/// can be.
fn temporary_path(path: &Path) -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    directory(path).join(format!(".stablo.{}.{number}.tmp", std::process::id()))
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn unnamed_file(directory: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).custom_flags(libc::O_TMPFILE).open(directory)
}

/// Gives a name to a file without one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "a function of C; the block gives the reason")]
fn name_file(file: &File, path: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: both are strings that end with NUL and live until the function returns.
    let result = unsafe {
        libc::linkat(
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            libc::AT_SYMLINK_FOLLOW,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn unnamed_file(_: &Path) -> io::Result<File> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn name_file(_: &File, _: &Path) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}
