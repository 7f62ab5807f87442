//! Executions of loaded programs.
//!
//! A program for several partitions is one of whole tensors: arguments are put together
//! from the shards of devices, results divided into shards. Replicas run as processes.

use crate::buffer::Buffer;
use crate::debug;
use crate::device::Device;
use crate::error::{Code, Failure, Outcome};
use crate::event::{Event, Promise, Signal};
use crate::executable::{Compiled, LoadedExecutable};
use crate::handle::{Foreign, Handle, Resolve, array, array_mut, give, null, structure};
use crate::parameters::{Parameter, unsharded};
use crate::queue;
use pjrt_abi::{ExecuteContextCreate, ExecuteContextDestroy, ExecuteOptions, LoadedExecute};
use stablo::{DType, Grid, RuntimeValue, Tensor, with_large_stack};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// `PJRT_ExecuteContext`: data of the client for its custom calls, by the id of their type.
#[derive(Default)]
pub struct Context {
    pub data: Mutex<Vec<(i64, Foreign)>>,
}

pub(crate) fn create_context(args: &mut ExecuteContextCreate) -> Outcome {
    args.context = give(Context::default());
    Ok(())
}

pub(crate) fn destroy_context(args: &mut ExecuteContextDestroy) -> Outcome {
    args.context.free();
    Ok(())
}

/// Bytes of stack within which a program that does not nest runs, with a wide margin.
const ENOUGH_STACK: usize = 256 << 10;

/// A value that may still be computed.
type Value = Arc<Promise<Tensor>>;

/// The value, which is waited for; one that nothing else refers to may be written.
fn tensor(value: Value) -> Outcome<Tensor> {
    match Arc::try_unwrap(value) {
        Ok(promise) => promise.into_value(),
        Err(shared) => shared.wait_for(Clone::clone),
    }
}

