//! Completion, signatures and hints.

use crate::at_cursor;
use ide::{Completion, Span};

fn items(text: &str) -> Vec<Completion> {
    let (file, at) = at_cursor(text);
    file.completions(at).items
}

fn labels(text: &str) -> Vec<String> {
    items(text).into_iter().map(|item| item.label).collect()
}

/// A function whose body has the cursor.
fn in_body(body: &str) -> String {
    format!(
        "func.func @f(%x: tensor<2x3xf32>, %n: tensor<i32>) -> tensor<2x3xf32> {{
  %0 = stablehlo.sine %x : tensor<2x3xf32>
  %c = stablehlo.constant dense<true> : tensor<i1>
  {body}
  return %0 : tensor<2x3xf32>
}}
func.func private @g(tensor<i32>)"
    )
}

#[test]
fn ops() {
    let found = labels(&in_body("%1 = stablehlo.dot_g$0"));
    assert_eq!(found[0], "stablehlo.dot_general");
    assert_eq!(labels(&in_body("%1 = cos$0"))[0], "stablehlo.cosine");
    assert!(labels(&in_body("ret$0")).contains(&"return".to_string()));
    let add = items(&in_body("%1 = stablehlo.add$0")).swap_remove(0);
    assert_eq!(add.snippet.as_deref(), Some("stablehlo.add ${1:%lhs}, ${2:%rhs} : ${3:type}"));
    let compare = items(&in_body("%1 = stablehlo.compare$0")).swap_remove(0);
    let expected = "stablehlo.compare ${1|EQ,NE,GE,GT,LE,LT|}, ${2:%lhs}, ${3:%rhs} : (${4:types}) -> ${5:type}";
    assert_eq!(compare.snippet.as_deref(), Some(expected));
}

#[test]
fn values_of_fitting_types_come_first() {
    let found = labels(&in_body("%1 = stablehlo.cosine %$0"));
    assert_eq!(found, ["%0", "%x", "%c", "%n"]);
    // One more of the type that the other operand has.
    let found = labels(&in_body("%1 = stablehlo.add %n, %$0"));
    assert_eq!(found[0], "%n");
    // Nothing that is defined later, and nothing of another region.
    let found = labels(
        "func.func @f(%p: tensor<i1>, %x: tensor<f32>) {
  %r = \"stablehlo.if\"(%p) ({
    %a = stablehlo.sine %x : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %$0
  }) : (tensor<i1>) -> tensor<f32>
  return
}",
    );
    assert_eq!(found, ["%x", "%p"]);
}

#[test]
fn cases_of_enumerations() {
    assert_eq!(labels(&in_body("%1 = stablehlo.compare $0")), ["EQ", "GE", "GT", "LE", "LT", "NE"]);
    assert_eq!(labels(&in_body("%1 = stablehlo.compare L$0, %0, %0")), ["LE", "LT"]);
    let found = labels(&in_body(
        "%1 = \"stablehlo.compare\"(%0, %0) <{comparison_direction = $0}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
    ));
    assert_eq!(found[0], "#stablehlo<comparison_direction EQ>");
}

#[test]
fn names_of_attributes() {
    let found = labels(&in_body(
        "%1 = \"stablehlo.transpose\"(%0) <{$0}> : (tensor<2x3xf32>) -> tensor<3x2xf32>",
    ));
    assert_eq!(found, ["permutation"]);
    let found = labels(&in_body("%1 = \"stablehlo.sort\"(%0) <{dimension = 0 : i64, $0}> : "));
    assert_eq!(found, ["is_stable"]);
}

#[test]
fn types() {
    let found = labels(&in_body("%1 = stablehlo.cosine %0 : $0"));
    assert_eq!(found[..2], ["tensor<2x3xf32>", "(tensor<2x3xf32>) -> tensor<2x3xf32>"]);
    assert_eq!(labels(&in_body("%1 = stablehlo.cosine %0 : tensor<2x$0"))[0], "f32");
}

#[test]
fn symbols_blocks_and_aliases() {
    assert_eq!(labels(&in_body("call @$0")), ["@f", "@g"]);
    assert_eq!(labels("!t = i32\nfunc.func @f(%x: !$0) { return }")[0], "!t");
    assert_eq!(labels("func.func @f() {\n  cf.br ^$0\n^bb1:\n  return\n}"), ["^bb1"]);
}

#[test]
fn keywords_of_formats() {
    let found = labels(&in_body("%1 = stablehlo.transpose %0, $0"));
    assert_eq!(found, ["dims"]);
}

#[test]
fn nothing_in_comments_and_strings() {
    assert!(labels(&in_body("// stab$0")).is_empty());
    assert!(labels(&in_body("%1 = \"stab$0le\"")).is_empty());
}

#[test]
fn signatures() {
    let (file, at) = at_cursor(&in_body("%1 = stablehlo.add %0, $0"));
    let found = file.signature(at).expect("a signature");
    assert_eq!(found.label, "stablehlo.add %lhs, %rhs -> result");
    let (range, doc) = &found.parameters[found.active];
    assert_eq!(&found.label[range.start as usize..range.end as usize], "%rhs");
    assert!(!doc.is_empty());
    let (file, at) = at_cursor(&in_body("call @g($0"));
    assert_eq!(file.signature(at).expect("a signature").label, "@g(tensor<i32>) -> ()");
}

#[test]
fn hints() {
    let text = "func.func @f(%n: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i32>
  }
  return %0 : tensor<i32>
}
// -----
func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.dot %x, %x : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}";
    let file = ide::File::new("test.mlir", text);
    let hints = file.hints(Span { start: 0, end: text.len() as u32 });
    let shown: Vec<(&str, &str)> = hints
        .iter()
        .map(|hint| {
            (text[..hint.at as usize].rsplit(['(', '\n']).next().unwrap_or(""), &*hint.text)
        })
        .collect();
    let dot = "tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>";
    assert_eq!(shown, [("%i", ": tensor<i32>"), (dot, "268 M FLOP")]);
}

#[test]
fn calls() {
    let (file, at) = at_cursor(
        "func.func @main() { call @$0f() : () -> () call @f() : () -> () return }
func.func private @f() { call @g() : () -> () return }
func.func private @g() { return }",
    );
    assert_eq!(file.function_at(at).expect("a function").name, "f");
    let names = |calls: Vec<ide::Call>| -> Vec<(String, usize)> {
        calls.into_iter().map(|call| (call.name, call.places.len())).collect()
    };
    assert_eq!(names(file.incoming_calls(at)), [("main".to_string(), 2)]);
    assert_eq!(names(file.outgoing_calls(at)), [("g".to_string(), 1)]);
}
