//! Output files appear whole or not at all, with the links and modes that are there.

use programs::files::{FileSet, Staged, is_same_file, write_whole};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

fn scratch(name: &str) -> PathBuf {
    let directory =
        std::env::temp_dir().join(format!("stablo-files-{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}

#[test]
fn pipes_and_links_stay() {
    let directory = scratch("pipes");
    let [pipe, file, link] = ["pipe", "file", "link"].map(|name| directory.join(name));

    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    write_whole(&pipe, |out| out.write_all(b"through")).unwrap();
    assert_eq!(reader.join().unwrap(), b"through");
    assert!(!fs::metadata(&pipe).unwrap().is_file());

    fs::write(&file, "old").unwrap();
    symlink(&file, &link).unwrap();
    write_whole(&link, |out| out.write_all(b"new")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b"new");

    let failed = write_whole(&file, |_| Err(std::io::Error::other("no")));
    assert!(failed.is_err());
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 3);
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn links_to_nothing_make_their_target() {
    let directory = scratch("links");
    let (target, link) = (directory.join("target"), directory.join("link"));
    symlink("target", &link).unwrap();
    write_whole(&link, |out| out.write_all(b"x")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&target).unwrap(), b"x");
    assert!(is_same_file(&target, &link));

    let cycle = directory.join("cycle");
    symlink("cycle", &cycle).unwrap();
    assert!(write_whole(&cycle, |out| out.write_all(b"x")).is_err());
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn replaced_files_keep_their_mode() {
    let directory = scratch("mode");
    let file = directory.join("file");
    for mode in [0o600, 0o755] {
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        write_whole(&file, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode);
    }
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn names_may_be_as_long_as_the_system_allows() {
    let directory = scratch("long");
    let file = directory.join("n".repeat(255));
    write_whole(&file, |out| out.write_all(b"x")).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"x");
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn sets_appear_together_and_leave_nothing_if_dropped() {
    let directory = scratch("set");
    let path = |i: usize| directory.join(format!("file_{i}"));
    let fill = |count: usize| {
        let mut set = FileSet::default();
        for i in 0..count {
            set.add(&path(i), |out| out.write_all(b"x")).unwrap();
        }
        assert!((0..count).all(|i| !path(i).exists()));
        set
    };
    drop(fill(100));
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    fill(100).commit().unwrap();
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 100);
    drop(Staged::write(&path(0), |out| out.write_all(b"y")).unwrap());
    assert_eq!(fs::read(path(0)).unwrap(), b"x");
    fs::remove_dir_all(&directory).unwrap();
}
