//! `stablehlo-compatibility-expander`: expands ops that versions before `target` lack into older
//! ops, where the expansion loses information, so that serialization does not do it by default.

use crate::chlo_legalize::expr::{Expr, complex, replace_by};
use hlo::attrs::{self, GATHER_DIMENSION_NUMBERS, SCATTER_DIMENSION_NUMBERS};
use hlo::ops::*;
use hlo::prepare::mesh_axes_groups;
use mlir::attrs::{AttrKind, Attribute, LocationKind};
use mlir::ir::Loc;
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter};
use mlir::types::Signedness;
use mlir::{Module, OpId, OpRef, Type, TypeKind, Value};
use rustc_hash::FxHashMap;
use vhlo::Version;

/// Expands new ops into older ones.
pub(crate) const PASS: Pass = Pass::on_modules(
    "stablehlo-compatibility-expander",
    "Expand ops that versions before the target lack into older ops",
    run,
)
.with_options(&[PassOption {
    name: "target",
    doc: "The version, such as 1.0.0",
    kind: OptionKind::Checked("", portable::passes::is_version),
}]);

/// Patterns with the version before which each is needed.
static PATTERNS: &[(Version, &[RewritePattern])] = &[
    (
        Version::new(1, 1),
        &[
            RewritePattern::new("gather-without-batching", GatherOp::DEF, gather_without_batching),
            RewritePattern::new(
                "scatter-without-batching",
                ScatterOp::DEF,
                scatter_without_batching,
            ),
        ],
    ),
    (Version::new(1, 4), &[RewritePattern::new("tan", TanOp::DEF, expand_tan)]),
    (Version::new(1, 16), &[RewritePattern::any("replica-groups", list_replica_groups)]),
];

/// Before this version, file locations were single points.
const LOCATION_RANGES: Version = Version::new(1, 9);

fn run(cx: &mut PassContext<'_>) {
    let target = match portable::target_version(cx.options.text("target")) {
        Ok(target) => target.without_patch(),
        Err(error) => return cx.report(error),
    };
    if target < LOCATION_RANGES {
        narrow_locations(cx.module, cx.root);
    }
    let needed: Vec<&[RewritePattern]> =
        PATTERNS.iter().filter(|(since, _)| target < *since).map(|(_, list)| *list).collect();
    cx.rewrite_greedily(&mut PatternSet::new(&needed));
}

/// tan x = sin x / cos x; tan (a + bi) = (tan a + i tanh b) / (1 - i tan a tanh b)
fn expand_tan(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let accuracy = rw.op(op).attr_or_default("result_accuracy")?;
    if *accuracy != attrs::default_result_accuracy() {
        return None;
    }
    replace_by(rw, op, |[x]: [Expr<'_>; 1]| {
        if !x.is_complex() {
            return x.sin() / x.cos();
        }
        let tan = x.real().tan();
        let tanh = x.imag().op(TanhOp::DEF, &[]);
        let numerator = complex(tan, tanh);
        let one = tan.like(1.0);
        numerator / complex(one, -(tan * tanh))
    })
}

/// Merges two sorted lists.
fn merge(a: &[i64], b: &[i64]) -> Vec<i64> {
    let mut merged = [a, b].concat();
    merged.sort_unstable();
    merged
}

