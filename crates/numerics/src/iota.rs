//! Values that count up along a dimension.

use crate::{DType, Number, Tensor, TensorError, dispatch_all};
use bytemuck::Pod;

/// The elements of an iota: their type, and where the dimension is along which they count.
#[derive(Clone, Copy, Debug)]
pub struct IotaElements {
    dtype: DType,
    /// The size of the dimension.
    size: usize,
    /// Neighbours with the same value.
    inner: usize,
}

impl IotaElements {
    /// That of a shape along `dimension`; `None` if there is no such dimension.
    pub fn new(dtype: DType, shape: &[usize], dimension: usize) -> Option<IotaElements> {
        let (&size, inner) = shape.get(dimension..)?.split_first()?;
        // On overflow, the tensor is empty or does not fit into memory.
        let inner = inner.iter().fold(1usize, |product, &size| product.saturating_mul(size));
        Some(IotaElements { dtype, size, inner })
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Writes the elements from number `first` on as bytes.
    ///
    /// # Errors
    /// If the bytes are not aligned for the elements, or are no whole number of them.
    pub fn write(&self, first: usize, elements: &mut [u8]) -> Result<(), TensorError> {
        dispatch_all!(self.dtype, T => self.count::<T>(first, elements))
    }

    fn count<T: Number + Pod>(&self, first: usize, elements: &mut [u8]) -> Result<(), TensorError> {
        let mut rest: &mut [T] =
            bytemuck::try_cast_slice_mut(elements).map_err(|_| TensorError::OutOfBounds)?;
        let IotaElements { size, inner, .. } = *self;
        if size == 0 || inner == 0 {
            return Ok(());
        }
        let (mut index, mut inside) = (first / inner % size, first % inner);
        while !rest.is_empty() {
            let run = if inner == 1 { size - index } else { inner - inside };
            let (run, after) = rest.split_at_mut(run.min(rest.len()));
            if inner == 1 {
                run.iter_mut().zip(index as i64..).for_each(|(x, i)| *x = T::from_i64(i));
                index = 0;
            } else {
                run.fill(T::from_i64(index as i64));
                (index, inside) = (if index + 1 == size { 0 } else { index + 1 }, 0);
            }
            rest = after;
        }
        Ok(())
    }
}

impl Tensor {
    /// Values that count up from zero along `dimension`, one of the shape.
    ///
    /// # Errors
    /// If there is no such dimension, or no memory for the tensor.
    pub fn iota(
        dtype: DType,
        shape: impl AsRef<[usize]>,
        dimension: usize,
    ) -> Result<Tensor, TensorError> {
        let shape = shape.as_ref();
        let none = || {
            TensorError::Invalid(format!("there is no dimension {dimension} of {}", shape.len()))
        };
        let iota = IotaElements::new(dtype, shape, dimension).ok_or_else(none)?;
        let mut tensor = Tensor::zeros(dtype, shape)?;
        iota.write(0, tensor.bytes_mut()?)?;
        Ok(tensor)
    }
}
