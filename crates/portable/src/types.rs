//! Conversion of types between programs and VHLO.

use crate::ForeignOps;
use crate::cache::ConversionCache;
use mlir::attrs::AttrKind;
use mlir::types::{DialectType, TensorType, check_complex_part, check_element};
use mlir::{Attribute, Type, TypeKind};
use side_dialects::quant::{Granularity, UNIFORM, Uniform, UniformParts, storage_from_held};
use side_dialects::shape::WITNESS;
use vhlo::types::{
    self, BUFFER, COMPLEX, FUNCTION, FUTURE, QUANT, QUANT_PER_AXIS, TENSOR, TUPLE, UNRANKED_TENSOR,
};
use vhlo::{VHLO, attrs};

/// The flag of a quantized type that marks signed storage.
const SIGNED: i64 = 1;

/// Converts a type to VHLO; `None` if it has no VHLO form.
pub(crate) fn to_vhlo(ty: &Type, foreign: ForeignOps, cache: &mut ConversionCache) -> Option<Type> {
    if let Some(scalar) = types::from_scalar(ty) {
        return Some(scalar);
    }
    cache.get_or_convert(
        |cache| &mut cache.types,
        ty,
        |cache| composite_to_vhlo(ty, &mut |ty| to_vhlo(ty, foreign, cache), foreign),
    )
}

/// Converts a type that is not a scalar; `convert` converts its parts.
fn composite_to_vhlo(
    ty: &Type,
    convert: &mut dyn FnMut(&Type) -> Option<Type>,
    foreign: ForeignOps,
) -> Option<Type> {
    let mut list = |list: &[Type]| {
        list.iter().map(|t| convert(t).map(Attribute::from)).collect::<Option<Vec<_>>>()
    };
    Some(match &**ty {
        TypeKind::RankedTensor(t) => {
            let encoding = match &t.encoding {
                Some(encoding) => Some(encoding_to_vhlo(encoding)?),
                None => None,
            };
            types::tensor(&t.shape, convert(&t.element)?, encoding)
        }
        TypeKind::UnrankedTensor(element) => {
            Type::dialect(&UNRANKED_TENSOR, vec![Some(convert(element)?.into())])
        }
        TypeKind::Complex(element) => Type::dialect(&COMPLEX, vec![Some(convert(element)?.into())]),
        TypeKind::Tuple(elements) => {
            Type::dialect(&TUPLE, vec![Some(Attribute::array(list(elements)?))])
        }
        TypeKind::Function { inputs, results } => {
            let (inputs, outputs) = (list(inputs)?, list(results)?);
            let [inputs, outputs] = [inputs, outputs].map(Attribute::array);
            Type::dialect(&FUNCTION, vec![Some(inputs), Some(outputs)])
        }
        TypeKind::MemRef { shape, element, layout: None, memory_space: None } => Type::dialect(
            &BUFFER,
            vec![Some(Attribute::i64_array(&shape[..])), Some(convert(element)?.into())],
        ),
        TypeKind::Dialect(t) if std::ptr::eq(t.def, &hlo::types::TOKEN) => types::token(),
        TypeKind::Dialect(t) if std::ptr::eq(t.def, &hlo::types::FUTURE) => {
            let inner = hlo::types::future_types(ty)?;
            Type::dialect(&FUTURE, vec![Some(Attribute::array(list(&inner)?))])
        }
        TypeKind::Dialect(t) if std::ptr::eq(t.def, &WITNESS) => types::witness(),
        TypeKind::Dialect(t) if std::ptr::eq(t.def, &UNIFORM) => {
            uniform_to_vhlo(&Uniform::of(ty)?)?
        }
        TypeKind::Dialect(t) if t.def.dialect == VHLO.namespace => ty.clone(),
        TypeKind::Dialect(t) if t.def.dialect != hlo::STABLEHLO.namespace => {
            return foreign.keep(ty);
        }
        TypeKind::Opaque { .. } => return foreign.keep(ty),
        _ => return None,
    })
}

/// Converts a type from VHLO. Types of other dialects are unchanged. Returns `None` if a part of it
/// has no counterpart.
pub(crate) fn from_vhlo(ty: &Type, cache: &mut ConversionCache) -> Option<Type> {
    let TypeKind::Dialect(t) = &**ty else { return Some(ty.clone()) };
    if t.def.dialect != VHLO.namespace {
        return Some(ty.clone());
    }
    cache.get_or_convert(|cache| &mut cache.types, ty, |cache| convert(ty, t, cache))
}

/// Converts a VHLO type with the given declaration and parameters.
fn convert(ty: &Type, t: &DialectType, cache: &mut ConversionCache) -> Option<Type> {
    if let Some(scalar) = types::to_scalar(ty) {
        return Some(scalar);
    }
    let param = |index: usize| t.params.get(index)?.as_ref();
    let mut element = |index: usize| from_vhlo(param(index)?.as_type()?, cache);
    let is = |def| std::ptr::eq(t.def, def);
    let holdable = |ty: Type| check_element(&ty).is_ok().then_some(ty);
    Some(if is(&TENSOR) {
        let encoding = match param(2) {
            Some(encoding) => Some(encoding_from_vhlo(encoding)?),
            None => None,
        };
        TypeKind::RankedTensor(TensorType {
            shape: param(0)?.as_int_array()?.to_vec(),
            element: holdable(element(1)?)?,
            encoding,
        })
        .into()
    } else if is(&UNRANKED_TENSOR) {
        TypeKind::UnrankedTensor(holdable(element(0)?)?).into()
    } else if is(&COMPLEX) {
        Type::complex(element(0).filter(|part| check_complex_part(part).is_ok())?)
    } else if is(&TUPLE) {
        TypeKind::Tuple(list(param(0)?, cache)?).into()
    } else if is(&FUNCTION) {
        Type::function(list(param(0)?, cache)?, list(param(1)?, cache)?)
    } else if is(&BUFFER) {
        let shape = param(0)?.as_int_array()?.to_vec();
        TypeKind::MemRef { shape, element: element(1)?, layout: None, memory_space: None }.into()
    } else if types::is_token(ty) {
        hlo::types::token()
    } else if is(&FUTURE) {
        hlo::types::future(list(param(0)?, cache)?)
    } else if types::is_witness(ty) {
        Type::dialect(&WITNESS, Vec::new())
    } else if is(&QUANT) || is(&QUANT_PER_AXIS) {
        let uniform = uniform_from_vhlo(ty)?;
        if violated(&uniform).is_some() {
            return None;
        }
        uniform
    } else {
        return None;
    })
}

