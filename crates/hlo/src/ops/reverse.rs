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
        }
    }
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
