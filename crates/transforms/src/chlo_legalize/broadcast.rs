//! Expands broadcasting ops: the broadcasts become explicit.

use super::expr::{constant, constant_like, is_bounded, replace};
use chlo::{BroadcastSelectOp, ConstantLikeOp, ConstantOp};
use hlo::compat::with_element;
use hlo::ops::{
    self, BroadcastInDimOp, DynamicBroadcastInDimOp, GetDimensionSizeOp, SelectOp,
    SetDimensionSizeOp,
};
use hlo::{attrs, enums};
use mlir::diag::{Diagnostic, Severity};
use mlir::ods::OpDef;
use mlir::rewrite::{RewritePattern, Rewriter};
use mlir::types::DYNAMIC;
use mlir::{Attribute, OpId, Type, Value};
use side_dialects::shape::{
    AssumingOp, AssumingYieldOp, BroadcastOp, CstrBroadcastableOp, ShapeOfOp,
};

/// The size of a dimension, or its bound and the value that the dynamic size is taken from.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    size: i64,
    of: Option<(Value, usize)>,
}

/// The sizes of a value whose dynamic dimensions are all bounded.
pub(crate) fn sizes(rw: &Rewriter<'_>, value: Value) -> Option<Vec<Size>> {
    let ty = rw.ty(value).as_tensor()?;
    let bounds = ty.encoding.as_ref().and_then(attrs::bounds);
    let size = |(i, &size): (usize, &i64)| match size {
        DYNAMIC => {
            Some(Size { size: *bounds?.get(i).filter(|&&b| b != DYNAMIC)?, of: Some((value, i)) })
        }
        size => Some(Size { size, of: None }),
    };
    ty.shape.iter().enumerate().map(size).collect()
}

/// The NumPy broadcast of two shapes.
pub(crate) fn common_sizes(a: &[Size], b: &[Size]) -> Option<Vec<Size>> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut common = long.to_vec();
    for (to, &other) in common[long.len() - short.len()..].iter_mut().zip(short) {
        match (to.size, other.size) {
            (_, 1) if other.of.is_none() => {}
            (1, _) if to.of.is_none() => *to = other,
            (x, y) if x == y && to.of.is_some() == other.of.is_some() => {}
            _ => return None,
        }
    }
    Some(common)
}

fn type_of(sizes: &[Size], element: Type) -> Type {
    let shape: Vec<i64> =
        sizes.iter().map(|s| if s.of.is_some() { DYNAMIC } else { s.size }).collect();
    let bounds: Vec<i64> =
        sizes.iter().map(|s| if s.of.is_some() { s.size } else { DYNAMIC }).collect();
    let encoding = sizes.iter().any(|s| s.of.is_some()).then(|| attrs::type_extensions(bounds));
    Type::encoded_tensor(shape, element, encoding)
}

/// The result dimensions that an operand of rank `from` maps to in rank `to`: the trailing ones.
fn last_dimensions(from: usize, to: usize) -> Attribute {
    Attribute::i64_array((to.saturating_sub(from)..to).map(|d| d as i64).collect::<Vec<_>>())
}

/// Broadcasts a value to `sizes` with NumPy's rules; a no-op if it has them. A dimension bounded
/// only in the result is broadcast to the bound, then cut with `set_dimension_size`.
pub(crate) fn broadcast_to(rw: &mut Rewriter<'_>, value: Value, sizes: &[Size]) -> Option<Value> {
    let ty = rw.ty(value).clone();
    let element = ty.element_type().clone();
    if ty == type_of(sizes, element.clone()) {
        return Some(value);
    }
    let own = self::sizes(rw, value)?;
    let added = sizes.len().checked_sub(own.len())?;
    let mut padded: Vec<Size> = sizes.to_vec();
    for (i, to) in padded.iter_mut().enumerate() {
        if i.checked_sub(added).is_none_or(|i| own[i].of.is_none()) {
            to.of = None;
        }
    }
    let broadcast = rw.make(BroadcastInDimOp::DEF, [value]);
    let broadcast = broadcast.attr("broadcast_dimensions", last_dimensions(own.len(), sizes.len()));
    let mut broadcast = broadcast.result(type_of(&padded, element.clone()));
    for (i, size) in sizes.iter().enumerate() {
        if padded[i].of.is_none()
            && let Some((like, dimension)) = size.of
        {
            let dynamic = rw.make(GetDimensionSizeOp::DEF, [like]);
            let dynamic = dynamic.attr("dimension", Attribute::i64(dimension as i64)).value()?;
            padded[i] = *size;
            let cut = rw
                .make(SetDimensionSizeOp::DEF, [broadcast, dynamic])
                .attr("dimension", Attribute::i64(i as i64));
            broadcast = cut.result(type_of(&padded, element.clone()));
        }
    }
    Some(broadcast)
}

