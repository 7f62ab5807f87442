//! `chlo.ragged_dot`.

use crate::constraints::{RANKED_INTS, TENSOR};
use crate::enums::PRECISION;
use mlir::ods::{AttrConstraint, AttrDef, ParamAssembly, ParamDef, ParamKind};
use mlir::{OpRef, Type, op};

const fn dims(name: &'static str) -> ParamDef {
    ParamDef { name, kind: ParamKind::I64s, optional: true }
}

/// `#chlo.ragged_dot<…>`
pub static RAGGED_DOT_DIMENSION_NUMBERS: AttrDef = AttrDef {
    dialect: "chlo",
    mnemonic: "ragged_dot",
    doc: "Which dimensions `ragged_dot` batches and contracts, which one is ragged, and which one numbers the groups.",
    params: &[
        dims("lhs_batching_dimensions"),
        dims("rhs_batching_dimensions"),
        dims("lhs_contracting_dimensions"),
        dims("rhs_contracting_dimensions"),
        dims("lhs_ragged_dimensions"),
        dims("rhs_group_dimensions"),
    ],
    assembly: ParamAssembly::Struct,
    verify: None,
    bounds: None,
    verify_encoding: None,
};

static PRECISION_CASE: AttrConstraint = AttrConstraint::Enum(&PRECISION);

op! {
    /// Products of matrices of which one dimension is divided into groups of different sizes.
    pub RaggedDotOp, "chlo.ragged_dot" {
        operands { lhs: single TENSOR, rhs: single TENSOR, group_sizes: single RANKED_INTS }
        results { result: single TENSOR }
        attributes {
            ragged_dot_dimension_numbers: required Def(&RAGGED_DOT_DIMENSION_NUMBERS),
            precision_config: optional ArrayOf(&PRECISION_CASE),
        }
        traits [Pure]
        hooks { refine: Some(refine) }
    }
}

/// The number of groups where a contracted dimension is ragged, the batching dimensions, then what is left of `lhs` and of `rhs`.
fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    let dot = RaggedDotOp(op);
    let numbers = dot.ragged_dot_dimension_numbers()?.as_dialect(&RAGGED_DOT_DIMENSION_NUMBERS)?;
    let list = |i: usize| numbers.get(i).and_then(|p| p.as_ref()?.as_int_array()).unwrap_or(&[]);
    let (lhs, rhs) = (op.operand_type(0).shape()?, op.operand_type(1).shape()?);
    let [ragged] = *list(4) else { return None };
    let without = |shape: &[i64], dropped: [&[i64]; 3]| -> Vec<i64> {
        let numbered = (0i64..).zip(shape);
        numbered.filter(|(d, _)| dropped.iter().all(|list| !list.contains(d))).map(|(_, &size)| size).collect()
    };
    let size = |&d: &i64| lhs.get(usize::try_from(d).ok()?).copied();
    let mut sizes = list(0).iter().map(size).collect::<Option<Vec<i64>>>()?;
    sizes.extend(without(lhs, [list(0), list(2), &[]]));
    sizes.extend(without(rhs, [list(1), list(3), list(5)]));
    if list(2).contains(&ragged) {
        sizes.insert(0, *op.operand_type(2).shape()?.last()?);
    }
    Some(vec![Type::tensor(sizes, op.result_type(0).element_type().clone())])
}
