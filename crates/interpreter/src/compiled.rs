//! Code with its plans, which equal programs share while one of them lives.

use crate::frame::ScalarOp;
use crate::lent::{Lender, lenders};
use crate::results::SmallResults;
use plan::Unit;
use program::primitives;
use program::{Code, FunctionId, Instruction, Primitive, ValueType};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Number of leading bytes of each constant that the key of code depends on.
const BYTES_IN_KEY: usize = 64;

/// Code, with what executors derive from it once.
pub(crate) struct Compiled {
    pub code: Code,
    /// The scalar form of each instruction that has one.
    scalars: Vec<Option<ScalarOp>>,
    /// The plans of functions, built lazily; none for functions that run instruction by
    /// instruction, and no entries for code that is not planned.
    plans: Vec<OnceLock<Option<Plan>>>,
    makes_code: bool,
    /// Its key in [`ALL`].
    key: u64,
}

/// The plan of a function.
pub(crate) struct Plan {
    pub unit: Unit,
    /// For each slot: the memory of the caller that may stand for it.
    pub lenders: Box<[Option<Lender>]>,
    /// The results that are small.
    pub small_results: SmallResults,
}

/// Compiled code by key.
type ByKey = FxHashMap<u64, SmallVec<[Weak<Compiled>; 1]>>;

/// The compiled code that programs of this process hold.
static ALL: LazyLock<Mutex<ByKey>> = LazyLock::new(Mutex::default);

fn all() -> MutexGuard<'static, ByKey> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Compiled {
    /// Code of this program alone, which runs instruction by instruction.
    pub fn unplanned(code: Code) -> Arc<Compiled> {
        Arc::new(Compiled::new(code, false, false, 0))
    }

    /// Code that is planned: that of another program, if there is the same.
    pub fn planned(code: Code, makes_code: bool) -> Arc<Compiled> {
        let key = key(&code);
        // Compared without the lock: constants may be large.
        let others: SmallVec<[Arc<Compiled>; 1]> =
            all().get(&key).into_iter().flatten().filter_map(Weak::upgrade).collect();
        let is_same = |other: &Arc<Compiled>| other.makes_code == makes_code && other.code == code;
        if let Some(other) = others.into_iter().find(is_same) {
            return other;
        }
        let compiled = Arc::new(Compiled::new(code, true, makes_code, key));
        all().entry(key).or_default().push(Arc::downgrade(&compiled));
        compiled
    }

    fn new(code: Code, is_planned: bool, makes_code: bool, key: u64) -> Compiled {
        let plans = if is_planned { code.functions.len() } else { 0 };
        Compiled {
            scalars: ScalarOp::of_code(&code),
            plans: std::iter::repeat_with(OnceLock::new).take(plans).collect(),
            makes_code,
            key,
            code,
        }
    }

    /// Number of functions that may have plans.
    pub fn num_plans(&self) -> usize {
        self.plans.len()
    }

    /// The plan of a function, if it has one.
    pub fn plan(&self, function: FunctionId) -> Option<&Plan> {
        let plan = || {
            let unit = plan::plan(&self.code, function, self.makes_code)?;
            let small_results = SmallResults::of(&unit);
            Some(Plan { lenders: lenders(&unit), small_results, unit })
        };
        self.plans.get(function.index())?.get_or_init(plan).as_ref()
    }

    /// The form of an instruction that computes scalars without tensors.
    pub fn scalar_op(&self, index: usize) -> Option<&ScalarOp> {
        self.scalars[index].as_ref()
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        if self.plans.is_empty() {
            return;
        }
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
