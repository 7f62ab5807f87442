//! Tests of `linalg.rs`.

use kernels::linalg::{Triangular, cholesky, triangular_solve};
use numerics::{Complex64, DType, Tensor, math};

fn floats(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_vec(shape, values.to_vec()).unwrap()
}

const A: [f32; 9] = [1.0, 2.0, 3.0, 2.0, 20.0, 26.0, 3.0, 26.0, 70.0];
const L: [f32; 9] = [1.0, 0.0, 0.0, 2.0, 4.0, 0.0, 3.0, 5.0, 6.0];
const U: [f32; 9] = [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 0.0, 0.0, 6.0];

#[test]
fn cholesky_example_of_the_specification() {
    assert_eq!(cholesky(floats(&[3, 3], &A), true).unwrap(), floats(&[3, 3], &L));
    assert_eq!(cholesky(floats(&[1, 3, 3], &A), false).unwrap(), floats(&[1, 3, 3], &U));
    let indefinite = cholesky(floats(&[2, 2], &[1.0, 2.0, 2.0, 1.0]), true).unwrap();
    assert!(indefinite.as_slice::<f32>().unwrap().iter().all(|x| x.is_nan()));
    assert!(cholesky(floats(&[1, 2], &[1.0, 2.0]), true).is_err());
}

#[test]
fn cholesky_of_complex_numbers() {
    // l = [[2, 0], [1+i, 3]]: l * l^H = [[4, 2-2i], [2+2i, 11]].
    let c = |re, im| Complex64::new(re, im);
    let tensor = |v: [Complex64; 4]| Tensor::from_vec([2, 2], v.to_vec()).unwrap();
    let a = tensor([c(4., 0.), c(2., -2.), c(2., 2.), c(11., 0.)]);
    let l = tensor([c(2., 0.), c(0., 0.), c(1., 1.), c(3., 0.)]);
    let u = tensor([c(2., 0.), c(1., -1.), c(0., 0.), c(3., 0.)]);
    let eq = |x: &Tensor, y: &Tensor| {
        assert_eq!(x.as_slice::<Complex64>().unwrap(), y.as_slice().unwrap())
    };
    eq(&cholesky(a.clone(), true).unwrap(), &l);
    eq(&cholesky(a, false).unwrap(), &u);
}

fn system(left_side: bool, lower: bool, transposed: bool) -> Triangular {
    Triangular { left_side, lower, unit_diagonal: false, transposed, conjugated: false }
}

#[test]
fn triangular_solve_example_of_the_specification() {
    let b = floats(&[3, 3], &[2.0, 0.0, 0.0, 4.0, 8.0, 0.0, 6.0, 10.0, 12.0]);
    let x = triangular_solve(floats(&[3, 3], &L), b, system(true, true, false)).unwrap();
    assert_eq!(x, floats(&[3, 3], &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]));
}

#[test]
fn every_side_and_triangle() {
    // The same matrix [[2, 0], [3, 4]] as it is, and as the transpose of an upper one; 9s must
    // not be read.
    for (a, transposed, lower) in
        [([2.0, 9.0, 3.0, 4.0], false, true), ([2.0, 3.0, 9.0, 4.0], true, false)]
    {
        let a = floats(&[2, 2], &a);
        // a * [1, 2]^T = [2, 11]^T
        let x = triangular_solve(
            a.clone(),
            floats(&[2, 1], &[2.0, 11.0]),
            system(true, lower, transposed),
        );
        assert_eq!(x.unwrap(), floats(&[2, 1], &[1.0, 2.0]));
        // [1, 2] * a = [8, 8]
        let x = triangular_solve(a, floats(&[1, 2], &[8.0, 8.0]), system(false, lower, transposed));
        assert_eq!(x.unwrap(), floats(&[1, 2], &[1.0, 2.0]));
    }
    let unit = Triangular { unit_diagonal: true, ..system(true, true, false) };
    let x = triangular_solve(
        floats(&[2, 2], &[9.0, 9.0, 3.0, 9.0]),
        floats(&[2, 1], &[1.0, 5.0]),
        unit,
    )
    .unwrap();
    assert_eq!(x, floats(&[2, 1], &[1.0, 2.0]));
    assert!(
        triangular_solve(floats(&[2, 2], &[1.0; 4]), floats(&[1, 2], &[1.0; 2]), unit).is_err()
    );
}

#[test]
fn adjoint_conjugates() {
    let a = Tensor::from_vec([1, 1], vec![Complex64::new(0.0, 2.0)]).unwrap();
    let b = Tensor::from_vec([1, 1], vec![Complex64::new(4.0, 0.0)]).unwrap();
    let adjoint = Triangular { conjugated: true, ..system(true, true, true) };
    let x = triangular_solve(a, b, adjoint).unwrap();
    assert_eq!(x.item::<Complex64>().unwrap(), Complex64::new(0.0, 2.0));
}

/// Small real systems are solved four at a time.
#[test]
fn systems_of_a_batch_are_solved_as_if_alone() {
    let solved = |side: usize, a: &[f64], b: &[f64], lower: bool| {
        let count = b.len() / 6;
        let (rows, columns) = if side == 0 { (3, 2) } else { (2, 3) };
        let a = Tensor::from_vec([count, 3, 3], a.to_vec()).unwrap();
        let b = Tensor::from_vec([count, rows, columns], b.to_vec()).unwrap();
        let x = triangular_solve(a, b, system(side == 0, lower, false)).unwrap();
        x.to_vec::<f64>().unwrap()
    };
    let a: Vec<f64> = (0..9 * 9).map(|i| f64::from(1 + i * 7 % 11)).collect();
    let mut b: Vec<f64> = (0..9 * 6).map(|i| f64::from(i * 5 % 13)).collect();
    b[20] = f64::INFINITY;
    for (side, lower) in [(0, false), (0, true), (1, false), (1, true)] {
        let alone = a.chunks(9).zip(b.chunks(6)).flat_map(|(a, b)| solved(side, a, b, lower));
        let bits = |x: &f64| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() };
        let alone: Vec<u64> = alone.map(|x| bits(&x)).collect();
        let together: Vec<u64> = solved(side, &a, &b, lower).iter().map(bits).collect();
        assert_eq!(together, alone);
    }
}

#[test]
fn numbers_of_any_type_are_solved_in_double_precision() {
    // 3 * x = 1.
    let quotient = |dtype| {
        let of = |x: f64| math::convert(Tensor::from_vec([1, 1], vec![x]).unwrap(), dtype).unwrap();
        triangular_solve(of(3.0), of(1.0), system(true, true, false)).unwrap()
    };
    for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64, DType::C64, DType::C128] {
        let third = Tensor::from_vec([1, 1], vec![1.0 / 3.0]).unwrap();
        assert_eq!(quotient(dtype), math::convert(third, dtype).unwrap());
    }
}
