//! Simplification preserves the bits of results.

use super::common::{passed, run};
use numerics::Tensor;

const EXACT: &str = "func.func(stablehlo-aggressive-simplification{optimize-float=false})";

fn f32s(shape: &[usize], start: f32) -> Tensor {
    let n = shape.iter().product::<usize>();
    Tensor::from_vec(shape, (0..n).map(|i| start + 1.5 * i as f32).collect())
        .expect("as many elements as the shape has")
}

/// Asserts that simplification preserves the results of `body` on two f32 matrices `%x` and `%y` of
/// shape 3x4.
fn keeps_bits(results: &str, body: &str) {
    let text = format!(
        "func.func @main(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> ({results}) {{\n{body}\n}}"
    );
    let inputs = [f32s(&[3, 4], -4.0), f32s(&[3, 4], -0.0)];
    let [before, after] = ["cse", EXACT].map(|pipeline| run(&text, pipeline, &inputs));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(
            (before.shape(), &before.bytes()[..]),
            (after.shape(), &after.bytes()[..]),
            "{text}"
        );
    }
}

#[test]
fn elementwise_ops() {
    keeps_bits(
        "tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x4xf32>",
        "%zero = stablehlo.constant dense<0.0> : tensor<3x4xf32>
         %minus_zero = stablehlo.constant dense<-0.0> : tensor<3x4xf32>
         %one = stablehlo.constant dense<1.0> : tensor<3x4xf32>
         %neg = stablehlo.multiply %y, %minus_zero : tensor<3x4xf32>
         %0 = stablehlo.add %zero, %neg : tensor<3x4xf32>
         %1 = stablehlo.add %neg, %minus_zero : tensor<3x4xf32>
         %2 = stablehlo.multiply %one, %1 : tensor<3x4xf32>
         %3 = stablehlo.subtract %2, %minus_zero : tensor<3x4xf32>
         %i = stablehlo.convert %x : (tensor<3x4xf32>) -> tensor<3x4xi32>
         %izero = stablehlo.constant dense<0> : tensor<3x4xi32>
         %ones = stablehlo.constant dense<-1> : tensor<3x4xi32>
         %4 = stablehlo.xor %i, %izero : tensor<3x4xi32>
         %5 = stablehlo.and %ones, %4 : tensor<3x4xi32>
         %6 = stablehlo.subtract %5, %izero : tensor<3x4xi32>
         %c = stablehlo.compare LT, %ones, %6, SIGNED : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi1>
         %n = stablehlo.not %c : tensor<3x4xi1>
         %7 = stablehlo.select %n, %x, %y : tensor<3x4xi1>, tensor<3x4xf32>
         return %0, %3, %6, %7 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x4xf32>",
    );
}

#[test]
fn ops_that_move_elements() {
    keeps_bits(
        "tensor<2x3x4xf32>, tensor<4x3xf32>, tensor<2x4xf32>, tensor<2x2xf32>, tensor<3x4xi32>, tensor<1x2xf32>",
        "%0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<3x4xf32>) -> tensor<3x1x4xf32>
         %1 = stablehlo.broadcast_in_dim %0, dims = [1, 0, 2] : (tensor<3x1x4xf32>) -> tensor<1x3x4xf32>
         %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
         %3 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
         %4 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
         %5 = stablehlo.slice %4 [4:6, 0:4] : (tensor<6x4xf32>) -> tensor<2x4xf32>
         %far = stablehlo.constant dense<7> : tensor<i32>
         %near = stablehlo.constant dense<-7> : tensor<i32>
         %6 = stablehlo.dynamic_slice %x, %far, %near, sizes = [2, 2] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
         %7 = stablehlo.iota dim = 1 : tensor<3x4xi32>
         %at = stablehlo.constant dense<[9, 1]> : tensor<2xi32>
         %8 = \"stablehlo.gather\"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1],
            start_index_map = [0, 1]>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<1x2xf32>
         return %2, %3, %5, %6, %7, %8 : tensor<2x3x4xf32>, tensor<4x3xf32>, tensor<2x4xf32>, tensor<2x2xf32>, tensor<3x4xi32>, tensor<1x2xf32>",
    );
}

#[test]
fn ops_with_regions() {
    keeps_bits(
        "tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>",
        "%zero = stablehlo.constant dense<0.0> : tensor<f32>
         %0:2 = stablehlo.reduce(%x init: %zero), (%y init: %zero) across dimensions = [0] :
           (tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
           reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
             %1 = stablehlo.multiply %a, %b : tensor<f32>
             %2 = stablehlo.add %c, %d : tensor<f32>
             stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
           }
         %3:2 = \"stablehlo.sort\"(%x, %y) <{dimension = -1 : i64}> ({
           ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
             %4 = stablehlo.compare GT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
             stablehlo.return %4 : tensor<i1>
         }) : (tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
         %i0 = stablehlo.constant dense<0> : tensor<i32>
         %i1 = stablehlo.constant dense<1> : tensor<i32>
         %i3 = stablehlo.constant dense<3> : tensor<i32>
         %5:3 = stablehlo.while(%i = %i0, %k = %x, %s = %y) : tensor<i32>, tensor<3x4xf32>, tensor<3x4xf32>
           cond {
             %6 = stablehlo.compare LT, %i, %i3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
             stablehlo.return %6 : tensor<i1>
           } do {
             %6 = stablehlo.add %i, %i1 : tensor<i32>
             %7 = stablehlo.add %s, %k : tensor<3x4xf32>
             stablehlo.return %6, %k, %7 : tensor<i32>, tensor<3x4xf32>, tensor<3x4xf32>
           }
         return %0#1, %3#1, %5#2 : tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>",
    );
}

/// Loop-invariant values are captured, unless the loop has a less specific type for them.
#[test]
fn loops_keep_their_types() {
    let program = |size: &str| {
        format!(
            "func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<i32>, tensor<{size}xf32>) {{
                %one = stablehlo.constant dense<1> : tensor<i32>
                %r:2 = \"stablehlo.while\"(%n, %x) ({{
                ^bb0(%i: tensor<i32>, %v: tensor<{size}xf32>):
                    %more = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
                    stablehlo.return %more : tensor<i1>
                }}, {{
                ^bb0(%i: tensor<i32>, %v: tensor<{size}xf32>):
                    %next = stablehlo.add %i, %one : tensor<i32>
                    stablehlo.return %next, %v : tensor<i32>, tensor<{size}xf32>
                }}) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<{size}xf32>)
                return %r#0, %r#1 : tensor<i32>, tensor<{size}xf32>
            }}"
        )
    };
    let variables = |size| {
        passed(&program(size), EXACT)
            .lines()
            .find(|line| line.contains("stablehlo.while"))
            .map(|line| line.split(['(', ')']).nth(1).map_or(0, |list| list.split(", ").count()))
    };
    assert_eq!((variables("4"), variables("?")), (Some(1), Some(2)));
}
