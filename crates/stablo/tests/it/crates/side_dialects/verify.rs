//! The generic verifier, on programs of the dialects of this crate.

use mlir::diag::{Position, Source};
use mlir::ir::Module;
use mlir::ods::Registry;
use mlir::text::{ParseOptions, parse};
use mlir::verify::{Reporting, VerifyOptions, verify};
use side_dialects::DIALECTS;
use side_dialects::sdy::NamedComputationOp;
use std::sync::{Arc, LazyLock};

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new(DIALECTS));

fn read(text: &str) -> Module {
    let source = Arc::new(Source::new("<test>", text));
    let options = ParseOptions { allow_unregistered_dialects: true, ..ParseOptions::default() };
    let output = parse(source, &REGISTRY, options);
    let messages: Vec<_> = output.diagnostics.iter().map(|d| &d.message).collect();
    assert!(messages.is_empty(), "{messages:?}\n{text}");
    output.module
}

/// Label and line of each error.
fn errors_of(module: &Module, reporting: Reporting) -> Vec<(String, u32)> {
    let options = VerifyOptions { reporting, allow_unregistered_dialects: true, strict: false };
    let line = |position: &Position| match position {
        Position::Span(span) => module.source().map_or(0, |s| s.line_column(span.start).0),
        _ => 0,
    };
    verify(module, &options).iter().map(|d| (d.label.to_string(), line(&d.position))).collect()
}

fn all(text: &str) -> Vec<(String, u32)> {
    errors_of(&read(text), Reporting::All)
}

/// Asserts that the body of a function has exactly one error, with the given label and on the given
/// line, the first of the body being line 1.
fn check(body: &str, label: &str, line: u32) {
    let text = format!("func.func @f(%i: i32, %f: f32, %t: tensor<2xf32>) {{\n{body}\n}}");
    assert_eq!(all(&text), [(label.to_string(), line + 1)], "{body}");
    assert_eq!(
        errors_of(&read(&text), Reporting::LikeUpstream),
        [(label.to_string(), line + 1)],
        "{body}"
    );
}

#[test]
fn counts_and_types_of_values() {
    check("%0 = \"arith.addi\"(%i) : (i32) -> i32\nreturn", "operands", 1);
    check("\"arith.addi\"(%i, %i) : (i32, i32) -> ()\nreturn", "results", 1);
    check("%0 = \"arith.addi\"(%f, %f) : (f32, f32) -> f32\nreturn", "operand-type", 1);
    check(
        "%0 = \"arith.cmpi\"(%i, %i) {predicate = 0 : i64} : (i32, i32) -> i32\nreturn",
        "result-type",
        1,
    );
    check("%0 = \"tensor.empty\"(%f) : (f32) -> tensor<?xf32>\nreturn", "operand-type", 1);
}

#[test]
fn segments_deal_out_operands() {
    let op = |segments: &str| {
        let attributes = "static_low = array<i64: 0>, static_high = array<i64: 0>";
        format!(
            "%0 = \"tensor.pad\"(%t) ({{\n^bb0(%n: index):\n\"tensor.yield\"(%f) : (f32) -> ()\n}}) \
             {{{attributes}{segments}}} : (tensor<2xf32>) -> tensor<2xf32>\nreturn"
        )
    };
    let text = |segments: &str| {
        format!("func.func @f(%f: f32, %t: tensor<2xf32>) {{\n{}\n}}", op(segments))
    };
    assert_eq!(all(&text(", operandSegmentSizes = array<i32: 1, 0, 0>")), []);
    for wrong in ["1, 0", "1, 1, 0", "0, 1, 0", "1, 2, -2"] {
        let errors = all(&text(&format!(", operandSegmentSizes = array<i32: {wrong}>")));
        assert_eq!(errors, [("operands".to_string(), 2)], "{wrong}");
    }
    assert_eq!(all(&text("")), [("attribute".to_string(), 2)]);
}

