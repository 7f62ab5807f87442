//! `stablehlo.compare`.

use super::prelude::*;

op! {
    /// Elementwise comparison of `lhs` and `rhs`, of one type, in the given direction: booleans of the same shape.
    pub CompareOp, "stablehlo.compare" {
        operands { lhs: single TENSOR, rhs: single TENSOR }
        results { result: single PRED_TENSOR }
        attributes {
            comparison_direction: required Enum(&COMPARISON_DIRECTION),
            compare_type: optional Enum(&COMPARISON_TYPE),
        }
        traits [Elementwise, NoMemoryEffect, SpeculatableIfAllInputsStatic]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? \
                 attr-dict `:` functional-type(operands, results)",
            ),
            infer: Some(infer),
            infer_label: "compare_c2",
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let (lhs, rhs) = (op.operand_type(0), op.operand_type(1));
    require(op, "compare_c1", compat::elements(lhs, rhs), || {
        format!("lhs and rhs must have compatible element types; found {lhs} and {rhs}")
    })?;
    let operands = infer::merged(op, "compare_c2", 0)?;
    Ok(vec![compat::with_element(&operands, Type::i1())])
}

/// The direction of a `compare`, and whether it is in the total order of floats; none for other ops.
pub(super) fn relation(op: OpRef<'_>) -> Option<(Direction, bool)> {
    const DIRECTIONS: [Direction; 6] =
        [Direction::Eq, Direction::Ne, Direction::Ge, Direction::Gt, Direction::Le, Direction::Lt];
    const TOTALORDER: u64 = 2;
    let compare = CompareOp::cast(op)?;
    let direction = compare.comparison_direction()?.as_enum(&COMPARISON_DIRECTION)?;
    let total = compare.compare_type().and_then(|t| t.as_enum(&COMPARISON_TYPE)) == Some(TOTALORDER);
    Some((*DIRECTIONS.get(direction as usize)?, total))
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let (direction, total) = relation(op).ok_or_else(|| eval::missing(op, "comparison_direction"))?;
    eval::quantize::around(op, operands, |operands| {
        let [lhs, rhs] = eval::exactly(operands)?;
        Ok(vec![if total && lhs.dtype().is_float() {
            math::compare_total_order(direction, &lhs, &rhs)?
        } else {
            math::compare(direction, &lhs, &rhs)?
        }])
    })
}
