//! Runs the machine code of blocks.

// Generated code works on memory and a context through their addresses.
#![allow(unsafe_code, reason = "machine code is called, which each block gives a reason for")]

use crate::block::{CompiledBlock, Fuel};
use crate::passes::emit::Native;
use codegen::generated;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The second argument of generated code. The places of the first three fields are constants in
/// `native`.
#[repr(C)]
struct BlockContext<'a, T: Fuel> {
    /// The ops that may run before the program is asked again.
    counter: u64,
    apply: generated!(fn(&mut BlockContext<'a, T>, u32) -> u32),
    consume: generated!(fn(&mut BlockContext<'a, T>, u32, u32) -> u32),
    /// The counter when it was set.
    allowance: u64,
    memory: *mut u8,
    bytes: usize,
    block: &'a CompiledBlock,
    fuel: &'a mut T,
    error: Option<(usize, T::Error)>,
    panic: Option<Box<dyn Any + Send>>,
}

impl Native {
    /// Runs the code; `None` if it is not ready, or the memory is not that of the block.
    pub(crate) fn run<T: Fuel>(
        &self,
        block: &CompiledBlock,
        memory: &mut [u8],
        fuel: &mut T,
    ) -> Option<Result<(), (usize, T::Error)>> {
        let executable = self.executable.get()?;
        if memory.len() < self.memory {
            return None;
        }
        let allowance = fuel.allowance();
        let mut context = BlockContext {
            counter: allowance,
            apply,
            consume,
            allowance,
            memory: memory.as_mut_ptr(),
            bytes: memory.len(),
            block,
            fuel,
            error: None,
            panic: None,
        };
        let address = (&raw mut context).cast();
        // SAFETY: `compile` made a function that works on the first `self.memory` bytes of the
        // memory, which are there, and on a context as this one.
        let failed = unsafe { executable.call(self.entry, context.memory, address) } != 0;
        if let Some(panic) = context.panic {
            resume_unwind(panic);
        }
        if let Some(error) = context.error.filter(|_| failed) {
            return Some(Err(error));
        }
        let done = context.allowance.wrapping_sub(context.counter);
        let last = block.ops.len().saturating_sub(1);
        Some(context.fuel.consume(done).map_err(|error| (last, error)))
    }
}

impl<T: Fuel> BlockContext<'_, T> {
    /// Runs a function that may fail, or panic: no panic may unwind into generated code.
    fn guard(&mut self, op: u32, run: impl FnOnce(&mut Self) -> Result<(), T::Error>) -> u32 {
        match catch_unwind(AssertUnwindSafe(|| run(self))) {
            Ok(Ok(())) => return 0,
            Ok(Err(error)) => self.error = Some((op as usize, error)),
            Err(panic) => self.panic = Some(panic),
        }
        1
    }
}

// Runs an op.
generated! {
    fn apply<T: Fuel>(context: &mut BlockContext<'_, T>, op: u32) -> u32 {
        context.guard(op, |context| {
            // SAFETY: the memory that `run` has borrowed; generated code does not use it meanwhile.
            let memory = unsafe { std::slice::from_raw_parts_mut(context.memory, context.bytes) };
            Ok(context.block.ops[op as usize].apply(memory)?)
        })
    }
}

// Counts `ops`, which the counter was too small for.
generated! {
    fn consume<T: Fuel>(context: &mut BlockContext<'_, T>, ops: u32, op: u32) -> u32 {
        context.guard(op, |context| {
            let left = context.counter.wrapping_add(u64::from(ops));
            context.fuel.consume(context.allowance.wrapping_sub(left))?;
            context.fuel.consume(u64::from(ops))?;
            context.allowance = context.fuel.allowance();
            context.counter = context.allowance;
            Ok(())
        })
    }
}
