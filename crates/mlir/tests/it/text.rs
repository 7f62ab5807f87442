//! Parser and printer: round trips, names, blocks, ops that are written alike, and recovery from
//! errors.

use crate::common::{AddOp, body, module, print, read};
use mlir::diag::Position;
use mlir::text::{PrintOptions, print_module};
use mlir::{Module, OpRef};
use std::time::Instant;

/// Messages with the text that each points at.
fn errors(text: &str) -> Vec<(String, String)> {
    let place = |position: &Position| match position {
        Position::Span(span) => text[span.start as usize..span.end as usize].to_string(),
        _ => String::new(),
    };
    read(text).diagnostics.iter().map(|d| (d.message.clone(), place(&d.position))).collect()
}

fn names(module: &Module) -> Vec<String> {
    module.walk(module.top().id()).skip(1).map(|op| op.name().to_string()).collect()
}

#[test]
fn comments_may_be_of_any_number() {
    let text = format!("{}\"other.op\"() : () -> () // last", "// comment\n \n".repeat(200_000));
    assert_eq!(names(&module(&text)), ["other.op"]);
}

#[test]
fn what_is_printed_reads_as_the_same() {
    let text = r#"
        #note = {depth = 3 : i32}
        "test.function"() <{sym_name = "f"}> ({
        ^entry(%arg: tensor<2x?xf32>, %other: i64):
          %pair:2 = "test.pair"(%arg, %other) {note = #note, "odd name" = unit} : (tensor<2x?xf32>, i64) -> (i64, tuple<i64, f32>)
          %sum = test.add %pair#0, %other : i64
          "test.branch"(%sum, %sum)[^next] : (i64, i64) -> ()
        ^next:
          "other.op"(%sum) <{anything = [1, "two", @three::@four]}> : (i64) -> ()
          test.yield
        }) : () -> () loc("somewhere":3:4)
    "#;
    let first = module(text);
    for (generic, debug_info) in [(false, false), (true, false), (false, true), (true, true)] {
        let options = PrintOptions { generic, debug_info, ..PrintOptions::default() };
        let printed = print_module(&first, &options);
        let second = module(&printed);
        assert_eq!(print_module(&second, &options), printed);
        assert_eq!(print(&second), print(&first));
    }
    assert_eq!(names(&first)[..3], ["test.function", "test.pair", "test.add"]);
}

#[test]
fn results_are_numbered_and_groups_have_one_name() {
    let module = module(
        "%x:2 = \"other.pair\"() : () -> (i64, i64)
         %y, %z = \"other.pair\"(%x#1) : (i64) -> (i64, i64)
         test.use %z, %x#0 : i64, i64",
    );
    let expected = "%0:2 = \"other.pair\"() : () -> (i64, i64)
%1:2 = \"other.pair\"(%0#1) : (i64) -> (i64, i64)
test.use %1#1, %0#0 : i64, i64";
    assert_eq!(body(&module), expected);
}

#[test]
fn values_may_be_used_before_their_definition() {
    let module = module("test.use %late : i64\n%late = \"other.input\"() : () -> i64");
    let ops: Vec<OpRef<'_>> = module.walk(module.top().id()).skip(1).collect();
    assert_eq!(ops.len(), 2);
    assert_eq!(ops[0].operand(0), ops[1].result(0));
}

#[test]
fn errors_point_at_names() {
    let cases = [
        ("test.use %x : i64", "%x"),
        ("%a = \"other.input\"() : () -> i64\n%a = \"other.input\"() : () -> i64", "%a"),
        ("%a, %b = \"other.input\"() : () -> i64", "%a"),
        ("\"test.branch\"()[^nowhere] : () -> ()", "^nowhere"),
        ("test.unknown", "test.unknown"),
        ("%a = \"other.input\"() : () -> i64\ntest.use %a : f32", "%a"),
        ("%a = \"other.input\"() : () -> i64\ntest.use %a#1 : i64", "%a"),
        ("\"test.use\"() : (i64) -> ()", "(i64) -> ()"),
    ];
    for (text, place) in cases {
        let found = errors(text);
        assert!(!found.is_empty(), "{text}");
        assert!(found[0].1.starts_with(place), "{text}: {found:?}");
    }
}

#[test]
fn what_follows_an_error_is_read() {
    let text = "%a = \"other.input\"() : () -> i64
        %b = test.add %a %a : i64
        %c = test.add %a, %b : i64
        %d = test.nothing %a : i64
        test.use %c, %a : i64, i64
        test.use %a : i32";
    let output = read(text);
    // The third and the fifth op follow from errors that are reported.
    assert_eq!(output.diagnostics.len(), 3, "{:?}", output.diagnostics);
    let read = names(&output.module);
    assert!(read.iter().any(|name| name == "other.input"), "{read:?}");
}

/// Ops that are written alike are made from one template; each must be what it would be alone.
#[test]
fn ops_that_are_written_alike_differ_in_operands_only() {
    let text = "%0 = \"other.input\"() : () -> i64
        %1:2 = \"test.pair\"() {a = 1 : i32} : () -> (i64, i64)
        %2 = test.add %0, %1#0 {tag = \"%0\"} : i64
        %3 = test.add %1#1, %2 {tag = \"%0\"} : i64
        %4 = test.add %3, %3 {tag = \"%1\"} : i64
        %5 = test.add %3, %4 : i64
        %6 = test.add %4, %5 : i64
        %7 = test.add %5, %6 : i64 loc(\"last\")
        test.use %7 : i64";
    let module = module(text);
    let ops: Vec<OpRef<'_>> = module.walk(module.top().id()).skip(1).collect();
    let results: Vec<_> = ops.iter().flat_map(|op| op.results()).collect();
    // Results: 0 is %0; 1 and 2 are %1; from 3 on one an op.
    let operands = |op: usize| ops[op].operands().to_vec();
    assert_eq!(operands(2), [results[0], results[1]]);
    assert_eq!(operands(3), [results[2], results[3]]);
    assert_eq!(operands(4), [results[4], results[4]]);
    assert_eq!(operands(5), [results[4], results[5]]);
    assert_eq!(operands(6), [results[5], results[6]]);
    assert_eq!(operands(7), [results[6], results[7]]);
    let tag = |op: usize| ops[op].attr("tag").and_then(|tag| tag.as_str());
    assert_eq!([2, 3, 4, 5].map(tag), [Some("%0"), Some("%0"), Some("%1"), None]);
    assert_eq!(ops[7].location().to_string(), "loc(\"last\")");
    assert!(ops[2..8].iter().all(|op| op.is(AddOp::DEF)));
}

#[test]
fn a_change_of_one_op_leaves_those_that_are_written_alike() {
    let mut module = module(
        "%0 = \"other.input\"() : () -> i64
         %1 = test.add %0, %0 {tag = 1 : i64} : i64
         %2 = test.add %1, %0 {tag = 1 : i64} : i64
         %3 = test.constant 5 : i64 : i64
         %4 = test.constant 5 : i64 : i64",
    );
    let ops: Vec<_> = module.walk(module.top().id()).skip(1).map(OpRef::id).collect();
    module.set_attr(ops[1], "tag", mlir::Attribute::i64(2));
    module.set_attr(ops[3], "value", mlir::Attribute::i64(6));
    let value = |op: usize, name: &str| module.op(ops[op]).attr(name).and_then(|a| a.as_i64());
    assert_eq!([value(1, "tag"), value(2, "tag")], [Some(2), Some(1)]);
    assert_eq!([value(3, "value"), value(4, "value")], [Some(6), Some(5)]);
    assert!(module.remove_attr(ops[2], "tag").is_some());
    assert!(module.remove_attr(ops[2], "tag").is_none());
    assert!(module.op(ops[1]).attr("tag").is_some());
}

#[test]
fn an_op_alike_of_another_type_is_an_error() {
    let found = errors(
        "%0 = \"other.input\"() : () -> i64
         %1 = \"other.input\"() : () -> i32
         test.use %0 : i64
         test.use %1 : i64",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].1, "%1");
}

#[test]
fn blocks_are_printed_with_their_predecessors() {
    let module = module(
        "\"test.function\"() ({
           \"test.branch\"()[^b] : () -> ()
         ^b:
           \"test.branch\"()[^c] : () -> ()
         ^a:
           \"test.branch\"()[^c] : () -> ()
         ^c:
           test.yield
         }) : () -> ()",
    );
    let expected = "\"test.function\"() ({
\"test.branch\"()[^bb1] : () -> ()
^bb1:  // pred: ^bb0
\"test.branch\"()[^bb3] : () -> ()
^bb2:  // no predecessors
\"test.branch\"()[^bb3] : () -> ()
^bb3:  // 2 preds: ^bb1, ^bb2
test.yield
}) : () -> ()";
    assert_eq!(body(&module), expected);
}

