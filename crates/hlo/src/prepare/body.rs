//! Bodies of `reduce`, `scatter` and the like, with what their ops reveal.

use crate::ops::relation;
use mlir::ir::ValueDef;
use mlir::prepare::Preparer;
use mlir::{Module, OpRef, RegionId, Value};
use numerics::math::{BinaryOp, Direction};
use program::{Body, BodyShape, Callee, EvalError, Extremum};

/// The region `region` of `op` as a body.
///
/// # Errors
/// If the region has several blocks.
pub fn body(
    op: OpRef<'_>,
    region: RegionId,
    cx: &mut Preparer<'_>,
) -> Result<Box<Body>, EvalError> {
    let block = cx.block(region)?;
    let closed = cx.code().block(block).closed;
    Ok(Box::new(of_region(op.module(), region, Callee::Block(block), closed)))
}

/// The function with the given name as a body, called from `op`.
///
/// # Errors
/// If there is no such function.
pub fn function_body(
    op: OpRef<'_>,
    symbol: &str,
    cx: &mut Preparer<'_>,
) -> Result<Box<Body>, EvalError> {
    let function = cx.function(op, symbol)?;
    let region = cx
        .function_body(function)
        .ok_or_else(|| EvalError::new("call", format!("there is no function @{symbol}")))?;
    Ok(Box::new(of_region(op.module(), region, Callee::Function(function), true)))
}

fn of_region(module: &Module, region: RegionId, callee: Callee, closed: bool) -> Body {
    let arguments = module.entry(region).map_or(&[][..], |block| module.arguments(block));
    let dtypes = arguments.iter().map(|&a| module.ty(a).element_type().dtype()).collect();
    let extremum = extremum_of(module, region);
    let (shape, choice) = (shape_of(module, region), choice_of(module, region));
    Body { callee, dtypes, shape, extremum, choice, closed }
}

/// The extremum that a region of one block finds.
fn extremum_of(module: &Module, region: RegionId) -> Option<Extremum> {
    let block = module.entry(region)?;
    let &[value, index] = module.terminator(block)?.operands() else { return None };
    let arguments = module.arguments(block);
    let is = |v, expected: &str| spelled(module, arguments, v, 5).is_some_and(|s| s == expected);
    let finds = |relation: &str| {
        let is_first = format!("or({relation}(0, 2), ne(0, 0))");
        is(value, &format!("select({is_first}, 0, 2)"))
            && is(index, &format!("select(or({is_first}, and(eq(0, 2), lt(1, 3))), 1, 3)"))
    };
    match () {
        () if arguments.len() != 4 => None,
        () if finds("gt") => Some(Extremum::Maximum),
        () if finds("lt") => Some(Extremum::Minimum),
        () => None,
    }
}

/// The relation by which a region of one block chooses all its results.
fn choice_of(module: &Module, region: RegionId) -> Option<Direction> {
    let block = module.entry(region)?;
    let (results, arguments) = (module.terminator(block)?.operands(), module.arguments(block));
    let count = results.len();
    if count < 2 || arguments.len() != 2 * count {
        return None;
    }
    let chosen = |relation: &str| {
        results.iter().enumerate().all(|(i, &result)| {
            let expected = format!("select({relation}(0, {count}), {i}, {})", count + i);
            spelled(module, arguments, result, 3) == Some(expected)
        })
    };
    let relations = [
        (Direction::Ge, "ge"),
        (Direction::Gt, "gt"),
        (Direction::Le, "le"),
        (Direction::Lt, "lt"),
    ];
    relations.into_iter().find(|(_, name)| chosen(name)).map(|(direction, _)| direction)
}

/// The choice and the comparison of ops, with the numbers of arguments: `select(gt(0, 1), 0, 1)`.
fn spelled(module: &Module, arguments: &[Value], value: Value, depth: usize) -> Option<String> {
    if let Some(number) = arguments.iter().position(|&argument| argument == value) {
        return Some(number.to_string());
    }
    let ValueDef::Result { op, .. } = module.definition(value) else { return None };
    let op = module.op(op);
    let name = match (relation(op), op.def()?.name) {
        (Some((Direction::Eq, false)), _) => "eq",
        (Some((Direction::Ne, false)), _) => "ne",
        (Some((Direction::Ge, false)), _) => "ge",
        (Some((Direction::Le, false)), _) => "le",
        (Some((Direction::Gt, false)), _) => "gt",
        (Some((Direction::Lt, false)), _) => "lt",
        (None, "stablehlo.or") => "or",
        (None, "stablehlo.and") => "and",
        (None, "stablehlo.select") => "select",
        _ => return None,
    };
    let depth = depth.checked_sub(1)?;
    let operands = op.operands().iter().map(|&v| spelled(module, arguments, v, depth));
    Some(format!("{name}({})", operands.collect::<Option<Vec<_>>>()?.join(", ")))
}

/// Classifies a region of one block by its ops.
fn shape_of(module: &Module, region: RegionId) -> BodyShape {
    let Some(block) = module.entry(region) else { return BodyShape::Block };
    let arguments = module.arguments(block);
    let mut rest = module.ops(block);
    let Some(last) = rest.next_back() else { return BodyShape::Block };
    let returned = last.operands();
    if rest.len() == 0 && !returned.is_empty() && returned == &arguments[arguments.len() / 2..] {
        return BodyShape::Values;
    }
    let (Some(op), None, &[a, v], &[result]) = (rest.next(), rest.next(), arguments, returned)
    else {
        return BodyShape::Block;
    };
    match single_binary(op, result) {
        Some((op, lhs, rhs)) if (lhs, rhs) == (a, v) => BodyShape::Binary { op, swapped: false },
        Some((op, lhs, rhs)) if (lhs, rhs) == (v, a) => BodyShape::Binary { op, swapped: true },
        _ => BodyShape::Block,
    }
}

/// The elementwise operation and the operands of an op that defines `result` from two values of its
/// type.
fn single_binary(op: OpRef<'_>, result: Value) -> Option<(BinaryOp, Value, Value)> {
    let def = op.def().filter(|def| def.dialect() == "stablehlo")?;
    let function = BinaryOp::from_name(def.mnemonic())?;
    let &[lhs, rhs] = op.operands() else { return None };
    let dtype = |v| op.module().ty(v).element_type().dtype();
    if dtype(lhs).is_none() || dtype(lhs) != dtype(rhs) || dtype(lhs) != dtype(result) {
        return None;
    }
    if op.results().eq([result]) { Some((function, lhs, rhs)) } else { None }
}
