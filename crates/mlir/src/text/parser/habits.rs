//! Help where a text has what other languages write there.

use super::{Kind, OPERATION, Parsed, Parser};
use crate::nearest::suggestion;

/// Names of element types begin with these letters.
const ELEMENT_TYPES: [&str; 6] = ["i", "ui", "f", "bf", "tf", "si"];

impl Parser<'_> {
    /// Help for the next token, which is not what is expected, nor like one of `names`.
    #[cold]
    pub(super) fn help_for(&self, expected: &str, names: &[&str]) -> Option<String> {
        let text = self.token_text();
        let rest = &self.text[self.token.span.end as usize..];
        match text {
            "#" => return Some("comments start with `//`".into()),
            "=" if rest.starts_with('>') => return Some("did you mean `->`?".into()),
            _ => {}
        }
        let help = match expected {
            OPERATION => self.help_for_operation(text, rest),
            "`x` after a dimension" => match text {
                "," => Some("sizes are separated by `x`, as in `tensor<2x3xf32>`".into()),
                ">" => Some("the type of the elements comes last, as in `tensor<2x3xf32>`".into()),
                _ => None,
            },
            "a symbol name (@name)" if self.token.kind == Kind::Word => {
                Some(format!("did you mean `@{text}`?"))
            }
            _ if expected.contains("operand") => self.help_for_operand(text),
            _ => None,
        };
        help.or_else(|| suggestion(text, names.iter().copied()))
    }

    /// Records an error: after `%name:`, another token than a number of results.
    ///
    /// # Errors
    /// Always.
    #[cold]
    pub(super) fn unexpected_count<T>(&mut self) -> Parsed<T> {
        let text = self.token_text();
        let help = match text {
            "=" => "did you mean `=`?",
            _ => "types of results come at the end of an op",
        };
        let message = format!("expected the number of results, found `{text}`");
        self.error_with_help(self.here(), message, Some(help.into()))
    }

    fn help_for_operation(&self, text: &str, rest: &str) -> Option<String> {
        let help = match self.token.kind {
            Kind::Arrow => {
                "operand types before `->` are in parentheses, as in `(tensor<2xf32>) -> \
                 tensor<2xf32>`"
            }
            Kind::Integer if rest.trim_start().starts_with('=') => {
                return Some(format!("did you mean `%{text}`?"));
            }
            Kind::Percent => "an op comes after `=`; another name for a value needs none",
            _ if text == ";" => "an op ends without `;`",
            _ if text == "/" && rest.starts_with('*') => "comments start with `//`",
            _ => return None,
        };
        Some(help.into())
    }

    fn help_for_operand(&self, text: &str) -> Option<String> {
        let name = text.strip_prefix('@').unwrap_or(text);
        match self.token.kind {
            Kind::Integer | Kind::Float => Some(format!(
                "a number is the result of a constant, `dense<{text}>`, and has a name"
            )),
            Kind::Word | Kind::Symbol if self.is_value(&format!("%{name}")) => {
                Some(format!("did you mean `%{name}`?"))
            }
            _ if text == "(" => Some("operands have no parentheses here".into()),
            _ => None,
        }
    }
}

/// The sizes and type of elements of `f32x2x3` in the order of MLIR, if a word is such.
pub(super) fn reordered(word: &str) -> Option<String> {
    let (element, sizes) = word.split_once('x')?;
    let is_element = ELEMENT_TYPES.iter().any(|prefix| {
        let bits = element.strip_prefix(prefix);
        bits.is_some_and(|bits| bits.parse::<u32>().is_ok())
    });
    let are_sizes = sizes.split('x').all(|size| size.parse::<u32>().is_ok());
    (is_element && are_sizes).then(|| format!("{sizes}x{element}"))
}
