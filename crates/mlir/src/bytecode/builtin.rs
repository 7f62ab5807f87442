//! Encodings of the builtin attributes and types.

use super::cursor::{Cursor, Read};
use super::encoding::{CustomEncodings, DialectBytecode, EntryReader, EntryWriter};
use crate::affine::{AffineExpr, AffineMap};
use crate::attrs::{AttrKind, Attribute, DenseElements, Dictionary, LocationKind};
use crate::types::{
    FloatKind, Signedness, TensorType, Type, TypeKind, check_complex_part, check_element,
    check_shape, num_elements,
};
use numerics::{Bytes, DType};

/// The encodings of the builtin dialect.
pub static BUILTIN_BYTECODE: DialectBytecode = DialectBytecode {
    attributes: &[],
    types: &[],
    custom: Some(CustomEncodings { write_attribute, read_attribute, write_type, read_type }),
};

pub(super) mod attribute_code {
    pub(crate) const ARRAY: u64 = 0;
    pub(crate) const DICTIONARY: u64 = 1;
    pub(crate) const STRING: u64 = 2;
    pub(crate) const TYPED_STRING: u64 = 3;
    pub(crate) const FLAT_SYMBOL: u64 = 4;
    pub(crate) const SYMBOL: u64 = 5;
    pub(crate) const TYPE: u64 = 6;
    pub(crate) const UNIT: u64 = 7;
    pub(crate) const INTEGER: u64 = 8;
    pub(crate) const FLOAT: u64 = 9;
    pub(crate) const CALL_SITE: u64 = 10;
    pub(crate) const FILE: u64 = 11;
    pub(crate) const FUSED: u64 = 12;
    pub(crate) const FUSED_WITH_METADATA: u64 = 13;
    pub(crate) const NAMED: u64 = 14;
    pub(crate) const UNKNOWN: u64 = 15;
    pub(crate) const DENSE_RESOURCE: u64 = 16;
    pub(crate) const DENSE_ARRAY: u64 = 17;
    pub(crate) const DENSE: u64 = 18;
    pub(crate) const DENSE_STRINGS: u64 = 19;
    pub(crate) const SPARSE: u64 = 20;
    pub(crate) const DISTINCT: u64 = 21;
    pub(crate) const FILE_RANGE: u64 = 22;
}

mod type_code {
    pub(crate) const INTEGER: u64 = 0;
    pub(crate) const INDEX: u64 = 1;
    pub(crate) const FUNCTION: u64 = 2;
    pub(crate) const COMPLEX: u64 = 9;
    pub(crate) const MEMREF: u64 = 10;
    pub(crate) const MEMREF_IN_SPACE: u64 = 11;
    pub(crate) const NONE: u64 = 12;
    pub(crate) const TENSOR: u64 = 13;
    pub(crate) const ENCODED_TENSOR: u64 = 14;
    pub(crate) const TUPLE: u64 = 15;
    pub(crate) const UNRANKED_MEMREF: u64 = 16;
    pub(crate) const UNRANKED_MEMREF_IN_SPACE: u64 = 17;
    pub(crate) const UNRANKED_TENSOR: u64 = 18;
    pub(crate) const VECTOR: u64 = 19;
}

/// Bit width of an integer, index or float type in an attribute.
fn width(ty: &Type) -> u32 {
    if ty.is_index() { 64 } else { ty.bit_width().unwrap_or(0) }
}

fn write_attribute(attribute: &Attribute, out: &mut EntryWriter<'_>) -> bool {
    use attribute_code as code;
    match &**attribute {
        AttrKind::Unit => out.varint(code::UNIT),
        AttrKind::Integer { value, ty } => {
            out.varint(code::INTEGER);
            out.ty(ty);
            out.bits(*value as u128, width(ty));
        }
        AttrKind::Float { bits, ty } => {
            out.varint(code::FLOAT);
            out.ty(ty);
            out.bits(*bits, width(ty));
        }
        AttrKind::String { value, ty } => {
            let typed = !matches!(**ty, TypeKind::None);
            out.varint(if typed { code::TYPED_STRING } else { code::STRING });
            out.string(value);
            if typed {
                out.ty(ty);
            }
        }
        AttrKind::Array(elements) => {
            out.varint(code::ARRAY);
            out.attributes(elements);
        }
        AttrKind::Dictionary(dictionary) => {
            out.varint(code::DICTIONARY);
            out.varint(dictionary.len() as u64);
            for (name, value) in dictionary.iter() {
                out.name(name);
                out.attribute(value);
            }
        }
        AttrKind::Type(ty) => {
            out.varint(code::TYPE);
            out.ty(ty);
        }
        AttrKind::Symbol { root, nested } if nested.is_empty() => {
            out.varint(code::FLAT_SYMBOL);
            out.name(root);
        }
        AttrKind::Symbol { root, nested } => {
            out.varint(code::SYMBOL);
            out.name(root);
            let nested: Vec<Attribute> =
                nested.iter().map(|n| Attribute::symbol(n.clone())).collect();
            out.attributes(&nested);
        }
        AttrKind::Distinct { value, .. } => {
            out.varint(code::DISTINCT);
            out.attribute(value);
        }
        AttrKind::Location(location) => return write_location(location, out),
        _ => return write_elements(attribute, out),
    }
    true
}

