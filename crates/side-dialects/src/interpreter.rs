//! The interpreter dialect: what only the interpreter understands (parallel runs, printing, probes).
//!
//! Source: StableHLO, `stablehlo/reference/InterpreterOps.td`.

use crate::constraints::{VALUE_TENSOR, VALUE_TENSOR_OR_TOKEN};
use crate::func::FuncOp;
use mlir::ods::{Assembly, AttrConstraint, Dialect};
use mlir::{Attribute, Diagnostics, OpRef, op};

/// The interpreter dialect.
pub static INTERPRETER: Dialect =
    Dialect { namespace: "interpreter", ops: &[PrintOp::DEF, ProbeOp::DEF, RunParallelOp::DEF], ..Dialect::EMPTY };

static PROGRAM_ROW: AttrConstraint = AttrConstraint::ArrayOf(&AttrConstraint::FlatSymbolRef);

op! {
    /// Prints a tensor while the program runs.
    pub PrintOp, "interpreter.print" {
        operands { operand: single VALUE_TENSOR }
        hooks { assembly: Assembly::Format("$operand attr-dict `:` type($operand)") }
    }
}

op! {
    /// Passes its operand on and, if the interpreter is told where, writes it to a file under the name `probe_id`.
    pub ProbeOp, "interpreter.probe" {
        operands { operand: single VALUE_TENSOR }
        results { result: single VALUE_TENSOR }
        attributes { probe_id: required String }
        traits [SameOperandsAndResultType]
        hooks {
            assembly: Assembly::Format("$operand `,` `probe_id` `=` $probe_id attr-dict `:` type($result)"),
            eval: Some(|_, operands, _| Ok(operands)),
        }
    }
}

op! {
    /// Runs a grid of functions, replicas by partitions, as processes that may communicate. Operands and results are those of
    /// all functions, row by row.
    pub RunParallelOp, "interpreter.run_parallel" {
        operands { inputs: variadic VALUE_TENSOR_OR_TOKEN }
        results { results: variadic VALUE_TENSOR_OR_TOKEN }
        attributes { infeed: optional ArrayOf(&FlatSymbolRef), programs: required ArrayOf(&PROGRAM_ROW) }
        hooks { verify: Some(verify_run_parallel) }
    }
}

/// The function that a flat symbol reference names.
fn function<'m>(op: OpRef<'m>, symbol: &Attribute, errors: &mut Diagnostics) -> Option<FuncOp<'m>> {
    let name = symbol.as_flat_symbol()?;
    let found = mlir::verify::nearest_symbol(op, name).and_then(FuncOp::cast);
    if found.is_none() {
        errors.push(op.error("run_parallel", format!("there is no function @{name}")));
    }
    found
}

fn verify_run_parallel(op: OpRef<'_>, errors: &mut Diagnostics) {
    let view = RunParallelOp(op);
    let rows = view.programs().and_then(|p| p.as_array()).unwrap_or(&[]);
    let columns = rows.first().and_then(|r| r.as_array()).map_or(0, <[_]>::len);
    if columns == 0 {
        errors.push(op.error("run_parallel", "`programs` is empty; it needs at least one function"));
        return;
    }
    let (mut inputs, mut results) = (0, 0);
    for (index, row) in rows.iter().map(|r| r.as_array().unwrap_or(&[])).enumerate() {
        if row.len() != columns {
            let found = row.len();
            let message = format!("row {index} of `programs` has {found} functions, the first row has {columns}");
            errors.push(op.error("run_parallel", message));
            return;
        }
        for symbol in row {
            let Some(function) = function(op, symbol, errors) else { return };
            let (takes, gives) = function.signature();
            inputs += takes.len();
            results += gives.len();
        }
    }
    if op.operands().len() != inputs {
        let found = op.operands().len();
        errors.push(op.error("run_parallel", format!("has {found} operands; the functions take {inputs} in total")));
    }
    if op.num_results() != results {
        let found = op.num_results();
        errors.push(op.error("run_parallel", format!("has {found} results; the functions return {results} in total")));
    }
    let Some(infeed) = view.infeed().and_then(|i| i.as_array()) else { return };
    if infeed.is_empty() {
        errors.push(op.error("run_parallel", "`infeed` is empty; leave it out or name a function"));
    }
    for symbol in infeed {
        let Some(function) = function(op, symbol, errors) else { return };
        let name = function.symbol_name().unwrap_or("");
        match function.signature().1 {
            [one] if one.is_shaped() => {}
            [one] => {
                let message = format!("the infeed function @{name} must return a tensor, but returns {one}");
                errors.push(op.error("run_parallel", message));
            }
            several => {
                let found = several.len();
                let message = format!("the infeed function @{name} must return one tensor, but returns {found} values");
                errors.push(op.error("run_parallel", message));
            }
        }
    }
}
