//! Large texts: checked as a whole on another thread, and in part after each edit.

use ide::{Edit, File, Finding, Severity, Span};
use std::fmt::Write as _;

/// A program of several functions as printers write it.
fn functions() -> String {
    let mut text = String::from("#loc1 = loc(\"a\")\nmodule @m attributes {test.flag = true} {\n");
    for number in 0..6 {
        let (name, visibility) = match number {
            0 => ("main".to_string(), "public"),
            number => (format!("f{number}"), "private"),
        };
        let next = (number + 1) % 6;
        let callee = if next == 0 { "f1".to_string() } else { format!("f{next}") };
        let _ = write!(
            text,
            "  func.func {visibility} @{name}(%arg0: tensor<2xf32> loc(#loc1)) -> tensor<2xf32> {{
    %0 = stablehlo.sine %arg0 : tensor<2xf32> loc(#loc2)
    %1 = call @{callee}(%0) : (tensor<2xf32>) -> tensor<2xf32> loc(#loc3)
    %2 = stablehlo.add %0, %1 : tensor<2xf32>
    return %2 : tensor<2xf32>
  }} loc(#loc1)\n"
        );
    }
    text + "}\n#loc2 = loc(\"b\")\n#loc3 = loc(callsite(#loc2 at #loc1))\n"
}

/// A program with one function of many ops: elementwise ones, ops with regions, ops with two
/// results, and calls.
fn function(ops: usize) -> String {
    let mut text = String::from(
        "module @m {\n  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {\n    \
         %c = stablehlo.constant dense<0.0> : tensor<f32>\n    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>\n",
    );
    for number in 1..ops {
        let (before, padding) =
            (number - 1, "stablehlo_is_long_here_so_that_the_function_is_large");
        let _ = match number % 8 {
            3 => writeln!(
                text,
                "    %r{number} = stablehlo.reduce(%{before} init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %{number} = stablehlo.broadcast_in_dim %r{number}, dims = [] : (tensor<f32>) -> tensor<4xf32>"
            ),
            5 => writeln!(
                text,
                "    %s{number}:2 = \"stablehlo.sort\"(%{before}, %arg0) ({{
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %x = stablehlo.compare  LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %x : tensor<i1>
    }}) {{dimension = 0 : i64}} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %{number} = stablehlo.add %s{number}#0, %s{number}#1 : tensor<4xf32>"
            ),
            7 => writeln!(
                text,
                "    %{number} = call @f(%{before}) : (tensor<4xf32>) -> tensor<4xf32> loc(\"{padding}\")"
            ),
            _ => writeln!(
                text,
                "    %{number} = stablehlo.multiply %{before}, %arg1 : tensor<4xf32> loc(\"{padding}/{number}\")"
            ),
        };
    }
    let _ = write!(
        text,
        "    return %{} : tensor<4xf32>\n  }}\n  func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {{
    return %arg0 : tensor<4xf32>\n  }}\n}}\n",
        ops - 1
    );
    text
}

fn shown(findings: &[Finding]) -> Vec<String> {
    let finding = |f: &Finding| format!("{:?} {:?} {} {}", f.span, f.severity, f.label, f.message);
    findings.iter().map(finding).collect()
}

fn errors(findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
}

/// A large file whose values have known types.
fn large(text: &str) -> File {
    let mut file = File::new("test.mlir", text).with_large(0);
    let types = file.snapshot().check().value_types();
    file.set_value_types(types);
    file
}

/// Compares what the part around an edit and the whole find: all errors of the whole are in the
/// part, and are found there.
#[track_caller]
fn same_errors(before: &str, old: &str, new: &str) {
    let mut file = large(before);
    let at = before.find(old).unwrap_or_else(|| panic!("no {old}")) as u32;
    let edit = Edit::replace(Span { start: at, end: at + old.len() as u32 }, new);
    assert!(file.edit(&edit));
    let edited = Span { start: at, end: at + new.len() as u32 };
    let (part, found) = file.diagnostics_around(edited).unwrap_or_else(|| panic!("{new}: no part"));
    assert!(part.start <= edited.start && edited.end <= part.end, "{new}");
    assert_eq!(shown(&errors(found)), shown(&errors(file.diagnostics())), "{old} => {new}");
}

