//! Long lists of aliases at the end of a text, parsed by a second thread, have the same meaning as
//! short ones.

use mlir::diag::{Position, Source};
use mlir::ods::Registry;
use mlir::text::{ParseOptions, ParseOutput, PrintOptions, parse, print_module};
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new(&[]));

/// A module of `count` ops whose locations are aliases, `between`, the definitions of those, each
/// on its line, and `last`.
fn program(count: usize, between: &str, last: &str) -> String {
    let mut text = "#head = loc(\"head\")\nmodule {\n".to_string();
    for i in 0..count {
        let _ = writeln!(text, "  builtin.module {{\n  }} loc(#loc{i})");
    }
    let _ = writeln!(text, "}} loc(#head)\n{between}");
    for i in 0..count {
        let _ = writeln!(text, "#loc{i} = loc(\"a name that makes the text long {i}\"(#head))");
    }
    text + last
}

fn read(text: &str) -> ParseOutput {
    parse(Arc::new(Source::new("<test>", text)), &REGISTRY, ParseOptions::default())
}

/// The errors in a text: messages with the text at their positions.
fn errors(text: &str) -> Vec<(String, String)> {
    let place = |position: &Position| match position {
        Position::Span(span) => text[span.start as usize..span.end as usize].to_string(),
        _ => String::new(),
    };
    read(text).diagnostics.iter().map(|d| (d.message.clone(), place(&d.position))).collect()
}

#[test]
fn locations_are_those_of_the_aliases() {
    for count in [3, 4_000] {
        let output = read(&program(count, "", ""));
        assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
        let options =
            PrintOptions { debug_info: true, local_scope: true, ..PrintOptions::default() };
        let printed = print_module(&output.module, &options);
        for i in [0, count - 1] {
            let location = format!("}} loc(\"a name that makes the text long {i}\"(\"head\"))");
            assert!(printed.contains(&location), "{printed:.1000}");
        }
    }
}

#[test]
fn errors_do_not_depend_on_the_length() {
    let cases = [
        ("", "#loc1 = loc(unknown)\n", "the attribute alias `#loc1` is defined twice"),
        ("", "#x = loc(#nowhere)\n", "the attribute alias `#nowhere` is not defined"),
        ("", "#x = loc(\"open\n", "found an unclosed string"),
        (
            "module {}\n#loc2 = loc(unknown)\nmodule {}",
            "",
            "the attribute alias `#loc2` is defined twice",
        ),
    ];
    for (between, last, message) in cases {
        let (short, long) =
            (errors(&program(4, between, last)), errors(&program(4_000, between, last)));
        assert!(short.len() == 1 && short[0].0.contains(message), "{short:?}");
        assert_eq!(short, long);
    }
}

#[test]
fn aliases_between_ops_count() {
    let text =
        program(4_000, "#between = loc(\"between\")\nmodule {}", "#x = loc(\"x\"(#between))\n");
    assert_eq!(errors(&text), []);
}
