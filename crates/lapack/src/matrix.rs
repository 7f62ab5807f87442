//! Matrices in rows, and the numbers that they hold.

use crate::decompositions::Decompositions;
use crate::product::{RowProducts, Subtraction};
use num_complex::Complex64;
use numerics::simd::{Isa, Kernel};
use std::array::from_fn;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, MulAssign, Neg, Sub, SubAssign};

/// Entries of matrices of triangular systems: numbers, or those of several matrices at one place.
pub trait MatrixEntry: Copy + Debug + Default + Sub<Output = Self> + Mul<Output = Self> {
    /// True if large matrices are computed in blocks.
    const IS_BLOCKED: bool = true;

    /// The complex conjugate.
    fn conj(self) -> Self;

    /// The quotient, without needless overflow.
    fn over(self, divisor: Self) -> Self;

    /// Subtracts a product of matrices.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "the trait is not to be implemented elsewhere")]
    fn subtract_product(subtraction: Subtraction<'_, Self>) {
        subtraction.by_rows();
    }
}

/// Real numbers of four matrices, with which the same is done at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Four(pub [f64; 4]);

impl Sub for Four {
    type Output = Four;

    #[inline(always)]
    fn sub(self, other: Four) -> Four {
        Four(from_fn(|lane| self.0[lane] - other.0[lane]))
    }
}

impl Mul for Four {
    type Output = Four;

    #[inline(always)]
    fn mul(self, other: Four) -> Four {
        Four(from_fn(|lane| self.0[lane] * other.0[lane]))
    }
}

impl MatrixEntry for Four {
    // Only small matrices have such entries.
    const IS_BLOCKED: bool = false;

    #[inline(always)]
    fn conj(self) -> Four {
        self
    }

    #[inline(always)]
    fn over(self, divisor: Four) -> Four {
        Four(from_fn(|lane| self.0[lane] / divisor.0[lane]))
    }
}

/// Real or complex numbers in double precision.
pub trait Scalar:
    MatrixEntry
    + PartialEq
    + Add<Output = Self>
    + Mul<f64, Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Decompositions<Self>
{
    /// 1 for real numbers, 2 for complex ones.
    const DIMENSIONS: usize;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;

    /// The real part.
    fn re(self) -> f64;
    /// The imaginary part.
    fn im(self) -> f64;
    /// A real number.
    fn real(re: f64) -> Self;
    /// The number with these parts; the imaginary one is dropped for real numbers.
    fn from_parts(re: f64, im: f64) -> Self;
    /// The absolute value, without needless overflow.
    fn abs(self) -> f64;

    /// The sum of the absolute values of the parts, by which LAPACK chooses pivots.
    fn abs1(self) -> f64 {
        self.re().abs() + self.im().abs()
    }

    /// True if both parts are finite.
    fn is_finite(self) -> bool {
        self.re().is_finite() && self.im().is_finite()
    }

    /// Writes the sums of the products of rows that are `stride` elements apart with `v`; false if
    /// there is no code for it.
    #[doc(hidden)]
    fn row_products(_rows: (&[Self], usize), _v: &[Self], _sums: &mut [Self]) -> bool {
        false
    }
}

impl MatrixEntry for f64 {
    fn conj(self) -> f64 {
        self
    }
    fn over(self, divisor: f64) -> f64 {
        self / divisor
    }
    #[allow(private_interfaces, reason = "as in the trait")]
    fn subtract_product(subtraction: Subtraction<'_, f64>) {
        subtraction.by_tiles();
    }
}

impl Scalar for f64 {
    const DIMENSIONS: usize = 1;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn re(self) -> f64 {
        self
    }
    fn im(self) -> f64 {
        0.0
    }
    fn real(re: f64) -> f64 {
        re
    }
    fn from_parts(re: f64, _: f64) -> f64 {
        re
    }
    fn abs(self) -> f64 {
        self.abs()
    }
    fn row_products(rows: (&[f64], usize), v: &[f64], sums: &mut [f64]) -> bool {
        RowProducts { rows, v, sums }.run();
        true
    }
}

impl MatrixEntry for Complex64 {
    fn conj(self) -> Complex64 {
        Complex64::conj(&self)
    }
    fn over(self, divisor: Complex64) -> Complex64 {
        // The square of the divisor's size is a divisor in turn, and may vanish where the divisor
        // does not.
        let scale = power_of_two_near(divisor.abs1());
        (self / (divisor * scale)) * scale
    }
}

