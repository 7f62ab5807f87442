//! The notation of `einsum`: the labels of dimensions, and the shape of the result.
//!
//! Source: XLA, "Einsum": `lhs,rhs->result`, one letter per dimension, `...` for the others.

use crate::EvalError;

/// The name of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisLabel {
    /// A letter.
    Letter(char),
    /// A dimension of the ellipsis, counted from the last one.
    Dots(usize),
}

/// The error that a text is no notation, or not one for the operands.
pub fn invalid(message: impl Into<String>) -> EvalError {
    EvalError::new("einsum_config", message)
}

/// The labels of a tensor of rank `rank`; without a rank, the ellipsis has `dots` dimensions.
fn labels(text: &str, rank: Option<usize>, dots: usize) -> Result<Vec<AxisLabel>, EvalError> {
    let letters = |text: &str| -> Result<Vec<AxisLabel>, EvalError> {
        let letter = |c: char| {
            let found = c.is_ascii_alphabetic().then_some(AxisLabel::Letter(c));
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
    Ok(before.into_iter().chain((0..count).rev().map(AxisLabel::Dots)).chain(after).collect())
}

/// Number of dimensions of an operand's ellipsis.
fn dots(labels: &[AxisLabel]) -> usize {
    labels.iter().filter(|l| matches!(l, AxisLabel::Dots(_))).count()
}

/// The labels of the operands, and of the result.
///
/// # Errors
/// If `config` is invalid, or does not match the ranks.
pub fn parse(
    config: &str,
    ranks: &[usize],
) -> Result<(Vec<Vec<AxisLabel>>, Vec<AxisLabel>), EvalError> {
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
    let named: Vec<Vec<AxisLabel>> = parts
        .iter()
        .zip(ranks)
        .map(|(text, &rank)| labels(text, Some(rank), 0))
        .collect::<Result<_, _>>()?;
    let most = named.iter().map(|names| dots(names)).max().unwrap_or(0);
    let result = labels(to, None, most)?;
    let is_known = |label: &AxisLabel| named.iter().any(|names| names.contains(label));
    let repeats = (1..result.len()).any(|i| result[..i].contains(&result[i]));
    if repeats || !result.iter().all(is_known) {
        return Err(invalid(format!(
            "the result of `{config}` has a label that no operand has, or one twice"
        )));
    }
    Ok((named, result))
}

/// The shape of the result of `einsum` for operands of the given shapes. `None` is a size that is
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
    let size = |label: &AxisLabel| all().filter(|(l, _)| *l == label).find_map(|(_, size)| *size);
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
