//! Parses the POSIX extended regular expressions of CHECK lines.
//!
//! A backslash only escapes (`\d` is the letter d), in brackets it is an ordinary character, a
//! quantifier cannot follow another one (so none is lazy or possessive), `{` without a digit is an
//! ordinary character, and a negated bracket does not match a line end. One difference from POSIX
//! remains: among several matches that start at the same place it takes the longest one, we take
//! that of the first alternative.

use super::matcher::{Node, Set};
use std::iter::Peekable;
use std::str::Chars;

/// Groups may nest this deep.
const MAX_DEPTH: usize = 50;

/// The highest bound of a repetition, as in POSIX.
const MAX_REPETITIONS: usize = 255;

/// A parsed expression.
pub(super) struct Parsed {
    /// The alternatives of the whole.
    pub alternatives: Vec<Vec<Node>>,
    /// The number of the last group.
    pub groups: usize,
    /// Some part refers back to a group.
    pub has_backreference: bool,
    /// A match may contain a line end.
    pub crosses_lines: bool,
}

/// Parses an expression that follows so many groups. The error explains what is wrong with it.
pub(super) fn parse(ere: &str, groups: usize) -> Result<Parsed, String> {
    let rest = ere.chars().peekable();
    let mut parser = Parser { rest, groups, has_backreference: false, crosses_lines: false };
    let alternatives = parser.alternatives(0)?;
    let Parser { groups, has_backreference, crosses_lines, .. } = parser;
    Ok(Parsed { alternatives, groups, has_backreference, crosses_lines })
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    groups: usize,
    has_backreference: bool,
    crosses_lines: bool,
}

