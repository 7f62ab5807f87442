//! Elementwise functions of slices, and the walks over tensors that all of them share.
//!
//! Elements go through a function in blocks that stay in the cache. Only the loop over one block is
//! compiled for every operation and element type; the walks over blocks know nothing but sizes.

use super::aligned::AlignedBytes;
use super::binary::{BinaryOp, PairSink, dispatch_binary};
use super::compare::Direction;
use super::complex_lanes::{self, ComplexNear};
use super::double_lanes::Rounded;
use super::element::ElementKernel;
use super::loops::{
    EasyLoop, InPlaceLoop, InlinedLoop, InlinedPairLoop, OneLoop, RoundedLoop, RoundedPairLoop,
    TwoLoop, run,
};
use super::narrow;
use super::pieces::{self, NativeFloat, Pieced};
use super::single::Inlined;
use super::unary::{ElementSink, RealFunction, UnaryOp, dispatch_unary, of_single};
use super::within::MemoryKernel;
use crate::dispatch::dispatch_storage;
use crate::element::{Bitwise, ComplexElement};
use crate::tensor::allocate;
use crate::{DType, Element, I1, Tensor, TensorError, shape};
use bytemuck::Zeroable;
use num_complex::Complex;
use std::fmt;
use std::marker::PhantomData;

/// The number of elements of a block.
pub(super) const BLOCK: usize = 1024;

/// Functions behind pointers. Not `dyn Fn`, whose tables have a second copy of the code, for
/// `FnOnce`.
macro_rules! function_objects {
    ($($(#[doc = $doc:literal])* $name:ident($($argument:ident: $ty:ty),*) -> $result:ty;)*) => {$(
        $(#[doc = $doc])*
        trait $name: Send + Sync {
            fn call(&self, $($argument: $ty),*) -> $result;
        }

        impl<F: Fn($($ty),*) -> $result + Send + Sync> $name for F {
            fn call(&self, $($argument: $ty),*) -> $result {
                self($($argument),*)
            }
        }
    )*};
}
pub(super) use function_objects;

function_objects! {
    /// A loop over elements, given as bytes; `None` if they are not aligned for it.
    InPlace(elements: &mut [u8]) -> Option<()>;
    /// A loop over the elements of results and operands, likewise.
    Into(results: &mut [u8], operands: &[&[u8]]) -> Option<()>;
}

enum SliceCode {
    /// Overwrites the elements of the only operand by their results.
    InPlace(Box<dyn InPlace>),
    /// Writes the results of operands.
    Into(Box<dyn Into>),
}

/// An elementwise function by name, for users that have loops of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elementwise {
    /// An operation on elements.
    Unary(UnaryOp),
    /// An operation on pairs of elements.
    Binary(BinaryOp),
    /// A comparison, in the total order of floats if the boolean is true.
    Compare(Direction, bool),
    /// The product of two real numbers as a sum of one: zero is positive, and there is one NaN.
    Product,
    /// The real number, with one NaN in place of any.
    Quiet,
    /// The choice between two elements.
    Select,
    /// The number as an element of another type.
    Convert(DType),
    /// The bits as an element of another type.
    Bitcast(DType),
}

/// An elementwise function of slices of certain types: a loop over typed elements.
pub struct SliceKernel {
    code: SliceCode,
    /// The types of the operands, of which there are `arity`.
    operands: [DType; 3],
    arity: usize,
    result: DType,
    function: Option<Elementwise>,
    /// The function of values in one memory, if it is compiled for them.
    pub(super) within: Option<MemoryKernel>,
    /// True if its results are looked up, once enough have been computed.
    pub(super) has_table: bool,
}

impl fmt::Debug for SliceKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} -> {}", self.operands(), self.result)
    }
}

/// Bytes of operands that are copied before they are overwritten by results: the first-level cache
/// holds these.
const COPIED: usize = 1 << 12;

