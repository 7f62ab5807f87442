//! Rules: the results of each primitive on numbers with bounds.
//!
//! Exact values run in the kernels of their primitives. So does movement: a kernel moves the
//! numbers of elements, which say where each element of the result comes from. Rules are left for
//! arithmetic. An op without one has results about which nothing is known.

mod choices;
mod complex;
mod elementwise;
mod folds;
mod follow;
mod fourier;
mod functions;
mod matrices;
mod movement;
mod normalization;
mod order;
mod powers;
mod quantized;
mod quick;
mod quick_products;
mod regions;
mod sampled;
mod slopes;
mod sorts;
mod sums;
mod windows;

use crate::array::{Array, Number, Value};
use crate::bounds::Rounding;
use crate::doubts::Kind;
use crate::machine::{AccuracyRequirement, CheckedValue, Machine, is_inexact};
use crate::precise;
use numerics::math::{BinaryOp, UnaryOp};
use numerics::{DType, I1, Tensor};
use program::primitives;
use program::{BodyShape, EvalError, Instruction, Origin, Primitive, RuntimeValue, ValueType};

pub(crate) use regions::updates;
pub(crate) use sampled::RoundingNumbers;

/// The results of an instruction, if there is a rule for its operands.
type Ruled = Result<Option<Vec<Array>>, EvalError>;

/// The results of an instruction that is no control flow.
///
/// # Errors
/// Whatever stops its kernel.
pub(crate) fn apply(
    machine: &mut Machine<'_>,
    instruction: &Instruction,
    operands: Vec<Value>,
    is_same: bool,
) -> Result<Vec<Value>, EvalError> {
    match &*instruction.primitive {
        Primitive::Identity => return Ok(operands),
        Primitive::Token => return Ok(vec![Value::Token]),
        Primitive::Tuple => return Ok(vec![Value::Tuple(operands)]),
        Primitive::TupleElement(primitives::TupleElement { index }) => {
            if let Some(Value::Tuple(mut elements)) = operands.into_iter().next()
                && *index < elements.len()
            {
                return Ok(vec![elements.swap_remove(*index)]);
            }
            return Err(EvalError::new("type", "there is no such element of a tuple"));
        }
        Primitive::Untuple => {
            return match operands.into_iter().next() {
                Some(Value::Tuple(elements)) => Ok(elements),
                _ => Err(EvalError::new("type", "the operand is no tuple")),
            };
        }
        _ => {}
    }
    let primitive = &instruction.primitive;
    Op { instruction, primitive, dtypes: None, is_same }.apply(machine, operands)
}

/// The least work, in operations of `precise.rs`, of a result of a primitive with more digits, for
/// each of its inexact elements.
pub(crate) fn least_work(primitive: &Primitive) -> u64 {
    match primitive {
        Primitive::Binary(
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide,
        ) => 1,
        Primitive::Unary(
            UnaryOp::Cosine
            | UnaryOp::Exponential
            | UnaryOp::Log
            | UnaryOp::LogPlusOne
            | UnaryOp::Rsqrt
            | UnaryOp::Sine
            | UnaryOp::Sqrt
            | UnaryOp::Tanh,
        ) => precise::FUNCTION_WORK,
        _ => 0,
    }
}

/// An instruction that is judged.
#[derive(Clone, Copy)]
pub(crate) struct Op<'a> {
    pub instruction: &'a Instruction,
    /// Its primitive, or the one within it that computes.
    primitive: &'a Primitive,
    /// The element types of results where they differ from the instruction's.
    dtypes: Option<&'a [Option<DType>]>,
    /// True if it has two operands, which are the same value.
    pub is_same: bool,
}

impl<'a> Op<'a> {
    /// The results on operands.
    fn apply(
        &self,
        machine: &mut Machine<'_>,
        operands: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        self.check_memory(&operands)?;
        let in_doubt = |value: &Value| matches!(value, Value::Array(a) if a.doubts.is_some());
        if !operands.iter().any(in_doubt) {
            return self.apply_once(machine, operands);
        }
        let results = self.apply_once(machine, operands.clone())?;
        self.followed(machine, &operands, results)
    }

