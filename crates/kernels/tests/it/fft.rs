//! Tests of `fft.rs`.

use kernels::fourier;
use numerics::{Complex64, DType, Tensor};
use program::Fourier;

fn complex(shape: &[usize], values: &[(f64, f64)]) -> Tensor {
    Tensor::from_vec(shape, values.iter().map(|&(re, im)| Complex64::new(re, im)).collect())
        .unwrap()
}

fn close(actual: &Tensor, expected: &Tensor) {
    assert_eq!(actual.shape(), expected.shape());
    let (a, b) =
        (actual.as_slice::<Complex64>().unwrap(), expected.as_slice::<Complex64>().unwrap());
    assert!(a.iter().zip(b).all(|(x, y)| (x - y).norm() < 1e-12), "{actual:?} {expected:?}");
}

#[test]
fn example_of_the_specification() {
    let x = complex(&[4], &[(1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]);
    close(&fourier(Fourier::Forward, x, &[4]).unwrap(), &complex(&[4], &[(1.0, 0.0); 4]));
}

#[test]
fn two_dimensions_and_back() {
    let x = complex(&[2, 2], &[(1.0, 2.0), (3.0, -4.0), (-5.0, 6.0), (-7.0, -8.0)]);
    let y = fourier(Fourier::Forward, x.clone(), &[2, 2]).unwrap();
    close(&y, &complex(&[2, 2], &[(-8.0, -4.0), (0.0, 20.0), (16.0, 0.0), (-4.0, -8.0)]));
    close(&fourier(Fourier::Inverse, y, &[2, 2]).unwrap(), &x);
}

#[test]
fn real_lines_of_even_and_odd_length() {
    let x = Tensor::from_vec([4], vec![1.0, 2.0, 3.0, 4.0f64]).unwrap();
    let y = fourier(Fourier::RealForward, x.clone(), &[4]).unwrap();
    close(&y, &complex(&[3], &[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]));
    let there = fourier(Fourier::RealInverse, y, &[4]).unwrap();
    assert!(
        there
            .as_slice::<f64>()
            .unwrap()
            .iter()
            .zip([1.0, 2.0, 3.0, 4.0])
            .all(|(a, b)| (a - b).abs() < 1e-12)
    );
    let x = Tensor::from_vec([2, 3, 3], (0..18).map(|i| i as f32).collect()).unwrap();
    let y = fourier(Fourier::RealForward, x.clone(), &[2, 3, 3]).unwrap();
    assert_eq!((y.dtype(), y.shape()), (DType::C64, &[2, 3, 2][..]));
    let there = fourier(Fourier::RealInverse, y, &[2, 3, 3]).unwrap();
    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
    assert!(there.as_slice().unwrap().iter().zip(x.as_slice().unwrap()).all(near), "{there:?}");
}

#[test]
fn empty_and_invalid() {
    let x = Tensor::from_vec([2, 0], Vec::<f32>::new()).unwrap();
    assert_eq!(fourier(Fourier::RealForward, x.clone(), &[0]).unwrap().shape(), [2, 0]);
    assert!(fourier(Fourier::Forward, x.clone(), &[0]).is_err());
    assert!(fourier(Fourier::RealForward, x.clone(), &[1]).is_err());
    assert!(fourier(Fourier::RealForward, x, &[]).is_err());
}
