//! Making programs op by op.

use crate::attributes::attribute_of;
use crate::errors::{message, raised};
use crate::program::{Program, detached};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicU64, Ordering};

use stablo::dialects::func::FuncOp;
use stablo::ir::{BlockId, Loc, OpDef, RegionId, Value};
use stablo::{Attribute, Module, Type};

/// Makes a program: ops go to the end of the innermost region that is open, or of the module.
#[pyclass(module = "stablo")]
pub struct Builder {
    module: Module,
    /// Identifies the builder, so that no values of another one are taken.
    id: u64,
    open: Vec<Open>,
    /// The location of new ops.
    location: Attribute,
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
        Builder {
            module: stablo::new_module(),
            id,
            open: Vec::new(),
            location: Attribute::unknown_location(),
        }
    }

    /// New ops have this place in a file of Python.
    fn set_place(&mut self, py: Python<'_>, file: &str, line: u32) -> PyResult<()> {
        self.location = location(py, &format!("loc({}:{line}:1)", quoted(file)))?;
        Ok(())
    }

    /// Opens a region whose arguments have these types and, where given, names. Returns them.
    fn open_region(
        &mut self,
        py: Python<'_>,
        types: Vec<String>,
        names: Vec<Option<String>>,
    ) -> PyResult<Vec<SSAValue>> {
        let arguments = parsed(py, &types)?;
        let region = self.module.create_region();
        let block = self.module.create_block(region);
        let names = names.into_iter().chain(std::iter::repeat(None));
        let mut values = Vec::with_capacity(arguments.len());
        for (ty, name) in arguments.iter().zip(names) {
            let location = match name {
                Some(name) => {
                    Loc::Explicit(location(py, &format!("loc({})", quoted(&name)))?, None)
                }
                None => Loc::Unknown,
            };
            let value = self.module.add_argument(block, ty.clone(), location);
            values.push(self.value(value));
        }
        self.open.push(Open { region, block, arguments });
        Ok(values)
    }

    /// Ends the innermost region, of an op of that name, with the values that it returns.
    fn close_region(
        &mut self,
        py: Python<'_>,
        op: &str,
        results: Vec<PyRef<'_, SSAValue>>,
    ) -> PyResult<Region> {
        let values = self.values(&results)?;
        let end = self.end();
        let mut builder = stablo::Builder::new(&mut self.module);
        builder.insert_at_end(end.ok_or_else(|| message("no region is open"))?);
        let terminator = builder.terminator(op).map_err(|error| raised(py, &error))?;
        builder.op(terminator).operands(values).build().map_err(|error| raised(py, &error))?;
        let results = results.iter().map(|value| value.ty.clone()).collect();
        match self.open.pop() {
            Some(Open { region, arguments, .. }) => {
                Ok(Region { builder: self.id, region, arguments, results })
            }
            None => Err(message("no region is open")),
        }
    }

    /// Gives up the innermost region.
    fn abandon_region(&mut self) {
        self.open.pop();
    }

    /// The types of the arguments of a region of an op on these operands, where they follow.
    fn region_arguments(
        &self,
        op: &str,
        operands: Vec<PyRef<'_, SSAValue>>,
    ) -> Option<Vec<String>> {
        let types: Vec<&Type> = operands.iter().map(|operand| &operand.ty).collect();
        let types = region_arguments(op, &types)?;
        Some(types.iter().map(Type::to_string).collect())
    }

    /// Adds an op. Returns its results.
    fn op(
        &mut self,
        py: Python<'_>,
        name: &str,
        operands: Vec<PyRef<'_, SSAValue>>,
        attributes: &Bound<'_, PyDict>,
        regions: Vec<PyRef<'_, Region>>,
        result_types: Option<Vec<String>>,
    ) -> PyResult<Vec<SSAValue>> {
        let operands = self.values(&operands)?;
        if regions.iter().any(|region| region.builder != self.id) {
            return Err(message("a region is of another builder"));
        }
        let def = self.module.registry().op(name);
        let mut given = Vec::with_capacity(attributes.len());
        for (key, value) in attributes {
            let key: String = key.extract()?;
            let slot = def.and_then(|def| slot(def, &key));
            if let (Some(def), None, false) = (def, slot, key.contains('.')) {
                return Err(message(unknown_attribute(def, &key)));
            }
            given.push((key, attribute_of(&value, slot)?));
        }
        let result_types = match (result_types, regions.first()) {
            (Some(types), _) => Some(parsed(py, &types)?),
            (None, Some(branch)) if ["stablehlo.if", "stablehlo.case"].contains(&name) => {
                Some(branch.results.clone())
            }
            (None, _) => None,
        };
        let end = self.end();
        let mut builder = stablo::Builder::new(&mut self.module);
        builder.set_location(self.location.clone());
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
        Ok(values.into_iter().map(|value| self.value(value)).collect())
    }

    /// Adds a function of that name with a body.
    fn function(&mut self, py: Python<'_>, name: &str, body: PyRef<'_, Region>) -> PyResult<()> {
        if body.builder != self.id {
            return Err(message("the body is of another builder"));
        }
        if !self.open.is_empty() {
            return Err(message("a function cannot be within a region"));
        }
        let ty = Type::function(body.arguments.clone(), body.results.clone());
        let mut builder = stablo::Builder::new(&mut self.module);
        let function = builder.op(FuncOp::DEF).attribute("sym_name", Attribute::string(name));
        let function = function.attribute("function_type", ty).region(body.region);
        function.build().map(drop).map_err(|error| raised(py, &error))
    }

    /// The program so far, verified.
    fn build(&self, py: Python<'_>) -> PyResult<Program> {
        if !self.open.is_empty() {
            return Err(message("a region is not complete"));
        }
        let module = detached(py, || {
            stablo::verify(&self.module)?;
            Ok(self.module.clone())
        })?;
        Ok(Program::of(module))
    }
}

impl Builder {
    fn end(&self) -> Option<BlockId> {
        self.open.last().map(|open| open.block)
    }

    fn value(&self, value: Value) -> SSAValue {
        SSAValue { builder: self.id, value, ty: self.module.ty(value).clone() }
    }

    fn values(&self, values: &[PyRef<'_, SSAValue>]) -> PyResult<Vec<Value>> {
        match values.iter().all(|value| value.builder == self.id) {
            true => Ok(values.iter().map(|value| value.value).collect()),
            false => Err(message("a value is of another builder")),
        }
    }
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
    let (op, names) = (def.name, names.join(", "));
    let has = if names.is_empty() { "no others" } else { &names };
    format!("`{op}` has no attribute `{key}`, but {has}; further ones have a dialect: `my.{key}`")
}

fn slot(def: &OpDef, name: &str) -> Option<&'static stablo::ir::AttrConstraint> {
    def.attributes.iter().find(|slot| slot.name == name).map(|slot| slot.constraint)
}

fn location(py: Python<'_>, text: &str) -> PyResult<Attribute> {
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
