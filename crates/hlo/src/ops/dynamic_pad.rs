//! `stablehlo.dynamic_pad`.

use super::prelude::*;

op! {
    /// `pad` by the amounts that three vectors hold.
    pub DynamicPadOp, "stablehlo.dynamic_pad" {
        operands {
            operand: single TENSOR,
            padding_value: single SCALAR_TENSOR,
            edge_padding_low: single STATIC_DIMENSION_TENSOR,
            edge_padding_high: single STATIC_DIMENSION_TENSOR,
            interior_padding: single STATIC_DIMENSION_TENSOR,
        }
        results { result: single TENSOR }
        traits [NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format("operands attr-dict `:` functional-type(operands, results)"),
            verify: Some(|op, out| out.extend(verify(op).err())),
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (operand, value, result) = (op.operand_type(0), op.operand_type(1), op.result_type(0));
    let same = compat::elements(operand, value) && compat::elements(operand, result);
    require(op, "dynamic_pad_c1", same, || {
        format!("operand, padding_value and result must have one element type; found {operand}, {value} and {result}")
    })?;
    for (i, name) in [(2, "edge_padding_low"), (3, "edge_padding_high"), (4, "interior_padding")] {
        let required = [rank(operand) as i64];
        check::has_shape(op, "dynamic_pad_c2", name, shape(op.operand_type(i)), &required)?;
    }
    if let Some(interior) = check::constant_ints(op, 4) {
        check::at_least(op, "dynamic_pad_c3", "interior_padding", &interior, 0)?;
    }
    check::count(op, "dynamic_pad_c4", "the shape of the result", rank(result), rank(operand), "the rank of operand")?;
    let amounts = [2, 3, 4].map(|i| check::constant_ints(op, i));
    let [Some(low), Some(high), Some(interior)] = amounts else { return Ok(()) };
    let padded = |(d, &size): (usize, &i64)| {
        let between = (size - 1).max(0).checked_mul(interior[d])?;
        size.checked_add(low[d])?.checked_add(between)?.checked_add(high[d])
    };
    let known = shape(operand).iter().all(|&d| d != DYNAMIC);
    let sizes: Option<Vec<i64>> = shape(operand).iter().enumerate().filter(|_| known).map(padded).collect();
    match sizes {
        Some(sizes) if known => check::has_shape(op, "dynamic_pad_c4", "the result", shape(result), &sizes),
        _ => Ok(()),
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand, padding, low, high, interior] = eval::tensors(operands)?;
    let (low, high, interior) = (low.to_i64s()?, high.to_i64s()?, interior.to_i64s()?);
    let result = eval::pad(&operand, &padding, &low, &high, &interior)?;
    eval::fits_result(op, result.shape())?;
    eval::one(result)
}
