//! Versions of VHLO and of its ops.

use vhlo::ops::{VERSIONED_OPS, in_version, versioned};
use vhlo::{InvalidVersion, Version};

#[test]
fn versions_read_and_compare() {
    let version = |text: &str| text.parse::<Version>();
    assert_eq!(version("1.20.0"), Ok(Version::new(1, 20)));
    assert!(version("0.9.0").unwrap() < version("0.10.0").unwrap());
    for text in
        ["", "1", "1.2", "1.2.3.4", "1.-2.3", "1.2.x", "+1.2.3", "1..3", "99999999999999999999.0.0"]
    {
        assert_eq!(version(text), Err(InvalidVersion), "{text}");
    }
    assert_eq!(version("1.16.2").unwrap().without_patch(), Version::new(1, 16));
}

#[test]
fn formats_are_those_of_the_compatibility_guarantees() {
    let format = |major, minor| Version::new(major, minor).bytecode_version();
    assert_eq!(
        [format(0, 9), format(0, 10), format(0, 11), format(0, 12), format(0, 13)],
        [0, 1, 1, 3, 3]
    );
    assert_eq!([format(0, 14), format(0, 15), format(1, 20)], [4, 6, 6]);
}

#[test]
fn ops_are_found() {
    assert!(VERSIONED_OPS.is_sorted_by_key(|op| op.def.name));
    for op in VERSIONED_OPS {
        assert!(versioned(op.def).is_some_and(|found| std::ptr::eq(found, op)));
        let first = in_version(op.family(), op.since);
        assert!(first.is_some_and(|found| std::ptr::eq(found, op)), "{}", op.def.name);
    }
    assert_eq!(
        in_version("reduce", Version::CURRENT).map(|op| op.def.name),
        Some("vhlo.reduce_v1")
    );
    assert!(in_version("nothing", Version::CURRENT).is_none());
    assert!(in_version("tan", Version::MINIMUM).is_none());
}