#[test]
fn attributes() {
    check("%0 = \"arith.cmpi\"(%i, %i) : (i32, i32) -> i1\nreturn", "attribute", 1);
    check(
        "%0 = \"arith.cmpi\"(%i, %i) {predicate = 0 : i32} : (i32, i32) -> i1\nreturn",
        "attribute",
        1,
    );
    // There are ten predicates, 0 to 9.
    check(
        "%0 = \"arith.cmpi\"(%i, %i) {predicate = 10 : i64} : (i32, i32) -> i1\nreturn",
        "attribute",
        1,
    );
}

#[test]
fn traits() {
    check("%0 = \"arith.addf\"(%f, %f) : (f32, f32) -> f64\nreturn", "trait-same-type", 1);
    check(
        "%0 = \"arith.extf\"(%t) : (tensor<2xf32>) -> tensor<3xf64>\nreturn",
        "trait-same-shape",
        1,
    );
    check(
        "check.expect_close %f, %t, max_ulp_difference = 1 : f32, tensor<2xf32>\nreturn",
        "operand-type",
        1,
    );
    check("\"tensor.yield\"(%f) : (f32) -> ()\nreturn", "terminator", 1);
    check(
        "\"sdy.mesh\"() {sym_name = \"m\", mesh = #sdy.mesh<[\"a\"=2]>} : () -> ()\nreturn",
        "symbol",
        1,
    );
    let yields = "%0 = \"tensor.generate\"() ({\n^bb0(%n: index):\n\"func.return\"() : () -> ()\n}) : () -> tensor<2xf32>\nreturn";
    check(yields, "trait-has-parent", 3);
}

#[test]
fn inferred_types() {
    let text = "func.func @f(%t: tensor<2xf32>) {\n%n = arith.constant 0 : index\n\
                %0 = \"tensor.extract\"(%t, %n) : (tensor<2xf32>, index) -> f64\nreturn\n}";
    let error = ("result-type".to_string(), 3);
    assert_eq!(all(text), std::slice::from_ref(&error));
    // Upstream reports that it could not infer the type, after reporting why.
    assert_eq!(errors_of(&read(text), Reporting::LikeUpstream), [error.clone(), error]);
}

#[test]
fn blocks_end_with_a_terminator() {
    check("%0 = arith.constant 1 : i32", "terminator", 1);
    assert_eq!(
        all("module { \"func.func\"() ({\n^bb0:\n}) {sym_name = \"f\", function_type = () -> ()} : () -> () }").len(),
        1
    );
    // A module needs none.
    assert_eq!(all("module {}"), []);
}

#[test]
fn values_are_defined_before_their_use() {
    check("%1 = arith.addi %0, %i : i32\n%0 = arith.constant 1 : i32\nreturn", "dominance", 1);
    check("%0 = arith.addi %0, %i : i32\nreturn", "dominance", 1);
    let nested = "%1 = \"x.region\"() ({\n%0 = arith.constant 1 : i32\n\"x.end\"() : () -> ()\n}) : () -> i32\n\
                  %2 = arith.addi %0, %1 : i32\nreturn";
    // Rejected by the parser already: names of a region end with it.
    let source = Arc::new(Source::new("<test>", format!("func.func @f() {{\n{nested}\n}}")));
    let options = ParseOptions { allow_unregistered_dialects: true, ..ParseOptions::default() };
    assert!(!parse(source, &REGISTRY, options).diagnostics.is_empty());
}

/// A diamond: `^left` and `^right` lead from the entry to `^join`.
fn diamond(left: &str, join: &str) -> String {
    format!(
        "func.func @f(%i: i32) {{\n%0 = arith.constant 1 : i32\n\"x.branch\"()[^left, ^right] : () -> ()\n\
         ^left:\n{left}\n\"x.jump\"()[^join] : () -> ()\n^right:\n\"x.jump\"()[^join] : () -> ()\n\
         ^join:\n{join}\nreturn\n}}"
    )
}

