//! The MHLO dialect, from which StableHLO and CHLO descend: TensorFlow and older JAX write its ops,
//! which are theirs under another name. One that is not becomes a custom call when it is read, as
//! upstream's conversion makes it, but ops that are private to XLA stay.

mod function_attributes;
mod private;
mod wider;

pub use function_attributes::RESULT_ALIAS;
pub use private::*;
pub use wider::*;

use self::wider::has_unnamed_dimensions;
use crate::CHLO;
use crate::constraints::TENSOR;
use hlo::STABLEHLO;
use hlo::attrs::{CONV_DIMENSION_NUMBERS, ConvDims, MHLO_CONV_DIMENSION_NUMBERS};
use hlo::constraints::{SIGNED, UNSIGNED};
use hlo::enums::PRECISION;
use hlo::ops::{CustomCallOp, ReshapeOp};
use mlir::attrs::Dictionary;
use mlir::ods::{Dialect, Ranks, TensorRule, TypeConstraint, TypeRule};
use mlir::pass::PassOptions;
use mlir::rewrite::Rewriter;
use mlir::types::DYNAMIC;
use mlir::{Attribute, Module, OpId, OpRef, Type, Verdict, op};

/// The MHLO dialect.
pub static MHLO: Dialect = Dialect {
    namespace: "mhlo",
    partial: true,
    has_all_types: true,
    ops: &[
        AcosOp::DEF,
        AcoshOp::DEF,
        AddDependencyOp::DEF,
        AllToAllOp::DEF,
        AsinOp::DEF,
        AsinhOp::DEF,
        AsyncDoneOp::DEF,
        AsyncStartOp::DEF,
        AsyncUpdateOp::DEF,
        AtanhOp::DEF,
        BitcastOp::DEF,
        ConvolutionOp::DEF,
        CopyOp::DEF,
        CoshOp::DEF,
        DomainOp::DEF,
        DynamicConvOp::DEF,
        DynamicReshapeOp::DEF,
        ErfOp::DEF,
        FusionOp::DEF,
        RaggedDotOp::DEF,
        SinhOp::DEF,
        StochasticConvertOp::DEF,
        TopkOp::DEF,
        TraceOp::DEF,
        XlaRngGetAndUpdateStateOp::DEF,
    ],
    attributes: &[&MHLO_CONV_DIMENSION_NUMBERS, &RESULT_ALIAS],
    directives: hlo::directives::DIRECTIVES,
    verify_attribute: Some(function_attributes::verify_attribute),
    verify_value_attribute: Some(function_attributes::verify_value_attribute),
    enums: &[&CUSTOM_CALL_SCHEDULE, &FUSION_KIND, &DOMAIN_KIND],
    types: &[&ASYNC_BUNDLE],
    successors: &[&STABLEHLO, &CHLO],
    ..Dialect::EMPTY
};

