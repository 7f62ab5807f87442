//! The ops of the dialect.

use super::attrs::{MESH_TENSOR, REDUCTION, REDUCTION_TYPE, USER_ORIGIN};
use super::topology::MeshTensor;
use super::verify;
use crate::constraints::{TOKEN, VALUE_TENSOR_OR_TOKEN};
use crate::sdy::{SHARDING_PER_VALUE, parse_body, print_body};
use mlir::ods::{AttrConstraint, DirectiveArg, Ranks, TensorRule, TypeConstraint, TypeRule};
use mlir::prepare::{Prepared, Preparer};
use mlir::text::{OpState, Parsed, Parser, Printer, TypeList};
use mlir::{Attribute, Diagnostic, OpRef, Type, op};
use program::EvalError;

static TENSOR: TypeConstraint = TypeConstraint {
    summary: "a tensor",
    rule: TypeRule::Tensor(TensorRule { ranks: Ranks::Any, ..TensorRule::ranked(&[]) }),
};

static ON_MESH: TypeConstraint = TypeConstraint {
    summary: "a tensor on a mesh",
    rule: TypeRule::Is(|ty| ty.as_dialect(&MESH_TENSOR).is_some()),
};

static ON_MESH_OR_TOKEN: TypeConstraint = TypeConstraint {
    summary: "a tensor on a mesh, or a token",
    rule: TypeRule::AnyOf(&[&ON_MESH, &TOKEN]),
};

static TENSOR_OR_ON_MESH: TypeConstraint = TypeConstraint {
    summary: "a tensor, on a mesh or not",
    rule: TypeRule::AnyOf(&[&TENSOR, &ON_MESH]),
};

static ORIGIN: AttrConstraint = AttrConstraint::Def(&USER_ORIGIN);

/// Running programs over several meshes is not supported.
fn prepare(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    let message = format!(
        "{} cannot run: programs over several meshes can be read, checked and written, but only \
         those over one mesh run",
        op.name()
    );
    Err(EvalError::new("unsupported", message))
}

op! {
    /// Ends the region of an op of this dialect with its results.
    pub ReturnOp, "mpmd.return" {
        operands { results: variadic TypeConstraint::ANY }
        traits [Pure, Terminator, ReturnLike]
        hooks {
            format: "attr-dict $results (`:` type($results)^)?",
        }
    }
}

op! {
    /// A part of the user's program with a name, by which it can be assigned to a mesh, and with
    /// the number of times that differentiation transposed it.
    pub NamedComputationOp, "mpmd.named_computation" {
        operands { tensors: variadic VALUE_TENSOR_OR_TOKEN }
        results { results: variadic VALUE_TENSOR_OR_TOKEN }
        attributes { origin: required Def(&USER_ORIGIN) }
        regions { region: one }
        traits [
            RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("mpmd.return"),
            IsolatedFromAbove,
        ]
        hooks {
            format:
                "`<` custom<UserOrigin>($origin) `>` `(` $tensors `)` attr-dict \
                 custom<Body>($region) `:` functional-type($tensors, $results)",
            verify_regions: verify::named_computation,
            prepare: prepare,
        }
    }
}

op! {
    /// The same tensor, under a name by which it can be assigned to a mesh.
    pub NamedTensorOp, "mpmd.named_tensor" {
        operands { tensor: single TENSOR }
        results { result: single TENSOR }
        attributes { name: required String }
        traits [Pure, SameOperandsAndResultType]
        hooks {
            format: "$tensor `name` `` `=` `` $name attr-dict `:` type($result)",
            prepare: prepare,
        }
    }
}

op! {
    /// A part of the program that one mesh runs. Operands and results are on that mesh; the body is
    /// written for whole tensors. The origins are the named computations that it was made of.
    pub FragmentOp, "mpmd.fragment" {
        operands { inputs: variadic ON_MESH_OR_TOKEN }
        results { results: variadic ON_MESH_OR_TOKEN }
        attributes {
            origin: required ArrayOf(&ORIGIN),
            mesh_name: required String,
            stage_id: optional Int(64),
            in_shardings: optional Def(&SHARDING_PER_VALUE),
            out_shardings: optional Def(&SHARDING_PER_VALUE),
        }
        regions { region: one }
        traits [
            RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("mpmd.return"),
            IsolatedFromAbove, HasParent(&["func.func", "mpmd.for"]),
        ]
        hooks {
            format:
                "`<` custom<Assignment>($mesh_name, $origin, $stage_id, $in_shardings, \
                 $out_shardings) `>` `(` $inputs `)` attr-dict custom<Body>($region) `:` \
                 functional-type($inputs, $results)",
            verify_regions: verify::fragment,
            prepare: prepare,
        }
    }
}

op! {
    /// Calls a function whose body is a part of the program that one mesh runs.
    pub FragmentCallOp, "mpmd.fragment_call" {
        operands { tensors: variadic ON_MESH }
        results { results: variadic ON_MESH }
        attributes {
            origin: required ArrayOf(&ORIGIN),
            mesh_name: required String,
            callee: required FlatSymbolRef,
        }
        traits [Call("callee"), HasParent(&["func.func"])]
        hooks {
            format:
                "`<` custom<Assignment>($mesh_name, $origin) `>` $callee `(` $tensors `)` attr-dict \
                 `:` functional-type($tensors, $results)",
            verify_symbols: verify::fragment_call,
            prepare: prepare,
        }
    }
}

