//! `stablehlo.triangular_solve`.

use super::prelude::*;

op! {
    /// Solves `op(a) * x = b` or `x * op(a) = b` for each triangular matrix in the last two
    /// dimensions of `a`; the result has the shape of `b`.
    pub TriangularSolveOp, "stablehlo.triangular_solve" {
        operands { a: single FLOAT_OR_COMPLEX_TENSOR, b: single FLOAT_OR_COMPLEX_TENSOR }
        results { result: single FLOAT_OR_COMPLEX_TENSOR }
        attributes {
            left_side: required Bool,
            lower: required Bool,
            unit_diagonal: required Bool,
            transpose_a: required Enum(&TRANSPOSE),
        }
        traits [NoMemoryEffect, quantized::EXPRESSED]
        rules include_str!("triangular_solve.txt");
        hooks {
            infer: infer,
            infer_label: "triangular_solve_c4",
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let (a, b) = (op.operand_type(0), op.operand_type(1));
    require(op, "triangular_solve_c1", compat::elements(a, b), || {
        format!("a and b must have one element type; found {a} and {b}")
    })?;
    let (n, [batch_a @ .., rows, columns], [batch_b @ .., b_rows, b_columns]) =
        (rank(a), shape(a), shape(b))
    else {
        return Err(op.error(
            "triangular_solve_c2",
            format!("a and b must have at least 2 dimensions; found {a} and {b}"),
        ));
    };
    check::count(op, "triangular_solve_c2", "the shape of b", rank(b), n, "the rank of a")?;
    let side = if TriangularSolveOp(op).left_side() { b_rows } else { b_columns };
    let fits = compat::shapes(batch_a, batch_b)
        && compat::dims(*rows, *columns)
        && compat::dims(*rows, *side);
    require(op, "triangular_solve_c3", fits, || {
        format!("matrices in a must be square and fit those in b; found {a} and {b}")
    })?;
    let transpose = TriangularSolveOp(op).transpose_a();
    require(op, "triangular_solve_i6", transpose != 0, || {
        "transpose_a must not be TRANSPOSE_INVALID".to_string()
    })?;
    Ok(vec![b.clone()])
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let solve = TriangularSolveOp(op);
    let (transposed, conjugated) = match TRANSPOSE.case(solve.transpose_a()) {
        Some("NO_TRANSPOSE") => (false, false),
        Some("TRANSPOSE") => (true, false),
        Some("ADJOINT") => (true, true),
        _ => return Err(EvalError::new("triangular_solve_i6", "transpose_a has no valid value")),
    };
    Ok(Primitive::TriangularSolve(primitives::TriangularSolve {
        left_side: solve.left_side(),
        lower: solve.lower(),
        unit_diagonal: solve.unit_diagonal(),
        transposed,
        conjugated,
    }))
}

/// The flag asserts something about the diagonal.
fn speculate(op: OpRef<'_>) -> Speculation {
    let asserts = TriangularSolveOp(op).unit_diagonal();
    Speculation::always_if(speculation::has_static_operands(op) && !asserts)
}
