//! Decompositions of matrices in the last two dimensions.
//!
//! All are computed in double precision and rounded once.

use mlir::eval::EvalError;
use numerics::{Complex64, DType, Element, Tensor, TensorError, math};
use std::ops::{AddAssign, Div, Mul, SubAssign};

/// The numbers that matrices are computed with.
trait Field: Element + Mul<Output = Self> + Div<Output = Self> + SubAssign + AddAssign {
    fn conj(self) -> Self;
    fn re(self) -> f64;
    fn real(re: f64) -> Self;
}

impl Field for f64 {
    fn conj(self) -> f64 {
        self
    }
    fn re(self) -> f64 {
        self
    }
    fn real(re: f64) -> f64 {
        re
    }
}

impl Field for Complex64 {
    fn conj(self) -> Complex64 {
        Complex64::conj(&self)
    }
    fn re(self) -> f64 {
        self.re
    }
    fn real(re: f64) -> Complex64 {
        Complex64::new(re, 0.0)
    }
}

/// The type to compute elements of type `dtype` with.
fn wide(dtype: DType, op: &'static str) -> Result<DType, EvalError> {
    match dtype {
        _ if dtype.is_float() => Ok(DType::F64),
        _ if dtype.is_complex() => Ok(DType::C128),
        _ => Err(TensorError::Unsupported { op, dtype }.into()),
    }
}

/// Numbers of rows and columns.
fn matrix(tensor: &Tensor, label: &'static str) -> Result<[usize; 2], EvalError> {
    match *tensor.shape() {
        [.., rows, columns] => Ok([rows, columns]),
        _ => Err(EvalError::new(label, format!("{:?} is no shape of matrices", tensor.shape()))),
    }
}

/// The Cholesky factor of each matrix: the lower one, `l` where `a = l * l^H`, from the lower triangle, or its conjugate
/// transpose from the upper triangle. The other triangle is zero. A matrix that is not positive definite gives NaN.
///
/// # Errors
/// If the matrices are not square, or the elements are neither floats nor complex.
pub fn cholesky(a: Tensor, lower: bool) -> Result<Tensor, EvalError> {
    let [n, columns] = matrix(&a, "cholesky_c2")?;
    if n != columns {
        return Err(EvalError::new("cholesky_c3", format!("a matrix of {n} x {columns} is not square")));
    }
    let dtype = a.dtype();
    let wide = wide(dtype, "cholesky")?;
    let mut factors = math::convert(a, wide)?;
    if wide == DType::F64 {
        factor_all::<f64>(&mut factors, n, lower)?;
    } else {
        factor_all::<Complex64>(&mut factors, n, lower)?;
    }
    Ok(math::convert(factors, dtype)?)
}

fn factor_all<T: Field>(matrices: &mut Tensor, n: usize, lower: bool) -> Result<(), EvalError> {
    if matrices.num_elements() > 0 {
        for a in matrices.make_mut::<T>()?.chunks_exact_mut(n * n) {
            factor(a, n, lower);
        }
    }
    Ok(())
}

/// Replaces a row-major matrix by its factor, row by row of the lower one.
fn factor<T: Field>(a: &mut [T], n: usize, lower: bool) {
    // Where element (i, j) of the lower factor stands; there, the upper one holds the conjugate.
    let at = |i: usize, j: usize| if lower { i * n + j } else { j * n + i };
    let get = |x: T| if lower { x } else { x.conj() };
    for i in 0..n {
        for j in 0..=i {
            let mut rest = get(a[at(i, j)]);
            for k in 0..j {
                rest -= get(a[at(i, k)]) * get(a[at(j, k)]).conj();
            }
            let element = if i != j {
                rest / get(a[at(j, j)])
            } else if rest.re() > 0.0 {
                T::real(rest.re().sqrt())
            } else {
                a.fill(T::real(f64::NAN));
                return;
            };
            a[at(i, j)] = get(element);
        }
        for j in i + 1..n {
            a[at(i, j)] = T::ZERO;
        }
    }
}

/// Which triangular systems to solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangular {
    /// `op(a) * x = b` rather than `x * op(a) = b`.
    pub left_side: bool,
    /// Only the lower triangle of `a` is read, rather than the upper one.
    pub lower: bool,
    /// The diagonal of `a` is not read: it is taken to be one.
    pub unit_diagonal: bool,
    /// `op` transposes.
    pub transposed: bool,
    /// `op` conjugates.
    pub conjugated: bool,
}

