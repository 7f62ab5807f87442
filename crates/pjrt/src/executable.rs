//! Compiled programs and what is known of them.

use crate::cache;
use crate::client::Client;
use crate::debug;
use crate::device::{Device, MAX_DEVICES, MEMORY_KINDS};
use crate::device_program::device_program;
use crate::divided;
use crate::error::{Code, Failure, Outcome};
use crate::handle::{Handle, Resolve, array, array_mut, bytes, give, int, parts, structure, text};
use crate::host::Host;
use crate::layouts::{self, Layout};
use crate::parameters::{ENTRY, Parameter, parameters};
use crate::partitioned;
use crate::terms;
use pjrt_abi::{
    Args, ClientCompile, ClientLoad, Compile, CompileOptions, ExecutableBytes, ExecutableCodeSize,
    ExecutableCount, ExecutableDeserializeAndLoad, ExecutableDestroy, ExecutableFingerprint,
    ExecutableGetCostAnalysis, ExecutableMemoryKinds, ExecutableMemoryStats, ExecutableName,
    ExecutableOptimizedProgram, ExecutableOutputDimensions, ExecutableOutputElementTypes,
    LoadedAddressableDevices, LoadedDelete, LoadedDestroy, LoadedFingerprint,
    LoadedGetDeviceAssignment, LoadedGetExecutable, LoadedIsDeleted, LoadedLogicalIds, Named,
    NamedValues, Override, Program, write_assignment,
};
use stablo::dialects::sdy;
use stablo::dialects::stablehlo::{CaseOp, CustomCallOp, IfOp};
use stablo::{
    Attribute, CustomCalls, Engine, LoadOptions, Module, PrintOptions, RunOptions, Type,
    with_large_stack,
};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Bytes before a serialized executable.
const MAGIC: &[u8] = b"stablo executable 2\n";

/// The maximum bytes of arguments and results, and the maximum ops, of programs that are taken to
/// be short before they have run.
const SMALL_BYTES: usize = 64 << 10;
const SMALL_OPS: usize = 64;

/// The number of executions whose durations are measured at first, and the distance of those
/// afterwards.
const MEASURED: u64 = 32;

/// A compiled program.
pub struct Compiled {
    name: String,
    /// Its number and name, for debugging.
    pub title: String,
    /// The program as it arrived, and the options.
    source: Vec<u8>,
    serialized_options: Vec<u8>,
    pub options: CompileOptions,
    pub program: stablo::Program,
    /// The program for the interpreter, with which executions are compared, if that is asked for.
    pub reference: Option<stablo::Program>,
    pub host: Host,
    pub arguments: Vec<Parameter>,
    pub results: Vec<Parameter>,
    /// True if it calls Python functions of the client.
    pub calls_host: bool,
    /// True if Python functions of the client were asked to divide ops of it.
    is_partitioned: bool,
    /// True if devices are to have their own values of what the program states to be the same on
    /// all of them.
    pub minds_copies: bool,
    /// True if computations of single devices fail where they would have other values.
    pub checks_copies: bool,
    /// True if they had other values in an execution.
    copies_differ: AtomicBool,
    /// True if processes of devices run the program, with a term of each unreduced value.
    pub has_terms: bool,
    /// Nanoseconds that an execution took: of several, the least.
    duration: AtomicU64,
    /// The number of executions.
    executions: AtomicU64,
    fingerprint: String,
    lists: Lists,
    cost: OnceLock<NamedValues>,
    /// The program as text, which clients ask for several times.
    text: OnceLock<String>,
}

/// Storage of the arrays that clients get.
struct Lists {
    types: Vec<c_int>,
    dims: Vec<i64>,
    ranks: Vec<usize>,
    argument_layouts: Vec<Handle<Layout>>,
    result_layouts: Vec<Handle<Layout>>,
    argument_kinds: Kinds,
    result_kinds: Kinds,
}

/// The texts of memory kinds.
struct Kinds {
    texts: Vec<usize>,
    sizes: Vec<usize>,
}

impl Kinds {
    fn new(parameters: &[Parameter]) -> Kinds {
        let kinds = || parameters.iter().map(|parameter| MEMORY_KINDS[parameter.memory]);
        Kinds {
            texts: kinds().map(|kind| kind.as_ptr() as usize).collect(),
            sizes: kinds().map(str::len).collect(),
        }
    }

