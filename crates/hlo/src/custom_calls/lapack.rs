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
use kernels::linalg::{self, MatrixField, MatrixList, Stack};
use mlir::attrs::Attribute;
use mlir::attrs::Dictionary;
use mlir::prepare::Prepared;
use mlir::{OpRef, Type};
use numerics::{Complex64, DType, Tensor, math};
use program::{EvalError, Primitive, operands, primitives};

/// The results of a call.
type Results = Result<Vec<Tensor>, EvalError>;

/// A routine: its names for real and complex elements, and what it does with them.
struct Routine {
    real_name: &'static str,
    complex_name: &'static str,
    real: fn(&RoutineCall<'_>) -> Results,
    complex: fn(&RoutineCall<'_>) -> Results,
}

macro_rules! routines {
    ($($real:literal $complex:literal $function:ident,)*) => {
        &[$(Routine {
            real_name: $real,
            complex_name: $complex,
            real: $function::<f64>,
            complex: $function::<Complex64>,
        }),*]
    };
}

static ROUTINES: &[Routine] = routines![
    "gees" "gees" gees,
    "geev" "geev" geev,
    "gehrd" "gehrd" gehrd,
    "geqp3" "geqp3" geqp3,
    "geqrf" "geqrf" geqrf,
    "gesdd" "gesdd" gesdd,
    "gesvd" "gesvd" gesdd,
    "getrf" "getrf" getrf,
    "gtsv" "gtsv" gtsv,
    "orgqr" "ungqr" orgqr,
    "ormqr" "unmqr" ormqr,
    "potrf" "potrf" potrf,
    "syevd" "heevd" syevd,
    "sytrd" "hetrd" sytrd,
    "trsm" "trsm" trsm,
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
    fn operand(&self, index: usize) -> Result<&Tensor, EvalError> {
        self.operands.get(index).ok_or_else(|| {
            EvalError::new(
                "operands",
                format!("operand {index} is missing; found {}", self.operands.len()),
            )
        })
    }

    fn matrices<T: MatrixField>(&self, index: usize) -> Result<Stack<T>, EvalError> {
        linalg::matrices(self.operand(index)?)
    }

    /// Square matrices.
    fn squares<T: MatrixField>(&self, index: usize) -> Result<Stack<T>, EvalError> {
        let stack = self.matrices(index)?;
        if stack.core[0] != stack.core[1] {
            return Err(EvalError::new(
                "matrix",
                format!("matrices must be square; found {:?}", stack.core),
            ));
        }
        Ok(stack)
    }

    fn vectors<T: MatrixField>(&self, index: usize) -> Result<Stack<T>, EvalError> {
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

    /// The results of a routine for some matrices.
    fn outputs<'s, T>(&self, stack: &'s Stack<T>) -> Outputs<'s> {
        Outputs { batch: &stack.batch, dtype: self.dtype }
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
        Ok(Tensor::placeholder(dtype, self.declared_shape(result)?)?)
    }

    /// Zeros for a result of the op that is a workspace.
    fn workspace(&self, result: usize) -> Result<Tensor, EvalError> {
        let dtype = self.parameters.dtypes.get(result).copied();
        let dtype = dtype.ok_or_else(|| self.missing("result"))?;
        Ok(Tensor::placeholder(dtype, self.declared_shape(result)?)?)
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

/// Lists of results of the matrices in turn.
struct Outputs<'b> {
    batch: &'b [usize],
    dtype: DType,
}

impl Outputs<'_> {
    /// A list for numbers in matrices (or vectors) of dimensions `core`.
    fn numbers<T: MatrixField>(&self, core: &[usize]) -> Result<MatrixList<T>, EvalError> {
        MatrixList::new(self.batch, core, self.dtype)
    }

    fn reals(&self, core: &[usize]) -> Result<MatrixList<f64>, EvalError> {
        MatrixList::new(self.batch, core, self.dtype.part())
    }

    fn complexes(&self, core: &[usize]) -> Result<MatrixList<Complex64>, EvalError> {
        let dtype =
            if matches!(self.dtype, DType::F64 | DType::C128) { DType::C128 } else { DType::C64 };
        MatrixList::new(self.batch, core, dtype)
    }

    fn integers(&self, core: &[usize], elements: Vec<i32>) -> Result<Tensor, EvalError> {
        Ok(Tensor::from_vec([self.batch, core].concat(), elements)?)
    }
}

/// `info` of a routine: 0 for success, else the number that it reports.
fn info(outcome: Result<(), usize>) -> i32 {
    outcome.map_or_else(|place| i32::try_from(place).unwrap_or(i32::MAX), |()| 0)
}

/// Adds `count` numbers of a matrix to a list, or as many NaNs if they were not found.
fn add<'r, T: MatrixField, R>(
    list: &mut MatrixList<T>,
    result: &'r Result<R, NoConvergence>,
    count: usize,
    elements: impl FnOnce(&'r R) -> &'r [T],
) {
    match result {
        Ok(result) => list.push(elements(result)),
        Err(NoConvergence) => list.push_nans(count),
    }
}

/// `getrf`: factors, pivots, `info`.
fn getrf<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let stack = call.matrices::<T>(0)?;
    let (core, out) = (&stack.core, call.outputs(&stack));
    let _reserved = stack.reserve(stack.size())?;
    let (mut factors, mut pivots, mut infos) = (out.numbers(core)?, Vec::new(), Vec::new());
    for mut a in stack.matrices() {
        let (exchanged, info) = ::lapack::getrf(&mut a);
        factors.push(a.elements());
        pivots.extend(exchanged);
        infos.push(info);
    }
    let steps = core[0].min(core[1]);
    Ok(vec![factors.tensor()?, out.integers(&[steps], pivots)?, out.integers(&[], infos)?])
}

