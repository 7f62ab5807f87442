//! Copies of folders.

use std::fs;
use std::path::Path;

/// Copies a folder and what is in it, after `edit` has changed the contents of each file.
pub(crate) fn copy(from: &Path, to: &Path, edit: &dyn Fn(&Path, Vec<u8>) -> Vec<u8>) {
    fs::create_dir_all(to).expect("a folder is made");
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target, edit);
        } else {
            let contents = fs::read(&path).expect("the file can be read");
            fs::write(target, edit(&path, contents)).expect("a file is written");
        }
    }
}
