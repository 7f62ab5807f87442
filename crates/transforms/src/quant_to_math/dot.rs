//! Products of quantized tensors: `dot`, `dot_general` and `convolution`.
//!
//! With stored values q, scales s and zero points z:
//!
//! ```text
//! dot(lhs, rhs) = dot(q_l, q_r) - offset, times s_l s_r
//! offset = z_r sum(q_l) + z_l sum(q_r) - z_l z_r n
//! q = (dot(q_l, q_r) - offset) * combined_scale + z,   combined_scale = s_l s_r / s
//! ```

use super::QuantizedOp;
use super::emit::{Emit, axis};
use hlo::attrs::{ConvDims, DOT_DIMENSION_NUMBERS};
use hlo::compat;
use hlo::ops::*;
use mlir::rewrite::Rewriter;
use mlir::types::{DYNAMIC, TensorType};
use mlir::{Attribute, OpId, OpRef, Type, Value};
use side_dialects::quant::{Granularity, Uniform};

/// Dimension numbers of a product.
struct Dims {
    lhs: OperandDims,
    rhs: OperandDims,
}

/// Dimension numbers of one operand.
#[derive(Default)]
struct OperandDims {
    batching: Vec<i64>,
    spatial: Vec<i64>,
    contracting: Vec<i64>,
}

impl OperandDims {
    /// The dimensions that are summed over: contracting and spatial ones.
    fn summed(&self) -> Vec<i64> {
        [&self.spatial[..], &self.contracting].concat()
    }
}

/// The product of stored values. `None` if the op is no product, or its types are not supported.
pub(crate) fn lower(rw: &mut Rewriter<'_>, op: &QuantizedOp, operands: &[Value]) -> Option<Value> {
    let view = rw.op(op.op);
    if !view.is_any(&[DotOp::DEF, DotGeneralOp::DEF, ConvolutionOp::DEF]) {
        return None;
    }
    let &[lhs, rhs] = operands else { return None };
    match (op.operand(0), op.operand(1)?, op.result()) {
        (None, weights, None) => weights_only(rw, op, lhs, rhs, &weights),
        (Some(left), right, Some(result)) => {
            let fits = left.granularity() == Granularity::PerTensor
                && right.granularity() == result.granularity();
            if !fits || right.granularity() == Granularity::SubChannel {
                return None;
            }
            let dims = dims(view, op, &right, &result)?;
            product(rw, op, [lhs, rhs], [&left, &right, &result], &dims)
        }
        _ => None,
    }
}

/// A float `lhs` with quantized weights: the weights are dequantized.
fn weights_only(
    rw: &mut Rewriter<'_>,
    op: &QuantizedOp,
    lhs: Value,
    rhs: Value,
    weights: &Uniform<'_>,
) -> Option<Value> {
    let ty = op.results.first()?.clone();
    let mut emit = Emit::new(rw);
    // The barrier prevents folding large weights into even larger float constants.
    let rhs = emit.same(OptimizationBarrierOp::DEF, [rhs], rhs);
    let along = axis(weights);
    let scales = emit.f32s(weights, weights.scales())?;
    let zero_points = emit.f32s(weights, weights.zero_points.iter().map(|&z| z as f64))?;
    let mut rhs = emit.convert(rhs, Type::f32());
    if weights.zero_points.iter().any(|&z| z != 0) {
        rhs = emit.broadcast(chlo::BroadcastSubtractOp::DEF, rhs, zero_points, along.as_ref());
    }
    let rhs = emit.broadcast(chlo::BroadcastMultiplyOp::DEF, rhs, scales, along.as_ref());
    let def = rw.op(op.op).def()?;
    Some(rw.make(def, [lhs, rhs]).attributes_of(op.op).result(ty))
}

