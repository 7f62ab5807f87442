//! `stablehlo.reduce_window`.

use super::prelude::*;
use crate::window::{WindowAttrs, WindowLabels, num_windows};

op! {
    /// The reduction of windows of `inputs`, which slide over padded and dilated inputs, with
    /// `body`, from `init_values`.
    pub ReduceWindowOp, "stablehlo.reduce_window" {
        operands { inputs: variadic TENSOR, init_values: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes {
            window_dimensions: required I64Array,
            window_strides: optional I64Array,
            base_dilations: optional I64Array,
            window_dilations: optional I64Array,
            padding: optional IntElements(64),
        }
        regions { body: one }
        traits [
            SameVariadicOperandSize, RecursiveMemoryEffects, SingleBlock,
            ImplicitTerminator("stablehlo.return"),
        ]
        rules include_str!("reduce_window.txt");
        hooks {
            verify_regions: verify_body,
            infer: infer,
            infer_label: "reduce_window_c15",
            prepare: prepare,
            speculate: speculation::static_operands_as_regions,
        }
    }
}

const LABELS: WindowLabels = WindowLabels {
    sizes: "reduce_window_c5",
    strides: ["reduce_window_c6", "reduce_window_c7"],
    base_dilations: ["reduce_window_c8", "reduce_window_c9"],
    window_dilations: ["reduce_window_c10", "reduce_window_c11"],
    padding: "reduce_window_c12",
};

fn infer(op: OpRef<'_>) -> Inferred {
    let view = ReduceWindowOp(op);
    let module = op.module();
    let inputs = || view.inputs().iter().map(|&v| module.ty(v));
    let Some(first) = inputs().next() else {
        return Err(op.error("reduce_window_c1", "there must be at least one input; found none"));
    };
    require(
        op,
        "reduce_window_c2",
        inputs().all(|t| compat::shapes(shape(first), shape(t))),
        || format!("inputs must have compatible shapes; found {}", check::list(inputs())),
    )?;
    for (i, (input, init)) in
        inputs().zip(view.init_values().iter().map(|&v| module.ty(v))).enumerate()
    {
        let fits = compat::promotable(input.element_type(), init.element_type());
        require(op, "reduce_window_c3", fits, || {
            format!(
                "init value #{i} must have the element type of input #{i}, {input}; found {init}"
            )
        })?;
    }
    let sizes = view.window_dimensions();
    check::count(
        op,
        "reduce_window_c4",
        "window_dimensions",
        sizes.len(),
        rank(first),
        "the rank of the inputs",
    )?;
    let window = window(op).dims(op, sizes, LABELS)?;
    let elements = check::accumulators(op, view.body(), inputs());
    let of = |(i, element)| {
        infer::sized(op, element, |inputs| num_windows(op, "reduce_window_c15", inputs[i], &window))
    };
    elements.into_iter().enumerate().map(of).collect()
}

fn window(op: OpRef<'_>) -> WindowAttrs<'_> {
    let view = ReduceWindowOp(op);
    WindowAttrs {
        strides: view.window_strides(),
        padding: view.padding(),
        base_dilations: view.base_dilations(),
        window_dilations: view.window_dilations(),
    }
}

fn verify_body(op: OpRef<'_>) -> Verdict {
    let view = ReduceWindowOp(op);
    let inits: Vec<&Type> = view.init_values().iter().map(|&v| op.module().ty(v)).collect();
    let inputs = view.inputs().iter().map(|&v| op.module().ty(v));
    check::reducer(op, "reduce_window_c13", "body", view.body(), inputs, &inits)?;
    check::reducer_dims(op, "reduce_window_c13", view.body(), view.window_dimensions())
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let reduce = ReduceWindowOp(op);
    let window = window(op).prepare(reduce.window_dimensions())?;
    let body = prepare::body(op, reduce.body(), cx)?;
    Ok(Primitive::ReduceWindow(primitives::ReduceWindow {
        window: Some(window),
        inputs: op.operands().len() / 2,
        body,
    }))
}
