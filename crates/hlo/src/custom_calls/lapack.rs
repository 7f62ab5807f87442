//! Custom calls of LAPACK's routines, as JAX exports linear algebra for CPUs: `lapack_` and the
//! letter of the element type, the routine, `_ffi`. Names without `_ffi` are older (`older.rs`).
//!
//! Exports for GPU and TPU call the same routines by other names (`device.rs`).
//!
//! Matrices are in the last two dimensions, the others are a batch. Results without meaning (of an
//! operand used as workspace, or of vectors that are not requested) are the operand or zeros. Where
//! a routine fails, its results are NaN and its `info` is not zero.

mod device;
mod older;
mod tridiagonal;

use self::device::DeviceCall;
use self::older::Older;
use self::tridiagonal::gtsv;
pub(super) use self::tridiagonal::solve_perturbed;
use super::{result_types, tensors_or_tuple};
use crate::ops::shape_operands;
use crate::prepare;
use ::lapack::{Driver, Matrix, MatrixSide, NoConvergence, Precision, Scalar, SchurForm, Vectors};
use kernels::linalg::{self, MatrixField, Stack, append};
use mlir::attrs::Attribute;
use mlir::attrs::Dictionary;
use mlir::prepare::Prepared;
use mlir::{OpRef, Type};
use numerics::budget::reserve;
use numerics::{Complex64, DType, Tensor, math};
use program::{EvalError, Primitive, operands, primitives};
use std::iter::repeat_n;

/// The results of a call.
type Results = Result<Vec<Tensor>, EvalError>;

