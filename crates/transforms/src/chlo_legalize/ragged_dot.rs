//! Expands `chlo.ragged_dot`: one product per group, with the rest of the ragged dimension masked.

use super::expr::{constant, splat};
use super::top_k::{as_vector, concatenate, dimension_size};
use chlo::{PRECISION, Ragged, RaggedDims, RaggedDotOp};
use hlo::attrs::DOT_DIMENSION_NUMBERS;
use hlo::compat::with_element;
use hlo::enums::{self, COMPARISON_DIRECTION};
use hlo::ops::*;
use mlir::ods::AttrValue;
use mlir::rewrite::{RewritePattern, Rewriter};
use mlir::types::{DYNAMIC, TensorType};
use mlir::{Attribute, OpId, Type, Value};
use side_dialects::shape::ShapeOfOp;

const GE: u64 = 2;
const LT: u64 = 5;

pub(super) static PATTERNS: &[RewritePattern] =
    &[RewritePattern::new("ragged-dot", RaggedDotOp::DEF, ragged_dot)];

/// Limit on the number of groups, each of which becomes a separate product.
const MAX_GROUPS: i64 = 1 << 16;

/// The parameters of a `ragged_dot`.
struct RaggedProduct<'a> {
    lhs: Value,
    rhs: Value,
    group_sizes: Value,
    dims: RaggedDims<'a>,
    precision: Option<Attribute>,
    result: Type,
}

/// The ragged dimension is a free dimension of `lhs` (then `rhs` has a group dimension), a
/// contracting dimension (then the result has one), or a batch dimension (then groups have no
/// effect).
fn ragged_dot(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let numbers = rw.op(op).attr("ragged_dot_dimension_numbers")?.clone();
    let ragged = read(rw, op, AttrValue::of(Some(&numbers)))?;
    let value = match ragged.dims.ragged()?.1 {
        Ragged::Free => ragged_rows(rw, &ragged)?,
        Ragged::Contracting => ragged_contraction(rw, &ragged)?,
        Ragged::Batch => {
            let (batching, contracting) =
                (ragged.dims.rhs_batching_dimensions, ragged.dims.rhs_contracting_dimensions);
            dot(rw, &ragged, ragged.lhs, ragged.rhs, batching, contracting, &ragged.result)
        }
    };
    rw.replace(op, &[value]);
    Some(())
}

fn read<'a>(rw: &Rewriter<'_>, op: OpId, dims: RaggedDims<'a>) -> Option<RaggedProduct<'a>> {
    let view = RaggedDotOp::cast(rw.op(op))?;
    let precision = view.precision_config().map(|cases| {
        let case = |case: &Attribute| {
            Attribute::enumeration(&enums::PRECISION, case.as_enum(&PRECISION).unwrap_or(0))
        };
        Attribute::array(cases.iter().map(case).collect())
    });
    Some(RaggedProduct {
        lhs: view.lhs(),
        rhs: view.rhs(),
        group_sizes: view.group_sizes(),
        dims,
        precision,
        result: view.result_type(0).clone(),
    })
}

fn dot(
    rw: &mut Rewriter<'_>,
    ragged: &RaggedProduct<'_>,
    lhs: Value,
    rhs: Value,
    rhs_batching: &[i64],
    rhs_contracting: &[i64],
    result: &Type,
) -> Value {
    let list = |dims: &[i64]| Some(Attribute::i64_array(dims));
    let params = vec![
        list(ragged.dims.lhs_batching_dimensions),
        list(rhs_batching),
        list(ragged.dims.lhs_contracting_dimensions),
        list(rhs_contracting),
    ];
    let dot = rw.make(DotGeneralOp::DEF, [lhs, rhs]);
    let dot = dot.attr("dot_dimension_numbers", Attribute::dialect(&DOT_DIMENSION_NUMBERS, params));
    dot.optional_attr("precision_config", ragged.precision.as_ref()).result(result.clone())
}

