//! Windows that slide over padded and dilated tensors.

use crate::{DYNAMIC, EvalError};

/// The parameters of a window along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowDim {
    /// Number of elements of the window.
    pub size: i64,
    /// Distance between neighbouring windows.
    pub stride: i64,
    /// Padding before the first element; negative padding crops.
    pub pad_low: i64,
    /// Padding after the last element; negative padding crops.
    pub pad_high: i64,
    /// Distance between neighbouring elements of the base.
    pub base_dilation: i64,
    /// Distance between neighbouring elements of the window.
    pub window_dilation: i64,
}

/// A window, one entry a dimension.
pub type Window = Vec<WindowDim>;

impl WindowDim {
    /// Number of windows over `base` elements; [`DYNAMIC`] if that or the size of the window is
    /// dynamic. `None` if a number is out of the range of `i64`.
    ///
    /// Source: specification, `convolution_c25`, `reduce_window_c15`.
    pub fn num_windows(&self, base: i64) -> Option<i64> {
        if base == DYNAMIC || self.size == DYNAMIC {
            return Some(DYNAMIC);
        }
        let dilated = |n: i64, by: i64| {
            if n == 0 { Some(0) } else { (n - 1).checked_mul(by)?.checked_add(1) }
        };
        let padded = dilated(base, self.base_dilation)?
            .checked_add(self.pad_low)?
            .checked_add(self.pad_high)?;
        let window = dilated(self.size, self.window_dilation)?;
        Some(if padded <= 0 || window > padded { 0 } else { (padded - window) / self.stride + 1 })
    }

    /// The window of lists with one number a dimension, and two of padding.
    ///
    /// # Errors
    /// If the lists have different lengths, or a number is out of range.
    pub fn from_lists(
        sizes: &[i64],
        strides: &[i64],
        base_dilations: &[i64],
        window_dilations: &[i64],
        padding: &[i64],
    ) -> Result<Window, EvalError> {
        let n = sizes.len();
        let lengths =
            [strides.len(), base_dilations.len(), window_dilations.len(), padding.len() / 2];
        if lengths != [n; 4] || sizes.iter().any(|&size| size < 0) {
            return Err(EvalError::new(
                "window",
                "the attributes of the window do not fit its dimensions",
            ));
        }
        if [strides, base_dilations, window_dilations].into_iter().flatten().any(|&v| v <= 0) {
            return Err(EvalError::new("window", "strides and dilations are positive"));
        }
        Ok(WindowDim::zip(sizes, strides, base_dilations, window_dilations, padding))
    }

    /// The window of valid lists.
    ///
    /// # Panics
    /// If a list has fewer numbers than `sizes`, or `padding` fewer than two for each.
    pub fn zip(
        sizes: &[i64],
        strides: &[i64],
        base_dilations: &[i64],
        window_dilations: &[i64],
        padding: &[i64],
    ) -> Window {
        let dim = |i: usize| WindowDim {
            size: sizes[i],
            stride: strides[i],
            pad_low: padding[2 * i],
            pad_high: padding[2 * i + 1],
            base_dilation: base_dilations[i],
            window_dilation: window_dilations[i],
        };
        (0..sizes.len()).map(dim).collect()
    }
}
