//! Checks with derived bounds: runs of programs with ops `check.expect_within`.

use crate::dialects::check::{
    ExpectAlmostEqConstOp, ExpectAlmostEqOp, ExpectCloseOp, ExpectEqConstOp, ExpectEqOp,
    ExpectWithinOp,
};
use crate::dialects::stablehlo::CustomCallOp;
use crate::ir::{OpId, OpRef};
use crate::{Builder, Diagnostic, Error, Module, Result, RuntimeValue, Tensor, Type, walk};
use ::judge::{DerivedBounds, Limits, Model, Options, derive_bounds};
use interpreter::{Engine, Grid, Observer, ProcessId, Progress, RunOptions};
use mlir::diag::Diagnostics;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The program of which bounds are derived, and the models by which.
pub(crate) struct BoundsProgram {
    program: interpreter::Program,
    models: Vec<Model>,
    /// The number of ops that a run may execute.
    steps: Option<u64>,
}

impl BoundsProgram {
    /// The program for the ops `check.expect_within` of a module; `None` without such ops.
    ///
    /// # Errors
    /// If an op names a model that does not exist.
    pub(crate) fn of(
        module: &Arc<Module>,
        entry: &str,
        options: &RunOptions,
    ) -> std::result::Result<Option<BoundsProgram>, Diagnostics> {
        let mut models: Vec<Model> = Vec::new();
        for op in walk(module).filter_map(ExpectWithinOp::cast) {
            let name = op.model();
            if models.iter().any(|model| model.name == name) {
                continue;
            }
            models.push(Model::built_in(name).ok_or_else(|| vec![unknown_model(*op, name)])?);
        }
        if models.is_empty() {
            return Ok(None);
        }
        let steps = options.limits.steps;
        let options = RunOptions { engine: Engine::Reference, ..options.clone() };
        let program = interpreter::Program::prepare(module.clone(), entry, options)?;
        Ok(Some(BoundsProgram { program, models, steps }))
    }

    /// The bounds for some inputs, by model.
    ///
    /// # Errors
    /// If an op fails, or a limit is exceeded.
    fn bounds(
        &self,
        inputs: &[RuntimeValue],
    ) -> std::result::Result<Vec<(String, DerivedBounds)>, Diagnostics> {
        let derive = |model: &Model| {
            let limits = Limits { steps: self.steps, ..Limits::default() };
            let options = Options::default().model(model.clone()).limits(limits);
            let bounds = derive_bounds(&self.program, inputs.to_vec(), &options)?;
            Ok((model.name.clone(), bounds))
        };
        self.models.iter().map(derive).collect()
    }

    /// Runs `program`, a process for each inputs, and checks its values.
    ///
    /// # Errors
    /// As a run of the program, and if bounds cannot be derived or a value is not within them.
    pub(crate) fn run(
        &self,
        program: &interpreter::Program,
        grid: Grid,
        inputs: Vec<Vec<RuntimeValue>>,
        observer: &mut dyn Observer,
    ) -> std::result::Result<Vec<Vec<RuntimeValue>>, Diagnostics> {
        inputs.iter().try_for_each(|inputs| program.check_inputs(inputs))?;
        let mut checking = self.observer(grid, &inputs, observer)?;
        program.run_grid(grid, inputs, &mut checking)
    }

    /// The observer of a run whose values are checked.
    ///
    /// # Errors
    /// If bounds cannot be derived: there are several processes, an op fails, or a limit is
    /// exceeded.
    fn observer<'o>(
        &self,
        grid: Grid,
        inputs: &[Vec<RuntimeValue>],
        observer: &'o mut dyn Observer,
    ) -> std::result::Result<Checking<'o>, Diagnostics> {
        let [inputs] = inputs else {
            let message = format!("bounds are derived for a single process; the grid is {grid}");
            return Err(vec![Diagnostic::error("check.expect_within", message)]);
        };
        Ok(Checking { observer, bounds: self.bounds(inputs)? })
    }
}

