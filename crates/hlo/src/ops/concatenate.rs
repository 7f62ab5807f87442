//! `stablehlo.concatenate`.

use super::prelude::*;

op! {
    /// `inputs` one after the other along `dimension`; their other dimensions agree.
    pub ConcatenateOp, "stablehlo.concatenate" {
        operands { inputs: variadic TENSOR }
        results { result: single TENSOR }
        attributes { dimension: required NonNegative(64) }
        traits [NoMemoryEffect, Check("concatenate_c3", |op, out| out.extend(verify_inputs(op).err()))]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "custom<VariadicOperandWithAttribute>($inputs) `dim` `=` $dimension \
                 attr-dict `:` functional-type(operands, results)",
            ),
            infer: Some(infer),
            infer_label: "concatenate_c6",
        }
    }
}

fn verify_inputs(op: OpRef<'_>) -> Verdict {
    let given = !op.operands().is_empty();
    require(op, "concatenate_c3", given, || "there must be at least one input; found none".to_string())
}

fn infer(op: OpRef<'_>) -> Inferred {
    let Some(first) = op.operand_types().next() else { return Ok(Vec::new()) };
    let dimension = integer(op.attr("dimension"));
    check::in_range(op, "concatenate_c4", "dimension", &[dimension], rank(first))?;
    let d = dimension as usize;
    let mut sizes = shape(first).to_vec();
    for (i, input) in op.operand_types().enumerate().skip(1) {
        require(op, "concatenate_c1", compat::elements(first, input), || {
            format!("inputs must have one element type; input #0 is {first}, input #{i} is {input}")
        })?;
        let mut others = shape(input).to_vec();
        let length = others.get(d).copied().unwrap_or(0);
        others.iter_mut().skip(d).take(1).for_each(|size| *size = sizes[d]);
        require(op, "concatenate_c2", compat::shapes(&sizes, &others), || {
            format!("inputs must have one shape but for dimension {d}; input #0 is {first}, input #{i} is {input}")
        })?;
        for (size, &other) in sizes.iter_mut().zip(&others) {
            *size = if *size == DYNAMIC { other } else { *size };
        }
        let sum = if length == DYNAMIC || sizes[d] == DYNAMIC { Some(DYNAMIC) } else { sizes[d].checked_add(length) };
        sizes[d] = sum.ok_or_else(|| op.error("concatenate_c6", "the result is too large"))?;
    }
    Ok(vec![Type::tensor(sizes, first.element_type().clone())])
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let inputs = eval::all_tensors(operands)?;
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    eval::one(collective::concatenate(&inputs, eval::usize_attr(op, "dimension")?)?)
}
