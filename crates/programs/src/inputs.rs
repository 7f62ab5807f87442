//! The inputs of `stablo run`: files, literals, or generated tensors.

use crate::format::first;
use crate::io::{Failure, Io};
use stablo::arrays::npy;
use stablo::dialects::func::FuncOp;
use stablo::numerics::{Number, dispatch_all};
use stablo::{DType, RuntimeValue, Tensor, TensorError, Type};
use std::path::Path;

/// True if an argument of this type needs an input; tokens do not.
pub fn is_given(ty: &Type) -> bool {
    !stablo::value_fits(&RuntimeValue::Token, ty)
}

/// The inputs described by `specs`, one for each argument of `function` that [`is_given`].
///
/// # Errors
/// If the number of inputs is wrong, or one cannot be read or does not match its argument.
pub fn inputs(
    function: FuncOp<'_>,
    specs: &[String],
    io: &mut Io<'_>,
) -> Result<Vec<RuntimeValue>, Failure> {
    let types = function.signature().0;
    let name = function.symbol_name().unwrap_or("");
    let arguments = || types.iter().enumerate().filter(|(_, ty)| is_given(ty));
    let count = arguments().count();
    if specs.len() != count {
        let given = match specs.len() {
            0 => "none were given".into(),
            1 => "1 was given".into(),
            given => format!("{given} were given"),
        };
        let s = if count == 1 { "" } else { "s" };
        let mut message = format!(
            "@{name} takes {count} input{s}, {given}; give --input once for each argument:"
        );
        for (index, ty) in arguments() {
            message.push_str(&format!("\n  argument {index}: {ty}"));
        }
        return Err(Failure::input(message));
    }
    let mut specs = specs.iter();
    types
        .iter()
        .enumerate()
        .map(|(index, ty)| {
            let Some(spec) = is_given(ty).then(|| specs.next()).flatten() else {
                return Ok(RuntimeValue::Token);
            };
            let fail = |why: String| {
                Failure::input(format!(
                    "argument {index} of @{name} is a {ty}, given `{spec}`: {why}"
                ))
            };
            let tensor = input(spec, ty, index, io).map_err(fail)?;
            check(&tensor, ty).map_err(fail)?;
            Ok(RuntimeValue::Tensor(tensor))
        })
        .collect()
}

fn input(spec: &str, ty: &Type, index: usize, io: &mut Io<'_>) -> Result<Tensor, String> {
    let dtype = stablo::storage_dtype(ty).ok_or("values of this type cannot be given as inputs")?;
    let shown = |e: TensorError| e.to_string();
    let shape = || {
        ty.as_tensor()
            .and_then(|t| t.static_shape())
            .ok_or("its type has unknown sizes; give a file or a literal")
    };
    match spec {
        "zeros" => Tensor::zeros(dtype, shape()?).map_err(shown),
        "iota" => generate(dtype, &shape()?, |i| i as f64),
        "random" => {
            let mut state = index as u64;
            let shape = shape()?;
            // Both parts of complex numbers are random.
            let parts =
                if dtype.is_complex() { [&shape[..], &[2]].concat() } else { shape.clone() };
            let numbers = generate(dtype.part(), &parts, |_| random(&mut state, dtype))?;
            Tensor::from_bytes(dtype, &shape, numbers.bytes().clone()).map_err(shown)
        }
        literal if literal.starts_with("dense") => literal_tensor(literal, ty),
        path => {
            let no_file = |failure: Failure| {
                format!(
                    "{}; an input is a .npy file, `dense<…>`, `zeros`, `iota` or `random`",
                    failure.message
                )
            };
            let file = io.read(Path::new(path)).map_err(no_file)?;
            npy::read(file, dtype).map_err(|error| error.to_string())
        }
    }
}

/// `dense<…>`, with an explicit type or that of the argument.
fn literal_tensor(literal: &str, ty: &Type) -> Result<Tensor, String> {
    let typed = if literal.trim_end().ends_with('>') && !literal.contains("> : ") {
        format!("{literal} : {ty}")
    } else {
        literal.to_string()
    };
    let attribute = stablo::parse_attribute(&typed).map_err(|error| first(&error).to_string())?;
    match attribute.to_tensor() {
        Some(tensor) => tensor.map_err(|e| e.to_string()),
        None => Err("this literal has no elements that can be run on".into()),
    }
}

/// Checks that a tensor has the type of its argument.
fn check(tensor: &Tensor, ty: &Type) -> Result<(), String> {
    if stablo::value_fits(&RuntimeValue::Tensor(tensor.clone()), ty) {
        return Ok(());
    }
    let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
    Err(format!("this is a {}", Type::tensor(shape, Type::from(tensor.dtype()))))
}

fn generate(
    dtype: DType,
    shape: &[usize],
    mut value: impl FnMut(usize) -> f64,
) -> Result<Tensor, String> {
    let shown = |e: TensorError| e.to_string();
    let mut tensor = Tensor::zeros(dtype, shape).map_err(shown)?;
    fn fill<T: Number>(
        tensor: &mut Tensor,
        value: &mut dyn FnMut(usize) -> f64,
    ) -> Result<(), TensorError> {
        // Converted through i64, so that integers wrap around instead of saturating.
        let number = |x: f64| if x.fract() == 0.0 { T::from_i64(x as i64) } else { T::from_f64(x) };
        tensor.make_mut::<T>()?.iter_mut().enumerate().for_each(|(i, x)| *x = number(value(i)));
        Ok(())
    }
    dispatch_all!(dtype, T => fill::<T>(&mut tensor, &mut value)).map_err(shown)?;
    Ok(tensor)
}

/// The next number of a fixed sequence (SplitMix64): from [0, 1) for floats, small integers,
/// booleans.
fn random(state: &mut u64, dtype: DType) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    let unit = (z >> 11) as f64 / (1u64 << 53) as f64;
    match dtype {
        DType::I1 | DType::I2 | DType::U2 => (unit * 2.0).floor(),
        _ if dtype.is_integer() => (unit * 8.0).floor(),
        _ => unit,
    }
}
