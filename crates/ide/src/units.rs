//! Large programs in parts: each function is read and verified by itself, with declarations of the
//! functions that it names, so that an edit costs what its function costs.
//!
//! Functions are found by their indentation, as printers write them: from a line that begins with
//! `func.func` to the first line with a closing brace of the same indentation. A program that is
//! not written so is read as a whole.

use crate::analysis::Analysis;
use crate::diagnostics::Finding;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use stablo::{Diagnostic, Position, Span};
use std::hash::{BuildHasher, BuildHasherDefault};
use std::ops::Range;
use std::rc::Rc;

/// Lints that look at the whole program.
const OF_THE_WHOLE: [&str; 2] = ["unused-function", "float64"];

/// Diagnostics of units by the hashes of their context and text.
pub(crate) type UnitCache = FxHashMap<u64, Rc<UnitFindings>>;

/// The diagnostics of a unit, with positions relative to its start, and its text.
pub(crate) struct UnitFindings {
    text: Box<str>,
    findings: Vec<Finding>,
}

/// The functions of a program and what is around them.
struct Units<'t> {
    text: &'t str,
    /// Before the first function: aliases, and the head of the module.
    head: Range<usize>,
    functions: Vec<Range<usize>>,
    /// After the last function: the end of the module, and aliases.
    tail: Range<usize>,
}

impl<'t> Units<'t> {
    /// Splits a program; `None` if it is not written as printers write.
    fn split(text: &'t str) -> Option<Units<'t>> {
        let mut functions: Vec<Range<usize>> = Vec::new();
        let mut open: Option<(usize, usize)> = None;
        let mut at = 0;
        let bytes = text.as_bytes();
        for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
            let line = &text[at..end];
            let indent = line.len() - line.trim_start_matches(' ').len();
            let content = &line[indent..];
            match open {
                Some((start, of)) if indent == of && content.starts_with('}') => {
                    functions.push(start..end);
                    open = None;
                }
                Some(_) => {}
                None if content.starts_with("func.func ") => {
                    if !content.trim_end().ends_with('{') {
                        return None;
                    }
                    open = Some((at, indent));
                }
                None if functions.is_empty() || content.trim().is_empty() => {}
                // After the functions, nothing but the end of the module and aliases.
                None if content.starts_with(['}', '#', '!']) || content.starts_with("//") => {}
                None => return None,
            }
            at = end + 1;
        }
        if open.is_some() || functions.len() < 2 {
            return None;
        }
        let (first, last) = (functions.first()?.start, functions.last()?.end);
        let gaps = functions.windows(2).map(|pair| &text[pair[0].end..pair[1].start]);
        if { gaps }.any(|gap| !gap.trim().is_empty()) {
            return None;
        }
        Some(Units { text, head: 0..first, functions, tail: last..text.len() })
    }

    /// The first line of a function without its brace, as a declaration.
    fn declaration(&self, function: &Range<usize>) -> Option<String> {
        let line = self.text[function.clone()].lines().next()?.trim();
        let head = line.strip_suffix('{')?.trim_end().strip_prefix("func.func ")?.trim_start();
        let head = head.strip_prefix("public ").or_else(|| head.strip_prefix("private "));
        let head = head.unwrap_or_else(|| line["func.func ".len()..line.len() - 1].trim());
        Some(format!("func.func private {head}\n"))
    }
}

/// The name of the symbol that a declaration declares, `@` included.
fn declared(declaration: &str) -> Option<&str> {
    let at = declaration.find('@')?;
    let rest = &declaration[at..];
    Some(&rest[..rest.find('(')?])
}

/// The findings in a large program, by its functions. `None` if it must be read as a whole.
pub(crate) fn findings(
    name: &str,
    text: &str,
    allow_unregistered: bool,
    known: &UnitCache,
) -> Option<(Vec<Finding>, UnitCache)> {
    let units = Units::split(text)?;
    let declarations: Option<Vec<String>> =
        units.functions.iter().map(|function| units.declaration(function)).collect();
    let declarations = declarations?;
    let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
    for (index, declaration) in declarations.iter().enumerate() {
        // Functions of one name are an error about both.
        if by_name.insert(declared(declaration)?, index).is_some() {
            return None;
        }
    }
    let (head, tail) = (&text[units.head.clone()], &text[units.tail.clone()]);
    let hasher = BuildHasherDefault::<FxHasher>::default();
    let context = hasher.hash_one((head, tail, &declarations, allow_unregistered));
    let mut cache = UnitCache::default();
    let mut all = Vec::new();
    let mut aliases: Option<FxHashMap<&str, &str>> = None;
    for function in &units.functions {
        let own = &text[function.clone()];
        let key = hasher.hash_one((context, own));
        let found = known.get(&key).filter(|found| &*found.text == own).cloned();
        let found = found.unwrap_or_else(|| {
            let aliases = aliases.get_or_insert_with(|| alias_lines(tail));
            let unit =
                Unit { name, head, own, declarations: &declarations, by_name: &by_name, aliases };
            Rc::new(UnitFindings { text: own.into(), findings: unit.findings(allow_unregistered) })
        });
        let start = function.start as u32;
        all.extend(found.findings.iter().map(|finding| finding.clone().moved(start)));
        cache.insert(key, found);
    }
    // The text around the functions, with declarations in their place.
    let key = hasher.hash_one((context, "around"));
    let around = known.get(&key).cloned().unwrap_or_else(|| {
        let text = format!("{head}{}{tail}", declarations.concat());
        let analysis = Analysis::new(name, &text, allow_unregistered);
        let middle = head.len() as u32..(text.len() - tail.len()) as u32;
        let is_around =
            |d: &&Diagnostic| d.position.span().is_none_or(|span| !middle.contains(&span.start));
        let found = analysis.diagnostics.iter().filter(is_around);
        let findings = found.map(|d| analysis.finding(d)).collect();
        Rc::new(UnitFindings {
            text: text[middle.start as usize..middle.end as usize].into(),
            findings,
        })
    });
    let shift = |at: u32| match at as usize <= head.len() {
        true => at,
        false => at - around.text.len() as u32 + (units.tail.start - head.len()) as u32,
    };
    for finding in &around.findings {
        let mut finding = finding.clone();
        finding.map_spans(|span| Span { start: shift(span.start), end: shift(span.end) });
        all.push(finding);
    }
    cache.insert(key, around);
    Some((all, cache))
}