    fn list(&self, args: &mut ExecutableMemoryKinds) {
        args.count = self.sizes.len();
        args.kinds = self.texts.as_ptr().cast::<*const c_char>();
        args.kind_sizes = self.sizes.as_ptr();
    }
}

/// `PJRT_Executable`.
pub struct Executable(pub Arc<Compiled>);

/// `PJRT_LoadedExecutable`.
pub struct LoadedExecutable {
    pub compiled: Arc<Compiled>,
    /// The devices, replica by replica. None if the execution states the device.
    pub devices: Vec<Handle<Device>>,
    ids: Vec<[c_int; 2]>,
    is_deleted: AtomicBool,
}

impl Compiled {
    /// Reads, verifies and prepares a program, unless that was done before.
    fn new(source: &[u8], serialized_options: &[u8]) -> Outcome<Arc<Compiled>> {
        let source_hash = cache::source_hash(source, serialized_options);
        if !debug::is_on()
            && let Some(found) = cache::by_source(source_hash, source, serialized_options)
        {
            return Ok(found);
        }
        let source = source.to_vec();
        with_large_stack(move || Compiled::of_source(source, source_hash, serialized_options))
    }

    fn of_source(
        source: Vec<u8>,
        source_hash: u64,
        serialized_options: &[u8],
    ) -> Outcome<Arc<Compiled>> {
        let invalid = Failure::of(Code::InvalidArgument);
        let load = LoadOptions::default().verify(false);
        let stablo::Loaded { module, diagnostics, .. } = load.load("program", &source[..]);
        if stablo::has_errors(&diagnostics) {
            return Err(invalid(stablo::Error::in_module(diagnostics, &module)));
        }
        let content_hash = module.content_hash();
        if !debug::is_on()
            && let Some(found) = cache::by_content(content_hash, &module, serialized_options)
        {
            return Ok(found);
        }
        stablo::verify(&module).map_err(invalid)?;
        let compiled = Compiled::prepare(module, source, source_hash, serialized_options)?;
        let compiled = Arc::new(compiled);
        debug::keep_for_profile(&compiled);
        // Python functions come from the last execution of a program, or of this compilation.
        if !debug::is_on() && !compiled.calls_host && !compiled.is_partitioned {
            cache::keep(source_hash, content_hash, &compiled);
        }
        Ok(compiled)
    }

    fn prepare(
        mut module: Module,
        source: Vec<u8>,
        source_hash: u64,
        serialized_options: &[u8],
    ) -> Outcome<Compiled> {
        let options = CompileOptions::read(serialized_options);
        check_overrides(&options)?;
        check_devices(&options)?;
        let fingerprint = format!("{source_hash:016x}");
        let name = module.top().symbol_name().unwrap_or(ENTRY).to_string();
        let title = debug::dump(&name, &source);
        let mut host = Host::default();
        let is_partitioned = partitioned::prepare(&mut module, options.num_partitions)?;
        let mut module = divided::prepare(module, &mut host, options.num_partitions)?;
        let (arguments, results) = parameters(&module, options.num_partitions)?;
        let custom_calls = host.custom_calls();
        check_custom_calls(&module, &custom_calls)?;
        let calls_host = calls_host(&module, &custom_calls);
        let has_terms = options.num_replicas == 1
            && !calls_host
            && terms::prepare(&mut module, options.num_partitions)?;
        // A second run would repeat what functions of the client do.
        let minds_copies = options.num_replicas == 1 && options.num_partitions > 1 && !calls_host;
        let checks_copies = minds_copies && divided::check_copies(&mut module);
        let engine = debug::engine().map_err(Failure::invalid)?;
        let profiling = debug::profiling();
        let run = RunOptions { custom_calls, engine, profiling, ..RunOptions::default() };
        let module = Arc::new(module);
        let unimplemented = Failure::of(Code::Unimplemented);
        let program =
            stablo::Program::prepare(module.clone(), ENTRY, run).map_err(&unimplemented)?;
        // Effects are not repeated.
        let verifies = debug::verifies() && !calls_host;
        let run = RunOptions { engine: Engine::Reference, ..RunOptions::default() };
        let reference = verifies.then(|| stablo::Program::prepare(module, ENTRY, run));
        let reference = reference.transpose().map_err(&unimplemented)?;
        let lists = Lists {
            types: results.iter().map(Parameter::number).collect::<Outcome<_>>()?,
            dims: results
                .iter()
                .flat_map(|r| r.shape.sizes.iter().map(|&size| size as i64))
                .collect(),
            ranks: results.iter().map(|r| r.shape.sizes.len()).collect(),
            argument_layouts: layouts::of_parameters(&arguments),
            result_layouts: layouts::of_parameters(&results),
            argument_kinds: Kinds::new(&arguments),
            result_kinds: Kinds::new(&results),
        };
        Ok(Compiled {
            name,
            title,
            source,
            serialized_options: serialized_options.to_vec(),
            options,
            program,
            reference,
            host,
            calls_host,
            is_partitioned,
            minds_copies,
            checks_copies,
            copies_differ: AtomicBool::new(false),
            has_terms,
            duration: AtomicU64::new(u64::MAX),
            executions: AtomicU64::new(0),
            arguments,
            results,
            fingerprint,
            lists,
            cost: OnceLock::new(),
            text: OnceLock::new(),
        })
    }