fn product(
    rw: &mut Rewriter<'_>,
    op: &QuantizedOp,
    [mut lhs, rhs]: [Value; 2],
    [left, right, result]: [&Uniform<'_>; 3],
    dims: &Dims,
) -> Option<Value> {
    let sums = compat::with_element(op.results.first()?, Type::i32());
    let zero_point = |view: &Uniform<'_>| match view.granularity() {
        Granularity::PerTensor => view.zero_points.first().copied().unwrap_or(0),
        // If there are several zero points, all are zero.
        _ => 0,
    };
    let (z_left, z_right) = (zero_point(left), zero_point(right));
    let product = match rw.op(op.op).is(ConvolutionOp::DEF) {
        true => convolution(rw, op.op, &mut lhs, rhs, z_left, &dims.lhs.spatial, &sums)?,
        false => dot_general(rw, op.op, [lhs, rhs], &sums)?,
    };
    let mut emit = Emit::new(rw);
    let mut offset = offset(&mut emit, [lhs, rhs], product, [z_left, z_right], &sums, dims)?;
    let combined = left.scales().next()? * right.scales().next()? / result.scales().next()?;
    let mut product = product;
    if (combined - 1.0).abs() > 0.001 {
        let scale = emit.f32(combined)?;
        product = scaled(&mut emit, product, scale);
        offset = offset.map(|offset| scaled(&mut emit, offset, scale));
    }
    let mut zero_point = emit.i32(zero_point(result))?;
    if let Some(offset) = offset {
        zero_point = emit.make(chlo::BroadcastSubtractOp::DEF, [zero_point, offset]).result(sums);
    }
    let sum = emit.broadcast(chlo::BroadcastAddOp::DEF, product, zero_point, None);
    Some(emit.convert(sum, result.storage.clone()))
}

/// Scales integers by a float, and rounds back to integers.
fn scaled(emit: &mut Emit<'_, '_>, integers: Value, scale: Value) -> Value {
    let floats = emit.convert(integers, Type::f32());
    let floats = emit.broadcast(chlo::BroadcastMultiplyOp::DEF, floats, scale, None);
    emit.convert(floats, Type::i32())
}

fn dot_general(rw: &mut Rewriter<'_>, op: OpId, operands: [Value; 2], ty: &Type) -> Option<Value> {
    let is_dot = rw.op(op).is(DotOp::DEF);
    let mut new = rw.make(DotGeneralOp::DEF, operands).attributes_of(op);
    if is_dot {
        let lists = [vec![], vec![], vec![1], vec![0]]
            .map(|list: Vec<i64>| Some(Attribute::i64_array(list)));
        new = new.attr(
            "dot_dimension_numbers",
            Attribute::dialect(&DOT_DIMENSION_NUMBERS, lists.into()),
        );
    }
    Some(new.result(ty.clone()))
}

/// Convolution of stored values. `lhs` is padded first, since padding has the zero point as its
/// value.
fn convolution(
    rw: &mut Rewriter<'_>,
    op: OpId,
    lhs: &mut Value,
    rhs: Value,
    zero_point: i64,
    spatial: &[i64],
    ty: &Type,
) -> Option<Value> {
    let padding = rw
        .op(op)
        .attr("padding")
        .and_then(|p| p.as_dense()?.int_values())
        .filter(|p| p.iter().any(|&n| n != 0));
    if let Some(padding) = &padding {
        let lhs_ty = rw.ty(*lhs).as_tensor()?;
        let rank = lhs_ty.rank();
        let value = crate::evaluate::scalar(zero_point, &Type::tensor([], lhs_ty.element.clone()))?;
        let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
        for (&d, pair) in spatial.iter().zip(padding.chunks_exact(2)) {
            *low.get_mut(usize::try_from(d).ok()?)? = pair[0];
            *high.get_mut(usize::try_from(d).ok()?)? = pair[1];
        }
        let value = Emit::new(rw).constant(value);
        let pad =
            rw.make(PadOp::DEF, [*lhs, value]).attr("edge_padding_low", Attribute::i64_array(low));
        let pad = pad.attr("edge_padding_high", Attribute::i64_array(high));
        *lhs = pad.attr("interior_padding", Attribute::i64_array(vec![0; rank])).value()?;
    }
    let none =
        padding.and_then(|p| Attribute::i64_elements(&[p.len() as i64 / 2, 2], &vec![0; p.len()]));
    let new = rw
        .make(ConvolutionOp::DEF, [*lhs, rhs])
        .attributes_of(op)
        .optional_attr("padding", none.as_ref());
    Some(new.result(ty.clone()))
}

