//! `stablehlo.sort`.

use super::prelude::*;

op! {
    /// `inputs`, of one shape, sorted together along `dimension` by `comparator`, which takes a pair of elements of
    /// each.
    pub SortOp, "stablehlo.sort" {
        operands { inputs: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            dimension: implied Int(64) => DefaultValue::I64(-1),
            is_stable: implied Bool => DefaultValue::Bool(false),
        }
        regions { comparator: one }
        traits [RecursiveMemoryEffects]
        hooks { eval: Some(eval) }
    }
}

fn eval(op: OpRef<'_>, operands: Vec<RuntimeValue>, env: &mut dyn EvalEnv) -> EvalResult {
    let inputs = eval::all_tensors(operands)?;
    let shape = inputs.first().map(|t| t.shape().to_vec()).unwrap_or_default();
    let rank = shape.len() as i64;
    let dimension = op.attr_or_default("dimension").and_then(|d| d.as_i64()).unwrap_or(-1);
    let dimension = if dimension < 0 { dimension + rank } else { dimension };
    let Some(dimension) = usize::try_from(dimension).ok().filter(|&d| d < shape.len()) else {
        return Err(EvalError::new("sort_c4", format!("there is no dimension {dimension} in a rank of {rank}")));
    };
    // Lines along the dimension one after the other, and back.
    let mut order: Vec<usize> = (0..shape.len()).filter(|&d| d != dimension).collect();
    order.push(dimension);
    let mut back = vec![0; order.len()];
    for (from, &to) in order.iter().enumerate() {
        back[to] = from;
    }
    let mut lines = Vec::with_capacity(inputs.len());
    for input in &inputs {
        let view = StridedView::dense(&shape)?.permute(&order)?;
        lines.push(input.gather(&view)?.into_shape([input.num_elements()])?);
    }
    let permuted: Vec<usize> = order.iter().map(|&d| shape[d]).collect();
    let sorted = eval::sort(env, SortOp(op).comparator(), &lines, shape[dimension])?;
    let restore = |t: Tensor| {
        let view = StridedView::dense(&permuted)?.permute(&back)?;
        Ok(RuntimeValue::Tensor(t.into_shape(&permuted)?.gather(&view)?))
    };
    sorted.into_iter().map(restore).collect()
}
