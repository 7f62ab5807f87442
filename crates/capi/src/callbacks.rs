//! Functions of the host that runs call: implementations of custom calls, and cancellation.

use crate::arrays::{ArrayOf, stablo_array};
use crate::failure::{CallFailure, Failable};
use crate::into::stablo_buffer;
use crate::text_at;
use stablo::{CustomCall, CustomCalls, EvalError, Observer, Progress, RuntimeValue, Tensor, Type};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ops::ControlFlow;

/// Size in bytes of the memory for the message of a custom call that fails.
const MESSAGE_BYTES: usize = 1024;

/// See `stablo.h`.
#[allow(non_camel_case_types, reason = "the name in C")]
pub type stablo_custom_call_function = extern "C" fn(
    context: *mut c_void,
    attributes: *const c_char,
    inputs: *const stablo_array,
    num_inputs: usize,
    outputs: *const stablo_buffer,
    num_outputs: usize,
    message: *mut c_char,
    message_size: usize,
) -> bool;

/// See `stablo.h`.
#[allow(non_camel_case_types, reason = "the name in C")]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct stablo_custom_call {
    target: *const c_char,
    function: Option<stablo_custom_call_function>,
    context: *mut c_void,
}

/// A pointer that the host passes to its functions.
#[derive(Clone, Copy)]
struct HostPointer(*mut c_void);

impl HostPointer {
    fn get(self) -> *mut c_void {
        self.0
    }
}

// SAFETY: only the host's functions read what it leads to, which the header lets any thread call.
unsafe impl Send for HostPointer {}
// SAFETY: likewise.
unsafe impl Sync for HostPointer {}

/// The host's request to end a run.
#[derive(Clone)]
pub(crate) struct Cancellation {
    is_cancelled: Option<extern "C" fn(*mut c_void) -> bool>,
    context: HostPointer,
}

impl Cancellation {
    pub(crate) fn new(
        is_cancelled: Option<extern "C" fn(*mut c_void) -> bool>,
        context: *mut c_void,
    ) -> Cancellation {
        Cancellation { is_cancelled, context: HostPointer(context) }
    }
}

impl Observer for Cancellation {
    fn progress(&mut self, _: Progress) -> ControlFlow<()> {
        match self.is_cancelled {
            Some(is_cancelled) if is_cancelled(self.context.get()) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// The implementations of custom calls that the host gave.
///
/// # Safety
/// The pointers of the calls are as the header says.
pub(crate) unsafe fn custom_calls(calls: &[stablo_custom_call]) -> Failable<CustomCalls> {
    let mut implementations = CustomCalls::default();
    for (index, call) in calls.iter().enumerate() {
        // SAFETY: as the caller says.
        let target = unsafe { text_at(call.target, "") };
        let target = target.map_err(|f| f.about(format_args!("custom call {index}")))?;
        let function = call.function.filter(|_| !target.is_empty());
        let Some(function) = function else {
            let message = format!("custom call {index} needs a target and a function");
            return Err(CallFailure::from(message));
        };
        let context = HostPointer(call.context);
        implementations.register(target, move |call, operands| {
            run(call, &operands, function, context)
                .map_err(|message| EvalError::new("custom_call", message))
        });
    }
    Ok(implementations)
}

/// Runs a function of the host on the operands of a call.
fn run(
    call: &CustomCall,
    operands: &[RuntimeValue],
    function: stablo_custom_call_function,
    context: HostPointer,
) -> Result<Vec<RuntimeValue>, String> {
    let describe = |what: &str, ty: &Type| {
        format!("{what} of type {ty} of the custom call @{} cannot be given to C", call.target)
    };
    let mut inputs = Vec::new();
    for (operand, ty) in operands.iter().zip(&call.operand_types) {
        let tensor = operand.tensor().map_err(|_| describe("an operand", ty))?;
        inputs.push(ArrayOf::new(tensor.dtype(), tensor.shape()));
    }
    let mut results = Vec::new();
    for ty in &call.result_types {
        let tensor = ty.as_tensor();
        let shape = tensor.and_then(|tensor| tensor.static_shape());
        let (Some(shape), Some(dtype)) = (shape, tensor.and_then(|tensor| tensor.element.dtype()))
        else {
            return Err(describe("a result", ty));
        };
        let tensor = Tensor::zeros(dtype, &shape).map_err(|e| e.to_string())?;
        results.push((tensor, ArrayOf::new(dtype, &shape)));
    }
    let arrays: Vec<stablo_array> = operands
        .iter()
        .zip(&inputs)
        .filter_map(|(operand, array)| Some(array.array(operand.tensor().ok()?.bytes())))
        .collect();
    let mut buffers: Vec<stablo_buffer> = Vec::new();
    for (tensor, array) in &mut results {
        buffers.push(array.buffer(tensor.bytes_mut().map_err(|e| e.to_string())?));
    }
    let attributes = attributes(call);
    let mut message = [0u8; MESSAGE_BYTES];
    let done = function(
        context.get(),
        attributes.as_ptr(),
        arrays.as_ptr(),
        arrays.len(),
        buffers.as_ptr(),
        buffers.len(),
        message.as_mut_ptr().cast(),
        message.len(),
    );
    if !done {
        message[MESSAGE_BYTES - 1] = 0;
        let text = CStr::from_bytes_until_nul(&message).unwrap_or_default().to_string_lossy();
        let reason = if text.is_empty() { "its function failed" } else { &*text };
        return Err(format!("the custom call @{}: {reason}", call.target));
    }
    drop(buffers);
    let value = |(tensor, _): (Tensor, ArrayOf)| {
        // C may write bytes that are no elements, such as a boolean of 2.
        let bytes = tensor.bytes().clone();
        let tensor = Tensor::from_bytes(tensor.dtype(), tensor.shape(), bytes);
        tensor.map(RuntimeValue::Tensor).map_err(|e| e.to_string())
    };
    results.into_iter().map(value).collect()
}

/// The attributes of a call as MLIR text, `{name = value, …}`.
fn attributes(call: &CustomCall) -> CString {
    let named = call.attributes.iter().map(|(name, value)| format!("{name} = {value}"));
    let text = format!("{{{}}}", named.collect::<Vec<_>>().join(", "));
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}