/// `z_r sum(q_l) + z_l sum(q_r) - z_l z_r n`, or `None` if that is zero.
fn offset(
    emit: &mut Emit<'_, '_>,
    [lhs, rhs]: [Value; 2],
    product: Value,
    [z_left, z_right]: [i64; 2],
    sums: &Type,
    dims: &Dims,
) -> Option<Option<Value>> {
    let mut total: Option<Value> = None;
    let mut sizes: Option<Value> = None;
    let rank = emit.ty(lhs).shape()?.len();
    // Result dimensions: batching ones first, then the others of lhs, then of rhs.
    let first_of_rhs = match dims.lhs.spatial.is_empty() || dims.rhs.spatial.is_empty() {
        true => (rank - dims.lhs.contracting.len()) as i64,
        false => *dims.lhs.contracting.first()?,
    };
    let first_of_lhs = dims.lhs.batching.len() as i64;
    for (value, zero_point, side, first) in
        [(lhs, z_right, &dims.lhs, first_of_lhs), (rhs, z_left, &dims.rhs, first_of_rhs)]
    {
        if zero_point == 0 {
            continue;
        }
        let summed = side.summed();
        let part = sum(emit, value, &summed)?;
        let factor = emit.i32(zero_point)?;
        let part = emit.broadcast(chlo::BroadcastMultiplyOp::DEF, part, factor, None);
        let part = to_result(emit, part, &summed, side, first, product, sums, &mut sizes)?;
        total = Some(match total {
            Some(total) => emit.same(AddOp::DEF, [total, part], total),
            None => part,
        });
    }
    let Some(total) = total.filter(|_| z_left != 0 && z_right != 0) else { return Some(total) };
    let count = summed_elements(emit, rhs, &dims.rhs.summed(), z_left.wrapping_mul(z_right))?;
    Some(Some(emit.broadcast(chlo::BroadcastSubtractOp::DEF, total, count, None)))
}

/// `factor` times the number of elements that are summed over.
fn summed_elements(
    emit: &mut Emit<'_, '_>,
    value: Value,
    summed: &[i64],
    factor: i64,
) -> Option<Value> {
    let shape = emit.ty(value).shape()?.to_vec();
    let mut known = factor;
    let mut unknown: Option<Value> = None;
    for &d in summed {
        match *shape.get(usize::try_from(d).ok()?)? {
            DYNAMIC => {
                let one = match unknown {
                    Some(product) => product,
                    None => emit.i32(1)?,
                };
                let size = emit
                    .make(GetDimensionSizeOp::DEF, [value])
                    .attr("dimension", Attribute::i64(d));
                let size = size.result(Type::tensor([], Type::i32()));
                unknown = Some(emit.same(MultiplyOp::DEF, [one, size], one));
            }
            size => known = known.wrapping_mul(size),
        }
    }
    let known = emit.i32(known)?;
    Some(match unknown {
        Some(unknown) => emit.same(MultiplyOp::DEF, [known, unknown], known),
        None => known,
    })
}

