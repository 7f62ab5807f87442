//! Calls that solve tridiagonal systems.

use super::{Results, RoutineCall, info, precision_of};
use ::lapack::{Matrix, Tridiagonal};
use kernels::linalg::{self, MatrixField, MatrixList, Stack};
use mlir::OpRef;
use mlir::prepare::{Prepared, Preparer, native};
use numerics::budget::Reserved;
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

/// The diagonals and right sides of systems.
struct SystemStack<T> {
    diagonals: [Stack<T>; 3],
    b: Stack<T>,
}

impl<T: MatrixField> SystemStack<T> {
    fn of(operands: &[Tensor]) -> Result<SystemStack<T>, EvalError> {
        let [lower, diagonal, upper, b] = operands else {
            return Err(EvalError::new("matrix", "expected three diagonals and the right sides"));
        };
        let vectors = |tensor: &Tensor| linalg::vectors::<T>(tensor);
        let diagonals = [vectors(lower)?, vectors(diagonal)?, vectors(upper)?];
        let b = linalg::matrices::<T>(b)?;
        let fits = |stack: &Stack<T>| stack.core[..] == b.core[..1] && stack.batch == b.batch;
        if !diagonals.iter().all(fits) {
            return Err(EvalError::new(
                "matrix",
                "diagonals and right sides of the systems must have the same sizes",
            ));
        }
        Ok(SystemStack { diagonals, b })
    }

    /// Charges the memory of one system.
    fn reserve(&self) -> Result<Reserved, EvalError> {
        let n = self.b.core[0];
        self.b.reserve(self.b.size().saturating_add(n.saturating_mul(3)))
    }

    /// The systems in turn.
    fn systems(&self) -> impl Iterator<Item = TridiagonalSystem<T>> {
        let n = self.b.core[0];
        let inside = n.saturating_sub(1);
        let [lower, diagonal, upper] = &self.diagonals;
        let diagonals = lower.vectors().zip(diagonal.vectors()).zip(upper.vectors());
        diagonals.zip(self.b.matrices()).map(move |(((mut before, diagonal), mut upper), b)| {
            let lower = before.split_off(n - inside);
            let after = upper.split_off(inside);
            TridiagonalSystem { a: Tridiagonal { lower, diagonal, upper }, before, after, b }
        })
    }
}

/// `gtsv`: the factor in three diagonals, the solution of tridiagonal systems, `info`.
pub(super) fn gtsv<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let stack = SystemStack::<T>::of(call.operands)?;
    let (core, out) = (&stack.b.core, call.outputs(&stack.b));
    let _reserved = stack.reserve()?;
    let list = || out.numbers(&core[..1]);
    let [mut lower, mut diagonal, mut upper] = [list()?, list()?, list()?];
    let (mut solutions, mut infos) = (out.numbers(core)?, Vec::new());
    for TridiagonalSystem { mut a, before, after, mut b } in stack.systems() {
        infos.push(info(::lapack::gtsv(&mut a, &mut b)));
        [&before, &a.lower].into_iter().for_each(|part| lower.push(part));
        diagonal.push(&a.diagonal);
        [&a.upper, &after].into_iter().for_each(|part| upper.push(part));
        solutions.push(b.elements());
    }
    let mut results = Vec::new();
    for list in [lower, diagonal, upper, solutions] {
        results.push(list.tensor()?);
    }
    results.push(out.integers(&[], infos)?);
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
    let stack = SystemStack::<T>::of(operands)?;
    let dtype = operands[0].dtype();
    let _reserved = stack.reserve()?;
    let mut solutions = MatrixList::new(&stack.b.batch, &stack.b.core, dtype)?;
    for TridiagonalSystem { a, mut b, .. } in stack.systems() {
        ::lapack::lagts(&a, &mut b, precision_of(dtype));
        solutions.push(b.elements());
    }
    solutions.tensor()
}
