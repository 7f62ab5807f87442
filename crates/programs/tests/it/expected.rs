//! Comments that say which diagnostics are expected.

use ide::Expectations;
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
fn rules_are_named() {
    let source = |text: &str| Source::new("f", text);
    let found =
        |message: &str| vec![Diagnostic::error("add_c1", message).at(Span { start: 0, end: 2 })];
    let problems = |text: &str, message: &str| {
        let source = source(text);
        Expectations::read(&source).check(&found(message), &source, true).len()
    };
    assert_eq!(problems("op // expected-error {{[add_c1]}}\n", "sizes differ"), 0);
    assert_eq!(problems("op // expected-error {{[add_c1] differ}}\n", "sizes differ"), 0);
    assert_eq!(problems("op // expected-error {{[add_c1] agree}}\n", "sizes differ"), 2);
    assert_eq!(problems("op // expected-error {{[add_c2]}}\n", "sizes differ"), 2);
    assert_eq!(problems("op // expected-error {{[add]}}\n", "sizes differ"), 2);
    // A part of the message may look like a rule.
    assert_eq!(problems("op // expected-error {{[1, 2]}}\n", "shape [1, 2]"), 0);
    assert_eq!(problems("op // expected-error {{[]}}\n", "sizes differ"), 2);
}

#[test]
fn comments_are_updated() {
    let text = "// expected-error-re @+2 {{other {{.*}} words}} and so on\n\
                // expected-note@+1 {{elsewhere}}\n\
                op // expected-error {{differ}}\n\
                // expected-error {{gone}}\n";
    let source = Source::new("f", text);
    let start = text.find("op").unwrap() as u32;
    let at = Span { start, end: start + 2 };
    let found = vec![
        Diagnostic::error("", "sizes differ").at(at),
        Diagnostic::error("add_c1", "types do").at(at).note("see here", at),
    ];
    let mut problems = Vec::new();
    let updated = Expectations::read(&source).update(&found, &source, &mut problems);
    assert_eq!(
        updated,
        "// expected-error @+2 {{[add_c1]}} and so on\n\
         // expected-note@+1 {{see here}}\n\
         op // expected-error {{differ}}\n\
         // expected-error {{gone}}\n"
    );
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].message.contains("gone"), "{problems:?}");
}

#[test]
fn differences_are_found() {
    assert_eq!(check("op // expected-error {{mess}}\n", &[]), 1);
    assert_eq!(check("op\n", &[(Severity::Error, 1, "x")]), 1);
    assert_eq!(check("op // expected-error {{mess}}\n", &[(Severity::Warning, 1, "mess")]), 2);
    assert_eq!(check("op // expected-error-re {{ {{( }}}}\n", &[]), 1);
}
