//! MLIR attributes: the builtin ones as an enum, those of dialects as parameters under an
//! [`AttrDef`].
//!
//! Source: MLIR language reference, "Builtin Attributes". Locations are attributes too.

use crate::affine::{AffineMap, IntegerSet};
use crate::node::{Extent, SharedNode, Structure};
use crate::params::{AttrDef, EnumDef};
use crate::types::{Type, TypeKind};
use numerics::{Bytes, Tensor, TensorError};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

mod dense;
mod resource;

pub use dense::{DenseElements, MAX_SPLAT_INTS};
pub use resource::{Blob, Resource};

/// A shared immutable attribute with structural equality.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Attribute(SharedNode<AttrKind>);

/// An attribute, symbol or dialect name.
pub type Name = Arc<str>;

/// The structure of an attribute.
#[derive(PartialEq, Eq, Hash)]
pub enum AttrKind {
    /// `unit`
    Unit,
    /// `5 : i32`, `true`, `3 : index`
    Integer {
        /// The value, sign-extended from the width of a signless or signed type, zero-extended from
        /// an unsigned one. `true` is 1.
        value: i128,
        /// Integer or index type.
        ty: Type,
    },
    /// `1.0 : f32`
    Float {
        /// The bits in the format of the type (f80 and f128 included).
        bits: u128,
        /// Float type.
        ty: Type,
    },
    /// `"text"` and `"text" : type`
    String {
        /// The bytes, usually but not necessarily UTF-8.
        value: Box<[u8]>,
        /// `none` if not written.
        ty: Type,
    },
    /// `[a, b]`
    Array(Vec<Attribute>),
    /// `{a = 1, b}`
    Dictionary(Dictionary),
    /// A type used as an attribute
    Type(Type),
    /// `@root::@nested`
    Symbol {
        /// The root symbol.
        root: Name,
        /// The nested symbols, after `::`.
        nested: Vec<Name>,
    },
    /// `dense<…> : type` of numbers
    Dense(DenseElements),
    /// `dense<"…"> : type` of strings
    DenseStrings {
        /// Shaped type.
        ty: Type,
        /// One string per element, or one for all if they are equal.
        values: Vec<Box<[u8]>>,
    },
    /// `dense<…> : type` of numbers for which [`numerics`] has no storage; see [`crate::raw`]
    DenseRaw {
        /// Shaped type.
        ty: Type,
        /// All elements, or one for all if they are equal.
        data: Box<[u8]>,
    },
    /// `dense_resource<key> : type`
    DenseResource {
        /// Shaped type.
        ty: Type,
        /// The blob that the metadata section of the file defines.
        resource: Resource,
    },
    /// `sparse<indices, values> : type`
    Sparse {
        /// Shaped type.
        ty: Type,
        /// Positions, one row per entry.
        indices: Attribute,
        /// Values.
        values: Attribute,
    },
    /// `array<i64: 1, 2>`
    DenseArray {
        /// i1, i8, i16, i32, i64, f32 or f64 (and other integer or float types of up to 64 bits).
        element: Type,
        /// Integers sign- or zero-extended, floats as their bits.
        values: Vec<i64>,
    },
    /// `affine_map<(d0) -> (d0)>`
    AffineMap(AffineMap),
    /// `affine_set<(d0) : (d0 >= 0)>`
    IntegerSet(IntegerSet),
    /// `strided<[1, ?], offset: 2>`; `DYNAMIC` for `?`
    StridedLayout {
        /// Strides.
        strides: Vec<i64>,
        /// Offset.
        offset: i64,
    },
    /// `distinct[0]<attr>`
    Distinct {
        /// The number in brackets.
        id: u64,
        /// The attribute within.
        value: Attribute,
    },
    /// An attribute of a dialect that is not registered: `#dialect.body` or `#dialect<"body">`.
    Opaque {
        /// Dialect namespace.
        dialect: Name,
        /// The text after the namespace.
        body: Name,
        /// `none` if not written.
        ty: Type,
    },
    /// `loc(…)`
    Location(LocationKind),
    /// A case of an enumeration that a dialect declares.
    Enum(EnumAttr),
    /// An attribute that a dialect declares.
    Dialect(DialectAttr),
}

