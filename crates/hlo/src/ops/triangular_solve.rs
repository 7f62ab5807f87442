//! `stablehlo.triangular_solve`.

use super::prelude::*;

op! {
    /// Solves `op(a) * x = b` or `x * op(a) = b` for each triangular matrix in the last two dimensions of `a`; the
    /// result has the shape of `b`.
    pub TriangularSolveOp, "stablehlo.triangular_solve" {
        operands { a: single FLOAT_OR_COMPLEX_TENSOR, b: single FLOAT_OR_COMPLEX_TENSOR }
        results { result: single FLOAT_OR_COMPLEX_TENSOR }
        attributes {
            left_side: required Bool,
            lower: required Bool,
            unit_diagonal: required Bool,
            transpose_a: required Enum(&TRANSPOSE),
        }
        traits [NoMemoryEffect]
    }
}
