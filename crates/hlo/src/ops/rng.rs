//! `stablehlo.rng`.

use super::prelude::*;
use mlir::types::MAX_RANK;

op! {
    /// Random numbers of shape `shape`: uniform in `[a, b)`, or normal with mean `a` and standard
    /// deviation `b`. Deterministic across runs, different for each op and each process.
    ///
    /// They are those of the first execution on XLA's CPU of the first program that a process
    /// compiles (jaxlib 0.10.2), bit for bit except for normal `f64`. XLA gives each op a key by
    /// the order in which it compiles them, and a counter that goes on from one execution to the
    /// next, in whatever process. XLA differs from this rule in some cases, which are defined as
    /// follows here:
    ///
    /// - processes are ordered by their turns;
    /// - a function that is called from several places is one function, where XLA copies it and
    ///   gives each copy keys;
    /// - ops in a small loop have separate counters, where XLA lets those in a loop that it
    ///   considers small share one;
    /// - numbers are rounded by the op itself, where XLA may contract a product in it with a sum of
    ///   the next op.
    pub RngOp, "stablehlo.rng" {
        operands {
            a: single SCALAR_PRED_INT_OR_FLOAT_TENSOR,
            b: single SCALAR_PRED_INT_OR_FLOAT_TENSOR,
            shape: single STATIC_DIMENSION_TENSOR,
        }
        results { result: single PRED_INT_OR_FLOAT_TENSOR }
        attributes { rng_distribution: required Enum(&RNG_DISTRIBUTION) }
        rules include_str!("rng.txt");
        hooks {
            format:
                "$a `,` $b `,` $shape `,` `distribution` `=` $rng_distribution \
                 attr-dict `:` functional-type(operands, results)",
            infer: infer,
            infer_label: "rng_c3",
            refine: refine,
            prepare: prepare,
        }
    }
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    refine::by_operand(op, 2)
}

fn infer(op: OpRef<'_>) -> Inferred {
    let (a, b, result) = (op.operand_type(0), op.operand_type(1), op.result_type(0));
    require(op, "rng_c1", compat::elements(a, b) && compat::elements(a, result), || {
        format!("a, b and the result must have one element type; found {a}, {b} and {result}")
    })?;
    let normal = RngOp(op).rng_distribution() == 2;
    require(op, "rng_c2", !normal || a.element_type().is_float(), || {
        format!("normally distributed numbers must be floats; found {a}")
    })?;
    let entries =
        shape(op.operand_type(2)).first().and_then(|&n| usize::try_from(n).ok()).unwrap_or(0);
    require(op, "rng_c3", entries <= MAX_RANK, || {
        format!("shape has {entries} entries; a type has at most {MAX_RANK} dimensions")
    })?;
    let sizes = check::constant_ints(op, 2).unwrap_or_else(|| vec![DYNAMIC; entries]);
    check::at_least(
        op,
        "rng_c3",
        "shape",
        &sizes.iter().copied().filter(|&d| d != DYNAMIC).collect::<Vec<_>>(),
        0,
    )?;
    Ok(vec![Type::tensor(sizes, result.element_type().clone())])
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let distribution = match RNG_DISTRIBUTION.case(RngOp(op).rng_distribution()) {
        Some("UNIFORM") => RandomDistribution::Uniform,
        Some("NORMAL") => RandomDistribution::Normal,
        _ => return Err(prepare::missing(op, "rng_distribution")),
    };
    let stream = cx.stream(op)?;
    Ok(Primitive::RandomNumbers(primitives::RandomNumbers {
        distribution,
        stream,
        declared: prepare::declared(op),
    }))
}
