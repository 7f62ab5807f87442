//! Convolutions as kernels, and some windows at a time.

use super::PreparedConvolution;
use crate::contract::{MIN_MATRIX_ROWS, TILE_UNIT, max_shared};
use crate::fused::Registers;
use crate::kernel::{Kernel, RowOperand, RowWise, expect_bytes};
use numerics::{AlignedMemory, TensorError};
use std::ops::Range;

impl Kernel for PreparedConvolution {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        self.run_prepacked(operands, None, results)
    }

    fn table_entries(&self) -> usize {
        self.sizes.places()
    }

    fn is_packable(&self) -> bool {
        self.is_packable()
    }

    fn prepacked_bytes(&self) -> usize {
        self.packed_bytes()
    }

    fn prepack(&self, operand: &[u8]) -> Result<Option<AlignedMemory>, TensorError> {
        self.pack(operand)
    }

    fn run_prepacked(
        &self,
        operands: &[&[u8]],
        prepacked: Option<&[u8]>,
        results: &mut [&mut [u8]],
    ) -> Result<(), TensorError> {
        let ([lhs, rhs], result) = expect_bytes(operands, results)?;
        self.run_packed(lhs, rhs, prepacked, result)
    }

    fn row_wise(&self) -> Option<&dyn RowWise> {
        let has_many = self.rows() >= MIN_MATRIX_ROWS && self.kernel_len() <= max_shared();
        (has_many && self.is_of_rows()).then_some(self)
    }
}

impl RowWise for PreparedConvolution {
    fn rows(&self) -> Option<usize> {
        Some(self.rows())
    }

    fn row_results(&self, rows: usize) -> Option<usize> {
        (rows == self.rows()).then_some(self.features())
    }

    fn reads_rows(&self, _: usize, _: usize, _: usize) -> bool {
        // A window sees other rows.
        false
    }

    fn tile_rows(&self) -> usize {
        TILE_UNIT
    }

    fn work(&self) -> usize {
        self.rows().saturating_mul(self.row_work())
    }

    fn run_rows(
        &self,
        rows: usize,
        range: Range<usize>,
        operands: &[RowOperand<'_>],
        prepacked: Option<&[u8]>,
        results: &mut [&mut [u8]],
        _: &mut Registers,
    ) -> Result<(), TensorError> {
        let (&[input, kernel], [result]) = (operands, results) else {
            return Err(TensorError::OutOfBounds);
        };
        if rows != self.rows() {
            return Err(TensorError::OutOfBounds);
        }
        self.run_rows(range, [input.whole()?, kernel.whole()?], prepacked, result)
    }
}
