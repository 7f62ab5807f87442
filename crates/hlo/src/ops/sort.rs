//! `stablehlo.sort`.

use super::prelude::*;

op! {
    /// `inputs`, of one shape, sorted together along `dimension` by `comparator`, which takes a
    /// pair of elements of each input.
    pub SortOp, "stablehlo.sort" {
        operands { inputs: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            dimension: implied Int(64) => DefaultValue::I64(-1),
            is_stable: implied Bool => DefaultValue::Bool(false),
        }
        regions { comparator: one }
        traits [RecursiveMemoryEffects]
        rules include_str!("sort.txt");
        hooks {
            verify: verify,
            verify_regions: verify_comparator,
            infer: infer::operand_types,
            infer_label: "sort_c2",
            prepare: prepare,
            speculate: speculation::static_operands_as_regions,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let Some(first) = op.operand_types().next() else {
        return Err(op.error("sort_c1", "there must be at least one input; found none"));
    };
    check::same_shapes(op, "sort_c3")?;
    let dimension = SortOp(op).dimension();
    let r = rank(first) as i64;
    require(op, "sort_c4", (-r..r).contains(&dimension), || {
        format!("dimension must be in the range [{}, {r}); found {dimension}", -r)
    })
}

fn verify_comparator(op: OpRef<'_>) -> Verdict {
    let (arguments, results) = check::signature(op, op.regions()[0]);
    let scalar = |t: &Type| Type::tensor([], t.element_type().clone());
    let pairs: Vec<Type> = op.operand_types().flat_map(|t| [scalar(t), scalar(t)]).collect();
    require(op, "sort_c5", arguments.iter().copied().eq(pairs.iter()), || {
        let (required, found) = (check::list(pairs.iter()), check::list(arguments.iter().copied()));
        format!("comparator must take two scalars of each input, {required}; found {found}")
    })?;
    check::returns_pred(op, "sort_c5", "comparator", op.regions()[0], &results)
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let dimension = SortOp(op).dimension();
    let comparator = prepare::comparator(op, SortOp(op).comparator(), cx)?;
    Ok(Primitive::Sort(primitives::Sort { dimension, comparator, limit: None }))
}
