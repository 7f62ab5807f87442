//! Defaults of attributes that artifacts must have.

use mlir::Attribute;
use portable::defaults::{is_default, names, value};
use vhlo::attrs;

#[test]
fn names_are_in_order_and_ops_have_them() {
    assert!(names().is_sorted());
    for name in names() {
        let has = |op: &&mlir::ods::OpDef| op.attribute_index(name).is_some();
        assert!(vhlo::ops::OPS.iter().any(has), "{name}");
    }
}

#[test]
fn a_default_is_one() {
    let window = Attribute::i64_elements(&[2], &[3, 3])
        .and_then(|elements| attrs::typed(&attrs::TENSOR, elements));
    for name in names() {
        let get = |name: &str| (name == "window_dimensions").then_some(window.as_ref()).flatten();
        let value = value(name, &get).unwrap();
        assert!(is_default(name, &value), "{name}");
    }
}
