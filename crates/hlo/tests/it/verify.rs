//! Inputs that violate constraints in ways that declarations allow, and valid programs.

use crate::common;

use mlir::verify::{VerifyOptions, verify};

/// Labels of the errors in a function with the given arguments and body.
fn labels(arguments: &str, body: &str) -> Vec<String> {
    let text = format!("func.func @f({arguments}) {{\n{body}\nreturn\n}}");
    let module = common::read(&text).unwrap_or_else(|d| panic!("{}\n{text}", d[0].message));
    let options = VerifyOptions { strict: true, ..VerifyOptions::default() };
    verify(&module, &options).into_iter().map(|d| d.label.into_owned()).collect()
}

#[test]
fn valid_programs_have_no_errors() {
    let body = "
        %0 = stablehlo.add %a, %a : tensor<2x3xf32>
        %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
        %2 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
        %3 = stablehlo.slice %a [0:2:2, 1:3] : (tensor<2x3xf32>) -> tensor<1x2xf32>
        %4 = stablehlo.pad %a, %s, low = [1, 0], high = [0, -1], interior = [2, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<5x2xf32>
        %5 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>";
    assert_eq!(labels("%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>", body), [""; 0]);
}

/// Inputs allowed by the declarations but not by the specification: the labels in `inputs.txt`.
#[test]
fn inputs_beyond_their_declaration_are_named() {
    const ADD: &str = "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = stablehlo.add %x, %y : tensor<f32> stablehlo.return %z : tensor<f32> })";
    const GE: &str = "({ ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %z = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %z : tensor<i1> }";
    const LIST: &str = "replica_groups = dense<0> : tensor<1xi64>";
    const PAIR: &str = "source_target_pairs = dense<[0, 1]> : tensor<2xi64>";
    const CHANNEL: &str = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";
    const SAME: &str = ": (tensor<2x3xf32>) -> tensor<2x3xf32>";
    let scatter = GE.to_string() + ", " + &ADD[1..];
    let cases = [
        ("all_gather_c2", format!(r#"%0 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, {LIST}}}> {SAME}"#)),
        ("all_reduce_c1", format!(r#"%0 = "stablehlo.all_reduce"(%a) <{{{LIST}}}> {ADD} {SAME}"#)),
        (
            "all_to_all_c5",
            format!(
                r#"%0 = "stablehlo.all_to_all"(%a)
                   <{{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, {LIST}}}> {SAME}"#
            ),
        ),
        ("collective_broadcast_c1", format!(r#"%0 = "stablehlo.collective_broadcast"(%a) <{{{LIST}}}> {SAME}"#)),
        ("collective_permute_c1", format!(r#"%0 = "stablehlo.collective_permute"(%a) <{{{PAIR}}}> {SAME}"#)),
        ("collective_reduce_c1", format!(r#"%0 = "stablehlo.collective_reduce"(%a) <{{{LIST}}}> {ADD} {SAME}"#)),
        (
            "reduce_scatter_c3",
            format!(r#"%0 = "stablehlo.reduce_scatter"(%a) <{{scatter_dimension = 0 : i64, {LIST}}}> {ADD} {SAME}"#),
        ),
        (
            "recv_c1",
            format!(
                r#"%0:2 = "stablehlo.recv"(%t) <{{{CHANNEL}, {PAIR}}}>
                   : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)"#
            ),
        ),
        (
            "send_c1",
            format!(
                r#"%0 = "stablehlo.send"(%s, %t) <{{{CHANNEL}, {PAIR}}}>
                   : (tensor<f32>, !stablehlo.token) -> !stablehlo.token"#
            ),
        ),
        ("case_i1", r#""stablehlo.case"(%i) ({ stablehlo.return }) : (tensor<2xi32>) -> ()"#.to_string()),
        ("if_i1", r#""stablehlo.if"(%p) ({ stablehlo.return }, { stablehlo.return }) : (tensor<4xi1>) -> ()"#.to_string()),
        (
            "convolution_c4",
            r#"%0 = "stablehlo.convolution"(%image, %kernel) <{
                   padding = dense<0> : tensor<2xi64>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
                   feature_group_count = 1 : i64, batch_group_count = 1 : i64
               }> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>"#
                .to_string(),
        ),
        (
            "reduce_window_c12",
            format!(
                r#"%0 = "stablehlo.reduce_window"(%a, %s)
                   <{{window_dimensions = array<i64: 1, 1>, padding = dense<0> : tensor<4xi64>}}> {ADD}
                   : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>"#
            ),
        ),
        (
            "select_and_scatter_c3",
            format!(
                r#"%0 = "stablehlo.select_and_scatter"(%a, %a, %v) <{{window_dimensions = array<i64: 1, 1>}}> {scatter}
                   : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>"#
            ),
        ),
        (
            "select_and_scatter_c8",
            format!(
                r#"%0 = "stablehlo.select_and_scatter"(%a, %a, %s)
                   <{{window_dimensions = array<i64: 1, 1>, padding = dense<0> : tensor<4xi64>}}> {scatter}
                   : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>"#
            ),
        ),
        (
            "triangular_solve_i6",
            r#"%0 = "stablehlo.triangular_solve"(%m, %m) <{
                   left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>
               }> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>"#
                .to_string(),
        ),
    ];
    let arguments = "%a: tensor<2x3xf32>, %s: tensor<f32>, %v: tensor<1xf32>, %m: tensor<2x2xf32>, %t: !stablehlo.token, \
        %i: tensor<2xi32>, %p: tensor<4xi1>, %image: tensor<1x4x1xf32>, %kernel: tensor<2x1x1xf32>";
    for (label, body) in cases {
        assert_eq!(labels(arguments, &body), [label], "{body}");
    }
}

#[test]
fn unknown_sizes_fit_any() {
    let body = "
        %0 = stablehlo.add %a, %b : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<2x3xf32>
        %1 = stablehlo.reshape %b : (tensor<2x?xf32>) -> tensor<7xf32>";
    assert_eq!(labels("%a: tensor<?x3xf32>, %b: tensor<2x?xf32>", body), [""; 0]);
}

/// A dynamic size does not make two others agree, as upstream has it.
#[test]
fn all_shapes_agree_with_each_other() {
    const ARGUMENTS: &str = "%a: tensor<?x4xf32>, %b: tensor<8x4xf32>";
    let sort = |result: u32| {
        labels(
            ARGUMENTS,
            &format!(
                "%0:2 = \"stablehlo.sort\"(%a, %b) ({{
                ^bb0(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<f32>, %w: tensor<f32>):
                  %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
                  stablehlo.return %c : tensor<i1>
                }}) : (tensor<?x4xf32>, tensor<8x4xf32>) -> (tensor<{result}x4xf32>, tensor<8x4xf32>)"
            ),
        )
    };
    assert_eq!(sort(8), [""; 0]);
    assert_eq!(sort(16), ["sort_c3"]);
    let map = |result: u32| {
        labels(
            ARGUMENTS,
            &format!(
                "%0 = \"stablehlo.map\"(%a, %b) ({{
                ^bb0(%x: tensor<f32>, %y: tensor<f32>):
                  stablehlo.return %x : tensor<f32>
                }}) {{dimensions = array<i64: 0, 1>}} : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<{result}x4xf32>"
            ),
        )
    };
    assert_eq!(map(8), [""; 0]);
    assert_eq!(map(16), ["map_c1"]);
}
