//! Distances from correctly rounded values, against the bounds that `docs/accuracy.md` states.
//!
//! The tables in `reference/` were computed with mpmath (`reference/generate.py`), which shares no
//! code with this project.

use numerics::math::{BinaryOp, UnaryOp, binary, unary};
use numerics::ulp::ulp_distance;
use numerics::{Complex64, Element, Tensor};

/// A bound of errors.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// Units in the last place.
    units: u64,
    /// Of the larger one of 1 and the result, or of the larger part.
    of_larger: bool,
}

impl Bound {
    /// True if `actual` is within the bound of `expected`; `size` is the larger part, or 1.
    fn allows(self, actual: f64, expected: f64, size: f64) -> bool {
        if self.of_larger {
            (actual - expected).abs() <= self.units as f64 * f64::EPSILON * size
        } else {
            ulp_distance(actual, expected) <= self.units
        }
    }
}

/// The bound in a column of the documentation's table: 1 for narrow types, 2 for `f64`, 3 for
/// complex numbers.
fn bound(function: &str, column: usize) -> Bound {
    let table = include_str!("../../../docs/accuracy.md");
    let row = table.lines().find(|line| line.starts_with(&format!("| {function} |")));
    let cell = row
        .unwrap_or_else(|| panic!("{function} has no bounds"))
        .split('|')
        .nth(column + 1)
        .expect("a cell")
        .trim();
    let units = cell
        .trim_end_matches('*')
        .parse()
        .unwrap_or_else(|_| panic!("{function} is not defined: {cell}"));
    Bound { units, of_larger: cell.ends_with('*') }
}

/// The rows of a table: function, inputs, outputs, as bits.
fn rows(table: &str) -> impl Iterator<Item = (&str, Vec<u64>, Vec<u64>)> {
    let numbers = |text: &str| {
        text.split(' ').map(|x| u64::from_str_radix(x, 16).expect("hexadecimal")).collect()
    };
    table.lines().map(move |line| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields[0], numbers(fields[1]), numbers(fields[2]))
    })
}

/// The function of that name, of one or two numbers.
fn apply<T: Element>(name: &str, inputs: &[T]) -> T {
    let result = match *inputs {
        [x] => {
            let op = UnaryOp::ALL.iter().find(|op| op.name() == name);
            unary(*op.expect("a function's name"), Tensor::scalar(x))
        }
        [x, y] => {
            let op = BinaryOp::ALL.iter().find(|op| op.name() == name);
            binary(*op.expect("a function's name"), Tensor::scalar(x), Tensor::scalar(y))
        }
        _ => panic!("{name} has no {} operands", inputs.len()),
    };
    result.and_then(|t| t.item()).expect("defined for the type")
}

#[test]
fn functions_of_f64() {
    let tables = [include_str!("reference/real_f64.tsv"), include_str!("reference/binary_f64.tsv")];
    for (name, inputs, outputs) in tables.into_iter().flat_map(rows) {
        let inputs: Vec<f64> = inputs.into_iter().map(f64::from_bits).collect();
        let (actual, expected) = (apply(name, &inputs), f64::from_bits(outputs[0]));
        let fits = bound(name, 2).allows(actual, expected, expected.abs().max(1.0));
        assert!(fits, "{name} of {inputs:?} is {actual:e}, not {expected:e}");
    }
}

#[test]
fn functions_of_f32() {
    let float = |bits: u64| f32::from_bits(bits as u32);
    let tables = [include_str!("reference/real_f32.tsv"), include_str!("reference/binary_f32.tsv")];
    for (name, inputs, outputs) in tables.into_iter().flat_map(rows) {
        let inputs: Vec<f32> = inputs.into_iter().map(float).collect();
        let (actual, expected) = (apply(name, &inputs), float(outputs[0]));
        assert!(
            ulp_distance(actual, expected) <= bound(name, 1).units,
            "{name} of {inputs:?} is {actual:e}, not {expected:e}"
        );
    }
}

#[test]
fn functions_of_complex_numbers() {
    let complex = |bits: &[u64]| Complex64::new(f64::from_bits(bits[0]), f64::from_bits(bits[1]));
    for (name, inputs, outputs) in rows(include_str!("reference/complex_f64.tsv")) {
        let (z, expected) = (complex(&inputs), complex(&outputs));
        let actual = apply(name, &[z]);
        let (bound, size) = (bound(name, 3), expected.re.abs().max(expected.im.abs()));
        let fits = bound.allows(actual.re, expected.re, size)
            && bound.allows(actual.im, expected.im, size);
        assert!(fits, "{name} of {z:e} is {actual:e}, not {expected:e}");
    }
}
