//! Transformations of modules: one file a pass, and the table by which programs find them.

mod inline;
mod strip_debuginfo;

use mlir::{Diagnostics, Module};

/// A transformation of a whole module.
pub struct Pass {
    /// The name in pipelines; `--name` on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// Transforms a verified module. The result is valid if no diagnostic is an error.
    pub run: fn(&mut Module) -> Diagnostics,
}

/// All passes, in alphabetical order.
pub static PASSES: &[Pass] = &[inline::INLINE, strip_debuginfo::STRIP_DEBUGINFO];

/// The pass of that name.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}

/// The passes of a pipeline such as `builtin.module(inline,func.func(strip-debuginfo))`. Each runs on the whole module,
/// whichever ops it is anchored on.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_pipeline(text: &str) -> Result<Vec<&'static Pass>, String> {
    let mut passes = Vec::new();
    let mut open = 0usize;
    for token in text.split_inclusive(['(', ')', ',']) {
        let name = token.trim_end_matches(['(', ')', ',']).trim();
        if token.ends_with('(') {
            open += 1;
        } else if !name.is_empty() {
            passes.push(pass(name).ok_or_else(|| format!("there is no pass `{name}`"))?);
        }
        if token.ends_with(')') {
            open = open.checked_sub(1).ok_or_else(|| format!("`)` without `(` in the pipeline `{text}`"))?;
        }
    }
    if open > 0 { Err(format!("`(` without `)` in the pipeline `{text}`")) } else { Ok(passes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_in_order() {
        assert!(PASSES.is_sorted_by_key(|pass| pass.name));
    }

    #[test]
    fn pipelines() {
        let names = |text| parse_pipeline(text).map(|p| p.iter().map(|p| p.name).collect::<Vec<_>>());
        assert_eq!(names("builtin.module(inline, func.func(strip-debuginfo))"), Ok(vec!["inline", "strip-debuginfo"]));
        assert_eq!(names("inline"), Ok(vec!["inline"]));
        assert!(names("builtin.module(inline").is_err());
        assert!(names("inline)").is_err());
        assert!(names("no-such-pass").is_err());
    }
}
