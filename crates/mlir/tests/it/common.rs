//! A dialect for tests: constants, sums, branches and regions.

use mlir::diag::Source;
use mlir::ir::{Loc, OpName, OpParts};
use mlir::ods::{Dialect, Registry, TypeConstraint};
use mlir::rewrite::Folded;
use mlir::text::{ParseOptions, ParseOutput, PrintOptions, parse, print_module};
use mlir::verify::{VerifyOptions, verify};
use mlir::{Attribute, Module, OpRef, Type, op};
use std::sync::{Arc, LazyLock};

pub(crate) static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new(&[&TEST]));

pub(crate) static TEST: Dialect = Dialect {
    namespace: "test",
    ops: &[
        AddOp::DEF,
        BranchOp::DEF,
        ConstantOp::DEF,
        DoubleOp::DEF,
        FunctionOp::DEF,
        PairOp::DEF,
        RepeatOp::DEF,
        UseOp::DEF,
        YieldOp::DEF,
    ],
    constant: Some(constant),
    ..Dialect::EMPTY
};

op! {
    /// The sum of two integers; constants fold, and so does a constant zero on the right.
    pub AddOp, "test.add" {
        operands { lhs: single TypeConstraint::ANY, rhs: single TypeConstraint::ANY }
        results { result: single TypeConstraint::ANY }
        traits [Pure, Commutative, ConstantsLast, SameOperandsAndResultType]
        hooks {
            format: "$lhs `,` $rhs attr-dict `:` type($result)",
            infer: infer_add,
            fold: fold_add,
        }
    }
}

fn infer_add(op: OpRef<'_>) -> Result<Vec<Type>, mlir::Diagnostic> {
    Ok(vec![op.operand_type(0).clone()])
}

op! {
    /// Goes on with a block.
    pub BranchOp, "test.branch" {
        operands { inputs: variadic TypeConstraint::ANY }
        traits [Terminator]
        successors 1
        hooks {

        }
    }
}

op! {
    /// A constant.
    pub ConstantOp, "test.constant" {
        results { result: single TypeConstraint::ANY }
        attributes { value: required Any }
        traits [Pure, ConstantLike]
        hooks {
            format: "$value attr-dict `:` type($result)",
        }
    }
}

op! {
    /// Twice a number.
    pub DoubleOp, "test.double" {
        operands { input: single TypeConstraint::ANY }
        results { result: single TypeConstraint::ANY }
        traits [Pure, SameOperandsAndResultType]
        hooks {
            format: "$input attr-dict `:` type($result)",
        }
    }
}

op! {
    /// A body that sees no values from outside.
    pub FunctionOp, "test.function" {
        attributes { sym_name: optional SymbolName }
        regions { body: any }
        traits [IsolatedFromAbove, Symbol]
    }
}

op! {
    /// Two results.
    pub PairOp, "test.pair" {
        operands { inputs: variadic TypeConstraint::ANY }
        results { first: single TypeConstraint::ANY, second: single TypeConstraint::ANY }
    }
}

op! {
    /// A body of one block.
    pub RepeatOp, "test.repeat" {
        operands { inputs: variadic TypeConstraint::ANY }
        regions { body: one }
    }
}

op! {
    /// Keeps its operands alive.
    pub UseOp, "test.use" {
        operands { inputs: variadic TypeConstraint::ANY }
        hooks {
            format: "($inputs^ `:` type($inputs))? attr-dict",
        }
    }
}

op! {
    /// Ends a body.
    pub YieldOp, "test.yield" {
        operands { outputs: variadic TypeConstraint::ANY }
        traits [Terminator]
        hooks {
            format: "($outputs^ `:` type($outputs))? attr-dict",
        }
    }
}

fn constant(value: &Attribute, ty: &Type) -> Option<OpParts> {
    let mut parts = OpParts::new(OpName::Registered(ConstantOp::DEF), Loc::Unknown);
    parts.properties.push(Some(value.clone()));
    parts.result_types.push(ty.clone());
    Some(parts)
}

fn fold_add(op: OpRef<'_>, constants: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    let number = |i: usize| constants[i].as_ref()?.as_i64();
    match (number(0), number(1)) {
        (_, Some(0)) => Some(vec![Folded::Value(op.operand(0))]),
        (Some(a), Some(b)) => Some(vec![Folded::Constant(Attribute::i64(a + b))]),
        _ => None,
    }
}

/// Reads a text of this dialect and of unregistered ones.
pub(crate) fn read(text: &str) -> ParseOutput {
    let options = ParseOptions { allow_unregistered_dialects: true, ..ParseOptions::default() };
    parse(Arc::new(Source::new("<test>", text)), &REGISTRY, options)
}

/// Reads a text that is valid.
pub(crate) fn module(text: &str) -> Module {
    let output = read(text);
    assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
    assert_valid(&output.module);
    output.module
}

pub(crate) fn assert_valid(module: &Module) {
    let options = VerifyOptions { allow_unregistered_dialects: true, ..VerifyOptions::default() };
    let errors = verify(module, &options);
    assert!(errors.is_empty(), "{errors:?}\n{}", print(module));
}

pub(crate) fn print(module: &Module) -> String {
    print_module(module, &PrintOptions::default())
}

/// The lines of a printed module, without those around its body, joined.
pub(crate) fn body(module: &Module) -> String {
    let text = print(module);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.get(1..lines.len() - 1).unwrap_or_default().join("\n")
}
