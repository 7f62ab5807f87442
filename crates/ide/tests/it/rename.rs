//! Renaming.

use crate::{at_cursor, edited};

/// The text after what is at the cursor is renamed, or why it is not.
fn renamed(text: &str, new: &str) -> String {
    let (file, at) = at_cursor(text);
    match file.rename(at, new) {
        Ok(edits) => edited(&file, &edits),
        Err(error) => error.to_string(),
    }
}

const SINE: &str = "func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %$0x : tensor<f32>
  return %0 : tensor<f32>
}";

#[test]
fn values() {
    let expected = SINE.replace("$0", "").replace("%x", "%angle");
    assert_eq!(renamed(SINE, "angle"), expected);
    assert_eq!(renamed(SINE, "%angle"), expected);
    assert_eq!(renamed(SINE, "12"), SINE.replace("$0", "").replace("%x", "%12"));
}

#[test]
fn taken_and_invalid_names_are_refused() {
    assert_eq!(renamed(SINE, "0"), "`%0` is already defined");
    assert_eq!(renamed(SINE, "x"), SINE.replace("$0", ""));
    for invalid in ["", "a b", "a,b", "1a", "%", "@f", "é", "a%b"] {
        let message = renamed(SINE, invalid);
        assert!(message.contains("is not a valid name"), "{invalid}: {message}");
    }
}

#[test]
fn names_of_inner_regions_collide() {
    let text = "func.func @f(%p: tensor<i1>, %$0x: tensor<f32>) -> tensor<f32> {
  %r = \"stablehlo.if\"(%p) ({
    %a = stablehlo.sine %x : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %r : tensor<f32>
}";
    assert_eq!(renamed(text, "a"), "`%a` is already defined");
    assert_eq!(renamed(text, "r"), "`%r` is already defined");
    assert!(renamed(text, "b").contains("sine %b"));
}

#[test]
fn symbols_and_aliases() {
    let text = "func.func @$0f() { call @g() : () -> () return }
func.func private @g() { call @f() : () -> () return }";
    let expected = text.replace("$0", "").replace("@f", "@main");
    assert_eq!(renamed(text, "main"), expected);
    assert_eq!(renamed(text, "g"), "`@g` is already defined");
    assert_eq!(
        renamed("!t = i32\nfunc.func private @f(!$0t)", "count"),
        "!count = i32\nfunc.func private @f(!count)"
    );
    assert!(renamed("!t = i32\nfunc.func private @f(!$0t)", "a.b").contains("not a valid name"));
}

#[test]
fn nothing_to_rename() {
    assert_eq!(
        renamed("func.func @f() { ret$0urn }", "x"),
        "there is no value, block, symbol or alias"
    );
}
