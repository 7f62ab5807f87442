//! Decompositions of matrices in the last two dimensions.
//!
//! All are computed in double precision and rounded once. The algorithms come from the crate
//! `lapack`.

use crate::converted::{elements, elements_mut};
use crate::kernel::{Kernel, expect_bytes};
use lapack::{Four, Matrix, Scalar, System};
use numerics::budget::{Reserved, Scratch, reserve};
use numerics::math::{BinaryOp, UnaryOp};
use numerics::shape::StridedView;
use numerics::{Complex32, Complex64, DType, Element, Tensor, TensorError, math};
use program::EvalError;
use std::marker::PhantomData;

pub use program::primitives::TriangularSolve as Triangular;

/// Systems whose matrices have this many elements are solved four at a time.
const MAX_LANES: usize = 256;

/// The numbers that matrices are computed with.
pub trait MatrixField: Scalar + Element {
    /// The same numbers in single precision.
    #[doc(hidden)]
    type Single: Element;

    /// Numbers in single precision, by a loop that is compiled here: crates with custom calls are
    /// optimized less.
    #[doc(hidden)]
    fn of_singles(elements: &[Self::Single]) -> Vec<Self>;

    /// As `of_singles`, of elements of this type.
    #[doc(hidden)]
    fn copied(elements: &[Self]) -> Vec<Self>;

    /// Adds numbers to a list in single precision, likewise.
    #[doc(hidden)]
    fn round_to(elements: &[Self], list: &mut Vec<Self::Single>);
}

impl MatrixField for f64 {
    type Single = f32;

    #[inline(never)]
    fn of_singles(elements: &[f32]) -> Vec<f64> {
        elements.iter().map(|&x| x.into()).collect()
    }
    #[inline(never)]
    fn copied(elements: &[f64]) -> Vec<f64> {
        elements.to_vec()
    }
    #[inline(never)]
    fn round_to(elements: &[f64], list: &mut Vec<f32>) {
        list.extend(elements.iter().map(|&x| x as f32));
    }
}

impl MatrixField for Complex64 {
    type Single = Complex32;

    #[inline(never)]
    fn of_singles(elements: &[Complex32]) -> Vec<Complex64> {
        elements.iter().map(|x| x.widen()).collect()
    }
    #[inline(never)]
    fn copied(elements: &[Complex64]) -> Vec<Complex64> {
        elements.to_vec()
    }
    #[inline(never)]
    fn round_to(elements: &[Complex64], list: &mut Vec<Complex32>) {
        list.extend(elements.iter().copied().map(narrow));
    }
}

/// Elements of tensors that are computed with in double precision without a conversion of the
/// whole tensor.
trait Stored: Element {
    type Number: MatrixField;
    fn widen(self) -> Self::Number;
    fn round(number: Self::Number) -> Self;
}

macro_rules! stored {
    ($($ty:ty, $number:ty, $widen:expr, $round:expr;)*) => {$(
        impl Stored for $ty {
            type Number = $number;
            fn widen(self) -> $number {
                $widen(self)
            }
            fn round(number: $number) -> $ty {
                $round(number)
            }
        }
    )*};
}
stored! {
    f32, f64, f64::from, |x| x as f32;
    f64, f64, |x| x, |x| x;
    Complex32, Complex64, |x: Complex32| Complex64::new(x.re.into(), x.im.into()), narrow;
    Complex64, Complex64, |x| x, |x| x;
}

fn narrow(x: Complex64) -> Complex32 {
    Complex32::new(x.re as f32, x.im as f32)
}

/// The matrices (or vectors) in the last dimensions of a tensor, which are converted one at a time.
pub struct Stack<T> {
    /// The other dimensions.
    pub batch: Vec<usize>,
    /// The dimensions of each matrix.
    pub core: Vec<usize>,
    count: usize,
    /// Elements of type `T`, or the same in single precision.
    elements: Tensor,
    number: PhantomData<T>,
}

