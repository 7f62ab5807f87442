//! `jax.experimental.custom_partitioning`: Python functions that say how to divide an op.
//!
//! JAX lowers the op to a custom call with the key of the functions. When the program is compiled,
//! Python gets the shardings that propagation gives operands and results, and returns a program for
//! the shards of one device, with the shardings that it is for. The call becomes a manual
//! computation that calls it.

use crate::divided::to_text;
use crate::error::{Code, Failure, Outcome};
use crate::handle::parts;
use crate::host::{MESSAGE_BYTES, text_of};
use crate::parameters::{ENTRY, distribution_of};
use crate::propagation::value_shardings;
use crate::types;
use stablo::dialects::func::{CallOp, FuncOp};
use stablo::dialects::sdy;
use stablo::dialects::stablehlo::CustomCallOp;
use stablo::ir::{BlockId, Loc, OpId, OpParts, OpRef, RegionId, Value};
use stablo::{Attribute, Builder, LoadOptions, Module, Type};
use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::fmt::Write;
use std::sync::OnceLock;

/// The target of calls that Python divides.
const TARGET: &str = "CustomSPMDPartitioning";

/// Takes bytes from Python.
type Deliver = unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, size: usize);

/// Asks Python to divide a call. The request has a line with the key of its functions, then for
/// each operand and each result `operand` or `result`, the number of its element type, its sizes
/// with commas, and its sharding as XLA writes it. The answer has a line with the axes of the mesh,
/// one with their names, then lines with the dimensions of shardings, with tabs between these: of
/// operands and of results for the program for a device, and of results for the rest; then the
/// program.
/// Returns false, with a message, if that fails.
pub(crate) type Partition = unsafe extern "C" fn(
    request: *const c_char,
    request_size: usize,
    deliver: Deliver,
    context: *mut c_void,
    message: *mut c_char,
    message_size: usize,
) -> bool;

static PARTITION: OnceLock<Partition> = OnceLock::new();

/// Sets the function that divides calls; the first one stays.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn stablo_pjrt_set_partition(function: Partition) {
    let _ = PARTITION.set(function);
}

/// Appends the bytes to the vector that is the context.
unsafe extern "C" fn deliver(context: *mut c_void, bytes: *const u8, size: usize) {
    // SAFETY: the context is that of `answer`, and Python passes bytes that live during the call.
    unsafe {
        let answer = &mut *context.cast::<Vec<u8>>();
        answer.extend_from_slice(std::slice::from_raw_parts(bytes, size));
    }
}

/// The answer of Python to a request.
fn answer(request: &str) -> Outcome<Vec<u8>> {
    let Some(partition) = PARTITION.get() else {
        let message =
            "jax.experimental.custom_partitioning needs JAX with the Python package stablo";
        return Err(Failure::new(Code::Unimplemented, message));
    };
    let mut answer: Vec<u8> = Vec::new();
    let mut message = [0u8; MESSAGE_BYTES];
    let (start, size) = parts(request.as_bytes());
    // SAFETY: the request, the answer and the message live during the call.
    let done = unsafe {
        let context = (&raw mut answer).cast();
        partition(start, size, deliver, context, message.as_mut_ptr().cast(), MESSAGE_BYTES)
    };
    if done { Ok(answer) } else { Err(Failure::new(Code::Internal, text_of(message))) }
}

/// True for calls that Python divides.
fn is_partitioned(op: OpRef<'_>) -> bool {
    CustomCallOp::cast(op).is_some_and(|call| call.call_target_name() == TARGET)
}

/// Divides the calls that Python divides. Returns true if there are any.
///
/// # Errors
/// If a function of Python fails, or what it returns cannot be read.
pub(crate) fn prepare(module: &mut Module, devices: usize) -> Outcome<bool> {
    let calls: Vec<OpId> =
        stablo::walk(module).filter(|op| is_partitioned(*op)).map(OpRef::id).collect();
    if calls.is_empty() || devices < 2 {
        return Ok(false);
    }
    let requests = requests(module, &calls, devices)?;
    for (number, (call, request)) in calls.into_iter().zip(requests).enumerate() {
        let prefix = format!("stablo.partition_{number}.");
        let answer = answer(&request)?;
        let unreadable = || Failure::new(Code::Internal, "Python's answer cannot be read");
        let mut lines = answer.splitn(6, |&byte| byte == b'\n');
        let mut line = || lines.next().ok_or_else(unreadable);
        let mut text = || std::str::from_utf8(line()?).map_err(|_| unreadable());
        let mesh = mesh_of(module, text()?);
        let axes = text()?;
        let mut shardings = || -> Outcome<Vec<String>> {
            let dims = text()?.split('\t').filter(|dims| !dims.is_empty());
            Ok(dims.map(|dims| format!("<{mesh}, {dims}>")).collect())
        };
        let shardings = [shardings()?, shardings()?, shardings()?];
        let program = load(line()?)?;
        add_functions(module, &program, &prefix);
        let wrapper = wrapper(module.op(call), &program, &prefix, axes, &shardings)?;
        let wrapper = load(wrapper.as_bytes())?;
        add_functions(module, &wrapper, "");
        let mut builder = Builder::new(module);
        let view = builder.module().op(call);
        let (operands, location) = (view.operands().to_vec(), view.location());
        let types: Vec<Type> = view.result_types().cloned().collect();
        builder.insert_before(call).set_location(location);
        let values = { builder.op(CallOp::DEF) }
            .operands(operands)
            .attribute("callee", Attribute::symbol(format!("{prefix}call")))
            .result_types(types)
            .values();
        let values = values.map_err(Failure::of(Code::Internal))?;
        builder.replace(call, &values).map_err(Failure::of(Code::Internal))?;
    }
    stablo::verify(module).map_err(Failure::of(Code::Internal))?;
    Ok(true)
}

