//! The declarations are complete and consistent.

use hlo::STABLEHLO;
use mlir::ods::{Directive, Registry};

#[test]
fn all_ops_are_registered_in_order() {
    // The number of ops of StableHLO 1.x: 107 of the specification, `return`, and deprecated or
    // unspecified ones.
    assert_eq!(STABLEHLO.ops.len(), 118);
    let names: Vec<_> = STABLEHLO.ops.iter().map(|op| op.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let registry = Registry::new(&[&STABLEHLO]);
    for op in STABLEHLO.ops {
        assert!(registry.op(op.name).is_some_and(|found| std::ptr::eq(found, *op)), "{}", op.name);
    }
}

#[test]
fn attributes_types_and_enums_are_in_order() {
    assert!(STABLEHLO.attributes.is_sorted_by_key(|a| a.mnemonic));
    assert!(STABLEHLO.types.is_sorted_by_key(|t| t.mnemonic));
    assert!(STABLEHLO.enums.is_sorted_by_key(|e| e.mnemonic));
}

#[test]
fn every_op_is_documented_and_its_format_reads() {
    for op in STABLEHLO.ops {
        assert_eq!(op.dialect(), "stablehlo", "{}", op.name);
        assert!(!op.doc.trim().is_empty(), "{}", op.name);
        let directives = op.format();
        assert!(directives.is_ok(), "{directives:?}");
        let customs = directives.into_iter().flatten().filter_map(|d| match d {
            Directive::Custom(name, _) => Some(name),
            _ => None,
        });
        for name in customs {
            assert!(STABLEHLO.directive(name).is_some(), "{}: custom<{name}>", op.name);
        }
    }
}
