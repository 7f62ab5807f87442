//! Refactorings, commands, and programs in bytecode.

use crate::{at_cursor, edited};
use ide::{File, LensKind, Opened, Span};

/// The range between two cursors, and the file.
fn selected(text: &str) -> (File, Span) {
    let (first, last) = (text.find("$0").expect("a start"), text.rfind("$0").expect("an end"));
    let end = if last > first { last - 2 } else { last };
    let file = File::new("test.mlir", text.replace("$0", ""));
    (file, Span { start: first as u32, end: end as u32 })
}

/// The text after the action whose title begins so; it must be valid.
#[track_caller]
fn after(text: &str, title: &str) -> String {
    let (file, range) = selected(text);
    let actions = file.actions(range);
    let action = actions.iter().find(|action| action.title.starts_with(title));
    let action = action.unwrap_or_else(|| panic!("{title} is not among {actions:?}"));
    let text = edited(&file, &action.edits);
    let errors = File::new("after.mlir", &*text).diagnostics();
    let errors: Vec<_> = errors.iter().filter(|f| f.severity == ide::Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    text
}

#[test]
fn extraction() {
    let text = "func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  $0%1 = stablehlo.add %0, %y : tensor<f32>
  %2 = stablehlo.cosine %1 : tensor<f32>$0
  %3 = stablehlo.multiply %2, %0 : tensor<f32>
  return %3 : tensor<f32>
}
";
    let expected = "func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  %2 = func.call @extracted(%0, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.multiply %2, %0 : tensor<f32>
  return %3 : tensor<f32>
}
func.func private @extracted(%0: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %1 = stablehlo.add %0, %y : tensor<f32>
  %2 = stablehlo.cosine %1 : tensor<f32>
  return %2 : tensor<f32>
}
";
    assert_eq!(after(text, "Extract"), expected);
}

#[test]
fn extraction_of_several_results_in_a_module() {
    let text = "module {
  func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    $0%a:2 = call @pair(%x) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %b = stablehlo.sine %a#1 : tensor<f32>$0
    %c = stablehlo.add %a#0, %a#1 : tensor<f32>
    return %b, %c : tensor<f32>, tensor<f32>
  }
  func.func private @pair(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    return %x, %x : tensor<f32>, tensor<f32>
  }
}
";
    let text = after(text, "Extract");
    assert!(text.contains("    %a:2, %b = func.call @extracted(%x)"), "{text}");
    assert!(text.contains("  func.func private @extracted(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {"), "{text}");
}

#[test]
fn the_end_of_a_block_is_not_extracted() {
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
  $0%0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>$0
}";
    let (file, range) = selected(text);
    assert!(file.actions(range).iter().all(|action| !action.title.starts_with("Extract")));
}

#[test]
fn ops_that_need_their_function_stay_in_it() {
    // The meshes are those of the function.
    let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {topology = #mpmd.topology<<\"m1\": <[\"x\"=2]>>>} {
  $0%0 = mpmd.assign {origin = \"user_in\"} %x : (tensor<4xf32>) -> !mpmd.mesh_tensor<\"m1\", tensor<4xf32>>$0
  %1 = mpmd.unassign %0 : (!mpmd.mesh_tensor<\"m1\", tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
";
    let (file, range) = selected(text);
    assert!(file.diagnostics().is_empty(), "{:?}", file.diagnostics());
    let titles: Vec<_> = file.actions(range).into_iter().map(|action| action.title).collect();
    assert!(!titles.iter().any(|title| title.contains("program of these")), "{titles:?}");
    assert!(!titles.iter().any(|title| title.starts_with("Extract")), "{titles:?}");
}

#[test]
fn a_new_program_allows_what_the_file_allows() {
    let text = "// RUN: stablehlo-opt -allow-unregistered-dialect %s
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  $0%0 = \"other.op\"(%x) : (tensor<f32>) -> tensor<f32>$0
  return %0 : tensor<f32>
}
";
    let (file, range) = selected(text);
    let actions = file.actions(range);
    let made = actions.iter().find_map(|action| action.file.clone()).expect("a program");
    assert!(File::new("made.mlir", &*made).diagnostics().is_empty(), "{made}");
}

#[test]
fn inlining() {
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  %1 = $0call @f(%0) : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.add %1, %0 : tensor<f32>
  return %2 : tensor<f32>
}
func.func @f(%y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.cosine %y : tensor<f32>
  %c = stablehlo.multiply %0, %y : tensor<f32>
  return %c : tensor<f32>
}
";
    let expected = "  %0 = stablehlo.sine %x : tensor<f32>
  %v0_0 = stablehlo.cosine %0 : tensor<f32>
  %c = stablehlo.multiply %v0_0, %0 : tensor<f32>
  %2 = stablehlo.add %c, %0 : tensor<f32>
";
    let text = after(text, "Inline");
    assert!(text.contains(expected), "{text}");
}

#[test]
fn rewriting() {
    let text = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
$0 %a = \"stablehlo.sine\"(%x) : (tensor<f32>) -> tensor<f32>
  %dead = stablehlo.sine %x : tensor<f32>
  return %a : tensor<f32>
}
";
    let printed = after(text, "Write the program as MLIR prints it");
    assert!(printed.contains("%0 = stablehlo.sine %arg0 : tensor<f32>"), "{printed}");
    assert!(!after(text, "Mend all").contains("%1"), "the dead op stays");
    assert!(after(text, "Write the program in the generic form").contains("\"func.func\""));
}

