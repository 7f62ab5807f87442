//! Dimensions along which each device computes its part of an op from its parts of the operands.

use crate::factors::{OpFactors, Place};
use crate::terms::{combining_op, is_zero_constant};
use stablo::dialects::stablehlo::{
    AddOp, AndOp, BroadcastInDimOp, ConcatenateOp, ConstantOp, ConvolutionOp, CustomCallOp,
    DotGeneralOp, DynamicUpdateSliceOp, IotaOp, MaximumOp, MinimumOp, OrOp, PadOp, ReduceOp,
    ReduceWindowOp, ReverseOp, ScatterOp, SliceOp,
};
use stablo::ir::{OpRef, Trait};

/// Targets of custom calls that return their operand.
const IDENTITIES: [&str; 4] =
    ["annotate_device_placement", "LayoutConstraint", "Sharding", "xla.sdy.FuncResultSharding"];

/// A dimension of an op.
pub(crate) struct OpSplit {
    /// The dimensions of values that it stands for: operands have the first numbers, then results.
    pub places: Vec<Place>,
    /// True if devices have terms of the results, which a reduction over devices puts together.
    pub is_reduced: bool,
}

/// The dimensions of an op, by the shapes of its operands and results. Values of other numbers and
/// dimensions are whole on each device that computes the op.
pub(crate) fn splits(op: OpRef<'_>, shapes: &[Option<Vec<usize>>]) -> Vec<OpSplit> {
    let count = op.operands().len();
    if op.name() == "stablehlo.composite" {
        return Vec::new();
    }
    if let Some(scatter) = ScatterOp::cast(op) {
        let places = scatter_places(scatter, shapes);
        return places.into_iter().map(|places| OpSplit { places, is_reduced: false }).collect();
    }
    if op.attr("sdy.sharding_rule").is_none()
        && let Some(batch) = num_batch_dims(op)
    {
        return batch_splits(batch, shapes);
    }
    let mut all: Vec<Vec<Place>> = Vec::new();
    for places in OpFactors::of(op, shapes.to_vec()).places {
        match all.iter_mut().find(|other| places.iter().any(|place| other.contains(place))) {
            Some(other) => other.extend(
                places.iter().filter(|place| !other.contains(place)).copied().collect::<Vec<_>>(),
            ),
            None => all.push(places),
        }
    }
    all.retain(|places| is_exact(op, places, shapes));
    // Elements of these results do not depend on other places.
    if op.is_any(&[BroadcastInDimOp::DEF, IotaOp::DEF]) || is_splat(op) {
        let rank = shapes[count].as_ref().map_or(0, Vec::len);
        let free = (0..rank).map(|dim| (count, dim));
        let free: Vec<Place> = free.filter(|place| !all.concat().contains(place)).collect();
        all.extend(free.into_iter().map(|place| vec![place]));
    }
    let has_result = |places: &[Place]| places.iter().any(|place| place.0 >= count);
    let mut splits: Vec<OpSplit> = Vec::new();
    for places in all {
        let is_reduced = !has_result(&places);
        if !is_reduced || op.is(DotGeneralOp::DEF) {
            splits.push(OpSplit { places, is_reduced });
        }
    }
    if op.is(ReduceOp::DEF) && count == 2 && can_be_repeated(op) {
        let reduced = op.int_array("dimensions").unwrap_or(&[]).iter();
        let places = reduced.map(|&dim| vec![(0, dim as usize)]);
        splits.extend(places.map(|places| OpSplit { places, is_reduced: true }));
    }
    splits
}

/// The number of the first dimensions of all values along which a custom call computes apart.
fn num_batch_dims(op: OpRef<'_>) -> Option<usize> {
    let attributes = CustomCallOp::cast(op)?.attr("mhlo.frontend_attributes")?;
    attributes.as_dictionary()?.get("num_batch_dims")?.as_str()?.parse().ok()
}

/// The first dimensions of all values.
fn batch_splits(batch: usize, shapes: &[Option<Vec<usize>>]) -> Vec<OpSplit> {
    let size = |value: usize, dim: usize| shapes[value].as_ref()?.get(dim).copied();
    let mut all = Vec::new();
    for dim in 0..batch {
        let first = (0..shapes.len()).find_map(|value| size(value, dim));
        if (0..shapes.len()).all(|value| size(value, dim) == first) {
            let places = (0..shapes.len()).map(|value| (value, dim)).collect();
            all.push(OpSplit { places, is_reduced: false });
        }
    }
    all
}

