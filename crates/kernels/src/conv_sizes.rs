//! The sizes of convolutions.

use numerics::shape::num_elements;

/// The sizes of a convolution on operands in the order batch, spatial dimensions, features (for the
/// kernel: spatial dimensions, input features, output features).
#[derive(Clone, Debug)]
pub(crate) struct ConvSizes {
    /// The spatial dimensions of the input,
    pub input_spatial: Vec<usize>,
    /// of the kernel,
    pub kernel_spatial: Vec<usize>,
    /// and of the output.
    pub output_spatial: Vec<usize>,
    /// Batches of the input,
    pub batch: usize,
    /// and of a group of batches.
    pub group_batch: usize,
    /// Features of the input,
    pub input_features: usize,
    /// and of one kernel.
    pub kernel_features: usize,
    /// Features of the output,
    pub output_features: usize,
    /// and of one group.
    pub group_features: usize,
    /// The number of groups.
    pub groups: usize,
}

impl ConvSizes {
    /// The number of positions of a window.
    pub(crate) fn taps(&self) -> usize {
        self.kernel_spatial.iter().product()
    }

    /// The number of products of a sum.
    pub(crate) fn depth(&self) -> usize {
        self.taps().saturating_mul(self.kernel_features)
    }

    /// The number of places in tables of windows.
    pub(crate) fn places(&self) -> usize {
        let positions = self.output_spatial.iter().zip(&self.kernel_spatial);
        let tables = positions.map(|(outputs, taps)| outputs.saturating_mul(*taps));
        tables.fold(self.taps(), usize::saturating_add)
    }

    /// The number of windows.
    pub(crate) fn windows(&self) -> usize {
        let sizes = self.output_spatial.iter().copied();
        sizes.fold(self.group_batch, usize::saturating_mul)
    }

    /// The number of elements of the input.
    pub(crate) fn input_len(&self) -> usize {
        let sizes = [&[self.batch], &self.input_spatial[..], &[self.input_features]].concat();
        num_elements(&sizes).unwrap_or(0)
    }
}
