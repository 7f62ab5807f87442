//! The check dialect: assertions about the values that an interpreted program computes.
//!
//! Source: StableHLO, `stablehlo/tests/CheckOps.td`.

use crate::constraints::{FLOAT_OR_COMPLEX_TENSOR, VALUE_TENSOR};
use crate::expect;
use mlir::ods::Dialect;
use mlir::prepare::{Prepared, Preparer, native, native_with_env};
use mlir::types::Signedness;
use mlir::{Attribute, OpRef, Type, op};
use numerics::Tensor;
use program::{EvalError, operands};

/// The check dialect.
pub static CHECK: Dialect = Dialect {
    namespace: "check",
    ops: &[
        ExpectAlmostEqOp::DEF,
        ExpectAlmostEqConstOp::DEF,
        ExpectCloseOp::DEF,
        ExpectEqOp::DEF,
        ExpectEqConstOp::DEF,
        ExpectSerializedEqOp::DEF,
        ExpectWithinOp::DEF,
    ],
    ..Dialect::EMPTY
};

/// The default tolerance of the "almost equal" checks.
pub const DEFAULT_TOLERANCE: f64 = 1e-4;

fn default_tolerance() -> Attribute {
    Attribute::f64(DEFAULT_TOLERANCE)
}

fn unsigned(value: u64, width: u32) -> Attribute {
    Attribute::integer(i128::from(value), Type::integer(width, Signedness::Unsigned))
}

op! {
    /// Fails unless each element of `lhs` is within `tolerance` of that of `rhs`.
    pub ExpectAlmostEqOp, "check.expect_almost_eq" {
        operands { lhs: single FLOAT_OR_COMPLEX_TENSOR, rhs: single FLOAT_OR_COMPLEX_TENSOR }
        attributes { tolerance: implied Float(64) => DefaultValue::Computed(default_tolerance) }
        traits [SameTypeOperands]
        hooks {
            format: "$lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` type($lhs)",
            prepare: prepare_almost_eq,
        }
    }
}

op! {
    /// Fails unless each element of `lhs` is within `tolerance` of that of the constant `value`.
    pub ExpectAlmostEqConstOp, "check.expect_almost_eq_const" {
        operands { lhs: single FLOAT_OR_COMPLEX_TENSOR }
        attributes {
            value: required Elements,
            tolerance: implied Float(64) => DefaultValue::Computed(default_tolerance),
        }
        traits [AllTypesMatch(&["lhs", "value"])]
        hooks {
            format: "$lhs `,` $value (`,` `tolerance` `=` $tolerance^)? attr-dict",
            prepare: prepare_almost_eq,
        }
    }
}

op! {
    /// Fails unless the distance in units in the last place between each element of `actual` and
    /// that of `expected` is in the range from `min_ulp_difference` to `max_ulp_difference`.
    pub ExpectCloseOp, "check.expect_close" {
        operands {
            actual: single FLOAT_OR_COMPLEX_TENSOR,
            expected: single FLOAT_OR_COMPLEX_TENSOR,
        }
        attributes {
            max_ulp_difference: default UInt(64) => DefaultValue::Computed(|| unsigned(1, 64)),
            min_ulp_difference: implied UInt(64) => DefaultValue::Computed(|| unsigned(0, 64)),
        }
        traits [AllTypesMatch(&["actual", "expected"])]
        hooks {
            format:
                "$actual `,` $expected `,` `max_ulp_difference` `=` $max_ulp_difference \
                 (`,` `min_ulp_difference` `=` $min_ulp_difference^)? `:` attr-dict type($actual) `,` type($expected)",
            prepare: prepare_close,
        }
    }
}

op! {
    /// Fails unless `lhs` and `rhs` are equal, element by element.
    pub ExpectEqOp, "check.expect_eq" {
        operands { lhs: single VALUE_TENSOR, rhs: single VALUE_TENSOR }
        traits [SameTypeOperands]
        hooks {
            format: "$lhs `,` $rhs attr-dict `:` type($lhs)",
            prepare: prepare_eq,
        }
    }
}

