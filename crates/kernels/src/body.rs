//! Bodies of `reduce`, `scatter` and the like: blocks that are functions of scalars, run on
//! vectors.

use numerics::math::{self, Direction};
use numerics::shape::StridedView;
use numerics::{DType, Family, Tensor, TensorError};
use program::{Body, BodyShape, Callee, EvalError, Evaluator, Extremum};

/// A body with the environment that runs it.
pub struct Combiner<'e> {
    body: &'e Body,
    env: &'e mut dyn Evaluator,
    /// The classification of the body, if it is simple.
    pub shape: BodyShape,
    /// The extremum that it finds.
    pub extremum: Option<Extremum>,
    /// The relation by which it chooses between accumulators and values.
    pub choice: Option<Direction>,
}

impl<'e> Combiner<'e> {
    /// The body, to be run by `env`.
    pub fn new(body: &'e Body, env: &'e mut dyn Evaluator) -> Combiner<'e> {
        let (shape, extremum, choice) = (body.shape, body.extremum, body.choice);
        Combiner { body, env, shape, extremum, choice }
    }

    /// Runs the body on vectors (or scalars, the same at each of the `n` positions).
    fn run(&mut self, n: usize, arguments: Vec<Tensor>) -> Result<Vec<Tensor>, EvalError> {
        let function = match self.body.callee {
            Callee::Block(block) => return self.env.scalar_block(block, n, arguments),
            Callee::Function(function) => function,
        };
        // A function has a separate frame, so it is called for each position.
        let mut results: Vec<Tensor> = Vec::new();
        for at in 0..n {
            let mut scalars = Vec::with_capacity(arguments.len());
            for argument in &arguments {
                let place = if argument.rank() == 0 { 0 } else { at };
                scalars.push(argument.take(&[place])?.into_shape([])?.into());
            }
            for (i, result) in self.env.call(function, scalars)?.into_iter().enumerate() {
                let result = result.into_tensor()?;
                if at == 0 {
                    results.push(Tensor::zeros(result.dtype(), [n])?);
                }
                let column = results
                    .get_mut(i)
                    .ok_or_else(|| EvalError::new("call", "results differ in number"))?;
                let place = StridedView::window(&[n], &[at], &[1], &[1])?;
                column.scatter(&place, &result.into_shape([1])?)?;
            }
        }
        Ok(results)
    }

    /// `tensors` converted to the types that the body computes in: the types of its arguments from
    /// `first` on.
    ///
    /// # Errors
    /// If there is no memory for the result.
    pub fn promote(&self, first: usize, tensors: Vec<Tensor>) -> Result<Vec<Tensor>, EvalError> {
        let promote = |(i, tensor): (usize, Tensor)| match self.body.dtypes.get(first + i) {
            Some(&Some(dtype)) if dtype != tensor.dtype() => Ok(math::convert(tensor, dtype)?),
            _ => Ok(tensor),
        };
        tensors.into_iter().enumerate().map(promote).collect()
    }

    /// The body at each of `n` positions of vectors (or scalars, the same at each position).
    ///
    /// # Errors
    /// Whatever stops an instruction of the body.
    pub fn combine(
        &mut self,
        n: usize,
        mut left: Vec<Tensor>,
        mut right: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError> {
        let vector = |t: Tensor| if t.rank() == 0 { t.broadcast_scalar([n]) } else { Ok(t) };
        if let BodyShape::Binary { op, swapped } = self.body.shape
            && left.len() == 1
            && right.len() == 1
            && let (Some(a), Some(v)) = (left.pop(), right.pop())
        {
            let result = if swapped { math::binary(op, v, a)? } else { math::binary(op, a, v)? };
            return Ok(vec![vector(result)?]);
        }
        left.append(&mut right);
        let results = self.run(n, left)?;
        Ok(results.into_iter().map(vector).collect::<Result<_, TensorError>>()?)
    }
}
/// The type in which a common operation combines elements, to be converted back: the low bits of
/// narrow integers equal the low bits of wide ones.
pub(crate) fn operation_type(dtype: DType) -> DType {
    match (dtype.family(), dtype.bits()) {
        (Family::Signed, bits) if bits < 32 => DType::I32,
        (Family::Unsigned, bits) if bits < 32 => DType::U32,
        _ => dtype,
    }
}

