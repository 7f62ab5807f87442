//! The accuracy of each elementwise op of a device, measured against true values.

use crate::judging::{Limits, Model, Options, enclose};
use crate::sum_accuracy::SumAccuracy;
use crate::{DType, Program, Result, RunOptions, RuntimeValue, Tensor};
use numerics::FloatFormat;
use numerics::ulp::unit_in_the_last_place;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Functions of one operand whose accuracy differs between backends.
const UNARY: [&str; 26] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i1e",
    "cbrt",
    "cosh",
    "cosine",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "exponential",
    "exponential_minus_one",
    "lgamma",
    "log",
    "log_plus_one",
    "logistic",
    "rsqrt",
    "sine",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
];

/// Those of CHLO. Devices compute their expansions.
const CHLO: [&str; 14] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i1e",
    "cosh",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "lgamma",
    "sinh",
];

/// Functions with zeros that no short formula resolves: their errors are in units in the last place
/// of one where the value is smaller.
const WITH_ZEROS: [&str; 2] = ["digamma", "lgamma"];

/// Functions of two operands.
const BINARY: [&str; 6] = ["add", "atan2", "divide", "multiply", "power", "subtract"];

/// The types, of which narrow ones are measured at each value.
const DTYPES: [DType; 4] = [DType::BF16, DType::F16, DType::F32, DType::F64];

/// Random and evenly spread points of wide types, of each kind.
const POINTS: usize = 4096;

/// The accuracy of an op for an element type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpAccuracy {
    /// The op, without its dialect.
    pub op: &'static str,
    /// The element type.
    pub dtype: DType,
    /// The largest error in units in the last place of the true value.
    pub ulps: f64,
    /// The operands at which it is largest.
    pub at: Vec<f64>,
    /// Number of operands that were measured.
    pub points: usize,
    /// True if subnormal operands or results were taken as zeros.
    pub flushes: bool,
    /// Number of results that were NaN or infinite where the true value is neither, or the other
    /// way around.
    pub special: usize,
}

/// Runs a program of one op on a device.
pub type Run<'a> = dyn FnMut(&Program, &[RuntimeValue]) -> Result<Vec<RuntimeValue>> + 'a;

/// Measures each elementwise function that a device computes: all values of `bf16` and `f16`, and
/// critical, evenly spread and random ones of `f32` and `f64`.
///
/// # Errors
/// Those of `run`.
pub fn measure_ops(run: &mut Run<'_>) -> Result<Vec<OpAccuracy>> {
    let mut all = Vec::new();
    for op in UNARY {
        for dtype in DTYPES {
            let x = points(dtype);
            all.push(measure(op, dtype, vec![x], run)?);
        }
    }
    for op in BINARY {
        for dtype in DTYPES {
            let x = points(dtype);
            let n = x.len();
            // Each point with two others.
            let at = |i: usize| x[(i * 7919 + i / n * 31) % n];
            let lhs: Vec<f64> = x.iter().chain(&x).copied().collect();
            let rhs = (0..2 * n).map(at).collect();
            all.push(measure(op, dtype, vec![lhs, rhs], run)?);
        }
    }
    Ok(all)
}

/// Values of a type at which functions are measured.
fn points(dtype: DType) -> Vec<f64> {
    let Some(format) = dtype.float_format() else { return Vec::new() };
    if format.bits() <= 16 {
        let all = (0..1u64 << format.bits()).map(|bits| format.decode(bits));
        return all.filter(|x| x.is_finite()).collect();
    }
    let mut list = Vec::new();
    let mut add = |x: f64| {
        let bits = format.encode(x);
        for near in [bits.wrapping_sub(1), bits, bits + 1] {
            let value = format.decode(near);
            if value.is_finite() {
                list.extend([value, -value]);
            }
        }
    };
    let largest = format.decode(format.max_finite());
    let (smallest, normal) = (format.decode(1), f64::powi(2.0, format.min_exponent()));
    for x in [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 88.7, 104.0, 709.7, 745.0, largest] {
        add(x);
    }
    for x in [smallest, normal, 3.0 * normal, f64::EPSILON, 1e-8, 1e-4] {
        add(x);
    }
    for quarter in 1..16 {
        add(f64::from(quarter) * std::f64::consts::FRAC_PI_4);
    }
    for power in 1..30 {
        add(f64::powi(2.0, power));
    }
    let mut state = 1u64;
    let mut random = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let exponents = f64::from(format.min_exponent());
    for i in 0..POINTS {
        // Evenly spread in the logarithm, of moderate size, and near one.
        let spread = exponents * (1.0 - 2.0 * i as f64 / POINTS as f64) * 0.99;
        let sign = if random() < 0.5 { -1.0 } else { 1.0 };
        for x in [spread.exp2() * (1.0 + random()), random() * 40.0, 1.0 + random() * 0.01] {
            list.push(sign * format.decode(format.encode(x)));
        }
    }
    list
}

