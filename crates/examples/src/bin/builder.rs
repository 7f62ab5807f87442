//! Builds a program from nothing: a layer of a neural network with a loop in it, whose result types
//! are inferred.

use stablo::dialects::stablehlo::{
    AddOp, BroadcastInDimOp, CompareOp, DotGeneralOp, MaximumOp, ReduceOp, WhileOp,
};
use stablo::{Attribute, Builder, RuntimeValue, Tensor, Type};
use std::error::Error;

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut module = stablo::new_module();
    let mut builder = Builder::new(&mut module);
    let matrix = |rows: i64, columns: i64| Type::tensor([rows, columns], Type::f32());

    // relu(x · w), summed over the rows.
    builder.function("layer", [matrix(2, 3), matrix(3, 4)], |b, arguments| {
        let dimensions = stablo::parse_attribute(
            "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>",
        )?;
        let product = b
            .op(DotGeneralOp::DEF)
            .operands([arguments[0], arguments[1]])
            .attribute("dot_dimension_numbers", dimensions)
            .result_types([matrix(2, 4)])
            .value()?;
        let zero = b.constant(&Tensor::scalar(0f32))?;
        let zeros = b
            .op(BroadcastInDimOp::DEF)
            .operands([zero])
            .attribute("broadcast_dimensions", Attribute::i64_array([]))
            .result_types([matrix(2, 4)])
            .value()?;
        let positive = b.op(MaximumOp::DEF).operands([product, zeros]).value()?;
        let scalar = Type::tensor([], Type::f32());
        let sum = b
            .op(ReduceOp::DEF)
            .operands([positive, zero])
            .attribute("dimensions", Attribute::i64_array([0]))
            .body([scalar.clone(), scalar], |b, arguments| {
                Ok(vec![b.op(AddOp::DEF).operands([arguments[0], arguments[1]]).value()?])
            })
            .value()?;
        Ok(vec![sum])
    })?;

    // Counts to ten. Ops may also be named by text, and enumerations by their cases.
    builder.function("count", [], |b, _| {
        let index = Type::tensor([], Type::i32());
        let zero = b.constant(&Tensor::scalar(0i32))?;
        let last = b
            .op(WhileOp::DEF)
            .operands([zero])
            .result_types([index.clone()])
            .body([index.clone()], |b, arguments| {
                let ten = b.constant(&Tensor::scalar(10i32))?;
                let less = b.op(CompareOp::DEF).operands([arguments[0], ten]);
                Ok(vec![less.case("comparison_direction", "LT").value()?])
            })
            .body([index], |b, arguments| {
                let one = b.constant(&Tensor::scalar(1i32))?;
                Ok(vec![b.op("stablehlo.add").operands([arguments[0], one]).value()?])
            })
            .value()?;
        Ok(vec![last])
    })?;
    stablo::verify(&module)?;
    println!("{module}");

    let x = Tensor::from_vec([2, 3], vec![1f32, 2.0, 3.0, -1.0, -2.0, -3.0])?;
    let w = Tensor::splat([3, 4], 1f32)?;
    let sums = stablo::run(&module, "layer", vec![x.into(), w.into()])?;
    assert_eq!(sums[0].tensor()?.as_slice::<f32>()?, [6.0; 4]);
    let count = stablo::run(&module, "count", Vec::new())?;
    assert!(matches!(&count[0], RuntimeValue::Tensor(ten) if ten.item::<i32>()? == 10));

    // Operands that do not fit are an error, not a panic.
    let mut builder = Builder::new(&mut module);
    let failed = builder.function("wrong", [matrix(2, 3), matrix(3, 4)], |b, arguments| {
        Ok(vec![b.op(AddOp::DEF).operands([arguments[0], arguments[1]]).value()?])
    });
    println!("{}", failed.expect_err("the shapes differ"));
    Ok(())
}
