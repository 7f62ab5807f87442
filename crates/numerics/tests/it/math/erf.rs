//! Tests of `math/erf.rs`.

use numerics::Tensor;
use numerics::math::erf::erf_inv;
use numerics::math::{UnaryOp, unary};

#[test]
fn inverse_of_the_error_function() {
    assert!((erf_inv(0.5) - 0.476_936_276_204_469_9).abs() < 1e-15);
    assert!((erf_inv(-0.9) + 1.163_087_153_676_674_3).abs() < 1e-15);
    assert_eq!(erf_inv(1.0), f64::INFINITY);
    assert!(erf_inv(1.5).is_nan());
    assert_eq!(erf_inv(-0.0).to_bits(), (-0.0f64).to_bits());
}

/// Numbers whose results are near the middle between two, with these, computed with mpmath in 600
/// bits. The first ones are within 2^-53 units of it.
#[rustfmt::skip]
const NEAR_MIDDLES: &[(&str, f64, f64)] = &[
    ("erfc", 4.91954768840207e-17, 1.0),
    ("erfc", 4.919547688402071e-17, 0.9999999999999999),
    ("erfc", 4.9195476884020715e-17, 0.9999999999999999),
    ("erfc", -4.91954768840207e-17, 1.0),
    ("erfc", -4.919547688402071e-17, 1.0),
    ("erfc", -4.9195476884020715e-17, 1.0),
    ("erfc", 9.83909537680414e-17, 0.9999999999999999),
    ("erfc", 9.839095376804142e-17, 0.9999999999999999),
    ("erfc", 9.839095376804143e-17, 0.9999999999999999),
    ("erfc", -9.83909537680414e-17, 1.0),
    ("erfc", -9.839095376804142e-17, 1.0000000000000002),
    ("erfc", -9.839095376804143e-17, 1.0000000000000002),
    ("erf", 0.9371760738166802, 0.8149505810798231),
    ("erf", 0.3967087677322287, 0.4252235408406114),
    ("erf", 0.339607536505067, 0.36896997410569615),
    ("erf", 1.8695109726090284, 0.9918040174138664),
    ("erf", 1.5727899820864564, 0.9738691058186846),
    ("erf", 1.4293589333123768, 0.9567635686730394),
    ("erf", 2.431381695837189, 0.999415038273119),
    ("erf", 5.215090144245146, 0.999999999999836),
    ("erf", 3.6405806052483847, 0.9999997375040321),
    ("erfc", 1.151985474533815, 0.1032805317960716),
    ("erfc", 1.372321160818339, 0.05228797767427825),
    ("erfc", 0.8863993106405712, 0.21000273179780357),
    ("erfc", 2.9890463890985255, 2.366699641227963e-05),
    ("erfc", 3.422693034585708, 1.295657178766522e-06),
    ("erfc", 5.252347671489833, 1.1030087457988217e-13),
    ("erfc", 16.185798254843668, 5.820621078947847e-116),
    ("erfc", 21.40712624229889, 2.5027066723522272e-201),
    ("erfc", 12.80028305934872, 3.054465067434884e-73),
    ("erfc", -5.109928110416585, 1.9999999999995044),
    ("erfc", -0.7286636217662963, 1.6972180679854965),
    ("erfc", -0.695465799893964, 1.6746568674609115),
];

#[test]
fn error_functions_of_f64_are_correctly_rounded() {
    for &(name, x, expected) in NEAR_MIDDLES {
        let op = UnaryOp::from_name(name).expect("a function");
        let result = unary(op, Tensor::scalar(x)).expect("a function of f64");
        assert_eq!(result.item::<f64>(), Ok(expected), "{name}({x:e})");
        if op == UnaryOp::Erf {
            let result = unary(op, Tensor::scalar(-x)).expect("a function of f64");
            assert_eq!(result.item::<f64>(), Ok(-expected), "{name}({:e})", -x);
        }
    }
}

#[test]
fn error_functions_of_extreme_numbers() {
    let of = |op, x: f64| unary(op, Tensor::scalar(x)).and_then(|y| y.item::<f64>());
    for (x, erf, erfc) in [
        (f64::INFINITY, 1.0, 0.0),
        (f64::NEG_INFINITY, -1.0, 2.0),
        (0.0, 0.0, 1.0),
        (5e-324, 5e-324, 1.0),
        (1e-310, 1.128_379_167_095_5e-310, 1.0),
        (-1e300, -1.0, 2.0),
        (5.95, 1.0, 3.943_363_977_339_67e-17),
        (26.5, 1.0, 2.210_907_664_26e-307),
        (27.3, 1.0, 0.0),
    ] {
        assert!((of(UnaryOp::Erf, x).expect("a number") - erf).abs() <= 1e-12 * erf.abs(), "{x}");
        let apart = of(UnaryOp::Erfc, x).expect("a number") - erfc;
        assert!(apart.abs() <= 1e-4 * erfc.max(1e-310), "{x}");
    }
    assert!(of(UnaryOp::Erf, -0.0).expect("a number").is_sign_negative());
    assert!(of(UnaryOp::Erfc, f64::NAN).expect("a number").is_nan());
}
