//! The pattern of one CHECK line: fixed text, `{{regex}}`, `[[VAR:regex]]`, `[[VAR]]` and `[[#…]]`
//! blocks, and its match in the input.

use super::FileCheckOptions;
use super::ere;
use super::number::{self, Block, Expression, NumberNotation};
use fancy_regex::{Regex, RegexBuilder, escape};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

/// Steps a search may take per line of input before it counts as an error.
const BACKTRACK_LIMIT: usize = 10_000_000;

/// The values of the variables at one point of the comparison.
#[derive(Default)]
pub(super) struct Variables {
    /// Of `[[VAR:regex]]`.
    pub texts: HashMap<String, String>,
    /// Of `[[#VAR:]]`, with the format of the definition.
    pub numbers: HashMap<String, (i64, NumberNotation)>,
}

impl Variables {
    /// Forgets the variables that do not start with `$`.
    pub(crate) fn clear_local(&mut self) {
        self.texts.retain(|name, _| name.starts_with('$'));
        self.numbers.retain(|name, _| name.starts_with('$'));
    }
}

/// The reason why a pattern cannot be matched at all.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MatchError {
    /// It uses a variable that no earlier match defined.
    Undefined(String),
    /// Numbers out of range, expressions too complex.
    Other(String),
}

#[derive(Debug)]
pub(super) enum CheckPattern {
    /// The end of the input.
    End,
    /// This text.
    Fixed(String),
    /// An expression.
    Regex(RegexPattern),
}

#[derive(Debug, Default)]
pub(super) struct RegexPattern {
    pieces: Vec<Piece>,
    captures: Vec<Capture>,
    /// Capturing groups in the pieces.
    groups: usize,
    has_backreference: bool,
    /// A match may contain a line end.
    crosses_lines: bool,
    ignore_case: bool,
    /// The compiled expression, if it uses no variable.
    constant: OnceCell<Regex>,
}

#[derive(Debug)]
enum Piece {
    /// Part of an expression.
    Regex(String),
    /// The value of a text variable.
    Text(String),
    /// The value of an expression over numeric variables.
    Number(Expression),
}

/// A variable that a match defines from a group of the expression.
#[derive(Debug)]
struct Capture {
    name: String,
    group: usize,
    /// `None` for a text variable.
    number: Option<NumberNotation>,
}

impl CheckPattern {
    /// Parses the text after the colon of a directive in line `line` of the check file.
    /// `full_lines` makes it match whole lines only.
    pub(crate) fn parse(
        text: &str,
        line: usize,
        full_lines: bool,
        options: &FileCheckOptions,
    ) -> Result<CheckPattern, String> {
        let has_blocks = text.contains("{{") || text.contains("[[");
        if !full_lines && !has_blocks && !options.ignore_case {
            return Ok(CheckPattern::Fixed(text.to_owned()));
        }
        let blanks = if options.strict_whitespace { "" } else { " *" };
        let mut regex =
            RegexPattern { ignore_case: options.ignore_case, ..RegexPattern::default() };
        if full_lines {
            regex.push(&format!("^{blanks}"));
        }
        regex.parse(text, line)?;
        if full_lines {
            regex.push(&format!("{blanks}$"));
        }
        Ok(CheckPattern::Regex(regex))
    }

    /// Text without blocks.
    pub(crate) fn literal(text: &str, options: &FileCheckOptions) -> CheckPattern {
        if !options.ignore_case {
            return CheckPattern::Fixed(text.to_owned());
        }
        let mut regex = RegexPattern { ignore_case: true, ..RegexPattern::default() };
        regex.push(&escape(text));
        CheckPattern::Regex(regex)
    }

    /// An empty line: the end of the line before it, then the line's own end.
    pub(crate) fn empty_line() -> CheckPattern {
        let mut regex = RegexPattern { crosses_lines: true, ..RegexPattern::default() };
        regex.push(r"\n$");
        CheckPattern::Regex(regex)
    }

    /// True if it defines or uses variables.
    pub(crate) fn has_variables(&self) -> bool {
        match self {
            CheckPattern::End | CheckPattern::Fixed(_) => false,
            CheckPattern::Regex(regex) => !regex.captures.is_empty() || !regex.is_constant(),
        }
    }

