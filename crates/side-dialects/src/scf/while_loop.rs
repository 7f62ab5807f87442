//! `scf.while` and `scf.condition`.

use super::conditional::BOOLEAN;
use super::region_types;
use mlir::diag::counted;
use mlir::ods::TypeConstraint;
use mlir::prepare::{Prepared, Preparer, native_with_env};
use mlir::text::{OpState, Parsed, Parser, Printer, RegionArgument};
use mlir::{OpRef, Type, Verdict, op};
use program::{EvalError, operands};

op! {
    /// Runs `before` on the carried values, which start as `inits`. If its condition holds, `after`
    /// takes the values that `before` passes on and yields the next carried values; else they are
    /// the results.
    pub WhileOp, "scf.while" {
        operands { inits: variadic TypeConstraint::ANY }
        results { results: variadic TypeConstraint::ANY }
        regions { before: one, after: one }
        traits [SingleBlock, RecursiveMemoryEffects]
        hooks {
            parse: parse,
            print: print,
            verify_regions: verify,
            prepare: prepare,
        }
    }
}

op! {
    /// Terminates the region of a loop that decides whether it goes on. Passes values on to the
    /// body, or as the results of the loop.
    pub ConditionOp, "scf.condition" {
        operands { condition: single BOOLEAN, args: variadic TypeConstraint::ANY }
        traits [Pure, Terminator, HasParent(&["scf.while"])]
        hooks {
            format: "`(` $condition `)` attr-dict ($args^ `:` type($args))?",
        }
    }
}

/// Reads `(%a = %b, …) : (T, …) -> (U, …) {…} do {…} attributes {…}`.
fn parse(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    let mut names = Vec::new();
    if parser.eat("(") {
        parser.list_until(")", |p| {
            names.push(p.operand()?.name);
            p.expect("=")?;
            state.operands[0].push(p.operand()?);
            Ok(())
        })?;
    }
    parser.expect(":")?;
    let (inputs, results) = parser.function_signature()?;
    if inputs.len() != names.len() {
        return parser.error(format!(
            "{} of the loop, but {}",
            counted(names.len(), "value"),
            counted(inputs.len(), "type")
        ));
    }
    let named = names.iter().zip(&inputs);
    let arguments = named.map(|(name, ty)| RegionArgument::new(*name, ty.clone())).collect();
    let before = parser.region(state.def, arguments)?;
    state.regions[0].push(before);
    parser.expect("do")?;
    let after = parser.region(state.def, Vec::new())?;
    state.regions[1].push(after);
    state.operand_types[0] = Some(inputs);
    state.result_types[0] = Some(results);
    parser.optional_attr_dict_with_keyword(state)
}

fn print(printer: &mut Printer<'_>, op: OpRef<'_>) {
    let (view, module) = (WhileOp(op), op.module());
    let arguments = module.entry(view.before()).map_or(&[][..], |block| module.arguments(block));
    if !op.operands().is_empty() {
        printer.write(" (");
        printer.separated(", ", arguments.iter().zip(op.operands()), |p, (value, initial)| {
            p.value(*value);
            p.write(" = ");
            p.value(*initial);
        });
        printer.write(")");
    }
    printer.write(" : ");
    printer.functional_type(op);
    printer.write(" ");
    printer.region(op, view.before(), false, true);
    printer.write(" do ");
    printer.region(op, view.after(), true, true);
    printer.attr_dict_with_keyword(op, &[]);
}

fn verify(op: OpRef<'_>) -> Verdict {
    let (view, module) = (WhileOp(op), op.module());
    for (region, name, terminator) in [
        (view.before(), "before", ConditionOp::DEF.name),
        (view.after(), "after", super::YieldOp::DEF.name),
    ] {
        let last = module.entry(region).and_then(|block| module.terminator(block));
        if last.is_none_or(|last| last.name() != terminator) {
            let message = format!("the region `{name}` must end with {terminator}");
            return Err(op.error("region", message));
        }
    }
    let initial: Vec<&Type> = op.operand_types().collect();
    let results: Vec<&Type> = op.result_types().collect();
    let (taken, passed) = region_types(module, view.before());
    let (received, yielded) = region_types(module, view.after());
    for (what, found, required, of) in [
        ("`before` must take", &taken[..], &initial, "initial values"),
        ("the condition must pass on", passed.get(1..).unwrap_or_default(), &results, "results"),
        ("`after` must take", &received[..], &results, "results"),
        ("`after` must yield", &yielded[..], &initial, "initial values"),
    ] {
        if found != &required[..] {
            let list = |types: &[&Type]| {
                types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            let message = format!(
                "{what} values of the types of the {of}, ({}); found ({})",
                list(required),
                list(found)
            );
            return Err(op.error("region", message));
        }
    }
    Ok(())
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let view = WhileOp(op);
    let (before, after) = (cx.block(view.before())?, cx.block(view.after())?);
    native_with_env(op, move |_, mut values, env| {
        loop {
            let mut passed = env.block(before, values)?;
            if passed.is_empty() {
                return Err(EvalError::new("scf", "the region `before` has no condition"));
            }
            let rest = passed.split_off(1);
            let [condition] = operands::tensors(passed)?;
            if !operands::boolean(&condition)? {
                return Ok(rest);
            }
            values = env.block(after, rest)?;
        }
    })
}
