//! Elementwise math over whole tensors.

pub mod complex;
pub mod scalar;