op! {
    /// Moves a tensor to another mesh, or splits it otherwise on its own.
    pub TransferOp, "mpmd.transfer" {
        operands { tensor: single ON_MESH }
        results { result: single ON_MESH }
        traits [Pure, HasParent(&["func.func"])]
        hooks {
            format: "attr-dict $tensor `:` functional-type($tensor, $result)",
            verify: verify::transfer,
            prepare: prepare,
        }
    }
}

op! {
    /// Puts a tensor on a mesh, whole on each device.
    pub AssignOp, "mpmd.assign" {
        operands { tensor: single TENSOR }
        results { result: single ON_MESH }
        attributes { origin: optional String }
        traits [Pure, HasParent(&["func.func", "mpmd.for"])]
        hooks {
            format: "attr-dict $tensor `:` functional-type($tensor, $result)",
            verify: verify::assignment,
            prepare: prepare,
        }
    }
}

op! {
    /// Takes a tensor that is whole on each device off its mesh.
    pub UnassignOp, "mpmd.unassign" {
        operands { tensor: single ON_MESH }
        results { result: single TENSOR }
        attributes { origin: optional String }
        traits [Pure, HasParent(&["func.func", "mpmd.for"])]
        hooks {
            format: "attr-dict $tensor `:` functional-type($tensor, $result)",
            verify: verify::assignment,
            infer: infer_unassign,
            prepare: prepare,
        }
    }
}

fn infer_unassign(op: OpRef<'_>) -> Result<Vec<Type>, Diagnostic> {
    let tensor = MeshTensor::of(op.module().ty(op.operand(0)));
    Ok(tensor.map(|tensor| tensor.tensor.clone()).into_iter().collect())
}

op! {
    /// Calls a function, such as the shared body of loops.
    pub CallOp, "mpmd.call" {
        operands { tensors: variadic TENSOR_OR_ON_MESH }
        results { results: variadic TENSOR_OR_ON_MESH }
        attributes { callee: required FlatSymbolRef }
        traits [Call("callee")]
        hooks {
            format: "$callee `(` $tensors `)` attr-dict `:` functional-type($tensors, $results)",
            verify: verify::call,
            verify_symbols: verify::call_symbol,
            prepare: prepare,
        }
    }
}

op! {
    /// Runs its region for a fixed number of iterations. The region takes the carried values and
    /// the index of the iteration, and returns the next carried values.
    pub ForOp, "mpmd.for" {
        operands { tensors: variadic TypeConstraint::ANY }
        results { results: variadic TypeConstraint::ANY }
        attributes { iterations: required UInt(32), unroll_factor: optional UInt(32) }
        regions { region: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("mpmd.return")]
        hooks {
            parse: parse_for,
            print: print_for,
            argument_name: |op, _, index| (index == op.operands().len()).then(|| "index".into()),
            verify_regions: verify::for_op,
            prepare: prepare,
        }
    }
}

/// Reads `(%a, %b) {iterations = 3 : ui32} (%c: T, %d: U, %index: tensor<ui32>) {…} : T, U`.
fn parse_for(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    parser.expect("(")?;
    parser.list_until(")", |p| {
        state.operands[0].push(p.operand()?);
        Ok(())
    })?;
    parser.optional_attr_dict(state)?;
    parse_body(parser, state, &[DirectiveArg::Region(0)])?;
    parser.expect(":")?;
    let mut types = TypeList::new();
    while types.len() < state.operands[0].len() {
        if !types.is_empty() {
            parser.expect(",")?;
        }
        types.push(parser.ty()?);
    }
    state.operand_types[0] = Some(types.clone());
    state.result_types[0] = Some(types);
    Ok(())
}

fn print_for(printer: &mut Printer<'_>, op: OpRef<'_>) {
    printer.write(" (");
    printer.values(op.operands());
    printer.write(")");
    printer.attr_dict(op, &[]);
    printer.write(" ");
    print_body(printer, op, &[DirectiveArg::Region(0)]);
    printer.write(" : ");
    printer.types(op.result_types());
}

op! {
    /// The same tensor, which may be copied to each mesh that uses it.
    pub BroadcastOp, "mpmd.broadcast" {
        operands { tensor: single TENSOR }
        results { result: single TENSOR }
        traits [Pure, SameOperandsAndResultType]
        hooks {
            format: "attr-dict $tensor `:` type($tensor)",
            prepare: prepare,
        }
    }
}

/// The reduction of one value, which is that value.
fn no_reduction() -> Attribute {
    Attribute::dialect(&REDUCTION, vec![Some(Attribute::enumeration(&REDUCTION_TYPE, 0))])
}

op! {
    /// Combines tensors of several meshes to one, which may be copied to each mesh that uses it.
    pub ReduceOp, "mpmd.reduce" {
        operands { tensors: variadic TENSOR }
        results { result: single TENSOR }
        attributes { reduction: default Def(&REDUCTION) => DefaultValue::Computed(no_reduction) }
        traits [Pure, SameOperandsAndResultType]
        hooks {
            format: "`` $reduction attr-dict $tensors `:` functional-type($tensors, $result)",
            verify: verify::reduce,
            prepare: prepare,
        }
    }
}
