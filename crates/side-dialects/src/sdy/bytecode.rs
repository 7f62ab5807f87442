//! Bytecode encodings of the dialect's attributes.

use super::attrs::*;
use mlir::Attribute;
use mlir::bytecode::Field::{
    self, Attributes, Bool, FlaggedVarInt, OptionalAttribute, OptionalSignedVarInts, SignedVarInt,
    SignedVarInts, String,
};
use mlir::bytecode::{AttrEncoding, AttrTarget, DialectBytecode, always};
use mlir::ods::{AttrDef, Params};

/// The encodings of the dialect.
pub(crate) static BYTECODE: DialectBytecode = DialectBytecode {
    attributes: &[
        encoding(0, &MANUAL_AXES, &[(0, Attributes)]),
        encoding(1, &MESH_AXIS, &[(0, String), (1, SignedVarInt)]),
        encoding(2, &MESH, &[(0, Attributes), (1, OptionalSignedVarInts)]),
        encoding(3, &SUB_AXIS_INFO, &[(0, SignedVarInt), (1, SignedVarInt)]),
        encoding(4, &AXIS_REF, &[(0, String), (1, OptionalAttribute)]),
        encoding(5, &DIMENSION_SHARDING, &[(0, Attributes), (1, Bool), (2, FlaggedVarInt)]),
        AttrEncoding {
            when: |params| !is_unreduced(params),
            ..encoding(
                6,
                &SHARDING,
                &[(0, Field::Attribute), (1, Attributes), (2, Attributes), (3, NONE), (4, ABSENT)],
            )
        },
        AttrEncoding {
            when: |params| !any_is_unreduced(params),
            ..encoding(7, &SHARDING_PER_VALUE, &[(0, Attributes)])
        },
        encoding(8, &DIM_MAPPING, &[(0, SignedVarInts)]),
        encoding(9, &TENSOR_MAPPING, &[(0, Attributes)]),
        encoding(
            10,
            &OP_SHARDING_RULE,
            &[
                (0, SignedVarInts),
                (1, Attributes),
                (2, Attributes),
                (3, SignedVarInts),
                (4, SignedVarInts),
                (5, SignedVarInts),
                (6, SignedVarInts),
                (7, Bool),
            ],
        ),
        encoding(11, &AXIS_REF_LIST, &[(0, Attributes)]),
        encoding(12, &LIST_OF_AXIS_REF_LISTS, &[(0, Attributes)]),
        encoding(13, &ALL_TO_ALL_PARAM, &[(0, Attributes), (1, SignedVarInt), (2, SignedVarInt)]),
        encoding(14, &ALL_TO_ALL_PARAM_LIST, &[(0, Attributes)]),
        AttrEncoding {
            when: |params| is_unreduced(params) && int(params, 4).is_none(),
            ..encoding(
                15,
                &SHARDING,
                &[
                    (0, Field::Attribute),
                    (1, Attributes),
                    (2, Attributes),
                    (3, Attributes),
                    (4, ABSENT),
                ],
            )
        },
        AttrEncoding {
            when: any_is_unreduced,
            ..encoding(16, &SHARDING_PER_VALUE, &[(0, Attributes)])
        },
        AttrEncoding {
            when: |params| is_unreduced(params) && int(params, 4).is_some(),
            ..encoding(
                17,
                &SHARDING,
                &[
                    (0, Field::Attribute),
                    (1, Attributes),
                    (2, Attributes),
                    (3, Attributes),
                    (4, SignedVarInt),
                ],
            )
        },
    ],
    types: &[],
    custom: None,
};

/// An empty list that takes no space in the encoding.
const NONE: Field =
    Field::Custom { write: |_, _| {}, read: |_| Ok(Some(Attribute::array(Vec::new()))) };

/// An optional parameter without a value, which takes no space either.
const ABSENT: Field = Field::Custom { write: |_, _| {}, read: |_| Ok(None) };

/// True if a sharding has axes over which the value is yet to be reduced.
fn is_unreduced(params: &Params) -> bool {
    !list(params, 3).is_empty()
}

/// True if any sharding of several values has such axes.
fn any_is_unreduced(params: &Params) -> bool {
    list(params, 0).iter().filter_map(|s| s.as_dialect(&SHARDING)).any(is_unreduced)
}

const fn encoding(
    code: u64,
    def: &'static AttrDef,
    fields: &'static [(usize, Field)],
) -> AttrEncoding {
    AttrEncoding { code, target: AttrTarget::Def(def), when: always, fields }
}
