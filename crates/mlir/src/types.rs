//! MLIR types: the builtin ones as an enum, those of dialects as parameters under a [`TypeDef`].
//!
//! Source: MLIR language reference, "Builtin Types".

use crate::attrs::Attribute;
use crate::node::{Extent, SharedNode, Structure};
use crate::params::TypeDef;
use numerics::DType;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Represents `?` in a shape.
pub const DYNAMIC: i64 = i64::MIN;

/// A shared immutable type with structural equality.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Type(SharedNode<TypeKind>);

/// The interpretation of an integer type's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// `i32`
    Signless,
    /// `si32`
    Signed,
    /// `ui32`
    Unsigned,
}

macro_rules! float_kinds {
    (
        [($boolean:ident, $($boolean_row:tt)*)]
        [$(($signed:ident, $($signed_row:tt)*))*]
        [$(($unsigned:ident, $($unsigned_row:tt)*))*]
        [$(($float:ident, $name:literal, $type:tt, {
            $small:ident, $format:ident $parameters:tt, code $code:literal, $doc:literal
        }))*]
        [$(($complex:ident, $($complex_row:tt)*))*]
    ) => {
        /// The builtin float formats.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are the documentation")]
        pub enum FloatKind {
            $($float,)*
            F80,
            F128,
        }

        impl FloatKind {
            /// Every format with its MLIR spelling and its width in bits.
            pub const ALL: &[(FloatKind, &'static str, u32)] = &[
                $((FloatKind::$float, $name, numerics::FloatFormat::$float.bits()),)*
                (FloatKind::F80, "f80", 80),
                (FloatKind::F128, "f128", 128),
            ];

            /// Every format with its code in the bytecode of MLIR's builtin dialect.
            pub(crate) const CODES: &[(u64, FloatKind)] =
                &[$(($code, FloatKind::$float),)* (7, FloatKind::F80), (8, FloatKind::F128)];

            /// How elements of this format are stored. `None` for those that are not.
            pub fn dtype(self) -> Option<DType> {
                match self {
                    $(FloatKind::$float => Some(DType::$float),)*
                    FloatKind::F80 | FloatKind::F128 => None,
                }
            }
        }

        impl From<DType> for Type {
            /// The scalar type that the interpreter's values of `dtype` have: signless for signed
            /// integers.
            fn from(dtype: DType) -> Type {
                match dtype {
                    DType::$boolean => Type::i1(),
                    $(DType::$signed)|* => Type::integer(dtype.bits(), Signedness::Signless),
                    $(DType::$unsigned)|* => Type::integer(dtype.bits(), Signedness::Unsigned),
                    $(DType::$float => Type::float(FloatKind::$float),)*
                    $(DType::$complex)|* => Type::complex(dtype.part().into()),
                }
            }
        }
    };
}

numerics::element_types!([float_kinds]);

impl FloatKind {
    /// The MLIR spelling, such as `f8E4M3FN`.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Width in bits.
    pub fn width(self) -> u32 {
        Self::ALL[self as usize].2
    }
}

/// The structure of a type.
#[derive(PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `i32`, `si8`, `ui4`
    Integer {
        /// Width in bits.
        width: u32,
        /// Signedness.
        signedness: Signedness,
    },
    /// `index`
    Index,
    /// `f32`, `bf16`, …
    Float(FloatKind),
    /// `complex<T>`
    Complex(Type),
    /// `none`
    None,
    /// `(A, B) -> C`
    Function {
        /// Argument types.
        inputs: Vec<Type>,
        /// Result types.
        results: Vec<Type>,
    },
    /// `tuple<A, B>`
    Tuple(Vec<Type>),
    /// `vector<2x[4]xf32>`
    Vector {
        /// Sizes.
        shape: Vec<i64>,
        /// Which dimensions are scalable.
        scalable: Vec<bool>,
        /// Element type.
        element: Type,
    },
    /// `tensor<2x?xf32, #encoding>`
    RankedTensor(TensorType),
    /// `tensor<*xf32>`
    UnrankedTensor(Type),
    /// `memref<2x?xf32, layout, space>`
    MemRef {
        /// Sizes; `DYNAMIC` for `?`.
        shape: Vec<i64>,
        /// Element type.
        element: Type,
        /// Layout, unless it is the identity.
        layout: Option<Attribute>,
        /// Memory space, unless it is the default.
        memory_space: Option<Attribute>,
    },
    /// `memref<*xf32, space>`
    UnrankedMemRef {
        /// Element type.
        element: Type,
        /// Memory space, unless it is the default.
        memory_space: Option<Attribute>,
    },
    /// A type of a dialect that is not registered: `!dialect.body` or `!dialect<"body">`.
    Opaque {
        /// Dialect namespace.
        dialect: Arc<str>,
        /// The text after the namespace.
        body: Arc<str>,
    },
    /// A type that a dialect declares.
    Dialect(DialectType),
}

