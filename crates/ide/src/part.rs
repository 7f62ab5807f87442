//! A part of a large program, read by itself after an edit: the function around the edit, or some
//! ops of a function that is large itself.
//!
//! Functions are found by their indentation, as printers write them: from a line that begins with
//! `func.func` to the first line with a closing brace of the same indentation. Where a text is not
//! written so, there is no part, and the whole is read. A part is surrounded by what it refers to:
//! declarations of the functions that it calls, aliases, and for values that are defined elsewhere
//! in the function, ops that have their types.

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use stablo::dialects::func::FuncOp;
use stablo::ir::Type;
use stablo::{Module, Span};
use std::hash::{BuildHasher, BuildHasherDefault};
use std::ops::Range;

/// Functions of at most this many bytes are read as a whole.
const SMALL_FUNCTION: usize = 32 << 10;

/// Functions of at least this many ops have the types of their values recorded.
const LARGE_FUNCTION: usize = 128;

/// Ops before an edit that are read with the edited ones.
const OPS_BEFORE: usize = 24;

/// The types of the values that the bodies of large functions define, by function and name.
#[derive(Clone, Debug, Default)]
pub struct ValueTypes {
    /// By the hash of function and name: index of the first type, and number of types.
    places: FxHashMap<u64, (u32, u32)>,
    types: Vec<Type>,
}

fn hash_of(function: &str, name: &str) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one((function, name))
}

impl ValueTypes {
    /// Records the values of a program.
    pub(crate) fn add(&mut self, module: &Module) {
        let Some(source) = module.source() else { return };
        for op in module.walk(module.top().id()) {
            let Some(function) = FuncOp::cast(op) else { continue };
            let Some(name) = function.0.symbol_name() else { continue };
            let blocks = function.0.regions().iter().flat_map(|&region| module.blocks(region));
            for &block in blocks {
                let ops = module.ops(block);
                if ops.len() >= LARGE_FUNCTION {
                    ops.for_each(|op| self.add_results(op, name, source.text()));
                }
            }
        }
    }

    /// Records the results of an op by the names that are written before it.
    fn add_results(&mut self, op: stablo::ir::OpRef<'_>, function: &str, text: &str) {
        let Some(span) = op.position().span().filter(|_| op.num_results() > 0) else { return };
        let before = text.get(..span.start as usize).unwrap_or_default();
        let line = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |at| at + 1);
        let mut result = 0;
        for (name, count) in defined_on(&text[line..]) {
            let first = self.types.len() as u32;
            let count = count.min(op.num_results() - result);
            self.types.extend((result..result + count).map(|i| op.result_type(i).clone()));
            self.places.insert(hash_of(function, name), (first, count as u32));
            result += count;
        }
    }

    /// The types of the values of a name, `%` included.
    fn get(&self, function: &str, name: &str) -> Option<&[Type]> {
        let &(first, count) = self.places.get(&hash_of(function, name))?;
        self.types.get(first as usize..(first + count) as usize)
    }
}

/// The names, `%` included, that a line defines at its beginning, with the number of their values.
fn defined_on(line: &str) -> Vec<(&str, usize)> {
    let line = line.trim_start_matches(' ');
    if !line.starts_with('%') {
        return Vec::new();
    }
    let Some(end) = memchr::memchr2(b'=', b'\n', line.as_bytes()) else { return Vec::new() };
    let names = line[..end].split(',').map(str::trim);
    let name = |name: &'_ str| -> Option<(usize, usize)> {
        match name.split_once(':') {
            Some((name, count)) => Some((name.len(), count.parse().ok()?)),
            None => Some((name.len(), 1)),
        }
    };
    names.filter_map(|text| name(text).map(|(end, count)| (&text[..end], count))).collect()
}

/// A part of a program with what it refers to.
pub(crate) struct Part {
    /// The part in the text of the section.
    pub range: Range<usize>,
    /// A program with the part.
    pub program: String,
    /// Where the part starts in that.
    pub start: usize,
}

impl Part {
    /// The distance from places in the program to places in the section, modulo 2³².
    pub(crate) fn distance(&self) -> u32 {
        (self.range.start as u32).wrapping_sub(self.start as u32)
    }

