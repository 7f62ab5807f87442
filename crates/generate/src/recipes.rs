//! Recipes for the ops that declarations alone do not determine: their attributes, regions and
//! operand shapes.

use crate::{ProgramGenerator, Recipe, several};
use hlo::attrs::{
    CONV_DIMENSION_NUMBERS, DOT_DIMENSION_NUMBERS, GATHER_DIMENSION_NUMBERS,
    SCATTER_DIMENSION_NUMBERS,
};
use hlo::enums::{COMPARISON_DIRECTION, FFT_TYPE, RNG_ALGORITHM};
use hlo::ops::*;
use mlir::ods::{Arity, OpDef, Presence, Trait};
use mlir::{Attribute, RegionId, Type, TypeKind, Value};
use numerics::{DType, Tensor, math};

/// All recipes except [`several`]. `elementwise` is repeated for weight, as it covers many ops.
const RECIPES: &[Recipe] = &[
    elementwise,
    elementwise,
    elementwise,
    elementwise,
    elementwise,
    elementwise,
    elementwise,
    elementwise,
    bitcast,
    broadcast_in_dim,
    case,
    clamp,
    compare,
    concatenate,
    convert,
    convolution,
    dot_general,
    dynamic_slice,
    dynamic_update_slice,
    fft,
    gather,
    get_dimension_size,
    if_else,
    iota,
    map,
    pad,
    reduce,
    reduce_precision,
    reduce_window,
    reshape,
    reverse,
    rng_bit_generator,
    scatter,
    select,
    select_and_scatter,
    slice,
    sort,
    transpose,
    while_loop,
];

/// Appends one random op. Does nothing if the chosen recipe does not apply.
pub(crate) fn step(g: &mut ProgramGenerator) {
    let list = if g.random.one_in(7) { several::RECIPES } else { RECIPES };
    let recipe = *g.random.choose(list);
    let _ = recipe(g);
}

fn i64s(values: impl IntoIterator<Item = i64>) -> Attribute {
    Attribute::i64_array(values.into_iter().collect::<Vec<_>>())
}

pub(crate) fn usizes(values: &[usize]) -> Attribute {
    i64s(values.iter().map(|&v| v as i64))
}

/// A tensor type of the given shape and element type.
pub(crate) fn shaped(shape: Vec<i64>, dtype: DType) -> Type {
    Type::tensor(shape, dtype.into())
}

/// Elementwise ops of the dialect that need nothing but operands of one type.
fn elementwise_ops() -> impl Iterator<Item = &'static OpDef> {
    hlo::STABLEHLO.ops.iter().copied().filter(|def| {
        let plain = def.operands.iter().all(|slot| matches!(slot.arity, Arity::Single))
            && !def.operands.is_empty();
        let optional = def.attributes.iter().all(|slot| slot.presence != Presence::Required);
        def.has_trait(&Trait::Elementwise)
            && plain
            && optional
            && def.infer.is_some()
            && def.regions.is_empty()
    })
}

fn elementwise(g: &mut ProgramGenerator) -> Option<()> {
    let ops: Vec<&'static OpDef> = elementwise_ops().collect();
    let def = *g.random.choose(&ops);
    // The specification leaves the remainder of complex numbers undefined.
    let open = |ty: &Type| {
        def.mnemonic() == "remainder" && matches!(**ty.element_type(), TypeKind::Complex(_))
    };
    let takes = |ty: &Type| def.operands.iter().all(|slot| slot.constraint.holds(ty)) && !open(ty);
    let first = g.any(takes)?;
    let ty = g.module.ty(first).clone();
    let operands: Vec<Value> =
        (0..def.operands.len()).map(|i| if i == 0 { first } else { g.value(&ty) }).collect();
    g.push(def, &operands, &[], Vec::new(), None)
}

pub(crate) fn any(g: &mut ProgramGenerator, least_rank: usize) -> Option<(Value, Vec<i64>, DType)> {
    let value = g.any(|ty| ty.shape().is_some_and(|s| s.len() >= least_rank))?;
    let (shape, dtype) = g.of(value);
    Some((value, shape, dtype))
}