fn write_elements(attribute: &Attribute, out: &mut EntryWriter<'_>) -> bool {
    use attribute_code as code;
    match &**attribute {
        AttrKind::Dense(elements) => {
            out.varint(code::DENSE);
            out.ty(elements.ty());
            // The builtin encoding treats a single boolean as a splat, unlike VHLO's.
            let single = elements.dtype() == DType::I1 && elements.data().len() == 1;
            let splat = || Bytes::from(vec![if elements.data()[0] == 0 { 0 } else { 0xff }]);
            out.blob(&if single { splat() } else { elements.packed_bytes() });
        }
        AttrKind::DenseRaw { ty, data } => {
            out.varint(code::DENSE);
            out.ty(ty);
            out.blob(&Bytes::from(data.to_vec()));
        }
        AttrKind::DenseStrings { ty, values } => {
            out.varint(code::DENSE_STRINGS);
            out.ty(ty);
            out.varint(u64::from(values.len() == 1));
            values.iter().for_each(|v| out.string(v));
        }
        AttrKind::DenseResource { ty, resource } => {
            out.varint(code::DENSE_RESOURCE);
            out.ty(ty);
            out.resource(resource);
        }
        AttrKind::Sparse { ty, indices, values } => {
            out.varint(code::SPARSE);
            out.ty(ty);
            out.attribute(indices);
            out.attribute(values);
        }
        AttrKind::DenseArray { element, values } => {
            out.varint(code::DENSE_ARRAY);
            out.ty(element);
            out.varint(values.len() as u64);
            let size = width(element).div_ceil(8) as usize;
            let bytes: Vec<u8> =
                values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(size)).collect();
            out.blob(&Bytes::from(bytes));
        }
        _ => return false,
    }
    true
}

fn write_location(location: &LocationKind, out: &mut EntryWriter<'_>) -> bool {
    use attribute_code as code;
    match location {
        LocationKind::Unknown => out.varint(code::UNKNOWN),
        LocationKind::File { file, start, end } if start == end => {
            out.varint(code::FILE);
            out.name(file);
            out.varint(u64::from(start.0));
            out.varint(u64::from(start.1));
        }
        LocationKind::File { file, start, end } => {
            out.varint(code::FILE_RANGE);
            out.name(file);
            let same_line = [start.0, start.1, end.1];
            let places = if start.0 == end.0 {
                &same_line[..]
            } else {
                &[start.0, start.1, end.0, end.1][..]
            };
            out.varint(places.len() as u64);
            places.iter().for_each(|&p| out.varint(u64::from(p)));
        }
        LocationKind::Named { name, child } => {
            out.varint(code::NAMED);
            out.name(name);
            out.attribute(child);
        }
        LocationKind::CallSite { callee, caller } => {
            out.varint(code::CALL_SITE);
            out.attribute(callee);
            out.attribute(caller);
        }
        LocationKind::Fused { metadata, locations } => {
            out.varint(if metadata.is_some() { code::FUSED_WITH_METADATA } else { code::FUSED });
            out.attributes(locations);
            metadata.iter().for_each(|m| out.attribute(m));
        }
    }
    true
}

/// Reads the string number of a string attribute; `None` for other attributes.
pub(super) fn string_number(cursor: &mut Cursor<'_>) -> Read<Option<u64>> {
    if cursor.varint()? == attribute_code::STRING { cursor.varint().map(Some) } else { Ok(None) }
}

