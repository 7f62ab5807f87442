//! Checks shared by several ops. Each reports a violation under the label of the specification's
//! constraint.

use crate::attrs::{self, CollectiveAttrs, DotDims};
use crate::compat;
use mlir::diag::counted;
use mlir::types::{DYNAMIC, num_elements};
use mlir::verify::nearest_symbol;
use mlir::{Attribute, Diagnostic, OpRef, RegionId, Type, Verdict};
use std::fmt::Write as _;

/// Fails unless `holds`.
pub fn require(
    op: OpRef<'_>,
    label: &'static str,
    holds: bool,
    message: impl FnOnce() -> String,
) -> Verdict {
    if holds { Ok(()) } else { Err(op.error(label, message())) }
}

/// All operands and results with their names, for messages.
fn listing(op: OpRef<'_>) -> String {
    let mut text = String::new();
    let mut list = |name: &str, ty: &Type| {
        let comma = if text.is_empty() { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma}{name} {ty}");
    };
    if let Some(def) = op.def() {
        for (i, slot) in def.operands.iter().enumerate() {
            op.operand_slot(i).iter().for_each(|&v| list(slot.name, op.module().ty(v)));
        }
        for (i, slot) in def.results.iter().enumerate() {
            op.result_slot(i).for_each(|r| list(slot.name, op.result_type(r)));
        }
    }
    text
}

fn all_types<'m>(op: OpRef<'m>) -> impl Iterator<Item = &'m Type> {
    op.operand_types().chain(op.result_types())
}

fn all_agree(
    op: OpRef<'_>,
    label: &'static str,
    what: &str,
    agree: fn(&Type, &Type) -> bool,
) -> Verdict {
    let Some(first) = all_types(op).next() else { return Ok(()) };
    require(op, label, all_types(op).all(|t| t == first || agree(first, t)), || {
        format!("all operands and results must have {what}; found {}", listing(op))
    })
}

/// Checks that all operands and results have compatible types.
pub fn same_types(op: OpRef<'_>, label: &'static str) -> Verdict {
    all_agree(op, label, "compatible types", compat::types)
}

/// Checks that all operands and results have compatible shapes.
pub fn same_shapes(op: OpRef<'_>, label: &'static str) -> Verdict {
    let mut shapes = all_types(op).map(shape);
    let Some(first) = shapes.next() else { return Ok(()) };
    if shapes.all(|found| found == first) {
        return Ok(());
    }
    // A dynamic size agrees with two that differ from each other.
    let mut known = first.to_vec();
    let agree = |ty: &Type| {
        let fits = compat::shapes(&known, shape(ty));
        let sizes = known.iter_mut().zip(shape(ty));
        sizes.filter(|(known, _)| **known == DYNAMIC).for_each(|(known, &size)| *known = size);
        fits
    };
    require(op, label, all_types(op).all(agree), || {
        format!("all operands and results must have compatible shapes; found {}", listing(op))
    })
}

/// Checks that all operands and results have compatible element types.
pub fn same_elements(op: OpRef<'_>, label: &'static str) -> Verdict {
    all_agree(op, label, "compatible element types", compat::elements)
}

/// Checks that all operands and results have compatible shapes and element types; a violation is
/// reported under the op's `infer_label`.
pub fn elementwise(op: OpRef<'_>) -> Verdict {
    let label = op.def().map_or("", |def| def.infer_label);
    same_shapes(op, label)?;
    same_elements(op, label)
}

/// Checks that result `i` has exactly the type of operand `i`.
pub fn pairwise_same_types(op: OpRef<'_>, label: &'static str) -> Verdict {
    require(op, label, op.operand_types().eq(op.result_types()), || {
        format!("each result must have the type of its operand; found {}", listing(op))
    })
}

/// Checks that result `i` has exactly the element type of operand `i`.
pub fn pairwise_same_elements(op: OpRef<'_>, label: &'static str) -> Verdict {
    let elements = |t: &'_ Type| t.element_type().clone();
    require(op, label, op.operand_types().map(elements).eq(op.result_types().map(elements)), || {
        format!("each result must have the element type of its operand; found {}", listing(op))
    })
}

/// The shape of a tensor type that a type constraint guarantees to be ranked.
pub fn shape(ty: &Type) -> &[i64] {
    ty.shape().unwrap_or(&[])
}

