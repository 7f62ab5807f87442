//! The closed set of tensor operations that programs are made of.
//!
//! The `prepare` hook of a dialect's op maps it to a primitive. Numbers are parsed and lists are
//! owned; everything that depends on run-time values is computed by the kernels.

use crate::collective::{Collective, Pairs};
use crate::{
    BlockId, Body, Comparator, Env, EvalError, EvalResult, FunctionId, Origin, Quantized,
    RuntimeValue, Window,
};
use numerics::math::{BinaryOp, Direction, UnaryOp};
use numerics::{DType, Tensor};
use std::fmt;
use std::sync::Arc;

/// A tensor operation.
#[derive(Debug, PartialEq)]
pub enum Primitive {
    // Values.
    /// The same tensor each time.
    Constant(Tensor),
    /// A splat. Allocated on each execution, so that it may be overwritten in place.
    Splat {
        /// The element, of rank 0.
        element: Tensor,
        /// The shape.
        shape: Vec<usize>,
    },
    /// Numbers that count up along a dimension.
    Iota {
        /// The element type.
        dtype: DType,
        /// The shape.
        shape: Vec<usize>,
        /// The dimension.
        dimension: usize,
    },
    /// The operands.
    Identity,
    /// A token.
    Token,
    /// The operands as one tuple.
    Tuple,
    /// An element of a tuple.
    TupleElement(usize),
    /// The elements of a tuple.
    Untuple,

    // Elementwise.
    /// A function of each element.
    Unary(UnaryOp),
    /// A function of pairs of elements.
    Binary(BinaryOp),
    /// A comparison of pairs of elements.
    Compare(Comparison),
    /// Elements of the second operand where the first is true, else of the third.
    Select,
    /// Elements of the second operand, at least those of the first and at most those of the third.
    Clamp,
    /// Elements as numbers of another type.
    Convert(DType),
    /// Bits of the elements as elements of another type.
    Bitcast(DType),
    /// Elements rounded to fewer bits.
    ReducePrecision {
        /// Bits of the exponent.
        exponent_bits: u32,
        /// Bits of the mantissa.
        mantissa_bits: u32,
    },

    // Movement of elements.
    /// The elements in another shape.
    Reshape(Vec<usize>),
    /// Operand dimension `i` becomes dimension `dimensions[i]` of the result.
    BroadcastInDim {
        /// The shape of the result.
        shape: Vec<usize>,
        /// The dimension of the result of each dimension of the operand.
        dimensions: Vec<usize>,
    },
    /// New dimensions in front.
    Broadcast {
        /// Their sizes.
        sizes: Vec<usize>,
    },
    /// Dimension `i` of the result is dimension `permutation[i]` of the operand.
    Transpose(Vec<usize>),
    /// Elements backwards along dimensions.
    Reverse(Vec<usize>),
    /// A part of the operand.
    Slice {
        /// First indices.
        starts: Vec<usize>,
        /// Indices after the last.
        limits: Vec<usize>,
        /// Steps.
        strides: Vec<usize>,
    },
    /// The operand with the second operand around and between its elements.
    Pad {
        /// Elements before.
        low: Vec<i64>,
        /// Elements after.
        high: Vec<i64>,
        /// Elements between.
        interior: Vec<i64>,
    },
    /// The operands one after the other along a dimension.
    Concatenate(usize),
    /// A part of the first operand, from the start indices that are the others.
    DynamicSlice {
        /// The shape of the part.
        sizes: Vec<usize>,
    },
    /// The first operand with a part replaced by the second, from the start indices that are the
    /// others.
    DynamicUpdateSlice,
    /// The first operand up to the size in the second one, or followed by zeros up to it.
    SetDimensionSize {
        /// The dimension.
        dimension: usize,
        /// The largest size that the dimension may have; `None` if it may not grow.
        bound: Option<usize>,
        /// Sizes of the result type; `None` if it has no rank.
        declared: Option<Vec<i64>>,
    },
    /// The size of a dimension, as an `i32`.
    DimensionSize(usize),
    /// An operation whose numbers are operands.
    Dynamic(Box<Dynamic>),
    /// Windows of the first operand at index vectors in the second one.
    Gather {
        /// Dimension numbers.
        dims: Box<GatherDims>,
        /// Sizes of the windows.
        sizes: Vec<usize>,
    },
    /// Inputs with windows combined with updates, at index vectors.
    Scatter {
        /// Dimension numbers.
        dims: Box<ScatterDims>,
        /// Combines elements with updates.
        body: Box<Body>,
    },
    /// Slices of the first operand along a dimension, at indices in the second one.
    IndexSelect {
        /// The dimension; from the end if negative.
        dimension: i64,
        /// Number of leading dimensions that both operands have; the rank of the indices is added
        /// to a negative one.
        batch_dims: i64,
        /// Sizes of the result type; `None` if it has no rank.
        declared: Option<Vec<i64>>,
    },

