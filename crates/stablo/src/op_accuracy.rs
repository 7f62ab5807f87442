//! The accuracy of each elementwise op of a device, measured against true values.

use crate::judging::{Limits, Model, Number, Options, enclose};
use crate::measurements::OpMeasurements;
use crate::sum_accuracy::{self, SUMS};
use crate::{DType, Program, Result, RunOptions, RuntimeValue, Tensor};
use numerics::FloatFormat;
use numerics::ulp::unit_in_the_last_place;

/// Functions of one operand whose accuracy differs between backends.
pub(crate) const UNARY: [&str; 26] = [
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
pub(crate) const WITH_ZEROS: [&str; 2] = ["digamma", "lgamma"];

/// Functions of two operands.
pub(crate) const BINARY: [&str; 6] = ["add", "atan2", "divide", "multiply", "power", "subtract"];

/// The types, of which narrow ones are measured at each value.
pub(crate) const DTYPES: [DType; 6] =
    [DType::F8E4M3FN, DType::F8E5M2, DType::BF16, DType::F16, DType::F32, DType::F64];

/// Points whose true values are computed at a time, which threads share.
const CHUNK: usize = 2048;

/// True values are known well enough to this part of a unit in the last place.
const KNOWN: f64 = 1.0 / 64.0;

/// At most this many points of an op and type are computed again with more digits.
const MAX_PRECISE: usize = 256;

/// The accuracy of an op for an element type.
#[derive(Clone, Debug, PartialEq)]
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
    /// Number of wrong results, which are not part of the error: NaN or infinite where the true
    /// value is neither, or the other way around, or with fewer than half of the digits right.
    pub wrong: usize,
    /// The operands of one of these.
    pub wrong_at: Vec<f64>,
    /// Number of points whose true values are not known well enough to say anything.
    pub unknown: usize,
}

/// Runs a program of one op on a device.
pub type Run<'a> = dyn FnMut(&Program, &[RuntimeValue]) -> Result<Vec<RuntimeValue>> + 'a;

/// An op and an element type for which a device is measured: the error of an elementwise op, or the
/// types in which `reduce`, `dot_general` or `convolution` makes sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpCase {
    /// The op, without its dialect.
    pub op: &'static str,
    /// The element type.
    pub dtype: DType,
}

impl OpCase {
    /// All cases, in the order of tables.
    pub fn all() -> impl Iterator<Item = OpCase> {
        let ops = UNARY.into_iter().chain(BINARY).chain(SUMS);
        ops.flat_map(|op| DTYPES.map(|dtype| OpCase { op, dtype }))
    }

    /// Measures a device at about `points` operands: all values of types of 8 and 16 bits, or
    /// evenly spaced ones if these are more; critical, evenly spread and random values of `f32` and
    /// `f64`. A case that the device does not run is recorded as refused.
    ///
    /// # Errors
    /// If true values cannot be computed.
    pub fn measure(self, points: usize, run: &mut Run<'_>, all: &mut OpMeasurements) -> Result<()> {
        let OpCase { op, dtype } = self;
        if SUMS.contains(&op) {
            match sum_accuracy::measure(op, dtype, run)? {
                Ok(own) => all.sums.push(own),
                Err(why) => all.refused.push((self, why)),
            }
            return Ok(());
        }
        let operands =
            if BINARY.contains(&op) { pairs(dtype, points) } else { vec![values(dtype, points)] };
        let program = program(op, dtype, operands[0].len(), operands.len())?;
        match run(&program, &inputs(&operands, dtype)?) {
            Ok(results) => all.ops.push(compare(self, &operands, results)?),
            Err(error) => all.refused.push((self, error.to_string())),
        }
        Ok(())
    }
}

/// At most `count` elements of a list, evenly spaced.
fn spaced(list: &[f64], count: usize) -> Vec<f64> {
    let count = count.clamp(1, list.len());
    (0..count).map(|i| list[i * list.len() / count]).collect()
}

/// Values of a type at which functions are measured.
fn values(dtype: DType, count: usize) -> Vec<f64> {
    let Some(format) = dtype.float_format() else { return Vec::new() };
    if format.bits() <= 16 {
        let all = (0..1u64 << format.bits()).map(|bits| format.decode(bits));
        return spaced(&all.filter(|x| x.is_finite()).collect::<Vec<_>>(), count);
    }
    let mut list = spaced(&critical(format), count);
    let mut random = PointGenerator(1);
    let left = count - list.len();
    let least = f64::from(format.min_exponent());
    for i in 0..left {
        // Evenly spread in the logarithm, of moderate size, and near one.
        let x = match i % 3 {
            0 => {
                let exponent = least * (1.0 - 2.0 * i as f64 / left as f64) * 0.99;
                exponent.exp2() * (1.0 + random.next())
            }
            1 => random.next() * 40.0,
            _ => 1.0 + random.next() * 0.01,
        };
        let sign = if random.next() < 0.5 { -1.0 } else { 1.0 };
        list.push(sign * format.decode(format.encode(x)));
    }
    list
}

