//! The terms that devices have of unreduced values. The expected ones are from JAX 0.10.2 on XLA's
//! CPU, with the same functions.

use crate::client::*;
use crate::run::devices;

/// The parts that two devices, the axis "x" of `@mesh`, have of the only result of a program: its
/// first `count` elements, for an argument of which each device has the elements `own`.
fn terms(main: &str, own: [&[f32]; 2], dims: &[i64], count: usize) -> Vec<Vec<f32>> {
    let client = client(2);
    let text = format!("sdy.mesh @mesh = <[\"x\"=2]>\n{main}");
    let program = compile_with(&client, &text, &devices(5, 2)).unwrap();
    let argument = |device: usize| buffer_on(&client, device, dims, own[device]);
    let (first, second) = (argument(0), argument(1));
    let results = execute_on(&program, &[&[first], &[second]]).unwrap();
    results.into_iter().map(|result| elements(result, count).unwrap()).collect()
}

const UNREDUCED: &str = "sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={\"x\"}>";
const SHARDED: &str = "sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>";
const WHOLE: &str = "sdy.sharding = #sdy.sharding<@mesh, [{}]>";

/// A function of one argument of `size` elements.
fn function(argument: &str, size: usize, body: &str, result: &str) -> String {
    format!(
        "func.func @main(%x: tensor<{size}xf32> {{{argument}}}) -> (tensor<2xf32> {{{result}}}) {{
           {body}
         }}"
    )
}

#[test]
fn terms_of_arguments_are_added_where_the_value_is_needed() {
    let own: [&[f32]; 2] = [&[1.0, 2.0], &[10.0, 20.0]];
    // `tanh` is not linear.
    let body = "%0 = stablehlo.negate %x : tensor<2xf32>
        %1 = stablehlo.tanh %0 : tensor<2xf32>
        return %0 : tensor<2xf32>";
    let found = terms(&function(UNREDUCED, 2, body, UNREDUCED), own, &[2], 2);
    assert_eq!(found, [[-1.0, -2.0], [-10.0, -20.0]]);
    let found = terms(&function(UNREDUCED, 2, body, WHOLE), own, &[2], 2);
    assert_eq!(found, [[-11.0, -22.0], [-11.0, -22.0]]);
    let body = "%0 = stablehlo.abs %x : tensor<2xf32>
        return %0 : tensor<2xf32>";
    let own: [&[f32]; 2] = [&[1.0, 2.0], &[-10.0, 20.0]];
    let found = terms(&function(UNREDUCED, 2, body, UNREDUCED), own, &[2], 2);
    assert_eq!(found, [[9.0, 22.0], [0.0, 0.0]]);
}

#[test]
fn a_loop_adds_terms() {
    let body = "%zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %three = stablehlo.constant dense<3> : tensor<i32>
        %start = stablehlo.constant dense<1.0> : tensor<2xf32>
        %r:2 = stablehlo.while(%i = %zero, %sum = %x) : tensor<i32>, tensor<2xf32>
          cond {
            %c = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %n = stablehlo.add %i, %one : tensor<i32>
            %s = stablehlo.add %sum, %x : tensor<2xf32>
            stablehlo.return %n, %s : tensor<i32>, tensor<2xf32>
          }
        return %r#1 : tensor<2xf32>";
    let own: [&[f32]; 2] = [&[1.0, 2.0], &[10.0, 20.0]];
    let found = terms(&function(UNREDUCED, 2, body, UNREDUCED), own, &[2], 2);
    assert_eq!(found, [[4.0, 8.0], [40.0, 80.0]]);
}

#[test]
fn a_value_becomes_unreduced_as_it_is_divided() {
    let same: [&[f32]; 2] = [&[1.0, 2.0], &[1.0, 2.0]];
    let found = terms(&function(WHOLE, 2, "return %x : tensor<2xf32>", UNREDUCED), same, &[2], 2);
    assert_eq!(found, [[1.0, 2.0], [0.0, 0.0]]);
    let own: [&[f32]; 2] = [&[1.0], &[2.0]];
    let found = terms(&function(SHARDED, 2, "return %x : tensor<2xf32>", UNREDUCED), own, &[1], 2);
    assert_eq!(found, [[1.0, 0.0], [0.0, 2.0]]);
}

