//! Pipelines of passes as text.

use mlir::pass::{NamedPipeline, Pass, PassContext, Passes};

fn nothing(_: &mut PassContext<'_>) {}

static PASSES: Passes = Passes {
    passes: &[
        Pass::on_any("any", "", nothing),
        Pass::on_functions("fun", "", nothing),
        Pass::on_modules("mod", "", nothing),
    ],
    pipelines: &[NamedPipeline { name: "both", doc: "", passes: "mod,func.func(fun)" }],
};

#[test]
fn pipelines_nest() {
    let shown = |text| PASSES.parse(text).map(|p| p.to_string());
    assert_eq!(
        shown("builtin.module(any, func.func(fun , any),mod)"),
        Ok("any,func.func(fun,any),mod".into())
    );
    assert_eq!(shown("fun"), Ok("func.func(fun)".into()));
    assert_eq!(shown("both"), Ok("mod,func.func(fun)".into()));
    assert_eq!(shown("func.func(any),func.func(fun)"), Ok("func.func(any),func.func(fun)".into()));
    assert_eq!(shown(""), Ok("".into()));
}

#[test]
fn errors() {
    let error = |text| PASSES.parse(text).err().unwrap_or_default();
    assert!(error("builtin.module(fum)").contains("did you mean `fun`"));
    assert!(error("func.func(mod)").contains("runs on builtin.module, not on func.func"));
    assert!(error("func.func(fun").contains("without `)`"));
    assert!(error("fun)").contains("without `(`"));
    assert!(error("any{x=1}").contains("has no options"));
    assert!(error("any{x").contains("without `}`"));
    assert!(error("any,").contains("last comma"));
    assert!(error(&"f(".repeat(1000)).contains("without"));
}
