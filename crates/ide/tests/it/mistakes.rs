//! The table of mistakes, `mistakes.txt`: what an author reads who makes one.

use ide::{File, Severity};
use std::fmt::Write;

/// The function around the line with the mistake.
const BEFORE: &str = "func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, \
                      %i: tensor<i32>, %f: tensor<f32>, %p: tensor<2x3xi1>, \
                      %n: tensor<2x3xi32>) -> tensor<2x3xf32> {\n";
const AFTER: &str = "  return %x : tensor<2x3xf32>\n}\n";

/// The errors of a line of a program.
fn errors(line: &str) -> String {
    let file = File::new("test.mlir", format!("{BEFORE}{line}\n{AFTER}"));
    let mut all = String::new();
    let found = file.diagnostics();
    for error in found.iter().filter(|finding| finding.severity == Severity::Error) {
        let message = error.message.replace('\n', "\n    ");
        let place = crate::place(&file, error.span);
        let (place, _) = place.split_once(' ').expect("a place");
        writeln!(all, "  {place} {}: {message}", error.label).expect("strings take text");
    }
    all
}

#[test]
fn mistakes_are_named() {
    let table = include_str!("../mistakes.txt");
    let (_, entries) = table.split_once("\n\n").expect("a heading");
    let mut found = String::new();
    for line in entries.lines().filter(|line| !line.starts_with(' ')) {
        writeln!(found, "{line}\n{}", errors(line).trim_end()).expect("strings take text");
    }
    assert!(found == entries, "the table should be:\n{found}");
}
