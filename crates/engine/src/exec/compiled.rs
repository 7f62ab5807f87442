//! Plans of code, which equal programs share while one of them lives.

use crate::exec::PlanRun;
use crate::exec::buffers::{BufferSource, CallerBuffers, buffer_sources};
use crate::exec::frames::FramePool;
use crate::exec::prepacked::PrepackedConstant;
use crate::exec::results::SmallResults;
use crate::passes;
use crate::plan::Plan;
use interpreter::errors::internal;
use interpreter::{CompiledCode, Machine, OutputBuffers, PreparedCode};
use numerics::TensorRef;
use program::primitives;
use program::{
    Code, EvalError, EvalResult, FunctionId, Instruction, Primitive, RuntimeValue, ValueType,
};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Number of leading bytes of each constant that the key of code depends on.
const BYTES_IN_KEY: usize = 64;

/// The plans of a program, and memory for its runs.
pub(crate) struct CompiledProgram {
    plans: Arc<SharedPlans>,
    /// The frames of each function.
    frames: Vec<FramePool>,
}

impl CompiledProgram {
    /// Compiles code, and shares the plans of another program that has the same code.
    /// `makes_code` asks for machine code, where there is some for this machine.
    pub(crate) fn new(
        code: Code,
        makes_code: bool,
        prepacked: Vec<PrepackedConstant>,
    ) -> CompiledProgram {
        let prepacked: Arc<[PrepackedConstant]> = prepacked.into();
        let frames = std::iter::repeat_with(|| FramePool::new(Arc::clone(&prepacked)));
        let frames = frames.take(code.functions.len());
        CompiledProgram { frames: frames.collect(), plans: SharedPlans::of(code, makes_code) }
    }

    /// The plan of a function, if it has one.
    pub(crate) fn function(&self, function: FunctionId) -> Option<&PlannedFunction> {
        self.plans.function(function)
    }

    /// True if plans have machine code, where there is some for this machine.
    pub(crate) fn makes_code(&self) -> bool {
        self.plans.makes_code
    }

    /// The plan of a function, and its frames.
    #[inline]
    fn planned(&self, function: FunctionId) -> Result<(&PlannedFunction, &FramePool), EvalError> {
        let planned = self.function(function).zip(self.frames.get(function.index()));
        planned.ok_or_else(|| internal("a function has no plan"))
    }
}

impl CompiledCode for CompiledProgram {
    fn code(&self) -> &Arc<PreparedCode> {
        &self.plans.code
    }

    fn has_function(&self, function: FunctionId) -> bool {
        self.function(function).is_some()
    }

    fn is_flat(&self, function: FunctionId) -> bool {
        self.function(function).is_some_and(|planned| planned.plan.is_flat)
    }

    fn call<'r>(
        &'r self,
        machine: &mut Machine<'_, 'r>,
        function: FunctionId,
        arguments: Vec<RuntimeValue>,
    ) -> EvalResult {
        let body = machine.code().function(function).body;
        let types = body.map_or(&[][..], |body| &machine.code().block(body).argument_types);
        let (function, frames) = self.planned(function)?;
        let mut run = PlanRun::new(function, frames, CallerBuffers::default());
        let results = run.run(machine, types, arguments)?;
        frames.give_back(run.frame);
        Ok(results)
    }

    fn call_into<'r, 'a>(
        &'r self,
        machine: &mut Machine<'_, 'r>,
        function: FunctionId,
        inputs: &'a [TensorRef<'a>],
        outputs: OutputBuffers<'a>,
    ) -> Result<(), EvalError> {
        let (function, frames) = self.planned(function)?;
        let mut run = PlanRun::new(function, frames, CallerBuffers { inputs, outputs });
        run.run_into(machine)?;
        frames.give_back(run.frame);
        Ok(())
    }
}

/// Code and its plans.
struct SharedPlans {
    code: Arc<PreparedCode>,
    /// The plans of functions, made when they are first called; `None` for functions that run
    /// instruction by instruction.
    functions: Vec<OnceLock<Option<PlannedFunction>>>,
    makes_code: bool,
    /// Its key in [`ALL`].
    key: u64,
}

/// The plan of a function, with what runs derive from it once.
pub(crate) struct PlannedFunction {
    pub plan: Plan,
    /// For each slot: the buffer of the caller that may hold its value.
    pub buffer_sources: Box<[Option<BufferSource>]>,
    /// The results that are small.
    pub small_results: SmallResults,
}

/// Plans by the key of their code.
type ByKey = FxHashMap<u64, SmallVec<[Weak<SharedPlans>; 1]>>;

/// The plans that programs of this process hold.
static ALL: LazyLock<Mutex<ByKey>> = LazyLock::new(Mutex::default);

fn all() -> MutexGuard<'static, ByKey> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedPlans {
    /// The plans of code, shared with other programs that have the same code.
    fn of(code: Code, makes_code: bool) -> Arc<SharedPlans> {
        let key = key(&code);
        // Compared without the lock: constants may be large.
        let others: SmallVec<[Arc<SharedPlans>; 1]> =
            all().get(&key).into_iter().flatten().filter_map(Weak::upgrade).collect();
        let is_same =
            |other: &Arc<SharedPlans>| other.makes_code == makes_code && *other.code.code() == code;
        if let Some(other) = others.into_iter().find(is_same) {
            return other;
        }
        let functions = std::iter::repeat_with(OnceLock::new).take(code.functions.len()).collect();
        let code = Arc::new(PreparedCode::new(code));
        let plans = Arc::new(SharedPlans { code, functions, makes_code, key });
        all().entry(key).or_default().push(Arc::downgrade(&plans));
        plans
    }

    fn function(&self, function: FunctionId) -> Option<&PlannedFunction> {
        let make = || {
            let plan = passes::plan(self.code.code(), function, self.makes_code)?;
            let small_results = SmallResults::of(&plan);
            Some(PlannedFunction { buffer_sources: buffer_sources(&plan), small_results, plan })
        };
        self.functions.get(function.index())?.get_or_init(make).as_ref()
    }
}

impl Drop for SharedPlans {
    fn drop(&mut self) {
        let mut all = all();
        if let Some(same) = all.get_mut(&self.key) {
            same.retain(|other| other.strong_count() > 0);
            if same.is_empty() {
                all.remove(&self.key);
            }
        }
    }
}

/// A hash of the structure of code: kinds of primitives, types, and the first elements of
/// constants. Equal code has equal keys.
fn key(code: &Code) -> u64 {
    let mut hasher = FxHasher::default();
    (code.functions.len(), code.blocks.len(), code.instructions.len()).hash(&mut hasher);
    for instruction in &code.instructions {
        let Instruction { primitive, operands, results, result_types, origin, .. } = instruction;
        (discriminant(&**primitive), origin, results).hash(&mut hasher);
        operands.iter().for_each(|operand| operand.slot.hash(&mut hasher));
        if let Primitive::Constant(primitives::Constant { tensor })
        | Primitive::Splat(primitives::Splat { element: tensor, .. }) = &**primitive
        {
            let bytes = tensor.bytes();
            bytes[..bytes.len().min(BYTES_IN_KEY)].hash(&mut hasher);
        }
        for ty in result_types {
            if let ValueType::Tensor { dtype, shape, .. } = &**ty {
                (discriminant(dtype), shape).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}
