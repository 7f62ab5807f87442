//! Bytecode encodings of the dialect's attributes. An attribute without an encoding is written as
//! text.

use crate::enums::{COMPARISON_DIRECTION, COMPARISON_TYPE};
use mlir::bytecode::{AttrEncoding, AttrTarget, DialectBytecode, Field, always};
use mlir::ods::EnumDef;

/// The encodings of the dialect.
pub(crate) static BYTECODE: DialectBytecode = DialectBytecode {
    attributes: &[enumeration(0, &COMPARISON_DIRECTION), enumeration(1, &COMPARISON_TYPE)],
    types: &[],
    custom: None,
};

const fn enumeration(code: u64, def: &'static EnumDef) -> AttrEncoding {
    AttrEncoding {
        code,
        target: AttrTarget::Enum(def),
        when: always,
        fields: &[(0, Field::VarInt)],
    }
}