/// The rank of a tensor type that a type constraint guarantees to be ranked.
pub fn rank(ty: &Type) -> usize {
    shape(ty).len()
}

/// Checks that each value is a dimension of a tensor of the given rank.
pub fn in_range(
    op: OpRef<'_>,
    label: &'static str,
    name: &str,
    values: &[i64],
    rank: usize,
) -> Verdict {
    let outside = values.iter().find(|&&v| usize::try_from(v).map_or(true, |v| v >= rank));
    let Some(value) = outside else { return Ok(()) };
    Err(out_of_range(op, label, format!("{name} contains {value}"), rank))
}

/// Checks that a value is a dimension of a tensor of the given rank.
pub fn is_dimension(
    op: OpRef<'_>,
    label: &'static str,
    name: &str,
    value: i64,
    rank: usize,
) -> Verdict {
    match usize::try_from(value) {
        Ok(value) if value < rank => Ok(()),
        _ => Err(out_of_range(op, label, format!("{name} is {value}"), rank)),
    }
}

fn out_of_range(op: OpRef<'_>, label: &'static str, found: String, rank: usize) -> Diagnostic {
    let empty = if rank == 0 { ", which is empty" } else { "" };
    op.error(label, format!("{found}, but must be in the range [0, {rank}){empty}"))
}

/// Checks that no value is repeated.
pub fn distinct(op: OpRef<'_>, label: &'static str, name: &str, values: &[i64]) -> Verdict {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|w| w[0] == w[1]) {
        None => Ok(()),
        Some(w) => Err(op.error(
            label,
            format!("{name} must not repeat values, but {} occurs twice in {values:?}", w[0]),
        )),
    }
}

/// Checks that no value is repeated within and across two lists, given with their names.
pub fn distinct_together(
    op: OpRef<'_>,
    label: &'static str,
    (name, values): (&str, &[i64]),
    (other_name, others): (&str, &[i64]),
) -> Verdict {
    distinct(op, label, name, values)?;
    distinct(op, label, other_name, others)?;
    let shared = values.iter().find(|value| others.contains(value));
    shared.map_or(Ok(()), |value| {
        let message = format!(
            "{name} must not contain values of {other_name}; found {value} in {values:?} and in {others:?}"
        );
        Err(op.error(label, message))
    })
}

/// Checks that values are in ascending order.
pub fn sorted(op: OpRef<'_>, label: &'static str, name: &str, values: &[i64]) -> Verdict {
    require(op, label, values.is_sorted(), || format!("{name} must be sorted; found {values:?}"))
}

/// Checks the length of a list.
pub fn count(
    op: OpRef<'_>,
    label: &'static str,
    name: &str,
    found: usize,
    required: usize,
    of: &str,
) -> Verdict {
    require(op, label, found == required, || {
        format!("{name} has {}, but {of} requires {required}", counted(found, "entry"))
    })
}

/// Checks that all values are at least `least`.
pub fn at_least(
    op: OpRef<'_>,
    label: &'static str,
    name: &str,
    values: &[i64],
    least: i64,
) -> Verdict {
    let Some(i) = values.iter().position(|&v| v < least) else { return Ok(()) };
    let at = if values.len() > 1 { format!(" at index {i}") } else { String::new() };
    Err(op.error(label, format!("{name} must be at least {least}; found {}{at}", values[i])))
}

/// Checks that a value has a type compatible with `required`.
pub fn has_type(
    op: OpRef<'_>,
    label: &'static str,
    name: &str,
    found: &Type,
    required: &Type,
) -> Verdict {
    require(op, label, compat::types(found, required), || {
        format!("{name} must have type {required}; found {found}")
    })
}

/// Checks that a value has exactly the type `required`.
pub fn has_exact_type(
    op: OpRef<'_>,
    label: &'static str,
    name: &str,
    found: &Type,
    required: &Type,
) -> Verdict {
    require(op, label, found == required, || {
        format!("{name} must have type {required}; found {found}")
    })
}

/// Checks that a value has a shape compatible with `required`.
pub fn has_shape(
    op: OpRef<'_>,
    label: &'static str,
    name: &str,
    found: &[i64],
    required: &[i64],
) -> Verdict {
    require(op, label, compat::shapes(found, required), || {
        format!("{name} must have shape {}; found {}", show(required), show(found))
    })
}

