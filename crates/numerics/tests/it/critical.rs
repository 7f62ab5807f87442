//! The bounds that `docs/accuracy.md` states, at the arguments where the code branches, next to
//! them, at the ends of the ranges of numbers, and on grids of operands.
//!
//! The tables were computed with MPFR, MPC and mpmath (`reference/critical.py`).

use super::accuracy::{bound, function};
use numerics::math::{BinaryOp, UnaryOp, unary};
use numerics::{Complex32, Complex64, DType, Element, Tensor};

/// A line of a table.
struct Line {
    name: &'static str,
    /// All combinations of arguments, by operand.
    operands: Vec<Vec<u64>>,
    /// The bits of results, with two numbers for complex ones; `None` where it is not known.
    results: Vec<Option<u64>>,
}

/// The lines of a table, whose numbers have `width` words: 2 if they are complex.
fn lines(table: &'static str, width: usize) -> Vec<Line> {
    let number = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal");
    let mut before: Vec<Vec<u64>> = Vec::new();
    let line = |line: &'static str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, _, operands @ .., results] = fields.as_slice() else { panic!("too few fields") };
        if operands[0] != "=" {
            let numbers = |field: &&str| field.split(' ').map(number).collect();
            before = operands.iter().map(numbers).collect();
        }
        let results = results.split(' ').flat_map(|text| match text {
            "-" => vec![None; width],
            _ => vec![Some(number(text))],
        });
        let (first, last) = (&before[0], &before[before.len() - 1]);
        let pairs = first.chunks(width).flat_map(|x| last.chunks(width).map(move |y| [x, y]));
        let operands = match before.len() {
            1 => vec![first.clone()],
            _ => [0, 1].map(|i| pairs.clone().flat_map(|pair| pair[i].to_vec()).collect()).into(),
        };
        Line { name, operands, results: results.collect() }
    };
    table.lines().map(line).collect()
}

/// The results of a line.
fn apply<T: Element>(name: &str, operands: &[Vec<T>]) -> Vec<T> {
    let tensor = |x: &Vec<T>| Tensor::from_vec([x.len()], x.clone()).expect("as many elements");
    let result = function(name, operands.iter().map(tensor).collect());
    result.as_slice::<T>().expect("of the same type").to_vec()
}

/// Fails with the first few errors.
fn report(errors: &[String]) {
    assert!(
        errors.is_empty(),
        "{} errors:\n{}",
        errors.len(),
        errors[..errors.len().min(20)].join("\n")
    );
}

#[test]
fn functions_of_f32() {
    let mut errors = Vec::new();
    for line in lines(include_str!("reference/critical_f32.tsv"), 1) {
        let float = |&bits: &u64| f32::from_bits(bits as u32);
        let operands: Vec<Vec<f32>> =
            line.operands.iter().map(|x| x.iter().map(float).collect()).collect();
        let bound = bound(line.name, 1);
        for (i, actual) in apply(line.name, &operands).into_iter().enumerate() {
            let Some(expected) = line.results[i].as_ref().map(float) else { continue };
            if !bound.allows_number(actual, expected) {
                let point: Vec<f32> = operands.iter().map(|x| x[i]).collect();
                errors.push(format!("{} of {point:?} is {actual:e}, not {expected:e}", line.name));
            }
        }
    }
    report(&errors);
}

#[test]
fn functions_of_f64() {
    let mut errors = Vec::new();
    for line in lines(include_str!("reference/critical_f64.tsv"), 1) {
        let float = |&bits: &u64| f64::from_bits(bits);
        let operands: Vec<Vec<f64>> =
            line.operands.iter().map(|x| x.iter().map(float).collect()).collect();
        let bound = bound(line.name, 2);
        for (i, actual) in apply(line.name, &operands).into_iter().enumerate() {
            let Some(expected) = line.results[i].as_ref().map(float) else { continue };
            if !bound.allows(actual, expected, expected.abs().max(1.0)) {
                let point: Vec<f64> = operands.iter().map(|x| x[i]).collect();
                errors.push(format!("{} of {point:?} is {actual:e}, not {expected:e}", line.name));
            }
        }
    }
    report(&errors);
}

