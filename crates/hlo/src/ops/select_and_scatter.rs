//! `stablehlo.select_and_scatter`.

use super::prelude::*;
use crate::ops::relation;
use crate::window::{WindowAttrs, WindowLabels, num_windows};
use mlir::Module;
use numerics::math::Direction;

op! {
    /// For each window of `operand`, `select` chooses one element, and `scatter` combines the value
    /// of `source` for that window into the result at that position, from `init_value`. The result
    /// has the shape of `operand`.
    pub SelectAndScatterOp, "stablehlo.select_and_scatter" {
        operands { operand: single TENSOR, source: single TENSOR, init_value: single TENSOR }
        results { result: single TENSOR }
        attributes {
            window_dimensions: optional I64Array,
            window_strides: optional I64Array,
            padding: optional IntElements(64),
        }
        regions { select: one, scatter: one }
        traits [RecursiveMemoryEffects]
        rules include_str!("select_and_scatter.txt");
        hooks {
            verify: verify,
            verify_regions: verify_computations,
            infer: infer,
            infer_label: "select_and_scatter_c11",
            prepare: prepare,
            speculate: speculate,
        }
    }
}

const LABELS: WindowLabels = WindowLabels {
    sizes: "select_and_scatter_c5",
    strides: ["select_and_scatter_c6", "select_and_scatter_c7"],
    padding: "select_and_scatter_c8",
    // There are no dilations here that could violate these.
    base_dilations: ["", ""],
    window_dilations: ["", ""],
};

fn infer(op: OpRef<'_>) -> Inferred {
    let elements =
        check::accumulators(op, SelectAndScatterOp(op).scatter(), op.operand_types().take(1));
    Ok(elements
        .into_iter()
        .map(|element| compat::with_element(op.operand_type(0), element))
        .collect())
}

fn verify(op: OpRef<'_>) -> Verdict {
    let view = SelectAndScatterOp(op);
    let [operand, source, init] = [0, 1, 2].map(|i| op.operand_type(i));
    require(
        op,
        "select_and_scatter_c1",
        compat::promotable(source.element_type(), operand.element_type()),
        || format!("source must have the element type of operand; found {source} and {operand}"),
    )?;
    let fits = rank(init) == 0 && compat::promotable(operand.element_type(), init.element_type());
    require(op, "select_and_scatter_c3", fits, || {
        format!(
            "init_value must be 0-dimensional of the element type of operand, {operand}; found {init}"
        )
    })?;
    let sizes = view.window_dimensions().unwrap_or(&[]);
    check::count(
        op,
        "select_and_scatter_c4",
        "window_dimensions",
        sizes.len(),
        rank(operand),
        "the rank of operand",
    )?;
    let window = window(op).dims(op, sizes, LABELS)?;
    let windows = num_windows(op, "select_and_scatter_c2", shape(operand), &window)?;
    check::has_shape(op, "select_and_scatter_c2", "source", shape(source), &windows)
}

fn window(op: OpRef<'_>) -> WindowAttrs<'_> {
    let view = SelectAndScatterOp(op);
    WindowAttrs {
        strides: view.window_strides(),
        padding: view.padding(),
        ..WindowAttrs::default()
    }
}

fn verify_computations(op: OpRef<'_>) -> Verdict {
    let view = SelectAndScatterOp(op);
    let operand = op.operand_type(0);
    let (arguments, results) = check::signature(op, view.select());
    let scalar = Type::tensor([], operand.element_type().clone());
    let takes_scalars = arguments.len() == 2 && arguments.iter().all(|t| compat::types(t, &scalar));
    require(op, "select_and_scatter_c9", takes_scalars, || {
        format!(
            "select must take two values of type {scalar}; found {}",
            check::list(arguments.iter().copied())
        )
    })?;
    check::returns_pred(op, "select_and_scatter_c9", "select", view.select(), &results)?;
    check::reducer(
        op,
        "select_and_scatter_c10",
        "scatter",
        view.scatter(),
        [op.operand_type(1)].iter().copied(),
        &[],
    )
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let scatter = SelectAndScatterOp(op);
    let window = window(op).prepare(scatter.window_dimensions().unwrap_or(&[]))?;
    let relation = relation_of(op.module(), scatter.select());
    let select = cx.block(scatter.select())?;
    let scatter = prepare::body(op, scatter.scatter(), cx)?;
    Ok(Primitive::SelectAndScatter(primitives::SelectAndScatter {
        window,
        select,
        relation,
        scatter,
    }))
}

/// The comparison of its two arguments that a region is.
fn relation_of(module: &Module, region: RegionId) -> Option<Direction> {
    let block = module.entry(region)?;
    let mut ops = module.ops(block);
    let (Some(compare), Some(last), None) = (ops.next(), ops.next(), ops.next()) else {
        return None;
    };
    let (direction, false) = relation(compare)? else { return None };
    let is_result = compare.results().eq(last.operands().iter().copied());
    (is_result && compare.operands() == module.arguments(block)).then_some(direction)
}

fn speculate(op: OpRef<'_>) -> Speculation {
    Speculation::as_regions_if(speculation::is_shaped_as_operand(op))
}