impl SliceKernel {
    pub(super) fn in_place<T: Element>(
        f: impl Fn(T) -> T + Copy + Send + Sync + 'static,
    ) -> SliceKernel {
        let kernel = SliceKernel::overwriting(T::DTYPE, move |elements| {
            run::<T>(InPlaceLoop { elements: cast_mut::<T>(elements)?, f: &f });
            Some(())
        });
        kernel.with(MemoryKernel::one(f))
    }

    /// The kernel of a function that its loop inlines.
    fn inlined<T: Element, F: Inlined<T, 1>>() -> SliceKernel {
        SliceKernel::overwriting(T::DTYPE, |elements| {
            let elements = cast_mut::<T>(elements)?;
            run::<T>(InlinedLoop { elements, function: PhantomData::<F> });
            Some(())
        })
    }

    /// A kernel from a loop that overwrites elements of a type.
    pub(super) fn overwriting(
        dtype: DType,
        run: impl Fn(&mut [u8]) -> Option<()> + Send + Sync + 'static,
    ) -> SliceKernel {
        SliceKernel {
            code: SliceCode::InPlace(Box::new(run)),
            operands: [dtype; 3],
            arity: 1,
            result: dtype,
            function: None,
            within: None,
            has_table: false,
        }
    }

    pub(super) fn one<T: Element, R: Element>(
        f: impl Fn(T) -> R + Copy + Send + Sync + 'static,
    ) -> SliceKernel {
        let within = MemoryKernel::one(f);
        let kernel = SliceKernel::of([T::DTYPE; 3], 1, R::DTYPE, move |results, operands| {
            let xs = cast::<T>(operands.first()?)?;
            run::<T>(OneLoop { results: cast_mut::<R>(results)?, xs, f: &f });
            Some(())
        });
        kernel.with(within)
    }

    pub(super) fn two<T: Element, R: Element>(
        f: impl Fn(T, T) -> R + Copy + Send + Sync + 'static,
    ) -> SliceKernel {
        let kernel = SliceKernel::of([T::DTYPE; 3], 2, R::DTYPE, move |results, operands| {
            let &[xs, ys] = operands else { return None };
            let operands = [cast::<T>(xs)?, cast::<T>(ys)?];
            run::<T>(TwoLoop { results: cast_mut::<R>(results)?, operands, f: &f });
            Some(())
        });
        kernel.with(MemoryKernel::two(f))
    }

    /// The kernel of a function of pairs that its loop inlines.
    pub(super) fn inlined_pairs<T: Element, F: Inlined<T, 2>>() -> SliceKernel {
        SliceKernel::of([T::DTYPE; 3], 2, T::DTYPE, |results, operands| {
            let &[xs, ys] = operands else { return None };
            let (results, operands) = (cast_mut::<T>(results)?, [cast(xs)?, cast(ys)?]);
            run::<T>(InlinedPairLoop { results, operands, function: PhantomData::<F> });
            Some(())
        })
    }

    /// The kernel with a function of values in one memory.
    pub(super) fn with(self, within: Option<MemoryKernel>) -> SliceKernel {
        SliceKernel { within, ..self }
    }

    /// The kernel, known to compute a function.
    pub(super) fn named(self, function: Elementwise) -> SliceKernel {
        SliceKernel { function: Some(function), ..self }
    }

    /// A kernel from a loop that is already compiled.
    pub(super) fn of(
        operands: [DType; 3],
        arity: usize,
        result: DType,
        run: impl Fn(&mut [u8], &[&[u8]]) -> Option<()> + Send + Sync + 'static,
    ) -> SliceKernel {
        let code = SliceCode::Into(Box::new(run));
        SliceKernel {
            code,
            operands,
            arity,
            result,
            function: None,
            within: None,
            has_table: false,
        }
    }

    /// The kernel of two operands with these swapped.
    pub(super) fn swapped(self) -> SliceKernel {
        let SliceKernel { operands, arity, result, .. } = self;
        let within = self.within.clone().map(MemoryKernel::swapped);
        let kernel = SliceKernel::of(operands, arity, result, move |results, operands| {
            let &[lhs, rhs] = operands else { return None };
            self.run(results, &[rhs, lhs])
        });
        kernel.with(within)
    }