    /// True if the program was made of these bytes and options.
    pub fn is_from(&self, source: &[u8], options: &[u8]) -> bool {
        self.source == source && self.has_options(options)
    }

    /// True if the program was made with these options.
    pub fn has_options(&self, options: &[u8]) -> bool {
        self.serialized_options == options
    }

    /// The number of bytes of the program as it arrived.
    pub fn source_bytes(&self) -> usize {
        self.source.len()
    }

    pub fn argument_layouts(&self) -> &[Handle<Layout>] {
        &self.lists.argument_layouts
    }

    pub fn result_layouts(&self) -> &[Handle<Layout>] {
        &self.lists.result_layouts
    }

    /// True if devices had other values of what the program states to be the same on all of them.
    pub fn copies_differ(&self) -> bool {
        self.copies_differ.load(Ordering::Relaxed)
    }

    pub fn note_that_copies_differ(&self) {
        self.copies_differ.store(true, Ordering::Relaxed);
    }

    /// Executes, and notes the duration: of the first executions, and of one of many.
    pub fn timed<T>(&self, execute: impl FnOnce() -> T) -> T {
        let number = self.executions.fetch_add(1, Ordering::Relaxed);
        if number >= MEASURED && !number.is_multiple_of(MEASURED) {
            return execute();
        }
        let started = Instant::now();
        let results = execute();
        let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.duration.fetch_min(nanos, Ordering::Relaxed);
        results
    }

    /// The shortest duration of an execution; a guess before the first. `None` if there is no
    /// telling.
    pub fn duration(&self) -> Option<Duration> {
        let nanos = self.duration.load(Ordering::Relaxed);
        if nanos != u64::MAX {
            return Some(Duration::from_nanos(nanos));
        }
        let bytes = self.arguments.iter().chain(&self.results).map(|own| own.shape.bytes());
        let is_small = bytes.fold(0, usize::saturating_add) <= SMALL_BYTES
            && self.program.runs_in_place()
            && self.program.module().num_ops() <= SMALL_OPS;
        is_small.then_some(Duration::ZERO)
    }

    /// The number of devices that run the program.
    pub fn num_devices(&self) -> usize {
        self.options.num_replicas.saturating_mul(self.options.num_partitions)
    }

    /// The program as text, with the shardings of arguments and results as XLA writes them.
    fn to_text(&self) -> Outcome<String> {
        let own = self.program.module();
        let divided = (self.options.num_replicas == 1 && !self.calls_host)
            .then(|| device_program(own, self.options.num_partitions, self.has_terms))
            .flatten();
        let has_shardy = stablo::walk(own)
            .any(|op| op.name().starts_with("sdy.") && !op.is_any(&[sdy::MeshOp::DEF]));
        let mut module = match divided {
            Some(module) => module,
            // Clients cannot read ops of Shardy here: they get a call with the same types.
            None if has_shardy => {
                stablo::load("program", self.stand_in()).map_err(Failure::of(Code::Internal))?
            }
            None => Module::clone(own),
        };
        // Nothing computes what is not used: clients look for that.
        stablo::run_pipeline(&mut module, "cse,trivial-dce")
            .map_err(Failure::of(Code::Internal))?;
        if self.options.num_partitions > 1 {
            let text = |own: &Parameter| match &own.distribution {
                Some(distribution) => distribution.to_text(),
                None => "{replicated}".to_string(),
            };
            let arguments = self.arguments.iter().map(|own| Attribute::string(text(own)));
            let results: Vec<String> = self.results.iter().map(text).collect();
            let results = match &results[..] {
                [one] => one.clone(),
                // An empty tuple has a sharding all the same.
                [] => "{replicated}".to_string(),
                all => format!("{{{}}}", all.join(", ")),
            };
            let top = module.top().id();
            let arguments = Attribute::array(arguments.collect());
            module.set_attr(top, "mhlo.spmd_parameters_shardings", arguments);
            module.set_attr(top, "mhlo.spmd_output_sharding", Attribute::string(results));
        }
        stablo::print(&module, &PrintOptions::default()).map_err(Failure::of(Code::Internal))
    }

