//! Walks a program through typed views, and rewrites it: x² for x · x.

use stablo::Builder;
use stablo::dialects::func::FuncOp;
use stablo::dialects::stablehlo::{ConstantOp, MultiplyOp, PowerOp};
use stablo::ir::{OpId, OpRef};
use std::error::Error;

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut module = stablo::load(
        "square.mlir",
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
           %two = stablehlo.constant dense<2.0> : tensor<4xf32>
           %0 = stablehlo.power %x, %two : tensor<4xf32>
           return %0 : tensor<4xf32>
         }",
    )?;

    for function in stablo::walk(&module).filter_map(FuncOp::cast) {
        let (inputs, results) = function.signature();
        println!("@{}: {inputs:?} -> {results:?}", function.symbol_name().unwrap_or_default());
    }

    // Reading and changing take turns: first find the ops, then change them.
    let squares: Vec<OpId> = stablo::walk(&module)
        .filter_map(PowerOp::cast)
        .filter(is_square)
        .map(|op| op.id())
        .collect();
    let mut builder = Builder::new(&mut module);
    for op in squares {
        let base = builder.module().op(op).operand(0);
        let square =
            builder.insert_before(op).op(MultiplyOp::DEF).operands([base, base]).value()?;
        builder.replace(op, &[square])?;
    }
    // Nothing uses the constant any more. An op with users would be an error.
    let constants: Vec<OpId> =
        stablo::walk(builder.module()).filter(|op| op.is(ConstantOp::DEF)).map(OpRef::id).collect();
    for op in constants {
        builder.erase(op)?;
    }
    let top = builder.module().top().id();
    builder.set_attribute(top, "example.edited", stablo::Attribute::unit());

    stablo::verify(&module)?;
    println!("{module}");
    let text = module.to_string();
    assert!(text.contains("stablehlo.multiply %arg0, %arg0"));
    assert!(text.contains("example.edited") && !text.contains("stablehlo.constant"));
    Ok(())
}

/// True if the exponent is a constant whose elements are all two.
fn is_square(op: &PowerOp<'_>) -> bool {
    let exponent = op.module().defining_op(op.rhs()).and_then(ConstantOp::cast);
    let value = exponent.and_then(|constant| constant.value().to_tensor()?.ok());
    let elements = value.as_ref().and_then(|tensor| tensor.as_slice::<f32>().ok());
    elements.is_some_and(|elements| elements.iter().all(|&x| x == 2.0))
}
