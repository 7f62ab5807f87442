//! Upstream's order of errors, as far as it differs: see [`UpstreamErrors`].

use crate::ops::*;
use mlir::verify::UpstreamErrors;

/// The ops whose errors upstream finds at other times.
pub(crate) const ERRORS: UpstreamErrors = UpstreamErrors {
    infers_nothing: &[
        IsFiniteOp::DEF,
        ReduceOp::DEF,
        ReduceWindowOp::DEF,
        ScatterOp::DEF,
        SelectAndScatterOp::DEF,
    ],
    infers_everything: &[
        AsyncDoneOp::DEF,
        AsyncStartOp::DEF,
        CaseOp::DEF,
        ClampOp::DEF,
        ConstantOp::DEF,
        IfOp::DEF,
        MapOp::DEF,
        SelectOp::DEF,
        SendOp::DEF,
    ],
    regions_first: &[
        AllReduceOp::DEF,
        CaseOp::DEF,
        CollectiveReduceOp::DEF,
        IfOp::DEF,
        MapOp::DEF,
        ReduceOp::DEF,
        ReduceScatterOp::DEF,
        ReduceWindowOp::DEF,
        ScatterOp::DEF,
        SelectAndScatterOp::DEF,
        SortOp::DEF,
        WhileOp::DEF,
    ],
};
