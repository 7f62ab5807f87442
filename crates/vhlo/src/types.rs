//! All types of all versions, their syntax, and the builtin types that some represent.

use crate::Version;
use mlir::attrs::AttrKind;
use mlir::ods::{ParamAssembly, ParamDef, ParamKind, TypeDef};
use mlir::text::{Parsed, Parser, Printer};
use mlir::types::{FloatKind, Signedness, TensorType, TypeKind, check_shape};
use mlir::{Attribute, Type};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Default fields of a declaration, for struct update syntax.
const EMPTY: TypeDef = TypeDef {
    dialect: "vhlo",
    mnemonic: "",
    doc: "A type of StableHLO as it was in a range of versions.",
    params: &[],
    assembly: ParamAssembly::None,
    verify: None,
    compatible: None,
    storage: None,
    misfit: None,
};

/// A type with the first version that has it. No type was ever removed.
pub struct VersionedType {
    /// The declaration.
    pub def: &'static TypeDef,
    /// The first version that has it.
    pub since: Version,
}

/// A type without parameters: its bytecode code and the builtin type that it represents, if any.
pub struct ScalarType {
    /// The declaration.
    pub def: &'static TypeDef,
    /// Code in bytecode.
    pub code: u64,
    /// The builtin type.
    pub builtin: Option<fn() -> Type>,
}

macro_rules! scalars {
    ($($ident:ident $mnemonic:literal since ($major:literal, $minor:literal) code $code:literal $(is $builtin:expr)?;)*) => {
        $(static $ident: TypeDef = TypeDef { mnemonic: $mnemonic, ..EMPTY };)*

        /// The types without parameters.
        pub static SCALARS: &[ScalarType] = &[$(ScalarType { def: &$ident, code: $code, builtin: scalars!(@some $($builtin)?) }),*];

        const SCALAR_VERSIONS: &[VersionedType] =
            &[$(VersionedType { def: &$ident, since: Version::new($major, $minor) }),*];
    };
    (@some) => { None };
    (@some $builtin:expr) => { Some($builtin) };
}

scalars! {
    BOOL "bool_v1" since (0, 9) code 0 is Type::i1;
    BF16 "bf16_v1" since (0, 9) code 2 is || Type::float(FloatKind::BF16);
    F16 "f16_v1" since (0, 9) code 3 is || Type::float(FloatKind::F16);
    F32 "f32_v1" since (0, 9) code 4 is Type::f32;
    F64 "f64_v1" since (0, 9) code 5 is Type::f64;
    F4E2M1FN "f4E2M1FN_v1" since (1, 8) code 37 is || Type::float(FloatKind::F4E2M1FN);
    F6E2M3FN "f6E2M3FN_v1" since (1, 8) code 38 is || Type::float(FloatKind::F6E2M3FN);
    F6E3M2FN "f6E3M2FN_v1" since (1, 8) code 39 is || Type::float(FloatKind::F6E3M2FN);
    F8E3M4 "f8E3M4_v1" since (1, 7) code 36 is || Type::float(FloatKind::F8E3M4);
    F8E4M3 "f8E4M3_v1" since (1, 7) code 35 is || Type::float(FloatKind::F8E4M3);
    F8E4M3FN "f8E4M3FN_v1" since (0, 9) code 6 is || Type::float(FloatKind::F8E4M3FN);
    F8E5M2 "f8E5M2_v1" since (0, 9) code 7 is || Type::float(FloatKind::F8E5M2);
    F8E4M3FNUZ "f8E4M3FNUZ_v1" since (0, 10) code 27 is || Type::float(FloatKind::F8E4M3FNUZ);
    F8E4M3B11FNUZ "f8E4M3B11FNUZ_v1" since (0, 11) code 29 is || Type::float(FloatKind::F8E4M3B11FNUZ);
    F8E5M2FNUZ "f8E5M2FNUZ_v1" since (0, 10) code 28 is || Type::float(FloatKind::F8E5M2FNUZ);
    F8E8M0FNU "f8E8M0FNU_v1" since (1, 8) code 40 is || Type::float(FloatKind::F8E8M0FNU);
    TF32 "tf31_v1" since (1, 6) code 34 is || Type::float(FloatKind::TF32);
    INDEX "index_v1" since (0, 9) code 9 is Type::index;
    I2 "i2_v1" since (1, 2) code 31 is || Type::integer(2, Signedness::Signless);
    I4 "i4_v1" since (0, 9) code 10 is || Type::integer(4, Signedness::Signless);
    I8 "i8_v1" since (0, 9) code 11 is || Type::integer(8, Signedness::Signless);
    I16 "i16_v1" since (0, 9) code 12 is || Type::integer(16, Signedness::Signless);
    I32 "i32_v1" since (0, 9) code 13 is Type::i32;
    I64 "i64_v1" since (0, 9) code 14 is Type::i64;
    NONE "none_v1" since (1, 6) code 33 is Type::none;
    TOKEN "token_v1" since (0, 9) code 22;
    UI2 "ui2_v1" since (1, 2) code 32 is || Type::integer(2, Signedness::Unsigned);
    UI4 "ui4_v1" since (0, 9) code 15 is || Type::integer(4, Signedness::Unsigned);
    UI8 "ui8_v1" since (0, 9) code 16 is || Type::integer(8, Signedness::Unsigned);
    UI16 "ui16_v1" since (0, 9) code 17 is || Type::integer(16, Signedness::Unsigned);
    UI32 "ui32_v1" since (0, 9) code 18 is || Type::integer(32, Signedness::Unsigned);
    UI64 "ui64_v1" since (0, 9) code 19 is || Type::integer(64, Signedness::Unsigned);
    WITNESS "witness_v1" since (0, 9) code 26;
}

