//! `scf.for`.

use mlir::diag::counted;
use mlir::ods::{TypeConstraint, TypeRule};
use mlir::prepare::{Prepared, Preparer, native_with_env};
use mlir::text::{OpState, Parsed, Parser, Printer, RegionArgument, TypeList};
use mlir::{OpRef, Type, Verdict, op};
use numerics::{Tensor, math};
use program::{EvalError, RuntimeValue};

/// Bounds and steps of loops.
static INDEX_OR_INTEGER: TypeConstraint = TypeConstraint {
    summary: "an index or a signless integer",
    rule: TypeRule::Is(|ty| ty.is_index() || ty.is_integer(None)),
};

op! {
    /// Runs its region for each number from `lowerBound` to below `upperBound` in steps of `step`.
    /// The region takes the number and the carried values, and yields the next carried values.
    pub ForOp, "scf.for" {
        operands {
            lowerBound: single INDEX_OR_INTEGER,
            upperBound: single INDEX_OR_INTEGER,
            step: single INDEX_OR_INTEGER,
            initArgs: variadic TypeConstraint::ANY,
        }
        results { results: variadic TypeConstraint::ANY }
        regions { region: one }
        traits [SingleBlock, ImplicitTerminator("scf.yield"), RecursiveMemoryEffects]
        hooks {
            parse: parse,
            print: print,
            verify_regions: verify,
            prepare: prepare,
        }
    }
}

/// Reads `%i = %lower to %upper step %step iter_args(%a = %b) -> (T) : U { … }`.
fn parse(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    let mut names = vec![parser.operand()?.name];
    parser.expect("=")?;
    for (slot, keyword) in [(0, Some("to")), (1, Some("step")), (2, None)] {
        let operand = parser.operand()?;
        state.operands[slot].push(operand);
        if let Some(keyword) = keyword {
            parser.expect(keyword)?;
        }
    }
    let mut types = TypeList::new();
    if parser.eat("iter_args") {
        parser.expect("(")?;
        parser.list_until(")", |p| {
            names.push(p.operand()?.name);
            p.expect("=")?;
            state.operands[3].push(p.operand()?);
            Ok(())
        })?;
        parser.expect("->")?;
        types = parser.result_types()?;
        if types.len() + 1 != names.len() {
            return parser.error(format!(
                "{} of the loop, but {}",
                counted(names.len() - 1, "value"),
                counted(types.len(), "type")
            ));
        }
    }
    let number = if parser.eat(":") { parser.ty()? } else { Type::index() };
    let all = std::iter::once(&number).chain(&types);
    let arguments =
        names.iter().zip(all).map(|(name, ty)| RegionArgument::new(*name, ty.clone())).collect();
    let region = parser.region_with_terminator(state.def, arguments)?;
    state.regions[0].push(region);
    for slot in 0..3 {
        state.set_operand_type(slot, number.clone());
    }
    state.operand_types[3] = Some(types.clone());
    state.result_types[0] = Some(types);
    parser.optional_attr_dict(state)
}

fn print(printer: &mut Printer<'_>, op: OpRef<'_>) {
    let (module, region) = (op.module(), ForOp(op).region());
    let arguments = module.entry(region).map_or(&[][..], |block| module.arguments(block));
    let [lower, upper, step, initial @ ..] = op.operands() else { return };
    let Some((number, values)) = arguments.split_first() else { return };
    printer.write(" ");
    printer.value(*number);
    for (word, value) in [(" = ", lower), (" to ", upper), (" step ", step)] {
        printer.write(word);
        printer.value(*value);
    }
    if !initial.is_empty() {
        printer.write(" iter_args(");
        printer.separated(", ", values.iter().zip(initial), |p, (value, initial)| {
            p.value(*value);
            p.write(" = ");
            p.value(*initial);
        });
        printer.write(") -> (");
        printer.types(op.result_types());
        printer.write(")");
    }
    if !op.operand_type(0).is_index() {
        printer.write(" : ");
        printer.ty(op.operand_type(0));
    }
    printer.write(" ");
    printer.region(op, region, false, !initial.is_empty());
    printer.attr_dict(op, &[]);
}

fn verify(op: OpRef<'_>) -> Verdict {
    let module = op.module();
    let Some(block) = module.entry(ForOp(op).region()) else { return Ok(()) };
    let number = op.operand_type(0);
    let values: Vec<&Type> = op.operand_types().skip(3).collect();
    let arguments: Vec<&Type> = module.arguments(block).iter().map(|&v| module.ty(v)).collect();
    let yielded: Vec<&Type> =
        module.terminator(block).map(|t| t.operand_types().collect()).unwrap_or_default();
    let fits = arguments.first() == Some(&number)
        && arguments[1..] == values[..]
        && op.operand_types().take(3).all(|ty| ty == number);
    if !fits {
        return Err(op.error(
            "region",
            "the region must take a number of the type of the bounds and the values of the loop",
        ));
    } else if yielded != values || !op.result_types().eq(values.iter().copied()) {
        return Err(op.error(
                "region",
                "the region must yield, and the loop result in, values of the types of the initial ones",
            ));
    }
    Ok(())
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let block = cx.block(ForOp(op).region())?;
    native_with_env(op, move |_, operands, env| {
        let number = |index: usize| -> Result<i64, EvalError> {
            let missing = || EvalError::new("scf", "a bound is missing");
            let bound = operands.get(index).ok_or_else(missing)?.tensor()?;
            bound.to_i64s()?.first().copied().ok_or_else(missing)
        };
        let (mut at, upper, step) = (number(0)?, number(1)?, number(2)?);
        if step <= 0 {
            let message = format!("the step of a loop must be positive; found {step}");
            return Err(EvalError::new("scf", message));
        }
        let dtype = operands[0].tensor()?.dtype();
        let mut values: Vec<RuntimeValue> = operands[3..].to_vec();
        while at < upper {
            let number = math::convert(Tensor::scalar(at), dtype)?;
            let arguments = std::iter::once(number.into()).chain(values).collect();
            values = env.block(block, arguments)?;
            let Some(next) = at.checked_add(step) else { break };
            at = next;
        }
        Ok(values)
    })
}