    /// The kernel of booleans with its results complemented.
    pub(super) fn complemented(self) -> SliceKernel {
        let SliceKernel { operands, arity, result, .. } = self;
        let within = self.within.clone().map(MemoryKernel::complemented);
        let kernel = SliceKernel::of(operands, arity, result, move |results, operands| {
            self.run(results, operands)?;
            for bit in cast_mut::<I1>(results)? {
                *bit = bit.not();
            }
            Some(())
        });
        kernel.with(within)
    }

    /// The kernel of an operation on elements of a type; `None` if it is not defined for them.
    pub fn unary(op: UnaryOp, dtype: DType) -> Option<SliceKernel> {
        let kernel = narrow::unary(op, dtype).or_else(|| dispatch_unary(op, dtype, Compile))?;
        #[cfg(target_family = "wasm")]
        let kernel = kernel.in_vectors(op);
        Some(kernel.tabulated_unary(op).named(Elementwise::Unary(op)))
    }

    /// The kernel of an operation on pairs of elements of a type; `None` if it is not defined for
    /// them.
    pub fn binary(op: BinaryOp, dtype: DType) -> Option<SliceKernel> {
        let kernel = narrow::binary(op, dtype).or_else(|| dispatch_binary(op, dtype, Compile))?;
        #[cfg(target_family = "wasm")]
        let kernel = kernel.pairs_in_vectors(op);
        Some(kernel.named(Elementwise::Binary(op)))
    }

    /// The kernel of [`Elementwise::Product`] for a type; `None` if it is neither `f32` nor `f64`.
    pub fn product(dtype: DType) -> Option<SliceKernel> {
        macro_rules! product {
            ($ty:ty) => {
                SliceKernel::two(|x: $ty, y: $ty| {
                    let product = x * y;
                    if product.is_nan() { <$ty>::NAN } else { product + 0.0 }
                })
            };
        }
        let kernel = match dtype {
            DType::F32 => product!(f32),
            DType::F64 => product!(f64),
            _ => return None,
        };
        Some(kernel.named(Elementwise::Product))
    }

    /// The kernel of [`Elementwise::Quiet`] for a type; `None` if it is neither `f32` nor `f64`.
    pub fn quiet(dtype: DType) -> Option<SliceKernel> {
        let kernel = match dtype {
            DType::F32 => SliceKernel::in_place(|x: f32| if x.is_nan() { f32::NAN } else { x }),
            DType::F64 => SliceKernel::in_place(|x: f64| if x.is_nan() { f64::NAN } else { x }),
            _ => return None,
        };
        Some(kernel.named(Elementwise::Quiet))
    }

    /// The function that it computes, if it is one of [`Elementwise`].
    pub fn function(&self) -> Option<Elementwise> {
        self.function
    }

    /// True if its results are looked up in a table after enough of them have been computed.
    pub fn has_table(&self) -> bool {
        self.has_table
    }

    /// The types of the operands.
    pub fn operands(&self) -> &[DType] {
        &self.operands[..self.arity]
    }

    /// The type of the results.
    pub fn result(&self) -> DType {
        self.result
    }

    /// Writes the results for slices of elements, one slice for each operand, to `results`, all of
    /// the same number of elements.
    ///
    /// # Errors
    /// If the numbers of operands or elements differ, or a slice is not aligned for its type.
    pub fn apply(&self, results: &mut [u8], operands: &[&[u8]]) -> Result<(), TensorError> {
        let count = results.len() / self.result.bytes();
        let fits = |(bytes, dtype): (&&[u8], &DType)| bytes.len() == count * dtype.bytes();
        if operands.len() != self.arity || !operands.iter().zip(&self.operands).all(fits) {
            return Err(TensorError::OutOfBounds);
        }
        self.run(results, operands).ok_or(TensorError::OutOfBounds)
    }

