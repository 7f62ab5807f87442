//! Bytecode encodings of the dialect's attributes and types.
//!
//! The codes and the order of fields are part of the format and never change.

use crate::attrs::*;
use crate::enums::VERSIONED_ENUMS;
use crate::types::{self, SCALARS};
use mlir::attrs::{AttrKind, DenseElements};
use mlir::bytecode::Field::{
    self, Attribute as Attr, F64, OptionalAttribute, SignedVarInt, SignedVarInts, String,
    Type as Ty, Types, VarInt,
};
use mlir::bytecode::{
    AttrEncoding, AttrTarget, CustomEncodings, DialectBytecode, EntryReader, EntryWriter, Read,
    TypeEncoding, always,
};
use mlir::diag::counted;
use mlir::ods::{AttrDef, TypeDef};
use mlir::{Attribute, Type, TypeKind};
use numerics::{Bytes, DType};

/// The encodings of the dialect.
pub(crate) static BYTECODE: DialectBytecode = DialectBytecode {
    attributes: &[
        attribute(1, &ARRAY, &[(0, Field::Attributes)]),
        attribute(
            10,
            &OUTPUT_OPERAND_ALIAS,
            &[(0, SignedVarInts), (1, SignedVarInt), (2, SignedVarInts)],
        ),
        attribute(14, &STRING, &[(0, String)]),
        attribute(17, &TYPE, &[(0, Ty)]),
        attribute(18, &TYPE_EXTENSIONS, &[(0, SignedVarInts)]),
        attribute(20, &RESULT_ACCURACY, &[(0, F64), (1, F64), (2, SignedVarInt), (3, Attr)]),
        attribute(21, &SUB_AXIS_INFO, &[(0, SignedVarInt), (1, SignedVarInt)]),
        attribute(22, &AXIS_REF, &[(0, Attr), (1, COUNTED)]),
        attribute(23, &REPLICA_GROUP_MESH_AXES, &[(0, Attr), (1, Attr)]),
        attribute(24, &MESH_AXIS, &[(0, Attr), (1, SignedVarInt)]),
        attribute(25, &MESH, &[(0, Attr), (1, OptionalAttribute)]),
    ],
    types: &[
        ty(1, &types::COMPLEX, &[(0, Ty)]),
        ty(8, &types::FUNCTION, &[(0, Types), (1, Types)]),
        TypeEncoding {
            when: |params| params.get(2).is_some_and(Option::is_none),
            ..ty(20, &types::TENSOR, &[(0, SignedVarInts), (1, Ty)])
        },
        ty(21, &types::TENSOR, &[(2, Attr), (0, SignedVarInts), (1, Ty)]),
        ty(23, &types::TUPLE, &[(0, Types)]),
        ty(
            24,
            &types::QUANT,
            &[
                (0, VarInt),
                (1, Ty),
                (2, Ty),
                (3, F64),
                (4, SignedVarInt),
                (5, SignedVarInt),
                (6, SignedVarInt),
            ],
        ),
        ty(25, &types::UNRANKED_TENSOR, &[(0, Ty)]),
        ty(
            30,
            &types::QUANT_PER_AXIS,
            &[
                (0, VarInt),
                (1, Ty),
                (2, Ty),
                (3, VarInt),
                (6, SignedVarInt),
                (7, SignedVarInt),
                (4, SCALES),
                (5, SignedVarInts),
            ],
        ),
        ty(41, &types::BUFFER, &[(0, SignedVarInts), (1, Ty)]),
        ty(42, &types::FUTURE, &[(0, Types)]),
    ],
    custom: Some(CustomEncodings { write_attribute, read_attribute, write_type, read_type }),
};

const fn attribute(
    code: u64,
    def: &'static AttrDef,
    fields: &'static [(usize, Field)],
) -> AttrEncoding {
    AttrEncoding { code, target: AttrTarget::Def(def), when: always, fields }
}

const fn ty(code: u64, def: &'static TypeDef, fields: &'static [(usize, Field)]) -> TypeEncoding {
    TypeEncoding { code, def, when: always, fields }
}

/// An attribute preceded by the number of attributes that follow, 0 or 1.
const COUNTED: Field = Field::Custom {
    write: |param, out| {
        out.varint(u64::from(param.is_some()));
        param.iter().for_each(|p| out.attribute(p));
    },
    read: |entry| match entry.varint()? {
        0 => Ok(None),
        _ => entry.attribute().map(Some),
    },
};

/// A list of doubles.
const SCALES: Field = Field::Custom {
    write: |param, out| {
        let scales = param.and_then(Attribute::as_array).unwrap_or(&[]);
        out.varint(scales.len() as u64);
        for scale in scales {
            let AttrKind::Float { bits, .. } = &**scale else { continue };
            out.bits(*bits, 64);
        }
    },
    read: |entry| {
        let count = entry.count("scales")?;
        let scale = |_| Ok(Attribute::float_bits(entry.bits(64)?, Type::f64()));
        Ok(Some(Attribute::array((0..count).map(scale).collect::<Read<_>>()?)))
    },
};

/// Codes of attributes whose fields depend on one another.
mod code {
    pub(crate) const BOOL: u64 = 2;
    pub(crate) const DICTIONARY: u64 = 6;
    pub(crate) const FLOAT: u64 = 8;
    pub(crate) const INTEGER: u64 = 9;
    pub(crate) const TENSOR: u64 = 15;
}