#[test]
fn checks_find_what_files_find() {
    for text in [functions(), function(300), functions().replace("sine", "sin")] {
        let small = File::new("test.mlir", &*text);
        assert_eq!(shown(&large(&text).diagnostics()), shown(&small.diagnostics()));
        assert_eq!(shown(&small.snapshot().check().all()), shown(&small.diagnostics()));
    }
}

#[test]
fn checks_are_kept_until_the_next_edit() {
    for text in [functions(), format!("{}// -----\n{}", functions(), function(20))] {
        let mut file = large(&text);
        assert!(!file.is_analysed());
        let checked = file.snapshot().check();
        file.adopt(checked);
        assert!(file.is_analysed());
        let fresh = File::new("test.mlir", &*text);
        assert_eq!(file.symbols(), fresh.symbols());
        assert_eq!(file.lenses(), fresh.lenses());
        // A check of another text is of no use.
        let late = file.snapshot().check();
        assert!(file.edit(&Edit::insert(0, "// new\n")));
        file.adopt(late);
        assert!(!file.is_analysed());
        assert_eq!(file.symbols(), File::new("test.mlir", file.text()).symbols());
    }
}

#[test]
fn parts_are_functions() {
    let text = functions();
    for (old, new) in [
        ("%0 = stablehlo.sine %arg0", "%0 = stablehlo.sin %arg0"),
        ("stablehlo.add %0, %1 : tensor<2xf32>", "stablehlo.add %0, %1 : tensor<3xf32>"),
        ("call @f3(%0)", "call @f9(%0)"),
        ("call @f2(%0) : (tensor<2xf32>) ->", "call @f2(%0) : (tensor<3xf32>) ->"),
        ("loc(#loc3)", "loc(#loc9)"),
        ("return %2 : tensor<2xf32>", "return %2, %2 : tensor<2xf32>, tensor<2xf32>"),
        ("%2 = stablehlo.add %0, %1", "%2 = stablehlo.add %0, %5"),
        ("%2 = stablehlo.add %0, %1", "%2 = stablehlo.add %1, %1"),
    ] {
        same_errors(&text, old, new);
    }
}

#[test]
fn parts_are_ops_of_large_functions() {
    let text = function(1000);
    assert!(text.len() > 64 << 10);
    for (old, new) in [
        ("%500 = stablehlo.multiply %499", "%500 = stablehlo.multiply %499, %499"),
        ("%500 = stablehlo.multiply %499", "%500 = stablehlo.multiply %s493#1"),
        ("%500 = stablehlo.multiply %499", "%500 = stablehlo.multiply %s493#2"),
        ("%500 = stablehlo.multiply %499", "%500 = stablehlo.multiply %c"),
        ("%500 = stablehlo.multiply %499", "%500 = stablehlo.multiply %17"),
        ("%500 = stablehlo.multiply %499", "%500 = stablehlo.multiply %nothing"),
        ("%500 = stablehlo.multiply %499", "%500 = stablehlo.multipl %499"),
        ("%500 = stablehlo.multiply %499", "%500 = stablehlo.add %r499"),
        ("%503 = call @f(%502)", "%503 = call @g(%502)"),
        ("%503 = call @f(%502)", "%503 = call @f(%502, %502)"),
        ("return %999 : tensor<4xf32>", "return %999 : tensor<5xf32>"),
        ("return %999", "return %17"),
        ("return %999 : tensor<4xf32>", "return"),
    ] {
        same_errors(&text, old, new);
    }
}

