//! `stablehlo-convert-to-signless`: makes all integer types signless, as dialects below StableHLO
//! require.
//!
//! All values change their types at once, so no casts are needed. Bits stay: the largest numbers of
//! an unsigned type become negative, and ops on them signed. The dialects below have unsigned ops.

use mlir::attrs::{AttrKind, DenseElements};
use mlir::ods::Trait;
use mlir::pass::{Pass, PassContext};
use mlir::types::{Signedness, TensorType};
use mlir::{Attribute, OpRef, Type, TypeKind, Value};
use side_dialects::func::FuncOp;

/// Makes integer types signless.
pub(crate) const PASS: Pass =
    Pass::on_modules("stablehlo-convert-to-signless", "Make all integer types signless", run);

fn run(cx: &mut PassContext<'_>) {
    let module = &mut *cx.module;
    let ops: Vec<_> = module.walk(cx.root).map(OpRef::id).collect();
    for op in ops {
        let view = module.op(op);
        let blocks = view.regions().iter().flat_map(|&region| module.blocks(region));
        let arguments = blocks.flat_map(|&block| module.arguments(block).iter().copied());
        let values: Vec<Value> = view.results().chain(arguments).collect();
        let name = match view.def() {
            Some(def) if def.has_trait(&Trait::ConstantLike) => {
                def.attributes.first().map(|slot| slot.name)
            }
            Some(_) if view.is(FuncOp::DEF) => Some("function_type"),
            _ => None,
        };
        let attribute = name.and_then(|name| Some((name, signless_attribute(view.attr(name)?)?)));
        if let Some((name, attribute)) = attribute {
            module.set_attr(op, name, attribute);
        }
        for value in values {
            let ty = signless(module.ty(value));
            module.set_type(value, ty);
        }
    }
}

/// The type with signless integers, also inside tensors, memrefs, tuples and functions.
fn signless(ty: &Type) -> Type {
    let all = |types: &[Type]| types.iter().map(signless).collect::<Vec<_>>();
    match &**ty {
        TypeKind::Integer { width, .. } => Type::integer(*width, Signedness::Signless),
        TypeKind::RankedTensor(TensorType { shape, element, encoding }) => {
            Type::encoded_tensor(shape.clone(), signless(element), encoding.clone())
        }
        TypeKind::UnrankedTensor(element) => Type::unranked_tensor(signless(element)),
        TypeKind::MemRef { shape, element, layout, memory_space } => TypeKind::MemRef {
            shape: shape.clone(),
            element: signless(element),
            layout: layout.clone(),
            memory_space: memory_space.clone(),
        }
        .into(),
        TypeKind::UnrankedMemRef { element, memory_space } => TypeKind::UnrankedMemRef {
            element: signless(element),
            memory_space: memory_space.clone(),
        }
        .into(),
        TypeKind::Tuple(elements) => Type::tuple(all(elements)),
        TypeKind::Function { inputs, results } => Type::function(all(inputs), all(results)),
        _ => ty.clone(),
    }
}

/// The attribute with signless types, if it contains types with signs.
fn signless_attribute(attribute: &Attribute) -> Option<Attribute> {
    match &**attribute {
        AttrKind::Type(ty) => Some(signless(ty).into()),
        AttrKind::Integer { value, ty } => {
            let ty = signless(ty);
            let shift = 128u32.checked_sub(ty.bit_width()?)?;
            // The same bits, sign-extended.
            let value =
                if ty.is_integer(Some(1)) { *value } else { value.checked_shl(shift)? >> shift };
            Some(AttrKind::Integer { value, ty }.into())
        }
        AttrKind::Dense(dense) => {
            Some(DenseElements::new(signless(dense.ty()), dense.data().clone())?.into())
        }
        AttrKind::DenseResource { ty, resource } => {
            Some(AttrKind::DenseResource { ty: signless(ty), resource: resource.clone() }.into())
        }
        _ => None,
    }
}
