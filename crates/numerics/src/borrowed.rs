//! Tensors in memory of the caller: [`TensorRef`] is read, [`TensorMut`] is written.

use crate::{DType, Element, Tensor, TensorError, dispatch_all, shape};

/// The element type, the shape and the elements of a tensor in borrowed memory, in row-major order.
#[derive(Clone, Copy, Debug)]
pub struct TensorRef<'a> {
    dtype: DType,
    shape: &'a [usize],
    bytes: &'a [u8],
    /// The tensor whose bytes they are, if any.
    tensor: Option<&'a Tensor>,
}

impl<'a> TensorRef<'a> {
    /// A tensor of elements in row-major order.
    ///
    /// # Errors
    /// If the number of elements is not that of the shape.
    pub fn new<T: Element>(shape: &'a [usize], elements: &'a [T]) -> Result<Self, TensorError> {
        let bytes = bytemuck::cast_slice(elements);
        check_size(T::DTYPE, shape, bytes)?;
        Ok(TensorRef { dtype: T::DTYPE, shape, bytes, tensor: None })
    }

    /// A tensor of the bytes of elements in row-major order, in the byte order of the machine,
    /// [`DType::bytes`] bytes each.
    ///
    /// # Errors
    /// If the number of bytes does not fit shape and element type, or the bytes are
    /// not aligned for them or no elements of a narrow type; [`Tensor::from_bytes`] copies such
    /// bytes.
    pub fn from_bytes(
        dtype: DType,
        shape: &'a [usize],
        bytes: &'a [u8],
    ) -> Result<Self, TensorError> {
        fn canonical<T: Element>(bytes: &[u8]) -> Result<&[u8], TensorError> {
            let elements: &[T] = match bytes {
                [] => &[],
                _ => bytemuck::try_cast_slice(bytes).map_err(|_| unaligned(T::DTYPE))?,
            };
            let is_canonical = |x: &T| bytemuck::bytes_of(x) == bytemuck::bytes_of(&x.canonical());
            let is_narrow = T::DTYPE.bits() as usize != 8 * T::DTYPE.bytes();
            if is_narrow && !elements.iter().all(is_canonical) {
                let message = format!("some bytes are no elements of type {}", T::DTYPE);
                return Err(TensorError::Invalid(message));
            }
            Ok(bytemuck::cast_slice(elements))
        }

        check_size(dtype, shape, bytes)?;
        let bytes = dispatch_all!(dtype, T => canonical::<T>(bytes))?;
        Ok(TensorRef { dtype, shape, bytes, tensor: None })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The size of each dimension, outermost first.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The bytes of all elements.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The tensor whose memory this is, if it is that of one.
    pub fn as_tensor(&self) -> Option<&'a Tensor> {
        self.tensor
    }

    /// An owned tensor: shared if the memory is that of a tensor, else copied.
    ///
    /// # Errors
    /// If there is no memory for the copy.
    pub fn to_tensor(&self) -> Result<Tensor, TensorError> {
        match self.tensor {
            Some(tensor) => Ok(tensor.clone()),
            None => Tensor::copied(self.dtype, self.shape, self.bytes),
        }
    }
}

impl<'a> From<&'a Tensor> for TensorRef<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        let (dtype, shape, bytes) = (tensor.dtype(), tensor.shape(), tensor.bytes());
        TensorRef { dtype, shape, bytes, tensor: Some(tensor) }
    }
}

/// The element type and the shape of a tensor, and borrowed memory for its elements in row-major
/// order.
#[derive(Debug)]
pub struct TensorMut<'a> {
    dtype: DType,
    shape: &'a [usize],
    bytes: &'a mut [u8],
}

impl<'a> TensorMut<'a> {
    /// A tensor over elements in row-major order.
    ///
    /// # Errors
    /// If the number of elements is not that of the shape.
    pub fn new<T: Element>(shape: &'a [usize], elements: &'a mut [T]) -> Result<Self, TensorError> {
        let bytes = bytemuck::cast_slice_mut(elements);
        check_size(T::DTYPE, shape, bytes)?;
        Ok(TensorMut { dtype: T::DTYPE, shape, bytes })
    }

    /// A tensor over the bytes of elements, as [`TensorRef::from_bytes`] reads them. Whatever is
    /// there is overwritten.
    ///
    /// # Errors
    /// If the number of bytes does not fit shape and element type, or those of elements are
    /// not aligned for them.
    pub fn from_bytes(
        dtype: DType,
        shape: &'a [usize],
        bytes: &'a mut [u8],
    ) -> Result<Self, TensorError> {
        fn aligned<T: Element>(bytes: &mut [u8]) -> Result<&mut [u8], TensorError> {
            let elements: &mut [T] = match bytes {
                [] => &mut [],
                _ => bytemuck::try_cast_slice_mut(bytes).map_err(|_| unaligned(T::DTYPE))?,
            };
            Ok(bytemuck::cast_slice_mut(elements))
        }

        check_size(dtype, shape, bytes)?;
        let bytes = dispatch_all!(dtype, T => aligned::<T>(bytes))?;
        Ok(TensorMut { dtype, shape, bytes })
    }

    /// The memory of a tensor; new memory if it is shared, which the others keep.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn of(tensor: &'a mut Tensor) -> Result<Self, TensorError> {
        if !tensor.is_unshared() {
            *tensor = Tensor::zeros(tensor.dtype(), tensor.shape())?;
        }
        let dtype = tensor.dtype();
        let (shape, bytes) = tensor.parts_mut()?;
        Ok(TensorMut { dtype, shape, bytes })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The size of each dimension, outermost first.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The bytes of all elements.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// The bytes of all elements, for writing. They must become bytes of elements of the type.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes
    }
}

fn check_size(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<(), TensorError> {
    let size = shape::num_elements(shape).and_then(|count| count.checked_mul(dtype.bytes()));
    let too_large = || TensorError::TooLarge { shape: shape.to_vec(), dtype };
    match (size.ok_or_else(too_large)?, bytes.len()) {
        (expected, found) if expected != found => Err(TensorError::Length { expected, found }),
        _ => Ok(()),
    }
}

fn unaligned(dtype: DType) -> TensorError {
    TensorError::Invalid(format!("the memory is not aligned for elements of type {dtype}"))
}
