//! Inputs that FileCheck accepts and rejects. The expected behaviour is that of LLVM's program.

use filetests::filecheck::{CheckError, FileCheckOptions, check};

fn run(args: &str, source: &str, input: &str) -> Result<(), CheckError> {
    let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
    let args: Vec<String> = args.into_iter().chain(["t.mlir".to_owned()]).collect();
    check(source, input, &FileCheckOptions::parse(&args).map_err(CheckError::Unusable)?)
}

/// Each row: arguments, check file, accepted inputs, rejected inputs.
type Row = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const ROWS: &[Row] = &[
    ("", "CHECK: a\nCHECK: b", &["a b", "x a\ny\nb"], &["b a", "a"]),
    ("", "CHECK: a\nCHECK-NEXT: b", &["a\nb", "a\nxb"], &["a b", "a\n\nb", "a\nx\nb"]),
    ("", "CHECK: a\nCHECK-SAME: b", &["a b"], &["a\nb"]),
    ("", "CHECK: a\nCHECK-NOT: b\nCHECK: c", &["b a c b"], &["a b c"]),
    ("", "CHECK: a\nCHECK-NOT: b", &["b a"], &["a b"]),
    ("", "CHECK: a\nCHECK-EMPTY:\nCHECK-NEXT: b", &["a\n\nb"], &["a\nb", "a\n\n\nb"]),
    ("", "CHECK-COUNT-2: a\nCHECK: b", &["a a b", "a a a b"], &["a b", "a b a"]),
    ("", "CHECK-DAG: a\nCHECK-DAG: b\nCHECK: c", &["b a c", "a b c"], &["a c b", "c"]),
    // The matches of neighbouring DAG directives do not overlap.
    ("", "CHECK-DAG: ab\nCHECK-DAG: b", &["ab b", "b ab"], &["ab"]),
    ("", "CHECK-DAG: a\nCHECK-NOT: x\nCHECK-DAG: b", &["x a b"], &["a x b", "b a"]),
    // A label is found first, so what is before it cannot match after it.
    ("", "CHECK: a\nCHECK-LABEL: L\nCHECK: b", &["a L b"], &["L a b", "a b L"]),
    ("", "CHECK-LABEL: L1\nCHECK: a\nCHECK-LABEL: L2", &["L1 a L2"], &["L1 L2 a", "L1"]),
    ("", "CHECK: {{a|b}}c", &["bc", "ac"], &["a", "b", "c"]),
    ("", "CHECK: [[[V:a]]]\nCHECK: {{{x}}", &["[a]\n{x"], &["a\nx"]),
    ("", "CHECK: x{{[0-9]+}}y", &["x12y"], &["xy"]),
    ("", "CHECK{LITERAL}: {{a}}[[b]]", &["{{a}}[[b]]"], &["a"]),
    ("", "CHECK: [[V:%.+]] = f\nCHECK: g [[V]]", &["%1 = f\ng %1"], &["%1 = f\ng %2"]),
    ("", "CHECK: [[V:%[a-z]+]] [[V]]", &["%a %a", "%a %b %b"], &["%a %b"]),
    ("", "CHECK: [[V:a]]\nCHECK-NEXT: [[V:b]]\nCHECK-NEXT: [[V]]", &["a\nb\nb"], &["a\nb\na"]),
    ("", "CHECK: line [[@LINE+1]] [[#@LINE]]", &["line 2 1"], &["line 1 1"]),
    ("", "CHECK: [[#N:]] [[#]]\nCHECK: [[#N+1]]", &["3 9\n4"], &["3 9\n5", "3"]),
    ("", "CHECK: 0x[[#%x,N:]]\nCHECK: [[#N+1]] [[#%u,N]]", &["0xff\n100 255"], &["0xff\n256"]),
    ("-DV=x -D#N=7", "CHECK: [[V]] [[#N-1]]", &["x 6"], &["x 7"]),
    ("--check-prefix=A", "CHECK: x\nA: y", &["y"], &["x"]),
    ("--check-prefixes=A,B", "A: x\nB: y", &["x y"], &["x"]),
    ("--implicit-check-not=z+", "CHECK: a\nCHECK: b", &["a b"], &["z+ a b", "a z+ b", "a b z+"]),
    ("", "CHECK: a    b", &["a b", "a \t b"], &["ab"]),
    ("--strict-whitespace", "CHECK: a  b", &["a  b"], &["a b"]),
    ("--match-full-lines", "CHECK: a\nCHECK-NOT: c", &["  a ", "a\nb"], &["a b", "a\nxcx"]),
    ("--match-full-lines --strict-whitespace", "CHECK:a", &["a"], &[" a"]),
    ("--ignore-case", "CHECK: a{{b}}\nCHECK{LITERAL}: c", &["AB C"], &["b"]),
    ("--allow-empty", "CHECK-NOT: a", &["", "b"], &["a"]),
    ("", "CHECK: a\r\nCHECK-NEXT: b\r\n", &["a\r\nb\r\n"], &["b"]),
    // Without scopes a variable stays; with them only one whose name starts with `$` does.
    ("", "CHECK: [[V:x.]]\nCHECK-LABEL: L\nCHECK: [[V]]", &["x1\nL\nx1"], &["x1\nL\nx2"]),
    (
        "--enable-var-scope",
        "CHECK-LABEL: K\nCHECK: [[$V:x.]] [[W:y.]]\nCHECK-LABEL: L\nCHECK: [[$V]]",
        &["K\nx1 y1\nL\nx1"],
        &["K\nx1 y1\nL\nx2"],
    ),
    (
        "--enable-var-scope",
        "CHECK-LABEL: K\nCHECK: [[V:x.]]\nCHECK-LABEL: L\nCHECK: [[V]]",
        &[],
        &["K\nx1\nL\nx1"],
    ),
];

