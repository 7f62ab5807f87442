//! Executions of loaded programs.

use crate::abi::{ExecuteContextCreate, ExecuteContextDestroy, ExecuteOptions, LoadedExecute};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::{Code, Failure, Outcome};
use crate::event::{Event, Promise};
use crate::executable::{Compiled, Loaded};
use crate::handle::{Foreign, Handle, array, array_mut, structure};
use stablo::{DType, RuntimeValue, Tensor, with_large_stack};
use std::sync::{Arc, Mutex};

/// `PJRT_ExecuteContext`: data of the client for its custom calls, by the id of their type.
#[derive(Default)]
pub struct Context {
    pub data: Mutex<Vec<(i64, Foreign)>>,
}

pub fn create_context(args: &mut ExecuteContextCreate) -> Outcome {
    args.context = Handle::new(Context::default());
    Ok(())
}

pub fn destroy_context(args: &mut ExecuteContextDestroy) -> Outcome {
    args.context.free();
    Ok(())
}

/// Bytes of stack within which a program that does not nest runs, with a wide margin.
const ENOUGH_STACK: usize = 256 << 10;

/// An argument of an execution.
struct Argument {
    value: Arc<Promise<Tensor>>,
}

impl Argument {
    /// The tensor, which is waited for; one that nothing else refers to may be written.
    fn tensor(self) -> Outcome<Tensor> {
        match Arc::try_unwrap(self.value) {
            Ok(promise) => promise.into_value(),
            Err(shared) => shared.wait_for(Clone::clone),
        }
    }
}

/// Checks the arguments for one device, and takes those that are donated.
fn arguments(
    compiled: &Compiled,
    buffers: &[Handle<Buffer>],
    kept: &[i64],
) -> Outcome<Vec<Argument>> {
    if buffers.len() != compiled.arguments.len() {
        let (found, required) = (buffers.len(), compiled.arguments.len());
        let message = format!("the program takes {required} arguments, found {found}");
        return Err(Failure::invalid(message));
    }
    let is_donated =
        |index: usize| compiled.arguments[index].is_donated && !kept.contains(&(index as i64));
    for (index, (&buffer, declared)) in buffers.iter().zip(&compiled.arguments).enumerate() {
        let shape = buffer.get()?.shape();
        if shape != declared.shape && !declared.is_token {
            let message = format!(
                "argument {index} has shape {:?} of {}, the program takes {:?} of {}",
                shape.sizes,
                shape.dtype.name(),
                declared.shape.sizes,
                declared.shape.dtype.name()
            );
            return Err(Failure::invalid(message));
        }
        let again = buffers
            .iter()
            .enumerate()
            .position(|(other, &own)| own == buffer && other != index && is_donated(index));
        if let Some(other) = again {
            let message = format!(
                "arguments {} and {} are the same buffer, which cannot be donated and used",
                index.min(other),
                index.max(other)
            );
            return Err(Failure::invalid(message));
        }
    }
    let argument = |(index, buffer): (usize, &Handle<Buffer>)| {
        let buffer = buffer.get()?;
        let value = if is_donated(index) { buffer.take()? } else { buffer.value()? };
        Ok(Argument { value })
    };
    buffers.iter().enumerate().map(argument).collect()
}

/// Runs the program on the tensors of one device.
fn run(compiled: &Compiled, inputs: Vec<RuntimeValue>) -> Outcome<Vec<Tensor>> {
    let program = &compiled.program;
    let run = || program.run(inputs);
    let has_stack = stablo::stack_left().is_some_and(|bytes| bytes >= ENOUGH_STACK);
    let results = if program.runs_in_place() && has_stack { run() } else { with_large_stack(run) };
    let results = results.map_err(Failure::of(Code::Internal))?;
    let tensor = |value: RuntimeValue| match value {
        RuntimeValue::Token => Ok(Tensor::zeros(DType::I1, [0])?),
        value => value.into_tensor().map_err(|error| Failure::of(Code::Internal)(error.into())),
    };
    results.into_iter().map(tensor).collect()
}

/// The memory for a result.
fn results_on(
    compiled: &Compiled,
    device: Handle<Device>,
    tensors: Vec<Tensor>,
    places: &mut [Handle<Buffer>],
) -> Outcome {
    let memories = device.get()?.memories();
    for ((tensor, result), place) in tensors.into_iter().zip(&compiled.results).zip(places) {
        let value = Arc::new(Promise::from(Ok(tensor)));
        *place = Handle::new(Buffer::new(memories[result.memory], &result.shape, value));
    }
    Ok(())
}

pub fn execute(args: &mut LoadedExecute) -> Outcome {
    let loaded: &Loaded = args.executable.get()?;
    loaded.check_is_live()?;
    let compiled = &loaded.compiled;
    let options: ExecuteOptions = structure(args.options)?;
    let kept = array(options.non_donatable_input_indices, options.num_non_donatable_input_indices)?;
    let lists = array(args.argument_lists, args.num_devices)?;
    let places = array(args.output_lists, args.num_devices)?;
    if compiled.num_devices() != 1 || lists.len() != 1 {
        let message = format!(
            "the program is for {} devices, arguments are for {}",
            compiled.num_devices(),
            lists.len()
        );
        return Err(Failure::new(Code::Unimplemented, message));
    }
    let buffers = array(lists[0], args.num_args)?;
    let places = array_mut(places[0], compiled.results.len())?;
    let device = if args.execute_device.is_null() {
        let own = loaded.devices.first().copied();
        let first = buffers.first().and_then(|buffer| Some(buffer.get_if_any()?.device()));
        own.or(first).unwrap_or(Handle::NULL)
    } else {
        args.execute_device
    };
    if let Some(context) = options.context.get_if_any() {
        compiled.host.enter(context);
    }
    let inputs = arguments(compiled, buffers, kept)?;
    let inputs = inputs.into_iter().zip(&compiled.arguments).map(|(argument, declared)| {
        let tensor = argument.tensor()?;
        Ok(if declared.is_token { RuntimeValue::Token } else { tensor.into() })
    });
    let tensors = run(compiled, inputs.collect::<Outcome<_>>()?)?;
    results_on(compiled, device, tensors, places)?;
    if !args.device_complete_events.is_null() {
        array_mut(args.device_complete_events, 1)?[0] = Event::ready();
    }
    Ok(())
}