impl Scalar for Complex64 {
    const DIMENSIONS: usize = 2;
    const ZERO: Complex64 = Complex64::new(0.0, 0.0);
    const ONE: Complex64 = Complex64::new(1.0, 0.0);

    fn re(self) -> f64 {
        self.re
    }
    fn im(self) -> f64 {
        self.im
    }
    fn real(re: f64) -> Complex64 {
        Complex64::new(re, 0.0)
    }
    fn from_parts(re: f64, im: f64) -> Complex64 {
        Complex64::new(re, im)
    }
    fn abs(self) -> f64 {
        hypot(self.re, self.im)
    }
}

/// Precision of the program's numbers. Iterations stop at its rounding error, as LAPACK's do: more
/// steps would give other signs and another order of eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The unit roundoff: half of the spacing of numbers at one. LAPACK calls it `eps`.
    pub(crate) roundoff: f64,
    /// The smallest normal number. LAPACK calls it `safmin`.
    pub(crate) smallest: f64,
}

impl Precision {
    /// That of `f32`.
    pub const SINGLE: Precision =
        Precision { roundoff: f32::EPSILON as f64 / 2.0, smallest: f32::MIN_POSITIVE as f64 };
    /// That of `f64`.
    pub const DOUBLE: Precision =
        Precision { roundoff: f64::EPSILON / 2.0, smallest: f64::MIN_POSITIVE };

    /// The spacing of numbers at one. LAPACK calls it `ulp`.
    pub(crate) fn spacing(self) -> f64 {
        2.0 * self.roundoff
    }

    /// The largest absolute value that is negligible next to zero in a matrix with `size` rows.
    pub(crate) fn tiny(self, size: usize) -> f64 {
        self.smallest * (size as f64 / self.spacing())
    }
}

/// The root of the sum of squares, without needless overflow.
pub(crate) fn hypot(x: f64, y: f64) -> f64 {
    let squares = x * x + y * y;
    // Within these, a square that underflows does not count.
    if (1e-280..1e280).contains(&squares) { squares.sqrt() } else { libm::hypot(x, y) }
}

/// The largest sum of the absolute values of the parts of a number; NaN does not count.
pub(crate) fn largest<T: Scalar>(values: &[T]) -> f64 {
    // Several at a time: their order does not matter.
    let (eights, rest) = values.as_chunks::<8>();
    let mut most = [0.0; 8];
    for eight in eights {
        for (most, x) in most.iter_mut().zip(eight) {
            *most = x.abs1().max(*most);
        }
    }
    rest.iter().map(|x| x.abs1()).chain(most).fold(0.0, f64::max)
}

/// The Euclidean norm, without needless overflow.
pub(crate) fn norm<T: Scalar>(values: &[T]) -> f64 {
    norm_beside(values, largest(values))
}

/// [`norm`] of values of which `largest` is the largest.
pub(crate) fn norm_beside<T: Scalar>(values: &[T], largest: f64) -> f64 {
    let scale = power_of_two_near(largest);
    let square = |x: T| x.re() * x.re() + x.im() * x.im();
    if scale == 1.0 {
        return values.iter().map(|&x| square(x)).sum::<f64>().sqrt();
    }
    values.iter().map(|&x| square(x * scale)).sum::<f64>().sqrt() / scale
}

/// A power of two that brings `size` near one where it is so large or small that squares of it
/// would leave the range; else 1.
#[inline(always)]
pub(crate) fn power_of_two_near(size: f64) -> f64 {
    if (1e-130..1e130).contains(&size) || !size.is_finite() || size == 0.0 {
        return 1.0;
    }
    far_power_of_two(size)
}

#[cold]
fn far_power_of_two(size: f64) -> f64 {
    // The exponent, at most 1023 to either side, also of the inverse.
    let exponent = libm::frexp(size).1.clamp(-1020, 1020);
    libm::ldexp(1.0, -exponent)
}

/// A matrix: its elements row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    rows: usize,
    columns: usize,
    elements: Vec<T>,
}

