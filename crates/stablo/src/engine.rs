//! Programs that are ready to run.

use crate::compiled::prepacked_constants;
use crate::specialized::Specializations;
use crate::within::BoundsProgram;
use crate::{Error, Profile, Result, Roofline};
use interpreter::{Conventions, Engine, Grid, MAX_PROCESSES, Observer, RunOptions, Unobserved};
use mlir::diag::Diagnostics;
use mlir::{Diagnostic, Module, Type};
use numerics::{Tensor, TensorMut, TensorRef};
use program::{EvalError, EvalResult, RuntimeValue};
use std::sync::Arc;

/// The passes that make plans, in their order: their names, and a sentence about each.
pub fn plan_passes() -> impl Iterator<Item = (&'static str, &'static str)> {
    ::engine::PASSES.iter().map(|pass| (pass.name, pass.description))
}

/// A function of a verified module, prepared once, to be run any number of times.
///
/// A program is owned: it can be kept, sent to other threads, and run by several of them at once.
///
/// On the engine `fast`, a program with dynamic shapes is made static for shapes of inputs that more
/// than one run has; what is made for recent ones is kept.
pub struct Program {
    program: interpreter::Program,
    /// Its static forms, if it is dynamic.
    specializations: Option<Specializations>,
    /// The program of which bounds are derived, if runs check values against such.
    bounds: Option<BoundsProgram>,
    /// The grid that the program is written for.
    grid: Grid,
    /// Types of the inputs and of the results.
    signature: (Vec<Type>, Vec<Type>),
    /// The names of the results.
    #[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "verdicts have them"))]
    result_names: Vec<Option<String>>,
}

impl Program {
    /// Prepares the function `entry` of a verified module; `main` may also mean the only function.
    ///
    /// # Errors
    /// If there is no such function, or it cannot be run.
    pub fn prepare(
        module: impl Into<Arc<Module>>,
        entry: &str,
        options: impl Into<RunOptions>,
    ) -> Result<Program> {
        let mut module = module.into();
        let error = |errors: Diagnostics, module: &Module| Error::in_module(errors, module);
        let function = crate::entry_function(&module, entry)?;
        let (inputs, results) = function.signature();
        let signature = (inputs.to_vec(), results.to_vec());
        let result_names = crate::result_names(function);
        let grid = crate::spmd::grid(&module);
        if module.walk(module.top().id()).any(transforms::needs_expansion) {
            let expanded = Arc::make_mut(&mut module);
            transforms::expand_for_evaluation(expanded).map_err(|e| error(e, expanded))?;
        }
        let options = options.into();
        let specializations = Specializations::of(&module, entry, &options);
        let bounds = BoundsProgram::of(&module, entry, &options).map_err(|e| error(e, &module))?;
        let program = prepare(module.clone(), entry, options).map_err(|e| error(e, &module))?;
        Ok(Program { program, specializations, bounds, grid, signature, result_names })
    }

    fn error(&self, errors: Diagnostics) -> Error {
        Error::in_module(errors, self.module())
    }

    /// The static forms, if runs with an observer use them: it does not see all values.
    fn specializations(&self, observer: &dyn Observer) -> Option<&Specializations> {
        self.specializations.as_ref().filter(|_| !observer.traces())
    }

    /// The module that runs: observers see its ops. Ops without a meaning of their own are
    /// expanded.
    pub fn module(&self) -> &Arc<Module> {
        self.program.module()
    }

    /// True if a run takes the thread of its caller, and observers are called there: the program is
    /// for one process, and little of it nests. Kernels may have the help of other threads.
    pub fn runs_in_place(&self) -> bool {
        self.grid == Grid::SINGLE && self.program.is_flat()
    }

    /// A listing of the steps of a run, on the engine that the program was prepared for; of a
    /// program with dynamic shapes, of the first run on inputs of their shapes.
    pub fn explain_plan(&self) -> String {
        ::engine::explain_plan(&self.program)
    }

    /// As [`Program::explain_plan`], of runs on inputs of the shapes of these but the first.
    ///
    /// # Errors
    /// Inputs of another number, shape or element type than the program takes.
    pub fn explain_plan_for(&self, inputs: &[RuntimeValue]) -> Result<String> {
        let specialized = self.specialized(inputs)?;
        Ok(::engine::explain_plan(specialized.as_ref().unwrap_or(&self.program)))
    }

    /// The static program of a program with dynamic shapes for the shapes of inputs.
    fn specialized(&self, inputs: &[RuntimeValue]) -> Result<Option<interpreter::Program>> {
        self.program.check_inputs(inputs).map_err(|errors| self.error(errors))?;
        let all = self.specializations.as_ref();
        Ok(all.and_then(|all| all.make(&all.shapes(|at| shape(&inputs[at])))))
    }

