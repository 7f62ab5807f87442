//! Statistics of the elements of constants.

use mlir::Attribute;
use numerics::{DType, Tensor, math};
use serde_json::{Value, json};

/// Number of bars of a histogram.
const BARS: usize = 24;

/// Statistics of a constant: the number of its `elements`; `splat`, if all are equal, which is the
/// number (a text if it is not finite), or null if it is none; for other real ones `min`, `max`,
/// `mean` and `deviation` of the finite ones, the numbers of `zeros`, `nan` and `infinite` ones,
/// and a `histogram` of the finite ones between `min` and `max`. `None` for attributes without
/// elements at hand.
pub(crate) fn of(value: &Attribute) -> Option<Value> {
    if let Some(dense) = value.as_dense().filter(|dense| dense.is_splat()) {
        let number = dense.stored().ok().and_then(real).and_then(|x| x.item::<f64>().ok());
        let number = number.map(|x| if x.is_finite() { json!(x) } else { json!(x.to_string()) });
        return Some(json!({"elements": dense.num_elements(), "splat": number}));
    }
    Some(of_tensor(value.to_tensor()?.ok()?))
}

/// As [`of`], of a tensor, whose elements count as different.
pub(crate) fn of_tensor(tensor: Tensor) -> Value {
    let elements = tensor.num_elements();
    let numbers = real(tensor);
    let numbers = numbers.as_ref().and_then(|numbers| numbers.as_slice().ok());
    let mut statistics = numbers.map_or_else(|| json!({}), of_numbers);
    statistics["elements"] = json!(elements);
    statistics
}

/// Real elements as 64-bit floats.
fn real(tensor: Tensor) -> Option<Tensor> {
    if tensor.dtype().is_complex() { None } else { math::convert(tensor, DType::F64).ok() }
}

fn of_numbers(numbers: &[f64]) -> Value {
    let count = |test: fn(f64) -> bool| numbers.iter().filter(|&&x| test(x)).count();
    let finite = || numbers.iter().copied().filter(|x| x.is_finite());
    let amount = finite().count();
    let mut statistics = json!({
        "zeros": count(|x| x == 0.0),
        "nan": count(f64::is_nan),
        "infinite": count(f64::is_infinite),
    });
    if amount == 0 {
        return statistics;
    }
    let (min, max) = finite().fold((f64::MAX, f64::MIN), |(min, max), x| (min.min(x), max.max(x)));
    let mean = finite().sum::<f64>() / amount as f64;
    let variance = finite().map(|x| (x - mean) * (x - mean)).sum::<f64>() / amount as f64;
    let mut bars = vec![0u64; BARS];
    for x in finite() {
        // Halves do not overflow. Conversion saturates, and makes 0 of NaN.
        let position = (x / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0) * BARS as f64;
        bars[(position as usize).min(BARS - 1)] += 1;
    }
    statistics["min"] = json!(min);
    statistics["max"] = json!(max);
    statistics["mean"] = json!(mean);
    statistics["deviation"] = json!(variance.sqrt());
    statistics["histogram"] = json!(bars);
    statistics
}
