//! Translates the POSIX extended regular expressions of CHECK lines to the syntax of `fancy_regex`.
//!
//! The two agree except in these points, which the translation takes care of: a backslash only
//! escapes (`\d` is the letter d), in brackets it is an ordinary character, a quantifier cannot
//! follow another one (so none is lazy or possessive), `{` without a digit is an ordinary
//! character, and a negated bracket does not match a line end. One difference remains: among
//! several matches that start at the same place POSIX takes the longest one, we take that of the
//! first alternative.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

/// Groups may nest this deep.
const MAX_DEPTH: usize = 50;

/// The highest bound of a repetition, as in POSIX.
const MAX_REPETITIONS: u32 = 255;

/// A translated expression.
pub(super) struct Translation {
    /// In the syntax of `fancy_regex`, for its default flags and `m`.
    pub regex: String,
    /// Capturing groups, numbered as in the original.
    pub groups: usize,
    /// Some part refers back to a group.
    pub has_backreference: bool,
    /// A match may contain a line end.
    pub crosses_lines: bool,
}

/// Translates an expression. The error explains what is wrong with it.
pub(super) fn translate(ere: &str) -> Result<Translation, String> {
    let mut translator = Translator {
        rest: ere.chars().peekable(),
        out: Translation {
            regex: String::with_capacity(ere.len() + 8),
            groups: 0,
            has_backreference: false,
            crosses_lines: false,
        },
    };
    translator.alternatives(0)?;
    Ok(translator.out)
}

struct Translator<'a> {
    rest: Peekable<Chars<'a>>,
    out: Translation,
}

impl Translator<'_> {
    fn alternatives(&mut self, depth: usize) -> Result<(), String> {
        loop {
            let mut empty = true;
            while let Some(&c) = self.rest.peek() {
                if c == '|' || (c == ')' && depth > 0) {
                    break;
                }
                self.piece(depth)?;
                empty = false;
            }
            if empty {
                return Err("an alternative is empty".to_owned());
            }
            if self.rest.next_if_eq(&'|').is_none() {
                return Ok(());
            }
            self.out.regex.push('|');
        }
    }

    /// An atom with at most one quantifier.
    fn piece(&mut self, depth: usize) -> Result<(), String> {
        let anchor = self.atom(depth)?;
        if !self.at_quantifier() {
            return Ok(());
        }
        if anchor {
            return Err("a quantifier follows `^`".to_owned());
        }
        match self.rest.next() {
            Some('{') => self.bounds()?,
            quantifier => self.out.regex.extend(quantifier),
        }
        if self.at_quantifier() {
            return Err("a quantifier follows another one".to_owned());
        }
        Ok(())
    }

    /// The rest of `{n}`, `{n,}` or `{n,m}`.
    fn bounds(&mut self) -> Result<(), String> {
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|&c| c != '}') {
            text.push(c);
        }
        let number = |text: &str| text.parse().ok().filter(|&n: &u32| n <= MAX_REPETITIONS);
        let valid = match text.split_once(',') {
            None => number(&text).is_some(),
            Some((least, "")) => number(least).is_some(),
            Some((least, most)) => {
                matches!((number(least), number(most)), (Some(a), Some(b)) if a <= b)
            }
        };
        if self.rest.next().is_none() || !valid {
            return Err(format!("`{{{text}` is not a valid number of repetitions"));
        }
        let _ = write!(self.out.regex, "{{{text}}}");
        Ok(())
    }

    fn at_quantifier(&self) -> bool {
        let mut ahead = self.rest.clone();
        match ahead.next() {
            Some('*' | '+' | '?') => true,
            Some('{') => ahead.next().is_some_and(|c| c.is_ascii_digit()),
            _ => false,
        }
    }

    /// Parses an atom; returns true if it is `^`.
    fn atom(&mut self, depth: usize) -> Result<bool, String> {
        if self.at_quantifier() {
            return Err("a quantifier follows nothing".to_owned());
        }
        let Some(c) = self.rest.next() else {
            return Ok(false);
        };
        match c {
            '(' => self.group(depth + 1)?,
            ')' => return Err("`)` has no matching `(`".to_owned()),
            '[' => self.bracket()?,
            '.' | '$' | '^' => self.out.regex.push(c),
            '\\' => match self.rest.next() {
                None => return Err("a backslash at the end".to_owned()),
                Some(digit @ '1'..='9') => {
                    self.out.has_backreference = true;
                    let _ = write!(self.out.regex, r"(?:\{digit})");
                }
                Some(escaped) => self.literal(escaped),
            },
            c => self.literal(c),
        }
        Ok(c == '^')
    }

    fn group(&mut self, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("groups nest deeper than {MAX_DEPTH}"));
        }
        self.out.groups += 1;
        self.out.regex.push('(');
        if self.rest.peek() != Some(&')') {
            self.alternatives(depth)?;
        }
        match self.rest.next() {
            Some(')') => self.out.regex.push(')'),
            _ => return Err("`(` has no matching `)`".to_owned()),
        }
        Ok(())
    }

    fn bracket(&mut self) -> Result<(), String> {
        const UNCLOSED: &str = "`[` has no matching `]`";
        self.out.regex.push('[');
        let negated = self.rest.next_if_eq(&'^').is_some();
        if negated {
            self.out.regex.push_str(r"^\n");
        }
        let mut newline = false;
        let mut first = true;
        loop {
            let c = self.rest.next().ok_or(UNCLOSED)?;
            if c == ']' && !first {
                break;
            }
            first = false;
            if c == '[' && matches!(self.rest.peek(), Some(':' | '=' | '.')) {
                newline |= self.class()?;
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
            self.literal_in_class(c);
            if end != c {
                self.out.regex.push('-');
                self.literal_in_class(end);
            }
        }
        self.out.crosses_lines |= newline && !negated;
        self.out.regex.push(']');
        Ok(())
    }

    /// A named class such as `[:alpha:]`, after its `[`. Returns true if it contains the line end.
    fn class(&mut self) -> Result<bool, String> {
        const CLASSES: [&str; 12] = [
            "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
            "space", "upper", "xdigit",
        ];
        let kind = self.rest.next();
        let mut name = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_alphanumeric()) {
            name.push(c);
        }
        let closed = self.rest.next() == kind && self.rest.next() == Some(']');
        if kind != Some(':') || !closed || !CLASSES.contains(&name.as_str()) {
            return Err("only classes such as `[:alpha:]` may be in brackets".to_owned());
        }
        let _ = write!(self.out.regex, "[:{name}:]");
        Ok(name == "cntrl" || name == "space")
    }

    fn literal(&mut self, c: char) {
        self.out.crosses_lines |= c == '\n';
        if !c.is_alphanumeric() && c.is_ascii() {
            let _ = write!(self.out.regex, r"\x{:02x}", u32::from(c));
        } else {
            self.out.regex.push(c);
        }
    }

    fn literal_in_class(&mut self, c: char) {
        let _ = write!(self.out.regex, r"\x{{{:x}}}", u32::from(c));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_match<'t>(ere: &str, text: &'t str) -> Option<&'t str> {
        let regex = format!("(?m){}", translate(ere).ok()?.regex);
        let found = fancy_regex::Regex::new(&regex).ok()?.find(text).ok()?;
        found.map(|found| found.as_str())
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
            &"(".repeat(100),
        ] {
            assert!(translate(ere).is_err(), "{ere}");
        }
    }
}
