//! Elementwise functions of small values that are in one memory.
//!
//! A value starts at a multiple of [`ALIGNMENT`] bytes and has room for a multiple of [`LANES`]
//! elements. So functions compute whole chunks of elements, without a remainder: what is in that
//! room beyond a value's elements is arbitrary. A call costs a few nanoseconds, where one of a
//! [`SliceKernel`] also checks slices.

use super::kernel::{SliceKernel, function_objects};
use crate::element::Bitwise;
use crate::simd::{Isa, Kernel};
use crate::{DType, Element, I1};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{Ordering, compiler_fence};

/// The number of elements of a chunk.
pub const LANES: usize = 8;
/// Values start at multiples of so many bytes.
pub const ALIGNMENT: usize = 64;
/// Up to this number, elements are computed individually, and otherwise as slices.
const FEW: usize = 4;
/// The number of elements of a slice.
const COPIED: usize = 256;

/// The bytes that a value of `count` elements of a `size` takes; `None` if they cannot be counted.
pub fn room(size: usize, count: usize) -> Option<usize> {
    let bytes = count.checked_next_multiple_of(LANES)?.checked_mul(size)?;
    bytes.checked_next_multiple_of(ALIGNMENT)
}

function_objects! {
    /// Computes `count` elements at `result` from those at `operands`.
    Within(memory: &mut [u8], result: usize, operands: [usize; 3], count: usize) -> Option<()>;
}

/// An elementwise function of values in one memory.
#[derive(Clone)]
pub struct MemoryKernel(Arc<dyn Within>);

impl fmt::Debug for MemoryKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryKernel")
    }
}

impl MemoryKernel {
    /// Computes `count` elements at `result`, a position in `memory`, from those of the operands,
    /// of which unused ones are arbitrary; `None` if these overlap the result.
    ///
    /// # Panics
    /// If a value reaches outside of the memory.
    #[inline]
    #[must_use]
    pub fn run(
        &self,
        memory: &mut [u8],
        result: usize,
        operands: [usize; 3],
        count: usize,
    ) -> Option<()> {
        self.0.call(memory, result, operands, count)
    }

    pub(super) fn one<T: Element, R: Element>(
        f: impl Fn(T) -> R + Copy + Send + Sync + 'static,
    ) -> Option<MemoryKernel> {
        // A constant: there is no code for other types.
        if const { !(is_common(T::DTYPE) && is_common(R::DTYPE)) } {
            return None;
        }
        let isa = Isa::best();
        let run = move |memory: &mut [u8], result, [x, ..]: [usize; 3], count| {
            if count == 1 {
                write_one(memory, result, f(read_one(memory, x)));
                return Some(());
            }
            let types = PhantomData;
            run::<T>(isa, MemoryOneLoop { memory, result, operand: x, count, f: &f, types });
            Some(())
        };
        Some(MemoryKernel(Arc::new(run)))
    }

    pub(super) fn two<T: Element, R: Element>(
        f: impl Fn(T, T) -> R + Copy + Send + Sync + 'static,
    ) -> Option<MemoryKernel> {
        // A constant: there is no code for other types.
        if const { !(is_common(T::DTYPE) && is_common(R::DTYPE)) } {
            return None;
        }
        let isa = Isa::best();
        let run = move |memory: &mut [u8], result, [x, y, _]: [usize; 3], count| {
            if count == 1 {
                write_one(memory, result, f(read_one(memory, x), read_one(memory, y)));
                return Some(());
            }
            let types = PhantomData;
            run::<T>(isa, MemoryTwoLoop { memory, result, operands: [x, y], count, f: &f, types });
            Some(())
        };
        Some(MemoryKernel(Arc::new(run)))
    }

