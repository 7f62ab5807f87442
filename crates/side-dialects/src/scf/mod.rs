//! The scf dialect: loops and branches that some front ends emit around StableHLO.
//!
//! Source: MLIR, "'scf' Dialect".

mod conditional;
mod for_loop;
mod while_loop;

pub use conditional::IfOp;
pub use for_loop::ForOp;
pub use while_loop::{ConditionOp, WhileOp};

use mlir::ods::{Dialect, TypeConstraint};
use mlir::op;
use mlir::{Module, RegionId, Type};

/// The scf dialect.
pub static SCF: Dialect = Dialect {
    namespace: "scf",
    partial: true,
    has_all_types: true,
    ops: &[ConditionOp::DEF, ForOp::DEF, IfOp::DEF, WhileOp::DEF, YieldOp::DEF],
    ..Dialect::EMPTY
};

op! {
    /// Terminates the region of a loop with the next carried values, and a branch with its results.
    pub YieldOp, "scf.yield" {
        operands { results: variadic TypeConstraint::ANY }
        traits [
            Pure, Terminator, ReturnLike,
            HasParent(&[
                "scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while",
            ]),
        ]
        hooks {
            format: "attr-dict ($results^ `:` type($results))?",
        }
    }
}

/// The types of a region's arguments and of its terminator's operands.
fn region_types(module: &Module, region: RegionId) -> (Vec<&Type>, Vec<&Type>) {
    let Some(block) = module.entry(region) else { return Default::default() };
    let arguments = module.arguments(block).iter().map(|&value| module.ty(value)).collect();
    let last = module.terminator(block);
    (arguments, last.map(|last| last.operand_types().collect()).unwrap_or_default())
}
