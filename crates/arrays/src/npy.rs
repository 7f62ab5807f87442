//! NumPy's `.npy` files.
//!
//! Source: NumPy documentation, "numpy.lib.format".

use crate::ArrayError;
use numerics::shape::{self, StridedView};
use numerics::{Bytes, DType, Tensor, math};
use std::io::{self, Write};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Kind of the stored elements, such as `f4`, without byte order.
    pub kind: String,
    big_endian: bool,
    fortran_order: bool,
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// Offset of the data.
    data: usize,
}

/// Parses the header of a file.
///
/// # Errors
/// If the header is malformed.
pub fn read_header(file: &[u8]) -> Result<Header, ArrayError> {
    parse_header(file).map_err(ArrayError::new)
}

fn parse_header(file: &[u8]) -> Result<Header, String> {
    let version = file
        .strip_prefix(MAGIC)
        .ok_or("this is not an .npy file: it does not start with \\x93NUMPY")?;
    let (length_bytes, rest) = match version {
        [1, _, rest @ ..] => rest.split_at_checked(2),
        [2 | 3, _, rest @ ..] => rest.split_at_checked(4),
        [major, ..] => return Err(format!("version {major} of the .npy format is unknown")),
        [] => None,
    }
    .ok_or("the header is cut off")?;
    let length = length_bytes.iter().rev().fold(0usize, |n, &b| n << 8 | usize::from(b));
    let text = rest.get(..length).ok_or("the header is cut off")?;
    let text = std::str::from_utf8(text).map_err(|_| "the header is not text")?;
    let data = file.len() - rest.len() + length;
    let field = |name: &str| {
        let key = [format!("'{name}'"), format!("\"{name}\"")];
        let value = key.iter().find_map(|k| text.split_once(k.as_str()))?.1;
        Some(value.trim_start().strip_prefix(':')?.trim_start())
    };
    let missing = |name: &str| format!("the header has no readable `{name}`");
    let descr = field("descr").ok_or_else(|| missing("descr"))?;
    let quote = descr
        .chars()
        .next()
        .filter(|c| ['\'', '"'].contains(c))
        .ok_or("the array has a structured type")?;
    let descr = descr[1..].split(quote).next().unwrap_or("");
    let (order, kind) = descr.split_at_checked(1).ok_or_else(|| missing("descr"))?;
    let (big_endian, kind) = match order {
        "<" | "|" | "=" => (false, kind),
        ">" => (true, kind),
        _ => (false, descr),
    };
    let fortran_order =
        field("fortran_order").ok_or_else(|| missing("fortran_order"))?.starts_with("True");
    let shape = field("shape")
        .and_then(|s| s.strip_prefix('(')?.split_once(')'))
        .ok_or_else(|| missing("shape"))?
        .0;
    let sizes = shape.split(',').map(str::trim).filter(|s| !s.is_empty());
    let shape = sizes.map(str::parse).collect::<Result<_, _>>().map_err(|_| missing("shape"))?;
    Ok(Header { kind: kind.to_string(), big_endian, fortran_order, shape, data })
}

/// Kind and type of the stored elements for an element type.
fn storage(dtype: DType) -> (&'static str, DType) {
    match dtype {
        DType::I1 => ("b1", DType::I1),
        DType::I2 | DType::I4 | DType::I8 => ("i1", DType::I8),
        DType::I16 => ("i2", dtype),
        DType::I32 => ("i4", dtype),
        DType::I64 => ("i8", dtype),
        DType::U2 | DType::U4 | DType::U8 => ("u1", DType::U8),
        DType::U16 => ("u2", dtype),
        DType::U32 => ("u4", dtype),
        DType::U64 => ("u8", dtype),
        DType::BF16 => ("u2", DType::U16),
        DType::F16 => ("f2", dtype),
        DType::TF32 | DType::F32 => ("f4", DType::F32),
        DType::F64 => ("f8", dtype),
        DType::C64 => ("c8", dtype),
        DType::C128 => ("c16", dtype),
        // Floats of at most a byte.
        _ => ("u1", DType::U8),
    }
}

