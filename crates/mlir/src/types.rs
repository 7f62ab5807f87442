//! MLIR types: the builtin ones as an enum, those of dialects as parameters under a [`TypeDef`].
//!
//! Source: MLIR language reference, "Builtin Types".

use crate::attrs::Attribute;
use crate::node::Node;
use crate::ods::TypeDef;
use numerics::DType;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Represents `?` in a shape.
pub const DYNAMIC: i64 = i64::MIN;

/// A shared immutable type with structural equality.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Type(Node<TypeKind>);

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

/// The builtin float formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the documentation
pub enum FloatKind {
    F4E2M1FN,
    F6E2M3FN,
    F6E3M2FN,
    F8E3M4,
    F8E4M3,
    F8E4M3B11FNUZ,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU,
    BF16,
    F16,
    TF32,
    F32,
    F64,
    F80,
    F128,
}

impl FloatKind {
    /// Every format with its MLIR spelling and its width in bits.
    pub const ALL: [(FloatKind, &'static str, u32); 18] = [
        (FloatKind::F4E2M1FN, "f4E2M1FN", 4),
        (FloatKind::F6E2M3FN, "f6E2M3FN", 6),
        (FloatKind::F6E3M2FN, "f6E3M2FN", 6),
        (FloatKind::F8E3M4, "f8E3M4", 8),
        (FloatKind::F8E4M3, "f8E4M3", 8),
        (FloatKind::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8),
        (FloatKind::F8E4M3FN, "f8E4M3FN", 8),
        (FloatKind::F8E4M3FNUZ, "f8E4M3FNUZ", 8),
        (FloatKind::F8E5M2, "f8E5M2", 8),
        (FloatKind::F8E5M2FNUZ, "f8E5M2FNUZ", 8),
        (FloatKind::F8E8M0FNU, "f8E8M0FNU", 8),
        (FloatKind::BF16, "bf16", 16),
        (FloatKind::F16, "f16", 16),
        (FloatKind::TF32, "tf32", 19),
        (FloatKind::F32, "f32", 32),
        (FloatKind::F64, "f64", 64),
        (FloatKind::F80, "f80", 80),
        (FloatKind::F128, "f128", 128),
    ];

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
        self.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))
    }
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

impl From<TypeKind> for Type {
    fn from(kind: TypeKind) -> Type {
        Type(Node::new(kind))
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
                let unsigned = *signedness == Signedness::Unsigned;
                match (width, unsigned) {
                    (1, _) => DType::I1,
                    (2, false) => DType::I2,
                    (4, false) => DType::I4,
                    (8, false) => DType::I8,
                    (16, false) => DType::I16,
                    (32, false) => DType::I32,
                    (64, false) => DType::I64,
                    (2, true) => DType::U2,
                    (4, true) => DType::U4,
                    (8, true) => DType::U8,
                    (16, true) => DType::U16,
                    (32, true) => DType::U32,
                    (64, true) => DType::U64,
                    _ => return None,
                }
            }
            TypeKind::Float(kind) => match kind {
                FloatKind::F4E2M1FN => DType::F4E2M1FN,
                FloatKind::F6E2M3FN => DType::F6E2M3FN,
                FloatKind::F6E3M2FN => DType::F6E3M2FN,
                FloatKind::F8E3M4 => DType::F8E3M4,
                FloatKind::F8E4M3 => DType::F8E4M3,
                FloatKind::F8E4M3B11FNUZ => DType::F8E4M3B11FNUZ,
                FloatKind::F8E4M3FN => DType::F8E4M3FN,
                FloatKind::F8E4M3FNUZ => DType::F8E4M3FNUZ,
                FloatKind::F8E5M2 => DType::F8E5M2,
                FloatKind::F8E5M2FNUZ => DType::F8E5M2FNUZ,
                FloatKind::F8E8M0FNU => DType::F8E8M0FNU,
                FloatKind::BF16 => DType::BF16,
                FloatKind::F16 => DType::F16,
                FloatKind::TF32 => DType::TF32,
                FloatKind::F32 => DType::F32,
                FloatKind::F64 => DType::F64,
                FloatKind::F80 | FloatKind::F128 => return None,
            },
            TypeKind::Complex(part) => match part.dtype()? {
                DType::F32 => DType::C64,
                DType::F64 => DType::C128,
                _ => return None,
            },
            _ => return None,
        })
    }
}

impl From<DType> for Type {
    /// The scalar type of the interpreter's values of `dtype`: signless for signed integers.
    fn from(dtype: DType) -> Type {
        let signless = |width| Type::integer(width, Signedness::Signless);
        let unsigned = |width| Type::integer(width, Signedness::Unsigned);
        match dtype {
            DType::I1 => Type::i1(),
            DType::I2 => signless(2),
            DType::I4 => signless(4),
            DType::I8 => signless(8),
            DType::I16 => signless(16),
            DType::I32 => Type::i32(),
            DType::I64 => Type::i64(),
            DType::U2 => unsigned(2),
            DType::U4 => unsigned(4),
            DType::U8 => unsigned(8),
            DType::U16 => unsigned(16),
            DType::U32 => unsigned(32),
            DType::U64 => unsigned(64),
            DType::F4E2M1FN => Type::float(FloatKind::F4E2M1FN),
            DType::F6E2M3FN => Type::float(FloatKind::F6E2M3FN),
            DType::F6E3M2FN => Type::float(FloatKind::F6E3M2FN),
            DType::F8E3M4 => Type::float(FloatKind::F8E3M4),
            DType::F8E4M3 => Type::float(FloatKind::F8E4M3),
            DType::F8E4M3B11FNUZ => Type::float(FloatKind::F8E4M3B11FNUZ),
            DType::F8E4M3FN => Type::float(FloatKind::F8E4M3FN),
            DType::F8E4M3FNUZ => Type::float(FloatKind::F8E4M3FNUZ),
            DType::F8E5M2 => Type::float(FloatKind::F8E5M2),
            DType::F8E5M2FNUZ => Type::float(FloatKind::F8E5M2FNUZ),
            DType::F8E8M0FNU => Type::float(FloatKind::F8E8M0FNU),
            DType::BF16 => Type::bf16(),
            DType::F16 => Type::f16(),
            DType::TF32 => Type::float(FloatKind::TF32),
            DType::F32 => Type::f32(),
            DType::F64 => Type::f64(),
            DType::C64 => Type::complex(Type::f32()),
            DType::C128 => Type::complex(Type::f64()),
        }
    }
}
