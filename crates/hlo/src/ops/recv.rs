//! `stablehlo.recv`.

use super::prelude::*;

op! {
    /// Receives tensors of the result types over a channel; the last result is a token.
    pub RecvOp, "stablehlo.recv" {
        operands { token: single TOKEN }
        results { results: variadic STATIC_TENSOR_OR_TOKEN }
        attributes {
            channel_handle: required Def(&CHANNEL_HANDLE),
            is_host_transfer: implied Bool => DefaultValue::Bool(false),
            source_target_pairs: optional IntElements(64),
        }
    }
}