/// A value of rank at least `least_rank` without dimensions of size 0.
pub(crate) fn any_full(
    g: &mut ProgramGenerator,
    least_rank: usize,
) -> Option<(Value, Vec<i64>, DType)> {
    any(g, least_rank).filter(|(_, shape, _)| !shape.contains(&0))
}

fn convert(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, from) = any(g, 0)?;
    let to = g.dtype(|to| from.is_complex() == to.is_complex())?;
    // Converting an out-of-range float to an integer is undefined.
    if (from.is_float() && to.is_integer()) || to == DType::I1 && from.is_float() {
        return None;
    }
    g.push(ConvertOp::DEF, &[value], &[], Vec::new(), Some(vec![shaped(shape, to)]))
}

fn bitcast(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, from) = any(g, 0)?;
    let same = |to: DType| to.bits() == from.bits() && to != DType::I1 && from != DType::I1;
    let to = g.dtype(|to| same(to) && to.is_complex() == from.is_complex())?;
    g.push(BitcastConvertOp::DEF, &[value], &[], Vec::new(), Some(vec![shaped(shape, to)]))
}

fn compare(g: &mut ProgramGenerator) -> Option<()> {
    let (lhs, _, dtype) = any(g, 0)?;
    let ty = g.module.ty(lhs).clone();
    let rhs = g.value(&ty);
    let direction = g.random.below(if dtype.is_complex() { 2 } else { 6 }) as u64;
    let attrs =
        [("comparison_direction", Attribute::enumeration(&COMPARISON_DIRECTION, direction))];
    g.push(CompareOp::DEF, &[lhs, rhs], &attrs, Vec::new(), None)
}

fn select(g: &mut ProgramGenerator) -> Option<()> {
    let (on_true, shape, _) = any(g, 0)?;
    let ty = g.module.ty(on_true).clone();
    let scalar = g.random.one_in(4);
    let pred = g.value(&shaped(if scalar { Vec::new() } else { shape }, DType::I1));
    let on_false = g.value(&ty);
    g.push(SelectOp::DEF, &[pred, on_true, on_false], &[], Vec::new(), None)
}

fn clamp(g: &mut ProgramGenerator) -> Option<()> {
    let (operand, shape, dtype) = any(g, 0)?;
    if dtype.is_complex() {
        return None;
    }
    let bound = shaped(if g.random.one_in(2) { Vec::new() } else { shape }, dtype);
    let (min, max) = (g.value(&bound), g.value(&bound));
    g.push(ClampOp::DEF, &[min, operand, max], &[], Vec::new(), None)
}

fn reduce_precision(g: &mut ProgramGenerator) -> Option<()> {
    let value = g.any(|ty| ty.element_type().is_float())?;
    let bits =
        |g: &mut ProgramGenerator, low, high| Attribute::i32(g.random.between(low, high) as i32);
    let attrs = [("exponent_bits", bits(g, 2, 11)), ("mantissa_bits", bits(g, 1, 20))];
    g.push(ReducePrecisionOp::DEF, &[value], &attrs, Vec::new(), None)
}

fn iota(g: &mut ProgramGenerator) -> Option<()> {
    let dtype = g.dtype(|dtype| dtype != DType::I1)?;
    let rank = g.random.between(1, 3) as usize;
    let attrs = [("iota_dimension", Attribute::i64(g.random.below(rank) as i64))];
    let ty = shaped(g.shape(rank), dtype);
    g.push(IotaOp::DEF, &[], &attrs, Vec::new(), Some(vec![ty]))
}

fn broadcast_in_dim(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any(g, 0)?;
    let rank = shape.len() + g.random.below(3);
    // Any distinct dimensions of the result, in any order.
    let dimensions: Vec<usize> = g.random.permutation(rank).into_iter().take(shape.len()).collect();
    let mut result = g.shape(rank);
    for (&dimension, &size) in dimensions.iter().zip(&shape) {
        if size != 1 || g.random.one_in(2) {
            result[dimension] = size;
        }
    }
    let attrs = [("broadcast_dimensions", usizes(&dimensions))];
    g.push(BroadcastInDimOp::DEF, &[value], &attrs, Vec::new(), Some(vec![shaped(result, dtype)]))
}

