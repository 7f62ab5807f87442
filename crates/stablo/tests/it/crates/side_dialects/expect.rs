//! Comparisons of the `check` dialect.

use numerics::Tensor;
use side_dialects::expect::{expect_almost_eq, expect_close, expect_eq};

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_vec([values.len()], values.to_vec()).expect("one dimension")
}

#[test]
fn equality_counts_nans_and_zeros_as_equal() {
    assert!(expect_eq(&floats(&[f32::NAN, 0.0]), &floats(&[f32::NAN, -0.0])).is_ok());
    let error = expect_eq(&floats(&[1.0, 2.0]), &floats(&[1.0, 3.0])).expect_err("2 is not 3");
    assert!(error.message().contains("[1]"), "{error}");
}

#[test]
fn tolerances() {
    assert!(
        expect_almost_eq(&floats(&[1.0, f32::INFINITY]), &floats(&[1.0005, f32::INFINITY]), 1e-3)
            .is_ok()
    );
    assert!(expect_almost_eq(&floats(&[1.0]), &floats(&[1.1]), 1e-3).is_err());
    let next = f32::from_bits(1f32.to_bits() + 3);
    assert!(expect_close(&floats(&[1.0]), &floats(&[next]), 0, 3).is_ok());
    assert!(expect_close(&floats(&[1.0]), &floats(&[next]), 0, 2).is_err());
    assert!(expect_close(&floats(&[1.0]), &floats(&[1.0]), 1, 3).is_err());
}