fn measure(
    op: &'static str,
    dtype: DType,
    operands: Vec<Vec<f64>>,
    run: &mut Run<'_>,
) -> Result<OpAccuracy> {
    let n = operands[0].len();
    let ty = format!("tensor<{n}x{dtype}>");
    let names: Vec<String> = (0..operands.len()).map(|i| format!("%x{i}")).collect();
    let arguments: Vec<String> = names.iter().map(|name| format!("{name}: {ty}")).collect();
    let (arguments, names) = (arguments.join(", "), names.join(", "));
    let own = match CHLO.contains(&op) {
        true => format!("chlo.{op} {names} : {ty} -> {ty}"),
        false => format!("stablehlo.{op} {names} : {ty}"),
    };
    let text =
        format!("func.func @main({arguments}) -> {ty} {{\n  %0 = {own}\n  return %0 : {ty}\n}}\n");
    let program = Program::prepare(crate::load("op.mlir", text)?, "main", RunOptions::default())?;
    let wide = operands.iter().map(|x| Tensor::from_vec([n], x.clone()));
    let inputs = wide.map(|x| Ok(numerics::math::convert(x?, dtype)?.into()));
    let inputs: Vec<RuntimeValue> = inputs.collect::<Result<_>>()?;
    let results = run(&program, &inputs)?;
    let options = Options::default().limits(Limits::default()).model(Model::default());
    let truth = enclose(&program, inputs.clone(), &options)?;
    let mut flushing = Model::default();
    flushing.flushes.push(dtype);
    let with_zeros = enclose(&program, inputs, &options.model(flushing))?;
    let found = results.into_iter().next().map(RuntimeValue::into_tensor).transpose()?;
    let results = (truth.results.first(), with_zeros.results.first());
    let (Some(found), (Some(truth), Some(with_zeros))) = (found, results) else {
        return Err(crate::Error::message("ops", "the op has no result"));
    };
    let found = numerics::math::convert(found, DType::F64)?.to_vec::<f64>()?;
    let (numbers, with_zeros) = (truth.numbers()?, with_zeros.numbers()?);
    let format = dtype.float_format();
    let normal = format.map_or(0.0, |format| f64::powi(2.0, format.min_exponent()));
    let largest = format.map_or(f64::MAX, |format| format.decode(format.max_finite()));
    let mut accuracy =
        OpAccuracy { op, dtype, ulps: 0.0, at: Vec::new(), points: n, flushes: false, special: 0 };
    for i in 0..n {
        let (value, number) = (found[i], &numbers[i]);
        let truth = number.truth;
        if truth.is_unknown() || number.bounds.contains(value) {
            continue;
        }
        // Steps of an expansion may be subnormal where the result is barely not.
        let is_small = truth.hi.abs() < 4.0 * normal;
        if with_zeros[i].bounds.contains(value) || (is_small && value == 0.0) {
            accuracy.flushes = true;
            continue;
        }
        let overflows = truth.is_beyond() || truth.hi.abs() > largest;
        if !value.is_finite() || !truth.hi.is_finite() || overflows {
            accuracy.special += 1;
            continue;
        }
        let size = if WITH_ZEROS.contains(&op) { truth.hi.abs().max(1.0) } else { truth.hi };
        let unit = format.map_or(1.0, |format| unit_in_the_last_place(size, format));
        let ulps = (((value - truth.hi) - truth.lo) / unit).abs();
        if ulps > accuracy.ulps {
            accuracy.ulps = ulps;
            accuracy.at = operands.iter().map(|x| x[i]).collect();
        }
    }
    Ok(accuracy)
}

