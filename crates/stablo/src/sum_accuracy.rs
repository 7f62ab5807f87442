//! The types in which a device makes sums and products, found by what its results can be.

use crate::judging::{Model, Options, enclose};
use crate::op_accuracy::Run;
use crate::{DType, Program, Result, RunOptions, Tensor};

/// The ops that make sums.
pub(crate) const SUMS: [&str; 3] = ["reduce", "dot_general", "convolution"];

/// Sums of a device for an element type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SumAccuracy {
    /// The op.
    pub op: &'static str,
    /// The element type.
    pub dtype: DType,
    /// The widest type in which sums may have been made; `None` if no type explains them.
    pub accumulation: Option<DType>,
    /// The type to which operands of products must have been rounded; `None` for their own.
    pub products: Option<DType>,
}

/// The types of sums that are tried for an element type, the widest first.
fn candidates(dtype: DType) -> &'static [DType] {
    match dtype {
        DType::F8E4M3FN => &[DType::F32, DType::F16, DType::F8E4M3FN],
        DType::F8E5M2 => &[DType::F32, DType::F16, DType::F8E5M2],
        DType::BF16 => &[DType::F32, DType::BF16],
        DType::F16 => &[DType::F32, DType::F16],
        DType::F32 => &[DType::F32, DType::F16, DType::BF16],
        _ => &[DType::F64, DType::F32],
    }
}

/// An op that sums, with the types of its operands.
fn program(op: &str, dtype: DType) -> (String, Vec<[usize; 2]>) {
    let shapes = match op {
        "reduce" => vec![[32, 512]],
        "dot_general" => vec![[16, 512], [512, 16]],
        _ => vec![[1, 64 * 16], [9, 16 * 8]],
    };
    let ty = |[m, n]: [usize; 2]| format!("tensor<{m}x{n}x{dtype}>");
    let arguments: Vec<String> =
        shapes.iter().enumerate().map(|(i, &shape)| format!("%x{i}: {}", ty(shape))).collect();
    let types: Vec<String> = shapes.iter().map(|&shape| ty(shape)).collect();
    let (body, result) = match op {
        "reduce" => {
            let result = format!("tensor<32x{dtype}>");
            let body = format!(
                "%zero = stablehlo.constant dense<0.0> : tensor<{dtype}>
  %0 = stablehlo.reduce(%x0 init: %zero) applies stablehlo.add across dimensions = [1] : \
                 ({}, tensor<{dtype}>) -> {result}",
                types[0]
            );
            (body, result)
        }
        "dot_general" => {
            let result = ty([16, 16]);
            let body = format!(
                "%0 = stablehlo.dot_general %x0, %x1, contracting_dims = [1] x [0] : ({}) -> \
                 {result}",
                types.join(", ")
            );
            (body, result)
        }
        _ => {
            let [image, kernel, result] =
                ["1x8x8x16", "3x3x16x8", "1x6x6x8"].map(|shape| format!("tensor<{shape}x{dtype}>"));
            let body = format!(
                "%image = stablehlo.reshape %x0 : ({}) -> {image}
  %kernel = stablehlo.reshape %x1 : ({}) -> {kernel}
  %0 = stablehlo.convolution(%image, %kernel) dim_numbers = \
                 [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{}} {{batch_group_count = 1 : \
                 i64, feature_group_count = 1 : i64}} : ({image}, {kernel}) -> {result}",
                types[0], types[1]
            );
            (body, result)
        }
    };
    let arguments = arguments.join(", ");
    let text = format!(
        "func.func @main({arguments}) -> {result} {{\n  {body}\n  return %0 : {result}\n}}\n"
    );
    (text, shapes)
}

/// Finds how a device makes the sums of an op, or why it does not run it.
///
/// # Errors
/// If true values cannot be computed.
pub(crate) fn measure(
    op: &'static str,
    dtype: DType,
    run: &mut Run<'_>,
) -> Result<std::result::Result<SumAccuracy, String>> {
    let (text, shapes) = program(op, dtype);
    let program = Program::prepare(crate::load("sums.mlir", text)?, "main", RunOptions::default())?;
    let mut inputs = Vec::new();
    for (seed, shape) in (1..).zip(&shapes) {
        inputs.push(crate::random(dtype, shape, seed, 0.0..1.0)?.into());
    }
    let results = match run(&program, &inputs) {
        Ok(results) => results,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let Some(found) = results.into_iter().next() else {
        return Err(crate::Error::message("ops", "the op has no result"));
    };
    let found = found.into_tensor().map_err(crate::Error::from)?;
    let products: &[Option<DType>] = match dtype == DType::F32 && op != "reduce" {
        true => &[None, Some(DType::TF32), Some(DType::BF16)],
        false => &[None],
    };
    for &products in products {
        for &sums in candidates(dtype) {
            let mut model = Model { products, ..Model::default() };
            model.accumulation.insert(dtype.name().into(), sums);
            let options = Options::default().model(model).bits(0);
            let enclosure = enclose(&program, inputs.clone(), &options)?;
            if contains(&enclosure.results[0], &found)? {
                return Ok(Ok(SumAccuracy { op, dtype, accumulation: Some(sums), products }));
            }
        }
    }
    Ok(Ok(SumAccuracy { op, dtype, accumulation: None, products: None }))
}

/// True if all elements are within their bounds.
fn contains(bounds: &crate::judging::Array, found: &Tensor) -> Result<bool> {
    let found = numerics::math::convert(found.clone(), DType::F64)?.to_vec::<f64>()?;
    let numbers = bounds.numbers()?;
    Ok(numbers.iter().zip(found).all(|(number, value)| number.bounds.contains(value)))
}
