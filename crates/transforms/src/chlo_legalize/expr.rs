//! Formulas over tensors: values with the operators of arithmetic, each of which makes an op at the
//! insertion point.
//!
//! `select(x.lt(zero), -x, x)` makes three ops, in the order in which Rust evaluates the operands:
//! from left to right.

use hlo::enums::COMPARISON_DIRECTION;
use hlo::ops::*;
use hlo::{attrs, compat};
use mlir::attrs::DenseElements;
use mlir::ods::OpDef;
use mlir::rewrite::Rewriter;
use mlir::types::{DYNAMIC, TensorType, TypeKind};
use mlir::{Attribute, OpId, Type, Value};
use numerics::{Bytes, FloatFormat};
use side_dialects::shape::ShapeOfOp;
use std::cell::{Cell, RefCell};
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// Emits the ops of formulas at the insertion point of a rewriter.
pub(crate) struct FormulaBuilder<'r, 'm> {
    rewriter: RefCell<&'r mut Rewriter<'m>>,
    /// Set if a constant could not be made because its type has no representable values.
    failed: Cell<bool>,
}

impl<'r, 'm> FormulaBuilder<'r, 'm> {
    pub(crate) fn new(rewriter: &'r mut Rewriter<'m>) -> Self {
        FormulaBuilder { rewriter: RefCell::new(rewriter), failed: Cell::new(false) }
    }

    /// The formula `value`.
    pub(crate) fn expr(&self, value: Value) -> Expr<'_> {
        Expr { builder: self, value }
    }

    /// True if everything was emitted.
    pub(crate) fn is_complete(&self) -> bool {
        !self.failed.get()
    }
}

/// The operations of a [`FormulaBuilder`] that formulas use, independent of its lifetimes.
trait Build {
    /// Emits an op with one result: of type `ty`, else of the inferred type, else of the type of
    /// its first operand.
    fn emit(
        &self,
        def: &'static OpDef,
        operands: &[Value],
        direction: Option<u64>,
        ty: Option<Type>,
    ) -> Value;
    /// Emits a splat constant of `number` with the shape of a value.
    fn constant(&self, shape: Value, number: &dyn Fn(&Type) -> Option<Vec<u8>>) -> Option<Value>;
    fn ty(&self, value: Value) -> Type;
    fn fail(&self);
}

impl Build for FormulaBuilder<'_, '_> {
    fn emit(
        &self,
        def: &'static OpDef,
        operands: &[Value],
        direction: Option<u64>,
        ty: Option<Type>,
    ) -> Value {
        let mut rw = self.rewriter.borrow_mut();
        let direction = direction.map(|d| Attribute::enumeration(&COMPARISON_DIRECTION, d));
        let mut new = |ty: Option<Type>| {
            let op = rw
                .make(def, operands.iter().copied())
                .optional_attr("comparison_direction", direction.as_ref());
            match ty {
                Some(ty) => Some(op.result(ty)),
                None => op.value(),
            }
        };
        match new(ty) {
            Some(value) => value,
            None => {
                self.fail();
                operands[0]
            }
        }
    }

    fn constant(&self, shape: Value, number: &dyn Fn(&Type) -> Option<Vec<u8>>) -> Option<Value> {
        let mut rw = self.rewriter.borrow_mut();
        let element = rw.ty(shape).element_type().clone();
        let scalar = splat(Type::tensor([], element.clone()), number(&element)?)?;
        constant_like(&mut rw, &scalar, shape)
    }

    fn ty(&self, value: Value) -> Type {
        self.rewriter.borrow().ty(value).clone()
    }

    fn fail(&self) {
        self.failed.set(true);
    }
}

/// A splat of static type `ty`; `element` is the stored form of the element.
pub(crate) fn splat(ty: Type, element: Vec<u8>) -> Option<Attribute> {
    DenseElements::new(ty, Bytes::from_vec(element)).map(Attribute::from)
}

