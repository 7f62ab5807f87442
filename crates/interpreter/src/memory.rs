//! The memory of runs of plans, which they leave to later ones.

use crate::compiled::Plan;
use crate::prepacked::PrepackedOperands;
use kernels::fused::Registers;
use numerics::Tensor;
use numerics::math::AlignedBytes;
use program::RuntimeValue;
use std::sync::{Mutex, PoisonError};

/// Maximum number of frames that are kept for later runs.
const KEPT_FRAMES: usize = 16;
/// Maximum number of dead values whose memory a frame keeps for others,
pub(crate) const MAX_SPARE: usize = 32;
/// and maximum bytes of it that it keeps for later runs.
const KEPT_BYTES: usize = 32 << 20;

/// A plan, and memory for its runs by one program.
#[derive(Clone, Copy)]
pub(crate) struct Planned<'p> {
    pub plan: &'p Plan,
    pub frames: &'p Frames,
}

/// Memory that runs leave to later ones.
#[derive(Default)]
pub(crate) struct Frames(Mutex<Vec<Frame>>);

/// The memory of a run.
pub(crate) struct Frame {
    /// The memory of small values.
    pub memory: AlignedBytes,
    pub slots: Vec<Option<RuntimeValue>>,
    pub registers: Registers,
    /// Memory of dead large values, for reuse.
    pub spare: Vec<Tensor>,
    /// Memory for small results while they are computed.
    pub unused: Vec<AlignedBytes>,
    /// Operands that are prepacked.
    pub prepacked: PrepackedOperands,
}

impl Planned<'_> {
    /// The memory of an earlier run, or new memory.
    pub fn frame(&self) -> Frame {
        let kept = self.frames.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| {
            let unit = &self.plan.unit;
            let mut memory = AlignedBytes::zeros(unit.memory);
            for (at, bytes) in &unit.initial {
                memory[*at..at + bytes.len()].copy_from_slice(bytes);
            }
            Frame {
                memory,
                slots: vec![None; unit.slots],
                registers: Registers::default(),
                spare: Vec::new(),
                unused: Vec::new(),
                prepacked: PrepackedOperands::new(unit.prepacked),
            }
        })
    }

    /// Keeps a frame for another run, without the memory that it shares with others.
    pub fn keep(&self, mut frame: Frame) {
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
            bytes <= KEPT_BYTES
        };
        let kept = frame.spare.iter().rev().take_while(is_kept).count();
        frame.spare.drain(..frame.spare.len() - kept);
        let mut frames = self.frames.0.lock().unwrap_or_else(PoisonError::into_inner);
        if frames.len() < KEPT_FRAMES {
            frames.push(frame);
        }
    }
}