/// Pairs of values. A quarter of them are pairs of critical values. All values of types of 8 bits
/// are critical, and all pairs are pairs of these.
fn pairs(dtype: DType, count: usize) -> Vec<Vec<f64>> {
    let Some(format) = dtype.float_format() else { return Vec::new() };
    let edge = |pairs: usize| (pairs as f64).sqrt() as usize;
    let is_small = format.bits() <= 8;
    let corners = match is_small {
        true => values(dtype, edge(count)),
        false => spaced(&critical(format), edge(count / 4)),
    };
    let (mut lhs, mut rhs) = (Vec::new(), Vec::new());
    for &x in &corners {
        for &y in &corners {
            lhs.push(x);
            rhs.push(y);
        }
    }
    if is_small {
        return vec![lhs, rhs];
    }
    let x = values(dtype, count.saturating_sub(lhs.len()));
    rhs.extend((0..x.len()).map(|i| x[(i * 7919 + 1) % x.len()]));
    lhs.extend(x);
    vec![lhs, rhs]
}

/// Numbers at which implementations branch, and their neighbours.
fn critical(format: &FloatFormat) -> Vec<f64> {
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
    list
}

/// A linear congruential generator.
struct PointGenerator(u64);

impl PointGenerator {
    /// A number of [0, 1).
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The program of an op for `n` elements.
fn program(op: &str, dtype: DType, n: usize, arity: usize) -> Result<Program> {
    let ty = format!("tensor<{n}x{dtype}>");
    let names: Vec<String> = (0..arity).map(|i| format!("%x{i}")).collect();
    let arguments: Vec<String> = names.iter().map(|name| format!("{name}: {ty}")).collect();
    let (arguments, names) = (arguments.join(", "), names.join(", "));
    let own = match CHLO.contains(&op) {
        true => format!("chlo.{op} {names} : {ty} -> {ty}"),
        false => format!("stablehlo.{op} {names} : {ty}"),
    };
    let text =
        format!("func.func @main({arguments}) -> {ty} {{\n  %0 = {own}\n  return %0 : {ty}\n}}\n");
    Program::prepare(crate::load("op.mlir", text)?, "main", RunOptions::default())
}

/// The operands as tensors of a type.
fn inputs(operands: &[Vec<f64>], dtype: DType) -> Result<Vec<RuntimeValue>> {
    let tensor = |x: &Vec<f64>| -> Result<RuntimeValue> {
        let wide = Tensor::from_vec([x.len()], x.clone())?;
        Ok(numerics::math::convert(wide, dtype)?.into())
    };
    operands.iter().map(tensor).collect()
}

/// True values and bounds by a model. `bits` limits the digits.
fn numbers(case: OpCase, operands: &[Vec<f64>], model: Model, bits: usize) -> Result<Vec<Number>> {
    let program = program(case.op, case.dtype, operands[0].len(), operands.len())?;
    let options = Options::default().limits(Limits::default()).model(model).bits(bits);
    let enclosure = enclose(&program, inputs(operands, case.dtype)?, &options)?;
    match enclosure.results.first() {
        Some(result) => Ok(result.numbers()?.to_vec()),
        None => Err(crate::Error::message("ops", "the op has no result")),
    }
}

/// The operands at some points.
fn at(operands: &[Vec<f64>], points: &[usize]) -> Vec<Vec<f64>> {
    operands.iter().map(|x| points.iter().map(|&i| x[i]).collect()).collect()
}

/// True if the true value is not known well enough to measure an error.
fn is_vague(number: &Number, format: &FloatFormat) -> bool {
    let truth = number.truth;
    // A radius is at least some units of the smallest number.
    let least = f64::max(KNOWN * unit_in_the_last_place(truth.hi, format), 1e-321);
    truth.is_unknown() || (truth.hi.is_finite() && truth.radius > least)
}

/// Compares the results of a device with true values.
fn compare(case: OpCase, operands: &[Vec<f64>], results: Vec<RuntimeValue>) -> Result<OpAccuracy> {
    let OpCase { op, dtype } = case;
    let found = results.into_iter().next().map(RuntimeValue::into_tensor).transpose()?;
    let (Some(found), Some(format)) = (found, dtype.float_format()) else {
        return Err(crate::Error::message("ops", "the op has no result of floats"));
    };
    let found = numerics::math::convert(found, DType::F64)?.to_vec::<f64>()?;
    let n = operands[0].len();
    let mut truth: Vec<Number> = Vec::new();
    let starts: Vec<usize> = (0..n).step_by(CHUNK).collect();
    let mut chunks: Vec<Vec<Number>> = vec![Vec::new(); starts.len()];
    host::parallel(starts.into_iter().zip(&mut chunks).collect(), |(start, chunk)| {
        let points: Vec<usize> = (start..n.min(start + CHUNK)).collect();
        *chunk = numbers(case, &at(operands, &points), Model::default(), 0)?;
        Ok::<(), crate::Error>(())
    })?;
    chunks.into_iter().for_each(|chunk| truth.extend(chunk));
    // More digits, of as many points as there is time for.
    let mut vague: Vec<usize> = (0..n).filter(|&i| is_vague(&truth[i], format)).collect();
    if !vague.is_empty() {
        let step = vague.len().div_ceil(MAX_PRECISE);
        let chosen: Vec<usize> = vague.iter().copied().step_by(step).collect();
        let better = numbers(case, &at(operands, &chosen), Model::default(), 1000)?;
        chosen.into_iter().zip(better).for_each(|(i, number)| truth[i] = number);
        vague.retain(|&i| is_vague(&truth[i], format));
    }
    let is_known = |i: usize| vague.binary_search(&i).is_err();
    let outside: Vec<usize> =
        (0..n).filter(|&i| is_known(i) && !truth[i].bounds.contains(found[i])).collect();
    let mut accuracy = OpAccuracy {
        op,
        dtype,
        ulps: 0.0,
        at: Vec::new(),
        points: n,
        flushes: false,
        wrong: 0,
        wrong_at: Vec::new(),
        unknown: vague.len(),
    };
    if outside.is_empty() {
        return Ok(accuracy);
    }
    let own = at(operands, &outside);
    let mut flushing = Model::default();
    flushing.flushes.push(dtype);
    let with_zeros = numbers(case, &own, flushing, 0)?;
    let normal = f64::powi(2.0, format.min_exponent());
    let flush = |x: &f64| if x.abs() < normal { 0f64.copysign(*x) } else { *x };
    let zeroed: Vec<Vec<f64>> = own.iter().map(|x| x.iter().map(flush).collect()).collect();
    let of_zeros = numbers(case, &zeroed, Model::default(), 0)?;
    let ulps_at = |i: usize| {
        let (value, truth) = (found[i], truth[i].truth);
        let size = if WITH_ZEROS.contains(&op) { truth.hi.abs().max(1.0) } else { truth.hi };
        (((value - truth.hi) - truth.lo) / unit_in_the_last_place(size, format)).abs()
    };
    // Steps of an expansion may be subnormal where the result is barely not. Two units or less are
    // an error of the smallest numbers.
    let is_flushed = |k: usize| {
        let (value, truth) = (found[outside[k]], truth[outside[k]].truth);
        let is_zero = truth.hi.abs() < 4.0 * normal && value == 0.0;
        let ulps = ulps_at(outside[k]);
        let is_off = ulps.is_nan() || ulps > 2.0;
        is_off && (is_zero || of_zeros[k].bounds.contains(value))
    };
    accuracy.flushes = (0..outside.len()).any(is_flushed);
    let half = f64::powi(2.0, format.precision() as i32 / 2);
    let largest = format.decode(format.max_finite());
    for (k, &i) in outside.iter().enumerate() {
        let (value, truth) = (found[i], truth[i].truth);
        // A device that flushes may return any number between zero and a subnormal result.
        if accuracy.flushes && (is_flushed(k) || with_zeros[k].bounds.contains(value)) {
            continue;
        }
        let overflows = truth.is_beyond() || truth.hi.abs() > largest;
        let is_special = !value.is_finite() || !truth.hi.is_finite() || overflows;
        let ulps = ulps_at(i);
        let point = || operands.iter().map(|x| x[i]).collect();
        if is_special || ulps > half {
            accuracy.wrong += 1;
            if accuracy.wrong == 1 {
                accuracy.wrong_at = point();
            }
        } else if ulps > accuracy.ulps {
            (accuracy.ulps, accuracy.at) = (ulps, point());
        }
    }
    Ok(accuracy)
}