    /// The names of the variables it uses and does not define itself.
    pub(crate) fn used_variables(&self) -> Vec<&str> {
        let CheckPattern::Regex(regex) = self else {
            return Vec::new();
        };
        let mut names = Vec::new();
        for piece in &regex.pieces {
            match piece {
                Piece::Regex(_) => {}
                Piece::Text(name) => names.push(name.as_str()),
                Piece::Number(expression) => names.extend(expression.variables()),
            }
        }
        names.dedup();
        names
    }

    /// Finds the first match in `input` and defines the variables it captures.
    pub(crate) fn find(
        &self,
        input: &str,
        variables: &mut Variables,
    ) -> Result<Option<Range<usize>>, MatchError> {
        match self {
            CheckPattern::End => Ok(Some(input.len()..input.len())),
            CheckPattern::Fixed(text) => Ok(input.find(text).map(|at| at..at + text.len())),
            CheckPattern::Regex(regex) => regex.find(input, variables),
        }
    }
}

impl RegexPattern {
    /// Uses no variable of an earlier match.
    fn is_constant(&self) -> bool {
        let is_regex = |piece: &Piece| matches!(piece, Piece::Regex(_));
        self.pieces.iter().all(is_regex)
    }

    fn find(
        &self,
        input: &str,
        variables: &mut Variables,
    ) -> Result<Option<Range<usize>>, MatchError> {
        let compiled;
        let regex = match self.constant.get() {
            Some(regex) => regex,
            None => {
                compiled = self.compile(variables)?;
                if self.is_constant() { self.constant.get_or_init(|| compiled) } else { &compiled }
            }
        };
        if !self.has_backreference || self.crosses_lines {
            return self.find_in(regex, input, 0, variables);
        }
        // Matched line by line, since backtracking is slow on long texts.
        let mut start = 0;
        for line in input.split('\n') {
            let found = self.find_in(regex, line, start, variables)?;
            if found.is_some() {
                return Ok(found);
            }
            start += line.len() + 1;
        }
        Ok(None)
    }

    fn compile(&self, variables: &Variables) -> Result<Regex, MatchError> {
        let mut source = if self.ignore_case { "(?mi)" } else { "(?m)" }.to_owned();
        for piece in &self.pieces {
            match piece {
                Piece::Regex(part) => source.push_str(part),
                Piece::Text(name) => match variables.texts.get(name) {
                    Some(value) => source.push_str(&escape(value)),
                    None => return Err(MatchError::Undefined(name.clone())),
                },
                Piece::Number(expression) => source.push_str(&expression.text(variables)?),
            }
        }
        RegexBuilder::new(&source)
            .backtrack_limit(BACKTRACK_LIMIT)
            .build()
            .map_err(|error| MatchError::Other(error.to_string()))
    }

    /// Finds the first match in a part of the input that starts at `offset`.
    fn find_in(
        &self,
        regex: &Regex,
        part: &str,
        offset: usize,
        variables: &mut Variables,
    ) -> Result<Option<Range<usize>>, MatchError> {
        let groups = match regex.captures(part) {
            Ok(Some(groups)) => groups,
            Ok(None) => return Ok(None),
            Err(error) => return Err(MatchError::Other(error.to_string())),
        };
        for capture in &self.captures {
            let text = groups.get(capture.group).map_or("", |group| group.as_str());
            let name = capture.name.clone();
            if let Some(format) = capture.number {
                let value = format.read(text).ok_or_else(|| {
                    MatchError::Other(format!("the number `{text}` does not fit in 64 bits"))
                })?;
                variables.numbers.insert(name, (value, format));
            } else {
                variables.texts.insert(name, text.to_owned());
            }
        }
        let whole = groups.get(0).map(|group| group.range());
        Ok(whole.map(|range| offset + range.start..offset + range.end))
    }

