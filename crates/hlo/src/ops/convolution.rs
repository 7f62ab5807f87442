//! `stablehlo.convolution`.

use super::prelude::*;
use crate::window::{WindowAttrs, WindowDim, WindowLabels, num_windows};

/// The text of convolutions, in StableHLO and MHLO.
pub const CONVOLUTION_FORMAT: &str = "`(`operands`)` `dim_numbers` `=` \
     custom<ConvolutionDimensions>($dimension_numbers) `,` `window` `=` `{` \
     custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation, \
     $window_reversal) `}` attr-dict `:` functional-type(operands, results)";

op! {
    /// Dot products of windows of `lhs` with slices of the kernel `rhs`; `dimension_numbers` lists
    /// the batch, feature and spatial dimensions.
    pub ConvolutionOp, "stablehlo.convolution" {
        operands { lhs: single TENSOR, rhs: single TENSOR_OR_PER_AXIS_QUANTIZED }
        results { result: single TENSOR_OR_PER_AXIS_QUANTIZED }
        attributes {
            window_strides: optional I64Array,
            padding: optional IntElements(64),
            lhs_dilation: optional I64Array,
            rhs_dilation: optional I64Array,
            window_reversal: optional BoolArray,
            dimension_numbers: required Def(ConvDims),
            feature_group_count: required Positive(64),
            batch_group_count: required Positive(64),
            precision_config: optional ArrayOf(&Enum(&PRECISION)),
        }
        traits [NoMemoryEffect, quantized::EXPRESSED]
        rules include_str!("convolution.txt");
        hooks {
            format: CONVOLUTION_FORMAT,
            verify: verify,
            refine: refine,
            prepare: prepare,
            speculate: speculate,
        }
    }
}

const LABELS: [&str; 34] = [
    "convolution_c1",
    "convolution_c2",
    "convolution_c3",
    "convolution_c4",
    "convolution_c5",
    "convolution_c6",
    "convolution_c7",
    "convolution_c8",
    "convolution_c9",
    "convolution_c10",
    "convolution_c11",
    "convolution_c12",
    "convolution_c13",
    "convolution_c14",
    "convolution_c15",
    "convolution_c16",
    "convolution_c17",
    "convolution_c18",
    "convolution_c19",
    "convolution_c20",
    "convolution_c21",
    "convolution_c22",
    "convolution_c23",
    "convolution_c24",
    "convolution_c25",
    "convolution_c26",
    "convolution_c27",
    "convolution_c28",
    "convolution_c29",
    "convolution_c30",
    "convolution_c31",
    "convolution_c32",
    "convolution_c33",
    "convolution_c34",
];

fn verify(op: OpRef<'_>) -> Verdict {
    verify_convolution(op, &attributes(op))
}

/// The attributes of `convolution` or `dynamic_conv`.
pub(super) struct Attributes<'m> {
    /// The labels of the op's constraints in order.
    pub labels: &'static [&'static str; 34],
    pub dims: ConvDims<'m>,
    /// The padding is absent if it is an operand that is not constant.
    pub window: WindowAttrs<'m>,
    pub reversal: Option<&'m [i64]>,
    pub feature_groups: i64,
    pub batch_groups: i64,
    pub precision: Option<&'m [Attribute]>,
}

impl Attributes<'_> {
    fn label(&self, constraint: usize) -> &'static str {
        self.labels[constraint - 1]
    }
}