/// A routine: its names for real and complex elements, and what it does with them.
struct Routine {
    real_name: &'static str,
    complex_name: &'static str,
    real: fn(&RoutineCall<'_>) -> Results,
    complex: fn(&RoutineCall<'_>) -> Results,
    memory: RoutineMemory,
}

/// The memory that a routine takes beside its tensors, in matrices of the operand's size in double
/// precision.
#[derive(Clone, Copy)]
struct RoutineMemory {
    /// Of each matrix of a batch.
    kept: usize,
    /// Of each matrix, too, for each kind of vectors that are computed.
    vectors: usize,
    /// Of one matrix at a time.
    working: usize,
}

macro_rules! routines {
    ($($real:literal $complex:literal $function:ident $kept:literal $vectors:literal $working:literal,)*) => {
        &[$(Routine {
            real_name: $real,
            complex_name: $complex,
            real: $function::<f64>,
            complex: $function::<Complex64>,
            memory: RoutineMemory { kept: $kept, vectors: $vectors, working: $working },
        }),*]
    };
}

static ROUTINES: &[Routine] = routines![
    "gees" "gees" gees 1 1 2,
    "geev" "geev" geev 1 2 6,
    "gehrd" "gehrd" gehrd 2 0 1,
    "geqp3" "geqp3" geqp3 2 0 1,
    "geqrf" "geqrf" geqrf 2 0 1,
    "gesdd" "gesdd" gesdd 1 1 4,
    "gesvd" "gesvd" gesdd 1 1 4,
    "getrf" "getrf" getrf 2 0 1,
    "gtsv" "gtsv" gtsv 2 0 0,
    "orgqr" "ungqr" orgqr 2 0 1,
    "ormqr" "unmqr" ormqr 3 0 1,
    "potrf" "potrf" potrf 2 0 1,
    "syevd" "heevd" syevd 1 1 3,
    "sytrd" "hetrd" sytrd 2 0 1,
    "trsm" "trsm" trsm 3 0 1,
];

/// The names of all targets.
pub(super) fn targets() -> impl Iterator<Item = String> {
    let named = |routine: &Routine| {
        let (real, complex) = (routine.real_name, routine.complex_name);
        [('s', real), ('d', real), ('c', complex), ('z', complex)]
    };
    let newer = ROUTINES.iter().flat_map(named);
    let older = newer.clone().filter(|(_, name)| older::of(name).is_some());
    let newer = newer.map(|(letter, name)| format!("lapack_{letter}{name}_ffi"));
    let older = older.map(|(letter, name)| match name {
        "trsm" => format!("blas_{letter}{name}"),
        _ => format!("lapack_{letter}{name}"),
    });
    newer.chain(older).chain(device::targets())
}

/// A call of a routine as a target names it.
struct TargetCall {
    routine: &'static Routine,
    /// True for complex elements, if the name tells.
    complex: Option<bool>,
    convention: Convention,
}

/// The operands, attributes and results of a call.
#[derive(Clone, Copy)]
enum Convention {
    /// As for `lapack_…_ffi`.
    Ffi,
    Older(&'static Older),
    Device(&'static DeviceCall),
}

fn routine(target: &str) -> Option<TargetCall> {
    if let Some(device) = device::of(target) {
        let routine = ROUTINES.iter().find(|routine| routine.real_name == device.routine)?;
        return Some(TargetCall { routine, complex: None, convention: Convention::Device(device) });
    }
    let name = target.strip_prefix("lapack_").or_else(|| target.strip_prefix("blas_"))?;
    let is_ffi = name.ends_with("_ffi");
    let name = name.strip_suffix("_ffi").unwrap_or(name);
    let complex = name.starts_with(['c', 'z']);
    let name = name.strip_prefix(['s', 'd', 'c', 'z'])?;
    let named = |r: &&Routine| name == if complex { r.complex_name } else { r.real_name };
    let routine = ROUTINES.iter().find(named)?;
    let convention = if is_ffi { Convention::Ffi } else { Convention::Older(older::of(name)?) };
    Some(TargetCall { routine, complex: Some(complex), convention })
}

/// True if the routine is known.
pub(super) fn is_target(target: &str) -> bool {
    routine(target).is_some()
}

/// Prepares a call of the routine that the target names.
pub(super) fn prepare(op: OpRef<'_>, target: &str) -> Prepared {
    let Some(TargetCall { routine, complex, convention }) = routine(target) else {
        return Err(EvalError::new("custom_call", format!("there is no routine `{target}`")));
    };
    let first = op.operand_types().next().and_then(|ty| ty.element_type().dtype());
    let complex = complex.unwrap_or_else(|| first.is_some_and(DType::is_complex));
    let config = ["backend_config", "mhlo.backend_config"]
        .into_iter()
        .find_map(|a| op.attr(a)?.as_dictionary().cloned());
    let config = match convention {
        Convention::Ffi | Convention::Older(_) => config,
        Convention::Device(device) => Some(device.config(op, config.as_ref())?),
    };
    // Plans know the op with the same meaning.
    if routine.real_name == "trsm"
        && matches!(convention, Convention::Ffi)
        && has_one_type(op, complex)
        && let Ok(system) = system(config.as_ref())
    {
        return Ok(Primitive::TriangularSolve(system));
    }
    let types = result_types(op);
    let parameters = Parameters {
        target: target.to_string(),
        config,
        shapes: types.iter().map(|ty| ty.as_tensor()?.static_shape()).collect(),
        dtypes: types.iter().map(|ty| prepare::storage_dtype(ty)).collect::<Result<_, _>>()?,
        shape_operands: shape_operands(op)
            .map_err(|error| EvalError::new(error.label, error.message))?,
        older: match convention {
            Convention::Older(older) => Some((older, complex)),
            Convention::Ffi | Convention::Device(_) => None,
        },
    };
    tensors_or_tuple(op, move |given| {
        let newer = match convention {
            Convention::Older(older) => Some(older.arguments(&given)?),
            Convention::Ffi | Convention::Device(_) => None,
        };
        let (operands, config) = match &newer {
            Some((operands, config)) => (&operands[..], Some(config)),
            None => (&given[..], parameters.config.as_ref()),
        };
        let fits = |t: &Tensor| match complex {
            true => t.dtype().is_complex(),
            false => t.dtype().is_float(),
        };
        let dtype = operands.first().filter(|t| fits(t)).map(Tensor::dtype).ok_or_else(|| {
            let target = &parameters.target;
            EvalError::new(
                "custom_call",
                format!("`{target}` needs an operand of its element type"),
            )
        })?;
        let call = RoutineCall { parameters: &parameters, operands, given: &given, config, dtype };
        let _reserved = reserve::<u8>(call.bytes(routine.memory, complex))?;
        let results = if complex { (routine.complex)(&call) } else { (routine.real)(&call) }?;
        match convention {
            Convention::Ffi => Ok(results),
            Convention::Older(older) => older.results(&call, &results, complex),
            Convention::Device(device) => device.results(&call, results),
        }
    })
}

/// True if a call has two operands and a result of one element type, which is complex or not, and
/// the result has the shape of the second operand: plans rely on it.
fn has_one_type(op: OpRef<'_>, complex: bool) -> bool {
    let dtype = |ty: &Type| ty.element_type().dtype();
    let types: Vec<_> = op.operand_types().chain(op.result_types()).map(dtype).collect();
    let fits = |dtype: DType| if complex { dtype.is_complex() } else { dtype.is_float() };
    matches!(types[..], [Some(a), b, x] if fits(a) && [b, x] == [Some(a); 2])
        && op.operand_type(1) == op.result_type(0)
}

/// Everything that a call depends on besides its operands.
struct Parameters {
    target: String,
    config: Option<Dictionary>,
    /// The static shape of each result.
    shapes: Vec<Option<Vec<usize>>>,
    dtypes: Vec<DType>,
    /// The operand that has the shape of each result, if operands have them.
    shape_operands: Option<Vec<usize>>,
    /// The calling convention, unless it is that of `_ffi`, and whether numbers are complex.
    older: Option<(&'static Older, bool)>,
}

/// A call of a routine.
struct RoutineCall<'p> {
    parameters: &'p Parameters,
    /// The operands of the routine.
    operands: &'p [Tensor],
    /// All operands of the op.
    given: &'p [Tensor],
    config: Option<&'p Dictionary>,
    /// The element type of the matrices.
    dtype: DType,
}

impl RoutineCall<'_> {
    /// The bytes of a number of matrices of the size of the largest operand or result, in double
    /// precision.
    fn bytes(&self, memory: RoutineMemory, complex: bool) -> usize {
        let operands = self.operands.iter().map(Tensor::num_elements);
        let sizes = self.parameters.shapes.iter().flatten();
        let results =
            sizes.map(|sizes| sizes.iter().fold(1, |n: usize, &size| n.saturating_mul(size)));
        let largest = operands.chain(results).max().unwrap_or(0);
        let batch = self
            .operands
            .first()
            .map_or(1, |matrices| matrices.shape().iter().rev().skip(2).product::<usize>());
        let letters = ["mode", "compute_left", "compute_right"];
        let jobs = letters.iter().filter_map(|name| letter(self.config, name));
        let vectors = jobs.filter(|&job| job != 'N').count() * memory.vectors;
        let size = if complex { size_of::<Complex64>() } else { size_of::<f64>() };
        let whole = largest.saturating_mul(memory.kept + vectors);
        let own = (largest / batch.max(1)).saturating_mul(memory.working);
        whole.saturating_add(own).saturating_mul(size)
    }

    fn operand(&self, index: usize) -> Result<&Tensor, EvalError> {
        self.operands.get(index).ok_or_else(|| {
            EvalError::new(
                "operands",
                format!("operand {index} is missing; found {}", self.operands.len()),
            )
        })
    }

    fn matrices<T: MatrixField>(&self, index: usize) -> Result<Stack<Matrix<T>>, EvalError> {
        linalg::matrices(self.operand(index)?)
    }

    /// Square matrices.
    fn squares<T: MatrixField>(&self, index: usize) -> Result<Stack<Matrix<T>>, EvalError> {
        let stack = self.matrices(index)?;
        if stack.core[0] != stack.core[1] {
            return Err(EvalError::new(
                "matrix",
                format!("matrices must be square; found {:?}", stack.core),
            ));
        }
        Ok(stack)
    }

    fn vectors<T: MatrixField>(&self, index: usize) -> Result<Stack<Vec<T>>, EvalError> {
        linalg::vectors(self.operand(index)?)
    }

    fn missing(&self, name: &str) -> EvalError {
        let target = &self.parameters.target;
        EvalError::new("attribute", format!("the call of {target} has no valid attribute {name}"))
    }

    fn attribute(&self, name: &str) -> Result<&Attribute, EvalError> {
        self.config.and_then(|config| config.get(name)).ok_or_else(|| self.missing(name))
    }

    /// A parameter that LAPACK writes as a letter.
    fn letter(&self, name: &str) -> Result<char, EvalError> {
        letter(self.config, name).ok_or_else(|| self.missing(name))
    }

    fn flag(&self, name: &str) -> Result<bool, EvalError> {
        self.attribute(name)?.as_bool().ok_or_else(|| self.missing(name))
    }

    fn size(&self, name: &str) -> Result<usize, EvalError> {
        let value = self.attribute(name)?.as_i64().and_then(|n| usize::try_from(n).ok());
        value.ok_or_else(|| self.missing(name))
    }

    fn precision(&self) -> Precision {
        precision_of(self.dtype)
    }

    /// Zeros for a result of the routine that has no meaning.
    fn unused(&self, result: usize, dtype: DType) -> Result<Tensor, EvalError> {
        let result = match self.parameters.older {
            Some((older, complex)) => older.result(result, complex),
            None => Some(result),
        };
        let result = result.ok_or_else(|| self.missing("result"))?;
        Ok(Tensor::zeros(dtype, self.declared_shape(result)?)?)
    }

    /// Zeros for a result of the op that is a workspace.
    fn workspace(&self, result: usize) -> Result<Tensor, EvalError> {
        let dtype = self.parameters.dtypes.get(result).copied();
        let dtype = dtype.ok_or_else(|| self.missing("result"))?;
        Ok(Tensor::zeros(dtype, self.declared_shape(result)?)?)
    }

    /// The shape of a result of the op, from its type or an operand.
    fn declared_shape(&self, result: usize) -> Result<Vec<usize>, EvalError> {
        if let Some(Some(shape)) = self.parameters.shapes.get(result) {
            return Ok(shape.clone());
        }
        let operands = self.parameters.shape_operands.as_ref();
        let operand = operands.and_then(|operands| operands.get(result).copied());
        let operand = operand.ok_or_else(|| self.missing("indices_of_shape_operands"))?;
        operands::sizes(self.given.get(operand).ok_or_else(|| self.missing("shape"))?)
    }
}

/// A parameter that LAPACK writes as a letter, if there is a valid one.
fn letter(config: Option<&Dictionary>, name: &str) -> Option<char> {
    let code = config?.get(name)?.as_i64()?;
    u8::try_from(code).ok().map(char::from)
}

/// The precision of elements; double only for double precision.
fn precision_of(dtype: DType) -> Precision {
    if dtype.part() == DType::F64 { Precision::DOUBLE } else { Precision::SINGLE }
}

/// Lists of results of one matrix after the other.
struct Outputs<'b> {
    batch: &'b [usize],
    dtype: DType,
}

impl Outputs<'_> {
    fn numbers<T: MatrixField>(
        &self,
        core: &[usize],
        elements: Vec<T>,
    ) -> Result<Tensor, EvalError> {
        linalg::join(self.batch, core, elements, self.dtype)
    }

    fn reals(&self, core: &[usize], elements: Vec<f64>) -> Result<Tensor, EvalError> {
        linalg::join(self.batch, core, elements, self.dtype.part())
    }

    fn complexes(&self, core: &[usize], elements: Vec<Complex64>) -> Result<Tensor, EvalError> {
        let dtype =
            if matches!(self.dtype, DType::F64 | DType::C128) { DType::C128 } else { DType::C64 };
        linalg::join(self.batch, core, elements, dtype)
    }

    fn integers(&self, core: &[usize], elements: Vec<i32>) -> Result<Tensor, EvalError> {
        linalg::join(self.batch, core, elements, DType::I32)
    }
}

/// Room for matrices that may be much larger than the operand's.
fn room<T>(count: usize, rows: usize, columns: usize) -> Result<Vec<T>, EvalError> {
    let mut elements = Vec::new();
    let size = rows.checked_mul(columns).and_then(|n| n.checked_mul(count.max(1)));
    let reserved = size.is_some_and(|size| elements.try_reserve_exact(size).is_ok());
    let too_large =
        || EvalError::new("matrix", format!("no memory for matrices of {rows} x {columns}"));
    reserved.then_some(elements).ok_or_else(too_large)
}

/// `info` of a routine: 0 for success, else the number that it reports.
fn info(outcome: Result<(), usize>) -> i32 {
    outcome.map_or_else(|place| i32::try_from(place).unwrap_or(i32::MAX), |()| 0)
}

/// Adds `count` numbers of a matrix to a list, or as many NaNs if they were not found.
fn add<'r, T: Scalar + 'r, R>(
    list: &mut Vec<T>,
    result: &'r Result<R, NoConvergence>,
    count: usize,
    elements: impl FnOnce(&'r R) -> &'r [T],
) {
    match result {
        Ok(result) => list.extend_from_slice(elements(result)),
        Err(NoConvergence) => list.extend(repeat_n(T::real(f64::NAN), count)),
    }
}

/// `getrf`: factors, pivots, `info`.
fn getrf<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.matrices::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let (mut factors, mut pivots, mut infos) = (Vec::new(), Vec::new(), Vec::new());
    for mut a in items {
        let (exchanged, info) = ::lapack::getrf(&mut a);
        append(&mut factors, a);
        pivots.extend(exchanged);
        infos.push(info);
    }
    let steps = core[0].min(core[1]);
    Ok(vec![
        out.numbers(&core, factors)?,
        out.integers(&[steps], pivots)?,
        out.integers(&[], infos)?,
    ])
}

/// `potrf`: the Cholesky factor in one triangle, `info`.
fn potrf<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.squares::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let lower = call.letter("uplo")? == 'L';
    let (mut factors, mut infos) = (Vec::new(), Vec::with_capacity(items.len()));
    for mut a in items {
        infos.push(info(::lapack::potrf(&mut a, lower)));
        append(&mut factors, a);
    }
    Ok(vec![out.numbers(&core, factors)?, out.integers(&[], infos)?])
}

