//! Evaluation shared by several ops: operands as tensors, shapes of results, and kernels on
//! tensors.
//!
//! The meaning of each op is the `eval` in its own file under `ops/`.

mod batch_norm;
mod body;
pub mod collective;
mod contract;
mod einsum;
mod fft;
mod index_vectors;
pub mod linalg;
pub mod quantize;
mod random_numbers;
mod reduce;
mod rng;
mod sort;
mod top_k;
mod window;

pub use batch_norm::{batch_norm_grad, batch_norm_inference, batch_norm_training, epsilon};
pub use body::{Body, BodyShape};
pub use collective::{CollectiveRoot, Strategy, mesh_axes_groups};
pub use contract::{Convolution, dot_general};
pub use einsum::einsum;
pub use fft::{Fourier, fourier};
pub use index_vectors::{apply_updates, gather, scatter};
pub use linalg::{Triangular, cholesky, triangular_solve};
pub use random_numbers::{Distribution, Stream, random_numbers, random_units};
pub use reduce::reduce;
pub use rng::{Generator, random_bits};
pub use sort::{Comparator, sort};
pub use top_k::top_k;
pub use window::{reduce_window, select_and_scatter};

use crate::window::WindowDim;
use mlir::eval::{EvalEnv, EvalError, EvalResult, RuntimeValue};
use mlir::types::DYNAMIC;
use mlir::{Attribute, OpRef, Type};
use numerics::math::{self, BinaryOp, UnaryOp};
use numerics::shape::StridedView;
use numerics::{DType, I1, Tensor};
use side_dialects::quant::Uniform;

/// The operands of an op that takes exactly `N` tensors.
///
/// # Errors
/// If there are not as many, or one is no tensor: only for an op that does not satisfy its
/// declaration.
pub fn tensors<const N: usize>(operands: Vec<RuntimeValue>) -> Result<[Tensor; N], EvalError> {
    exactly(all_tensors(operands)?)
}

/// Exactly `N` tensors.
///
/// # Errors
/// If there are not as many.
pub fn exactly<const N: usize>(tensors: Vec<Tensor>) -> Result<[Tensor; N], EvalError> {
    let found = tensors.len();
    tensors
        .try_into()
        .map_err(|_| EvalError::new("operands", format!("expected {N} operands, found {found}")))
}

/// Tensors as the results of an op.
pub fn all(tensors: Vec<Tensor>) -> Vec<RuntimeValue> {
    tensors.into_iter().map(RuntimeValue::Tensor).collect()
}

/// The operands of a variadic slot and those after it: the first `count`, and the rest.
///
/// # Errors
/// If there are fewer than `count`.
pub fn split(
    mut tensors: Vec<Tensor>,
    count: usize,
) -> Result<(Vec<Tensor>, Vec<Tensor>), EvalError> {
    if tensors.len() < count {
        return Err(EvalError::new(
            "operands",
            format!("expected at least {count} operands, found {}", tensors.len()),
        ));
    }
    let rest = tensors.split_off(count);
    Ok((tensors, rest))
}

/// All operands as tensors.
///
/// # Errors
/// If one is no tensor.
pub fn all_tensors(operands: Vec<RuntimeValue>) -> Result<Vec<Tensor>, EvalError> {
    operands.into_iter().map(RuntimeValue::into_tensor).collect()
}

/// One tensor as the results of an op.
///
/// # Errors
/// None; the type is that of `eval`.
pub fn one(tensor: Tensor) -> EvalResult {
    Ok(vec![RuntimeValue::Tensor(tensor)])
}

/// The value of a boolean scalar.
///
/// # Errors
/// If it is another tensor.
pub fn truth(tensor: &Tensor) -> Result<bool, EvalError> {
    Ok(tensor.item::<I1>()? == I1::from(true))
}

/// How elements of a tensor type are stored: as they are, or, for a quantized type, as its storage
/// type.
///
/// # Errors
/// For types that have no storage here.
pub fn storage_dtype(ty: &Type) -> Result<DType, EvalError> {
    let element = ty.element_type();
    Uniform::of(element).map_or(element, |quantized| quantized.storage).dtype().ok_or_else(|| {
        EvalError::new("type", format!("elements of type {element} cannot be evaluated"))
    })
}

/// The static shape of result `index`; `None` if a dimension is dynamic.
pub fn static_result_shape(op: OpRef<'_>, index: usize) -> Option<Vec<usize>> {
    op.result_type(index).as_tensor()?.static_shape()
}

