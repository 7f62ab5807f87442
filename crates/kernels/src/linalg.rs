//! Decompositions of matrices in the last two dimensions.
//!
//! All are computed in double precision and rounded once. The algorithms are those of the crate
//! `lapack`.

use lapack::{Matrix, Scalar};
use numerics::budget::{Scratch, reserve};
use numerics::{Complex64, DType, Element, Tensor, TensorError, math};
use program::EvalError;

pub use lapack::System as Triangular;

/// The numbers that matrices are computed with.
pub trait Field: Scalar + Element {}
impl Field for f64 {}
impl Field for Complex64 {}

/// The matrices (or vectors) in the last dimensions of a tensor.
pub struct Stack<M> {
    /// The other dimensions.
    pub batch: Vec<usize>,
    /// The dimensions of each matrix.
    pub core: Vec<usize>,
    /// The matrices, one after the other.
    pub items: Vec<M>,
}

/// True if elements of this type are computed with as complex numbers.
///
/// # Errors
/// If they are neither floats nor complex.
pub fn is_complex(dtype: DType, op: &'static str) -> Result<bool, EvalError> {
    match dtype {
        _ if dtype.is_float() => Ok(false),
        _ if dtype.is_complex() => Ok(true),
        _ => Err(TensorError::Unsupported { op, dtype }.into()),
    }
}

fn split<T: Field, M>(
    tensor: &Tensor,
    rank: usize,
    make: impl Fn(&[usize], Vec<T>) -> M,
) -> Result<Stack<M>, EvalError> {
    let at = tensor.rank().checked_sub(rank).ok_or_else(|| {
        EvalError::new(
            "matrix",
            format!("a tensor of shape {:?} has no {rank} last dimensions", tensor.shape()),
        )
    })?;
    let (batch, core) = tensor.shape().split_at(at);
    let (batch, core) = (batch.to_vec(), core.to_vec());
    let too_many = || EvalError::new("matrix", format!("a batch of shape {batch:?} is too large"));
    let count = batch.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).ok_or_else(too_many)?;
    let mut items = Vec::new();
    items.try_reserve_exact(count).map_err(|_| too_many())?;
    // The product of the dimensions is a part of the number of elements, or zero.
    let size: usize = tensor.num_elements().checked_div(count).unwrap_or(0);
    if let Ok(elements) = tensor.as_slice::<f32>() {
        let _reserved = reserve::<T>(elements.len())?;
        let widened = |part: &[f32]| part.iter().map(|&x| T::real(x.into())).collect();
        items.extend((0..count).map(|i| make(&core, widened(&elements[i * size..][..size]))));
    } else {
        let converted = math::convert(tensor.clone(), T::DTYPE)?;
        let elements = converted.as_slice::<T>()?;
        items.extend((0..count).map(|i| make(&core, elements[i * size..][..size].to_vec())));
    }
    Ok(Stack { batch, core, items })
}

/// The matrices in the last two dimensions.
///
/// # Errors
/// If there are fewer dimensions, or no memory.
pub fn matrices<T: Field>(tensor: &Tensor) -> Result<Stack<Matrix<T>>, EvalError> {
    split(tensor, 2, |core, elements: Vec<T>| Matrix::new(core[0], core[1], elements))
}

/// The vectors along the last dimension.
///
/// # Errors
/// If there is none, or memory is exhausted.
pub fn vectors<T: Field>(tensor: &Tensor) -> Result<Stack<Vec<T>>, EvalError> {
    split(tensor, 1, |_, elements: Vec<T>| elements)
}

/// The tensor of matrices of dimensions `core`, rounded to `dtype`.
///
/// # Errors
/// If the elements are not as many as the dimensions require.
pub fn join<T: Element>(
    batch: &[usize],
    core: &[usize],
    elements: Vec<T>,
    dtype: DType,
) -> Result<Tensor, EvalError> {
    let shape = [batch, core].concat();
    if let (DType::F64, DType::F32) = (T::DTYPE, dtype) {
        let elements: &[f64] = bytemuck::cast_slice(&elements);
        let mut rounded = Scratch::new(elements.len())?;
        rounded.extend(elements.iter().map(|&x| x as f32));
        return Ok(Tensor::from_vec(shape, rounded.into_vec())?);
    }
    Ok(math::convert(Tensor::from_vec(shape, elements)?, dtype)?)
}

/// Adds the elements of a matrix to a list, which becomes them if it is empty.
pub fn append<T: Scalar>(list: &mut Vec<T>, matrix: Matrix<T>) {
    match list.is_empty() {
        true => *list = matrix.into_elements(),
        false => list.extend_from_slice(matrix.elements()),
    }
}

/// The Cholesky factor of each matrix: the lower one, `l` where `a = l * l^H`, from the lower
/// triangle, or its conjugate transpose from the upper triangle. The other triangle is zero. A
/// matrix that is not positive definite gives NaN.
///
/// # Errors
/// If the matrices are not square, or the elements are neither floats nor complex.
pub fn cholesky(a: Tensor, lower: bool) -> Result<Tensor, EvalError> {
    if is_complex(a.dtype(), "cholesky")? {
        factor_all::<Complex64>(&a, lower)
    } else {
        factor_all::<f64>(&a, lower)
    }
}

fn factor_all<T: Field>(a: &Tensor, lower: bool) -> Result<Tensor, EvalError> {
    let dtype = a.dtype();
    let Stack { batch, core, items } = matrices::<T>(a)?;
    let n = core[0];
    if n != core[1] {
        return Err(EvalError::new(
            "cholesky_c3",
            format!("a matrix of {n} x {} is not square", core[1]),
        ));
    }
    let mut factors = Vec::new();
    for mut a in items {
        let found = lapack::potrf(&mut a, lower).is_ok();
        for i in 0..n {
            let other = if lower { i + 1..n } else { 0..i };
            let row = a.row_mut(i);
            row[other].fill(<T as Scalar>::ZERO);
            if !found {
                row.fill(T::real(f64::NAN));
            }
        }
        append(&mut factors, a);
    }
    join(&batch, &core, factors, dtype)
}

/// The solutions `x`, of the shape of `b`, for each pair of matrices.
///
/// # Errors
/// If shapes or element types do not fit, or the elements are neither floats nor complex.
pub fn triangular_solve(a: Tensor, b: Tensor, system: Triangular) -> Result<Tensor, EvalError> {
    if is_complex(b.dtype(), "triangular_solve")? {
        solve_all::<Complex64>(&a, &b, system)
    } else {
        solve_all::<f64>(&a, &b, system)
    }
}

/// As [`triangular_solve`], computed in `T`.
///
/// # Errors
/// As [`triangular_solve`].
pub fn solve_all<T: Field>(
    a: &Tensor,
    b: &Tensor,
    system: Triangular,
) -> Result<Tensor, EvalError> {
    let dtype = b.dtype();
    let (a, b) = (matrices::<T>(a)?, matrices::<T>(b)?);
    let order = b.core[usize::from(!system.left_side)];
    if a.core != [order; 2] || a.batch != b.batch {
        let shapes = [(&a.batch, &a.core), (&b.batch, &b.core)];
        let [a, b] = shapes.map(|(batch, core)| [&batch[..], core].concat());
        let message = format!("matrices of shape {a:?} do not fit {b:?}");
        return Err(EvalError::new("triangular_solve_c3", message));
    }
    let mut x = Vec::new();
    for (a, mut b) in a.items.iter().zip(b.items) {
        lapack::trsm(a, &mut b, system);
        append(&mut x, b);
    }
    join(&b.batch, &b.core, x, dtype)
}
