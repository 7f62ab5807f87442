//! Bytecode encodings of the dialect's attributes and types.
//!
//! The codes and the order of fields are part of the format and never change.

use crate::attrs::*;
use crate::enums::*;
use crate::types::{FUTURE, TOKEN};
use mlir::bytecode::Field::{
    Attribute, Attributes, Bool, F64, FlaggedAttribute, SignedVarInt, SignedVarInts, String, Type,
    Types, VarInt,
};
use mlir::bytecode::{AttrEncoding, AttrTarget, DialectBytecode, Field, TypeEncoding, always};
use mlir::ods::{AttrDef, EnumDef};

/// The encodings of the dialect.
pub static BYTECODE: DialectBytecode = DialectBytecode {
    attributes: &[
        attribute(1, &CHANNEL_HANDLE, &[(0, SignedVarInt), (1, SignedVarInt)]),
        enumeration(2, &COMPARISON_DIRECTION),
        enumeration(3, &COMPARISON_TYPE),
        attribute(
            4,
            &CONV_DIMENSION_NUMBERS,
            &[
                (0, SignedVarInt),
                (1, SignedVarInt),
                (2, SignedVarInts),
                (3, SignedVarInt),
                (4, SignedVarInt),
                (5, SignedVarInts),
                (6, SignedVarInt),
                (7, SignedVarInt),
                (8, SignedVarInts),
            ],
        ),
        attribute(
            5,
            &DOT_DIMENSION_NUMBERS,
            &[(0, SignedVarInts), (1, SignedVarInts), (2, SignedVarInts), (3, SignedVarInts)],
        ),
        enumeration(6, &FFT_TYPE),
        attribute(7, &GATHER_DIMENSION_NUMBERS, INDEX_VECTOR_DIMENSIONS),
        enumeration(8, &PRECISION),
        enumeration(9, &RNG_ALGORITHM),
        enumeration(10, &RNG_DISTRIBUTION),
        attribute(11, &SCATTER_DIMENSION_NUMBERS, INDEX_VECTOR_DIMENSIONS),
        enumeration(12, &TRANSPOSE),
        attribute(13, &TYPE_EXTENSIONS, &[(0, SignedVarInts)]),
        attribute(
            14,
            &OUTPUT_OPERAND_ALIAS,
            &[(0, SignedVarInts), (1, SignedVarInt), (2, SignedVarInts)],
        ),
        attribute(
            15,
            &DOT_ALGORITHM,
            &[
                (0, Type),
                (1, Type),
                (2, Type),
                (3, SignedVarInt),
                (4, SignedVarInt),
                (5, SignedVarInt),
                (6, Bool),
            ],
        ),
        enumeration(16, &RESULT_ACCURACY_MODE),
        attribute(17, &RESULT_ACCURACY, &[(0, F64), (1, F64), (2, SignedVarInt), (3, Attribute)]),
        attribute(18, &REPLICA_GROUP_MESH_AXES, &[(0, Attribute), (1, Attributes)]),
        attribute(19, &SUB_AXIS_INFO, &[(0, SignedVarInt), (1, SignedVarInt)]),
        attribute(20, &AXIS_REF, &[(0, String), (1, FlaggedAttribute)]),
        attribute(21, &MESH_AXIS, &[(0, String), (1, SignedVarInt)]),
        attribute(22, &MESH, &[(0, Attribute), (1, FlaggedAttribute)]),
    ],
    types: &[
        TypeEncoding { code: 0, def: &TOKEN, when: always, fields: &[] },
        TypeEncoding { code: 1, def: &FUTURE, when: always, fields: &[(0, Types)] },
    ],
    custom: None,
};

/// The fields of the dimension numbers of `gather` and `scatter`: five lists of dimensions and the
/// index vector dimension.
const INDEX_VECTOR_DIMENSIONS: &[(usize, Field)] = &[
    (0, SignedVarInts),
    (1, SignedVarInts),
    (2, SignedVarInts),
    (3, SignedVarInts),
    (4, SignedVarInts),
    (5, SignedVarInt),
];

const fn attribute(
    code: u64,
    def: &'static AttrDef,
    fields: &'static [(usize, Field)],
) -> AttrEncoding {
    AttrEncoding { code, target: AttrTarget::Def(def), when: always, fields }
}

const fn enumeration(code: u64, def: &'static EnumDef) -> AttrEncoding {
    AttrEncoding { code, target: AttrTarget::Enum(def), when: always, fields: &[(0, VarInt)] }
}
