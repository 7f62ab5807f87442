//! The ops of the dialect.

use super::attrs::{
    ALL_TO_ALL_PARAM_LIST, AXIS_REF_LIST, LIST_OF_AXIS_REF_LISTS, MANUAL_AXES, MESH,
    PROPAGATION_DIRECTION, REDUCTION_OP, SHARDING, SHARDING_PER_VALUE,
};
use super::computations::{verify_manual_computation, verify_named_computation, verify_shards};
use super::{collectives, edges, prepare};
use crate::mpmd::MESH_TENSOR;
use mlir::ods::{DirectiveArg, TensorRule, TypeConstraint, TypeRule};
use mlir::text::{OpState, Parsed, Parser, Printer};
use mlir::{Diagnostic, OpRef, Type, op};

static STATIC_TENSOR: TypeConstraint = TypeConstraint {
    summary: "a tensor with static shape",
    rule: TypeRule::Tensor(TensorRule { static_shape: true, ..TensorRule::ranked(&[]) }),
};

static RANKED_TENSOR: TypeConstraint =
    TypeConstraint { summary: "a ranked tensor", rule: TypeRule::Tensor(TensorRule::ranked(&[])) };

static SHAPED: TypeConstraint = TypeConstraint {
    summary: "a tensor, vector, memref or tensor on a mesh",
    rule: TypeRule::Is(|ty| ty.is_shaped() || ty.as_dialect(&MESH_TENSOR).is_some()),
};

op! {
    /// A named mesh of devices. Programs that do not use this dialect have `stablehlo.mesh`
    /// instead.
    pub MeshOp, "sdy.mesh" {
        attributes {
            sym_name: required SymbolName,
            mesh: required_unless Def(&MESH) => "stablehlo.mesh",
        }
        traits [Symbol, HasParent(&["builtin.module"])]
        hooks {
            format: "$sym_name (`=` $mesh^)? attr-dict",
        }
    }
}