impl<T: MatrixField> Stack<T> {
    fn new(tensor: &Tensor, rank: usize) -> Result<Stack<T>, EvalError> {
        let at = tensor.rank().checked_sub(rank).ok_or_else(|| {
            EvalError::new(
                "matrix",
                format!("a tensor of shape {:?} has no {rank} last dimensions", tensor.shape()),
            )
        })?;
        let (batch, core) = tensor.shape().split_at(at);
        let is_single = tensor.dtype() == T::Single::DTYPE;
        let dtype = if is_single { T::Single::DTYPE } else { T::DTYPE };
        Ok(Stack {
            batch: batch.to_vec(),
            core: core.to_vec(),
            count: count(batch)?,
            elements: math::convert(tensor.clone(), dtype)?,
            number: PhantomData,
        })
    }

    /// The number of elements of a matrix.
    pub fn size(&self) -> usize {
        self.core.iter().fold(1, |n: usize, &size| n.saturating_mul(size))
    }

    /// Charges working memory for some numbers of this type, which functions that compute with a
    /// matrix at a time take, and for the `info` of each matrix, even if it is empty.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn reserve(&self, numbers: usize) -> Result<Reserved, EvalError> {
        let infos = self.count.saturating_mul(4 * size_of::<i32>());
        Ok(reserve::<u8>(numbers.saturating_mul(size_of::<T>()).saturating_add(infos))?)
    }

    /// The elements of the matrices in turn.
    pub fn vectors(&self) -> impl Iterator<Item = Vec<T>> {
        // The product of the dimensions is a part of the number of elements, or zero.
        let size = self.elements.num_elements().checked_div(self.count).unwrap_or(0);
        let singles = self.elements.as_slice::<T::Single>().ok();
        let doubles = self.elements.as_slice::<T>().unwrap_or(&[]);
        (0..self.count).map(move |i| match singles {
            Some(singles) => T::of_singles(&singles[i * size..][..size]),
            None => T::copied(&doubles[i * size..][..size]),
        })
    }

    /// The matrices in turn.
    pub fn matrices(&self) -> impl Iterator<Item = Matrix<T>> {
        self.vectors().map(|elements| Matrix::new(self.core[0], self.core[1], elements))
    }
}

/// The product of the dimensions of a batch.
fn count(batch: &[usize]) -> Result<usize, EvalError> {
    batch
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(d))
        .ok_or_else(|| EvalError::new("matrix", format!("a batch of shape {batch:?} is too large")))
}

/// The numbers of the matrices in turn, which become a tensor.
pub struct MatrixList<T: MatrixField> {
    shape: Vec<usize>,
    dtype: DType,
    numbers: Numbers<T>,
}

/// Numbers that are rounded when they are added, if their tensor is of single precision.
enum Numbers<T: MatrixField> {
    Single(Scratch<T::Single>),
    Double(Scratch<T>),
}

impl<T: MatrixField> MatrixList<T> {
    /// A list with room for all numbers of a tensor with elements of type `dtype`, of matrices (or
    /// vectors) of dimensions `core`.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new(batch: &[usize], core: &[usize], dtype: DType) -> Result<MatrixList<T>, EvalError> {
        let shape = [batch, core].concat();
        let size = shape.iter().fold(1usize, |n, &d| n.saturating_mul(d));
        let numbers = match dtype == T::Single::DTYPE {
            true => Numbers::Single(Scratch::new(size)?),
            false => Numbers::Double(Scratch::new(size)?),
        };
        Ok(MatrixList { shape, dtype, numbers })
    }

    /// Adds the numbers of a matrix.
    pub fn push(&mut self, numbers: &[T]) {
        match &mut self.numbers {
            Numbers::Single(list) => T::round_to(numbers, list),
            Numbers::Double(list) => list.extend_from_slice(numbers),
        }
    }

    /// Adds `count` NaNs.
    pub fn push_nans(&mut self, count: usize) {
        (0..count).for_each(|_| self.push(&[T::real(f64::NAN)]));
    }

    /// The tensor.
    ///
    /// # Errors
    /// If the numbers do not fit its dimensions, or memory is exhausted.
    pub fn tensor(self) -> Result<Tensor, EvalError> {
        Ok(match self.numbers {
            Numbers::Single(list) => Tensor::from_vec(self.shape, list.into_vec())?,
            Numbers::Double(list) => {
                math::convert(Tensor::from_vec(self.shape, list.into_vec())?, self.dtype)?
            }
        })
    }
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

/// The matrices in the last two dimensions.
///
/// # Errors
/// If there are fewer dimensions, or no memory.
pub fn matrices<T: MatrixField>(tensor: &Tensor) -> Result<Stack<T>, EvalError> {
    Stack::new(tensor, 2)
}

