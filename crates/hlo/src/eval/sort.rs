//! Stable sorting by a region, with comparisons made on whole vectors.

use super::index::take;
use mlir::RegionId;
use mlir::eval::{EvalEnv, EvalError};
use numerics::{I1, Tensor};

/// Sorts lines of `length` elements, given one after the other in each of `inputs` (vectors), by a comparator that says
/// whether its first elements come before its second ones. Equal elements keep their order.
///
/// A merge sort from short runs to long ones: all pairs of runs of a level merge in step, so that each step is one run of the
/// comparator on a vector.
///
/// # Errors
/// Whatever stops the comparator.
pub fn sort(
    env: &mut dyn EvalEnv,
    comparator: RegionId,
    inputs: &[Tensor],
    length: usize,
) -> Result<Vec<Tensor>, EvalError> {
    let total = inputs.first().map_or(0, Tensor::num_elements);
    let mut order: Vec<usize> = (0..total).collect();
    let mut width = 1;
    while width < length {
        order = merge_level(env, comparator, inputs, &order, length, width)?;
        width *= 2;
    }
    inputs.iter().map(|t| take(t, &order)).collect()
}

/// Two neighbouring runs that are being merged: what is left of each, as positions in the order.
struct Merge {
    left: std::ops::Range<usize>,
    right: std::ops::Range<usize>,
    merged: Vec<usize>,
}

fn merge_level(
    env: &mut dyn EvalEnv,
    comparator: RegionId,
    inputs: &[Tensor],
    order: &[usize],
    length: usize,
    width: usize,
) -> Result<Vec<usize>, EvalError> {
    let mut merges = Vec::new();
    for line in (0..order.len()).step_by(length) {
        for start in (line..line + length).step_by(2 * width) {
            let middle = (start + width).min(line + length);
            let end = (start + 2 * width).min(line + length);
            merges.push(Merge { left: start..middle, right: middle..end, merged: Vec::with_capacity(end - start) });
        }
    }
    let mut open: Vec<usize> = (0..merges.len()).collect();
    loop {
        open.retain(|&m| !merges[m].left.is_empty() && !merges[m].right.is_empty());
        if open.is_empty() {
            break;
        }
        // An element of the right run goes first only if it is before that of the left one.
        let rights: Vec<usize> = open.iter().map(|&m| order[merges[m].right.start]).collect();
        let lefts: Vec<usize> = open.iter().map(|&m| order[merges[m].left.start]).collect();
        let mut args = Vec::with_capacity(2 * inputs.len());
        for input in inputs {
            args.push(take(input, &rights)?);
            args.push(take(input, &lefts)?);
        }
        let results = env.scalar_region(comparator, open.len(), args)?;
        let before = results.first().ok_or_else(|| EvalError::new("sort_c5", "the comparator returns nothing"))?;
        let before = before.to_vec::<I1>()?;
        for (&m, before) in open.iter().zip(before) {
            let merge = &mut merges[m];
            let run = if before == I1::new(true) { &mut merge.right } else { &mut merge.left };
            merge.merged.extend(run.next().map(|at| order[at]));
        }
    }
    let mut out = Vec::with_capacity(order.len());
    for merge in merges {
        out.extend(merge.merged);
        out.extend_from_slice(&order[merge.left]);
        out.extend_from_slice(&order[merge.right]);
    }
    Ok(out)
}