impl Parser<'_> {
    fn alternatives(&mut self, depth: usize) -> Result<Vec<Vec<Node>>, String> {
        let mut alternatives = Vec::new();
        loop {
            let mut nodes = Vec::new();
            while let Some(&c) = self.rest.peek() {
                if c == '|' || (c == ')' && depth > 0) {
                    break;
                }
                nodes.push(self.piece(depth)?);
            }
            if nodes.is_empty() {
                return Err("an alternative is empty".to_owned());
            }
            alternatives.push(nodes);
            if self.rest.next_if_eq(&'|').is_none() {
                return Ok(alternatives);
            }
        }
    }

    /// An atom with at most one quantifier.
    fn piece(&mut self, depth: usize) -> Result<Node, String> {
        let atom = self.atom(depth)?;
        if !self.at_quantifier() {
            return Ok(atom);
        }
        if matches!(atom, Node::LineStart) {
            return Err("a quantifier follows `^`".to_owned());
        }
        let (least, most) = match self.rest.next() {
            Some('{') => self.bounds()?,
            Some('?') => (0, Some(1)),
            Some('+') => (1, None),
            _ => (0, None),
        };
        if self.at_quantifier() {
            return Err("a quantifier follows another one".to_owned());
        }
        Ok(Node::Repeat(Box::new(atom), least, most))
    }

    /// The rest of `{n}`, `{n,}` or `{n,m}`.
    fn bounds(&mut self) -> Result<(usize, Option<usize>), String> {
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|&c| c != '}') {
            text.push(c);
        }
        let number = |text: &str| text.parse().ok().filter(|&n: &usize| n <= MAX_REPETITIONS);
        let bounds = match text.split_once(',') {
            None => number(&text).map(|n| (n, Some(n))),
            Some((least, "")) => number(least).map(|n| (n, None)),
            Some((least, most)) => match (number(least), number(most)) {
                (Some(least), Some(most)) if least <= most => Some((least, Some(most))),
                _ => None,
            },
        };
        match (self.rest.next(), bounds) {
            (Some(_), Some(bounds)) => Ok(bounds),
            _ => Err(format!("`{{{text}` is not a valid number of repetitions")),
        }
    }

    fn at_quantifier(&self) -> bool {
        let mut ahead = self.rest.clone();
        match ahead.next() {
            Some('*' | '+' | '?') => true,
            Some('{') => ahead.next().is_some_and(|c| c.is_ascii_digit()),
            _ => false,
        }
    }

    fn atom(&mut self, depth: usize) -> Result<Node, String> {
        if self.at_quantifier() {
            return Err("a quantifier follows nothing".to_owned());
        }
        Ok(match self.rest.next() {
            None => return Err("there is no expression".to_owned()),
            Some('(') => self.group(depth + 1)?,
            Some(')') => return Err("`)` has no matching `(`".to_owned()),
            Some('[') => self.bracket()?,
            Some('.') => Node::Any,
            Some('^') => Node::LineStart,
            Some('$') => Node::LineEnd,
            Some('\\') => match self.rest.next() {
                None => return Err("a backslash at the end".to_owned()),
                Some(digit @ '1'..='9') => self.backreference(digit)?,
                Some(escaped) => self.literal(escaped),
            },
            Some(c) => self.literal(c),
        })
    }

    fn backreference(&mut self, digit: char) -> Result<Node, String> {
        self.has_backreference = true;
        match digit as usize - '0' as usize {
            group if group <= self.groups => Ok(Node::Backreference(group)),
            group => Err(format!("`\\{group}` refers to no group before it")),
        }
    }

    fn group(&mut self, depth: usize) -> Result<Node, String> {
        if depth > MAX_DEPTH {
            return Err(format!("groups nest deeper than {MAX_DEPTH}"));
        }
        self.groups += 1;
        let number = self.groups;
        let alternatives = match self.rest.peek() {
            Some(')') => vec![Vec::new()],
            _ => self.alternatives(depth)?,
        };
        match self.rest.next() {
            Some(')') => Ok(Node::Group(Some(number), alternatives)),
            _ => Err("`(` has no matching `)`".to_owned()),
        }
    }

    fn bracket(&mut self) -> Result<Node, String> {
        const UNCLOSED: &str = "`[` has no matching `]`";
        let mut set = Set { is_negated: self.rest.next_if_eq(&'^').is_some(), ..Set::default() };
        let mut newline = false;
        let mut first = true;
        loop {
            let c = self.rest.next().ok_or(UNCLOSED)?;
            if c == ']' && !first {
                break;
            }
            first = false;
            if c == '[' && matches!(self.rest.peek(), Some(':' | '=' | '.')) {
                let class = self.class()?;
                newline |= class('\n');
                set.classes.push(class);
                continue;
            }
            let mut ahead = self.rest.clone();
            let end = match (ahead.next(), ahead.next()) {
                (Some('-'), Some(end)) if end != ']' => {
                    self.rest = ahead;
                    end
                }
                _ => c,
            };
            if end < c {
                return Err(format!("the range `{c}-{end}` is empty"));
            }
            newline |= (c..=end).contains(&'\n');
            set.ranges.push((c, end));
        }
        self.crosses_lines |= newline && !set.is_negated;
        Ok(Node::Set(set))
    }

    /// A named class such as `[:alpha:]`, after its `[`.
    fn class(&mut self) -> Result<fn(char) -> bool, String> {
        let kind = self.rest.next();
        let mut name = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_alphanumeric()) {
            name.push(c);
        }
        let closed = self.rest.next() == kind && self.rest.next() == Some(']');
        let class: Option<fn(char) -> bool> = match &*name {
            "alnum" => Some(|c| c.is_ascii_alphanumeric()),
            "alpha" => Some(|c| c.is_ascii_alphabetic()),
            "blank" => Some(|c| c == ' ' || c == '\t'),
            "cntrl" => Some(|c| c.is_ascii_control()),
            "digit" => Some(|c| c.is_ascii_digit()),
            "graph" => Some(|c| c.is_ascii_graphic()),
            "lower" => Some(|c| c.is_ascii_lowercase()),
            "print" => Some(|c| c.is_ascii_graphic() || c == ' '),
            "punct" => Some(|c| c.is_ascii_punctuation()),
            "space" => Some(|c| matches!(c, '\t'..='\r' | ' ')),
            "upper" => Some(|c| c.is_ascii_uppercase()),
            "xdigit" => Some(|c| c.is_ascii_hexdigit()),
            _ => None,
        };
        match class {
            Some(class) if kind == Some(':') && closed => Ok(class),
            _ => Err("only classes such as `[:alpha:]` may be in brackets".to_owned()),
        }
    }

    fn literal(&mut self, c: char) -> Node {
        self.crosses_lines |= c == '\n';
        Node::Text(c.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::matcher::Matcher;
    use super::*;

    fn first_match<'t>(ere: &str, text: &'t str) -> Option<&'t str> {
        let parsed = parse(ere, 0).ok()?;
        let whole = [Node::Group(None, parsed.alternatives)];
        let found = Matcher::new(&whole, parsed.groups, false).find(text).ok()??;
        Some(&text[found.range])
    }

    #[test]
    fn posix_meaning() {
        for (ere, text, expected) in [
            (r"\d+", "12ddd", Some("ddd")),
            (r"[\d]+", r"a12\d", Some(r"\d")),
            ("[]a]+", "b]a]", Some("]a]")),
            ("[^a]+", "a\nbc\nd", Some("bc")),
            ("[a-c-]+", "x-ab-d", Some("-ab-")),
            ("[[:digit:]x]+", "a1x2", Some("1x2")),
            ("a{2}", "aaa", Some("aa")),
            ("{x", "{x", Some("{x")),
            ("(a)(b)\\2\\1", "abba", Some("abba")),
            ("^b$", "a\nb\nc", Some("b")),
            ("a.c", "a\nc", None),
            (r"\.", "a.", Some(".")),
            ("é+", "éé", Some("éé")),
            ("(a|ab)(c|bcd)(d*)", "abcd", Some("abcd")),
            ("(a*)*b", "aaab", Some("aaab")),
            ("(a*)*$", "b", Some("")),
            ("x(ab?){2,3}", "xabaabab", Some("xabaab")),
            ("(a|b)+\\1", "abaab", Some("abaa")),
            ("[[:space:]]b", "a\nb", Some("\nb")),
            (".*b$", "aab\nab", Some("aab")),
        ] {
            assert_eq!(first_match(ere, text), expected, "{ere}");
        }
    }

    #[test]
    fn errors() {
        for ere in [
            "",
            "a|",
            "a**",
            "a*?",
            "*a",
            "^*",
            "(a",
            "a)",
            "[a",
            r"a\",
            "[b-a]",
            "[[:x:]]",
            "a{1x}",
            "a{1",
            "a{2,1}",
            "a{256}",
            r"(a)\2",
            &"(".repeat(100),
        ] {
            assert!(parse(ere, 0).is_err(), "{ere}");
        }
    }
}
