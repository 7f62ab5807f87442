//! Making programs op by op.

use crate::attributes::attribute_of;
use crate::errors::{Error, message, raised};
use crate::program::{Program, detached};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use stablo::dialects::func::FuncOp;
use stablo::ir::{BlockId, Loc, OpDef, RegionId, Value};
use stablo::{Attribute, Module, Type};

/// Makes a program: ops go to the end of the innermost region that their thread has open, or of the
/// module. Threads share it, each with regions of its own.
#[pyclass(frozen, module = "stablo")]
pub struct Builder {
    /// Identifies the builder, so that no values of another one are taken.
    id: u64,
    state: Mutex<State>,
}

struct State {
    module: Module,
    /// The regions that threads have open, the innermost last.
    open: HashMap<ThreadId, Vec<Open>>,
}

impl State {
    /// The end of the innermost region of this thread.
    fn end(&self) -> Option<BlockId> {
        let open = self.open.get(&thread::current().id())?;
        open.last().map(|open| open.block)
    }

    /// Ends the innermost region of this thread.
    fn pop(&mut self) -> Option<Open> {
        let id = thread::current().id();
        let open = self.open.get_mut(&id)?;
        let last = open.pop();
        if open.is_empty() {
            self.open.remove(&id);
        }
        last
    }
}

/// A region that is being filled.
struct Open {
    region: RegionId,
    block: BlockId,
    arguments: Vec<Type>,
}

/// A value of a program that is being built.
#[pyclass(frozen, module = "stablo")]
pub struct SSAValue {
    builder: u64,
    value: Value,
    ty: Type,
}

#[pymethods]
impl SSAValue {
    /// The type.
    #[getter]
    fn r#type(&self) -> String {
        self.ty.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<stablo.SSAValue of {}>", self.ty)
    }
}

/// A region that is complete, and the types of its arguments and results.
#[pyclass(frozen, module = "stablo")]
pub struct Region {
    builder: u64,
    region: RegionId,
    arguments: Vec<Type>,
    results: Vec<Type>,
}

#[pymethods]
impl Region {
    /// Types of the values that the region returns.
    #[getter]
    fn result_types(&self) -> Vec<String> {
        self.results.iter().map(Type::to_string).collect()
    }
}

#[pymethods]
impl Builder {
    #[new]
    fn new() -> Builder {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        let state = State { module: stablo::new_module(), open: HashMap::new() };
        Builder { id, state: Mutex::new(state) }
    }

    /// Opens a region whose arguments have these types and, where given, names. Returns them.
    fn open_region(
        &self,
        py: Python<'_>,
        types: Vec<String>,
        names: Vec<Option<String>>,
    ) -> PyResult<Vec<SSAValue>> {
        let arguments = parsed(py, &types)?;
        let location = |name: Option<String>| match name {
            Some(name) => {
                let named = parsed_location(py, &format!("loc({})", quoted(&name)))?;
                Ok(Loc::Explicit(named, None))
            }
            None => Ok(Loc::Unknown),
        };
        let names = names.into_iter().chain(std::iter::repeat(None)).take(arguments.len());
        let locations = names.map(location).collect::<PyResult<Vec<_>>>()?;
        let mut state = self.lock(py);
        let region = state.module.create_region();
        let block = state.module.create_block(region);
        let mut values = Vec::with_capacity(arguments.len());
        for (ty, location) in arguments.iter().zip(locations) {
            let value = state.module.add_argument(block, ty.clone(), location);
            values.push(self.value(&state, value));
        }
        let open = state.open.entry(thread::current().id()).or_default();
        open.push(Open { region, block, arguments });
        Ok(values)
    }

    /// Ends the innermost region, of an op of that name, with the values that it returns.
    fn close_region(
        &self,
        py: Python<'_>,
        op: &str,
        results: Vec<PyRef<'_, SSAValue>>,
    ) -> PyResult<Region> {
        let values = self.values(&results)?;
        let mut state = self.lock(py);
        let end = state.end().ok_or_else(|| message("no region is open in this thread"))?;
        let mut builder = stablo::Builder::new(&mut state.module);
        builder.insert_at_end(end);
        let terminator = builder.terminator(op).map_err(|error| raised(py, &error))?;
        builder.op(terminator).operands(values).build().map_err(|error| raised(py, &error))?;
        let results = results.iter().map(|value| value.ty.clone()).collect();
        match state.pop() {
            Some(Open { region, arguments, .. }) => {
                Ok(Region { builder: self.id, region, arguments, results })
            }
            None => Err(message("no region is open in this thread")),
        }
    }