#[test]
fn functions_of_complex_numbers() {
    let mut errors = Vec::new();
    for line in lines(include_str!("reference/critical_c128.tsv"), 2) {
        let operands: Vec<Vec<Complex64>> = line.operands.iter().map(|x| complex(x)).collect();
        let bound = bound(line.name, 3);
        for (i, actual) in apply(line.name, &operands).into_iter().enumerate() {
            let [Some(re), Some(im)] = [0, 1].map(|part| line.results[2 * i + part]) else {
                continue;
            };
            let expected = complex(&[re, im])[0];
            let size = expected.re.abs().max(expected.im.abs());
            let fits = bound.allows(actual.re, expected.re, size)
                && bound.allows(actual.im, expected.im, size);
            if !fits {
                let point: Vec<Complex64> = operands.iter().map(|x| x[i]).collect();
                errors.push(format!("{} of {point:?} is {actual:e}, not {expected:e}", line.name));
            }
        }
    }
    report(&errors);
}

fn complex(bits: &[u64]) -> Vec<Complex64> {
    let number = |parts: &[u64]| Complex64::new(f64::from_bits(parts[0]), f64::from_bits(parts[1]));
    bits.chunks(2).map(number).collect()
}

/// Results for parts of `f32` are those for parts of `f64`, rounded.
#[test]
fn complex_numbers_of_f32() {
    let mut errors = Vec::new();
    for line in lines(include_str!("reference/critical_c128.tsv"), 2) {
        let narrow = |z: Complex64| Complex32::new(z.re as f32, z.im as f32);
        let operands: Vec<Vec<Complex32>> =
            line.operands.iter().map(|x| complex(x).into_iter().map(narrow).collect()).collect();
        let wide: Vec<Vec<Complex64>> = operands
            .iter()
            .map(|x| x.iter().map(|z| Complex64::new(z.re.into(), z.im.into())).collect())
            .collect();
        let expected = apply(line.name, &wide).into_iter().map(narrow);
        for (i, (actual, expected)) in
            apply(line.name, &operands).into_iter().zip(expected).enumerate()
        {
            let same = |x: f32, y: f32| x == y || (x.is_nan() && y.is_nan());
            if !same(actual.re, expected.re) || !same(actual.im, expected.im) {
                let point: Vec<Complex32> = operands.iter().map(|x| x[i]).collect();
                errors.push(format!("{} of {point:?} is {actual:e}, not {expected:e}", line.name));
            }
        }
    }
    report(&errors);
}

/// Parts so small that digits of intermediate results are subnormal. Values: MPC.
#[test]
fn parts_beside_subnormal_numbers() {
    let mut errors = Vec::new();
    for (name, re, im, expected_re, expected_im) in [
        (
            "asinh",
            1.25014321181246e-310,
            -0.7829359596584323,
            2.00954600776497e-310,
            -0.8993713176861465,
        ),
        ("asin", 0.9999999999057412, -1.23104094e-316, 1.5707825966220665, -8.96595370244e-312),
        ("acos", 0.9999999999057412, -1.23104094e-316, 1.3730172829981149e-5, 8.96595370244e-312),
        ("acosh", 0.9999999999057412, -1.23104094e-316, 8.96595370244e-312, -1.3730172829981149e-5),
        ("rsqrt", 8.662256834486342e300, 2.208021794556523e-297, 3.397695631702595e-151, -0.0),
        ("rsqrt", -6.4e-323, 2.8971215e-316, 4.1543358114551105e157, -4.154336732462145e157),
        (
            "sqrt",
            7.034719301065312e-17,
            -2.3293480053e-314,
            8.387323351979052e-9,
            -1.3886122589412846e-306,
        ),
        ("sqrt", -6.4e-323, 2.8971215e-316, 1.2035615603640618e-158, 1.2035618271909901e-158),
        ("tan", 1.6216547403016075, -4.75003936e-316, -19.645474360201767, -1.8380023791e-313),
        (
            "tanh",
            3.2767729971e-313,
            -1.7776136048308614e16,
            3.23033347674e-312,
            -2.9762857159605356,
        ),
    ] {
        let actual = apply(name, &[vec![Complex64::new(re, im)]])[0];
        let expected = Complex64::new(expected_re, expected_im);
        let size = expected.re.abs().max(expected.im.abs());
        let bound = bound(name, 3);
        if !bound.allows(actual.re, expected.re, size)
            || !bound.allows(actual.im, expected.im, size)
        {
            errors.push(format!("{name} of {re:e} + {im:e}i is {actual:e}, not {expected:e}"));
        }
    }
    report(&errors);
}

