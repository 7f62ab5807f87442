//! The frames of runs of plans: memory that they leave to later ones.

use crate::exec::prepacked::{PrepackedConstant, PrepackedOperands};
use crate::plan::Plan;
use kernels::fused::Registers;
use numerics::Tensor;
use numerics::math::AlignedBytes;
use program::RuntimeValue;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of frames in a pool.
const MAX_FRAMES: usize = 16;
/// Maximum number of dead values whose memory a frame keeps for others.
pub(crate) const MAX_SPARE: usize = 32;
/// Maximum bytes of this memory that a frame keeps for later runs.
const MAX_SPARE_BYTES: usize = 32 << 20;

/// The frames that runs of a plan leave to later ones.
pub(crate) struct FramePool {
    frames: Mutex<Vec<PlanFrame>>,
    /// Constants that were prepacked before.
    prepacked: Arc<[PrepackedConstant]>,
}

/// The memory of a run.
pub(crate) struct PlanFrame {
    /// The arena.
    pub arena: AlignedBytes,
    pub slots: Vec<Option<RuntimeValue>>,
    pub registers: Registers,
    /// Memory of dead large values, for reuse.
    pub spare: Vec<Tensor>,
    /// Memory for small results while they are computed.
    pub unused: Vec<AlignedBytes>,
    /// Operands that are prepacked.
    pub prepacked: PrepackedOperands,
}

impl FramePool {
    /// No frames, of plans some of whose constants are prepacked.
    pub(crate) fn new(prepacked: Arc<[PrepackedConstant]>) -> FramePool {
        FramePool { frames: Mutex::default(), prepacked }
    }

    /// The memory of an earlier run of a plan, or new memory.
    pub(crate) fn take(&self, plan: &Plan) -> PlanFrame {
        let pooled = self.frames.lock().unwrap_or_else(PoisonError::into_inner).pop();
        pooled.unwrap_or_else(|| {
            let mut arena = AlignedBytes::zeros(plan.arena_bytes);
            for (at, bytes) in &plan.initial {
                arena[*at..at + bytes.len()].copy_from_slice(bytes);
            }
            PlanFrame {
                arena,
                slots: vec![None; plan.slots],
                registers: Registers::default(),
                spare: Vec::new(),
                unused: Vec::new(),
                prepacked: PrepackedOperands::new(plan.prepacked, Arc::clone(&self.prepacked)),
            }
        })
    }

    /// Returns a frame for another run, without the memory that it shares with others.
    pub(crate) fn give_back(&self, mut frame: PlanFrame) {
        for slot in &mut frame.slots {
            let is_own = match slot {
                Some(RuntimeValue::Tensor(tensor)) => tensor.is_unshared(),
                _ => false,
            };
            if !is_own {
                *slot = None;
            }
        }
        let mut bytes = 0;
        let is_kept = |tensor: &&Tensor| {
            bytes += tensor.bytes().len();
            bytes <= MAX_SPARE_BYTES
        };
        let kept = frame.spare.iter().rev().take_while(is_kept).count();
        frame.spare.drain(..frame.spare.len() - kept);
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if frames.len() < MAX_FRAMES {
            frames.push(frame);
        }
    }
}
