//! Regions that are functions of scalars, run on vectors: the bodies of `reduce`, `scatter` and the
//! like.

use mlir::eval::{EvalEnv, EvalError};
use mlir::{Module, OpRef, RegionId, Value};
use numerics::math::{self, BinaryOp};
use numerics::shape::StridedView;
use numerics::{DType, Tensor};

/// A region that combines accumulators with values: `(a0, …, aN, v0, …, vN) -> (r0, …, rN)`, all
/// scalars.
pub struct Body<'e> {
    env: &'e mut dyn EvalEnv,
    region: RegionId,
    /// The function whose region this is; none for a region of the op itself.
    function: Option<String>,
    /// Element types of the arguments; none for one without plain storage (quantized).
    dtypes: Vec<Option<DType>>,
    /// What the region does, if it is that simple.
    pub shape: BodyShape,
}

/// Bodies that need not run as regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyShape {
    /// Of one accumulator `a` and one value `v`: the operation on `(a, v)`, or on `(v, a)` if
    /// swapped.
    Binary {
        /// The operation.
        op: BinaryOp,
        /// Whether the value is its left operand.
        swapped: bool,
    },
    /// Returns the values and ignores the accumulators.
    Values,
    /// Anything else.
    Region,
}

impl<'e> Body<'e> {
    /// The region `region` of `op` as a body.
    pub fn new(op: OpRef<'_>, region: RegionId, env: &'e mut dyn EvalEnv) -> Body<'e> {
        let module = op.module();
        let arguments = module.entry(region).map_or(&[][..], |block| module.arguments(block));
        let dtypes = arguments.iter().map(|&a| module.ty(a).element_type().dtype()).collect();
        Body { env, region, function: None, dtypes, shape: shape_of(module, region) }
    }

    /// The function of that name as a body, called from `op`.
    ///
    /// # Errors
    /// If there is no such function.
    pub fn of_function(
        op: OpRef<'_>,
        symbol: &str,
        env: &'e mut dyn EvalEnv,
    ) -> Result<Body<'e>, EvalError> {
        let missing = || EvalError::new("call", format!("there is no function @{symbol}"));
        let function = mlir::verify::nearest_symbol(op, symbol).ok_or_else(missing)?;
        let region = *function.regions().first().ok_or_else(missing)?;
        Ok(Body { function: Some(symbol.to_string()), ..Body::new(function, region, env) })
    }

    /// Runs the body on vectors (or scalars, the same at each of the `n` positions).
    fn run(&mut self, n: usize, arguments: Vec<Tensor>) -> Result<Vec<Tensor>, EvalError> {
        let Some(function) = &self.function else {
            return self.env.scalar_region(self.region, n, arguments);
        };
        // A function has its own frame, so there is a call for each position.
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
                column.scatter(
                    &StridedView::window(&[n], &[at], &[1], &[1])?,
                    &result.into_shape([1])?,
                )?;
            }
        }
        Ok(results)
    }

    /// `tensors` converted to the types that the body computes in: those of its arguments from
    /// `first` on.
    ///
    /// # Errors
    /// If there is no memory for the result.
    pub fn promote(&self, first: usize, tensors: Vec<Tensor>) -> Result<Vec<Tensor>, EvalError> {
        let promote = |(i, tensor): (usize, Tensor)| match self.dtypes.get(first + i) {
            Some(&Some(dtype)) if dtype != tensor.dtype() => Ok(math::convert(tensor, dtype)?),
            _ => Ok(tensor),
        };
        tensors.into_iter().enumerate().map(promote).collect()
    }

    /// The body at each of `n` positions of vectors (or scalars, the same at each position).
    ///
    /// # Errors
    /// Whatever stops an op in the region.
    pub fn combine(
        &mut self,
        n: usize,
        left: Vec<Tensor>,
        right: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError> {
        if let BodyShape::Binary { op, swapped } = self.shape
            && let ([_], [_]) = (&left[..], &right[..])
        {
            let (mut left, mut right) = (left, right);
            let (Some(a), Some(v)) = (left.pop(), right.pop()) else { return Ok(Vec::new()) };
            let result = if swapped { math::binary(op, v, a)? } else { math::binary(op, a, v)? };
            let result = if result.rank() == 0 { result.broadcast_scalar([n])? } else { result };
            return Ok(vec![result]);
        }
        let mut arguments = left;
        arguments.extend(right);
        let results = self.run(n, arguments)?;
        let vector = |t: Tensor| if t.rank() == 0 { t.broadcast_scalar([n]) } else { Ok(t) };
        Ok(results.into_iter().map(vector).collect::<Result<_, _>>()?)
    }
}

