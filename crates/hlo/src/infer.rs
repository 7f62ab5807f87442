//! Type inference shared by several ops.

use crate::attrs;
use crate::check::{self, require};
use crate::compat;
use crate::types;
use mlir::types::DYNAMIC;
use mlir::{Diagnostic, OpRef, Type};

/// Inferred types, or the reason why they are unknown.
pub type Inferred = Result<Vec<Type>, Diagnostic>;

/// Infers a result type from sizes computed by `sizes` from the operands', one list per
/// operand. Bounds of dynamic dimensions are computed by the same function from the operands'
/// bounds, so it must be monotonic.
///
/// # Errors
/// If `sizes` returns `None`, for sizes or for bounds.
pub fn sized<F>(op: OpRef<'_>, element: Type, sizes: F) -> Result<Type, Diagnostic>
where
    F: Fn(&[&[i64]]) -> Result<Vec<i64>, Diagnostic>,
{
    let known: Vec<&[i64]> = op.operand_types().map(check::shape).collect();
    let found = sizes(&known)?;
    let bounds = |ty: &Type| {
        ty.as_tensor().and_then(|t| attrs::bounds(t.encoding.as_ref()?).map(<[i64]>::to_vec))
    };
    let bounds: Vec<Option<Vec<i64>>> = op.operand_types().map(bounds).collect();
    if bounds.iter().all(Option::is_none) {
        return Ok(Type::tensor(found, element));
    }
    let most = |(&sizes, bounds): (&&[i64], Option<Vec<i64>>)| match bounds {
        Some(bounds) => sizes
            .iter()
            .zip(bounds)
            .map(|(&size, b)| if size == DYNAMIC { b } else { size })
            .collect(),
        None => sizes.to_vec(),
    };
    let most: Vec<Vec<i64>> = known.iter().zip(bounds).map(most).collect();
    let most = sizes(&most.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    let bounds =
        found.iter().zip(most).map(|(&size, most)| if size == DYNAMIC { most } else { DYNAMIC });
    let bounds: Vec<i64> = bounds.collect();
    let encoding = bounds.iter().any(|&b| b != DYNAMIC).then(|| attrs::type_extensions(bounds));
    Ok(Type::encoded_tensor(found, element, encoding))
}

/// Infers one result from sizes; see [`sized`].
pub fn one_sized<F>(op: OpRef<'_>, element: &Type, sizes: F) -> Inferred
where
    F: Fn(&[&[i64]]) -> Result<Vec<i64>, Diagnostic>,
{
    Ok(vec![sized(op, element.clone(), sizes)?])
}

/// Infers one result: the most specific type of all operands. A mismatch is reported under
/// `infer_label`.
pub fn merged_operands(op: OpRef<'_>) -> Inferred {
    let label = op.def().map_or("", |def| def.infer_label);
    merged(op, label, 0).map(|ty| vec![ty])
}

/// The most specific type of the operands from `first` on.
///
/// # Errors
/// If they are incompatible.
pub fn merged(op: OpRef<'_>, label: &'static str, first: usize) -> Result<Type, Diagnostic> {
    let all = || op.operand_types().skip(first);
    let mut others = all();
    let Some(ty) = others.next() else { return Err(op.error(label, "there must be operands")) };
    if others.clone().all(|t| t == ty) {
        return Ok(ty.clone());
    }
    let same = others.all(|t| compat::types(ty, t));
    match compat::most_specific(all()).filter(|_| same) {
        Some(ty) => Ok(ty),
        None => Err(op.error(
            label,
            format!("operands must have compatible types; found {}", check::list(all())),
        )),
    }
}

/// Each result has the type of its operand.
pub fn operand_types(op: OpRef<'_>) -> Inferred {
    Ok(op.operand_types().cloned().collect())
}

/// One result of the type of the first operand.
pub fn first_operand(op: OpRef<'_>) -> Inferred {
    Ok(op.operand_types().take(1).cloned().collect())
}

/// One token.
pub fn token(_op: OpRef<'_>) -> Inferred {
    Ok(vec![types::token()])
}

/// One scalar of an unsigned 32-bit integer.
pub fn process_id(_op: OpRef<'_>) -> Inferred {
    Ok(vec![Type::tensor([], Type::ui32())])
}

/// The types of parts of complex operands; of other operands, the type itself.
pub fn real_part(op: OpRef<'_>) -> Inferred {
    let operand = op.operand_type(0);
    let element = match &**operand.element_type() {
        mlir::TypeKind::Complex(part) => part.clone(),
        _ => operand.element_type().clone(),
    };
    Ok(vec![compat::with_element(operand, element)])
}

/// Infers the results of branches: each takes no arguments and all return values of compatible
/// types, whose least specific types are the results. Labels: no arguments, equal results.
pub fn branches(op: OpRef<'_>, labels: [&'static str; 2]) -> Inferred {
    let signatures: Vec<_> = op.regions().iter().map(|&r| check::signature(op, r)).collect();
    let Some((_, first)) = signatures.first() else {
        return Err(op.error("case_c1", "there must be at least one branch; found none"));
    };
    for (i, (arguments, results)) in signatures.iter().enumerate() {
        require(op, labels[0], arguments.is_empty(), || {
            format!("branches take no arguments; branch {i} takes {}", arguments.len())
        })?;
        let same = compat::lists(first.iter().copied(), results.iter().copied());
        let about = (op.regions()[i], check::first_difference(results, first.iter().copied()));
        check::require_returned(op, labels[1], about, same, || {
            let (first, found) =
                (check::list(first.iter().copied()), check::list(results.iter().copied()));
            format!("branch {i} must return {first} as branch 0 does; it returns {found}")
        })?;
    }
    let of = |i: usize| compat::least_specific(signatures.iter().map(|(_, results)| results[i]));
    (0..first.len())
        .map(|i| of(i).ok_or_else(|| op.error(labels[1], "branches return different types")))
        .collect()
}
