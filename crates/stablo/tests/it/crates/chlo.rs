//! Programs print as upstream prints them and verify; invalid ones are rejected.

use chlo::{broadcast_size, broadcast_sizes};
use mlir::diag::{Source, render};
use mlir::ods::Registry;
use mlir::text::{ParseOptions, PrintOptions, parse, print_module};
use mlir::types::DYNAMIC;
use mlir::verify::{VerifyOptions, verify};
use std::sync::{Arc, LazyLock};

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let mut dialects = side_dialects::DIALECTS.to_vec();
    dialects.extend([&hlo::STABLEHLO, &chlo::CHLO]);
    Registry::new(&dialects)
});

fn print(text: &str, options: &PrintOptions) -> Result<String, String> {
    let source = Arc::new(Source::new("<test>", text));
    let read = parse(source.clone(), &REGISTRY, ParseOptions::default());
    let mut errors = read.diagnostics;
    if errors.is_empty() {
        errors = verify(&read.module, &VerifyOptions { strict: true, ..VerifyOptions::default() });
    }
    match errors.is_empty() {
        true => Ok(print_module(&read.module, options)),
        false => Err(errors.iter().map(|e| render(e, Some(&source))).collect()),
    }
}

fn function(body: &str) -> String {
    format!(
        "module {{
  func.func @f(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2xi64>, %arg3: tensor<2x3x4xf32>, \
         %arg4: tensor<4x3xi32>, %arg5: tensor<4x3xcomplex<f32>>, %arg6: tensor<4x3xi1>) {{
{body}
    return
  }}
}}
"
    )
}

#[test]
fn formats_follow_the_grammar() {
    for op in chlo::CHLO.ops {
        assert!(op.format().is_ok(), "{}", op.name);
    }
    assert_eq!(chlo::CHLO.ops.len(), 51);
}

#[test]
fn ops_print_as_themselves() {
    let blocks = "
    %0 = chlo.constant {a.b} dense<1.000000e+00> : tensor<2xf32>

    %0 = \"chlo.constant_like\"(%arg0) <{value = 1.000000e+00 : f32}> : (tensor<4x3xf32>) -> tensor<4x3xf32>

    %values, %indices = chlo.top_k(%arg0, k = 2) {x} : tensor<4x3xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)

    %values, %indices = chlo.top_k(%arg0, k = 2, is_stable = false) : tensor<4x3xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)

    %0 = chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>

    %0 = chlo.broadcast_compare %arg0, %arg1 {compare_type = #chlo<comparison_type TOTALORDER>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xi1>

    %0 = chlo.broadcast_complex %arg0, %arg1 : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xcomplex<f32>>

    %0 = chlo.broadcast_select %arg6, %arg0, %arg1 : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>

    %0 = chlo.is_inf %arg0 : tensor<4x3xf32> -> tensor<4x3xi1>

    %0 = chlo.mulhi %arg4, %arg4 : tensor<4x3xi32>, tensor<4x3xi32> -> tensor<4x3xi32>

    %0 = chlo._asin_acos_kernel %arg5 : tensor<4x3xcomplex<f32>> -> tensor<4x3xcomplex<f32>>

    %0 = chlo.square %arg0 : tensor<4x3xf32> -> tensor<?x3xf32>

    %0 = chlo.zeta %arg0, %arg0 : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x3xf32>

    %0 = \"chlo.ragged_dot\"(%arg0, %arg3, %arg2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x3xf32>, tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<4x4xf32>

    %0:2 = chlo.scan(%arg0) inits (%arg1) dimension=0  attributes {is_associative = false, is_reverse = true} {
    ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
      %1 = stablehlo.add %input, %carry : tensor<3xf32>
      stablehlo.return %1, %1 : tensor<3xf32>, tensor<3xf32>
    } : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)";
    for block in blocks.split("\n\n") {
        let text = function(block.trim_start_matches('\n'));
        let found = print(&text, &PrintOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(found, text);
        let generic = PrintOptions { generic: true, ..PrintOptions::default() };
        let detour = print(&text, &generic).and_then(|t| print(&t, &PrintOptions::default()));
        assert_eq!(detour.unwrap_or_else(|e| panic!("{e}")), text);
    }
}

#[test]
fn wrong_types_are_refused() {
    for line in [
        "%0 = chlo.acos %arg0 : tensor<4x3xf32> -> tensor<4x3xf64>",
        "%0 = chlo.is_inf %arg0 : tensor<4x3xf32> -> tensor<4x3xf32>",
        "%0 = chlo.broadcast_add %arg0, %arg1 : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x4xf32>",
        "%0 = chlo.broadcast_and %arg0, %arg0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>",
        "%0 = chlo.erf %arg4 : tensor<4x3xi32> -> tensor<4x3xi32>",
        "%0:2 = chlo.top_k(%arg0, k = 5) : tensor<4x3xf32> -> (tensor<4x5xf32>, tensor<4x5xi32>)",
    ] {
        assert!(print(&function(line), &PrintOptions::default()).is_err(), "{line}");
    }
}