op! {
    /// Fails unless `lhs` equals the constant `value`, element by element.
    pub ExpectEqConstOp, "check.expect_eq_const" {
        operands { lhs: single VALUE_TENSOR }
        attributes { value: required Elements }
        traits [AllTypesMatch(&["lhs", "value"])]
        hooks {
            format: "$lhs `,` $value attr-dict",
            prepare: prepare_eq,
        }
    }
}

op! {
    /// Fails unless `expected` equals what the probe `probe_id` wrote in the iteration `iteration`,
    /// counted from 0.
    pub ExpectSerializedEqOp, "check.expect_serialized_eq" {
        operands { expected: single VALUE_TENSOR }
        attributes {
            probe_id: required String,
            iteration: implied UInt(32) => DefaultValue::Computed(|| unsigned(0, 32)),
        }
        hooks {
            format:
                "$expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iteration^)? attr-dict \
                 `:` type($expected)",
            prepare: prepare_serialized_eq,
        }
    }
}

op! {
    /// Fails unless each element of `actual` is one that a backend may compute from the inputs of
    /// the program if each op rounds as the model named `model` allows: bounds are derived by
    /// `stablo judge`, instead of a tolerance. Fails, too, if rounding can flip a decision that an
    /// element depends on, or bounds are too wide to say anything.
    pub ExpectWithinOp, "check.expect_within" {
        operands { actual: single FLOAT_OR_COMPLEX_TENSOR }
        attributes { model: default String => DefaultValue::String("ieee") }
        hooks {
            format: "$actual (`,` `model` `=` $model^)? attr-dict `:` type($actual)",
            prepare: prepare_within,
        }
    }
}

fn prepare_within(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native_with_env(op, move |origin, operands, env| {
        let [actual] = operands::tensors(operands)?;
        env.process_context()?.within(origin, &actual)?;
        Ok(Vec::new())
    })
}

fn prepare_serialized_eq(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let view = ExpectSerializedEqOp(op);
    let name = view.probe_id().to_string();
    let iteration = usize::try_from(view.iteration()).unwrap_or(usize::MAX);
    let declared = op.operand_type(0).to_string();
    native_with_env(op, move |_, operands, env| {
        let [expected] = operands::tensors(operands)?;
        let (ty, actual) = env.process_context()?.probed(&name, iteration)?;
        if ty != declared {
            let message = format!("the probe `{name}` saved a {ty}, but {declared} is expected");
            return Err(EvalError::new("check.expect_serialized_eq", message));
        }
        expect::expect_eq(&actual, &expected)?;
        Ok(Vec::new())
    })
}

/// A check of the first operand against the second one, or against the constant `value`.
fn check(
    op: OpRef<'_>,
    compare: impl Fn(&Tensor, &Tensor) -> Result<(), EvalError> + Send + Sync + 'static,
) -> Prepared {
    let constant = op.attr("value").and_then(Attribute::to_tensor).transpose()?;
    native(op, move |operands| {
        let mut operands = operands::tensor_list(operands)?.into_iter();
        let actual =
            operands.next().ok_or_else(|| EvalError::new("operands", "nothing to check"))?;
        let expected = operands.next().or_else(|| constant.clone());
        let expected =
            expected.ok_or_else(|| EvalError::new("operands", "nothing to compare with"))?;
        compare(&actual, &expected)?;
        Ok(Vec::new())
    })
}

fn prepare_eq(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    check(op, expect::expect_eq)
}

fn prepare_almost_eq(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let tolerance = match ExpectAlmostEqOp::cast(op) {
        Some(view) => view.tolerance(),
        None => ExpectAlmostEqConstOp(op).tolerance(),
    };
    check(op, move |actual, expected| expect::expect_almost_eq(actual, expected, tolerance))
}

fn prepare_close(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let view = ExpectCloseOp(op);
    let (min, max) = (view.min_ulp_difference(), view.max_ulp_difference());
    check(op, move |actual, expected| expect::expect_close(actual, expected, min, max))
}