    // Contractions.
    /// Sums of products over contracted dimensions.
    Dot {
        /// Dimension numbers; `None` for the last dimension of the first operand with the first
        /// one of the second.
        dims: Option<Box<DotDims>>,
        /// The element type of the result.
        dtype: DType,
    },
    /// Sums of products under a sliding window.
    Convolution(Box<Convolution>),
    /// Sums of products over labelled dimensions.
    Einsum {
        /// `lhs,rhs->result`
        config: String,
        /// The element type of the result.
        dtype: DType,
        /// Sizes of the result type; `None` if it has no rank.
        declared: Option<Vec<i64>>,
    },

    // Operations with blocks.
    /// A block at each index of the inputs.
    Map(BlockId),
    /// Inputs reduced along dimensions, from initial values.
    Reduce {
        /// The dimensions.
        dimensions: Vec<usize>,
        /// Combines accumulators with values.
        body: Box<Body>,
    },
    /// Inputs reduced over each position of a window, from initial values.
    ReduceWindow {
        /// The window; `None` if given by operands: sizes, strides, base dilations, window
        /// dilations and padding, after the initial values.
        window: Option<Window>,
        /// Number of inputs.
        inputs: usize,
        /// Combines accumulators with values.
        body: Box<Body>,
    },
    /// The places that `select` prefers in each window, with sources scattered to them.
    SelectAndScatter {
        /// The window.
        window: Window,
        /// Chooses between two elements: true for the first one.
        select: BlockId,
        /// The comparison that it is.
        relation: Option<Direction>,
        /// Combines elements with sources.
        scatter: Box<Body>,
    },
    /// Inputs sorted together along a dimension.
    Sort {
        /// The dimension; from the end if negative.
        dimension: i64,
        /// The order.
        comparator: Box<Comparator>,
    },

    // Numerical algorithms.
    /// The `k` largest or smallest elements along the last dimension, and their indices.
    TopK {
        /// Number of elements; `None` if given by the second operand.
        k: Option<usize>,
        /// The largest ones.
        largest: bool,
    },
    /// A discrete Fourier transform of the last dimensions.
    Fft {
        /// The transform.
        transform: Fourier,
        /// Sizes of the dimensions, on the real side of a real transform.
        lengths: Vec<usize>,
    },
    /// The Cholesky decomposition of matrices.
    Cholesky {
        /// The lower triangle.
        lower: bool,
    },
    /// Solutions of triangular systems.
    TriangularSolve(lapack::System),
    /// Batch normalization.
    BatchNorm {
        /// The op.
        kind: BatchNorm,
        /// Added to variances.
        epsilon: f64,
        /// The dimension of the features.
        feature_index: usize,
    },
    /// The next state of a generator and random bits.
    RandomBits {
        /// The generator.
        generator: Generator,
        /// The shape; `None` if given by the second operand.
        shape: Option<Vec<usize>>,
        /// The element type.
        dtype: DType,
    },
    /// Random numbers of a distribution; operands are its parameters and the shape.
    RandomNumbers {
        /// The distribution.
        distribution: Distribution,
        /// The number of the op among those of the program with their own generator.
        stream: usize,
        /// Sizes of the result type; `None` if it has no rank.
        declared: Option<Vec<i64>>,
    },

    // Processes.
    /// An exchange between the processes of a group.
    Collective(Box<Collective>),
    /// Values of other processes, from sources to targets.
    Permute {
        /// Sources and targets.
        pairs: Pairs,
        /// The channel id; 0 for none.
        channel: i64,
        /// Zeros of the result types.
        zeros: Vec<crate::collective::Zeros>,
    },
    /// Sends the operands, without the last one, a token.
    Send {
        /// The channel.
        channel: i64,
        /// Sources and targets; `None` through the host.
        pairs: Option<Pairs>,
    },
    /// Receives values, followed by a token.
    Receive {
        /// The channel.
        channel: i64,
        /// Sources and targets; `None` through the host.
        pairs: Option<Pairs>,
        /// Zeros of the result types and their shapes.
        zeros: Vec<(crate::collective::Zeros, Vec<usize>)>,
    },
    /// Values of the infeed, followed by a token.
    Infeed,
    /// Writes the operands, without the last one, a token, to the outfeed.
    Outfeed,
    /// The replica of this process.
    ReplicaId,
    /// The partition of this process.
    PartitionId,