/// `potrf`: the Cholesky factor in one triangle, `info`.
fn potrf<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let stack = call.squares::<T>(0)?;
    let out = call.outputs(&stack);
    let lower = call.letter("uplo")? == 'L';
    let _reserved = stack.reserve(stack.size().saturating_mul(if lower { 2 } else { 1 }))?;
    let (mut factors, mut infos) = (out.numbers(&stack.core)?, Vec::new());
    for mut a in stack.matrices() {
        infos.push(info(::lapack::potrf(&mut a, lower)));
        factors.push(a.elements());
    }
    Ok(vec![factors.tensor()?, out.integers(&[], infos)?])
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
    let stack = call.matrices::<T>(0)?;
    let (core, out) = (&stack.core, call.outputs(&stack));
    let _reserved = stack.reserve(stack.size())?;
    let (mut factors, mut taus) = (out.numbers(core)?, out.numbers(&[core[0].min(core[1])])?);
    for mut a in stack.matrices() {
        taus.push(&::lapack::geqrf(&mut a));
        factors.push(a.elements());
    }
    Ok(vec![factors.tensor()?, taus.tensor()?])
}

/// `geqp3`: as `geqrf`, with column pivoting: the second result is the column at each position.
fn geqp3<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let stack = call.matrices::<T>(0)?;
    let (batch, core, out) = (&stack.batch, &stack.core, call.outputs(&stack));
    let given = math::convert(call.operand(1)?.clone(), DType::I32)?;
    let mut order = given.to_vec::<i32>()?;
    let columns = core[1];
    if given.shape() != [&batch[..], &[columns]].concat() {
        return Err(EvalError::new(
            "matrix",
            format!("a number for each of {columns} columns is required"),
        ));
    }
    let _reserved = stack.reserve(stack.size())?;
    let (mut factors, mut taus) = (out.numbers(core)?, out.numbers(&[core[0].min(columns)])?);
    for (i, mut a) in stack.matrices().enumerate() {
        taus.push(&::lapack::geqp3(&mut a, &mut order[i * columns..][..columns]));
        factors.push(a.elements());
    }
    Ok(vec![factors.tensor()?, out.integers(&[columns], order)?, taus.tensor()?])
}