/// The vectors along the last dimension.
///
/// # Errors
/// If the tensor has no dimension, or memory is exhausted.
pub fn vectors<T: MatrixField>(tensor: &Tensor) -> Result<Stack<T>, EvalError> {
    Stack::new(tensor, 1)
}

/// The adjoint of the matrices in the last two dimensions.
///
/// # Errors
/// If there are fewer dimensions, or no memory.
pub fn adjoint(tensor: &Tensor) -> Result<Tensor, EvalError> {
    let rank = tensor.rank();
    let (Some(rows), Some(columns)) = (rank.checked_sub(2), rank.checked_sub(1)) else {
        return Err(EvalError::new("matrix", "a matrix must have two dimensions"));
    };
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(rows, columns);
    let transposed = tensor.gather(&StridedView::dense(tensor.shape())?.permute(&order)?)?;
    if !transposed.dtype().is_complex() {
        return Ok(transposed);
    }
    let re = math::unary(UnaryOp::Real, transposed.clone())?;
    let im = math::unary(UnaryOp::Negate, math::unary(UnaryOp::Imag, transposed)?)?;
    Ok(math::binary(BinaryOp::Complex, re, im)?)
}

/// The number of matrices in a tensor of some shape, and their dimensions.
fn stacked(shape: &[usize]) -> Result<(usize, [usize; 2]), EvalError> {
    let (batch, &core) = shape.split_last_chunk().ok_or_else(|| {
        EvalError::new("matrix", format!("a tensor of shape {shape:?} has no 2 last dimensions"))
    })?;
    Ok((count(batch)?, core))
}

/// The type of the elements that computations use for elements of type `dtype`: the same, if
/// [`Stored`] knows them.
fn computed(dtype: DType, op: &'static str) -> Result<DType, EvalError> {
    Ok(match is_complex(dtype, op)? {
        _ if matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128) => dtype,
        true => DType::C128,
        false => DType::F64,
    })
}

/// A matrix of elements, in the memory of another one.
fn read<S: Stored>([m, n]: [usize; 2], from: &[S], memory: Vec<S::Number>) -> Matrix<S::Number> {
    let mut memory = memory;
    memory.clear();
    memory.extend(from.iter().map(|&x| x.widen()));
    Matrix::new(m, n, memory)
}

/// Four matrices of elements, consecutively, likewise.
fn read_four<S: Stored<Number = f64>>(
    [m, n]: [usize; 2],
    from: &[S],
    memory: Vec<Four>,
) -> Matrix<Four> {
    let mut memory = memory;
    memory.clear();
    let lanes: [&[S]; 4] = std::array::from_fn(|lane| &from[lane * m * n..][..m * n]);
    memory.extend((0..m * n).map(|i| Four(lanes.map(|lane| lane[i].widen()))));
    Matrix::new(m, n, memory)
}

fn write<S: Stored>(matrix: &Matrix<S::Number>, to: &mut [S]) {
    to.iter_mut().zip(matrix.elements()).for_each(|(to, &x)| *to = S::round(x));
}

/// [`cholesky`], prepared for the type of its operand.
#[derive(Debug)]
pub struct CholeskyKernel {
    lower: bool,
    dtype: DType,
    count: usize,
    order: usize,
}

impl CholeskyKernel {
    /// For matrices in a tensor of some type.
    ///
    /// # Errors
    /// If the matrices are not square, or the elements are no floats or complex numbers in single
    /// or double precision.
    pub fn new(dtype: DType, shape: &[usize], lower: bool) -> Result<CholeskyKernel, EvalError> {
        let (count, [order, columns]) = stacked(shape)?;
        if order != columns {
            let message = format!("a matrix of {order} x {columns} is not square");
            return Err(EvalError::new("cholesky_c3", message));
        }
        match computed(dtype, "cholesky")? {
            same if same == dtype => Ok(CholeskyKernel { lower, dtype, count, order }),
            _ => Err(TensorError::Unsupported { op: "cholesky", dtype }.into()),
        }
    }