/// The mesh of the module that has these axes, by name; else one with them.
fn mesh_of(module: &Module, axes: &str) -> String {
    let own = stablo::parse_attribute(&format!("#sdy.mesh<{axes}>")).ok();
    let own = own.and_then(|own| sdy::Mesh::of(&own));
    let is_same = |mesh: &sdy::MeshOp<'_>| mesh.mesh().and_then(sdy::Mesh::of) == own;
    let mut meshes = stablo::walk(module).filter_map(sdy::MeshOp::cast);
    match meshes.find(is_same).and_then(|mesh| mesh.symbol_name()) {
        Some(name) if own.is_some() => format!("@{name}"),
        _ => format!("mesh<{axes}>"),
    }
}

fn load(source: &[u8]) -> Outcome<Module> {
    let loaded = LoadOptions::default().verify(false).load("partitioned", source);
    if stablo::has_errors(&loaded.diagnostics) {
        let error = stablo::Error::in_module(loaded.diagnostics, &loaded.module);
        return Err(Failure::of(Code::Internal)(error));
    }
    Ok(loaded.module)
}

/// The request for each call.
fn requests(module: &Module, calls: &[OpId], devices: usize) -> Outcome<Vec<String>> {
    let function =
        stablo::entry_function(module, ENTRY).map_err(Failure::of(Code::InvalidArgument))?;
    let results = |op: OpRef<'_>| op.results().collect::<Vec<Value>>();
    let values: Vec<Value> = { calls.iter() }
        .flat_map(|&id| [module.op(id).operands().to_vec(), results(module.op(id))].concat())
        .collect();
    let mut shardings = value_shardings(module, *function, &values).into_iter();
    let mut request = |&id: &OpId| {
        let op = module.op(id);
        let key = CustomCallOp::cast(op).and_then(|call| call.backend_config()?.as_str());
        let mut request = key.unwrap_or_default().to_string();
        let operands = op.operands().iter().map(|&value| ("operand", value));
        for (kind, value) in operands.chain(op.results().map(|value| ("result", value))) {
            let ty = module.ty(value);
            let sizes = ty.as_tensor().and_then(|tensor| tensor.static_shape());
            let Some((sizes, dtype)) = sizes.zip(stablo::storage_dtype(ty)) else {
                let message = format!("{TARGET} has a value of type {ty}, not a static tensor");
                return Err(Failure::new(Code::Unimplemented, message));
            };
            let sharding = shardings.next().flatten();
            let distribution =
                sharding.map(|own| distribution_of(*function, own, sizes.len(), devices));
            let sharding = to_text(distribution.transpose()?.flatten().as_ref());
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            let (number, sizes) = (types::number(dtype)?, sizes.join(","));
            let _ = write!(request, "\n{kind} {number} {sizes} {sharding}");
        }
        Ok(request)
    };
    calls.iter().map(&mut request).collect()
}

