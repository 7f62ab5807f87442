//! Engines: ways to run a module. They share what a program sees, and differ in speed.

use interpreter::{Grid, Interpreter, MAX_PROCESSES, Observer, Options};
use mlir::eval::RuntimeValue;
use mlir::{Diagnostic, Diagnostics, Module};

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
    fn compile<'m>(
        &self,
        module: &'m Module,
        entry: &str,
        options: Options,
    ) -> Result<Box<dyn Executable + 'm>, Diagnostics>;
}

/// A function that is ready to run.
pub trait Executable {
    /// The module that runs; what observers see are its ops.
    fn module(&self) -> &Module;

    /// Runs the function, on as many processes as the program is written for, from its global
    /// inputs to its global outputs.
    ///
    /// # Errors
    /// Inputs of another number, shape or element type than it takes; whatever stops an op; an
    /// `observer` that breaks off.
    fn run(
        &self,
        inputs: Vec<RuntimeValue>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<RuntimeValue>, Diagnostics>;

    /// Runs the function in each process of a grid, on inputs of its own, row by row.
    ///
    /// # Errors
    /// As [`Executable::run`] in any process, and processes that wait for each other.
    fn run_grid(
        &self,
        grid: Grid,
        inputs: Vec<Vec<RuntimeValue>>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<RuntimeValue>>, Diagnostics>;
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

    fn compile<'m>(
        &self,
        module: &'m Module,
        entry: &str,
        options: Options,
    ) -> Result<Box<dyn Executable + 'm>, Diagnostics> {
        interpreter::entry_function(module, entry).map_err(|error| vec![error])?;
        let grid = crate::spmd::grid(module);
        if module.walk(module.top().id()).any(transforms::needs_expansion) {
            let mut module = module.clone();
            transforms::expand_for_evaluation(&mut module)?;
            return Ok(Box::new(Expanded { module, entry: entry.into(), options, grid }));
        }
        Ok(Box::new(Interpreted {
            interpreter: Interpreter::new(module, options),
            entry: entry.into(),
            grid,
        }))
    }
}

struct Interpreted<'m> {
    interpreter: Interpreter<'m>,
    entry: String,
    /// The grid that the program is written for.
    grid: Grid,
}

impl Executable for Interpreted<'_> {
    fn module(&self) -> &Module {
        self.interpreter.module()
    }

    fn run(
        &self,
        inputs: Vec<RuntimeValue>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<RuntimeValue>, Diagnostics> {
        let size = self.grid.size().filter(|&size| size <= MAX_PROCESSES);
        let Some(size) = size else {
            let message = format!(
                "the program is for a grid of {}, but at most {MAX_PROCESSES} processes can run",
                self.grid
            );
            return Err(vec![Diagnostic::error("run", message)]);
        };
        let inputs = vec![inputs; size];
        // All processes have the global results.
        let results = self.interpreter.run_grid(&self.entry, self.grid, inputs, observer)?;
        Ok(results.into_iter().next().unwrap_or_default())
    }

    fn run_grid(
        &self,
        grid: Grid,
        inputs: Vec<Vec<RuntimeValue>>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<RuntimeValue>>, Diagnostics> {
        self.interpreter.run_grid(&self.entry, grid, inputs, observer)
    }
}

/// A function of a module that was expanded before it can run.
struct Expanded {
    module: Module,
    entry: String,
    options: Options,
    grid: Grid,
}

impl Expanded {
    fn interpreted(&self) -> Interpreted<'_> {
        let interpreter = Interpreter::new(&self.module, self.options.clone());
        Interpreted { interpreter, entry: self.entry.clone(), grid: self.grid }
    }
}

impl Executable for Expanded {
    fn module(&self) -> &Module {
        &self.module
    }

    fn run(
        &self,
        inputs: Vec<RuntimeValue>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<RuntimeValue>, Diagnostics> {
        self.interpreted().run(inputs, observer)
    }

    fn run_grid(
        &self,
        grid: Grid,
        inputs: Vec<Vec<RuntimeValue>>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<RuntimeValue>>, Diagnostics> {
        self.interpreted().run_grid(grid, inputs, observer)
    }
}