macro_rules! functions {
    ($($(#[doc = $doc:literal])+ $view:ident, $name:literal;)*) => {
        $(op! {
            $(#[doc = $doc])+
            pub $view, $name {
                operands { operand: single TENSOR }
                results { result: single TENSOR }
                traits [Pure, Elementwise, SameOperandsAndResultType]
                hooks { format: "$operand attr-dict `:` type($result)", }
            }
        })*
    };
}

// Functions of CHLO, whose text has two types. Read as theirs.
functions! {
    /// Inverse cosine.
    AcosOp, "mhlo.acos";
    /// Inverse hyperbolic cosine.
    AcoshOp, "mhlo.acosh";
    /// Inverse sine.
    AsinOp, "mhlo.asin";
    /// Inverse hyperbolic sine.
    AsinhOp, "mhlo.asinh";
    /// Inverse hyperbolic tangent.
    AtanhOp, "mhlo.atanh";
    /// Hyperbolic cosine.
    CoshOp, "mhlo.cosh";
    /// Error function.
    ErfOp, "mhlo.erf";
    /// Hyperbolic sine.
    SinhOp, "mhlo.sinh";
}

op! {
    /// The `k` largest elements along the last dimension, or the smallest, and their indices. Read
    /// as the custom call of that name.
    pub TopkOp, "mhlo.topk" {
        operands { operand: single TENSOR }
        results { values: single TENSOR, indices: single TENSOR }
        attributes { k: required Int(64), largest: implied Bool => DefaultValue::Bool(true) }
        traits [Pure]
        hooks {
            format:
                "`(` $operand `,` `k` `=` $k (`,` `largest` `=` $largest^)? `)` attr-dict \
                 `:` type($operand) `->` `(` type($values) `,` type($indices) `)`",
            verify: verify_top_k,
        }
    }
}

static PADDING: TypeConstraint = TypeConstraint {
    summary: "a statically shaped tensor of integers of 1 or 2 dimensions",
    rule: TypeRule::Tensor(TensorRule {
        ranks: Ranks::OneOf(&[1, 2]),
        static_shape: true,
        ..TensorRule::ranked(&[&SIGNED, &UNSIGNED])
    }),
};

op! {
    /// As StableHLO's, but the padding may be a list, too: low and high of each spatial dimension.
    /// That of another number of dimensions is an error only when the op is converted.
    pub DynamicConvOp, "mhlo.dynamic_conv" {
        operands { lhs: single TENSOR, rhs: single TENSOR, d_padding: single PADDING }
        results { result: single TENSOR }
        attributes {
            window_strides: optional I64Array,
            lhs_dilation: optional I64Array,
            rhs_dilation: optional I64Array,
            window_reversal: optional BoolArray,
            dimension_numbers: required Def(&CONV_DIMENSION_NUMBERS),
            feature_group_count: required Positive(64),
            batch_group_count: required Positive(64),
            precision_config: optional ArrayOf(&Enum(&PRECISION)),
        }
        traits [NoMemoryEffect]
        hooks {
            verify: verify_padding,
        }
    }
}

/// The shape of an operand. `None` if it has none, or the op, which may not be verified, lacks it.
fn operand_shape(op: OpRef<'_>, index: usize) -> Option<&[i64]> {
    op.operand_types().nth(index)?.shape()
}

fn verify_padding(op: OpRef<'_>) -> Verdict {
    match operand_shape(op, 2) {
        Some([size]) if size % 2 != 0 => {
            let message =
                format!("the padding must have 2 elements a spatial dimension; found {size}");
            Err(op.error("dynamic_conv", message))
        }
        _ => Ok(()),
    }
}

fn verify_top_k(op: OpRef<'_>) -> Verdict {
    let k = op.attr("k").and_then(Attribute::as_i64).unwrap_or_default();
    let last = match operand_shape(op, 0) {
        None => return Ok(()),
        Some(shape) => shape.last(),
    };
    match last {
        Some(&size) if size == DYNAMIC || size >= k => Ok(()),
        Some(size) => {
            let message =
                format!("the last dimension must have at least k = {k} elements; found {size}");
            Err(op.error("top_k", message))
        }
        None => Err(op.error("top_k", "the operand must have at least one dimension")),
    }
}

/// True if a text may hold ops of [`MHLO`] itself.
pub fn may_be_in(text: &str) -> bool {
    let is_op = |at: usize| MHLO.ops.iter().any(|op| text[at..].starts_with(op.name));
    text.match_indices("mhlo.").any(|(at, _)| is_op(at))
}

/// Replaces ops of [`MHLO`] itself by those of CHLO of that name, or else by custom calls.
pub fn replace_former_ops(module: &mut Module) {
    let top = module.top().id();
    let found: Vec<OpId> =
        module.walk(top).filter(|op| op.is_any(MHLO.ops)).map(|op| op.id()).collect();
    let options = PassOptions::default();
    let mut rw = Rewriter::new(module, &options);
    for op in found {
        rw.set_root(op);
        let view = rw.op(op);
        let _ = if view.is(TopkOp::DEF) {
            replace_top_k(&mut rw, op)
        } else if view.is(DynamicConvOp::DEF) {
            replace_dynamic_conv(&mut rw, op)
        } else {
            replace_wider(&mut rw, op).or_else(|| replace_function(&mut rw, op))
        };
    }
}

fn replace_function(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    let successor = CHLO.op(view.def()?.mnemonic())?;
    let operands = view.operands().to_vec();
    let types: Vec<Type> = view.result_types().cloned().collect();
    let new = rw.make(successor, operands).attributes_of(op).results(types);
    rw.replace_with(op, new);
    Some(())
}

/// `None` if the op is invalid, which verification reports.
fn replace_dynamic_conv(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    verify_padding(view).ok()?;
    let mut operands = view.operands().to_vec();
    let types: Vec<Type> = view.result_types().cloned().collect();
    let padding = view.operand_types().nth(2)?;
    let spatial = ConvDims::of(view.attr("dimension_numbers")?)?.input_spatial_dimensions.len();
    let is_of_others = match padding.shape() {
        Some(&[rows, columns]) => {
            rows != DYNAMIC && columns != DYNAMIC && [rows, columns] != [spatial as i64, 2]
        }
        _ => false,
    };
    if is_of_others || has_unnamed_dimensions(view)? {
        return None;
    }
    if let Some(&[size]) = padding.shape() {
        let ty = Type::tensor([size / 2, 2], padding.element_type().clone());
        operands[2] = rw.make(ReshapeOp::DEF, [operands[2]]).result(ty);
    }
    let new = rw.make(hlo::ops::DynamicConvOp::DEF, operands).attributes_of(op).results(types);
    rw.replace_with(op, new);
    Some(())
}

/// `None` if the op is invalid, which verification reports.
fn replace_top_k(rw: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let view = rw.op(op);
    verify_top_k(view).ok()?;
    let entries = vec![
        ("k".into(), view.attr("k")?.clone()),
        ("largest".into(), view.attr("largest").cloned().unwrap_or_else(|| Attribute::bool(true))),
    ];
    let attributes: Attribute = Dictionary::new(entries).ok()?.into();
    let (operands, types) = (view.operands().to_vec(), view.result_types().cloned());
    let types: Vec<Type> = types.collect();
    let call = rw
        .make(CustomCallOp::DEF, operands)
        .attr("call_target_name", Attribute::string("mhlo.topk"))
        .attr("mhlo.attributes", attributes)
        .attr("mhlo.version", Attribute::i64(1))
        .results(types);
    rw.replace_with(op, call);
    Some(())
}