/// `tensor<2x?xf32, #encoding>`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Sizes; `DYNAMIC` for `?`.
    pub shape: Vec<i64>,
    /// Element type.
    pub element: Type,
    /// Encoding, such as `#stablehlo.bounds<?, 4>`.
    pub encoding: Option<Attribute>,
}

impl TensorType {
    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// True if no dimension is `?`.
    pub fn has_static_shape(&self) -> bool {
        self.shape.iter().all(|&d| d != DYNAMIC)
    }

    /// The sizes, if all are static (and so none is negative).
    pub fn static_shape(&self) -> Option<Vec<usize>> {
        self.shape.iter().map(|&d| usize::try_from(d).ok()).collect()
    }

    /// Number of elements, if static and within `usize`.
    pub fn num_elements(&self) -> Option<usize> {
        num_elements(&self.shape)
    }
}

/// The largest number of dimensions that readers accept. Work on a shape may be quadratic in its
/// rank; real programs have less than 64 dimensions.
pub const MAX_RANK: usize = 1024;

/// Checks that a complex type may have parts of a type.
///
/// # Errors
/// If it may not.
pub fn check_complex_part(ty: &Type) -> Result<(), String> {
    if ty.is_float() || ty.is_integer(None) {
        return Ok(());
    }
    Err(format!("the parts of a complex type are floats or integers, not {ty}"))
}

/// Checks that a tensor may have elements of a type, as MLIR's verifier of tensor types.
///
/// # Errors
/// If it may not.
pub fn check_element(ty: &Type) -> Result<(), String> {
    match **ty {
        TypeKind::RankedTensor(_)
        | TypeKind::UnrankedTensor(_)
        | TypeKind::Function { .. }
        | TypeKind::Tuple(_)
        | TypeKind::None
        | TypeKind::MemRef { .. }
        | TypeKind::UnrankedMemRef { .. } => {
            Err(format!("a tensor cannot hold elements of type {ty}"))
        }
        _ => Ok(()),
    }
}

/// Checks that sizes are those of a type: not too many, and none negative but [`DYNAMIC`].
///
/// # Errors
/// If there are too many, or one is negative; the message says which.
pub fn check_shape(shape: &[i64]) -> Result<(), String> {
    if shape.len() > MAX_RANK {
        return Err(format!("a type has at most {MAX_RANK} dimensions; found {}", shape.len()));
    }
    match shape.iter().find(|&&size| size < 0 && size != DYNAMIC) {
        Some(size) => Err(format!("the size {size} of a dimension is negative")),
        None => Ok(()),
    }
}

/// Number of elements of a static shape, if within `usize`. A shape with an empty dimension has
/// none, however large the others are.
pub fn num_elements(shape: &[i64]) -> Option<usize> {
    if shape.contains(&0) && shape.iter().all(|&d| d >= 0) {
        return Some(0);
    }
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))
}

/// A type declared by a dialect, with its parameters in the order of the declaration.
#[derive(Clone)]
pub struct DialectType {
    /// The declaration.
    pub def: &'static TypeDef,
    /// One entry per parameter; `None` for an absent optional one.
    pub params: Vec<Option<Attribute>>,
}

impl PartialEq for DialectType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.def, other.def) && self.params == other.params
    }
}

impl Eq for DialectType {}

impl Hash for DialectType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.def.mnemonic.hash(state);
        self.params.hash(state);
    }
}

impl Deref for Type {
    type Target = TypeKind;
    fn deref(&self) -> &TypeKind {
        self.0.kind()
    }
}