/// The function at a byte of a large program, read by itself without the aliases at the end, and
/// the distance of its text there from that in the program.
pub(crate) fn around(
    name: &str,
    text: &str,
    allow_unregistered: bool,
    at: usize,
) -> Option<(Analysis, u32)> {
    let units = Units::split(text)?;
    let function =
        units.functions.iter().find(|function| function.start <= at && at <= function.end)?;
    let declarations: Option<Vec<String>> =
        units.functions.iter().map(|function| units.declaration(function)).collect();
    let declarations = declarations?;
    let named = declarations.iter().enumerate();
    let by_name = named.filter_map(|(index, text)| Some((declared(text)?, index))).collect();
    let head = &text[units.head.clone()];
    let (own, aliases) = (&text[function.clone()], FxHashMap::default());
    let unit =
        Unit { name, head, own, declarations: &declarations, by_name: &by_name, aliases: &aliases };
    let (program, start, _) = unit.program();
    let analysis = Analysis::new(name, &program, allow_unregistered);
    Some((analysis, function.start as u32 - start))
}

/// The lines that define aliases, by name, sigil included.
fn alias_lines(text: &str) -> FxHashMap<&str, &str> {
    let lines = text.lines().filter(|line| line.starts_with(['#', '!']));
    lines.filter_map(|line| Some((line.split_once(" =")?.0, line))).collect()
}

/// A function to be read.
struct Unit<'a> {
    name: &'a str,
    head: &'a str,
    own: &'a str,
    declarations: &'a [String],
    by_name: &'a FxHashMap<&'a str, usize>,
    aliases: &'a FxHashMap<&'a str, &'a str>,
}

impl Unit<'_> {
    /// A program of the function, and where the function is in it.
    fn program(&self) -> (String, u32, u32) {
        let mut text = self.head.to_string();
        let start = text.len() as u32;
        text.push_str(self.own);
        let end = text.len() as u32;
        text.push('\n');
        let own = self.own.lines().next().unwrap_or_default();
        let own = declared(own);
        let mut functions: Vec<usize> = Vec::new();
        for name in names(self.own, b'@') {
            if let Some(&index) = self.by_name.get(name).filter(|_| Some(name) != own)
                && !functions.contains(&index)
            {
                functions.push(index);
            }
        }
        functions.iter().for_each(|&index| text.push_str(&self.declarations[index]));
        if self.head.contains("module ") && self.head.trim_end().ends_with('{') {
            text.push_str("}\n");
        }
        // Aliases may refer to others.
        let mut taken: FxHashSet<&str> = FxHashSet::default();
        let declared = functions.iter().map(|&index| &*self.declarations[index]);
        let mut left: Vec<&str> =
            std::iter::once(self.own).chain(declared).chain([self.head]).collect();
        while let Some(part) = left.pop() {
            for name in names(part, b'#').chain(names(part, b'!')) {
                if let Some(line) = self.aliases.get(name)
                    && taken.insert(name)
                {
                    text.push_str(line);
                    text.push('\n');
                    left.push(&line[name.len()..]);
                }
            }
        }
        (text, start, end)
    }

    /// The findings of the function, with positions relative to its start.
    fn findings(&self, allow_unregistered: bool) -> Vec<Finding> {
        let (text, start, end) = self.program();
        let analysis = Analysis::new(self.name, &text, allow_unregistered);
        let lints = analysis.lints().iter();
        let lints = lints.filter(|lint| !OF_THE_WHOLE.contains(&&*lint.label));
        let all = analysis.diagnostics.iter().chain(lints);
        let within = |position: &Position| {
            position.span().is_some_and(|span| start <= span.start && span.start <= end)
        };
        let mut found = Vec::new();
        for diagnostic in all.filter(|d| within(&d.position)) {
            let mut finding = analysis.finding(diagnostic);
            // Notes elsewhere, such as at a declaration, have no place here.
            for (_, span) in &mut finding.notes {
                *span = span.filter(|span| start <= span.start && span.end <= end);
            }
            finding.map_spans(|span| Span {
                start: span.start.saturating_sub(start),
                end: span.end.saturating_sub(start),
            });
            found.push(finding);
        }
        found
    }
}

/// The names with a sigil in a text, comments and strings included: more than there are.
fn names(text: &str, sigil: u8) -> impl Iterator<Item = &str> {
    memchr::memchr_iter(sigil, text.as_bytes()).map(move |at| {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_.$-".contains(c));
        &text[at..at + 1 + end.unwrap_or(rest.len())]
    })
}