/// Sums integers along dimensions.
fn sum(emit: &mut Emit<'_, '_>, value: Value, dimensions: &[i64]) -> Option<Value> {
    let sizes = (0i64..)
        .zip(emit.ty(value).shape()?)
        .filter(|(d, _)| !dimensions.contains(d))
        .map(|(_, &size)| size);
    let ty = Type::tensor(sizes.collect::<Vec<i64>>(), Type::i32());
    let integers = emit.convert(value, Type::i32());
    let zero = emit.i32(0)?;
    let rw = emit.rewriter();
    let scalar = Type::tensor([], Type::i32());
    let (region, block) = rw.region_with_block([scalar.clone(), scalar.clone()]);
    let arguments = rw.arguments(block).to_vec();
    rw.within(block, |rw| {
        let sum = rw.make(AddOp::DEF, arguments).result(scalar);
        rw.make(ReturnOp::DEF, [sum]).results([]);
    });
    let reduce = rw
        .make(ReduceOp::DEF, [integers, zero])
        .attr("dimensions", Attribute::i64_array(dimensions));
    Some(reduce.region(region).result(ty))
}

/// Broadcasts a summed operand to the result: its batching dimensions map to the leading ones, the
/// others follow from `first` on.
#[allow(clippy::too_many_arguments, reason = "distinct parameters of the product")]
fn to_result(
    emit: &mut Emit<'_, '_>,
    part: Value,
    summed: &[i64],
    side: &OperandDims,
    first: i64,
    product: Value,
    ty: &Type,
    sizes: &mut Option<Value>,
) -> Option<Value> {
    let rank = emit.ty(part).shape()?.len();
    let (mut batch, mut free) = (0, first);
    let left = (0i64..).filter(|d| !summed.contains(d)).take(rank);
    let place = |d: i64| {
        let next = if side.batching.contains(&d) { &mut batch } else { &mut free };
        *next += 1;
        *next - 1
    };
    let along = Attribute::i64_array(left.map(place).collect::<Vec<i64>>());
    if ty.as_tensor().is_some_and(TensorType::has_static_shape) {
        let new = emit.make(BroadcastInDimOp::DEF, [part]).attr("broadcast_dimensions", along);
        return Some(new.result(ty.clone()));
    }
    let sizes = match *sizes {
        Some(sizes) => sizes,
        None => *sizes.insert(result_sizes(emit, product, ty)?),
    };
    let new =
        emit.make(DynamicBroadcastInDimOp::DEF, [part, sizes]).attr("broadcast_dimensions", along);
    Some(new.result(ty.clone()))
}

/// The sizes of a value as a vector.
fn result_sizes(emit: &mut Emit<'_, '_>, value: Value, ty: &Type) -> Option<Value> {
    let one = Type::tensor([1], Type::i64());
    let mut sizes = Vec::new();
    for (d, &size) in (0i64..).zip(ty.shape()?) {
        sizes.push(match size {
            DYNAMIC => {
                let size = emit
                    .make(GetDimensionSizeOp::DEF, [value])
                    .attr("dimension", Attribute::i64(d));
                let size = size.result(Type::tensor([], Type::i32()));
                let size = emit.convert(size, Type::i64());
                emit.make(ReshapeOp::DEF, [size]).result(one.clone())
            }
            size => emit.constant(Attribute::i64_elements(&[1], &[size])?),
        });
    }
    emit.make(ConcatenateOp::DEF, sizes).attr("dimension", Attribute::i64(0)).value()
}