/// The dimensions of a scatter that updates cover, and its batch dimensions.
fn scatter_places(scatter: ScatterOp<'_>, shapes: &[Option<Vec<usize>>]) -> Vec<Vec<Place>> {
    let numbers = scatter.scatter_dimension_numbers();
    let count = scatter.num_results();
    let shape = |value: usize| shapes[value].clone().unwrap_or_default();
    let (input, indices, update) = (shape(0), shape(count), shape(count + 1));
    let is_listed = |list: &[i64], dim: usize| list.contains(&(dim as i64));
    // A dimension of inputs, indices and updates.
    let places = |input: usize, indices: Option<usize>, update: usize| {
        let each = (0..count)
            .flat_map(|at| [(at, input), (count + 1 + at, update), (2 * count + 1 + at, input)]);
        each.chain(indices.map(|dim| (count, dim))).collect::<Vec<Place>>()
    };
    let window = (0..input.len()).filter(|&dim| {
        !is_listed(numbers.inserted_window_dims, dim)
            && !is_listed(numbers.input_batching_dims, dim)
    });
    let windows = window.zip(numbers.update_window_dims.iter().map(|&dim| dim as usize));
    let whole = windows.filter(|&(dim, of)| input.get(dim) == update.get(of));
    let mut all: Vec<_> = whole.map(|(dim, of)| places(dim, None, of)).collect();
    let of = (0..update.len()).filter(|&dim| !is_listed(numbers.update_window_dims, dim));
    let from = (0..indices.len()).filter(|&dim| dim as i64 != numbers.index_vector_dim);
    for (dim, of) in from.zip(of) {
        let batching = numbers.scatter_indices_batching_dims.iter();
        let pair = batching.zip(numbers.input_batching_dims).find(|own| *own.0 as usize == dim);
        all.extend(pair.map(|(_, &input)| places(input as usize, Some(dim), of)));
    }
    all
}

/// True for constants of which all elements are equal.
pub(crate) fn is_splat(op: OpRef<'_>) -> bool {
    let value = ConstantOp::cast(op).map(|constant| constant.value());
    value.and_then(|value| value.as_dense()).is_some_and(|dense| dense.is_splat())
}

/// True if each part of a result in these places depends on the same part of the operands alone.
fn is_exact(op: OpRef<'_>, places: &[Place], shapes: &[Option<Vec<usize>>]) -> bool {
    let ints = |name: &str| op.int_array(name).unwrap_or(&[]);
    let count = op.operands().len();
    let own = |value: usize| places.iter().find(|place| place.0 == value).map(|place| place.1);
    let Some(result) = own(count) else { return true };
    let is_at =
        |name: &str, dim: usize, value: i64| ints(name).get(dim).is_none_or(|&own| own == value);
    let is_whole = |value: usize| {
        own(value).is_some_and(|dim| {
            let size =
                |value: usize, dim: usize| shapes[value].as_ref().and_then(|own| own.get(dim));
            size(value, dim) == size(count, result)
        })
    };
    if op.is(SliceOp::DEF) {
        is_whole(0) && is_at("strides", result, 1)
    } else if op.is(PadOp::DEF) {
        is_at("edge_padding_low", result, 0)
            && is_at("edge_padding_high", result, 0)
            && is_at("interior_padding", result, 0)
    } else if op.is(ReverseOp::DEF) {
        !ints("dimensions").contains(&(result as i64))
    } else if op.is(ConcatenateOp::DEF) {
        op.attr("dimension").and_then(|own| own.as_i64()) != Some(result as i64)
    } else if op.is(DynamicUpdateSliceOp::DEF) {
        is_whole(0) && is_whole(1)
    } else if op.is(ConvolutionOp::DEF) {
        let is_one = |name: &str| op.attr_or_default(name).and_then(|own| own.as_i64()) == Some(1);
        is_one("feature_group_count") && is_one("batch_group_count")
    } else if op.is(ReduceWindowOp::DEF) {
        let padding = op.attr("padding").and_then(|own| own.as_dense()?.int_values());
        let is_padded = padding.is_some_and(|own| {
            own.chunks(2).nth(result).is_none_or(|pair| pair.iter().any(|&size| size != 0))
        });
        is_at("window_strides", result, 1) && is_at("base_dilations", result, 1) && !is_padded
    } else if let Some(call) = CustomCallOp::cast(op) {
        op.attr("sdy.sharding_rule").is_some() || IDENTITIES.contains(&call.call_target_name())
    } else {
        !op.has_trait(&Trait::Elementwise) || places.iter().all(|place| place.1 == result)
    }
}

/// True if a sum or the like over parts, and then over their results, each with the initial value,
/// is that over all.
fn can_be_repeated(op: OpRef<'_>) -> bool {
    let Some(body) = combining_op(op) else { return false };
    body.is_any(&[MaximumOp::DEF, MinimumOp::DEF, AndOp::DEF, OrOp::DEF])
        || body.is(AddOp::DEF) && is_zero_constant(op.module(), op.operand(1))
}
