//! Distances from correctly rounded values, against the bounds that `docs/accuracy.md` states.
//!
//! The tables in `reference/` were computed with mpmath (`reference/generate.py`), which shares no
//! code with this project. Types of at most 16 bits are checked at every number.

use numerics::math::{BinaryOp, UnaryOp, binary, convert, unary};
use numerics::ulp::{ulp_distance, ulp_distances};
use numerics::{Complex64, DType, Element, Float, Tensor, dispatch};
use std::f32::consts::{FRAC_PI_2, PI};

/// A bound of errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// Units in the last place.
    units: u64,
    /// Of the larger one of 1 and the result, or of the larger part.
    of_larger: bool,
}

impl Bound {
    /// True if `actual` is within the bound of `expected`; `size` is the larger part, or 1.
    pub(crate) fn allows(self, actual: f64, expected: f64, size: f64) -> bool {
        if self.of_larger {
            (actual - expected).abs() <= self.units as f64 * f64::EPSILON * size
        } else {
            ulp_distance(actual, expected) <= self.units
        }
    }
}

impl Bound {
    /// True if a number of a narrow type is within the bound of `expected`.
    pub(crate) fn allows_number(self, actual: f32, expected: f32) -> bool {
        ulp_distance(actual, expected) <= self.units
    }
}

/// The documentation, with the table of bounds.
const DOCUMENTATION: &str = include_str!("../../../../docs/accuracy.md");

/// The bound in a column of the documentation's table: 1 for narrow types, 2 for `f64`, 3 for
/// complex numbers.
pub(crate) fn bound(function: &str, column: usize) -> Bound {
    let table = DOCUMENTATION;
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
    let operands = inputs.iter().map(|&x| Tensor::scalar(x)).collect();
    function(name, operands).item().expect("one element")
}

/// The function of that name, of one or two tensors.
pub(crate) fn function(name: &str, operands: Vec<Tensor>) -> Tensor {
    let mut operands = operands.into_iter();
    let first = operands.next().expect("an operand");
    let result = match operands.next() {
        None => unary(UnaryOp::from_name(name).expect("a function's name"), first),
        Some(second) => {
            binary(BinaryOp::from_name(name).expect("a function's name"), first, second)
        }
    };
    result.expect("defined for the type")
}

#[test]
fn functions_of_f64() {
    let tables = [
        include_str!("reference/real_f64.tsv"),
        include_str!("reference/binary_f64.tsv"),
        include_str!("reference/special_f64.tsv"),
    ];
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
    let tables = [
        include_str!("reference/complex_f64.tsv"),
        include_str!("reference/complex_binary_f64.tsv"),
    ];
    for (name, inputs, outputs) in tables.into_iter().flat_map(rows) {
        let (operands, expected): (Vec<_>, _) =
            (inputs.chunks(2).map(complex).collect(), complex(&outputs));
        let actual = apply(name, &operands);
        let (bound, size) = (bound(name, 3), expected.re.abs().max(expected.im.abs()));
        let fits = bound.allows(actual.re, expected.re, size)
            && bound.allows(actual.im, expected.im, size);
        assert!(fits, "{name} of {operands:?} is {actual:e}, not {expected:e}");
    }
}

/// The functions that the documentation's first table lists, which has the claims.
pub(crate) fn listed() -> impl Iterator<Item = &'static str> {
    let claims = DOCUMENTATION.split("<!-- errors").next().unwrap_or_default();
    let unary = UnaryOp::ALL.iter().map(|op| op.name());
    let names = unary.chain(BinaryOp::ALL.iter().map(|op| op.name()));
    names.filter(move |name| claims.contains(&format!("\n| {name} |")))
}

/// The functions of one operand that the documentation's table lists.
fn listed_functions() -> impl Iterator<Item = UnaryOp> {
    listed().filter_map(UnaryOp::from_name)
}

/// Every number of a format of at most 16 bits.
fn every_number<T: Float>() -> Tensor {
    let numbers: Vec<T> = (0..1u64 << T::FORMAT.bits()).map(T::from_raw).collect();
    Tensor::from_vec([numbers.len()], numbers).expect("as many elements")
}

/// The results in `f64` are within a unit in the last place of the exact ones, as other tests
/// check. Where all numbers in that distance round to the same one, it is the correct result.
#[test]
fn narrow_types_round_correctly() {
    let mut checked = 0;
    for &dtype in DType::ALL {
        dispatch!(
            dtype,
            [float] T => if T::FORMAT.bits() <= 16 {
                let numbers = every_number::<T>();
                let wide = convert(numbers.clone(), DType::F64).expect("real");
                for op in listed_functions() {
                    let actual = unary(op, numbers.clone()).expect("defined for floats");
                    let exact = unary(op, wide.clone()).expect("defined for floats");
                    let expected = convert(exact, dtype).expect("real");
                    let distances = ulp_distances(&actual, &expected).expect("floats of one type");
                    let wrong = distances.iter().position(|&distance| distance != 0);
                    assert_eq!(wrong, None, "{op:?} of {dtype}: the first number that is wrong");
                    checked += distances.len();
                }
            },
            else ()
        );
    }
    assert!(checked > 3_000_000, "{checked} results");
}

/// Complex numbers with `f32` parts against the same function of `f64` parts, rounded.
#[test]
fn complex_numbers_of_f32() {
    let parts = [0.0f32, 1e-30, 2e-8, 0.3, 0.999_999_9, 1.0, FRAC_PI_2, PI, 25.0, 88.0];
    let parts: Vec<f32> = parts.iter().flat_map(|&x| [x, -x]).collect();
    let numbers: Vec<_> = parts
        .iter()
        .flat_map(|&re| parts.iter().map(move |&im| numerics::Complex32::new(re, im)))
        .collect();
    let single = Tensor::from_vec([numbers.len()], numbers.clone()).expect("as many elements");
    let double = convert(single.clone(), DType::C128).expect("complex");
    for op in listed_functions() {
        let Ok(actual) = unary(op, single.clone()) else { continue };
        let expected = unary(op, double.clone()).and_then(|t| convert(t, DType::C64));
        let distances = ulp_distances(&actual, &expected.expect("defined for C128"));
        for (z, distance) in numbers.iter().zip(distances.expect("of one type")) {
            assert_eq!(distance, 0, "{op:?} of {z}");
        }
    }
}