macro_rules! with_sharding {
    ($($(#[doc = $doc:literal])+ $view:ident, $name:literal;)*) => {
        $(op! {
            $(#[doc = $doc])+
            pub $view, $name {
                operands { input: single TypeConstraint::ANY }
                results { result: single TypeConstraint::ANY }
                attributes { sharding: required Def(&SHARDING) }
                traits [Pure, Elementwise, SameOperandsAndResultType]
                hooks {
                    format: "$input $sharding attr-dict `:` type($result)",
                    verify_symbols: collectives::annotation,
                    prepare: prepare::identity,
                }
            }
        })*
    };
}

with_sharding! {
    /// The same tensor with another sharding.
    ReshardOp, "sdy.reshard";
    /// The same tensor with the sharding that propagation must give it.
    ShardingConstraintOp, "sdy.sharding_constraint";
}

op! {
    /// Ends the region of an op of this dialect with its results.
    pub ReturnOp, "sdy.return" {
        operands { results: variadic TypeConstraint::ANY }
        traits [Pure, Terminator, ReturnLike]
        hooks {
            format: "attr-dict ($results^ `:` type($results))?",
        }
    }
}

op! {
    /// A computation written for one device, with its own collectives.
    pub ManualComputationOp, "sdy.manual_computation" {
        operands { tensors: variadic TypeConstraint::ANY }
        results { results: variadic TypeConstraint::ANY }
        attributes {
            in_shardings: required Def(&SHARDING_PER_VALUE),
            out_shardings: required Def(&SHARDING_PER_VALUE),
            manual_axes: required Def(&MANUAL_AXES),
        }
        regions { body: one }
        traits [
            RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("sdy.return"),
            IsolatedFromAbove,
        ]
        hooks {
            format:
                "`(` $tensors `)` `in_shardings` `` `=` `` custom<Shardings>($in_shardings) \
                 `out_shardings` `` `=` `` custom<Shardings>($out_shardings) \
                 `manual_axes` `` `=` `` $manual_axes custom<Body>($body) attr-dict `:` functional-type($tensors, $results)",
            verify: verify_manual_computation,
            verify_symbols: verify_shards,
            refine: prepare::whole_types,
            prepare: prepare::manual_computation,
        }
    }
}

op! {
    /// A named computation, through which shardings propagate as if it were inlined.
    pub NamedComputationOp, "sdy.named_computation" {
        operands { operands: variadic TypeConstraint::ANY }
        results { results: variadic TypeConstraint::ANY }
        attributes {
            name: required String,
            in_shardings: optional Def(&SHARDING_PER_VALUE),
            out_shardings: optional Def(&SHARDING_PER_VALUE),
        }
        regions { body: one }
        traits [
            RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("sdy.return"),
            IsolatedFromAbove,
        ]
        hooks {
            format:
                "`<` $name `>` `` `(` $operands `)` \
                 (`in_shardings` `` `=` `` custom<Shardings>($in_shardings)^)? \
                 (`out_shardings` `` `=` `` custom<Shardings>($out_shardings)^)? \
                 custom<Body>($body) attr-dict `:` functional-type($operands, $results)",
            verify: verify_named_computation,
            refine: |op| prepare::returned_types(op, NamedComputationOp(op).body()),
            prepare: prepare::named_computation,
        }
    }
}

/// Reads `(%a: T) {…}` into the region slot named by `args`.
pub(crate) fn parse_body(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let &[DirectiveArg::Region(slot)] = args else { return Ok(()) };
    let mut arguments = Vec::new();
    parser.expect("(")?;
    parser.list_until(")", |p| {
        arguments.push(p.region_argument()?);
        Ok(())
    })?;
    let region = parser.region_with_terminator(state.def, arguments)?;
    state.regions[slot].push(region);
    Ok(())
}

pub(crate) fn print_body(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let &[DirectiveArg::Region(slot)] = args else { return };
    let (module, region) = (op.module(), op.regions()[slot]);
    printer.write("(");
    if let Some(block) = module.entry(region) {
        printer
            .separated(", ", 0..module.arguments(block).len(), |p, i| p.argument(module, block, i));
    }
    printer.write(") ");
    printer.region(op, region, false, true);
}

op! {
    /// Adds a tensor to a numbered group, all of whose tensors must have the same sharding.
    pub ShardingGroupOp, "sdy.sharding_group" {
        operands { input: single RANKED_TENSOR }
        attributes { group_id: required Int(64) }
        hooks {
            format: "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)",
            prepare: prepare::nothing,
        }
    }
}

op! {
    /// A constant that is never merged with an equal one.
    pub ConstantOp, "sdy.constant" {
        results { output: single STATIC_TENSOR }
        attributes { value: required Elements }
        traits [Pure]
        hooks {
            format: "attr-dict $value",
            infer: infer_constant,
            prepare: prepare::constant,
        }
    }
}

fn infer_constant(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    Ok(vec![ConstantOp(op).value().ty()])
}

op! {
    /// Ties together values that must have the same sharding, such as the operand, argument and
    /// result of a loop.
    pub DataFlowEdgeOp, "sdy.data_flow_edge" {
        operands { input: single SHAPED }
        results { result: single SHAPED }
        attributes { sharding: optional Def(&SHARDING) }
        traits [SameOperandsAndResultType]
        hooks {
            format: "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)",
            verify_symbols: edges::data_flow_edge,
            prepare: prepare::identity,
        }
    }
}

op! {
    /// Ties together values of a function that must have the same sharding.
    pub FuncDataFlowEdgeOp, "sdy.func_data_flow_edge" {
        operands { operand: single SHAPED }
        results { result: single SHAPED }
        traits [SameOperandsAndResultType]
        hooks {
            format: "$operand attr-dict `:` type($operand)",
            verify_symbols: edges::func_data_flow_edge,
            prepare: prepare::identity,
        }
    }
}

op! {
    /// Blocks sharding propagation in the directions that are not allowed.
    pub PropagationBarrierOp, "sdy.propagation_barrier" {
        operands { input: single RANKED_TENSOR }
        results { result: single RANKED_TENSOR }
        attributes { allowed_direction: required IntEnum(32, &PROPAGATION_DIRECTION) }
        traits [Pure, SameOperandsAndResultType]
        hooks {
            format:
                "$input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` \
                 type($input)",
            verify: collectives::propagation_barrier,
            prepare: prepare::identity,
        }
    }
}

macro_rules! collectives {
    ($(
        $(#[doc = $doc:literal])+
        $view:ident, $name:literal, $verify:ident, $axes:ident: $def:ident
        $(, by $reduction:ident)?, $format:literal;
    )*) => {
        $(op! {
            $(#[doc = $doc])+
            pub $view, $name {
                operands { tensor: single SHAPED }
                results { result: single SHAPED }
                attributes {
                    $axes: required Def(&$def),
                    out_sharding: required Def(&SHARDING),
                    $(reduction_op: implied IntEnum(32, &$reduction) => DefaultValue::I32(0),)?
                }
                traits [SameOperandsAndResultType]
                hooks {
                    format: $format,
                    verify_symbols: collectives::$verify,
                    prepare: prepare::identity,
                }
            }
        })*
    };
}

collectives! {
    /// Gathers the parts of each dimension along the listed axes.
    AllGatherOp, "sdy.all_gather", all_gather, gathering_axes: LIST_OF_AXIS_REF_LISTS,
        "$gathering_axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
    /// Reduces along the listed axes.
    AllReduceOp, "sdy.all_reduce", all_reduce, reduction_axes: AXIS_REF_LIST, by REDUCTION_OP,
        "($reduction_op^)? $reduction_axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
    /// Splits each dimension along the listed axes.
    AllSliceOp, "sdy.all_slice", all_slice, slicing_axes: LIST_OF_AXIS_REF_LISTS,
        "$slicing_axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
    /// Moves axes from one dimension to another.
    AllToAllOp, "sdy.all_to_all", all_to_all, params: ALL_TO_ALL_PARAM_LIST,
        "$params $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
    /// Reduces, and splits each dimension along the same axes.
    ReduceScatterOp, "sdy.reduce_scatter", reduce_scatter, reduce_scatter_axes: LIST_OF_AXIS_REF_LISTS, by REDUCTION_OP,
        "($reduction_op^)? $reduce_scatter_axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
    /// Marks axes over which the tensor was replicated as to be reduced.
    ReplicatedToUnreducedOp, "sdy.replicated_to_unreduced", replicated_to_unreduced, axes: AXIS_REF_LIST,
        "$axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
    /// Marks axes over which the tensor was split as to be reduced.
    ShardedToUnreducedOp, "sdy.sharded_to_unreduced", sharded_to_unreduced, axes: LIST_OF_AXIS_REF_LISTS,
        "$axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
}

op! {
    /// Exchanges parts between devices so that the dimensions are split along other axes.
    pub CollectivePermuteOp, "sdy.collective_permute" {
        operands { tensor: single SHAPED }
        results { result: single SHAPED }
        attributes { out_sharding: required Def(&SHARDING) }
        traits [SameOperandsAndResultType]
        hooks {
            format: "$tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)",
            verify_symbols: collectives::collective_permute,
            prepare: prepare::identity,
        }
    }
}
