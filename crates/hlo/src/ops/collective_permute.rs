//! `stablehlo.collective_permute`.

use super::prelude::*;

op! {
    /// The operand of the process that is paired with this one as its source, or zeros; the shape
    /// stays.
    pub CollectivePermuteOp, "stablehlo.collective_permute" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { source_target_pairs: required IntElements(64), channel_handle: optional Def(&CHANNEL_HANDLE) }
        hooks {
            eval: Some(eval),
            infer: Some(infer::first_operand),
            infer_label: "collective_permute_c5",
            verify: Some(|op, out| out.extend(verify(op).err())),
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
    check::source_target_pairs(op, labels, op.attr("source_target_pairs"))
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let world = env.world()?;
    let me = world.process();
    let pairs = collective::source_target_pairs(op, me, world.grid())?;
    // All that send or receive meet, each at most once.
    let mut group: Vec<_> = pairs.iter().flat_map(|&(source, target)| [source, target]).collect();
    group.sort_unstable();
    group.dedup();
    let received = match group.contains(&me) {
        true => Some(world.exchange(op, &group, collective::channel(op), operands.clone())?),
        false => None,
    };
    let source = pairs.iter().find(|&&(_, target)| target == me).map(|&(source, _)| source);
    let place = source.and_then(|source| group.iter().position(|&process| process == source));
    match received.zip(place).and_then(|(all, place)| all.get(place).cloned()) {
        Some(values) => Ok(values),
        None => collective::all_zeros(op, &operands),
    }
}
