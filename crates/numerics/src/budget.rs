//! Limits on the memory that tensors may take.
//!
//! A thread that has entered a [`Budget`] charges it for the bytes of every tensor that it
//! allocates, until the last owner of those bytes is dropped, on any thread, and for the scratch
//! memory of kernels. Allocations that would exceed the limit fail before they are made.

use crate::TensorError;
use crate::tensor::allocate;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limit on bytes, shared by all threads that enter it.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Budget>>> = const { RefCell::new(None) };
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Budget {
        Budget { limit, used: AtomicUsize::new(0) }
    }

    /// Bytes of all live tensors.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Checks that `bytes` more are available.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self, bytes: usize) -> Result<(), TensorError> {
        let used = self.used();
        match used.checked_add(bytes) {
            Some(total) if total <= self.limit => Ok(()),
            _ => Err(TensorError::Budget { bytes, used, limit: self.limit }),
        }
    }

    /// Charges this budget for the allocations of this thread while the guard lives.
    pub fn enter(self: &Arc<Budget>) -> Entered {
        let before = CURRENT.with(|current| current.replace(Some(self.clone())));
        Entered { before }
    }
}

/// Guard: while it lives, its thread charges a budget.
#[must_use]
pub struct Entered {
    before: Option<Arc<Budget>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.replace(self.before.take()));
    }
}

/// Bytes that are returned to the budget on drop.
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Charges the thread's current budget, if any.
pub(crate) fn charge(bytes: usize) -> Option<Charge> {
    let budget = CURRENT.with(|current| current.borrow().clone())?;
    budget.used.fetch_add(bytes, Ordering::Relaxed);
    Some(Charge { budget, bytes })
}

/// Bytes reserved from a budget while this lives.
#[must_use]
pub struct Reserved {
    _charge: Option<Charge>,
}

/// Reserves the bytes of `count` elements from the thread's budget, for the scratch memory of a
/// kernel.
///
/// # Errors
/// If the budget does not have as many.
pub fn reserve<T>(count: usize) -> Result<Reserved, TensorError> {
    let bytes = count.saturating_mul(size_of::<T>());
    check(bytes)?;
    Ok(Reserved { _charge: charge(bytes) })
}

/// Scratch memory of a kernel, whose capacity is charged to the thread's budget.
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

/// Checks that the thread's budget has `bytes` more.
pub(crate) fn check(bytes: usize) -> Result<(), TensorError> {
    CURRENT.with(|current| current.borrow().as_ref().map_or(Ok(()), |budget| budget.check(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;

    #[test]
    fn kernels_work_within_the_budget() {
        let budget = Arc::new(Budget::new(100));
        let _entered = budget.enter();
        let scratch = Scratch::filled(10, 7u64).expect("80 of 100 bytes");
        assert_eq!((scratch.len(), budget.used()), (10, 80));
        assert!(reserve::<u64>(3).is_err());
        assert_eq!(scratch.into_vec(), [7; 10]);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn bytes_come_back_with_the_last_owner() {
        let budget = Arc::new(Budget::new(100));
        let entered = budget.enter();
        let tensor = Tensor::splat([10], 1f32).expect("40 of 100 bytes");
        let other = tensor.clone();
        assert_eq!(budget.used(), 40);
        assert!(matches!(
            Tensor::splat([16], 1f32),
            Err(TensorError::Budget { bytes: 64, used: 40, limit: 100 })
        ));
        drop(tensor);
        assert_eq!(budget.used(), 40);
        drop(entered);
        let free = Tensor::splat([100], 1f32).expect("no budget");
        drop((other, free));
        assert_eq!(budget.used(), 0);
    }
}