/// A splat of `scalar`, a dense attribute of rank 0, with the shape of the value `shape`.
pub(crate) fn constant_like(
    rw: &mut Rewriter<'_>,
    scalar: &Attribute,
    shape: Value,
) -> Option<Value> {
    let element = scalar.as_dense()?.ty().element_type().clone();
    let ty = rw.ty(shape).clone();
    let tensor = ty.as_tensor()?;
    if tensor.has_static_shape() {
        let ty = compat::with_element(&ty, element);
        return constant(rw, splat(ty, scalar.as_dense()?.data()[..].to_vec())?);
    }
    let constant = constant(rw, scalar.clone())?;
    if is_bounded(tensor) {
        let sizes = super::broadcast::sizes(rw, shape)?;
        return super::broadcast::broadcast_to(rw, constant, &sizes);
    }
    let extents = rw
        .make(ShapeOfOp::DEF, [shape])
        .result(Type::tensor([tensor.rank() as i64], Type::index()));
    let to = rw.make(DynamicBroadcastInDimOp::DEF, [constant, extents]);
    Some(
        to.attr("broadcast_dimensions", Attribute::i64_array([]))
            .result(compat::with_element(&ty, element)),
    )
}

/// A constant of the type of its value.
pub(crate) fn constant(rw: &mut Rewriter<'_>, value: Attribute) -> Option<Value> {
    let ty = value.ty();
    Some(rw.make(ConstantOp::DEF, []).attr("value", value).result(ty))
}

/// True if there are dynamic dimensions and all are bounded.
pub(crate) fn is_bounded(ty: &TensorType) -> bool {
    let bounds = ty.encoding.as_ref().and_then(attrs::bounds);
    bounds.is_some_and(|bounds| {
        ty.shape.iter().zip(bounds).all(|(&size, &bound)| size != DYNAMIC || bound != DYNAMIC)
    })
}

/// A value with operators.
#[derive(Clone, Copy)]
pub(crate) struct Expr<'b> {
    builder: &'b dyn Build,
    value: Value,
}

impl<'b> Expr<'b> {
    pub(crate) fn value(self) -> Value {
        self.value
    }

    /// The element type.
    pub(crate) fn element(self) -> Type {
        self.builder.ty(self.value).element_type().clone()
    }

    pub(crate) fn is_complex(self) -> bool {
        matches!(*self.element(), TypeKind::Complex(_))
    }

    /// The result of an op on this value and `others`.
    pub(crate) fn op(self, def: &'static OpDef, others: &[Expr<'b>]) -> Expr<'b> {
        let operands: Vec<Value> =
            std::iter::once(self.value).chain(others.iter().map(|e| e.value)).collect();
        self.with(self.builder.emit(def, &operands, None, None))
    }

    fn with(self, value: Value) -> Expr<'b> {
        Expr { value, ..self }
    }

    /// The result of a conversion op: the same shape with another element type.
    fn retyped(self, def: &'static OpDef, element: Type) -> Expr<'b> {
        let ty = compat::with_element(&self.builder.ty(self.value), element);
        self.with(self.builder.emit(def, &[self.value], None, Some(ty)))
    }

    /// Converts to another element type.
    pub(crate) fn convert(self, element: Type) -> Expr<'b> {
        self.retyped(ConvertOp::DEF, element)
    }

    /// Reinterprets the bits as another element type of the same width.
    pub(crate) fn bitcast(self, element: Type) -> Expr<'b> {
        self.retyped(BitcastConvertOp::DEF, element)
    }
}