fn read_attribute(code: u64, entry: &mut EntryReader<'_, '_>) -> Read<Option<Attribute>> {
    use attribute_code as code;
    Ok(Some(match code {
        code::ARRAY => Attribute::array(entry.attributes()?),
        code::DICTIONARY => {
            let count = entry.count("entries")?;
            let entries = (0..count)
                .map(|_| Ok((entry.name()?, entry.attribute()?)))
                .collect::<Read<Vec<_>>>()?;
            match Dictionary::new(entries) {
                Ok(dictionary) => dictionary.into(),
                Err(name) => return entry.error(format!("a dictionary has two entries `{name}`")),
            }
        }
        code::STRING => Attribute::string(entry.string()?),
        code::TYPED_STRING => {
            let value = entry.string()?.into();
            AttrKind::String { value, ty: entry.ty()? }.into()
        }
        code::FLAT_SYMBOL => Attribute::symbol(entry.name()?),
        code::SYMBOL => {
            let root = entry.name()?;
            let nested = entry.attributes()?;
            let names: Option<Vec<_>> =
                nested.iter().map(|n| n.as_flat_symbol().cloned()).collect();
            match names {
                Some(nested) => AttrKind::Symbol { root, nested }.into(),
                None => {
                    return entry.error("the nested references of a symbol are not flat symbols");
                }
            }
        }
        code::TYPE => entry.ty()?.into(),
        code::UNIT => Attribute::unit(),
        code::INTEGER => {
            let ty = entry.ty()?;
            if !ty.is_index() && !ty.is_integer(None) {
                return entry.error(format!("an integer of type {ty}"));
            }
            let value = entry.integer(&ty)?;
            Attribute::integer(value, ty)
        }
        code::FLOAT => {
            let ty = entry.ty()?;
            if !ty.is_float() {
                return entry.error(format!("a float of type {ty}"));
            }
            let bits = entry.bits(width(&ty))?;
            Attribute::float_bits(bits, ty)
        }
        code::DISTINCT => {
            let id = entry.offset() as u64;
            AttrKind::Distinct { id, value: entry.attribute()? }.into()
        }
        code::CALL_SITE
        | code::FILE
        | code::FILE_RANGE
        | code::FUSED
        | code::FUSED_WITH_METADATA
        | code::NAMED
        | code::UNKNOWN => return read_location(code, entry),
        _ => return read_elements(code, entry),
    }))
}

fn read_location(code: u64, entry: &mut EntryReader<'_, '_>) -> Read<Option<Attribute>> {
    use attribute_code as code;
    Ok(Some(match code {
        code::CALL_SITE => {
            let callee = location(entry)?;
            LocationKind::CallSite { callee, caller: location(entry)? }.into()
        }
        code::FILE => {
            let file = entry.name()?;
            let (line, column) = (entry.varint()?, entry.varint()?);
            Attribute::file_location(file, line as u32, column as u32)
        }
        code::FILE_RANGE => {
            let file = entry.name()?;
            let count = entry.count("lines and columns")?;
            let places =
                (0..count).map(|_| Ok(entry.varint()? as u32)).collect::<Read<Vec<_>>>()?;
            let (start, end) = match places[..] {
                [] => ((0, 0), (0, 0)),
                [line] => ((line, 0), (line, 0)),
                [line, column] => ((line, column), (line, column)),
                [line, start, end] => ((line, start), (line, end)),
                [start, start_column, end, end_column] => {
                    ((start, start_column), (end, end_column))
                }
                _ => {
                    return entry.error(format!(
                        "a range of {count} lines and columns; at most 4 are allowed"
                    ));
                }
            };
            LocationKind::File { file, start, end }.into()
        }
        code::FUSED | code::FUSED_WITH_METADATA => {
            let count = entry.count("locations")?;
            let locations = (0..count).map(|_| location(entry)).collect::<Read<Vec<_>>>()?;
            let metadata = if code == code::FUSED { None } else { Some(entry.attribute()?) };
            LocationKind::fused(locations, metadata)
        }
        code::NAMED => {
            let name = entry.name()?;
            LocationKind::Named { name, child: location(entry)? }.into()
        }
        code::UNKNOWN => Attribute::unknown_location(),
        _ => return Ok(None),
    }))
}

