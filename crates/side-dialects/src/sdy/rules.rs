//! Verification of sharding rules: the factors that dimensions of operands and results share.

use super::attrs::{DIM_MAPPING, OP_SHARDING_RULE, TENSOR_MAPPING, ints, list};
use super::text::factor_name;
use mlir::diag::counted;
use mlir::ods::Params;
use mlir::types::DYNAMIC;
use mlir::{Attribute, OpRef, Type, TypeKind, Verdict};

/// The label of the checks of this file.
const LABEL: &str = "sharding_rule";

/// The lists of factors with a role, by the index of the parameter.
const ROLES: [(usize, &str); 4] =
    [(3, "reduction"), (4, "need_replication"), (5, "permutation"), (6, "blocked_propagation")];

/// Checks that no number of a factor is negative, which has no name.
pub(super) fn params(params: &Params) -> Result<(), String> {
    let tensors = list(params, 1).iter().chain(list(params, 2));
    let dims = tensors.filter_map(|t| t.as_dialect(&TENSOR_MAPPING)).flat_map(|t| list(t, 0));
    let mapped = dims.filter_map(|d| d.as_dialect(&DIM_MAPPING)).flat_map(|d| ints(d, 0));
    let mut factors = mapped.chain(ROLES.iter().flat_map(|(i, _)| ints(params, *i)));
    match factors.find(|&&factor| factor < 0) {
        Some(factor) => {
            Err(format!("a factor has the number {factor}, which must not be negative"))
        }
        None => Ok(()),
    }
}

/// Checks `sdy.sharding_rule` on an op.
pub(super) fn verify(op: OpRef<'_>, attr: &Attribute) -> Verdict {
    let Some(rule) = attr.as_dialect(&OP_SHARDING_RULE) else {
        let message =
            format!("`sdy.sharding_rule` must be a #sdy.op_sharding_rule, found {attr:.80}");
        return Err(op.error(LABEL, message));
    };
    check(op, rule).map_err(|message| op.error(LABEL, message))
}

fn check(op: OpRef<'_>, rule: &Params) -> Result<(), String> {
    let sizes = ints(rule, 0);
    let in_operands = mapped("operand", list(rule, 1), op.operand_types(), sizes)?;
    let in_results = mapped("result", list(rule, 2), op.result_types(), sizes)?;
    let is_used = |&factor: &usize| in_operands[factor] || in_results[factor];
    if let Some(factor) = (0..sizes.len()).find(|factor| !is_used(factor)) {
        return Err(format!(
            "the factor {} of size {} is in no dimension of an operand or a result",
            factor_name(factor as i64),
            sizes[factor]
        ));
    }
    for (index, role) in ROLES {
        check_role(role, ints(rule, index), sizes.len())?;
    }
    for (i, (index, role)) in ROLES[..3].iter().enumerate() {
        for (other, other_role) in &ROLES[..i] {
            let others = ints(rule, *other);
            if let Some(&factor) = ints(rule, *index).iter().find(|f| others.contains(f)) {
                return Err(format!(
                    "the factor {} has two roles, {other_role} and {role}; a factor can be in only \
                     one of reduction, need_replication and permutation",
                    factor_name(factor)
                ));
            }
        }
    }
    let kept = |&&factor: &&i64| usize::try_from(factor).is_ok_and(|f| in_results[f]);
    match ints(rule, 3).iter().find(kept) {
        Some(&factor) => Err(format!(
            "the factor {} is reduced, so no dimension of a result may have it",
            factor_name(factor)
        )),
        None => Ok(()),
    }
}

/// Checks that factors with a role exist and are sorted, each once.
fn check_role(role: &str, factors: &[i64], count: usize) -> Result<(), String> {
    if let Some(pair) = factors.windows(2).find(|pair| pair[0] >= pair[1]) {
        let [first, second] = [pair[0], pair[1]].map(factor_name);
        return Err(format!(
            "the factors of {role} must be sorted, each once; found {second} after {first}"
        ));
    }
    match factors.iter().find(|&&factor| !has_size(factor, count)) {
        Some(&factor) => Err(unsized_factor(role, factor, count)),
        None => Ok(()),
    }
}

fn has_size(factor: i64, count: usize) -> bool {
    usize::try_from(factor).is_ok_and(|factor| factor < count)
}

fn unsized_factor(place: &str, factor: i64, count: usize) -> String {
    format!(
        "{place} has the factor {}, but only {} sizes",
        factor_name(factor),
        match count {
            1 => "1 factor has a".to_string(),
            _ => format!("{count} factors have"),
        }
    )
}

/// Checks the factors of operands or results, and returns for each factor whether one has it.
fn mapped<'m>(
    kind: &str,
    mappings: &[Attribute],
    types: impl ExactSizeIterator<Item = &'m Type>,
    sizes: &[i64],
) -> Result<Vec<bool>, String> {
    if mappings.len() != types.len() {
        return Err(format!(
            "the rule has factors for {}, but there are {}",
            counted(mappings.len(), kind),
            types.len()
        ));
    }
    if mappings.is_empty() {
        return Err(format!("only an op with at least one {kind} can have a sharding rule"));
    }
    let mut all = vec![false; sizes.len()];
    for (i, (mapping, ty)) in mappings.iter().zip(types).enumerate() {
        let dims = mapping.as_dialect(&TENSOR_MAPPING).map_or(&[][..], |params| list(params, 0));
        check_rank(ty, dims.len()).map_err(|message| format!("{kind} {i}: {message}"))?;
        let mut own = vec![false; sizes.len()];
        for dim in dims {
            let factors = dim.as_dialect(&DIM_MAPPING).map_or(&[][..], |params| ints(params, 0));
            if factors.is_empty() {
                return Err(format!("{kind} {i}: each dimension must have at least one factor"));
            }
            for &factor in factors {
                let name = factor_name(factor);
                let Some(index) = usize::try_from(factor).ok().filter(|&f| f < sizes.len()) else {
                    return Err(unsized_factor(&format!("{kind} {i}"), factor, sizes.len()));
                };
                if own[index] {
                    return Err(format!("{kind} {i} has the factor {name} twice"));
                }
                if sizes[index] == 1 && factors.len() > 1 {
                    return Err(format!(
                        "{kind} {i}: the factor {name} of size 1 must be alone in its dimension"
                    ));
                }
                (own[index], all[index]) = (true, true);
            }
        }
    }
    Ok(all)
}

/// Checks that a type is shaped and static, with the given rank.
fn check_rank(ty: &Type, rank: usize) -> Result<(), String> {
    // Types of VHLO stand for others until the program is restored.
    if matches!(&**ty, TypeKind::Dialect(dialect) if dialect.def.dialect == "vhlo") {
        return Ok(());
    }
    let Some(shape) = super::sharding::shape_of(ty).filter(|shape| !shape.contains(&DYNAMIC))
    else {
        return Err(format!("a sharding rule needs a type with static shape, found {ty}"));
    };
    if shape.len() == rank {
        return Ok(());
    }
    Err(format!("the rule has {} for {ty}", counted(rank, "dimension")))
}
