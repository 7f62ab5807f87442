//! Operands that kernels have prepacked, for as long as they are the same from run to run.

use host::Charge;
use kernels::Kernel;
use numerics::math::AlignedBytes;
use numerics::{Bytes, BytesIdentity};
use std::sync::Arc;

/// The maximum bytes of prepacked operands: the caches gain little beyond, and a model
/// would take its memory twice.
const MAX_BYTES: usize = 256 << 20;

/// The operands that a plan may prepack, by their numbers.
pub(crate) struct PrepackedOperands {
    cached: Vec<CachedOperand>,
    /// The bytes of all packed operands.
    bytes: usize,
}

/// The second operand of a kernel, and what was made of it.
#[derive(Default)]
struct CachedOperand {
    operand: Option<BytesIdentity>,
    state: OperandState,
}

#[derive(Default)]
enum OperandState {
    /// It has been seen once: most programs run once.
    #[default]
    Seen,
    /// It is read as it is.
    Unpacked,
    /// It is packed, and charged to the budget of the run that did it.
    Packed { operand: Arc<AlignedBytes>, _charge: Option<Charge> },
}

impl PrepackedOperands {
    /// `count` operands that have not been seen.
    pub fn new(count: usize) -> PrepackedOperands {
        PrepackedOperands {
            cached: std::iter::repeat_with(CachedOperand::default).take(count).collect(),
            bytes: 0,
        }
    }

    /// The operand with this number as the kernel prepacks it, if it is the same as before.
    pub fn packed(
        &mut self,
        number: u32,
        kernel: &dyn Kernel,
        operand: &Bytes,
    ) -> Option<Arc<AlignedBytes>> {
        let cached = self.cached.get_mut(number as usize)?;
        if !cached.operand.as_ref().is_some_and(|known| known.is_of(operand)) {
            if let OperandState::Packed { operand, .. } = &cached.state {
                self.bytes -= operand.len();
            }
            *cached =
                CachedOperand { operand: Some(operand.identity()), state: OperandState::Seen };
            return None;
        }
        if let OperandState::Seen = cached.state {
            // Panels have at most twice the size, or are small.
            let most = kernel.max_prepacked().min(MAX_BYTES);
            let has_room = self.bytes.saturating_add(2 * operand.len()) <= most;
            // If there is no memory for it, the kernel still runs.
            let is_packed = has_room && host::check(operand.len()).is_ok();
            let packed = if is_packed { kernel.prepack(operand).ok().flatten() } else { None };
            cached.state = match packed {
                Some(packed) => {
                    self.bytes += packed.len();
                    let _charge = host::charge(packed.len());
                    OperandState::Packed { operand: Arc::new(packed), _charge }
                }
                None => OperandState::Unpacked,
            };
        }
        match &cached.state {
            OperandState::Packed { operand, .. } => Some(Arc::clone(operand)),
            OperandState::Seen | OperandState::Unpacked => None,
        }
    }
}
