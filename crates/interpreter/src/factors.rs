//! Operands that functions have packed, for as long as they are the same from run to run.

use host::Charge;
use numerics::math::AlignedBytes;
use numerics::{Bytes, Identity};
use plan::Function;
use std::sync::Arc;

/// Operands of more bytes are not packed.
const MAX_BYTES: usize = 64 << 20;

/// An operand of a function, and what was made of it.
#[derive(Default)]
pub(crate) struct KeptFactor {
    operand: Option<Identity>,
    state: State,
}

#[derive(Default)]
enum State {
    /// It has been seen once: most programs run once.
    #[default]
    Seen,
    /// It is read as it is.
    Unpacked,
    /// It is packed, and charged to the budget of the run that did it.
    Packed { operand: Arc<AlignedBytes>, _charge: Option<Charge> },
}

impl KeptFactor {
    /// The operand packed, if it has been seen before.
    pub fn packed(&mut self, function: &Function, operand: &Bytes) -> Option<Arc<AlignedBytes>> {
        if !self.operand.as_ref().is_some_and(|known| known.is_of(operand)) {
            *self = KeptFactor { operand: Some(operand.identity()), state: State::Seen };
            return None;
        }
        if let State::Seen = self.state {
            let fits = operand.len() <= MAX_BYTES && host::check(operand.len()).is_ok();
            // If there is no memory for it, the function still runs.
            let packed = if fits { function.pack(operand).ok().flatten() } else { None };
            self.state = match packed {
                Some(packed) => {
                    let _charge = host::charge(packed.len());
                    State::Packed { operand: Arc::new(packed), _charge }
                }
                None => State::Unpacked,
            };
        }
        match &self.state {
            State::Packed { operand, .. } => Some(Arc::clone(operand)),
            State::Seen | State::Unpacked => None,
        }
    }
}
