//! Elements of `dense` attributes.

use crate::types::{Type, num_elements};
use numerics::{Bytes, DType, Tensor, TensorError};
use std::hash::{Hash, Hasher};

/// The largest number of integers that [`DenseElements::int_values`] makes of a splat. Lists of
/// indices, groups and sizes are far shorter; the shape of a hostile splat may have any size.
pub const MAX_SPLAT_INTS: usize = 1 << 20;

/// The largest number of elements that [`DenseElements::to_tensor`] makes of a splat. Programs that
/// run make larger ones under the limits of the run.
pub(crate) const MAX_SPLAT_ELEMENTS: usize = 1 << 22;

/// The numbers of a `dense` attribute: a tensor or vector type and its elements in row-major order,
/// stored as [`numerics::Tensor`] stores them (i1 and sub-byte types one byte per element).
#[derive(Clone)]
pub struct DenseElements {
    ty: Type,
    dtype: DType,
    data: Bytes,
    splat: bool,
}

impl DenseElements {
    /// Makes elements of `ty` from their storage: all of them, or one for a splat (also of no
    /// elements). Equal elements become a splat, as in MLIR. Returns `None` if the type has no
    /// static shape or no storage, or `data` has the wrong size.
    pub fn new(ty: Type, data: Bytes) -> Option<DenseElements> {
        let dtype = ty.element_type().dtype()?;
        let count = num_elements(ty.shape()?)?;
        let size = dtype.bytes();
        let (splat, data) = if data.len() == size {
            (true, data)
        } else if Some(data.len()) == count.checked_mul(size) {
            let bytes = &data[..];
            let splat = count > 0 && bytes[size..] == bytes[..bytes.len() - size];
            (splat, if splat { data.slice(0..size)? } else { data })
        } else {
            return None;
        };
        Some(DenseElements { ty, dtype, data, splat })
    }

    /// The shaped type.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The storage type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// True if one stored element represents all.
    pub fn is_splat(&self) -> bool {
        self.splat
    }

    /// The stored elements: one for a splat, else all.
    pub fn data(&self) -> &Bytes {
        &self.data
    }

    /// Number of elements of the type.
    pub fn num_elements(&self) -> usize {
        self.ty.shape().and_then(num_elements).unwrap_or(0)
    }

    /// The elements as a tensor, which shares the bytes unless this is a splat.
    ///
    /// # Errors
    /// If this is a splat of more than `MAX_SPLAT_ELEMENTS`.
    pub fn to_tensor(&self) -> Result<Tensor, TensorError> {
        let shape: Vec<usize> =
            self.ty.shape().unwrap_or(&[]).iter().map(|&d| d as usize).collect();
        if self.splat && self.num_elements() > MAX_SPLAT_ELEMENTS {
            return Err(TensorError::TooLarge { shape, dtype: self.dtype });
        }
        if self.splat {
            Tensor::splat_bytes(self.dtype, &shape, &self.data[..])
        } else {
            Tensor::from_bytes(self.dtype, &shape, self.data.clone())
        }
    }

    /// The stored elements as a vector: one for a splat of any size.
    ///
    /// # Errors
    /// If they cannot be aligned for lack of memory.
    pub fn stored(&self) -> Result<Tensor, TensorError> {
        let count = self.data.len() / self.dtype.bytes();
        Tensor::from_bytes(self.dtype, [count], self.data.clone())
    }

    /// The elements of an integer or index type, sign- or zero-extended. `None` for other types and
    /// for a splat of more than [`MAX_SPLAT_INTS`].
    pub fn int_values(&self) -> Option<Vec<i64>> {
        let one = |b: &[u8]| -> Option<i64> {
            Some(match self.dtype {
                DType::I1 | DType::U2 | DType::U4 | DType::U8 => i64::from(b[0]),
                DType::I2 | DType::I4 | DType::I8 => i64::from(b[0] as i8),
                DType::I16 => i64::from(i16::from_le_bytes(b.try_into().ok()?)),
                DType::U16 => i64::from(u16::from_le_bytes(b.try_into().ok()?)),
                DType::I32 => i64::from(i32::from_le_bytes(b.try_into().ok()?)),
                DType::U32 => i64::from(u32::from_le_bytes(b.try_into().ok()?)),
                DType::I64 | DType::U64 => i64::from_le_bytes(b.try_into().ok()?),
                _ => return None,
            })
        };
        let stored: Option<Vec<i64>> =
            self.data.chunks_exact(self.dtype.bytes()).map(one).collect();
        let mut stored = stored?;
        if self.splat {
            let count = self.num_elements();
            if count > MAX_SPLAT_INTS {
                return None;
            }
            stored.resize(count, stored[0]);
        }
        Some(stored)
    }
}

/// Elements in MLIR's representation: booleans as bits, integers narrower than a byte without sign
/// extension.
impl DenseElements {
    /// The stored elements in MLIR's representation; a splat of `true` is the byte 0xff.
    pub fn packed_bytes(&self) -> Bytes {
        let data = &self.data;
        match self.dtype {
            // Bits are counted, so that a splat of no elements has none.
            DType::I1 if self.num_elements() == 0 => Bytes::default(),
            DType::I1 if self.splat && self.num_elements() > 1 => {
                Bytes::from(vec![if data[0] == 0 { 0 } else { 0xff }])
            }
            DType::I1 => {
                let byte = |bits: &[u8]| {
                    bits.iter().enumerate().fold(0, |byte, (i, &b)| byte | (b & 1) << i)
                };
                Bytes::from(data.chunks(8).map(byte).collect::<Vec<u8>>())
            }
            DType::I2 => Bytes::from(data.iter().map(|b| b & 3).collect::<Vec<u8>>()),
            DType::I4 => Bytes::from(data.iter().map(|b| b & 15).collect::<Vec<u8>>()),
            _ => data.clone(),
        }
    }

    /// Elements of `ty` from MLIR's representation, which ignores bits beyond the width of an
    /// element; `None` if `data` has the wrong size.
    pub fn from_packed_bytes(ty: Type, data: &Bytes) -> Option<DenseElements> {
        let dtype = ty.element_type().dtype()?;
        let data = match dtype {
            DType::I1 => {
                let count = num_elements(ty.shape()?)?;
                if let [byte @ (0 | 0xff)] = data[..] {
                    Bytes::from(vec![byte & 1])
                } else if data.len() == count.div_ceil(8) {
                    Bytes::from((0..count).map(|i| data[i / 8] >> (i % 8) & 1).collect::<Vec<u8>>())
                } else {
                    return None;
                }
            }
            _ if dtype.bits() < 8 => {
                let unused = 8 - dtype.bits();
                let element = |&byte: &u8| match dtype.is_signed() {
                    true => ((byte << unused) as i8 >> unused) as u8,
                    false => byte << unused >> unused,
                };
                Bytes::from(data.iter().map(element).collect::<Vec<u8>>())
            }
            _ => data.clone(),
        };
        DenseElements::new(ty, data)
    }
}

impl PartialEq for DenseElements {
    fn eq(&self, other: &Self) -> bool {
        self.ty == other.ty && self.splat == other.splat && self.data == other.data
    }
}

impl Eq for DenseElements {}

impl Hash for DenseElements {
    /// Hashes a sample from the ends of the data, so that constants of any size hash in constant
    /// time.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ty.hash(state);
        let bytes = &self.data[..];
        bytes.len().hash(state);
        if bytes.len() <= 128 {
            bytes.hash(state);
        } else {
            bytes[..64].hash(state);
            bytes[bytes.len() - 64..].hash(state);
        }
    }
}