fn reshape(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any(g, 0)?;
    let mut rest: i64 = shape.iter().product();
    let mut result = Vec::new();
    while rest > 1 && result.len() < 3 {
        let divisors: Vec<i64> = (1..=rest).filter(|d| rest % d == 0).collect();
        let size = *g.random.choose(&divisors);
        result.push(size);
        rest /= size;
    }
    if rest != 1 || g.random.one_in(3) {
        result.push(rest);
    }
    g.push(ReshapeOp::DEF, &[value], &[], Vec::new(), Some(vec![shaped(result, dtype)]))
}

fn transpose(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, _) = any(g, 1)?;
    let permutation = g.random.permutation(shape.len());
    g.push(TransposeOp::DEF, &[value], &[("permutation", usizes(&permutation))], Vec::new(), None)
}

/// A random subset of the dimensions below `rank`, in order.
fn some_dimensions(g: &mut ProgramGenerator, rank: usize) -> Vec<usize> {
    (0..rank).filter(|_| g.random.one_in(2)).collect()
}

fn reverse(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, _) = any(g, 1)?;
    let dimensions = some_dimensions(g, shape.len());
    g.push(ReverseOp::DEF, &[value], &[("dimensions", usizes(&dimensions))], Vec::new(), None)
}

fn slice(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, _) = any(g, 1)?;
    let starts: Vec<i64> = shape.iter().map(|&size| g.random.between(0, size)).collect();
    let limits: Vec<i64> =
        starts.iter().zip(&shape).map(|(&start, &size)| g.random.between(start, size)).collect();
    let strides: Vec<i64> = shape.iter().map(|_| g.random.between(1, 3)).collect();
    let attrs = [
        ("start_indices", i64s(starts)),
        ("limit_indices", i64s(limits)),
        ("strides", i64s(strides)),
    ];
    g.push(SliceOp::DEF, &[value], &attrs, Vec::new(), None)
}

fn pad(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any(g, 1)?;
    let padding = g.value(&shaped(Vec::new(), dtype));
    let mut edge = |low, high| -> Attribute {
        i64s(shape.iter().map(|_| g.random.between(low, high)).collect::<Vec<_>>())
    };
    let attrs = [
        ("edge_padding_low", edge(-1, 3)),
        ("edge_padding_high", edge(-1, 3)),
        ("interior_padding", edge(0, 2)),
    ];
    g.push(PadOp::DEF, &[value, padding], &attrs, Vec::new(), None)
}

fn concatenate(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any(g, 1)?;
    let dimension = g.random.below(shape.len());
    let mut operands = vec![value];
    for _ in 0..g.random.below(3) {
        let mut other = shape.clone();
        other[dimension] = g.random.between(0, 4);
        operands.push(g.value(&shaped(other, dtype)));
    }
    let attrs = [("dimension", Attribute::i64(dimension as i64))];
    g.push(ConcatenateOp::DEF, &operands, &attrs, Vec::new(), None)
}

/// Start indices of one integer type, one per dimension.
fn starts(g: &mut ProgramGenerator, rank: usize) -> Option<Vec<Value>> {
    let dtype = g.dtype(|dtype| dtype.is_integer())?;
    Some((0..rank).map(|_| g.value(&shaped(Vec::new(), dtype))).collect())
}

fn dynamic_slice(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, _) = any(g, 1)?;
    let sizes: Vec<i64> = shape.iter().map(|&size| g.random.between(0, size)).collect();
    let mut operands = vec![value];
    operands.extend(starts(g, shape.len())?);
    g.push(DynamicSliceOp::DEF, &operands, &[("slice_sizes", i64s(sizes))], Vec::new(), None)
}

fn dynamic_update_slice(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any(g, 1)?;
    let sizes: Vec<i64> = shape.iter().map(|&size| g.random.between(0, size)).collect();
    let update = g.value(&shaped(sizes, dtype));
    let mut operands = vec![value, update];
    operands.extend(starts(g, shape.len())?);
    g.push(DynamicUpdateSliceOp::DEF, &operands, &[], Vec::new(), None)
}

