//! The interpreter dialect: ops for the reference interpreter (parallel runs, printing, probes).
//!
//! Source: StableHLO, `stablehlo/reference/InterpreterOps.td`.

use crate::constraints::{VALUE_TENSOR, VALUE_TENSOR_OR_TOKEN};
use crate::func::FuncOp;
use mlir::diag::counted;
use mlir::ods::{AttrConstraint, Dialect};
use mlir::prepare::{Prepared, Preparer, native_with_env};
use mlir::{Attribute, Diagnostic, OpRef, Verdict, op};
use program::operands;
use program::{EvalError, FunctionId, Grid, Task};

/// The interpreter dialect.
pub static INTERPRETER: Dialect = Dialect {
    namespace: "interpreter",
    ops: &[PrintOp::DEF, ProbeOp::DEF, RunParallelOp::DEF],
    ..Dialect::EMPTY
};

static PROGRAM_ROW: AttrConstraint = AttrConstraint::ArrayOf(&AttrConstraint::FlatSymbolRef);

op! {
    /// Prints a tensor while the program runs.
    pub PrintOp, "interpreter.print" {
        operands { operand: single VALUE_TENSOR }
        hooks {
            format: "$operand attr-dict `:` type($operand)",
            prepare: prepare_print,
        }
    }
}

op! {
    /// Forwards its operand and, if a probe directory is configured, writes it to a file under the
    /// name `probe_id`.
    pub ProbeOp, "interpreter.probe" {
        operands { operand: single VALUE_TENSOR }
        results { result: single VALUE_TENSOR }
        attributes { probe_id: required String }
        traits [SameOperandsAndResultType]
        hooks {
            format: "$operand `,` `probe_id` `=` $probe_id attr-dict `:` type($result)",
            prepare: prepare_probe,
        }
    }
}

op! {
    /// Runs a grid of functions, replicas by partitions, as processes that may communicate.
    /// Operands and results are those of all functions concatenated, row by row.
    pub RunParallelOp, "interpreter.run_parallel" {
        operands { inputs: variadic VALUE_TENSOR_OR_TOKEN }
        results { results: variadic VALUE_TENSOR_OR_TOKEN }
        attributes {
            infeed: optional ArrayOf(&FlatSymbolRef),
            programs: required ArrayOf(&PROGRAM_ROW),
        }
        hooks {
            verify: verify_run_parallel,
            prepare: prepare_run_parallel,
        }
    }
}

/// The function that a flat symbol reference names.
fn function<'m>(op: OpRef<'m>, symbol: &Attribute) -> Result<FuncOp<'m>, Diagnostic> {
    let name = symbol.as_flat_symbol().map_or("", |name| name);
    let found = mlir::verify::nearest_symbol(op, name).and_then(FuncOp::cast);
    found.ok_or_else(|| op.error("run_parallel", format!("there is no function @{name}")))
}

fn verify_run_parallel(op: OpRef<'_>) -> Verdict {
    let view = RunParallelOp(op);
    let rows = view.programs();
    let columns = rows.first().and_then(|r| r.as_array()).map_or(0, <[_]>::len);
    if columns == 0 {
        return Err(op.error("run_parallel", "`programs` is empty; it needs at least one function"));
    }
    let (mut inputs, mut results) = (0, 0);
    for (index, row) in rows.iter().map(|r| r.as_array().unwrap_or(&[])).enumerate() {
        if row.len() != columns {
            let found = counted(row.len() as u64, "function");
            let message =
                format!("row {index} of `programs` has {found}, the first row has {columns}");
            return Err(op.error("run_parallel", message));
        }
        for symbol in row {
            let function = function(op, symbol)?;
            let (takes, gives) = function.signature();
            inputs += takes.len();
            results += gives.len();
        }
    }
    if op.operands().len() != inputs {
        let found = op.operands().len();
        return Err(op.error(
            "run_parallel",
            format!("has {}; the functions take {inputs} in total", counted(found, "operand")),
        ));
    }
    if op.num_results() != results {
        let found = op.num_results();
        return Err(op.error(
            "run_parallel",
            format!("has {}; the functions return {results} in total", counted(found, "result")),
        ));
    }
    let Some(infeed) = view.infeed() else { return Ok(()) };
    if infeed.is_empty() {
        return Err(op.error("run_parallel", "`infeed` is empty; leave it out or name a function"));
    }
    for symbol in infeed {
        let function = function(op, symbol)?;
        let name = function.symbol_name().unwrap_or("");
        match function.signature().1 {
            [one] if one.is_shaped() => {}
            [one] => {
                let message =
                    format!("the infeed function @{name} must return a tensor, but returns {one}");
                return Err(op.error("run_parallel", message));
            }
            several => {
                let found = counted(several.len(), "value");
                let message = format!(
                    "the infeed function @{name} must return one tensor, but returns {found}"
                );
                return Err(op.error("run_parallel", message));
            }
        }
    }
    Ok(())
}

fn prepare_print(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native_with_env(op, |origin, operands, env| {
        let [operand] = operands::tensors(operands)?;
        env.process_context()?.print(origin, &operand)?;
        Ok(Vec::new())
    })
}

fn prepare_probe(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let name = ProbeOp(op).probe_id().to_string();
    native_with_env(op, move |origin, operands, env| {
        let [operand] = operands::tensors(operands)?;
        env.process_context()?.probe(origin, &name, &operand)?;
        Ok(vec![operand.into()])
    })
}

fn prepare_run_parallel(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let view = RunParallelOp(op);
    let functions = |symbols: Option<&[Attribute]>| -> Result<Vec<FunctionId>, EvalError> {
        let symbols = symbols.unwrap_or(&[]);
        let symbols = symbols.iter().filter_map(|s| s.as_flat_symbol());
        symbols.map(|symbol| cx.function(op, symbol)).collect()
    };
    let rows = view.programs();
    let rows = rows.iter().map(|row| functions(row.as_array())).collect::<Result<Vec<_>, _>>()?;
    let grid = Grid { replicas: rows.len(), partitions: rows.first().map_or(0, Vec::len) };
    let infeed = functions(view.infeed())?;
    let inputs = |function: FunctionId| (function, cx.num_inputs(function));
    let programs: Vec<(FunctionId, usize)> = rows.into_iter().flatten().map(inputs).collect();
    native_with_env(op, move |_, operands, env| {
        let mut operands = operands.into_iter();
        let mut work = Vec::with_capacity(programs.len());
        for &(function, inputs) in &programs {
            let arguments = operands.by_ref().take(inputs).collect();
            work.push(Task::Call { function, arguments });
        }
        let results = env.process_context()?.run_grid(grid, work, infeed.clone())?;
        Ok(results.into_iter().flatten().collect())
    })
}