impl std::fmt::Debug for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl Structure for TypeKind {
    fn extent(&self) -> Extent {
        let mut extent = Extent::LEAF;
        match self {
            TypeKind::Complex(element) | TypeKind::UnrankedTensor(element) => {
                extent.add(element.extent())
            }
            TypeKind::Function { inputs, results } => {
                inputs.iter().chain(results).for_each(|ty| extent.add(ty.extent()));
            }
            TypeKind::Tuple(elements) => elements.iter().for_each(|ty| extent.add(ty.extent())),
            TypeKind::Vector { element, .. } => extent.add(element.extent()),
            TypeKind::RankedTensor(TensorType { element, encoding, .. }) => {
                extent.add(element.extent());
                encoding.iter().for_each(|attr| extent.add(attr.extent()));
            }
            TypeKind::MemRef { element, layout, memory_space, .. } => {
                extent.add(element.extent());
                layout.iter().chain(memory_space).for_each(|attr| extent.add(attr.extent()));
            }
            TypeKind::UnrankedMemRef { element, memory_space } => {
                extent.add(element.extent());
                memory_space.iter().for_each(|attr| extent.add(attr.extent()));
            }
            TypeKind::Dialect(ty) => {
                ty.params.iter().flatten().for_each(|attr| extent.add(attr.extent()));
            }
            TypeKind::Integer { .. }
            | TypeKind::Index
            | TypeKind::Float(_)
            | TypeKind::None
            | TypeKind::Opaque { .. } => {}
        }
        extent
    }
}

impl From<TypeKind> for Type {
    fn from(kind: TypeKind) -> Type {
        Type(SharedNode::new(kind))
    }
}

