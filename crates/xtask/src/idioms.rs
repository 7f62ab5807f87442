//! Counts idioms in comments, by crate: phrases that make a reader stop where the field has a word,
//! and documentation that goes on with the sentence of the item before. `cargo xtask idioms` prints
//! them; a test holds each crate below its ceiling.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The phrases, as words in lower case.
const PHRASES: [&str; 28] = [
    "those",
    "so many",
    "so much",
    "so few",
    "so far",
    "in place of",
    "in the place of",
    "into the place of",
    "in its place",
    "in their place",
    "there is none",
    "there are none",
    "there is no other",
    "there is no more",
    "there are no more",
    "if there is one",
    "if there are some",
    "none if",
    "its own",
    "their own",
    "as many",
    "as few",
    "one after the other",
    "one after another",
    "each other",
    "such a",
    "nobody",
    "somebody",
];

/// The counts of a crate.
#[derive(Default)]
pub(crate) struct CrateCount {
    /// Lines of comments.
    lines: usize,
    /// Phrases by number.
    phrases: BTreeMap<usize, usize>,
    /// Documentation that begins within a sentence.
    continued: usize,
}

impl CrateCount {
    /// Idioms in 1,000 lines of comments, rounded up.
    fn rate(&self) -> usize {
        let idioms = self.phrases.values().sum::<usize>() + self.continued;
        (1000 * idioms).div_ceil(self.lines.max(1))
    }

    /// Counts the comments of a source file.
    fn add(&mut self, source: &str) {
        let mut text = Vec::new();
        let mut in_documentation = false;
        for line in source.lines() {
            let line = line.trim_start();
            let Some(comment) = line.strip_prefix("//") else {
                self.add_phrases(&std::mem::take(&mut text));
                in_documentation = false;
                continue;
            };
            self.lines += 1;
            let documentation = comment.strip_prefix('/');
            if !in_documentation && documentation.is_some_and(continues) {
                self.continued += 1;
            }
            in_documentation = documentation.is_some();
            // Code, between backquotes, is a word that no phrase has.
            for (nth, part) in comment.split('`').enumerate() {
                let words = if nth % 2 == 1 { "0" } else { part };
                let words = words.split(|c: char| !c.is_alphanumeric() && c != '\'');
                text.extend(words.filter(|word| !word.is_empty()).map(str::to_lowercase));
            }
        }
        self.add_phrases(&text);
    }

    /// Counts phrases in the words of a comment.
    fn add_phrases(&mut self, words: &[String]) {
        for (number, phrase) in PHRASES.iter().enumerate() {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            let found = words.windows(phrase.len()).filter(|words| *words == phrase).count();
            *self.phrases.entry(number).or_default() += found;
        }
    }
}

/// True if documentation begins with a word in lower case. Formulas do not count.
fn continues(first_line: &str) -> bool {
    let word = first_line.split_whitespace().next().unwrap_or_default().trim_end_matches(',');
    word.chars().all(char::is_alphabetic)
        && word.starts_with(char::is_lowercase)
        && !first_line.contains(" = ")
}

fn add_files(folder: &Path, count: &mut CrateCount) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_files(&path, count);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            count.add(&std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

/// The counts of all crates by their folders.
fn counts() -> BTreeMap<String, CrateCount> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut counts = BTreeMap::new();
    for entry in std::fs::read_dir(crates).into_iter().flatten().flatten() {
        let mut count = CrateCount::default();
        add_files(&entry.path().join("src"), &mut count);
        if count.lines > 0 {
            counts.insert(entry.file_name().to_string_lossy().into_owned(), count);
        }
    }
    counts
}

/// Prints the rate of each crate, and its most frequent idioms.
pub(crate) fn print() {
    println!("idioms in 1,000 lines of comments");
    for (name, count) in counts() {
        let phrases = count.phrases.iter().map(|(&number, &found)| (found, PHRASES[number]));
        let mut found: Vec<(usize, &str)> = phrases.collect();
        found.push((count.continued, "(continued)"));
        found.sort_by_key(|&(found, phrase)| (std::cmp::Reverse(found), phrase));
        let most = found.iter().filter(|(found, _)| *found > 0).take(5);
        let most: Vec<String> = most.map(|(found, phrase)| format!("{found} {phrase}")).collect();
        println!("{name:14} {:4} of {:5}: {}", count.rate(), count.lines, most.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most that each crate may have; others may have [`OTHERS`]. Lower them
    /// as comments are rewritten, and raise none: the aim is [`OTHERS`] for all.
    const CEILINGS: [(&str, usize); 3] = [("generate", 40), ("hlo", 35), ("side-dialects", 35)];

    /// The most that a crate may have that is not listed.
    const OTHERS: usize = 30;

    #[test]
    fn crates_are_below_their_ceilings() {
        let mut wrong = Vec::new();
        for (name, count) in counts() {
            let listed = CEILINGS.iter().find(|(listed, _)| *listed == name);
            let (ceiling, rate) = (listed.map_or(OTHERS, |(_, ceiling)| *ceiling), count.rate());
            if rate > ceiling {
                wrong.push(format!("{name} has {rate} idioms in 1,000 lines, more than {ceiling}"));
            }
        }
        assert!(wrong.is_empty(), "`cargo xtask idioms` shows them:\n{}", wrong.join("\n"));
    }

    #[test]
    fn idioms_are_counted() {
        let mut count = CrateCount::default();
        count.add(
            "//! Those of a\n//! file, in the\n//! place of others.\n\n/// and their own.\nlet x = \
             those; // no comment of a line\n    // Such a one.\n    /// `None` if, none `if`\n",
        );
        let found: Vec<_> = count
            .phrases
            .iter()
            .filter(|(_, found)| **found > 0)
            .map(|(&n, _)| PHRASES[n])
            .collect();
        assert_eq!(found, ["those", "in the place of", "their own", "such a"]);
        assert_eq!((count.lines, count.continued, count.rate()), (6, 1, 834));
    }
}
