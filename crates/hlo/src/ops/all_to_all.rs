//! `stablehlo.all_to_all`.

use super::prelude::*;

op! {
    /// Splits the operands along `split_dimension`, sends the parts to the processes of the group
    /// and concatenates what arrives along `concat_dimension`.
    pub AllToAllOp, "stablehlo.all_to_all" {
        operands { operands: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            split_dimension: required NonNegative(64),
            concat_dimension: required NonNegative(64),
            split_count: required Positive(64),
            replica_groups: required AnyOf(&[&IntElements(64), &Def(&REPLICA_GROUP_MESH_AXES)]),
            channel_handle: optional Def(&CHANNEL_HANDLE),
        }
        traits [Check("all_to_all_c9", verify_pairs), ASYNC]
        rules include_str!("all_to_all.txt");
        hooks {
            verify_symbols: check::mesh_symbol,
            infer: infer,
            infer_label: "all_to_all_c9",
            prepare: prepare,
            speculate: speculate,
        }
    }
}

/// Checks that there is one result per operand, with the same element type.
fn verify_pairs(op: OpRef<'_>) -> Verdict {
    let (operands, results) = (op.operands().len(), op.num_results());
    check::count(op, "all_to_all_c9", "results", results, operands, "the number of operands")?;
    check::pairwise_same_elements(op, "all_to_all_c9")
}

/// The specification's `all_to_all_c4`, that `split_count` is positive, is part of the declaration.
fn infer(op: OpRef<'_>) -> Inferred {
    let (split, concat) = (AllToAllOp(op).split_dimension(), AllToAllOp(op).concat_dimension());
    let count = AllToAllOp(op).split_count();
    let labels = ["all_to_all_c5", "all_to_all_c7"];
    if let Some([_, size]) =
        check::replica_groups(op, labels, AllToAllOp(op).replica_groups(), true)?
    {
        require(op, "all_to_all_c8", size == count, || {
            format!("replica_groups has groups of {size} processes, but split_count is {count}")
        })?;
    }
    let of = |(i, operand): (usize, &Type)| -> Result<Type, Diagnostic> {
        check::is_dimension(op, "all_to_all_c1", "split_dimension", split, rank(operand))?;
        check::is_dimension(op, "all_to_all_c3", "concat_dimension", concat, rank(operand))?;
        let (s, c) = (split as usize, concat as usize);
        let size = shape(operand)[s];
        require(op, "all_to_all_c2", size == DYNAMIC || size % count == 0, || {
            format!(
                "dimension {s} of the operand, of size {size}, must be a multiple of split_count {count}"
            )
        })?;
        infer::sized(op, operand.element_type().clone(), |operands| {
            let mut sizes = operands[i].to_vec();
            if s != c {
                sizes[s] = if sizes[s] == DYNAMIC { DYNAMIC } else { sizes[s] / count };
                sizes[c] = if sizes[c] == DYNAMIC {
                    DYNAMIC
                } else {
                    sizes[c].checked_mul(count).unwrap_or(DYNAMIC)
                };
            }
            Ok(sizes)
        })
    };
    op.operand_types().enumerate().map(of).collect()
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let split = prepare::to_usize(op, AllToAllOp(op).split_dimension())?;
    let concat = prepare::to_usize(op, AllToAllOp(op).concat_dimension())?;
    let count = prepare::to_usize(op, AllToAllOp(op).split_count())?;
    prepare::collective(op, CollectiveKind::AllToAll { split, concat, count })
}

fn speculate(op: OpRef<'_>) -> Speculation {
    let view = AllToAllOp(op);
    speculation::by_processes(op, &[view.split_dimension(), view.concat_dimension()])
}