macro_rules! shared_types {
    ($($(#[$doc:meta])* $name:ident = $kind:expr;)*) => {
        $($(#[$doc])* pub fn $name() -> Type {
            static CELL: OnceLock<Type> = OnceLock::new();
            CELL.get_or_init(|| Type::from($kind)).clone()
        })*
    };
}

impl Type {
    shared_types! {
        /// `i1`
        i1 = TypeKind::Integer { width: 1, signedness: Signedness::Signless };
        /// `i8`
        i8 = TypeKind::Integer { width: 8, signedness: Signedness::Signless };
        /// `i16`
        i16 = TypeKind::Integer { width: 16, signedness: Signedness::Signless };
        /// `i32`
        i32 = TypeKind::Integer { width: 32, signedness: Signedness::Signless };
        /// `i64`
        i64 = TypeKind::Integer { width: 64, signedness: Signedness::Signless };
        /// `ui8`
        ui8 = TypeKind::Integer { width: 8, signedness: Signedness::Unsigned };
        /// `ui16`
        ui16 = TypeKind::Integer { width: 16, signedness: Signedness::Unsigned };
        /// `ui32`
        ui32 = TypeKind::Integer { width: 32, signedness: Signedness::Unsigned };
        /// `ui64`
        ui64 = TypeKind::Integer { width: 64, signedness: Signedness::Unsigned };
        /// `index`
        index = TypeKind::Index;
        /// `none`
        none = TypeKind::None;
        /// `f16`
        f16 = TypeKind::Float(FloatKind::F16);
        /// `bf16`
        bf16 = TypeKind::Float(FloatKind::BF16);
        /// `f32`
        f32 = TypeKind::Float(FloatKind::F32);
        /// `f64`
        f64 = TypeKind::Float(FloatKind::F64);
    }

    /// An integer type of any width.
    pub fn integer(width: u32, signedness: Signedness) -> Type {
        TypeKind::Integer { width, signedness }.into()
    }

    /// A float type.
    pub fn float(kind: FloatKind) -> Type {
        TypeKind::Float(kind).into()
    }

    /// `complex<element>`
    pub fn complex(element: Type) -> Type {
        TypeKind::Complex(element).into()
    }

    /// `tuple<elements>`
    pub fn tuple(elements: Vec<Type>) -> Type {
        TypeKind::Tuple(elements).into()
    }

    /// `(inputs) -> results`
    pub fn function(inputs: Vec<Type>, results: Vec<Type>) -> Type {
        TypeKind::Function { inputs, results }.into()
    }

    /// `tensor<shape x element>`; `DYNAMIC` sizes print as `?`.
    pub fn tensor(shape: impl Into<Vec<i64>>, element: Type) -> Type {
        Type::encoded_tensor(shape, element, None)
    }

    /// `tensor<shape x element, encoding>`
    pub fn encoded_tensor(
        shape: impl Into<Vec<i64>>,
        element: Type,
        encoding: Option<Attribute>,
    ) -> Type {
        TypeKind::RankedTensor(TensorType { shape: shape.into(), element, encoding }).into()
    }

    /// `tensor<*x element>`
    pub fn unranked_tensor(element: Type) -> Type {
        TypeKind::UnrankedTensor(element).into()
    }

    /// A type of a dialect with its parameters.
    pub fn dialect(def: &'static TypeDef, params: Vec<Option<Attribute>>) -> Type {
        TypeKind::Dialect(DialectType { def, params }).into()
    }

    /// The size with everything nested.
    pub fn extent(&self) -> Extent {
        self.0.extent()
    }

    /// The tensor type, if this is a ranked tensor.
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match &**self {
            TypeKind::RankedTensor(t) => Some(t),
            _ => None,
        }
    }

    /// The element types of a tuple type.
    pub fn as_tuple(&self) -> Option<&[Type]> {
        match &**self {
            TypeKind::Tuple(t) => Some(t),
            _ => None,
        }
    }

    /// Inputs and results of a function type.
    pub fn as_function(&self) -> Option<(&[Type], &[Type])> {
        match &**self {
            TypeKind::Function { inputs, results } => Some((inputs, results)),
            _ => None,
        }
    }

    /// The parameters of a type declared by `def`.
    pub fn as_dialect(&self, def: &'static TypeDef) -> Option<&[Option<Attribute>]> {
        match &**self {
            TypeKind::Dialect(t) if std::ptr::eq(t.def, def) => Some(&t.params),
            _ => None,
        }
    }

    /// Element type of a ranked or unranked tensor, a vector or a memref; the type itself
    /// otherwise.
    pub fn element_type(&self) -> &Type {
        match &**self {
            TypeKind::RankedTensor(t) => &t.element,
            TypeKind::UnrankedTensor(e)
            | TypeKind::Vector { element: e, .. }
            | TypeKind::MemRef { element: e, .. }
            | TypeKind::UnrankedMemRef { element: e, .. } => e,
            _ => self,
        }
    }

    /// Sizes of a ranked tensor, vector or memref.
    pub fn shape(&self) -> Option<&[i64]> {
        match &**self {
            TypeKind::RankedTensor(TensorType { shape, .. })
            | TypeKind::Vector { shape, .. }
            | TypeKind::MemRef { shape, .. } => Some(shape),
            _ => None,
        }
    }

    /// True for tensors, vectors and memrefs, ranked or not.
    pub fn is_shaped(&self) -> bool {
        !std::ptr::eq(self.element_type(), self)
    }

    /// True for integer types; of width `of_width` if given.
    pub fn is_integer(&self, of_width: Option<u32>) -> bool {
        matches!(&**self, TypeKind::Integer { width, .. } if of_width.is_none_or(|w| w == *width))
    }

    /// True for `index`.
    pub fn is_index(&self) -> bool {
        matches!(&**self, TypeKind::Index)
    }

    /// True for float types.
    pub fn is_float(&self) -> bool {
        matches!(&**self, TypeKind::Float(_))
    }

    /// Width in bits of an integer, float or index (64) type.
    pub fn bit_width(&self) -> Option<u32> {
        match &**self {
            TypeKind::Integer { width, .. } => Some(*width),
            TypeKind::Float(kind) => Some(kind.width()),
            TypeKind::Index => Some(64),
            _ => None,
        }
    }

    /// The storage type of elements of this scalar type: `None` if they have no storage here (odd
    /// integer widths, f80, f128, dialect types). `index` is stored as `i64`.
    pub fn dtype(&self) -> Option<DType> {
        Some(match &**self {
            TypeKind::Index => DType::I64,
            TypeKind::Integer { width, signedness } => {
                DType::integer(*width, *signedness != Signedness::Unsigned)?
            }
            TypeKind::Float(kind) => kind.dtype()?,
            TypeKind::Complex(part) => part.dtype()?.complex()?,
            _ => return None,
        })
    }
}