fn read_elements(code: u64, entry: &mut EntryReader<'_, '_>) -> Read<Option<Attribute>> {
    use attribute_code as code;
    Ok(Some(match code {
        code::DENSE_RESOURCE => {
            let ty = shaped(entry)?;
            AttrKind::DenseResource { ty, resource: entry.resource()? }.into()
        }
        code::DENSE_ARRAY => dense_array(entry)?,
        code::DENSE => {
            let ty = shaped(entry)?;
            let data = entry.blob()?;
            let elements = match ty.element_type().dtype() {
                Some(_) => DenseElements::from_packed_bytes(ty.clone(), &data).map(Attribute::from),
                None => crate::raw::elements(ty.clone(), data.to_vec()),
            };
            match elements {
                Some(elements) => elements,
                None => {
                    return entry
                        .error(format!("{} bytes are not the elements of {ty}", data.len()));
                }
            }
        }
        code::DENSE_STRINGS => {
            let ty = shaped(entry)?;
            let element = ty.element_type();
            if element.dtype().is_some() || crate::raw::element_size(element).is_some() {
                return entry.error(format!("elements of {ty} must be numbers; found strings"));
            }
            let splat = entry.varint()? != 0;
            let count = if splat { Some(1) } else { ty.shape().and_then(num_elements) };
            let values = match count {
                Some(count) => {
                    (0..count).map(|_| Ok(entry.string()?.into())).collect::<Read<Vec<_>>>()?
                }
                None => return entry.error(format!("{ty} has no static shape")),
            };
            AttrKind::DenseStrings { ty, values }.into()
        }
        code::SPARSE => {
            let ty = shaped(entry)?;
            let indices = entry.attribute()?;
            AttrKind::Sparse { ty, indices, values: entry.attribute()? }.into()
        }
        _ => return Ok(None),
    }))
}

impl From<LocationKind> for Attribute {
    fn from(location: LocationKind) -> Attribute {
        AttrKind::Location(location).into()
    }
}

fn location(entry: &mut EntryReader<'_, '_>) -> Read<Attribute> {
    let attribute = entry.attribute()?;
    if attribute.as_location().is_none() {
        return entry.error(format!("a location is required here; found {attribute}"));
    }
    Ok(attribute)
}

fn shaped(entry: &mut EntryReader<'_, '_>) -> Read<Type> {
    let ty = entry.ty()?;
    if !ty.is_shaped() {
        return entry.error(format!("a shaped type is required here; found {ty}"));
    }
    Ok(ty)
}

fn dense_array(entry: &mut EntryReader<'_, '_>) -> Read<Attribute> {
    let element = entry.ty()?;
    let count = entry.varint()?;
    let data = entry.blob()?;
    let bits = element.bit_width().filter(|&w| w == 1 || (w <= 64 && w.is_multiple_of(8) && w > 0));
    let Some(bits) = bits else {
        return entry.error(format!("an array of elements of type {element}"));
    };
    let size = bits.div_ceil(8) as usize;
    if u64::try_from(data.len() / size) != Ok(count) || data.len() % size != 0 {
        return entry
            .error(format!("{} bytes are not {count} elements of type {element}", data.len()));
    }
    let unsigned = element.is_float()
        || matches!(*element, TypeKind::Integer { signedness: Signedness::Unsigned, .. });
    let value = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        let value = i64::from_le_bytes(word);
        let shift = 64 - 8 * size;
        match bits {
            1 => i64::from(value != 0),
            _ if unsigned => value,
            _ => value << shift >> shift,
        }
    };
    Ok(AttrKind::DenseArray { values: data.chunks_exact(size).map(value).collect(), element }
        .into())
}

/// The default layout of memrefs.
fn identity(rank: usize) -> Attribute {
    let dims = rank as u32;
    AttrKind::AffineMap(AffineMap {
        dims,
        symbols: 0,
        results: (0..dims).map(AffineExpr::Dim).collect(),
    })
    .into()
}

fn write_type(ty: &Type, out: &mut EntryWriter<'_>) -> bool {
    use type_code as code;
    match &**ty {
        TypeKind::Integer { width, signedness } => {
            out.varint(code::INTEGER);
            out.varint(u64::from(*width) << 2 | *signedness as u64);
        }
        TypeKind::Index => out.varint(code::INDEX),
        TypeKind::Float(kind) => match FloatKind::CODES.iter().find(|(_, k)| k == kind) {
            Some((code, _)) => out.varint(*code),
            None => return false,
        },
        TypeKind::Complex(element) => {
            out.varint(code::COMPLEX);
            out.ty(element);
        }
        TypeKind::None => out.varint(code::NONE),
        TypeKind::Function { inputs, results } => {
            out.varint(code::FUNCTION);
            out.types(inputs.iter());
            out.types(results.iter());
        }
        TypeKind::Tuple(elements) => {
            out.varint(code::TUPLE);
            out.types(elements.iter());
        }
        TypeKind::Vector { shape, scalable, element } if !scalable.contains(&true) => {
            out.varint(code::VECTOR);
            out.signed_list(shape);
            out.ty(element);
        }
        TypeKind::RankedTensor(TensorType { shape, element, encoding }) => {
            out.varint(if encoding.is_some() { code::ENCODED_TENSOR } else { code::TENSOR });
            encoding.iter().for_each(|e| out.attribute(e));
            out.signed_list(shape);
            out.ty(element);
        }
        TypeKind::UnrankedTensor(element) => {
            out.varint(code::UNRANKED_TENSOR);
            out.ty(element);
        }
        TypeKind::MemRef { shape, element, layout, memory_space } => {
            out.varint(if memory_space.is_some() { code::MEMREF_IN_SPACE } else { code::MEMREF });
            memory_space.iter().for_each(|m| out.attribute(m));
            out.signed_list(shape);
            out.ty(element);
            out.attribute(layout.as_ref().unwrap_or(&identity(shape.len())));
        }
        TypeKind::UnrankedMemRef { element, memory_space } => {
            out.varint(if memory_space.is_some() {
                code::UNRANKED_MEMREF_IN_SPACE
            } else {
                code::UNRANKED_MEMREF
            });
            memory_space.iter().for_each(|m| out.attribute(m));
            out.ty(element);
        }
        TypeKind::Vector { .. } | TypeKind::Opaque { .. } | TypeKind::Dialect(_) => return false,
    }
    true
}

