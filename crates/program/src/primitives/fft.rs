use super::{Blocks, Effects, Kind, Operation};
use crate::ValueType;
use crate::work::{BodyWork, Shapes, Work};
use crate::work::{log2_ceiling, product};
use numerics::shape::StridedView;

/// A discrete Fourier transform of the last dimensions.
#[derive(Debug, PartialEq)]
pub struct Fft {
    /// The transform.
    pub transform: Fourier,
    /// Sizes of the dimensions, on the real side of a real transform.
    pub lengths: Vec<usize>,
}

impl Operation for Fft {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn blocks(&self) -> Blocks {
        Blocks::new()
    }

    fn is_arithmetic(&self) -> bool {
        true
    }

    fn is_by_element(&self) -> bool {
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, _: BodyWork<'_>) -> Option<Work> {
        // 5 N log2 N of complex numbers, half of that on the real side of a real transform.
        let transformed = self.lengths.iter().map(|&n| n as u64).fold(1, u64::saturating_mul);
        let is_complex =
            |ty: &&ValueType| matches!(ty, ValueType::Tensor { dtype, .. } if dtype.is_complex());
        let all = shapes.operand(0).max(shapes.result());
        let operations = product([5, all, log2_ceiling(transformed)]);
        let is_real = !shapes.operands.iter().chain(&shapes.results).all(is_complex);
        Some(Work::operations(if is_real { operations / 2 } else { operations }))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}

/// A discrete Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fourier {
    /// Of complex numbers.
    Forward,
    /// Of complex numbers, backwards: divided by the number of elements.
    Inverse,
    /// Of real numbers; only the first half of the last dimension and the middle, which determine
    /// the rest.
    RealForward,
    /// Inverse of [`Fourier::RealForward`], to real numbers.
    RealInverse,
}
