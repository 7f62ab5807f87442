//! Edits at random: nothing panics, and the state is that of the text.

use ide::{Edit, File, Span};
use std::path::{Path, PathBuf};

/// Numbers that follow from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// Texts that are typed.
const TYPED: [&str; 24] = [
    "%",
    "@f",
    "#",
    "!",
    "^bb0",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "\"",
    ":",
    " = ",
    "\n",
    "// ",
    "// -----\n",
    "stablehlo.add ",
    "tensor<2xf32>",
    "loc(#loc1)",
    "%0#1",
    "é",
    "call @f() : () -> ()",
    "func.func @f() {",
];

/// The test programs below a folder.
pub(crate) fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|end| end == "mlir") {
            found.push(path);
        }
    }
}

pub(crate) fn tests() -> Vec<PathBuf> {
    let mut found = Vec::new();
    programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests"), &mut found);
    found.sort();
    assert!(found.len() > 100);
    found
}

/// All that a file says, at some places.
fn everything(file: &File, random: &mut Random) -> String {
    let length = file.text().len();
    let whole = Span { start: 0, end: length as u32 };
    let boundary = |at: usize| (0..=at).rev().find(|&at| file.text().is_char_boundary(at));
    let at = boundary(random.next(length + 1)).unwrap_or(0) as u32;
    let range = Span { start: at, end: (at + 200).min(length as u32) };
    let range = Span { end: boundary(range.end as usize).unwrap_or(0) as u32, ..range };
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        file.diagnostics(),
        file.symbols(),
        file.folds(),
        file.highlights(whole),
        file.highlights(range),
        file.format(),
        file.hints(range),
        (file.hover(at), file.definition(at), file.references(at), file.selections(at)),
        file.completions(at),
        file.signature(at),
        file.rename(at, "new"),
        file.actions(range),
        file.reproducer(range),
        (file.function_at(at), file.incoming_calls(at), file.outgoing_calls(at)),
        file.lenses(),
    )
}

/// The characters in and around `length` bytes.
fn whole_characters(text: &str, start: usize, length: usize) -> Span {
    let (mut start, mut end) = (start, (start + length).min(text.len()));
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    Span { start: start as u32, end: end as u32 }
}

/// Makes edits to a text and compares with a text that was not edited.
fn edit_at_random(path: &Path, edits: usize, seed: u64) {
    let Ok(text) = std::fs::read_to_string(path) else { return };
    if text.len() > 20_000 {
        return;
    }
    let mut random = Random(seed);
    let mut file = File::new("test.mlir", text);
    for number in 0..edits {
        let text = file.text();
        let start = random.next(text.len() + 1);
        let replaced = match random.next(8) {
            0..4 => 0,
            7 => random.next(600),
            _ => random.next(30),
        };
        let span = whole_characters(text, start, replaced);
        // Nothing, what is typed, or a part of the text that is pasted.
        let new = match random.next(6) {
            0 | 1 => String::new(),
            2 => {
                let start = random.next(text.len() + 1);
                let Span { start, end } = whole_characters(text, start, random.next(400));
                text[start as usize..end as usize].to_string()
            }
            _ => TYPED[random.next(TYPED.len())].to_string(),
        };
        assert!(file.edit(&Edit::replace(span, &*new)));
        let fresh = File::new("test.mlir", file.text());
        let place = random.0;
        let found = everything(&file, &mut Random(place));
        let expected = everything(&fresh, &mut Random(place));
        assert!(found == expected, "{} edit {number}:\n{}", path.display(), file.text());
    }
}

/// The number of edits of all texts: more with the environment variable `IDE_EDITS`.
fn edits() -> usize {
    std::env::var("IDE_EDITS").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

#[test]
fn edits_at_random() {
    let run = || {
        let tests = tests();
        let (edits, each) = (edits(), 5);
        for number in 0..edits / each {
            let path = &tests[number * 37 % tests.len()];
            edit_at_random(path, each, number as u64 * 7919 + 1);
        }
    };
    stablo::with_large_stack(run);
}

#[test]
fn everything_of_all_tests() {
    let run = || {
        for (number, path) in tests().iter().enumerate().step_by(4) {
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            if text.len() < 20_000 {
                let file = File::new("test.mlir", text);
                everything(&file, &mut Random(number as u64 + 1));
            }
        }
    };
    stablo::with_large_stack(run);
}

#[test]
fn formatting_changes_no_token() {
    for path in tests() {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let file = File::new("test.mlir", text);
        let formatted = crate::edited(&file, &file.format());
        let words = |text: &str| -> Vec<String> {
            let tokens = stablo::syntax::tokens(text);
            tokens.map(|t| text[t.span.start as usize..t.span.end as usize].to_string()).collect()
        };
        assert_eq!(words(file.text()), words(&formatted), "{}", path.display());
        let again = File::new("test.mlir", &*formatted);
        assert_eq!(crate::edited(&again, &again.format()), formatted, "{}", path.display());
    }
}

#[test]
fn the_gallery_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/gallery");
    let mut found = Vec::new();
    programs(&folder, &mut found);
    assert_eq!(found.len(), 10);
    for path in found {
        let file = File::new("gallery.mlir", std::fs::read_to_string(&path).expect("a file"));
        let findings = file.diagnostics();
        let is_error = |f: &&ide::Finding| f.severity == ide::Severity::Error;
        assert!(findings.iter().find(is_error).is_none(), "{}: {findings:?}", path.display());
        assert!(file.format().is_empty(), "{} is not formatted", path.display());
    }
}
