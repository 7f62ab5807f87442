//! Blocks that are functions of scalars, run on vectors: the bodies of `reduce`, `sort` and the
//! like, with what their instructions reveal.

use crate::{BlockId, FunctionId};
use numerics::DType;
use numerics::math::{BinaryOp, Direction};

/// A block that combines accumulators with values: `(a0, …, aN, v0, …, vN) -> (r0, …, rN)`, all
/// scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The code to run.
    pub callee: Callee,
    /// Element types of the arguments; `None` for one without plain storage (quantized).
    pub dtypes: Vec<Option<DType>>,
    /// The classification of the block, if it is simple.
    pub shape: BodyShape,
    /// The extremum that it finds, with the least index of one.
    pub extremum: Option<Extremum>,
    /// If the results are the accumulators where the first one is in this relation to the first
    /// value, and the values elsewhere: `argmax` and `argmin` as they are also written.
    pub choice: Option<Direction>,
    /// True if it uses no values but its arguments.
    pub closed: bool,
}

/// The code that a body runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A nested block, on vectors if it is vectorizable.
    Block(BlockId),
    /// A function, with a separate frame: one call per position.
    Function(FunctionId),
}

/// Bodies that need not run as blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyShape {
    /// Of one accumulator `a` and one value `v`: the operation on `(a, v)`, or on `(v, a)` if
    /// swapped.
    Binary {
        /// The operation.
        op: BinaryOp,
        /// True if the value is the left operand.
        swapped: bool,
    },
    /// Returns the values and ignores the accumulators.
    Values,
    /// Anything else.
    Block,
}

/// Bodies of an element and its index that keep the greater or smaller element, or the first NaN,
/// and of equal elements the least index, as exporters write `argmax` and `argmin`: for `(p, s)`
/// and `(q, t)`, `p` if `p > q` or `p != p`, else `q`; and `s` then or if `p == q` and `s < t`,
/// else `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    /// The greatest.
    Maximum,
    /// The smallest, with `p < q`.
    Minimum,
}

/// The comparator of a sort: `(l0, r0, l1, r1, …)`, one pair per input, returns true if `l` is
/// ordered before `r`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparator {
    /// The block.
    pub block: BlockId,
    /// For each argument of the block, true if it is used.
    pub used: Vec<bool>,
    /// The keys that the block compares, in order until two are unequal; empty if it is
    /// not that simple.
    pub keys: Vec<SortKey>,
}

/// A comparison of the elements of one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SortKey {
    /// The input.
    pub input: usize,
    /// The part of complex elements.
    pub part: Option<ComplexPart>,
    /// From the greatest to the least.
    pub descending: bool,
    /// In the total order of floats.
    pub total_order: bool,
    /// The replacements for zeros and NaNs.
    pub canonical: Canonical,
}

/// A part of a complex number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplexPart {
    /// The real part.
    Real,
    /// The imaginary part.
    Imaginary,
}

/// Floats that a comparator replaces before it compares in the total order, as exporters write it
/// so that zeros are equal and NaNs are: the places of the replacements in the total order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Canonical {
    /// The replacement for zeros of any sign.
    pub zero: Option<i64>,
    /// The replacement for all NaNs.
    pub nan: Option<i64>,
}
