//! `stablehlo.gather`.

use super::prelude::*;
use mlir::diag::counted;

op! {
    /// Slices of `operand` of sizes `slice_sizes` that start at the index vectors in
    /// `start_indices`, clamped so that they are in bounds. The dimensions of `start_indices`
    /// without the index vector dimension are the batch dimensions of the result.
    pub GatherOp, "stablehlo.gather" {
        operands { operand: single TENSOR, start_indices: single INT_TENSOR }
        results { result: single TENSOR }
        attributes {
            dimension_numbers: required Def(GatherDims),
            slice_sizes: required I64Array,
            indices_are_sorted: implied Bool => DefaultValue::Bool(false),
        }
        traits [NoMemoryEffect]
        rules include_str!("gather.txt");
        hooks {
            verify_strict: verify_elements,
            infer: infer,
            infer_label: "gather_c22",
            reify: reify,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

const LABELS: [&str; 21] = [
    "gather_c1",
    "gather_c2",
    "gather_c3",
    "gather_c4",
    "gather_c5",
    "gather_c6",
    "gather_c7",
    "gather_c8",
    "gather_c9",
    "gather_c10",
    "gather_c11",
    "gather_c12",
    "gather_c13",
    "gather_c14",
    "gather_c15",
    "gather_c16",
    "gather_c17",
    "gather_c18",
    "gather_c19",
    "gather_c20",
    "gather_c21",
];

fn infer(op: OpRef<'_>) -> Inferred {
    let sizes = GatherOp(op).slice_sizes();
    infer_gather(op, GatherOp(op).dimension_numbers(), Some(sizes), sizes.len(), &LABELS)
}

/// Infers the result of gathering slices of the given sizes, if known. `labels` are those of the
/// constraints of `gather` in order.
pub(super) fn infer_gather(
    op: OpRef<'_>,
    dims: GatherDims<'_>,
    slice_sizes: Option<&[i64]>,
    num_sizes: usize,
    labels: &[&'static str; 21],
) -> Inferred {
    verify_dimensions(op, &dims, labels)?;
    let (operand, m) = (op.operand_type(0), rank(op.operand_type(1)));
    let n = rank(operand);
    let (offset, collapsed, batching) =
        (dims.offset_dims, dims.collapsed_slice_dims, dims.operand_batching_dims);
    check::count(op, labels[19], "slice_sizes", num_sizes, n, "the rank of operand")?;
    if let Some(sizes) = slice_sizes {
        check::sizes_fit(op, labels[20], "slice_sizes", sizes, shape(operand))?;
        for (label, name, list) in [
            (labels[8], "collapsed_slice_dims", collapsed),
            (labels[11], "operand_batching_dims", batching),
        ] {
            let Some(d) = list.iter().find(|&&d| sizes[d as usize] > 1) else { continue };
            let message = format!(
                "slice_sizes has {} for dimension {d}, one of {name}, which allows at most 1",
                sizes[*d as usize]
            );
            return Err(op.error(label, message));
        }
    }
    let size = |d: usize| slice_sizes.map_or(DYNAMIC, |sizes| sizes[d]);
    let dropped = |d: &usize| collapsed.contains(&(*d as i64)) || batching.contains(&(*d as i64));
    let batch_rank = m - usize::from((dims.index_vector_dim as usize) < m);
    check::in_range(op, labels[4], "offset_dims", offset, batch_rank + offset.len())?;
    infer::one_sized(op, operand.element_type(), |operands| {
        let mut offset_sizes = (0..n).filter(|d| !dropped(d)).map(size);
        let in_order = (0i64..).zip(operands[1]).filter(|(d, _)| *d != dims.index_vector_dim);
        let mut batch_sizes = in_order.map(|(_, &size)| size);
        let at = |d: usize| {
            if offset.contains(&(d as i64)) { offset_sizes.next() } else { batch_sizes.next() }
        };
        let sizes: Option<Vec<i64>> = (0..batch_rank + offset.len()).map(at).collect();
        Ok(sizes.unwrap_or_default())
    })
}

/// Checks that slices have an element if the result does: it has no dimension for those that are
/// dropped.
fn verify_elements(op: OpRef<'_>) -> Verdict {
    let (dims, slice_sizes) = (GatherOp(op).dimension_numbers(), GatherOp(op).slice_sizes());
    let dropped =
        |d: &i64| dims.collapsed_slice_dims.contains(d) || dims.operand_batching_dims.contains(d);
    let numbered = || (0i64..).zip(slice_sizes.iter().copied());
    let indices = (0i64..).zip(shape(op.operand_type(1)).iter().copied());
    let mut sizes = numbered()
        .filter(|(d, _)| !dropped(d))
        .chain(indices.filter(|(d, _)| *d != dims.index_vector_dim));
    let is_empty = sizes.any(|(_, size)| size == 0 || size == DYNAMIC);
    let without = numbered().find(|(d, size)| dropped(d) && *size == 0);
    let Some((d, _)) = without.filter(|_| !is_empty) else { return Ok(()) };
    let message = format!(
        "slice_sizes has 0 for dimension {d}, which is dropped, but the result has elements"
    );
    Err(op.error("gather_c22", message))
}

/// Checks the dimension numbers against the shapes of the operands, whatever the sizes of slices.
fn verify_dimensions(op: OpRef<'_>, dims: &GatherDims<'_>, labels: &[&'static str; 21]) -> Verdict {
    let (operand, indices) = (op.operand_type(0), op.operand_type(1));
    let (n, m) = (rank(operand), rank(indices));
    let (offset, collapsed, batching) =
        (dims.offset_dims, dims.collapsed_slice_dims, dims.operand_batching_dims);
    let accounted = offset.len() + collapsed.len() + batching.len();
    let of = "the number of offset, collapsed slice and batching dimensions";
    check::count(op, labels[0], "the shape of operand", n, accounted, of)?;
    check::is_dimension(op, labels[1], "index_vector_dim", dims.index_vector_dim, m + 1)?;
    let vector = shape(indices).get(dims.index_vector_dim as usize).copied().unwrap_or(1);
    require(op, labels[2], compat::dims(vector, dims.start_index_map.len() as i64), || {
        format!(
            "start_index_map has {}, but index vectors have {vector}",
            counted(dims.start_index_map.len(), "entry")
        )
    })?;
    check::sorted(op, labels[3], "offset_dims", offset)?;
    check::distinct(op, labels[3], "offset_dims", offset)?;
    check::distinct_together(
        op,
        labels[5],
        ("collapsed_slice_dims", collapsed),
        ("operand_batching_dims", batching),
    )?;
    check::sorted(op, labels[6], "collapsed_slice_dims", collapsed)?;
    check::in_range(op, labels[7], "collapsed_slice_dims", collapsed, n)?;
    check::sorted(op, labels[9], "operand_batching_dims", batching)?;
    check::in_range(op, labels[10], "operand_batching_dims", batching, n)?;
    let index_batching = dims.start_indices_batching_dims;
    check::distinct(op, labels[12], "start_indices_batching_dims", index_batching)?;
    check::in_range(op, labels[13], "start_indices_batching_dims", index_batching, m)?;
    require(op, labels[14], !index_batching.contains(&dims.index_vector_dim), || {
        format!(
            "start_indices_batching_dims must not contain index_vector_dim, {}",
            dims.index_vector_dim
        )
    })?;
    let name = "start_indices_batching_dims";
    check::count(
        op,
        labels[15],
        name,
        index_batching.len(),
        batching.len(),
        "operand_batching_dims",
    )?;
    for (&d, &i) in batching.iter().zip(index_batching) {
        let (a, b) = (shape(operand)[d as usize], shape(indices)[i as usize]);
        require(op, labels[16], compat::dims(a, b), || {
            format!(
                "batching dimensions {d} of operand and {i} of start_indices must have one size; found {a} and {b}"
            )
        })?;
    }
    check::distinct_together(
        op,
        labels[17],
        ("start_index_map", dims.start_index_map),
        ("operand_batching_dims", batching),
    )?;
    check::in_range(op, labels[18], "start_index_map", dims.start_index_map, n)
}

/// Offset dimensions have slice sizes; the others are those of the indices without the index vector
/// dimension.
fn reify(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let gather = GatherOp(rw.op(op));
    let (numbers, slices) = (gather.dimension_numbers().to_owned(), gather.slice_sizes().to_vec());
    let is_kept = |d: i64| {
        !numbers.collapsed_slice_dims.contains(&d) && !numbers.operand_batching_dims.contains(&d)
    };
    let mut slices = (0i64..).zip(slices).filter(|&(d, _)| is_kept(d)).map(|(_, size)| size);
    let indices =
        (0i64..).zip(reify::dims(rw, op, 1)?).filter(|&(d, _)| d != numbers.index_vector_dim);
    let mut indices = indices.map(|(_, size)| size);
    let rank = rw.op(op).result_type(0).as_tensor()?.rank();
    let size = |d: i64| match numbers.offset_dims.contains(&d) {
        true => slices.next().map(|size| reify::index(rw, size)),
        false => indices.next(),
    };
    let sizes = (0..rank as i64).map(size).collect::<Option<Vec<_>>>()?;
    reify::vector(rw, op, sizes)
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let dims = GatherOp(op).dimension_numbers();
    let sizes = prepare::usizes(op, GatherOp(op).slice_sizes())?;
    Ok(Primitive::Gather(primitives::Gather { dims: Box::new(dims.to_owned()), sizes }))
}

/// The flag asserts something about the indices.
fn speculate(op: OpRef<'_>) -> Speculation {
    let asserts = GatherOp(op).indices_are_sorted();
    Speculation::always_if(speculation::has_static_operands(op) && !asserts)
}
