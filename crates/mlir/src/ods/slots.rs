//! Assignment of an op's operands, results and attributes to the slots of its declaration.

use super::{Arity, OpDef, Trait, ValueSlot};
use std::ops::Range;

/// The reason why values cannot be assigned to slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentError {
    /// There are `found` values where `least` are needed, or more than the slots can hold.
    Count {
        /// Number of values.
        found: usize,
        /// The minimum number that the slots need.
        least: usize,
        /// True if the slots can hold more than that.
        open: bool,
    },
    /// The remaining values do not divide evenly among the variadic slots.
    Uneven {
        /// Number of values left for them.
        found: usize,
        /// Number of variadic slots.
        slots: usize,
    },
    /// The segment sizes attribute is missing, has the wrong length, or does not add up to the
    /// number of values.
    Segments {
        /// Number of values.
        found: usize,
    },
}

/// The number of values in each slot of a declaration, for one op.
#[derive(Clone, Copy)]
pub(crate) enum SlotSizes<'a> {
    /// All variadic and optional slots hold the same number.
    Each(usize),
    /// Given by the segment sizes attribute.
    Segments(&'a [i64]),
}

impl SlotSizes<'_> {
    /// The number of values in slot `index`.
    pub(crate) fn of(&self, index: usize, slot: &ValueSlot) -> usize {
        match (self, slot.arity) {
            // `slot_sizes` checks that segments are not negative.
            (SlotSizes::Segments(sizes), _) => sizes[index] as usize,
            (SlotSizes::Each(_), Arity::Single) => 1,
            (SlotSizes::Each(n), Arity::Optional | Arity::Variadic) => *n,
        }
    }
}

impl OpDef {
    /// The range of operands in each slot. `segments` are the values of `operandSegmentSizes`.
    ///
    /// # Errors
    /// If `count` operands cannot be assigned to the slots.
    pub fn operand_ranges(
        &self,
        count: usize,
        segments: Option<&[i64]>,
    ) -> Result<Vec<Range<usize>>, SegmentError> {
        let sized = self.has_trait(&Trait::AttrSizedOperandSegments);
        ranges(self.operands, count, sized.then_some(segments))
    }

    /// The range of results in each slot. `segments` are the values of `resultSegmentSizes`.
    ///
    /// # Errors
    /// If `count` results cannot be assigned to the slots.
    pub fn result_ranges(
        &self,
        count: usize,
        segments: Option<&[i64]>,
    ) -> Result<Vec<Range<usize>>, SegmentError> {
        let sized = self.has_trait(&Trait::AttrSizedResultSegments);
        ranges(self.results, count, sized.then_some(segments))
    }
}

fn ranges(
    slots: &[ValueSlot],
    count: usize,
    sized: Option<Option<&[i64]>>,
) -> Result<Vec<Range<usize>>, SegmentError> {
    let sizes = slot_sizes(slots, count, sized)?;
    let mut start = 0;
    let range = |(i, slot)| {
        let end = start + sizes.of(i, slot);
        std::mem::replace(&mut start, end)..end
    };
    Ok(slots.iter().enumerate().map(range).collect())
}

/// Assigns `count` values to `slots`. `sized` is `Some` if a segment sizes attribute is required,
/// with its values if present.
pub(crate) fn slot_sizes<'a>(
    slots: &[ValueSlot],
    count: usize,
    sized: Option<Option<&'a [i64]>>,
) -> Result<SlotSizes<'a>, SegmentError> {
    if let Some(segments) = sized {
        let wrong = SegmentError::Segments { found: count };
        let Some(segments) = segments.filter(|s| s.len() == slots.len()) else { return Err(wrong) };
        let fits = |(slot, &n): (&ValueSlot, &i64)| match slot.arity {
            Arity::Single => n == 1,
            Arity::Optional => n == 0 || n == 1,
            Arity::Variadic => n >= 0,
        };
        let sum = segments.iter().try_fold(0i64, |sum, &n| sum.checked_add(n));
        let adds_up = sum.and_then(|sum| usize::try_from(sum).ok()) == Some(count);
        return if adds_up && slots.iter().zip(segments).all(fits) {
            Ok(SlotSizes::Segments(segments))
        } else {
            Err(wrong)
        };
    }
    let single = slots.iter().filter(|s| s.arity == Arity::Single).count();
    let open = slots.len() - single;
    let left = count.checked_sub(single).ok_or(SegmentError::Count {
        found: count,
        least: single,
        open: open > 0,
    })?;
    let each = match open {
        0 if left > 0 => {
            return Err(SegmentError::Count { found: count, least: single, open: false });
        }
        0 => 0,
        _ if left % open != 0 => return Err(SegmentError::Uneven { found: left, slots: open }),
        _ => left / open,
    };
    if each > 1 && slots.iter().any(|s| s.arity == Arity::Optional) {
        return Err(SegmentError::Count { found: count, least: single, open: false });
    }
    Ok(SlotSizes::Each(each))
}