/// The systems that a call of `trsm` solves, or the attribute that is not valid.
fn system(config: Option<&Dictionary>) -> Result<primitives::TriangularSolve, &'static str> {
    let letter = |name| letter(config, name).ok_or(name);
    let trans = letter("trans_x")?;
    Ok(primitives::TriangularSolve {
        left_side: letter("side")? == 'L',
        lower: letter("uplo")? == 'L',
        unit_diagonal: letter("diag")? == 'U',
        transposed: trans != 'N',
        conjugated: trans == 'C',
    })
}

/// `trsm`: the solution of triangular systems.
fn trsm<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let system = system(call.config).map_err(|name| call.missing(name))?;
    let (a, b) = (call.operand(0)?.clone(), call.operand(1)?.clone());
    if b.dtype().is_complex() != (T::DIMENSIONS == 2) {
        let (target, found) = (&call.parameters.target, b.dtype());
        let message = format!("`{target}` needs operands of its element type; found {found}");
        return Err(EvalError::new("custom_call", message));
    }
    Ok(vec![linalg::triangular_solve(a, b, system)?])
}

/// `geqrf`: vectors of reflections and the triangular factor, factors of the reflections.
fn geqrf<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.matrices::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let (mut factors, mut taus) = (Vec::new(), Vec::new());
    for mut a in items {
        taus.extend(::lapack::geqrf(&mut a));
        append(&mut factors, a);
    }
    Ok(vec![out.numbers(&core, factors)?, out.numbers(&[core[0].min(core[1])], taus)?])
}

