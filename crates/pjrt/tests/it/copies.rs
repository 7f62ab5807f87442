//! Values that a program states to be the same on all devices, and are not: each device goes on
//! with its own, as on XLA.

use crate::client::*;
use crate::run::devices;

/// The results of four devices on a mesh of 2x2, with an argument for each device.
fn results(main: &str, own: [&[f32]; 4], dims: &[i64], count: usize) -> Vec<Vec<f32>> {
    let client = client(4);
    let text = format!("module {{ sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]> {main} }}");
    let program = compile_with(&client, &text, &devices(5, 4)).unwrap();
    let buffers: Vec<_> =
        own.iter().enumerate().map(|(at, own)| [buffer_on(&client, at, dims, own)]).collect();
    let lists: Vec<&[_]> = buffers.iter().map(|own| &own[..]).collect();
    // The second execution knows that values differ.
    let first = execute_on(&program, &lists).unwrap();
    let again = execute_on(&program, &lists).unwrap();
    let all = first.into_iter().chain(again);
    let all: Vec<_> = all.map(|result| elements(result, count).unwrap()).collect();
    assert_eq!(all[..4], all[4..]);
    all[..4].to_vec()
}

/// The shard of each device is returned as if it were whole, and read by other ops.
#[test]
fn devices_keep_their_values_of_a_result_that_is_stated_to_be_whole() {
    let main = "func.func @main(%a: tensor<4xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{\"x\", \"y\"}]>}) -> tensor<1xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\", \"y\"}]>]
          out_shardings=[<@mesh, [{}]>] manual_axes={\"x\", \"y\"} (%s: tensor<1xf32>) {
        sdy.return %s : tensor<1xf32>
      } : (tensor<4xf32>) -> tensor<1xf32>
      %1 = stablehlo.add %0, %0 : tensor<1xf32>
      return %1 : tensor<1xf32>
    }";
    let found = results(main, [&[1.0], &[2.0], &[3.0], &[4.0]], &[1], 1);
    assert_eq!(found, [[2.0], [4.0], [6.0], [8.0]]);
}

/// Along one axis the shards are parts of the result, along the other they differ: the whole value
/// of a device has the parts of those with its own coordinate. A second computation reads them.
#[test]
fn devices_put_their_own_copies_together() {
    let main = "func.func @main(%a: tensor<4xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{\"x\", \"y\"}]>}) -> tensor<2xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\", \"y\"}]>]
          out_shardings=[<@mesh, [{\"x\"}]>] manual_axes={\"x\", \"y\"} (%s: tensor<1xf32>) {
        sdy.return %s : tensor<1xf32>
      } : (tensor<4xf32>) -> tensor<2xf32>
      %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>]
          manual_axes={\"x\", \"y\"} (%s: tensor<2xf32>) {
        %2 = stablehlo.negate %s : tensor<2xf32>
        sdy.return %2 : tensor<2xf32>
      } : (tensor<2xf32>) -> tensor<2xf32>
      return %1 : tensor<2xf32>
    }";
    let found = results(main, [&[1.0], &[2.0], &[3.0], &[4.0]], &[1], 2);
    assert_eq!(found, [[-1.0, -3.0], [-2.0, -4.0], [-1.0, -3.0], [-2.0, -4.0]]);
}

/// Arguments that are stated to be whole, or the same along an axis, and are not.
#[test]
fn devices_keep_their_values_of_arguments() {
    let whole = "func.func @main(%a: tensor<1xf32>) -> tensor<1xf32> {
      %0 = stablehlo.add %a, %a : tensor<1xf32>
      return %0 : tensor<1xf32>
    }";
    let found = results(whole, [&[1.0], &[2.0], &[3.0], &[4.0]], &[1], 1);
    assert_eq!(found, [[2.0], [4.0], [6.0], [8.0]]);
    let along =
        "func.func @main(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>})
        -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
      %0 = stablehlo.reverse %a, dims = [0] : tensor<2xf32>
      return %0 : tensor<2xf32>
    }";
    let found = results(along, [&[1.0], &[2.0], &[3.0], &[4.0]], &[1], 2);
    assert_eq!(found, [[3.0, 1.0], [4.0, 2.0], [3.0, 1.0], [4.0, 2.0]]);
}