/// Matrices whose columns hold the vectors of reflections, and their factors.
type Reflections<T> = (Stack<T>, Stack<T>);

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
    // The vectors of reflections of real numbers are transposed.
    let _reserved = a.reserve(a.size().saturating_mul(4 - T::DIMENSIONS))?;
    let mut products = call.outputs(&a).numbers(&a.core)?;
    for (a, taus) in a.matrices().zip(taus.vectors()) {
        products.push(::lapack::orgqr(&a, &taus, a.columns()).elements());
    }
    Ok(vec![products.tensor()?])
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
    let _reserved =
        a.reserve(a.size().saturating_mul(3 - T::DIMENSIONS).saturating_add(c.size()))?;
    let mut products = call.outputs(&c).numbers(&c.core)?;
    for ((a, taus), mut c) in a.matrices().zip(taus.vectors()).zip(c.matrices()) {
        ::lapack::ormqr(&a, &taus, &mut c, side, adjoint);
        products.push(c.elements());
    }
    Ok(vec![products.tensor()?])
}

/// `gehrd`: the Hessenberg form with the vectors of reflections below, their factors, `info`.
fn gehrd<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let stack = call.squares::<T>(0)?;
    let (core, out) = (&stack.core, call.outputs(&stack));
    let (low, high) = (call.size("low")?, call.size("high")?);
    if (low < 1 || high > core[0] || low > high) && core[0] > 0 {
        return Err(EvalError::new(
            "matrix",
            format!("rows {low} to {high} are no part of {}", core[0]),
        ));
    }
    let _reserved = stack.reserve(stack.size())?;
    let (mut forms, mut infos) = (out.numbers(core)?, Vec::new());
    let mut taus = out.numbers(&[core[0].saturating_sub(1)])?;
    for mut a in stack.matrices() {
        taus.push(&::lapack::gehrd(&mut a, low.saturating_sub(1), high));
        forms.push(a.elements());
        infos.push(0);
    }
    Ok(vec![forms.tensor()?, taus.tensor()?, out.integers(&[], infos)?])
}

/// `sytrd`, `hetrd`: the tridiagonal form with the vectors of reflections, its diagonal, the
/// elements beside it, factors of the reflections, `info`.
fn sytrd<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let stack = call.squares::<T>(0)?;
    let (core, out) = (&stack.core, call.outputs(&stack));
    let lower = call.letter("uplo")? == 'L';
    let beside = [core[0].saturating_sub(1)];
    let _reserved = stack.reserve(stack.size().saturating_mul(2))?;
    let (mut forms, mut taus) = (out.numbers(core)?, out.numbers(&beside)?);
    let (mut diagonals, mut besides) = (out.reals(&core[..1])?, out.reals(&beside)?);
    let mut infos = Vec::new();
    for mut a in stack.matrices() {
        let form = ::lapack::sytrd(&mut a, lower);
        forms.push(a.elements());
        diagonals.push(&form.diagonal);
        besides.push(&form.beside);
        taus.push(&form.taus);
        infos.push(0);
    }
    Ok(vec![
        forms.tensor()?,
        diagonals.tensor()?,
        besides.tensor()?,
        taus.tensor()?,
        out.integers(&[], infos)?,
    ])
}