    pub(super) fn run(&self, results: &mut [u8], operands: &[&[u8]]) -> Option<()> {
        match &self.code {
            SliceCode::InPlace(run) => {
                let operand = operands.first()?;
                // Tables are worth making for many elements.
                let size = if self.has_table { results.len().max(1) } else { COPIED };
                for (results, operand) in results.chunks_mut(size).zip(operand.chunks(size)) {
                    results.copy_from_slice(operand);
                    run.call(results)?;
                }
                Some(())
            }
            SliceCode::Into(run) => run.call(results, operands),
        }
    }

    /// The results for all elements of operands, as a tensor.
    pub(super) fn collect(
        &self,
        shape: &[usize],
        operands: &[&[u8]],
    ) -> Result<Tensor, TensorError> {
        let len = shape::num_elements(shape).unwrap_or(0);
        dispatch_storage!(self.result, S => {
            let mut results = allocate::<S>(len)?;
            results.resize(len, S::zeroed());
            self.apply(bytemuck::cast_slice_mut(&mut results), operands)?;
            Ok(Tensor::from_storage(self.result, shape, results))
        })
    }

    /// True if [`SliceKernel::overwrite`] is possible.
    pub fn overwrites(&self) -> bool {
        matches!(self.code, SliceCode::InPlace(_))
    }

    /// Overwrites elements, of the only operand, by their results.
    ///
    /// # Errors
    /// If the kernel does not [overwrite](SliceKernel::overwrites), or the slice is not aligned for
    /// its type.
    pub fn overwrite(&self, elements: &mut [u8]) -> Result<(), TensorError> {
        let done = match &self.code {
            SliceCode::InPlace(run) => run.call(elements),
            SliceCode::Into(_) => None,
        };
        done.ok_or(TensorError::OutOfBounds)
    }

    /// Applies the function to every element, in place if the tensor is unshared.
    pub(super) fn map(&self, mut operand: Tensor) -> Result<Tensor, TensorError> {
        let block = BLOCK * self.operands[0].bytes();
        if self.overwrites() && operand.is_unshared() {
            operand.bytes_mut()?.chunks_mut(block).try_for_each(|block| self.overwrite(block))?;
            return Ok(operand);
        }
        dispatch_storage!(self.result, S => {
            let mut results = allocate::<S>(operand.num_elements())?;
            for block in operand.bytes().chunks(block) {
                let start = results.len();
                results.resize(start + block.len() / self.operands[0].bytes(), S::zeroed());
                self.apply(bytemuck::cast_slice_mut(&mut results[start..]), &[block])?;
            }
            Ok(Tensor::from_storage(self.result, operand.shape(), results))
        })
    }

    /// Applies the function to every pair of elements. An operand of rank 0 is paired with every
    /// element of the other one. The result reuses the memory of an unshared operand of its shape.
    pub(super) fn zip(&self, mut lhs: Tensor, mut rhs: Tensor) -> Result<Tensor, TensorError> {
        let shape = common_shape(&lhs, &rhs)?;
        let is_result = |operand: &mut Tensor| {
            self.result == operand.dtype()
                && shape::equal(operand.shape(), &shape)
                && operand.is_unshared()
        };
        // An operand whose memory the result reuses is copied block by block.
        let size = lhs.dtype().bytes();
        if is_result(&mut lhs) {
            let ys = OperandBlocks::new(&rhs, lhs.num_elements())?;
            let mut copy = AlignedBytes::zeros(size * BLOCK.min(lhs.num_elements()));
            for (block, results) in lhs.bytes_mut()?.chunks_mut(BLOCK * size).enumerate() {
                let xs = &mut copy[..results.len()];
                xs.copy_from_slice(results);
                let ys = ys.get(block * BLOCK * size, results.len());
                self.apply(results, &[xs, ys])?;
            }
            return Ok(lhs);
        }
        if is_result(&mut rhs) {
            let xs = OperandBlocks::new(&lhs, rhs.num_elements())?;
            let mut copy = AlignedBytes::zeros(size * BLOCK.min(rhs.num_elements()));
            for (block, results) in rhs.bytes_mut()?.chunks_mut(BLOCK * size).enumerate() {
                let ys = &mut copy[..results.len()];
                ys.copy_from_slice(results);
                let xs = xs.get(block * BLOCK * size, results.len());
                self.apply(results, &[xs, ys])?;
            }
            return Ok(rhs);
        }
        // One operand has this shape, so the number of elements has been computed before.
        let len = shape::num_elements(&shape).unwrap_or(0);
        let (xs, ys) = (OperandBlocks::new(&lhs, len)?, OperandBlocks::new(&rhs, len)?);
        dispatch_storage!(self.result, S => {
            let mut results = allocate::<S>(len)?;
            for start in (0..len).step_by(BLOCK) {
                let count = BLOCK.min(len - start);
                results.resize(start + count, S::zeroed());
                let operands = [&xs, &ys].map(|blocks| blocks.get(start * size, count * size));
                self.apply(bytemuck::cast_slice_mut(&mut results[start..]), &operands)?;
            }
            Ok(Tensor::from_storage(self.result, &shape, results))
        })
    }
}

