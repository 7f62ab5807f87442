//! The mpmd dialect (Shardy): programs over several meshes, each of which runs fragments.
//! They are read, checked and written; running them is not supported.
//!
//! Source: openxla/shardy, "'mpmd' Dialect".

mod attrs;
mod ops;
mod text;
mod topology;
mod verify;

pub use attrs::*;
pub use ops::*;

use crate::sdy::{parse_body, print_body};
use mlir::ods::{CustomDirective, Dialect};

/// The mpmd dialect.
pub static MPMD: Dialect = Dialect {
    namespace: "mpmd",
    ops: &[
        AssignOp::DEF,
        BroadcastOp::DEF,
        CallOp::DEF,
        ForOp::DEF,
        FragmentOp::DEF,
        FragmentCallOp::DEF,
        NamedComputationOp::DEF,
        NamedTensorOp::DEF,
        ReduceOp::DEF,
        ReturnOp::DEF,
        TransferOp::DEF,
        UnassignOp::DEF,
    ],
    attributes: &[
        &MESH_WITH_ORIGINS,
        &MESHES_WITH_ORIGINS,
        &NAMED_MESH,
        &ORIGIN,
        &REDUCTION,
        &TOPOLOGY,
        &USER_ORIGIN,
    ],
    types: &[&MESH_TENSOR],
    directives: &[
        CustomDirective {
            name: "Assignment",
            parse: text::parse_assignment,
            print: text::print_assignment,
        },
        CustomDirective { name: "Body", parse: parse_body, print: print_body },
        CustomDirective {
            name: "UserOrigin",
            parse: text::parse_user_origin,
            print: text::print_user_origin,
        },
    ],
    ..Dialect::EMPTY
};