/// Angles of powers of large imaginary exponents, and points of which parts nearly cancel.
/// Values: mpmath.
#[test]
fn parts_that_are_far_apart() {
    let single = |re: f32, im: f32| vec![Complex32::new(re, im)];
    let double = |re: f64, im: f64| vec![Complex64::new(re, im)];
    assert_eq!(
        apply("power", &[single(4.0, 0.0), single(0.0, 1e15)]),
        single(0.994_224_85, 0.107_317_254)
    );
    assert_eq!(
        apply("power", &[double(4.0, 0.0), double(0.0, 1e40)]),
        double(-0.871_369_051_673_203_6, 0.490_628_144_103_191_33)
    );
    let near_cut = [single(-8.624_838e-28, -1.672_616_4e-31), single(-0.006_827_423, 0.116_654_33)];
    assert_eq!(apply("atan2", &near_cut)[0].re, -std::f32::consts::PI);
    // The angle of which this is the half is too small for a number, and tells the side of the cut.
    let at_cut = [
        double(0.274_731_795_444_897_84, 2.397_436_535_600_713e-35),
        double(-1_629.477_902_059_324_4, 3.851_547_233_831_648e290),
    ];
    assert_eq!(apply("atan2", &at_cut)[0].re, -std::f64::consts::PI);
    let far = [single(-1.656_132e-10, 1.160_810_9e32), single(3.296_694_5e-8, 3.267_59e28)];
    assert_eq!(apply("atan2", &far)[0].re, -1.571_077_8);
    let quotient = apply(
        "divide",
        &[
            double(-1.079_990_458_035_372_4e213, 1.772_495_981_567_406e-260),
            double(4.902_028_508_444_714e198, -2.188_118_915_813_345e-118),
        ],
    );
    assert_eq!(quotient[0].im, -9.834_203_109_476_894e-303);
}

/// Every type has the functions of the tables.
#[test]
fn tables_have_every_function() {
    let names =
        |table, width| -> Vec<&str> { lines(table, width).iter().map(|l| l.name).collect() };
    let single = names(include_str!("reference/critical_f32.tsv"), 1);
    let double = names(include_str!("reference/critical_f64.tsv"), 1);
    let complex = names(include_str!("reference/critical_c128.tsv"), 2);
    assert_eq!(single, double);
    for name in super::accuracy::listed() {
        let is_exact = ["divide", "sqrt"].contains(&name);
        assert!(is_exact || single.contains(&name), "{name} of real numbers");
        let is_complex = match (UnaryOp::from_name(name), BinaryOp::from_name(name)) {
            (Some(op), _) => {
                let zero = Tensor::zeros(DType::C128, [1]).expect("small");
                unary(op, zero).is_ok()
            }
            (None, op) => op.is_some_and(|op| ![BinaryOp::Polygamma, BinaryOp::Zeta].contains(&op)),
        };
        assert!(complex.contains(&name) == is_complex, "{name} of complex ones");
    }
}