pub(super) fn cast<T: Element>(bytes: &[u8]) -> Option<&[T]> {
    bytemuck::try_cast_slice(bytes).ok()
}

pub(super) fn cast_mut<T: Element>(bytes: &mut [u8]) -> Option<&mut [T]> {
    bytemuck::try_cast_slice_mut(bytes).ok()
}

/// The kernel of a function of one or two elements of a rare type, whose results have one byte. Its
/// loop calls the function by a pointer, so that no loop is compiled for each function.
fn of_elements(kernel: ElementKernel, operand: DType, arity: usize) -> SliceKernel {
    let result = kernel.result();
    SliceKernel::of([operand; 3], arity, result, move |results, operands| {
        let (xs, ys) = (operands.first()?, operands.last()?);
        for ((result, &x), &y) in results.iter_mut().zip(*xs).zip(*ys) {
            *result = kernel.apply_to_bytes(x, y);
        }
        Some(())
    })
}

/// The kernel of a function that is rounded correctly, with the [fallback](RoundedLoop::fallback)
/// where its faster form is undecided.
pub(super) fn rounded<F: Rounded<1>>(fallback: RealFunction) -> SliceKernel {
    SliceKernel::of([DType::F64; 3], 1, DType::F64, move |results, operands| {
        let (results, xs) = (cast_mut(results)?, cast(operands.first()?)?);
        run::<f64>(RoundedLoop { results, xs, function: PhantomData::<F>, fallback });
        Some(())
    })
}

/// Makes kernels of functions.
pub(super) struct Compile;

impl ElementSink for Compile {
    type Output = Option<SliceKernel>;

    fn map<T: Element>(self, f: impl Fn(T) -> T + Copy + Send + Sync + 'static) -> Self::Output {
        // A constant: there is no loop for rare types.
        if const { T::DTYPE.is_rare() } {
            return Some(of_elements(ElementKernel::one(f), T::DTYPE, 1));
        }
        Some(SliceKernel::in_place(f))
    }

    fn map_large<T: Element, F: Inlined<T, 1>>(self) -> Self::Output {
        Some(SliceKernel::inlined::<T, F>())
    }

    fn map_lanes<F: Inlined<f32, 1>>(
        self,
        easy: impl Fn(f32) -> bool + Copy + Send + Sync + 'static,
        scalar: RealFunction,
    ) -> Self::Output {
        let other = of_single(scalar);
        let compute = move |results: &mut [f32], xs: &[f32]| {
            let function = PhantomData::<F>;
            run::<f32>(EasyLoop { results, xs, function, easy: &easy, other: &other });
        };
        let kernel = SliceKernel::of([DType::F32; 3], 1, DType::F32, move |results, operands| {
            compute(cast_mut(results)?, cast(operands.first()?)?);
            Some(())
        });
        Some(kernel.with(Some(MemoryKernel::of_slices(other, compute))))
    }

