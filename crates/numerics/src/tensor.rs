//! Tensors: an element type, a shape and shared bytes.

use crate::dispatch::dispatch_storage;
use crate::pages::AlignedMemory;
use crate::shape::{self, Sizes, StridedView};
use crate::{Bytes, DType, Element, TensorError, dispatch_all, kept, pages};
use bytemuck::Pod;
use bytemuck::allocation::try_zeroed_vec;
use std::fmt;
use std::sync::Arc;

/// Memory of at least this many bytes begins with a line of the cache.
const MIN_ALIGNED_BYTES: usize = 1024;
/// Tensors that share an allocation begin at multiples of this many bytes.
const PART_ALIGNMENT: usize = 16;

/// A dense tensor in row-major order. Cloning and reshaping share the elements.
///
/// Invariants: the data has exactly the bytes that shape and element type require, it is aligned
/// for the element type, and the elements are canonical (no bits outside of the width of a narrow
/// type).
#[derive(Clone)]
pub struct Tensor {
    dtype: DType,
    shape: Sizes,
    data: Bytes,
}

/// An empty vector with room for `len` elements, or an error if there is no memory for them.
pub(crate) fn allocate<T>(len: usize) -> Result<Vec<T>, TensorError> {
    let bytes = len.saturating_mul(size_of::<T>());
    host::check(bytes)?;
    kept::make_room(bytes);
    let mut elements = Vec::new();
    let reserved = elements.try_reserve_exact(len).or_else(|_| {
        kept::clear();
        elements.try_reserve_exact(len)
    });
    match reserved {
        Ok(()) => {
            pages::prefer_large(&elements);
            Ok(elements)
        }
        Err(_) => Err(TensorError::OutOfMemory { bytes }),
    }
}

/// Kept memory of at most this many bytes is cleared for zeros.
const MAX_CLEARED: usize = 16 << 20;

/// Zeros, in memory that the system gives as such where it can.
fn zeroed<T: Pod + Send + Sync>(len: usize) -> Result<Bytes, TensorError> {
    let bytes = len.saturating_mul(size_of::<T>());
    host::check(bytes)?;
    let no_memory = TensorError::OutOfMemory { bytes };
    if bytes < MIN_ALIGNED_BYTES {
        return Ok(Bytes::from_vec(try_zeroed_vec::<T>(len).map_err(|()| no_memory)?));
    }
    // The system clears more than this while threads write it.
    if bytes <= MAX_CLEARED
        && let Some(mut memory) = kept::take(bytes)
    {
        memory.fill(0);
        return Ok(Bytes::from_memory(memory));
    }
    kept::make_room(bytes);
    let memory = AlignedMemory::zeros(bytes).or_else(|| {
        kept::clear();
        AlignedMemory::zeros(bytes)
    });
    Ok(Bytes::from_memory(memory.ok_or(no_memory)?))
}

/// Collects exactly `len` elements, or fails if there is no memory for them.
pub(crate) fn collect<T>(
    len: usize,
    elements: impl Iterator<Item = T>,
) -> Result<Vec<T>, TensorError> {
    let mut all = allocate(len)?;
    all.extend(elements);
    Ok(all)
}

/// Checks that `found` is the number of elements of the shape.
fn check_length(dtype: DType, shape: &[usize], found: usize) -> Result<(), TensorError> {
    let expected = num_elements(dtype, shape)?;
    if found == expected { Ok(()) } else { Err(TensorError::Length { expected, found }) }
}

pub(crate) fn num_elements(dtype: DType, shape: &[usize]) -> Result<usize, TensorError> {
    shape::num_elements(shape)
        .filter(|n| {
            n.checked_mul(dtype.bytes()).is_some_and(|bytes| isize::try_from(bytes).is_ok())
        })
        .ok_or_else(|| TensorError::TooLarge { shape: shape.to_vec(), dtype })
}