/// The values of an attribute that lists dimensions or sizes, as `usize`.
///
/// # Errors
/// If the attribute is missing or a value is negative.
pub fn usizes(op: OpRef<'_>, name: &'static str) -> Result<Vec<usize>, EvalError> {
    let values = op.int_array(name).ok_or_else(|| missing(op, name))?;
    let unsigned: Option<Vec<usize>> = values.iter().map(|&v| usize::try_from(v).ok()).collect();
    unsigned.ok_or_else(|| {
        EvalError::new("attribute", format!("{name} of {} has a negative value", op.name()))
    })
}

/// The value of an integer attribute as `usize`.
///
/// # Errors
/// If the attribute is missing or negative.
pub fn usize_attr(op: OpRef<'_>, name: &'static str) -> Result<usize, EvalError> {
    let value = op.attr_or_default(name).and_then(|a| a.as_i64());
    value.and_then(|v| usize::try_from(v).ok()).ok_or_else(|| missing(op, name))
}

/// Scalars among `tensors` repeated over the shape of the others: elementwise functions run on
/// vectors where they are declared on scalars.
///
/// # Errors
/// If there is no memory for the result.
pub fn level<const N: usize>(tensors: [Tensor; N]) -> Result<[Tensor; N], EvalError> {
    let Some(shape) = tensors.iter().find(|t| t.rank() > 0).map(|t| t.shape().to_vec()) else {
        return Ok(tensors);
    };
    let mut tensors = tensors;
    for tensor in tensors.iter_mut().filter(|t| t.rank() == 0) {
        *tensor = tensor.broadcast_scalar(&shape)?;
    }
    Ok(tensors)
}

/// The error that an attribute is missing or invalid.
pub fn missing(op: OpRef<'_>, name: &str) -> EvalError {
    EvalError::new("attribute", format!("{} has no valid attribute {name}", op.name()))
}

/// The shape of the first result that an operand holds; it must fit the type of the result.
///
/// # Errors
/// If it does not, or a size is negative.
pub fn runtime_shape(op: OpRef<'_>, shape: &Tensor) -> Result<Vec<usize>, EvalError> {
    let shape = sizes(shape)?;
    fits_result(op, &shape)?;
    Ok(shape)
}

/// A shape found at run time fits the type of the first result.
///
/// # Errors
/// If it does not.
pub fn fits_result(op: OpRef<'_>, shape: &[usize]) -> Result<(), EvalError> {
    let fits = |(&found, &declared): (&usize, &i64)| {
        declared == DYNAMIC || usize::try_from(declared) == Ok(found)
    };
    match op.result_type(0).shape() {
        Some(declared)
            if declared.len() != shape.len() || !shape.iter().zip(declared).all(fits) =>
        {
            let message =
                format!("the result has shape {shape:?}, which does not fit {}", op.result_type(0));
            Err(EvalError::new("shape", message))
        }
        _ => Ok(()),
    }
}

/// The elements from `starts` up to but without `limits`, by `strides`, one of each a dimension.
///
/// # Errors
/// If the lists do not fit the shape, or a stride is zero.
pub fn slice(
    operand: &Tensor,
    starts: &[usize],
    limits: &[usize],
    strides: &[usize],
) -> Result<Tensor, EvalError> {
    let rank = operand.rank();
    let valid = [starts.len(), limits.len(), strides.len()] == [rank; 3]
        && (0..rank)
            .all(|d| starts[d] <= limits[d] && limits[d] <= operand.shape()[d] && strides[d] > 0);
    if !valid {
        return Err(EvalError::new(
            "slice_c3",
            format!(
                "no slice of shape {:?} from {starts:?} to {limits:?} by {strides:?}",
                operand.shape()
            ),
        ));
    }
    let sizes: Vec<usize> =
        (0..rank).map(|d| (limits[d] - starts[d]).div_ceil(strides[d])).collect();
    let steps: Vec<isize> =
        strides.iter().map(|&s| isize::try_from(s).unwrap_or(isize::MAX)).collect();
    let view = StridedView::window(operand.shape(), starts, &sizes, &steps)?;
    Ok(operand.gather(&view)?)
}

