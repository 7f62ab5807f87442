//! `stablehlo.async_start`.

use super::prelude::*;
use mlir::diag::counted;
use mlir::ods::Trait;

op! {
    /// Starts the collective operation in `body`; the result is a future of its results.
    pub AsyncStartOp, "stablehlo.async_start" {
        operands { operands: variadic TENSOR }
        results { result: single FUTURE_VALUE }
        regions { body: one }
        traits [IsolatedFromAbove, SingleBlock, ImplicitTerminator("stablehlo.return")]
        rules include_str!("async_start.txt");
        hooks {
            verify_regions: verify,
            prepare: prepare,
            speculate: speculation::static_operands_as_regions,
        }
    }
}

/// The trait of ops that may run asynchronously.
pub const ASYNC: Trait = Trait::Tag("async");

fn verify(op: OpRef<'_>) -> Verdict {
    let module = op.module();
    let ops: Vec<_> =
        module.entry(op.regions()[0]).into_iter().flat_map(|block| module.ops(block)).collect();
    let [inner, _] = ops[..] else {
        return Err(op.error(
            "async_start_c1",
            format!(
                "body must hold one op and a return; found {}",
                counted(ops.len() as u64, "op")
            ),
        ));
    };
    require(op, "async_start_c2", inner.has_trait(&ASYNC), || {
        let allowed = super::OPS.iter().filter(|def| def.has_trait(&ASYNC));
        let allowed: Vec<&str> = allowed.map(|def| def.mnemonic()).collect();
        format!(
            "body must be a collective or slicing op ({}); found {}",
            allowed.join(", "),
            inner.name()
        )
    })?;
    let (arguments, results) = check::signature(op, op.regions()[0]);
    let same = op.operand_types().eq(arguments.iter().copied())
        && inner.operand_types().eq(op.operand_types());
    require(op, "async_start_c3", same, || {
        let (given, taken) = (check::list(op.operand_types()), check::list(inner.operand_types()));
        format!("operands must be those of the op in body; found {given} and {taken}")
    })?;
    let pending = crate::types::future_types(op.result_type(0)).unwrap_or_default();
    require(op, "async_start_c4", pending.iter().eq(results.iter().copied()), || {
        format!(
            "the result must be a future of {}; found {}",
            check::list(results.iter().copied()),
            op.result_type(0)
        )
    })
}

/// Does the work at once; the future holds the results.
fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    // The op in the body is done at once; its results are pending in a tuple.
    let block = cx.block(AsyncStartOp(op).body())?;
    native_with_env(op, move |_, operands, env| {
        Ok(vec![RuntimeValue::Tuple(env.block(block, operands)?)])
    })
}
