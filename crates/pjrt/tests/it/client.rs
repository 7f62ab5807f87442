//! A small client.

use pjrt_abi::*;
use stablo_pjrt::table::API;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A structure of arguments with its size and zeros.
pub(crate) fn args<A: Args>() -> A {
    A::zeroed()
}

/// Calls a function.
///
/// # Errors
/// The code and the message of its error.
pub(crate) fn call<A: Args>(slot: Slot, args: &mut A) -> Result<(), (i32, String)> {
    call_raw(slot, std::ptr::from_mut(args).cast())
}

/// Calls a function with the address of a structure.
///
/// # Errors
/// The code and the message of its error.
pub(crate) fn call_raw(slot: Slot, args: *mut c_void) -> Result<(), (i32, String)> {
    // SAFETY: callers pass null or a structure that begins with its size.
    outcome(unsafe { API.function(slot)(args) })
}

/// The code and the message of an error, which is freed.
fn outcome(error: Handle<Error>) -> Result<(), (i32, String)> {
    if error.is_null() {
        return Ok(());
    }
    let mut code: ErrorGetCode = args();
    code.error = error;
    call(Slot::Error_GetCode, &mut code)?;
    let mut message: ErrorMessage = args();
    message.error = error;
    call(Slot::Error_Message, &mut message)?;
    // SAFETY: the message has this length and lives as long as the error.
    let text = unsafe { std::slice::from_raw_parts(message.message.cast(), message.message_size) };
    let text = String::from_utf8_lossy(text).into_owned();
    let mut destroy: ErrorDestroy = args();
    destroy.error = error;
    call(Slot::Error_Destroy, &mut destroy)?;
    Err((code.code, text))
}

/// A client with some devices.
pub(crate) fn client(num_devices: i64) -> ClientCreate {
    let mut option: NamedValue = args();
    (option.name, option.name_size) = (c"num_devices".as_ptr(), 11);
    (option.kind, option.value, option.value_size) = (1, Value { integer: num_devices }, 1);
    let mut create: ClientCreate = args();
    (create.create_options, create.num_options) = (&option, 1);
    call(Slot::Client_Create, &mut create).unwrap();
    create
}

/// Compiles a program.
///
/// # Errors
/// The code and the message of the error.
pub(crate) fn compile(client: &ClientCreate, text: &str) -> Result<ClientCompile, (i32, String)> {
    compile_with(client, text, &[])
}

/// Compiles a program with serialized options.
///
/// # Errors
/// The code and the message of the error.
pub(crate) fn compile_with(
    client: &ClientCreate,
    text: &str,
    options: &[u8],
) -> Result<ClientCompile, (i32, String)> {
    let mut program: Program = args();
    (program.code, program.code_size) = (text.as_ptr().cast_mut().cast(), text.len());
    (program.format, program.format_size) = (c"mlir".as_ptr(), 4);
    let mut compile: ClientCompile = args();
    (compile.client, compile.program) = (client.client, &program);
    (compile.compile_options, compile.compile_options_size) =
        (options.as_ptr().cast(), options.len());
    call(Slot::Client_Compile, &mut compile)?;
    Ok(compile)
}

/// A buffer of numbers on the first device.
pub(crate) fn buffer(
    client: &ClientCreate,
    dims: &[i64],
    elements: &[f32],
) -> ClientBufferFromHostBuffer {
    buffer_on(client, 0, dims, elements)
}

/// A buffer of numbers on a device.
pub(crate) fn buffer_on(
    client: &ClientCreate,
    device: usize,
    dims: &[i64],
    elements: &[f32],
) -> ClientBufferFromHostBuffer {
    let mut devices: ClientDevices = args();
    devices.client = client.client;
    call(Slot::Client_AddressableDevices, &mut devices).unwrap();
    let mut buffer: ClientBufferFromHostBuffer = args();
    buffer.client = client.client;
    (buffer.data, buffer.element_type) = (elements.as_ptr().cast(), 11);
    (buffer.dims, buffer.num_dims) = (dims.as_ptr(), dims.len());
    assert!(device < devices.num_devices);
    // SAFETY: the client states this number of devices.
    buffer.device = unsafe { devices.devices.add(device).read() };
    call(Slot::Client_BufferFromHostBuffer, &mut buffer).unwrap();
    let mut event: EventDestroy = args();
    event.event = buffer.done_with_host_buffer;
    call(Slot::Event_Destroy, &mut event).unwrap();
    buffer
}

/// The elements of a buffer of numbers.
///
/// # Errors
/// The code and the message of the error.
pub(crate) fn elements<B: Copy>(buffer: B, count: usize) -> Result<Vec<f32>, (i32, String)> {
    let mut elements = vec![0f32; count];
    let mut copy: BufferToHostBuffer = args();
    // SAFETY: callers pass a handle of a buffer.
    copy.src = unsafe { std::mem::transmute_copy(&buffer) };
    (copy.dst, copy.dst_size) = (elements.as_mut_ptr().cast(), 4 * count);
    call(Slot::Buffer_ToHostBuffer, &mut copy)?;
    let mut wait: EventAwait = args();
    wait.event = copy.event;
    let outcome = call(Slot::Event_Await, &mut wait);
    let mut destroy: EventDestroy = args();
    destroy.event = copy.event;
    call(Slot::Event_Destroy, &mut destroy).unwrap();
    outcome.map(|()| elements)
}

/// Runs a program with one result on buffers.
///
/// # Errors
/// The code and the message of the error.
pub(crate) fn execute(
    program: &ClientCompile,
    buffers: &[ClientBufferFromHostBuffer],
) -> Result<*mut c_void, (i32, String)> {
    execute_on(program, &[buffers]).map(|results| results[0])
}

/// Runs a program with one result on the buffers of devices.
///
/// # Errors
/// The code and the message of the error.
pub(crate) fn execute_on(
    program: &ClientCompile,
    devices: &[&[ClientBufferFromHostBuffer]],
) -> Result<Vec<*mut c_void>, (i32, String)> {
    let lists: Vec<Vec<_>> =
        devices.iter().map(|own| own.iter().map(|buffer| buffer.buffer).collect()).collect();
    let inputs: Vec<_> = lists.iter().map(|own| own.as_ptr()).collect();
    let mut outputs = vec![null_mut::<c_void>(); devices.len()];
    let places: Vec<_> = outputs.iter_mut().map(|place| (&raw mut *place).cast()).collect();
    let options: ExecuteOptions = args();
    let mut execute: LoadedExecute = args();
    (execute.executable, execute.options) = (program.executable, &options);
    (execute.argument_lists, execute.num_devices) = (inputs.as_ptr(), devices.len());
    (execute.num_args, execute.output_lists) = (lists[0].len(), places.as_ptr());
    call(Slot::LoadedExecutable_Execute, &mut execute)?;
    Ok(outputs)
}
