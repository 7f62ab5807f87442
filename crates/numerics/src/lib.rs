//! Numbers without an IR: element types, typed tensors over shared bytes, elementwise math and the
//! text of numbers.
//!
//! - [`DType`] and [`FloatFormat`] describe every element type of StableHLO as data;
//! - [`Element`] and its sub-traits tie them to Rust types, and the `dispatch_*!` macros go from a
//!   [`DType`] to the Rust type once per tensor, never once per element;
//! - [`Tensor`] is a dtype, a shape and shared [`Bytes`]; [`TensorRef`] and [`TensorMut`] borrow;
//! - [`shape`] has strides, indices and strided copies;
//! - [`simd`] compiles loops for the vector instructions of the machine;
//! - [`math`] has the elementwise kernels;
//! - [`text`] reads and writes floating-point literals as MLIR does;
//! - [`ulp`] measures distances between floating-point tensors.

mod borrowed;
pub mod budget;
mod bytes;
mod dispatch;
mod dtype;
mod element;
mod element_types;
mod error;
mod float_format;
mod floats;
mod integers;
mod iota;
mod kept;
pub mod math;
#[doc(hidden)]
pub mod pages; // For its tests.
mod runs;
pub mod shape;
pub mod simd;
mod tensor;
pub mod text;
mod transposes;
pub mod ulp;
mod widen;

pub use borrowed::{TensorMut, TensorRef};
pub use bytes::{Bytes, BytesIdentity};
pub use dtype::{DType, Family};
pub use element::{Arithmetic, Bitwise, ComplexElement, Element, Float, Integer, Number, Real};
pub use error::TensorError;
pub use float_format::{FloatFormat, Specials};
pub use floats::*;
pub use half::{bf16, f16};
pub use integers::{I1, I2, I4, U2, U4};
pub use iota::IotaElements;
pub use num_complex::{Complex, Complex32, Complex64};
pub use pages::AlignedMemory;
pub use tensor::Tensor;
pub use widen::Widen;
