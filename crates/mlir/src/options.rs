//! Pass options.

use crate::nearest::nearest;
use std::fmt;

/// The declaration of an option.
pub struct PassOption {
    /// The name.
    pub name: &'static str,
    /// Documentation, in one line.
    pub doc: &'static str,
    /// Kind and default.
    pub kind: OptionKind,
}

/// The kind of an option, with its default.
#[derive(Clone, Copy, Debug)]
pub enum OptionKind {
    /// `true` or `false`; the name alone means `true`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Text.
    Text(&'static str),
    /// Text with a validation function.
    Checked(&'static str, fn(&str) -> Result<(), String>),
    /// Comma-separated texts; commas in brackets do not separate.
    List,
}

impl OptionKind {
    fn default(self) -> OptionValue {
        match self {
            OptionKind::Bool(value) => OptionValue::Bool(value),
            OptionKind::Int(value) => OptionValue::Int(value),
            OptionKind::Text(value) | OptionKind::Checked(value, _) => {
                OptionValue::Text(value.to_string())
            }
            OptionKind::List => OptionValue::List(Vec::new()),
        }
    }

    /// The name of the kind, for messages.
    fn noun(self) -> &'static str {
        match self {
            OptionKind::Bool(_) => "`true` or `false`",
            OptionKind::Int(_) => "an integer",
            OptionKind::Text(_) | OptionKind::Checked(..) => "text",
            OptionKind::List => "a list",
        }
    }

    fn read(self, text: Option<&str>) -> Option<OptionValue> {
        Some(match (self, text) {
            (OptionKind::Bool(_), None | Some("true" | "1")) => OptionValue::Bool(true),
            (OptionKind::Bool(_), Some("false" | "0")) => OptionValue::Bool(false),
            (OptionKind::Int(_), Some(text)) => OptionValue::Int(text.trim().parse().ok()?),
            (OptionKind::Text(_) | OptionKind::Checked(..), Some(text)) => {
                OptionValue::Text(text.to_string())
            }
            (OptionKind::List, Some(text)) => OptionValue::List(split(text)),
            _ => return None,
        })
    }
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

/// The options of one invocation of a pass, with defaults filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassOptions(Vec<(&'static str, OptionValue)>);

impl fmt::Display for PassOptions {
    /// `{name=value name=value}`, or nothing if there are no options.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}=", if i == 0 { '{' } else { ' ' })?;
            match value {
                OptionValue::Bool(value) => write!(f, "{value}")?,
                OptionValue::Int(value) => write!(f, "{value}")?,
                OptionValue::Text(text) if text.contains(' ') || text.is_empty() => {
                    write!(f, "{{{text}}}")?
                }
                OptionValue::Text(text) => f.write_str(text)?,
                OptionValue::List(items) => write!(f, "{{{}}}", items.join(","))?,
            }
        }
        f.write_str(if self.0.is_empty() { "" } else { "}" })
    }
}

impl PassOptions {
    /// The defaults of declared options.
    pub fn defaults(declared: &'static [PassOption]) -> PassOptions {
        PassOptions(declared.iter().map(|option| (option.name, option.kind.default())).collect())
    }

    /// Parses `name=value` pairs separated by spaces. A value with spaces is in braces or quotes.
    ///
    /// # Errors
    /// If an option is not declared, or a value is of the wrong kind.
    pub fn parse(
        pass: &str,
        declared: &'static [PassOption],
        text: &str,
    ) -> Result<PassOptions, String> {
        let mut options = PassOptions::defaults(declared);
        for (name, value) in pairs(text)? {
            let Some(option) = declared.iter().find(|option| option.name == name) else {
                let known: Vec<&str> = declared.iter().map(|option| option.name).collect();
                return Err(match (nearest(name, known.iter().copied()), known.is_empty()) {
                    (Some(near), _) => {
                        format!("the pass `{pass}` has no option `{name}`; did you mean `{near}`?")
                    }
                    (None, true) => format!("the pass `{pass}` has no options, so no `{name}`"),
                    (None, false) => format!(
                        "the pass `{pass}` has no option `{name}`; it has {}",
                        known.join(", ")
                    ),
                });
            };
            let Some(read) = option.kind.read(value) else {
                let (kind, found) = (option.kind.noun(), value.unwrap_or(""));
                return Err(format!(
                    "the option `{name}` of the pass `{pass}` takes {kind}; found `{found}`"
                ));
            };
            if let (OptionKind::Checked(_, check), Some(value)) = (option.kind, value) {
                check(value)
                    .map_err(|why| format!("the option `{name}` of the pass `{pass}`: {why}"))?;
            }
            options.set(option.name, read);
        }
        Ok(options)
    }

    /// Sets a declared option.
    pub fn set(&mut self, name: &str, value: OptionValue) {
        if let Some(entry) = self.0.iter_mut().find(|(n, _)| *n == name) {
            entry.1 = value;
        }
    }

    fn get(&self, name: &str) -> Option<&OptionValue> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// The value of a boolean option; false if not declared.
    pub fn bool(&self, name: &str) -> bool {
        matches!(self.get(name), Some(OptionValue::Bool(true)))
    }

    /// The value of an integer option; zero if not declared.
    pub fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(OptionValue::Int(value)) => *value,
            _ => 0,
        }
    }

    /// The value of a text option; empty if not declared.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(OptionValue::Text(value)) => value,
            _ => "",
        }
    }

    /// The values of a list option; empty if not declared.
    pub fn list(&self, name: &str) -> &[String] {
        match self.get(name) {
            Some(OptionValue::List(values)) => values,
            _ => &[],
        }
    }
}

/// Splits `a=1 b={x y} c` at spaces outside of brackets and quotes.
fn pairs(text: &str) -> Result<Vec<(&str, Option<&str>)>, String> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = end_of(rest, |c| c.is_whitespace());
        let (pair, after) = rest.split_at(end);
        rest = after.trim_start();
        pairs.push(match pair.split_once('=') {
            Some((name, value)) => (name, Some(unquoted(value))),
            None => (pair, None),
        });
    }
    match pairs.iter().find(|(name, _)| name.is_empty()) {
        Some((_, value)) => Err(format!("`={}` has no name before it", value.unwrap_or(""))),
        None => Ok(pairs),
    }
}

/// Strips enclosing braces or quotes.
fn unquoted(text: &str) -> &str {
    let within = |open, close| text.strip_prefix(open).and_then(|t: &str| t.strip_suffix(close));
    within('{', '}').or_else(|| within('"', '"')).or_else(|| within('\'', '\'')).unwrap_or(text)
}

/// Splits at commas outside of brackets and quotes.
fn split(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut rest = text;
    while !rest.trim().is_empty() {
        let end = end_of(rest, |c| c == ',');
        items.push(unquoted(rest[..end].trim()).to_string());
        rest = rest[end..].strip_prefix(',').unwrap_or("");
    }
    items
}

/// The offset of the first character, outside of brackets and quotes, that satisfies `ends`; the
/// length if there is none.
pub(super) fn end_of(text: &str, ends: impl Fn(char) -> bool) -> usize {
    let mut depth = 0usize;
    let mut quote = None;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if depth == 0 && ends(c) => return at,
            None => match c {
                '"' | '\'' => quote = Some(c),
                '{' | '(' | '<' | '[' => depth += 1,
                // The `>` of an arrow is not a bracket.
                '>' if previous == '-' => {}
                '}' | ')' | '>' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            },
        }
        previous = c;
    }
    text.len()
}