fn attributes(op: OpRef<'_>) -> Attributes<'_> {
    let view = ConvolutionOp(op);
    Attributes {
        labels: &LABELS,
        dims: view.dimension_numbers(),
        window: WindowAttrs {
            strides: view.window_strides(),
            padding: view.padding(),
            base_dilations: view.lhs_dilation(),
            window_dilations: view.rhs_dilation(),
        },
        reversal: view.window_reversal(),
        feature_groups: view.feature_group_count(),
        batch_groups: view.batch_group_count(),
        precision: view.precision_config(),
    }
}

/// Checks a convolution.
pub(super) fn verify_convolution(op: OpRef<'_>, attributes: &Attributes<'_>) -> Verdict {
    let label = |constraint| attributes.label(constraint);
    let dims = &attributes.dims;
    let (lhs, rhs, result) = (op.operand_type(0), op.operand_type(1), op.result_type(0));
    let n = rank(lhs);
    check::count(op, label(1), "the shape of rhs", rank(rhs), n, "the rank of lhs")?;
    check::count(op, label(26), "the shape of the result", rank(result), n, "the rank of lhs")?;
    require(op, label(1), n >= 2, || {
        format!("operands must have at least 2 dimensions; found {lhs}")
    })?;
    let tensors = [
        (
            "input_spatial_dimensions",
            "the input dimension numbers",
            12,
            13,
            dims.input_spatial_dimensions,
            [dims.input_batch_dimension, dims.input_feature_dimension],
        ),
        (
            "kernel_spatial_dimensions",
            "the kernel dimension numbers",
            17,
            18,
            dims.kernel_spatial_dimensions,
            [dims.kernel_input_feature_dimension, dims.kernel_output_feature_dimension],
        ),
        (
            "output_spatial_dimensions",
            "the output dimension numbers",
            19,
            20,
            dims.output_spatial_dimensions,
            [dims.output_batch_dimension, dims.output_feature_dimension],
        ),
    ];
    for (spatial_name, name, size, valid, spatial, others) in tensors {
        check::count(
            op,
            label(size),
            spatial_name,
            spatial.len(),
            n - 2,
            "the rank of lhs less 2",
        )?;
        let all = [spatial, &others[..]].concat();
        check::in_range(op, label(valid), name, &all, n)?;
        check::distinct(op, label(valid), name, &all)?;
    }
    verify_groups(op, attributes)?;
    check::precision_config(op, label(24), attributes.precision)?;
    let required = result_shape(op, attributes)?;
    check::has_shape(op, label(25), "the result", shape(result), &required)?;
    verify_elements(op, attributes)
}

/// Checks the numbers of groups against the sizes that they divide, for valid dimension numbers.
fn verify_groups(op: OpRef<'_>, attributes: &Attributes<'_>) -> Verdict {
    let label = |constraint| attributes.label(constraint);
    let dims = &attributes.dims;
    let (lhs, rhs) = (op.operand_type(0), op.operand_type(1));
    let (features, batches) = (attributes.feature_groups, attributes.batch_groups);
    require(op, label(23), features == 1 || batches == 1, || {
        format!(
            "feature_group_count or batch_group_count must be 1; found {features} and {batches}"
        )
    })?;
    let feature = shape(lhs)[dims.input_feature_dimension as usize];
    let kernel_input = shape(rhs)[dims.kernel_input_feature_dimension as usize];
    let output_feature = ("rhs", "output feature", dims.kernel_output_feature_dimension);
    for (constraint, (name, count), (operand, role, d)) in [
        (10, ("batch_group_count", batches), ("lhs", "batch", dims.input_batch_dimension)),
        (11, ("feature_group_count", features), ("lhs", "feature", dims.input_feature_dimension)),
        (15, ("batch_group_count", batches), output_feature),
        (16, ("feature_group_count", features), output_feature),
    ] {
        let size = shape(if operand == "lhs" { lhs } else { rhs })[d as usize];
        require(op, label(constraint), size == DYNAMIC || size % count == 0, || {
            let what = format!("dimension {d} of {operand}, the {role} dimension,");
            format!("{what} has size {size}, which {name}, {count}, must divide")
        })?;
    }
    require(
        op,
        label(14),
        feature == DYNAMIC || compat::dims(kernel_input, feature / features),
        || {
            format!(
                "dimension {} of rhs, the input feature dimension, must have size {feature} / {features}: \
                 that of dimension {} of lhs divided by feature_group_count; found {kernel_input}",
                dims.kernel_input_feature_dimension, dims.input_feature_dimension
            )
        },
    )
}

/// The shape of the result, as far as known. The dimension numbers must be valid.
fn result_shape(op: OpRef<'_>, attributes: &Attributes<'_>) -> Result<Vec<i64>, Diagnostic> {
    let dims = &attributes.dims;
    let (lhs, rhs) = (op.operand_type(0), op.operand_type(1));
    let batch = shape(lhs)[dims.input_batch_dimension as usize];
    let mut sizes = vec![DYNAMIC; rank(lhs)];
    sizes[dims.output_batch_dimension as usize] =
        if batch == DYNAMIC { DYNAMIC } else { batch / attributes.batch_groups };
    sizes[dims.output_feature_dimension as usize] =
        shape(rhs)[dims.kernel_output_feature_dimension as usize];
    // The padding operand may be known only at run time. Then the window of dynamic operands is not
    // checked, as upstream: exporters give it more strides than there are dimensions.
    let is_padding_known = attributes.window.padding.is_some() || op.operands().len() == 2;
    let is_static = [lhs, rhs].iter().all(|ty| !shape(ty).contains(&DYNAMIC));
    if !(is_padding_known || is_static) {
        return Ok(sizes);
    }
    let window = spatial_window(op, attributes)?;
    if is_padding_known {
        let base: Vec<i64> =
            dims.input_spatial_dimensions.iter().map(|&d| shape(lhs)[d as usize]).collect();
        let windows = num_windows(op, attributes.label(25), &base, &window)?;
        for (&d, &size) in dims.output_spatial_dimensions.iter().zip(&windows) {
            sizes[d as usize] = size;
        }
    }
    Ok(sizes)
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    refine_convolution(op, &attributes(op))
}

/// Infers the result type from constant operands.
pub(super) fn refine_convolution(op: OpRef<'_>, attributes: &Attributes<'_>) -> Option<Vec<Type>> {
    refine::shaped(op, result_shape(op, attributes).ok()?)
}

/// The window along each spatial dimension, without padding if that is not known.
fn spatial_window(
    op: OpRef<'_>,
    attributes: &Attributes<'_>,
) -> Result<Vec<WindowDim>, Diagnostic> {
    let label = |constraint| attributes.label(constraint);
    let dims = &attributes.dims;
    let rhs = op.operand_type(1);
    let sizes: Vec<i64> =
        dims.kernel_spatial_dimensions.iter().map(|&d| shape(rhs)[d as usize]).collect();
    let window = attributes.window.dims(
        op,
        &sizes,
        WindowLabels {
            sizes: label(25),
            strides: [label(2), label(3)],
            padding: label(4),
            base_dilations: [label(5), label(6)],
            window_dilations: [label(7), label(8)],
        },
    )?;
    if let Some(reversal) = attributes.reversal.filter(|reversal| !reversal.is_empty()) {
        let of = "the rank of lhs less 2";
        check::count(op, label(9), "window_reversal", reversal.len(), sizes.len(), of)?;
    }
    Ok(window)
}

fn verify_elements(op: OpRef<'_>, attributes: &Attributes<'_>) -> Verdict {
    let label = |constraint| attributes.label(constraint);
    let dims = &attributes.dims;
    let (lhs, rhs, result) = (op.operand_type(0), op.operand_type(1), op.result_type(0));
    let is_quantized = quantized::is_quantized;
    if ![lhs, rhs, result].into_iter().any(is_quantized) {
        // Floats of different widths are allowed.
        let (a, b) = (lhs.element_type(), rhs.element_type());
        return require(op, label(27), a == b || a.is_float() && b.is_float(), || {
            format!("lhs and rhs must have one element type; found {lhs} and {rhs}")
        });
    }
    require(op, label(28), is_quantized(lhs) == is_quantized(result) && is_quantized(rhs), || {
        format!(
            "rhs must be quantized, and lhs and the result both or neither; found {lhs}, {rhs} and {result}"
        )
    })?;
    for (constraint, name, ty, dimension) in [
        (29, "rhs", rhs, dims.kernel_output_feature_dimension),
        (30, "the result", result, dims.output_feature_dimension),
    ] {
        let axis = quantized::axis(ty);
        require(op, label(constraint), axis.is_none_or(|a| a as i64 == dimension), || {
            format!(
                "{name} must be quantized along its output feature dimension, {dimension}; found {ty}"
            )
        })?;
    }
    quantized::contraction(op, [label(31), label(32), label(33), label(34)])
}

fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    prepare::with_floats(op, Primitive::Convolution(Box::new(convolution(op, &attributes(op))?)))
}

