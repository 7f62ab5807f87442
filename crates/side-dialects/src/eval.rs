//! What the ops that compute sizes do with values. An `index` and a `!shape.size` is an i64 of rank 0, a shape a vector of them, a
//! witness a token.

use mlir::OpRef;
use mlir::eval::{EvalEnv, EvalError, EvalFn, EvalResult, RuntimeValue};
use numerics::math::{self, BinaryOp, Direction};
use numerics::{Tensor, TensorError};

/// All operands, which are tensors.
fn tensors(operands: Vec<RuntimeValue>) -> Result<Vec<Tensor>, EvalError> {
    operands.into_iter().map(RuntimeValue::into_tensor).collect()
}

/// So many operands, which are tensors.
fn exactly<const N: usize>(operands: Vec<RuntimeValue>) -> Result<[Tensor; N], EvalError> {
    let found = tensors(operands)?;
    found.try_into().map_err(|_| EvalError::new("operands", format!("this op takes {N} operands")))
}

fn one(tensor: Result<Tensor, TensorError>) -> EvalResult {
    Ok(vec![RuntimeValue::Tensor(tensor?)])
}

fn vector(sizes: Vec<i64>) -> EvalResult {
    one(Tensor::from_vec([sizes.len()], sizes))
}

fn scalar(size: i64) -> EvalResult {
    Ok(vec![RuntimeValue::Tensor(Tensor::scalar(size))])
}

fn to_sizes(tensor: &Tensor) -> Vec<i64> {
    tensor.shape().iter().map(|&d| d as i64).collect()
}

fn binary(op: BinaryOp, operands: Vec<RuntimeValue>) -> EvalResult {
    let [lhs, rhs] = exactly(operands)?;
    one(math::binary(op, lhs, rhs))
}

