//! Which operands, results and attributes of an op stand in which slot of its declaration.

use super::{Arity, OpDef, Trait, ValueSlot};
use std::ops::Range;

/// Why values cannot be dealt out to slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentError {
    /// There are `found` values where `least` are needed, or more than the slots can hold.
    Count {
        /// Number of values.
        found: usize,
        /// Number that the slots need at least.
        least: usize,
        /// Whether the slots can hold more than that.
        open: bool,
    },
    /// The remaining values do not divide evenly among the variadic slots.
    Uneven {
        /// Number of values left for them.
        found: usize,
        /// Number of variadic slots.
        slots: usize,
    },
    /// The segment sizes attribute is missing, has the wrong length, or does not add up to the number of values.
    Segments {
        /// Number of values.
        found: usize,
    },
}

impl OpDef {
    /// The range of operands that each slot holds. `segments` are the values of `operandSegmentSizes`.
    ///
    /// # Errors
    /// When `count` operands cannot be dealt out.
    pub fn operand_ranges(&self, count: usize, segments: Option<&[i64]>) -> Result<Vec<Range<usize>>, SegmentError> {
        let sized = self.has_trait(&Trait::AttrSizedOperandSegments);
        ranges(self.operands, count, if sized { Some(segments) } else { None })
    }

    /// The range of results that each slot holds. `segments` are the values of `resultSegmentSizes`.
    ///
    /// # Errors
    /// When `count` results cannot be dealt out.
    pub fn result_ranges(&self, count: usize, segments: Option<&[i64]>) -> Result<Vec<Range<usize>>, SegmentError> {
        let sized = self.has_trait(&Trait::AttrSizedResultSegments);
        ranges(self.results, count, if sized { Some(segments) } else { None })
    }
}

fn ranges(slots: &[ValueSlot], count: usize, sized: Option<Option<&[i64]>>) -> Result<Vec<Range<usize>>, SegmentError> {
    let mut out = Vec::with_capacity(slots.len());
    let mut start = 0;
    let mut push = |n: usize| {
        out.push(start..start + n);
        start += n;
    };
    if let Some(segments) = sized {
        let segments = segments.filter(|s| s.len() == slots.len()).ok_or(SegmentError::Segments { found: count })?;
        let mut left = count;
        for (slot, &n) in slots.iter().zip(segments) {
            let fits = |n: usize| match slot.arity {
                Arity::Single => n == 1,
                Arity::Optional => n <= 1,
                Arity::Variadic => true,
            };
            let n = usize::try_from(n).ok().filter(|&n| n <= left && fits(n));
            let n = n.ok_or(SegmentError::Segments { found: count })?;
            left -= n;
            push(n);
        }
        return if left == 0 { Ok(out) } else { Err(SegmentError::Segments { found: count }) };
    }
    let single = slots.iter().filter(|s| s.arity == Arity::Single).count();
    let open = slots.len() - single;
    let left = count.checked_sub(single).ok_or(SegmentError::Count { found: count, least: single, open: open > 0 })?;
    let each = match open {
        0 if left > 0 => return Err(SegmentError::Count { found: count, least: single, open: false }),
        0 => 0,
        _ if left % open != 0 => return Err(SegmentError::Uneven { found: left, slots: open }),
        _ => left / open,
    };
    for slot in slots {
        match slot.arity {
            Arity::Single => push(1),
            Arity::Optional if each > 1 => {
                return Err(SegmentError::Count { found: count, least: single, open: false });
            }
            Arity::Optional | Arity::Variadic => push(each),
        }
    }
    Ok(out)
}
