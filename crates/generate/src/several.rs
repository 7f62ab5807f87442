//! Recipes for ops with several results, of which programs often use only some, and for
//! decompositions.

use crate::recipes::{any_full, comparing, shaped, usizes};
use crate::{ProgramGenerator, Recipe};
use hlo::enums::TRANSPOSE;
use hlo::ops::*;
use mlir::ods::OpDef;
use mlir::{Attribute, Value};
use numerics::DType;

pub(crate) const RECIPES: &[Recipe] = &[
    barrier,
    batch_norm_grad,
    batch_norm_inference,
    batch_norm_training,
    cholesky,
    first_sorted,
    reduce_with_indices,
    triangular_solve,
];

/// The results of the last op.
fn results(g: &ProgramGenerator) -> Option<Vec<Value>> {
    Some(g.module.op(*g.made.last()?).results().collect())
}

fn barrier(g: &mut ProgramGenerator) -> Option<()> {
    let count = g.random.between(1, 3);
    let values = (0..count).map(|_| g.any(|_| true)).collect::<Option<Vec<_>>>()?;
    let types = values.iter().map(|&value| g.module.ty(value).clone()).collect();
    g.push(OptimizationBarrierOp::DEF, &values, &[], Vec::new(), Some(types))
}

/// A float operand, its feature dimension, and `count` vectors of an element a feature.
fn features(g: &mut ProgramGenerator, count: usize) -> Option<(Vec<Value>, i64)> {
    let is_float = |dtype: DType| [DType::F32, DType::F64, DType::BF16].contains(&dtype);
    let operand = g.any(|ty| {
        ty.element_type().dtype().is_some_and(is_float)
            && ty.shape().is_some_and(|shape| !shape.is_empty())
    })?;
    let (shape, dtype) = g.of(operand);
    let feature = g.random.below(shape.len());
    let vector = shaped(vec![shape[feature]], dtype);
    let mut operands = vec![operand];
    operands.extend((0..count).map(|_| g.value(&vector)));
    Some((operands, feature as i64))
}

/// Appends an op on batches of features.
fn batch_norm(
    g: &mut ProgramGenerator,
    def: &'static OpDef,
    (operands, feature): (Vec<Value>, i64),
) -> Option<()> {
    let attrs = [("epsilon", Attribute::f32(0.01)), ("feature_index", Attribute::i64(feature))];
    g.push(def, &operands, &attrs, Vec::new(), None)
}

fn batch_norm_training(g: &mut ProgramGenerator) -> Option<()> {
    let features = features(g, 2)?;
    batch_norm(g, BatchNormTrainingOp::DEF, features)
}

fn batch_norm_inference(g: &mut ProgramGenerator) -> Option<()> {
    let features = features(g, 4)?;
    batch_norm(g, BatchNormInferenceOp::DEF, features)
}

fn batch_norm_grad(g: &mut ProgramGenerator) -> Option<()> {
    let (mut operands, feature) = features(g, 3)?;
    let ty = g.module.ty(operands[0]).clone();
    operands.push(g.value(&ty));
    batch_norm(g, BatchNormGradOp::DEF, (operands, feature))
}

