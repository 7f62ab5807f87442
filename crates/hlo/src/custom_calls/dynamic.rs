//! Custom calls that stand for ops whose parameters are operands, as exporters with symbolic
//! dimensions write them.
//!
//! Source: JAX, `jax/_src/lax/lax.py`, `control_flow/loops.py`, `windowed_reductions.py`, `ann.py`.

use super::approx_top_k;
use crate::check;
use crate::compat;
use crate::enums::RNG_ALGORITHM;
use crate::ops::{
    CustomCallOp, ReduceWindowOp, ReturnOp, RngBitGeneratorOp, SHAPE_OPERANDS, shape_operands,
};
use crate::prepare;
use crate::refine;
use crate::spmd;
use mlir::attrs::Dictionary;
use mlir::ods::RefineFn;
use mlir::prepare::{PrepareFn, Prepared, Preparer};
use mlir::rewrite::{Rewrite, Rewriter};
use mlir::verify::nearest_symbol;
use mlir::{Attribute, OpId, OpRef, RegionId, Type};
use program::primitives::{self, Generator};
use program::{Primitive, WindowDim};
use side_dialects::func::FuncOp;
use std::collections::HashMap;

/// The attribute of `ApproxTopK` and its dynamic form with their parameters.
pub(super) const CONFIG: &str = "mhlo.backend_config";

/// Targets that return their operands.
pub(super) const ANNOTATIONS: [&str; 3] =
    [spmd::SHARDING, "annotate_device_placement", "LayoutConstraint"];

/// A custom call with a static form.
pub(super) struct DynamicCall {
    pub target: &'static str,
    pub prepare: PrepareFn,
    pub refine: RefineFn,
    pub to_static: Rewrite,
}

pub(super) static DYNAMIC_CALLS: &[DynamicCall] = &[
    DynamicCall {
        target: "stablehlo.dynamic_approx_top_k",
        prepare: approx_top_k,
        refine: refine_by_shapes,
        to_static: static_approx_top_k,
    },
    DynamicCall {
        target: "stablehlo.dynamic_reduce_window",
        prepare: prepare_reduce_window,
        refine: refine_reduce_window,
        to_static: static_reduce_window,
    },
    DynamicCall {
        target: "stablehlo.dynamic_rng_bit_generator",
        prepare: prepare_rng_bit_generator,
        refine: refine_rng_bit_generator,
        to_static: static_rng_bit_generator,
    },
    DynamicCall {
        target: "stablehlo.dynamic_top_k",
        prepare: prepare_top_k,
        refine: refine_top_k,
        to_static: static_top_k,
    },
];

/// Infers the result types of a custom call from constant operands; those of one that only
/// annotates its operands are theirs.
pub fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    if let Some(call) = by_target(op) {
        return (call.refine)(op);
    }
    let target = CustomCallOp::cast(op)?.call_target_name();
    if ANNOTATIONS.contains(&target) {
        return Some(op.operand_types().take(op.num_results()).cloned().collect());
    }
    refine_by_shapes(op)
}

/// Makes a custom call static, if the operands that determine its shapes are constant and its
/// types are those that follow from them.
pub fn to_static(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let types = refine(view)?;
    let is_static = |ty: &Type| ty.as_tensor().is_none_or(|tensor| tensor.has_static_shape());
    if !types.iter().all(is_static) || !view.result_types().eq(&types) {
        return None;
    }
    by_target(view).map_or(drop_shape_operands as Rewrite, |call| call.to_static)(rw, op)
}

