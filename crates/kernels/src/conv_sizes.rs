//! The sizes of convolutions.

use super::contract::invalid;
use super::convolution::Convolution;
use numerics::shape::num_elements;
use program::EvalError;

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
    /// The sizes of a convolution of operands of these sizes in the order above.
    ///
    /// # Errors
    /// If the attributes do not fit them.
    pub(crate) fn new(
        convolution: &Convolution<'_>,
        input: &[usize],
        kernel: &[usize],
    ) -> Result<ConvSizes, EvalError> {
        let rank = convolution.window.len();
        if input.len() != rank + 2 || kernel.len() != rank + 2 {
            return Err(invalid(
                "convolution_c1",
                "operands must have two dimensions more than the window",
            ));
        }
        let (feature_groups, batch_groups) = (convolution.feature_groups, convolution.batch_groups);
        if feature_groups == 0 || batch_groups == 0 || (feature_groups > 1 && batch_groups > 1) {
            return Err(invalid("convolution_c23", "groups must be positive and of one kind"));
        }
        let groups = feature_groups.max(batch_groups);
        let (batch, features) = (input[0], input[rank + 1]);
        let (kernel_features, output_features) = (kernel[rank], kernel[rank + 1]);
        for (label, what, size, groups) in [
            ("convolution_c10", "batches of the input", batch, batch_groups),
            ("convolution_c15", "output features of the kernel", output_features, batch_groups),
            ("convolution_c16", "output features of the kernel", output_features, feature_groups),
        ] {
            if size % groups != 0 {
                return Err(invalid(
                    label,
                    format!("there are {size} {what}, which {groups} groups do not divide"),
                ));
            }
        }
        if Some(features) != kernel_features.checked_mul(feature_groups) {
            let message = format!(
                "there are {features} input features in {feature_groups} groups, and {kernel_features} of the kernel for each"
            );
            return Err(invalid("convolution_c14", message));
        }
        let mut output_spatial = Vec::with_capacity(rank);
        for (axis, dim) in convolution.window.iter().enumerate() {
            let positive = dim.stride > 0 && dim.base_dilation > 0 && dim.window_dilation > 0;
            let count = i64::try_from(input[axis + 1])
                .ok()
                .filter(|_| positive)
                .and_then(|n| dim.num_windows(n));
            let count = count.and_then(|n| usize::try_from(n).ok());
            if dim.size != kernel[axis] as i64 {
                return Err(invalid(
                    "convolution_c25",
                    "the window has not the size of the kernel",
                ));
            }
            output_spatial
                .push(count.ok_or_else(|| invalid("convolution_c25", "the window does not fit"))?);
        }
        Ok(ConvSizes {
            input_spatial: input[1..=rank].to_vec(),
            kernel_spatial: kernel[..rank].to_vec(),
            output_spatial,
            batch,
            group_batch: batch / batch_groups,
            input_features: features,
            kernel_features,
            output_features,
            group_features: output_features / groups,
            groups,
        })
    }

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