fn write_attribute(attribute: &Attribute, out: &mut EntryWriter<'_>) -> bool {
    match &**attribute {
        AttrKind::Enum(e) => match VERSIONED_ENUMS.iter().find(|v| std::ptr::eq(v.def, e.def)) {
            Some(versioned) => {
                out.varint(versioned.code);
                out.varint(e.value);
            }
            None => return false,
        },
        _ => {
            if let Some(value) = as_bool(attribute) {
                out.varint(code::BOOL);
                out.varint(u64::from(value));
            } else if let Some(entries) = as_dictionary(attribute) {
                out.varint(code::DICTIONARY);
                out.varint(entries.len() as u64 / 2);
                entries.iter().for_each(|e| out.attribute(e));
            } else {
                return write_typed(attribute, out);
            }
        }
    }
    true
}

/// Writes a number or tensor: its type, then its value.
fn write_typed(attribute: &Attribute, out: &mut EntryWriter<'_>) -> bool {
    let AttrKind::Dialect(a) = &**attribute else { return false };
    let [Some(ty), Some(value)] = &a.params[..] else { return false };
    let Some(ty) = ty.as_type() else { return false };
    let code = [(&INTEGER, code::INTEGER), (&FLOAT, code::FLOAT), (&TENSOR, code::TENSOR)];
    let Some((_, code)) = code.into_iter().find(|(def, _)| std::ptr::eq(*def, a.def)) else {
        return false;
    };
    out.varint(code);
    out.ty(ty);
    match &**value {
        AttrKind::Integer { value, ty } => {
            out.bits(*value as u128, if ty.is_index() { 64 } else { ty.bit_width().unwrap_or(64) })
        }
        AttrKind::Float { bits, ty } => out.bits(*bits, ty.bit_width().unwrap_or(64)),
        AttrKind::Dense(elements) => out.blob(&elements.packed_bytes()),
        _ => {}
    }
    true
}

fn read_attribute(code: u64, entry: &mut EntryReader<'_, '_>) -> Read<Option<Attribute>> {
    if let Some(versioned) = VERSIONED_ENUMS.iter().find(|v| v.code == code) {
        let value = entry.varint()?;
        return match versioned.def.case(value) {
            Some(_) => Ok(Some(Attribute::enumeration(versioned.def, value))),
            None => entry.error(format!("{value} is not a value of {}", versioned.def.mnemonic)),
        };
    }
    Ok(Some(match code {
        code::BOOL => bool(entry.varint()? != 0),
        code::DICTIONARY => {
            let count = entry.count("entries")?;
            dictionary((0..2 * count).map(|_| entry.attribute()).collect::<Read<_>>()?)
        }
        code::INTEGER => {
            let ty = entry.ty()?;
            let builtin = types::to_scalar(&ty);
            let Some(builtin) =
                builtin.filter(|b| b.is_index() || matches!(**b, TypeKind::Integer { .. }))
            else {
                return entry.error(format!("an integer cannot have the type {ty}"));
            };
            let value = entry.integer(&builtin)?;
            Attribute::dialect(
                &INTEGER,
                vec![Some(ty.into()), Some(Attribute::integer(value, builtin))],
            )
        }
        code::FLOAT => {
            let ty = entry.ty()?;
            let Some(builtin) = types::to_scalar(&ty).filter(Type::is_float) else {
                return entry.error(format!("a float cannot have the type {ty}"));
            };
            let bits = entry.bits(builtin.bit_width().unwrap_or(64))?;
            Attribute::dialect(
                &FLOAT,
                vec![Some(ty.into()), Some(Attribute::float_bits(bits, builtin))],
            )
        }
        code::TENSOR => {
            let ty = entry.ty()?;
            let data = entry.blob()?;
            let elements = types::to_builtin(&ty)
                .filter(Type::is_shaped)
                .and_then(|builtin| elements(builtin, data.clone()));
            match elements {
                Some(elements) => {
                    Attribute::dialect(&TENSOR, vec![Some(ty.into()), Some(elements.into())])
                }
                None => {
                    return entry.error(format!(
                        "{} of data do not match {ty}",
                        counted(data.len(), "byte")
                    ));
                }
            }
        }
        _ => return Ok(None),
    }))
}

/// The elements of a tensor. Some versions wrote booleans as bytes instead of bits.
fn elements(ty: Type, data: Bytes) -> Option<DenseElements> {
    let count = ty.as_tensor()?.num_elements()?;
    let as_bytes = ty.element_type().dtype() == Some(DType::I1)
        && data.len() == count
        && count > 1
        && data.iter().all(|&b| b <= 1);
    if as_bytes {
        DenseElements::new(ty, data)
    } else {
        DenseElements::from_packed_bytes(ty, &data)
    }
}

fn write_type(ty: &Type, out: &mut EntryWriter<'_>) -> bool {
    let TypeKind::Dialect(t) = &**ty else { return false };
    match SCALARS.iter().find(|s| std::ptr::eq(s.def, t.def)) {
        Some(scalar) => {
            out.varint(scalar.code);
            true
        }
        None => false,
    }
}

fn read_type(code: u64, _: &mut EntryReader<'_, '_>) -> Read<Option<Type>> {
    Ok(SCALARS.iter().find(|s| s.code == code).map(|s| Type::dialect(s.def, Vec::new())))
}
