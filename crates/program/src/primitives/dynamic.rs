//! Operations whose numbers are operands.

use super::{Blocks, Effects, Kind, Operation};
use super::{
    BroadcastInDim, Convolution, Gather, GatherDims, Iota, Pad, Primitive, Reshape, Slice,
};
use crate::WindowDim;
use crate::work::{BodyWork, Shapes, Work};
use numerics::DType;
use numerics::shape::{Sizes, StridedView, num_elements};

/// Operations whose numbers are operands. `declared` has the sizes of the result type.
#[derive(Debug, PartialEq)]
pub enum Dynamic {
    /// [`Primitive::Reshape`](super::Primitive::Reshape) to the shape that is the second operand.
    Reshape {
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::BroadcastInDim`](super::Primitive::BroadcastInDim) to the shape that is
    /// the second operand.
    BroadcastInDim {
        /// The dimension of the result of each dimension of the operand.
        dimensions: Vec<usize>,
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Iota`](super::Primitive::Iota) of the shape that is the operand.
    Iota {
        /// The element type.
        dtype: DType,
        /// The dimension.
        dimension: usize,
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Pad`](super::Primitive::Pad) by the third to fifth operands.
    Pad {
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Slice`](super::Primitive::Slice) by the second to fourth operands.
    Slice {
        /// Sizes of the result type.
        declared: Option<Vec<i64>>,
    },
    /// [`Primitive::Gather`](super::Primitive::Gather) with the sizes that are the third operand.
    Gather(GatherDims),
    /// [`Primitive::Convolution`](super::Primitive::Convolution) with the padding that is
    /// the third operand.
    Convolution(Convolution),
}

impl Dynamic {
    /// The number of operands before the numbers.
    pub fn operands_before_numbers(&self) -> usize {
        match self {
            Dynamic::Iota { .. } => 0,
            Dynamic::Reshape { .. } | Dynamic::BroadcastInDim { .. } | Dynamic::Slice { .. } => 1,
            Dynamic::Pad { .. } | Dynamic::Gather(_) | Dynamic::Convolution(_) => 2,
        }
    }