fn dims(
    op: OpRef<'_>,
    quantized: &QuantizedOp,
    right: &Uniform<'_>,
    result: &Uniform<'_>,
) -> Option<Dims> {
    if op.is(DotOp::DEF) {
        let side = |d| OperandDims { contracting: vec![d], ..OperandDims::default() };
        return Some(Dims { lhs: side(1), rhs: side(0) });
    }
    if op.is(DotGeneralOp::DEF) {
        let dims = DotGeneralOp(op).dot_dimension_numbers();
        let side = |batching: &[i64], contracting: &[i64]| OperandDims {
            batching: batching.to_vec(),
            contracting: contracting.to_vec(),
            ..OperandDims::default()
        };
        return Some(Dims {
            lhs: side(dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions),
            rhs: side(dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions),
        });
    }
    if !convolution_fits(op, quantized, right, result) {
        return None;
    }
    let dims = ConvolutionOp(op).dimension_numbers();
    let layout = LAYOUTS.iter().find(|layout| layout.is(&dims))?;
    let n = dims.input_spatial_dimensions.len() as i64;
    let spatial = |first: i64| (first..first + n).collect();
    Some(Dims {
        lhs: OperandDims {
            batching: vec![0],
            spatial: spatial(layout.input_spatial),
            contracting: vec![layout.input_feature(n)],
        },
        rhs: OperandDims {
            batching: vec![],
            spatial: spatial(layout.kernel_spatial),
            contracting: vec![layout.kernel_contracting(n)],
        },
    })
}

/// True if the zero points of the weights are 0, and the combined scale is the same for all
/// channels.
fn convolution_fits(
    op: OpRef<'_>,
    quantized: &QuantizedOp,
    right: &Uniform<'_>,
    result: &Uniform<'_>,
) -> bool {
    if right.zero_points.iter().any(|&z| z != 0)
        || ConvolutionOp(op).lhs_dilation().unwrap_or(&[]).iter().any(|&d| d != 1)
    {
        return false;
    }
    if right.granularity() == Granularity::PerTensor {
        return true;
    }
    let last =
        quantized.operands.get(1).and_then(|ty| ty.shape()).map_or(0, <[i64]>::len) as i64 - 1;
    let ratios: Vec<f64> = result.scales().zip(right.scales()).map(|(a, b)| a / b).collect();
    let even = |ratio: &f64| ((ratio - ratios[0]) / ratios[0]).abs() <= 0.001;
    right.axes == [last] && result.zero_points.iter().all(|&z| z == 0) && ratios.iter().all(even)
}

/// The dimension numbers of a convolution. Batch comes first, and result and input agree.
struct Layout {
    rank: i64,
    /// True if features come last.
    features_last: bool,
    input_spatial: i64,
    kernel_spatial: i64,
    /// The input and output feature dimension of the kernel.
    kernel: [i64; 2],
}

/// The layouts that are lowered; others use the float fallback. Source: upstream, which takes `oi`
/// for `io` in the last.
static LAYOUTS: [Layout; 4] = [
    Layout { rank: 4, features_last: true, input_spatial: 1, kernel_spatial: 0, kernel: [2, 3] },
    Layout { rank: 4, features_last: false, input_spatial: 2, kernel_spatial: 2, kernel: [1, 0] },
    Layout { rank: 5, features_last: true, input_spatial: 1, kernel_spatial: 0, kernel: [3, 4] },
    Layout { rank: 5, features_last: false, input_spatial: 2, kernel_spatial: 2, kernel: [0, 1] },
];

impl Layout {
    fn input_feature(&self, spatial: i64) -> i64 {
        if self.features_last { spatial + 1 } else { 1 }
    }

    fn kernel_contracting(&self, spatial: i64) -> i64 {
        if self.features_last { spatial } else { 1 }
    }

    fn is(&self, dims: &ConvDims<'_>) -> bool {
        let n = self.rank - 2;
        let spatial = |list: &[i64], first: i64| list.iter().copied().eq(first..first + n);
        let feature = self.input_feature(n);
        (dims.input_batch_dimension, dims.input_feature_dimension) == (0, feature)
            && (dims.output_batch_dimension, dims.output_feature_dimension) == (0, feature)
            && [dims.kernel_input_feature_dimension, dims.kernel_output_feature_dimension]
                == self.kernel
            && spatial(dims.input_spatial_dimensions, self.input_spatial)
            && spatial(dims.output_spatial_dimensions, self.input_spatial)
            && spatial(dims.kernel_spatial_dimensions, self.kernel_spatial)
    }
}
