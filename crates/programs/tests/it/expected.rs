//! Comments that say which diagnostics are expected.

use programs::expected::Expectations;
use stablo::{Diagnostic, Severity, Source, Span};

fn check(text: &str, found: &[(Severity, u32, &str)]) -> usize {
    let source = Source::new("f", text);
    let at = |line: u32| {
        let start =
            text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum::<usize>() as u32;
        Span { start, end: start }
    };
    let diagnostics = found
        .iter()
        .map(|&(severity, line, message)| Diagnostic {
            severity,
            ..Diagnostic::error("", message).at(at(line))
        })
        .collect();
    Expectations::read(&source).check(&diagnostics, &source, true).len()
}

#[test]
fn lines_are_found() {
    let error = |line| (Severity::Error, line, "what a mess");
    assert_eq!(check("// expected-error@+1 {{mess}}\nop\n", &[error(2)]), 0);
    assert_eq!(check("op // expected-error {{mess}}\n", &[error(1)]), 0);
    assert_eq!(check("op\n// expected-error @-1 {{}}\n", &[error(1)]), 0);
    assert_eq!(check("op\n// expected-error @above {{mess}}\n", &[error(1)]), 0);
    let two = "// expected-error @below {{mess}}\n// expected-note@below{{more}}\nop\n";
    assert_eq!(check(two, &[error(3), (Severity::Note, 3, "more")]), 0);
    assert_eq!(check("// expected-error-re @+1 {{a {{m[e]+}}ss}}\nop\n", &[error(2)]), 0);
}

#[test]
fn braces_within_come_in_pairs() {
    let error = [(Severity::Error, 1, "expected }} after {{a}, b}")];
    assert_eq!(check("op // expected-error {{after {{a}, b}}}\n", &error), 0);
    assert_eq!(check("op // expected-error-re {{after {{.*}}}}\n", &error), 0);
    // The rest of the comment is not part of the expectation.
    assert_eq!(check("op // expected-error {{expected}}, or so {{it seems}}\n", &error), 0);
}

#[test]
fn differences_are_found() {
    assert_eq!(check("op // expected-error {{mess}}\n", &[]), 1);
    assert_eq!(check("op\n", &[(Severity::Error, 1, "x")]), 1);
    assert_eq!(check("op // expected-error {{mess}}\n", &[(Severity::Warning, 1, "mess")]), 2);
    assert_eq!(check("op // expected-error-re {{ {{( }}}}\n", &[]), 1);
}