/// A commutative, associative op for the given element type.
fn combiner(g: &mut ProgramGenerator, dtype: DType) -> &'static OpDef {
    let ordered: [&'static OpDef; 3] = [MaximumOp::DEF, MinimumOp::DEF, AddOp::DEF];
    let bits: [&'static OpDef; 4] = [AndOp::DEF, OrOp::DEF, XorOp::DEF, MultiplyOp::DEF];
    match dtype {
        _ if dtype.is_complex() => AddOp::DEF,
        _ if dtype.is_float() || g.random.one_in(2) => g.random.choose::<&OpDef>(&ordered),
        _ => g.random.choose::<&OpDef>(&bits),
    }
}

/// A region that combines two scalars.
fn combining(g: &mut ProgramGenerator, dtype: DType) -> Option<RegionId> {
    let def = combiner(g, dtype);
    region_of(g, def, dtype)
}

fn region_of(g: &mut ProgramGenerator, def: &'static OpDef, dtype: DType) -> Option<RegionId> {
    let scalar = shaped(Vec::new(), dtype);
    g.region(&[scalar.clone(), scalar], |g, block, values| {
        Some(vec![g.inner(block, def, values, &[], None)?])
    })
}

/// A region that combines two scalars, and its identity value: the implementation may apply the
/// initial value any number of times.
fn reducing(g: &mut ProgramGenerator, dtype: DType) -> Option<(RegionId, Value)> {
    let def = combiner(g, dtype);
    let body = region_of(g, def, dtype)?;
    let (low, high) = match dtype {
        _ if dtype.is_float() => (f64::NEG_INFINITY, f64::INFINITY),
        DType::I1 => (0.0, 1.0),
        _ if dtype.is_unsigned() => (0.0, 2f64.powi(dtype.bits() as i32)),
        _ => (-(2f64.powi(dtype.bits() as i32 - 1)), 2f64.powi(dtype.bits() as i32 - 1)),
    };
    let neutral = match def.mnemonic() {
        "maximum" => Tensor::scalar(low),
        "minimum" => Tensor::scalar(high),
        "multiply" => Tensor::scalar(1.0),
        // The identity of `and` has all bits set; a boolean has one.
        "and" if dtype == DType::I1 => Tensor::scalar(1.0),
        "and" => {
            return Some((body, g.constant(&math::convert(Tensor::scalar(-1i64), dtype).ok()?)?));
        }
        _ => Tensor::scalar(0.0),
    };
    // Conversion saturates at the limits of integer types.
    let init = g.constant(&math::convert(neutral, dtype).ok()?)?;
    Some((body, init))
}

/// A region that compares the first of pairs of scalars.
pub(crate) fn comparing(
    g: &mut ProgramGenerator,
    dtypes: &[DType],
    direction: u64,
) -> Option<RegionId> {
    let pairs: Vec<Type> = dtypes
        .iter()
        .flat_map(|&dtype| [dtype; 2])
        .map(|dtype| shaped(Vec::new(), dtype))
        .collect();
    let attrs =
        [("comparison_direction", Attribute::enumeration(&COMPARISON_DIRECTION, direction))];
    g.region(&pairs, |g, block, values| {
        Some(vec![g.inner(block, CompareOp::DEF, &values[..2], &attrs, None)?])
    })
}

fn reduce(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any(g, 1)?;
    let dimensions = some_dimensions(g, shape.len());
    let (body, init) = reducing(g, dtype)?;
    g.push(ReduceOp::DEF, &[value, init], &[("dimensions", usizes(&dimensions))], vec![body], None)
}

/// A matrix of integers with two columns.
fn pairs(values: &[i64]) -> Option<Attribute> {
    Attribute::i64_elements(&[values.len() as i64 / 2, 2], values)
}

fn reduce_window(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any(g, 1)?;
    let rank = shape.len();
    let (body, init) = reducing(g, dtype)?;
    let mut list = |low, high| -> Attribute {
        i64s((0..rank).map(|_| g.random.between(low, high)).collect::<Vec<_>>())
    };
    let attrs = [
        ("window_dimensions", list(1, 3)),
        ("window_strides", list(1, 2)),
        ("base_dilations", list(1, 2)),
        ("window_dilations", list(1, 2)),
    ];
    let padding: Vec<i64> = (0..2 * rank).map(|_| g.random.between(0, 2)).collect();
    let attrs = [&attrs[..], &[("padding", pairs(&padding)?)]].concat();
    g.push(ReduceWindowOp::DEF, &[value, init], &attrs, vec![body], None)
}

fn select_and_scatter(g: &mut ProgramGenerator) -> Option<()> {
    let (operand, shape, dtype) = any_full(g, 1)?;
    if dtype.is_complex() {
        return None;
    }
    let windows: Vec<i64> = shape.iter().map(|&size| g.random.between(1, size.min(3))).collect();
    let strides: Vec<i64> = shape.iter().map(|_| g.random.between(1, 2)).collect();
    let count = |((&size, &window), &stride): ((&i64, &i64), &i64)| (size - window) / stride + 1;
    let sizes: Vec<i64> = shape.iter().zip(&windows).zip(&strides).map(count).collect();
    let source = g.value(&shaped(sizes, dtype));
    let chosen = comparing(g, &[dtype], 2)?;
    let (body, init) = reducing(g, dtype)?;
    let attrs = [("window_dimensions", i64s(windows)), ("window_strides", i64s(strides))];
    let result = Some(vec![shaped(shape, dtype)]);
    g.push(SelectAndScatterOp::DEF, &[operand, source, init], &attrs, vec![chosen, body], result)
}

fn sort(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any(g, 1)?;
    if dtype.is_complex() {
        return None;
    }
    let mut operands = vec![value];
    let mut dtypes = vec![dtype];
    if g.random.one_in(2) {
        let other = g.dtype(|_| true)?;
        operands.push(g.value(&shaped(shape.clone(), other)));
        dtypes.push(other);
    }
    let direction = *g.random.choose(&[3, 5]);
    let comparator = comparing(g, &dtypes, direction)?;
    let dimension = g.random.below(shape.len()) as i64;
    let attrs = [("dimension", Attribute::i64(dimension)), ("is_stable", Attribute::bool(true))];
    let types = dtypes.iter().map(|&dtype| shaped(shape.clone(), dtype)).collect();
    g.push(SortOp::DEF, &operands, &attrs, vec![comparator], Some(types))
}

fn dot_general(g: &mut ProgramGenerator) -> Option<()> {
    let (lhs, shape, dtype) = any(g, 1)?;
    // Each dimension of `lhs` is a batch, contracting or free dimension.
    let kinds: Vec<usize> = shape.iter().map(|_| g.random.below(3)).collect();
    let of = |kind: usize| (0..shape.len()).filter(|&d| kinds[d] == kind).collect::<Vec<_>>();
    let (batch, contracted) = (of(0), of(1));
    let free = g.random.below(3);
    let mut sizes: Vec<i64> = batch.iter().chain(&contracted).map(|&d| shape[d]).collect();
    sizes.extend(g.shape(free));
    // `rhs` has them in any order.
    let order = g.random.permutation(sizes.len());
    let place = |i: usize| order.iter().position(|&o| o == i).unwrap_or(i);
    let rhs_batch: Vec<usize> = (0..batch.len()).map(place).collect();
    let rhs_contracted: Vec<usize> =
        (batch.len()..batch.len() + contracted.len()).map(place).collect();
    let rhs = g.value(&shaped(order.iter().map(|&i| sizes[i]).collect(), dtype));
    let lists = [&batch, &rhs_batch, &contracted, &rhs_contracted].map(|list| Some(usizes(list)));
    let attrs =
        [("dot_dimension_numbers", Attribute::dialect(&DOT_DIMENSION_NUMBERS, lists.to_vec()))];
    let mut result: Vec<i64> = batch.iter().chain(&of(2)).map(|&d| shape[d]).collect();
    result
        .extend(order.iter().filter(|&&i| i >= batch.len() + contracted.len()).map(|&i| sizes[i]));
    g.push(DotGeneralOp::DEF, &[lhs, rhs], &attrs, Vec::new(), Some(vec![shaped(result, dtype)]))
}

fn convolution(g: &mut ProgramGenerator) -> Option<()> {
    let dtype = g.dtype(|dtype| dtype != DType::I1)?;
    let spatial = g.random.between(1, 2) as usize;
    let (groups, per_group, outputs) =
        (g.random.between(1, 2), g.random.between(1, 3), g.random.between(1, 2));
    let batch = g.random.between(1, 3);
    let rank = spatial + 2;
    let sizes: Vec<i64> = (0..spatial).map(|_| g.random.between(2, 5)).collect();
    let windows: Vec<i64> = (0..spatial).map(|_| g.random.between(1, 3)).collect();
    // Dimensions may be in any order; here, batch (or kernel input features) comes first, then
    // features, then spatial dimensions.
    let mut arranged = |front: [i64; 2], rest: &[i64]| {
        let places = g.random.permutation(rank);
        let mut shape = vec![0; rank];
        front.iter().chain(rest).zip(&places).for_each(|(&size, &place)| shape[place] = size);
        (shape, places)
    };
    let (lhs_shape, lhs_places) = arranged([batch, groups * per_group], &sizes);
    let (rhs_shape, rhs_places) = arranged([per_group, groups * outputs], &windows);
    let (_, result_places) = arranged([0, 0], &sizes);
    let mut list =
        |low, high| -> Vec<i64> { (0..spatial).map(|_| g.random.between(low, high)).collect() };
    let (strides, lhs_dilation, rhs_dilation) = (list(1, 2), list(1, 2), list(1, 2));
    let padding: Vec<i64> = (0..2 * spatial).map(|_| g.random.between(0, 2)).collect();
    let reversal: Vec<bool> = (0..spatial).map(|_| g.random.one_in(2)).collect();
    let mut result = vec![0; rank];
    result[result_places[0]] = batch;
    result[result_places[1]] = groups * outputs;
    for d in 0..spatial {
        let dilated = (sizes[d] - 1) * lhs_dilation[d] + 1 + padding[2 * d] + padding[2 * d + 1];
        let window = (windows[d] - 1) * rhs_dilation[d] + 1;
        result[result_places[2 + d]] =
            if dilated < window { 0 } else { (dilated - window) / strides[d] + 1 };
    }
    let number = |place: usize| Some(Attribute::i64(place as i64));
    let space = |places: &[usize]| Some(usizes(&places[2..]));
    let numbers = vec![
        number(lhs_places[0]),
        number(lhs_places[1]),
        space(&lhs_places),
        number(rhs_places[0]),
        number(rhs_places[1]),
        space(&rhs_places),
        number(result_places[0]),
        number(result_places[1]),
        space(&result_places),
    ];
    let attrs = [
        ("window_strides", i64s(strides)),
        ("padding", pairs(&padding)?),
        ("lhs_dilation", i64s(lhs_dilation)),
        ("rhs_dilation", i64s(rhs_dilation)),
        ("window_reversal", Attribute::bool_array(reversal)),
        ("dimension_numbers", Attribute::dialect(&CONV_DIMENSION_NUMBERS, numbers)),
        ("feature_group_count", Attribute::i64(groups)),
        ("batch_group_count", Attribute::i64(1)),
    ];
    let (lhs, rhs) = (g.value(&shaped(lhs_shape, dtype)), g.value(&shaped(rhs_shape, dtype)));
    g.push(ConvolutionOp::DEF, &[lhs, rhs], &attrs, Vec::new(), Some(vec![shaped(result, dtype)]))
}

/// The dimensions of an operand that slices collapse, and the slice sizes: 1 along collapsed
/// dimensions.
fn slicing(g: &mut ProgramGenerator, shape: &[i64]) -> (Vec<usize>, Vec<i64>) {
    let collapsed = some_dimensions(g, shape.len());
    let size = |(d, &size): (usize, &i64)| {
        if collapsed.contains(&d) { 1 } else { g.random.between(0, size) }
    };
    let sizes = shape.iter().enumerate().map(size).collect();
    (collapsed, sizes)
}

/// An index tensor of random shape, with the index vectors along some dimension, or along none if
/// there is a single index.
fn index_vectors(g: &mut ProgramGenerator, count: usize) -> Option<(Value, Vec<i64>, i64)> {
    let rank = g.random.below(3);
    let batch = g.shape(rank);
    let along = if count == 1 && g.random.one_in(2) {
        batch.len()
    } else {
        g.random.below(batch.len() + 1)
    };
    let mut shape = batch.clone();
    if count != 1 || along != batch.len() || g.random.one_in(2) {
        shape.insert(along, count as i64);
    }
    let dtype = g.dtype(|dtype| dtype.is_integer())?;
    Some((g.value(&shaped(shape, dtype)), batch, along as i64))
}

fn gather(g: &mut ProgramGenerator) -> Option<()> {
    let (operand, shape, _) = any_full(g, 1)?;
    let (collapsed, sizes) = slicing(g, &shape);
    let count = g.random.between(1, shape.len() as i64) as usize;
    let map: Vec<usize> = g.random.permutation(shape.len()).into_iter().take(count).collect();
    let (indices, batch, index_vector_dim) = index_vectors(g, map.len())?;
    // Slice dimensions may be anywhere among the batch dimensions.
    let offsets = shape.len() - collapsed.len();
    let mut places = g.random.permutation(batch.len() + offsets);
    places.truncate(offsets);
    places.sort_unstable();
    let numbers = vec![
        Some(usizes(&places)),
        Some(usizes(&collapsed)),
        Some(usizes(&[])),
        Some(usizes(&[])),
        Some(usizes(&map)),
        Some(Attribute::i64(index_vector_dim)),
    ];
    let attrs = [
        ("dimension_numbers", Attribute::dialect(&GATHER_DIMENSION_NUMBERS, numbers)),
        ("slice_sizes", i64s(sizes)),
    ];
    g.push(GatherOp::DEF, &[operand, indices], &attrs, Vec::new(), None)
}

fn scatter(g: &mut ProgramGenerator) -> Option<()> {
    let (operand, shape, dtype) = any_full(g, 1)?;
    let (inserted, sizes) = slicing(g, &shape);
    let count = g.random.between(1, shape.len() as i64) as usize;
    let map: Vec<usize> = g.random.permutation(shape.len()).into_iter().take(count).collect();
    let (indices, batch, index_vector_dim) = index_vectors(g, map.len())?;
    let window: Vec<i64> =
        (0..shape.len()).filter(|d| !inserted.contains(d)).map(|d| sizes[d]).collect();
    let mut places = g.random.permutation(batch.len() + window.len());
    places.truncate(window.len());
    places.sort_unstable();
    let mut updates = batch;
    for (&place, &size) in places.iter().zip(&window) {
        updates.insert(place, size);
    }
    let updates = g.value(&shaped(updates, dtype));
    let body = combining(g, dtype)?;
    let numbers = vec![
        Some(usizes(&places)),
        Some(usizes(&inserted)),
        Some(usizes(&[])),
        Some(usizes(&[])),
        Some(usizes(&map)),
        Some(Attribute::i64(index_vector_dim)),
    ];
    let attrs =
        [("scatter_dimension_numbers", Attribute::dialect(&SCATTER_DIMENSION_NUMBERS, numbers))];
    let result = Some(vec![shaped(shape, dtype)]);
    g.push(ScatterOp::DEF, &[operand, indices, updates], &attrs, vec![body], result)
}

fn fft(g: &mut ProgramGenerator) -> Option<()> {
    let kind = g.random.below(3) as u64;
    let value = g.any(|ty| {
        let dtype = ty.element_type().dtype();
        let fits = dtype.is_some_and(|d| {
            if kind == 2 { [DType::F32, DType::F64].contains(&d) } else { d.is_complex() }
        });
        fits && ty.shape().is_some_and(|s| !s.is_empty() && !s.contains(&0))
    })?;
    let (shape, _) = g.of(value);
    let rank = g.random.between(1, shape.len().min(3) as i64) as usize;
    let attrs = [
        ("fft_type", Attribute::enumeration(&FFT_TYPE, kind)),
        ("fft_length", i64s(shape[shape.len() - rank..].to_vec())),
    ];
    g.push(FftOp::DEF, &[value], &attrs, Vec::new(), None)
}

fn rng_bit_generator(g: &mut ProgramGenerator) -> Option<()> {
    let dtype = g.dtype(|dtype| dtype.is_unsigned() && dtype.bits() >= 8)?;
    let algorithm = g.random.between(1, 2) as u64;
    let state = shaped(vec![if algorithm == 2 { 3 } else { 2 }], DType::U64);
    let value = g.value(&state);
    let output = g.tensor(dtype);
    let attrs = [("rng_algorithm", Attribute::enumeration(&RNG_ALGORITHM, algorithm))];
    g.push(RngBitGeneratorOp::DEF, &[value], &attrs, Vec::new(), Some(vec![state, output]))
}

fn get_dimension_size(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, _) = any(g, 1)?;
    let attrs = [("dimension", Attribute::i64(g.random.below(shape.len()) as i64))];
    g.push(GetDimensionSizeOp::DEF, &[value], &attrs, Vec::new(), None)
}