impl Tensor {
    /// A tensor of elements in row-major order.
    ///
    /// # Errors
    /// If the number of elements is not that of the shape.
    pub fn from_vec<T: Element>(
        shape: impl AsRef<[usize]>,
        elements: Vec<T>,
    ) -> Result<Tensor, TensorError> {
        let shape = shape.as_ref();
        check_length(T::DTYPE, shape, elements.len())?;
        Ok(Tensor { dtype: T::DTYPE, shape: shape.into(), data: Bytes::from_vec(elements) })
    }

    /// A tensor over existing bytes: the elements in row-major order, in the byte order of the
    /// machine, [`DType::bytes`] bytes each. The bytes are shared, not copied, unless they are not
    /// aligned for the element type, or are not canonical: bits outside of a narrow type's width
    /// are dropped, and booleans are true unless their byte is 0.
    ///
    /// # Errors
    /// If the number of bytes is not that of shape and element type.
    pub fn from_bytes(
        dtype: DType,
        shape: impl AsRef<[usize]>,
        data: Bytes,
    ) -> Result<Tensor, TensorError> {
        Tensor::over(dtype, shape.as_ref(), data)
    }

    /// A tensor of a copy of canonical elements in `bytes`.
    ///
    /// # Errors
    /// If their number does not fit the shape, or there is no memory for them.
    pub fn copied(
        dtype: DType,
        shape: impl AsRef<[usize]>,
        bytes: &[u8],
    ) -> Result<Tensor, TensorError> {
        let shape = shape.as_ref();
        check_length(dtype, shape, bytes.len() / dtype.bytes())?;
        host::check(bytes.len())?;
        let copy = |to: &mut [u8]| to.copy_from_slice(bytes);
        let whole = bytes.len().is_multiple_of(dtype.bytes());
        if let Some(data) = Bytes::short(bytes.len(), copy).filter(|_| whole) {
            return Ok(Tensor { dtype, shape: shape.into(), data });
        }
        let data = dispatch_storage!(dtype, S => {
            let elements: &[S] =
                bytemuck::try_cast_slice(bytes).map_err(|_| TensorError::OutOfBounds)?;
            Bytes::from_vec(collect(elements.len(), elements.iter().copied())?)
        });
        Ok(Tensor { dtype, shape: shape.into(), data })
    }