/// `!vhlo.complex_v1<T>`
pub static COMPLEX: TypeDef = TypeDef {
    mnemonic: "complex_v1",
    params: &[ParamDef::required("elementType", ParamKind::Type)],
    assembly: ParamAssembly::List,
    ..EMPTY
};

/// `!vhlo.func_v1<(T, U) -> V>`
pub static FUNCTION: TypeDef = TypeDef {
    mnemonic: "func_v1",
    params: &[
        ParamDef::required("inputs", ParamKind::Types),
        ParamDef::required("outputs", ParamKind::Types),
    ],
    assembly: ParamAssembly::Custom { parse: parse_function, print: print_function },
    ..EMPTY
};

/// `!vhlo.tensor_v1<2x?xT, #encoding>`
pub static TENSOR: TypeDef = TypeDef {
    mnemonic: "tensor_v1",
    params: &[
        ParamDef::required("shape", ParamKind::I64s),
        ParamDef::required("elementType", ParamKind::Type),
        ParamDef::optional("encoding", ParamKind::Attribute),
    ],
    assembly: ParamAssembly::Custom { parse: parse_tensor, print: print_shaped },
    verify: Some(verify_shape),
    ..EMPTY
};

/// `!vhlo.buffer_v1<2x?xT>`
pub static BUFFER: TypeDef = TypeDef {
    mnemonic: "buffer_v1",
    params: &[
        ParamDef::required("shape", ParamKind::I64s),
        ParamDef::required("elementType", ParamKind::Type),
    ],
    assembly: ParamAssembly::Custom { parse: parse_buffer, print: print_shaped },
    verify: Some(verify_shape),
    ..EMPTY
};

/// `!vhlo.unranked_tensor_v1<T>`
pub static UNRANKED_TENSOR: TypeDef = TypeDef {
    mnemonic: "unranked_tensor_v1",
    params: &[ParamDef::required("elementType", ParamKind::Type)],
    assembly: ParamAssembly::List,
    ..EMPTY
};

/// `!vhlo.tuple_v1<T, U>`
pub static TUPLE: TypeDef = TypeDef {
    mnemonic: "tuple_v1",
    params: &[ParamDef::required("types", ParamKind::Types)],
    assembly: ParamAssembly::Custom { parse: parse_types, print: print_types },
    ..EMPTY
};

/// `!vhlo.future_v1<T, U>`
pub static FUTURE: TypeDef = TypeDef {
    mnemonic: "future_v1",
    params: &[ParamDef::required("types", ParamKind::Types)],
    assembly: ParamAssembly::Custom { parse: parse_types, print: print_types },
    ..EMPTY
};

