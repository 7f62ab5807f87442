//! The work of a primitive, as numbers of operations and bytes.

use crate::{Body, BodyShape, Callee, DYNAMIC, ValueType, Window};

/// An amount of work. Sums saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Operations on elements other than transcendental functions; a multiplication with an
    /// addition counts two.
    pub flops: u64,
    /// Transcendental functions of elements, and elements of random numbers.
    pub transcendentals: u64,
    /// Bytes that ops read and write.
    pub bytes: u64,
}

impl Work {
    /// No work.
    pub const NONE: Work = Work { flops: 0, transcendentals: 0, bytes: 0 };

    /// Operations on elements.
    pub fn operations(flops: u64) -> Work {
        Work { flops, ..Work::NONE }
    }

    /// Transcendental functions of elements.
    pub fn functions(transcendentals: u64) -> Work {
        Work { transcendentals, ..Work::NONE }
    }

    /// Number of operations of both kinds.
    pub fn arithmetic(self) -> u64 {
        self.flops.saturating_add(self.transcendentals)
    }

    /// Orders work by its arithmetic, then by its bytes.
    pub fn key(self) -> (u64, u64) {
        (self.arithmetic(), self.bytes)
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Work) -> Work {
        Work {
            flops: self.flops.saturating_add(other.flops),
            transcendentals: self.transcendentals.saturating_add(other.transcendentals),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// The work of several runs.
    #[must_use]
    pub fn times(self, count: u64) -> Work {
        Work {
            flops: self.flops.saturating_mul(count),
            transcendentals: self.transcendentals.saturating_mul(count),
            bytes: self.bytes.saturating_mul(count),
        }
    }
}

/// The arithmetic of one application of a body or comparator to scalars.
pub type BodyWork<'a> = &'a dyn Fn(Callee) -> Work;

/// The types of the operands and results of an instruction.
pub struct Shapes<'a> {
    /// Types of the operands.
    pub operands: Vec<&'a ValueType>,
    /// Types of the results.
    pub results: Vec<&'a ValueType>,
}

impl Shapes<'_> {
    /// Number of elements of an operand.
    pub fn operand(&self, index: usize) -> u64 {
        self.operands.get(index).map_or(0, |ty| elements(ty))
    }

    /// Number of elements of the first result.
    pub fn result(&self) -> u64 {
        self.results.first().map_or(0, |ty| elements(ty))
    }

    /// Number of elements of the last result.
    pub fn last_result(&self) -> u64 {
        self.results.last().map_or(0, |ty| elements(ty))
    }

    /// The size of a dimension of an operand; a negative one counts from the end.
    pub fn size(&self, operand: usize, dimension: i64) -> u64 {
        let sizes = self.operands.get(operand).map_or(Vec::new(), |ty| sizes(ty));
        let index = match dimension {
            0.. => usize::try_from(dimension).ok(),
            _ => usize::try_from(dimension.unsigned_abs())
                .ok()
                .and_then(|back| sizes.len().checked_sub(back)),
        };
        index.and_then(|index| sizes.get(index).copied()).unwrap_or(1)
    }

    /// Bytes of the operands and results.
    pub fn all_bytes(&self) -> u64 {
        self.bytes_without(0)
    }

    /// Bytes of the results and of as large a part of the first operand, and of the other operands.
    pub fn bytes_of_part(&self) -> u64 {
        let part = self.results.first().map_or(0, |ty| ty.min_bytes() as u64);
        self.bytes_without(1).saturating_add(part)
    }

    /// Bytes of the results, and of the operands after the first `skipped`.
    fn bytes_without(&self, skipped: usize) -> u64 {
        let types = self.operands.iter().skip(skipped).chain(&self.results);
        types.map(|ty| ty.min_bytes() as u64).fold(0, u64::saturating_add)
    }
}

impl Body {
    /// The arithmetic of combining two elements.
    pub(crate) fn once(&self, body: BodyWork<'_>) -> Work {
        match self.shape {
            BodyShape::Binary { .. } => Work::operations(1),
            BodyShape::Values => Work::NONE,
            BodyShape::Block => body(self.callee),
        }
    }
}

/// Number of elements; dynamic dimensions count as 1.
pub fn elements(ty: &ValueType) -> u64 {
    sizes(ty).iter().copied().fold(1, u64::saturating_mul)
}

/// The sizes of the dimensions; 1 if dynamic.
pub(crate) fn sizes(ty: &ValueType) -> Vec<u64> {
    let size = |&size: &i64| if size == DYNAMIC { 1 } else { u64::try_from(size).unwrap_or(0) };
    match ty {
        ValueType::Tensor { shape, .. } => shape.iter().map(size).collect(),
        _ => Vec::new(),
    }
}

/// Number of positions in a window.
pub(crate) fn positions(window: &Window) -> u64 {
    let size = |size: i64| u64::try_from(size).unwrap_or(0);
    window.iter().map(|dim| size(dim.size)).fold(1, u64::saturating_mul)
}

pub(crate) fn product<const N: usize>(factors: [u64; N]) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}

pub(crate) fn log2_ceiling(n: u64) -> u64 {
    u64::from(n.max(1).next_power_of_two().trailing_zeros())
}