#[test]
fn accepts_and_rejects() {
    for (args, source, accepted, rejected) in ROWS {
        for input in *accepted {
            assert_eq!(run(args, source, input), Ok(()), "{args}\n{source}\n---\n{input}");
        }
        for input in *rejected {
            let result = run(args, source, input);
            assert!(
                matches!(result, Err(CheckError::Mismatch(_))),
                "{result:?}\n{args}\n{source}\n---\n{input}"
            );
        }
    }
}

#[test]
fn unusable_arguments_and_files() {
    for (args, source, input) in [
        ("", "CHECK: a", ""),
        ("", "no directive", "a"),
        ("--check-prefixes=CHECK,A", "CHECK: a", "a"),
        ("--no-such-option", "CHECK: a", "a"),
        ("--check-prefix=1", "1: a", "a"),
        ("-DV", "CHECK: a", "a"),
        ("other.mlir", "CHECK: a", "a"),
    ] {
        let result = run(args, source, input);
        assert!(matches!(result, Err(CheckError::Unusable(_))), "{result:?} {args}");
    }
}

#[test]
fn a_report_says_what_was_expected_and_what_is_there() {
    let source =
        "// CHECK: [[A:%.*]] = stablehlo.add\n// CHECK-NEXT: return [[A]] : tensor<2xf32>\n";
    let input = "%0 = stablehlo.add %a, %b\n%1 = stablehlo.sub\nreturn %1 : tensor<2xf32>\n";
    let Err(CheckError::Mismatch(report)) = run("", source, input) else {
        panic!("the input does not satisfy the directives");
    };
    for part in [
        "t.mlir:2: error: CHECK-NEXT: no match found",
        "// CHECK-NEXT: return [[A]] : tensor<2xf32>",
        "with A = `%0`",
        "input:1:19: looked for a match from here on",
        "input:3:1: the closest line",
    ] {
        assert!(report.contains(part), "{part}\n---\n{report}");
    }
    let Err(CheckError::Mismatch(report)) = run("", "CHECK: b\nCHECK: a", "a\nb\n") else {
        panic!("the input does not satisfy the directives");
    };
    assert!(report.contains("input:1:1: it matches here, before the previous match"), "{report}");
    let Err(CheckError::Mismatch(report)) = run("", "CHECK: a\nCHECK-NEXT: b", "a\nc\nb\n") else {
        panic!("the input does not satisfy the directives");
    };
    assert!(report.contains("input:3:1: the match is 2 lines below"), "{report}");
    assert!(report.contains("input:2:1: this line must match"), "{report}");
}
