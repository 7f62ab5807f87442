//! Every declaration of every dialect of this crate is well-formed.

use mlir::ods::{Arity, Trait};
use side_dialects::DIALECTS;

#[test]
fn formats_follow_the_grammar() {
    for op in DIALECTS.iter().flat_map(|d| d.ops) {
        if let Err(error) = op.format() {
            panic!("{}", error.0);
        }
    }
}

#[test]
fn ops_belong_to_their_dialect_and_have_docs() {
    for dialect in DIALECTS {
        for op in dialect.ops {
            assert_eq!(op.dialect(), dialect.namespace, "{}", op.name);
            assert!(!op.doc.trim().is_empty(), "{} has no doc", op.name);
        }
    }
}

#[test]
fn no_two_ops_share_a_name() {
    let mut names: Vec<_> = DIALECTS.iter().flat_map(|d| d.ops).map(|op| op.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|w| w[0] != w[1]));
}

/// Several variadic slots need a rule that assigns values to them.
#[test]
fn variadic_slots_can_be_told_apart() {
    for op in DIALECTS.iter().flat_map(|d| d.ops) {
        let open = |slots: &[mlir::ods::ValueSlot]| {
            slots.iter().filter(|s| s.arity != Arity::Single).count()
        };
        let rules = [Trait::AttrSizedOperandSegments, Trait::SameVariadicOperandSize];
        assert!(
            open(op.operands) < 2 || rules.iter().any(|t| op.has_trait(t)),
            "operands of {}",
            op.name
        );
        let rules = [Trait::AttrSizedResultSegments, Trait::SameVariadicResultSize];
        assert!(
            open(op.results) < 2 || rules.iter().any(|t| op.has_trait(t)),
            "results of {}",
            op.name
        );
        let sized = op.has_trait(&Trait::AttrSizedOperandSegments);
        assert_eq!(sized, op.attribute_index("operandSegmentSizes").is_some(), "{}", op.name);
    }
}
