//! Quantized element types as plain data.

use numerics::DType;

/// A uniform quantization: stored integers and the floats that they express.
///
/// Source: specification, "Quantized element types".
#[derive(Clone, Debug, PartialEq)]
pub struct UniformQuantization {
    /// The storage type.
    pub storage: DType,
    /// Least stored value.
    pub storage_min: i64,
    /// Greatest stored value.
    pub storage_max: i64,
    /// The expressed float type.
    pub expressed: DType,
    /// Scales: one, or one for each index of the quantized dimension.
    pub scales: Vec<f64>,
    /// Zero points, one per scale.
    pub zero_points: Vec<i64>,
    /// The quantized dimension, if there is exactly one.
    pub axis: Option<usize>,
}
