//! Files in chunks.

use programs::source::{SEPARATOR, split};
use stablo::Source;

#[test]
fn chunks_know_their_first_line() {
    let chunks = |text| {
        let chunk = |s: &Source| (s.line_column(0).0, s.text().to_string());
        split("f", text, SEPARATOR).iter().map(chunk).collect::<Vec<_>>()
    };
    assert_eq!(chunks("a\nb\n// -----\nc\n"), [(1, "a\nb\n".into()), (3, "\nc\n".into())]);
    assert_eq!(chunks("// // -----\na\n"), [(1, "// ".into()), (1, "\na\n".into())]);
    assert_eq!(chunks("// ------\n"), [(1, "// ------\n".into())]);
    assert_eq!(chunks("// -----"), [(1, String::new()), (1, String::new())]);
}

#[test]
fn locations_in_chunks_count_from_the_separator() {
    let chunks = split("f", "a\n// -----\nb\n", SEPARATOR);
    assert_eq!(chunks[0].location(0).to_string(), "loc(\"within split at f:1 offset \":1:1)");
    assert_eq!(chunks[1].location(1).to_string(), "loc(\"within split at f:2 offset \":2:1)");
}
