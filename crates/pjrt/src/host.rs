//! Python functions of JAX that programs call: `jax.pure_callback`, `jax.debug.print` and the like.
//!
//! JAX lowers them to custom calls with the number of a function, and gives the functions with each
//! execution, in its context. The Python package sets the function that calls one of them.

use crate::divided::{INSPECT, NUMBER, ON_SHARDS};
use crate::error::{Code, Failure, Outcome};
use crate::execute::Context;
use crate::handle::{Foreign, parts};
use crate::types;
use pjrt_abi::TOKEN;
use stablo::ir::AttrKind;
use stablo::{
    Attribute, CustomCall, CustomCalls, DType, Distribution, EvalError, RuntimeValue, Tensor,
};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The targets that call Python functions, and the ones whose functions write the results.
const TARGETS: [&str; 2] = ["xla_ffi_python_cpu_callback", ON_SHARDS];
const IN_PLACE: [&str; 1] = ["xla_buffer_python_cpu_callback"];

/// A tensor, as the caller of Python functions sees it. The type 23 is that of tokens.
#[repr(C)]
pub(crate) struct HostArray {
    element_type: c_int,
    rank: c_int,
    dims: *const i64,
    data: *mut c_void,
}

/// Calls the Python object `function`. Returns false, with a message, if that fails.
pub(crate) type CallPython = unsafe extern "C" fn(
    function: *mut c_void,
    num_arguments: usize,
    arguments: *const HostArray,
    num_results: usize,
    results: *const HostArray,
    message: *mut c_char,
    message_size: usize,
) -> bool;

static CALL_PYTHON: OnceLock<CallPython> = OnceLock::new();
static CALL_IN_PLACE: OnceLock<CallPython> = OnceLock::new();

/// Bytes for the message of a Python function that fails.
pub(crate) const MESSAGE_BYTES: usize = 8192;

/// Sets the function that calls Python functions; the first one stays.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn stablo_pjrt_set_call_python(function: CallPython) {
    let _ = CALL_PYTHON.set(function);
}

/// Sets the function that calls Python functions which write the results; the first one stays.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn stablo_pjrt_set_call_in_place(function: CallPython) {
    let _ = CALL_IN_PLACE.set(function);
}

/// Tells a Python function, known by a key, the sharding that it asks for. Returns false, with a
/// message, if that fails.
pub(crate) type Inspect = unsafe extern "C" fn(
    key: *const c_char,
    key_size: usize,
    sharding: *const c_char,
    sharding_size: usize,
    message: *mut c_char,
    message_size: usize,
) -> bool;

static INSPECT_SHARDING: OnceLock<Inspect> = OnceLock::new();

/// Sets the function that tells Python functions a sharding; the first one stays.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn stablo_pjrt_set_inspect_sharding(function: Inspect) {
    let _ = INSPECT_SHARDING.set(function);
}

/// Tells the Python function of a key a sharding. Does nothing if Python has set no function.
///
/// # Errors
/// The message of the function if it fails.
pub(crate) fn inspect(key: &str, sharding: &str) -> Outcome {
    let Some(inspect) = INSPECT_SHARDING.get() else { return Ok(()) };
    let mut message = [0u8; MESSAGE_BYTES];
    let ((key, key_size), (text, text_size)) = (parts(key.as_bytes()), parts(sharding.as_bytes()));
    // SAFETY: the texts and the message live during the call.
    let done = unsafe {
        let message = message.as_mut_ptr().cast();
        inspect(key, key_size, text, text_size, message, MESSAGE_BYTES)
    };
    if done { Ok(()) } else { Err(Failure::new(Code::Internal, text_of(message))) }
}

/// The text that a function of Python wrote.
pub(crate) fn text_of(mut message: [u8; MESSAGE_BYTES]) -> String {
    message[MESSAGE_BYTES - 1] = 0;
    CStr::from_bytes_until_nul(&message).unwrap_or_default().to_string_lossy().into_owned()
}

/// The functions of JAX, as an execution's context has them.
#[repr(C)]
struct Functions {
    functions: *const *mut c_void,
    count: usize,
}

/// The functions that a program may call, from the last execution. All executions of a program
/// have the same.
#[derive(Clone, Default)]
pub struct Host {
    functions: Arc<Mutex<Option<Foreign>>>,
    /// For calls that are made on shards, how operands are divided over devices.
    distributions: Arc<Vec<Vec<Option<Distribution>>>>,
}