macro_rules! binaries {
    ($($(#[doc = $doc:literal])* $name:ident = $op:ident;)*) => {
        $(pub(crate) const $name: EvalFn = |_, operands, _| binary(BinaryOp::$op, operands);)*
    };
}

binaries! {
    ADD = Add;
    AND = And;
    DIVIDE = Divide;
    MAXIMUM = Maximum;
    MINIMUM = Minimum;
    MULTIPLY = Multiply;
    OR = Or;
    REMAINDER = Remainder;
    SHIFT_LEFT = ShiftLeft;
    SUBTRACT = Subtract;
    XOR = Xor;
}

/// The operand.
pub(crate) const IDENTITY: EvalFn = |_, operands, _| Ok(operands);

/// The elements of a constant that is one number, or many.
pub(crate) fn constant(op: OpRef<'_>, _: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    use mlir::attrs::AttrKind;
    let missing = || EvalError::new("constant", "the elements of this constant are not at hand");
    let value = op.property(0).ok_or_else(missing)?;
    let bits = match &**value {
        AttrKind::Integer { value, .. } => *value as u128,
        AttrKind::Float { bits, .. } => *bits,
        _ => return one(value.to_tensor().ok_or_else(missing)?),
    };
    let dtype = value.ty().dtype().ok_or_else(missing)?;
    one(Tensor::splat_bytes(dtype, [], &bits.to_le_bytes()[..dtype.bytes()]))
}

/// The operand converted to the element type of the result.
pub(crate) fn convert(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = exactly(operands)?;
    let ty = op.result_type(0).element_type();
    let dtype = ty.dtype().ok_or_else(|| EvalError::new("convert", format!("there are no values of type {ty}")))?;
    one(math::convert(operand, dtype))
}

pub(crate) fn cmpi(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [lhs, rhs] = exactly(operands)?;
    let direction = match op.attr("predicate").and_then(|p| p.as_i64()) {
        Some(0) => Direction::Eq,
        Some(1) => Direction::Ne,
        Some(2) => Direction::Lt,
        Some(3) => Direction::Le,
        Some(4) => Direction::Gt,
        Some(5) => Direction::Ge,
        _ => return Err(EvalError::new("cmpi", "unsigned comparisons are not evaluated")),
    };
    one(math::compare(direction, &lhs, &rhs))
}

pub(crate) fn select(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [condition, a, b] = exactly(operands)?;
    one(math::select(&condition, &a, &b))
}

pub(crate) fn shape_of(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [value] = exactly(operands)?;
    vector(to_sizes(&value))
}

/// The element of a list of sizes at an index.
fn at(sizes: &[i64], index: &Tensor) -> EvalResult {
    let index = index.item::<i64>()?;
    let found = usize::try_from(index).ok().and_then(|i| sizes.get(i));
    match found {
        Some(&size) => scalar(size),
        None => Err(EvalError::new("index", format!("there is no dimension {index} of {}", sizes.len()))),
    }
}

pub(crate) fn dim(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [value, index] = exactly(operands)?;
    at(&to_sizes(&value), &index)
}

pub(crate) fn get_extent(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [shape, index] = exactly(operands)?;
    at(&shape.to_i64s()?, &index)
}

pub(crate) fn num_elements(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [shape] = exactly(operands)?;
    let product = shape.to_i64s()?.into_iter().try_fold(1i64, i64::checked_mul);
    product.map_or_else(|| Err(EvalError::new("num_elements", "the number of elements exceeds i64")), scalar)
}

pub(crate) fn rank(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [shape] = exactly(operands)?;
    scalar(shape.num_elements() as i64)
}

/// Sizes one after the other: those of shapes, and scalars.
pub(crate) fn concatenate(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let mut sizes = Vec::new();
    for operand in tensors(operands)? {
        sizes.extend(operand.to_i64s()?);
    }
    vector(sizes)
}

/// The shape to which shapes broadcast as in NumPy.
fn broadcast_shapes(shapes: &[Tensor]) -> Result<Vec<i64>, EvalError> {
    let mut common: Vec<i64> = Vec::new();
    for shape in shapes {
        let shape = shape.to_i64s()?;
        let added = shape.len().saturating_sub(common.len());
        common.splice(0..0, std::iter::repeat_n(1, added));
        let from = common.len() - shape.len();
        for (to, size) in common[from..].iter_mut().zip(shape) {
            match (*to, size) {
                (a, b) if a == b || b == 1 => {}
                (1, b) => *to = b,
                (a, b) => {
                    return Err(EvalError::new("broadcast", format!("sizes {a} and {b} do not broadcast together")));
                }
            }
        }
    }
    Ok(common)
}

pub(crate) fn broadcast(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    vector(broadcast_shapes(&tensors(operands)?)?)
}

/// A witness, or an error if the shapes do not broadcast.
pub(crate) fn cstr_broadcastable(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    broadcast_shapes(&tensors(operands)?)?;
    Ok(vec![RuntimeValue::Token])
}

/// A witness, or an error if the shapes differ.
pub(crate) fn cstr_eq(_: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let shapes = tensors(operands)?;
    let lists: Result<Vec<_>, _> = shapes.iter().map(Tensor::to_i64s).collect();
    match lists?.windows(2).find(|pair| pair[0] != pair[1]) {
        Some(pair) => Err(EvalError::new("cstr_eq", format!("shapes {:?} and {:?} differ", pair[0], pair[1]))),
        None => Ok(vec![RuntimeValue::Token]),
    }
}

/// A witness that what made the operands holds.
pub(crate) const WITNESS: EvalFn = |_, _, _| Ok(vec![RuntimeValue::Token]);

/// Runs the region.
pub(crate) fn assuming(op: OpRef<'_>, _: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    match op.regions().first() {
        Some(&region) => env.region(region, Vec::new()),
        None => Err(EvalError::new("assuming", "there is no region to run")),
    }
}

/// The element of a tensor at indices.
pub(crate) fn extract(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let mut operands = tensors(operands)?.into_iter();
    let source = operands.next().ok_or_else(|| EvalError::new("extract", "there is no tensor"))?;
    let indices: Result<Vec<i64>, TensorError> = operands.map(|i| i.item::<i64>()).collect();
    let mut offset = 0;
    for ((&size, stride), index) in source.shape().iter().zip(source.strides()).zip(indices?) {
        let index = usize::try_from(index).ok().filter(|&i| i < size);
        let missing = || EvalError::new("extract", format!("there is no such element of {}", op.operand_type(0)));
        offset += index.ok_or_else(missing)? * stride;
    }
    let width = source.dtype().bytes();
    let bytes = source.bytes().get(offset * width..(offset + 1) * width);
    let bytes = bytes.ok_or_else(|| EvalError::new("extract", "the tensor has fewer elements"))?;
    one(Tensor::splat_bytes(source.dtype(), [], bytes))
}

pub(crate) fn from_elements(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let ty = op.result_type(0);
    let missing = || EvalError::new("from_elements", format!("there are no values of type {ty}"));
    let shape = ty.as_tensor().and_then(|t| t.static_shape()).ok_or_else(missing)?;
    let dtype = ty.element_type().dtype().ok_or_else(missing)?;
    let mut bytes = Vec::new();
    for element in tensors(operands)? {
        bytes.extend_from_slice(element.bytes());
    }
    one(Tensor::from_bytes(dtype, shape, numerics::Bytes::from_vec(bytes)))
}
