//! Memory that the caller lends to a run: inputs that are read where they are, and outputs that
//! results are written into.

use crate::plan::{Plan, StepOp, Storage, Transfer};
use interpreter::OutputBuffers;
use numerics::TensorRef;

/// The buffer of the caller that holds the value of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferSource {
    /// The buffer of an input.
    Input(u32),
    /// The buffer of an output, into which a step writes the result.
    Output(u32),
}

/// For each slot of a plan: the buffer of the caller that may hold its value.
pub(crate) fn buffer_sources(plan: &Plan) -> Box<[Option<BufferSource>]> {
    let mut sources = vec![None; plan.slots].into_boxed_slice();
    // The shape of a dynamic result is compared with its output when all are computed: until then,
    // nothing is written.
    let is_static =
        |transfer: &Transfer| plan.types[transfer.from as usize].static_shape().is_some();
    let writes_outputs = plan.body.results.iter().all(is_static);
    let slot = |value: u32| match plan.storage[value as usize] {
        Storage::Slot(slot) => Some(slot as usize),
        _ => None,
    };
    let mut is_written = vec![false; plan.slots];
    for step in &plan.body.steps {
        let outputs = match &step.op {
            StepOp::Loop { outputs, .. } | StepOp::Rows { outputs, .. } => &outputs[..],
            StepOp::Move { output, .. } | StepOp::Apply { output, .. } => {
                std::slice::from_ref(output)
            }
            _ => &[],
        };
        outputs.iter().filter_map(|&value| slot(value)).for_each(|slot| is_written[slot] = true);
    }
    for (index, transfer) in plan.body.results.iter().enumerate() {
        if let Some(slot) = slot(transfer.from).filter(|&slot| writes_outputs && is_written[slot]) {
            sources[slot].get_or_insert(BufferSource::Output(index as u32));
        }
    }
    for (index, &argument) in plan.arguments.iter().enumerate() {
        if let Some(slot) = slot(argument) {
            sources[slot] = Some(BufferSource::Input(index as u32));
        }
    }
    sources
}

/// The buffers of the caller in a run.
#[derive(Default)]
pub(crate) struct CallerBuffers<'a> {
    pub inputs: &'a [TensorRef<'a>],
    pub outputs: OutputBuffers<'a>,
}

impl<'a> CallerBuffers<'a> {
    /// The bytes of an input, or of a result that is written.
    pub(crate) fn bytes(&self, source: Option<BufferSource>) -> Option<&[u8]> {
        match source? {
            BufferSource::Input(index) => self.inputs.get(index as usize).map(TensorRef::bytes),
            BufferSource::Output(index) => {
                let output = self.outputs.get(index as usize).filter(|output| output.is_written)?;
                output.memory.as_deref()
            }
        }
    }

    /// Takes the memory of the output that a step writes, with its number.
    pub(crate) fn take(&mut self, source: Option<BufferSource>) -> Option<(u32, &'a mut [u8])> {
        let Some(BufferSource::Output(index)) = source else { return None };
        let memory = self.outputs.get_mut(index as usize)?.memory.take()?;
        Some((index, memory))
    }

    /// Takes the memory of output `index` if the result is not there.
    pub(crate) fn take_unwritten(&mut self, index: usize) -> Option<&'a mut [u8]> {
        let output = self.outputs.get_mut(index).filter(|output| !output.is_written)?;
        output.memory.take()
    }

    /// Puts back the memory of an output, which has the result now.
    pub(crate) fn put(&mut self, index: u32, memory: &'a mut [u8]) {
        if let Some(output) = self.outputs.get_mut(index as usize) {
            (output.memory, output.is_written) = (Some(memory), true);
        }
    }
}
