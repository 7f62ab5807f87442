//! Casts between quantized values, expressed values and storage values.

use super::{ANY, CALIBRATED, Granularity, UNIFORM, Uniform};
use mlir::diag::counted;
use mlir::ods::{TypeConstraint, TypeRule};
use mlir::{OpRef, Type, TypeKind, Verdict, op};

const CAST_FORMAT: &str = "$input attr-dict `:` type($input) `to` type($result)";

/// True if the element type of a scalar or tensor satisfies `holds`.
fn element(ty: &Type, holds: impl Fn(&Type) -> bool) -> bool {
    match &**ty {
        TypeKind::RankedTensor(t) => holds(&t.element),
        TypeKind::UnrankedTensor(element) => holds(element),
        _ => holds(ty),
    }
}

fn is_quantized(ty: &Type) -> bool {
    [&UNIFORM, &ANY, &CALIBRATED].iter().any(|def| ty.as_dialect(def).is_some())
}

static FLOATS: TypeConstraint = TypeConstraint {
    summary: "a float or a tensor of floats",
    rule: TypeRule::Is(|t| element(t, Type::is_float)),
};

static QUANTIZED: TypeConstraint = TypeConstraint {
    summary: "a quantized value or a tensor of such",
    rule: TypeRule::Is(|t| element(t, is_quantized)),
};

static STORED: TypeConstraint = TypeConstraint {
    summary: "an integer or quantized value, or a tensor of such",
    rule: TypeRule::Is(|t| {
        element(t, |e| is_quantized(e) || crate::constraints::is_signless_integer(e))
    }),
};

op! {
    /// Converts quantized values to the numbers that they express.
    pub DequantizeCastOp, "quant.dcast" {
        operands { input: single QUANTIZED }
        results { result: single FLOATS }
        traits [Pure, SameOperandsAndResultShape]
        hooks {
            format: CAST_FORMAT,
            verify: verify_dcast,
        }
    }
}

fn verify_dcast(op: OpRef<'_>) -> Verdict {
    verify_cast(op, op.operand_type(0), op.result_type(0))
}

op! {
    /// Converts numbers to quantized values.
    pub QuantizeCastOp, "quant.qcast" {
        operands { input: single FLOATS }
        results { result: single QUANTIZED }
        traits [Pure, SameOperandsAndResultShape]
        hooks {
            format: CAST_FORMAT,
            verify: verify_qcast,
        }
    }
}

fn verify_qcast(op: OpRef<'_>) -> Verdict {
    verify_cast(op, op.result_type(0), op.operand_type(0))
}

op! {
    /// Reinterprets quantized values as their storage integers, or the reverse.
    pub StorageCastOp, "quant.scast" {
        operands { input: single STORED }
        results { result: single STORED }
        traits [Pure, SameOperandsAndResultShape]
        hooks {
            format: CAST_FORMAT,
            verify: verify_storage_cast,
        }
    }
}

/// Checks that a per-axis type has one scale for each index of the axis.
fn verify_axis(op: OpRef<'_>, quantized: &Type) -> Verdict {
    let Some(view) = Uniform::of_element(quantized) else { return Ok(()) };
    let (Granularity::PerAxis, [axis]) = (view.granularity(), view.axes) else { return Ok(()) };
    let Some(tensor) = quantized.as_tensor() else {
        return Err(op.error(
            "quant",
            format!("per-axis quantization needs a ranked tensor, found {quantized}"),
        ));
    };
    let Some(&size) = usize::try_from(*axis).ok().and_then(|axis| tensor.shape.get(axis)) else {
        return Err(
            op.error("quant", format!("{quantized} has no dimension {axis} to be quantized"))
        );
    };
    let scales = view.scales().len();
    if size >= 0 && size as usize != scales {
        return Err(op.error(
            "quant",
            format!(
                "{} for dimension {axis} of {quantized}, which has size {size}",
                counted(scales as u64, "scale")
            ),
        ));
    }
    Ok(())
}

fn verify_cast(op: OpRef<'_>, quantized: &Type, floats: &Type) -> Verdict {
    if let Some(view) = Uniform::of_element(quantized)
        && view.expressed != floats.element_type()
    {
        let (expressed, found) = (view.expressed, floats.element_type());
        return Err(
            op.error("quant", format!("the quantized type expresses {expressed}, not {found}"))
        );
    }
    verify_axis(op, quantized)?;
    Ok(())
}

fn verify_storage_cast(op: OpRef<'_>) -> Verdict {
    let (input, result) = (op.operand_type(0), op.result_type(0));
    let (quantized, integers) =
        match (is_quantized(input.element_type()), is_quantized(result.element_type())) {
            (true, false) => (input, result),
            (false, true) => (result, input),
            _ => {
                let message =
                    format!("exactly one side must be quantized, found {input} and {result}");
                return Err(op.error("quant", message));
            }
        };
    if let Some(view) = Uniform::of_element(quantized)
        && Some(view.storage_width()) != integers.element_type().bit_width()
    {
        let (storage, found) = (view.storage, integers.element_type());
        return Err(
            op.error("quant", format!("the quantized type is stored as {storage}, not {found}"))
        );
    }
    verify_axis(op, quantized)?;
    Ok(())
}