/// `geqp3`: as `geqrf`, with column pivoting: the second result is the column at each position.
fn geqp3<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.matrices::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let given = math::convert(call.operand(1)?.clone(), DType::I32)?;
    let mut order = given.to_vec::<i32>()?;
    let columns = core[1];
    if given.shape() != [&batch[..], &[columns]].concat() {
        return Err(EvalError::new(
            "matrix",
            format!("a number for each of {columns} columns is required"),
        ));
    }
    let (mut factors, mut taus) = (Vec::new(), Vec::new());
    for (i, mut a) in items.into_iter().enumerate() {
        taus.extend(::lapack::geqp3(&mut a, &mut order[i * columns..][..columns]));
        append(&mut factors, a);
    }
    let taus = out.numbers(&[core[0].min(columns)], taus)?;
    Ok(vec![out.numbers(&core, factors)?, out.integers(&[columns], order)?, taus])
}

/// Matrices whose columns hold the vectors of reflections, and their factors.
type Reflections<T> = (Stack<Matrix<T>>, Stack<Vec<T>>);

fn reflections<T: MatrixField>(call: &RoutineCall<'_>) -> Result<Reflections<T>, EvalError> {
    let (a, taus) = (call.matrices::<T>(0)?, call.vectors::<T>(1)?);
    let count = taus.core[0];
    if a.batch != taus.batch || count > a.core[0] || count > a.core[1] {
        let message = format!("{count} reflections do not fit matrices of {:?}", a.core);
        return Err(EvalError::new("matrix", message));
    }
    Ok((a, taus))
}

