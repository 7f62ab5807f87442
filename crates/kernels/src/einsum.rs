//! Einstein notation: sums of products over labelled dimensions, as `einsum` and `unary_einsum`
//! write them.
//!
//! Source: XLA, "Einsum": `lhs,rhs->result`, one letter per dimension, `...` for the others.

use super::contract::dot_general;
use numerics::shape::{StridedView, strides};
use numerics::{DType, Number, Tensor, dispatch_all};
use program::EvalError;
use program::primitives::DotDims;

/// The name of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    /// A letter.
    Letter(char),
    /// A dimension of the ellipsis, counted from the last one.
    Dots(usize),
}

fn invalid(message: impl Into<String>) -> EvalError {
    EvalError::new("einsum_config", message)
}

/// The labels of a tensor of rank `rank`; without a rank, the ellipsis has `dots` dimensions.
fn labels(text: &str, rank: Option<usize>, dots: usize) -> Result<Vec<Label>, EvalError> {
    let letters = |text: &str| -> Result<Vec<Label>, EvalError> {
        let letter = |c: char| {
            let found = c.is_ascii_alphabetic().then_some(Label::Letter(c));
            found.ok_or_else(|| invalid(format!("`{c}` is no label of a dimension")))
        };
        text.chars().filter(|c| !c.is_whitespace()).map(letter).collect()
    };
    let (before, after, has_dots) = match text.split_once("...") {
        Some((before, after)) => (letters(before)?, letters(after)?, true),
        None => (letters(text)?, Vec::new(), false),
    };
    let named = before.len() + after.len();
    let count = match rank {
        Some(rank) => {
            rank.checked_sub(named).filter(|&rest| has_dots || rest == 0).ok_or_else(|| {
                invalid(format!("`{text}` does not name the {rank} dimensions of its operand"))
            })?
        }
        None if has_dots => dots,
        None => 0,
    };
    Ok(before.into_iter().chain((0..count).rev().map(Label::Dots)).chain(after).collect())
}

/// Number of dimensions of an operand's ellipsis.
fn dots(labels: &[Label]) -> usize {
    labels.iter().filter(|l| matches!(l, Label::Dots(_))).count()
}

/// Without labels that repeat (only the diagonal stays), and without those that `keep` does not
/// choose (they are summed).
fn simplified(
    tensor: Tensor,
    names: Vec<Label>,
    keep: impl Fn(Label) -> bool,
    dtype: DType,
) -> Result<(Tensor, Vec<Label>), EvalError> {
    let (mut shape, mut steps, mut unique): (Vec<usize>, Vec<isize>, Vec<Label>) =
        (vec![], vec![], vec![]);
    for ((&size, step), &name) in tensor.shape().iter().zip(strides(tensor.shape())).zip(&names) {
        let step = isize::try_from(step).map_err(|_| invalid("the operand is too large"))?;
        match unique.iter().position(|&other| other == name) {
            None => {
                shape.push(size);
                steps.push(step);
                unique.push(name);
            }
            Some(at) => steps[at] += step,
        }
    }
    let tensor = if unique.len() == names.len() {
        tensor
    } else {
        tensor.gather(&StridedView::new(0, &shape, &steps)?)?
    };
    let summed: Vec<i64> =
        (0..unique.len()).filter(|&d| !keep(unique[d])).map(|d| d as i64).collect();
    if summed.is_empty() {
        return Ok((tensor, unique));
    }
    // A sum is a product with ones.
    let sizes: Vec<usize> = summed.iter().map(|&d| tensor.shape()[d as usize]).collect();
    let one = dispatch_all!(tensor.dtype(), T => Tensor::scalar(<T as Number>::from_i64(1)));
    let all: Vec<i64> = (0..summed.len() as i64).collect();
    let numbers = DotDims {
        lhs_contracting_dimensions: summed,
        rhs_contracting_dimensions: all,
        ..DotDims::default()
    };
    let sum = dot_general(tensor, one.broadcast_scalar(&sizes)?, &numbers, dtype)?;
    Ok((sum, unique.into_iter().filter(|&label| keep(label)).collect()))
}

/// The dimensions in the order of the result, which has each label of `names` once.
fn ordered(tensor: Tensor, names: &[Label], result: &[Label]) -> Result<Tensor, EvalError> {
    let place = |label: &Label| names.iter().position(|other| other == label);
    let order: Option<Vec<usize>> = result.iter().map(place).collect();
    let order = order.ok_or_else(|| invalid("the result has a label that no operand has"))?;
    Ok(tensor.gather(&StridedView::dense(tensor.shape())?.permute(&order)?)?)
}

