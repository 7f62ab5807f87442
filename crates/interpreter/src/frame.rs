//! Values of a function while it runs, and operations on scalars without tensors.
//!
//! Most instructions of loops compute single numbers. An instruction whose operands and results are
//! scalars of plain types runs the kernel of its primitive on one element, without making
//! tensors.

use crate::errors::use_before_definition;
use numerics::DType;
use numerics::math::element::{ElementKernel, ScalarElement};
use program::primitives;
use program::{Code, EvalError, Instruction, Operand, Primitive, RuntimeValue, ValueType};
use std::sync::Arc;

/// The contents of a slot.
#[derive(Clone, Default)]
pub(crate) enum Slot {
    /// No value: not computed yet, or dead.
    #[default]
    Empty,
    /// A tensor of rank 0 of a plain type.
    Scalar(ScalarElement),
    /// Any value.
    Value(RuntimeValue),
}

impl Slot {
    /// The value.
    pub(crate) fn into_value(self) -> Result<RuntimeValue, EvalError> {
        match self {
            Slot::Empty => Err(use_before_definition()),
            Slot::Scalar(scalar) => Ok(scalar.into_tensor().into()),
            Slot::Value(value) => Ok(value),
        }
    }

    /// The scalar, which has type `dtype`.
    #[inline]
    pub(crate) fn scalar(&self, dtype: DType) -> Result<ScalarElement, EvalError> {
        let scalar = match self {
            Slot::Empty => return Err(use_before_definition()),
            Slot::Scalar(scalar) => *scalar,
            Slot::Value(value) => ScalarElement::of_tensor(value.tensor()?)?,
        };
        if scalar.dtype() == dtype {
            return Ok(scalar);
        }
        let found = scalar.dtype();
        Err(EvalError::new("type", format!("expected a scalar {dtype}, found a {found}")))
    }

    /// Replaces the contents by a scalar.
    #[inline]
    pub(crate) fn set_scalar(&mut self, scalar: ScalarElement) {
        match self {
            Slot::Scalar(old) => *old = scalar,
            other => *other = Slot::Scalar(scalar),
        }
    }

    /// True if the value has a type, as far as values of the type are known.
    pub(crate) fn fits(&self, ty: &ValueType) -> bool {
        match self {
            Slot::Empty => true,
            Slot::Scalar(scalar) => match ty {
                ValueType::Tensor { dtype, shape, .. } => {
                    shape.is_empty() && *dtype == scalar.dtype()
                }
                _ => true,
            },
            Slot::Value(value) => !ty.contradicts(value),
        }
    }
}

impl From<RuntimeValue> for Slot {
    fn from(value: RuntimeValue) -> Slot {
        Slot::Value(value)
    }
}

/// An instruction on scalars.
pub(crate) enum ScalarOp {
    /// A kernel, with the types of its operands.
    Kernel {
        /// The kernel on elements.
        kernel: ElementKernel,
        /// Types of the operands.
        operands: [DType; 2],
        /// Number of operands.
        arity: usize,
    },
    /// The second operand if the first is true, else the third; both have that type.
    Select(DType),
    /// A constant.
    Constant(ScalarElement),
}

impl ScalarOp {
    /// The scalar form of each instruction, if it has one.
    pub(crate) fn of_code(code: &Code) -> Vec<Option<ScalarOp>> {
        // Only values of known types can be scalars: find the type of each slot.
        let mut ops = Vec::with_capacity(code.instructions.len());
        ops.resize_with(code.instructions.len(), || None);
        let scalars = |types: Vec<Option<Arc<ValueType>>>| -> Vec<Option<DType>> {
            types.into_iter().map(|ty| ty?.scalar_dtype()).collect()
        };
        let slots: Vec<_> = code.slot_types().into_iter().map(scalars).collect();
        for block in &code.blocks {
            let slots = &slots[block.function.index()];
            for index in block.instructions.clone() {
                let index = index as usize;
                ops[index] = ScalarOp::of(&code.instructions[index], slots);
            }
        }
        ops
    }

    fn of(instruction: &Instruction, slots: &[Option<DType>]) -> Option<ScalarOp> {
        let [result] = &instruction.result_types[..] else { return None };
        let result = result.scalar_dtype()?;
        let mut operands = [result; 3];
        if instruction.operands.len() > operands.len() {
            return None;
        }
        for (dtype, operand) in operands.iter_mut().zip(&instruction.operands) {
            *dtype = (*slots.get(operand.slot as usize)?)?;
        }
        let [first, second, third] = operands;
        let (kernel, arity) = match &*instruction.primitive {
            Primitive::Constant(primitives::Constant { tensor }) => {
                return Some(ScalarOp::Constant(ScalarElement::of_tensor(tensor).ok()?));
            }
            Primitive::Select if second == third && first == DType::I1 => {
                return Some(ScalarOp::Select(second));
            }
            Primitive::Unary(op) => (ElementKernel::unary(*op, first)?, 1),
            Primitive::Binary(op) if first == second => (ElementKernel::binary(*op, first)?, 2),
            Primitive::Compare(comparison) if first == second && comparison.read_as.is_none() => {
                let total_order = comparison.total_order && first.is_float();
                (ElementKernel::compare(comparison.direction, total_order, first)?, 2)
            }
            Primitive::Convert(primitives::Convert { dtype }) => {
                (ElementKernel::convert(first, *dtype)?, 1)
            }
            _ => return None,
        };
        if kernel.result() != result || instruction.operands.len() != arity {
            return None;
        }
        Some(ScalarOp::Kernel { kernel, operands: [first, second], arity })
    }

    /// Computes the result from operands in a frame.
    #[inline]
    pub(crate) fn run(
        &self,
        operands: &[Operand],
        frame: &[Slot],
    ) -> Result<ScalarElement, EvalError> {
        let scalar = |i: usize, dtype: DType| {
            let slot = operands.get(i).and_then(|operand| frame.get(operand.slot as usize));
            slot.ok_or_else(use_before_definition)?.scalar(dtype)
        };
        match self {
            ScalarOp::Constant(value) => Ok(*value),
            ScalarOp::Kernel { kernel, operands: types, arity: 1 } => {
                let x = scalar(0, types[0])?;
                Ok(kernel.apply(&x, &x))
            }
            ScalarOp::Kernel { kernel, operands: types, .. } => {
                Ok(kernel.apply(&scalar(0, types[0])?, &scalar(1, types[1])?))
            }
            ScalarOp::Select(dtype) => {
                let chosen = if scalar(0, DType::I1)?.is_true() { 1 } else { 2 };
                scalar(chosen, *dtype)
            }
        }
    }
}

/// The scalar or tensor as a boolean.
pub(crate) fn truth(slot: &Slot) -> Result<bool, EvalError> {
    Ok(slot.scalar(DType::I1)?.is_true())
}
