//! `stablehlo.while`.

use super::prelude::*;
use mlir::diag::counted;
use mlir::text::{OpState, OperandList, Parsed, Parser, Printer, RegionArgument, TypeList};

op! {
    /// Runs a loop: the loop-carried values start as `operand` and are replaced by the results of
    /// `body` for as long as `cond` returns true. Returns their last values. Both regions take the
    /// values as arguments.
    pub WhileOp, "stablehlo.while" {
        operands { operand: variadic ANY_TENSOR_TOKEN_OR_BUFFER }
        results { results: variadic ANY_TENSOR_TOKEN_OR_BUFFER }
        regions { cond: one, body: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        rules include_str!("while.txt");
        hooks {
            parse: parse,
            print: print,
            argument_name: argument_name,
            verify_regions: verify,
            infer: infer::operand_types,
            infer_label: "while_c3",
            prepare: prepare,
            speculate: speculation::as_regions,
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let [cond, body] = [0, 1].map(|i| check::signature(op, op.regions()[i]));
    let values = || op.operand_types();
    for (label, what, types) in [
        ("while_c1", "cond must take", &cond.0),
        ("while_c2", "body must take", &body.0),
        ("while_c2", "body must return", &body.1),
    ] {
        let about = match what {
            "body must return" => check::first_difference(types, values()),
            _ => usize::MAX,
        };
        let holds = compat::lists(values(), types.iter().copied());
        check::require_returned(op, label, (op.regions()[1], about), holds, || {
            let (required, found) = (check::list(values()), check::list(types.iter().copied()));
            format!("{what} the types of the operands, {required}; found {found}")
        })?;
    }
    check::returns_pred(op, "while_c1", "cond", op.regions()[0], &cond.1)
}

fn argument_name(_: OpRef<'_>, _: usize, _: usize) -> Option<String> {
    Some("iterArg".to_string())
}

/// `(%arg = %init, …) : T, … attributes {…} cond {…} do {…}`
///
/// If results or arguments of regions have other types than the operands, the types form a
/// function type, and the regions declare their arguments.
fn parse(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    let (mut names, mut operands) = (Vec::new(), OperandList::new());
    parser.expect("(")?;
    parser.list_until(")", |p| {
        names.push(p.operand()?.name);
        p.expect("=")?;
        operands.push(p.operand()?);
        Ok(())
    })?;
    let (mut types, mut results) = (TypeList::new(), None);
    if !operands.is_empty() || parser.at(":") {
        parser.expect(":")?;
        parser.comma_separated(|p| {
            types.push(p.ty()?);
            Ok(())
        })?;
        if let [ty] = &types[..]
            && let Some((from, to)) = ty.as_function()
        {
            let (from, to): (TypeList, TypeList) =
                (from.iter().cloned().collect(), to.iter().cloned().collect());
            (types, results) = (from, Some(to));
        }
        if types.len() != operands.len() {
            return parser.error(format!(
                "{}, but {}",
                counted(operands.len(), "operand"),
                counted(types.len(), "type")
            ));
        }
    }
    parser.optional_attr_dict_with_keyword(state)?;
    for (slot, keyword) in ["cond", "do"].into_iter().enumerate() {
        parser.expect(keyword)?;
        let arguments = match &results {
            Some(_) => Vec::new(),
            None => names
                .iter()
                .zip(&types)
                .map(|(name, ty)| RegionArgument::new(*name, ty.clone()))
                .collect(),
        };
        let region = parser.region(state.def, arguments)?;
        state.regions[slot].push(region);
    }
    state.operands[0] = operands;
    state.result_types[0] = Some(results.unwrap_or_else(|| types.clone()));
    state.operand_types[0] = Some(types);
    Ok(())
}

fn print(printer: &mut Printer<'_>, op: OpRef<'_>) {
    let module = op.module();
    let regions = op.regions();
    let arguments = |region| module.entry(region).map_or(&[][..], |block| module.arguments(block));
    let names = regions.get(1).map_or(&[][..], |&body| arguments(body));
    let is_uniform = op.result_types().eq(op.operand_types())
        && regions.iter().all(|&region| {
            arguments(region).iter().map(|&argument| module.ty(argument)).eq(op.operand_types())
        });
    printer.write("(");
    printer.separated(", ", names.iter().zip(op.operands()), |p, (&argument, &operand)| {
        p.value(argument);
        p.write(" = ");
        p.value(operand);
    });
    printer.write(")");
    if !is_uniform {
        printer.write(" : ");
        printer.functional_type(op);
    } else if !op.operands().is_empty() {
        printer.write(" : ");
        printer.types(op.operand_types());
    }
    printer.attr_dict_with_keyword(op, &[]);
    printer.newline();
    for (keyword, &region) in ["cond ", " do "].into_iter().zip(regions) {
        printer.write(keyword);
        printer.region(op, region, !is_uniform, true);
    }
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let regions = WhileOp(op);
    Ok(Primitive::While(primitives::While {
        cond: cx.block(regions.cond())?,
        body: cx.block(regions.body())?,
    }))
}