/// Start indices of a dynamic slice: scalar tensors, each clamped so that a slice of `sizes` stays
/// within `shape`.
///
/// # Errors
/// If an index is no integer scalar, or their number is not that of the dimensions.
pub fn clamped_starts(
    starts: &[Tensor],
    shape: &[usize],
    sizes: &[usize],
) -> Result<Vec<usize>, EvalError> {
    if starts.len() != shape.len() || sizes.len() != shape.len() {
        return Err(EvalError::new("operands", "one start index for each dimension is required"));
    }
    let clamp = |(axis, start): (usize, &Tensor)| -> Result<usize, EvalError> {
        let values = start.to_i64s()?;
        let value =
            *values.first().ok_or_else(|| EvalError::new("operands", "a start index is empty"))?;
        let last = shape[axis].saturating_sub(sizes[axis]);
        // Unsigned 64-bit indices beyond i64 are far beyond any dimension.
        let beyond = start.dtype() == DType::U64 && value < 0;
        Ok(if beyond { last } else { usize::try_from(value).unwrap_or(0).min(last) })
    };
    starts.iter().enumerate().map(clamp).collect()
}

/// Evaluates an elementwise op of one operand by its name.
///
/// # Errors
/// If the op is not defined for the element type.
pub fn unary(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let name = op.def().map_or("", |d| d.mnemonic());
    let Some(&function) = UnaryOp::ALL.iter().find(|f| f.name() == name) else {
        return Err(EvalError::new("eval", format!("no elementwise function is named {name}")));
    };
    quantize::around(op, operands, |operands| {
        let [operand] = exactly(operands)?;
        Ok(vec![math::unary(function, operand)?])
    })
}

/// Evaluates an elementwise op of two operands by its name.
///
/// # Errors
/// If the op is not defined for the element type.
pub fn binary(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let name = op.def().map_or("", |d| d.mnemonic());
    let Some(&function) = BinaryOp::ALL.iter().find(|f| f.name() == name) else {
        return Err(EvalError::new("eval", format!("no elementwise function is named {name}")));
    };
    quantize::around(op, operands, |operands| {
        let [lhs, rhs] = exactly(operands)?;
        Ok(vec![math::binary(function, lhs, rhs)?])
    })
}

/// The values of a vector of sizes.
///
/// # Errors
/// If it holds no integers, or a negative one.
pub fn sizes(tensor: &Tensor) -> Result<Vec<usize>, EvalError> {
    let sizes: Option<Vec<usize>> =
        tensor.to_i64s()?.into_iter().map(|v| usize::try_from(v).ok()).collect();
    sizes.ok_or_else(|| EvalError::new("shape", "a size is negative"))
}

/// How windows move: one number a dimension in each list, and two of padding.
pub struct WindowLists {
    /// Numbers of elements.
    pub sizes: Vec<i64>,
    /// Distances between neighbouring windows.
    pub strides: Vec<i64>,
    /// Distances between neighbouring elements of the base.
    pub base: Vec<i64>,
    /// Distances between neighbouring elements of the window.
    pub dilations: Vec<i64>,
    /// Padding before and after.
    pub padding: Vec<i64>,
}

impl WindowLists {
    /// The lists by dimension.
    ///
    /// # Errors
    /// If the lists do not fit each other, or a number is out of range.
    pub fn dims(&self) -> Result<Vec<WindowDim>, EvalError> {
        let WindowLists { sizes, strides, base, dilations, padding } = self;
        let n = sizes.len();
        let fits = [strides.len(), base.len(), dilations.len(), padding.len() / 2] == [n; 4];
        if !fits || sizes.iter().any(|&size| size < 0) {
            return Err(EvalError::new(
                "window",
                "the attributes of the window do not fit its dimensions",
            ));
        }
        if [strides, base, dilations].into_iter().flatten().any(|&v| v <= 0) {
            return Err(EvalError::new("window", "strides and dilations are positive"));
        }
        let dim = |i: usize| WindowDim {
            size: sizes[i],
            stride: strides[i],
            pad_low: padding[2 * i],
            pad_high: padding[2 * i + 1],
            base_dilation: base[i],
            window_dilation: dilations[i],
        };
        Ok((0..n).map(dim).collect())
    }
}

/// The window that attributes describe; absent ones are ones, and no padding.
///
/// # Errors
/// As [`WindowLists::dims`].
pub fn window_dims(
    sizes: &[i64],
    strides: Option<&Attribute>,
    padding: Option<&Attribute>,
    base_dilations: Option<&Attribute>,
    window_dilations: Option<&Attribute>,
) -> Result<Vec<WindowDim>, EvalError> {
    let n = sizes.len();
    let list = |attr: Option<&Attribute>| {
        attr.map_or(vec![1; n], |a| a.as_int_array().unwrap_or(&[]).to_vec())
    };
    let padding =
        padding.map_or(Some(vec![0; 2 * n]), |p| p.as_dense().and_then(|d| d.int_values()));
    let lists = WindowLists {
        sizes: sizes.to_vec(),
        strides: list(strides),
        base: list(base_dilations),
        dilations: list(window_dilations),
        padding: padding.unwrap_or_default(),
    };
    lists.dims()
}

