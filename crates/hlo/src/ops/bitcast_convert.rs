//! `stablehlo.bitcast_convert`.

use super::prelude::*;

op! {
    /// The bits of `operand` read as another element type. If the widths differ, the last dimension
    /// of the side of narrower elements makes up for it.
    pub BitcastConvertOp, "stablehlo.bitcast_convert" {
        operands { operand: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        traits [NoMemoryEffect]
        rules include_str!("bitcast_convert.txt");
        hooks {
            format: "operands attr-dict `:` functional-type(operands, results)",
            verify: verify,
            refine: refine,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (operand, result) = (op.operand_type(0), op.result_type(0));
    let is_complex = |t: &Type| matches!(&**t.element_type(), mlir::TypeKind::Complex(_));
    require(op, "bitcast_convert_c2", is_complex(operand) == is_complex(result), || {
        format!(
            "real and complex numbers cannot be read as one another; found {operand} and {result}"
        )
    })?;
    let (Some(from), Some(to)) = (quantized::bit_width(operand), quantized::bit_width(result))
    else {
        return Ok(());
    };
    let (narrow, wide, bits) =
        if from < to { (operand, result, [from, to]) } else { (result, operand, [to, from]) };
    let (mut prefix, mut fits) = (shape(narrow), true);
    if bits[0] != bits[1] {
        // The last dimension of the narrower elements is combined into one wider element.
        let last = prefix.last().copied();
        fits = last.is_some_and(|n| {
            n == DYNAMIC || n.checked_mul(i64::from(bits[0])) == Some(i64::from(bits[1]))
        });
        prefix = &prefix[..prefix.len().saturating_sub(1)];
    }
    require(op, "bitcast_convert_c1", fits && compat::shapes(prefix, shape(wide)), || {
        let widths = format!("an element of {operand} has {from} bits, one of {result} has {to}",);
        let required = match bits[1] {
            wide_bits if wide_bits == bits[0] => "the shapes must be equal".to_string(),
            wide_bits if wide_bits % bits[0] == 0 => format!(
                "{} must have the shape of {} and a last dimension of size {}",
                if from < to { "the operand" } else { "the result" },
                if from < to { "the result" } else { "the operand" },
                wide_bits / bits[0]
            ),
            _ => "one width must be a multiple of the other".to_string(),
        };
        format!("{widths}: {required}")
    })
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::Bitcast(primitives::Bitcast {
        dtype: prepare::storage_dtype(op.result_type(0))?,
    }))
}

/// Infers the shape if the element widths are equal.
fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    let same = quantized::bit_width(op.operand_type(0)) == quantized::bit_width(op.result_type(0));
    if same { refine::shape_of_operand(op) } else { None }
}

/// The additional dimension of one of the two types follows from the element types.
fn speculate(op: OpRef<'_>) -> Speculation {
    let common = rank(op.operand_type(0)).min(rank(op.result_type(0))) as i64;
    Speculation::always_if((0..common).all(|d| speculation::follows(op, d, 0, d)))
}