/// True if `dims` is absent or lists the dimensions of NumPy's rules.
fn is_numpy(dims: Option<&[i64]>, a: usize, b: usize) -> bool {
    let (small, large) = (a.min(b), a.max(b));
    a == b
        || dims.is_none_or(|dims| dims.iter().copied().eq((large - small..large).map(|d| d as i64)))
}

macro_rules! broadcasts {
    ($($from:ident => $to:path),* $(,)?) => {
        /// One pattern for each broadcasting op.
        pub(super) static PATTERNS: &[RewritePattern] = &[
            $(RewritePattern::new("broadcast", chlo::$from::DEF, |rw, op| broadcast(rw, op, <$to>::DEF)),)*
            RewritePattern::new("broadcast-select", BroadcastSelectOp::DEF, broadcast_select),
            RewritePattern::new("constant", ConstantOp::DEF, chlo_constant),
            RewritePattern::new("constant-like", ConstantLikeOp::DEF, chlo_constant_like),
        ];
    };
}

broadcasts! {
    BroadcastAddOp => ops::AddOp,
    BroadcastAndOp => ops::AndOp,
    BroadcastAtan2Op => ops::Atan2Op,
    BroadcastCompareOp => ops::CompareOp,
    BroadcastComplexOp => ops::ComplexOp,
    BroadcastDivideOp => ops::DivideOp,
    BroadcastMaximumOp => ops::MaximumOp,
    BroadcastMinimumOp => ops::MinimumOp,
    BroadcastMultiplyOp => ops::MultiplyOp,
    BroadcastNextAfterOp => chlo::NextAfterOp,
    BroadcastOrOp => ops::OrOp,
    BroadcastPolygammaOp => chlo::PolygammaOp,
    BroadcastPowerOp => ops::PowerOp,
    BroadcastRemainderOp => ops::RemainderOp,
    BroadcastShiftLeftOp => ops::ShiftLeftOp,
    BroadcastShiftRightArithmeticOp => ops::ShiftRightArithmeticOp,
    BroadcastShiftRightLogicalOp => ops::ShiftRightLogicalOp,
    BroadcastSubtractOp => ops::SubtractOp,
    BroadcastXorOp => ops::XorOp,
    BroadcastZetaOp => chlo::ZetaOp,
}

