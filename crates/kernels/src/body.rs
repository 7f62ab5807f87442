//! Bodies of `reduce`, `scatter` and the like: blocks that are functions of scalars, run on
//! vectors.

use numerics::math::{self, Direction};
use numerics::shape::StridedView;
use numerics::{Tensor, TensorError};
use program::{Body, BodyShape, Callee, EvalError, Evaluator, Extremum};

/// A body with the environment that runs it.
pub struct Combiner<'e> {
    body: &'e Body,
    env: &'e mut dyn Evaluator,
    /// The classification of the body, if it is simple.
    pub shape: BodyShape,
    /// The extremum that it finds.
    pub extremum: Option<Extremum>,
    /// The relation by which it chooses between accumulators and values.
    pub choice: Option<Direction>,
}

impl<'e> Combiner<'e> {
    /// The body, to be run by `env`.
    pub fn new(body: &'e Body, env: &'e mut dyn Evaluator) -> Combiner<'e> {
        let (shape, extremum, choice) = (body.shape, body.extremum, body.choice);
        Combiner { body, env, shape, extremum, choice }
    }

    /// Runs the body on vectors (or scalars, the same at each of the `n` positions).
    fn run(&mut self, n: usize, arguments: Vec<Tensor>) -> Result<Vec<Tensor>, EvalError> {
        let function = match self.body.callee {
            Callee::Block(block) => return self.env.scalar_block(block, n, arguments),
            Callee::Function(function) => function,
        };
        // A function has a separate frame, so it is called for each position.
        let mut results: Vec<Tensor> = Vec::new();
        for at in 0..n {
            let mut scalars = Vec::with_capacity(arguments.len());
            for argument in &arguments {
                let place = if argument.rank() == 0 { 0 } else { at };
                scalars.push(argument.take(&[place])?.into_shape([])?.into());
            }
            for (i, result) in self.env.call(function, scalars)?.into_iter().enumerate() {
                let result = result.into_tensor()?;
                if at == 0 {
                    results.push(Tensor::zeros(result.dtype(), [n])?);
                }
                let column = results
                    .get_mut(i)
                    .ok_or_else(|| EvalError::new("call", "results differ in number"))?;
                let place = StridedView::window(&[n], &[at], &[1], &[1])?;
                column.scatter(&place, &result.into_shape([1])?)?;
            }
        }
        Ok(results)
    }

    /// `tensors` converted to the types that the body computes in: the types of its arguments from
    /// `first` on.
    ///
    /// # Errors
    /// If there is no memory for the result.
    pub fn promote(&self, first: usize, tensors: Vec<Tensor>) -> Result<Vec<Tensor>, EvalError> {
        let promote = |(i, tensor): (usize, Tensor)| match self.body.dtypes.get(first + i) {
            Some(&Some(dtype)) if dtype != tensor.dtype() => Ok(math::convert(tensor, dtype)?),
            _ => Ok(tensor),
        };
        tensors.into_iter().enumerate().map(promote).collect()
    }

    /// The body at each of `n` positions of vectors (or scalars, the same at each position).
    ///
    /// # Errors
    /// Whatever stops an instruction of the body.
    pub fn combine(
        &mut self,
        n: usize,
        mut left: Vec<Tensor>,
        mut right: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, EvalError> {
        let vector = |t: Tensor| if t.rank() == 0 { t.broadcast_scalar([n]) } else { Ok(t) };
        if let BodyShape::Binary { op, swapped } = self.body.shape
            && left.len() == 1
            && right.len() == 1
            && let (Some(a), Some(v)) = (left.pop(), right.pop())
        {
            let result = if swapped { math::binary(op, v, a)? } else { math::binary(op, a, v)? };
            return Ok(vec![vector(result)?]);
        }
        left.append(&mut right);
        let results = self.run(n, left)?;
        Ok(results.into_iter().map(vector).collect::<Result<_, TensorError>>()?)
    }
}
