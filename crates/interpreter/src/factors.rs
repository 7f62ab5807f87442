//! Operands that functions have packed, for as long as they are the same from run to run.

use host::Charge;
use numerics::math::AlignedBytes;
use numerics::{Bytes, Identity};
use plan::Function;
use std::sync::Arc;

/// At most so many bytes of operands are packed: the caches gain little beyond, and a model would
/// take its memory twice.
const MAX_BYTES: usize = 256 << 20;

/// The operands that a plan may pack, by their numbers.
pub(crate) struct PackedFactors {
    kept: Vec<KeptFactor>,
    /// The bytes of those that are packed.
    bytes: usize,
}

/// An operand of a function, and what was made of it.
#[derive(Default)]
struct KeptFactor {
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

impl PackedFactors {
    /// So many operands, none of which has been seen.
    pub fn new(count: usize) -> PackedFactors {
        PackedFactors {
            kept: std::iter::repeat_with(KeptFactor::default).take(count).collect(),
            bytes: 0,
        }
    }

    /// The operand with this number as the function packs it, if it is the same as before.
    pub fn packed(
        &mut self,
        number: u32,
        function: &Function,
        operand: &Bytes,
    ) -> Option<Arc<AlignedBytes>> {
        let kept = self.kept.get_mut(number as usize)?;
        if !kept.operand.as_ref().is_some_and(|known| known.is_of(operand)) {
            if let State::Packed { operand, .. } = &kept.state {
                self.bytes -= operand.len();
            }
            *kept = KeptFactor { operand: Some(operand.identity()), state: State::Seen };
            return None;
        }
        if let State::Seen = kept.state {
            // Panels have at most twice the size, or are small.
            let has_room = self.bytes.saturating_add(2 * operand.len()) <= MAX_BYTES;
            // If there is no memory for it, the function still runs.
            let is_packed = has_room && host::check(operand.len()).is_ok();
            let packed = if is_packed { function.pack(operand).ok().flatten() } else { None };
            kept.state = match packed {
                Some(packed) => {
                    self.bytes += packed.len();
                    let _charge = host::charge(packed.len());
                    State::Packed { operand: Arc::new(packed), _charge }
                }
                None => State::Unpacked,
            };
        }
        match &kept.state {
            State::Packed { operand, .. } => Some(Arc::clone(operand)),
            State::Seen | State::Unpacked => None,
        }
    }
}
