//! `chlo.ragged_dot`.

use crate::constraints::{RANKED_INTS, TENSOR};
use crate::enums::PRECISION;
use mlir::ods::{AttrConstraint, AttrDef, ParamAssembly, ParamDef, ParamKind};
use mlir::op;

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
    }
}