    /// Gives up the innermost region.
    fn abandon_region(&self, py: Python<'_>) {
        self.lock(py).pop();
    }

    /// The types of the arguments of a region of an op on these operands, where they follow.
    #[staticmethod]
    fn region_arguments(op: &str, operands: Vec<PyRef<'_, SSAValue>>) -> Option<Vec<String>> {
        let types: Vec<&Type> = operands.iter().map(|operand| &operand.ty).collect();
        let types = region_arguments(op, &types)?;
        Some(types.iter().map(Type::to_string).collect())
    }

    /// Adds an op for a place in a file of Python. Returns its results.
    fn op(
        &self,
        name: &str,
        operands: Vec<PyRef<'_, SSAValue>>,
        attributes: &Bound<'_, PyDict>,
        regions: Vec<PyRef<'_, Region>>,
        result_types: Option<Vec<String>>,
        place: (String, u32),
    ) -> PyResult<Vec<SSAValue>> {
        let py = attributes.py();
        let operands = self.values(&operands)?;
        if regions.iter().any(|region| region.builder != self.id) {
            return Err(message("a region is of another builder"));
        }
        let (file, line) = place;
        let location = parsed_location(py, &format!("loc({}:{line}:1)", quoted(&file)))?;
        let given = given_attributes(name, attributes)?;
        let result_types = match (result_types, regions.first()) {
            (Some(types), _) => Some(parsed(py, &types)?),
            (None, Some(branch)) if ["stablehlo.if", "stablehlo.case"].contains(&name) => {
                Some(branch.results.clone())
            }
            (None, _) => None,
        };
        let mut state = self.lock(py);
        let end = state.end();
        let mut builder = stablo::Builder::new(&mut state.module);
        builder.set_location(location);
        if let Some(block) = end {
            builder.insert_at_end(block);
        }
        let mut op = builder.op(name).operands(operands);
        for (key, attribute) in given {
            op = op.attribute(&key, attribute);
        }
        for region in regions {
            op = op.region(region.region);
        }
        if let Some(types) = result_types {
            op = op.result_types(types);
        }
        let values = op.values().map_err(|error| raised(py, &error))?;
        Ok(values.into_iter().map(|value| self.value(&state, value)).collect())
    }

    /// Adds a function of that name with a body.
    fn function(&self, py: Python<'_>, name: &str, body: PyRef<'_, Region>) -> PyResult<()> {
        if body.builder != self.id {
            return Err(message("the body is of another builder"));
        }
        let mut state = self.lock(py);
        if state.end().is_some() {
            return Err(message("a function cannot be within a region"));
        }
        let ty = Type::function(body.arguments.clone(), body.results.clone());
        let mut builder = stablo::Builder::new(&mut state.module);
        let function = builder.op(FuncOp::DEF).attribute("sym_name", Attribute::string(name));
        let function = function.attribute("function_type", ty).region(body.region);
        function.build().map(drop).map_err(|error| raised(py, &error))
    }

    /// The program so far, verified.
    fn build(&self, py: Python<'_>) -> PyResult<Program> {
        let state = self.lock(py);
        if !state.open.is_empty() {
            return Err(message("a region is not complete"));
        }
        let module = state.module.clone();
        drop(state);
        let module = detached(py, || stablo::verify(&module).map(|()| module))?;
        Ok(Program::of(module))
    }
}

impl Builder {
    /// The state, for which this thread waits without the interpreter lock.
    fn lock<'a>(&'a self, py: Python<'_>) -> MutexGuard<'a, State> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn value(&self, state: &State, value: Value) -> SSAValue {
        SSAValue { builder: self.id, value, ty: state.module.ty(value).clone() }
    }

