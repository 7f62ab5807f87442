//! Numeric blocks of patterns: `[[#VAR:]]`, `[[#%x,VAR]]`, `[[#VAR+1]]`, `[[#@LINE-2]]`, `[[#]]`.

use super::pattern::{MatchError, Variables};

/// The notation of a number in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberNotation {
    Unsigned,
    Signed,
    LowerHex,
    UpperHex,
}

impl NumberNotation {
    /// The expression that matches a number of this format.
    pub(crate) fn ere(self) -> &'static str {
        match self {
            NumberNotation::Unsigned => "[0-9]+",
            NumberNotation::Signed => "-?[0-9]+",
            NumberNotation::LowerHex => "[0-9a-f]+",
            NumberNotation::UpperHex => "[0-9A-F]+",
        }
    }

    /// The value of digits that `ere` matched, if it fits.
    pub(crate) fn read(self, digits: &str) -> Option<i64> {
        let radix = match self {
            NumberNotation::Unsigned | NumberNotation::Signed => 10,
            NumberNotation::LowerHex | NumberNotation::UpperHex => 16,
        };
        i64::from_str_radix(digits, radix).ok()
    }

    /// The digits of a value; `None` if the format is unsigned and the value is negative.
    fn write(self, value: i64) -> Option<String> {
        if value < 0 && self != NumberNotation::Signed {
            return None;
        }
        Some(match self {
            NumberNotation::Unsigned | NumberNotation::Signed => value.to_string(),
            NumberNotation::LowerHex => format!("{value:x}"),
            NumberNotation::UpperHex => format!("{value:X}"),
        })
    }
}

/// A sum of signed terms that a match computes from variables.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expression {
    /// As written in the block.
    format: Option<NumberNotation>,
    terms: Vec<(NumberSign, Term)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberSign {
    Plus,
    Minus,
}

#[derive(Debug, PartialEq, Eq)]
enum Term {
    Number(i64),
    Variable(String),
}

/// A parsed numeric block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// Matches any number and, with a name, defines a variable.
    Any(NumberNotation, Option<String>),
    /// Matches the value of the expression.
    Value(Expression),
}

/// Parses the text between `[[#` and `]]` in line `line` of the check file.
pub(super) fn parse_block(text: &str, line: usize) -> Result<Block, String> {
    let (format, text) = match text.trim().strip_prefix('%') {
        None => (None, text.trim()),
        Some(text) => {
            let (format, rest) = text.split_once(',').unwrap_or((text, ""));
            let format = match format.trim() {
                "u" => NumberNotation::Unsigned,
                "d" => NumberNotation::Signed,
                "x" => NumberNotation::LowerHex,
                "X" => NumberNotation::UpperHex,
                other => return Err(format!("number format `%{other}` is not supported")),
            };
            (Some(format), rest.trim())
        }
    };
    let any = |name| Ok(Block::Any(format.unwrap_or(NumberNotation::Unsigned), name));
    if text.is_empty() {
        return any(None);
    }
    if let Some((name, constraint)) = text.split_once(':') {
        if !constraint.trim().is_empty() {
            return Err("a number that is defined cannot have a constraint here".to_owned());
        }
        return any(Some(super::pattern::variable_name(name.trim())?.to_owned()));
    }
    let terms = parse_terms(text.strip_prefix("==").unwrap_or(text), line)?;
    Ok(Block::Value(Expression { format, terms }))
}

/// Parses `term (('+' | '-') term)*` where a term is `@LINE`, a variable or a decimal number.
pub(super) fn parse_expression(text: &str, line: usize) -> Result<Expression, String> {
    Ok(Expression { format: None, terms: parse_terms(text, line)? })
}

fn parse_terms(text: &str, line: usize) -> Result<Vec<(NumberSign, Term)>, String> {
    let mut terms = Vec::new();
    let mut sign = NumberSign::Plus;
    let mut rest = text;
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let word = rest[..end].trim();
        let term = if word == "@LINE" {
            Term::Number(i64::try_from(line).map_err(|error| error.to_string())?)
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = word.parse();
            Term::Number(number.map_err(|_| format!("`{word}` is not a number"))?)
        } else {
            Term::Variable(super::pattern::variable_name(word)?.to_owned())
        };
        terms.push((sign, term));
        sign = match rest[end..].chars().next() {
            None => return Ok(terms),
            Some('-') => NumberSign::Minus,
            Some(_) => NumberSign::Plus,
        };
        rest = &rest[end + 1..];
    }
}

impl Expression {
    /// The variables it reads.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|(_, term)| match term {
            Term::Variable(name) => Some(name.as_str()),
            Term::Number(_) => None,
        })
    }

    /// The text to match. The format is that of the block, else of its first variable.
    pub(crate) fn text(&self, variables: &Variables) -> Result<String, MatchError> {
        let mut sum: i64 = 0;
        let mut format = self.format;
        for (sign, term) in &self.terms {
            let value = match term {
                Term::Number(value) => *value,
                Term::Variable(name) => {
                    let (value, defined) = variables
                        .numbers
                        .get(name)
                        .ok_or_else(|| MatchError::Undefined(name.clone()))?;
                    format.get_or_insert(*defined);
                    *value
                }
            };
            sum = match sign {
                NumberSign::Plus => sum.checked_add(value),
                NumberSign::Minus => sum.checked_sub(value),
            }
            .ok_or_else(|| MatchError::Other("a number overflows".to_owned()))?;
        }
        let text = format.unwrap_or(NumberNotation::Unsigned).write(sum);
        text.ok_or_else(|| MatchError::Other(format!("{sum} is negative, the format unsigned")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks() {
        let any = |format, name: &str| Ok(Block::Any(format, Some(name.to_owned())));
        assert_eq!(parse_block("", 1), Ok(Block::Any(NumberNotation::Unsigned, None)));
        assert_eq!(parse_block("%x,", 1), Ok(Block::Any(NumberNotation::LowerHex, None)));
        assert_eq!(parse_block("%X, A:", 1), any(NumberNotation::UpperHex, "A"));
        assert_eq!(parse_block("A :", 1), any(NumberNotation::Unsigned, "A"));
        for bad in ["%q", "A+", "1a", "A: 3", "-1", "A*2"] {
            assert!(parse_block(bad, 1).is_err(), "{bad}");
        }
    }

    #[test]
    fn expressions() {
        let mut variables = Variables::default();
        let hex = (0xfe, NumberNotation::LowerHex);
        variables.numbers.insert("A".to_owned(), hex);
        for (text, expected) in [
            ("A+1", Some("ff")),
            ("A - 4", Some("fa")),
            ("@LINE-2", Some("5")),
            ("%u,A+2", Some("256")),
            ("==A", Some("fe")),
            ("1-2", None),
            ("B", None),
            ("A+9223372036854775807", None),
        ] {
            let value = match parse_block(text, 7) {
                Ok(Block::Value(expression)) => expression.text(&variables).ok(),
                _ => None,
            };
            assert_eq!(value.as_deref(), expected, "{text}");
        }
    }
}
