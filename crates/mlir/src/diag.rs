//! Diagnostics as data, and their rendering.

use crate::attrs::{AttrKind, Attribute, LocationKind};
use anstyle::{AnsiColor, Style};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::{Arc, OnceLock};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A way to mend an error.
    Help,
    /// Additional information.
    Note,
    /// A remark about the program.
    Remark,
    /// A likely mistake.
    Warning,
    /// The program is invalid.
    Error,
}

impl Severity {
    /// `error`, `warning`, …
    pub fn name(self) -> &'static str {
        match self {
            Severity::Help => "help",
            Severity::Note => "note",
            Severity::Remark => "remark",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A half-open range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// True if it holds no byte.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// The position of a diagnostic.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Position {
    /// No position.
    #[default]
    None,
    /// In the source text that was parsed.
    Span(Span),
    /// An MLIR location, possibly in a file that is not available.
    Location(Attribute),
    /// In the source text, at an op or argument whose location says what it was made from.
    Made(Span, Attribute),
}

impl Position {
    /// The position in the source text, if there is one.
    pub fn span(&self) -> Option<Span> {
        match self {
            Position::Span(span) | Position::Made(span, _) => Some(*span),
            Position::None | Position::Location(_) => None,
        }
    }
}

impl From<Span> for Position {
    fn from(span: Span) -> Position {
        Position::Span(span)
    }
}

/// A message about a program.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// The violated rule: a constraint of the specification (`add_c1`) or a generic check (`parse`,
    /// `dominance`).
    pub label: Cow<'static, str>,
    /// Description of the error: the value found and the one required.
    pub message: String,
    /// Position.
    pub position: Position,
    /// The position of another op and the number of its operand that the message is about, such as
    /// of what a region returns: where a reader of source text looks first.
    pub focus: Option<Box<(Position, usize)>>,
    /// Notes, each with its position.
    pub notes: Vec<(String, Position)>,
    /// A way to mend the error.
    pub help: Option<Box<str>>,
}

/// A count with its noun in the singular or plural: `1 value`, `2 values`, `0 entries`.
pub fn counted<N: fmt::Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    match (count == N::from(1), noun.strip_suffix('y')) {
        (true, _) => format!("{count} {noun}"),
        (false, Some(stem)) => format!("{count} {stem}ies"),
        (false, None) if noun.ends_with('s') => format!("{count} {noun}es"),
        (false, None) => format!("{count} {noun}s"),
    }
}

/// Diagnostics in the order in which they were found.
pub type Diagnostics = Vec<Diagnostic>;

/// The result of a check: the error is the violation.
pub type Verdict = Result<(), Diagnostic>;

impl Diagnostic {
    /// An error that reports a violation of the rule `label`.
    pub fn error(label: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            label: label.into(),
            message: message.into(),
            position: Position::None,
            focus: None,
            notes: Vec::new(),
            help: None,
        }
    }

    /// The diagnostic about an operand of an op other than the one at its position: the position of
    /// that op and the number of the operand.
    #[must_use]
    pub fn focused(mut self, op: Option<Position>, operand: usize) -> Diagnostic {
        self.focus = op.map(|op| Box::new((op, operand)));
        self
    }

    /// The diagnostic at another position.
    #[must_use]
    pub fn at(mut self, position: impl Into<Position>) -> Diagnostic {
        self.position = position.into();
        self
    }

    /// The diagnostic with positions in `source` converted to locations, for consumers that do not
    /// have the source.
    #[must_use]
    pub fn located(mut self, source: &Source) -> Diagnostic {
        let positions = std::iter::once(&mut self.position)
            .chain(self.notes.iter_mut().map(|(_, position)| position));
        for position in positions {
            match position {
                Position::Span(span) => {
                    *position = Position::Location(source.location(span.start));
                }
                Position::Made(_, location) => *position = Position::Location(location.clone()),
                Position::None | Position::Location(_) => {}
            }
        }
        self
    }

    /// The diagnostic with an additional note.
    #[must_use]
    pub fn note(mut self, message: impl Into<String>, position: impl Into<Position>) -> Diagnostic {
        self.notes.push((message.into(), position.into()));
        self
    }

    /// The diagnostic with a way to mend the error, if there is one.
    #[must_use]
    pub fn help(mut self, help: Option<String>) -> Diagnostic {
        self.help = help.map(Into::into);
        self
    }
}

/// Rendered without a source text; see [`render`].
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(render(self, None).trim_end_matches('\n'))
    }
}

impl std::error::Error for Diagnostic {}

/// A source text with its name and a lazily built index of its lines.
#[derive(Debug)]
pub struct Source {
    name: Arc<str>,
    text: Arc<String>,
    line_starts: OnceLock<Vec<u32>>,
    first_line: u32,
    /// True if the text is a chunk of a split file.
    is_chunk: bool,
}