/// A function of the types of a call, which runs a program on shards.
fn wrapper(
    call: OpRef<'_>,
    program: &Module,
    prefix: &str,
    axes: &str,
    [inputs, outputs, propagated]: &[Vec<String>; 3],
) -> Outcome<String> {
    let main = stablo::entry_function(program, ENTRY).map_err(Failure::of(Code::Internal))?;
    let (shards, returned) = main.signature();
    let operands: Vec<&Type> = call.operand_types().collect();
    let results: Vec<&Type> = call.result_types().collect();
    if operands.len() != shards.len() || results.len() != returned.len() {
        let message = format!(
            "the partitioned program has {} arguments and {} results, the call {} and {}",
            shards.len(),
            returned.len(),
            operands.len(),
            results.len()
        );
        return Err(Failure::new(Code::Internal, message));
    }
    let list = |types: &mut dyn Iterator<Item = &Type>| {
        types.map(Type::to_string).collect::<Vec<_>>().join(", ")
    };
    let names = |start: &str, count: usize| {
        (0..count).map(|at| format!("%{start}{at}")).collect::<Vec<_>>().join(", ")
    };
    let declared = |start: &str, types: &mut dyn Iterator<Item = &Type>| {
        let each = types.enumerate().map(|(at, ty)| format!("%{start}{at}: {ty}"));
        each.collect::<Vec<_>>().join(", ")
    };
    let values = |name: &str| match results.len() {
        0 => String::new(),
        count => format!("%{name}:{count} = "),
    };
    let returned_of = |name: &str, types: &mut dyn ExactSizeIterator<Item = &Type>| {
        let all: Vec<String> = (0..types.len()).map(|at| format!("%{name}{at}")).collect();
        if all.is_empty() { String::new() } else { format!("{} : {}", all.join(", "), list(types)) }
    };
    // Results have the shardings that propagation gave them, whatever the functions prefer.
    let mut constraints = String::new();
    for (at, (ty, sharding)) in results.iter().zip(propagated).enumerate() {
        let _ =
            writeln!(constraints, "%r{at} = sdy.sharding_constraint %whole#{at} {sharding} : {ty}");
    }
    Ok(format!(
        "module {{ func.func private @{prefix}call({}) -> ({results}) {{
           {}sdy.manual_computation({}) in_shardings=[{}] out_shardings=[{}]
               manual_axes={axes} ({}) {{
             {}func.call @{prefix}{ENTRY}({}) : ({}) -> ({})
             sdy.return {}
           }} : ({}) -> ({results})
           {constraints}
           return {}
         }} }}",
        declared("a", &mut operands.iter().copied()),
        values("whole"),
        names("a", operands.len()),
        inputs.join(", "),
        outputs.join(", "),
        declared("s", &mut shards.iter()),
        values("own"),
        names("s", shards.len()),
        list(&mut shards.iter()),
        list(&mut returned.iter()),
        returned_of("own#", &mut returned.iter()),
        list(&mut operands.iter().copied()),
        returned_of("r", &mut results.iter().copied()),
        results = list(&mut results.iter().copied()),
    ))
}

/// Adds the functions of another module as private ones, with a prefix to their names.
fn add_functions(module: &mut Module, other: &Module, prefix: &str) {
    let top = |module: &Module| {
        let body = module.top().regions().first().copied();
        body.and_then(|body| module.entry(body))
    };
    let (Some(to), Some(from)) = (top(module), top(other)) else { return };
    let mut copier = Copier { to: module, from: other, prefix, values: HashMap::new() };
    for op in other.ops(from).filter(|op| op.is(FuncOp::DEF)) {
        let copy = copier.op(op, &HashMap::new());
        copier.to.set_attr(copy, "sym_visibility", Attribute::string("private"));
        copier.to.append(to, copy);
    }
}

/// Copies ops of one module to another. Locations stay behind.
struct Copier<'a> {
    to: &'a mut Module,
    from: &'a Module,
    /// Before the names of functions.
    prefix: &'a str,
    values: HashMap<Value, Value>,
}

impl Copier<'_> {
    fn op(&mut self, op: OpRef<'_>, blocks: &HashMap<BlockId, BlockId>) -> OpId {
        let regions: Vec<RegionId> = op.regions().iter().map(|&own| self.region(own)).collect();
        let mut parts = OpParts::new(op.op_name().clone(), Loc::Unknown);
        parts.operands.extend(op.operands().iter().map(|value| self.values[value]));
        parts.result_types.extend(op.result_types().cloned());
        parts.properties.extend(op.properties().iter().map(|own| self.renamed(own.as_ref()?)));
        parts.attributes = op.attributes().clone();
        parts.regions.extend(regions);
        parts.successors.extend(op.successors().iter().map(|block| blocks[block]));
        let copy = self.to.create_op(parts);
        let results: Vec<Value> = self.to.op(copy).results().collect();
        self.values.extend(op.results().zip(results));
        if let Some(name) = op.symbol_name().filter(|_| op.is(FuncOp::DEF)) {
            let name = Attribute::string(format!("{}{name}", self.prefix));
            self.to.set_attr(copy, "sym_name", name);
        }
        copy
    }

    /// An attribute with the prefix if it refers to a function of the module.
    fn renamed(&self, attribute: &Attribute) -> Option<Attribute> {
        let name = attribute.as_flat_symbol();
        let is_own =
            |name: &str| self.from.top().lookup_symbol(name).is_some_and(|op| op.is(FuncOp::DEF));
        Some(match name.filter(|name| is_own(name)) {
            Some(name) => Attribute::symbol(format!("{}{name}", self.prefix)),
            None => attribute.clone(),
        })
    }

    fn region(&mut self, region: RegionId) -> RegionId {
        let copy = self.to.create_region();
        let sources = self.from.blocks(region);
        let blocks: HashMap<BlockId, BlockId> =
            sources.iter().map(|&block| (block, self.to.create_block(copy))).collect();
        for &block in sources {
            for &argument in self.from.arguments(block) {
                let ty = self.from.ty(argument).clone();
                let value = self.to.add_argument(blocks[&block], ty, Loc::Unknown);
                self.values.insert(argument, value);
            }
        }
        for &block in sources {
            for op in self.from.ops(block) {
                let copy = self.op(op, &blocks);
                self.to.append(blocks[&block], copy);
            }
        }
        copy
    }
}