/// Constants of the shape and element type of a value.
impl<'b> Expr<'b> {
    fn constant(self, number: &dyn Fn(&Type) -> Option<Vec<u8>>) -> Expr<'b> {
        match self.builder.constant(self.value, number) {
            Some(value) => self.with(value),
            None => {
                self.builder.fail();
                self
            }
        }
    }

    /// `number`, rounded to the element type.
    pub(crate) fn like(self, number: f64) -> Expr<'b> {
        self.constant(&|element| number_bytes(element, number))
    }

    /// `number`, truncated to the width of the element type.
    pub(crate) fn like_integer(self, number: i128) -> Expr<'b> {
        self.constant(&|element| integer_bytes(element, number))
    }

    fn like_format(self, bits: fn(&FloatFormat) -> u64) -> Expr<'b> {
        self.constant(&|element| float_bytes(element, bits))
    }

    /// The largest finite number.
    pub(crate) fn like_max(self) -> Expr<'b> {
        self.like_format(FloatFormat::max_finite)
    }

    /// The smallest positive normal number.
    pub(crate) fn like_min_normal(self) -> Expr<'b> {
        self.like_format(|format| format.encode(f64::from(format.min_exponent()).exp2()))
    }

    /// The smallest positive number.
    pub(crate) fn like_min_positive(self) -> Expr<'b> {
        self.like_format(|_| 1)
    }
}

/// The stored form of a number, rounded to the element type.
pub(crate) fn number_bytes(element: &Type, number: f64) -> Option<Vec<u8>> {
    match &**element {
        TypeKind::Complex(part) => {
            let mut bytes = float_bytes(part, |format| format.encode(number))?;
            bytes.extend(float_bytes(part, |format| format.encode(0.0))?);
            Some(bytes)
        }
        TypeKind::Integer { .. } => integer_bytes(element, number as i128),
        _ => float_bytes(element, |format| format.encode(number)),
    }
}

fn float_bytes(element: &Type, bits: impl Fn(&FloatFormat) -> u64) -> Option<Vec<u8>> {
    let dtype = element.dtype()?;
    Some(bits(dtype.float_format()?).to_le_bytes()[..dtype.bytes()].to_vec())
}

fn integer_bytes(element: &Type, number: i128) -> Option<Vec<u8>> {
    let dtype = element.dtype()?;
    dtype.is_integer().then(|| number.to_le_bytes()[..dtype.bytes()].to_vec())
}

macro_rules! functions {
    ($($name:ident = $op:ident;)*) => {
        impl<'b> Expr<'b> {
            $(pub(crate) fn $name(self) -> Expr<'b> {
                self.op($op::DEF, &[])
            })*
        }
    };
}

functions! {
    abs = AbsOp;
    cos = CosineOp;
    exp = ExponentialOp;
    exp_m1 = ExponentialMinusOneOp;
    floor = FloorOp;
    imag = ImagOp;
    is_finite = IsFiniteOp;
    ln = LogOp;
    ln_1p = LogPlusOneOp;
    real = RealOp;
    sign = SignOp;
    sin = SineOp;
    sqrt = SqrtOp;
    tan = TanOp;
}

macro_rules! functions_of_two {
    ($($name:ident = $op:ident;)*) => {
        $(pub(crate) fn $name<'b>(a: Expr<'b>, b: Expr<'b>) -> Expr<'b> {
            a.op($op::DEF, &[b])
        })*
    };
}

functions_of_two! {
    atan2 = Atan2Op;
    complex = ComplexOp;
    max = MaximumOp;
    min = MinimumOp;
    pow = PowerOp;
    rem = RemainderOp;
    shift_right = ShiftRightLogicalOp;
    shift_right_arithmetic = ShiftRightArithmeticOp;
}

/// `condition ? a : b`, elementwise.
pub(crate) fn select<'b>(condition: Expr<'b>, a: Expr<'b>, b: Expr<'b>) -> Expr<'b> {
    condition.op(SelectOp::DEF, &[a, b])
}

/// `x`, but no less than `low` and no greater than `high`.
pub(crate) fn clamp<'b>(low: Expr<'b>, x: Expr<'b>, high: Expr<'b>) -> Expr<'b> {
    low.op(ClampOp::DEF, &[x, high])
}

