//! Prepared programs.

use crate::code::{Compile, CompiledCode, ProgramCode};
use crate::inputs::{EntrySignature, SignatureSide, describe_elements};
use crate::outputs::OutputBuffer;
use crate::profile::{ProgramRecords, Recorded};
use crate::scheduler::describe;
use crate::session::{ProcessJob, Session, bytes_of, distinct_bytes};
use crate::{Engine, Observer, RunOptions, listing, order};
use host::Host;
use mlir::diag::counted;
use mlir::diag::{Diagnostic, Diagnostics};
use mlir::prepare::{Callable, Callables, PrepareContext, prepare};
use mlir::{Module, OpId, OpRef};
use numerics::{TensorMut, TensorRef};
use program::{Code, EvalError, FunctionId, Grid, Origin, Place, RuntimeValue, ValueType};
use side_dialects::func::FuncOp;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

/// A prepared program: owned, immutable, and usable from many threads at once.
pub struct Program {
    /// The module that the code was prepared from: a side table for diagnostics and observers.
    module: Arc<Module>,
    /// The code that runs execute, compiled if they have an engine for that.
    executable: ProgramCode,
    /// Instructions one by one, for runs that show all values; made when it is needed.
    reference: OnceLock<ProgramCode>,
    entry: FunctionId,
    signature: EntrySignature,
    options: RunOptions,
    /// The records of runs, if they make some.
    record: ProgramRecords,
}

impl Program {
    /// Prepares the functions of a verified module, to be run instruction by instruction. Runs
    /// start with the function found by [`entry_function`].
    ///
    /// # Errors
    /// If there is no such function, or it has no body.
    pub fn prepare(
        module: Arc<Module>,
        entry: &str,
        options: impl Into<RunOptions>,
    ) -> Result<Program, Diagnostics> {
        Program::new(module, entry, options.into(), None)
    }

    /// As [`Program::prepare`], with functions that an engine compiles.
    ///
    /// # Errors
    /// As there.
    pub fn compile(
        module: Arc<Module>,
        entry: &str,
        options: RunOptions,
        compile: Compile<'_>,
    ) -> Result<Program, Diagnostics> {
        Program::new(module, entry, options, Some(compile))
    }

    fn new(
        module: Arc<Module>,
        entry: &str,
        options: RunOptions,
        compile: Option<Compile<'_>>,
    ) -> Result<Program, Diagnostics> {
        let function = entry_function(&module, entry).map_err(|e| vec![e])?;
        let signature = EntrySignature::of(function);
        let (code, entry) = code_of(&module, function.id(), &options);
        let entry = entry.ok_or_else(no_function)?;
        let executable = match compile {
            Some(compile) => ProgramCode::compiled(code, compile),
            None => ProgramCode::interpreted(code),
        };
        // Compiles the entry.
        executable.compiled_with(entry);
        let (reference, record) = (OnceLock::new(), ProgramRecords::default());
        Ok(Program { module, executable, reference, entry, signature, options, record })
    }

    /// The module that the program was prepared from; observers see its ops.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The code.
    pub fn code(&self) -> &Code {
        self.executable.code.code()
    }

    /// The functions that an engine has compiled.
    pub fn compiled_code(&self) -> Option<&dyn CompiledCode> {
        self.executable.compiled_code()
    }

    /// True if this program and another one have the same code in memory, as programs with the same
    /// ops in the same order may that are compiled with the same options.
    pub fn shares_code_with(&self, other: &Program) -> bool {
        Arc::ptr_eq(&self.executable.code, &other.executable.code)
    }

    /// The code for runs that show all values, or for others.
    pub(crate) fn executable(&self, shows_values: bool) -> &ProgramCode {
        if !shows_values || self.compiled_code().is_none() {
            return &self.executable;
        }
        self.reference.get_or_init(|| {
            let entry = self.code().function(self.entry).origin;
            let (code, _) = code_of(&self.module, entry.into(), &self.options);
            ProgramCode::interpreted(code)
        })
    }

    /// A listing of the instructions.
    pub fn listing(&self) -> String {
        listing::list(self.code(), &|origin| self.op_name(origin))
    }

    /// The name of the op that an instruction was prepared from.
    pub fn op_name(&self, origin: Origin) -> String {
        self.op(origin).name().to_string()
    }

