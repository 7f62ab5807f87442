//! The parser.

use super::OpState;

/// Marks that parsing failed; the diagnostic is already recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseFailed;

/// A parsed value, or the mark that a diagnostic was recorded.
pub type Parsed<T> = Result<T, ParseFailed>;

/// What the parser accepts.
#[derive(Clone, Debug, Default)]
pub struct ParseOptions {
    /// Whether ops, attributes and types of unregistered dialects are allowed.
    pub allow_unregistered_dialects: bool,
}

/// Parses MLIR text.
pub struct Parser<'a> {
    text: &'a str,
}

/// Parses the pretty form of `builtin.module`.
pub fn parse_module_op(parser: &mut Parser<'_>, _state: &mut OpState) -> Parsed<()> {
    let _ = parser.text;
    Err(ParseFailed)
}
