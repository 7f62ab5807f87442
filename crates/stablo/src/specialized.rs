//! Programs with dynamic shapes, made static for the shapes of their inputs when they run.

use crate::{Diagnostics, Error, RefineOptions, Result, refine, with_large_stack};
use hlo::ops::RngOp;
use interpreter::{Conventions, Engine, Profiling, Program, RunOptions};
use mlir::types::DYNAMIC;
use mlir::{Module, OpRef, Type};
use side_dialects::check::ExpectWithinOp;
use side_dialects::interpreter::INTERPRETER;
use smallvec::SmallVec;
use std::iter::once;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Number of static forms that are kept, each with its code and packed constants, if runs are not
/// profiled.
const MAX_KEPT: usize = 16;

/// The static forms of a program with dynamic shapes, for shapes of inputs on which it ran as it is:
/// that shows that no op contradicts them, also of those that a static form leaves out, and a
/// single run of a small program takes less time than making one. The most recent are kept.
pub(crate) struct Specializations {
    module: Arc<Module>,
    entry: String,
    options: RunOptions,
    /// The declared types of the inputs.
    inputs: Vec<Type>,
    /// The inputs whose shapes are dynamic.
    dynamic: Vec<usize>,
    /// The most recent first.
    kept: Mutex<Vec<Specialization>>,
}

/// The ranks and sizes of the inputs whose declared shapes are dynamic, in order.
pub(crate) type Shapes = SmallVec<[usize; 8]>;

/// The static form of a program for inputs of some shapes.
struct Specialization {
    shapes: Shapes,
    /// Made when a run has the shapes again. `None` if there is none, as where shapes depend on the
    /// values of inputs.
    program: Arc<OnceLock<Option<Arc<Program>>>>,
}

impl Specializations {
    /// The static forms of a module's function `entry`. `None` if its runs are not to use any: it
    /// is static, or what runs compute or show depends on the ops that it is written with.
    pub(crate) fn of(
        module: &Arc<Module>,
        entry: &str,
        options: &RunOptions,
    ) -> Option<Specializations> {
        let has_plans =
            options.engine == Engine::Fast && options.conventions == Conventions::Specification;
        // Static forms take fewer steps.
        if !has_plans || options.limits.steps.is_some() {
            return None;
        }
        let function = interpreter::entry_function(module, entry).ok()?;
        if transforms::dynamic_entry(module)? != function.id() {
            return None;
        }
        // Random numbers depend on the order of ops; probes have the types of the program; bounds
        // are those of its ops.
        let depends_on_ops = |op: OpRef<'_>| {
            let dialect = op.def().map(|def| def.dialect());
            op.is(RngOp::DEF)
                || op.is(ExpectWithinOp::DEF)
                || dialect == Some(INTERPRETER.namespace)
        };
        if module.walk(module.top().id()).any(depends_on_ops) {
            return None;
        }
        let inputs = function.signature().0.to_vec();
        let is_static = |ty: &Type| ty.shape().is_some_and(|shape| !shape.contains(&DYNAMIC));
        let dynamic = |&index: &usize| inputs[index].is_shaped() && !is_static(&inputs[index]);
        Some(Specializations {
            module: module.clone(),
            entry: entry.to_string(),
            options: options.clone(),
            dynamic: (0..inputs.len()).filter(dynamic).collect(),
            inputs,
            kept: Mutex::default(),
        })
    }

    /// The shapes of inputs, which the program accepts.
    pub(crate) fn shapes<'s>(&self, shape: impl Fn(usize) -> &'s [usize]) -> Shapes {
        let shapes = self.dynamic.iter().map(|&index| shape(index));
        shapes.flat_map(|shape| once(shape.len()).chain(shape.iter().copied())).collect()
    }

    /// Runs `program`, of which these are the static forms, on inputs of some shapes: the static
    /// form for them, if a run had them before.
    ///
    /// # Errors
    /// Errors of `run`.
    pub(crate) fn run<T>(
        &self,
        program: &Program,
        shapes: Shapes,
        run: impl FnOnce(&Program) -> Result<T, Diagnostics>,
    ) -> Result<T> {
        let specialized = self.get(&shapes);
        let program = specialized.as_deref().unwrap_or(program);
        let results = run(program).map_err(|errors| Error::in_module(errors, program.module()))?;
        if specialized.is_none() {
            self.add(shapes);
        }
        Ok(results)
    }

    /// The static form for some shapes, if a run had them before.
    fn get(&self, shapes: &Shapes) -> Option<Arc<Program>> {
        let program = {
            let mut kept = self.lock();
            let at = kept.iter().position(|known| known.shapes == *shapes)?;
            kept[..=at].rotate_right(1);
            kept[0].program.clone()
        };
        program.get_or_init(|| self.make(shapes).map(Arc::new)).clone()
    }

    /// Notes that a run had some shapes.
    fn add(&self, shapes: Shapes) {
        let mut kept = self.lock();
        if kept.iter().any(|known| known.shapes == shapes) {
            return;
        }
        // The records of profiled runs are in their programs.
        if self.options.profiling == Profiling::Off {
            kept.truncate(MAX_KEPT - 1);
        }
        kept.insert(0, Specialization { shapes, program: Arc::default() });
    }

    /// Makes the static form for some shapes. `None` if they have no static form.
    pub(crate) fn make(&self, shapes: &Shapes) -> Option<Program> {
        let mut types = self.inputs.clone();
        let mut rest = shapes.iter();
        for &index in &self.dynamic {
            let rank = *rest.next()?;
            let shape = rest.by_ref().take(rank).map(|&size| i64::try_from(size).ok());
            let shape = shape.collect::<Option<Vec<i64>>>()?;
            types[index] = Type::tensor(shape, types[index].element_type().clone());
        }
        with_large_stack(|| {
            let mut module = Module::clone(&self.module);
            refine(&mut module, &RefineOptions::default().input_types(types)).ok()?;
            crate::engine::prepare(Arc::new(module), &self.entry, self.options.clone()).ok()
        })
    }

    /// The static forms that are kept.
    pub(crate) fn kept(&self) -> Vec<Arc<Program>> {
        self.lock().iter().filter_map(|known| known.program.get()?.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Specialization>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
