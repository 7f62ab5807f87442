//! The small results of runs, which share allocations.

use crate::plan::{Plan, Storage};
use numerics::shape::Sizes;
use numerics::{DType, Tensor};
use program::{EvalError, RuntimeValue, ValueType};
use std::ops::Range;

/// The maximum bytes of results that share an allocation, which a caller that keeps one of them
/// keeps as a whole.
const MAX_TOGETHER: usize = 2048;

/// The results of a plan that its runs copy out of the arena, several at a time.
pub(crate) struct SmallResults {
    groups: Box<[Box<[SmallResult]>]>,
}

struct SmallResult {
    /// Its number.
    index: usize,
    dtype: DType,
    shape: Sizes,
    /// Where it is in the arena.
    at: Range<usize>,
}

impl SmallResults {
    pub(crate) fn of(plan: &Plan) -> SmallResults {
        let mut groups: Vec<Box<[SmallResult]>> = Vec::new();
        let (mut group, mut bytes) = (Vec::new(), 0);
        for (index, transfer) in plan.body.results.iter().enumerate() {
            let ty = &plan.types[transfer.from as usize];
            let (Storage::Arena { at, bytes: size }, ValueType::Tensor { dtype, .. }, Some(shape)) =
                (plan.storage[transfer.from as usize], &**ty, ty.static_shape())
            else {
                continue;
            };
            let (at, size) = (at as usize, size as usize);
            if bytes + size > MAX_TOGETHER {
                groups.push(std::mem::take(&mut group).into());
                bytes = 0;
            }
            group.push(SmallResult { index, dtype: *dtype, shape, at: at..at + size });
            bytes += size;
        }
        groups.push(group.into());
        groups.retain(|group| group.len() > 1);
        SmallResults { groups: groups.into() }
    }

    /// Makes tensors of the results, which are in `memory`, each at the index of its number.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(crate) fn copy(
        &self,
        memory: &[u8],
        results: &mut [RuntimeValue],
    ) -> Result<(), EvalError> {
        for group in &self.groups {
            let part = |result: &SmallResult| &memory[result.at.clone()];
            let parts = group.iter().map(|result| (result.dtype, &result.shape, part(result)));
            let mut members = group.iter();
            Tensor::copied_together(parts, |tensor| {
                if let Some(member) = members.next() {
                    results[member.index] = tensor.into();
                }
            })?;
        }
        Ok(())
    }
}
