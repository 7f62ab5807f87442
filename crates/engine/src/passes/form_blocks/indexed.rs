//! Gathers and scatters at known indices in blocks: movements, and operations on some elements.

use crate::block::BlockOp;
use crate::graph::Value;
use crate::passes;
use crate::passes::form_blocks::BlockBuilder;
use kernels::{Form, GatherKernel, ScatterKernel};
use numerics::DType;
use numerics::math::SliceKernel;
use std::sync::Arc;

/// Elements that are updated more often are left to the kernel.
const MAX_UPDATES: usize = 8;

impl BlockBuilder<'_> {
    /// Adds the ops of a gather or scatter at indices that are known; `None` for other kernels.
    pub(crate) fn at_known_indices(
        &mut self,
        form: Form<'_>,
        operands: &[Value],
        output: Value,
        dtype: DType,
    ) -> Option<()> {
        let indices = passes::known(self.graph, *operands.get(1)?)?;
        match (form, operands) {
            (Form::Gather(gather), &[operand, _]) => {
                self.gather(gather, operand, indices.bytes(), output, dtype)
            }
            (Form::Scatter(scatter), &[input, _, updates]) => {
                self.scatter(scatter, [input, updates], indices.bytes(), output, dtype)
            }
            _ => None,
        }
    }

    fn gather(
        &mut self,
        gather: &GatherKernel,
        operand: Value,
        indices: &[u8],
        output: Value,
        dtype: DType,
    ) -> Option<()> {
        let size = dtype.bytes();
        let (numbers, result) = (self.numbers(operand, size)?, self.range(output)?);
        // The numbers of the elements in the operand take their places.
        let places: Vec<u8> = match size {
            4 => (0..numbers.len() as u32).flat_map(u32::to_ne_bytes).collect(),
            8 => (0..numbers.len() as u64).flat_map(u64::to_ne_bytes).collect(),
            _ => return None,
        };
        let mut gathered = vec![0; result.len()];
        gather.run(&places, indices, &mut gathered).ok()?;
        let number = |place: &[u8]| {
            let place = match size {
                4 => u32::from_ne_bytes(place.try_into().ok()?) as usize,
                _ => u64::from_ne_bytes(place.try_into().ok()?) as usize,
            };
            numbers.get(place).copied()
        };
        let gathered = gathered.chunks_exact(size).map(number).collect::<Option<Vec<u32>>>()?;
        self.move_elements(gathered, size, result.start)
    }

    /// Elements that are updated several times are combined with the first updates, then with
    /// the second ones, and so on.
    fn scatter(
        &mut self,
        scatter: &ScatterKernel,
        [input, updates]: [Value; 2],
        indices: &[u8],
        output: Value,
        dtype: DType,
    ) -> Option<()> {
        let size = dtype.bytes();
        let mut numbers = self.numbers(input, size)?;
        let (updates, result) = (self.numbers(updates, size)?, self.range(output)?);
        let targets = scatter.targets(indices).ok()?;
        if targets.len() != updates.len() || numbers.len() * size != result.len() {
            return None;
        }
        let updates = targets.into_iter().zip(updates);
        let updates = updates.filter_map(|(target, update)| Some((target?, update)));
        let Some(operation) = scatter.operation() else {
            for (target, update) in updates {
                *numbers.get_mut(target)? = update;
            }
            return self.move_elements(numbers, size, result.start);
        };
        // The updates of each element, by how many come before them.
        let mut rounds: Vec<Vec<(usize, u32)>> = Vec::new();
        let mut counts = vec![0; numbers.len()];
        for (target, update) in updates {
            let count = counts.get_mut(target)?;
            if *count == rounds.len() {
                rounds.push(Vec::new());
            }
            rounds[*count].push((target, update));
            *count += 1;
        }
        if rounds.len() > MAX_UPDATES {
            return None;
        }
        let source = Arc::new(SliceKernel::binary(operation, dtype)?);
        let first = self.ops.len();
        let added = self.combine(&mut numbers, &rounds, &source, size);
        if added.and_then(|()| self.move_elements(numbers, size, result.start)).is_none() {
            // Without room, nothing is added.
            self.ops.truncate(first);
            return None;
        }
        Some(())
    }

    /// Adds the combinations of elements with updates; afterwards `numbers` are those of their
    /// results.
    fn combine(
        &mut self,
        numbers: &mut [u32],
        rounds: &[Vec<(usize, u32)>],
        source: &Arc<SliceKernel>,
        size: usize,
    ) -> Option<()> {
        for round in rounds {
            let count = round.len();
            let [old, update, new] = [(); 3].map(|()| self.take(size, count));
            let (old, update, new) = (old?, update?, new?);
            let olds = round.iter().map(|&(target, _)| numbers[target]).collect();
            self.move_elements(olds, size, old)?;
            self.move_elements(round.iter().map(|&(_, update)| update).collect(), size, update)?;
            self.ops.push(BlockOp::Compute {
                kernel: source.within(),
                source: Arc::clone(source),
                result: new,
                operands: [old, update, 0],
                count: count as u32,
            });
            let first = new / size as u32;
            for (&(target, _), number) in round.iter().zip(first..) {
                numbers[target] = number;
            }
        }
        Some(())
    }
}
