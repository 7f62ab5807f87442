//! Memory of kernels and tensors within the budget of the [`host`].
//!
//! The bytes of every tensor that a thread allocates are charged to the budget of its host until
//! their last owner is dropped, on any thread, and so is the scratch memory of
//! kernels. Allocations that would exceed the limit fail before they are made.

use crate::TensorError;
use crate::tensor::allocate;
use host::Charge;
use std::ops::{Deref, DerefMut};

/// Bytes reserved from a budget while this lives.
#[derive(Debug)]
#[must_use]
pub struct Reserved {
    _charge: Option<Charge>,
}

/// Reserves the bytes of `count` elements from the thread's budget, for the scratch memory of a
/// kernel.
///
/// # Errors
/// If the budget does not have them.
pub fn reserve<T>(count: usize) -> Result<Reserved, TensorError> {
    Ok(Reserved { _charge: host::reserve(count.saturating_mul(size_of::<T>()))? })
}

/// Scratch memory of a kernel, whose capacity is charged to the thread's budget.
#[derive(Debug)]
pub struct Scratch<T> {
    elements: Vec<T>,
    _reserved: Reserved,
}

impl<T> Scratch<T> {
    /// An empty vector with room for `capacity` elements.
    ///
    /// # Errors
    /// If the budget or the machine has no memory for them.
    pub fn new(capacity: usize) -> Result<Scratch<T>, TensorError> {
        Ok(Scratch { elements: allocate(capacity)?, _reserved: reserve::<T>(capacity)? })
    }

    /// A vector with the same value `len` times.
    ///
    /// # Errors
    /// As [`Scratch::new`].
    pub fn filled(len: usize, value: T) -> Result<Scratch<T>, TensorError>
    where
        T: Clone,
    {
        let mut scratch = Scratch::new(len)?;
        scratch.resize(len, value);
        Ok(scratch)
    }

    /// The vector, no longer charged.
    pub fn into_vec(self) -> Vec<T> {
        self.elements
    }
}

impl<T> Deref for Scratch<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.elements
    }
}

impl<T> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.elements
    }
}