#[test]
fn values_are_visible_in_dominated_blocks() {
    let uses = |value: &str| format!("%2 = arith.addi {value}, %i : i32");
    let defines = "%1 = arith.constant 2 : i32";
    assert_eq!(all(&diamond(defines, &uses("%0"))), []);
    assert_eq!(all(&diamond(defines, &uses("%1"))), [("dominance".to_string(), 10)]);
    // The entry cannot be branched to.
    let back = "func.func @f() {\n\"x.jump\"()[^entry] : () -> ()\n^entry:\n\"x.jump\"()[^entry] : () -> ()\n}";
    assert_eq!(all(back), []);
    let entry = "func.func @f() {\n^entry:\n\"x.jump\"()[^entry] : () -> ()\n}";
    assert_eq!(all(entry), [("region".to_string(), 3)]);
}

#[test]
fn unreachable_blocks_may_use_anything() {
    let text = "func.func @f(%i: i32) {\nreturn\n^dead:\n%1 = arith.addi %0, %i : i32\n%0 = arith.constant 1 : i32\nreturn\n}";
    assert_eq!(all(text), []);
}

#[test]
fn loops_dominate_their_bodies() {
    let text = "func.func @f(%i: i32) {\n\"x.jump\"()[^head] : () -> ()\n\
                ^head:\n%0 = arith.constant 1 : i32\n\"x.branch\"()[^body, ^exit] : () -> ()\n\
                ^body:\n%1 = arith.addi %0, %i : i32\n\"x.jump\"()[^head] : () -> ()\n\
                ^exit:\n%2 = arith.addi %0, %1 : i32\nreturn\n}";
    assert_eq!(all(text), [("dominance".to_string(), 10)]);
}

#[test]
fn isolated_regions_see_no_values_from_outside() {
    let text = "func.func @f(%i: i32) {\n%0 = sdy.named_computation<\"n\">(%i) (%a: i32) {\n%1 = arith.addi %a, %a : i32\n\
                sdy.return %1 : i32\n} : (i32) -> i32\nreturn\n}";
    let mut module = read(text);
    assert_eq!(errors_of(&module, Reporting::All), []);
    let ops: Vec<_> =
        module.walk(module.top().id()).map(|op| (op.id(), op.name().to_string())).collect();
    let find = |name: &str| {
        ops.iter().find(|(_, n)| n == name).map(|(id, _)| *id).expect("is in the text")
    };
    let outer = module.op(find("sdy.named_computation"));
    assert!(NamedComputationOp::cast(outer).is_some());
    let outside = outer.operand(0);
    module.set_operand(find("arith.addi"), 0, outside);
    assert_eq!(errors_of(&module, Reporting::All), [("isolated".to_string(), 3)]);
    assert_eq!(errors_of(&module, Reporting::LikeUpstream), [("isolated".to_string(), 3)]);
}

#[test]
fn symbols() {
    let twice = "func.func private @f()\nfunc.func @f() { return }";
    assert_eq!(all(twice), [("symbol".to_string(), 2)]);
    check("func.call @g() : () -> ()\nreturn", "symbol", 1);
    check("func.call @f(%i) : (i32) -> ()\nreturn", "call", 1);
    check("func.call @f(%i, %i, %t) : (i32, i32, tensor<2xf32>) -> ()\nreturn", "call", 1);
    check("%0 = func.call @f(%i, %f, %t) : (i32, f32, tensor<2xf32>) -> i32\nreturn", "call", 1);
    check("func.func private @g()\nreturn", "symbol", 1);
    assert_eq!(all("func.func @f()"), [("symbol".to_string(), 1)]);
    let visibility = "\"func.func\"() ({\n\"func.return\"() : () -> ()\n}) \
                      {sym_name = \"f\", function_type = () -> (), sym_visibility = \"x\"} : () -> ()";
    assert_eq!(all(visibility), [("symbol".to_string(), 1)]);
    // Each table has its own symbols.
    assert_eq!(all("func.func private @f()\nmodule @m {\nfunc.func private @f()\n}"), []);
}

