//! Texts about what is under the cursor.

use crate::at_cursor;

fn hover(text: &str) -> String {
    let (file, at) = at_cursor(text);
    file.hover(at).map_or("none".to_string(), |hover| hover.text)
}

#[track_caller]
fn check(text: &str, parts: &[&str]) {
    let found = hover(text);
    for part in parts {
        assert!(found.contains(part), "`{part}` is not in:\n{found}");
    }
}

#[test]
fn ops() {
    check(
        "func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.$0sine %x : tensor<f32>
  return %0 : tensor<f32>
}",
        &["**stablehlo.sine**", "`sine_c1`", "Since StableHLO 0.9.0", "Result: `tensor<f32>`"],
    );
}

#[test]
fn values() {
    let text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<1.5> : tensor<2xf32>
  %0 = stablehlo.add %x, %c : tensor<2xf32>
  return %0 : tensor<2xf32>
}";
    let at = |part: &str| text.replacen(part, &format!("{}$0{}", &part[..1], &part[1..]), 1);
    check(&at("%x, "), &["%x : tensor<2xf32>", "argument 0 of `@f`", "1 use"]);
    check(&at("%c : "), &["%c : tensor<2xf32>", "`stablehlo.constant`", "dense<1.500000e+00>"]);
    check(&at("@f"), &["func.func @f : (tensor<2xf32>) -> tensor<2xf32>", "0 references"]);
    check(&at("tensor<2xf32>) ->"), &["2 elements", "8 bytes"]);
}

#[test]
fn attributes() {
    let text = "func.func @f(%x: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare L$0T, %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}";
    check(text, &["`LT`: a value of `comparison_direction` (EQ, NE, GE, GT, LE, LT)"]);
    let text = "func.func @f(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.transpose %x, di$0ms = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}";
    assert_eq!(hover(text), "none");
}

#[test]
fn nothing_there() {
    assert_eq!(hover("func.func @f() {$0\n\n return }"), "none");
    assert_eq!(hover("$0"), "none");
}