    /// The part around a range of a section.
    pub(crate) fn around(text: &str, at: Range<usize>, types: &ValueTypes) -> Option<Part> {
        let function = Function::around(text, at.clone())?;
        let head = &text[..first_function(text)?];
        let mut program = head.to_string();
        let (range, start);
        if function.range.len() <= SMALL_FUNCTION {
            (range, start) = (function.range.clone(), program.len());
            program.push_str(&text[range.clone()]);
            program.push('\n');
        } else {
            range = function.ops_around(at)?;
            let own = &text[range.clone()];
            program.push_str(&text[function.range.start..function.body]);
            function.define_others(own, types, &mut program)?;
            start = program.len();
            program.push_str(own);
            // The part that is read ends in the middle of the body, unless that is its end.
            program.push_str(if range.end == function.end { "}\n" } else { "return\n}\n" });
        }
        let own = program[head.len()..].to_string();
        declare(text, &own, function.name(), &mut program);
        if head.contains("module ") && head.trim_end().ends_with('{') {
            program.push_str("}\n");
        }
        add_aliases(text, &mut program);
        Some(Part { range, program, start })
    }
}

/// The start of the line of the first function.
fn first_function(text: &str) -> Option<usize> {
    memchr::memmem::find_iter(text.as_bytes(), b"func.func ").find_map(|at| line_start(text, at))
}

/// The start of the line of `at`, if only spaces are before that.
fn line_start(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches(' ');
    (before.is_empty() || before.ends_with('\n')).then_some(before.len())
}

/// A function by its indentation.
struct Function<'t> {
    text: &'t str,
    /// From the start of its first line to its closing brace and what is on that line.
    range: Range<usize>,
    /// The start of the first line of its body.
    body: usize,
    /// The start of the line with its closing brace.
    end: usize,
}

impl<'t> Function<'t> {
    /// The function that holds a range.
    fn around(text: &'t str, at: Range<usize>) -> Option<Function<'t>> {
        // An edit at the start of the line of a function is within it.
        let line = memchr::memchr(b'\n', &text.as_bytes()[at.start..]);
        let line_end = line.map_or(text.len(), |end| at.start + end);
        let functions = memchr::memmem::rfind_iter(&text.as_bytes()[..line_end], b"func.func ");
        let (start, op) = { functions }.find_map(|op| Some((line_start(text, op)?, op)))?;
        let indent = &text[start..op];
        let first = &text[start..];
        let first = &first[..memchr::memchr(b'\n', first.as_bytes())?];
        let body = start + first.len() + 1;
        if !first.trim_end().ends_with('{') {
            return None;
        }
        let close = format!("\n{indent}}}");
        let close = memchr::memmem::find(&text.as_bytes()[body - 1..], close.as_bytes())?;
        let end = body + close;
        let last = memchr::memchr(b'\n', &text.as_bytes()[end..]);
        let range = start..last.map_or(text.len(), |last| end + last);
        (at.end <= range.end).then_some(Function { text, range, body, end })
    }

    /// The name, `@` included.
    fn name(&self) -> &'t str {
        let line = &self.text[self.range.start..self.body];
        declared(line).unwrap_or_default()
    }

    /// The ops around a range of the body: whole lines from an op to the next.
    fn ops_around(&self, at: Range<usize>) -> Option<Range<usize>> {
        if at.start < self.body || at.end >= self.end {
            return None;
        }
        let text = self.text;
        let first = &text[self.body..];
        let indent = first.len() - first.trim_start_matches(' ').len();
        let is_op = |line: usize| {
            let line = &text[line..];
            let content = line.trim_start_matches(' ');
            line.len() - content.len() == indent
                && content.starts_with(|c: char| c == '%' || c == '"' || c.is_ascii_alphabetic())
        };
        let line_before = |at: usize| {
            let before = memchr::memrchr(b'\n', &text.as_bytes()[self.body..at]);
            before.map_or(self.body, |before| self.body + before + 1)
        };
        let mut start = line_before(at.start);
        let mut ops = 0;
        while start > self.body && (!is_op(start) || ops < OPS_BEFORE) {
            ops += usize::from(is_op(start));
            start = line_before(start - 1);
        }
        let mut end = at.end;
        loop {
            let next = memchr::memchr(b'\n', &text.as_bytes()[end..self.end])?;
            end += next + 1;
            if end == self.end || is_op(end) {
                break;
            }
        }
        let own = &text[start..end];
        // Bodies of several blocks are not read in parts; blocks of regions are within their op.
        let has_blocks = own.lines().any(|line| {
            let content = line.trim_start_matches(' ');
            let depth = line.len() - content.len();
            depth < indent && content.starts_with('^') || depth == indent && content.contains(" ^")
        });
        (is_op(start) && !has_blocks && own.len() <= SMALL_FUNCTION).then_some(start..end)
    }

