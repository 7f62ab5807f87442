//! The memref and bufferization dialects, as far as StableHLO programs use them: casts between
//! buffers and tensors.
//!
//! Source: MLIR, "'memref' Dialect" and "'bufferization' Dialect".

use mlir::ods::{Dialect, TypeConstraint, TypeRule};
use mlir::rewrite::Folded;
use mlir::verify::have_compatible_shapes;
use mlir::{Attribute, OpRef, Type, TypeKind, Verdict, op};

/// The memref dialect.
pub static MEMREF: Dialect =
    Dialect { namespace: "memref", partial: true, ops: &[CastOp::DEF], ..Dialect::EMPTY };

/// The bufferization dialect.
pub static BUFFERIZATION: Dialect = Dialect {
    namespace: "bufferization",
    partial: true,
    ops: &[ToBufferOp::DEF, ToTensorOp::DEF],
    ..Dialect::EMPTY
};

static BUFFER: TypeConstraint = TypeConstraint {
    summary: "a memref",
    rule: TypeRule::Is(|ty| {
        matches!(**ty, TypeKind::MemRef { .. } | TypeKind::UnrankedMemRef { .. })
    }),
};

static TENSOR: TypeConstraint = TypeConstraint {
    summary: "a tensor",
    rule: TypeRule::Is(|ty| {
        matches!(**ty, TypeKind::RankedTensor(_) | TypeKind::UnrankedTensor(_))
    }),
};

op! {
    /// The same buffer with a more or less specific shape.
    pub CastOp, "memref.cast" {
        operands { source: single BUFFER }
        results { dest: single BUFFER }
        traits [Pure]
        hooks {
            format: "$source attr-dict `:` type($source) `to` type($dest)",
            verify: verify_cast,
        }
    }
}

fn verify_cast(op: OpRef<'_>) -> Verdict {
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let fits = from.element_type() == to.element_type()
        && memory_space(from) == memory_space(to)
        && (from.shape().is_some() || to.shape().is_some())
        && have_compatible_shapes(from, to);
    if !fits {
        return Err(op.error("cast", format!("a buffer of type {from} cannot have type {to}")));
    }
    Ok(())
}

fn memory_space(ty: &Type) -> Option<&Attribute> {
    match &**ty {
        TypeKind::MemRef { memory_space, .. } | TypeKind::UnrankedMemRef { memory_space, .. } => {
            memory_space.as_ref()
        }
        _ => None,
    }
}

op! {
    /// A buffer's contents as a tensor.
    pub ToTensorOp, "bufferization.to_tensor" {
        operands { buffer: single BUFFER }
        results { result: single TENSOR }
        attributes { restrict: optional Unit, writable: optional Unit }
        hooks {
            format:
                "$buffer (`restrict` $restrict^)? (`writable` $writable^)? attr-dict \
                 `:` type($buffer) `to` type($result)",
            verify: verify_to_tensor,
        }
    }
}

fn verify_to_tensor(op: OpRef<'_>) -> Verdict {
    verify_alike(op, op.operand_type(0), op.result_type(0))
}

op! {
    /// A buffer with the contents of a tensor.
    pub ToBufferOp, "bufferization.to_buffer" {
        operands { tensor: single TENSOR }
        results { buffer: single BUFFER }
        attributes { read_only: optional Unit }
        traits [Pure]
        hooks {
            format:
                "$tensor (`read_only` $read_only^)? attr-dict `:` type($tensor) `to` type($buffer)",
            verify: verify_to_buffer,
            fold: fold_to_buffer,
        }
    }
}

fn verify_to_buffer(op: OpRef<'_>) -> Verdict {
    verify_alike(op, op.operand_type(0), op.result_type(0))
}

/// Checks that a tensor and its buffer have the same shape and element type.
fn verify_alike(op: OpRef<'_>, from: &Type, to: &Type) -> Verdict {
    if from.shape() != to.shape() || from.element_type() != to.element_type() {
        let message = format!(
            "tensor and buffer must have one shape and element type; found {from} and {to}"
        );
        return Err(op.error("buffer", message));
    }
    Ok(())
}

/// `to_buffer(to_tensor(x)) = x`
fn fold_to_buffer(op: OpRef<'_>, _: &[Option<Attribute>]) -> Option<Vec<Folded>> {
    let module = op.module();
    let held = module.defining_op(ToBufferOp(op).tensor()).and_then(ToTensorOp::cast)?;
    (module.ty(held.buffer()) == op.result_type(0)).then(|| vec![Folded::Value(held.buffer())])
}
