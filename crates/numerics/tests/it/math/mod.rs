//! Tests of functions of numbers.

mod bessel;
mod complex;
mod erf;
mod gamma;
mod lanes_erf;
mod lanes_trigonometric;
