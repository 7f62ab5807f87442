//! Annotated dumps of the bytes of a file.

use stablo::FileField;
use std::fmt::{self, Write as _};
use std::ops::Range;

/// Bytes per line.
const ROW: usize = 16;

/// All bytes with their offsets, and the meaning of each field beside it, indented by the nesting
/// depth of its op.
pub(crate) fn annotated(bytes: &[u8], fields: &[FileField]) -> String {
    let mut out = String::new();
    let mut end = 0;
    // Writing to a string cannot fail.
    for field in fields.iter().filter(|field| !field.range.is_empty()) {
        if field.range.start < end {
            continue;
        }
        let _ = rows(&mut out, bytes, end..field.range.start, "");
        let _ = rows(
            &mut out,
            bytes,
            field.range.clone(),
            &format!("{:1$}{2}", "", 2 * field.depth, field.meaning),
        );
        end = field.range.end;
    }
    let _ = rows(&mut out, bytes, end..bytes.len(), "");
    out
}

/// Lines of bytes: the first with the meaning of all, or, if unknown, each with its characters.
fn rows(out: &mut String, bytes: &[u8], range: Range<usize>, meaning: &str) -> fmt::Result {
    for (row, chunk) in bytes.get(range.clone()).unwrap_or_default().chunks(ROW).enumerate() {
        write!(out, "{:08x} ", range.start + row * ROW)?;
        chunk.iter().try_for_each(|byte| write!(out, " {byte:02x}"))?;
        let gap = 3 * (ROW - chunk.len()) + 2;
        match meaning {
            "" => {
                let visible =
                    |&b: &u8| if b.is_ascii_graphic() || b == b' ' { char::from(b) } else { '.' };
                writeln!(out, "{:gap$}|{}|", "", chunk.iter().map(visible).collect::<String>())?;
            }
            _ if row == 0 => writeln!(out, "{:gap$}{meaning}", "")?,
            _ => writeln!(out)?,
        }
    }
    Ok(())
}
