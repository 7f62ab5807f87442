//! Errors and warnings while a text is edited.

use crate::{edited, place};
use ide::{Edit, File, Span};

/// The findings as `line:column text [label]`.
fn findings(file: &File) -> Vec<String> {
    let finding = |f: &ide::Finding| format!("{} [{}]", place(file, f.span), f.label);
    file.diagnostics().iter().map(finding).collect()
}

#[test]
fn errors_of_one_function_do_not_hide_those_of_others() {
    let file = File::new(
        "test.mlir",
        "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.sine %x tensor<2xf32>
  %1 = stablehlo.cosinus %x : tensor<2xf32>
  return %x : tensor<2xf32>
}
func.func @g(%x: tensor<2xf32>) -> tensor<3xf32> {
  %0 = stablehlo.sine %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}",
    );
    let found = findings(&file);
    assert_eq!(
        found,
        ["2:26 tensor [parse]", "3:8 stablehlo.cosinus [parse]", "8:15 tensor<2xf32> [return]"]
    );
}

#[test]
fn sections_have_errors_of_their_own() {
    let file = File::new(
        "test.mlir",
        "func.func @f() { return %0 : i32 }\n// -----\nfunc.func @f() -> i32 { return }\n",
    );
    let found = findings(&file);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("1:25 %0") && found[1].starts_with("3:25 return"), "{found:?}");
}

#[test]
fn suggestions_are_fixes() {
    let file = File::new(
        "test.mlir",
        "func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.cosin %x : tensor<f32>
  return %0 : tensor<f32>
}",
    );
    let findings = file.diagnostics();
    let fix = &findings[0].fixes[0];
    assert_eq!(fix.title, "Replace by `stablehlo.cosine`");
    let fixed = edited(&file, &fix.edits);
    assert!(File::new("test.mlir", fixed).diagnostics().is_empty());
}

#[test]
fn dead_ops_are_removed() {
    let text = "func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  return %x : tensor<f32>
}";
    let file = File::new("test.mlir", text);
    let findings = file.diagnostics();
    assert_eq!(findings.len(), 1);
    assert!(findings[0].is_unnecessary && findings[0].label == "dead-op");
    let fixed = edited(&file, &findings[0].fixes[0].edits);
    assert_eq!(fixed, text.replace("  %0 = stablehlo.sine %x : tensor<f32>\n", ""));
}

#[test]
fn edits_change_what_is_found() {
    let mut file = File::new("test.mlir", "func.func @f() { return }");
    assert!(file.diagnostics().is_empty());
    let at = file.text().find('}').expect("a brace") as u32;
    assert!(file.edit(&Edit::insert(at, "%0 ")));
    assert_eq!(file.diagnostics().len(), 1);
    assert!(file.edit(&Edit::remove(Span { start: at, end: at + 3 })));
    assert!(file.diagnostics().is_empty());
    assert!(!file.edit(&Edit::insert(1000, "x")), "out of range");
}

#[test]
fn result_types_are_mended() {
    let text = "func.func @f(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}";
    let file = File::new("test.mlir", text);
    let findings = file.diagnostics();
    let fix = &findings[0].fixes[0];
    assert_eq!(fix.title, "Change the type of the result to tensor<3x2xf32>");
    let fixed = edited(&file, &fix.edits);
    let left = File::new("test.mlir", fixed).diagnostics();
    assert!(left.iter().all(|f| f.severity != ide::Severity::Error), "{left:?}");
}