/// A location; always held in `AttrKind::Location`.
#[derive(PartialEq, Eq, Hash)]
pub enum LocationKind {
    /// `loc(unknown)`
    Unknown,
    /// `loc("file":1:2)` and ranges `loc("file":1:2 to 3:4)`
    File {
        /// File name.
        file: Name,
        /// Line and column, from 1.
        start: (u32, u32),
        /// End of the range; equal to `start` for a point.
        end: (u32, u32),
    },
    /// `loc("name"(child))`
    Named {
        /// The name.
        name: Name,
        /// Unknown if not written.
        child: Attribute,
    },
    /// `loc(callsite(callee at caller))`
    CallSite {
        /// Location of the callee.
        callee: Attribute,
        /// Location of the call.
        caller: Attribute,
    },
    /// `loc(fused<metadata>[a, b])`
    Fused {
        /// Metadata, if any.
        metadata: Option<Attribute>,
        /// The locations.
        locations: Vec<Attribute>,
    },
}

/// A sorted list of named attributes.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub struct Dictionary(Vec<(Name, Attribute)>);

impl Dictionary {
    /// No attributes.
    pub const EMPTY: Dictionary = Dictionary(Vec::new());

    /// Sorts `entries` by name.
    ///
    /// # Errors
    /// A name that occurs twice.
    pub fn new(mut entries: Vec<(Name, Attribute)>) -> Result<Dictionary, Name> {
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        match entries.windows(2).find(|w| w[0].0 == w[1].0) {
            Some(w) => Err(w[0].0.clone()),
            None => Ok(Dictionary(entries)),
        }
    }

    /// Looks up an attribute by name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.binary_search_by(|(n, _)| (**n).cmp(name)).ok().map(|i| &self.0[i].1)
    }

    /// Sets or replaces one entry.
    pub fn set(&mut self, name: impl Into<Name>, value: Attribute) {
        let name = name.into();
        match self.0.binary_search_by(|(n, _)| n.cmp(&name)) {
            Ok(i) => self.0[i].1 = value,
            Err(i) => self.0.insert(i, (name, value)),
        }
    }

    /// Removes one entry.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        let i = self.0.binary_search_by(|(n, _)| (**n).cmp(name)).ok()?;
        Some(self.0.remove(i).1)
    }

    /// The entries, sorted by name.
    pub fn iter(&self) -> std::slice::Iter<'_, (Name, Attribute)> {
        self.0.iter()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A case of an enumeration: `#stablehlo<comparison_direction EQ>`.
#[derive(Clone, Copy)]
pub struct EnumAttr {
    /// The declaration.
    pub def: &'static EnumDef,
    /// The value; for bit enumerations a set of them.
    pub value: u64,
}

impl PartialEq for EnumAttr {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.def, other.def) && self.value == other.value
    }
}

impl Eq for EnumAttr {}

impl Hash for EnumAttr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.def.mnemonic.hash(state);
        self.value.hash(state);
    }
}

/// An attribute declared by a dialect, with its parameters in the order of the declaration.
#[derive(Clone)]
pub struct DialectAttr {
    /// The declaration.
    pub def: &'static AttrDef,
    /// One entry per parameter; `None` for an absent optional one.
    pub params: Vec<Option<Attribute>>,
}

impl PartialEq for DialectAttr {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.def, other.def) && self.params == other.params
    }
}

impl Eq for DialectAttr {}

impl Hash for DialectAttr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.def.mnemonic.hash(state);
        self.params.hash(state);
    }
}