/// Maximum width of integers, MLIR's limit.
const MAX_WIDTH: u64 = (1 << 24) - 1;

fn read_type(code: u64, entry: &mut EntryReader<'_, '_>) -> Read<Option<Type>> {
    use type_code as code;
    if let Some((_, kind)) = FloatKind::CODES.iter().find(|(c, _)| *c == code) {
        return Ok(Some(Type::float(*kind)));
    }
    Ok(Some(match code {
        code::INTEGER => {
            let word = entry.varint()?;
            let signedness = match word & 3 {
                0 => Signedness::Signless,
                1 => Signedness::Signed,
                2 => Signedness::Unsigned,
                _ => return entry.error("3 is not a signedness of an integer type"),
            };
            if word >> 2 > MAX_WIDTH {
                return entry.error(format!(
                    "an integer type of {} bits; at most {MAX_WIDTH} are allowed",
                    word >> 2
                ));
            }
            Type::integer((word >> 2) as u32, signedness)
        }
        code::INDEX => Type::index(),
        code::FUNCTION => {
            let inputs = entry.types()?;
            Type::function(inputs, entry.types()?)
        }
        code::COMPLEX => {
            let part = entry.ty()?;
            match check_complex_part(&part) {
                Err(message) => return entry.error(message),
                Ok(()) => Type::complex(part),
            }
        }
        code::NONE => Type::none(),
        code::TENSOR | code::ENCODED_TENSOR => {
            let encoding = if code == code::TENSOR { None } else { Some(entry.attribute()?) };
            let shape = shape(entry)?;
            let element = element(entry)?;
            if let Some(AttrKind::Dialect(a)) = encoding.as_deref()
                && let Some(verify) = a.def.verify_encoding
                && let Err(message) = verify(&a.params, &shape, &element)
            {
                return entry.error(message);
            }
            Type::encoded_tensor(shape, element, encoding)
        }
        code::TUPLE => Type::tuple(entry.types()?),
        code::UNRANKED_TENSOR => Type::unranked_tensor(element(entry)?),
        code::VECTOR => {
            let shape = shape(entry)?;
            TypeKind::Vector { scalable: vec![false; shape.len()], shape, element: entry.ty()? }
                .into()
        }
        code::MEMREF | code::MEMREF_IN_SPACE => {
            let memory_space = if code == code::MEMREF { None } else { Some(entry.attribute()?) };
            let shape = shape(entry)?;
            let element = entry.ty()?;
            let layout = entry.attribute()?;
            let layout = (layout != identity(shape.len())).then_some(layout);
            TypeKind::MemRef { shape, element, layout, memory_space }.into()
        }
        code::UNRANKED_MEMREF | code::UNRANKED_MEMREF_IN_SPACE => {
            let memory_space =
                if code == code::UNRANKED_MEMREF { None } else { Some(entry.attribute()?) };
            TypeKind::UnrankedMemRef { element: entry.ty()?, memory_space }.into()
        }
        _ => return Ok(None),
    }))
}

/// The type of the elements of a tensor.
fn element(entry: &mut EntryReader<'_, '_>) -> Read<Type> {
    let element = entry.ty()?;
    match check_element(&element) {
        Err(message) => entry.error(message),
        Ok(()) => Ok(element),
    }
}

fn shape(entry: &mut EntryReader<'_, '_>) -> Read<Vec<i64>> {
    let shape = entry.signed_list()?;
    match check_shape(&shape) {
        Err(message) => entry.error(message),
        Ok(()) => Ok(shape),
    }
}
