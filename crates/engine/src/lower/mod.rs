//! The steps that nodes and groups of nodes become.

pub(crate) mod kernels;
pub(crate) mod loops;
pub(crate) mod moves;
mod narrow_weights;
pub(crate) mod outer;
pub(crate) mod sorts;
pub(crate) mod unrolled;
pub(crate) mod views;