/// What a region of one block does, seen from its ops.
fn shape_of(module: &Module, region: RegionId) -> BodyShape {
    let Some(block) = module.entry(region) else { return BodyShape::Region };
    let arguments = module.arguments(block);
    let mut rest = module.ops(block);
    let Some(last) = rest.next_back() else { return BodyShape::Region };
    let returned = last.operands();
    if rest.len() == 0 && !returned.is_empty() && returned == &arguments[arguments.len() / 2..] {
        return BodyShape::Values;
    }
    let (Some(op), None, &[a, v], &[result]) = (rest.next(), rest.next(), arguments, returned)
    else {
        return BodyShape::Region;
    };
    match single_binary(op, result) {
        Some((op, lhs, rhs)) if (lhs, rhs) == (a, v) => BodyShape::Binary { op, swapped: false },
        Some((op, lhs, rhs)) if (lhs, rhs) == (v, a) => BodyShape::Binary { op, swapped: true },
        _ => BodyShape::Region,
    }
}

/// The elementwise operation and the operands of an op that defines `result` from two values of its
/// type.
fn single_binary(op: OpRef<'_>, result: Value) -> Option<(BinaryOp, Value, Value)> {
    let def = op.def().filter(|d| d.dialect() == "stablehlo")?;
    let function = *BinaryOp::ALL.iter().find(|f| f.name() == def.mnemonic())?;
    let &[lhs, rhs] = op.operands() else { return None };
    let dtype = |v| op.module().ty(v).element_type().dtype();
    let same = dtype(lhs).is_some() && dtype(lhs) == dtype(rhs) && dtype(lhs) == dtype(result);
    (same && op.results().eq([result])).then_some((function, lhs, rhs))
}

/// Evaluates an expression with `T` bound to the Rust type of a `DType` and `f` to the function of
/// that type behind a [`BinaryOp`] that reductions commonly use, or another expression for other
/// operations and types: `dispatch_operation!(op, dtype, |T, f| kernel::<T>(f), else general())`.
/// For the types that programs reduce most, each function is a type of its own, and the kernel with
/// it; for the others, `f` is a pointer.
macro_rules! dispatch_operation {
    ($op:expr, $dtype:expr, |$T:ident, $f:ident| $body:expr, else $other:expr) => {
        $crate::eval::body::dispatch_operation!(@arms ($op, $dtype, $T, $f, $body, $other)
            (F32 f32) (F64 f64) (BF16 numerics::bf16) (I32 i32) (I64 i64))
    };
    (@arms ($op:expr, $dtype:expr, $T:ident, $f:ident, $body:expr, $other:expr) $(($variant:ident $ty:ty))*) => {{
        use numerics::math::BinaryOp;
        use numerics::{Bitwise, DType, Number};
        match ($dtype, $op) {
            $((DType::$variant, op @ (BinaryOp::Add | BinaryOp::Multiply | BinaryOp::Maximum | BinaryOp::Minimum)) => {
                type $T = $ty;
                $crate::eval::body::dispatch_operation!(@functions (op, $T, $f, $body)
                    (Add add) (Multiply multiply) (Maximum maximum), else minimum)
            })*
            (dtype, op @ (BinaryOp::Add | BinaryOp::Multiply | BinaryOp::Maximum | BinaryOp::Minimum)) => {
                numerics::dispatch_all!(dtype, $T => {
                    let $f: fn($T, $T) -> $T = match op {
                        BinaryOp::Add => Number::add,
                        BinaryOp::Multiply => Number::multiply,
                        BinaryOp::Maximum => Number::maximum,
                        _ => Number::minimum,
                    };
                    $body
                })
            }
            (dtype, op @ (BinaryOp::And | BinaryOp::Or)) => numerics::dispatch!(dtype, [boolean, integer] $T => {
                let $f: fn($T, $T) -> $T = if op == BinaryOp::And { Bitwise::and } else { Bitwise::or };
                $body
            }, else $other),
            _ => $other,
        }
    }};
    (@functions ($op:expr, $T:ident, $f:ident, $body:expr) $(($variant:ident $function:ident))*, else $last:ident) => {
        match $op {
            $(BinaryOp::$variant => {
                let $f = <$T as Number>::$function;
                $body
            })*
            _ => {
                let $f = <$T as Number>::$last;
                $body
            }
        }
    };
}
pub(crate) use dispatch_operation;
