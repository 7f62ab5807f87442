//! Options of passes.

use crate::nearest::nearest;
use std::fmt;

/// An option that a pass declares.
pub struct PassOption {
    /// The name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// What it holds, and its default.
    pub kind: OptionKind,
}

/// What an option holds, and its default.
#[derive(Clone, Copy, Debug)]
pub enum OptionKind {
    /// `true` or `false`; the name alone means `true`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Text.
    Text(&'static str),
    /// Text that is checked when it is given.
    Checked(&'static str, fn(&str) -> Result<(), String>),
    /// Text between commas; commas in brackets do not count.
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

    /// What a value of this kind is called in messages.
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
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

/// The options of one use of a pass: those given, and the defaults of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(Vec<(&'static str, OptionValue)>);

impl fmt::Display for Options {
    /// `{name=value name=value}`; nothing if there are none.
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

impl Options {
    /// The defaults of declared options.
    pub fn defaults(declared: &'static [PassOption]) -> Options {
        Options(declared.iter().map(|option| (option.name, option.kind.default())).collect())
    }

    /// Reads `name=value` pairs between spaces. A value with spaces stands in braces or quotes.
    ///
    /// # Errors
    /// An option that is not declared, or a value of the wrong kind.
    pub fn parse(
        pass: &str,
        declared: &'static [PassOption],
        text: &str,
    ) -> Result<Options, String> {
        let mut options = Options::defaults(declared);
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

    /// Sets an option that is declared.
    pub fn set(&mut self, name: &str, value: OptionValue) {
        if let Some(entry) = self.0.iter_mut().find(|(n, _)| *n == name) {
            entry.1 = value;
        }
    }

    fn get(&self, name: &str) -> Option<&OptionValue> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// The value of a boolean option; false if none is declared.
    pub fn bool(&self, name: &str) -> bool {
        matches!(self.get(name), Some(OptionValue::Bool(true)))
    }

    /// The value of an integer option; zero if none is declared.
    pub fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(OptionValue::Int(value)) => *value,
            _ => 0,
        }
    }

    /// The value of a text option; empty if none is declared.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(OptionValue::Text(value)) => value,
            _ => "",
        }
    }

    /// The values of a list option; none if none is declared.
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

/// The text in the braces or quotes around it, if there are any.
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

/// The byte at which a character stands that `ends` selects, outside of brackets and quotes; the
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
                // The arrow of a function type closes nothing.
                '>' if previous == '-' => {}
                '}' | ')' | '>' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            },
        }
        previous = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    static OPTIONS: &[PassOption] = &[
        PassOption { name: "limit", doc: "", kind: OptionKind::Int(10) },
        PassOption { name: "target", doc: "", kind: OptionKind::Text("") },
        PassOption { name: "types", doc: "", kind: OptionKind::List },
        PassOption { name: "strict", doc: "", kind: OptionKind::Bool(false) },
    ];

    fn parse(text: &str) -> Result<Options, String> {
        Options::parse("p", OPTIONS, text)
    }

    #[test]
    fn values_of_each_kind() {
        let options = parse("types=tensor<1x2xf32>,tensor<f32, #a<1,2>> strict target=1.2.3")
            .expect("valid options");
        assert_eq!(options.list("types"), ["tensor<1x2xf32>", "tensor<f32, #a<1,2>>"]);
        assert!(options.bool("strict"));
        assert_eq!(options.text("target"), "1.2.3");
        assert_eq!(options.int("limit"), 10);
        assert_eq!(parse("types={a, b} limit=3").expect("valid options").list("types"), ["a", "b"]);
    }

    #[test]
    fn errors_name_what_is_near() {
        assert!(parse("limt=3").is_err_and(|e| e.contains("did you mean `limit`")));
        assert!(parse("limit=x").is_err_and(|e| e.contains("takes an integer; found `x`")));
        assert!(parse("=x").is_err());
    }
}