/// Values that count up from zero along `dimension`.
///
/// # Errors
/// If there is no such dimension, or no memory.
pub fn iota(shape: &[usize], dtype: DType, dimension: usize) -> Result<Tensor, EvalError> {
    if dimension >= shape.len() {
        return Err(EvalError::new(
            "iota_c1",
            format!("there is no dimension {dimension} in a rank of {}", shape.len()),
        ));
    }
    Ok(Tensor::iota(dtype, shape, dimension)?)
}

/// `operand` with `padding` around and between its elements; negative edges cut.
///
/// # Errors
/// If the lists do not fit the rank, the result is too large, or the interior padding is negative.
pub fn pad(
    operand: &Tensor,
    padding: &Tensor,
    low: &[i64],
    high: &[i64],
    interior: &[i64],
) -> Result<Tensor, EvalError> {
    let rank = operand.rank();
    if [low.len(), high.len(), interior.len()] != [rank; 3] {
        return Err(EvalError::new(
            "pad_c2",
            format!("each padding list must have {rank} entries"),
        ));
    }
    let too_large =
        || EvalError::new("pad_c4", "the padded size of a dimension is negative or too large");
    let mut shape = Vec::with_capacity(rank);
    // The part of the operand that stays, and where it goes.
    let (mut from, mut to, mut sizes, mut steps) = (vec![], vec![], vec![], vec![]);
    for d in 0..rank {
        // No product or sum of a few of these leaves the range of `i128`.
        let (size, low, high) =
            (operand.shape()[d] as i128, i128::from(low[d]), i128::from(high[d]));
        if interior[d] < 0 {
            return Err(too_large());
        }
        // Between less than two elements there is nothing.
        let step = if size > 1 { i128::from(interior[d]) + 1 } else { 1 };
        let spread = if size == 0 { 0 } else { (size - 1) * step + 1 };
        // Nothing is left where the edges cut more than there is.
        let padded = (spread + low + high).max(0);
        shape.push(usize::try_from(padded).map_err(|_| too_large())?);
        // Element i stands at low + i * step.
        let first = if low >= 0 { 0 } else { (-low + step - 1) / step };
        let room = padded - 1 - low;
        let last = if room < 0 { -1 } else { (room / step).min(size - 1) };
        let count = (last - first + 1).max(0);
        from.push(first.min(size) as usize);
        to.push(if count > 0 { (low + first * step) as usize } else { 0 });
        sizes.push(count as usize);
        steps.push(isize::try_from(step).map_err(|_| too_large())?);
    }
    let mut result = padding.broadcast_scalar(&shape)?;
    if !sizes.contains(&0) {
        let source = StridedView::window(operand.shape(), &from, &sizes, &vec![1; rank])?;
        let target = StridedView::window(&shape, &to, &sizes, &steps)?;
        result.scatter(&target, &operand.gather(&source)?)?;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(shape: &[usize], values: &[i64]) -> Tensor {
        Tensor::from_vec(shape, values.to_vec()).expect("shape and values agree")
    }

    #[test]
    fn pad_example_of_the_specification() {
        let operand = ints(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        let result =
            pad(&operand, &ints(&[], &[0]), &[0, 1], &[2, 1], &[1, 2]).expect("valid paddings");
        let expected = [
            [0, 1, 0, 0, 2, 0, 0, 3, 0],
            [0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 4, 0, 0, 5, 0, 0, 6, 0],
            [0, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(result, ints(&[5, 9], expected.as_flattened()));
    }

    #[test]
    fn negative_padding_cuts() {
        let operand = ints(&[5], &[1, 2, 3, 4, 5]);
        let result = pad(&operand, &ints(&[], &[0]), &[-1], &[-2], &[0]).expect("valid paddings");
        assert_eq!(result, ints(&[2], &[2, 3]));
        // [1 0 2 0 3 0 4 0 5] without its first three.
        let result = pad(&operand, &ints(&[], &[0]), &[-3], &[0], &[1]).expect("valid paddings");
        assert_eq!(result, ints(&[6], &[0, 3, 0, 4, 0, 5]));
        let result = pad(&operand, &ints(&[], &[0]), &[-9], &[0], &[0]).expect("valid paddings");
        assert_eq!(result.shape(), [0]);
    }

    #[test]
    fn start_indices_are_clamped() {
        let scalar = |v: i64| ints(&[], &[v]);
        assert_eq!(
            clamped_starts(&[scalar(-3), scalar(9)], &[4, 4], &[2, 3]).expect("two indices"),
            [0, 1]
        );
    }
}