    /// A program of the same arguments and results that is a single call.
    fn stand_in(&self) -> String {
        let (inputs, results) = self.program.signature();
        let list =
            |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        let each = |count: usize, name: &str| {
            (0..count).map(|at| format!("{name}{at}")).collect::<Vec<_>>()
        };
        let names = each(inputs.len(), "%arg");
        let declared: Vec<String> =
            names.iter().zip(inputs).map(|(name, ty)| format!("{name}: {ty}")).collect();
        let (bound, values) = match results.len() {
            0 => (String::new(), Vec::new()),
            1 => ("%0 = ".to_string(), vec!["%0".to_string()]),
            count => (format!("%0:{count} = "), each(count, "%0#")),
        };
        let (inputs, results) = (list(inputs), list(results));
        let returned = match values.len() {
            0 => "return".to_string(),
            _ => format!("return {} : {results}", values.join(", ")),
        };
        format!(
            "module @{} {{ func.func public @main({}) -> ({results}) {{ {bound}\
             stablehlo.custom_call @stablo({}) {{has_side_effect = true}} : ({inputs}) -> ({results}) \
             {returned} }} }}",
            self.name.replace(|c: char| !(c.is_ascii_alphanumeric() || c == '_'), "_"),
            declared.join(", "),
            names.join(", "),
        )
    }

    fn cost(&self) -> &NamedValues {
        self.cost.get_or_init(|| {
            let cost = with_large_stack(|| stablo::cost(self.program.module(), ENTRY).ok());
            let total = cost.map(|cost| cost.total).unwrap_or_default();
            NamedValues::new(vec![
                ("flops".to_string(), Named::Float(total.flops as f32)),
                ("bytes accessed".to_string(), Named::Float(total.bytes as f32)),
            ])
        })
    }
}

/// Options of XLA that are booleans, by names or their beginnings: clients test refusals with them.
const BOOLEANS: [&str; 2] = ["xla_embed_ir_in_executable", "xla_cpu_enable_"];

/// # Errors
/// If a client cannot have as many devices as options ask for.
fn check_devices(options: &CompileOptions) -> Outcome {
    let [replicas, partitions] = [options.num_replicas, options.num_partitions];
    if replicas.saturating_mul(partitions) > MAX_DEVICES {
        let message = format!(
            "{replicas} replicas of {partitions} partitions: a client has at most {MAX_DEVICES} \
             devices"
        );
        return Err(Failure::invalid(message));
    }
    Ok(())
}

/// Checks options of the compiler. Those of XLA are accepted, and change nothing.
fn check_overrides(options: &CompileOptions) -> Outcome {
    for (name, value) in &options.overrides {
        if !name.starts_with("xla_") {
            return Err(Failure::invalid(format!("No such compile option: '{name}'")));
        }
        let found = match value {
            Override::Bool(_) => continue,
            Override::Text(text) if ["true", "false"].contains(&&*text.to_lowercase()) => continue,
            Override::Text(text) => format!("{text:?}"),
            Override::Integer(number) => number.to_string(),
            Override::Float => "a number".to_string(),
        };
        if BOOLEANS.iter().any(|start| name.starts_with(start)) {
            // Clients look for the last words.
            let message = format!(
                "the compile option {name} must be true or false: {found} is not a valid bool value."
            );
            return Err(Failure::invalid(message));
        }
    }
    Ok(())
}

/// True if a program calls functions of the client.
fn calls_host(module: &Module, own: &CustomCalls) -> bool {
    let mut calls = stablo::walk(module).filter_map(CustomCallOp::cast);
    calls.any(|call| own.get(call.call_target_name()).is_some())
}