/// `chlo.broadcast_f(a, b) = f(broadcast(a), broadcast(b))`
fn broadcast(rw: &mut Rewriter<'_>, op: OpId, def: &'static OpDef) -> Option<()> {
    let [lhs, rhs] = rw.op(op).operands().try_into().ok()?;
    let result = rw.op(op).result_type(0).clone();
    let (l, r, to) = (rw.ty(lhs).as_tensor()?, rw.ty(rhs).as_tensor()?, result.as_tensor()?);
    let dims = rw.op(op).int_array("broadcast_dimensions").map(<[i64]>::to_vec);
    let dims = dims.as_deref();
    if !is_numpy(dims, l.rank(), r.rank()) {
        if let Some(operands) = broadcast_along(rw, [lhs, rhs], dims?, &result) {
            let value = elementwise(rw, op, def, operands, result);
            rw.replace(op, &[value]);
            return Some(());
        }
        let message = "broadcasts along other dimensions than the last can be made explicit for static shapes that fit only";
        let warning = rw.op(op).error("broadcast", message);
        rw.report(Diagnostic { severity: Severity::Warning, ..warning });
        return None;
    }
    let is_known = |t: &mlir::types::TensorType| t.has_static_shape() || is_bounded(t);
    let value = if is_known(l) && is_known(r) && l.shape == r.shape && l.encoding == r.encoding {
        elementwise(rw, op, def, [lhs, rhs], result)
    } else if is_known(l) && is_known(r) && is_known(to) {
        let sizes = common_sizes(&sizes(rw, lhs)?, &sizes(rw, rhs)?)?;
        let operands = [broadcast_to(rw, lhs, &sizes)?, broadcast_to(rw, rhs, &sizes)?];
        elementwise(rw, op, def, operands, result)
    } else {
        let rank = to.rank();
        under_witness(rw, &[lhs, rhs], rank, &result, |rw, extents| {
            let [lhs, rhs] = [lhs, rhs].map(|v| dynamic_broadcast(rw, v, extents, &result));
            elementwise(rw, op, def, [lhs, rhs], result.clone())
        })?
    };
    rw.replace(op, &[value]);
    Some(())
}

/// Broadcasts operands of static shapes to the shape of `result`, the one of lower rank along
/// `dims`. `None` if they do not fit.
fn broadcast_along(
    rw: &mut Rewriter<'_>,
    operands: [Value; 2],
    dims: &[i64],
    result: &Type,
) -> Option<[Value; 2]> {
    let shape =
        |ty: &Type| ty.as_tensor().filter(|t| t.has_static_shape()).map(|t| t.shape.clone());
    let to = shape(result)?;
    let from = [shape(rw.ty(operands[0]))?, shape(rw.ty(operands[1]))?];
    let all: Vec<i64> = (0..to.len() as i64).collect();
    let along = |from: &[i64]| if from.len() == to.len() { &all } else { dims };
    let fits = |from: &Vec<i64>| {
        let along = along(from);
        let size = |&d: &i64| usize::try_from(d).ok().and_then(|d| to.get(d).copied());
        along.len() == from.len()
            && along.iter().enumerate().all(|(i, d)| !along[..i].contains(d))
            && along.iter().zip(from).all(|(d, &of)| size(d).is_some_and(|to| of == 1 || of == to))
    };
    if !from.iter().all(fits) {
        return None;
    }
    let mut broadcast = operands;
    for (value, from) in broadcast.iter_mut().zip(&from) {
        if *from != to {
            let ty = Type::tensor(to.clone(), rw.ty(*value).element_type().clone());
            let dims = Attribute::i64_array(along(from));
            let made = rw.make(BroadcastInDimOp::DEF, [*value]);
            *value = made.attr("broadcast_dimensions", dims).result(ty);
        }
    }
    Some(broadcast)
}

/// Makes the op without broadcasting, with the attributes of the original.
fn elementwise(
    rw: &mut Rewriter<'_>,
    op: OpId,
    def: &'static OpDef,
    operands: [Value; 2],
    result: Type,
) -> Value {
    let relation = [
        ("comparison_direction", &chlo::COMPARISON_DIRECTION, &enums::COMPARISON_DIRECTION),
        ("compare_type", &chlo::COMPARISON_TYPE, &enums::COMPARISON_TYPE),
    ]
    .map(|(name, from, to)| {
        let value = rw.op(op).attr(name).and_then(|value| value.as_enum(from));
        (name, value.map(|value| Attribute::enumeration(to, value)))
    });
    let new = rw.make(def, operands);
    relation
        .iter()
        .fold(new, |new, (name, value)| new.optional_attr(name, value.as_ref()))
        .result(result)
}

fn shape_of(rw: &mut Rewriter<'_>, value: Value) -> Value {
    let rank = rw.ty(value).shape().map_or(DYNAMIC, |shape| shape.len() as i64);
    rw.make(ShapeOfOp::DEF, [value]).result(Type::tensor([rank], Type::index()))
}