/// A region without arguments that returns a value, or an elementwise function of it.
fn branch(g: &mut ProgramGenerator, ty: &Type) -> Option<RegionId> {
    let value = g.value(ty);
    let def = combiner(g, ty.element_type().dtype()?);
    let plain = g.random.one_in(2);
    g.region(&[], |g, block, _| {
        Some(vec![if plain { value } else { g.inner(block, def, &[value, value], &[], None)? }])
    })
}

fn if_else(g: &mut ProgramGenerator) -> Option<()> {
    let (value, _, _) = any(g, 0)?;
    let ty = g.module.ty(value).clone();
    let pred = g.value(&shaped(Vec::new(), DType::I1));
    let branches = vec![branch(g, &ty)?, branch(g, &ty)?];
    g.push(IfOp::DEF, &[pred], &[], branches, Some(vec![ty]))
}

fn case(g: &mut ProgramGenerator) -> Option<()> {
    let (value, _, _) = any(g, 0)?;
    let ty = g.module.ty(value).clone();
    let index = g.value(&shaped(Vec::new(), DType::I32));
    let branches =
        (0..g.random.between(1, 4)).map(|_| branch(g, &ty)).collect::<Option<Vec<_>>>()?;
    g.push(CaseOp::DEF, &[index], &[], branches, Some(vec![ty]))
}

