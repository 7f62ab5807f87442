//! `stablehlo.real_dynamic_slice`.

use super::prelude::*;

op! {
    /// `slice` by the start indices, limit indices and strides that three vectors hold.
    pub RealDynamicSliceOp, "stablehlo.real_dynamic_slice" {
        operands {
            operand: single TENSOR,
            start_indices: single DIMENSION_TENSOR,
            limit_indices: single DIMENSION_TENSOR,
            strides: single DIMENSION_TENSOR,
        }
        results { result: single TENSOR }
        traits [NoMemoryEffect]
        hooks { assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)") }
    }
}
