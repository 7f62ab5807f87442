//! Programs that tests run: those of `tests/ops` and `tests/interpret`, the smaller examples and,
//! if available (`../shared`), a sample of upstream's; all of these with `STABLO_ALL_PROGRAMS=1`.
//! The operands of their checks become the results of `main`.

use stablo::arrays::npy;
use stablo::dialects::func::{FuncOp, ReturnOp};
use stablo::ir::{BlockId, OpId, OpRef, Value};
use stablo::{Module, RuntimeValue, Tensor, Type};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program with inputs.
pub(crate) struct Program {
    pub name: String,
    pub module: Module,
    pub inputs: Vec<RuntimeValue>,
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The `.mlir` files in a directory, sorted.
fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "mlir"));
    files.sort();
    files
}

/// The program in a text, if it has a function `main` that runs.
fn program(name: String, text: &str, inputs: Vec<RuntimeValue>) -> Option<Program> {
    let mut module = stablo::load(&name, text).ok()?;
    checks_become_results(&mut module).then_some(Program { name, module, inputs })
}

/// True if an op checks its operands.
fn is_check(op: OpRef<'_>) -> bool {
    let target = op.attr("call_target_name").and_then(|t| t.as_str()).unwrap_or("");
    op.name().starts_with("check.") || target.starts_with("check.")
}

/// Returns the checked values from `main` instead. Returns false if there is no such function, or
/// nothing to return.
fn checks_become_results(module: &mut Module) -> bool {
    let Some(main) = module.top().lookup_symbol("main").and_then(FuncOp::cast) else {
        return false;
    };
    let &[block] = module.blocks(main.body()) else { return false };
    let (main, inputs) = (main.id(), main.signature().0.to_vec());
    let checks: Vec<OpId> = module.ops(block).filter(|&op| is_check(op)).map(OpRef::id).collect();
    let checked = |&op: &OpId| module.op(op).operands().first().copied();
    let values: Vec<Value> = checks.iter().filter_map(checked).collect();
    if checks.is_empty() {
        return module.terminator(block).is_some_and(|op| !op.operands().is_empty());
    }
    let all_unused = checks.iter().all(|&op| module.op(op).num_results() == 0);
    set_results(module, main, block, &values, inputs);
    checks.into_iter().for_each(|op| module.erase(op));
    all_unused
}

fn set_results(
    module: &mut Module,
    main: OpId,
    block: BlockId,
    values: &[Value],
    inputs: Vec<Type>,
) {
    let Some(end) = module.terminator(block).filter(|op| op.is(ReturnOp::DEF)).map(OpRef::id)
    else {
        return;
    };
    let results = values.iter().map(|&v| module.ty(v).clone()).collect();
    module.set_operands(end, values.iter().copied());
    module.remove_attr(main, "res_attrs");
    module.set_attr(main, "function_type", Type::function(inputs, results).into());
}

/// All programs.
pub(crate) fn programs() -> Vec<Program> {
    let mut programs = Vec::new();
    for directory in ["tests/ops", "tests/interpret"] {
        for path in files(&root().join(directory)) {
            for (i, text) in read(&path).split("// -----\n").enumerate() {
                programs.extend(program(format!("{}:{i}", path.display()), text, Vec::new()));
            }
        }
    }
    let all = std::env::var_os("STABLO_ALL_PROGRAMS").is_some();
    for name in if all { &["int_bits", "nbody", "cnn_train"][..] } else { &["int_bits"] } {
        programs.push(example(&root().join("examples").join(name)));
    }
    let upstream = files(&root().join("../shared/conformance/suite/testdata"));
    for path in upstream.iter().step_by(if all { 1 } else { 64 }) {
        programs.extend(program(path.display().to_string(), &read(path), Vec::new()));
    }
    programs
}

/// A folder of a program with its inputs.
pub(crate) fn example(directory: &Path) -> Program {
    let text = read(&directory.join("module.mlir"));
    let module = stablo::load("module.mlir", &*text).unwrap();
    let main = stablo::entry_function(&module, "main").unwrap();
    let types = main.signature().0;
    let input = |(k, ty): (usize, &Type)| {
        let file = fs::read(directory.join(format!("input_{k}.npy"))).unwrap();
        RuntimeValue::Tensor(npy::read(file, ty.element_type().dtype().unwrap()).unwrap())
    };
    let inputs = types.iter().enumerate().map(input).collect();
    program(directory.display().to_string(), &text, inputs).expect("examples return results")
}

/// The tensors among results: tokens have no values.
pub(crate) fn tensors(results: Vec<RuntimeValue>) -> Result<Vec<Tensor>, String> {
    let tensor = |value: RuntimeValue| value.into_tensor().map_err(|e| e.to_string());
    results
        .into_iter()
        .filter(|value| matches!(value, RuntimeValue::Tensor(_)))
        .map(tensor)
        .collect()
}