fn map(g: &mut ProgramGenerator) -> Option<()> {
    let (value, shape, dtype) = any(g, 1)?;
    let ty = g.module.ty(value).clone();
    let other = g.value(&ty);
    let body = combining(g, dtype)?;
    let dimensions: Vec<usize> = (0..shape.len()).collect();
    g.push(
        MapOp::DEF,
        &[value, other],
        &[("dimensions", usizes(&dimensions))],
        vec![body],
        Some(vec![ty]),
    )
}

/// A loop with a few iterations.
fn while_loop(g: &mut ProgramGenerator) -> Option<()> {
    let (value, _, dtype) = any(g, 0)?;
    let ty = g.module.ty(value).clone();
    let counter = shaped(Vec::new(), DType::I32);
    let limit = Tensor::scalar(g.random.between(0, 5) as i32);
    let [zero, one, limit] =
        [Tensor::scalar(0i32), Tensor::scalar(1i32), limit].map(|tensor| g.constant(&tensor));
    let (zero, one, limit) = (zero?, one?, limit?);
    let types = [counter, ty.clone()];
    let less = [("comparison_direction", Attribute::enumeration(&COMPARISON_DIRECTION, 5))];
    let condition = g.region(&types, |g, block, values| {
        Some(vec![g.inner(block, CompareOp::DEF, &[values[0], limit], &less, None)?])
    })?;
    let def = combiner(g, dtype);
    let body = g.region(&types, |g, block, values| {
        let next = g.inner(block, AddOp::DEF, &[values[0], one], &[], None)?;
        Some(vec![next, g.inner(block, def, &[values[1], value], &[], None)?])
    })?;
    g.push(WhileOp::DEF, &[zero, value], &[], vec![condition, body], Some(types.to_vec()))
}