/// A function of blocks that each go on with the next.
fn chain(blocks: usize) -> Module {
    let mut text = "\"test.function\"() ({\n".to_string();
    for i in 1..blocks {
        text += &format!("\"test.branch\"()[^b{i}] : () -> ()\n^b{i}:\n");
    }
    module(&(text + "test.yield\n}) : () -> ()"))
}

#[test]
fn printing_takes_time_in_proportion_to_blocks() {
    let seconds = |blocks: usize| {
        let module = chain(blocks);
        let times = (0..5).map(|_| {
            let start = Instant::now();
            assert!(print(&module).len() > blocks);
            start.elapsed().as_secs_f64()
        });
        times.fold(f64::INFINITY, f64::min)
    };
    let (few, many) = (seconds(500), seconds(8_000));
    // Sixteen times as many; in proportion to their square it would be 256 times as long.
    assert!(many < 100.0 * few, "{few} s, {many} s");
}

#[test]
fn tokens_need_no_space_between_them() {
    let module = module(
        "%0=\"other.input\"():()->i64// to the end
         %arg-0=test.add%0,%0:i64
         test.use%arg-0:i64{a=#other<\"0 -> {\">,b=1.5e-3:f64,c=\"a\\\"b\",d=0xfF:i64,e=-1:i8}",
    );
    let expected = "%0 = \"other.input\"() : () -> i64
%1 = test.add %0, %0 : i64
test.use %1 : i64 {a = #other<\"0 -> {\">, b = 1.500000e-03 : f64, c = \"a\\22b\", d = 255 : i64, e = -1 : i8}";
    assert_eq!(body(&module), expected);
}

#[test]
fn an_unclosed_string_ends_with_its_line() {
    let found = errors("\"test.use\"() {a = \"abc\n} : () -> ()");
    assert_eq!(found[0].1, "\"abc", "{found:?}");
}

#[test]
fn hexadecimal_digits_in_both_cases() {
    let use_of = |digits: &str| format!("test.use {{a = dense<\"0x{digits}\"> : tensor<3xui8>}}");
    let expected = "test.use {a = dense<[0, 255, 165]> : tensor<3xui8>}";
    assert_eq!(body(&module(&use_of("00fFA5"))), expected);
    for wrong in ["00fFA", "00fFAg"] {
        let found = errors(&use_of(wrong));
        assert!(found[0].0.contains("an even number of hexadecimal digits"), "{found:?}");
    }
}