/// Checks that the meaning of every custom call is known. Branches are left out: programs for
/// several platforms have calls for others in branches that are not taken.
fn check_custom_calls(module: &Module, own: &CustomCalls) -> Outcome {
    for op in stablo::walk(module) {
        let Some(call) = CustomCallOp::cast(op) else { continue };
        let target = call.call_target_name();
        let mut around = std::iter::successors(op.parent(), |op| op.parent());
        let is_conditional = around.any(|op| op.is_any(&[CaseOp::DEF, IfOp::DEF]));
        if is_conditional || stablo::is_known_custom_call(target) || own.get(target).is_some() {
            continue;
        }
        let message = format!("the custom call target `{target}` is unknown");
        let error = stablo::Error::in_module(vec![op.error("custom_call", message)], module);
        return Err(Failure::of(Code::Unimplemented)(error));
    }
    Ok(())
}

impl LoadedExecutable {
    /// Puts a compiled program on the devices of a client.
    fn new(client: &Client, compiled: Arc<Compiled>) -> Outcome<LoadedExecutable> {
        let options = &compiled.options;
        let count = compiled.num_devices();
        let ids: Vec<i64> = if options.devices.is_empty() {
            (0..count as i64).collect()
        } else {
            options.devices.clone()
        };
        if ids.len() != count {
            let message = format!("{count} devices are required, {} are assigned", ids.len());
            return Err(Failure::invalid(message));
        }
        let is_free = options.is_portable && options.devices.is_empty();
        let devices = if is_free {
            Vec::new()
        } else {
            ids.iter().map(|&id| client.device(id)).collect::<Outcome<_>>()?
        };
        let partitions = options.num_partitions.max(1);
        let ids = (0..devices.len()).map(|at| [int(at / partitions), int(at % partitions)]);
        Ok(LoadedExecutable {
            ids: ids.collect(),
            compiled,
            devices,
            is_deleted: AtomicBool::new(false),
        })
    }

    /// # Errors
    /// If the client has deleted the executable.
    pub fn check_is_live(&self) -> Outcome {
        if self.is_deleted.load(Ordering::Relaxed) {
            return Err(Failure::new(Code::FailedPrecondition, "the executable was deleted"));
        }
        Ok(())
    }
}

/// Compiles the program of a client.
fn compile_program(
    program: *const Program,
    options: *const c_char,
    options_size: usize,
) -> Outcome<Arc<Compiled>> {
    let program = structure(program)?;
    let format = text(program.format, program.format_size)?;
    if format != "mlir" {
        let message = format!("programs of the format `{format}` are not implemented: give `mlir`");
        return Err(Failure::new(Code::Unimplemented, message));
    }
    Compiled::new(bytes(program.code, program.code_size)?, bytes(options, options_size)?)
}

pub(crate) fn compile_and_load(args: &mut ClientCompile) -> Outcome {
    let client = args.client.get()?;
    let compiled = compile_program(args.program, args.compile_options, args.compile_options_size)?;
    args.executable = give(LoadedExecutable::new(client, compiled)?);
    Ok(())
}

pub(crate) fn compile(args: &mut Compile) -> Outcome {
    args.topology.get()?;
    let compiled = compile_program(args.program, args.compile_options, args.compile_options_size)?;
    args.executable = give(Executable(compiled));
    Ok(())
}

pub(crate) fn load(args: &mut ClientLoad) -> Outcome {
    let compiled = args.executable.get()?.0.clone();
    args.loaded_executable = give(LoadedExecutable::new(args.client.get()?, compiled)?);
    Ok(())
}

pub(crate) fn destroy(args: &mut ExecutableDestroy) -> Outcome {
    args.executable.free();
    Ok(())
}

pub(crate) fn loaded_destroy(args: &mut LoadedDestroy) -> Outcome {
    args.executable.free();
    Ok(())
}

pub(crate) fn get_executable(args: &mut LoadedGetExecutable) -> Outcome {
    args.executable = give(Executable(args.loaded.get()?.compiled.clone()));
    Ok(())
}

/// Gives bytes to a client: their start and number, and what [`delete_bytes`] frees.
fn give_bytes(content: Vec<u8>) -> (*const c_char, usize, *mut c_void) {
    let (start, len) = parts(&content);
    (start, len, Box::into_raw(Box::new(content)).cast())
}

/// Frees bytes that were given to a client.
unsafe extern "C" fn delete_bytes(owner: *mut c_void) {
    // SAFETY: the owner is a vector of `give_bytes`, and clients call this once.
    drop(unsafe { Box::from_raw(owner.cast::<Vec<u8>>()) });
}

