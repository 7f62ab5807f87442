//! Limits on memory.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limit on bytes, shared by all threads that charge it.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Arc<Budget> {
        Arc::new(Budget { limit, used: AtomicUsize::new(0) })
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Checks that `bytes` more are available.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self, bytes: usize) -> Result<(), OverBudget> {
        let used = self.used();
        match used.checked_add(bytes) {
            Some(total) if total <= self.limit => Ok(()),
            _ => Err(OverBudget { bytes, used, limit: self.limit }),
        }
    }

    /// Takes `bytes` until the result is dropped.
    ///
    /// # Errors
    /// If they are not available.
    pub fn reserve(self: &Arc<Budget>, bytes: usize) -> Result<Charge, OverBudget> {
        let within = |used: usize| used.checked_add(bytes).filter(|&total| total <= self.limit);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within) {
            Ok(_) => Ok(Charge { budget: self.clone(), bytes }),
            Err(used) => Err(OverBudget { bytes, used, limit: self.limit }),
        }
    }

    /// Takes `bytes` that are allocated already, until the result is dropped. The budget may be
    /// exceeded; nothing is available then.
    pub fn charge(self: &Arc<Budget>, bytes: usize) -> Charge {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        Charge { budget: self.clone(), bytes }
    }
}

/// Bytes that are returned to their budget on drop.
#[derive(Debug)]
#[must_use]
pub struct Charge {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The error that a budget does not have `bytes` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// The number of bytes asked for.
    pub bytes: usize,
    /// The number of bytes in use.
    pub used: usize,
    /// The limit in bytes.
    pub limit: usize,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            OverBudget { bytes: usize::MAX, limit, .. } => {
                write!(f, "more bytes than can be counted would exceed the limit of {limit} bytes")
            }
            OverBudget { bytes, used, limit } => write!(
                f,
                "{bytes} bytes more than the {used} in use would exceed the limit of {limit} bytes"
            ),
        }
    }
}

impl std::error::Error for OverBudget {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charges_end_with_their_owner() {
        let budget = Budget::new(100);
        let first = budget.reserve(60).expect("60 of 100 bytes");
        assert_eq!(
            budget.reserve(41).expect_err("101 of 100 bytes"),
            OverBudget { bytes: 41, used: 60, limit: 100 }
        );
        assert!(budget.reserve(usize::MAX).is_err());
        let second = budget.charge(60);
        assert_eq!((budget.used(), budget.check(0).is_err()), (120, true));
        drop((first, second));
        assert_eq!((budget.used(), budget.check(100)), (0, Ok(())));
    }
}
