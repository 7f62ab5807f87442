//! Engines: ways to run a module. They share what a program sees, and differ in speed.

use interpreter::{Interpreter, Limits, OnProgress};
use mlir::eval::RuntimeValue;
use mlir::{Diagnostics, Module};

/// A way to run modules.
pub trait Engine: Sync {
    /// What users call it.
    fn name(&self) -> &'static str;

    /// What it is, in one line.
    fn description(&self) -> &'static str;

    /// Makes the function `entry` of a verified module ready to run.
    ///
    /// # Errors
    /// If there is no such function, or it cannot be run.
    fn compile<'m>(&self, module: &'m Module, entry: &str) -> Result<Box<dyn Executable + 'm>, Diagnostics>;
}

/// A function that is ready to run.
pub trait Executable {
    /// Runs the function.
    ///
    /// # Errors
    /// Inputs of another number, shape or element type than it takes; whatever stops an op; a `progress` that breaks off.
    fn run(
        &self,
        inputs: Vec<RuntimeValue>,
        progress: Option<OnProgress<'_>>,
    ) -> Result<Vec<RuntimeValue>, Diagnostics>;
}

/// All engines, the default first.
pub static ENGINES: &[&dyn Engine] = &[&Reference];

/// The engine of that name.
pub fn engine(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.iter().copied().find(|engine| engine.name() == name)
}

/// The reference interpreter.
struct Reference;

impl Engine for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn description(&self) -> &'static str {
        "The interpreter, op by op as the specification reads"
    }

    fn compile<'m>(&self, module: &'m Module, entry: &str) -> Result<Box<dyn Executable + 'm>, Diagnostics> {
        interpreter::entry_function(module, entry).map_err(|error| vec![error])?;
        Ok(Box::new(Interpreted { interpreter: Interpreter::new(module, Limits::default()), entry: entry.into() }))
    }
}

struct Interpreted<'m> {
    interpreter: Interpreter<'m>,
    entry: String,
}

impl Executable for Interpreted<'_> {
    fn run(
        &self,
        inputs: Vec<RuntimeValue>,
        progress: Option<OnProgress<'_>>,
    ) -> Result<Vec<RuntimeValue>, Diagnostics> {
        self.interpreter.run_with_progress(&self.entry, inputs, progress)
    }
}
