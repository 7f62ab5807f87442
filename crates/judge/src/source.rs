//! Facts about the ops of a module beyond their primitives.

use crate::machine::{AccuracyRequirement, CheckRequirement, Source};
use hlo::attrs::RESULT_ACCURACY;
use hlo::enums::{RESULT_ACCURACY_MODE, RESULT_ACCURACY_TOLERANCE};
use mlir::ods::Trait;
use mlir::{Attribute, Module, OpId, OpRef};
use numerics::Tensor;
use program::Origin;
use side_dialects::check::ExpectWithinOp;

/// The ops of a module, by their origins.
pub(crate) struct ModuleSource<'m>(pub &'m Module);

impl ModuleSource<'_> {
    fn op(&self, origin: Origin) -> OpRef<'_> {
        self.0.op(OpId::from(origin))
    }
}

impl Source for ModuleSource<'_> {
    fn requirement(&self, op: Origin) -> Option<AccuracyRequirement> {
        requirement(self.op(op))
    }

    fn is_stable(&self, op: Origin) -> bool {
        let op = self.op(op);
        // Sorts that other ops are prepared as keep the order of equal elements.
        op.name() != "stablehlo.sort"
            || op.attr("is_stable").and_then(|stable| stable.as_bool()).unwrap_or(false)
    }

    fn has_expected_first(&self, op: Origin) -> bool {
        let op = self.op(op);
        let is_constant = |index: usize| {
            let value = op.operands().get(index).copied();
            let op = value.and_then(|value| self.0.defining_op(value));
            op.is_some_and(|op| op.has_trait(&Trait::ConstantLike))
        };
        is_constant(0) && !is_constant(1)
    }

    fn check(&self, op: Origin, operand: Option<&Tensor>) -> Option<CheckRequirement> {
        let op = self.op(op);
        if op.is(ExpectWithinOp::DEF) {
            return Some(CheckRequirement::Within);
        }
        let target = op.attr("call_target_name").and_then(|target| target.as_str());
        let is_check = |name: &str| {
            let expects = name.starts_with("check.expect_") && !name.contains("serialized");
            expects || name == "check.eq"
        };
        if !is_check(target.unwrap_or(op.name())) {
            return None;
        }
        let constant = op.attr("value").and_then(Attribute::to_tensor).and_then(Result::ok);
        operand.cloned().or(constant).map(CheckRequirement::Value)
    }
}

/// The accuracy that an op is required to have by its attribute `result_accuracy`.
fn requirement(op: OpRef<'_>) -> Option<AccuracyRequirement> {
    let attribute = op.attr("result_accuracy")?;
    let [absolute, relative, ulps, mode] = attribute.as_dialect(&RESULT_ACCURACY)? else {
        return None;
    };
    if mode.as_ref()?.as_enum(&RESULT_ACCURACY_MODE)? != RESULT_ACCURACY_TOLERANCE {
        return None;
    }
    let float = |value: &Option<Attribute>| value.as_ref().and_then(|v| v.as_f64());
    let ulps = ulps.as_ref().and_then(|v| v.as_i64()).unwrap_or_default();
    Some(AccuracyRequirement {
        ulps: ulps as f64,
        absolute: float(absolute).unwrap_or_default(),
        relative: float(relative).unwrap_or_default(),
    })
}
