//! `stablehlo.send`.

use super::prelude::*;

op! {
    /// Sends `inputs` over a channel; the result orders what follows.
    pub SendOp, "stablehlo.send" {
        operands { inputs: variadic TENSOR_OR_PER_AXIS_QUANTIZED, token: single TOKEN }
        results { result: single TOKEN }
        attributes {
            channel_handle: required Def(&CHANNEL_HANDLE),
            is_host_transfer: implied Bool => DefaultValue::Bool(false),
            source_target_pairs: optional IntElements(64),
        }
    }
}
