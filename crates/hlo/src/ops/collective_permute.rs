//! `stablehlo.collective_permute`.

use super::prelude::*;

op! {
    /// The operand of the process that is paired with this one as its source, or zeros; the shape stays.
    pub CollectivePermuteOp, "stablehlo.collective_permute" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { source_target_pairs: required IntElements(64), channel_handle: optional Def(&CHANNEL_HANDLE) }
    }
}