/// Returns the constraint that a uniform quantized type violates.
fn violated(uniform: &Type) -> Option<String> {
    UNIFORM.check(uniform.as_dialect(&UNIFORM)?).err()
}

/// Returns why an attribute or type (as an attribute) cannot be converted from VHLO: the constraint
/// that a quantized type in it violates, as VHLO itself has no constraints.
pub(crate) fn refusal(value: &Attribute) -> Option<String> {
    match &**value {
        AttrKind::Type(ty) => {
            if let Some(uniform) = uniform_from_vhlo(ty)
                && let Some(reason) = violated(&uniform)
            {
                return Some(format!("{uniform}: {reason}"));
            }
            let TypeKind::Dialect(t) = &**ty else { return None };
            t.params.iter().flatten().find_map(refusal)
        }
        AttrKind::Array(elements) => elements.iter().find_map(refusal),
        AttrKind::Dialect(attribute) => attribute.params.iter().flatten().find_map(refusal),
        _ => None,
    }
}

/// Converts an array of VHLO types.
fn list(types: &Attribute, cache: &mut ConversionCache) -> Option<Vec<Type>> {
    types.as_array()?.iter().map(|ty| from_vhlo(ty.as_type()?, cache)).collect()
}

fn encoding_to_vhlo(encoding: &Attribute) -> Option<Attribute> {
    let bounds = hlo::attrs::bounds(encoding)?;
    Some(Attribute::dialect(&attrs::TYPE_EXTENSIONS, vec![Some(Attribute::i64_array(bounds))]))
}

fn encoding_from_vhlo(encoding: &Attribute) -> Option<Attribute> {
    let bounds = encoding.as_dialect(&attrs::TYPE_EXTENSIONS)?.first()?.as_ref()?;
    Some(hlo::attrs::type_extensions(bounds.as_int_array()?.to_vec()))
}

fn uniform_to_vhlo(view: &Uniform<'_>) -> Option<Type> {
    let storage = types::from_scalar(&view.held_storage())?;
    let expressed = types::from_scalar(view.expressed)?;
    let flags = if view.is_signed() { SIGNED } else { 0 };
    let mut scales = view.scales().map(Attribute::f64);
    let [flags, min, max] =
        [flags, view.storage_min, view.storage_max].map(|n| Some(Attribute::i64(n)));
    let (storage, expressed) = (Some(storage.into()), Some(expressed.into()));
    match view.granularity() {
        Granularity::PerTensor => {
            let zero_point = Some(Attribute::i64(*view.zero_points.first()?));
            Some(Type::dialect(
                &QUANT,
                vec![flags, storage, expressed, Some(scales.next()?), zero_point, min, max],
            ))
        }
        Granularity::PerAxis => {
            let axis = Some(Attribute::i64(*view.axes.first()?));
            let scales = Some(Attribute::array(scales.collect()));
            let zero_points = Some(Attribute::i64_array(view.zero_points));
            let params = vec![flags, storage, expressed, axis, scales, zero_points, min, max];
            Some(Type::dialect(&QUANT_PER_AXIS, params))
        }
        Granularity::SubChannel => None,
    }
}

fn uniform_from_vhlo(ty: &Type) -> Option<Type> {
    let TypeKind::Dialect(t) = &**ty else { return None };
    if !std::ptr::eq(t.def, &QUANT) && !std::ptr::eq(t.def, &QUANT_PER_AXIS) {
        return None;
    }
    let params: Vec<&Attribute> = t.params.iter().map(Option::as_ref).collect::<Option<_>>()?;
    let number = |index: usize| params.get(index)?.as_i64();
    let scalar = |index: usize| types::to_scalar(params.get(index)?.as_type()?);
    let (storage, unsigned_by_flag) = storage_from_held(&scalar(1)?, number(0)? & SIGNED != 0);
    let (expressed, last) = (scalar(2)?, params.len() - 1);
    let (scales, zero_points, axes) = if std::ptr::eq(t.def, &QUANT) {
        (vec![params.get(3)?.as_f64()?], vec![number(4)?], None)
    } else {
        let scales =
            params.get(4)?.as_array()?.iter().map(Attribute::as_f64).collect::<Option<_>>()?;
        (scales, params.get(5)?.as_int_array()?.to_vec(), Some(vec![number(3)?]))
    };
    let storage_range = (number(last - 1)?, number(last)?);
    Some(
        UniformParts {
            storage,
            unsigned_by_flag,
            storage_range,
            expressed,
            scales,
            zero_points,
            axes,
            blocks: None,
        }
        .into_type(),
    )
}