/// Evaluates an expression with `T` bound to the Rust type of a `DType` and `f` to the function of
/// that type behind a [`BinaryOp`] that reductions commonly use, or another expression for other
/// operations and types: `dispatch_operation!(op, dtype, |T, f| kernel::<T>(f), else general())`.
/// For the types that programs reduce most, and for sums of narrow floats, each function is a type
/// of its own, and the kernel with it; for the others, `f` is a pointer. The types are what
/// [`operation_type`] gives, without floats of 8 bits.
macro_rules! dispatch_operation {
    ($op:expr, $dtype:expr, |$T:ident, $f:ident| $body:expr, else $other:expr) => {{
        use numerics::math::BinaryOp;
        $crate::body::dispatch_operation!(@types ($op, $dtype, $T, $f, $body, $other)
            [(F32 f32) (F64 f64) (I32 i32)] [(BF16 numerics::bf16) (F16 numerics::f16)]
            [(U32 u32) (I64 i64) (U64 u64) (C64 numerics::Complex32) (C128 numerics::Complex64)
                (I1 numerics::I1)]
            [(I32 i32) (U32 u32) (I64 i64) (U64 u64) (I1 numerics::I1)])
    }};
    (@types ($op:expr, $dtype:expr, $T:ident, $f:ident, $body:expr, $other:expr)
        [$(($fast:ident $fast_ty:ty))*] [$(($narrow:ident $narrow_ty:ty))*]
        [$(($wide:ident $wide_ty:ty))*]
        [$(($bits:ident $bits_ty:ty))*]
    ) => {
        match ($dtype, $op) {
            $((numerics::DType::$fast, BinaryOp::Add) => {
                $crate::body::dispatch_operation!(
                    @bind $T $fast_ty, $f add, $body
                )
            }
            (numerics::DType::$fast, BinaryOp::Multiply) => {
                $crate::body::dispatch_operation!(
                    @bind $T $fast_ty, $f multiply, $body
                )
            }
            (numerics::DType::$fast, BinaryOp::Maximum) => {
                $crate::body::dispatch_operation!(
                    @bind $T $fast_ty, $f maximum, $body
                )
            }
            (numerics::DType::$fast, BinaryOp::Minimum) => {
                $crate::body::dispatch_operation!(
                    @bind $T $fast_ty, $f minimum, $body
                )
            })*
            $((numerics::DType::$narrow, BinaryOp::Add) => {
                $crate::body::dispatch_operation!(
                    @bind $T $narrow_ty, $f add, $body
                )
            }
            (
                numerics::DType::$narrow,
                op @ (BinaryOp::Multiply | BinaryOp::Maximum | BinaryOp::Minimum),
            ) => {
                $crate::body::dispatch_operation!(@pointer $T $narrow_ty, $f op, $body)
            })*
            $((
                numerics::DType::$wide,
                op @ (BinaryOp::Add | BinaryOp::Multiply | BinaryOp::Maximum | BinaryOp::Minimum),
            ) => {
                $crate::body::dispatch_operation!(@pointer $T $wide_ty, $f op, $body)
            })*
            $((
                numerics::DType::$bits,
                op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor),
            ) => {
                type $T = $bits_ty;
                let $f: fn($T, $T) -> $T = match op {
                    BinaryOp::And => numerics::Bitwise::and,
                    BinaryOp::Or => numerics::Bitwise::or,
                    _ => numerics::Bitwise::xor,
                };
                $body
            })*
            _ => $other,
        }
    };
    (@pointer $T:ident $ty:ty, $f:ident $op:expr, $body:expr) => {{
        type $T = $ty;
        let $f: fn($T, $T) -> $T = match $op {
            BinaryOp::Add => numerics::Number::add,
            BinaryOp::Multiply => numerics::Number::multiply,
            BinaryOp::Maximum => numerics::Number::maximum,
            _ => numerics::Number::minimum,
        };
        $body
    }};
    // Not a closure, which would be a type of each place that uses the macro, and every loop with
    // it.
    (@bind $T:ident $ty:ty, $f:ident $function:ident, $body:expr) => {{
        type $T = $ty;
        let $f = <$T as numerics::Number>::$function;
        $body
    }};
}
pub(crate) use dispatch_operation;