fn unknown_model(op: OpRef<'_>, name: &str) -> Diagnostic {
    let names: Vec<&str> = Model::names().collect();
    let message = format!("there is no model `{name}`; there are {}", names.join(", "));
    op.error("check.expect_within", message)
}

/// Checks values, and passes everything else on.
struct Checking<'o> {
    observer: &'o mut dyn Observer,
    bounds: Vec<(String, DerivedBounds)>,
}

impl Observer for Checking<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.observer.progress(progress)
    }

    fn traces(&self) -> bool {
        self.observer.traces()
    }

    fn value(
        &mut self,
        process: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> std::result::Result<(), String> {
        self.observer.value(process, op, index, value)
    }

    fn print(&mut self, op: OpRef<'_>, tensor: &Tensor) -> std::result::Result<(), String> {
        self.observer.print(op, tensor)
    }

    fn probe(&mut self, name: &str, ty: &Type, tensor: &Tensor) -> std::result::Result<(), String> {
        self.observer.probe(name, ty, tensor)
    }

    fn probed(
        &mut self,
        name: &str,
        iteration: usize,
    ) -> std::result::Result<(String, Tensor), String> {
        self.observer.probed(name, iteration)
    }

    fn within(
        &mut self,
        _: ProcessId,
        op: OpRef<'_>,
        tensor: &Tensor,
    ) -> std::result::Result<(), String> {
        let model = ExpectWithinOp::cast(op).map(|op| op.model().to_string());
        let own = self.bounds.iter_mut().find(|(name, _)| Some(name) == model.as_ref());
        match own {
            Some((_, bounds)) => bounds.check(op.id(), tensor),
            None => Err("bounds are not derived in this run".to_string()),
        }
    }

    fn outfeed(
        &mut self,
        process: ProcessId,
        values: &[RuntimeValue],
    ) -> std::result::Result<(), String> {
        self.observer.outfeed(process, values)
    }
}

/// True for an op that compares floats with expected ones, within a tolerance or not.
fn compares_floats(op: OpRef<'_>) -> bool {
    let target = CustomCallOp::cast(op).map(|call| call.call_target_name().to_string());
    let is_check = match target {
        Some(target) => target.starts_with("check.expect_") && op.num_results() == 0,
        None => [
            ExpectAlmostEqConstOp::DEF,
            ExpectAlmostEqOp::DEF,
            ExpectCloseOp::DEF,
            ExpectEqConstOp::DEF,
            ExpectEqOp::DEF,
        ]
        .into_iter()
        .any(|def| op.is(def)),
    };
    let is_float = |ty: &Type| {
        let dtype = crate::storage_dtype(ty);
        dtype.is_some_and(|dtype| dtype.is_float() || dtype.is_complex())
    };
    is_check && !op.operands().is_empty() && is_float(op.operand_type(0))
}

/// Replaces each op of a module that compares floats with expected ones by a
/// `check.expect_within`: values are compared with bounds that are derived from the program, in
/// place of its expected values and their tolerances. Returns the number of these ops.
///
/// # Errors
/// If there is no model of that name.
pub fn check_within(module: &mut Module, model: &str) -> Result<usize> {
    if Model::built_in(model).is_none() {
        let errors = vec![unknown_model(module.top(), model)];
        return Err(Error::in_module(errors, module));
    }
    let ops: Vec<OpId> = walk(module).filter(|op| compares_floats(*op)).map(|op| op.id()).collect();
    let mut builder = Builder::new(module);
    for &op in &ops {
        let actual = builder.module().op(op).operand(0);
        builder.insert_before(op);
        let check = builder.op(ExpectWithinOp::DEF).operands([actual]);
        check.attribute("model", crate::Attribute::string(model)).build()?;
        builder.erase(op)?;
    }
    Ok(ops.len())
}
