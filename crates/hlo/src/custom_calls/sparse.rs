//! Products of sparse matrices, as JAX exports them for CPUs.

use mlir::OpRef;
use mlir::prepare::{Prepared, Preparer, native};
use numerics::math::{self, BinaryOp};
use numerics::{DType, Tensor, TensorError};
use program::{EvalError, operands};

fn invalid(message: impl Into<String>) -> EvalError {
    EvalError::new("csr", message)
}

/// The product of a matrix in compressed rows with a dense matrix or vector. Operands: the elements
/// that are stored, where each row starts among them and the last one ends, their columns, the
/// dense factor, and the shape of the result if that is dynamic.
///
/// Sums are formed in double precision, or modulo 2^64, and rounded once.
pub(super) fn csr_product(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| Ok(vec![product(operands::tensor_list(operands)?)?.into()]))
}

fn product(operands: Vec<Tensor>) -> Result<Tensor, EvalError> {
    let (factors, _) = operands::split_at(operands, 4)?;
    let [elements, starts, columns, dense] = operands::expect_n(factors)?;
    let dtype = elements.dtype();
    let (starts, columns) = (starts.to_i64s()?, columns.to_i64s()?);
    let &inner = dense
        .shape()
        .first()
        .ok_or_else(|| invalid("the dense factor must be a matrix or a vector"))?;
    let rows = starts.len().checked_sub(1).ok_or_else(|| invalid("there are no starts of rows"))?;
    let shape = [&[rows], &dense.shape()[1..]].concat();
    // The row of each element; elements after the last row are padding.
    let (mut row_of, mut column_of) = (Vec::new(), Vec::new());
    for (row, ends) in starts.windows(2).enumerate() {
        let stored = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
        let columns = stored.and_then(|(start, end)| columns.get(start..end));
        let columns = columns.filter(|_| stored.is_some_and(|(start, _)| start == row_of.len()));
        let columns = columns.ok_or_else(|| {
            invalid(format!("row {row} cannot be from {} to {}", ends[0], ends[1]))
        })?;
        for &column in columns {
            let column = usize::try_from(column).ok().filter(|&c| c < inner);
            column_of.push(column.ok_or_else(|| {
                invalid(format!("row {row} has an element beyond column {inner}"))
            })?);
            row_of.push(row);
        }
    }
    let wide = match dtype {
        _ if dtype.is_float() => DType::F64,
        _ if dtype.is_complex() => DType::C128,
        _ if dtype.is_integer() => DType::I64,
        _ => return Err(TensorError::Unsupported { op: "csr", dtype }.into()),
    };
    if elements.num_elements() < row_of.len() {
        return Err(invalid(format!(
            "{} elements are stored, and {} are read",
            elements.num_elements(),
            row_of.len()
        )));
    }
    let width = dense.num_elements().checked_div(inner).unwrap_or(0);
    let (elements, dense) = (math::convert(elements, wide)?, math::convert(dense, wide)?);
    let dense = dense.reshape([inner, width])?;
    let mut sums = Tensor::zeros(wide, &shape)?.reshape([rows, width])?;
    for (i, (&row, &column)) in row_of.iter().zip(&column_of).enumerate() {
        let element = operands::slice(&elements, &[i], &[i + 1], &[1])?.reshape([])?;
        let line = |t: &Tensor, at: usize| operands::slice(t, &[at, 0], &[at + 1, width], &[1, 1]);
        let product = math::binary(BinaryOp::Multiply, line(&dense, column)?, element)?;
        let sum = math::binary(BinaryOp::Add, line(&sums, row)?, product)?;
        let place =
            numerics::shape::StridedView::window(&[rows, width], &[row, 0], &[1, width], &[1, 1])?;
        sums.scatter(&place, &sum)?;
    }
    Ok(math::convert(sums.reshape(shape)?, dtype)?)
}