/// `syevd`, `heevd`: eigenvectors, eigenvalues, `info`.
fn syevd<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let stack = call.squares::<T>(0)?;
    let (core, out) = (&stack.core, call.outputs(&stack));
    let (lower, wanted) = (call.letter("uplo")? == 'L', call.letter("mode")? == 'V');
    let copies = if wanted { 5 - T::DIMENSIONS } else { 2 };
    let _reserved = stack.reserve(stack.size().saturating_mul(copies))?;
    let (mut vectors, mut values) = (out.numbers(core)?, out.reals(&core[..1])?);
    let mut infos = Vec::new();
    for mut a in stack.matrices() {
        let result = ::lapack::syevd(&mut a, lower, wanted, call.precision());
        infos.push(i32::from(result.is_err()));
        add(&mut values, &result, core[0], |values| values);
        add(&mut vectors, &result, core[0].saturating_mul(core[0]), |_| a.elements());
    }
    Ok(vec![vectors.tensor()?, values.tensor()?, out.integers(&[], infos)?])
}

/// `gesdd`, `gesvd`: what is left of the operand, singular values, `u`, `v^H`, `info`.
fn gesdd<T: MatrixField>(call: &RoutineCall<'_>) -> Results {
    let stack = call.matrices::<T>(0)?;
    let (core, out) = (&stack.core, call.outputs(&stack));
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
    // A wide matrix is transposed, and so are its vectors.
    let (size, side, is_wide) = (stack.size(), rows.max(columns), rows < columns);
    let square = |side: usize, copies: usize| side.saturating_mul(side).saturating_mul(copies);
    let numbers = match wanted {
        Vectors::None => size.saturating_mul(if is_wide { 2 } else { 1 }),
        Vectors::Some => size.saturating_mul(4).saturating_add(square(few, 1)),
        Vectors::All => {
            let copies = if is_wide && T::DIMENSIONS == 1 { 2 } else { 1 };
            size.saturating_mul(4).saturating_add(square(side, copies))
        }
    };
    let _reserved = stack.reserve(numbers)?;
    let (mut us, mut vs) = (out.numbers(&[rows, left])?, out.numbers(&[right, columns])?);
    let (mut values, mut infos) = (out.reals(&[few])?, Vec::new());
    for a in stack.matrices() {
        let result = ::lapack::gesdd(a, wanted, driver, call.precision());
        infos.push(i32::from(result.is_err()));
        add(&mut values, &result, few, |svd| &svd.values);
        add(&mut us, &result, rows * left, |svd| svd.u.elements());
        add(&mut vs, &result, right * columns, |svd| svd.vh.elements());
    }
    let (u, v) = if wanted == Vectors::None {
        (call.unused(2, call.dtype)?, call.unused(3, call.dtype)?)
    } else {
        (us.tensor()?, vs.tensor()?)
    };
    Ok(vec![call.operand(0)?.clone(), values.tensor()?, u, v, out.integers(&[], infos)?])
}

/// Eigenvalues as results: in parts for real matrices.
enum Eigenvalues {
    Whole(MatrixList<Complex64>),
    Parts([MatrixList<f64>; 2]),
}

impl Eigenvalues {
    fn new<T: Scalar>(out: &Outputs<'_>, n: usize) -> Result<Eigenvalues, EvalError> {
        Ok(match T::DIMENSIONS {
            2 => Eigenvalues::Whole(out.complexes(&[n])?),
            _ => Eigenvalues::Parts([out.reals(&[n])?, out.reals(&[n])?]),
        })
    }

    /// Adds the `n` eigenvalues of a matrix.
    fn add<'r, R>(
        &mut self,
        result: &'r Result<R, NoConvergence>,
        n: usize,
        values: impl FnOnce(&'r R) -> &'r [Complex64],
    ) {
        match (self, result) {
            (Eigenvalues::Whole(list), result) => add(list, result, n, values),
            (Eigenvalues::Parts(parts), Ok(result)) => values(result).iter().for_each(|x| {
                parts[0].push(&[x.re]);
                parts[1].push(&[x.im]);
            }),
            (Eigenvalues::Parts(parts), Err(NoConvergence)) => {
                parts[0].push_nans(n);
                // As complex numbers that are real.
                (0..n).for_each(|_| parts[1].push(&[0.0]));
            }
        }
    }

