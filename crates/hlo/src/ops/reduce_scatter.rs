//! `stablehlo.reduce_scatter`.

use super::prelude::*;

op! {
    /// Reduces elementwise over the group with `computation`, splits the result along
    /// `scatter_dimension`, and returns the part of this process.
    pub ReduceScatterOp, "stablehlo.reduce_scatter" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes {
            scatter_dimension: required Int(64),
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
            use_global_device_ids: optional Unit,
        }
        regions { computation: one }
        traits [ASYNC]
        rules include_str!("reduce_scatter.txt");
        hooks {
            verify: verify,
            verify_regions: verify_computation,
            verify_symbols: check::mesh_symbol,
            refine: refine,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (operand, result) = (op.operand_type(0), op.result_type(0));
    let dimension = ReduceScatterOp(op).scatter_dimension();
    check::is_dimension(op, "reduce_scatter_c2", "scatter_dimension", dimension, rank(operand))?;
    let labels = ["reduce_scatter_c3", "reduce_scatter_c5"];
    check::replica_groups(op, labels, ReduceScatterOp(op).replica_groups(), true)?;
    check::global_device_ids(op, "reduce_scatter_c6")?;
    let size = shape(operand)[dimension as usize];
    if let Some(group) = refine::group_size(op).filter(|_| size != DYNAMIC) {
        require(op, "reduce_scatter_c1", size % group == 0, || {
            format!(
                "dimension {dimension} of the operand, of size {size}, must be a multiple of {group}, the size of a group"
            )
        })?;
    }
    check::scaled(
        op,
        "reduce_scatter_c8",
        dimension as usize,
        ["result", "operand"],
        [shape(result), shape(operand)],
    )
}

fn verify_computation(op: OpRef<'_>) -> Verdict {
    let computation = op.regions()[0];
    check::reducer(op, "reduce_scatter_c7", "computation", computation, op.operand_types(), &[])?;
    let element = &check::accumulators(op, computation, op.operand_types())[0];
    let result = op.result_type(0).element_type();
    require(op, "reduce_scatter_c9", compat::elements(result, element), || {
        format!(
            "the result must have the element type {element} that computation returns; found {result}"
        )
    })
}

/// Infers the scattered dimension: the operand's size divided by the group size.
fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    let group = refine::group_size(op)?;
    let mut sizes = op.operand_type(0).shape()?.to_vec();
    let size = sizes.get_mut(usize::try_from(ReduceScatterOp(op).scatter_dimension()).ok()?)?;
    *size = if *size == DYNAMIC { DYNAMIC } else { size.checked_div(group)? };
    refine::shaped(op, sizes)
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let dimension = prepare::to_usize(op, ReduceScatterOp(op).scatter_dimension())?;
    let computation = *prepare::body(op, ReduceScatterOp(op).computation(), cx)?;
    prepare::collective(op, CollectiveKind::ReduceScatter { dimension, computation })
}

fn speculate(op: OpRef<'_>) -> Speculation {
    speculation::by_processes(op, &[ReduceScatterOp(op).scatter_dimension()])
}