/// A model file with measured errors, and types of sums. Ops that are correctly rounded at all
/// points are not listed.
pub fn model_of(name: &str, measured: &[OpAccuracy], sums: &[SumAccuracy]) -> String {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for OpAccuracy { op, dtype, ulps, .. } in measured {
        if *ulps > 0.5 {
            // A little room: points between those that were measured may be worse.
            let ulps = (ulps * 11.0).ceil() / 10.0;
            let mut add = |kind: &str, value: f64| {
                tables
                    .entry(format!("{kind}.{dtype}"))
                    .or_default()
                    .push(format!("{op} = {value}"));
            };
            add("ulps", ulps);
            if let Some(format) = dtype.float_format().filter(|_| WITH_ZEROS.contains(op)) {
                add("absolute", ulps * unit_in_the_last_place(1.0, format));
            }
        }
    }
    let flushes = DTYPES
        .iter()
        .filter(|dtype| measured.iter().any(|own| own.flushes && own.dtype == **dtype));
    let flushes: Vec<String> = flushes.map(|dtype| format!("\"{dtype}\"")).collect();
    let mut text = format!("name = {name:?}\nflushes = [{}]\n", flushes.join(", "));
    let precision = |dtype: DType| dtype.float_format().map_or(0, FloatFormat::precision);
    let products = sums.iter().filter_map(|own| own.products);
    if let Some(products) = products.min_by_key(|&dtype| precision(dtype)) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "products = \"{products}\"");
    }
    for dtype in DTYPES {
        let own = sums.iter().filter(|own| own.dtype == dtype);
        let narrowest = own.filter_map(|own| own.accumulation).min_by_key(|&sums| precision(sums));
        if let Some(narrowest) = narrowest.filter(|&narrowest| narrowest != dtype) {
            let line = format!("{dtype} = \"{narrowest}\"");
            tables.entry("accumulation".into()).or_default().push(line);
        }
    }
    for (table, lines) in tables {
        // Writing to a string does not fail.
        let _ = write!(text, "\n[{table}]\n{}\n", lines.join("\n"));
    }
    text
}

/// The largest errors in units in the last place, and the types of sums, as tables of Markdown.
pub fn table_of(measured: &[OpAccuracy], sums: &[SumAccuracy]) -> String {
    let mut text =
        String::from("| op | bf16 | f16 | f32 | f64 |\n| --- | --- | --- | --- | --- |\n");
    for op in UNARY.iter().chain(&BINARY) {
        let cell = |dtype: &DType| {
            let own = measured.iter().find(|own| own.op == *op && own.dtype == *dtype);
            let Some(own) = own else { return "-".to_string() };
            let error = if own.ulps <= 0.5 { "0.5".into() } else { format!("{:.3}", own.ulps) };
            let special =
                if own.special > 0 { format!(" ({} special)", own.special) } else { String::new() };
            let flushes = if own.flushes { " f" } else { "" };
            format!("{error}{flushes}{special}")
        };
        let cells: Vec<String> = DTYPES.iter().map(cell).collect();
        let _ = writeln!(text, "| {op} | {} |", cells.join(" | "));
    }
    text.push_str("\n| sums of | bf16 | f16 | f32 | f64 |\n| --- | --- | --- | --- | --- |\n");
    for op in ["reduce", "dot_general", "convolution"] {
        let cell = |dtype: &DType| {
            let Some(own) = sums.iter().find(|own| own.op == op && own.dtype == *dtype) else {
                return "-".to_string();
            };
            let sums = own.accumulation.map_or("unexplained".into(), |dtype| dtype.to_string());
            let products = own.products.map(|dtype| format!(" of products of {dtype}"));
            sums + &products.unwrap_or_default()
        };
        let cells: Vec<String> = DTYPES.iter().map(cell).collect();
        let _ = writeln!(text, "| {op} | {} |", cells.join(" | "));
    }
    text
}
