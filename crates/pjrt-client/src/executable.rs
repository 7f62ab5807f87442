//! Compiled programs.

use crate::buffer::Buffer;
use crate::client::Client;
use crate::error::Error;
use numerics::Tensor;
use pjrt_abi::{
    Args, Event, ExecutableCount, ExecutableDestroy, ExecuteOptions, Handle, Loaded, LoadedDestroy,
    LoadedExecute, LoadedGetExecutable, Slot,
};
use std::sync::Arc;

/// Results of a program, at most.
const MAX_RESULTS: usize = 1 << 20;

/// An argument of a program.
#[derive(Clone, Copy, Debug)]
pub enum Input<'t> {
    /// A tensor.
    Tensor(&'t Tensor),
    /// A token, which orders effects and has no value.
    Token,
}

/// A program that is compiled for the device of a client.
pub struct Executable {
    client: Arc<Client>,
    handle: Handle<Loaded>,
    num_results: usize,
}

impl Drop for Executable {
    fn drop(&mut self) {
        let mut args = LoadedDestroy::zeroed();
        args.executable = self.handle;
        // Nothing is left to be done about an executable that cannot be destroyed.
        let _ = self.client.plugin.call(Slot::LoadedExecutable_Destroy, &mut args);
    }
}

impl Executable {
    pub(crate) fn new(client: Arc<Client>, handle: Handle<Loaded>) -> Result<Executable, Error> {
        let mut executable = Executable { client, handle, num_results: 0 };
        let plugin = executable.client.plugin;
        let mut get = LoadedGetExecutable::zeroed();
        get.loaded = handle;
        plugin.call(Slot::LoadedExecutable_GetExecutable, &mut get)?;
        let mut count = ExecutableCount::zeroed();
        count.executable = get.executable;
        let counted = plugin.call(Slot::Executable_NumOutputs, &mut count);
        let mut destroy = ExecutableDestroy::zeroed();
        destroy.executable = get.executable;
        plugin.call(Slot::Executable_Destroy, &mut destroy)?;
        counted?;
        if count.count > MAX_RESULTS {
            let found = format!("the program has {} results", count.count);
            return Err(plugin.wrong(Slot::Executable_NumOutputs, &found));
        }
        executable.num_results = count.count;
        Ok(executable)
    }

    /// The number of results.
    pub fn num_results(&self) -> usize {
        self.num_results
    }

    /// Runs the program on the device, waits for it and copies its results; `None` stands for a
    /// token. The number of inputs must be that of the program: the interface does not state it,
    /// and plugins may not check it.
    ///
    /// # Errors
    /// If the plugin fails, or breaks the contract of the interface.
    pub fn run(&self, inputs: &[Input<'_>]) -> Result<Vec<Option<Tensor>>, Error> {
        let client = &self.client;
        let buffer = |input: &Input<'_>| match input {
            Input::Tensor(tensor) => Buffer::from_tensor(client, tensor),
            Input::Token => Buffer::token(client),
        };
        let buffers = inputs.iter().map(buffer).collect::<Result<Vec<Buffer>, Error>>()?;
        self.execute(&buffers)?.iter().map(Buffer::to_tensor).collect()
    }

    fn execute(&self, inputs: &[Buffer]) -> Result<Vec<Buffer>, Error> {
        let plugin = &self.client.plugin;
        let arguments: Vec<_> = inputs.iter().map(|buffer| buffer.handle).collect();
        let mut results = vec![Handle::NULL; self.num_results];
        let mut complete: Handle<Event> = Handle::NULL;
        let argument_lists = [arguments.as_ptr()];
        let output_lists = [results.as_mut_ptr()];
        let options = ExecuteOptions::zeroed();
        let mut args = LoadedExecute::zeroed();
        (args.executable, args.options) = (self.handle, &raw const options);
        (args.argument_lists, args.output_lists) = (argument_lists.as_ptr(), output_lists.as_ptr());
        (args.num_devices, args.num_args) = (1, arguments.len());
        args.device_complete_events = &raw mut complete;
        let slot = Slot::LoadedExecutable_Execute;
        plugin.call(slot, &mut args)?;
        let results = results.into_iter().map(|handle| Buffer::of(&self.client, handle));
        let results: Vec<Buffer> = results.collect();
        plugin.wait(complete)?;
        if let Some(index) = results.iter().position(|buffer| buffer.handle.is_null()) {
            return Err(plugin.wrong(slot, &format!("there is no result {index}")));
        }
        Ok(results)
    }
}
