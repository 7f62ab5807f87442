//! Parallel verification of large programs by two threads. Dependent errors are suppressed in
//! textual order, so on any error the whole program is verified again by one thread.

use super::{Reporting, Verifier, VerifyOptions};
use crate::ir::{Module, OpRef};
use crate::ods::Trait;
use std::thread::Builder;

/// Minimum number of ops that is worth a second thread.
const WORTH_A_THREAD: usize = 1 << 11;

/// Same stack size as the main thread; `MAX_NESTING` is chosen for it.
const STACK_SIZE: usize = 8 << 20;

/// The share of the second thread: dominance, and ops without regions starting from an id.
pub(super) struct Elsewhere {
    first: usize,
}

impl Elsewhere {
    /// True if the second thread verifies this op.
    pub(super) fn has(&self, op: OpRef<'_>) -> bool {
        op.id().index() >= self.first
            && op.regions().is_empty()
            && op.def().is_none_or(|def| def.verify_symbols.is_none())
    }
}

/// True if a large module was found to be valid; false if it is unknown.
pub(super) fn are_valid(module: &Module, options: &VerifyOptions) -> bool {
    if options.reporting != Reporting::All || module.num_ops() < WORTH_A_THREAD {
        return false;
    }
    let first = module.num_ops() / 2;
    std::thread::scope(|scope| {
        let second = || second_half(module, options, &Elsewhere { first });
        let Ok(second) = Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, second) else {
            return false;
        };
        let mut verifier = Verifier::new(module, options, Some(Elsewhere { first }));
        verifier.isolated(module.top().id(), true);
        let is_valid = verifier.errors.is_empty();
        second.join().unwrap_or(false) && is_valid
    })
}

fn second_half(module: &Module, options: &VerifyOptions, half: &Elsewhere) -> bool {
    let mut verifier = Verifier::new(module, options, None);
    for op in module.all_ops() {
        // Erased and detached ops are in no block.
        let is_attached = op.block().is_some();
        if is_attached && half.has(op) {
            verifier.enter(op.id(), true);
            verifier.exit_leaf(op.id());
        } else if op.id() == module.top().id()
            || is_attached && op.has_trait(&Trait::IsolatedFromAbove)
        {
            verifier.check_dominance(op.id());
        }
    }
    verifier.errors.is_empty()
}
