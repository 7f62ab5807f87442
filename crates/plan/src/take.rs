//! Rows of a tensor at indices: the most common form of `gather`.

use numerics::math::element::integer;
use numerics::shape::num_elements;
use numerics::{DType, TensorError};
use program::GatherDims;

/// The rows of a tensor at indices, which are clamped so that there is a row.
#[derive(Debug)]
pub struct Take {
    /// The last row.
    last: usize,
    /// The bytes of a row.
    row: usize,
    /// The type of the indices.
    index: DType,
}

impl Take {
    /// The rows that a `gather` of an operand of a shape takes, if it takes whole rows, one for each
    /// index.
    pub(crate) fn new(
        operand: (&[usize], DType),
        indices: (&[usize], DType),
        dims: &GatherDims,
        sizes: &[usize],
    ) -> Option<Take> {
        let ((operand, dtype), (indices, index)) = (operand, indices);
        let (&rows, row) = operand.split_first()?;
        let vector = usize::try_from(dims.index_vector_dim).ok()?;
        let is_scalar = indices.get(vector).is_none_or(|&size| size == 1);
        let batch = indices.len() - usize::from(vector < indices.len());
        let trailing = (batch..batch + row.len()).map(|d| d as i64);
        let takes_rows = dims.operand_batching_dims.is_empty()
            && dims.start_index_map == [0]
            && dims.collapsed_slice_dims == [0]
            && dims.offset_dims.iter().copied().eq(trailing)
            && sizes.split_first() == Some((&1, row));
        let row = num_elements(row)?.checked_mul(dtype.bytes()).filter(|&bytes| bytes > 0)?;
        let last = rows.checked_sub(1)?;
        (is_scalar && takes_rows).then_some(Take { last, row, index })
    }

    /// Copies the rows.
    ///
    /// # Errors
    /// If there are not as many indices as rows of the result.
    pub fn run(
        &self,
        operand: &[u8],
        indices: &[u8],
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let indices = indices.chunks_exact(self.index.bytes());
        if indices.len() * self.row != result.len() {
            return Err(TensorError::OutOfBounds);
        }
        for (index, result) in indices.zip(result.chunks_exact_mut(self.row)) {
            let index = integer(self.index, index).ok_or(TensorError::OutOfBounds)?;
            let row = usize::try_from(index).unwrap_or(0).min(self.last);
            let bytes = operand.get(row * self.row..).and_then(|rest| rest.get(..self.row));
            result.copy_from_slice(bytes.ok_or(TensorError::OutOfBounds)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_beyond_the_rows_take_the_first_or_last_one() {
        let dims = GatherDims {
            offset_dims: vec![1],
            collapsed_slice_dims: vec![0],
            start_index_map: vec![0],
            index_vector_dim: 1,
            ..GatherDims::default()
        };
        let operand = [[1u8, 2], [3, 4], [5, 6]];
        let indices = [-7i8, 1, 9];
        let take = |dims: &GatherDims, sizes: &[usize]| {
            Take::new((&[3, 2], DType::U8), (&[3, 1], DType::I8), dims, sizes)
        };
        let rows = take(&dims, &[1, 2]).expect("whole rows");
        let mut result = [0; 6];
        let indices: &[u8] = &indices.map(|index| index as u8);
        rows.run(operand.as_flattened(), indices, &mut result).expect("three rows");
        assert_eq!(result, [1, 2, 3, 4, 5, 6]);
        assert!(rows.run(operand.as_flattened(), indices, &mut result[..4]).is_err());
        // Parts of rows, and columns, are no rows.
        assert!(take(&dims, &[1, 1]).is_none());
        assert!(take(&GatherDims { start_index_map: vec![1], ..dims }, &[1, 2]).is_none());
    }
}
