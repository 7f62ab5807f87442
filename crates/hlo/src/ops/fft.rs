//! `stablehlo.fft`.

use super::prelude::*;
use mlir::diag::counted;

op! {
    /// The discrete Fourier transform along the last 1 to 3 dimensions, of lengths `fft_length`,
    /// forward or inverse, complex or real.
    pub FftOp, "stablehlo.fft" {
        operands { operand: single FLOAT_OR_COMPLEX_TENSOR }
        results { result: single FLOAT_OR_COMPLEX_TENSOR }
        attributes { fft_type: required Enum(&FFT_TYPE), fft_length: required I64Array }
        traits [NoMemoryEffect]
        rules include_str!("fft.txt");
        hooks {
            format:
                "$operand `,` `type` `=` $fft_type `,` `length` `=` $fft_length \
                 attr-dict `:` functional-type(operands, results)",
            verify_strict: verify,
            infer: infer,
            infer_label: "fft_c5",
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let operand = op.operand_type(0);
    let kind = FFT_TYPE.case(FftOp(op).fft_type()).unwrap_or("FFT");
    let lengths = FftOp(op).fft_length();
    let n = lengths.len();
    require(op, "fft_c3", (1..=3).contains(&n), || {
        format!("fft_length must have 1 to 3 entries; found {n}")
    })?;
    require(op, "fft_c1", n <= rank(operand), || {
        format!("fft_length has {}, but operand is {operand}", counted(n, "entry"))
    })?;
    check::at_least(op, "fft_c4", "fft_length", lengths, 0)?;
    let part = match &**operand.element_type() {
        mlir::TypeKind::Complex(part) => Some(part.clone()),
        _ => None,
    };
    let element = match (kind, part) {
        ("RFFT", None) if (FLOAT32_OR_64.contains)(operand.element_type()) => {
            Type::complex(operand.element_type().clone())
        }
        ("IRFFT", Some(part)) => part,
        ("FFT" | "IFFT", Some(_)) => operand.element_type().clone(),
        _ => {
            let required = if kind == "RFFT" { "f32 or f64" } else { "complex numbers" };
            return Err(op.error("fft_c2", format!("{kind} takes {required}; found {operand}")));
        }
    };
    let sizes = shape(operand);
    let mut last = None;
    let first = sizes.len() - n;
    // `fft_length` is the shape of the real side; the complex side has about half of the last
    // dimension.
    let half = |length: i64| if length == 0 { 0 } else { length / 2 + 1 };
    let mut required = lengths.to_vec();
    match kind {
        "RFFT" => {
            check::has_shape(
                op,
                "fft_c4",
                "the last dimensions of operand",
                &sizes[first..],
                &required,
            )?;
            last = Some(half(required[n - 1]));
        }
        "IRFFT" => {
            required[n - 1] = half(required[n - 1]);
            check::has_shape(
                op,
                "fft_c5",
                "the last dimensions of operand",
                &sizes[first..],
                &required,
            )?;
            last = Some(lengths[n - 1]);
        }
        _ => {}
    }
    infer::one_sized(op, &element, |operands| {
        let mut sizes = operands[0].to_vec();
        if let Some(length) = last {
            sizes[first + n - 1] = length;
        }
        Ok(sizes)
    })
}

/// Checks that complex transforms have the lengths of their operand; inference checks others.
fn verify(op: OpRef<'_>) -> Verdict {
    if !matches!(FFT_TYPE.case(FftOp(op).fft_type()), Some("FFT" | "IFFT")) {
        return Ok(());
    }
    let (sizes, lengths) = (shape(op.operand_type(0)), FftOp(op).fft_length());
    let last = &sizes[sizes.len().saturating_sub(lengths.len())..];
    check::has_shape(op, "fft_c4", "the last dimensions of operand", last, lengths)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let transform = match FFT_TYPE.case(FftOp(op).fft_type()) {
        Some("FFT") => Fourier::Forward,
        Some("IFFT") => Fourier::Inverse,
        Some("RFFT") => Fourier::RealForward,
        Some("IRFFT") => Fourier::RealInverse,
        _ => return Err(prepare::missing(op, "fft_type")),
    };
    Ok(Primitive::Fft(primitives::Fft {
        transform,
        lengths: prepare::usizes(op, FftOp(op).fft_length())?,
    }))
}

/// A real transform asserts that its operand has the lengths `fft_length`.
fn speculate(op: OpRef<'_>) -> Speculation {
    let operand = op.operand_type(0);
    let is_complex = |ty: &Type| matches!(**ty.element_type(), mlir::TypeKind::Complex(_));
    let real = is_complex(operand) != is_complex(op.result_type(0));
    let lengths = if real { FftOp(op).fft_length().len() } else { 0 };
    let asserted = &shape(operand)[rank(operand) - lengths..];
    let holds = speculation::is_shaped_as_operand(op) && !asserted.contains(&DYNAMIC);
    Speculation::always_if(holds)
}
