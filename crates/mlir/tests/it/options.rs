//! Options of passes as text.

use mlir::pass::{OptionKind, PassOption, PassOptions};

static OPTIONS: &[PassOption] = &[
    PassOption { name: "limit", doc: "", kind: OptionKind::Int(10) },
    PassOption { name: "target", doc: "", kind: OptionKind::Text("") },
    PassOption { name: "types", doc: "", kind: OptionKind::List },
    PassOption { name: "strict", doc: "", kind: OptionKind::Bool(false) },
];

fn parse(text: &str) -> Result<PassOptions, String> {
    PassOptions::parse("p", OPTIONS, text)
}

#[test]
fn values_of_each_kind() {
    let options = parse("types=tensor<1x2xf32>,tensor<f32, #a<1,2>> strict target=1.2.3")
        .expect("valid options");
    assert_eq!(options.list("types"), ["tensor<1x2xf32>", "tensor<f32, #a<1,2>>"]);
    assert!(options.bool("strict"));
    assert_eq!(options.text("target"), "1.2.3");
    assert_eq!(options.int("limit"), 10);
    assert_eq!(parse("types={a, b} limit=3").expect("valid options").list("types"), ["a", "b"]);
}

#[test]
fn errors_name_what_is_near() {
    assert!(parse("limt=3").is_err_and(|e| e.contains("did you mean `limit`")));
    assert!(parse("limit=x").is_err_and(|e| e.contains("takes an integer; found `x`")));
    assert!(parse("=x").is_err());
}