/// `[b, m, k] x [g, b, k, n] -> [b, m, n]`: the sum over the groups of `mask(lhs) x rhs[g]`.
fn ragged_rows(rw: &mut Rewriter<'_>, ragged: &RaggedProduct<'_>) -> Option<Value> {
    let group_dim = *ragged.dims.rhs_group_dimensions.first()?;
    let at = usize::try_from(group_dim).ok()?;
    let groups = number_of_groups(*rw.ty(ragged.rhs).shape()?.get(at)?)?;
    if groups == 0 {
        return zeros(rw, &ragged.result);
    }
    let mut masks = Masks::new(rw, ragged)?;
    let without = |dims: &[i64]| {
        dims.iter().map(|&d| if d > group_dim { d - 1 } else { d }).collect::<Vec<_>>()
    };
    let (batching, contracting) = (
        without(ragged.dims.rhs_batching_dimensions),
        without(ragged.dims.rhs_contracting_dimensions),
    );
    let mut sum = None;
    for group in 0..groups {
        let lhs = masks.next(rw, group)?;
        let rhs = group_of(rw, ragged.rhs, at, group)?;
        let product = dot(rw, ragged, lhs, rhs, &batching, &contracting, &ragged.result);
        sum = Some(match sum {
            None => product,
            Some(sum) => rw.make(AddOp::DEF, [sum, product]).result(ragged.result.clone()),
        });
    }
    sum
}

/// `[b, m, k] x [b, k, n] -> [g, b, m, n]`: the products `mask(lhs) x rhs`, one per group.
fn ragged_contraction(rw: &mut Rewriter<'_>, ragged: &RaggedProduct<'_>) -> Option<Value> {
    let groups = number_of_groups(*rw.ty(ragged.group_sizes).shape()?.last()?)?;
    if groups == 0 {
        return zeros(rw, &ragged.result);
    }
    let result = ragged.result.as_tensor()?;
    let product = Type::tensor(&result.shape[1..], result.element.clone());
    let mut masks = Masks::new(rw, ragged)?;
    let mut products = Vec::new();
    for group in 0..groups {
        let lhs = masks.next(rw, group)?;
        let (batching, contracting) =
            (ragged.dims.rhs_batching_dimensions, ragged.dims.rhs_contracting_dimensions);
        products.push(dot(rw, ragged, lhs, ragged.rhs, batching, contracting, &product));
    }
    let mut shape = result.shape.clone();
    shape[0] = 1;
    let row = Type::tensor(shape, result.element.clone());
    let is_static = product.as_tensor()?.has_static_shape();
    let mut rows = Vec::with_capacity(products.len());
    for product in products {
        rows.push(if is_static {
            rw.make(ReshapeOp::DEF, [product]).result(row.clone())
        } else {
            let mut sizes = vec![constant(rw, Attribute::i64_elements(&[1], &[1])?)?];
            for d in 0..result.rank() - 1 {
                let size = dimension_size(rw, product, d)?;
                sizes.push(as_vector(rw, size));
            }
            let sizes = concatenate(rw, &sizes);
            rw.make(DynamicReshapeOp::DEF, [product, sizes]).result(row.clone())
        });
    }
    let all = rw.make(ConcatenateOp::DEF, rows).attr("dimension", Attribute::i64(0));
    Some(all.result(ragged.result.clone()))
}

/// Zeros: the sum of no products, if the shape is static.
fn zeros(rw: &mut Rewriter<'_>, ty: &Type) -> Option<Value> {
    let tensor = ty.as_tensor().filter(|tensor| tensor.has_static_shape())?;
    let zero = vec![0; tensor.element.dtype()?.bytes()];
    constant(rw, splat(ty.clone(), zero)?)
}

fn number_of_groups(size: i64) -> Option<i64> {
    (0..=MAX_GROUPS).contains(&size).then_some(size)
}

/// Iterates over the groups: `lhs` with zeros outside of each group in turn.
struct Masks<'a> {
    ragged: &'a RaggedProduct<'a>,
    lhs: TensorType,
    /// Shape of a group's start index: one for each index of the leading dimensions of the group
    /// sizes.
    batch: Vec<i64>,
    /// Positions along the ragged dimension.
    positions: Value,
    zero: Value,
    /// Start of the next group.
    start: Value,
}

