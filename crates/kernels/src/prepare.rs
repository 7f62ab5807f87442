//! Which prepared kernel computes each primitive.

use crate::LoopOutput;
use crate::batch_norm::Normalization;
use crate::contract::DotKernel;
use crate::convolution::PreparedConvolution;
use crate::evaluate::from_end;
use crate::extremum_kernel::ExtremumKernel;
use crate::fft::FourierTransform;
use crate::index_vectors::GatherKernel;
use crate::kernel::Kernel;
use crate::linalg::{CholeskyKernel, TriangularSolveKernel};
use crate::reduction::Reduction;
use crate::rng::RandomBitsKernel;
use crate::scatter::ScatterKernel;
use crate::sort::{Sorted, Sorting};
use crate::window::{WindowReduction, num_windows};
use numerics::shape::{Sizes, StridedView, num_elements};
use numerics::{DType, IotaElements, Tensor, TensorError};
use program::primitives::{self, BatchNormKind, DotDims};
use program::{Body, Primitive};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// Kernels with larger tables are not prepared.
pub(crate) const MAX_TABLES: usize = 1 << 20;

/// An operand that a kernel is prepared for.
#[derive(Clone, Copy, Debug)]
pub struct KernelOperand<'a> {
    /// The type of its elements.
    pub dtype: DType,
    /// Which elements of its memory it consists of.
    pub view: &'a StridedView,
    /// Number of elements of the memory.
    pub len: usize,
}

/// A kernel for operands of known types.
#[derive(Debug)]
pub struct Prepared {
    /// The kernel.
    pub kernel: Arc<dyn Kernel>,
    /// The operands of the primitive that the kernel reads, by number, in its order.
    pub operands: SmallVec<[usize; 3]>,
    /// The types of its results.
    pub results: SmallVec<[LoopOutput; 1]>,
}