fn by_target(op: OpRef<'_>) -> Option<&'static DynamicCall> {
    let target = CustomCallOp::cast(op)?.call_target_name();
    DYNAMIC_CALLS.iter().find(|call| call.target == target)
}

/// Infers result shapes from constant shape operands.
fn refine_by_shapes(op: OpRef<'_>) -> Option<Vec<Type>> {
    let mut shapes = shape_operands(op).ok()??.into_iter();
    let types = op.result_types().map(|ty| shaped(op, ty, &mut shapes)).collect::<Option<_>>()?;
    shapes.next().is_none().then_some(types)
}

/// A type with the shapes in operands.
fn shaped(op: OpRef<'_>, ty: &Type, shapes: &mut dyn Iterator<Item = usize>) -> Option<Type> {
    if let Some(elements) = ty.as_tuple() {
        return elements
            .iter()
            .map(|ty| shaped(op, ty, shapes))
            .collect::<Option<_>>()
            .map(Type::tuple);
    }
    let operand = shapes.next()?;
    let known = refine::with_shape(ty, refine::sizes(op, operand)?);
    ty.is_shaped().then(|| compat::refined(ty, &known)).flatten()
}

fn drop_shape_operands(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let dropped = shape_operands(rw.op(op)).ok()??;
    replace(rw, op, &dropped, &[])
}

/// Replaces a custom call by one without some operands and with other attributes.
fn replace(
    rw: &mut Rewriter<'_>,
    op: OpId,
    dropped: &[usize],
    attributes: &[(&'static str, Attribute)],
) -> Option<()> {
    let view = rw.op(op);
    let types: Vec<Type> = view.result_types().cloned().collect();
    let kept = |i: &usize| !dropped.contains(i);
    let operands: Vec<_> =
        (0..view.operands().len()).filter(kept).map(|i| view.operand(i)).collect();
    let layouts = CustomCallOp(view).operand_layouts().map(|layouts| {
        Attribute::array((0..layouts.len()).filter(kept).map(|i| layouts[i].clone()).collect())
    });
    let new = rw.make(CustomCallOp::DEF, operands).attributes_of(op).without(SHAPE_OPERANDS);
    let mut new = new.optional_attr("operand_layouts", layouts.as_ref());
    for (name, value) in attributes {
        new = new.attr(name, value.clone());
    }
    let new = new.results(types);
    rw.replace_with(op, new);
    Some(())
}

/// As `ApproxTopK`, with `k` after the initial values. `k` moves to the configuration.
fn static_approx_top_k(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let k_operand = 2 * view.num_results();
    let k = check::constant_ints(view, k_operand)?.first().copied()?;
    let mut entries: Vec<_> = view.attr(CONFIG)?.as_dictionary()?.iter().cloned().collect();
    entries.push(("top_k".into(), Attribute::i64(k)));
    let config = Dictionary::new(entries).ok()?.into();
    let mut dropped = shape_operands(view).ok()??;
    dropped.push(k_operand);
    let target = Attribute::string("ApproxTopK");
    replace(rw, op, &dropped, &[("call_target_name", target), (CONFIG, config)])
}

/// As `mhlo.topk` of the largest elements, with `k` as the second operand.
fn prepare_top_k(_: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    Ok(Primitive::TopK(primitives::TopK { k: None, largest: true }))
}

fn refine_top_k(op: OpRef<'_>) -> Option<Vec<Type>> {
    let mut shape = op.operands().first().and_then(|&v| op.module().ty(v).shape())?.to_vec();
    *shape.last_mut()? = *refine::sizes(op, 1)?.first()?;
    Some(op.result_types().map(|ty| refine::with_shape(ty, shape.clone())).collect())
}

fn static_top_k(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let k = check::constant_ints(rw.op(op), 1)?.first().copied()?;
    let entries = vec![("k".into(), Attribute::i64(k)), ("largest".into(), Attribute::bool(true))];
    let attributes = Dictionary::new(entries).ok()?.into();
    let target = Attribute::string("mhlo.topk");
    replace(rw, op, &[1], &[("call_target_name", target), ("mhlo.attributes", attributes)])
}

/// As `reduce_window`, with a function for its body and operands for its attributes: after inputs
/// and initial values the dimensions, strides, base dilations and window dilations of the window,
/// and its padding.
fn prepare_reduce_window(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let symbol = called_function(op).ok_or_else(|| prepare::missing(op, "called_computations"))?;
    let body = prepare::function_body(op, symbol, cx)?;
    Ok(Primitive::ReduceWindow(primitives::ReduceWindow {
        window: None,
        inputs: op.num_results(),
        body,
    }))
}

fn called_function(op: OpRef<'_>) -> Option<&str> {
    CustomCallOp(op).called_computations().first()?.as_flat_symbol().map(|s| &**s)
}

/// The parameters of the window, which follow inputs and initial values.
fn window_lists(op: OpRef<'_>) -> Option<[Vec<i64>; 5]> {
    let first = 2 * op.num_results();
    if op.operands().len() != first + 5 {
        return None;
    }
    let list = |i| check::constant_ints(op, first + i);
    Some([list(0)?, list(1)?, list(2)?, list(3)?, list(4)?])
}

fn refine_reduce_window(op: OpRef<'_>) -> Option<Vec<Type>> {
    let [sizes, strides, base, dilations, padding] = window_lists(op)?;
    let window = WindowDim::from_lists(&sizes, &strides, &base, &dilations, &padding).ok()?;
    let result = |(input, ty): (&Type, &Type)| {
        let shape = input.shape().filter(|shape| shape.len() == window.len())?;
        let counts = shape.iter().zip(&window).map(|(&size, dim)| dim.num_windows(size));
        Some(refine::with_shape(ty, counts.collect::<Option<Vec<_>>>()?))
    };
    op.operand_types().zip(op.result_types()).map(result).collect()
}

fn static_reduce_window(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let [sizes, strides, base, dilations, padding] = window_lists(view)?;
    let padding = Attribute::i64_elements(&[padding.len() as i64 / 2, 2], &padding)?;
    let operands = view.operands()[..2 * view.num_results()].to_vec();
    let types: Vec<Type> = view.result_types().cloned().collect();
    let function = nearest_symbol(view, called_function(view)?).and_then(FuncOp::cast)?;
    let body = function.body();
    let region = inlined(rw, body)?;
    let new = rw
        .make(ReduceWindowOp::DEF, operands)
        .attr("window_dimensions", Attribute::i64_array(sizes))
        .attr("window_strides", Attribute::i64_array(strides))
        .attr("base_dilations", Attribute::i64_array(base))
        .attr("window_dilations", Attribute::i64_array(dilations))
        .attr("padding", padding)
        .region(region)
        .results(types);
    rw.replace_with(op, new);
    Some(())
}

/// A copy of the body of a function, if that is one block, as the region of an op.
fn inlined(rw: &mut Rewriter<'_>, body: RegionId) -> Option<RegionId> {
    if rw.blocks(body).len() != 1 {
        return None;
    }
    let region = rw.module_mut().clone_region(body, &mut HashMap::new(), &mut HashMap::new());
    let block = rw.entry(region)?;
    let terminator = rw.terminator(block)?;
    let (end, values) = (terminator.id(), terminator.operands().to_vec());
    rw.within(block, |rw| rw.make(ReturnOp::DEF, values).results([]));
    rw.module_mut().erase(end);
    Some(region)
}

/// As the op of that name, with the shape of the output as the second operand.
fn prepare_rng_bit_generator(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let algorithm = op.attr("rng_algorithm").and_then(|a| a.as_enum(&RNG_ALGORITHM));
    let generator = match algorithm.and_then(|a| RNG_ALGORITHM.case(a)) {
        Some("THREE_FRY") => Generator::ThreeFry,
        Some(_) => Generator::Philox,
        None => return Err(prepare::missing(op, "rng_algorithm")),
    };
    let output = op.result_types().last().ok_or_else(|| prepare::missing(op, "output"))?;
    let dtype = prepare::storage_dtype(output)?;
    Ok(Primitive::RandomBits(primitives::RandomBits { generator, shape: None, dtype }))
}

fn refine_rng_bit_generator(op: OpRef<'_>) -> Option<Vec<Type>> {
    let state = op.operand_types().next()?;
    let output = op.result_types().nth(1)?;
    Some(vec![state.clone(), refine::with_shape(output, refine::sizes(op, 1)?)])
}

fn static_rng_bit_generator(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let (state, algorithm) = (*view.operands().first()?, view.attr("rng_algorithm")?.clone());
    let types: Vec<Type> = view.result_types().cloned().collect();
    let new = rw.make(RngBitGeneratorOp::DEF, [state]).attr("rng_algorithm", algorithm);
    let new = new.results(types);
    rw.replace_with(op, new);
    Some(())
}