#[test]
fn reproducers() {
    let text = "!t = tensor<f32>
func.func @main(%x: !t) -> !t {
  %0 = stablehlo.sine %x : !t
  %1 = $0call @f(%0) : (!t) -> !t
  return %1 : !t
}
func.func private @f(%y: !t) -> !t { return %y : !t }
func.func private @unrelated() { return }
";
    let (file, range) = selected(text);
    let program = file.reproducer(range).expect("a program");
    assert!(File::new("r.mlir", &*program).diagnostics().is_empty(), "{program}");
    assert!(program.contains("@main(%0: tensor<f32>)") && program.contains("@f("), "{program}");
    assert!(!program.contains("unrelated"), "{program}");
}

#[test]
fn lenses_and_commands() {
    let text = "func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.add %x, %x : tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @dynamic(%x: tensor<?xi32>) -> tensor<?xi32> {
  return %x : tensor<?xi32>
}
func.func private @declared()
";
    let file = File::new("test.mlir", text);
    let kinds: Vec<_> = file.lenses().into_iter().map(|lens| (lens.function, lens.kind)).collect();
    let main = |kind| ("main".to_string(), kind);
    assert_eq!(
        kinds[..5],
        [
            main(LensKind::Run),
            main(LensKind::Trace),
            main(LensKind::Cost),
            main(LensKind::Graph),
            main(LensKind::References(0))
        ]
    );
    assert_eq!(kinds[5], ("dynamic".to_string(), LensKind::Refine));
    let run = file.run(0, "main", 0).expect("it runs");
    assert!(run.starts_with("argument 0: dense<") && run.contains("result 0: dense<"), "{run}");
    assert!(file.cost(0, "main").expect("a cost").starts_with("2 FLOP"));
    assert!(file.graph(0).expect("a page").starts_with("<!doctype html>"));
    let options = stablo::RefineOptions::default().batch(3);
    let refined = file.refined(0, "dynamic", &options).expect("it becomes static");
    assert!(refined.contains("tensor<3xi32>"), "{refined}");
    let passes = file.transformed(0, "canonicalize").expect("passes run");
    assert!(passes.contains("stablehlo.add"), "{passes}");
    assert!(file.artifact(0, "1.0.0").expect("an artifact").starts_with(b"ML\xefR"));
    assert!(File::new("bad.mlir", "nonsense").run(0, "main", 0).is_err());
}

#[test]
fn artifacts_keep_their_version() {
    let text = "func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = stablehlo.add %x, %x : tensor<2xi32>
  return %0 : tensor<2xi32>
}
";
    let artifact = File::new("a.mlir", text).artifact(0, "1.2.0").expect("an artifact");
    let opened = Opened::read("a.stablehlo", &artifact).expect("it is read");
    assert_eq!(opened.format, "portable artifact of StableHLO 1.2.0");
    assert_eq!(Opened::save("a", &opened.text, &artifact).expect("it is saved"), artifact);
    let other = opened.text.replace("stablehlo.add", "stablehlo.multiply");
    let saved = Opened::save("a", &other, &artifact).expect("it is saved");
    let again = Opened::read("a", &saved).expect("it is read");
    assert!(again.text.contains("stablehlo.multiply"), "{}", again.text);
    assert_eq!(again.format, opened.format);
    // An op that the version lacks is refused.
    let newer = opened.text.replace("stablehlo.add %arg0, %arg0", "stablehlo.tan %arg0");
    assert!(Opened::save("a", &newer, &artifact).is_err());
}

#[test]
fn comments_expect_diagnostics() {
    let (file, _) = at_cursor(
        "$0func.func @f() -> i32 {
  // expected-error@+1 {{[return]}}
  return
}
// -----
func.func @g() -> i32 {
  // expected-error@+1 {{something else}}
  return
}",
    );
    let severities: Vec<_> = file.diagnostics().iter().map(|f| f.severity).collect();
    assert_eq!(severities, [ide::Severity::Remark, ide::Severity::Error]);
}
