//! `stablehlo-legalize-deprecated-ops`: replaces deprecated ops by their successors.

use crate::chlo_legalize::expr::{constant, number_bytes, splat};
use hlo::attrs::DOT_DIMENSION_NUMBERS;
use hlo::ops::*;
use mlir::pass::{OptionKind, Pass, PassContext, PassOption};
use mlir::rewrite::conversion::{ConversionTarget, Legality};
use mlir::rewrite::{PatternSet, RewritePattern};
use mlir::{Attribute, OpRef, Type};

/// Replaces deprecated ops.
pub(crate) const PASS: Pass = Pass::on_functions(
    "stablehlo-legalize-deprecated-ops",
    "Replace deprecated ops by their successors",
    run,
)
.with_options(&[PassOption {
    name: "fail-on-unused",
    doc: "Fail on deprecated ops that cannot be replaced",
    kind: OptionKind::Bool(true),
}]);

/// True if an op is deprecated and has a successor.
pub fn is_deprecated(op: OpRef<'_>) -> bool {
    op.is_any(&[
        BroadcastOp::DEF,
        CreateTokenOp::DEF,
        CrossReplicaSumOp::DEF,
        DotOp::DEF,
        UnaryEinsumOp::DEF,
    ])
}

fn run(cx: &mut PassContext<'_>) {
    let all = cx.options.bool("fail-on-unused");
    let legality = |op: OpRef<'_>| {
        let illegal = is_deprecated(op) || all && op.is_any(&[MapOp::DEF, RngOp::DEF]);
        if illegal { Legality::Illegal } else { Legality::Legal }
    };
    cx.convert(
        &mut PatternSet::new(&[PATTERNS]),
        &ConversionTarget { legality: &legality, types: None },
    );
}

static PATTERNS: &[RewritePattern] = &[
    // broadcast(x, sizes) = broadcast_in_dim(x) along the last dimensions
    RewritePattern::new("broadcast-in-dim", BroadcastOp::DEF, |rw, op| {
        let (operand, ty) = (rw.op(op).operand(0), rw.op(op).result_type(0).clone());
        let (rank, result) = (rw.ty(operand).shape()?.len() as i64, ty.shape()?.len() as i64);
        let dims = Attribute::i64_array((result - rank..result).collect::<Vec<i64>>());
        let new =
            rw.make(BroadcastInDimOp::DEF, [operand]).attr("broadcast_dimensions", dims).result(ty);
        rw.replace(op, &[new]);
        Some(())
    }),
    // create_token = after_all()
    RewritePattern::new("after-all", CreateTokenOp::DEF, |rw, op| {
        let new = rw.make(AfterAllOp::DEF, []).value()?;
        rw.replace(op, &[new]);
        Some(())
    }),
    // cross-replica-sum(x) = all_reduce(x) by +
    RewritePattern::new("all-reduce", CrossReplicaSumOp::DEF, |rw, op| {
        let (operand, ty) = (rw.op(op).operand(0), rw.op(op).result_type(0).clone());
        let groups = CrossReplicaSumOp(rw.op(op)).replica_groups().clone();
        let scalar = Type::tensor([], ty.element_type().clone());
        let (region, block) = rw.region_with_block([scalar.clone(), scalar.clone()]);
        let arguments = rw.arguments(block).to_vec();
        rw.within(block, |rw| {
            let sum = rw.make(AddOp::DEF, arguments).result(scalar);
            rw.make(ReturnOp::DEF, [sum]).results([]);
        });
        let new = rw
            .make(AllReduceOp::DEF, [operand])
            .attr("replica_groups", groups)
            .region(region)
            .results([ty]);
        rw.replace_with(op, new);
        Some(())
    }),
    // dot(x, y) = dot_general(x, y), contracting the last dimension of x and the first of y
    RewritePattern::new("dot-general", DotOp::DEF, |rw, op| {
        let (operands, ty) = (rw.op(op).operands().to_vec(), rw.op(op).result_type(0).clone());
        let last = rw.op(op).operand_type(0).shape()?.len().checked_sub(1)?;
        let lists = [vec![], vec![], vec![last as i64], vec![0]]
            .map(|list| Some(Attribute::i64_array(list)));
        let numbers = Attribute::dialect(&DOT_DIMENSION_NUMBERS, lists.into());
        let precision = rw.op(op).attr("precision_config").cloned();
        let new = rw
            .make(DotGeneralOp::DEF, operands)
            .attr("dot_dimension_numbers", numbers)
            .optional_attr("precision_config", precision.as_ref());
        let new = new.result(ty);
        rw.replace(op, &[new]);
        Some(())
    }),
    // unary_einsum(x, "a->b") = einsum(1, x, ",a->b")
    RewritePattern::new("einsum", UnaryEinsumOp::DEF, |rw, op| {
        let (operand, ty) = (rw.op(op).operand(0), rw.op(op).result_type(0).clone());
        let config = format!(",{}", UnaryEinsumOp(rw.op(op)).einsum_config());
        let element = rw.ty(operand).element_type().clone();
        let one = splat(Type::tensor([], element.clone()), number_bytes(&element, 1.0)?)?;
        let one = constant(rw, one)?;
        let new = rw
            .make(EinsumOp::DEF, [one, operand])
            .attr("einsum_config", Attribute::string(config))
            .result(ty);
        rw.replace(op, &[new]);
        Some(())
    }),
];