/// `!vhlo.quant_v1<storage:expressed, scale:zero_point, min:max, flags>`
pub static QUANT: TypeDef = TypeDef {
    mnemonic: "quant_v1",
    params: &[
        ParamDef::required("flags", ParamKind::I64),
        ParamDef::required("storageType", ParamKind::Type),
        ParamDef::required("expressedType", ParamKind::Type),
        ParamDef::required("scale", ParamKind::F64),
        ParamDef::required("zeroPoint", ParamKind::I64),
        ParamDef::required("storageTypeMin", ParamKind::I64),
        ParamDef::required("storageTypeMax", ParamKind::I64),
    ],
    assembly: ParamAssembly::Custom { parse: parse_quant, print: print_quant },
    ..EMPTY
};

/// `!vhlo.quant_per_axis_v1<storage:expressed, axis, [scales], [zero_points], min:max, flags>`
pub static QUANT_PER_AXIS: TypeDef = TypeDef {
    mnemonic: "quant_per_axis_v1",
    params: &[
        ParamDef::required("flags", ParamKind::I64),
        ParamDef::required("storageType", ParamKind::Type),
        ParamDef::required("expressedType", ParamKind::Type),
        ParamDef::required("quantizedDimension", ParamKind::I64),
        ParamDef::required("scales", ParamKind::Attribute),
        ParamDef::required("zeroPoints", ParamKind::I64s),
        ParamDef::required("storageTypeMin", ParamKind::I64),
        ParamDef::required("storageTypeMax", ParamKind::I64),
    ],
    assembly: ParamAssembly::Custom { parse: parse_quant_per_axis, print: print_quant_per_axis },
    ..EMPTY
};

/// The types with parameters.
const CONTAINER_VERSIONS: &[VersionedType] = &[
    VersionedType { def: &BUFFER, since: Version::new(1, 13) },
    VersionedType { def: &COMPLEX, since: Version::new(0, 9) },
    VersionedType { def: &FUNCTION, since: Version::new(0, 9) },
    VersionedType { def: &FUTURE, since: Version::new(1, 15) },
    VersionedType { def: &QUANT, since: Version::new(0, 9) },
    VersionedType { def: &QUANT_PER_AXIS, since: Version::new(0, 18) },
    VersionedType { def: &TENSOR, since: Version::new(0, 9) },
    VersionedType { def: &TUPLE, since: Version::new(0, 9) },
    VersionedType { def: &UNRANKED_TENSOR, since: Version::new(0, 9) },
];

/// The types with their versions.
pub fn versioned_types() -> impl Iterator<Item = &'static VersionedType> {
    SCALAR_VERSIONS.iter().chain(CONTAINER_VERSIONS)
}

const NUM_TYPES: usize = SCALAR_VERSIONS.len() + CONTAINER_VERSIONS.len();

/// The declarations.
pub static TYPES: &[&TypeDef] = &{
    let mut defs: [&TypeDef; NUM_TYPES] = [&EMPTY; NUM_TYPES];
    let mut i = 0;
    while i < NUM_TYPES {
        let (scalars, n) = (SCALAR_VERSIONS, SCALAR_VERSIONS.len());
        defs[i] = if i < n { scalars[i].def } else { CONTAINER_VERSIONS[i - n].def };
        i += 1;
    }
    defs
};

/// `!vhlo.token_v1`
pub fn token() -> Type {
    Type::dialect(&TOKEN, Vec::new())
}

/// True if this is `!vhlo.token_v1`.
pub fn is_token(ty: &Type) -> bool {
    ty.as_dialect(&TOKEN).is_some()
}

/// `!vhlo.witness_v1`
pub fn witness() -> Type {
    Type::dialect(&WITNESS, Vec::new())
}

/// True if this is `!vhlo.witness_v1`.
pub fn is_witness(ty: &Type) -> bool {
    ty.as_dialect(&WITNESS).is_some()
}

/// `!vhlo.none_v1`
pub fn none() -> Type {
    Type::dialect(&NONE, Vec::new())
}

/// The element type of a tensor; any other type itself.
pub fn element(ty: &Type) -> &Type {
    let params = ty
        .as_dialect(&TENSOR)
        .map(|p| p.get(1))
        .or_else(|| Some(ty.as_dialect(&UNRANKED_TENSOR)?.first()));
    params.flatten().and_then(|p| p.as_ref()?.as_type()).unwrap_or(ty)
}

