//! `stablehlo.all_gather`.

use super::prelude::*;
use crate::attrs::CollectiveAttrs;

op! {
    /// Each result is the concatenation along `all_gather_dim` of the operands of all processes of
    /// the group.
    pub AllGatherOp, "stablehlo.all_gather" {
        operands { operands: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            all_gather_dim: required Int(64),
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
            use_global_device_ids: optional Unit,
        }
        traits [ASYNC]
        rules include_str!("all_gather.txt");
        hooks {
            verify: verify,
            verify_strict: verify_strict,
            verify_symbols: check::mesh_symbol,
            refine: refine,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let dimension = AllGatherOp(op).all_gather_dim();
    let labels = ["all_gather_c2", "all_gather_c4"];
    check::replica_groups(op, labels, AllGatherOp(op).replica_groups(), true)?;
    let attrs = CollectiveAttrs::of(op);
    require(
        op,
        "all_gather_c5",
        !attrs.use_global_device_ids || attrs.channel_or_zero() >= 0,
        || {
            "use_global_device_ids requires a channel_handle whose handle is not negative"
                .to_string()
        },
    )?;
    check::pairwise_same_elements(op, "all_gather_c6")?;
    for (operand, result) in op.operand_types().zip(op.result_types()) {
        check::is_dimension(op, "all_gather_c1", "all_gather_dim", dimension, rank(operand))?;
        check::scaled(
            op,
            "all_gather_c6",
            dimension as usize,
            ["operand", "result"],
            [shape(operand), shape(result)],
        )?;
    }
    Ok(())
}

/// Checks what upstream's verifier asks of all collectives but this one.
fn verify_strict(op: OpRef<'_>) -> Verdict {
    check::global_device_ids(op, "all_gather_c5")
}

/// Infers the gathered dimension: the operand's size times the group size.
fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    let group = refine::group_size(op)?;
    let dimension = usize::try_from(AllGatherOp(op).all_gather_dim()).ok()?;
    let gathered = |(operand, result): (&Type, &Type)| {
        let mut sizes = operand.shape()?.to_vec();
        let size = sizes.get_mut(dimension)?;
        *size = if *size == DYNAMIC { DYNAMIC } else { size.checked_mul(group)? };
        Some(refine::with_shape(result, sizes))
    };
    op.operand_types().zip(op.result_types()).map(gathered).collect()
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let dimension = prepare::to_usize(op, AllGatherOp(op).all_gather_dim())?;
    prepare::collective(op, CollectiveKind::Gather { dimension })
}

fn speculate(op: OpRef<'_>) -> Speculation {
    speculation::by_processes(op, &[AllGatherOp(op).all_gather_dim()])
}
