//! Kernels of convolutions in every order of dimensions, as right factors of products.

use super::accumulator::Accumulator;
use super::conv_sizes::ConvSizes;
use super::matmul::FEW;
use super::panels::RowOrder;
use numerics::shape::StridedView;
use numerics::simd::{self, Isa};

/// A kernel in another order than that of [`ConvSizes`].
#[derive(Debug)]
pub(super) struct KernelView {
    pub view: StridedView,
    /// If products can read it as it is.
    pub in_place: Option<KernelMatrix>,
}

/// A kernel as a matrix: where its elements are.
#[derive(Debug)]
pub(super) struct KernelMatrix {
    /// Distances between rows and between columns.
    pub strides: [usize; 2],
    /// Where the rows are, if the distances between them are not all equal.
    pub order: Option<RowOrder>,
}

impl KernelView {
    pub(crate) fn new(view: StridedView, sizes: &ConvSizes) -> KernelView {
        let in_place = KernelMatrix::new(&view, sizes);
        KernelView { view, in_place }
    }
}

impl KernelMatrix {
    fn new(view: &StridedView, sizes: &ConvSizes) -> Option<KernelMatrix> {
        // Sizes beside a zero may be larger than any memory.
        if view.shape().contains(&0) {
            return None;
        }
        let distance = |stride: isize| usize::try_from(stride).ok();
        let matrix = view.reshaped(&[sizes.depth(), sizes.output_features]);
        let strides = matrix.and_then(|matrix| match *matrix.strides() {
            [row, column] => Some([distance(row)?, distance(column)?]),
            _ => None,
        });
        if let Some(strides) = strides {
            return Some(KernelMatrix { strides, order: None });
        }
        let (&column, rows) = view.strides().split_last()?;
        // A sum of a few products reads its columns where they are.
        let order =
            RowOrder::new(&view.shape()[..rows.len()], rows).filter(|_| sizes.depth() > FEW)?;
        Some(KernelMatrix { strides: [0, distance(column)?], order: Some(order) })
    }
}

/// The kernel as the right factor of products: see [`Product`].
#[derive(Clone, Copy)]
pub(super) struct Weights<'a, T> {
    pub elements: &'a [T],
    pub strides: [usize; 2],
    pub order: Option<&'a RowOrder>,
    pub panels: Option<&'a [T]>,
}

/// True if zero times any of these is zero: else padding counts.
pub(super) fn all_finite<T: Accumulator>(weights: &[T]) -> bool {
    struct AllFinite<'a, T>(&'a [T], &'a mut bool);
    impl<T: Accumulator> simd::Kernel for AllFinite<'_, T> {
        #[inline(always)]
        fn run(self) {
            // Without a branch, so that vectors are compared.
            let is_finite = |weight: &T| weight.multiply(T::ZERO) == T::ZERO;
            *self.1 = self.0.iter().fold(true, |all, weight| all & is_finite(weight));
        }
    }
    let mut are_finite = false;
    Isa::best().run(AllFinite(weights, &mut are_finite));
    are_finite
}