/// A sort of numbers with their indices, and the first elements of each: the largest ones, or the
/// smallest.
fn first_sorted(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any_full(g, 1)?;
    if dtype.is_complex() {
        return None;
    }
    let dimension = g.random.below(shape.len());
    let ty = shaped(shape.clone(), DType::I32);
    let attrs = [("iota_dimension", Attribute::i64(dimension as i64))];
    g.push(IotaOp::DEF, &[], &attrs, Vec::new(), Some(vec![ty.clone()]))?;
    let indices = *results(g)?.first()?;
    let direction = *g.random.choose(&[3, 5]);
    let comparator = comparing(g, &[dtype, DType::I32], direction)?;
    let attrs =
        [("dimension", Attribute::i64(dimension as i64)), ("is_stable", Attribute::bool(true))];
    let types = Some(vec![shaped(shape.clone(), dtype), ty]);
    g.push(SortOp::DEF, &[value, indices], &attrs, vec![comparator], types)?;
    let sorted = results(g)?;
    let mut limits = shape;
    limits[dimension] = g.random.between(1, limits[dimension].min(8));
    let count = g.random.between(1, 2) as usize;
    for &value in g.random.permutation(2)[..count].iter().map(|&i| &sorted[i]) {
        let attrs = [
            ("start_indices", usizes(&vec![0; limits.len()])),
            ("limit_indices", Attribute::i64_array(limits.clone())),
            ("strides", usizes(&vec![1; limits.len()])),
        ];
        g.push(SliceOp::DEF, &[value], &attrs, Vec::new(), None)?;
    }
    Some(())
}

/// The largest element along a dimension, and where it is.
fn reduce_with_indices(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any_full(g, 1)?;
    if !dtype.is_integer() {
        return None;
    }
    let dimension = g.random.below(shape.len());
    let scalars = [shaped(Vec::new(), dtype), shaped(Vec::new(), DType::I32)];
    let attrs = [("iota_dimension", Attribute::i64(dimension as i64))];
    let ty = shaped(shape, DType::I32);
    g.push(IotaOp::DEF, &[], &attrs, Vec::new(), Some(vec![ty]))?;
    let indices = *results(g)?.first()?;
    let inits = [g.value(&scalars[0]), g.value(&scalars[1])];
    let types: Vec<_> = [&scalars[..], &scalars[..]].concat();
    // Of each on its own, so that the order does not matter.
    let body = g.region(&types, |g, block, values| {
        let largest = g.inner(block, MaximumOp::DEF, &[values[0], values[2]], &[], None)?;
        Some(vec![largest, g.inner(block, MinimumOp::DEF, &[values[1], values[3]], &[], None)?])
    })?;
    let attrs = [("dimensions", usizes(&[dimension]))];
    g.push(ReduceOp::DEF, &[value, indices, inits[0], inits[1]], &attrs, vec![body], None)
}

/// A square matrix of floats, or several.
fn matrices(g: &mut ProgramGenerator) -> Option<(Value, Vec<i64>, DType)> {
    let dtype =
        g.dtype(|dtype| [DType::F32, DType::F64, DType::C64, DType::C128].contains(&dtype))?;
    let size = g.random.between(1, 20);
    let mut shape = match g.random.one_in(2) {
        true => vec![g.random.between(1, 3)],
        false => Vec::new(),
    };
    shape.extend([size, size]);
    Some((g.value(&shaped(shape.clone(), dtype)), shape, dtype))
}

fn cholesky(g: &mut ProgramGenerator) -> Option<()> {
    let (matrix, ..) = matrices(g)?;
    let attrs = [("lower", Attribute::bool(g.random.one_in(2)))];
    g.push(CholeskyOp::DEF, &[matrix], &attrs, Vec::new(), None)
}

fn triangular_solve(g: &mut ProgramGenerator) -> Option<()> {
    let (matrix, shape, dtype) = matrices(g)?;
    let is_left = g.random.one_in(2);
    let mut other = shape.clone();
    let at = if is_left { other.len() - 1 } else { other.len() - 2 };
    other[at] = g.random.between(1, 9);
    let right = g.value(&shaped(other, dtype));
    let transpose =
        if dtype.is_complex() { g.random.between(1, 3) } else { g.random.between(1, 2) };
    let attrs = [
        ("left_side", Attribute::bool(is_left)),
        ("lower", Attribute::bool(g.random.one_in(2))),
        ("unit_diagonal", Attribute::bool(true)),
        ("transpose_a", Attribute::enumeration(&TRANSPOSE, transpose as u64)),
    ];
    g.push(TriangularSolveOp::DEF, &[matrix, right], &attrs, Vec::new(), None)
}