    fn values(&self, values: &[PyRef<'_, SSAValue>]) -> PyResult<Vec<Value>> {
        match values.iter().all(|value| value.builder == self.id) {
            true => Ok(values.iter().map(|value| value.value).collect()),
            false => Err(message("a value is of another builder")),
        }
    }
}

/// The attributes that Python values stand for, for an op of that name.
fn given_attributes(
    name: &str,
    attributes: &Bound<'_, PyDict>,
) -> PyResult<Vec<(String, Attribute)>> {
    let def = stablo::registry().op(name);
    let mut given = Vec::with_capacity(attributes.len());
    for (key, value) in attributes {
        let key: String = key.extract()?;
        let slot = def.and_then(|def| slot(def, &key));
        if let (Some(def), None, false) = (def, slot, key.contains('.')) {
            return Err(message(unknown_attribute(def, &key)));
        }
        let attribute = attribute_of(&value, slot)
            .map_err(|error| in_attribute(attributes.py(), error, name, &key))?;
        given.push((key, attribute));
    }
    Ok(given)
}

/// An error about a value, with the attribute that it was given for.
fn in_attribute(py: Python<'_>, error: PyErr, op: &str, attribute: &str) -> PyErr {
    let is_about_values = error.is_instance_of::<Error>(py)
        || error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyOverflowError>(py);
    if !is_about_values {
        return error;
    }
    let text = format!("attribute `{attribute}` of `{op}`: {}", error.value(py));
    let outer = message(text);
    outer.set_cause(py, Some(error));
    outer
}
/// Names of StableHLO's ops without the dialect.
#[pyfunction]
pub fn op_names() -> Vec<&'static str> {
    let ops = stablo::registry().dialects().iter().flat_map(|dialect| dialect.ops);
    ops.filter_map(|op| op.name.strip_prefix("stablehlo.")).collect()
}

/// The element type and the shape of a tensor type without dynamic dimensions.
#[pyfunction]
pub fn tensor_type(py: Python<'_>, text: &str) -> PyResult<(&'static str, Vec<usize>)> {
    let ty = stablo::parse_type(text).map_err(|error| raised(py, &error))?;
    let shape = ty.shape().and_then(|shape| {
        shape.iter().map(|&size| usize::try_from(size).ok()).collect::<Option<Vec<usize>>>()
    });
    match (ty.element_type().dtype(), shape) {
        (Some(dtype), Some(shape)) => Ok((dtype.name(), shape)),
        _ => Err(message(format!("a constant must be a static tensor of numbers, not {ty}"))),
    }
}

/// The error of an attribute that an op does not declare. Others have names with a dialect.
fn unknown_attribute(def: &OpDef, key: &str) -> String {
    let names: Vec<String> = def.attributes.iter().map(|slot| format!("`{}`", slot.name)).collect();
    let has = if names.is_empty() { "none".to_string() } else { names.join(", ") };
    let op = def.name;
    format!(
        "`{op}` has no attribute `{key}`; it has {has}, and further ones that name a dialect, as in `my.{key}`"
    )
}

fn slot(def: &OpDef, name: &str) -> Option<&'static stablo::ir::AttrConstraint> {
    def.attributes.iter().find(|slot| slot.name == name).map(|slot| slot.constraint)
}

fn parsed_location(py: Python<'_>, text: &str) -> PyResult<Attribute> {
    stablo::parse_attribute(text).map_err(|error| raised(py, &error))
}

fn parsed(py: Python<'_>, types: &[String]) -> PyResult<Vec<Type>> {
    let types: stablo::Result<_> = types.iter().map(|text| stablo::parse_type(text)).collect();
    types.map_err(|error| raised(py, &error))
}

/// A string as MLIR writes it.
fn quoted(text: &str) -> String {
    Attribute::string(text).to_string()
}

/// The types of the arguments of a region of an op, where they follow from its operands.
fn region_arguments(op: &str, operands: &[&Type]) -> Option<Vec<Type>> {
    let scalar = |ty: &&Type| Type::tensor([], ty.element_type().clone());
    let scalars = |operands: &[&Type]| operands.iter().map(scalar).collect::<Vec<_>>();
    let twice = |operands: &[&Type]| [scalars(operands), scalars(operands)].concat();
    Some(match op.strip_prefix("stablehlo.")? {
        "if" | "case" => Vec::new(),
        "while" => operands.iter().map(|&ty| ty.clone()).collect(),
        "map" => scalars(operands),
        "reduce" | "reduce_window" => twice(&operands[operands.len() / 2..]),
        "scatter" => twice(&operands[..operands.len() / 2]),
        "sort" => operands.iter().flat_map(|ty| [scalar(ty), scalar(ty)]).collect(),
        "all_reduce" | "reduce_scatter" | "select_and_scatter" => twice(operands.get(..1)?),
        _ => return None,
    })
}
