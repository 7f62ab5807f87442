//! Text of diagnostics.

use mlir::diag::counted;

#[test]
fn nouns_have_the_number_of_their_count() {
    assert_eq!([counted(1, "entry"), counted(2, "entry")], ["1 entry", "2 entries"]);
    assert_eq!([counted(0, "value"), counted(2, "alias")], ["0 values", "2 aliases"]);
}