#[test]
fn symbols_are_found_after_changes() {
    let mut module = read(
        "func.func private @f()\nfunc.func private @g()\nfunc.func @h() {\nfunc.call @f() : () -> ()\nreturn\n}",
    );
    let find = |module: &Module, name| module.top().lookup_symbol(name).map(|op| op.id());
    let (f, g) =
        (find(&module, "f").expect("it is there"), find(&module, "g").expect("it is there"));
    assert_eq!(find(&module, "x"), None);
    module.set_attr(f, "sym_name", mlir::Attribute::string("x"));
    assert_eq!((find(&module, "f"), find(&module, "x")), (None, Some(f)));
    assert_eq!(errors_of(&module, Reporting::All), [("symbol".to_string(), 4)]);
    module.set_attr(g, "sym_name", mlir::Attribute::string("f"));
    assert_eq!(find(&module, "f"), Some(g));
    assert_eq!(errors_of(&module, Reporting::All), []);
    module.erase(g);
    assert_eq!(find(&module, "f"), None);
}

#[test]
fn functions() {
    assert_eq!(all("func.func @f() -> i32 {\nreturn\n}"), [("return".to_string(), 2)]);
    assert_eq!(
        all("func.func @f(%f: f32) -> i32 {\nreturn %f : f32\n}"),
        [("return".to_string(), 2)]
    );
    let argument = "\"func.func\"() ({\n^bb0(%a: i32):\n\"func.return\"() : () -> ()\n}) \
                    {sym_name = \"f\", function_type = (f32) -> ()} : () -> ()";
    assert_eq!(all(argument), [("func".to_string(), 1)]);
    assert_eq!(all("func.func @f(%f: f32 {x = 1}) {\nreturn\n}"), [("attribute".to_string(), 1)]);
}

#[test]
fn independent_errors_are_all_reported() {
    let bad = "%0 = \"arith.addi\"(%i) : (i32) -> i32\n%1 = \"arith.addi\"(%i) : (i32) -> i32\nfunc.call @x() : () -> ()\nreturn";
    let text = format!("func.func @f(%i: i32) {{\n{bad}\n}}\nfunc.func @g(%i: i32) {{\n{bad}\n}}");
    let lines: Vec<u32> = all(&text).into_iter().map(|(_, line)| line).collect();
    assert_eq!(lines, [2, 3, 4, 8, 9, 10]);
    // Upstream reports the first error of each function, and checks symbols only if everything else
    // is valid.
    let like_upstream = errors_of(&read(&text), Reporting::LikeUpstream);
    assert_eq!(like_upstream, [("operands".to_string(), 2), ("operands".to_string(), 8)]);
}

#[test]
fn unregistered_ops_need_permission() {
    let module = read("\"x.op\"() : () -> ()");
    assert_eq!(errors_of(&module, Reporting::All), []);
    let strict = VerifyOptions::default();
    assert_eq!(verify(&module, &strict).len(), 1);
}

#[test]
fn run_parallel() {
    let text = |body: &str| {
        format!(
            "func.func @g(%t: tensor<2xf32>) {{\nreturn\n}}\nfunc.func @f(%t: tensor<2xf32>) {{\n{body}\nreturn\n}}"
        )
    };
    let run = |programs: &str| {
        format!(
            "\"interpreter.run_parallel\"(%t) {{programs = {programs}}} : (tensor<2xf32>) -> ()"
        )
    };
    assert_eq!(all(&text(&run("[[@g]]"))), []);
    for wrong in ["[]", "[[]]", "[[@x]]", "[[@g], [@g, @g]]", "[[@g], [@g]]"] {
        assert_eq!(all(&text(&run(wrong))), [("run_parallel".to_string(), 5)], "{wrong}");
    }
}

