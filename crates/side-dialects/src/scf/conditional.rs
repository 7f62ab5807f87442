//! `scf.if`.

use super::region_types;
use mlir::ods::{TypeConstraint, TypeRule};
use mlir::prepare::{Prepared, Preparer, native_with_env};
use mlir::text::{OpState, Parsed, Parser, Printer};
use mlir::{OpRef, Type, Verdict, op};
use program::operands;

/// Conditions.
pub(super) static BOOLEAN: TypeConstraint =
    TypeConstraint { summary: "an i1", rule: TypeRule::Is(|ty| *ty == Type::i1()) };

op! {
    /// Runs `thenRegion` if `condition` is true, else `elseRegion`, which may be empty if there are
    /// no results.
    pub IfOp, "scf.if" {
        operands { condition: single BOOLEAN }
        results { results: variadic TypeConstraint::ANY }
        regions { thenRegion: one, elseRegion: at_most_one }
        traits [SingleBlock, ImplicitTerminator("scf.yield"), RecursiveMemoryEffects]
        hooks {
            parse: parse,
            print: print,
            verify_regions: verify,
            prepare: prepare,
        }
    }
}

/// Reads `%condition -> (T, U) {…} else {…} {attributes}`.
fn parse(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    let condition = parser.operand()?;
    state.operands[0].push(condition);
    state.set_operand_type(0, Type::i1());
    let types = if parser.eat("->") { parser.result_types()? } else { Default::default() };
    state.result_types[0] = Some(types);
    let then = parser.region_with_terminator(state.def, Vec::new())?;
    state.regions[0].push(then);
    let otherwise = match parser.eat("else") {
        true => parser.region_with_terminator(state.def, Vec::new())?,
        false => parser.module().create_region(),
    };
    state.regions[1].push(otherwise);
    parser.optional_attr_dict(state)
}

fn print(printer: &mut Printer<'_>, op: OpRef<'_>) {
    let (view, module) = (IfOp(op), op.module());
    let has_results = op.num_results() > 0;
    printer.write(" ");
    printer.value(view.condition());
    if has_results {
        printer.write(" -> (");
        printer.types(op.result_types());
        printer.write(")");
    }
    printer.write(" ");
    printer.region(op, view.thenRegion(), false, has_results);
    if !module.blocks(view.elseRegion()).is_empty() {
        printer.write(" else ");
        printer.region(op, view.elseRegion(), false, has_results);
    }
    printer.attr_dict(op, &[]);
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (view, module) = (IfOp(op), op.module());
    let results: Vec<&Type> = op.result_types().collect();
    let has_else = !module.blocks(view.elseRegion()).is_empty();
    if !has_else && !results.is_empty() {
        return Err(op.error("region", "an if with results must have an else region"));
    }
    let regions = [("then", view.thenRegion()), ("else", view.elseRegion())];
    for (name, region) in regions.into_iter().take(1 + usize::from(has_else)) {
        let (arguments, yielded) = region_types(module, region);
        if !arguments.is_empty() {
            let message = format!("the {name} region must have no arguments");
            return Err(op.error("region", message));
        }
        if yielded != results {
            let message =
                format!("the {name} region must yield values of the types of the results");
            return Err(op.error("region", message));
        }
    }
    Ok(())
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let view = IfOp(op);
    let then = cx.block(view.thenRegion())?;
    let otherwise = match op.module().blocks(view.elseRegion()) {
        [] => None,
        _ => Some(cx.block(view.elseRegion())?),
    };
    native_with_env(op, move |_, operands, env| {
        let [condition] = operands::tensors(operands)?;
        match (operands::boolean(&condition)?, otherwise) {
            (true, _) => env.block(then, Vec::new()),
            (false, Some(otherwise)) => env.block(otherwise, Vec::new()),
            (false, None) => Ok(Vec::new()),
        }
    })
}