/// Formats types for messages: `(T, U)`.
pub fn list<'t>(types: impl Iterator<Item = &'t Type>) -> String {
    let types: Vec<_> = types.map(Type::to_string).collect();
    format!("({})", types.join(", "))
}

/// Formats a shape for messages: `[2, ?]`.
pub fn show(shape: &[i64]) -> String {
    let sizes: Vec<_> = shape.iter().map(|&size| show_size(size)).collect();
    format!("[{}]", sizes.join(", "))
}

/// Formats a size of a dimension for messages: `2` or `?`.
pub fn show_size(size: i64) -> String {
    if size == DYNAMIC { "?".to_string() } else { size.to_string() }
}

/// Fails unless `holds`, which is about the operand of the terminator of a region with number
/// `index`.
pub fn require_returned(
    op: OpRef<'_>,
    label: &'static str,
    (region, index): (RegionId, usize),
    holds: bool,
    message: impl FnOnce() -> String,
) -> Verdict {
    require(op, label, holds, message).map_err(|error| {
        let module = op.module();
        let terminator = module.entry(region).and_then(|block| module.terminator(block));
        let returns = terminator.filter(|terminator| index < terminator.operands().len());
        error.focused(returns.map(OpRef::position), index)
    })
}

/// The position of the first type in `found` that is not compatible with its counterpart in
/// `required`; the number of types if all are.
pub fn first_difference<'t>(
    found: &[&Type],
    required: impl IntoIterator<Item = &'t Type>,
) -> usize {
    let mut pairs = found.iter().zip(required);
    pairs.position(|(found, required)| !compat::types(found, required)).unwrap_or(found.len())
}

/// The argument types of a region's entry block, and the operand types of its terminator.
pub fn signature(op: OpRef<'_>, region: RegionId) -> (Vec<&Type>, Vec<&Type>) {
    let module = op.module();
    let Some(block) = module.entry(region) else { return (Vec::new(), Vec::new()) };
    let arguments = module.arguments(block).iter().map(|&v| module.ty(v)).collect();
    let results = module.terminator(block).map_or(Vec::new(), |t| t.operand_types().collect());
    (arguments, results)
}

/// Element types returned by a reducing region, or of the inputs if it returns no tensors.
pub fn accumulators<'m>(
    op: OpRef<'m>,
    region: RegionId,
    inputs: impl Iterator<Item = &'m Type>,
) -> Vec<Type> {
    let (_, results) = signature(op, region);
    let of = |(i, input): (usize, &Type)| {
        results.get(i).copied().unwrap_or(input).element_type().clone()
    };
    inputs.enumerate().map(of).collect()
}

/// Checks that a region reduces values of the element types of `inputs`: it takes two values of
/// each accumulator type and returns one. They have the shapes of `inits`, or are scalars if these
/// are not given.
pub fn reducer<'m>(
    op: OpRef<'m>,
    label: &'static str,
    name: &str,
    region: RegionId,
    inputs: impl ExactSizeIterator<Item = &'m Type> + Clone,
    inits: &[&Type],
) -> Verdict {
    let n = inputs.len();
    let (arguments, results) = signature(op, region);
    require(op, label, arguments.len() == 2 * n && results.len() == n, || {
        format!(
            "{name} must take {} arguments and return {}, two and one for each input; \
             it takes {} and returns {}",
            2 * n,
            counted(n, "value"),
            arguments.len(),
            results.len()
        )
    })?;
    for (i, input) in inputs.enumerate() {
        let (lhs, rhs, result) = (arguments[i], arguments[n + i], results[i]);
        let required = inits.get(i).map_or(&[][..], |init| shape(init));
        let fits = |t: &Type| t.as_tensor().is_some_and(|t| compat::shapes(&t.shape, required));
        require(op, label, fits(lhs) && fits(rhs) && fits(result), || {
            let of = inits
                .get(i)
                .map_or(String::new(), |init| format!(", that of the initial value {init}"));
            let required = show(required);
            format!(
                "{name} must take and return tensors of shape {required}{of}; found {lhs}, {rhs} and {result}"
            )
        })?;
        // As upstream, floats of any width may accumulate in each other.
        let floats = rhs.element_type().is_float() && result.element_type().is_float();
        let same = compat::elements(lhs, result) && (floats || compat::elements(rhs, result));
        let of_arguments = compat::elements(lhs, rhs);
        let about = (region, if of_arguments { i } else { usize::MAX });
        require_returned(op, label, about, same, || {
            format!(
                "{name} must take and return one type for input #{i}; it takes {lhs} and {rhs} and returns {result}"
            )
        })?;
        let (from, to) = (input.element_type(), result.element_type());
        require_returned(op, label, (region, i), compat::promotable(from, to), || {
            format!(
                "{name} accumulates in {to}, to which the element type {from} of input #{i} cannot be promoted"
            )
        })?;
    }
    Ok(())
}