/// The solutions `x`, of the shape of `b`, for each pair of matrices.
///
/// # Errors
/// If shapes or element types do not fit, or the elements are neither floats nor complex.
pub fn triangular_solve(a: Tensor, b: Tensor, system: Triangular) -> Result<Tensor, EvalError> {
    let ([n, columns], [b_rows, b_columns]) = (matrix(&a, "triangular_solve_c2")?, matrix(&b, "triangular_solve_c2")?);
    let order = if system.left_side { b_rows } else { b_columns };
    let batch = |t: &Tensor| t.shape()[..t.rank() - 2].to_vec();
    if n != columns || n != order || batch(&a) != batch(&b) {
        let message = format!("matrices of shape {:?} do not fit {:?}", a.shape(), b.shape());
        return Err(EvalError::new("triangular_solve_c3", message));
    }
    let dtype = b.dtype();
    let wide = wide(dtype, "triangular_solve")?;
    let (a, mut x) = (math::convert(a, wide)?, math::convert(b, wide)?);
    if x.num_elements() > 0 {
        if wide == DType::F64 {
            solve_all::<f64>(a.as_slice()?, x.make_mut()?, n, b_rows, b_columns, system);
        } else {
            solve_all::<Complex64>(a.as_slice()?, x.make_mut()?, n, b_rows, b_columns, system);
        }
    }
    Ok(math::convert(x, dtype)?)
}

fn solve_all<T: Field>(a: &[T], x: &mut [T], n: usize, rows: usize, columns: usize, system: Triangular) {
    // x * op(a) = b is op(a)^T * x^T = b^T.
    let transposed = system.transposed == system.left_side;
    let forward = system.lower != transposed;
    let at = |i: usize, j: usize| if transposed { j * n + i } else { i * n + j };
    for (a, x) in a.chunks_exact(n * n).zip(x.chunks_exact_mut(rows * columns)) {
        let element = |i: usize, j: usize| if system.conjugated { a[at(i, j)].conj() } else { a[at(i, j)] };
        // Each line of b is a system of its own; its elements are `step` apart.
        let (lines, step) = if system.left_side { (columns, columns) } else { (rows, 1) };
        for line in 0..lines {
            let start = if system.left_side { line } else { line * columns };
            for nth in 0..n {
                let i = if forward { nth } else { n - 1 - nth };
                let mut rest = x[start + i * step];
                let solved = if forward { 0..i } else { i + 1..n };
                for j in solved {
                    rest -= element(i, j) * x[start + j * step];
                }
                x[start + i * step] = if system.unit_diagonal { rest } else { rest / element(i, i) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let eq = |x: &Tensor, y: &Tensor| assert_eq!(x.as_slice::<Complex64>().unwrap(), y.as_slice().unwrap());
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
        // The same matrix [[2, 0], [3, 4]] as it is, and as the transpose of an upper one; 9s must not be read.
        for (a, transposed, lower) in [([2.0, 9.0, 3.0, 4.0], false, true), ([2.0, 3.0, 9.0, 4.0], true, false)] {
            let a = floats(&[2, 2], &a);
            // a * [1, 2]^T = [2, 11]^T
            let x = triangular_solve(a.clone(), floats(&[2, 1], &[2.0, 11.0]), system(true, lower, transposed));
            assert_eq!(x.unwrap(), floats(&[2, 1], &[1.0, 2.0]));
            // [1, 2] * a = [8, 8]
            let x = triangular_solve(a, floats(&[1, 2], &[8.0, 8.0]), system(false, lower, transposed));
            assert_eq!(x.unwrap(), floats(&[1, 2], &[1.0, 2.0]));
        }
        let unit = Triangular { unit_diagonal: true, ..system(true, true, false) };
        let x = triangular_solve(floats(&[2, 2], &[9.0, 9.0, 3.0, 9.0]), floats(&[2, 1], &[1.0, 5.0]), unit).unwrap();
        assert_eq!(x, floats(&[2, 1], &[1.0, 2.0]));
        assert!(triangular_solve(floats(&[2, 2], &[1.0; 4]), floats(&[1, 2], &[1.0; 2]), unit).is_err());
    }

    #[test]
    fn adjoint_conjugates() {
        let a = Tensor::from_vec([1, 1], vec![Complex64::new(0.0, 2.0)]).unwrap();
        let b = Tensor::from_vec([1, 1], vec![Complex64::new(4.0, 0.0)]).unwrap();
        let adjoint = Triangular { conjugated: true, ..system(true, true, true) };
        let x = triangular_solve(a, b, adjoint).unwrap();
        assert_eq!(x.item::<Complex64>().unwrap(), Complex64::new(0.0, 2.0));
    }
}