    /// Appends definitions of the values that ops use and other ops of the function define. `None`
    /// if the type of one is not known.
    fn define_others(&self, own: &str, types: &ValueTypes, program: &mut String) -> Option<()> {
        let name = self.name().trim_start_matches('@').trim_matches('"');
        let head = &self.text[self.range.start..self.body];
        let body = &self.text.as_bytes()[self.body..self.end];
        let defined: FxHashSet<&str> = own
            .lines()
            .flat_map(|line| defined_on(line).into_iter().map(|(name, _)| name))
            .collect();
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for used in names(own, b'%') {
            let argument = format!("{used}:");
            let is_known =
                defined.contains(used) || [own, head].iter().any(|text| text.contains(&*argument));
            if is_known || !seen.insert(used) {
                continue;
            }
            let Some(types) = types.get(name, used) else {
                // If an edit has defined it, its type is not known yet.
                let is_defined = [format!(" {used} ="), format!(" {used}:")]
                    .iter()
                    .any(|text| memchr::memmem::find(body, text.as_bytes()).is_some());
                if is_defined {
                    return None;
                }
                continue;
            };
            let count = if types.len() == 1 { String::new() } else { format!(":{}", types.len()) };
            let types: Vec<String> = types.iter().map(ToString::to_string).collect();
            let types = types.join(", ");
            program.push_str(&format!(
                "{used}{count} = \"builtin.unrealized_conversion_cast\"() : () -> ({types})\n"
            ));
        }
        Some(())
    }
}

/// The name of the symbol that the first line of a function declares, `@` included.
fn declared(line: &str) -> Option<&str> {
    let rest = &line[line.find('@')?..];
    Some(&rest[..rest.find('(')?])
}

/// Appends declarations of the functions that a part refers to.
fn declare(text: &str, own: &str, name: &str, program: &mut String) {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    for callee in names(own, b'@').filter(|&callee| callee != name) {
        if !seen.insert(callee) {
            continue;
        }
        let pattern = format!("{callee}(");
        let finder = memchr::memmem::Finder::new(pattern.as_bytes());
        let line = finder.find_iter(text.as_bytes()).find_map(|at| {
            let line = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |at| at + 1);
            let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |e| at + e);
            text[line..at].trim_start().starts_with("func.func ").then_some(&text[line..end])
        });
        let Some(line) = line else { continue };
        let Some(at) = line.find('@') else { continue };
        let head = line[at..].trim_end().trim_end_matches('{').trim_end();
        program.push_str("func.func private ");
        program.push_str(head);
        program.push('\n');
    }
}

/// Appends the aliases, defined at the end of a text, that a program refers to.
fn add_aliases(text: &str, program: &mut String) {
    let mut left: Vec<String> = vec![program.clone()];
    let mut aliases: Option<FxHashMap<&str, &str>> = None;
    let mut taken: FxHashSet<&str> = FxHashSet::default();
    while let Some(part) = left.pop() {
        for name in names(&part, b'#').chain(names(&part, b'!')) {
            let aliases = aliases.get_or_insert_with(|| alias_lines(text));
            if let Some((&name, line)) = aliases.get_key_value(name)
                && taken.insert(name)
            {
                program.push_str(line);
                program.push('\n');
                left.push(line[name.len()..].to_string());
            }
        }
    }
}

/// The lines at the end of a text that define aliases, by name, sigil included.
fn alias_lines(text: &str) -> FxHashMap<&str, &str> {
    let mut aliases = FxHashMap::default();
    for line in text.rsplit('\n') {
        match line.as_bytes().first() {
            Some(b'#' | b'!') => {
                if let Some((name, _)) = line.split_once(" =") {
                    aliases.insert(name, line);
                }
            }
            None | Some(b'}') => {}
            Some(_) => break,
        }
    }
    aliases
}

/// The names with a sigil in a text, comments and strings included: more than there are.
fn names(text: &str, sigil: u8) -> impl Iterator<Item = &str> {
    memchr::memchr_iter(sigil, text.as_bytes()).map(move |at| {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_.$-".contains(c));
        &text[at..at + 1 + end.unwrap_or(rest.len())]
    })
}

/// The place of a span of a part's program in the section; `None` if it is around the part.
pub(crate) fn placed(part: &Part, span: Span) -> Option<Span> {
    let (start, end) = (part.start as u32, (part.start + part.range.len()) as u32);
    let is_within = start <= span.start && span.end <= end;
    let by = part.distance();
    let moved = || Span { start: span.start.wrapping_add(by), end: span.end.wrapping_add(by) };
    is_within.then(moved)
}