/// Checks that the dimensions of a reducer's arguments are a subsequence of `allowed`.
pub fn reducer_dims(
    op: OpRef<'_>,
    label: &'static str,
    region: RegionId,
    allowed: &[i64],
) -> Verdict {
    for argument in signature(op, region).0 {
        let mut left = allowed.iter();
        let fits = shape(argument).iter().all(|&size| left.any(|&other| compat::dims(size, other)));
        require(op, label, fits, || {
            format!("the region takes {argument}, whose dimensions are not among {}", show(allowed))
        })?;
    }
    Ok(())
}

/// Checks groups of processes: a matrix that contains each process once. If allowed, smaller groups
/// are padded with -1. Labels: uniqueness, then range.
pub fn replica_groups(
    op: OpRef<'_>,
    labels: [&'static str; 2],
    groups: &Attribute,
    same_size: bool,
) -> Result<Option<[i64; 2]>, Diagnostic> {
    if !groups.is_elements() {
        return Ok(None);
    }
    let ty = groups.ty();
    let &[rows, columns] = shape(&ty) else {
        return Err(op.error(labels[0], format!("replica_groups must be a matrix; found {ty}")));
    };
    let Some(ids) = groups.as_dense().and_then(|d| d.int_values()) else {
        return Ok(Some([rows, columns]));
    };
    let present: Vec<i64> = ids.iter().copied().filter(|&id| same_size || id != -1).collect();
    distinct(op, labels[0], "replica_groups", &present)?;
    in_range(op, labels[1], "replica_groups", &present, present.len())?;
    Ok(Some([rows, columns]))
}

/// Checks groups of processes, not necessarily of all: a matrix that contains no process twice.
/// Labels: uniqueness, range.
pub fn group_ids(op: OpRef<'_>, labels: [&'static str; 2], groups: &Attribute) -> Verdict {
    if !groups.is_elements() {
        return Ok(());
    }
    let ty = groups.ty();
    require(op, labels[0], rank(&ty) == 2, || {
        format!("replica_groups must be a matrix; found {ty}")
    })?;
    let ids = groups.as_dense().and_then(|d| d.int_values()).unwrap_or_default();
    distinct(op, labels[0], "replica_groups", &ids)?;
    at_least(op, labels[1], "replica_groups", &ids, 0)
}

/// Checks that a mesh named by replica groups is defined. For the hook `verify_symbols`.
pub fn mesh_symbol(op: OpRef<'_>) -> Verdict {
    let groups = CollectiveAttrs::of(op).replica_groups;
    let axes = groups.and_then(|g| g.as_dialect(&attrs::REPLICA_GROUP_MESH_AXES));
    let mesh = axes.and_then(|params| params[0].as_ref()?.as_flat_symbol());
    if let Some(mesh) = mesh.filter(|name| nearest_symbol(op, name).is_none()) {
        return Err(op.error("replica_groups", format!("the mesh `@{mesh}` is not defined")));
    }
    Ok(())
}