/// `orgqr`: the first columns of the product of reflections.
fn orgqr<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let (a, taus) = reflections::<T>(call)?;
    let mut products = Vec::new();
    for (a, taus) in a.items.iter().zip(&taus.items) {
        append(&mut products, ::lapack::orgqr(a, taus, a.columns()));
    }
    Ok(vec![Outputs { batch: &a.batch, dtype: call.dtype }.numbers(&a.core, products)?])
}

/// `ormqr`: the product of reflections times a matrix, on either side.
fn ormqr<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let (a, taus) = reflections::<T>(call)?;
    let c = call.matrices::<T>(2)?;
    let (left, adjoint) = (call.flag("left")?, call.flag("transpose")?);
    if c.batch != a.batch || c.core[usize::from(!left)] != a.core[0] {
        let message =
            format!("reflections of {} rows do not fit matrices of {:?}", a.core[0], c.core);
        return Err(EvalError::new("matrix", message));
    }
    let side = if left { MatrixSide::Left } else { MatrixSide::Right };
    let mut products = Vec::new();
    for ((a, taus), mut c) in a.items.iter().zip(&taus.items).zip(c.items) {
        ::lapack::ormqr(a, taus, &mut c, side, adjoint);
        append(&mut products, c);
    }
    Ok(vec![Outputs { batch: &c.batch, dtype: call.dtype }.numbers(&c.core, products)?])
}

