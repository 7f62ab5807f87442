//! Definitions and references.

use crate::{at_cursor, place};

/// The place of the definition of what is at the cursor.
fn definition(text: &str) -> String {
    let (file, at) = at_cursor(text);
    file.definition(at).map_or("none".to_string(), |found| place(&file, found.name))
}

/// The places of all references of what is at the cursor; `!` marks the definition.
fn references(text: &str) -> Vec<String> {
    let (file, at) = at_cursor(text);
    let mark = |is_definition| if is_definition { "!" } else { "" };
    let all = file.references(at).into_iter();
    all.map(|r| format!("{}{}", place(&file, r.name), mark(r.is_definition))).collect()
}

#[test]
fn arguments_and_results() {
    let text = "func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  %1 = stablehlo.add %0, $0%0 : tensor<f32>
  return %1 : tensor<f32>
}";
    assert_eq!(definition(text), "2:3 %0");
    assert_eq!(references(text), ["2:3 %0!", "3:22 %0", "3:26 %0"]);
    assert_eq!(definition("func.func @f(%x: i32) { return$0 %x : i32 }"), "none");
    assert_eq!(definition("func.func @f(%x: i32) { return %$0x : i32 }"), "1:14 %x");
    // The end of a name belongs to it.
    assert_eq!(definition("func.func @f(%x: i32) { return %x$0 : i32 }"), "1:14 %x");
}

#[test]
fn one_of_several_results() {
    let text = "func.func @f() {
  %a:2 = \"test.op\"() : () -> (i32, i32)
  \"test.use\"(%a#1$0) : (i32) -> ()
  return
}
// RUN: stablehlo-opt -allow-unregistered-dialect";
    assert_eq!(definition(text), "2:3 %a");
    assert_eq!(references(text), ["2:3 %a!", "3:14 %a"]);
}

#[test]
fn sibling_regions_have_names_of_their_own() {
    let text = "func.func @f(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %r = \"stablehlo.if\"(%p) ({
    %0 = stablehlo.sine %x : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }, {
    %0 = stablehlo.cosine %x : tensor<f32>
    stablehlo.return %$00 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %r : tensor<f32>
}";
    assert_eq!(references(text), ["6:5 %0!", "7:22 %0"]);
}

#[test]
fn names_of_functions_are_their_own() {
    let text = "func.func @f(%x: i32) { return }
func.func @g(%x: i32) -> i32 { return %$0x : i32 }";
    assert_eq!(references(text), ["2:14 %x!", "2:39 %x"]);
}

#[test]
fn arguments_of_pretty_regions() {
    let text = "func.func @f(%n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %$0i, %i : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}";
    assert_eq!(definition(text), "2:24 %i");
    assert_eq!(references(text), ["2:24 %i!", "4:32 %i", "7:24 %i", "7:28 %i"]);
}

#[test]
fn symbols() {
    let text = "func.func @main() { call @helper() : () -> () return }
func.func private @$0helper() { return }";
    assert_eq!(references(text), ["1:26 @helper", "2:19 @helper!"]);
    assert_eq!(definition("func.func @f() { call @$0g() : () -> () return }"), "none");
}

#[test]
fn symbols_of_nested_modules() {
    let text = "module @a { func.func @f() { return } }
module @b { func.func @f() { call @$0f() : () -> () return } }";
    assert_eq!(definition(text), "2:23 @f");
}

#[test]
fn generic_symbols() {
    let text = "\"func.func\"() <{sym_name = \"f\", function_type = () -> ()}> ({
  \"func.return\"() : () -> ()
}) : () -> ()
func.func @g() { call @$0f() : () -> () return }";
    assert_eq!(definition(text), "1:28 \"f\"");
}

#[test]
fn aliases() {
    let text = "!t = tensor<f32>
func.func @f(%x: !$0t) -> !t { return %x : !t }";
    assert_eq!(references(text), ["1:1 !t!", "2:18 !t", "2:25 !t", "2:42 !t"]);
    let text = "func.func @f() { return loc(#$0loc1) }\n#loc1 = loc(\"a\")";
    assert_eq!(definition(text), "2:1 #loc1");
}

#[test]
fn blocks() {
    let text = "func.func @f() {
  cf.br ^$0bb1
^bb1:
  return
}";
    assert_eq!(references(text), ["2:9 ^bb1", "3:1 ^bb1!"]);
}

#[test]
fn names_in_ops_that_cannot_be_read() {
    let text = "func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.sine %x : tensor<f32>
  %1 = stablehlo.nonsense %0 %$0x ]
  %2 = stablehlo.add %1, %0 : tensor<f32>
  return
}";
    assert_eq!(definition(text), "1:14 %x");
    let text = text.replace("$0", "").replace("add %1", "add %$01");
    assert_eq!(references(&text), ["3:3 %1!", "4:22 %1"]);
}

#[test]
fn names_in_regions_of_ops_that_cannot_be_read() {
    let text = "func.func @f(%x: tensor<f32>) {
  %0 = stablehlo.while(%i = %x nonsense : tensor<f32>
  cond {
    %1 = stablehlo.sine %$0i : tensor<f32>
  } do {
  }
  return
}";
    assert_eq!(definition(text), "2:24 %i");
}

#[test]
fn sections_are_programs() {
    let text = "func.func @f() { return }
// -----
func.func @f() { call @$0f() : () -> () return }";
    assert_eq!(references(text), ["3:11 @f!", "3:23 @f"]);
}
