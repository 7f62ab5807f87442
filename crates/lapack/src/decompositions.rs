//! The decompositions, compiled here for both types of numbers: crates that call them may be
//! optimized less than their loops need.

use crate::NoConvergence;
use crate::eigen::Eigen;
use crate::householder::MatrixSide;
use crate::matrix::{Matrix, Precision, Scalar};
use crate::schur::Schur;
use crate::svd::{Driver, Svd, Vectors};
use crate::symmetric::Tridiagonalized;

/// Functions of matrices of numbers `T`, which each type of numbers has compiled.
macro_rules! compiled {
    ($($(#[$doc:meta])* $module:ident fn $name:ident($($arg:ident: $ty:ty),*) -> $result:ty;)*) => {
        /// Decompositions of matrices of numbers `T`.
        pub trait Decompositions<T> {
            $(
                #[doc(hidden)]
                fn $name($($arg: $ty),*) -> $result;
            )*
        }

        mod real {
            use super::*;

            type T = f64;

            compiled!(@impl $($module $name($($arg: $ty),*) $result;)*);
        }

        mod complex {
            use super::*;

            type T = num_complex::Complex64;

            compiled!(@impl $($module $name($($arg: $ty),*) $result;)*);
        }

        $(
            $(#[$doc])*
            pub fn $name<T: Scalar>($($arg: $ty),*) -> $result {
                T::$name($($arg),*)
            }
        )*
    };
    (@impl $($module:ident $name:ident($($arg:ident: $ty:ty),*) $result:ty;)*) => {
        impl Decompositions<T> for T {
            $(
                #[inline(never)]
                fn $name($($arg: $ty),*) -> $result {
                    crate::$module::$name($($arg),*)
                }
            )*
        }
    };
}

compiled! {
    /// The Schur decomposition, with the vectors if requested.
    ///
    /// # Errors
    /// If the iteration does not converge.
    schur fn gees(
        a: Matrix<T>, vectors: bool, precision: Precision
    ) -> Result<Schur<T>, NoConvergence>;

    /// Eigenvalues, and the requested left and right eigenvectors, of norm one, each with a largest
    /// element that is real. Of a real matrix, pairs of complex eigenvalues stand together, that
    /// with the positive imaginary part first.
    ///
    /// # Errors
    /// If the iteration does not converge.
    eigen fn geev(
        a: Matrix<T>, left: bool, right: bool, precision: Precision
    ) -> Result<Eigen, NoConvergence>;

    /// `a = q * h * q^H` where `h` has zeros below its first subdiagonal: returns the factors of
    /// the reflections, whose vectors stand there. Rows and columns before `low` and from `high` on
    /// are triangular already.
    householder fn gehrd(a: &mut Matrix<T>, low: usize, high: usize) -> Vec<T>;

    /// `a * p = q * r`, as [`geqrf`], where the column with the largest rest comes next. Columns
    /// with a nonzero number in `order` come first, as they are. `order` becomes the number, from
    /// 1, of the column that stands at each place.
    householder fn geqp3(a: &mut Matrix<T>, order: &mut [i32]) -> Vec<T>;

    /// `a = q * r`: returns the factors of the reflections whose vectors stand below the diagonal;
    /// `r` stands above.
    householder fn geqrf(a: &mut Matrix<T>) -> Vec<T>;

    /// The singular value decomposition.
    ///
    /// # Errors
    /// If the iteration does not converge.
    svd fn gesdd(
        a: Matrix<T>, vectors: Vectors, driver: Driver, precision: Precision
    ) -> Result<Svd<T>, NoConvergence>;

    /// `p * a = l * u` in place: `l` below the diagonal, which is one there, and `u` elsewhere.
    /// Returns the row, from 1, that was exchanged with each of the first `min(m, n)` rows in turn,
    /// and the place, from 1, of the first zero on the diagonal of `u`, or 0.
    factor fn getrf(a: &mut Matrix<T>) -> (Vec<i32>, i32);

    /// The first `columns` columns of the product of the reflections in the columns of `a`, in that
    /// order.
    householder fn orgqr(a: &Matrix<T>, taus: &[T], columns: usize) -> Matrix<T>;

    /// The product `q * c` or `c * q`, where `q`, or its adjoint, is the product of the reflections
    /// in the columns of `a`.
    householder fn ormqr(
        a: &Matrix<T>, taus: &[T], c: &mut Matrix<T>, side: MatrixSide, adjoint: bool
    ) -> ();

    /// The Cholesky factor in place: the lower one, `l` where `a = l * l^H`, or else its adjoint in
    /// the upper triangle. The other triangle is neither read nor written.
    ///
    /// # Errors
    /// The order, from 1, of the first leading part that is not positive definite.
    factor fn potrf(a: &mut Matrix<T>, lower: bool) -> Result<(), usize>;

    /// The eigenvalues of a Hermitian matrix, of which one triangle is read, in ascending order;
    /// `a` becomes the matrix whose columns are the eigenvectors, if requested.
    ///
    /// # Errors
    /// If the iteration does not converge.
    symmetric fn syevd(
        a: &mut Matrix<T>, lower: bool, vectors: bool, precision: Precision
    ) -> Result<Vec<f64>, NoConvergence>;

    /// Makes a Hermitian matrix, of which one triangle is read, tridiagonal. That triangle becomes
    /// `t` and, beyond it, the vectors of the reflections: `v[k + 1] = 1` and the rest below it in
    /// column `k`, or, in the upper triangle, `v[k] = 1` and the rest above it in column `k + 1`.
    symmetric fn sytrd(a: &mut Matrix<T>, lower: bool) -> Tridiagonalized<T>;
}