/// The numbers of a convolution; those of a `dynamic_conv` without the padding.
pub(super) fn convolution(
    op: OpRef<'_>,
    attributes: &Attributes<'_>,
) -> Result<Convolution, EvalError> {
    // The kernel has the sizes of the window.
    let sizes = vec![0; attributes.dims.kernel_spatial_dimensions.len()];
    Ok(Convolution {
        dims: attributes.dims.to_owned(),
        window: attributes.window.prepare(&sizes)?,
        reversal: attributes.reversal.unwrap_or(&[]).iter().map(|&b| b != 0).collect(),
        feature_groups: prepare::to_usize(op, attributes.feature_groups)?,
        batch_groups: prepare::to_usize(op, attributes.batch_groups)?,
        dtype: prepare::expressed_dtype(op.result_type(0))?,
    })
}

/// The features of input and kernel must agree and be divisible into groups, and the result be
/// consistent with both.
fn speculate(op: OpRef<'_>) -> Speculation {
    use speculation::{follows, is_dynamic};
    let attributes = attributes(op);
    let dims = &attributes.dims;
    let (input, kernel) = (op.operand_type(0), op.operand_type(1));
    let (features, batches) = (attributes.feature_groups > 1, attributes.batch_groups > 1);
    let spatial = dims.input_spatial_dimensions.iter().zip(dims.kernel_spatial_dimensions);
    let mut spatial = dims.output_spatial_dimensions.iter().zip(spatial);
    let holds = !is_dynamic(input, dims.input_feature_dimension)
        && !is_dynamic(kernel, dims.kernel_input_feature_dimension)
        && (!batches || !is_dynamic(input, dims.input_batch_dimension))
        && (!batches && !features || !is_dynamic(kernel, dims.kernel_output_feature_dimension))
        && follows(op, dims.output_batch_dimension, 0, dims.input_batch_dimension)
        && follows(op, dims.output_feature_dimension, 1, dims.kernel_output_feature_dimension)
        && spatial.all(|(&to, (&input, &kernel))| {
            follows(op, to, 0, input) && follows(op, to, 1, kernel)
        });
    Speculation::always_if(holds)
}