/// The value that `body` makes from the broadcast extents, inside a `shape.assuming` with the
/// witness that the shapes broadcast.
fn under_witness(
    rw: &mut Rewriter<'_>,
    values: &[Value],
    rank: usize,
    result: &Type,
    body: impl FnOnce(&mut Rewriter<'_>, Value) -> Value,
) -> Option<Value> {
    let shapes: Vec<Value> = values.iter().map(|&v| shape_of(rw, v)).collect();
    let witness = rw.make(CstrBroadcastableOp::DEF, shapes);
    let witness = witness.result(side_dialects::shape::witness());
    let (region, block) = rw.region_with_block([]);
    rw.within(block, |rw| {
        let shapes: Vec<Value> = values.iter().map(|&v| shape_of(rw, v)).collect();
        let extents =
            rw.make(BroadcastOp::DEF, shapes).result(Type::tensor([rank as i64], Type::index()));
        let value = body(rw, extents);
        rw.make(AssumingYieldOp::DEF, [value]).results([]);
    });
    Some(rw.make(AssumingOp::DEF, [witness]).region(region).result(result.clone()))
}

fn dynamic_broadcast(rw: &mut Rewriter<'_>, value: Value, extents: Value, result: &Type) -> Value {
    let element = rw.ty(value).element_type().clone();
    let rank = rw.ty(value).shape().map_or(0, <[i64]>::len);
    let to = result.shape().unwrap_or(&[]);
    let dims = last_dimensions(rank, to.len());
    let ty = Type::tensor(to, element);
    rw.make(DynamicBroadcastInDimOp::DEF, [value, extents])
        .attr("broadcast_dimensions", dims)
        .result(ty)
}

/// `broadcast_select(p, a, b) = select(broadcast(p), broadcast(a), broadcast(b))`; a scalar `p`
/// stays scalar.
fn broadcast_select(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operands: [Value; 3] = rw.op(op).operands().try_into().ok()?;
    let result = rw.op(op).result_type(0).clone();
    let rank = result.as_tensor()?.rank();
    let types: Option<Vec<_>> = operands.iter().map(|&v| rw.ty(v).as_tensor()).collect();
    let types = types?;
    let is_scalar = types[0].rank() == 0;
    let is_known = types.iter().all(|t| t.has_static_shape() || is_bounded(t));
    let value = if is_known {
        let known: Option<Vec<_>> = operands.iter().map(|&v| sizes(rw, v)).collect();
        let common =
            known?.iter().try_fold(Vec::new(), |common, next| common_sizes(&common, next))?;
        let mut broadcast = operands;
        for value in &mut broadcast[usize::from(is_scalar)..] {
            *value = broadcast_to(rw, *value, &common)?;
        }
        rw.make(SelectOp::DEF, broadcast).result(result)
    } else {
        under_witness(rw, &operands, rank, &result, |rw, extents| {
            let mut broadcast = operands;
            for value in &mut broadcast[usize::from(is_scalar)..] {
                *value = dynamic_broadcast(rw, *value, extents, &result);
            }
            rw.make(SelectOp::DEF, broadcast).result(result.clone())
        })?
    };
    rw.replace(op, &[value]);
    Some(())
}

fn chlo_constant(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let value = ConstantOp::cast(rw.op(op))?.value().clone();
    let new = constant(rw, value)?;
    replace(rw, op, new);
    Some(())
}

fn chlo_constant_like(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let like = ConstantLikeOp::cast(rw.op(op))?;
    let (value, operand) = (like.value().clone(), like.operand());
    let scalar = like.splat([])?.into();
    // The operand is used only for its shape.
    rw.ty(operand)
        .as_tensor()
        .filter(|ty| ty.has_static_shape() || ty.encoding.is_none() || is_bounded(ty))?;
    let new = constant_like(rw, &scalar, operand)?;
    debug_assert_eq!(
        rw.ty(new).element_type(),
        with_element(rw.op(op).result_type(0), value.ty()).element_type()
    );
    replace(rw, op, new);
    Some(())
}
