//! `stablehlo.dot_general`.

use super::prelude::*;

op! {
    /// Dot products of slices of `lhs` and `rhs` along the contracting dimensions, for each index
    /// of the batching dimensions. The result has the batching dimensions, then the free dimensions
    /// of `lhs`, then those of `rhs`.
    pub DotGeneralOp, "stablehlo.dot_general" {
        operands { lhs: single TENSOR, rhs: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes {
            dot_dimension_numbers: required Def(DotDims),
            precision_config: optional ArrayOf(&Enum(&PRECISION)),
            algorithm: optional Def(&DOT_ALGORITHM),
        }
        traits [NoMemoryEffect, quantized::EXPRESSED]
        rules include_str!("dot_general.txt");
        hooks {
            format:
                "$lhs `,` $rhs `,` custom<DotDimensionNumbers>($dot_dimension_numbers) `` \
                 custom<PrecisionConfigAndAlgorithm>($precision_config, $algorithm) \
                 attr-dict `:` functional-type(operands, results)",
            verify: verify,
            refine: refine,
            reify: reify,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    refine::sized(op, |operands| result_shape(op, operands))
}

const LABELS: check::DotLabels = check::DotLabels {
    counts: ["dot_general_c1", "dot_general_c2"],
    distinct: ["dot_general_c3", "dot_general_c4"],
    lhs_in_range: ["dot_general_c5", "dot_general_c6"],
    rhs_in_range: ["dot_general_c7", "dot_general_c8"],
    sizes: ["dot_general_c9", "dot_general_c10"],
};

fn verify(op: OpRef<'_>) -> Verdict {
    check::precision_config(op, "dot_general_c11", DotGeneralOp(op).precision_config())?;
    let dims = DotGeneralOp(op).dot_dimension_numbers();
    let (lhs, rhs) = (op.operand_type(0), op.operand_type(1));
    check::dot_dimensions(op, &LABELS, lhs, rhs, &dims)?;
    let sizes = result_shape(op, &[shape(lhs), shape(rhs)]).unwrap_or_default();
    check::has_shape(op, "dot_general_c12", "the result", shape(op.result_type(0)), &sizes)?;
    verify_elements(op, dims.rhs_contracting_dimensions)?;
    verify_algorithm(op)
}

/// The batching dimensions, then the free dimensions of `lhs` and of `rhs`. `None` if a dimension
/// is out of range.
fn result_shape(op: OpRef<'_>, operands: &[&[i64]]) -> Option<Vec<i64>> {
    let dims = DotGeneralOp(op).dot_dimension_numbers();
    let &[lhs, rhs] = operands else { return None };
    let free = |shape: &[i64], batching: &[i64], contracting: &[i64]| -> Vec<i64> {
        let numbered = (0i64..).zip(shape);
        numbered
            .filter(|(d, _)| !batching.contains(d) && !contracting.contains(d))
            .map(|(_, &size)| size)
            .collect()
    };
    // A batching dimension that is dynamic in one operand may be static in the other.
    let batch = |(&l, &r): (&i64, &i64)| {
        let (l, r) = (*lhs.get(usize::try_from(l).ok()?)?, *rhs.get(usize::try_from(r).ok()?)?);
        Some(if l == DYNAMIC { r } else { l })
    };
    let batching = dims.lhs_batching_dimensions.iter().zip(dims.rhs_batching_dimensions);
    let mut sizes: Vec<i64> = batching.map(batch).collect::<Option<_>>()?;
    sizes.extend(free(lhs, dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions));
    sizes.extend(free(rhs, dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions));
    Some(sizes)
}

fn verify_elements(op: OpRef<'_>, rhs_contracting: &[i64]) -> Verdict {
    let (lhs, rhs, result) = (op.operand_type(0), op.operand_type(1), op.result_type(0));
    let Some(weights) = quantized::quantized(rhs) else {
        let quantized = quantized::is_quantized(lhs) || quantized::is_quantized(result);
        return require(op, "dot_general_c14", !quantized, || {
            format!(
                "rhs must be quantized where lhs or the result is; found {lhs}, {rhs} and {result}"
            )
        });
    };
    require(
        op,
        "dot_general_c14",
        quantized::is_quantized(lhs) == quantized::is_quantized(result),
        || {
            format!(
                "lhs and the result must both be quantized or neither; found {lhs} and {result}"
            )
        },
    )?;
    require(op, "dot_general_c15", weights.zero_points.iter().all(|&z| z == 0), || {
        format!("rhs must have zero points 0; found {rhs}")
    })?;
    let axis = quantized::axis(rhs);
    require(
        op,
        "dot_general_c16",
        axis.is_none_or(|a| !rhs_contracting.contains(&(a as i64))),
        || format!("rhs must not be quantized along a contracting dimension; found {rhs}"),
    )?;
    let [c17, c18, c19, c20] =
        ["dot_general_c17", "dot_general_c18", "dot_general_c19", "dot_general_c20"];
    quantized::contraction(op, [c17, c18, c19, c20])
}

fn verify_algorithm(op: OpRef<'_>) -> Verdict {
    if DotGeneralOp(op).algorithm().is_none() {
        return Ok(());
    }
    let precision = DotGeneralOp(op).precision_config().unwrap_or(&[]);
    require(
        op,
        "dot_general_c21",
        precision.iter().all(|p| p.as_enum(&PRECISION) == Some(0)),
        || "precision_config must be DEFAULT where an algorithm is given".to_string(),
    )
}

/// Batching dimensions, then the free dimensions of each side.
fn reify(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let numbers = DotGeneralOp(rw.op(op)).dot_dimension_numbers().to_owned();
    let (lhs, rhs) = (reify::dims(rw, op, 0)?, reify::dims(rw, op, 1)?);
    let free = |sizes: &[Value], batching: &[i64], contracting: &[i64]| -> Vec<Value> {
        let is_free =
            |i: usize| !batching.contains(&(i as i64)) && !contracting.contains(&(i as i64));
        sizes.iter().enumerate().filter(|&(i, _)| is_free(i)).map(|(_, &size)| size).collect()
    };
    let at = |&d: &i64| lhs.get(usize::try_from(d).ok()?).copied();
    let mut sizes = numbers.lhs_batching_dimensions.iter().map(at).collect::<Option<Vec<_>>>()?;
    sizes.extend(free(&lhs, &numbers.lhs_batching_dimensions, &numbers.lhs_contracting_dimensions));
    sizes.extend(free(&rhs, &numbers.rhs_batching_dimensions, &numbers.rhs_contracting_dimensions));
    reify::vector(rw, op, sizes)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let dims = DotGeneralOp(op).dot_dimension_numbers();
    let dtype = prepare::expressed_dtype(op.result_type(0))?;
    prepare::with_floats(
        op,
        Primitive::Dot(primitives::Dot { dims: Some(Box::new(dims.to_owned())), dtype }),
    )
}

/// The batching and contracting dimensions must agree, and the others follow from the operands.
fn speculate(op: OpRef<'_>) -> Speculation {
    let dims = DotGeneralOp(op).dot_dimension_numbers();
    let lhs = [dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions].concat();
    let rhs = [dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions].concat();
    let is_static = |i: usize, d: i64| !speculation::is_dynamic(op.operand_type(i), d);
    let free = |i: usize, paired: &[i64]| -> Vec<(usize, i64)> {
        let dims = 0..rank(op.operand_type(i)) as i64;
        dims.filter(|d| !paired.contains(d)).map(|d| (i, d)).collect()
    };
    let from = [free(0, &lhs), free(1, &rhs)].concat();
    let mut to = (dims.lhs_batching_dimensions.len() as i64..).zip(from);
    Speculation::always_if(
        lhs.iter().all(|&d| is_static(0, d))
            && rhs.iter().all(|&d| is_static(1, d))
            && to.all(|(to, (operand, d))| speculation::follows(op, to, operand, d)),
    )
}