    fn map_rounded<F: Rounded<1>>(self) -> Self::Output {
        Some(rounded::<F>(|x| F::exact([x])))
    }

    fn map_complex<P: NativeFloat, F: ComplexNear<P, 1>>(self) -> Self::Output
    where
        Complex<P>: ComplexElement<Part = P>,
    {
        Some(complex_lanes::kernel::<P, F, 1>())
    }

    fn map_pieced<T: NativeFloat, F: Pieced>(self) -> Self::Output {
        Some(pieces::kernel::<T, F>(F::exact))
    }

    fn map_to<T: Element, R: Element>(
        self,
        f: impl Fn(T) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        if const { T::DTYPE.is_rare() && size_of::<R>() == 1 } {
            return Some(of_elements(ElementKernel::one(f), T::DTYPE, 1));
        }
        Some(SliceKernel::one(f))
    }

    fn unsupported(self) -> Self::Output {
        None
    }
}

impl PairSink for Compile {
    type Output = Option<SliceKernel>;

    fn zip<T: Element, R: Element>(
        self,
        f: impl Fn(T, T) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        if const { T::DTYPE.is_rare() && size_of::<R>() == 1 } {
            return Some(of_elements(ElementKernel::two(f), T::DTYPE, 2));
        }
        Some(SliceKernel::two(f))
    }

    fn zip_large<T: Element, F: Inlined<T, 2>>(self) -> Self::Output {
        Some(SliceKernel::inlined_pairs::<T, F>())
    }

    fn zip_rounded<F: Rounded<2>>(self) -> Self::Output {
        Some(SliceKernel::of([DType::F64; 3], 2, DType::F64, |results, operands| {
            let &[xs, ys] = operands else { return None };
            let (results, operands) = (cast_mut(results)?, [cast(xs)?, cast(ys)?]);
            run::<f64>(RoundedPairLoop { results, operands, function: PhantomData::<F> });
            Some(())
        }))
    }

    fn zip_complex<P: NativeFloat, F: ComplexNear<P, 2>>(self) -> Self::Output
    where
        Complex<P>: ComplexElement<Part = P>,
    {
        Some(complex_lanes::kernel::<P, F, 2>())
    }

    fn unsupported(self) -> Self::Output {
        None
    }
}

/// The shape of the result of an elementwise operation: that of both operands, or that of one if
/// the other one has rank 0.
fn common_shape(lhs: &Tensor, rhs: &Tensor) -> Result<Vec<usize>, TensorError> {
    if rhs.rank() == 0 || shape::equal(lhs.shape(), rhs.shape()) {
        Ok(lhs.shape().to_vec())
    } else if lhs.rank() == 0 {
        Ok(rhs.shape().to_vec())
    } else {
        Err(TensorError::Shape { lhs: lhs.shape().to_vec(), rhs: rhs.shape().to_vec() })
    }
}

/// The elements of an operand, block by block.
enum OperandBlocks<'a> {
    /// An element for every one of the result.
    Elements(&'a [u8]),
    /// A block of copies of the only element, or fewer if there are fewer results.
    Splat(AlignedBytes),
}

impl<'a> OperandBlocks<'a> {
    /// The blocks of an operand of an operation with `len` results.
    fn new(operand: &'a Tensor, len: usize) -> Result<OperandBlocks<'a>, TensorError> {
        match operand.num_elements() {
            found if found == len => Ok(OperandBlocks::Elements(operand.bytes())),
            1 => Ok(OperandBlocks::Splat(AlignedBytes::splat(operand.bytes(), BLOCK.min(len)))),
            found => Err(TensorError::Length { expected: len, found }),
        }
    }

    /// Bytes at a multiple of the bytes of a block.
    fn get(&self, start: usize, len: usize) -> &[u8] {
        match self {
            OperandBlocks::Elements(elements) => &elements[start..start + len],
            OperandBlocks::Splat(block) => &block[..len],
        }
    }
}
