//! Tests of `fft.rs`.

use kernels::{FourierTransform, fourier};
use numerics::shape::StridedView;
use numerics::{Complex32, Complex64, DType, Tensor};
use program::primitives::Fourier;

use std::f64::consts::TAU;

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

/// Lines at and beside the lengths of which caches hold four or eight, next to nine others.
#[test]
fn machine_models_do_not_change_bits() {
    for length in [255, 256, 257, 384, 385, 512, 768, 769] {
        let values = numbers(9 * length, length);
        let x = Tensor::from_vec([9, length], values).unwrap();
        let of = |machine| {
            let _entered = host::Host::default().with_machine(machine).enter();
            fourier(Fourier::Forward, x.clone(), &[length]).unwrap()
        };
        let results: Vec<Tensor> = host::Machine::presets().iter().map(of).collect();
        let is_same = |result: &Tensor| result.bytes() == results[0].bytes();
        assert!(results.iter().all(is_same), "{length}");
    }
}

/// The sums of the definition along one axis of complex numbers.
fn defined(values: &[Complex64], shape: &[usize], axis: usize, sign: f64) -> Vec<Complex64> {
    let (n, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let sum = |index: usize| {
        let (k, first) = (index / inner % n, index - index / inner % n * inner);
        let turn = |j: usize| sign * TAU * (j * k % n) as f64 / n as f64;
        let term = |j: usize| values[first + j * inner] * Complex64::from_polar(1.0, turn(j));
        (0..n).map(term).sum()
    };
    (0..values.len()).map(sum).collect()
}

/// Numbers that do not follow a rule of transforms. Some rows are zeros.
fn numbers(count: usize, row: usize) -> Vec<Complex64> {
    let part = |k: usize| ((k * k * 31 + k * 7) % 97) as f64 / 97.0 - 0.5;
    let number = |k: usize| {
        if k / row % 23 > 13 {
            Complex64::new(0.0, 0.0)
        } else {
            Complex64::new(part(k), part(k + count))
        }
    };
    (0..count).map(number).collect()
}

/// Every number of dimensions, and sizes that are no multiple of the number of lanes, against the
/// sums of the definition: there and back, of complex and of real numbers.
#[test]
fn shapes_of_every_kind() {
    let shapes: [(&[usize], usize); 19] = [
        (&[3], 1),
        (&[300], 1),
        (&[2, 5], 1),
        (&[30, 12], 1),
        (&[3, 7, 9], 1),
        (&[23, 262], 1),
        (&[1, 8], 2),
        (&[8, 1], 2),
        (&[2, 300], 2),
        (&[300, 2], 2),
        // Few lines leave memory to the next transform that is no multiple of more.
        (&[1, 3], 2),
        (&[20, 20], 2),
        (&[16, 33], 2),
        (&[2, 29, 18], 2),
        (&[3, 11, 131], 2),
        (&[3, 4, 5], 3),
        (&[9, 10, 12], 3),
        (&[2, 8, 3, 24], 3),
        (&[1, 1, 1], 3),
    ];
    for (shape, rank) in shapes {
        let lengths = &shape[shape.len() - rank..];
        let last = shape.len() - 1;
        let near = |found: &[Complex64], expected: &[Complex64]| {
            let pairs = found.iter().zip(expected);
            let error = pairs.map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
            assert!(error < 1e-9 && found.len() == expected.len(), "{shape:?} {rank}: {error}");
        };
        let all = |values: &[Complex64], sign: f64| {
            let axes = (shape.len() - rank..shape.len()).rev();
            axes.fold(values.to_vec(), |values, axis| defined(&values, shape, axis, sign))
        };
        let values = numbers(shape.iter().product(), shape[last]);
        let x = Tensor::from_vec(shape, values.clone()).unwrap();
        let y = fourier(Fourier::Forward, x, lengths).unwrap();
        near(y.as_slice().unwrap(), &all(&values, -1.0));
        let back = fourier(Fourier::Inverse, y, lengths).unwrap();
        near(back.as_slice().unwrap(), &values);

        let real: Vec<f64> = values.iter().map(|x| x.re).collect();
        let x = Tensor::from_vec(shape, real.clone()).unwrap();
        let y = fourier(Fourier::RealForward, x, lengths).unwrap();
        let whole = all(&real.iter().map(|&x| x.into()).collect::<Vec<_>>(), -1.0);
        let rows = whole.chunks(shape[last]);
        let half: Vec<_> = rows.flat_map(|row| &row[..shape[last] / 2 + 1]).copied().collect();
        near(y.as_slice().unwrap(), &half);
        let back = fourier(Fourier::RealInverse, y, lengths).unwrap();
        let complex = |x: &[f64]| x.iter().map(|&x| x.into()).collect::<Vec<Complex64>>();
        near(&complex(back.as_slice().unwrap()), &complex(&real));

        // In single precision, the same numbers rounded once.
        let narrow = |x: &[Complex64]| -> Vec<Complex32> {
            x.iter().map(|x| Complex32::new(x.re as f32, x.im as f32)).collect()
        };
        let singles = narrow(&values);
        let doubles = singles.iter().map(|x| Complex64::new(x.re.into(), x.im.into())).collect();
        for transform in [Fourier::Forward, Fourier::Inverse] {
            let x = Tensor::from_vec(shape, singles.clone()).unwrap();
            let wide = Tensor::from_vec(shape, Vec::clone(&doubles)).unwrap();
            let y = fourier(transform, x, lengths).unwrap();
            let wide = fourier(transform, wide, lengths).unwrap();
            assert_eq!(y.as_slice::<Complex32>().unwrap(), narrow(wide.as_slice().unwrap()));
        }
        let x = Tensor::from_vec(shape, real.iter().map(|&x| x as f32).collect()).unwrap();
        let wide = Tensor::from_vec(shape, real.iter().map(|&x| f64::from(x as f32)).collect());
        let y = fourier(Fourier::RealForward, x, lengths).unwrap();
        let wide = fourier(Fourier::RealForward, wide.unwrap(), lengths).unwrap();
        assert_eq!(y.as_slice::<Complex32>().unwrap(), narrow(wide.as_slice().unwrap()));
    }
}

/// Zeros after the operand are the same whether they are elements or not.
#[test]
fn padding_with_zeros() {
    let cases: [(&[usize], &[usize], usize); 6] = [
        (&[17, 17], &[40, 36], 2),
        (&[3, 20, 5], &[3, 29, 15], 2),
        (&[30, 7], &[30, 64], 1),
        (&[2, 3, 9, 10], &[2, 5, 12, 16], 3),
        (&[1, 1], &[300, 8], 2),
        (&[12, 16], &[12, 16], 2),
    ];
    for (given, shape, rank) in cases {
        let lengths = &shape[shape.len() - rank..];
        let values = numbers(given.iter().product(), given[given.len() - 1]);
        let window =
            StridedView::window(shape, &vec![0; shape.len()], given, &vec![1; shape.len()]);
        let check = |transform, operand: Tensor| {
            let mut padded = Tensor::zeros(operand.dtype(), shape).unwrap();
            padded.scatter(window.as_ref().unwrap(), &operand).unwrap();
            let prepared = FourierTransform::new(transform, operand.dtype(), shape, lengths);
            let prepared = prepared.unwrap().padded(given).unwrap();
            let expected = fourier(transform, padded, lengths).unwrap();
            // Whatever the result's memory holds is overwritten.
            let mut result = expected.clone();
            result.bytes_mut().unwrap().fill(7);
            prepared.run(operand.bytes(), result.bytes_mut().unwrap()).unwrap();
            assert!(
                result.bytes()[..] == expected.bytes()[..],
                "{transform:?} {given:?} {shape:?}"
            );
        };
        let real = values.iter().map(|x| x.re as f32).collect();
        check(Fourier::RealForward, Tensor::from_vec(given, real).unwrap());
        check(Fourier::Forward, Tensor::from_vec(given, values).unwrap());
    }
    let prepared = FourierTransform::new(Fourier::Inverse, DType::C64, &[8, 8], &[8]).unwrap();
    assert!(prepared.padded(&[8, 4]).is_none());
}
