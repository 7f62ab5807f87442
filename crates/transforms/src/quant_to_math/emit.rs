//! Builder for the ops of arithmetic on stored values.

use hlo::compat;
use hlo::ops::{ConstantOp, ConvertOp};
use mlir::ods::OpDef;
use mlir::rewrite::{NewOp, Rewriter};
use mlir::{Attribute, Type, Value};
use numerics::{Element, Tensor};
use side_dialects::quant::{Granularity, Uniform};

/// Emits ops at the insertion point.
pub(crate) struct Emit<'r, 'm> {
    rw: &'r mut Rewriter<'m>,
}

impl<'r, 'm> Emit<'r, 'm> {
    pub(crate) fn new(rw: &'r mut Rewriter<'m>) -> Self {
        Emit { rw }
    }

    pub(crate) fn ty(&self, value: Value) -> &Type {
        self.rw.ty(value)
    }

    /// Starts an op.
    pub(crate) fn make(
        &mut self,
        def: &'static OpDef,
        operands: impl IntoIterator<Item = Value>,
    ) -> NewOp<'_, 'm> {
        self.rw.make(def, operands)
    }

    /// The rewriter.
    pub(crate) fn rewriter(&mut self) -> &mut Rewriter<'m> {
        self.rw
    }

    /// Emits an op with one result of the type of `like`.
    pub(crate) fn same(
        &mut self,
        def: &'static OpDef,
        operands: impl IntoIterator<Item = Value>,
        like: Value,
    ) -> Value {
        let ty = self.rw.ty(like).clone();
        self.rw.make(def, operands).result(ty)
    }

    /// Emits a broadcasting op of `lhs` and a `rhs` of lower rank: a scalar, or broadcast along
    /// `dims`. The result has the type of `lhs`.
    pub(crate) fn broadcast(
        &mut self,
        def: &'static OpDef,
        lhs: Value,
        rhs: Value,
        dims: Option<&Attribute>,
    ) -> Value {
        let ty = self.rw.ty(lhs).clone();
        self.rw.make(def, [lhs, rhs]).optional_attr("broadcast_dimensions", dims).result(ty)
    }

    /// Converts to another element type.
    pub(crate) fn convert(&mut self, value: Value, element: Type) -> Value {
        let ty = compat::with_element(self.rw.ty(value), element);
        self.rw.make(ConvertOp::DEF, [value]).result(ty)
    }

    pub(crate) fn constant(&mut self, value: Attribute) -> Value {
        let ty = value.ty();
        self.rw.make(ConstantOp::DEF, []).attr("value", value).result(ty)
    }

    /// A scalar, rounded to `f32`.
    pub(crate) fn f32(&mut self, number: f64) -> Option<Value> {
        Some(self.constant(Attribute::from_tensor(&Tensor::scalar(number as f32))))
    }

    /// A scalar, truncated to `i32`.
    pub(crate) fn i32(&mut self, number: i64) -> Option<Value> {
        Some(self.constant(Attribute::from_tensor(&Tensor::scalar(number as i32))))
    }

    /// A constant with one number per scale: a scalar, or a vector along the quantized dimension.
    pub(crate) fn f32s(
        &mut self,
        view: &Uniform<'_>,
        numbers: impl Iterator<Item = f64>,
    ) -> Option<Value> {
        let value = parameters(view, numbers.map(|number| number as f32).collect())?;
        Some(self.constant(value))
    }

    /// As [`Emit::f32s`], for integers.
    pub(crate) fn i32s(&mut self, view: &Uniform<'_>, numbers: &[i64]) -> Option<Value> {
        let value = parameters(view, numbers.iter().map(|&number| number as i32).collect())?;
        Some(self.constant(value))
    }
}

/// A constant with one value per scale. `None` for blockwise quantization.
fn parameters<T: Element>(view: &Uniform<'_>, values: Vec<T>) -> Option<Attribute> {
    let tensor = match view.granularity() {
        Granularity::PerTensor => Tensor::scalar(*values.first()?),
        Granularity::PerAxis => Tensor::from_vec([values.len()], values).ok()?,
        Granularity::SubChannel => return None,
    };
    Some(Attribute::from_tensor(&tensor))
}

/// The quantized dimension, as the attribute of a broadcasting op.
pub(crate) fn axis(view: &Uniform<'_>) -> Option<Attribute> {
    (view.granularity() == Granularity::PerAxis).then(|| Attribute::i64_array(view.axes))
}

/// True if two types have the same scales and zero points.
pub(crate) fn same_parameters(a: &Uniform<'_>, b: &Uniform<'_>) -> bool {
    let parts =
        |v: &Uniform<'_>| (v.storage.clone(), v.storage_min, v.storage_max, v.expressed.clone());
    parts(a) == parts(b)
        && (a.zero_points, a.axes) == (b.zero_points, b.axes)
        && a.scales().eq(b.scales())
}