impl Source {
    /// A source text that starts at line 1.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<String>) -> Source {
        Source::shared(name, Arc::new(text.into()))
    }

    /// Likewise, of a text that others read, too.
    pub fn shared(name: impl Into<Arc<str>>, text: Arc<String>) -> Source {
        let line_starts = OnceLock::new();
        Source { name: name.into(), text, line_starts, first_line: 1, is_chunk: false }
    }

    /// The start offset of each line.
    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let starts = memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|i| i as u32 + 1);
            std::iter::once(0).chain(starts).collect()
        })
    }

    /// A chunk of the split file `name`, which starts in the line `first_line` of that file.
    pub fn chunk(name: impl Into<Arc<str>>, text: impl Into<String>, first_line: u32) -> Source {
        Source { first_line, is_chunk: true, ..Source::new(name, text) }
    }

    /// Name of the file.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte, both from 1; columns count bytes, as MLIR's do.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let starts = self.line_starts();
        let line = starts.partition_point(|&s| s <= offset) - 1;
        (self.first_line + line as u32, offset - starts[line] + 1)
    }

    /// The location of a byte: `loc("file":line:column)`. In a chunk of a split file, locations are
    /// relative to the line in which it starts, as upstream's are; diagnostics are not.
    pub fn location(&self, offset: u32) -> Attribute {
        let (line, column) = self.line_column(offset);
        let line = if self.is_chunk { line - self.first_line + 1 } else { line };
        Attribute::file_location(self.location_name(), line, column)
    }

    /// The location of the text as a whole: `loc("file":0:0)`.
    pub fn start_location(&self) -> Attribute {
        Attribute::file_location(self.location_name(), 0, 0)
    }

    /// The line number in this text of a line in the file `file`; `None` if that is another file.
    pub fn line_of(&self, file: &str, line: u32) -> Option<u32> {
        if file == &*self.name {
            return Some(line);
        }
        (self.is_chunk && file == &*self.location_name())
            .then(|| (line + self.first_line).saturating_sub(1))
    }

    fn location_name(&self) -> Arc<str> {
        match self.is_chunk {
            true => format!("within split at {}:{} offset ", self.name, self.first_line).into(),
            false => self.name.clone(),
        }
    }

    /// The text of the line with that number, as `line_column` gives it.
    pub fn line(&self, number: u32) -> Option<&str> {
        let i = number.checked_sub(self.first_line)? as usize;
        let start = *self.line_starts().get(i)? as usize;
        let end = self.line_starts().get(i + 1).map_or(self.text.len(), |&e| e as usize);
        Some(self.text.get(start..end)?.trim_end_matches(['\n', '\r']))
    }
}

/// The file, line and column of a position: those of its location, if it has one.
pub fn resolve(position: &Position, source: Option<&Source>) -> Option<(Arc<str>, u32, u32)> {
    match position {
        Position::None => None,
        Position::Span(span) => {
            let source = source?;
            let (line, column) = source.line_column(span.start);
            Some((source.name.clone(), line, column))
        }
        Position::Location(location) | Position::Made(_, location) => file_position(location),
    }
}

/// A position in the source text if it has one there, and else as it is; and the location of what
/// was made from something else.
pub fn in_text<'p>(
    position: &'p Position,
    source: Option<&Source>,
) -> (Cow<'p, Position>, Option<&'p Attribute>) {
    match position {
        Position::Made(span, location) if source.is_some() => {
            (Cow::Owned(Position::Span(*span)), Some(location))
        }
        position => (Cow::Borrowed(position), None),
    }
}

/// The first name in a location, such as `jit(f)/add`.
pub fn name_of(location: &Attribute) -> Option<&str> {
    match location.as_location()? {
        LocationKind::Named { name, .. } => Some(name),
        LocationKind::CallSite { callee, .. } => name_of(callee),
        LocationKind::Fused { locations, .. } => locations.iter().find_map(name_of),
        LocationKind::Unknown | LocationKind::File { .. } => None,
    }
}

/// The first file position in a location: of a name's child, a call's callee, or the first fused
/// location that has one.
fn file_position(location: &Attribute) -> Option<(Arc<str>, u32, u32)> {
    match location.as_location()? {
        LocationKind::Unknown => None,
        LocationKind::File { file, start, .. } => Some((file.clone(), start.0, start.1)),
        LocationKind::Named { child, .. } => file_position(child),
        LocationKind::CallSite { callee, .. } => file_position(callee),
        LocationKind::Fused { locations, .. } => locations.iter().find_map(file_position),
    }
}

/// Styles of the parts of a rendered diagnostic.
#[derive(Clone, Copy, Debug, Default)]
pub struct Styles {
    colored: bool,
}