/// The VHLO type of a builtin type without parameters.
pub fn from_scalar(ty: &Type) -> Option<Type> {
    // Made once: programs convert types all the time.
    static KNOWN: LazyLock<FxHashMap<Type, Type>> = LazyLock::new(|| {
        let made = |s: &ScalarType| Some((s.builtin?(), Type::dialect(s.def, Vec::new())));
        SCALARS.iter().filter_map(made).collect()
    });
    match &**ty {
        TypeKind::RankedTensor(_) | TypeKind::Function { .. } | TypeKind::Dialect(_) => None,
        _ => KNOWN.get(ty).cloned(),
    }
}

/// The builtin type of a VHLO type without parameters.
pub fn to_scalar(ty: &Type) -> Option<Type> {
    static KNOWN: LazyLock<Vec<Option<Type>>> =
        LazyLock::new(|| SCALARS.iter().map(|s| s.builtin.map(|builtin| builtin())).collect());
    let TypeKind::Dialect(t) = &**ty else { return None };
    let index = SCALARS.iter().position(|s| std::ptr::eq(s.def, t.def))?;
    KNOWN[index].clone()
}

/// A tensor type.
pub fn tensor(shape: &[i64], element: Type, encoding: Option<Attribute>) -> Type {
    Type::dialect(&TENSOR, vec![Some(Attribute::i64_array(shape)), Some(element.into()), encoding])
}

/// The VHLO type of a builtin scalar, complex number or tensor of those; encodings are kept.
pub fn from_builtin(ty: &Type) -> Option<Type> {
    match &**ty {
        TypeKind::Complex(element) => {
            Some(Type::dialect(&COMPLEX, vec![Some(from_builtin(element)?.into())]))
        }
        TypeKind::RankedTensor(t) => {
            Some(tensor(&t.shape, from_builtin(&t.element)?, t.encoding.clone()))
        }
        _ => from_scalar(ty),
    }
}

/// The builtin scalar, complex number or tensor of those that a VHLO type represents; encodings are
/// kept.
pub fn to_builtin(ty: &Type) -> Option<Type> {
    let param = |params: &[Option<Attribute>], i: usize| params.get(i).cloned().flatten();
    if let Some(params) = ty.as_dialect(&COMPLEX) {
        return Some(Type::complex(to_builtin(param(params, 0)?.as_type()?)?));
    }
    if let Some(params) = ty.as_dialect(&TENSOR) {
        let (shape, element) = (param(params, 0)?, param(params, 1)?);
        let (shape, element) = (shape.as_int_array()?.to_vec(), to_builtin(element.as_type()?)?);
        return Some(
            TypeKind::RankedTensor(TensorType { shape, element, encoding: param(params, 2) })
                .into(),
        );
    }
    to_scalar(ty)
}

type Params = Vec<Option<Attribute>>;

fn types(params: &[Option<Attribute>], index: usize) -> impl ExactSizeIterator<Item = &Attribute> {
    params.get(index).and_then(Option::as_ref).and_then(Attribute::as_array).unwrap_or(&[]).iter()
}

fn list(types: Vec<Type>) -> Option<Attribute> {
    Some(Attribute::array(types.into_iter().map(Attribute::from).collect()))
}

fn parse_function(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    // A list without types is written with two pairs of brackets: `(())`.
    let mut inputs = Vec::new();
    p.expect("(")?;
    if p.eat("(") {
        p.expect(")")?;
        p.expect(")")?;
    } else {
        p.list_until(")", |p| {
            inputs.push(p.ty()?);
            Ok(())
        })?;
    }
    p.expect("->")?;
    let mut outputs = Vec::new();
    if p.eat("(") {
        p.expect(")")?;
    } else {
        p.comma_separated(|p| {
            outputs.push(p.ty()?);
            Ok(())
        })?;
    }
    p.expect(">")?;
    Ok(vec![list(inputs), list(outputs)])
}

fn print_function(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    let print = |p: &mut Printer<'_>, index| match types(params, index).len() {
        0 => p.write("()"),
        _ => p.separated(", ", types(params, index), |p, t| p.attribute(t)),
    };
    p.write("<(");
    print(p, 0);
    p.write(") -> ");
    print(p, 1);
    p.write(">");
}

fn parse_tensor(p: &mut Parser<'_>) -> Parsed<Params> {
    let mut params = parse_shape(p)?;
    params.push(if p.eat(",") { Some(p.attribute(None)?) } else { None });
    p.expect(">")?;
    Ok(params)
}

fn parse_buffer(p: &mut Parser<'_>) -> Parsed<Params> {
    let params = parse_shape(p)?;
    p.expect(">")?;
    Ok(params)
}

