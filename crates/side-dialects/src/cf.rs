//! The cf dialect: branches between the blocks of a function, and assertions.
//!
//! Source: MLIR, "'cf' Dialect".

use mlir::ir::BlockId;
use mlir::ods::{Dialect, TypeConstraint, TypeRule};
use mlir::prepare::{Prepared, Preparer, native};
use mlir::text::{OpState, Parsed, Parser, Printer, TypeList};
use mlir::{OpRef, Type, Value, Verdict, op};
use program::{EvalError, operands};

/// The cf dialect.
pub static CF: Dialect = Dialect {
    namespace: "cf",
    partial: true,
    has_all_types: true,
    ops: &[AssertOp::DEF, BranchOp::DEF, CondBranchOp::DEF],
    ..Dialect::EMPTY
};

static BOOLEAN: TypeConstraint =
    TypeConstraint { summary: "an i1", rule: TypeRule::Is(|ty| *ty == Type::i1()) };

op! {
    /// Fails with a message unless its operand is true.
    pub AssertOp, "cf.assert" {
        operands { arg: single BOOLEAN }
        attributes { msg: required String }
        hooks {
            format: "$arg `,` $msg attr-dict",
            prepare: prepare_assert,
        }
    }
}

fn prepare_assert(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let message = AssertOp(op).msg().to_string();
    native(op, move |operands| {
        let [holds] = operands::tensors(operands)?;
        if operands::boolean(&holds)? {
            return Ok(Vec::new());
        }
        Err(EvalError::new("assert", message.clone()))
    })
}

op! {
    /// Branches to another block, whose arguments are the operands.
    pub BranchOp, "cf.br" {
        operands { destOperands: variadic TypeConstraint::ANY }
        traits [Pure, Terminator]
        successors 1
        hooks {
            parse: parse_branch,
            print: print_branch,
            verify: verify_branch,
        }
    }
}

op! {
    /// Branches to one of two blocks.
    pub CondBranchOp, "cf.cond_br" {
        operands {
            condition: single BOOLEAN,
            trueDestOperands: variadic TypeConstraint::ANY,
            falseDestOperands: variadic TypeConstraint::ANY,
        }
        attributes { branch_weights: optional I32Array, operandSegmentSizes: required I32Array }
        traits [Pure, Terminator, AttrSizedOperandSegments]
        successors 2
        hooks {
            parse: parse_cond_branch,
            print: print_cond_branch,
            verify: verify_branch,
        }
    }
}

/// The successors of a branch, each with its block arguments.
fn destinations<'m>(op: OpRef<'m>) -> impl Iterator<Item = (BlockId, &'m [Value])> {
    let first = usize::from(op.is(CondBranchOp::DEF));
    op.successors().iter().enumerate().map(move |(i, &block)| (block, op.operand_slot(first + i)))
}

fn verify_branch(op: OpRef<'_>) -> Verdict {
    let module = op.module();
    for (block, operands) in destinations(op) {
        let given: Vec<&Type> = operands.iter().map(|&v| module.ty(v)).collect();
        let taken: Vec<&Type> = module.arguments(block).iter().map(|&v| module.ty(v)).collect();
        if given != taken {
            let list = |types: &[&Type]| {
                types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ")
            };
            let message =
                format!("the block takes ({}), but is given ({})", list(&taken), list(&given));
            return Err(op.error("successors", message));
        }
    }
    Ok(())
}

/// Reads `^block(%a, %b : T, U)`, whose operands go into `slot`.
fn parse_destination(parser: &mut Parser<'_>, state: &mut OpState, slot: usize) -> Parsed<()> {
    let block = parser.successor()?;
    state.successors.push(block);
    let mut types = TypeList::new();
    if parser.eat("(") {
        state.operands[slot] = parser.operands()?;
        parser.expect(":")?;
        parser.comma_separated(|p| {
            types.push(p.ty()?);
            Ok(())
        })?;
        parser.expect(")")?;
    }
    state.operand_types[slot] = Some(types);
    Ok(())
}

fn print_destination(printer: &mut Printer<'_>, op: OpRef<'_>, block: BlockId, operands: &[Value]) {
    printer.block_name(block);
    if !operands.is_empty() {
        printer.write("(");
        printer.separated(", ", operands, |p, &value| p.value(value));
        printer.write(" : ");
        printer.types(operands.iter().map(|&value| op.module().ty(value)));
        printer.write(")");
    }
}

fn parse_branch(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    parse_destination(parser, state, 0)?;
    parser.optional_attr_dict(state)
}

fn print_branch(printer: &mut Printer<'_>, op: OpRef<'_>) {
    printer.write(" ");
    print_destinations(printer, op);
    printer.attr_dict(op, &[]);
}

/// Reads `%condition weights([1, 2]), ^yes(…), ^no(…)`.
fn parse_cond_branch(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    let condition = parser.operand()?;
    state.operands[0].push(condition);
    state.operand_types[0] = Some([Type::i1()].into_iter().collect());
    if parser.eat("weights") {
        parser.expect("(")?;
        let weights = parser.i64_list()?;
        state.set_attr(
            "branch_weights",
            mlir::attrs::AttrKind::DenseArray { element: Type::i32(), values: weights }.into(),
        );
        parser.expect(")")?;
    }
    for slot in [1, 2] {
        parser.expect(",")?;
        parse_destination(parser, state, slot)?;
    }
    parser.optional_attr_dict(state)
}

fn print_cond_branch(printer: &mut Printer<'_>, op: OpRef<'_>) {
    printer.write(" ");
    printer.value(CondBranchOp(op).condition());
    if let Some(weights) = CondBranchOp(op).branch_weights() {
        printer.write(" weights([");
        printer.separated(", ", weights, |p, weight| p.number(weight));
        printer.write("])");
    }
    printer.write(", ");
    print_destinations(printer, op);
    printer.attr_dict(op, &["branch_weights", "operandSegmentSizes"]);
}

fn print_destinations(printer: &mut Printer<'_>, op: OpRef<'_>) {
    printer.separated(", ", destinations(op), |p, (block, operands)| {
        print_destination(p, op, block, operands)
    });
}