impl Styles {
    /// No styles: text for files and tools.
    pub const PLAIN: Styles = Styles { colored: false };
    /// Colours of a terminal.
    pub const COLORED: Styles = Styles { colored: true };

    fn paint(self, style: Style, text: &str) -> String {
        if self.colored { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    fn severity(self, severity: Severity, text: &str) -> String {
        let color = match severity {
            Severity::Error => AnsiColor::BrightRed,
            Severity::Warning => AnsiColor::BrightYellow,
            Severity::Remark | Severity::Note => AnsiColor::BrightGreen,
            Severity::Help => AnsiColor::BrightCyan,
        };
        self.paint(color.on_default().bold(), text)
    }

    fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    fn margin(self, text: &str) -> String {
        self.paint(AnsiColor::BrightBlue.on_default().bold(), text)
    }
}

/// Sorts diagnostics by their places in the text. Others keep their order after these.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| d.position.span().map_or(u32::MAX, |span| span.start));
}

/// Renders a diagnostic as text: `file:line:column: error[label]: message`, the source line with a
/// caret, then the notes and a way to mend it.
pub fn render(diagnostic: &Diagnostic, source: Option<&Source>) -> String {
    render_styled(diagnostic, source, Styles::PLAIN)
}

/// As [`render`], in styles.
pub fn render_styled(diagnostic: &Diagnostic, source: Option<&Source>, styles: Styles) -> String {
    let mut out = String::new();
    let label = &diagnostic.label;
    let name = diagnostic.severity.name();
    let head = if label.is_empty() { name.to_string() } else { format!("{name}[{label}]") };
    let head = Head { severity: diagnostic.severity, text: &head, styles };
    let note = Head { severity: Severity::Note, text: "note", styles };
    let (position, origin) = in_text(&diagnostic.position, source);
    render_part(&mut out, &head, &diagnostic.message, &position, source);
    if let Some(origin) = origin.filter(|origin| file_position(origin).is_some()) {
        let of = name_of(origin).map_or(String::new(), |name| format!(" of `{name}`"));
        let position = Position::Location(origin.clone());
        render_part(&mut out, &note, &format!("the origin{of}"), &position, source);
    }
    for (message, position) in &diagnostic.notes {
        render_part(&mut out, &note, message, position, source);
    }
    if let Some(help) = &diagnostic.help {
        let head = styles.severity(Severity::Help, "help");
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{head}: {help}");
    }
    out
}

/// The beginning of a diagnostic or note.
struct Head<'a> {
    severity: Severity,
    text: &'a str,
    styles: Styles,
}

fn render_part(
    out: &mut String,
    head: &Head<'_>,
    message: &str,
    position: &Position,
    source: Option<&Source>,
) {
    let (position, _) = &in_text(position, source);
    let (styles, severity) = (head.styles, head.severity);
    let head = styles.severity(severity, head.text);
    let message = match severity {
        Severity::Help | Severity::Note => message.to_string(),
        _ => styles.strong(message),
    };
    // Writing to a String cannot fail.
    let Some((file, line, column)) = resolve(position, source) else {
        let unresolved = match &**position {
            Position::Location(l) if !matches!(&**l, AttrKind::Location(LocationKind::Unknown)) => {
                format!("{l}: ")
            }
            _ => String::new(),
        };
        let _ = writeln!(out, "{unresolved}{head}: {message}");
        return;
    };
    // The location of a whole text has line 0.
    if line == 0 {
        let _ = writeln!(out, "{file}: {head}: {message}");
        return;
    }
    let place = styles.strong(&format!("{file}:{line}:{column}:"));
    let _ = writeln!(out, "{place} {head}: {message}");
    let Some(source) = source.filter(|s| s.name == file) else { return };
    let Some(text) = source.line(line) else { return };
    let column = column as usize;
    // Show only a window of long lines, such as those with large constants.
    const WINDOW: usize = 160;
    let start = if column > WINDOW { column - WINDOW / 2 } else { 0 };
    let start = (0..=start.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    let end = (start + WINDOW).min(text.len());
    let end = (end..=text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len());
    let shown = &text[start..end];
    let number = line.to_string();
    let before = text.get(start..(column - 1).clamp(start, text.len())).unwrap_or("");
    let pad: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let width = match &**position {
        Position::Span(span) => {
            let rest = text.len().saturating_sub(column - 1);
            ((span.end - span.start) as usize).clamp(1, rest.clamp(1, WINDOW))
        }
        _ => 1,
    };
    let _ = writeln!(out, "{} {shown}", styles.margin(&format!("{number} |")));
    let margin = styles.margin(&format!("{} |", " ".repeat(number.len())));
    let carets = styles.severity(severity, &"^".repeat(width));
    let _ = writeln!(out, "{margin} {pad}{carets}");
}
