//! Elementwise math over whole tensors.
//!
//! Every operation looks at the element type once and then runs a loop over typed elements.
//! Operations take their operands by value: the result reuses the memory of an unshared operand. To
//! keep an operand, pass a clone, which shares the elements. The loops themselves are
//! [`SliceKernel`]s, which write where their caller says.
//!
//! Arithmetic is exactly rounded in the type of the elements. The other functions of numbers of at
//! most 32 bits are computed in `f64` and rounded once (`lanes.rs`); those of `f64` are correctly
//! rounded by numbers of twice the precision (`rounded.rs` on `double.rs` and `elementary.rs`, and
//! in vectors `double_lanes.rs` and `double_lanes_erf.rs`), except for a few from the `libm` crate.
//! Many numbers of one or two bytes have vectors of `f64` (`narrow.rs`) or tables of all results
//! (`table.rs`). Special functions are series in that precision, which polynomials stand in for
//! where they are precise enough (`pieces.rs`). Functions of complex numbers are formulas in either
//! precision (`precision.rs`, and in vectors `complex_lanes.rs`). So results have the same bits on
//! every platform. `docs/accuracy.md` states their distance from the exact values.

mod aligned;
#[doc(hidden)]
pub mod bessel; // For the tests in `tests/it/math`.
pub mod binary;
pub mod compare;
pub mod complex;
pub mod complex_binary;
#[doc(hidden)]
pub mod complex_lanes; // For the tests in `tests/it/math`.
pub mod convert;
#[doc(hidden)]
pub mod double; // For the tests in `tests/it/math`.
#[doc(hidden)]
pub mod double_lanes; // For the tests in `tests/it/math`.
#[doc(hidden)]
pub mod double_lanes_erf; // For the tests in `tests/it/math`.
mod double_lanes_outside;
pub mod element;
mod elementary;
#[doc(hidden)]
pub mod erf; // For the tests in `tests/it/math`.
mod erf_rounded;
mod fixed;
pub mod fused;
#[doc(hidden)]
pub mod gamma; // For the tests in `tests/it/math`.
mod gamma_fixed;
mod kernel;
pub mod lanes;
pub mod lanes_erf;
pub mod lanes_trigonometric;
mod loops;
mod narrow;
pub(crate) mod one;
#[doc(hidden)]
pub mod pieces; // For the tests in `tests/it/math`.
mod precision;
#[cfg(target_family = "wasm")]
mod relaxed;
mod rounded;
pub mod scalar;
mod single;
mod table;
mod ties;
pub mod unary;
pub mod within;
#[doc(hidden)]
pub mod zeta; // For the tests in `tests/it/math`.

pub use aligned::{AlignedBytes, fill};
pub use binary::{BinaryOp, binary};
pub use compare::{CLAMP, Direction, clamp, compare, compare_total_order, select, total_order_key};
pub use convert::{bitcast, conversion, convert, reduce_precision};
pub use kernel::{Elementwise, SliceKernel};
pub use unary::{UnaryOp, unary};