impl<'a> Masks<'a> {
    fn new(rw: &mut Rewriter<'_>, ragged: &'a RaggedProduct<'a>) -> Option<Self> {
        let lhs = rw.ty(ragged.lhs).as_tensor()?.clone();
        let sizes = rw.ty(ragged.group_sizes).as_tensor()?.clone();
        let batch = sizes.shape.split_last()?.1.to_vec();
        let dimension =
            usize::try_from(ragged.dims.ragged()?.0).ok().filter(|&d| d < lhs.rank())?;
        let zero_element =
            splat(Type::tensor([], lhs.element.clone()), vec![0; lhs.element.dtype()?.bytes()])?;
        let start = if batch.contains(&DYNAMIC) {
            let mut parts = Vec::new();
            for d in 0..batch.len() {
                let size = dimension_size(rw, ragged.group_sizes, d)?;
                parts.push(as_vector(rw, size));
            }
            let extents = concatenate(rw, &parts);
            let zero = constant(rw, Attribute::i64_elements(&[], &[0])?)?;
            let to = rw.make(DynamicBroadcastInDimOp::DEF, [zero, extents]);
            to.attr("broadcast_dimensions", Attribute::i64_array([]))
                .result(Type::tensor(batch.clone(), Type::i64()))
        } else {
            constant(rw, splat(Type::tensor(batch.clone(), Type::i64()), vec![0; 8])?)?
        };

        let mut shape = vec![1; lhs.rank()];
        shape[dimension] = lhs.shape[dimension];
        let along = Attribute::i64(dimension as i64);
        let positions = Type::tensor(shape, Type::i64());
        let positions = if lhs.shape[dimension] == DYNAMIC {
            let mut sizes = Vec::with_capacity(lhs.rank());
            for d in 0..lhs.rank() {
                sizes.push(if d == dimension {
                    let size = dimension_size(rw, ragged.lhs, d)?;
                    as_vector(rw, size)
                } else {
                    constant(rw, Attribute::i64_elements(&[1], &[1])?)?
                });
            }
            let sizes = concatenate(rw, &sizes);
            rw.make(DynamicIotaOp::DEF, [sizes]).attr("iota_dimension", along).result(positions)
        } else {
            rw.make(IotaOp::DEF, []).attr("iota_dimension", along).result(positions)
        };
        let zero = super::expr::constant_like(rw, &zero_element, ragged.lhs)?;
        Some(Masks { ragged, lhs, batch, positions, zero, start })
    }

