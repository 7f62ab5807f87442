//! Operands that kernels have prepacked, for as long as they are the same from run to run, or in
//! another process.

use crate::plan::{Plan, StepOp, Storage};
use crate::visit::for_each_step;
use host::Charge;
use kernels::Kernel;
use numerics::{Bytes, BytesIdentity, TensorError};
use rustc_hash::FxHasher;
use std::fmt::{self, Write as _};
use std::hash::Hasher;
use std::sync::Arc;

/// The maximum bytes of prepacked operands: models of some 250 million weights of `f32`, which take
/// their memory twice if they run more than once.
const MAX_BYTES: usize = 1 << 30;

/// The operands that a plan may prepack, by their numbers.
pub(crate) struct PrepackedOperands {
    cached: Vec<CachedOperand>,
    /// Constants that were prepacked before.
    known: Arc<[PrepackedConstant]>,
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
    Packed { operand: Bytes, _charge: Option<Charge> },
}

/// A constant in the order in which a kernel reads it: what a process can leave to others.
#[derive(Clone, Debug)]
pub struct PrepackedConstant {
    /// The elements of the constant.
    pub constant: Bytes,
    /// A hash of the kernel and of its order of elements.
    pub kernel: u64,
    /// The elements as the kernel orders them.
    pub packed: Bytes,
}

impl PrepackedConstant {
    /// The elements of a constant as a kernel orders them, if they are among `all`.
    fn find<'a>(
        all: &'a [PrepackedConstant],
        kernel: &dyn Kernel,
        constant: &Bytes,
    ) -> Option<&'a Bytes> {
        let mut same = all.iter().filter(|known| known.constant.same(constant)).peekable();
        same.peek()?;
        let (kernel, bytes) = (fingerprint(kernel), kernel.prepacked_bytes());
        let mut packed = same.filter(|known| known.kernel == kernel).map(|known| &known.packed);
        // Files may hold anything.
        packed.find(|packed| packed.len() == bytes && packed.as_ptr().addr() % ALIGNMENT == 0)
    }
}

/// An alignment that all elements can have.
const ALIGNMENT: usize = 16;

/// The number of the orders in which kernels prepack operands: another one where an order changes.
const ORDERS: u64 = 1;

/// A hash of a kernel that is the same in all processes with the same orders.
fn fingerprint(kernel: &dyn Kernel) -> u64 {
    struct Hashed(FxHasher);
    impl fmt::Write for Hashed {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            text.bytes().for_each(|byte| self.0.write_u8(byte));
            Ok(())
        }
    }
    let mut hashed = Hashed(FxHasher::default());
    hashed.0.write_u64(ORDERS);
    // A hasher accepts any text.
    let _ = write!(hashed, "{kernel:?}");
    hashed.0.finish()
}

/// Prepacks the constants of a plan, for each kernel that reads them in another order.
///
/// # Errors
/// If there is no memory for them.
pub(crate) fn prepack_constants(plan: &Plan) -> Result<Vec<PrepackedConstant>, TensorError> {
    let mut all: Vec<PrepackedConstant> = Vec::new();
    for_each_step(&plan.body, &mut |step| -> Result<(), TensorError> {
        let StepOp::Apply { kernel, operands, prepacked: Some(_), .. } = &step.op else {
            return Ok(());
        };
        let Some(&operand) = operands.get(1) else { return Ok(()) };
        let Storage::Constant(number) = plan.storage[operand as usize] else { return Ok(()) };
        let constant = plan.constants[number as usize].bytes();
        let fingerprint = fingerprint(&**kernel);
        let is_known = |known: &PrepackedConstant| {
            known.kernel == fingerprint && known.constant.same(constant)
        };
        if all.iter().any(is_known) {
            return Ok(());
        }
        if let Some(packed) = kernel.prepack(constant)? {
            let packed = Bytes::from_owner(Arc::new(packed));
            all.push(PrepackedConstant { constant: constant.clone(), kernel: fingerprint, packed });
        }
        Ok(())
    })?;
    Ok(all)
}

impl PrepackedOperands {
    /// `count` operands that have not been seen; constants among `known` need not be prepacked.
    pub(crate) fn new(count: usize, known: Arc<[PrepackedConstant]>) -> PrepackedOperands {
        let cached = std::iter::repeat_with(CachedOperand::default).take(count).collect();
        PrepackedOperands { cached, known, bytes: 0 }
    }

    /// The operand with this number as the kernel prepacks it, if it is the same as before, or a
    /// known constant.
    pub(crate) fn packed(
        &mut self,
        number: u32,
        kernel: &dyn Kernel,
        operand: &Bytes,
    ) -> Option<Bytes> {
        let cached = self.cached.get_mut(number as usize)?;
        if !cached.operand.as_ref().is_some_and(|known| known.is_of(operand)) {
            if let OperandState::Packed { operand, .. } = &cached.state {
                self.bytes -= operand.len();
            }
            let known = PrepackedConstant::find(&self.known, kernel, operand);
            let state = match known {
                Some(known) => OperandState::Packed { operand: known.clone(), _charge: None },
                None => OperandState::Seen,
            };
            self.bytes += known.map_or(0, |known| known.len());
            *cached = CachedOperand { operand: Some(operand.identity()), state };
            return known.cloned();
        }
        if let OperandState::Seen = cached.state {
            let has_room = self.bytes.saturating_add(kernel.prepacked_bytes()) <= MAX_BYTES;
            // If there is no memory for it, the kernel still runs.
            let is_packed = has_room && host::check(operand.len()).is_ok();
            let packed = if is_packed { kernel.prepack(operand).ok().flatten() } else { None };
            cached.state = match packed {
                Some(packed) => {
                    self.bytes += packed.len();
                    let _charge = host::charge(packed.len());
                    OperandState::Packed { operand: Bytes::from_owner(Arc::new(packed)), _charge }
                }
                None => OperandState::Unpacked,
            };
        }
        match &cached.state {
            OperandState::Packed { operand, .. } => Some(operand.clone()),
            OperandState::Seen | OperandState::Unpacked => None,
        }
    }
}
