//! Counts names of types that are defined more than once in the workspace: a reader who searches
//! for one finds the others. `cargo xtask names` lists them; a test holds their number below a
//! ceiling.

use std::collections::BTreeMap;
use std::path::Path;

/// The words that begin the definition of a type.
const KEYWORDS: [&str; 4] = ["struct", "enum", "union", "trait"];

/// The type that a line at the top level of a module defines, whatever its visibility.
fn defined(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let (keyword, rest) = line.split_once(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let is_type = rest.starts_with(char::is_uppercase) && KEYWORDS.contains(&keyword);
    is_type.then(|| &rest[..end])
}

/// The files that define each type.
type Definitions = BTreeMap<String, Vec<String>>;

fn add_files(folder: &Path, root: &Path, definitions: &mut Definitions) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_files(&path, root, definitions);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            for name in text.lines().filter_map(defined) {
                definitions.entry(name.to_owned()).or_default().push(file.clone());
            }
        }
    }
}

/// The types that several files of the crates' sources define, with these.
fn repeated() -> Definitions {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut definitions = Definitions::new();
    for entry in std::fs::read_dir(&crates).into_iter().flatten().flatten() {
        add_files(&entry.path().join("src"), &crates, &mut definitions);
    }
    definitions.retain(|_, files| files.len() > 1);
    definitions
}

/// Prints the names of types that are defined more than once, the most frequent first.
pub(crate) fn print() {
    let repeated = repeated();
    let mut listed: Vec<_> = repeated.iter().collect();
    listed.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
    println!("{} names of types are defined more than once", listed.len());
    for (name, files) in listed {
        println!("{:4} {name}: {}", files.len(), files.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most names that may be defined more than once. Lower it as types get longer names, and
    /// do not raise it: the aim is 40.
    const CEILING: usize = 38;

    #[test]
    fn few_names_of_types_are_repeated() {
        let count = repeated().len();
        assert!(count <= CEILING, "{count} names, more than {CEILING}: `cargo xtask names`");
    }

    #[test]
    fn definitions_are_found() {
        let found = |line| defined(line);
        assert_eq!(found("pub struct Plan<'a> {"), Some("Plan"));
        assert_eq!(found("pub(crate) enum Storage {"), Some("Storage"));
        assert_eq!(found("trait Fuel: Sized {"), Some("Fuel"));
        assert_eq!(found("    struct Inner;"), None);
        assert_eq!(found("// struct Comment"), None);
        assert_eq!(found("impl Plan {"), None);
    }
}