/// The type of stored elements that stand for themselves.
fn natural(kind: &str) -> Option<DType> {
    DType::ALL.iter().copied().find(|&dtype| storage(dtype) == (kind, dtype))
}

/// Reads a file as a tensor of elements of type `dtype`, or of the type that they are stored as.
///
/// # Errors
/// If the file is damaged, or holds elements that `dtype` is not stored as.
pub fn read(file: Vec<u8>, dtype: impl Into<Option<DType>>) -> Result<Tensor, ArrayError> {
    let header = read_header(&file)?;
    let dtype = dtype.into().or_else(|| natural(&header.kind)).ok_or_else(|| {
        ArrayError::new(format!("there is no element type for NumPy type `{}`", header.kind))
    })?;
    let (kind, stored) = storage(dtype);
    // NumPy writes `ml_dtypes` as raw bytes.
    let raw = format!("V{}", dtype.bytes());
    let is_raw = header.kind == raw && dtype.is_float();
    if header.kind != kind && !is_raw {
        let found = &header.kind;
        return Err(ArrayError::new(format!(
            "it holds elements of NumPy type `{found}`; elements of type {dtype} are stored as \
             `{kind}`"
        )));
    }
    let size = shape::num_elements(&header.shape).and_then(|n| n.checked_mul(stored.bytes()));
    let available = file.len() - header.data.min(file.len());
    let size = size.filter(|&size| size <= available).ok_or_else(|| {
        ArrayError::new(format!(
            "the data is cut off: shape {:?} of `{kind}` does not fit into {available} bytes",
            header.shape
        ))
    })?;
    let mut file = file;
    if header.big_endian {
        let part = if dtype.is_complex() { stored.bytes() / 2 } else { stored.bytes() };
        file[header.data..header.data + size].chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    let data = Bytes::from_vec(file)
        .slice(header.data..header.data + size)
        .ok_or_else(|| ArrayError::new("the data is cut off"))?;
    let storage_shape: Vec<usize> = match header.fortran_order {
        true => header.shape.iter().rev().copied().collect(),
        false => header.shape.clone(),
    };
    let tensor = Tensor::from_bytes(stored, &storage_shape, data)?;
    let tensor = if header.fortran_order {
        let reversed: Vec<usize> = (0..storage_shape.len()).rev().collect();
        let view = StridedView::dense(&storage_shape).and_then(|view| view.permute(&reversed))?;
        tensor.gather(&view)?
    } else {
        tensor
    };
    decode(tensor, dtype)
}

/// Stored elements as elements of `dtype`.
fn decode(stored: Tensor, dtype: DType) -> Result<Tensor, ArrayError> {
    if stored.dtype() == dtype {
        return Ok(stored);
    }
    if dtype == DType::TF32 {
        return Ok(math::convert(stored, dtype)?);
    }
    let same_bits = Tensor::from_bytes(dtype, stored.shape(), stored.bytes().clone())?;
    // Bits outside of the width would be dropped without notice.
    if same_bits.bytes() != stored.bytes() {
        return Err(ArrayError::new(format!("some elements are out of the range of {dtype}")));
    }
    Ok(same_bits)
}

/// Writes a tensor.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(tensor: &Tensor, mut out: impl Write) -> io::Result<()> {
    let (kind, stored) = storage(tensor.dtype());
    let order = if stored.bytes() == 1 { '|' } else { '<' };
    let comma = if tensor.rank() == 1 { "," } else { "" };
    let shape: Vec<String> = tensor.shape().iter().map(usize::to_string).collect();
    let shape = shape.join(", ");
    let mut header = format!(
        "{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({shape}{comma}), }}"
    );
    // The data is aligned to 64 bytes; the header ends with a newline. Version 2 allows headers of
    // any size.
    let (version, prefix) =
        if header.len() < 60_000 { (1u8, MAGIC.len() + 4) } else { (2, MAGIC.len() + 6) };
    let padding = 63 - (prefix + header.len()) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[version, 0])?;
    let length = (header.len() as u32).to_le_bytes();
    out.write_all(if version == 1 { &length[..2] } else { &length })?;
    out.write_all(header.as_bytes())?;
    out.write_all(tensor.bytes())
}