/// The ids of the devices. The first devices for an executable that runs on any: jaxlib aborts if it
/// has none.
pub(crate) fn device_assignment(args: &mut LoadedGetDeviceAssignment) -> Outcome {
    let loaded = args.executable.get()?;
    let mut ids: Vec<i64> =
        loaded.devices.iter().filter_map(|device| Some(device.get_if_any()?.id() as i64)).collect();
    if ids.is_empty() {
        ids = (0..loaded.compiled.num_devices() as i64).collect();
    }
    let assignment = write_assignment(loaded.compiled.options.num_partitions, &ids);
    (args.bytes, args.bytes_size, args.owner) = give_bytes(assignment);
    args.deleter = Some(delete_bytes);
    Ok(())
}

pub(crate) fn name(args: &mut ExecutableName) -> Outcome {
    (args.name, args.name_size) = parts(args.executable.get()?.0.name.as_bytes());
    Ok(())
}

pub(crate) fn num_replicas(args: &mut ExecutableCount) -> Outcome {
    args.count = args.executable.get()?.0.options.num_replicas;
    Ok(())
}

pub(crate) fn num_partitions(args: &mut ExecutableCount) -> Outcome {
    args.count = args.executable.get()?.0.options.num_partitions;
    Ok(())
}

pub(crate) fn num_outputs(args: &mut ExecutableCount) -> Outcome {
    args.count = args.executable.get()?.0.results.len();
    Ok(())
}

pub(crate) fn addressable_devices(args: &mut LoadedAddressableDevices) -> Outcome {
    let devices = &args.executable.get()?.devices;
    (args.devices, args.num_devices) = (devices.as_ptr(), devices.len());
    Ok(())
}

pub(crate) fn logical_ids(args: &mut LoadedLogicalIds) -> Outcome {
    let ids = &args.executable.get()?.ids;
    (args.ids, args.num_ids) = (ids.as_ptr(), ids.len());
    Ok(())
}

/// The program that runs, as text: first its size, then, if the client has memory for it, itself.
pub(crate) fn optimized_program(args: &mut ExecutableOptimizedProgram) -> Outcome {
    let compiled = &args.executable.get()?.0;
    let program = array_mut(args.program, 1)?;
    let text = match compiled.text.get() {
        Some(text) => text,
        None => {
            let text = with_large_stack(|| compiled.to_text())?;
            compiled.text.get_or_init(|| text)
        }
    };
    let program = &mut program[0];
    let room = program.code_size;
    (program.format, program.format_size) = parts(b"mlir");
    program.code_size = text.len();
    if !program.code.is_null() {
        if room < text.len() {
            let message = format!("the program has {} bytes, there is room for {room}", text.len());
            return Err(Failure::invalid(message));
        }
        array_mut(program.code.cast::<u8>(), text.len())?.copy_from_slice(text.as_bytes());
    }
    Ok(())
}

pub(crate) fn delete(args: &mut LoadedDelete) -> Outcome {
    args.executable.get()?.is_deleted.store(true, Ordering::Relaxed);
    Ok(())
}

pub(crate) fn is_deleted(args: &mut LoadedIsDeleted) -> Outcome {
    args.is_deleted = args.executable.get()?.is_deleted.load(Ordering::Relaxed).into();
    Ok(())
}

pub(crate) fn code_size(args: &mut ExecutableCodeSize) -> Outcome {
    args.size_in_bytes = args.executable.get()?.0.source.len() as i64;
    Ok(())
}

pub(crate) fn fingerprint(args: &mut ExecutableFingerprint) -> Outcome {
    (args.text, args.text_size) = parts(args.executable.get()?.0.fingerprint.as_bytes());
    Ok(())
}

pub(crate) fn loaded_fingerprint(args: &mut LoadedFingerprint) -> Outcome {
    (args.text, args.text_size) = parts(args.executable.get()?.compiled.fingerprint.as_bytes());
    Ok(())
}

pub(crate) fn cost_analysis(args: &mut ExecutableGetCostAnalysis) -> Outcome {
    (args.properties, args.num_properties) = args.executable.get()?.0.cost().parts();
    Ok(())
}