    // Control flow; executors run these.
    /// A block on the operands.
    Block(BlockId),
    /// The first block if the operand is true, else the second.
    If([BlockId; 2]),
    /// The block that the operand chooses; the last one if it is out of range.
    Case(Vec<BlockId>),
    /// Replaces the operands by the results of `body` for as long as `cond` is true.
    While {
        /// The condition.
        cond: BlockId,
        /// The next values.
        body: BlockId,
    },
    /// A call.
    Call(FunctionId),

    // Others.
    /// A primitive on floats with quantized operands or results.
    Quantized(Box<Quantized>),
    /// A function of a side dialect or of the user.
    Native(NativeFunction),
    /// Cannot be executed; the error is reported when the instruction is reached.
    Invalid(EvalError),
}

impl Primitive {
    /// True if every element of the results is computed from numbers, rather than moved.
    pub fn is_arithmetic(&self) -> bool {
        match self {
            Primitive::Unary(op) => !matches!(op, UnaryOp::Negate | UnaryOp::Abs),
            Primitive::Binary(_)
            | Primitive::Compare(_)
            | Primitive::Clamp
            | Primitive::Convert(_)
            | Primitive::Dot { .. }
            | Primitive::Convolution(_)
            | Primitive::Einsum { .. }
            | Primitive::Reduce { .. }
            | Primitive::ReduceWindow { .. }
            | Primitive::Fft { .. }
            | Primitive::BatchNorm { .. } => true,
            _ => false,
        }
    }
}

/// A function of a side dialect or of the user, on values. The name is for listings.
#[derive(Clone)]
pub struct NativeFunction {
    /// Name.
    pub name: &'static str,
    /// True if it does not use the executor, runs no code of users, and needs little stack.
    pub is_plain: bool,
    /// Functions of a program with the same class compute the same.
    pub class: Option<u32>,
    /// Evaluates the op `origin` on operands.
    pub function: Arc<NativeFn>,
}

/// The type of native functions.
type NativeFn =
    dyn Fn(Origin, Vec<RuntimeValue>, &mut dyn Env) -> EvalResult + Send + Sync + 'static;

impl NativeFunction {
    /// A native function.
    pub fn new<F>(name: &'static str, function: F) -> NativeFunction
    where
        F: Fn(Origin, Vec<RuntimeValue>, &mut dyn Env) -> EvalResult + Send + Sync + 'static,
    {
        NativeFunction { name, is_plain: false, class: None, function: Arc::new(function) }
    }

    /// A plain native function of its operands.
    pub fn plain<F>(name: &'static str, function: F) -> NativeFunction
    where
        F: Fn(Vec<RuntimeValue>) -> EvalResult + Send + Sync + 'static,
    {
        let function = Arc::new(move |_, operands, _: &mut dyn Env| function(operands));
        NativeFunction { name, is_plain: true, class: None, function }
    }
}

/// Functions are compared by identity.
impl PartialEq for NativeFunction {
    fn eq(&self, other: &NativeFunction) -> bool {
        let NativeFunction { name, is_plain, class, function } = self;
        (*name, *is_plain, *class) == (other.name, other.is_plain, other.class)
            && Arc::ptr_eq(function, &other.function)
    }
}

impl fmt::Debug for NativeFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NativeFunction({})", self.name)
    }
}

/// The relation of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The relation.
    pub direction: Direction,
    /// In IEEE 754's total order of floats.
    pub total_order: bool,
    /// The type as which the bits of operands are read, if that is another than theirs.
    pub read_as: Option<DType>,
}