#[test]
fn values_that_an_edit_defined_wait_for_the_whole() {
    let text = function(1000);
    let mut file = large(&text);
    let first = text.find("    %10 =").expect("an op") as u32;
    assert!(file.edit(&Edit::insert(first, "    %new = stablehlo.abs %2 : tensor<4xf32>\n")));
    let text = file.text().to_string();
    let at = text.find("%500 = stablehlo.multiply %499").expect("an op") as u32;
    let operand = Span { start: at + 26, end: at + 30 };
    assert!(file.edit(&Edit::replace(operand, "%new")));
    assert!(file.diagnostics_around(operand).is_none());
    let types = file.snapshot().check().value_types();
    file.set_value_types(types);
    let (_, found) = file.diagnostics_around(operand).expect("a part");
    assert_eq!(shown(&found), Vec::<String>::new());
}

#[test]
fn findings_follow_edits() {
    let text = functions().replacen("stablehlo.add %0, %1", "stablehlo.ad %0, %1", 1);
    let mut file = large(&text);
    let mut findings = file.diagnostics();
    let at = text.find("%0 = stablehlo.sine").expect("an op") as u32;
    let edit = Edit::insert(at, "%new = stablehlo.sine %arg0 : tensor<2xf32> loc(\"é\")\n    ");
    assert!(file.edit(&edit));
    findings.retain_mut(|finding| finding.follow(&edit));
    assert_eq!(shown(&findings), shown(&file.diagnostics()));
    // Replaced text has no findings any more.
    let span = findings[0].span;
    let edit = Edit::replace(Span { start: span.start + 1, end: span.start + 2 }, "");
    assert!(!findings[0].follow(&edit));
}

#[test]
fn fixes_of_large_texts_are_computed_on_request() {
    let text = function(1000).replacen("%500 = stablehlo.multiply", "%500 = stablehlo.multipl", 1);
    let file = large(&text);
    let findings = file.diagnostics();
    assert!(findings[0].fixes.is_empty());
    let fixes = file.fixes(&findings[0]);
    assert_eq!(fixes[0].title, "Replace by `stablehlo.multiply`");
    assert_eq!(crate::edited(&file, &fixes[0].edits), function(1000));
}

#[test]
fn edits_at_random_do_not_panic() {
    let texts = [functions(), function(700)];
    let mut seed = 1u64;
    let (mut same, mut parts) = (0, 0);
    for text in &texts {
        let mut file = large(text);
        for _ in 0..150 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let start = (seed >> 33) as u32 % (file.text().len() as u32 + 1);
            let typed = ["", "%0", "\n", "}", "stablehlo.", "// x\n", "  func.func @g() {\n", "x"];
            let end = (start + (seed >> 20) as u32 % 4).min(file.text().len() as u32);
            let new = typed[(seed >> 12) as usize % typed.len()];
            assert!(file.edit(&Edit::replace(Span { start, end }, new)));
            let edited = Span { start, end: start + new.len() as u32 };
            if let Some((part, found)) = file.diagnostics_around(edited) {
                let mut whole = errors(file.diagnostics());
                whole.retain(|f| part.start <= f.span.start && f.span.end <= part.end);
                parts += 1;
                same += usize::from(shown(&errors(found)) == shown(&whole));
            }
            if seed.is_multiple_of(3) {
                file = large(text);
            }
        }
    }
    // An edit may change what the whole reads elsewhere, such as by an open string.
    assert!(parts > 100 && same * 10 > parts * 8, "{same} of {parts}");
}

#[test]
fn completions_read_one_function() {
    let text = functions().replacen("    return %2", "    %3 = stablehlo.cos\n    return %2", 1);
    let at = text.find("stablehlo.cos").expect("the op") as u32 + "stablehlo.cos".len() as u32;
    let whole = File::new("test.mlir", &*text).completions(at).items;
    let parts = large(&text).completions(at).items;
    assert_eq!(parts, whole);
    assert_eq!(whole[0].label, "stablehlo.cosine");
    let text = text.replacen("stablehlo.cos\n", "call @f2(%0\n", 1);
    let at = text.find("call @f2(%0\n").expect("the call") as u32 + "call @f2(%0".len() as u32;
    let whole = File::new("test.mlir", &*text);
    let parts = large(&text);
    assert_eq!(parts.completions(at).items, whole.completions(at).items);
    assert_eq!(parts.signature(at), whole.signature(at));
}