pub(crate) fn memory_stats(args: &mut ExecutableMemoryStats) -> Outcome {
    let executable = args.executable;
    let compiled = &executable.get()?.0;
    let total = |all: &[Parameter]| {
        all.iter().fold(0usize, |bytes, own| bytes.saturating_add(own.shape.bytes())) as i64
    };
    let donated = compiled.arguments.iter().filter(|argument| argument.is_donated);
    // Unknown fields are cleared: the client's structure is not initialized.
    *args = ExecutableMemoryStats {
        struct_size: args.struct_size,
        extension_start: args.extension_start,
        executable,
        ..ExecutableMemoryStats::zeroed()
    };
    args.generated_code_size_in_bytes = compiled.source.len() as i64;
    args.argument_size_in_bytes = total(&compiled.arguments);
    args.output_size_in_bytes = total(&compiled.results);
    args.alias_size_in_bytes =
        donated.fold(0usize, |bytes, own| bytes.saturating_add(own.shape.bytes())) as i64;
    args.peak_memory_in_bytes =
        args.argument_size_in_bytes.saturating_add(args.output_size_in_bytes);
    args.total_size_in_bytes = args.peak_memory_in_bytes;
    Ok(())
}

pub(crate) fn output_types(args: &mut ExecutableOutputElementTypes) -> Outcome {
    let types = &args.executable.get()?.0.lists.types;
    (args.types, args.num_types) = (types.as_ptr(), types.len());
    Ok(())
}

pub(crate) fn output_dimensions(args: &mut ExecutableOutputDimensions) -> Outcome {
    let lists = &args.executable.get()?.0.lists;
    args.num_outputs = lists.ranks.len();
    (args.dims, args.dim_sizes) = (lists.dims.as_ptr(), lists.ranks.as_ptr());
    Ok(())
}

pub(crate) fn parameter_memory_kinds(args: &mut ExecutableMemoryKinds) -> Outcome {
    args.executable.get()?.0.lists.argument_kinds.list(args);
    Ok(())
}

pub(crate) fn output_memory_kinds(args: &mut ExecutableMemoryKinds) -> Outcome {
    args.executable.get()?.0.lists.result_kinds.list(args);
    Ok(())
}

/// The program as it arrived, with its options and their hash: it is prepared anew when it is
/// loaded.
pub(crate) fn serialize(args: &mut ExecutableBytes) -> Outcome {
    let compiled = &args.executable.get()?.0;
    let mut all = MAGIC.to_vec();
    let hash = cache::source_hash(&compiled.source, &compiled.serialized_options);
    all.extend_from_slice(&hash.to_le_bytes());
    all.extend_from_slice(&(compiled.serialized_options.len() as u64).to_le_bytes());
    all.extend_from_slice(&compiled.serialized_options);
    all.extend_from_slice(&compiled.source);
    (args.bytes, args.bytes_size, args.owner) = give_bytes(all);
    args.deleter = Some(delete_bytes);
    Ok(())
}

pub(crate) fn compile_options(args: &mut ExecutableBytes) -> Outcome {
    let options = args.executable.get()?.0.serialized_options.clone();
    (args.bytes, args.bytes_size, args.owner) = give_bytes(options);
    args.deleter = Some(delete_bytes);
    Ok(())
}

/// The options and the program of a serialized executable. `None` if the bytes are damaged: clients
/// may abort where options disagree with what they know of an executable.
fn parts_of_serialized(all: &[u8]) -> Option<(&[u8], &[u8])> {
    let (hash, rest) = all.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    let (size, rest) = rest.split_first_chunk::<8>()?;
    let size = usize::try_from(u64::from_le_bytes(*size)).ok()?;
    let (options, source) = rest.split_at_checked(size)?;
    let is_whole = cache::source_hash(source, options) == u64::from_le_bytes(*hash);
    is_whole.then_some((options, source))
}

pub(crate) fn deserialize_and_load(args: &mut ExecutableDeserializeAndLoad) -> Outcome {
    let client = args.client.get()?;
    let all = bytes(args.serialized, args.serialized_size)?;
    let (options, source) = parts_of_serialized(all).ok_or_else(|| {
        Failure::invalid("the bytes are damaged, or no executable that this plugin serialized")
    })?;
    let overridden = array(args.overridden_options.cast(), args.overridden_options_size)?;
    let options = if overridden.is_empty() { options } else { overridden };
    let compiled = Compiled::new(source, options)?;
    args.loaded_executable = give(LoadedExecutable::new(client, compiled)?);
    Ok(())
}