    /// The program as the engine `fast` compiles it, as text, after one of the [`plan_passes`]: a
    /// graph of values and operations, from `schedule` on a plan; of a program with dynamic shapes,
    /// for inputs of the shapes of `inputs`, if they are given.
    ///
    /// # Errors
    /// A name of no pass, a program that has no plan, because of its engine or its nesting, or
    /// inputs that it does not take.
    pub fn plan_after(&self, pass: &str, inputs: Option<&[RuntimeValue]>) -> Result<String> {
        if !plan_passes().any(|(name, _)| name == pass) {
            let names: Vec<&str> = plan_passes().map(|(name, _)| name).collect();
            let message =
                format!("there is no pass `{pass}` over plans; there are {}", names.join(", "));
            return Err(self.error(vec![Diagnostic::error("plan", message)]));
        }
        let specialized = inputs.map(|inputs| self.specialized(inputs)).transpose()?.flatten();
        let program = specialized.as_ref().unwrap_or(&self.program);
        ::engine::plan_after(program, pass).ok_or_else(|| {
            let message = "the program has no plan: it runs op by op";
            self.error(vec![Diagnostic::error("plan", message)])
        })
    }

    /// The profile of the runs so far, those that failed included, if the program was prepared with
    /// [`RunOptions::profiling`].
    ///
    /// ```
    /// use stablo::{Profiling, Program, RunOptions, Tensor};
    ///
    /// let module = stablo::load(
    ///     "product.mlir",
    ///     "func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    ///      %0 = stablehlo.dot %x, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    ///      return %0 : tensor<64x64xf32>
    ///      }",
    /// )?;
    /// let options = RunOptions { profiling: Profiling::Steps, ..RunOptions::default() };
    /// let program = Program::prepare(module, "main", options)?;
    /// let x = Tensor::scalar(1f32).broadcast_scalar([64, 64])?;
    /// program.run(vec![x.clone().into()])?;
    /// program.run(vec![x.into()])?;
    /// let profile = program.profile();
    /// let product = profile.steps.iter().find(|step| step.title == "stablehlo.dot").unwrap();
    /// assert_eq!((product.calls, product.work.flops), (2, 2 * 64 * 64 * 64));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn profile(&self) -> Profile {
        let mut profile = analysis::profile(&self.program);
        let specialized = self.specializations.as_ref().map(Specializations::kept);
        for program in specialized.into_iter().flatten() {
            profile.append(analysis::profile(&program));
        }
        profile
    }

    /// Measures the limits of the machine with the number of threads that runs use.
    pub fn roofline(&self) -> Option<Roofline> {
        Roofline::measure(&self.program.host())
    }

    /// True if this program and another one have the same plans and machine code in memory:
    /// programs with the same ops and constants do that are prepared for the same engine while
    /// others live, whatever their locations and limits.
    pub fn shares_code_with(&self, other: &Program) -> bool {
        self.program.shares_code_with(&other.program)
    }

    /// The prepared code with its module, for analyses.
    pub(crate) fn prepared(&self) -> &interpreter::Program {
        &self.program
    }

    /// The names of the results, as far as the program gives some.
    #[cfg(feature = "judge")]
    pub(crate) fn result_names(&self) -> &[Option<String>] {
        &self.result_names
    }

    /// The types of the inputs that the function takes and of the results that it gives.
    pub fn signature(&self) -> (&[Type], &[Type]) {
        (&self.signature.0, &self.signature.1)
    }

    /// Runs the function, on as many processes as the program is written for, from its global
    /// inputs to its global outputs.
    ///
    /// # Errors
    /// Inputs of another number, shape or element type than it takes, or whatever stops an op.
    pub fn run(&self, inputs: Vec<RuntimeValue>) -> Result<Vec<RuntimeValue>> {
        self.run_observed(inputs, &mut Unobserved)
    }

    /// As [`Program::run`], on inputs that are borrowed, with results that are written into memory
    /// of the caller: results that loops and kernels compute are computed there, others are copied.
    /// Results are tensors. An output of a dynamic result has the shape that the result turns out
    /// to have; if one is dynamic, a run on inputs of new shapes copies all.
    ///
    /// ```
    /// use stablo::{Program, RunOptions, TensorMut, TensorRef};
    ///
    /// let module = stablo::load(
    ///     "square.mlir",
    ///     "func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
    ///      %0 = stablehlo.multiply %x, %x : tensor<2x2xf32>
    ///      return %0 : tensor<2x2xf32>
    ///      }",
    /// )?;
    /// let program = Program::prepare(module, "main", RunOptions::default())?;
    /// let (x, mut squares) = ([1f32, 2.0, 3.0, 4.0], [0f32; 4]);
    /// let input = TensorRef::new(&[2, 2], &x)?;
    /// program.run_into(&[input], &mut [TensorMut::new(&[2, 2], &mut squares)?])?;
    /// assert_eq!(squares, [1.0, 4.0, 9.0, 16.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Inputs or outputs of another number, shape or element type than the function has: nothing is
    /// written then. Whatever stops an op, after which the outputs may have any elements.
    pub fn run_into(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<()> {
        self.run_into_observed(inputs, outputs, &mut Unobserved)
    }

    /// As [`Program::run_into`], watched by an observer.
    ///
    /// # Errors
    /// As there, and if the observer breaks off.
    pub fn run_into_observed(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let failed = |errors| self.error(errors);
        let check = || self.program.check_borrowed(inputs, outputs).map_err(failed);
        if self.grid == Grid::SINGLE && self.bounds.is_none() {
            let Some(specializations) = self.specializations(observer) else {
                return self.program.run_into(inputs, outputs, observer).map_err(failed);
            };
            check()?;
            let shapes = specializations.shapes(|at| inputs[at].shape());
            return specializations.run(&self.program, shapes, |program| {
                // Outputs that do not fit are an error of the program with its own types.
                let fits = program.check_borrowed(inputs, outputs).is_ok();
                let program = if fits { program } else { &self.program };
                program.run_into(inputs, outputs, observer)
            });
        }
        check()?;
        let error = |e: EvalError| failed(vec![Diagnostic::error(e.label().clone(), e.message())]);
        let input = |input: &TensorRef<'_>| Ok(input.to_tensor()?.into());
        let inputs = inputs.iter().map(input).collect::<EvalResult>().map_err(error)?;
        let results = self.run_observed(inputs, observer)?;
        interpreter::write_results(outputs, &results).map_err(error)
    }

    /// As [`Program::run`], watched by an observer.
    ///
    /// # Errors
    /// As there, and if the observer breaks off.
    pub fn run_observed(
        &self,
        inputs: Vec<RuntimeValue>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<RuntimeValue>> {
        let Some(size) = self.grid.size().filter(|&size| size <= MAX_PROCESSES) else {
            let message = format!(
                "the program is for a grid of {}, but at most {MAX_PROCESSES} processes can run",
                self.grid
            );
            return Err(self.error(vec![Diagnostic::error("run", message)]));
        };
        if size == 1 && self.bounds.is_none() && self.specializations(observer).is_none() {
            return self.program.run(inputs, observer).map_err(|errors| self.error(errors));
        }
        let inputs = vec![inputs; size];
        // All processes have the global results.
        let results = self.run_grid(self.grid, inputs, observer)?;
        Ok(results.into_iter().next().unwrap_or_default())
    }

    /// Runs the function in each process of a grid, on inputs of its own, row by row.
    ///
    /// # Errors
    /// As [`Program::run_observed`] in any process, and processes that wait for each other.
    pub fn run_grid(
        &self,
        grid: Grid,
        inputs: Vec<Vec<RuntimeValue>>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<RuntimeValue>>> {
        let failed = |errors| self.error(errors);
        if let Some(bounds) = &self.bounds {
            return bounds.run(&self.program, grid, inputs, observer).map_err(failed);
        }
        if let Some(specializations) = self.specializations(observer) {
            let mut processes = inputs.iter();
            processes.try_for_each(|inputs| self.program.check_inputs(inputs)).map_err(failed)?;
            let mut shapes =
                inputs.iter().map(|inputs| specializations.shapes(|at| shape(&inputs[at])));
            if let Some(first) = shapes.next()
                && shapes.all(|other| other == first)
            {
                return specializations
                    .run(&self.program, first, |program| program.run_grid(grid, inputs, observer));
            }
        }
        self.program.run_grid(grid, inputs, observer).map_err(failed)
    }
}

/// Prepares a function of a module for the engine that the options choose.
///
/// # Errors
/// If there is no such function, or it has no body.
pub(crate) fn prepare(
    module: Arc<Module>,
    entry: &str,
    options: RunOptions,
) -> Result<interpreter::Program, Diagnostics> {
    // Compiled code has the results of the specification only.
    let is_compiled =
        options.engine == Engine::Fast && options.conventions == Conventions::Specification;
    if !is_compiled {
        return interpreter::Program::prepare(module, entry, options);
    }
    let makes_code = !options.without_machine_code;
    let prepacked = prepacked_constants(&module);
    let compile = |code| ::engine::compile(code, makes_code, prepacked.clone());
    interpreter::Program::compile(module, entry, options, &compile)
}

/// The shape of a tensor; of others, that of a scalar.
fn shape(value: &RuntimeValue) -> &[usize] {
    value.tensor().map_or(&[], Tensor::shape)
}