fn verify_shape(params: &[Option<Attribute>]) -> Result<(), String> {
    check_shape(
        params.first().and_then(Option::as_ref).and_then(Attribute::as_int_array).unwrap_or(&[]),
    )
}

fn parse_shape(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    let shape = p.dimensions(true)?;
    Ok(vec![Some(Attribute::i64_array(shape)), Some(p.ty()?.into())])
}

fn print_shaped(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    p.write("<");
    p.dimensions(
        params.first().and_then(Option::as_ref).and_then(Attribute::as_int_array).unwrap_or(&[]),
    );
    params.get(1).iter().copied().flatten().for_each(|t| p.attribute(t));
    if let Some(Some(encoding)) = params.get(2) {
        p.write(", ");
        p.attribute(encoding);
    }
    p.write(">");
}

fn parse_types(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    let mut types = Vec::new();
    p.list_until(">", |p| {
        types.push(p.ty()?);
        Ok(())
    })?;
    Ok(vec![list(types)])
}

fn print_types(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    p.write("<");
    p.separated(", ", types(params, 0), |p, t| p.attribute(t));
    p.write(">");
}

/// Parses `<storage:expressed,`.
fn parse_storage(p: &mut Parser<'_>) -> Parsed<[Option<Attribute>; 2]> {
    p.expect("<")?;
    let storage = p.ty()?.into();
    p.expect(":")?;
    let expressed = p.ty()?.into();
    p.expect(",")?;
    Ok([Some(storage), Some(expressed)])
}

/// Parses `, min:max, flags>`.
fn parse_range(p: &mut Parser<'_>) -> Parsed<[Option<Attribute>; 3]> {
    p.expect(",")?;
    let min = p.integer()?;
    p.expect(":")?;
    let max = p.integer()?;
    p.expect(",")?;
    let flags = p.integer()?;
    p.expect(">")?;
    Ok([min, max, flags].map(|n| Some(Attribute::i64(n))))
}

fn parse_quant(p: &mut Parser<'_>) -> Parsed<Params> {
    let [storage, expressed] = parse_storage(p)?;
    let scale = p.param(ParamKind::F64)?;
    p.expect(":")?;
    let zero_point = Attribute::i64(p.integer()?);
    let [min, max, flags] = parse_range(p)?;
    Ok(vec![flags, storage, expressed, Some(scale), Some(zero_point), min, max])
}

fn parse_quant_per_axis(p: &mut Parser<'_>) -> Parsed<Params> {
    let [storage, expressed] = parse_storage(p)?;
    let axis = Attribute::i64(p.integer()?);
    p.expect(",")?;
    p.expect("[")?;
    let mut scales = Vec::new();
    p.list_until("]", |p| {
        scales.push(p.param(ParamKind::F64)?);
        Ok(())
    })?;
    p.expect(",")?;
    let zero_points = Attribute::i64_array(p.i64_list()?);
    let [min, max, flags] = parse_range(p)?;
    Ok(vec![
        flags,
        storage,
        expressed,
        Some(axis),
        Some(Attribute::array(scales)),
        Some(zero_points),
        min,
        max,
    ])
}

fn print_param(p: &mut Printer<'_>, params: &[Option<Attribute>], index: usize, after: &str) {
    if let Some(Some(value)) = params.get(index) {
        match &**value {
            AttrKind::Integer { .. } | AttrKind::Float { .. } => p.attribute_without_type(value),
            _ => p.attribute(value),
        }
    }
    p.write(after);
}

fn print_quant(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    p.write("<");
    for (index, after) in [(1, ":"), (2, ", "), (3, ":"), (4, ", "), (5, ":"), (6, ", "), (0, ">")]
    {
        print_param(p, params, index, after);
    }
}

fn print_quant_per_axis(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    p.write("<");
    for (index, after) in [(1, ":"), (2, ", "), (3, ", [")] {
        print_param(p, params, index, after);
    }
    p.separated(", ", types(params, 4), |p, scale| p.attribute_without_type(scale));
    p.write("], [");
    let zero_points =
        params.get(5).and_then(Option::as_ref).and_then(Attribute::as_int_array).unwrap_or(&[]);
    p.separated(", ", zero_points, |p, z| p.number(z));
    p.write("], ");
    for (index, after) in [(6, ":"), (7, ", "), (0, ">")] {
        print_param(p, params, index, after);
    }
}
