//! Calls that solve tridiagonal systems.

use super::{Outputs, Results, RoutineCall, info, precision_of};
use ::lapack::{Matrix, Tridiagonal};
use kernels::linalg::{self, MatrixField, Stack};
use mlir::OpRef;
use mlir::prepare::{Prepared, Preparer, native};
use numerics::{Complex64, Tensor};
use program::{EvalError, operands};

/// A system of equations with the elements of its diagonals that are outside of the matrix: the
/// first of the lower one and the last of the upper one.
struct TridiagonalSystem<T> {
    a: Tridiagonal<T>,
    before: Vec<T>,
    after: Vec<T>,
    b: Matrix<T>,
}

/// The systems of three diagonals and right sides.
fn systems<T: MatrixField>(operands: &[Tensor]) -> Result<Stack<TridiagonalSystem<T>>, EvalError> {
    let [lower, diagonal, upper, b] = operands else {
        return Err(EvalError::new("matrix", "expected three diagonals and the right sides"));
    };
    let vectors = |tensor: &Tensor| linalg::vectors::<T>(tensor);
    let (lower, diagonal, upper) = (vectors(lower)?, vectors(diagonal)?, vectors(upper)?);
    let b = linalg::matrices::<T>(b)?;
    let n = diagonal.core[0];
    let fits = [&lower.core, &diagonal.core, &upper.core] == [&[n]; 3]
        && [&lower.batch, &diagonal.batch, &upper.batch] == [&b.batch; 3]
        && b.core[0] == n;
    if !fits {
        return Err(EvalError::new(
            "matrix",
            "diagonals and right sides of the systems must have the same sizes",
        ));
    }
    let inside = n.saturating_sub(1);
    let diagonals = lower.items.into_iter().zip(diagonal.items).zip(upper.items);
    let system = |(((mut before, diagonal), mut upper), b): (((Vec<T>, _), Vec<T>), _)| {
        let lower = before.split_off(n - inside);
        let after = upper.split_off(inside);
        TridiagonalSystem { a: Tridiagonal { lower, diagonal, upper }, before, after, b }
    };
    Ok(Stack { batch: b.batch, core: b.core, items: diagonals.zip(b.items).map(system).collect() })
}

/// `gtsv`: the factor in three diagonals, the solution of tridiagonal systems, `info`.
pub(super) fn gtsv<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = systems::<T>(call.operands)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let (mut diagonals, mut solutions, mut infos) =
        ([Vec::new(), Vec::new(), Vec::new()], Vec::new(), Vec::new());
    for TridiagonalSystem { mut a, before, after, mut b } in items {
        infos.push(info(::lapack::gtsv(&mut a, &mut b)));
        diagonals[0].extend(before.iter().chain(&a.lower));
        diagonals[1].extend(a.diagonal);
        diagonals[2].extend(a.upper.iter().chain(&after));
        solutions.extend(b.into_elements());
    }
    let mut results = Vec::new();
    for diagonal in diagonals {
        results.push(out.numbers(&core[..1], diagonal)?);
    }
    results.extend([out.numbers(&core, solutions)?, out.integers(&[], infos)?]);
    Ok(results)
}

/// `tridiagonal_solve_perturbed_ffi`: the solution of tridiagonal systems whose pivots are enlarged
/// where they are too small.
pub(in crate::custom_calls) fn solve_perturbed(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let operands = operands::tensor_list(operands)?;
        let complex = operands.first().is_some_and(|t| t.dtype().is_complex());
        let solve = if complex { solved::<Complex64> } else { solved::<f64> };
        Ok(vec![solve(&operands)?.into()])
    })
}

fn solved<T: MatrixField>(operands: &[Tensor]) -> Result<Tensor, EvalError> {
    let Stack { batch, core, items } = systems::<T>(operands)?;
    let dtype = operands[0].dtype();
    let mut solutions = Vec::new();
    for TridiagonalSystem { a, mut b, .. } in items {
        ::lapack::lagts(&a, &mut b, precision_of(dtype));
        solutions.extend(b.into_elements());
    }
    Outputs { batch: &batch, dtype }.numbers(&core, solutions)
}