/// The labels of the operands, and of the result.
fn parse(config: &str, ranks: &[usize]) -> Result<(Vec<Vec<Label>>, Vec<Label>), EvalError> {
    let (from, to) =
        config.split_once("->").ok_or_else(|| invalid(format!("`{config}` has no `->`")))?;
    // That of one operand may begin with a comma, as if there were one of no dimensions before it.
    let parts: Vec<&str> = from.split(',').collect();
    let parts = if parts.len() > ranks.len() && parts[0].trim().is_empty() {
        &parts[1..]
    } else {
        &parts[..]
    };
    if parts.len() != ranks.len() {
        let (found, required) = (parts.len(), ranks.len());
        return Err(invalid(format!("`{config}` is for {found} operands, not for {required}")));
    }
    let named: Vec<Vec<Label>> = parts
        .iter()
        .zip(ranks)
        .map(|(text, &rank)| labels(text, Some(rank), 0))
        .collect::<Result<_, _>>()?;
    let most = named.iter().map(|names| dots(names)).max().unwrap_or(0);
    let result = labels(to, None, most)?;
    let is_known = |label: &Label| named.iter().any(|names| names.contains(label));
    let repeats = (1..result.len()).any(|i| result[..i].contains(&result[i]));
    if repeats || !result.iter().all(is_known) {
        return Err(invalid(format!(
            "the result of `{config}` has a label that no operand has, or one twice"
        )));
    }
    Ok((named, result))
}

/// The shape of the result of [`einsum`] for operands of the given shapes. `None` is a size that is
/// unknown.
///
/// # Errors
/// If `config` is invalid, does not match the ranks, or a label stands for two sizes.
pub fn result_shape(
    config: &str,
    shapes: &[Vec<Option<usize>>],
) -> Result<Vec<Option<usize>>, EvalError> {
    let ranks: Vec<usize> = shapes.iter().map(Vec::len).collect();
    let (named, result) = parse(config, &ranks)?;
    let all = || named.iter().flatten().zip(shapes.iter().flatten());
    let size = |label: &Label| all().filter(|(l, _)| *l == label).find_map(|(_, size)| *size);
    for (label, found) in all() {
        let known = size(label);
        if let (Some(known), Some(found)) = (known, found)
            && known != *found
        {
            return Err(invalid(format!(
                "a label of `{config}` stands for the sizes {known} and {found}"
            )));
        }
    }
    Ok(result.iter().map(size).collect())
}

/// The sums of products given by `config`, of one operand or two, with elements of type `dtype`.
///
/// # Errors
/// If `config` is invalid, or does not match the operands.
pub fn einsum(config: &str, operands: Vec<Tensor>, dtype: DType) -> Result<Tensor, EvalError> {
    let sizes = |tensor: &Tensor| tensor.shape().iter().copied().map(Some).collect();
    let shapes: Vec<Vec<Option<usize>>> = operands.iter().map(sizes).collect();
    result_shape(config, &shapes)?;
    let ranks: Vec<usize> = operands.iter().map(Tensor::rank).collect();
    let (named, result) = parse(config, &ranks)?;
    let mut simple = Vec::new();
    for (i, tensor) in operands.into_iter().enumerate() {
        let elsewhere = |label| {
            result.contains(&label)
                || named.iter().enumerate().any(|(j, n)| j != i && n.contains(&label))
        };
        simple.push(simplified(tensor, named[i].clone(), elsewhere, dtype)?);
    }
    let second = if simple.len() > 1 { simple.pop() } else { None };
    let Some((lhs, left)) = simple.pop() else { return Err(invalid("there are no operands")) };
    let Some((rhs, right)) = second else { return ordered(lhs, &left, &result) };
    let shared: Vec<Label> = left.iter().copied().filter(|label| right.contains(label)).collect();
    let (batch, contracted): (Vec<Label>, Vec<Label>) =
        shared.iter().partition(|label| result.contains(label));
    let places = |names: &[Label], wanted: &[Label]| -> Vec<i64> {
        wanted
            .iter()
            .filter_map(|label| names.iter().position(|other| other == label))
            .map(|d| d as i64)
            .collect()
    };
    let numbers = DotDims {
        lhs_batching_dimensions: places(&left, &batch),
        rhs_batching_dimensions: places(&right, &batch),
        lhs_contracting_dimensions: places(&left, &contracted),
        rhs_contracting_dimensions: places(&right, &contracted),
    };
    let product = dot_general(lhs, rhs, &numbers, dtype)?;
    let free = |names: Vec<Label>| {
        names.into_iter().filter(|label| !shared.contains(label)).collect::<Vec<_>>()
    };
    let names = [batch, free(left), free(right)].concat();
    ordered(product, &names, &result)
}