    /// True if what runs call nests so little that one process takes the stack of its caller.
    pub fn is_flat(&self) -> bool {
        let compiled = self.executable.compiled_with(self.entry);
        compiled.is_some_and(|compiled| compiled.is_flat(self.entry))
    }

    /// The function that runs start with.
    pub fn entry(&self) -> FunctionId {
        self.entry
    }

    /// The records of all runs, also of failed ones.
    pub fn recorded(&self) -> Recorded {
        self.record.recorded()
    }

    pub(crate) fn record(&self) -> &ProgramRecords {
        &self.record
    }

    pub(crate) fn options(&self) -> &RunOptions {
        &self.options
    }

    /// The host of runs that start on this thread, with the number of threads that they use.
    pub fn host(&self) -> Host {
        let host = self.options.host.clone().unwrap_or_else(Host::current);
        match self.options.engine {
            Engine::Reference => host,
            Engine::Fast => {
                let threads = self.options.threads;
                host.with_workers(threads.map_or_else(host::available_threads, NonZeroUsize::get))
            }
        }
    }

    /// The op that an instruction was prepared from.
    pub(crate) fn op(&self, origin: Origin) -> OpRef<'_> {
        self.module.op(OpId::from(origin))
    }

    /// An error with places in the module.
    pub fn diagnostic(&self, error: &EvalError) -> Diagnostic {
        let position = |place: Place| {
            place.map_or(mlir::diag::Position::None, |origin| self.op(origin).position())
        };
        let mut diagnostic = Diagnostic::error(error.label().clone(), error.message());
        diagnostic.position = position(error.place());
        let notes = error.notes().iter();
        diagnostic.notes = notes.map(|(text, place)| (text.clone(), position(*place))).collect();
        diagnostic
    }

    /// Runs the entry function as a single process.
    ///
    /// # Errors
    /// If the inputs do not match its number, shapes or element types of arguments, or an op fails.
    pub fn run(
        &self,
        inputs: Vec<RuntimeValue>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<RuntimeValue>, Diagnostics> {
        self.check_inputs(&inputs)?;
        let failed = |e: EvalError| vec![self.diagnostic(&e)];
        let bytes = || distinct_bytes(bytes_of(inputs.iter()));
        let session = Session::new(self, bytes, observer).map_err(failed)?;
        let job = ProcessJob::Call { function: self.entry, arguments: inputs };
        session.run_single(job).map_err(failed)
    }

    /// Runs the entry function in each process of a grid, with separate inputs, in row-major order.
    ///
    /// # Errors
    /// As [`Program::run`] in any process, inputs for another number of processes, and deadlocks.
    pub fn run_grid(
        &self,
        grid: Grid,
        inputs: Vec<Vec<RuntimeValue>>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Vec<RuntimeValue>>, Diagnostics> {
        if grid.size() != Some(inputs.len()) {
            let found = counted(inputs.len() as u64, "process");
            let message = format!("there are inputs for {found}, but the grid is {grid}");
            return Err(vec![Diagnostic::error("inputs", message)]);
        }
        inputs.iter().try_for_each(|inputs| self.check_inputs(inputs))?;
        let failed = |e: EvalError| vec![self.diagnostic(&e)];
        let bytes = || distinct_bytes(bytes_of(inputs.iter().flatten()));
        let session = Session::new(self, bytes, observer).map_err(failed)?;
        let job = |arguments| ProcessJob::Call { function: self.entry, arguments };
        let jobs = inputs.into_iter().map(job).collect();
        session.run_grid(grid, jobs, Vec::new(), 0).map_err(failed)
    }

    /// Runs the entry function as a single process on inputs that are borrowed, and writes its
    /// results into memory of the caller. Nothing is written if inputs or outputs do not match,
    /// dynamic ones included.
    ///
    /// # Errors
    /// As [`Program::run`], and if the outputs do not match the results.
    pub fn run_into(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
        observer: &mut dyn Observer,
    ) -> Result<(), Diagnostics> {
        self.check_borrowed(inputs, outputs)?;
        let failed = |e: EvalError| vec![self.diagnostic(&e)];
        let bytes = || distinct_bytes(inputs.iter().map(TensorRef::bytes));
        let session = Session::new(self, bytes, observer).map_err(failed)?;
        let outputs = outputs.iter_mut().map(OutputBuffer::of).collect();
        let job = ProcessJob::CallInto { function: self.entry, inputs, outputs };
        session.run_single(job).map(drop).map_err(failed)
    }

    /// Compares inputs with the signature of the entry function.
    ///
    /// # Errors
    /// If they do not match its number, shapes or element types of arguments.
    pub fn check_inputs(&self, inputs: &[RuntimeValue]) -> Result<(), Diagnostics> {
        let accepts = |ty: &ValueType, value: &RuntimeValue| ty.accepts(value);
        self.signature.check(SignatureSide::Inputs, inputs, self.function()?, accepts, describe)
    }

    /// As [`Program::check_inputs`], for inputs that are borrowed and outputs.
    ///
    /// # Errors
    /// If they do not match its number, shapes or element types of arguments and results.
    pub fn check_borrowed(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &[TensorMut<'_>],
    ) -> Result<(), Diagnostics> {
        let function = self.function()?;
        self.signature.check(
            SignatureSide::Inputs,
            inputs,
            function,
            |ty, input| ty.accepts_elements(input.dtype(), input.shape()),
            |input| describe_elements(input.dtype(), input.shape()),
        )?;
        self.signature.check(
            SignatureSide::Outputs,
            outputs,
            function,
            |ty, output| ty.accepts_elements(output.dtype(), output.shape()),
            |output| describe_elements(output.dtype(), output.shape()),
        )
    }

    /// The function that runs start with.
    fn function(&self) -> Result<FuncOp<'_>, Diagnostics> {
        FuncOp::cast(self.op(self.code().function(self.entry).origin)).ok_or_else(no_function)
    }
}

fn no_function() -> Diagnostics {
    vec![Diagnostic::error("entry", "the entry is no function")]
}

/// Prepares the functions of a module: instructions one by one, and the function of the op `entry`.
fn code_of(module: &Module, entry: OpId, options: &RunOptions) -> (Code, Option<FunctionId>) {
    let functions = module.walk(module.top().id()).filter_map(FuncOp::cast);
    let functions = functions.map(|function| Callable {
        op: *function,
        body: function.body(),
        inputs: function.signature().0,
    });
    let callables = Callables::new(module, functions.collect());
    let code = prepare(PrepareContext {
        callables: &callables,
        custom_calls: &options.custom_calls,
        numbering: order::compile_order,
        entry,
    });
    (code, callables.of_op(entry))
}

/// The function with a body named `entry` at the top level of the module; if it is missing and
/// `entry` is `main`, the only function or the only public one.
///
/// # Errors
/// If there is no such function, or it has no body.
pub fn entry_function<'m>(module: &'m Module, entry: &str) -> Result<FuncOp<'m>, Diagnostic> {
    let top = module.top();
    let body = top.regions().first().and_then(|&region| module.entry(region));
    let ops = body.into_iter().flat_map(|block| module.ops(block));
    let functions: Vec<FuncOp<'m>> = ops.filter_map(FuncOp::cast).collect();
    let name = |f: &FuncOp<'m>| OpRef::symbol_name(**f).unwrap_or("").to_string();
    let found = functions.iter().find(|f| name(f) == entry);
    let is_public = |f: &&FuncOp<'m>| OpRef::symbol_visibility(***f).is_none_or(|v| v == "public");
    let only = || {
        let mut public = functions.iter().filter(is_public);
        match (functions.len(), public.next(), public.next()) {
            _ if entry != "main" => None,
            (1, ..) => functions.first(),
            (_, only, None) => only,
            (_, _, Some(_)) => None,
        }
    };
    let Some(function) = found.or_else(only).copied() else {
        let names: Vec<String> = functions.iter().map(|f| format!("@{}", name(f))).collect();
        let has = if names.is_empty() { "no functions".into() } else { names.join(", ") };
        return Err(Diagnostic::error(
            "entry",
            format!("there is no function @{entry} to run; the module has {has}"),
        ));
    };
    if function.is_declaration() {
        return Err(function.error("entry", format!("@{} has no body to run", name(&function))));
    }
    Ok(function)
}