    /// Tensors of copies of canonical elements, each given with its type and shape, in one
    /// allocation: its memory lasts as long as one of them.
    ///
    /// # Errors
    /// If the number of elements of one does not fit its shape, or there is no memory for them.
    pub fn copied_together<'a>(
        parts: impl Iterator<Item = (DType, &'a Sizes, &'a [u8])> + Clone,
        mut each: impl FnMut(Tensor),
    ) -> Result<(), TensorError> {
        let room = |bytes: &[u8]| bytes.len().next_multiple_of(PART_ALIGNMENT);
        let mut len = 0;
        for (dtype, shape, bytes) in parts.clone() {
            let expected = num_elements(dtype, shape)? * dtype.bytes();
            if bytes.len() != expected {
                return Err(TensorError::Length { expected, found: bytes.len() });
            }
            len += room(bytes);
        }
        let all = Bytes::written(len, |mut to| {
            for (_, _, bytes) in parts.clone() {
                let (part, rest) = std::mem::take(&mut to).split_at_mut(room(bytes));
                part[..bytes.len()].copy_from_slice(bytes);
                to = rest;
            }
        })?;
        let mut start = 0;
        for (dtype, shape, bytes) in parts {
            let data = all.slice(start..start + bytes.len()).ok_or(TensorError::OutOfBounds)?;
            each(Tensor { dtype, shape: shape.clone(), data });
            start += room(bytes);
        }
        Ok(())
    }

    fn over(dtype: DType, shape: &[usize], data: Bytes) -> Result<Tensor, TensorError> {
        fn aligned<S: Pod + Send + Sync>(data: &Bytes) -> Result<Option<Bytes>, TensorError> {
            if bytemuck::try_cast_slice::<u8, S>(data).is_ok() {
                return Ok(None);
            }
            let elements = data.chunks_exact(size_of::<S>()).map(bytemuck::pod_read_unaligned::<S>);
            Ok(Some(Bytes::from_vec(collect(elements.len(), elements)?)))
        }
        fn canonical<T: Element>(data: &mut Bytes) -> Result<(), TensorError> {
            // A constant: elements of whole bytes are canonical.
            if const { T::DTYPE.bits() as usize == 8 * T::DTYPE.bytes() } {
                return Ok(());
            }
            let is_canonical = |x: &T| bytemuck::bytes_of(x) == bytemuck::bytes_of(&x.canonical());
            let elements =
                bytemuck::try_cast_slice::<u8, T>(data).map_err(|_| TensorError::OutOfBounds)?;
            if !elements.iter().all(is_canonical) {
                let elements = elements.iter().map(|x| x.canonical());
                *data = Bytes::from_vec(collect(elements.len(), elements)?);
            }
            Ok(())
        }

        let expected = num_elements(dtype, shape)? * dtype.bytes();
        if data.len() != expected {
            return Err(TensorError::Length { expected, found: data.len() });
        }
        let mut data = dispatch_storage!(dtype, S => aligned::<S>(&data))?.unwrap_or(data);
        dispatch_all!(dtype, T => canonical::<T>(&mut data))?;
        Ok(Tensor { dtype, shape: shape.into(), data })
    }

    /// A tensor of rank 0.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Tensor {
            dtype: T::DTYPE,
            shape: Sizes::new(),
            data: Bytes::from(bytemuck::bytes_of(&value)),
        }
    }

    /// A tensor with the same value everywhere.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn splat<T: Element>(shape: impl AsRef<[usize]>, value: T) -> Result<Tensor, TensorError> {
        Tensor::filled(T::DTYPE, shape.as_ref(), bytemuck::bytes_of(&value))
    }

    /// A tensor with the same value everywhere, given as the bytes of one element.
    ///
    /// # Errors
    /// If these are not the bytes of one element, or there is no memory for the tensor.
    pub fn splat_bytes(
        dtype: DType,
        shape: impl AsRef<[usize]>,
        element: &[u8],
    ) -> Result<Tensor, TensorError> {
        Tensor::from_bytes(dtype, [], Bytes::from_vec(element.to_vec()))?.broadcast_scalar(shape)
    }

    /// A tensor of zeros, or of `false`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn zeros(dtype: DType, shape: impl AsRef<[usize]>) -> Result<Tensor, TensorError> {
        Tensor::filled(dtype, shape.as_ref(), &zero(dtype))
    }

    /// A tensor of zeros that stands for a value without meaning. Whoever writes to it gets a copy,
    /// so that the system need not give memory for it; then none is charged.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn placeholder(dtype: DType, shape: impl AsRef<[usize]>) -> Result<Tensor, TensorError> {
        let shape = shape.as_ref();
        let bytes = num_elements(dtype, shape)? * dtype.bytes();
        let is_zero =
            dispatch_all!(dtype, T => bytemuck::bytes_of(&T::ZERO).iter().all(|&b| b == 0));
        match AlignedMemory::unwritten_zeros(bytes).filter(|_| is_zero) {
            Some(zeros) => {
                let data = Bytes::from_owner(Arc::new(zeros));
                Ok(Tensor { dtype, shape: shape.into(), data })
            }
            None => Tensor::zeros(dtype, shape),
        }
    }

    /// A tensor of any bytes, all of which must be written as elements before they are
    /// read: of zeros, or in memory of a dropped tensor.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[doc(hidden)] // For engines.
    pub fn unwritten(dtype: DType, shape: impl AsRef<[usize]>) -> Result<Tensor, TensorError> {
        let shape = shape.as_ref();
        let bytes = num_elements(dtype, shape)? * dtype.bytes();
        host::check(bytes)?;
        let mut tensor = match kept::take(bytes) {
            Some(memory) => Tensor { dtype, shape: shape.into(), data: Bytes::from_memory(memory) },
            None => Tensor::zeros(dtype, shape)?,
        };
        if cfg!(debug_assertions) {
            // An element that is read unwritten shows in tests.
            tensor.bytes_mut()?.fill(0xA5);
        }
        Ok(tensor)
    }

    /// This tensor, of rank 0, repeated over a shape.
    ///
    /// # Errors
    /// If this tensor does not have exactly one element, or there is no memory for the result.
    pub fn broadcast_scalar(&self, shape: impl AsRef<[usize]>) -> Result<Tensor, TensorError> {
        match self.num_elements() {
            1 => Tensor::filled(self.dtype, shape.as_ref(), &self.data),
            found => Err(TensorError::Length { expected: 1, found }),
        }
    }

    /// A tensor with the same value everywhere, given as the bytes of a canonical element.
    fn filled(dtype: DType, shape: &[usize], element: &[u8]) -> Result<Tensor, TensorError> {
        let len = num_elements(dtype, shape)?;
        let is_zero = element.iter().all(|&byte| byte == 0);
        let fill = |to: &mut [u8]| {
            if !is_zero {
                to.chunks_exact_mut(element.len()).for_each(|to| to.copy_from_slice(element));
            }
        };
        host::check(len * dtype.bytes())?;
        if let Some(data) = Bytes::short(len * dtype.bytes(), fill) {
            return Ok(Tensor { dtype, shape: shape.into(), data });
        }
        let data = dispatch_storage!(dtype, S => {
            let element: S = bytemuck::pod_read_unaligned(element);
            if is_zero {
                zeroed::<S>(len)?
            } else {
                Bytes::from_vec(collect(len, std::iter::repeat_n(element, len))?)
            }
        });
        Ok(Tensor { dtype, shape: shape.into(), data })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The size of each dimension, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub fn num_elements(&self) -> usize {
        self.data.len() / self.dtype.bytes()
    }

    /// The row-major strides, in elements.
    pub fn strides(&self) -> Vec<usize> {
        shape::strides(&self.shape)
    }

    /// The bytes of all elements.
    pub fn bytes(&self) -> &Bytes {
        &self.data
    }

    fn expect<T: Element>(&self) -> Result<(), TensorError> {
        if self.dtype == T::DTYPE {
            Ok(())
        } else {
            Err(TensorError::DType { expected: T::DTYPE, found: self.dtype })
        }
    }

    /// All elements in row-major order.
    ///
    /// # Errors
    /// If `T` is not the Rust type of this tensor's element type.
    pub fn as_slice<T: Element>(&self) -> Result<&[T], TensorError> {
        self.expect::<T>()?;
        self.storage()
    }

    /// The elements as another plain type of the same size, to move elements without regard to
    /// their meaning.
    ///
    /// # Errors
    /// If the size or the alignment differ.
    pub(crate) fn storage<T: Pod>(&self) -> Result<&[T], TensorError> {
        // Only an external owner that moves its bytes can cause a wrong alignment here.
        bytemuck::try_cast_slice(&self.data).map_err(|_| TensorError::OutOfBounds)
    }

    /// A tensor from the elements as [`Tensor::storage`] shows them: canonical, and with the number
    /// that the shape has.
    pub(crate) fn from_storage<T: Pod + Send + Sync>(
        dtype: DType,
        shape: &[usize],
        elements: Vec<T>,
    ) -> Tensor {
        debug_assert_eq!(Some(elements.len()), shape::num_elements(shape));
        Tensor { dtype, shape: shape.into(), data: Bytes::from_vec(elements) }
    }

    /// True if [`Tensor::make_mut`] copies nothing.
    pub fn is_unshared(&mut self) -> bool {
        self.data.get_mut().is_some()
    }

    /// The elements by value.
    ///
    /// # Errors
    /// As [`Tensor::as_slice`].
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, TensorError> {
        let elements = self.as_slice()?;
        collect(elements.len(), elements.iter().copied())
    }

    /// The only element of a tensor with one element.
    ///
    /// # Errors
    /// As [`Tensor::as_slice`], and if there is not exactly one element.
    pub fn item<T: Element>(&self) -> Result<T, TensorError> {
        match self.as_slice()? {
            [value] => Ok(*value),
            elements => Err(TensorError::Length { expected: 1, found: elements.len() }),
        }
    }

    /// The integers or booleans of a tensor as `i64`, such as indices and sizes. `ui64` values
    /// beyond the range of `i64` become its largest value.
    ///
    /// # Errors
    /// If the elements are neither integers nor booleans, or there is no memory for the list.
    pub fn to_i64s(&self) -> Result<Vec<i64>, TensorError> {
        use crate::{I1, Integer, dispatch};
        let saturate = |x: i128| i64::try_from(x).unwrap_or(i64::MAX);
        if let Ok(elements) = self.as_slice::<I1>() {
            return collect(elements.len(), elements.iter().map(|x| i64::from(x.get())));
        }
        dispatch!(
            self.dtype,
            [integer] T => {
                let elements = self.as_slice::<T>()?;
                collect(elements.len(), elements.iter().map(|x| saturate(x.to_i128())))
            },
            else Err(TensorError::Unsupported { op: "reading integers", dtype: self.dtype })
        )
    }

    /// All elements for writing, in row-major order; copied first if they are shared.
    ///
    /// # Errors
    /// As [`Tensor::as_slice`], and if there is no memory for the copy.
    pub fn make_mut<T: Element>(&mut self) -> Result<&mut [T], TensorError> {
        self.expect::<T>()?;
        self.storage_mut()
    }

    /// Copies the elements if they are shared.
    fn unshare(&mut self) -> Result<(), TensorError> {
        if self.data.get_mut().is_none() {
            self.data = dispatch_storage!(self.dtype, S => {
                let elements = self.storage::<S>()?;
                Bytes::from_vec(collect(elements.len(), elements.iter().copied())?)
            });
        }
        Ok(())
    }

    /// As [`Tensor::storage`], for writing.
    fn storage_mut<T: Pod + Send + Sync>(&mut self) -> Result<&mut [T], TensorError> {
        bytemuck::try_cast_slice_mut(self.bytes_mut()?).map_err(|_| TensorError::OutOfBounds)
    }

    /// The bytes of all elements for writing; copied first if they are shared. They must
    /// remain bytes of elements of the type.
    ///
    /// # Errors
    /// If there is no memory for the copy.
    pub fn bytes_mut(&mut self) -> Result<&mut [u8], TensorError> {
        self.unshare()?;
        self.data.get_mut().ok_or(TensorError::OutOfBounds)
    }

    /// The shape, and the bytes as [`Tensor::bytes_mut`] gives them.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn parts_mut(&mut self) -> Result<(&[usize], &mut [u8]), TensorError> {
        self.unshare()?;
        Ok((&self.shape, self.data.get_mut().ok_or(TensorError::OutOfBounds)?))
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    /// If the shape has another number of elements.
    pub fn reshape(&self, shape: impl AsRef<[usize]>) -> Result<Tensor, TensorError> {
        self.clone().into_shape(shape)
    }

    /// As [`Tensor::reshape`], keeping sole ownership of the elements.
    ///
    /// # Errors
    /// As [`Tensor::reshape`].
    pub fn into_shape(self, shape: impl AsRef<[usize]>) -> Result<Tensor, TensorError> {
        let shape = shape.as_ref();
        check_length(self.dtype, shape, self.num_elements())?;
        Ok(Tensor { shape: shape.into(), ..self })
    }

    /// The elements at flat positions, as a vector.
    ///
    /// # Errors
    /// If a position is outside, or there is no memory for the result.
    pub fn take(&self, at: &[usize]) -> Result<Tensor, TensorError> {
        let data = dispatch_storage!(self.dtype, S => {
            let elements = self.storage::<S>()?;
            let mut taken = allocate::<S>(at.len())?;
            for &i in at {
                taken.push(*elements.get(i).ok_or(TensorError::OutOfBounds)?);
            }
            Bytes::from_vec(taken)
        });
        Ok(Tensor { dtype: self.dtype, shape: [at.len()].as_slice().into(), data })
    }

    /// Replaces the elements at flat positions by the elements of `source`, in order. Positions
    /// outside are skipped.
    ///
    /// # Errors
    /// If the element types differ, or there is no memory to make the elements unshared.
    pub fn put(&mut self, at: &[usize], source: &Tensor) -> Result<(), TensorError> {
        if source.dtype != self.dtype {
            return Err(TensorError::DType { expected: self.dtype, found: source.dtype });
        }
        dispatch_storage!(self.dtype, S => {
            let (source, elements) = (source.storage::<S>()?, self.storage_mut::<S>()?);
            for (&i, &value) in at.iter().zip(source) {
                if let Some(element) = elements.get_mut(i) {
                    *element = value;
                }
            }
        });
        Ok(())
    }

    /// A dense copy of a strided view of the elements; of the elements themselves if the view is
    /// all of them in order.
    ///
    /// # Errors
    /// If the view reaches outside of the elements, or there is no memory for the copy.
    pub fn gather(&self, view: &StridedView) -> Result<Tensor, TensorError> {
        let shape = view.shape();
        if view.is_dense() && num_elements(self.dtype, shape)? == self.num_elements() {
            return self.reshape(shape);
        }
        let elements =
            dispatch_storage!(self.dtype, S => Bytes::from_vec(view.gather(self.storage::<S>()?)?));
        Ok(Tensor { dtype: self.dtype, shape: shape.into(), data: elements })
    }

    /// Replaces the elements of a strided view by the elements of `source`, which has the view's
    /// shape.
    ///
    /// # Errors
    /// If element type or shape of `source` differ, the view reaches outside of the elements, or
    /// there is no memory to make them unshared.
    pub fn scatter(&mut self, view: &StridedView, source: &Tensor) -> Result<(), TensorError> {
        if source.dtype != self.dtype {
            return Err(TensorError::DType { expected: self.dtype, found: source.dtype });
        }
        if !shape::equal(&source.shape, view.shape()) {
            return Err(TensorError::Shape {
                lhs: view.shape().to_vec(),
                rhs: source.shape.to_vec(),
            });
        }
        dispatch_storage!(self.dtype, S => {
            view.scatter(source.storage::<S>()?, self.storage_mut::<S>()?)
        })
    }
}

/// The bytes of a zero.
fn zero(dtype: DType) -> Vec<u8> {
    dispatch_all!(dtype, T => bytemuck::bytes_of(&T::ZERO).to_vec())
}

/// Same element type, shape and bytes: unlike numbers, equal NaNs are equal and zeros of different
/// signs are not.
impl PartialEq for Tensor {
    fn eq(&self, other: &Tensor) -> bool {
        self.dtype == other.dtype
            && shape::equal(&self.shape, &other.shape)
            && self.data == other.data
    }
}

impl Eq for Tensor {}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        f.write_str("tensor<")?;
        for size in &self.shape {
            write!(f, "{size}x")?;
        }
        write!(f, "{}>", self.dtype)?;
        dispatch_all!(self.dtype, T => {
            let elements = self.as_slice::<T>().unwrap_or_default();
            let mut list = f.debug_list();
            list.entries(elements.iter().take(SHOWN));
            if elements.len() > SHOWN { list.finish_non_exhaustive() } else { list.finish() }
        })
    }
}
