//! The closed set of tensor operations that programs are made of.
//!
//! The `prepare` hook of a dialect's op maps it to a primitive. Numbers are parsed and lists are
//! owned; everything that depends on run-time values is computed by the kernels. Each primitive has
//! a file here, with all that is known of it without its operands' values: the [`Operation`].

mod batch_norm;
mod binary;
mod bitcast;
mod block;
mod broadcast;
mod broadcast_in_dim;
mod call;
mod case;
mod cholesky;
mod clamp;
pub mod collective;
mod compare;
mod concatenate;
mod constant;
mod convert;
mod convolution;
mod dimension_size;
mod dot;
mod dynamic;
mod dynamic_slice;
mod dynamic_update_slice;
mod einsum;
mod fft;
mod gather;
mod identity;
mod if_;
mod index_select;
mod infeed;
mod invalid;
mod iota;
mod map;
mod native;
mod outfeed;
mod pad;
mod partition_id;
mod permute;
mod quantized;
mod random_bits;
mod random_numbers;
mod receive;
mod reduce;
mod reduce_precision;
mod reduce_window;
mod replica_id;
mod reshape;
mod reverse;
mod scatter;
mod select;
mod select_and_scatter;
mod send;
mod set_dimension_size;
mod slice;
mod sort;
mod splat;
mod strided_gather;
mod token;
mod top_k;
mod transpose;
mod triangular_solve;
mod tuple;
mod tuple_element;
mod unary;
mod untuple;
mod while_;

pub use batch_norm::{BatchNorm, BatchNormKind};
pub use bitcast::Bitcast;
pub use block::Block;
pub use broadcast::Broadcast;
pub use broadcast_in_dim::BroadcastInDim;
pub use call::Call;
pub use case::Case;
pub use cholesky::Cholesky;
pub use clamp::Clamp;
pub use compare::Comparison;
pub use concatenate::Concatenate;
pub use constant::Constant;
pub use convert::Convert;
pub use convolution::{ConvDims, Convolution};
pub use dimension_size::DimensionSize;
pub use dot::{Dot, DotDims};
pub use dynamic::Dynamic;
pub use dynamic_slice::DynamicSlice;
pub use dynamic_update_slice::DynamicUpdateSlice;
pub use einsum::Einsum;
pub use fft::{Fft, Fourier};
pub use gather::{Gather, GatherDims};
pub use identity::Identity;
pub use if_::If;
pub use index_select::IndexSelect;
pub use infeed::Infeed;
pub use iota::Iota;
pub use map::Map;
pub use native::NativeFunction;
pub use outfeed::Outfeed;
pub use pad::Pad;
pub use partition_id::PartitionId;
pub use permute::Permute;
pub use quantized::Quantized;
pub use random_bits::{Generator, RandomBits};
pub use random_numbers::{RandomDistribution, RandomNumbers};
pub use receive::Receive;
pub use reduce::Reduce;
pub use reduce_precision::ReducePrecision;
pub use reduce_window::ReduceWindow;
pub use replica_id::ReplicaId;
pub use reshape::Reshape;
pub use reverse::Reverse;
pub use scatter::{Scatter, ScatterDims};
pub use select::Select;
pub use select_and_scatter::SelectAndScatter;
pub use send::Send;
pub use set_dimension_size::SetDimensionSize;
pub use slice::Slice;
pub use sort::Sort;
pub use splat::Splat;
pub use strided_gather::StridedGather;
pub use token::Token;
pub use top_k::TopK;
pub use transpose::Transpose;
pub use triangular_solve::TriangularSolve;
pub use tuple::Tuple;
pub use tuple_element::TupleElement;
pub use untuple::Untuple;
pub use while_::While;

use crate::work::{BodyWork, Shapes, Work};
use crate::{Callee, EvalError};
use collective::Collective;
use numerics::math::{BinaryOp, UnaryOp};
use numerics::shape::StridedView;
use smallvec::SmallVec;

/// The blocks and functions that a primitive runs.
pub type Blocks = SmallVec<[Callee; 2]>;

/// The kind of a primitive: the group of reports in which it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Values that cost nothing: constants, tuples, tokens.
    Value,
    /// A function of elements at one position.
    Elementwise,
    /// Movement of elements.
    Movement,
    /// Products of matrices.
    Product,
    /// Convolutions.
    Convolution,
    /// Reductions of dimensions or windows.
    Reduction,
    /// Control flow, which executors run.
    Control,
    /// Anything else.
    Kernel,
}

/// The effects of a primitive besides its results, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effects {
    /// None: the results depend on the operands alone, and operands of static types give some.
    None,
    /// It may stop the program with an error, or go on for ever.
    MayFail,
    /// It advances a generator of random numbers.
    Stateful,
    /// It exchanges values with other processes or with the host, or runs code of users.
    External,
}

/// All facts of a primitive that hold for any values of its operands.
pub trait Operation {
    /// Its kind.
    fn kind(&self) -> Kind;