/// A `ragged_dot` of matrices with invalid dimension numbers.
#[test]
fn ragged_products_are_checked() {
    let ragged = |numbers: &str, sizes: &str, result: &str| {
        let types = format!("(tensor<4x3xf32>, tensor<2x3x4xf32>, {sizes}) -> {result}");
        let operand = if sizes == "tensor<2xi64>" { "%arg2" } else { "%arg4" };
        let text = function(&format!(
            "%0 = \"chlo.ragged_dot\"(%arg0, %arg3, {operand}) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<\
             lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], {numbers}>}}> : {types}"
        ));
        print(&text, &PrintOptions::default())
    };
    let right = "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]";
    assert_eq!(ragged(right, "tensor<2xi64>", "tensor<4x4xf32>").err(), None);
    assert!(ragged(right, "tensor<2xi64>", "tensor<4x3xf32>").is_err());
    assert!(ragged(right, "tensor<4x3xi32>", "tensor<4x4xf32>").is_err());
    // No group has zeros of a quantized type to begin with.
    let quantized = "tensor<4x4x!quant.uniform<i8:f32, 0.5>>";
    assert!(ragged(right, "tensor<2xi64>", quantized).is_err());
    for wrong in [
        "lhs_ragged_dimensions = [0]",
        "lhs_ragged_dimensions = [0, 1], rhs_group_dimensions = [0]",
        "lhs_ragged_dimensions = [2], rhs_group_dimensions = [0]",
        "lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]",
        "lhs_ragged_dimensions = [0], rhs_group_dimensions = [2]",
        "lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]",
    ] {
        assert!(ragged(wrong, "tensor<2xi64>", "tensor<4x4xf32>").is_err(), "{wrong}");
    }
}

#[test]
fn scans_are_checked() {
    let scan = |dimension: &str, init: &str, result: &str| {
        let text = function(&format!(
            "%0:2 = chlo.scan(%arg0) inits ({init}) dimension={dimension} {{
             ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
               stablehlo.return %input, %carry : tensor<3xf32>, tensor<3xf32>
             }} : (tensor<4x3xf32>, {}) -> (tensor<{result}xf32>, tensor<3xf32>)",
            if init == "%arg1" { "tensor<3xf32>" } else { "tensor<2xi64>" },
        ));
        print(&text, &PrintOptions::default())
    };
    assert_eq!(scan("0", "%arg1", "4x3").err(), None);
    assert!(scan("1", "%arg1", "4x3").is_err());
    assert!(scan("2", "%arg1", "4x3").is_err());
    assert!(scan("0", "%arg2", "4x3").is_err());
    assert!(scan("0", "%arg1", "3x4").is_err());
    assert!(scan("0 attributes {scan_dim_size = 5 : i64}", "%arg1", "4x3").is_err());
}

fn broadcast_shape(a: &[i64], b: &[i64], dims: Option<&[i64]>) -> Option<Vec<i64>> {
    let sizes = |shape: &[i64]| shape.iter().map(|&size| (size, DYNAMIC)).collect::<Vec<_>>();
    Some(broadcast_sizes(&sizes(a), &sizes(b), dims)?.into_iter().map(|(size, _)| size).collect())
}

#[test]
fn bounds_hold_for_the_other_size_too() {
    assert_eq!(broadcast_size((DYNAMIC, 10), (DYNAMIC, 4)), Some((DYNAMIC, 10)));
    assert_eq!(broadcast_size((DYNAMIC, 10), (DYNAMIC, DYNAMIC)), Some((DYNAMIC, DYNAMIC)));
    assert_eq!(broadcast_size((DYNAMIC, 10), (1, DYNAMIC)), Some((DYNAMIC, 10)));
    assert_eq!(broadcast_size((7, DYNAMIC), (DYNAMIC, 10)), Some((7, DYNAMIC)));
}

#[test]
fn shapes_broadcast_as_in_numpy() {
    assert_eq!(broadcast_shape(&[4, 3], &[3], None), Some(vec![4, 3]));
    assert_eq!(broadcast_shape(&[1, 3], &[4, 1], None), Some(vec![4, 3]));
    assert_eq!(broadcast_shape(&[DYNAMIC], &[7], None), Some(vec![7]));
    assert_eq!(broadcast_shape(&[DYNAMIC], &[1], None), Some(vec![DYNAMIC]));
    assert_eq!(broadcast_shape(&[4], &[3], None), None);
    assert_eq!(broadcast_shape(&[4, 3], &[4], Some(&[0])), Some(vec![4, 3]));
    assert_eq!(broadcast_shape(&[4, 3], &[4], Some(&[2])), None);
    assert_eq!(broadcast_shape(&[4, 3], &[4], Some(&[0, 1])), None);
}