impl Deref for Attribute {
    type Target = AttrKind;
    fn deref(&self) -> &AttrKind {
        self.0.kind()
    }
}

impl std::fmt::Debug for Attribute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl AttrKind {
    /// The type of a typed attribute.
    fn own_type(&self) -> Option<&Type> {
        match self {
            AttrKind::Integer { ty, .. }
            | AttrKind::Float { ty, .. }
            | AttrKind::String { ty, .. }
            | AttrKind::DenseStrings { ty, .. }
            | AttrKind::DenseRaw { ty, .. }
            | AttrKind::DenseResource { ty, .. }
            | AttrKind::Sparse { ty, .. }
            | AttrKind::Opaque { ty, .. } => Some(ty),
            AttrKind::Dense(elements) => Some(elements.ty()),
            _ => None,
        }
    }
}

impl Structure for AttrKind {
    fn extent(&self) -> Extent {
        let mut extent = Extent::LEAF;
        if let Some(ty) = self.own_type() {
            extent.add(ty.extent());
        }
        let mut add = |attribute: &Attribute| extent.add(attribute.extent());
        match self {
            AttrKind::Array(elements) => elements.iter().for_each(add),
            AttrKind::Dictionary(entries) => entries.iter().for_each(|(_, value)| add(value)),
            AttrKind::Sparse { indices, values, .. } => [indices, values].into_iter().for_each(add),
            AttrKind::Distinct { value, .. } => add(value),
            AttrKind::Dialect(attr) => attr.params.iter().flatten().for_each(add),
            AttrKind::Location(location) => {
                match location {
                    LocationKind::Unknown | LocationKind::File { .. } => {}
                    LocationKind::Named { child, .. } => add(child),
                    LocationKind::CallSite { callee, caller } => {
                        [callee, caller].into_iter().for_each(add)
                    }
                    LocationKind::Fused { metadata, locations } => {
                        metadata.iter().chain(locations).for_each(add)
                    }
                }
                // Locations are written and walked by alias, so their parts do not count.
                extent.parts = 1;
            }
            AttrKind::Type(ty) => extent.add(ty.extent()),
            _ => {}
        }
        extent
    }
}

impl From<AttrKind> for Attribute {
    fn from(kind: AttrKind) -> Attribute {
        Attribute(SharedNode::new(kind))
    }
}

impl From<Type> for Attribute {
    fn from(ty: Type) -> Attribute {
        AttrKind::Type(ty).into()
    }
}

impl From<DenseElements> for Attribute {
    fn from(elements: DenseElements) -> Attribute {
        AttrKind::Dense(elements).into()
    }
}

impl From<Dictionary> for Attribute {
    fn from(dictionary: Dictionary) -> Attribute {
        AttrKind::Dictionary(dictionary).into()
    }
}

/// Construction.
impl Attribute {
    /// `unit`
    pub fn unit() -> Attribute {
        static CELL: OnceLock<Attribute> = OnceLock::new();
        CELL.get_or_init(|| AttrKind::Unit.into()).clone()
    }

    /// `true` or `false`
    pub fn bool(value: bool) -> Attribute {
        Attribute::integer(i128::from(value), Type::i1())
    }

    /// `value : i64`
    pub fn i64(value: i64) -> Attribute {
        Attribute::integer(i128::from(value), Type::i64())
    }

    /// `value : i32`
    pub fn i32(value: i32) -> Attribute {
        Attribute::integer(i128::from(value), Type::i32())
    }

    /// `value : ty`
    pub fn integer(value: i128, ty: Type) -> Attribute {
        AttrKind::Integer { value, ty }.into()
    }

    /// A float by the bits of its format.
    pub fn float_bits(bits: u128, ty: Type) -> Attribute {
        AttrKind::Float { bits, ty }.into()
    }

    /// `value : f64`
    pub fn f64(value: f64) -> Attribute {
        Attribute::float_bits(u128::from(value.to_bits()), Type::f64())
    }

