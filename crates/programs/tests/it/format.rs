//! Formats of output files.

use programs::format::output_format;
use stablo::{Format, Version};
use std::path::Path;

#[test]
fn names_tell_formats() {
    let of = |name: &str, target| output_format(Path::new(name), target).ok();
    assert_eq!(of("-", None), Some(Format::Text));
    assert_eq!(of("a.mlir", None), Some(Format::Text));
    assert_eq!(of("a.mlirbc", None), Some(Format::Bytecode));
    assert_eq!(of("a.mlir.bc", None), Some(Format::Artifact(Version::CURRENT)));
    assert_eq!(of("a.out", Some("1.0.0")), Some(Format::Artifact(Version::new(1, 0))));
    assert_eq!(of("a.mlir", Some("1.0.0")), None);
    assert_eq!(of("a.pdf", None), None);
    assert_eq!(of("a.bc", Some("one")), None);
}