#[test]
fn shardings() {
    let text = |sharding: &str| {
        format!(
            "sdy.mesh @m = <[\"a\"=2, \"b\"=4]>\nfunc.func @f(%t: tensor<8x8xf32>) {{\n\
             %0 = sdy.sharding_constraint %t <{sharding}> : tensor<8x8xf32>\nreturn\n}}"
        )
    };
    for right in
        ["@m, [{\"a\"}, {\"b\":(1)2, ?}]", "@m, [{\"b\":(1)2}, {}], unreduced={\"a\", \"b\":(2)2}"]
    {
        assert_eq!(all(&text(right)), [], "{right}");
    }
    for wrong in [
        "@x, [{}, {}]",
        "@m, [{}]",
        "@m, [{\"c\"}, {}]",
        "@m, [{\"a\"}, {\"a\"}]",
        "@m, [{\"b\":(4)2}, {}]",
        "@m, [{\"a\"}, {}], unreduced={\"a\"}",
        "@m, [{\"b\"}, {}], unreduced={\"b\":(1)2}",
        "@m, [{}, {}], unreduced={\"b\", \"a\"}",
        "@m, [{}, {}], replicated={\"b\":(2)2, \"b\":(1)2}",
    ] {
        assert_eq!(all(&text(wrong)), [("sharding".to_string(), 3)], "{wrong}");
    }
}

#[test]
fn branches_give_what_blocks_take() {
    check("cf.br ^bb1(%f : f32)\n^bb1(%0: i32):\nreturn", "successors", 1);
    check("cf.br ^bb1\n^bb1(%0: i32):\nreturn", "successors", 1);
    let condition = "%c = arith.cmpi eq, %i, %i : i32\n";
    let branch = "cf.cond_br %c, ^bb1(%i : i32), ^bb2(%i : i32)\n";
    check(
        &format!("{condition}{branch}^bb1(%0: i32):\nreturn\n^bb2(%1: f32):\nreturn"),
        "successors",
        2,
    );
    check("\"cf.br\"() : () -> ()", "successors", 1);
}

#[test]
fn buffers_keep_element_types_and_shapes() {
    let text = |op: &str| {
        format!("func.func @f(%b: memref<2xf32>, %u: memref<*xf32>) {{\n{op}\nreturn\n}}")
    };
    for (op, label) in [
        ("%0 = memref.cast %b : memref<2xf32> to memref<3xf32>", "cast"),
        ("%0 = memref.cast %b : memref<2xf32> to memref<2xf64>", "cast"),
        ("%0 = memref.cast %u : memref<*xf32> to memref<*xf32>", "cast"),
        ("%0 = memref.cast %b : memref<2xf32> to memref<2xf32, 1>", "cast"),
        ("%0 = bufferization.to_tensor %b : memref<2xf32> to tensor<?xf32>", "buffer"),
    ] {
        assert_eq!(all(&text(op)), [(label.to_string(), 2)], "{op}");
    }
}

#[test]
fn a_mesh_is_told() {
    assert_eq!(
        all("\"sdy.mesh\"() {sym_name = \"m\", stablehlo.mesh = {axes = []}} : () -> ()"),
        []
    );
    assert_eq!(all("\"sdy.mesh\"() {sym_name = \"m\"} : () -> ()"), [("attribute".to_string(), 1)]);
}

/// A sharding on a single device has no dimension shardings, also for an op without results.
#[test]
fn shardings_on_one_device() {
    let text = |shardings: &str, results: &str| {
        format!(
            "sdy.mesh @one = <[], device_ids=[0]>\nsdy.mesh @m = <[\"a\"=2]>\nfunc.func @f(%t: tensor<8xf32>) {{\n\
             \"test.op\"(%t) {{sdy.sharding = #sdy.sharding_per_value<[{shardings}]>}} : (tensor<8xf32>) -> {results}\n\
             return\n}}"
        )
    };
    for (shardings, results) in
        [("<@one, []>", "()"), ("<@m, []>", "()"), ("<@one, []>", "tensor<8xf32>")]
    {
        assert_eq!(all(&text(shardings, results)), [], "{shardings}");
    }
    for (shardings, results) in [
        ("<@one, [{}]>", "tensor<8xf32>"),
        ("<@one, [{}]>", "()"),
        ("<@m, []>", "tensor<8xf32>"),
        ("<@one, []>, <@one, []>", "()"),
        ("<@one, []>", "(tensor<8xf32>, tensor<8xf32>)"),
    ] {
        assert_eq!(all(&text(shardings, results)), [("sharding".to_string(), 4)], "{shardings}");
    }
}
