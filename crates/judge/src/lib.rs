//! Judges the results of programs: computes what a program means on the real numbers, how far
//! conforming rounding may lead from it, and says of a result whether it is inside or outside of
//! that.
//!
//! - [`ball`] has real numbers with proven errors, [`functions`] and `special.rs` the functions of
//!   them, `precise.rs` more of their digits where these are needed;
//! - [`bounds`] has intervals of the floats that rounding may give, [`Model`] how a backend may
//!   round, as data;
//! - `runs.rs` has runs with the digits that are needed; `quick_sums.rs`, `rules/quick.rs` and
//!   `rules/slopes.rs` what makes these take little time, `rules/sampled.rs` random rounding;
//! - `machine.rs` runs a program on arrays (`array.rs`) of both; `rules/` has the rules of
//!   arithmetic, and everything else runs in the kernels of the interpreter; `source.rs` has what
//!   ops say beyond their primitives;
//! - `doubts.rs` has decisions that rounding can flip, and ops without a rule; `alternatives.rs`
//!   the values that decisions lead to;
//! - `verdict.rs` compares results with bounds, `record.rs` recorded values of all ops,
//!   `report.rs` writes what is found, `page.rs` shows it.

mod alternatives;
#[doc(hidden)]
pub mod array; // For its tests.
#[doc(hidden)]
pub mod ball; // For its tests.
#[doc(hidden)]
pub mod bounds; // For its tests.
mod digits;
mod doubts;
mod exact_sums;
#[doc(hidden)]
pub mod functions; // For its tests.
mod judgement;
mod machine;
mod model;
mod page;
mod parallel;
mod precise;
mod quick_sums;
mod record;
mod report;
mod rules;
mod runs;
mod source;
mod special;
mod verdict;

pub use array::{Array, Elements, Number, NumberList};
pub use judgement::{
    Blames, DerivedBounds, Enclosure, Estimate, Growth, Judgement, Licence, OpError, Options,
    Truth, derive_bounds, enclose, judge, judge_expectations,
};
pub use machine::Limits;
pub use model::Model;
pub use record::{Blame, Record};
pub use verdict::{DoubtAt, Element, Output, Verdict};
