//! Tensors on disk: NumPy's `.npy` and `.npz` files, and safetensors.
//!
//! No format has all element types of StableHLO. Types that a format lacks are stored as others of
//! the same size, and whoever reads a tensor says which type it should have:
//!
//! | type | npy, npz | safetensors |
//! | --- | --- | --- |
//! | integers of less than a byte | one a byte, by value | one a byte, by value |
//! | `bf16` | unsigned integers of the same bits | as such |
//! | floats of at most a byte | unsigned integers of the same bits | as such, or as for npy |
//! | `tf32` | `f32` | as for npy: the bits |
//! | complex numbers | as such | their parts, in one more dimension of size 2 |

mod error;
pub mod npy;
pub mod npz;
pub mod safetensors;

pub use error::ArrayError;
