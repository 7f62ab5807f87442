//! Memory that the caller lends to a run: inputs that are read where they are, and outputs that
//! results are written into.

use crate::inputs::{describe_elements, describe_type};
use crate::machine::internal;
use numerics::{DType, TensorMut, TensorRef};
use plan::{Action, Place, Transfer, Unit};
use program::{EvalError, RuntimeValue, ValueType};
use smallvec::SmallVec;

/// The outputs of a run, in order.
pub(crate) type Outputs<'a> = SmallVec<[Output<'a>; 2]>;

/// Memory of the caller for a result.
pub(crate) struct Output<'a> {
    dtype: DType,
    shape: &'a [usize],
    /// `None` while the result is computed.
    pub memory: Option<&'a mut [u8]>,
    /// True if the result is there.
    pub is_written: bool,
}

impl<'a> Output<'a> {
    pub fn of(tensor: &'a mut TensorMut<'_>) -> Output<'a> {
        let (dtype, shape) = (tensor.dtype(), tensor.shape());
        Output { dtype, shape, memory: Some(tensor.bytes_mut()), is_written: false }
    }

    /// Compares with a result, whose type may be dynamic.
    ///
    /// # Errors
    /// If its shape or element type is another.
    pub fn check(&self, index: usize, value: &RuntimeValue) -> Result<(), EvalError> {
        let tensor = value.tensor()?;
        if self.dtype == tensor.dtype() && self.shape == tensor.shape() {
            return Ok(());
        }
        Err(self.mismatch(index, &describe_elements(tensor.dtype(), tensor.shape())))
    }

    /// Compares with the type of a result.
    ///
    /// # Errors
    /// If values of the type have another shape or element type.
    pub fn check_type(&self, index: usize, ty: &ValueType) -> Result<(), EvalError> {
        if ty.accepts_elements(self.dtype, self.shape) {
            return Ok(());
        }
        Err(self.mismatch(index, &describe_type(ty)))
    }

    fn mismatch(&self, index: usize, result: &str) -> EvalError {
        let found = describe_elements(self.dtype, self.shape);
        let message = format!("result {index} is a {result}, the output given a {found}");
        EvalError::new("outputs", message)
    }
}

/// Copies results into memory of the caller; none if one of them does not fit.
///
/// # Errors
/// If one does not fit.
pub fn write_results(
    outputs: &mut [TensorMut<'_>],
    results: &[RuntimeValue],
) -> Result<(), EvalError> {
    let mut outputs: Outputs<'_> = outputs.iter_mut().map(Output::of).collect();
    copy_results(&mut outputs, results)
}

/// As [`write_results`].
pub(crate) fn copy_results(
    outputs: &mut [Output<'_>],
    results: &[RuntimeValue],
) -> Result<(), EvalError> {
    let pairs = || outputs.iter().zip(results).enumerate();
    pairs().try_for_each(|(index, (output, value))| output.check(index, value))?;
    for (output, value) in outputs.iter_mut().zip(results) {
        if let Some(memory) = &mut output.memory {
            copy(memory, value.tensor()?.bytes())?;
        }
    }
    Ok(())
}

/// Copies the bytes of a result into the memory of an output.
///
/// # Errors
/// If this has another size.
pub(crate) fn copy(memory: &mut [u8], bytes: &[u8]) -> Result<(), EvalError> {
    if memory.len() != bytes.len() {
        return Err(internal("a result has not the size of its type"));
    }
    memory.copy_from_slice(bytes);
    Ok(())
}

/// The memory of the caller that may stand for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lender {
    /// That of an input.
    Input(u32),
    /// That of an output, into which a step writes the result.
    Output(u32),
}

/// For each slot of a unit: the memory of the caller that may stand for it.
pub(crate) fn lenders(unit: &Unit) -> Box<[Option<Lender>]> {
    let mut lenders = vec![None; unit.slots].into_boxed_slice();
    // The shape of a dynamic result is compared with its output when all are computed: until then,
    // nothing is written.
    let is_static =
        |transfer: &Transfer| unit.types[transfer.from as usize].static_shape().is_some();
    let lends_outputs = unit.body.results.iter().all(is_static);
    let slot = |value: u32| match unit.places[value as usize] {
        Place::Slot(slot) => Some(slot as usize),
        _ => None,
    };
    let mut is_written = vec![false; unit.slots];
    for step in &unit.body.steps {
        let outputs = match &step.action {
            Action::Loop { outputs, .. } | Action::Rows { outputs, .. } => &outputs[..],
            Action::Move { output, .. } | Action::Apply { output, .. } => {
                std::slice::from_ref(output)
            }
            _ => &[],
        };
        outputs.iter().filter_map(|&value| slot(value)).for_each(|slot| is_written[slot] = true);
    }
    for (index, transfer) in unit.body.results.iter().enumerate() {
        if let Some(slot) = slot(transfer.from).filter(|&slot| lends_outputs && is_written[slot]) {
            lenders[slot].get_or_insert(Lender::Output(index as u32));
        }
    }
    for (index, &argument) in unit.arguments.iter().enumerate() {
        if let Some(slot) = slot(argument) {
            lenders[slot] = Some(Lender::Input(index as u32));
        }
    }
    lenders
}

/// The caller's memory of a run.
#[derive(Default)]
pub(crate) struct Lent<'a> {
    pub inputs: &'a [TensorRef<'a>],
    pub outputs: Outputs<'a>,
}

impl<'a> Lent<'a> {
    /// The bytes that stand for a slot: those of an input, or of a result that is written.
    pub fn bytes(&self, lender: Option<Lender>) -> Option<&[u8]> {
        match lender? {
            Lender::Input(index) => self.inputs.get(index as usize).map(TensorRef::bytes),
            Lender::Output(index) => {
                let output = self.outputs.get(index as usize).filter(|output| output.is_written)?;
                output.memory.as_deref()
            }
        }
    }

    /// Takes the memory of the output that a step writes, with its number.
    pub fn take(&mut self, lender: Option<Lender>) -> Option<(u32, &'a mut [u8])> {
        let Some(Lender::Output(index)) = lender else { return None };
        let memory = self.outputs.get_mut(index as usize)?.memory.take()?;
        Some((index, memory))
    }

    /// Takes the memory of output `index` if the result is not there.
    pub fn take_unwritten(&mut self, index: usize) -> Option<&'a mut [u8]> {
        let output = self.outputs.get_mut(index).filter(|output| !output.is_written)?;
        output.memory.take()
    }

    /// Puts back the memory of an output, which has the result now.
    pub fn put(&mut self, index: u32, memory: &'a mut [u8]) {
        if let Some(output) = self.outputs.get_mut(index as usize) {
            (output.memory, output.is_written) = (Some(memory), true);
        }
    }
}
