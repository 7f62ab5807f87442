//! Programs that break one constraint of the specification are told which.

mod common;

use mlir::verify::{VerifyOptions, verify};

/// Labels of what is wrong with a function of those arguments and that body.
fn labels(arguments: &str, body: &str) -> Vec<String> {
    let text = format!("func.func @f({arguments}) {{\n{body}\nreturn\n}}");
    let module = common::read(&text).unwrap_or_else(|d| panic!("{}\n{text}", d[0].message));
    verify(&module, &VerifyOptions::default()).into_iter().map(|d| d.label.into_owned()).collect()
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

#[test]
fn each_broken_constraint_is_named() {
    let cases = [
        ("add_c1", r#"%0 = "stablehlo.add"(%a, %b) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>"#),
        ("tanh_c1", "%0 = stablehlo.tanh %a : (tensor<2x3xf32>) -> tensor<3x2xf32>"),
        ("convert_c1", "%0 = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<3x2xi32>"),
        ("compare_c2", "%0 = stablehlo.compare EQ, %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x3xi1>"),
        (
            "concatenate_c4",
            "%0 = stablehlo.concatenate %a, %a, dim = 2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>",
        ),
        (
            "concatenate_c2",
            "%0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<5x3xf32>",
        ),
        (
            "concatenate_c6",
            "%0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>",
        ),
        ("reshape_c2", "%0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<5xf32>"),
        ("transpose_c2", "%0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>"),
        ("transpose_c3", "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
        ("slice_c3", "%0 = stablehlo.slice %a [0:3, 0:3] : (tensor<2x3xf32>) -> tensor<3x3xf32>"),
        ("slice_c4", "%0 = stablehlo.slice %a [0:2:0, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
        (
            "pad_c3",
            "%0 = stablehlo.pad %a, %s, low = [0, 0], high = [0, 0], interior = [0, -1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
        ),
        ("iota_c1", "%0 = stablehlo.iota dim = 1 : tensor<4xi32>"),
        ("reverse_c2", "%0 = stablehlo.reverse %a, dims = [0, 0] : tensor<2x3xf32>"),
        (
            "broadcast_in_dim_c5",
            "%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x4xf32>",
        ),
        (
            "dot_general_c10",
            "%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>",
        ),
        (
            "dot_general_c12",
            "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>",
        ),
        (
            "reduce_c4",
            "%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
        ),
        (
            "reduce_c7",
            "%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>",
        ),
        ("fft_c2", "%0 = stablehlo.fft %a, type = FFT, length = [3] : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
        ("select_c1", "%0 = stablehlo.select %p, %a, %a : tensor<4xi1>, tensor<2x3xf32>"),
        ("if_i1", r#""stablehlo.if"(%p) ({ stablehlo.return }, { stablehlo.return }) : (tensor<4xi1>) -> ()"#),
    ];
    for (label, body) in cases {
        let found = labels("%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>, %p: tensor<4xi1>", body);
        assert_eq!(found, [label], "{body}");
    }
}

#[test]
fn unknown_sizes_fit_any() {
    let body = "
        %0 = stablehlo.add %a, %b : (tensor<?x3xf32>, tensor<2x?xf32>) -> tensor<2x3xf32>
        %1 = stablehlo.reshape %b : (tensor<2x?xf32>) -> tensor<7xf32>";
    assert_eq!(labels("%a: tensor<?x3xf32>, %b: tensor<2x?xf32>", body), [""; 0]);
}
