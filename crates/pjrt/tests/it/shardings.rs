//! Shardings of results that programs leave open: those that JAX 0.10.2 gives them on four devices
//! of XLA's CPU, with the same functions.

use crate::client::*;
use crate::run::{devices, optimized};

/// The tilings of the results of a program with the arguments `a`, 8x4 along "x" and "y", and `v`,
/// 8 along "x".
fn shardings(body: &str, results: &str) -> String {
    let client = client(4);
    let text = format!(
        "module {{
          sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>
          sdy.mesh @empty_mesh = <[]>
          func.func private @f(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {{
            %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
            return %0 : tensor<4x8xf32>
          }}
          func.func @main(
              %a: tensor<8x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{\"x\"}}, {{\"y\"}}]>}},
              %v: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{\"x\"}}]>}})
              -> {results} {{
            %c = stablehlo.constant dense<0.0> : tensor<f32>
            {body} : {results}
          }}
        }}"
    );
    let program = compile_with(&client, &text, &devices(5, 4)).unwrap();
    let text = optimized(&program);
    let found =
        text.split_once("spmd_output_sharding = \"").and_then(|(_, rest)| rest.split_once('"'));
    found.map(|(sharding, _)| sharding.to_string()).unwrap_or(text)
}

/// `P("y", "x")` for two dimensions, and so on, on four devices.
const SWAPPED: &str = "{devices=[2,2]0,2,1,3}";
const BOTH: &str = "{devices=[2,2]0,1,2,3}";
const X: &str = "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}";
const Y: &str = "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}";

/// A computation of single devices along one axis, in which the other axis splits a value.
#[test]
fn shardings_pass_computations_of_single_devices() {
    for (inside, expected) in [
        ("[{\"x\"}, {}]", "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}"),
        ("[{}, {\"x\"}]", "{devices=[1,2,2]0,1,2,3 last_tile_dim_replicate}"),
    ] {
        let body = format!(
            "%t = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
             %0 = sdy.manual_computation(%t) in_shardings=[<@mesh, [{{?}}, {{?}}]>]
                 out_shardings=[<@mesh, [{{?}}, {{?}}]>] manual_axes={{\"y\"}}
                 (%s: tensor<8x4xf32>) {{
               %1 = sdy.sharding_constraint %s <@mesh, {inside}> : tensor<8x4xf32>
               sdy.return %1 : tensor<8x4xf32>
             }} : (tensor<8x4xf32>) -> tensor<8x4xf32>
             return %0"
        );
        assert_eq!(shardings(&body, "tensor<8x4xf32>"), expected, "{inside}");
    }
    // The axis of the computation itself does not go in, and not out.
    let body = "%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{?}, {}]>]
            out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={\"y\"} (%s: tensor<8x4xf32>) {
          %1 = stablehlo.negate %s : tensor<8x4xf32>
          sdy.return %1 : tensor<8x4xf32>
        } : (tensor<8x4xf32>) -> tensor<8x4xf32>
        return %0";
    assert_eq!(
        shardings(body, "tensor<8x4xf32>"),
        "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}"
    );
}

#[test]
fn shardings_pass_through_ops() {
    for (body, results, expected) in [
        (
            "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
             return %0",
            "tensor<4x8xf32>",
            SWAPPED,
        ),
        // As JAX leaves the dimensions of random keys open.
        (
            "%0 = sdy.sharding_constraint %a <@empty_mesh, [{?}, {?}]> : tensor<8x4xf32>
             %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
             return %1",
            "tensor<4x8xf32>",
            SWAPPED,
        ),
        // `a[3]`, of which JAX drops the first dimension by a reshape.
        (
            "%0 = stablehlo.slice %a [3:4, 0:4] : (tensor<8x4xf32>) -> tensor<1x4xf32>
             %1 = stablehlo.reshape %0 : (tensor<1x4xf32>) -> tensor<4xf32>
             return %1",
            "tensor<4xf32>",
            Y,
        ),
        (
            "%0 = stablehlo.reverse %a, dims = [0] : tensor<8x4xf32> return %0",
            "tensor<8x4xf32>",
            BOTH,
        ),
        (
            "%0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1]
               : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
             return %0",
            "tensor<8xf32>",
            X,
        ),
        (
            "%0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0]
               : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
             return %0",
            "tensor<4xf32>",
            Y,
        ),
        (
            "%0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0, 1]
               : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
             return %0",
            "tensor<f32>",
            "{replicated}",
        ),
        (
            "%0 = stablehlo.dot_general %a, %v, contracting_dims = [0] x [0]
               : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<4xf32>
             return %0",
            "tensor<4xf32>",
            Y,
        ),
        (
            "%0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x4x4xf32> return %0",
            "tensor<2x4x4xf32>",
            "{devices=[2,1,2]0,1,2,3}",
        ),
        (
            "%0 = stablehlo.concatenate %a, %a, dim = 0
               : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
             return %0",
            "tensor<16x4xf32>",
            BOTH,
        ),
        (
            "%0 = stablehlo.slice %a [2:6, 0:4] : (tensor<8x4xf32>) -> tensor<4x4xf32>
             return %0",
            "tensor<4x4xf32>",
            BOTH,
        ),
        (
            "%0 = call @f(%a) : (tensor<8x4xf32>) -> tensor<4x8xf32> return %0",
            "tensor<4x8xf32>",
            SWAPPED,
        ),
        (
            "%0 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<8xf32>) -> tensor<3x8xf32>
             return %0",
            "tensor<3x8xf32>",
            "{devices=[1,2,2]0,1,2,3 last_tile_dim_replicate}",
        ),
        // As `jax.experimental.shard_alike` lowers to.
        (
            "%0 = stablehlo.constant dense<1.0> : tensor<8x4xf32>
             sdy.sharding_group %0 group_id=3 : tensor<8x4xf32>
             sdy.sharding_group %a group_id=3 : tensor<8x4xf32>
             return %0",
            "tensor<8x4xf32>",
            BOTH,
        ),
        // A rule that the program states: the first dimensions are alike, the second are not.
        (
            "%0 = stablehlo.custom_call @Sharding(%a) {sdy.sharding_rule =
               #sdy.op_sharding_rule<([i, j])->([i, k]) {i=8, j=4, k=4}, custom>}
               : (tensor<8x4xf32>) -> tensor<8x4xf32>
             return %0",
            "tensor<8x4xf32>",
            "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
        ),
    ] {
        assert_eq!(shardings(body, results), expected, "{body}");
    }
}

/// The sharding of a constraint propagates backwards to operands, and on to other results.
#[test]
fn constraints_shard_what_they_are_made_of() {
    let body = "%0 = stablehlo.sine %c0 : tensor<8x4xf32>
      %1 = sdy.sharding_constraint %0 <@mesh, [{\"y\"}, {}]> : tensor<8x4xf32>
      return %0, %1";
    let body = format!("%c0 = stablehlo.constant dense<1.0> : tensor<8x4xf32> {body}");
    let results = "tensor<8x4xf32>, tensor<8x4xf32>";
    let client = client(4);
    let text = format!(
        "module {{
          sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>
          func.func @main() -> ({results}) {{ {body} : {results} }}
        }}"
    );
    let text = optimized(&compile_with(&client, &text, &devices(5, 4)).unwrap());
    let one = "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}";
    assert!(text.contains(&format!("spmd_output_sharding = \"{{{one}, {one}}}\"")), "{text}");
}

/// A dimension that axes do not divide equally stays whole: devices have equal shards.
#[test]
fn dimensions_that_cannot_be_divided_stay_whole() {
    let body = "%0 = stablehlo.slice %a [0:3, 0:4] : (tensor<8x4xf32>) -> tensor<3x4xf32>
      return %0";
    let expected = "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}";
    assert_eq!(shardings(body, "tensor<3x4xf32>"), expected);
}

/// A constraint with axes that do not divide a dimension equally; results have equal shards.
#[test]
fn results_have_equal_shards() {
    for (axes, expected) in [
        ("\"x\"", "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}"),
        ("\"x\", \"y\"", "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}"),
    ] {
        let body = format!(
            "%0 = stablehlo.slice %a [0:6, 0:3] : (tensor<8x4xf32>) -> tensor<6x3xf32>
             %1 = sdy.sharding_constraint %0 <@mesh, [{{{axes}}}, {{}}]> : tensor<6x3xf32>
             return %1"
        );
        assert_eq!(shardings(&body, "tensor<6x3xf32>"), expected);
    }
    let body = "%0 = stablehlo.slice %a [0:8, 0:3] : (tensor<8x4xf32>) -> tensor<8x3xf32>
      %1 = sdy.sharding_constraint %0 <@mesh, [{}, {\"y\"}]> : tensor<8x3xf32>
      return %1";
    assert_eq!(shardings(body, "tensor<8x3xf32>"), "{replicated}");
}

/// Calls that Python divides are refused where there is no Python.
#[test]
fn calls_that_python_divides_need_it() {
    let body = "%0 = stablehlo.custom_call @CustomSPMDPartitioning(%a) {backend_config = \"1\"}
      : (tensor<8x4xf32>) -> tensor<8x4xf32> return %0";
    let client = client(4);
    let text = format!(
        "func.func @main(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {{ {body} : tensor<8x4xf32> }}"
    );
    let (code, message) = compile_with(&client, &text, &devices(5, 4)).map(drop).unwrap_err();
    assert_eq!(code, 12, "{message}");
    assert!(message.contains("needs JAX with the Python package stablo"), "{message}");
}

/// Functions that each call the next one twice count as 2^40 ops, of which some are looked at.
#[test]
fn calls_that_grow_exponentially_are_compiled() {
    let functions: String = (0..40)
        .map(|i| {
            let next = if i < 39 { format!("f{}", i + 1) } else { "last".to_owned() };
            format!(
                "func.func private @f{i}(%0: tensor<4xf32>) -> tensor<4xf32> {{
                   %1 = func.call @{next}(%0) : (tensor<4xf32>) -> tensor<4xf32>
                   %2 = func.call @{next}(%1) : (tensor<4xf32>) -> tensor<4xf32>
                   return %2 : tensor<4xf32>
                 }}\n"
            )
        })
        .collect();
    let text = format!(
        r#"sdy.mesh @mesh = <["x"=4]>
        func.func @main(%0: tensor<4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
            -> tensor<4xf32> {{
          %false = stablehlo.constant dense<false> : tensor<i1>
          %r = "stablehlo.if"(%false) ({{
            %1 = func.call @f0(%0) : (tensor<4xf32>) -> tensor<4xf32>
            stablehlo.return %1 : tensor<4xf32>
          }}, {{
            stablehlo.return %0 : tensor<4xf32>
          }}) : (tensor<i1>) -> tensor<4xf32>
          return %r : tensor<4xf32>
        }}
        func.func private @last(%0: tensor<4xf32>) -> tensor<4xf32> {{ return %0 : tensor<4xf32> }}
        {functions}"#
    );
    let client = client(4);
    let program = compile_with(&client, &text, &devices(5, 4)).unwrap();
    let text = optimized(&program);
    assert!(text.contains("spmd_output_sharding = \"{devices=[4]0,1,2,3}\""), "{text}");
}