/// Checks source-target pairs: a matrix of two columns, each without repetitions and negative ids.
/// Labels: shape, sources, targets, range.
pub fn source_target_pairs(
    op: OpRef<'_>,
    labels: [&'static str; 4],
    pairs: Option<&Attribute>,
) -> Verdict {
    let Some(pairs) = pairs else { return Ok(()) };
    let ty = pairs.ty();
    if num_elements(shape(&ty)) == Some(0) {
        return Ok(());
    }
    let columns = shape(&ty).get(1).copied();
    require(op, labels[0], rank(&ty) == 2 && columns == Some(2), || {
        format!("source_target_pairs must have shape [N, 2]; found {ty}")
    })?;
    let ids = pairs.as_dense().and_then(|d| d.int_values()).unwrap_or_default();
    let column = |i: usize| ids.iter().copied().skip(i).step_by(2).collect::<Vec<_>>();
    distinct(op, labels[1], "the sources of source_target_pairs", &column(0))?;
    distinct(op, labels[2], "the targets of source_target_pairs", &column(1))?;
    at_least(op, labels[3], "source_target_pairs", &ids, 0)
}

/// Checks that global device ids come with a channel.
pub fn global_device_ids(op: OpRef<'_>, label: &'static str) -> Verdict {
    let attrs = CollectiveAttrs::of(op);
    let channel = attrs.channel_or_zero();
    require(op, label, !attrs.use_global_device_ids || channel > 0, || {
        format!(
            "use_global_device_ids requires a channel_handle whose handle is above 0; found {channel}"
        )
    })
}

/// Checks that there is one precision per operand, or none at all.
pub fn precision_config(
    op: OpRef<'_>,
    label: &'static str,
    config: Option<&[Attribute]>,
) -> Verdict {
    let found = config.map_or(0, <[_]>::len);
    require(op, label, found <= 2, || {
        format!("precision_config must have 2 entries; found {found}")
    })
}

/// The value of an operand that is defined by a constant op.
pub fn constant(op: OpRef<'_>, operand: usize) -> Option<&Attribute> {
    let constant = op.module().defining_op(op.operand(operand))?;
    if constant.has_trait(&mlir::ods::Trait::ConstantLike) { constant.property(0) } else { None }
}

/// The integers of a constant operand.
pub fn constant_ints(op: OpRef<'_>, operand: usize) -> Option<Vec<i64>> {
    constant(op, operand)?.as_dense()?.int_values()
}

/// Checks that an operand is 0-dimensional.
pub fn scalar(op: OpRef<'_>, label: &'static str, name: &str, operand: usize) -> Verdict {
    let ty = op.operand_type(operand);
    require(op, label, rank(ty) == 0, || format!("{name} must be 0-dimensional; found {ty}"))
}

/// Checks that a shape equals that of a part, except in dimension `d`, where it is a multiple.
pub fn scaled(
    op: OpRef<'_>,
    label: &'static str,
    d: usize,
    [part_name, whole_name]: [&str; 2],
    [part, whole]: [&[i64]; 2],
) -> Verdict {
    let rest = |shape: &[i64]| -> Vec<i64> {
        shape.iter().enumerate().map(|(i, &size)| if i == d { DYNAMIC } else { size }).collect()
    };
    require(op, label, compat::shapes(&rest(part), &rest(whole)), || {
        format!(
            "{whole_name} must have the shape of {part_name} but for dimension {d}; found {} and {}",
            show(whole),
            show(part)
        )
    })?;
    let (one, all) = (part[d], whole[d]);
    let fits = one == DYNAMIC || one != 0 && (all == DYNAMIC || all != 0 && all % one == 0);
    require(op, label, fits, || {
        format!(
            "dimension {d} of {whole_name}, of size {all}, must be a multiple of that of {part_name}, of size {one}"
        )
    })
}

/// Checks that the results have types compatible with `required`.
pub fn results(op: OpRef<'_>, label: &'static str, required: &[Type]) -> Verdict {
    require(op, label, compat::lists(op.result_types(), required.iter()), || {
        let (found, required) = (list(op.result_types()), list(required.iter()));
        format!("the op must give what its regions return, {required}; found {found}")
    })
}

/// Checks that a region returns one boolean.
pub fn returns_pred(
    op: OpRef<'_>,
    label: &'static str,
    name: &str,
    region: RegionId,
    results: &[&Type],
) -> Verdict {
    let pred = Type::tensor([], Type::i1());
    require_returned(op, label, (region, 0), matches!(results, [one] if **one == pred), || {
        format!("{name} must return one {pred}; found {}", list(results.iter().copied()))
    })
}

/// Checks that results are tensors followed by a token. Labels: tensors, token.
pub fn results_end_with_token(
    op: OpRef<'_>,
    tensors: &'static str,
    token: &'static str,
) -> Verdict {
    let all = || list(op.result_types());
    let is_token = |t: &Type| t.as_dialect(&crate::types::TOKEN).is_some();
    let last = op.num_results().saturating_sub(1);
    require(op, token, op.result_types().last().is_some_and(is_token), || {
        format!("the last result must be a token; found {}", all())
    })?;
    require(op, tensors, !op.result_types().take(last).any(is_token), || {
        format!("results before the last must be tensors; found {}", all())
    })
}

/// Checks that a channel is between devices, or between device and host for host transfers.
pub fn channel_type(
    op: OpRef<'_>,
    label: &'static str,
    channel: &Attribute,
    is_host_transfer: bool,
    host: i64,
) -> Verdict {
    let required = if is_host_transfer { host } else { 1 };
    let found = attrs::channel_type(channel);
    require(op, label, found == required, || {
        format!(
            "the type of channel_handle must be {required} for this kind of transfer; found {found}"
        )
    })
}

/// Checks that the index operands, from `first` on, have the same type.
pub fn same_index_types(op: OpRef<'_>, label: &'static str, first: usize) -> Verdict {
    let mut types = op.operand_types().skip(first);
    let same = types.next().is_none_or(|first| types.all(|t| t == first));
    require(op, label, same, || {
        format!("start indices must have one type; found {}", list(op.operand_types().skip(first)))
    })
}

/// Checks that sizes of a part are not negative and not larger than the whole.
pub fn sizes_fit(
    op: OpRef<'_>,
    label: &'static str,
    name: &str,
    part: &[i64],
    whole: &[i64],
) -> Verdict {
    let fits =
        |part: i64, whole: i64| part == DYNAMIC || part >= 0 && (whole == DYNAMIC || part <= whole);
    let outside = part.iter().zip(whole).position(|(&part, &whole)| !fits(part, whole));
    let Some(d) = outside else { return Ok(()) };
    let (found, most) = (part[d], show_size(whole[d]));
    let message = format!(
        "{name} has {found} for dimension {d} of operand, which has size {most}: it must be 0 to {most}"
    );
    Err(op.error(label, message))
}

/// The type of vectors with one entry per feature, that is per index of dimension `index` of the
/// first operand. Checks that the listed operands, each with its label, have that type.
pub fn features(
    op: OpRef<'_>,
    label: &'static str,
    index: i64,
    operands: &[(usize, &'static str)],
) -> Result<Type, Diagnostic> {
    let operand = op.operand_type(0);
    is_dimension(op, label, "feature_index", index, rank(operand))?;
    let size = shape(operand)[index as usize];
    for &(i, label) in operands {
        let name = op.def().map_or("", |def| def.operands[i].name);
        has_shape(op, label, name, shape(op.operand_type(i)), &[size])?;
    }
    crate::infer::sized(op, operand.element_type().clone(), |operands| {
        Ok(vec![operands[0][index as usize]])
    })
}

/// Checks that each result has the shape of its operand and the element type that the reducing
/// region returns. Labels: shape, element.
pub fn reduced_in_place<'m>(
    op: OpRef<'m>,
    labels: [&'static str; 2],
    region: RegionId,
    operands: impl ExactSizeIterator<Item = &'m Type>,
) -> Verdict {
    let (found, required) = (op.num_results(), operands.len());
    require(op, labels[0], found == required, || {
        format!("there must be {}; found {found}", counted(required, "result"))
    })?;
    for (operand, result) in operands.zip(op.result_types()) {
        has_shape(op, labels[0], "each result", shape(result), shape(operand))?;
        let element = &accumulators(op, region, [operand].into_iter())[0];
        require(op, labels[1], compat::elements(result, element), || {
            format!(
                "each result must have the element type {element} that the region returns; found {result}"
            )
        })?;
    }
    Ok(())
}

/// True if sizes may be those of a part of a tensor: none is negative or exceeds a static
/// dimension.
pub fn compatible_sizes(part: &[i64], whole: &[i64]) -> bool {
    part.iter().zip(whole).all(|(&size, &whole)| size >= 0 && (whole == DYNAMIC || size <= whole))
}

/// Checks that a shape operand has one entry per dimension of the result, and is compatible with
/// its shape if constant.
pub fn shape_operand(op: OpRef<'_>, label: &'static str, name: &str, operand: usize) -> Verdict {
    let result = shape(op.result_type(0));
    if let &[size] = shape(op.operand_type(operand)) {
        require(op, label, compat::dims(size, result.len() as i64), || {
            format!(
                "{name} has {}, but the result has rank {}",
                counted(size, "entry"),
                result.len()
            )
        })?;
    }
    match constant_ints(op, operand) {
        Some(sizes) if sizes.iter().all(|&d| d >= 0) => {
            has_shape(op, label, "the result", result, &sizes)
        }
        Some(sizes) => at_least(op, label, name, &sizes, 0),
        None => Ok(()),
    }
}

/// The labels of the constraints on the dimension numbers of a dot product: of batching, then of
/// contracting dimensions.
pub struct DotLabels {
    /// `lhs` and `rhs` have the same number.
    pub counts: [&'static str; 2],
    /// All dimensions of `lhs` are distinct, and all of `rhs`.
    pub distinct: [&'static str; 2],
    /// Dimensions of `lhs` are in range.
    pub lhs_in_range: [&'static str; 2],
    /// Dimensions of `rhs` are in range.
    pub rhs_in_range: [&'static str; 2],
    /// Each dimension of `lhs` has the size of that of `rhs`.
    pub sizes: [&'static str; 2],
}

/// Checks the dimension numbers of a dot product of ranked operands.
pub fn dot_dimensions(
    op: OpRef<'_>,
    labels: &DotLabels,
    lhs: &Type,
    rhs: &Type,
    dims: &DotDims<'_>,
) -> Verdict {
    let (lb, rb) = (dims.lhs_batching_dimensions, dims.rhs_batching_dimensions);
    let (lc, rc) = (dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions);
    let [lb_name, rb_name] = ["lhs_batching_dimensions", "rhs_batching_dimensions"];
    let [lc_name, rc_name] = ["lhs_contracting_dimensions", "rhs_contracting_dimensions"];
    count(op, labels.counts[0], rb_name, rb.len(), lb.len(), lb_name)?;
    count(op, labels.counts[1], rc_name, rc.len(), lc.len(), lc_name)?;
    distinct_together(op, labels.distinct[0], (lc_name, lc), (lb_name, lb))?;
    distinct_together(op, labels.distinct[1], (rc_name, rc), (rb_name, rb))?;
    in_range(op, labels.lhs_in_range[0], lb_name, lb, rank(lhs))?;
    in_range(op, labels.lhs_in_range[1], lc_name, lc, rank(lhs))?;
    in_range(op, labels.rhs_in_range[0], rb_name, rb, rank(rhs))?;
    in_range(op, labels.rhs_in_range[1], rc_name, rc, rank(rhs))?;
    for (label, kind, left, right) in
        [(labels.sizes[0], "batching", lb, rb), (labels.sizes[1], "contracting", lc, rc)]
    {
        for (&l, &r) in left.iter().zip(right) {
            let (a, b) = (shape(lhs)[l as usize], shape(rhs)[r as usize]);
            require(op, label, compat::dims(a, b), || {
                format!(
                    "{kind} dimensions {l} of lhs and {r} of rhs must have one size; \
                     found {a} and {b}"
                )
            })?;
        }
    }
    Ok(())
}

/// Checks that `config` is for the ranks of the operands, and that the result has the shape that it
/// gives.
pub fn einsum(op: OpRef<'_>, config: &str) -> Verdict {
    const LABEL: &str = "einsum_config";
    let sizes = |ty: &Type| shape(ty).iter().map(|&size| usize::try_from(size).ok()).collect();
    let shapes: Vec<Vec<Option<usize>>> = op.operand_types().map(sizes).collect();
    let result = program::einsum::result_shape(config, &shapes);
    let result = result.map_err(|error| op.error(LABEL, error.message()))?;
    let size = |size: Option<usize>| size.and_then(|size| i64::try_from(size).ok());
    let required: Vec<i64> = result.into_iter().map(|s| size(s).unwrap_or(DYNAMIC)).collect();
    has_shape(op, LABEL, "the result", shape(op.result_type(0)), &required)
}