    /// Computes the bytes of the factors.
    ///
    /// # Errors
    /// If the sizes do not match the types, or there is no memory for a matrix.
    pub fn run(&self, a: &[u8], result: &mut [u8]) -> Result<(), TensorError> {
        match self.dtype {
            DType::F32 => self.factor_all::<f32>(a, result),
            DType::F64 => self.factor_all::<f64>(a, result),
            DType::C64 => self.factor_all::<Complex32>(a, result),
            _ => self.factor_all::<Complex64>(a, result),
        }
    }

    fn factor_all<S: Stored>(&self, a: &[u8], result: &mut [u8]) -> Result<(), TensorError> {
        let n = self.order;
        let size = n * n;
        if size == 0 {
            return Ok(());
        }
        let a = elements::<S>(a, self.count * size)?;
        let result = elements_mut::<S>(result, self.count * size)?;
        // A lower triangle is factored as the adjoint of an upper one.
        let _reserved = reserve::<[S::Number; 2]>(size)?;
        let mut memory = Vec::with_capacity(size);
        for (a, result) in a.chunks_exact(size).zip(result.chunks_exact_mut(size)) {
            let mut a = read([n, n], a, memory);
            let found = lapack::potrf(&mut a, self.lower).is_ok();
            for i in 0..n {
                let other = if self.lower { i + 1..n } else { 0..i };
                let row = a.row_mut(i);
                row[other].fill(<S::Number as Scalar>::ZERO);
                if !found {
                    row.fill(S::Number::real(f64::NAN));
                }
            }
            write(&a, result);
            memory = a.into_elements();
        }
        Ok(())
    }
}

impl Kernel for CholeskyKernel {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let ([a], result) = expect_bytes(operands, results)?;
        self.run(a, result)
    }
}

/// The Cholesky factor of each matrix: the lower one, `l` where `a = l * l^H`, from the lower
/// triangle, or its conjugate transpose from the upper triangle. The other triangle is zero. A
/// matrix that is not positive definite gives NaN.
///
/// # Errors
/// If the matrices are not square, or the elements are neither floats nor complex.
pub fn cholesky(a: Tensor, lower: bool) -> Result<Tensor, EvalError> {
    let dtype = a.dtype();
    let computed = computed(dtype, "cholesky")?;
    let a = math::convert(a, computed)?;
    let mut factors = Tensor::zeros(computed, a.shape())?;
    CholeskyKernel::new(computed, a.shape(), lower)?.run(a.bytes(), factors.bytes_mut()?)?;
    Ok(math::convert(factors, dtype)?)
}

/// The systems, as `lapack` describes them.
fn system(solve: Triangular) -> System {
    let Triangular { left_side, lower, unit_diagonal, transposed, conjugated } = solve;
    System { left_side, lower, unit_diagonal, transposed, conjugated }
}

/// [`triangular_solve`], prepared for the types of its operands.
#[derive(Debug)]
pub struct TriangularSolveKernel {
    system: System,
    dtype: DType,
    count: usize,
    order: usize,
    /// The dimensions of the solutions.
    core: [usize; 2],
}

impl TriangularSolveKernel {
    /// For matrices in tensors of one element type and some shapes.
    ///
    /// # Errors
    /// If shapes do not fit, or the elements are no floats or complex numbers in single or double
    /// precision.
    pub fn new(
        dtype: DType,
        [a, b]: [&[usize]; 2],
        solve: Triangular,
    ) -> Result<TriangularSolveKernel, EvalError> {
        const OP: &str = "triangular_solve";
        let system = system(solve);
        let ((_, square), (count, core)) = (stacked(a)?, stacked(b)?);
        let order = core[usize::from(!system.left_side)];
        if square != [order; 2] || a[..a.len() - 2] != b[..b.len() - 2] {
            let message = format!("matrices of shape {a:?} do not fit {b:?}");
            return Err(EvalError::new("triangular_solve_c3", message));
        }
        match computed(dtype, OP)? {
            same if same == dtype => {
                Ok(TriangularSolveKernel { system, dtype, count, order, core })
            }
            _ => Err(TensorError::Unsupported { op: OP, dtype }.into()),
        }
    }

    /// Computes the bytes of the solutions.
    ///
    /// # Errors
    /// If the sizes do not match the types, or there is no memory for a pair of matrices.
    pub fn run(&self, a: &[u8], b: &[u8], result: &mut [u8]) -> Result<(), TensorError> {
        match self.dtype {
            DType::F32 => self.solve_fours::<f32>(a, b, result),
            DType::F64 => self.solve_fours::<f64>(a, b, result),
            DType::C64 => self.solve_each::<Complex32>(a, b, result),
            _ => self.solve_each::<Complex64>(a, b, result),
        }
    }

