//! An author's actions at random: a name is deleted and completed, things are renamed, moved,
//! formatted and made static. The program must be valid afterwards.

use crate::edited;
use crate::robust::{Random, programs, tests};
use ide::{Edit, File, Severity, Span};
use stablo::syntax::{Token, TokenKind};
use std::path::Path;

/// The longest program that is used.
const MAX_BYTES: usize = 20_000;

/// The errors of a program.
fn errors(text: &str) -> Vec<String> {
    let found = File::new("after.mlir", text).diagnostics();
    let errors = found.iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| format!("{finding:?}")).collect()
}

/// Deletes a name and asks for completions there.
fn complete(file: &File, tokens: &[Token], random: &mut Random) -> Result<(), String> {
    let text = file.text();
    let slice = |token: &Token| &text[token.span.start as usize..token.span.end as usize];
    let registry = stablo::registry();
    let is_name = |&(index, token): &(usize, &Token)| match token.kind {
        TokenKind::Percent | TokenKind::Symbol | TokenKind::Caret => true,
        // Aliases of locations are not offered, and `#1` may be the number of a result.
        TokenKind::Hash | TokenKind::Exclaim => {
            let name = slice(token);
            let is_number = index > 0 && tokens[index - 1].span.end == token.span.start;
            !name.starts_with("#loc")
                && !is_number
                && file.definition(token.span.start + 1).is_some()
        }
        // Attributes may have names of ops.
        TokenKind::Word => {
            let next = tokens.get(index + 1).map(|next| next.kind);
            next != Some(TokenKind::Punct(b'=')) && registry.op(slice(token)).is_some()
        }
        _ => false,
    };
    let names = tokens.iter().enumerate().filter(is_name);
    let names: Vec<&Token> = names.map(|(_, token)| token).collect();
    let Some(token) = names.get(random.next(names.len())) else { return Ok(()) };
    let name = slice(token);
    let is_definition = file.definition(token.span.start + 1).is_some_and(|d| d.name == token.span);
    // A name that nothing else has cannot be known once it is deleted.
    if is_definition
        || token.kind == TokenKind::Caret && file.references(token.span.start + 1).len() < 2
    {
        return Ok(());
    }
    if token.kind == TokenKind::Symbol && file.definition(token.span.start + 1).is_none() {
        return Ok(());
    }
    // The sigil or a letter is written, and perhaps more.
    let sigil = 1;
    let mut kept = (sigil + random.next(3)).min(name.len());
    while !name.is_char_boundary(kept) {
        kept -= 1;
    }
    let cut = Span { start: token.span.start + kept as u32, end: token.span.end };
    let file = File::new("before.mlir", edited(file, &[Edit::remove(cut)]));
    let found = file.completions(cut.start).items;
    let fits = |label: &str| label == name || label.split('#').next() == Some(name);
    // Where a name stands for several, completion knows them by number.
    if found.iter().any(|item| fits(&item.label)) {
        return Ok(());
    }
    Err(format!("`{name}` is not completed after `{}`", &name[..kept]))
}

/// Renames what a token names, and back.
fn rename(file: &File, tokens: &[Token], random: &mut Random) -> Result<(), String> {
    let Some(token) = tokens.get(random.next(tokens.len())) else { return Ok(()) };
    let at = token.span.start;
    let Some(place) = file.renamable(at) else { return Ok(()) };
    let old = file.text()[place.start as usize..place.end as usize].to_string();
    let edits = file.rename(at, "fresh_name").map_err(|error| format!("{old}: {error}"))?;
    let text = edited(file, &edits);
    let found = errors(&text);
    if !found.is_empty() {
        return Err(format!("renaming {old}: {found:?}"));
    }
    let renamed = File::new("renamed.mlir", text);
    let before = edits.iter().filter(|edit| edit.span.end <= place.start);
    let moved =
        before.map(|edit| edit.text.len() as i64 - i64::from(edit.span.end - edit.span.start));
    let at = (i64::from(place.start) + moved.sum::<i64>()) as u32;
    let back = renamed.rename(at, &old).map_err(|error| format!("back to {old}: {error}"))?;
    if edited(&renamed, &back) != file.text() {
        return Err(format!("renaming {old} and back gives another text"));
    }
    Ok(())
}

/// Takes the refactorings of the range between two tokens.
fn refactor(file: &File, tokens: &[Token], random: &mut Random) -> Result<usize, String> {
    let first = random.next(tokens.len());
    let last = first + random.next(60.min(tokens.len() - first));
    let range = Span { start: tokens[first].span.start, end: tokens[last].span.end };
    let actions = file.actions(range);
    for action in &actions {
        let text = match &action.file {
            Some(text) => text.clone(),
            None => edited(file, &action.edits),
        };
        let found = errors(&text);
        if !found.is_empty() {
            return Err(format!("{} {range:?}: {found:?}\n{text}", action.title));
        }
    }
    Ok(actions.len())
}

/// Takes actions in the programs of a file. Returns the number of them, and what went wrong.
fn act(path: &Path, actions: usize, seed: u64) -> (usize, Vec<String>) {
    let Ok(text) = std::fs::read_to_string(path) else { return (0, Vec::new()) };
    let programs: Vec<&str> = text.split("// -----").collect();
    let is_usable = |p: &&str| p.len() < MAX_BYTES && !p.contains("expected-");
    let programs: Vec<&str> = programs.into_iter().filter(is_usable).collect();
    let mut random = Random(seed);
    let (mut count, mut faults) = (0, Vec::new());
    for _ in 0..actions {
        let Some(&program) = programs.get(random.next(programs.len())) else { break };
        if !errors(program).is_empty() {
            continue;
        }
        let file = File::new("test.mlir", program);
        let tokens: Vec<Token> = stablo::syntax::tokens(program).collect();
        if tokens.is_empty() {
            continue;
        }
        let done = match random.next(8) {
            0..=2 => complete(&file, &tokens, &mut random).map(|()| 1),
            3 | 4 => rename(&file, &tokens, &mut random).map(|()| 1),
            5 | 6 => refactor(&file, &tokens, &mut random),
            _ => {
                let found = errors(&edited(&file, &file.format()));
                if found.is_empty() { Ok(1) } else { Err(format!("formatted: {found:?}")) }
            }
        };
        match done {
            Ok(done) => count += done,
            Err(fault) => faults.push(format!("{}: {fault}", path.display())),
        }
    }
    (count, faults)
}

/// `IDE_ACTIONS` is the number of actions, and `IDE_FILES` the folder of programs.
#[test]
fn an_authors_actions() {
    let run = || {
        let variable = |name: &str| std::env::var(name).ok();
        let wanted = variable("IDE_ACTIONS").and_then(|n| n.parse().ok()).unwrap_or(300usize);
        let paths = match variable("IDE_FILES") {
            Some(folder) => {
                let mut found = Vec::new();
                programs(Path::new(&folder), &mut found);
                found.sort();
                found
            }
            None => tests(),
        };
        let each = 3;
        let (mut count, mut faults) = (0, Vec::new());
        for number in 0..wanted.div_ceil(each) {
            let path = &paths[number * 37 % paths.len()];
            let (done, wrong) = act(path, each, number as u64 * 7919 + 11);
            count += done;
            faults.extend(wrong);
        }
        assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n\n"));
        assert!(count > wanted / 3, "{count} actions only");
    };
    stablo::with_large_stack(run);
}
