//! `stablehlo.scatter`.

use super::prelude::*;
use mlir::diag::counted;

op! {
    /// `inputs` with the slices that start at the index vectors in `scatter_indices` combined with
    /// `updates` by `update_computation`. Out-of-bounds elements are skipped one by one (XLA skips
    /// the whole slice).
    pub ScatterOp, "stablehlo.scatter" {
        operands {
            inputs: variadic TENSOR,
            scatter_indices: single INDICES_TENSOR,
            updates: variadic TENSOR,
        }
        results { results: variadic TENSOR }
        attributes {
            scatter_dimension_numbers: required Def(ScatterDims),
            indices_are_sorted: implied Bool => DefaultValue::Bool(false),
            unique_indices: implied Bool => DefaultValue::Bool(false),
        }
        regions { update_computation: one }
        traits [SameVariadicOperandSize, RecursiveMemoryEffects]
        rules include_str!("scatter.txt");
        hooks {
            verify: verify,
            verify_regions: verify_computation,
            infer: infer,
            infer_label: "scatter_c24",
            prepare: prepare,
            speculate: speculate,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let view = ScatterOp(op);
    let inputs = || view.inputs().iter().map(|&v| op.module().ty(v));
    let elements = check::accumulators(op, view.update_computation(), inputs());
    Ok(inputs()
        .zip(elements)
        .map(|(input, element)| compat::with_element(input, element))
        .collect())
}

fn verify(op: OpRef<'_>) -> Verdict {
    let view = ScatterOp(op);
    let module = op.module();
    let inputs: Vec<&Type> = view.inputs().iter().map(|&v| module.ty(v)).collect();
    let updates: Vec<&Type> = view.updates().iter().map(|&v| module.ty(v)).collect();
    let (Some(input), Some(update)) = (inputs.first(), updates.first()) else {
        return Err(op.error("scatter_c5", "there must be at least one input; found none"));
    };
    for (label, name, types) in
        [("scatter_c1", "inputs", &inputs), ("scatter_c3", "updates", &updates)]
    {
        require(
            op,
            label,
            types.iter().all(|t| compat::shapes(shape(types[0]), shape(t))),
            || {
                format!(
                    "{name} must have compatible shapes; found {}",
                    check::list(types.iter().copied())
                )
            },
        )?;
    }
    let same = inputs
        .iter()
        .zip(&updates)
        .all(|(i, u)| compat::promotable(u.element_type(), i.element_type()));
    require(op, "scatter_c6", same, || {
        let (i, u) = (check::list(inputs.iter().copied()), check::list(updates.iter().copied()));
        format!("updates must have the element types of inputs; found {u} and {i}")
    })?;
    verify_dimensions(
        op,
        &view.scatter_dimension_numbers(),
        shape(input),
        shape(module.ty(view.scatter_indices())),
        shape(update),
    )
}

fn verify_dimensions(
    op: OpRef<'_>,
    dims: &ScatterDims<'_>,
    input: &[i64],
    indices: &[i64],
    update: &[i64],
) -> Verdict {
    let (window, inserted, batching) =
        (dims.update_window_dims, dims.inserted_window_dims, dims.input_batching_dims);
    let (n, m) = (input.len(), indices.len());
    check::is_dimension(op, "scatter_c22", "index_vector_dim", dims.index_vector_dim, m + 1)?;
    let scatter_rank = m - usize::from((dims.index_vector_dim as usize) < m);
    let of = "the number of scatter and window dimensions";
    check::count(
        op,
        "scatter_c4",
        "the shape of updates",
        update.len(),
        scatter_rank + window.len(),
        of,
    )?;
    let accounted = window.len() + inserted.len() + batching.len();
    let of = "the number of window, inserted and batching dimensions";
    check::count(op, "scatter_c2", "the shape of inputs", n, accounted, of)?;
    check::sorted(op, "scatter_c7", "update_window_dims", window)?;
    check::distinct(op, "scatter_c7", "update_window_dims", window)?;
    check::in_range(op, "scatter_c8", "update_window_dims", window, update.len())?;
    check::distinct_together(
        op,
        "scatter_c9",
        ("inserted_window_dims", inserted),
        ("input_batching_dims", batching),
    )?;
    check::sorted(op, "scatter_c10", "inserted_window_dims", inserted)?;
    check::in_range(op, "scatter_c11", "inserted_window_dims", inserted, n)?;
    check::sorted(op, "scatter_c12", "input_batching_dims", batching)?;
    check::in_range(op, "scatter_c13", "input_batching_dims", batching, n)?;
    let index_batching = dims.scatter_indices_batching_dims;
    check::distinct(op, "scatter_c14", "scatter_indices_batching_dims", index_batching)?;
    check::in_range(op, "scatter_c15", "scatter_indices_batching_dims", index_batching, m)?;
    require(op, "scatter_c16", !index_batching.contains(&dims.index_vector_dim), || {
        format!(
            "scatter_indices_batching_dims must not contain index_vector_dim, {}",
            dims.index_vector_dim
        )
    })?;
    let name = "scatter_indices_batching_dims";
    check::count(
        op,
        "scatter_c17",
        name,
        index_batching.len(),
        batching.len(),
        "input_batching_dims",
    )?;
    for (&d, &i) in batching.iter().zip(index_batching) {
        let (a, b) = (input[d as usize], indices[i as usize]);
        require(op, "scatter_c18", compat::dims(a, b), || {
            format!(
                "batching dimensions {d} of inputs and {i} of scatter_indices must have one size; found {a} and {b}"
            )
        })?;
    }
    let targets = dims.scatter_dims_to_operand_dims;
    let vector = indices.get(dims.index_vector_dim as usize).copied().unwrap_or(1);
    require(op, "scatter_c19", compat::dims(vector, targets.len() as i64), || {
        format!(
            "scatter_dims_to_operand_dims has {}, but index vectors have {vector}",
            counted(targets.len(), "entry")
        )
    })?;
    check::distinct_together(
        op,
        "scatter_c20",
        ("scatter_dims_to_operand_dims", targets),
        ("input_batching_dims", batching),
    )?;
    check::in_range(op, "scatter_c21", "scatter_dims_to_operand_dims", targets, n)?;
    verify_updates(op, dims, input, indices, update)
}

/// Checks the sizes of updates against those of inputs and indices, for valid dimension numbers.
fn verify_updates(
    op: OpRef<'_>,
    dims: &ScatterDims<'_>,
    input: &[i64],
    indices: &[i64],
    update: &[i64],
) -> Verdict {
    let (window, inserted, batching) =
        (dims.update_window_dims, dims.inserted_window_dims, dims.input_batching_dims);
    // The maximum sizes of the window dimensions of updates, and the required sizes of their
    // scatter dimensions.
    let kept = (0i64..).zip(input).filter(|(d, _)| !inserted.contains(d) && !batching.contains(d));
    for (&d, (_, &most)) in window.iter().zip(kept) {
        let size = update[d as usize];
        require(op, "scatter_c4", size == DYNAMIC || most == DYNAMIC || size <= most, || {
            format!(
                "window dimension {d} of updates has size {size}, more than the {most} of inputs"
            )
        })?;
    }
    let scattered =
        (0i64..).zip(update).filter(|(d, _)| !window.contains(d)).map(|(_, &size)| size);
    let required =
        (0i64..).zip(indices).filter(|(d, _)| *d != dims.index_vector_dim).map(|(_, &size)| size);
    let (scattered, required): (Vec<i64>, Vec<i64>) = (scattered.collect(), required.collect());
    check::has_shape(op, "scatter_c4", "the scatter dimensions of updates", &scattered, &required)
}

fn verify_computation(op: OpRef<'_>) -> Verdict {
    let view = ScatterOp(op);
    let inputs = view.inputs().iter().map(|&v| op.module().ty(v));
    check::reducer(op, "scatter_c23", "update_computation", view.update_computation(), inputs, &[])
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let dims = ScatterOp(op).scatter_dimension_numbers();
    let body = prepare::body(op, ScatterOp(op).update_computation(), cx)?;
    Ok(Primitive::Scatter(primitives::Scatter { dims: Box::new(dims.to_owned()), body }))
}

/// The flags assert something about the indices.
fn speculate(op: OpRef<'_>) -> Speculation {
    let view = ScatterOp(op);
    let asserts = view.unique_indices() || view.indices_are_sorted();
    Speculation::as_regions_if(speculation::has_static_operands(op) && !asserts)
}
