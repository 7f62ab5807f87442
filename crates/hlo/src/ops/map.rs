//! `stablehlo.map`.

use super::prelude::*;

op! {
    /// The scalar function `computation` at each position of `inputs`, which all have the shape of
    /// the result.
    pub MapOp, "stablehlo.map" {
        operands { inputs: variadic TENSOR }
        results { result: single TENSOR }
        attributes { dimensions: required I64Array }
        regions { computation: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        rules include_str!("map.txt");
        hooks {
            verify: verify,
            verify_regions: verify_computation,
            refine: refine,
            prepare: prepare,
            speculate: speculation::static_operands_as_regions,
        }
    }
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    let inputs = compat::most_specific(op.operand_types())?;
    let element = check::accumulators(op, *op.regions().first()?, [&inputs].into_iter()).pop()?;
    Some(vec![compat::with_element(&inputs, element)])
}

fn verify(op: OpRef<'_>) -> Verdict {
    let Some(first) = op.operand_types().next() else {
        return Err(op.error("map_c2", "there must be at least one input; found none"));
    };
    check::same_shapes(op, "map_c1")?;
    let dimensions = MapOp(op).dimensions();
    require(op, "map_c3", dimensions.iter().copied().eq(0..rank(first) as i64), || {
        format!(
            "dimensions must list all dimensions of the inputs in order; found {dimensions:?} for {first}"
        )
    })
}

fn verify_computation(op: OpRef<'_>) -> Verdict {
    let (arguments, results) = check::signature(op, op.regions()[0]);
    let scalar = |t: &Type| Type::tensor([], t.element_type().clone());
    let inputs: Vec<Type> = op.operand_types().map(scalar).collect();
    let result = [scalar(op.result_type(0))];
    let takes_inputs = compat::lists(arguments.iter().copied(), inputs.iter());
    let fits = takes_inputs && compat::lists(results.iter().copied(), result.iter());
    let about = (op.regions()[0], if takes_inputs { 0 } else { usize::MAX });
    check::require_returned(op, "map_c4", about, fits, || {
        let (takes, returns) =
            (check::list(arguments.iter().copied()), check::list(results.iter().copied()));
        format!(
            "computation must be {} -> {}; found {takes} -> {returns}",
            check::list(inputs.iter()),
            result[0]
        )
    })
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Map(primitives::Map { block: cx.block(MapOp(op).computation())? }))
}