#[test]
fn sums_and_products_over_shards_are_terms() {
    // The initial value is added once.
    let sum = "%one = stablehlo.constant dense<1.0> : tensor<f32>
        %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<4x1xf32>
        %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x2xf32>
        %2 = stablehlo.reduce(%1 init: %one) applies stablehlo.add across dimensions = [0]
          : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
        %3 = sdy.sharding_constraint %2 <@mesh, [{}], unreduced={\"x\"}> : tensor<2xf32>
        return %3 : tensor<2xf32>";
    let own: [&[f32]; 2] = [&[1.0, 2.0], &[10.0, 20.0]];
    let found = terms(&function(SHARDED, 4, sum, UNREDUCED), own, &[2], 2);
    assert_eq!(found, [[4.0, 4.0], [30.0, 30.0]]);
    let product = "%m = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]>
          : tensor<4x2xf32>
        %0 = stablehlo.dot_general %x, %m, contracting_dims = [0] x [0]
          : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<2xf32>
        %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={\"x\"}> : tensor<2xf32>
        return %1 : tensor<2xf32>";
    let found = terms(&function(SHARDED, 4, product, UNREDUCED), own, &[2], 2);
    assert_eq!(found, [[7.0, 10.0], [190.0, 220.0]]);
}

#[test]
fn updates_of_shards_are_terms() {
    // Added to 1 at the places 0, 0, 1, 0.
    let scatter = "%i = stablehlo.constant dense<[[0], [0], [1], [0]]> : tensor<4x1xi32>
        %ones = stablehlo.constant dense<1.0> : tensor<2xf32>
        %0 = \"stablehlo.scatter\"(%ones, %i, %x) <{
          scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
        }) : (tensor<2xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<2xf32>
        %1 = sdy.sharding_constraint %0 <@mesh, [{}], unreduced={\"x\"}> : tensor<2xf32>
        return %1 : tensor<2xf32>";
    let own: [&[f32]; 2] = [&[1.0, 2.0], &[10.0, 20.0]];
    let found = terms(&function(SHARDED, 4, scatter, UNREDUCED), own, &[2], 2);
    assert_eq!(found, [[4.0, 1.0], [20.0, 10.0]]);
}

#[test]
fn computations_of_single_devices_give_and_take_their_terms() {
    let manual = |inputs: &str, outputs: &str, body: &str| {
        format!(
            "%0 = sdy.manual_computation(%x) in_shardings=[<@mesh, {inputs}>]
               out_shardings=[<@mesh, {outputs}>] manual_axes={{\"x\"}} (%own: {body}
             return %0"
        )
    };
    let own: [&[f32]; 2] = [&[1.0, 2.0], &[10.0, 20.0]];
    let body = "tensor<2xf32>) { sdy.return %own : tensor<2xf32> }
        : (tensor<4xf32>) -> tensor<2xf32>";
    let give = manual("[{\"x\"}]", "[{}], unreduced={\"x\"}", body) + " : tensor<2xf32>";
    let found = terms(&function(SHARDED, 4, &give, UNREDUCED), own, &[2], 2);
    assert_eq!(found, own);
    let body = "tensor<2xf32>) { sdy.return %own : tensor<2xf32> }
        : (tensor<2xf32>) -> tensor<4xf32>";
    let take = manual("[{}], unreduced={\"x\"}", "[{\"x\"}]", body) + " : tensor<4xf32>";
    let main = format!(
        "func.func @main(%x: tensor<2xf32> {{{UNREDUCED}}}) -> (tensor<4xf32> {{{SHARDED}}}) {{
           {take}
         }}"
    );
    assert_eq!(terms(&main, own, &[2], 2), own);
}
