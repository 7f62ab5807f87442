//! Tests of what editors show. `$0` in a text is the cursor, `<…>` marks in comments of the helpers
//! what is expected.

mod actions;
mod authors;
mod completion;
mod diagnostics;
mod features;
mod format;
mod hover;
mod mistakes;
mod names;
mod parts;
mod rename;
mod robust;
mod structure;

use ide::{Edit, File, Span};

/// A file with the cursor at `$0`.
fn at_cursor(text: &str) -> (File, u32) {
    let at = text.find("$0").expect("the text has a cursor");
    (File::new("test.mlir", text.replacen("$0", "", 1)), at as u32)
}

/// The text of a span, with its line and column from 1: `3:5 %x`.
fn place(file: &File, span: Span) -> String {
    let before = &file.text()[..span.start as usize];
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
    format!("{line}:{column} {}", &file.text()[span.start as usize..span.end as usize])
}

/// The text after edits.
fn edited(file: &File, edits: &[Edit]) -> String {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut text = file.text().to_string();
    for edit in edits {
        text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    }
    text
}