/// Checks the arguments for one device, and takes donated ones.
fn arguments(compiled: &Compiled, buffers: &[Handle<Buffer>], kept: &[i64]) -> Outcome<Vec<Value>> {
    if buffers.len() != compiled.arguments.len() {
        let (found, required) = (buffers.len(), compiled.arguments.len());
        let message = format!("the program takes {required} arguments, found {found}");
        return Err(Failure::invalid(message));
    }
    let is_donated =
        |index: usize| compiled.arguments[index].is_donated && !kept.contains(&(index as i64));
    for (index, (&buffer, declared)) in buffers.iter().zip(&compiled.arguments).enumerate() {
        let own = buffer.get()?;
        if !declared.is_token && !own.has_shape(&declared.shape) {
            let shape = own.shape();
            let message = format!(
                "argument {index} has shape {:?} of {}, the program takes {:?} of {}",
                shape.sizes,
                shape.dtype.name(),
                declared.shape.sizes,
                declared.shape.dtype.name()
            );
            return Err(Failure::invalid(message));
        }
        if !is_donated(index) {
            continue;
        }
        let is_again = |&(other, own): &(usize, &Handle<Buffer>)| other != index && *own == buffer;
        if let Some((other, _)) = buffers.iter().enumerate().find(is_again) {
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
        let value = if is_donated(index) { buffer.take() } else { buffer.value() }?;
        if buffer.order().is_row_major() {
            return Ok(value);
        }
        let tensor = buffer.order().to_row_major(tensor(value)?, buffer.shape());
        Ok(Arc::new(Promise::from(tensor)))
    };
    buffers.iter().enumerate().map(argument).collect()
}

/// Runs the program on its inputs: whole tensors, or the inputs of each replica.
fn run(compiled: &Compiled, inputs: Vec<Vec<RuntimeValue>>) -> Outcome<Vec<Vec<RuntimeValue>>> {
    let Some(reference) = &compiled.reference else {
        return run_program(compiled, &compiled.program, inputs);
    };
    let expected = run_program(compiled, reference, inputs.clone())?;
    let found = run_program(compiled, &compiled.program, inputs)?;
    let pairs = expected.iter().flatten().zip(found.iter().flatten());
    let differs = |(expected, found): (&RuntimeValue, &RuntimeValue)| {
        let bytes = |value: &RuntimeValue| value.tensor().ok().map(|own| own.bytes().clone());
        bytes(expected) != bytes(found)
    };
    if let Some(index) = { pairs }.position(differs) {
        let message = format!(
            "STABLO_VERIFY: result {index} of {} differs from the interpreter's: please report this",
            compiled.title
        );
        return Err(Failure::new(Code::Internal, message));
    }
    Ok(found)
}

fn run_program(
    compiled: &Compiled,
    program: &stablo::Program,
    mut inputs: Vec<Vec<RuntimeValue>>,
) -> Outcome<Vec<Vec<RuntimeValue>>> {
    let mut observer = debug::observer(&compiled.title, program.module());
    let replicas = compiled.options.num_replicas;
    let run = || match replicas {
        1 => {
            let inputs = inputs.pop().unwrap_or_default();
            program.run_observed(inputs, &mut *observer).map(|results| vec![results])
        }
        replicas => program.run_grid(Grid { replicas, partitions: 1 }, inputs, &mut *observer),
    };
    let has_stack = stablo::stack_left().is_some_and(|bytes| bytes >= ENOUGH_STACK);
    let results = if program.runs_in_place() && has_stack { run() } else { with_large_stack(run) };
    results.map_err(Failure::of(Code::Internal))
}

/// The input of a program for the arguments of devices.
fn whole(declared: &Parameter, shards: Vec<Value>) -> Outcome<RuntimeValue> {
    let shards = shards.into_iter().map(tensor).collect::<Outcome<Vec<Tensor>>>()?;
    Ok(match &declared.distribution {
        _ if declared.is_token => RuntimeValue::Token,
        Some(distribution) => distribution.join(&shards).map_err(unsharded)?.into(),
        None => match shards.into_iter().next() {
            Some(first) => first.into(),
            None => return Err(Failure::invalid("an argument has no buffer")),
        },
    })
}

/// The tensor of a result; an empty one for a token.
fn result(value: RuntimeValue) -> Outcome<Tensor> {
    match value {
        RuntimeValue::Token => Ok(Tensor::zeros(DType::I1, [0])?),
        value => value.into_tensor().map_err(unsharded),
    }
}

/// The results of devices for a result of a program.
fn shards(declared: &Parameter, value: RuntimeValue, count: usize) -> Outcome<Vec<Tensor>> {
    let tensor = result(value)?;
    let order = &declared.shape.order;
    match &declared.distribution {
        Some(distribution) => {
            let shards = distribution.split(&tensor).map_err(unsharded)?;
            shards.into_iter().map(|shard| order.of_row_major(shard)).collect()
        }
        None => Ok(vec![order.of_row_major(tensor)?; count]),
    }
}

/// Runs the program on the arguments of one device, where nothing is divided.
fn run_on_device(compiled: &Compiled, arguments: Vec<Value>) -> Outcome<Vec<Tensor>> {
    let input = |(declared, value): (&Parameter, Value)| {
        Ok(if declared.is_token { RuntimeValue::Token } else { tensor(value)?.into() })
    };
    let inputs = compiled.arguments.iter().zip(arguments).map(input).collect::<Outcome<_>>()?;
    let results = run(compiled, vec![inputs])?.pop().unwrap_or_default();
    let ordered = |(declared, value): (&Parameter, RuntimeValue)| {
        declared.shape.order.of_row_major(result(value)?)
    };
    compiled.results.iter().zip(results).map(ordered).collect()
}

/// Runs the program on the arguments of each device, and returns the results of each.
fn run_on_devices(
    compiled: &Compiled,
    mut arguments: Vec<Vec<Value>>,
) -> Outcome<Vec<Vec<Tensor>>> {
    if let [only] = &mut arguments[..] {
        return Ok(vec![run_on_device(compiled, std::mem::take(only))?]);
    }
    let partitions = compiled.options.num_partitions.max(1);
    let mut inputs = Vec::new();
    let mut arguments = arguments.into_iter();
    while inputs.len() < compiled.options.num_replicas {
        // The shards of each argument on the devices of this replica.
        let devices = arguments.by_ref().take(partitions);
        let mut by_argument: Vec<Vec<Value>> =
            compiled.arguments.iter().map(|_| Vec::with_capacity(partitions)).collect();
        for device in devices {
            by_argument.iter_mut().zip(device).for_each(|(all, own)| all.push(own));
        }
        let values = compiled.arguments.iter().zip(by_argument);
        inputs.push(values.map(|(own, shards)| whole(own, shards)).collect::<Outcome<_>>()?);
    }
    let mut results = Vec::new();
    for replica in run(compiled, inputs)? {
        let mut devices: Vec<Vec<Tensor>> = vec![Vec::new(); partitions];
        for (declared, value) in compiled.results.iter().zip(replica) {
            let shards = shards(declared, value, partitions)?;
            devices.iter_mut().zip(shards).for_each(|(all, own)| all.push(own));
        }
        results.append(&mut devices);
    }
    Ok(results)
}

/// The devices of an execution.
fn devices(
    loaded: &LoadedExecutable,
    stated: Handle<Device>,
    lists: &[*const Handle<Buffer>],
    num_args: usize,
) -> Outcome<Vec<Handle<Device>>> {
    let count = loaded.compiled.num_devices();
    if lists.len() != count {
        let message =
            format!("the program is for {count} devices, there are arguments for {}", lists.len());
        return Err(Failure::invalid(message));
    }
    if !stated.is_null() && count == 1 {
        return Ok(vec![stated]);
    }
    if !loaded.devices.is_empty() {
        return Ok(loaded.devices.clone());
    }
    let first = array(lists[0], num_args)?.first().copied().unwrap_or(null());
    Ok(vec![first.get()?.device()])
}

pub(crate) fn execute(args: &mut LoadedExecute) -> Outcome {
    let loaded: &LoadedExecutable = args.executable.get()?;
    loaded.check_is_live()?;
    let compiled = loaded.compiled.clone();
    let options: ExecuteOptions = structure(args.options)?;
    let kept = array(options.non_donatable_input_indices, options.num_non_donatable_input_indices)?;
    let lists = array(args.argument_lists, args.num_devices)?;
    let places = array(args.output_lists, args.num_devices)?;
    let devices = devices(loaded, args.execute_device, lists, args.num_args)?;
    if let Some(context) = options.context.get_if_any() {
        compiled.host.enter(context);
    }
    let mut inputs = Vec::with_capacity(lists.len());
    for &list in lists {
        inputs.push(arguments(&compiled, array(list, args.num_args)?, kept)?);
    }
    let is_ready = inputs.iter().flatten().all(|value| value.is_ready());
    let outputs: Vec<Vec<Value>> = if queue::is_inline(&compiled, is_ready) {
        let started = std::time::Instant::now();
        let results = run_on_devices(&compiled, inputs)?;
        compiled.note_duration(started.elapsed());
        let ready = |tensor| Arc::new(Promise::from(Ok(tensor)));
        results.into_iter().map(|own| own.into_iter().map(ready).collect()).collect()
    } else {
        let promises = || compiled.results.iter().map(|_| Value::default()).collect();
        let outputs: Vec<Vec<Value>> = devices.iter().map(|_| promises()).collect();
        let (compiled, places) = (compiled.clone(), outputs.clone());
        queue::enqueue(Box::new(move || {
            let started = std::time::Instant::now();
            let run = AssertUnwindSafe(|| run_on_devices(&compiled, inputs));
            let results = catch_unwind(run).unwrap_or_else(|panic| Err(Failure::panic(&*panic)));
            compiled.note_duration(started.elapsed());
            match results {
                Ok(results) => {
                    let results = results.into_iter().flatten().map(Ok);
                    places.iter().flatten().zip(results).for_each(|(place, own)| place.set(own));
                }
                Err(failure) => {
                    places.iter().flatten().for_each(|place| place.set(Err(failure.clone())));
                }
            }
        }))?;
        outputs
    };
    let events = if args.device_complete_events.is_null() {
        &mut []
    } else {
        array_mut(args.device_complete_events, args.num_devices)?
    };
    for event in events {
        *event = match outputs.first().and_then(|own| own.last()) {
            // The results of an execution become ready together.
            Some(last) => Event::of(last.clone()),
            None => Event::ready(),
        };
    }
    for ((own, &places), device) in outputs.into_iter().zip(places).zip(devices) {
        let memories = device.get()?.memories();
        let places = array_mut(places, compiled.results.len())?;
        for ((value, result), place) in own.into_iter().zip(&compiled.results).zip(places) {
            let buffer = Buffer::new(memories[result.memory], result.shape.clone(), value);
            *place = give(buffer.with_token(result.is_token));
        }
    }
    Ok(())
}