    fn parse(&mut self, text: &str, line: usize) -> Result<(), String> {
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("{{") {
                let (inner, tail) = after.split_once("}}").ok_or("`{{` has no matching `}}`")?;
                let (_, regex) = self.translate(inner)?;
                // The group keeps an alternative from reaching beyond the block.
                self.push(&format!("(?:{regex})"));
                rest = tail;
            } else if let Some(after) = rest.strip_prefix("[[").filter(|a| !a.starts_with('[')) {
                let end = block_end(after)?;
                self.block(&after[..end], line)?;
                rest = &after[end + "]]".len()..];
            } else {
                // Of three brackets, the first one is literal text.
                let first = rest.chars().next().map_or(0, char::len_utf8);
                let next = |opening| rest[first..].find(opening);
                let end = next("{{").into_iter().chain(next("[[")).min();
                let end = end.map_or(rest.len(), |end| first + end);
                self.push(&escape(&rest[..end]));
                rest = &rest[end..];
            }
        }
        Ok(())
    }

    fn push(&mut self, regex: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Regex(last)) => last.push_str(regex),
            _ => self.pieces.push(Piece::Regex(regex.to_owned())),
        }
    }

    /// Translates an expression of the check file and counts its groups. Returns the number that a
    /// group just before them would have had.
    fn translate(&mut self, ere: &str) -> Result<(usize, String), String> {
        let translation = ere::translate(ere).map_err(|problem| format!("`{ere}`: {problem}"))?;
        let before = self.groups;
        self.groups += translation.groups;
        self.has_backreference |= translation.has_backreference;
        self.crosses_lines |= translation.crosses_lines;
        Ok((before, translation.regex))
    }

    /// Appends a capturing group and returns its number.
    fn capture(&mut self, ere: &str) -> Result<usize, String> {
        self.groups += 1;
        let (group, regex) = self.translate(ere)?;
        self.push(&format!("({regex})"));
        Ok(group)
    }

    /// Appends the piece for the text between `[[` and `]]`.
    fn block(&mut self, text: &str, line: usize) -> Result<(), String> {
        if let Some(text) = text.strip_prefix('#') {
            return self.numeric_block(number::parse_block(text, line)?);
        }
        if text.starts_with('@') {
            let expression = number::parse_expression(text, line)?;
            self.pieces.push(Piece::Number(expression));
            return Ok(());
        }
        if let Some((name, ere)) = text.split_once(':') {
            let name = variable_name(name)?.to_owned();
            let group = self.capture(ere)?;
            self.captures.push(Capture { name, group, number: None });
            return Ok(());
        }
        let name = variable_name(text)?;
        let mut defined = self.captures.iter().rev();
        match defined.find(|capture| capture.name == name) {
            Some(capture) => {
                let backreference = format!(r"(?:\{})", capture.group);
                self.has_backreference = true;
                self.push(&backreference);
            }
            None => self.pieces.push(Piece::Text(name.to_owned())),
        }
        Ok(())
    }

    fn numeric_block(&mut self, block: Block) -> Result<(), String> {
        match block {
            Block::Any(format, name) => {
                let group = self.capture(format.ere())?;
                self.captures.extend(name.map(|name| Capture {
                    name,
                    group,
                    number: Some(format),
                }));
            }
            Block::Value(expression) => {
                let own = |name: &&str| self.captures.iter().any(|capture| capture.name == **name);
                if let Some(name) = expression.variables().find(own) {
                    return Err(format!("[[#{name}]] is defined in the same directive"));
                }
                self.pieces.push(Piece::Number(expression));
            }
        }
        Ok(())
    }
}

/// The name of a variable: an optional `$`, then a letter or `_`, then letters, digits and `_`.
pub(super) fn variable_name(text: &str) -> Result<&str, String> {
    let word = text.strip_prefix('$').unwrap_or(text);
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(text)
    } else {
        Err(format!("`{text}` is not the name of a variable"))
    }
}

/// Position of the `]]` that ends a block; brackets inside may nest and be escaped.
fn block_end(text: &str) -> Result<usize, String> {
    const UNCLOSED: &str = "`[[` has no matching `]]`";
    let mut depth = 0_usize;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            ']' if depth == 0 && text[at..].starts_with("]]") => return Ok(at),
            '\\' => drop(chars.next()),
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1).ok_or(UNCLOSED)?,
            _ => {}
        }
    }
    Err(UNCLOSED.to_owned())
}
