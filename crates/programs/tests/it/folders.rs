//! Names of files in folders.

use programs::folders::is_file_name;

#[test]
fn weights_are_in_their_folder() {
    assert!(["w", "layer.w", "..w"].into_iter().all(is_file_name));
    assert!(!["", ".", "..", "/w", "../w", "a/w", "w/"].into_iter().any(is_file_name));
}