    /// `value : f32`
    pub fn f32(value: f32) -> Attribute {
        Attribute::float_bits(u128::from(value.to_bits()), Type::f32())
    }

    /// `"value"`
    pub fn string(value: impl AsRef<[u8]>) -> Attribute {
        AttrKind::String { value: value.as_ref().into(), ty: Type::none() }.into()
    }

    /// `[elements]`
    pub fn array(elements: Vec<Attribute>) -> Attribute {
        AttrKind::Array(elements).into()
    }

    /// `@root`
    pub fn symbol(root: impl Into<Name>) -> Attribute {
        AttrKind::Symbol { root: root.into(), nested: Vec::new() }.into()
    }

    /// `array<i64: values>`
    pub fn i64_array(values: impl Into<Vec<i64>>) -> Attribute {
        AttrKind::DenseArray { element: Type::i64(), values: values.into() }.into()
    }

    /// `array<i1: values>`
    pub fn bool_array(values: impl IntoIterator<Item = bool>) -> Attribute {
        AttrKind::DenseArray {
            element: Type::i1(),
            values: values.into_iter().map(i64::from).collect(),
        }
        .into()
    }

    /// `dense<values> : tensor<shape x i64>`; `None` if their number does not match the shape.
    pub fn i64_elements(shape: &[i64], values: &[i64]) -> Option<Attribute> {
        let ty = Type::tensor(shape, Type::i64());
        DenseElements::new(ty, Bytes::from_vec(values.to_vec())).map(Attribute::from)
    }

    /// `dense<…> : tensor<…>` with the shape and elements of `tensor`.
    pub fn from_tensor(tensor: &Tensor) -> Attribute {
        let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
        let ty = Type::tensor(shape, Type::from(tensor.dtype()));
        // The bytes of a tensor always match its shape.
        DenseElements::new(ty, tensor.bytes().clone())
            .expect("bytes of a tensor fit its shape")
            .into()
    }

    /// A dialect attribute with its parameters. Empty optional lists are represented as absent.
    pub fn dialect(def: &'static AttrDef, mut params: Vec<Option<Attribute>>) -> Attribute {
        for (param, value) in def.params.iter().zip(&mut params) {
            if param.optional
                && value.as_ref().and_then(Attribute::as_int_array).is_some_and(<[i64]>::is_empty)
            {
                *value = None;
            }
        }
        AttrKind::Dialect(DialectAttr { def, params }).into()
    }

    /// A case of an enumeration.
    pub fn enumeration(def: &'static EnumDef, value: u64) -> Attribute {
        AttrKind::Enum(EnumAttr { def, value }).into()
    }

    /// `loc(unknown)`
    pub fn unknown_location() -> Attribute {
        static CELL: OnceLock<Attribute> = OnceLock::new();
        CELL.get_or_init(|| AttrKind::Location(LocationKind::Unknown).into()).clone()
    }

    /// `loc("file":line:column)`
    pub fn file_location(file: Name, line: u32, column: u32) -> Attribute {
        AttrKind::Location(LocationKind::File { file, start: (line, column), end: (line, column) })
            .into()
    }
}

/// Access.
impl Attribute {
    /// The size with everything nested.
    pub fn extent(&self) -> Extent {
        self.0.extent()
    }

    /// The value of an integer attribute, if it fits in `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match &**self {
            AttrKind::Integer { value, .. } => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The value of a float of type `f64`.
    pub fn as_f64(&self) -> Option<f64> {
        match &**self {
            AttrKind::Float { bits, ty } if *ty == Type::f64() => {
                Some(f64::from_bits(*bits as u64))
            }
            _ => None,
        }
    }

    /// The value of a boolean attribute.
    pub fn as_bool(&self) -> Option<bool> {
        match &**self {
            AttrKind::Integer { value, ty } if *ty == Type::i1() => Some(*value != 0),
            _ => None,
        }
    }