/// `gehrd`: the Hessenberg form with the vectors of reflections below, their factors, `info`.
fn gehrd<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.squares::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let (low, high) = (call.size("low")?, call.size("high")?);
    if (low < 1 || high > core[0] || low > high) && core[0] > 0 {
        return Err(EvalError::new(
            "matrix",
            format!("rows {low} to {high} are no part of {}", core[0]),
        ));
    }
    let (mut forms, mut taus, mut infos) = (Vec::new(), Vec::new(), Vec::new());
    for mut a in items {
        taus.extend(::lapack::gehrd(&mut a, low.saturating_sub(1), high));
        forms.extend(a.into_elements());
        infos.push(0);
    }
    let taus = out.numbers(&[core[0].saturating_sub(1)], taus)?;
    Ok(vec![out.numbers(&core, forms)?, taus, out.integers(&[], infos)?])
}

/// `sytrd`, `hetrd`: the tridiagonal form with the vectors of reflections, its diagonal, the
/// elements beside it, factors of the reflections, `info`.
fn sytrd<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.squares::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let lower = call.letter("uplo")? == 'L';
    let (mut forms, mut diagonals, mut besides, mut taus) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let infos = vec![0; items.len()];
    for mut a in items {
        let form = ::lapack::sytrd(&mut a, lower);
        forms.extend(a.into_elements());
        diagonals.extend(form.diagonal);
        besides.extend(form.beside);
        taus.extend(form.taus);
    }
    let beside = [core[0].saturating_sub(1)];
    Ok(vec![
        out.numbers(&core, forms)?,
        out.reals(&core[..1], diagonals)?,
        out.reals(&beside, besides)?,
        out.numbers(&beside, taus)?,
        out.integers(&[], infos)?,
    ])
}

/// `syevd`, `heevd`: eigenvectors, eigenvalues, `info`.
fn syevd<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.squares::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let (lower, wanted) = (call.letter("uplo")? == 'L', call.letter("mode")? == 'V');
    let (mut vectors, mut values, mut infos) = (Vec::new(), Vec::new(), Vec::new());
    for mut a in items {
        let result = ::lapack::syevd(&mut a, lower, wanted, call.precision());
        infos.push(i32::from(result.is_err()));
        add(&mut values, &result, core[0], |values| values);
        add(&mut vectors, &result, core[0].saturating_mul(core[0]), |_| a.elements());
    }
    Ok(vec![
        out.numbers(&core, vectors)?,
        out.reals(&core[..1], values)?,
        out.integers(&[], infos)?,
    ])
}