impl Host {
    /// Takes the functions of an execution.
    pub fn enter(&self, context: &Context) {
        let data = *context.data.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(functions) = data {
            *self.functions.lock().unwrap_or_else(PoisonError::into_inner) = Some(functions);
        }
    }

    /// Sets the distributions of the operands of calls, by the numbers that the calls have.
    pub fn set_distributions(&mut self, distributions: Vec<Vec<Option<Distribution>>>) {
        self.distributions = Arc::new(distributions);
    }

    /// The custom calls that call the functions.
    pub fn custom_calls(&self) -> CustomCalls {
        let mut calls = CustomCalls::default();
        let targets = TARGETS.map(|target| (target, &CALL_PYTHON)).into_iter();
        for (target, caller) in targets.chain(IN_PLACE.map(|target| (target, &CALL_IN_PLACE))) {
            let host = self.clone();
            calls.register(target, move |call, operands| {
                host.call_on_shards(caller, call, &operands)
                    .map_err(|message| EvalError::new("callback", message))
            });
        }
        // The function learned it when the program was compiled.
        calls.register(INSPECT, |_, operands| Ok(operands));
        calls
    }

    fn function(&self, index: usize) -> Result<*mut c_void, String> {
        let functions = *self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let functions = functions.map_or(std::ptr::null(), |functions| functions.0);
        // SAFETY: the client passed its table of functions, which lives during the execution.
        let found = unsafe {
            functions
                .cast::<Functions>()
                .as_ref()
                .and_then(|table| (index < table.count).then(|| table.functions.add(index).read()))
        };
        found.ok_or_else(|| format!("the execution has no Python function {index}"))
    }

    /// Calls the Python function of a custom call, on the shards of each device if the call is one
    /// on shards.
    fn call_on_shards(
        &self,
        caller: &OnceLock<CallPython>,
        call: &CustomCall,
        operands: &[RuntimeValue],
    ) -> Result<Vec<RuntimeValue>, String> {
        let number = call.attribute(NUMBER).and_then(Attribute::as_i64);
        let number = number.and_then(|number| usize::try_from(number).ok());
        let Some(distributions) = number.and_then(|number| self.distributions.get(number)) else {
            return self.call(caller, call, operands);
        };
        let mut shards: Vec<Vec<RuntimeValue>> = Vec::new();
        for (operand, distribution) in operands.iter().zip(distributions) {
            if let (RuntimeValue::Tensor(tensor), Some(distribution)) = (operand, distribution) {
                let tiles = distribution.split(tensor).map_err(|error| error.to_string())?;
                shards.push(tiles.into_iter().map(RuntimeValue::Tensor).collect());
            } else {
                // Each device has all of it.
                shards.push(vec![operand.clone()]);
            }
        }
        let count = shards.iter().map(Vec::len).max().unwrap_or(1);
        let mut results = Vec::new();
        for device in 0..count {
            let own = shards.iter().map(|tiles| tiles[device % tiles.len()].clone());
            results = self.call(caller, call, &own.collect::<Vec<_>>())?;
        }
        Ok(results)
    }

