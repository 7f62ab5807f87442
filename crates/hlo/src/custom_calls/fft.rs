//! `dynamic_ducc_fft`, which JAX 0.4.2 to 0.4.21 exported for Fourier transforms on CPUs.
//!
//! Source: JAX, `jaxlib/cpu/ducc_fft_kernels.cc` and the schema of its descriptor.

use mlir::OpRef;
use mlir::prepare::{Prepared, Preparer, native};
use numerics::{DType, Tensor, math};
use program::EvalError;
use program::operands;
use program::primitives::Fourier;
use wire::flatbuffer::{Table, VisitBudget};

/// Field numbers of the descriptor.
mod field {
    pub(crate) const KIND: usize = 2;
    pub(crate) const AXES: usize = 3;
    pub(crate) const FORWARD: usize = 4;
}

/// Kinds of transforms.
const COMPLEX: u8 = 0;
const COMPLEX_TO_REAL: u8 = 1;
const REAL_TO_COMPLEX: u8 = 2;

/// How far the scale may be from that of the transform, relatively: it is computed by the program.
const SCALE_TOLERANCE: f64 = 1e-5;

/// The Fourier transform that the first operand describes, a flatbuffer, of the second one. The
/// third one has the sizes on the real side; strides follow, and the factor of the result.
pub(super) fn dynamic(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let operands = operands::tensor_list(operands)?;
        let [descriptor, operand, sizes, _, _, scale, ..] = &operands[..] else {
            return Err(invalid("expected at least 6 operands"));
        };
        let bytes = descriptor.to_i64s()?;
        let bytes: Vec<u8> = bytes.into_iter().filter_map(|byte| u8::try_from(byte).ok()).collect();
        let (transform, axes) =
            described(&bytes).ok_or_else(|| invalid("the descriptor cannot be read"))?;
        let sizes = operands::sizes(sizes)?;
        let first = operand.rank().checked_sub(axes.len()).unwrap_or(usize::MAX);
        if !axes.iter().map(|&axis| axis as usize).eq(first..operand.rank()) {
            return Err(invalid("the axes are not the last ones"));
        }
        let lengths = sizes.get(first..).unwrap_or_default();
        check_scale(transform, lengths, scale)?;
        Ok(vec![kernels::fourier(transform, operand.clone(), lengths)?.into()])
    })
}

fn invalid(what: &str) -> EvalError {
    EvalError::new("dynamic_ducc_fft", what.to_string())
}

/// The transform and the axes of a descriptor.
fn described(bytes: &[u8]) -> Option<(Fourier, Vec<u32>)> {
    let budget = VisitBudget::of(bytes);
    let root = Table::root(bytes, &budget)?;
    let forward = root.u8(field::FORWARD).unwrap_or(0) != 0;
    let transform = match (root.u8(field::KIND).unwrap_or(COMPLEX), forward) {
        (COMPLEX, true) => Fourier::Forward,
        (COMPLEX, false) => Fourier::Inverse,
        (REAL_TO_COMPLEX, true) => Fourier::RealForward,
        (COMPLEX_TO_REAL, false) => Fourier::RealInverse,
        _ => return None,
    };
    Some((transform, root.u32s(field::AXES)?))
}

/// Checks that the factor is that of the transform: one, or one in the number of elements for an
/// inverse.
fn check_scale(transform: Fourier, lengths: &[usize], scale: &Tensor) -> Result<(), EvalError> {
    let scale = math::convert(scale.clone(), DType::F64)?.to_vec::<f64>()?;
    let expected = match transform {
        Fourier::Forward | Fourier::RealForward => 1.0,
        Fourier::Inverse | Fourier::RealInverse => {
            1.0 / lengths.iter().map(|&length| length as f64).product::<f64>()
        }
    };
    match scale[..] {
        [scale] if ((scale - expected) / expected).abs() <= SCALE_TOLERANCE => Ok(()),
        _ => Err(invalid("the factor is not that of the transform")),
    }
}
