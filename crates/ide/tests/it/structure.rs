//! Outlines, folds, selections and classes of tokens.

use crate::{at_cursor, place};
use ide::{File, FoldKind, HighlightKind, Span, Symbol};

const TEXT: &str = "// A test.
// Of folding.
module @m {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = \"stablehlo.optimization_barrier\"(%x) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @g()
}
";

#[test]
fn outlines() {
    let symbols = File::new("test.mlir", TEXT).symbols();
    let [module] = &symbols[..] else { panic!("{symbols:?}") };
    let name = |symbol: &Symbol| format!("{} {}", symbol.name, symbol.detail);
    assert_eq!(name(module), "m ");
    let functions: Vec<String> = module.children.iter().map(name).collect();
    assert_eq!(functions, ["main (tensor<f32>) -> tensor<f32>", "g () -> ()"]);
}

#[test]
fn folds() {
    let file = File::new("test.mlir", TEXT);
    let lines = |fold: &ide::Fold| {
        let line = |at: u32| TEXT[..at as usize].matches('\n').count() + 1;
        (line(fold.span.start), line(fold.span.end), fold.kind)
    };
    let folds: Vec<_> = file.folds().iter().map(lines).collect();
    let expected =
        [(1, 2, FoldKind::Comment), (3, 8, FoldKind::Brackets), (4, 6, FoldKind::Brackets)];
    assert_eq!(folds, expected);
}

#[test]
fn selections_grow() {
    let (file, at) = at_cursor(&TEXT.replace("return %0", "return %$00"));
    let spans = file.selections(at);
    let places: Vec<String> = spans.iter().map(|&span| place(&file, span)).collect();
    assert_eq!(places[..2], ["6:12 %0", "6:5 return %0 : tensor<f32>"]);
    assert!(spans.is_sorted_by_key(|span| span.end - span.start));
    assert_eq!(*spans.last().expect("the file"), Span { start: 0, end: TEXT.len() as u32 });
}

#[test]
fn classes_of_tokens() {
    let file = File::new("test.mlir", TEXT);
    let all = file.highlights(Span { start: 0, end: TEXT.len() as u32 });
    let of = |text: &str| {
        let found = all.iter().find(|h| &TEXT[h.span.start as usize..h.span.end as usize] == text);
        found.map(|h| (h.kind, h.is_definition)).unwrap_or_else(|| panic!("{text}"))
    };
    assert_eq!(of("// Of folding."), (HighlightKind::Comment, false));
    assert_eq!(of("module"), (HighlightKind::Op, false));
    assert_eq!(of("@main"), (HighlightKind::Function, true));
    assert_eq!(of("%x"), (HighlightKind::Parameter, true));
    assert_eq!(of("%0"), (HighlightKind::Variable, true));
    assert_eq!(of("tensor"), (HighlightKind::Type, false));
    assert_eq!(of("private"), (HighlightKind::Keyword, false));
    assert!(all.is_sorted_by_key(|h| h.span.start));
}

#[test]
fn applied_ops_have_the_class_of_ops() {
    let text = "func.func @f(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
";
    let file = File::new("test.mlir", text);
    let whole = Span { start: 0, end: text.len() as u32 };
    let at = text.find("stablehlo.add").expect("the op") as u32;
    let found = file.highlights(whole).into_iter().find(|found| found.span.start == at);
    assert_eq!(found.expect("a class").kind, HighlightKind::Op);
}