    /// Fails unless there is memory for the numbers of large operands and results.
    fn check_memory(&self, operands: &[Value]) -> Result<(), EvalError> {
        const SMALL: usize = 1 << 20;
        let results = self.instruction.result_types.iter().filter_map(|ty| ty.static_shape());
        let results = results.map(|shape| {
            shape.iter().try_fold(1usize, |n, &size| n.checked_mul(size)).unwrap_or(usize::MAX)
        });
        let arrays = operands.iter().filter_map(|value| value.array().ok()).map(Array::len);
        let count = arrays.chain(results).fold(0, usize::saturating_add);
        let bytes = count.saturating_mul(size_of::<Number>());
        let computes = self.computes_floats();
        host::check(if computes { bytes } else { 0 }).map_err(numerics::TensorError::from)?;
        if count <= SMALL || !computes {
            return Ok(());
        }
        let mut numbers: Vec<Number> = Vec::new();
        let reserved = numbers.try_reserve_exact(count);
        reserved.map_err(|_| numerics::TensorError::OutOfMemory { bytes })?;
        Ok(())
    }

    /// The results on operands, without other values of these.
    fn apply_once(
        &self,
        machine: &mut Machine<'_>,
        mut operands: Vec<Value>,
    ) -> Result<Vec<Value>, EvalError> {
        if let Some(results) = self.checked(machine, &operands)? {
            return Ok(results);
        }
        if let Some(results) = self.alone(&operands)? {
            return Ok(results);
        }
        if let Some(results) = self.sampled(machine, &operands)? {
            return Ok(results);
        }
        let exact: Option<Vec<RuntimeValue>> = operands.iter().map(Value::as_exact).collect();
        let runs = !self.computes_floats()
            && !self.is_unstable(machine)
            && !self.may_flush(machine, &operands)?;
        if let Some(exact) = exact.filter(|_| runs) {
            match self.kernel(machine, exact) {
                Ok(results) => return Ok(results.into_iter().map(Value::from).collect()),
                Err(error) if is_inexact(&error) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(result) = self.at_indices(&mut operands)? {
            return Ok(vec![result]);
        }
        let arrays: Option<Vec<&Array>> = operands.iter().map(|value| value.array().ok()).collect();
        if let Some(arrays) = arrays
            && let Some(results) = self.ruled(machine, &arrays)?
        {
            return Ok(results.into_iter().map(Value::from).collect());
        }
        self.without_rule(machine, &operands)
    }

    /// The results of an op between processes, of which there is one.
    ///
    /// # Errors
    /// If the op names other processes.
    fn alone(&self, operands: &[Value]) -> Result<Option<Vec<Value>>, EvalError> {
        let is_alone = |ids: Vec<usize>| match ids.into_iter().find(|&id| id > 0) {
            None => Ok(()),
            Some(id) => Err(EvalError::new(
                "process_group",
                format!("the op names process {id}; programs are judged in a single process"),
            )),
        };
        match self.primitive() {
            Primitive::ReplicaId | Primitive::PartitionId => {
                Ok(Some(vec![Array::exact(Tensor::scalar(0u32)).into()]))
            }
            Primitive::Collective(collective) => {
                let groups = &collective.groups;
                is_alone(groups.concat())?;
                let is_member = groups.iter().all(Vec::is_empty) || !groups.concat().is_empty();
                let count = self.instruction.result_types.len();
                let own = &operands[..count.min(operands.len())];
                if is_member {
                    return Ok(Some(own.to_vec()));
                }
                Self::zeros_like(own).map(Some)
            }
            Primitive::Permute(permute) => {
                is_alone(permute.pairs.ids.as_flattened().to_vec())?;
                match permute.pairs.ids.is_empty() {
                    false => Ok(Some(operands.to_vec())),
                    true => Self::zeros_like(operands).map(Some),
                }
            }
            _ => Ok(None),
        }
    }

    fn zeros_like(operands: &[Value]) -> Result<Vec<Value>, EvalError> {
        let zeros = |value: &Value| {
            let array = value.array()?;
            Ok(Array::exact(Tensor::zeros(array.dtype, &array.shape)?).into())
        };
        operands.iter().map(zeros).collect()
    }

    pub(crate) fn primitive(&self) -> &'a Primitive {
        self.primitive
    }

    pub(crate) fn origin(&self) -> Origin {
        self.instruction.origin
    }

    /// The element type of a result.
    pub(crate) fn result_dtype(&self, index: usize) -> Option<DType> {
        if let Some(dtypes) = self.dtypes {
            return dtypes.get(index).copied().flatten();
        }
        match &**self.instruction.result_types.get(index)? {
            ValueType::Tensor { dtype, .. }
            | ValueType::Unranked(dtype)
            | ValueType::Scalar(dtype) => Some(*dtype),
            ValueType::Token | ValueType::Tuple(_) | ValueType::Opaque => None,
        }
    }

    /// True if the op goes by the values of operands with subnormal numbers that may be zeros.
    fn may_flush(&self, machine: &Machine<'_>, operands: &[Value]) -> Result<bool, EvalError> {
        let goes_by_values = matches!(
            self.primitive(),
            Primitive::Compare(_)
                | Primitive::Convert(_)
                | Primitive::Clamp
                | Primitive::Binary(BinaryOp::Maximum | BinaryOp::Minimum)
        );
        if !goes_by_values || machine.model.flushes.is_empty() {
            return Ok(false);
        }
        for array in operands.iter().filter_map(|value| value.array().ok()) {
            let Some(format) = array.dtype.float_format().filter(|_| array.dtype.is_float()) else {
                continue;
            };
            let normal = crate::bounds::smallest_normal(format);
            let is_tiny = |x: &f64| *x != 0.0 && x.abs() < normal;
            if let Some(tensor) = array.tensor().filter(|_| machine.model.flushes(array.dtype))
                && crate::array::to_f64s(tensor)?.iter().any(is_tiny)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True for a sort whose equal elements may be in any order.
    fn is_unstable(&self, machine: &Machine<'_>) -> bool {
        match self.primitive() {
            // Of a single operand that is its own key, equal elements are the same.
            Primitive::Sort(sort) => {
                let is_key = sort.comparator.keys.len() == 1
                    && sort.comparator.keys[0].part.is_none()
                    && self.instruction.operands.len() == 1;
                !is_key && !machine.source().is_stable(self.origin())
            }
            _ => false,
        }
    }

    /// True if results are floats that are computed, rather than moved or chosen.
    fn computes_floats(&self) -> bool {
        let is_float = |dtype: DType| dtype.is_float() || dtype.is_complex();
        if !self.result_dtype(0).is_some_and(is_float) {
            return false;
        }
        match self.primitive() {
            Primitive::Unary(_)
            | Primitive::Convert(_)
            | Primitive::ReducePrecision(_)
            | Primitive::Dot(_)
            | Primitive::Convolution(_)
            | Primitive::Einsum(_)
            | Primitive::Map(_)
            | Primitive::Fft(_)
            | Primitive::Cholesky(_)
            | Primitive::TriangularSolve(_)
            | Primitive::BatchNorm(_)
            | Primitive::RandomNumbers(_)
            | Primitive::Quantized(_)
            | Primitive::Native(_) => true,
            Primitive::Dynamic(dynamic) => {
                matches!(**dynamic, primitives::Dynamic::Convolution(_))
            }
            Primitive::Binary(op) => !matches!(
                op,
                BinaryOp::Maximum | BinaryOp::Minimum | BinaryOp::Complex | BinaryOp::NextAfter
            ),
            Primitive::Reduce(primitives::Reduce { body, .. })
            | Primitive::ReduceWindow(primitives::ReduceWindow { body, .. })
            | Primitive::Scatter(primitives::Scatter { body, .. }) => match body.shape {
                BodyShape::Binary { op, .. } => {
                    !matches!(op, BinaryOp::Maximum | BinaryOp::Minimum)
                }
                BodyShape::Values => false,
                BodyShape::Block => body.extremum.is_none(),
            },
            Primitive::SelectAndScatter(_) | Primitive::Collective(_) => true,
            Primitive::Constant(_)
            | Primitive::Splat(_)
            | Primitive::Iota(_)
            | Primitive::Identity
            | Primitive::Token
            | Primitive::Tuple
            | Primitive::TupleElement(_)
            | Primitive::Untuple
            | Primitive::Compare(_)
            | Primitive::Bitcast(_)
            | Primitive::Select
            | Primitive::Clamp
            | Primitive::Reshape(_)
            | Primitive::BroadcastInDim(_)
            | Primitive::Broadcast(_)
            | Primitive::Transpose(_)
            | Primitive::Reverse(_)
            | Primitive::Slice(_)
            | Primitive::StridedGather(_)
            | Primitive::Pad(_)
            | Primitive::Concatenate(_)
            | Primitive::DynamicSlice(_)
            | Primitive::DynamicUpdateSlice
            | Primitive::SetDimensionSize(_)
            | Primitive::DimensionSize(_)
            | Primitive::Gather(_)
            | Primitive::IndexSelect(_)
            | Primitive::Sort(_)
            | Primitive::TopK(_)
            | Primitive::RandomBits(_)
            | Primitive::Permute(_)
            | Primitive::Send(_)
            | Primitive::Receive(_)
            | Primitive::Infeed
            | Primitive::Outfeed
            | Primitive::ReplicaId
            | Primitive::PartitionId
            | Primitive::Block(_)
            | Primitive::If(_)
            | Primitive::Case(_)
            | Primitive::While(_)
            | Primitive::Call(_)
            | Primitive::Invalid(_) => false,
        }
    }

    /// Notes the value that an op of the check dialect has a requirement for. Its result, if it has
    /// one, says that all is well.
    fn checked(
        &self,
        machine: &mut Machine<'_>,
        operands: &[Value],
    ) -> Result<Option<Vec<Value>>, EvalError> {
        let origin = self.origin();
        let count = self.instruction.results.len();
        if !matches!(self.primitive(), Primitive::Native(_)) || count > 1 {
            return Ok(None);
        }
        let mut values = operands.iter().collect::<Vec<_>>();
        if values.len() == 2 && machine.source().has_expected_first(origin) {
            values.swap(0, 1);
        }
        let Some(&Value::Array(actual)) = values.first() else { return Ok(None) };
        // The expected value is the program's: where it is computed, as well as that is known.
        let given =
            values.get(1).map(|value| value.array()?.approximate().map_err(EvalError::from));
        let given = given.transpose()?;
        let Some(check) = machine.source().check(origin, given.as_ref()) else { return Ok(None) };
        machine.checked.push(CheckedValue { origin, actual: actual.clone(), check });
        let passes = Array::exact(Tensor::scalar(I1::new(true)));
        Ok(Some(vec![passes.into(); count]))
    }

    /// Runs the kernel of the primitive.
    pub(crate) fn kernel(
        &self,
        machine: &mut Machine<'_>,
        operands: Vec<RuntimeValue>,
    ) -> Result<Vec<RuntimeValue>, EvalError> {
        kernels::evaluate(self.primitive(), self.origin(), operands, machine)
    }

    /// The rounding of the op, as the model and its own attributes allow.
    pub(crate) fn rounding(&self, machine: &Machine<'_>, name: &str, dtype: DType) -> Rounding {
        let rounding = machine.model.rounding(name, dtype);
        match machine.source().requirement(self.origin()) {
            Some(AccuracyRequirement { ulps, absolute, relative }) => {
                Rounding { ulps: ulps.max(0.5), absolute, relative, ..rounding }
            }
            None => rounding,
        }
    }

    /// The results by the rule of the primitive, if there is one.
    fn ruled(&self, machine: &mut Machine<'_>, operands: &[&Array]) -> Ruled {
        let one = |array: Option<Array>| Ok(array.map(|array| vec![array]));
        match self.primitive() {
            Primitive::Unary(function) => one(self.unary(machine, *function, operands)?),
            Primitive::Binary(function) => one(self.binary(machine, *function, operands)?),
            Primitive::Compare(comparison) => one(self.compare(machine, comparison, operands)?),
            Primitive::Select => one(self.select(machine, operands)?),
            Primitive::Clamp => one(self.clamp(machine, operands)?),
            Primitive::Convert(primitives::Convert { dtype }) => {
                one(self.convert(machine, *dtype, operands)?)
            }
            Primitive::ReducePrecision(_) => one(self.reduce_precision(operands)?),
            Primitive::Bitcast(_) => self.exact_kernel(machine, operands),
            Primitive::Reshape(_)
            | Primitive::BroadcastInDim(_)
            | Primitive::Broadcast(_)
            | Primitive::Transpose(_)
            | Primitive::Reverse(_)
            | Primitive::Slice(_)
            | Primitive::StridedGather(_)
            | Primitive::Pad(_)
            | Primitive::Concatenate(_)
            | Primitive::DynamicSlice(_)
            | Primitive::DynamicUpdateSlice
            | Primitive::SetDimensionSize(_)
            | Primitive::Gather(_)
            | Primitive::IndexSelect(_) => self.moved(machine, operands),
            Primitive::Dynamic(dynamic) => match &**dynamic {
                primitives::Dynamic::Convolution(_) => self.products(machine, operands),
                _ => self.moved(machine, operands),
            },
            Primitive::Dot(_) | Primitive::Convolution(_) | Primitive::Einsum(_) => {
                self.products(machine, operands)
            }
            Primitive::Reduce(reduce) => self.reduce(machine, reduce, operands),
            Primitive::ReduceWindow(reduce) => self.reduce_window(machine, reduce, operands),
            Primitive::Scatter(scatter) => self.scatter(machine, scatter, operands),
            Primitive::Sort(sort) => match self.is_unstable(machine) {
                true => self.sort_by_pairs(machine, sort, operands, false),
                false => self.sort(machine, sort, operands),
            },
            Primitive::TopK(top_k) => self.top_k(machine, top_k, operands),
            Primitive::SelectAndScatter(parameters) => {
                self.select_and_scatter(machine, parameters, operands)
            }
            Primitive::Fft(fft) => self.fft(machine, fft, operands),
            Primitive::Cholesky(cholesky) => self.cholesky(machine, cholesky, operands),
            Primitive::TriangularSolve(system) => self.triangular_solve(machine, system, operands),
            Primitive::BatchNorm(parameters) => self.batch_norm(machine, parameters, operands),
            Primitive::Quantized(quantized) => self.quantized(machine, quantized, operands),
            Primitive::Map(primitives::Map { block }) => self.map(machine, *block, operands),
            Primitive::DimensionSize(_)
            | Primitive::RandomBits(_)
            | Primitive::Constant(_)
            | Primitive::Splat(_)
            | Primitive::Iota(_) => self.exact_kernel(machine, operands),
            Primitive::Identity => Ok(Some(operands.iter().map(|&array| array.clone()).collect())),
            Primitive::Token
            | Primitive::Tuple
            | Primitive::TupleElement(_)
            | Primitive::Untuple
            | Primitive::RandomNumbers(_)
            | Primitive::Native(_)
            | Primitive::Collective(_)
            | Primitive::Permute(_)
            | Primitive::Send(_)
            | Primitive::Receive(_)
            | Primitive::Infeed
            | Primitive::Outfeed
            | Primitive::ReplicaId
            | Primitive::PartitionId
            | Primitive::Block(_)
            | Primitive::If(_)
            | Primitive::Case(_)
            | Primitive::While(_)
            | Primitive::Call(_)
            | Primitive::Invalid(_) => Ok(None),
        }
    }

    /// The kernel on operands that are exact but for doubts, which all results then have.
    fn exact_kernel(&self, machine: &mut Machine<'_>, operands: &[&Array]) -> Ruled {
        let tensors: Option<Vec<&Tensor>> = operands.iter().map(|array| array.tensor()).collect();
        let Some(tensors) = tensors else { return Ok(None) };
        let values = tensors.into_iter().map(|tensor| tensor.clone().into()).collect();
        let results = match self.kernel(machine, values) {
            Err(error) if is_inexact(&error) => return Ok(None),
            results => results?,
        };
        let doubt = any_doubt(operands)?;
        let result = |value: RuntimeValue| {
            let tensor = value.into_tensor()?;
            let doubts = Tensor::splat(tensor.shape(), doubt)?;
            Ok(Array::exact(tensor).with_doubts(Some(doubts)))
        };
        results.into_iter().map(result).collect::<Result<_, EvalError>>().map(Some)
    }

    /// Results about which nothing is known but what the kernel makes of true values.
    fn without_rule(
        &self,
        machine: &mut Machine<'_>,
        operands: &[Value],
    ) -> Result<Vec<Value>, EvalError> {
        fn guess(value: &Value) -> Result<RuntimeValue, EvalError> {
            match value {
                Value::Array(array) => Ok(array.approximate()?.into()),
                Value::Token => Ok(RuntimeValue::Token),
                Value::Tuple(values) => {
                    Ok(RuntimeValue::Tuple(values.iter().map(guess).collect::<Result<_, _>>()?))
                }
            }
        }
        let guesses = operands.iter().map(guess).collect::<Result<_, _>>()?;
        let results = match self.kernel(machine, guesses) {
            Err(error) if is_inexact(&error) => self.zeros()?,
            results => results?,
        };
        let doubt = machine.doubts.code(self.origin(), Kind::NoRule, true, None, String::new);
        fn unknown(value: RuntimeValue, doubt: u32) -> Result<Value, EvalError> {
            match value {
                RuntimeValue::Tensor(tensor) => Ok(Array::unknown(&tensor, doubt)?.into()),
                RuntimeValue::Token => Ok(Value::Token),
                RuntimeValue::Tuple(values) => {
                    let values = values.into_iter().map(|value| unknown(value, doubt));
                    Ok(Value::Tuple(values.collect::<Result<_, _>>()?))
                }
            }
        }
        results.into_iter().map(|value| unknown(value, doubt)).collect()
    }

    /// Zeros of the types of the results.
    fn zeros(&self) -> Result<Vec<RuntimeValue>, EvalError> {
        let zeros = |ty: &std::sync::Arc<ValueType>| match (&**ty, ty.static_shape()) {
            (ValueType::Tensor { dtype, .. }, Some(shape)) => {
                Ok(Tensor::zeros(*dtype, shape)?.into())
            }
            _ => Err(EvalError::new("judge", "an op without a rule has results of unknown shape")),
        };
        self.instruction.result_types.iter().map(zeros).collect()
    }

    /// A block at each index of the operands.
    fn map(
        &self,
        machine: &mut Machine<'_>,
        block: program::BlockId,
        operands: &[&Array],
    ) -> Ruled {
        let Some(first) = operands.first() else { return Ok(None) };
        if !machine.is_vectorizable(block) {
            return Ok(None);
        }
        let (shape, n) = (first.shape.clone(), first.len());
        let arguments = operands.iter().map(|array| flat(array).map(Value::from));
        let results = machine.run_lanes(block, n, arguments.collect::<Result<_, _>>()?)?;
        let shaped = |value: Value| reshaped(value.array()?, &shape);
        results.into_iter().map(shaped).collect::<Result<_, EvalError>>().map(Some)
    }
}

/// An array as a vector.
fn flat(array: &Array) -> Result<Array, EvalError> {
    reshaped(array, &[array.len()])
}

/// The elements in another shape; a scalar is repeated.
fn reshaped(array: &Array, shape: &[usize]) -> Result<Array, EvalError> {
    use crate::array::Elements;
    let n: usize = shape.iter().product();
    if array.shape.is_empty() && !shape.is_empty() {
        let elements = match &array.elements {
            Elements::Exact(tensor) => Elements::Exact(tensor.broadcast_scalar(shape)?),
            Elements::Numbers(numbers) => {
                let repeated = numbers.iter().copied().cycle().take(n * array.width());
                Elements::Numbers(repeated.collect::<Vec<_>>().into())
            }
        };
        let doubts = array.doubts.as_ref().map(|doubts| doubts.broadcast_scalar(shape));
        let doubts = doubts.transpose()?;
        let others = array.moved_others(|tensor| tensor.broadcast_scalar(shape))?;
        return Ok(Array { dtype: array.dtype, shape: shape.to_vec(), elements, doubts, others });
    }
    let elements = match &array.elements {
        Elements::Exact(tensor) => Elements::Exact(tensor.reshape(shape)?),
        Elements::Numbers(numbers) => Elements::Numbers(numbers.clone()),
    };
    let doubts = array.doubts.as_ref().map(|doubts| doubts.reshape(shape)).transpose()?;
    let others = array.moved_others(|tensor| tensor.reshape(shape))?;
    Ok(Array { dtype: array.dtype, shape: shape.to_vec(), elements, doubts, others })
}

/// Some doubt of some element, or 0.
fn any_doubt(arrays: &[&Array]) -> Result<u32, EvalError> {
    for array in arrays {
        if let Some(codes) = array.doubt_codes()?
            && let Some(code) = codes.into_iter().find(|&code| code != 0)
        {
            return Ok(code);
        }
    }
    Ok(0)
}

/// The shape of elementwise results, of operands some of which may be scalars.
fn common_shape(arrays: &[&Array]) -> Vec<usize> {
    let shaped = arrays.iter().find(|array| !array.shape.is_empty());
    shaped.or(arrays.first()).map(|array| array.shape.clone()).unwrap_or_default()
}

/// The doubts of elementwise results: the first that an operand has.
fn common_doubts(arrays: &[&Array]) -> Result<Option<Tensor>, EvalError> {
    if arrays.iter().all(|array| array.doubts.is_none()) {
        return Ok(None);
    }
    let shape = common_shape(arrays);
    let n: usize = shape.iter().product();
    let mut merged = vec![0u32; n];
    for array in arrays {
        let Some(codes) = array.doubt_codes()? else { continue };
        for (i, own) in merged.iter_mut().enumerate() {
            if *own == 0 {
                *own = if codes.len() == 1 { codes[0] } else { codes[i] };
            }
        }
    }
    Ok(Some(crate::array::tensor(&shape, merged)?))
}
