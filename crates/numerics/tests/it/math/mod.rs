//! Tests of functions of numbers.

mod bessel;
mod complex;
mod complex_lanes;
mod double_lanes;
mod double_lanes_outside;
mod erf;
mod fused;
mod gamma;
mod lanes_erf;
mod lanes_trigonometric;
mod pieces;
