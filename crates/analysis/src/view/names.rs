//! Names of values as a program's text has them.

use mlir::Module;
use mlir::text::ValueNames;
use rustc_hash::FxHashSet;

/// The names of a module's values: as in the text that it was read from, else as printed.
pub(super) fn as_written(module: &Module) -> ValueNames<'_> {
    let mut names = ValueNames::of(module.top());
    let Some(source) = module.source() else { return names };
    let text = source.text();
    // Ops that passes made share the place of what they were made from.
    let mut seen = FxHashSet::default();
    for op in module.walk(module.top().id()) {
        if let Some(span) = op.position().span().filter(|span| seen.insert(span.start)) {
            let written = results(text.get(..span.start as usize).unwrap_or_default());
            let results: Vec<_> = op.results().collect();
            if written.iter().map(|(_, count)| count).sum::<usize>() == results.len() {
                let mut start = 0;
                for (name, count) in written {
                    names.rename(&results[start..start + count], name);
                    start += count;
                }
            }
        }
        for &block in op.regions().iter().flat_map(|&region| module.blocks(region)) {
            for (&value, loc) in module.arguments(block).iter().zip(module.argument_locs(block)) {
                let span = module.position(loc).span();
                let at = span.and_then(|span| text.get(span.start as usize..));
                if let Some(name) = at.and_then(|text| text.strip_prefix('%')) {
                    names.rename(&[value], word(name));
                }
            }
        }
    }
    names
}

/// Parses `%0:2, %1 = ` at the end of a text: names of results, each with its number of results.
fn results(text: &str) -> Vec<(&str, usize)> {
    let Some(text) = text.trim_end().strip_suffix('=') else { return Vec::new() };
    let is_part = |c: char| is_word(c) || matches!(c, '%' | ':' | ',' | ' ');
    let start = text.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
    let group = |group| {
        let group = str::trim(group).strip_prefix('%')?;
        let (name, count) = group.split_once(':').unwrap_or((group, "1"));
        Some((name.trim(), count.trim().parse::<u16>().ok()?.into()))
    };
    text[start..].split(',').map(group).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// The name at the start of a text.
fn word(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')
}