    /// Its effects, except of its [blocks](Operation::blocks).
    fn effects(&self) -> Effects;

    /// The blocks and functions that it runs, in the order of its fields.
    fn blocks(&self) -> Blocks;

    /// True if every element of the results is computed from numbers, rather than moved.
    fn is_arithmetic(&self) -> bool;

    /// True if each element of a result depends on one element of each operand, or on the operand
    /// as a whole where it is a scalar or gives indices.
    fn is_by_element(&self) -> bool;

    /// The result as a view of the memory of the first operand, given as a view itself; of a splat
    /// or iota, of the element or the numbers that it repeats. `None` if it is no view.
    fn as_view(&self, operand: &StridedView) -> Option<StridedView>;

    /// The arithmetic without that of nested control flow; `None` if it is not known. `body` has
    /// that of blocks and functions that combine elements.
    ///
    /// An operation on an element counts one, whatever its type; a multiplication with an addition
    /// two. Moving elements costs none.
    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work>;

    /// The bytes that are read and written: each operand and result once. Views move nothing; an
    /// operation that reads or writes a part counts the part.
    fn bytes(&self, shapes: &Shapes<'_>) -> u64;
}

macro_rules! primitives {
    (
        unit { $($(#[doc = $unit_doc:literal])* $unit:ident,)* }
        owned { $($(#[doc = $owned_doc:literal])* $owned:ident($payload:ty),)* }
        boxed { $($(#[doc = $boxed_doc:literal])* $boxed:ident($content:ty),)* }
    ) => {
        /// A tensor operation.
        #[derive(Debug, PartialEq)]
        pub enum Primitive {
            $($(#[doc = $unit_doc])* $unit,)*
            $($(#[doc = $owned_doc])* $owned($payload),)*
            $($(#[doc = $boxed_doc])* $boxed(Box<$content>),)*
        }

        $(impl From<$unit> for Primitive {
            fn from(_: $unit) -> Primitive {
                Primitive::$unit
            }
        })*
        $(impl From<$payload> for Primitive {
            fn from(operation: $payload) -> Primitive {
                Primitive::$owned(operation)
            }
        })*
        $(impl From<$content> for Primitive {
            fn from(operation: $content) -> Primitive {
                Primitive::$boxed(Box::new(operation))
            }
        })*

        impl Primitive {
            /// The names of all primitives.
            pub const NAMES: &[&str] = &[
                $(stringify!($unit),)*
                $(stringify!($owned),)*
                $(stringify!($boxed),)*
            ];

            /// The name of the primitive, one of [`NAMES`](Primitive::NAMES).
            pub fn name(&self) -> &'static str {
                match self {
                    $(Primitive::$unit => stringify!($unit),)*
                    $(Primitive::$owned(_) => stringify!($owned),)*
                    $(Primitive::$boxed(_) => stringify!($boxed),)*
                }
            }

            /// The facts of the primitive.
            fn operation(&self) -> &dyn Operation {
                match self {
                    $(Primitive::$unit => &$unit,)*
                    $(Primitive::$owned(operation) => operation,)*
                    $(Primitive::$boxed(operation) => &**operation,)*
                }
            }
        }
    };
}

primitives! {
    unit {
        /// The operands.
        Identity,
        /// A token.
        Token,
        /// The operands as one tuple.
        Tuple,
        /// The elements of a tuple.
        Untuple,
        /// Elements of the second operand where the first is true, else of the third.
        Select,
        /// Elements of the second operand, at least those of the first and at most those of the
        /// third.
        Clamp,
        /// The first operand with a part replaced by the second, from the start indices that are
        /// the others.
        DynamicUpdateSlice,
        /// Values of the infeed, followed by a token.
        Infeed,
        /// Writes the operands, without the last one, a token, to the outfeed.
        Outfeed,
        /// The replica of this process.
        ReplicaId,
        /// The partition of this process.
        PartitionId,
    }
    owned {
        /// The same tensor each time.
        Constant(Constant),
        /// A splat. Allocated on each execution, so that it may be overwritten in place.
        Splat(Splat),
        /// Numbers that count up along a dimension.
        Iota(Iota),
        /// An element of a tuple.
        TupleElement(TupleElement),
        /// A function of each element.
        Unary(UnaryOp),
        /// A function of pairs of elements.
        Binary(BinaryOp),
        /// A comparison of pairs of elements.
        Compare(Comparison),
        /// Elements as numbers of another type.
        Convert(Convert),
        /// Bits of the elements as elements of another type.
        Bitcast(Bitcast),
        /// Elements rounded to fewer bits.
        ReducePrecision(ReducePrecision),
        /// The elements in another shape.
        Reshape(Reshape),
        /// Operand dimension `i` becomes dimension `dimensions[i]` of the result.
        BroadcastInDim(BroadcastInDim),
        /// New dimensions in front.
        Broadcast(Broadcast),
        /// Dimension `i` of the result is dimension `permutation[i]` of the operand.
        Transpose(Transpose),
        /// Elements backwards along dimensions.
        Reverse(Reverse),
        /// A part of the operand.
        Slice(Slice),
        /// Elements of the operand at any distances along dimensions.
        StridedGather(StridedGather),
        /// The operand with the second operand around and between its elements.
        Pad(Pad),
        /// The concatenation of the operands along a dimension.
        Concatenate(Concatenate),
        /// A part of the first operand, from the start indices that are the others.
        DynamicSlice(DynamicSlice),
        /// The first operand up to the size in the second one, or followed by zeros up to it.
        SetDimensionSize(SetDimensionSize),
        /// The size of a dimension, as an `i32`.
        DimensionSize(DimensionSize),
        /// Windows of the first operand at index vectors in the second one.
        Gather(Gather),
        /// Inputs with windows combined with updates, at index vectors.
        Scatter(Scatter),
        /// Slices of the first operand along a dimension, at indices in the second one.
        IndexSelect(IndexSelect),
        /// Sums of products over contracted dimensions.
        Dot(Dot),
        /// Sums of products over labelled dimensions.
        Einsum(Einsum),
        /// A block at each index of the inputs.
        Map(Map),
        /// Inputs reduced along dimensions, from initial values.
        Reduce(Reduce),
        /// Inputs reduced over each position of a window, from initial values.
        ReduceWindow(ReduceWindow),
        /// The places that `select` prefers in each window, with sources scattered to them.
        SelectAndScatter(SelectAndScatter),
        /// Inputs sorted together along a dimension.
        Sort(Sort),
        /// The `k` largest or smallest elements along the last dimension, and their indices.
        TopK(TopK),
        /// A discrete Fourier transform of the last dimensions.
        Fft(Fft),
        /// The Cholesky decomposition of matrices.
        Cholesky(Cholesky),
        /// Solutions of triangular systems.
        TriangularSolve(TriangularSolve),
        /// Batch normalization.
        BatchNorm(BatchNorm),
        /// The next state of a generator and random bits.
        RandomBits(RandomBits),
        /// Random numbers of a distribution; operands are its parameters and the shape.
        RandomNumbers(RandomNumbers),
        /// Values of other processes, from sources to targets.
        Permute(Permute),
        /// Sends the operands, without the last one, a token.
        Send(Send),
        /// Receives values, followed by a token.
        Receive(Receive),
        /// A block on the operands.
        Block(Block),
        /// The first block if the operand is true, else the second.
        If(If),
        /// The block that the operand chooses; the last one if it is out of range.
        Case(Case),
        /// Replaces the operands by the results of `body` for as long as `cond` is true.
        While(While),
        /// A call.
        Call(Call),
        /// A function of a side dialect or of the user.
        Native(NativeFunction),
        /// Cannot be executed; the error is reported when the instruction is reached.
        Invalid(EvalError),
    }
    boxed {
        /// An operation whose numbers are operands.
        Dynamic(Dynamic),
        /// Sums of products under a sliding window.
        Convolution(Convolution),
        /// An exchange between the processes of a group.
        Collective(Collective),
        /// A primitive on floats with quantized operands or results.
        Quantized(Quantized),
    }
}

impl Primitive {
    /// [`Operation::kind`].
    pub fn kind(&self) -> Kind {
        self.operation().kind()
    }

    /// [`Operation::effects`].
    pub fn effects(&self) -> Effects {
        self.operation().effects()
    }

    /// [`Operation::blocks`].
    pub fn blocks(&self) -> Blocks {
        self.operation().blocks()
    }

    /// [`Operation::is_arithmetic`].
    pub fn is_arithmetic(&self) -> bool {
        self.operation().is_arithmetic()
    }

    /// [`Operation::is_by_element`].
    pub fn is_by_element(&self) -> bool {
        self.operation().is_by_element()
    }

    /// [`Operation::as_view`].
    pub fn as_view(&self, operand: &StridedView) -> Option<StridedView> {
        self.operation().as_view(operand)
    }

    /// True if the result has the elements of the first operand, which has that shape, in the same
    /// order.
    pub fn is_identity(&self, operand: &[usize]) -> bool {
        if let Primitive::Pad(Pad { low, high, interior }) = self {
            return low.iter().chain(high).chain(interior).all(|&count| count == 0);
        }
        // Values have no operand.
        let operand = StridedView::dense(operand).ok().filter(|_| self.kind() == Kind::Movement);
        let result = operand.and_then(|operand| Some((self.as_view(&operand)?, operand)));
        result.is_some_and(|(view, operand)| view.is_dense() && view.shape() == operand.shape())
    }

    /// [`Operation::arithmetic`].
    pub fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        self.operation().arithmetic(shapes, body)
    }

    /// [`Operation::bytes`].
    pub fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        self.operation().bytes(shapes)
    }
}
