//! MLIR bytecode: the binary form of modules, which portable artifacts are written in.
//!
//! Source: MLIR, "MLIR Bytecode Format". [`read`] makes a module from shared bytes, which large
//! constants and resources reference without a copy; [`read_converted`] converts it on the fly;
//! [`write()`] produces the same bytes as upstream for the same module.
//!
//! A dialect declares the encodings of its attributes and types in a [`DialectBytecode`]
//! (`ods::Dialect::bytecode`): tables of codes and fields, interpreted by one loop for writing and
//! one for reading. Encodings that a table cannot express are pairs of functions. Attributes and
//! types without an encoding are written as text. Properties of ops need no declaration: their
//! encoding follows from the attributes of the [`crate::ods::OpDef`].

mod builtin;
mod cursor;
mod emitter;
mod encoding;
mod entries;
mod fields;
mod locations;
mod numbering;
mod properties;
mod reader;
mod resources;
mod sparse;
mod tables;
mod use_lists;
mod writer;

pub use builtin::BUILTIN_BYTECODE;
pub use cursor::{Read, ReadError};
pub use emitter::Encoded;
pub use encoding::{
    AttrEncoding, AttrTarget, CustomEncodings, DialectBytecode, EntryReader, EntryWriter, Field,
    TypeEncoding, always,
};
pub use fields::FileField;
pub use reader::{ReadHooks, ReadOptions, ReadOutput, read, read_converted};
pub use writer::{WriteOptions, write};

/// The first four bytes of bytecode.
pub const MAGIC: [u8; 4] = *b"ML\xefR";

/// True if `bytes` start with [`MAGIC`].
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Versions of the format, named after the feature that each introduced.
pub mod version {
    /// Versions of dialects.
    pub const DIALECT_VERSIONS: u64 = 1;
    /// Regions of isolated ops in separate sections.
    pub const LAZY_LOADING: u64 = 2;
    /// Use-list orders.
    pub const USE_LIST_ORDERS: u64 = 3;
    /// Elided locations of block arguments, and the number of op names.
    pub const ELIDED_ARGUMENT_LOCATIONS: u64 = 4;
    /// Properties: inherent attributes separate from discardable ones.
    pub const PROPERTIES: u64 = 5;
    /// Segment sizes as sparse arrays.
    pub const SEGMENT_SIZES: u64 = 6;
    /// The newest version.
    pub const CURRENT: u64 = 6;
}

/// The padding before aligned data.
const PADDING: u8 = 0xcb;

/// Sections, by their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SectionId {
    Strings,
    Dialects,
    AttrTypes,
    AttrTypeOffsets,
    Ir,
    Resources,
    ResourceOffsets,
    DialectVersions,
    Properties,
}

impl SectionId {
    const ALL: [SectionId; 9] = [
        SectionId::Strings,
        SectionId::Dialects,
        SectionId::AttrTypes,
        SectionId::AttrTypeOffsets,
        SectionId::Ir,
        SectionId::Resources,
        SectionId::ResourceOffsets,
        SectionId::DialectVersions,
        SectionId::Properties,
    ];

    fn name(self) -> &'static str {
        match self {
            SectionId::Strings => "strings",
            SectionId::Dialects => "dialects",
            SectionId::AttrTypes => "attributes and types",
            SectionId::AttrTypeOffsets => "offsets of attributes and types",
            SectionId::Ir => "IR",
            SectionId::Resources => "resources",
            SectionId::ResourceOffsets => "offsets of resources",
            SectionId::DialectVersions => "versions of dialects",
            SectionId::Properties => "properties",
        }
    }
}

/// Flags for the parts of an op that are present.
mod mask {
    pub(crate) const ATTRIBUTES: u8 = 1;
    pub(crate) const RESULTS: u8 = 2;
    pub(crate) const OPERANDS: u8 = 4;
    pub(crate) const SUCCESSORS: u8 = 8;
    pub(crate) const REGIONS: u8 = 16;
    pub(crate) const USE_LIST_ORDERS: u8 = 32;
    pub(crate) const PROPERTIES: u8 = 64;

    /// The names of a mask's flags.
    pub(crate) fn names(mask: u8) -> String {
        const NAMES: [(u8, &str); 7] = [
            (ATTRIBUTES, "attributes"),
            (PROPERTIES, "properties"),
            (RESULTS, "results"),
            (OPERANDS, "operands"),
            (SUCCESSORS, "successors"),
            (USE_LIST_ORDERS, "use-list orders"),
            (REGIONS, "regions"),
        ];
        let names: Vec<&str> =
            NAMES.iter().filter(|(bit, _)| mask & bit != 0).map(|(_, name)| *name).collect();
        if names.is_empty() { "nothing else".to_string() } else { names.join(", ") }
    }
}

/// Kinds of resources.
mod resource_kind {
    pub(crate) const BLOB: u8 = 0;
    pub(crate) const BOOL: u8 = 1;
    pub(crate) const STRING: u8 = 2;

    /// The name of a resource kind.
    pub(crate) fn name(kind: u8) -> &'static str {
        match kind {
            BLOB => "a blob",
            BOOL => "a boolean",
            STRING => "a string",
            _ => "an unknown kind",
        }
    }
}
