//! `stablehlo.collective_permute`.

use super::prelude::*;

op! {
    /// The operand of the process that is paired with this one as its source, or zeros; the shape
    /// stays.
    pub CollectivePermuteOp, "stablehlo.collective_permute" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes {
            source_target_pairs: required IntElements(64),
            channel_handle: optional Def(&CHANNEL_HANDLE),
        }
        traits [ASYNC]
        rules include_str!("collective_permute.txt");
        hooks {
            verify: verify,
            infer: infer::first_operand,
            infer_label: "collective_permute_c5",
            prepare: prepare,
            speculate: speculation::shaped_as_operand,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let labels = [
        "collective_permute_c1",
        "collective_permute_c2",
        "collective_permute_c3",
        "collective_permute_c4",
    ];
    check::source_target_pairs(op, labels, Some(CollectivePermuteOp(op).source_target_pairs()))
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let zeros = op.result_types().map(prepare::zeros).collect::<Result<_, _>>()?;
    let view = CollectivePermuteOp(op);
    let channel = view.channel_handle().map_or(0, channel_id);
    let pairs = prepare::pairs(op, channel, Some(view.source_target_pairs()))?;
    Ok(Primitive::Permute(primitives::Permute { pairs, channel, zeros }))
}
