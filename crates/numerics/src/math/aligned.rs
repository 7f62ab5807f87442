//! Memory that is aligned for elements of every type.

use crate::{TensorError, pages};
use bytemuck::{Pod, Zeroable};
use std::ops::{Deref, DerefMut};

/// Bytes that are aligned for elements of every type.
#[derive(Clone, Default)]
pub struct AlignedBytes {
    units: Vec<Aligned>,
    len: usize,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Aligned([u8; 64]);

impl AlignedBytes {
    /// No bytes.
    pub const fn new() -> AlignedBytes {
        AlignedBytes { units: Vec::new(), len: 0 }
    }

    /// `len` zeros.
    pub fn zeros(len: usize) -> AlignedBytes {
        AlignedBytes { units: vec![Aligned([0; 64]); len.div_ceil(size_of::<Aligned>())], len }
    }

    /// `len` zeros.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn try_zeros(len: usize) -> Result<AlignedBytes, TensorError> {
        let mut bytes = AlignedBytes::new();
        bytes.try_resize(len)?;
        Ok(bytes)
    }

    /// Changes the length. The contents are arbitrary afterwards.
    pub fn resize(&mut self, len: usize) {
        let units = len.div_ceil(size_of::<Aligned>());
        if units > self.units.len() {
            self.units.reserve_exact(units - self.units.len());
            pages::prefer_large(&self.units);
            self.units.resize(units, Aligned([0; 64]));
        }
        self.len = len;
    }

    /// Changes the length. The contents are arbitrary afterwards.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn try_resize(&mut self, len: usize) -> Result<(), TensorError> {
        let more = len.div_ceil(size_of::<Aligned>()).saturating_sub(self.units.len());
        match self.units.try_reserve_exact(more) {
            Ok(()) => self.resize(len),
            Err(_) => return Err(TensorError::OutOfMemory { bytes: len }),
        }
        Ok(())
    }

    /// The bytes of `element`, repeated `count` times.
    pub(super) fn splat(element: &[u8], count: usize) -> AlignedBytes {
        let mut bytes = AlignedBytes::zeros(element.len() * count);
        fill(&mut bytes, element);
        bytes
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.units)[..self.len]
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.units)[..self.len]
    }
}

/// Repeats the bytes of an element over a slice.
pub fn fill(elements: &mut [u8], element: &[u8]) {
    let Some(first) = elements.get_mut(..element.len()) else { return };
    first.copy_from_slice(element);
    let mut done = element.len();
    while done < elements.len() && done > 0 {
        let count = done.min(elements.len() - done);
        elements.copy_within(..count, done);
        done += count;
    }
}