    /// The operation with these numbers, on operands of the shapes before them. `None` if it would
    /// not give a result of the shape.
    pub fn with_numbers(
        &self,
        operands: &[Sizes],
        numbers: &[Vec<i64>],
        result: &[usize],
    ) -> Option<Primitive> {
        let sizes = |number: usize| -> Option<Vec<usize>> {
            numbers.get(number)?.iter().map(|&n| usize::try_from(n).ok()).collect()
        };
        let shape = || sizes(0).filter(|shape| shape == result);
        let operand = operands.first().map_or(&[][..], |shape| &shape[..]);
        match self {
            Dynamic::Reshape { .. } => {
                let shape = shape()?;
                let is_same_count = num_elements(operand)? == num_elements(&shape)?;
                is_same_count.then_some(Reshape { shape }.into())
            }
            Dynamic::BroadcastInDim { dimensions, .. } => {
                let shape = shape()?;
                let fits = |(&size, &d): (&usize, &usize)| {
                    shape.get(d).is_some_and(|&to| size == 1 || size == to)
                };
                let fit =
                    operand.len() == dimensions.len() && operand.iter().zip(dimensions).all(fits);
                fit.then(|| BroadcastInDim { shape, dimensions: dimensions.clone() }.into())
            }
            &Dynamic::Iota { dtype, dimension, .. } => {
                let shape = shape()?;
                (dimension < shape.len()).then_some(Iota { dtype, shape, dimension }.into())
            }
            Dynamic::Pad { .. } => {
                let [low, high, interior] = numbers else { return None };
                let padded = |(d, &size): (usize, &usize)| {
                    let window = WindowDim {
                        size: 1,
                        stride: 1,
                        pad_low: *low.get(d)?,
                        pad_high: *high.get(d)?,
                        base_dilation: interior.get(d)?.checked_add(1).filter(|&n| n > 0)?,
                        window_dilation: 1,
                    };
                    usize::try_from(window.num_windows(i64::try_from(size).ok()?)?).ok()
                };
                let padded: Vec<usize> =
                    operand.iter().enumerate().map(padded).collect::<Option<_>>()?;
                let (low, high, interior) = (low.clone(), high.clone(), interior.clone());
                (padded == result).then_some(Pad { low, high, interior }.into())
            }
            Dynamic::Slice { .. } => {
                let (starts, limits, strides) = (sizes(0)?, sizes(1)?, sizes(2)?);
                let part = |(d, &size): (usize, &usize)| {
                    let (start, limit) = (*starts.get(d)?, *limits.get(d)?);
                    let stride = strides.get(d).filter(|&&stride| stride > 0)?;
                    let count = limit.checked_sub(start).filter(|_| limit <= size)?;
                    Some(count.div_ceil(*stride))
                };
                let part: Vec<usize> =
                    operand.iter().enumerate().map(part).collect::<Option<_>>()?;
                (part == result).then_some(Slice { starts, limits, strides }.into())
            }
            Dynamic::Gather(dims) => {
                let sizes = sizes(0).filter(|sizes| sizes.len() == operand.len())?;
                let is_dropped = |d: &usize| {
                    let lists = [&dims.collapsed_slice_dims, &dims.operand_batching_dims];
                    lists.iter().any(|list| list.contains(&(*d as i64)))
                };
                let (dropped, kept): (Vec<usize>, Vec<usize>) =
                    (0..sizes.len()).partition(is_dropped);
                let has = |(&at, &d): (&i64, &usize)| {
                    usize::try_from(at).is_ok_and(|at| result.get(at) == Some(&sizes[d]))
                };
                let fit = kept.len() == dims.offset_dims.len()
                    && dims.offset_dims.iter().zip(&kept).all(has)
                    && dropped.iter().all(|&d| sizes[d] == 1 || result.contains(&0))
                    && sizes.iter().zip(operand).all(|(size, most)| size <= most);
                fit.then(|| Gather { dims: Box::new(dims.clone()), sizes }.into())
            }
            Dynamic::Convolution(convolution) => {
                let padding = numbers.first()?;
                let dims = &convolution.dims;
                let mut window = convolution.window.clone();
                let mut fit = padding.len() == 2 * window.len();
                let kernel = operands.get(1)?;
                for (i, (dim, pads)) in window.iter_mut().zip(padding.chunks_exact(2)).enumerate() {
                    (dim.pad_low, dim.pad_high) = (pads[0], pads[1]);
                    let size = |shape: &[usize], dimensions: &[i64]| {
                        let d = usize::try_from(*dimensions.get(i)?).ok()?;
                        i64::try_from(*shape.get(d)?).ok()
                    };
                    let sized =
                        WindowDim { size: size(kernel, &dims.kernel_spatial_dimensions)?, ..*dim };
                    let count =
                        sized.num_windows(size(operand, &dims.input_spatial_dimensions)?)?;
                    fit &= count == size(result, &dims.output_spatial_dimensions)?;
                }
                fit.then(|| Convolution { window, ..convolution.clone() }.into())
            }
        }
    }
}

impl Operation for Dynamic {
    fn kind(&self) -> Kind {
        Kind::Kernel
    }

    fn effects(&self) -> Effects {
        Effects::MayFail
    }

    fn blocks(&self) -> Blocks {
        Blocks::new()
    }

    fn is_arithmetic(&self) -> bool {
        false
    }

    fn is_by_element(&self) -> bool {
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        match self {
            Dynamic::Convolution(convolution) => convolution.arithmetic(shapes, body),
            Dynamic::Reshape { .. }
            | Dynamic::BroadcastInDim { .. }
            | Dynamic::Iota { .. }
            | Dynamic::Pad { .. }
            | Dynamic::Slice { .. }
            | Dynamic::Gather(_) => Some(Work::NONE),
        }
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