/// Operations whose numbers are operands. `declared` has the sizes of the result type.
#[derive(Debug, PartialEq)]
pub enum Dynamic {
    /// [`Primitive::Reshape`] to the shape that is the second operand.
    Reshape {
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::BroadcastInDim`] to the shape that is the second operand.
    BroadcastInDim {
        /// The dimension of the result of each dimension of the operand.
        dimensions: Vec<usize>,
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Iota`] of the shape that is the operand.
    Iota {
        /// The element type.
        dtype: DType,
        /// The dimension.
        dimension: usize,
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Pad`] by the third to fifth operands.
    Pad {
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Slice`] by the second to fourth operands.
    Slice {
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Gather`] with the sizes that are the third operand.
    Gather(GatherDims),
    /// [`Primitive::Convolution`] with the padding that is the third operand.
    Convolution(Convolution),
}

/// A convolution without the sizes of its window, which are those of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// The batch, feature and spatial dimensions.
    pub dims: ConvDims,
    /// The window, one entry a spatial dimension, of any size.
    pub window: Window,
    /// For each spatial dimension, true if the kernel is reversed; empty if none is.
    pub reversal: Vec<bool>,
    /// Groups of features.
    pub feature_groups: usize,
    /// Groups of the batch.
    pub batch_groups: usize,
    /// The element type of the result.
    pub dtype: DType,
}

impl Convolution {
    /// The convolution of an input without that many zeros before and after it in each dimension;
    /// `None` if it does not see these as it sees its own padding.
    pub fn with_padding(&self, low: &[i64], high: &[i64]) -> Option<Convolution> {
        let mut convolution = self.clone();
        let mut spatial = 0;
        for (dim, &d) in convolution.window.iter_mut().zip(&self.dims.input_spatial_dimensions) {
            let d = usize::try_from(d).ok()?;
            let (low, high) = (*low.get(d)?, *high.get(d)?);
            if dim.base_dilation != 1 {
                return None;
            }
            dim.pad_low = dim.pad_low.checked_add(low)?;
            dim.pad_high = dim.pad_high.checked_add(high)?;
            spatial += usize::from((low, high) != (0, 0));
        }
        let count = low.iter().zip(high).filter(|&(low, high)| (*low, *high) != (0, 0)).count();
        (count == spatial).then_some(convolution)
    }
}

/// Dimension numbers of `convolution`, named as in the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ConvDims {
    pub input_batch_dimension: i64,
    pub input_feature_dimension: i64,
    pub input_spatial_dimensions: Vec<i64>,
    pub kernel_input_feature_dimension: i64,
    pub kernel_output_feature_dimension: i64,
    pub kernel_spatial_dimensions: Vec<i64>,
    pub output_batch_dimension: i64,
    pub output_feature_dimension: i64,
    pub output_spatial_dimensions: Vec<i64>,
}

/// Dimension numbers of `dot_general`, named as in the specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DotDims {
    pub lhs_batching_dimensions: Vec<i64>,
    pub rhs_batching_dimensions: Vec<i64>,
    pub lhs_contracting_dimensions: Vec<i64>,
    pub rhs_contracting_dimensions: Vec<i64>,
}

/// Dimension numbers of `gather`, named as in the specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct GatherDims {
    pub offset_dims: Vec<i64>,
    pub collapsed_slice_dims: Vec<i64>,
    pub operand_batching_dims: Vec<i64>,
    pub start_indices_batching_dims: Vec<i64>,
    pub start_index_map: Vec<i64>,
    pub index_vector_dim: i64,
}

/// Dimension numbers of `scatter`, named as in the specification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ScatterDims {
    pub update_window_dims: Vec<i64>,
    pub inserted_window_dims: Vec<i64>,
    pub input_batching_dims: Vec<i64>,
    pub scatter_indices_batching_dims: Vec<i64>,
    pub scatter_dims_to_operand_dims: Vec<i64>,
    pub index_vector_dim: i64,
}

/// A discrete Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fourier {
    /// Of complex numbers.
    Forward,
    /// Of complex numbers, backwards: divided by the number of elements.
    Inverse,
    /// Of real numbers; only the first half of the last dimension and the middle, which determine
    /// the rest.
    RealForward,
    /// Inverse of [`Fourier::RealForward`], to real numbers.
    RealInverse,
}

/// The ops of batch normalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchNorm {
    /// With means and variances given.
    Inference,
    /// With means and variances computed.
    Training,
    /// Gradients.
    Grad,
}

/// The function from a counter and a key to random words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// Threefry-2x32 with 20 rounds. The state is a key and a 64-bit counter.
    ThreeFry,
    /// Philox-4x32 with 10 rounds. The state is a key and a 64-bit counter, above which the key is
    /// repeated, or a key and a 128-bit counter, low half first.
    Philox,
}

/// The distribution of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform in a half-open interval; its upper end can only occur by rounding.
    Uniform,
    /// Normal, with a mean and a standard deviation.
    Normal,
}