/// `gesdd`, `gesvd`: what is left of the operand, singular values, `u`, `v^H`, `info`.
fn gesdd<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.matrices::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let (rows, columns, few) = (core[0], core[1], core[0].min(core[1]));
    let (wanted, left, right) = match call.letter("mode")? {
        'A' => (Vectors::All, rows, columns),
        'S' => (Vectors::Some, few, few),
        _ => (Vectors::None, 0, 0),
    };
    let driver = if call.parameters.target.contains("gesvd") {
        Driver::Iteration
    } else {
        Driver::DivideAndConquer
    };
    let (mut us, mut vs) = (room(items.len(), rows, left)?, room(items.len(), right, columns)?);
    let (mut values, mut infos) = (Vec::new(), Vec::new());
    for a in items {
        let result = ::lapack::gesdd(a, wanted, driver, call.precision());
        infos.push(i32::from(result.is_err()));
        add(&mut values, &result, few, |svd| &svd.values);
        add(&mut us, &result, rows * left, |svd| svd.u.elements());
        add(&mut vs, &result, right * columns, |svd| svd.vh.elements());
    }
    let (u, v) = if wanted == Vectors::None {
        (call.unused(2, call.dtype)?, call.unused(3, call.dtype)?)
    } else {
        (out.numbers(&[rows, left], us)?, out.numbers(&[right, columns], vs)?)
    };
    Ok(vec![call.operand(0)?.clone(), out.reals(&[few], values)?, u, v, out.integers(&[], infos)?])
}

/// Eigenvalues as results: in parts for real matrices.
fn eigenvalues<T: SchurForm>(out: &Outputs<'_>, n: usize, values: Vec<Complex64>) -> Results {
    if T::DIMENSIONS == 2 {
        return Ok(vec![out.complexes(&[n], values)?]);
    }
    let (re, im) = values.iter().map(|x| (x.re, x.im)).unzip();
    Ok(vec![out.reals(&[n], re)?, out.reals(&[n], im)?])
}

/// `geev`: eigenvalues, left eigenvectors, right eigenvectors, `info`.
fn geev<T: MatrixField + SchurForm>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.squares::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let (left, right) = (call.letter("compute_left")? == 'V', call.letter("compute_right")? == 'V');
    let (n, size) = (core[0], core[0].saturating_mul(core[0]));
    let (mut values, mut lefts, mut rights, mut infos) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for a in items {
        let result = ::lapack::geev(a, left, right, call.precision());
        infos.push(i32::from(result.is_err()));
        add(&mut values, &result, n, |e| &e.values);
        let (of_left, of_right) = (if left { size } else { 0 }, if right { size } else { 0 });
        add(&mut lefts, &result, of_left, |e| e.left.as_ref().map_or(&[], Matrix::elements));
        add(&mut rights, &result, of_right, |e| e.right.as_ref().map_or(&[], Matrix::elements));
    }
    let mut results = eigenvalues::<T>(&out, n, values)?;
    for (wanted, vectors) in [(left, lefts), (right, rights)] {
        let index = results.len();
        let complex = if call.dtype.part() == DType::F64 { DType::C128 } else { DType::C64 };
        results.push(if wanted {
            out.complexes(&core, vectors)?
        } else {
            call.unused(index, complex)?
        });
    }
    results.push(out.integers(&[], infos)?);
    Ok(results)
}

/// `gees`: the Schur form, Schur vectors, eigenvalues, the number of selected ones (0), `info`.
fn gees<T: MatrixField + SchurForm>(call: &RoutineCall<'_>) -> Results {
    let Stack { batch, core, items } = call.squares::<T>(0)?;
    let out = Outputs { batch: &batch, dtype: call.dtype };
    let wanted = call.letter("mode")? == 'V';
    if call.letter("sort")? != 'N' {
        return Err(EvalError::new("custom_call", "eigenvalues of a Schur form cannot be sorted"));
    }
    let (n, size) = (core[0], core[0].saturating_mul(core[0]));
    let (mut forms, mut vectors, mut values, mut infos) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for a in items {
        let result = ::lapack::gees(a, call.precision());
        infos.push(i32::from(result.is_err()));
        add(&mut forms, &result, size, |s| s.t.elements());
        add(&mut vectors, &result, size, |s| s.z.elements());
        add(&mut values, &result, n, |s| &s.values);
    }
    let vectors = if wanted { out.numbers(&core, vectors)? } else { call.unused(1, call.dtype)? };
    let mut results = vec![out.numbers(&core, forms)?, vectors];
    results.extend(eigenvalues::<T>(&out, n, values)?);
    let selected = vec![0; infos.len()];
    results.extend([out.integers(&[], selected)?, out.integers(&[], infos)?]);
    Ok(results)
}
