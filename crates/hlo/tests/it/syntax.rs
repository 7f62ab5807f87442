//! Pretty syntax round-trips. The texts are as upstream's printer writes them.

use crate::common;

use mlir::text::{PrintOptions, print_module};

fn round_trips(text: &str) {
    let module = common::read(text).unwrap_or_else(|d| panic!("{}\n{text}", d[0].message));
    assert_eq!(print_module(&module, &PrintOptions::default()).trim_end(), text.trim());
    let generic = print_module(&module, &PrintOptions { generic: true, ..PrintOptions::default() });
    let module = common::read(&generic).unwrap_or_else(|d| panic!("{}\n{generic}", d[0].message));
    assert_eq!(
        print_module(&module, &PrintOptions::default()).trim_end(),
        text.trim(),
        "through the generic form"
    );
}

/// A module of one function with the given arguments and body.
fn function(arguments: &str, body: &str) -> String {
    let body: String = body
        .trim()
        .lines()
        .map(|line| format!("    {}\n", line.strip_prefix("        ").unwrap_or(line)))
        .collect();
    format!("module {{\n  func.func @f({arguments}) {{\n{body}    return\n  }}\n}}")
}

#[test]
fn types_are_written_once_where_they_agree() {
    round_trips(&function(
        "%arg0: tensor<2xf32>, %arg1: tensor<?xf32>, %arg2: tensor<2xi1>, %arg3: tensor<2xcomplex<f32>>",
        "%0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
        %1 = stablehlo.add %arg0, %arg1 : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
        %2 = stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xi32>
        %3 = stablehlo.complex %arg0, %arg0 : tensor<2xcomplex<f32>>
        %4 = stablehlo.select %arg2, %arg0, %arg0 : tensor<2xi1>, tensor<2xf32>
        %5 = stablehlo.select %arg2, %arg0, %arg1 : (tensor<2xi1>, tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
        %6 = stablehlo.real %arg3 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
        %7 = stablehlo.tuple %arg0, %arg2 : tuple<tensor<2xf32>, tensor<2xi1>>
        %8 = stablehlo.get_tuple_element %7[1] : (tuple<tensor<2xf32>, tensor<2xi1>>) -> tensor<2xi1>
        %9:2 = stablehlo.optimization_barrier %arg0, %arg2 : tensor<2xf32>, tensor<2xi1>
        %10 = stablehlo.after_all  : !stablehlo.token",
    ));
}

#[test]
fn attributes_are_abbreviated() {
    round_trips(&function(
        "%arg0: tensor<4x6xf32>, %arg1: tensor<i32>, %arg2: tensor<6x4xf32>, %arg3: tensor<f32>",
        "%0 = stablehlo.slice %arg0 [1:4, 0:6:2] : (tensor<4x6xf32>) -> tensor<3x3xf32>
        %1 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [1, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
        %2 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
        %3 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4x6xf32>
        %4 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
        %5 = stablehlo.dot_general %arg0, %arg2, batching_dims = [0] x [1], contracting_dims = [] x [] : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x6x6xf32>
        %6 = stablehlo.compare LT, %arg0, %arg0, TOTALORDER : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
        %7 = stablehlo.pad %arg0, %arg3, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
        %8 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
        %9 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x6xf32>
        %10 = stablehlo.custom_call @foo(%arg0) {api_version = 2 : i32, backend_config = \"opaque\"} : (tensor<4x6xf32>) -> tensor<4xf32>",
    ));
}

#[test]
fn constants_name_their_results() {
    round_trips(&function(
        "",
        "%c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
        %c_0 = stablehlo.constant dense<true> : tensor<i1>
        %cst = stablehlo.constant {note = 1 : i64} dense<1.000000e+00> : tensor<3xf32>
        %0 = stablehlo.iota dim = 0 : tensor<4xui8>",
    ));
}

#[test]
fn convolutions_abbreviate_dimensions_and_windows() {
    round_trips(&function(
        "%arg0: tensor<1x8x8x207xf32>, %arg1: tensor<3x3x207x16xf32>",
        "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x207xf32>, tensor<3x3x207x16xf32>) -> tensor<1x8x8x16xf32>",
    ));
}

#[test]
fn reductions_apply_an_op_or_show_their_body() {
    round_trips(&function(
        "%arg0: tensor<4x4xf32>, %arg1: tensor<f32>",
        "%0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
        %1 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
         reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
          %2 = stablehlo.subtract %arg2, %arg3 : tensor<f32>
          stablehlo.return %2 : tensor<f32>
        }",
    ));
}

#[test]
fn loops_name_their_values() {
    round_trips(&function(
        "%arg0: tensor<i32>",
        "%0 = stablehlo.while(%iterArg = %arg0) : tensor<i32>
        cond {
          %c = stablehlo.constant dense<10> : tensor<i32>
          %1 = stablehlo.compare LT, %iterArg, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        } do {
          %1 = stablehlo.add %iterArg, %iterArg : tensor<i32>
          stablehlo.return %1 : tensor<i32>
        }",
    ));
}

#[test]
fn several_declared_results_have_their_names() {
    round_trips(&function(
        "%arg0: tensor<2xui64>",
        "%output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)",
    ));
}

#[test]
fn structured_attributes_omit_what_is_empty() {
    round_trips(&function(
        "%arg0: tensor<3x4x2xf32>, %arg1: tensor<2x3x2xi64>, %arg2: tensor<?x4xf32, #stablehlo.bounds<8, ?>>",
        "%0 = \"stablehlo.gather\"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi64>) -> tensor<2x3x2x2xf32>
        %1 = stablehlo.negate %arg2 : tensor<?x4xf32, #stablehlo.bounds<8, ?>>",
    ));
}

#[test]
fn wrong_syntax_is_told_where_it_stands() {
    let cases = [
        ("%0 = stablehlo.slice %arg0 [0:] : (tensor<2xf32>) -> tensor<2xf32>", "an integer"),
        ("%0 = stablehlo.reduce_precision %arg0, format = e5x : tensor<2xf32>", "e8m23"),
        ("%0 = stablehlo.tuple %arg0 : tensor<2xf32>", "tuple"),
        ("%0 = stablehlo.complex %arg0, %arg0 : tensor<2xf32>", "complex"),
        (
            "%0 = stablehlo.compare NEVER, %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>",
            "EQ",
        ),
        (
            "%0 = stablehlo.reduce(%arg0 init: %arg0) applies stablehlo.subtract across dimensions = [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>",
            "commutative",
        ),
        (
            "%0 = stablehlo.convolution(%arg0, %arg0) dim_numbers = [b, b]x[i, o]->[b, f], window = {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
            "twice",
        ),
    ];
    for (body, word) in cases {
        let Err(diagnostics) = common::read(&function("%arg0: tensor<2xf32>", body)) else {
            panic!("accepted: {body}")
        };
        assert!(diagnostics[0].message.contains(word), "{body}: {}", diagnostics[0].message);
    }
}