    /// `lhs` masked to the next group.
    fn next(&mut self, rw: &mut Rewriter<'_>, group: i64) -> Option<Value> {
        let size = self.group_size(rw, group)?;
        let start = self.start;
        let limit = rw.make(AddOp::DEF, [start, size]).value()?;
        self.start = limit;
        let leading =
            if self.batch.is_empty() { Vec::new() } else { self.ragged.dims.group_prefix()? };
        let from = self.spread(rw, start, &leading)?;
        let to = self.spread(rw, limit, &leading)?;
        let all: Vec<i64> = (0..self.lhs.rank() as i64).collect();
        let positions = self.spread(rw, self.positions, &all)?;
        let compare = |rw: &mut Rewriter<'_>, other, direction| {
            let compare = rw.make(CompareOp::DEF, [positions, other]);
            compare
                .attr(
                    "comparison_direction",
                    Attribute::enumeration(&COMPARISON_DIRECTION, direction),
                )
                .value()
        };
        let begun = compare(rw, from, GE)?;
        let not_done = compare(rw, to, LT)?;
        let mask = rw.make(AndOp::DEF, [begun, not_done]).value()?;
        rw.make(SelectOp::DEF, [mask, self.ragged.lhs, self.zero]).value()
    }

    /// The sizes of a group as i64, one per batch index.
    fn group_size(&self, rw: &mut Rewriter<'_>, group: i64) -> Option<Value> {
        let sizes = rw.ty(self.ragged.group_sizes).as_tensor()?.clone();
        let slice = group_slice(rw, self.ragged.group_sizes, self.batch.len(), group)?.0;
        let size = rw
            .make(ReshapeOp::DEF, [slice])
            .result(Type::tensor(self.batch.clone(), sizes.element.clone()));
        let wide = Type::tensor(self.batch.clone(), Type::i64());
        Some(if sizes.element == Type::i64() {
            size
        } else {
            rw.make(ConvertOp::DEF, [size]).result(wide)
        })
    }

    /// Broadcasts a value to the shape of `lhs`.
    fn spread(&self, rw: &mut Rewriter<'_>, value: Value, dims: &[i64]) -> Option<Value> {
        let ty = Type::tensor(self.lhs.shape.clone(), Type::i64());
        let broadcast = if self.lhs.has_static_shape() {
            rw.make(BroadcastInDimOp::DEF, [value])
        } else {
            let rank = Type::tensor([self.lhs.rank() as i64], Type::index());
            let extents = rw.make(ShapeOfOp::DEF, [self.ragged.lhs]).result(rank);
            rw.make(DynamicBroadcastInDimOp::DEF, [value, extents])
        };
        Some(broadcast.attr("broadcast_dimensions", Attribute::i64_array(dims)).result(ty))
    }
}

/// `value[.., group..group + 1, ..]`, and its limit indices if they had to be computed.
fn group_slice(
    rw: &mut Rewriter<'_>,
    value: Value,
    dimension: usize,
    group: i64,
) -> Option<(Value, Option<Vec<Value>>)> {
    let ty = rw.ty(value).as_tensor()?.clone();
    let mut start = vec![0; ty.rank()];
    start[dimension] = group;
    let mut limit = ty.shape.clone();
    limit[dimension] = group + 1;
    let strides = vec![1; ty.rank()];
    if ty.has_static_shape() {
        let slice =
            rw.make(SliceOp::DEF, [value]).attr("start_indices", Attribute::i64_array(start));
        let slice = slice.attr("limit_indices", Attribute::i64_array(limit));
        return Some((slice.attr("strides", Attribute::i64_array(strides)).value()?, None));
    }
    let rank = [ty.rank() as i64];
    let mut limits = Vec::with_capacity(ty.rank());
    for d in 0..ty.rank() {
        limits.push(if d == dimension {
            constant(rw, Attribute::i64_elements(&[1], &[group + 1])?)?
        } else {
            let size = dimension_size(rw, value, d)?;
            as_vector(rw, size)
        });
    }
    let start = constant(rw, Attribute::i64_elements(&rank, &start)?)?;
    let limit = concatenate(rw, &limits);
    let strides = constant(rw, Attribute::i64_elements(&rank, &strides)?)?;
    let mut shape = ty.shape.clone();
    shape[dimension] = 1;
    let sliced = Type::tensor(shape, ty.element.clone());
    Some((
        rw.make(RealDynamicSliceOp::DEF, [value, start, limit, strides]).result(sliced),
        Some(limits),
    ))
}

/// `rhs[group]` along a dimension, which is dropped.
fn group_of(rw: &mut Rewriter<'_>, rhs: Value, dimension: usize, group: i64) -> Option<Value> {
    let mut shape = rw.ty(rhs).as_tensor()?.shape.clone();
    shape.remove(dimension);
    let ty = with_element(&Type::tensor(shape, Type::i64()), rw.ty(rhs).element_type().clone());
    let (slice, limits) = group_slice(rw, rhs, dimension, group)?;
    let Some(mut limits) = limits else { return Some(rw.make(ReshapeOp::DEF, [slice]).result(ty)) };
    limits.remove(dimension);
    let sizes = concatenate(rw, &limits);
    Some(rw.make(DynamicReshapeOp::DEF, [slice, sizes]).result(ty))
}
