//! Renaming of values, blocks, symbols and aliases.

use crate::analysis::Analysis;
use crate::file::{Edit, File, moved};
use crate::names::{Target, is_result_number, symbol_name};
use stablo::Span;
use stablo::syntax::{TokenKind, tokens};
use std::fmt;

/// Why something cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenameError {
    /// Nothing that has a name of the program is there.
    NothingThere,
    /// The new name does not follow the grammar.
    Invalid(String),
    /// The new name is taken where the old one is used.
    Taken(String),
}

impl fmt::Display for RenameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RenameError::NothingThere => f.write_str("there is no value, block, symbol or alias"),
            RenameError::Invalid(name) => write!(f, "`{name}` is not a valid name here"),
            RenameError::Taken(name) => write!(f, "`{name}` is already defined"),
        }
    }
}

impl std::error::Error for RenameError {}

impl File {
    /// The name at byte `at` that can be renamed, without its sigil.
    pub fn renamable(&self, at: u32) -> Option<Span> {
        let (analysis, start, here) = self.analysis_at(at);
        let at = here;
        analysis.target(at).filter(|target| analysis.definition_name(target).is_some())?;
        let (index, token) = analysis.token_at(at)?;
        let before = index.checked_sub(1).map(|before| analysis.tokens()[before]);
        let token = before.filter(|before| is_result_number(before, &token)).unwrap_or(token);
        Some(moved(bare(&analysis, token.span), start))
    }

    /// The edits that rename what is named at byte `at`. The new name may have its sigil.
    ///
    /// # Errors
    /// If nothing there has a name, or the new one is invalid or taken.
    pub fn rename(&self, at: u32, new: &str) -> Result<Vec<Edit>, RenameError> {
        let (analysis, start, here) = self.analysis_at(at);
        let target = analysis.target(here).ok_or(RenameError::NothingThere)?;
        let definition = analysis.definition_name(&target).ok_or(RenameError::NothingThere)?;
        let sigil = match &target {
            Target::Value(_) | Target::UnreadValue(..) => '%',
            Target::Block(..) => '^',
            Target::Symbol(_) => '@',
            Target::Alias(name) => name.chars().next().unwrap_or('#'),
        };
        let new = new.strip_prefix(sigil).unwrap_or(new);
        let whole = format!("{sigil}{new}");
        if !is_name(&whole, &target) {
            return Err(RenameError::Invalid(new.to_string()));
        }
        let references = analysis.references(&target);
        if new != symbol_name(analysis.slice(bare(&analysis, definition))) {
            check_free(&analysis, &target, &whole)?;
        }
        let edit = |span| Edit::replace(moved(bare(&analysis, span), start), new);
        Ok(references.iter().map(|reference| edit(reference.name)).collect())
    }
}

/// The name in a token without its sigil, or without the quotes of a string.
fn bare(analysis: &Analysis, token: Span) -> Span {
    let text = analysis.slice(token);
    let end = if text.starts_with('"') { token.end - 1 } else { token.end };
    Span { start: token.start + 1, end }
}

/// True if a text is one token that may name the target.
fn is_name(text: &str, target: &Target) -> bool {
    let kind = match target {
        Target::Value(_) | Target::UnreadValue(..) => TokenKind::Percent,
        Target::Block(..) => TokenKind::Caret,
        Target::Symbol(_) => TokenKind::Symbol,
        Target::Alias(name) if name.starts_with('!') => TokenKind::Exclaim,
        Target::Alias(_) => TokenKind::Hash,
    };
    let mut found = tokens(text);
    let is_whole = |token: stablo::syntax::Token| {
        token.kind == kind && token.span.start == 0 && token.span.end as usize == text.len()
    };
    let is_bare = match target {
        Target::Alias(_) => {
            !text.contains('.') && !text[1..].starts_with(|c: char| c.is_ascii_digit())
        }
        Target::Symbol(_) => !text.contains('"'),
        _ => true,
    };
    is_bare && found.next().is_some_and(is_whole)
}

/// Fails if a name, sigil included, is taken where the target is named.
fn check_free(analysis: &Analysis, target: &Target, new: &str) -> Result<(), RenameError> {
    let is_taken = match target {
        Target::Value(index) => {
            // Names of one isolated region must differ unless neither is visible to the other.
            analysis.scopes_of(*index).into_iter().any(|scope| {
                let mut others = analysis.map.definitions.iter();
                analysis.resolve(new, scope).is_some()
                    || others.any(|other| {
                        analysis.slice(other.name) == new
                            && is_visible(analysis, other.scope, scope)
                    })
            })
        }
        Target::UnreadValue(_, scope) => analysis.resolve(new, *scope).is_some(),
        Target::Block(_, scope) => {
            let block = Target::Block(new.to_string(), *scope);
            !analysis.references(&block).is_empty()
        }
        Target::Symbol(index) => {
            let (symbols, name) = (analysis.symbols(), symbol_name(new));
            symbols.iter().any(|s| s.table == symbols[*index].table && s.name == name)
        }
        Target::Alias(_) => analysis.alias_definition(new).is_some(),
    };
    match is_taken {
        true => Err(RenameError::Taken(new.to_string())),
        false => Ok(()),
    }
}

/// True if names of the scope `outer` are visible in `inner`.
fn is_visible(analysis: &Analysis, mut inner: u32, outer: u32) -> bool {
    while inner != outer {
        let scope = &analysis.map.scopes[inner as usize];
        match scope.parent.filter(|_| !scope.isolated) {
            Some(parent) => inner = parent,
            None => return false,
        }
    }
    true
}
