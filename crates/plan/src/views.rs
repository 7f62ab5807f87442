//! Data movement as views: which elements of which memory a value is.

use crate::groups::Types;
use numerics::Tensor;
use numerics::shape::{self, StridedView};
use program::{Instruction, Primitive, Slot};
use rustc_hash::FxHashMap;

/// At most so many movements are looked through.
const MAX_DEPTH: usize = 8;
/// Longer iotas are not kept as constants.
const MAX_IOTA: usize = 1 << 12;

/// A value as a view of memory.
#[derive(Debug)]
pub(crate) struct Viewed {
    pub memory: Memory,
    /// The elements, in the shape of the value.
    pub view: StridedView,
    /// Number of elements of the memory.
    pub len: usize,
}

/// The memory behind a view.
#[derive(Debug)]
pub(crate) enum Memory {
    Slot(Slot),
    Constant(Tensor),
}

/// The instructions of a block by the slot of their first result.
pub(crate) struct Definitions<'a> {
    pub instructions: &'a [Instruction],
    pub by_slot: FxHashMap<Slot, usize>,
    pub types: &'a Types,
}

impl Definitions<'_> {
    /// A value as a view of the memory of another one, or of itself; `None` if its shape is not
    /// known.
    pub fn view(&self, slot: Slot) -> Option<Viewed> {
        let looked_through = self.look_through(slot, MAX_DEPTH).filter(|viewed| {
            // Memory is read line by line, or an element again and again.
            let runs = shape::Runs::new(&viewed.view, viewed.len);
            runs.is_ok_and(|runs| matches!(runs.stride(), 0 | 1))
        });
        looked_through.or_else(|| self.whole(slot))
    }

    fn whole(&self, slot: Slot) -> Option<Viewed> {
        let shape = self.shape(slot)?;
        let view = StridedView::dense(&shape).ok()?;
        Some(Viewed { memory: Memory::Slot(slot), view, len: shape::num_elements(&shape)? })
    }

    fn shape(&self, slot: Slot) -> Option<Vec<usize>> {
        shape_of(self.types, slot)
    }

    fn look_through(&self, slot: Slot, depth: usize) -> Option<Viewed> {
        let Some(&definition) = self.by_slot.get(&slot).filter(|_| depth > 0) else {
            return self.whole(slot);
        };
        let instruction = &self.instructions[definition];
        let operand = || {
            let operand = instruction.operands.first()?;
            self.look_through(operand.slot, depth - 1)
        };
        let constant = |tensor: Tensor, view: StridedView| {
            let len = tensor.num_elements();
            Some(Viewed { memory: Memory::Constant(tensor), view, len })
        };
        let scalar = || StridedView::new(0, [], []).ok();
        match &instruction.primitive {
            Primitive::Constant(tensor) => {
                constant(tensor.clone(), StridedView::dense(tensor.shape()).ok()?)
            }
            Primitive::Splat { element, shape } => {
                constant(element.clone(), scalar()?.broadcast(shape, &[]).ok()?)
            }
            Primitive::Iota { dtype, shape, dimension } => {
                let size = *shape.get(*dimension).filter(|&&size| size <= MAX_IOTA)?;
                let view = StridedView::dense(&[size]).ok()?.broadcast(shape, &[*dimension]);
                constant(Tensor::iota(*dtype, [size], 0).ok()?, view.ok()?)
            }
            Primitive::BroadcastInDim { shape, dimensions } => {
                let viewed = operand()?;
                Some(Viewed { view: viewed.view.broadcast(shape, dimensions).ok()?, ..viewed })
            }
            Primitive::Transpose(permutation) => {
                let viewed = operand()?;
                Some(Viewed { view: viewed.view.permute(permutation).ok()?, ..viewed })
            }
            Primitive::Reshape(shape) => {
                let viewed = operand()?;
                let view = match () {
                    () if viewed.view.is_dense() => StridedView::dense(shape).ok()?,
                    () if viewed.view.shape().iter().all(|&size| size == 1) => {
                        StridedView::new(viewed.view.offset(), shape, vec![0; shape.len()]).ok()?
                    }
                    () => return None,
                };
                Some(Viewed { view, ..viewed })
            }
            Primitive::Slice { starts, limits, strides } => {
                let viewed = operand()?;
                if !viewed.view.is_dense() {
                    return None;
                }
                let sizes = starts.iter().zip(limits).zip(strides);
                let sizes: Option<Vec<usize>> = sizes
                    .map(|((start, limit), &step)| {
                        Some(limit.checked_sub(*start)?.div_ceil(step.max(1)))
                    })
                    .collect();
                let steps: Option<Vec<isize>> =
                    strides.iter().map(|&step| isize::try_from(step).ok()).collect();
                let shape = viewed.view.shape().to_vec();
                let view = StridedView::window(&shape, starts, &sizes?, &steps?).ok()?;
                Some(Viewed { view, ..viewed })
            }
            _ => self.whole(slot),
        }
    }
}

/// The shape of the value of a slot.
pub(crate) fn shape_of(types: &Types, slot: Slot) -> Option<Vec<usize>> {
    types.get(slot as usize)?.as_ref()?.static_shape()
}

/// The number of elements of the value of a slot.
pub(crate) fn elements(types: &Types, slot: Slot) -> Option<usize> {
    shape::num_elements(&shape_of(types, slot)?)
}

/// True for a primitive without side effects or errors at run time: it is dead if nothing uses its
/// results.
pub(crate) fn is_removable(primitive: &Primitive) -> bool {
    matches!(
        primitive,
        Primitive::Constant(_)
            | Primitive::Splat { .. }
            | Primitive::Iota { .. }
            | Primitive::BroadcastInDim { .. }
            | Primitive::Transpose(_)
            | Primitive::Reshape(_)
            | Primitive::Slice { .. }
    )
}
