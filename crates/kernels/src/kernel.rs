//! The interface of kernels: primitives prepared for the types of their operands.

use crate::contract::DotKernel;
use crate::fused::Registers;
use crate::index_vectors::GatherKernel;
use crate::reduction::Reduction;
use crate::scatter::ScatterKernel;
use numerics::{AlignedMemory, TensorError};
use std::fmt::Debug;
use std::ops::Range;

/// A function of the bytes of operands, prepared for their types once and run many times.
pub trait Kernel: Debug + Send + Sync {
    /// Computes the bytes of all results, which need not be initialized.
    ///
    /// # Errors
    /// If operands or results do not have the number and sizes that the kernel was prepared for, or
    /// there is no memory for copies.
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError>;

    /// True if the result is the first operand with some elements changed, as [`Kernel::update`]
    /// does where that is.
    fn is_update(&self) -> bool {
        false
    }

    /// As [`Kernel::run`] of a kernel that [is an update](Kernel::is_update): `result` holds the
    /// first operand, `operands` are the others.
    ///
    /// # Errors
    /// As there.
    fn update(&self, operands: &[&[u8]], result: &mut [u8]) -> Result<(), TensorError> {
        let _ = (operands, result);
        Err(TensorError::OutOfBounds)
    }

    /// Number of entries of the tables that it keeps.
    fn table_entries(&self) -> usize {
        0
    }

    /// True if [`Kernel::prepack`] makes runs faster.
    fn is_packable(&self) -> bool {
        false
    }

    /// The bytes of what [`Kernel::prepack`] returns, if that is not `None`.
    fn prepacked_bytes(&self) -> usize {
        0
    }

    /// The second operand in the order in which the kernel reads it; `None` if it is in that order.
    /// Pays off where the operand is the same in many runs, as weights are.
    ///
    /// # Errors
    /// As [`Kernel::run`].
    fn prepack(&self, operand: &[u8]) -> Result<Option<AlignedMemory>, TensorError> {
        let _ = operand;
        Ok(None)
    }

    /// As [`Kernel::run`], with the second operand as [`Kernel::prepack`] has ordered it, too.
    ///
    /// # Errors
    /// As there.
    fn run_prepacked(
        &self,
        operands: &[&[u8]],
        prepacked: Option<&[u8]>,
        results: &mut [&mut [u8]],
    ) -> Result<(), TensorError> {
        let _ = prepacked;
        self.run(operands, results)
    }

    /// The kernel as one of rows, if its result is divided into rows for the cache.
    fn row_wise(&self) -> Option<&dyn RowWise> {
        None
    }

    /// The structure of the kernel, for compilers that do more with it than call it.
    fn form(&self) -> Form<'_> {
        Form::Opaque
    }
}

/// The structure of a kernel that code generators know.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    /// Products of matrices.
    Dot(&'a DotKernel),
    /// A reduction of dimensions.
    Reduction(&'a Reduction),
    /// Windows of the first operand at indices in the second.
    Gather(&'a GatherKernel),
    /// The first operand with the third combined into it at the indices in the second.
    Scatter(&'a ScatterKernel),
    /// Any other.
    Opaque,
}

/// A kernel whose results are rows, equal parts in order, of which it computes some at a time, with
/// the bits that it computes for all.
pub trait RowWise: Debug + Send + Sync {
    /// The number of rows of a loop to make for the kernel; `None` if it only joins loops that are
    /// made for others.
    fn rows(&self) -> Option<usize>;

    /// The elements of a result in each of `rows` rows; `None` if it does not divide into that
    /// number.
    fn row_results(&self, rows: usize) -> Option<usize>;

    /// The elements that the kernel combines in each of `rows` rows; `None` if it combines one
    /// for each result.
    fn row_inputs(&self, rows: usize) -> Option<usize> {
        let _ = rows;
        None
    }

    /// True if each of `rows` rows needs no more of an operand than the same row of it, of
    /// `elements`.
    fn reads_rows(&self, rows: usize, operand: usize, elements: usize) -> bool;

    /// The number of rows whose multiples are computed fastest.
    fn tile_rows(&self) -> usize {
        1
    }

    /// A rough estimate of the work on all rows, in elementary operations.
    fn work(&self) -> usize;

    /// Computes some of `rows` rows of each result, on this thread. `prepacked` is the second
    /// operand as [`Kernel::prepack`] has ordered it.
    ///
    /// # Errors
    /// If the buffers do not have the sizes of the rows, or there is no memory for copies.
    fn run_rows(
        &self,
        rows: usize,
        range: Range<usize>,
        operands: &[RowOperand<'_>],
        prepacked: Option<&[u8]>,
        results: &mut [&mut [u8]],
        registers: &mut Registers,
    ) -> Result<(), TensorError>;
}

/// The bytes of an operand of [`RowWise::run_rows`].
#[derive(Clone, Copy, Debug)]
pub struct RowOperand<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// True if they are the inputs of the computed rows rather than of all rows.
    pub is_part: bool,
}

impl<'a> RowOperand<'a> {
    /// The bytes of an operand as a whole.
    ///
    /// # Errors
    /// If there is a part only.
    pub fn whole(self) -> Result<&'a [u8], TensorError> {
        if self.is_part { Err(TensorError::OutOfBounds) } else { Ok(self.bytes) }
    }
}

/// The bytes of exactly `N` operands and of one result.
///
/// # Errors
/// If their number differs.
pub(crate) fn expect_bytes<'a, 'r, const N: usize>(
    operands: &[&'a [u8]],
    results: &'r mut [&mut [u8]],
) -> Result<([&'a [u8]; N], &'r mut [u8]), TensorError> {
    match (operands.try_into(), results) {
        (Ok(operands), [result]) => Ok((operands, result)),
        _ => Err(TensorError::OutOfBounds),
    }
}
