//! Decompositions of matrices with the conventions of LAPACK: the signs, phases and order of its
//! results, so that programs which were exported with calls of LAPACK find what they expect.
//!
//! Functions have LAPACK's names without the letter of the element type. They compute in double
//! precision, one matrix at a time, in plain loops; factors and reflections of large matrices in
//! blocks of a constant size. Results have the same bits on every machine.
//!
//! The algorithms are from the *LAPACK Users' Guide* and of G. Golub and C. Van Loan, *Matrix
//! Computations*; each function cites what is peculiar. Where LAPACK divides large problems
//! (`stedc` and `bdsdc` above 25 rows, `laqr0` above 75) these functions iterate as for small ones:
//! vectors may then differ from LAPACK's in their sign or phase.

mod block_reflector;
mod decompositions;
mod eigen;
mod factor;
mod householder;
mod lanes;
mod matrix;
mod product;
mod rotation;
mod schur;
mod schur_complex;
mod schur_real;
mod svd;
mod symmetric;

pub use decompositions::{
    Decompositions, gees, geev, gehrd, geqp3, geqrf, gesdd, getrf, orgqr, ormqr, potrf, syevd,
    sytrd,
};
pub use eigen::Eigen;
pub use factor::{System, Tridiagonal, gtsv, lagts, trsm};
pub use householder::MatrixSide;
pub use matrix::{Four, Matrix, MatrixEntry, Precision, Scalar};
pub use schur::{Schur, SchurForm};
pub use svd::{Driver, Svd, Vectors};
pub use symmetric::Tridiagonalized;

/// The iteration for eigenvalues or singular values does not converge: the matrix holds NaN or
/// infinity, or (never observed) the shifts cycle on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoConvergence;
