//! `stablehlo.concatenate`.

use super::prelude::*;

op! {
    /// `inputs` one after the other along `dimension`; their other dimensions agree.
    pub ConcatenateOp, "stablehlo.concatenate" {
        operands { inputs: variadic TENSOR }
        results { result: single TENSOR }
        attributes { dimension: required NonNegative(64) }
        traits [NoMemoryEffect, Check("concatenate_c3", verify_inputs)]
        rules include_str!("concatenate.txt");
        hooks {
            format:
                "(custom<VariadicOperandWithAttribute>($inputs)^)? `dim` `=` $dimension \
                 attr-dict `:` functional-type(operands, results)",
            infer: infer,
            infer_label: "concatenate_c6",
            reify: reify,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn verify_inputs(op: OpRef<'_>) -> Verdict {
    let given = !op.operands().is_empty();
    require(op, "concatenate_c3", given, || {
        "there must be at least one input; found none".to_string()
    })
}

fn infer(op: OpRef<'_>) -> Inferred {
    let Some(first) = op.operand_types().next() else { return Ok(Vec::new()) };
    let dimension = ConcatenateOp(op).dimension();
    check::is_dimension(op, "concatenate_c4", "dimension", dimension, rank(first))?;
    let d = dimension as usize;
    let mut common = shape(first).to_vec();
    for (i, input) in op.operand_types().enumerate().skip(1) {
        require(op, "concatenate_c1", compat::elements(first, input), || {
            format!("inputs must have one element type; input #0 is {first}, input #{i} is {input}")
        })?;
        let mut others = shape(input).to_vec();
        others.iter_mut().skip(d).take(1).for_each(|size| *size = common[d]);
        require(op, "concatenate_c2", compat::shapes(&common, &others), || {
            format!(
                "inputs must have one shape but for dimension {d}; input #0 is {first}, input #{i} is {input}"
            )
        })?;
        common = both(&common, &others);
    }
    infer::one_sized(op, first.element_type(), |inputs| {
        let lengths = inputs.iter().map(|sizes| sizes[d]);
        let length = if lengths.clone().any(|n| n == DYNAMIC) {
            Some(DYNAMIC)
        } else {
            lengths.clone().try_fold(0, |sum: i64, n| sum.checked_add(n))
        };
        let mut sizes = inputs.iter().fold(common.clone(), |sizes, input| both(&sizes, input));
        sizes[d] = length.ok_or_else(|| op.error("concatenate_c6", "the result is too large"))?;
        Ok(sizes)
    })
}

/// Combines two lists of sizes or bounds elementwise: a static one takes precedence over `DYNAMIC`,
/// a smaller one over a larger one.
fn both(a: &[i64], b: &[i64]) -> Vec<i64> {
    let known =
        |(&a, &b): (&i64, &i64)| if a == DYNAMIC || b == DYNAMIC { a.max(b) } else { a.min(b) };
    a.iter().zip(b).map(known).collect()
}

/// The sizes of the first operand, with the sum along the concatenation dimension.
fn reify(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let along = usize::try_from(ConcatenateOp(rw.op(op)).dimension()).ok()?;
    let mut sizes = reify::dims(rw, op, 0)?;
    let parts: Option<Vec<Value>> = (1..rw.op(op).operands().len())
        .map(|i| reify::dims(rw, op, i)?.get(along).copied())
        .collect();
    let total = parts?.into_iter().fold(*sizes.get(along)?, |sum, part| reify::add(rw, sum, part));
    sizes[along] = total;
    reify::vector(rw, op, sizes)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Concatenate(primitives::Concatenate {
        dimension: prepare::to_usize(op, ConcatenateOp(op).dimension())?,
    }))
}

/// The operands agree in all dimensions except that of concatenation, whose size may be dynamic in
/// the result.
fn speculate(op: OpRef<'_>) -> Speculation {
    let along = ConcatenateOp(op).dimension();
    let open = speculation::is_dynamic(op.result_type(0), along);
    let agrees = |ty| {
        let mut dims = 0..rank(ty) as i64;
        dims.all(|d| d == along && open || !speculation::is_dynamic(ty, d))
    };
    Speculation::always_if(op.operand_types().all(agrees))
}