/// Removes batching dimensions: index vectors get an explicit index for each of them.
fn gather_without_batching(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = GatherOp::cast(rw.op(op))?;
    let dims = view.dimension_numbers();
    if dims.operand_batching_dims.is_empty() {
        return None;
    }
    let collapsed = merge(dims.operand_batching_dims, dims.collapsed_slice_dims);
    let map = [dims.operand_batching_dims, dims.start_index_map].concat();
    let lists = [dims.offset_dims.to_vec(), collapsed, Vec::new(), Vec::new(), map.clone()];
    let numbers = lists.map(|list| Some(Attribute::i64_array(list))).into_iter();
    let numbers = numbers.chain([Some(Attribute::i64(dims.index_vector_dim))]).collect();
    let batching = dims.start_indices_batching_dims.to_vec();
    let sorted = view.indices_are_sorted() && batching.is_sorted() && map.is_sorted();
    let (operand, indices, axis) = (view.operand(), view.start_indices(), dims.index_vector_dim);
    let ty = view.result_type(0).clone();
    let indices = with_own_indices(rw, indices, axis, &batching)?;
    let new = rw
        .make(GatherOp::DEF, [operand, indices])
        .attributes_of(op)
        .attr("dimension_numbers", Attribute::dialect(&GATHER_DIMENSION_NUMBERS, numbers))
        .attr("indices_are_sorted", Attribute::bool(sorted))
        .results([ty]);
    rw.replace_with(op, new);
    Some(())
}

/// As for `gather`.
fn scatter_without_batching(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = ScatterOp::cast(rw.op(op))?;
    let dims = view.scatter_dimension_numbers();
    if dims.input_batching_dims.is_empty() {
        return None;
    }
    let inserted = merge(dims.input_batching_dims, dims.inserted_window_dims);
    let map = [dims.input_batching_dims, dims.scatter_dims_to_operand_dims].concat();
    let lists = [dims.update_window_dims.to_vec(), inserted, Vec::new(), Vec::new(), map.clone()];
    let numbers = lists.map(|list| Some(Attribute::i64_array(list))).into_iter();
    let numbers = numbers.chain([Some(Attribute::i64(dims.index_vector_dim))]).collect();
    let batching = dims.scatter_indices_batching_dims.to_vec();
    let sorted = view.indices_are_sorted() && batching.is_sorted() && map.is_sorted();
    let unique = view.unique_indices();
    let (indices, axis, body) =
        (view.scatter_indices(), dims.index_vector_dim, view.update_computation());
    let mut operands = view.operands().to_vec();
    let place = view.inputs().len();
    let types: Vec<Type> = view.result_types().cloned().collect();
    operands[place] = with_own_indices(rw, indices, axis, &batching)?;
    let region = rw.module_mut().create_region();
    rw.move_blocks(body, region);
    let new = rw
        .make(ScatterOp::DEF, operands)
        .attributes_of(op)
        .attr("scatter_dimension_numbers", Attribute::dialect(&SCATTER_DIMENSION_NUMBERS, numbers))
        .attr("indices_are_sorted", Attribute::bool(sorted))
        .attr("unique_indices", Attribute::bool(unique))
        .region(region)
        .results(types);
    rw.replace_with(op, new);
    Some(())
}

/// Index vectors along dimension `axis`, prefixed with the index in each of the `batching`
/// dimensions.
fn with_own_indices(
    rw: &mut Rewriter<'_>,
    indices: Value,
    axis: i64,
    batching: &[i64],
) -> Option<Value> {
    let ty = rw.ty(indices).as_tensor().filter(|ty| ty.has_static_shape())?.clone();
    let axis_index = usize::try_from(axis).ok()?;
    let largest = batching
        .iter()
        .map(|&d| ty.shape.get(usize::try_from(d).ok()?).copied())
        .collect::<Option<Vec<_>>>()?;
    let element = largest.into_iter().fold(ty.element.clone(), wide_enough);
    let mut indices = indices;
    if element != ty.element {
        indices = rw
            .make(ConvertOp::DEF, [indices])
            .result(Type::tensor(ty.shape.clone(), element.clone()));
    }
    let mut shape = ty.shape.clone();
    if axis_index == shape.len() {
        shape.push(1);
        indices =
            rw.make(ReshapeOp::DEF, [indices]).result(Type::tensor(shape.clone(), element.clone()));
    } else {
        *shape.get_mut(axis_index)? = 1;
    }
    let iota_type = Type::tensor(shape, element);
    let mut parts = Vec::with_capacity(batching.len() + 1);
    for &dimension in batching {
        let iota = rw.make(IotaOp::DEF, []).attr("iota_dimension", Attribute::i64(dimension));
        parts.push(iota.result(iota_type.clone()));
    }
    parts.push(indices);
    rw.make(ConcatenateOp::DEF, parts).attr("dimension", Attribute::i64(axis)).value()
}

