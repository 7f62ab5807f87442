//! `stablehlo.reverse`.

use super::prelude::*;

op! {
    /// `operand` with the order of elements along `dimensions` reversed; the shape stays.
    pub ReverseOp, "stablehlo.reverse" {
        operands { operand: single TENSOR }
        results { result: single TENSOR }
        attributes { dimensions: required I64Array }
        traits [NoMemoryEffect]
        hooks {
            eval: Some(eval),
            assembly: Assembly::Format(
                "$operand `,` `dims` `=` $dimensions \
                 attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))",
            ),
            infer: Some(infer::first_operand),
            infer_label: "reverse_c1",
            verify: Some(|op, out| out.extend(verify(op).err())),
        }
    }
}

fn verify(op: OpRef<'_>) -> Verdict {
    let dimensions = ints(op.attr("dimensions"));
    check::distinct(op, "reverse_c2", "dimensions", dimensions)?;
    check::in_range(op, "reverse_c3", "dimensions", dimensions, rank(op.operand_type(0)))
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, _: &mut dyn EvalEnv) -> EvalResult {
    let [operand] = eval::tensors(operands)?;
    let dimensions = eval::usizes(op, "dimensions")?;
    let (mut starts, mut steps) = (vec![0; operand.rank()], vec![1; operand.rank()]);
    for (d, &size) in operand.shape().iter().enumerate().filter(|(d, _)| dimensions.contains(d)) {
        starts[d] = size.saturating_sub(1);
        steps[d] = -1;
    }
    let view = StridedView::window(operand.shape(), &starts, operand.shape(), &steps)?;
    eval::one(operand.gather(&view)?)
}