impl<T> Matrix<T> {
    /// The matrix of `rows` rows with these elements, row by row.
    ///
    /// # Panics
    /// If their number is not `rows * columns`.
    pub fn new(rows: usize, columns: usize, elements: Vec<T>) -> Matrix<T> {
        assert_eq!(elements.len(), rows * columns, "elements of {rows} x {columns}");
        Matrix { rows, columns, elements }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The elements, row by row.
    pub fn elements(&self) -> &[T] {
        &self.elements
    }

    /// The elements, row by row.
    pub(crate) fn elements_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }

    /// The elements, row by row.
    pub fn into_elements(self) -> Vec<T> {
        self.elements
    }

    /// A row.
    pub fn row(&self, i: usize) -> &[T] {
        &self.elements[i * self.columns..(i + 1) * self.columns]
    }

    /// A row.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.elements[i * self.columns..(i + 1) * self.columns]
    }
}

impl<T: MatrixEntry> Matrix<T> {
    /// The matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix<T> {
        Matrix { rows, columns, elements: vec![T::default(); rows * columns] }
    }
}

impl<T: Scalar> Matrix<T> {
    /// Ones on the diagonal, zeros elsewhere.
    pub fn identity(rows: usize, columns: usize) -> Matrix<T> {
        let mut matrix = Matrix::zeros(rows, columns);
        for i in 0..rows.min(columns) {
            matrix[(i, i)] = T::ONE;
        }
        matrix
    }

    /// Two different rows.
    #[inline(always)]
    pub(crate) fn two_rows(&mut self, i: usize, j: usize) -> (&mut [T], &mut [T]) {
        let n = self.columns;
        let (low, high) = (i.min(j), i.max(j));
        let (head, tail) = self.elements.split_at_mut(high * n);
        let (a, b) = (&mut head[low * n..(low + 1) * n], &mut tail[..n]);
        if i < j { (a, b) } else { (b, a) }
    }

    pub(crate) fn swap_rows(&mut self, i: usize, j: usize) {
        if i != j {
            let (a, b) = self.two_rows(i, j);
            a.swap_with_slice(b);
        }
    }

    pub(crate) fn swap_columns(&mut self, i: usize, j: usize) {
        for row in 0..self.rows {
            self.row_mut(row).swap(i, j);
        }
    }

    /// The complex conjugate transpose.
    pub fn adjoint(&self) -> Matrix<T> {
        let mut result = Matrix::zeros(self.columns, self.rows);
        for i in 0..self.rows {
            let column = result.elements.get_mut(i..).unwrap_or_default();
            let column = column.iter_mut().step_by(self.rows);
            column.zip(self.row(i)).for_each(|(to, x)| *to = x.conj());
        }
        result
    }

    /// The product of two matrices that fit.
    pub fn times(&self, other: &Matrix<T>) -> Matrix<T> {
        let mut result = Matrix::zeros(self.rows, other.columns);
        Isa::best().run(MatrixTimes { a: self, b: other, result: &mut result });
        result
    }

    /// The first rows and columns.
    pub fn leading(&self, rows: usize, columns: usize) -> Matrix<T> {
        let elements = (0..rows).flat_map(|i| &self.row(i)[..columns]).copied().collect();
        Matrix { rows, columns, elements }
    }

    pub(crate) fn scale(&mut self, factor: f64) {
        if factor != 1.0 {
            for x in &mut self.elements {
                *x = *x * factor;
            }
        }
    }

    /// True if no element is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        self.elements.iter().all(|x| x.is_finite())
    }

    /// Brings the elements near one where squares of them would leave the range; the factor is a
    /// power of two.
    pub(crate) fn normalize(&mut self) -> f64 {
        let factor = power_of_two_near(largest(&self.elements));
        self.scale(factor);
        factor
    }
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.elements[i * self.columns + j]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.elements[i * self.columns + j]
    }
}

/// Adds the products of a matrix product to zeros, in order.
struct MatrixTimes<'a, T> {
    a: &'a Matrix<T>,
    b: &'a Matrix<T>,
    result: &'a mut Matrix<T>,
}

impl<T: Scalar> Kernel for MatrixTimes<'_, T> {
    #[inline(always)]
    fn run(self) {
        let MatrixTimes { a, b, result } = self;
        for i in 0..a.rows {
            for (k, &x) in a.row(i).iter().enumerate() {
                for (sum, &y) in result.row_mut(i).iter_mut().zip(b.row(k)) {
                    *sum += x * y;
                }
            }
        }
    }
}