    fn tensors(self) -> Results {
        match self {
            Eigenvalues::Whole(list) => Ok(vec![list.tensor()?]),
            Eigenvalues::Parts([re, im]) => Ok(vec![re.tensor()?, im.tensor()?]),
        }
    }
}

/// `geev`: eigenvalues, left eigenvectors, right eigenvectors, `info`.
fn geev<T: MatrixField + SchurForm>(call: &RoutineCall<'_>) -> Results {
    let stack = call.squares::<T>(0)?;
    let (core, out) = (&stack.core, call.outputs(&stack));
    let (left, right) = (call.letter("compute_left")? == 'V', call.letter("compute_right")? == 'V');
    let (n, size) = (core[0], stack.size());
    // The matrices that are alive at a time: for vectors, all are complex.
    let copies = match usize::from(left) + usize::from(right) {
        0 => 1,
        kinds if T::DIMENSIONS == 1 => 6 + 2 * kinds,
        kinds => 3 + kinds,
    };
    let _reserved = stack.reserve(size.saturating_mul(copies))?;
    let (mut values, mut infos) = (Eigenvalues::new::<T>(&out, n)?, Vec::new());
    let list = |wanted: bool| wanted.then(|| out.complexes(core)).transpose();
    let (mut lefts, mut rights) = (list(left)?, list(right)?);
    for a in stack.matrices() {
        let result = ::lapack::geev(a, left, right, call.precision());
        infos.push(i32::from(result.is_err()));
        values.add(&result, n, |e| &e.values);
        if let Some(lefts) = &mut lefts {
            add(lefts, &result, size, |e| e.left.as_ref().map_or(&[], Matrix::elements));
        }
        if let Some(rights) = &mut rights {
            add(rights, &result, size, |e| e.right.as_ref().map_or(&[], Matrix::elements));
        }
    }
    let mut results = values.tensors()?;
    for vectors in [lefts, rights] {
        let index = results.len();
        let complex = if call.dtype.part() == DType::F64 { DType::C128 } else { DType::C64 };
        results.push(match vectors {
            Some(vectors) => vectors.tensor()?,
            None => call.unused(index, complex)?,
        });
    }
    results.push(out.integers(&[], infos)?);
    Ok(results)
}

/// `gees`: the Schur form, Schur vectors, eigenvalues, the number of selected ones (0), `info`.
fn gees<T: MatrixField + SchurForm>(call: &RoutineCall<'_>) -> Results {
    let stack = call.squares::<T>(0)?;
    let (core, out) = (&stack.core, call.outputs(&stack));
    let wanted = call.letter("mode")? == 'V';
    if call.letter("sort")? != 'N' {
        return Err(EvalError::new("custom_call", "eigenvalues of a Schur form cannot be sorted"));
    }
    let (n, size) = (core[0], stack.size());
    let _reserved = stack.reserve(size.saturating_mul(if wanted { 4 } else { 1 }))?;
    let (mut values, mut infos) = (Eigenvalues::new::<T>(&out, n)?, Vec::new());
    let mut forms = out.numbers(core)?;
    let mut vectors = wanted.then(|| out.numbers(core)).transpose()?;
    for a in stack.matrices() {
        let result = ::lapack::gees(a, wanted, call.precision());
        infos.push(i32::from(result.is_err()));
        add(&mut forms, &result, size, |s| s.t.elements());
        if let Some(vectors) = &mut vectors {
            add(vectors, &result, size, |s| s.z.elements());
        }
        values.add(&result, n, |s| &s.values);
    }
    let vectors = match vectors {
        Some(vectors) => vectors.tensor()?,
        None => call.unused(1, call.dtype)?,
    };
    let mut results = vec![forms.tensor()?, vectors];
    results.extend(values.tensors()?);
    let selected = vec![0; infos.len()];
    results.extend([out.integers(&[], selected)?, out.integers(&[], infos)?]);
    Ok(results)
}