/// The kernel that computes some results of a primitive, which have these numbers, for operands of
/// known types; `None` if no kernel exists for the types, or they are invalid.
///
/// Movement of elements has none: it is a view ([`Primitive::as_view`]), and
/// [`Rearrangement`](crate::Rearrangement) copies the elements of views. Nor have elementwise
/// functions, which are fused.
pub fn prepare(
    primitive: &Primitive,
    operands: &[KernelOperand<'_>],
    results: &[usize],
) -> Option<Prepared> {
    match primitive {
        Primitive::Iota(primitives::Iota { dtype, shape, dimension }) => {
            Prepared::one(IotaElements::new(*dtype, shape, *dimension)?, operands, (*dtype, shape))
        }
        Primitive::Dot(primitives::Dot { dims, dtype }) => {
            let &[lhs, rhs] = operands else { return None };
            let of_dot = || DotDims::of_dot(lhs.view.shape().len());
            let dims = dims.as_deref().map_or_else(|| Cow::Owned(of_dot()), Cow::Borrowed);
            let dot = DotKernel::new((lhs.dtype, lhs.view), (rhs.dtype, rhs.view), &dims, *dtype)?;
            // Conversions are of all memory.
            let is_used = |o: &KernelOperand<'_>| num_elements(o.view.shape()) >= Some(o.len);
            if dot.converts_all() && !operands.iter().all(is_used) {
                return None;
            }
            let shape = dot.shape().to_vec();
            Prepared::one(dot, operands, (*dtype, &shape))
        }
        Primitive::Convolution(parameters) => {
            let &[lhs, rhs] = operands else { return None };
            let types = [(lhs.dtype, lhs.shape()?), (rhs.dtype, rhs.shape()?)];
            let convolution = PreparedConvolution::new(parameters, types)?;
            let shape = convolution.shape().to_vec();
            Prepared::one(convolution, operands, (parameters.dtype, &shape))
        }
        Primitive::Reduce(primitives::Reduce { dimensions, body }) if operands.len() == 4 => {
            let (&[values, indices, value, index], &[result]) = (operands, results) else {
                return None;
            };
            let of_inputs = [values.dtype, indices.dtype];
            let own = body.dtypes.iter().zip(of_inputs);
            let is_valid = own.into_iter().all(|(own, dtype)| own.is_none_or(|own| own == dtype))
                && [value.dtype, index.dtype] == of_inputs
                && [value.len, index.len] == [1; 2];
            let kind = body.extremum.filter(|_| is_valid)?;
            let (elements, shape) = ((values.dtype, values.shape()?), values.shape()?);
            let indices = (indices.dtype, indices.view, indices.len);
            let kernel = ExtremumKernel::new(kind, elements, indices, dimensions, result == 1)?;
            let kept = (0..shape.len()).filter(|d| !dimensions.contains(d));
            let kept: Sizes = kept.map(|d| shape[d]).collect();
            let dtype = kernel.dtype();
            Prepared::one(kernel, operands, (dtype, &kept))
        }
        Primitive::Reduce(primitives::Reduce { dimensions, body }) => {
            let (dtype, shape) = combined(body, operands)?;
            let reduction = Reduction::new(body.shape, dtype, shape, dimensions)?;
            let kept = (0..shape.len()).filter(|d| !dimensions.contains(d));
            let kept: Sizes = kept.map(|d| shape[d]).collect();
            Prepared::one(reduction, operands, (dtype, &kept))
        }
        Primitive::ReduceWindow(primitives::ReduceWindow { window, inputs: 1, body }) => {
            let (dtype, shape) = combined(body, operands)?;
            let window = window.as_deref()?;
            let reduction = WindowReduction::prepare(body.shape, dtype, shape, window)?;
            let counts = num_windows(shape, window).ok()?;
            Prepared::one(reduction, operands, (dtype, &counts))
        }
        Primitive::Gather(primitives::Gather { dims, sizes }) => {
            let &[operand, indices] = operands else { return None };
            let index = (indices.shape()?, indices.dtype);
            let types = (operand.shape()?, operand.dtype);
            let gather = GatherKernel::new(types, index, dims, sizes, MAX_TABLES).ok()?;
            let shape = gather.shape().to_vec();
            Prepared::one(gather, operands, (operand.dtype, &shape))
        }
        Primitive::Scatter(primitives::Scatter { dims, body }) => {
            let &[input, indices, updates] = operands else { return None };
            let (shape, dtype) = (input.shape()?, input.dtype);
            if updates.dtype != dtype || is_promoted(body, dtype) {
                return None;
            }
            let (index, updates) = ((indices.shape()?, indices.dtype), updates.shape()?);
            let scatter = ScatterKernel::new(body.shape, (shape, dtype), index, updates, dims)?;
            Prepared::one(scatter, operands, (dtype, shape))
        }
        Primitive::Fft(primitives::Fft { transform, lengths }) => {
            let &[operand] = operands else { return None };
            let shape = operand.shape()?;
            let fourier = FourierTransform::new(*transform, operand.dtype, shape, lengths).ok()?;
            let (dtype, shape) = (fourier.result_type(), fourier.shape());
            Prepared::one(fourier, operands, (dtype, &shape))
        }
        Primitive::Cholesky(primitives::Cholesky { lower }) => {
            let &[a] = operands else { return None };
            let (dtype, shape) = (a.dtype, a.shape()?);
            let cholesky = CholeskyKernel::new(dtype, shape, *lower).ok()?;
            Prepared::one(cholesky, operands, (dtype, shape))
        }
        Primitive::TriangularSolve(system) => {
            let &[a, b] = operands else { return None };
            let (dtype, shape) = (b.dtype, b.shape()?);
            if a.dtype != dtype {
                return None;
            }
            let solve = TriangularSolveKernel::new(dtype, [a.shape()?, shape], *system).ok()?;
            Prepared::one(solve, operands, (dtype, shape))
        }
        Primitive::BatchNorm(primitives::BatchNorm {
            kind: BatchNormKind::Training,
            epsilon,
            feature_index,
        }) if results == [0] => {
            let &[operand, ..] = operands else { return None };
            let (dtype, shape) = (operand.dtype, operand.shape()?);
            let normalization = Normalization::new(dtype, shape, *feature_index, *epsilon)?;
            Prepared::one(normalization, operands, (dtype, shape))
        }
        Primitive::RandomBits(primitives::RandomBits { generator, shape: Some(shape), dtype }) => {
            let &[state] = operands else { return None };
            let before = state.shape()?;
            if state.dtype != DType::U64 {
                return None;
            }
            let bits = RandomBitsKernel::new(*generator, state.len, shape, *dtype).ok()?;
            let types = results.iter().map(|&result| match result {
                0 => LoopOutput { dtype: DType::U64, shape: Sizes::from_slice(before) },
                _ => LoopOutput { dtype: *dtype, shape: Sizes::from_slice(shape) },
            });
            let types = types.collect();
            Some(Prepared {
                kernel: Arc::new(bits.with_results(results)),
                operands: SmallVec::from_slice(&[0]),
                results: types,
            })
        }
        Primitive::Sort(primitives::Sort { dimension, comparator, limit }) => {
            let shape = operands.first()?.shape()?;
            if !operands.iter().all(|operand| operand.shape() == Some(shape)) {
                return None;
            }
            let types: Vec<DType> = operands.iter().map(|operand| operand.dtype).collect();
            let sorted: Vec<Sorted> = results.iter().copied().map(Sorted::Operand).collect();
            let sorting = Sorting::new(&types, shape, *dimension, comparator, &sorted, *limit)?;
            let mut shape = Sizes::from_slice(shape);
            if let (Some(along), Some(limit)) = (from_end(*dimension, shape.len()), limit) {
                shape[along] = shape[along].min(*limit);
            }
            let ty = |&i: &usize| LoopOutput { dtype: types[i], shape: shape.clone() };
            let results = results.iter().map(ty).collect();
            let operands = sorting.operands().collect();
            Some(Prepared { kernel: Arc::new(sorting), operands, results })
        }
        // Evaluation computes all others.
        _ => None,
    }
}

impl Prepared {
    /// A kernel that reads all operands and has one result.
    fn one(
        kernel: impl Kernel + 'static,
        operands: &[KernelOperand<'_>],
        (dtype, shape): (DType, &[usize]),
    ) -> Option<Prepared> {
        let result = LoopOutput { dtype, shape: Sizes::from_slice(shape) };
        Some(Prepared {
            kernel: Arc::new(kernel),
            operands: (0..operands.len()).collect(),
            results: std::iter::once(result).collect(),
        })
    }

    /// Runs the kernel on the operands of the primitive, which have the types that it was prepared
    /// for, in memory as they are.
    ///
    /// # Errors
    /// If there is no memory for results or copies.
    pub fn run(&self, operands: &[Tensor]) -> Result<Vec<Tensor>, TensorError> {
        let bytes = |&number: &usize| operands.get(number).map(|operand| &operand.bytes()[..]);
        let bytes = self.operands.iter().map(bytes).collect::<Option<SmallVec<[&[u8]; 3]>>>();
        let results = self.results.iter().map(|ty| Tensor::unwritten(ty.dtype, &ty.shape));
        let mut results = results.collect::<Result<Vec<_>, _>>()?;
        let memory = results.iter_mut().map(Tensor::bytes_mut);
        let mut memory = memory.collect::<Result<SmallVec<[&mut [u8]; 1]>, _>>()?;
        self.kernel.run(&bytes.ok_or(TensorError::OutOfBounds)?, &mut memory)?;
        drop(memory);
        Ok(results)
    }
}

impl<'a> KernelOperand<'a> {
    /// The shape, if the elements are all of the memory, in order.
    fn shape(&self) -> Option<&'a [usize]> {
        let is_whole = self.view.is_dense() && num_elements(self.view.shape()) == Some(self.len);
        is_whole.then(|| self.view.shape())
    }
}

/// The type and shape of an input that a body combines with an initial value, if these are two
/// operands whose type is that of the body.
fn combined<'a>(body: &Body, operands: &[KernelOperand<'a>]) -> Option<(DType, &'a [usize])> {
    let &[input, init] = operands else { return None };
    let (dtype, shape) = (input.dtype, input.shape()?);
    let is_valid = init.dtype == dtype && init.len == 1 && !is_promoted(body, dtype);
    is_valid.then_some((dtype, shape))
}

/// True if a body computes in another type than that of elements.
fn is_promoted(body: &Body, dtype: DType) -> bool {
    body.dtypes.iter().any(|&own| own.is_some_and(|own| own != dtype))
}