    /// A function of `f32`, which is computed element by element for a few, and otherwise for
    /// slices.
    pub(super) fn of_slices(
        one: impl Fn(f32) -> f32 + Copy + Send + Sync + 'static,
        many: impl Fn(&mut [f32], &[f32]) + Copy + Send + Sync + 'static,
    ) -> MemoryKernel {
        MemoryKernel(Arc::new(move |memory: &mut [u8], result, [x, ..]: [usize; 3], count| {
            const SIZE: usize = size_of::<f32>();
            if count <= FEW {
                for at in (0..count * SIZE).step_by(SIZE) {
                    write_one(memory, result + at, one(read_one(memory, x + at)));
                }
                return Some(());
            }
            // Results may take the place of operands.
            let mut rooms = [[0.0; COPIED]; 2];
            for start in (0..count).step_by(COPIED) {
                let len = COPIED.min(count - start);
                let [xs, results] = rooms.each_mut().map(|room| &mut room[..len]);
                let (from, to) = (x + start * SIZE, result + start * SIZE);
                bytemuck::cast_slice_mut(xs).copy_from_slice(&memory[from..from + len * SIZE]);
                many(results, xs);
                memory[to..to + len * SIZE].copy_from_slice(bytemuck::cast_slice(results));
            }
            Some(())
        }))
    }

    /// The choice between elements of a type.
    pub(super) fn select<T: Element>() -> MemoryKernel {
        MemoryKernel(Arc::new(|memory: &mut [u8], result, [pred, yes, no]: [usize; 3], count| {
            for start in (0..chunked(count)).step_by(LANES) {
                let pred: [I1; LANES] = read(memory, pred, start);
                let yes: [T; LANES] = read(memory, yes, start);
                let mut chosen: [T; LANES] = read(memory, no, start);
                for ((chosen, yes), pred) in chosen.iter_mut().zip(yes).zip(pred) {
                    *chosen = if pred.get() { yes } else { *chosen };
                }
                write(memory, result, start, chosen);
            }
            Some(())
        }))
    }

    /// The kernel of two operands with these swapped.
    pub(super) fn swapped(self) -> MemoryKernel {
        MemoryKernel(Arc::new(move |memory: &mut [u8], result, [x, y, z]: [usize; 3], count| {
            self.run(memory, result, [y, x, z], count)
        }))
    }

    /// The kernel of booleans with its results complemented.
    pub(super) fn complemented(self) -> MemoryKernel {
        MemoryKernel(Arc::new(move |memory: &mut [u8], result, operands, count| {
            self.run(memory, result, operands, count)?;
            for start in (0..chunked(count)).step_by(LANES) {
                let bits: [I1; LANES] = read(memory, result, start);
                write(memory, result, start, bits.map(|bit| bit.not()));
            }
            Some(())
        }))
    }
}

impl SliceKernel {
    /// The kernel for values in one memory.
    pub fn within(self: &Arc<SliceKernel>) -> MemoryKernel {
        if let Some(kernel) = &self.within {
            return kernel.clone();
        }
        let kernel = Arc::clone(self);
        let mut sizes = [0; 3];
        sizes.iter_mut().zip(kernel.operands()).for_each(|(size, dtype)| *size = dtype.bytes());
        let (arity, size) = (kernel.operands().len(), kernel.result().bytes());
        MemoryKernel(Arc::new(move |memory: &mut [u8], result, operands: [usize; 3], count| {
            let result = result..result + count * size;
            if kernel.overwrites() && operands[0] == result.start {
                return kernel.overwrite(&mut memory[result]).ok();
            }
            let operand = |i: usize| operands[i]..operands[i] + count * sizes[i];
            let (result, operands) = disjoint(memory, result, [0, 1, 2].map(operand), arity)?;
            kernel.run(result, &operands[..arity])
        }))
    }
}

/// A part of a memory to be written, and the first `arity` of others to be read; `None` if they
/// overlap.
///
/// # Panics
/// If a part reaches outside of the memory.
pub fn disjoint<const N: usize>(
    memory: &mut [u8],
    result: std::ops::Range<usize>,
    operands: [std::ops::Range<usize>; N],
    arity: usize,
) -> Option<(&mut [u8], [&[u8]; N])> {
    let (before, rest) = memory.split_at_mut(result.start);
    let (written, after) = rest.split_at_mut(result.end - result.start);
    let mut parts = [&[][..]; N];
    for (part, operand) in parts.iter_mut().zip(operands).take(arity) {
        *part = if operand.end <= result.start {
            &before[operand]
        } else {
            let start = operand.start.checked_sub(result.end)?;
            &after[start..operand.end - result.end]
        };
    }
    Some((written, parts))
}