    /// The value of a string attribute, if it is valid UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match &**self {
            AttrKind::String { value, .. } => std::str::from_utf8(value).ok(),
            _ => None,
        }
    }

    /// The elements of an array attribute.
    pub fn as_array(&self) -> Option<&[Attribute]> {
        match &**self {
            AttrKind::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The entries of a dictionary attribute.
    pub fn as_dictionary(&self) -> Option<&Dictionary> {
        match &**self {
            AttrKind::Dictionary(d) => Some(d),
            _ => None,
        }
    }

    /// The type of a type attribute.
    pub fn as_type(&self) -> Option<&Type> {
        match &**self {
            AttrKind::Type(t) => Some(t),
            _ => None,
        }
    }

    /// The name of a flat symbol reference (`@name`).
    pub fn as_flat_symbol(&self) -> Option<&Name> {
        match &**self {
            AttrKind::Symbol { root, nested } if nested.is_empty() => Some(root),
            _ => None,
        }
    }

    /// The size in bytes of the elements of a `dense` attribute or resource as they are stored: of
    /// a splat, one element.
    pub fn stored_bytes(&self) -> usize {
        match &**self {
            AttrKind::Dense(elements) => elements.data().len(),
            AttrKind::DenseResource { resource, .. } => {
                resource.blob().map_or(0, |blob| blob.data.len())
            }
            _ => 0,
        }
    }

    /// The elements of a `dense` attribute.
    pub fn as_dense(&self) -> Option<&DenseElements> {
        match &**self {
            AttrKind::Dense(d) => Some(d),
            _ => None,
        }
    }

    /// The values of an integer `array<…>` attribute.
    pub fn as_int_array(&self) -> Option<&[i64]> {
        match &**self {
            AttrKind::DenseArray { element, values } if !element.is_float() => Some(values),
            _ => None,
        }
    }

    /// The value of a case of the enumeration `def`.
    pub fn as_enum(&self, def: &'static EnumDef) -> Option<u64> {
        match &**self {
            AttrKind::Enum(e) if std::ptr::eq(e.def, def) => Some(e.value),
            _ => None,
        }
    }

    /// The parameters of an attribute declared by `def`.
    pub fn as_dialect(&self, def: &'static AttrDef) -> Option<&[Option<Attribute>]> {
        match &**self {
            AttrKind::Dialect(a) if std::ptr::eq(a.def, def) => Some(&a.params),
            _ => None,
        }
    }

    /// The location of a location attribute.
    pub fn as_location(&self) -> Option<&LocationKind> {
        match &**self {
            AttrKind::Location(l) => Some(l),
            _ => None,
        }
    }

    /// The type of a typed attribute; `none` for others.
    pub fn ty(&self) -> Type {
        self.own_type().cloned().unwrap_or_else(Type::none)
    }

    /// True for elements of a shaped type (`dense`, `dense_resource`, `sparse`).
    pub fn is_elements(&self) -> bool {
        matches!(
            **self,
            AttrKind::Dense(_)
                | AttrKind::DenseStrings { .. }
                | AttrKind::DenseRaw { .. }
                | AttrKind::DenseResource { .. }
                | AttrKind::Sparse { .. }
        )
    }

    /// The elements as a tensor, for `dense` and for a defined `dense_resource` of numbers.
    /// `None` for other attributes, undefined resources and blobs of the wrong size.
    pub fn to_tensor(&self) -> Option<Result<Tensor, TensorError>> {
        match &**self {
            AttrKind::Dense(d) => Some(d.to_tensor()),
            AttrKind::DenseResource { ty, resource } => {
                let TypeKind::RankedTensor(t) = &**ty else { return None };
                Some(Tensor::from_bytes(
                    t.element.dtype()?,
                    &t.static_shape()?,
                    resource.blob()?.data.clone(),
                ))
            }
            _ => None,
        }
    }
}