    /// Calls the Python function of a custom call.
    fn call(
        &self,
        caller: &OnceLock<CallPython>,
        call: &CustomCall,
        operands: &[RuntimeValue],
    ) -> Result<Vec<RuntimeValue>, String> {
        let call_python = caller
            .get()
            .ok_or("programs can call Python functions only under JAX with the package stablo")?;
        // JAX writes the first for programs that StableHLO's own attribute cannot express.
        let index = ["mhlo.backend_config", "backend_config"]
            .into_iter()
            .find_map(|name| call.attribute(name)?.as_dictionary()?.get("index")?.as_i64())
            .and_then(|index| usize::try_from(index).ok())
            .ok_or("the call has no attribute `index`")?;
        let function = self.function(index)?;
        let aliases = aliases(call);
        let mut results = Vec::new();
        for (index, ty) in call.result_types.iter().enumerate() {
            let alias = aliases.iter().find(|(result, _)| *result == index);
            let operand = alias.and_then(|(_, operand)| operands.get(*operand)?.tensor().ok());
            let tensor = ty.as_tensor();
            let sizes = tensor.and_then(|tensor| tensor.static_shape());
            results.push(match (sizes, stablo::storage_dtype(ty)) {
                // The function gets one array for both, which begins as the operand.
                _ if let Some(operand) = operand => Some(operand.clone()),
                (Some(sizes), Some(dtype)) => {
                    Some(Tensor::zeros(dtype, sizes).map_err(|error| error.to_string())?)
                }
                _ => None,
            });
        }
        let mut arguments = Vec::new();
        for operand in operands {
            let tensor = match operand {
                RuntimeValue::Tensor(tensor) => Some(tensor),
                RuntimeValue::Token | RuntimeValue::Tuple(_) => None,
            };
            let data =
                tensor.map_or(std::ptr::null_mut(), |tensor| tensor.bytes().as_ptr().cast_mut());
            arguments.push(LentMemory::new(tensor.map(|t| (t.dtype(), t.shape())), data.cast()));
        }
        let mut places = Vec::new();
        for result in &mut results {
            let ty = result.as_ref().map(|tensor| (tensor.dtype(), tensor.shape().to_vec()));
            let data = match result {
                Some(tensor) => tensor.bytes_mut().map_err(|error| error.to_string())?.as_mut_ptr(),
                None => std::ptr::null_mut(),
            };
            places.push(LentMemory::new(
                ty.as_ref().map(|(dtype, sizes)| (*dtype, &sizes[..])),
                data.cast(),
            ));
        }
        for &(result, operand) in &aliases {
            if let Some((argument, place)) = arguments.get_mut(operand).zip(places.get(result)) {
                argument.data = place.data;
            }
        }
        let arrays =
            |all: &[LentMemory]| all.iter().map(LentMemory::array).collect::<Vec<HostArray>>();
        let (arguments, outputs) = (arrays(&arguments), arrays(&places));
        let mut message = [0u8; MESSAGE_BYTES];
        // SAFETY: the arrays live during the call, and it alone writes the arrays of results.
        let done = unsafe {
            call_python(
                function,
                arguments.len(),
                arguments.as_ptr(),
                outputs.len(),
                outputs.as_ptr(),
                message.as_mut_ptr().cast(),
                message.len(),
            )
        };
        if !done {
            return Err(text_of(message));
        }
        let value = |result: Option<Tensor>| match result {
            // Python may write bytes that are no elements, such as a boolean of 2.
            Some(tensor) => {
                Tensor::from_bytes(tensor.dtype(), tensor.shape(), tensor.bytes().clone())
                    .map(RuntimeValue::Tensor)
                    .map_err(|error| error.to_string())
            }
            None => Ok(RuntimeValue::Token),
        };
        results.into_iter().map(value).collect()
    }
}

/// The results of a call that share the memory of operands: the numbers of both.
fn aliases(call: &CustomCall) -> Vec<(usize, usize)> {
    let list = call.attribute("output_operand_aliases").and_then(Attribute::as_array);
    let alias = |alias: &Attribute| {
        let AttrKind::Dialect(alias) = &**alias else { return None };
        // The elements of the tuple that results are in are numbered from 0 on; one result is none.
        let [within_results, operand, _] = &alias.params[..] else { return None };
        let result = within_results.as_ref()?.as_int_array()?.first().copied().unwrap_or(0);
        let operand = operand.as_ref()?.as_i64()?;
        Some((usize::try_from(result).ok()?, usize::try_from(operand).ok()?))
    };
    list.unwrap_or(&[]).iter().filter_map(alias).collect()
}

/// A tensor that is lent to Python; without a type, a token.
struct LentMemory {
    element_type: c_int,
    dims: Vec<i64>,
    data: *mut c_void,
}

impl LentMemory {
    fn new(ty: Option<(DType, &[usize])>, data: *mut c_void) -> LentMemory {
        let number = |dtype| types::number(dtype).unwrap_or(0);
        LentMemory {
            element_type: ty.map_or(TOKEN, |(dtype, _)| number(dtype)),
            dims: ty.map_or(Vec::new(), |(_, sizes)| sizes.iter().map(|&s| s as i64).collect()),
            data,
        }
    }

    fn array(&self) -> HostArray {
        HostArray {
            element_type: self.element_type,
            rank: self.dims.len() as c_int,
            dims: self.dims.as_ptr(),
            data: self.data,
        }
    }
}