/// True for types whose functions are compiled for chunks.
const fn is_common(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64 | DType::I32 | DType::U32 | DType::I64 | DType::I1)
}

/// Runs a loop over values of a type. A constant: there is no loop for vectors of other types.
fn run<T: Element>(isa: Isa, kernel: impl Kernel) {
    if const { matches!(T::DTYPE, DType::I64 | DType::I1) } {
        Isa::BASELINE.run(kernel);
    } else {
        isa.run(kernel);
    }
}

#[inline(always)]
fn chunked(count: usize) -> usize {
    count.div_ceil(LANES) * LANES
}

/// The elements of a chunk of the value at `start`.
#[inline(always)]
fn read<T: Element>(memory: &[u8], value: usize, start: usize) -> [T; LANES] {
    let at = value + start * size_of::<T>();
    bytemuck::pod_read_unaligned(&memory[at..at + size_of::<[T; LANES]>()])
}

#[inline(always)]
fn write<T: Element>(memory: &mut [u8], value: usize, start: usize, elements: [T; LANES]) {
    let at = value + start * size_of::<T>();
    memory[at..at + size_of::<[T; LANES]>()].copy_from_slice(bytemuck::bytes_of(&elements));
}

#[inline(always)]
fn read_one<T: Element>(memory: &[u8], value: usize) -> T {
    bytemuck::pod_read_unaligned(&memory[value..value + size_of::<T>()])
}

#[inline(always)]
fn write_one<T: Element>(memory: &mut [u8], value: usize, element: T) {
    memory[value..value + size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&element));
}

struct MemoryOneLoop<'a, T, R, F> {
    memory: &'a mut [u8],
    result: usize,
    operand: usize,
    count: usize,
    f: &'a F,
    types: PhantomData<(T, R)>,
}

impl<T: Element, R: Element, F: Fn(T) -> R> Kernel for MemoryOneLoop<'_, T, R, F> {
    #[inline(always)]
    fn run(self) {
        let MemoryOneLoop { memory, result, operand, count, f, .. } = self;
        for start in (0..chunked(count)).step_by(LANES) {
            let xs: [T; LANES] = read(memory, operand, start);
            let mut results = [R::default(); LANES];
            for (result, x) in results.iter_mut().zip(xs) {
                *result = f(x);
            }
            // A chunk is a vector already: without this, several chunks are transposed into
            // vectors, in ten times the code.
            compiler_fence(Ordering::Release);
            write(memory, result, start, results);
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element, R: Element>(kernel: MemoryOneLoop<'_, T, R, &dyn Fn(T) -> R>) {
            kernel.run();
        }
        let MemoryOneLoop { memory, result, operand, count, types, f } = self;
        let f: &dyn Fn(T) -> R = f;
        run(MemoryOneLoop { memory, result, operand, count, types, f: &f });
    }
}

struct MemoryTwoLoop<'a, T, R, F> {
    memory: &'a mut [u8],
    result: usize,
    operands: [usize; 2],
    count: usize,
    f: &'a F,
    types: PhantomData<(T, R)>,
}

impl<T: Element, R: Element, F: Fn(T, T) -> R> Kernel for MemoryTwoLoop<'_, T, R, F> {
    #[inline(always)]
    fn run(self) {
        let MemoryTwoLoop { memory, result, operands: [lhs, rhs], count, f, .. } = self;
        for start in (0..chunked(count)).step_by(LANES) {
            let xs: [T; LANES] = read(memory, lhs, start);
            let ys: [T; LANES] = read(memory, rhs, start);
            let mut results = [R::default(); LANES];
            for ((result, x), y) in results.iter_mut().zip(xs).zip(ys) {
                *result = f(x, y);
            }
            write(memory, result, start, results);
        }
    }

    fn run_shared(self) {
        #[inline(never)]
        fn run<T: Element, R: Element>(kernel: MemoryTwoLoop<'_, T, R, &dyn Fn(T, T) -> R>) {
            kernel.run();
        }
        let MemoryTwoLoop { memory, result, operands, count, types, f } = self;
        let f: &dyn Fn(T, T) -> R = f;
        run(MemoryTwoLoop { memory, result, operands, count, types, f: &f });
    }
}
