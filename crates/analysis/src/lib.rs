//! Analyses of programs, for people who look into them: what a program costs, how two programs
//! differ, what is suspicious in one, the smallest one that still shows a fault, and one to look
//! at.

pub mod bisect;
mod compare;
pub mod cost;
pub mod diff;
mod isolate;
pub mod lint;
mod machine;
mod place;
mod profile;
mod random;
pub mod reduce;
mod roofline;
pub mod view;

pub use compare::{Comparison, Tolerance, compare};
pub use isolate::{IsolatedOp, isolate};
pub use machine::{Measurement, Measurements, model_to_json};
pub use place::{Location, line};
pub use profile::{Profile, StepProfile, profile};
pub use random::{generated, random};
pub use roofline::Roofline;