/// The integer type itself if `size` fits in it, or else a wider one.
fn wide_enough(element: Type, size: i64) -> Type {
    let TypeKind::Integer { width, signedness } = *element else { return element };
    let bits = if signedness == Signedness::Unsigned { width } else { width.saturating_sub(1) };
    match size {
        _ if bits >= 63 || size >> bits == 0 => element,
        _ if size >> 31 == 0 => Type::i32(),
        _ => Type::i64(),
    }
}

/// Lists the members of replica groups that are given by mesh axes.
fn list_replica_groups(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let groups = mesh_axes_groups(rw.op(op))?;
    let size = groups.first().map_or(0, Vec::len);
    let ids =
        groups.iter().flatten().map(|&id| i64::try_from(id).ok()).collect::<Option<Vec<_>>>()?;
    let listed = Attribute::i64_elements(&[groups.len() as i64, size as i64], &ids)?;
    rw.set_attr(op, "replica_groups", listed);
    Some(())
}

/// Replaces file ranges by their start points in all locations.
fn narrow_locations(module: &mut Module, root: OpId) {
    let mut known = FxHashMap::default();
    let mut narrowed = |module: &Module, loc: &Loc| {
        let span = match loc {
            Loc::Source(_) | Loc::Unknown => return None,
            Loc::Explicit(_, span) => *span,
            Loc::Bytecode(_) => None,
        };
        let location = module.location(loc);
        let narrowed = narrow(&location, &mut known);
        (!std::ptr::eq(&*narrowed, &*location)).then_some(Loc::Explicit(narrowed, span))
    };
    let ops: Vec<OpId> = module.walk(root).map(OpRef::id).collect();
    for op in ops {
        if let Some(loc) = narrowed(module, module.op(op).loc()) {
            module.set_loc(op, loc);
        }
        for region in module.op(op).regions().to_vec() {
            for block in module.blocks(region).to_vec() {
                for index in 0..module.arguments(block).len() {
                    if let Some(loc) = narrowed(module, &module.argument_locs(block)[index]) {
                        module.set_argument_loc(block, index, loc);
                    }
                }
            }
        }
    }
}

/// Replaces ranges by points in a location. Shared parts are memoized in `known`, so each is
/// visited once. The recursion is bounded, as locations nest no deeper than the parser allows.
fn narrow(location: &Attribute, known: &mut FxHashMap<Attribute, Attribute>) -> Attribute {
    if let Some(found) = known.get(location) {
        return found.clone();
    }
    let mut changed = false;
    let mut part = |part: &Attribute| {
        let narrowed = narrow(part, known);
        changed |= !std::ptr::eq(&*narrowed, &**part);
        narrowed
    };
    let kind = match location.as_location() {
        None | Some(LocationKind::Unknown) => return location.clone(),
        Some(LocationKind::File { file, start, end }) => {
            changed = start != end;
            LocationKind::File { file: file.clone(), start: *start, end: *start }
        }
        Some(LocationKind::Named { name, child }) => {
            LocationKind::Named { name: name.clone(), child: part(child) }
        }
        Some(LocationKind::CallSite { callee, caller }) => {
            LocationKind::CallSite { callee: part(callee), caller: part(caller) }
        }
        Some(LocationKind::Fused { metadata, locations }) => LocationKind::Fused {
            metadata: metadata.clone(),
            locations: locations.iter().map(part).collect(),
        },
    };
    let narrowed = if changed { AttrKind::Location(kind).into() } else { location.clone() };
    known.insert(location.clone(), narrowed.clone());
    narrowed
}