macro_rules! comparisons {
    ($($name:ident = $direction:literal;)*) => {
        impl<'b> Expr<'b> {
            $(pub(crate) fn $name(self, other: Expr<'b>) -> Expr<'b> {
                self.with(self.builder.emit(CompareOp::DEF, &[self.value, other.value], Some($direction), None))
            })*
        }
    };
}

// The cases of `COMPARISON_DIRECTION`.
comparisons! {
    eq = 0;
    ne = 1;
    ge = 2;
    gt = 3;
    le = 4;
    lt = 5;
}

macro_rules! operators {
    ($($trait:ident $method:ident = $op:ident;)*) => {
        $(impl<'b> $trait for Expr<'b> {
            type Output = Expr<'b>;
            fn $method(self, other: Expr<'b>) -> Expr<'b> {
                self.op($op::DEF, &[other])
            }
        })*
    };
}

operators! {
    Add add = AddOp;
    BitAnd bitand = AndOp;
    BitOr bitor = OrOp;
    Div div = DivideOp;
    Mul mul = MultiplyOp;
    Sub sub = SubtractOp;
}

impl<'b> Neg for Expr<'b> {
    type Output = Expr<'b>;
    fn neg(self) -> Expr<'b> {
        self.op(NegateOp::DEF, &[])
    }
}

impl<'b> Not for Expr<'b> {
    type Output = Expr<'b>;
    fn not(self) -> Expr<'b> {
        self.op(NotOp::DEF, &[])
    }
}

/// Constants shaped like one value; each is made on first use and cached.
pub(crate) struct FormulaConstants<'b> {
    like: Expr<'b>,
    made: RefCell<Vec<(u64, Expr<'b>)>>,
}

impl<'b> FormulaConstants<'b> {
    pub(crate) fn new(like: Expr<'b>) -> Self {
        FormulaConstants { like, made: RefCell::default() }
    }

    /// The constant `number`.
    pub(crate) fn get(&self, number: f64) -> Expr<'b> {
        let mut made = self.made.borrow_mut();
        if let Some((_, known)) = made.iter().find(|(bits, _)| *bits == number.to_bits()) {
            return *known;
        }
        let new = self.like.like(number);
        made.push((number.to_bits(), new));
        new
    }
}

/// Horner's scheme; coefficients start at the highest power.
pub(crate) fn polynomial<'b, C: Copy + Into<f64>>(x: Expr<'b>, coefficients: &[C]) -> Expr<'b> {
    let Some((&first, rest)) = coefficients.split_first() else { return x.like(0.0) };
    rest.iter().fold(x.like(first.into()), |sum, &c| sum * x + x.like(c.into()))
}

/// Replaces an op with one result by a formula over its operands; the result type stays.
pub(crate) fn replace_by<const N: usize>(
    rw: &mut Rewriter<'_>,
    op: OpId,
    formula: impl for<'b> Fn([Expr<'b>; N]) -> Expr<'b>,
) -> Option<()> {
    let operands: [Value; N] = rw.op(op).operands().try_into().ok()?;
    let builder = FormulaBuilder::new(rw);
    let value = formula(operands.map(|v| builder.expr(v))).value();
    let complete = builder.is_complete();
    if !complete {
        let name = rw.op(op).name();
        let types: Vec<String> = rw.op(op).operand_types().map(Type::to_string).collect();
        let message =
            format!("{name} cannot be expanded for operands of type {}", types.join(", "));
        let error = rw.op(op).error("conversion", message);
        rw.report(error);
    }
    replace(rw, op, value);
    Some(())
}

/// Replaces the single result of an op by a value, whose type becomes that of the result.
pub(crate) fn replace(rw: &mut Rewriter<'_>, op: OpId, value: Value) {
    let declared = rw.op(op).result_type(0).clone();
    let is_new = !rw.op(op).operands().contains(&value);
    let value = match *rw.ty(value) == declared {
        true => value,
        false if is_new => {
            rw.set_type(value, declared);
            value
        }
        false => rw.make(ConvertOp::DEF, [value]).result(declared),
    };
    rw.replace(op, &[value]);
}
