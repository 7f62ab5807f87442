//! Limits of memory.

use programs::limits::{control_group_memory, default_memory};
use std::path::Path;

fn limit(files: &[(&str, &str)]) -> Option<usize> {
    control_group_memory(&|path| {
        let file = files.iter().find(|(name, _)| Path::new(name) == path);
        file.map(|(_, text)| text.to_string())
    })
}

#[test]
fn control_groups_limit_memory() {
    let of = |path: &'static str, text| (path, text);
    let own = of("/proc/self/cgroup", "0::/user/session\n");
    assert_eq!(limit(&[]), None);
    assert_eq!(limit(&[own, of("/sys/fs/cgroup/user/session/memory.max", "max\n")]), None);
    let outer = of("/sys/fs/cgroup/user/memory.max", "2000\n");
    let inner = of("/sys/fs/cgroup/user/session/memory.max", "3000\n");
    assert_eq!(limit(&[own, outer, inner]), Some(2000));
    let old = of("/proc/self/cgroup", "9:cpu:/x\n4:memory:/docker/a\n");
    let root = of("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
    assert_eq!(limit(&[old, root]), Some(4096));
}

#[test]
fn there_is_a_default_limit_of_memory() {
    if cfg!(unix) {
        assert!(default_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