    /// [`TriangularSolveKernel::solve_each`], four small systems at a time.
    fn solve_fours<S: Stored<Number = f64>>(
        &self,
        a: &[u8],
        b: &[u8],
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let (square, size) = (self.order * self.order, self.core[0] * self.core[1]);
        let fours = self.count / 4 * 4;
        if fours == 0 || size == 0 || square.max(size) > MAX_LANES {
            return self.solve_each::<S>(a, b, result);
        }
        let ([a, b], result) = self.elements::<S>([a, b], result)?;
        let (a, rest_of_a) = a.split_at(fours * square);
        let (b, rest_of_b) = b.split_at(fours * size);
        let (result, rest) = result.split_at_mut(fours * size);
        let mut memory = (Vec::with_capacity(square), Vec::with_capacity(size));
        let (a, b) = (a.chunks_exact(4 * square), b.chunks_exact(4 * size));
        for ((a, b), result) in a.zip(b).zip(result.chunks_exact_mut(4 * size)) {
            let a = read_four([self.order; 2], a, memory.0);
            let mut x = read_four(self.core, b, memory.1);
            lapack::trsm(&a, &mut x, self.system);
            for (lane, result) in result.chunks_exact_mut(size).enumerate() {
                result.iter_mut().zip(x.elements()).for_each(|(to, x)| *to = S::round(x.0[lane]));
            }
            memory = (a.into_elements(), x.into_elements());
        }
        self.solve_all(rest_of_a, rest_of_b, rest)
    }

    fn solve_each<S: Stored>(
        &self,
        a: &[u8],
        b: &[u8],
        result: &mut [u8],
    ) -> Result<(), TensorError> {
        let ([a, b], result) = self.elements::<S>([a, b], result)?;
        self.solve_all(a, b, result)
    }

    /// The elements of the operands and of the result.
    fn elements<'a, S: Stored>(
        &self,
        [a, b]: [&'a [u8]; 2],
        result: &'a mut [u8],
    ) -> Result<([&'a [S]; 2], &'a mut [S]), TensorError> {
        let size = self.count * self.core[0] * self.core[1];
        let a = elements(a, self.count * self.order * self.order)?;
        Ok(([a, elements(b, size)?], elements_mut(result, size)?))
    }

    fn solve_all<S: Stored>(&self, a: &[S], b: &[S], result: &mut [S]) -> Result<(), TensorError> {
        let (square, size) = (self.order * self.order, self.core[0] * self.core[1]);
        if size == 0 {
            return Ok(());
        }
        let (a, b) = (a.chunks_exact(square), b.chunks_exact(size));
        let result = result.chunks_exact_mut(size);
        let _reserved = reserve::<S::Number>(square + size)?;
        let mut memory = (Vec::with_capacity(square), Vec::with_capacity(size));
        for ((a, b), result) in a.zip(b).zip(result) {
            let a = read([self.order; 2], a, memory.0);
            let mut x = read(self.core, b, memory.1);
            lapack::trsm(&a, &mut x, self.system);
            write(&x, result);
            memory = (a.into_elements(), x.into_elements());
        }
        Ok(())
    }
}

impl Kernel for TriangularSolveKernel {
    fn run(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), TensorError> {
        let ([a, b], result) = expect_bytes(operands, results)?;
        self.run(a, b, result)
    }
}

/// The solutions `x`, of the shape of `b`, for each pair of matrices.
///
/// # Errors
/// If shapes or element types do not fit, or the elements are neither floats nor complex.
pub fn triangular_solve(a: Tensor, b: Tensor, system: Triangular) -> Result<Tensor, EvalError> {
    let dtype = b.dtype();
    let computed = computed(dtype, "triangular_solve")?;
    let (a, b) = (math::convert(a, computed)?, math::convert(b, computed)?);
    let mut x = Tensor::zeros(computed, b.shape())?;
    let prepared = TriangularSolveKernel::new(computed, [a.shape(), b.shape()], system)?;
    prepared.run(a.bytes(), b.bytes(), x.bytes_mut()?)?;
    Ok(math::convert(x, dtype)?)
}
