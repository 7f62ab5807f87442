//! Analyses of programs, for people who look into them: what a program costs, how two programs
//! differ, what is suspicious in one, and the smallest one that still shows a fault.

pub mod bisect;
mod compare;
pub mod cost;
pub mod diff;
pub mod lint;
mod place;
mod random;
pub mod reduce;

pub use compare::{Comparison, Tolerance, compare};
pub use place::Location;
pub use random::{generated, random};
