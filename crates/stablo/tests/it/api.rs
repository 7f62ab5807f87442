//! The public interface of the library: `api.txt` lists it, so that a change of it is seen. Sources
//! are formatted, which makes their lines enough to find what is public.

use std::fmt::Write;
use std::path::Path;

/// The public items of a source file, one a line: those of modules, `impl` blocks, structures,
/// traits and enumerations.
fn items(source: &str) -> Vec<String> {
    let mut items = Vec::new();
    // The `impl`, type or trait that indented lines belong to, and if all of them are public.
    let mut context = (String::new(), false);
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        let is_item = text.starts_with("pub ") || depth == 0 && text.starts_with("impl");
        let is_part = depth == 4 && context.1 && is_part(text);
        if depth > 4 || !is_item && !is_part {
            if line == "}" {
                context = Default::default();
            }
            continue;
        }
        // The declaration: up to its body, or its end.
        let mut item = text.to_owned();
        while !item.ends_with(['{', ';', '}', ','])
            || item.matches('(').count() > item.matches(')').count()
        {
            let Some(next) = lines.next() else { break };
            write!(item, " {}", next.trim()).expect("a string takes all");
        }
        let is_use = item.starts_with("pub use ");
        while is_use && !item.ends_with(';') {
            let Some(next) = lines.next() else { break };
            write!(item, " {}", next.trim()).expect("a string takes all");
        }
        if depth == 0 && !is_use {
            let head = item.trim_end_matches(['{', ';', ' ', '}']).to_owned();
            let all = head.starts_with("pub enum ") || head.starts_with("pub trait ");
            context = (head, all);
            if text.starts_with("impl") {
                continue;
            }
        }
        if is_use {
            items.extend(names(&item));
        } else {
            let item = item.trim_end_matches(['{', ';', ',', ' ']).replace("( ", "(");
            let item = item.replace(", )", ")").replace("{}", "").trim_end().to_owned();
            items.push(if depth == 0 { item } else { format!("{}: {item}", context.0) });
        }
    }
    items
}

/// True if an indented line begins a variant of an enumeration or a function of a trait.
fn is_part(text: &str) -> bool {
    text.starts_with("fn ") || text.starts_with("const ") || text.starts_with(char::is_uppercase)
}

/// The items that a `pub use` names, one a line.
fn names(text: &str) -> Vec<String> {
    let path = text.trim_start_matches("pub use ").trim_end_matches(';');
    match path.split_once('{') {
        None => vec![format!("use {path}")],
        Some((base, names)) => {
            let names = names.trim_end_matches('}').split(',').map(str::trim);
            names.filter(|name| !name.is_empty()).map(|name| format!("use {base}{name}")).collect()
        }
    }
}

/// The interface by files.
fn interface() -> String {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths: Vec<_> = std::fs::read_dir(sources)
        .expect("the sources")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    let mut text = String::from(
        "The public interface, as lines of the sources declare it; `cargo xtask docs` writes this \
         file. Items of `use` are of crates below.\n",
    );
    for path in paths {
        let source = std::fs::read_to_string(&path).expect("a source file");
        let items = items(&source);
        if !items.is_empty() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            write!(text, "\n{name}\n").expect("a string takes all");
            for item in items {
                writeln!(text, "  {item}").expect("a string takes all");
            }
        }
    }
    text
}

#[test]
fn api_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("api.txt");
    let text = interface();
    if std::env::var_os("STABLO_BLESS").is_some() {
        std::fs::write(&path, &text).expect("the file is written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "the public interface has changed: `cargo xtask docs` writes crates/stablo/api.txt anew"
    );
}

#[test]
fn items_are_found() {
    let source = "\
pub use below::{A, B};
pub use numerics;
/// A type.
pub struct Point {
    /// Seen.
    pub x: f32,
    hidden: f32,
}

impl Point {
    /// A function.
    pub fn new(
        x: f32,
        y: f32,
    ) -> Point {
        Point { x, hidden: y }
    }

    fn own(&self) {}
}

pub enum Kind {
    /// One.
    One,
    Two(u8),
}

pub(crate) fn inner() {}

pub fn outer() -> Kind {
    Kind::One
}
";
    let expected = [
        "use below::A",
        "use below::B",
        "use numerics",
        "pub struct Point",
        "pub struct Point: pub x: f32",
        "impl Point: pub fn new(x: f32, y: f32) -> Point",
        "pub enum Kind",
        "pub enum Kind: One",
        "pub enum Kind: Two(u8)",
        "pub fn outer() -> Kind",
    ];
    assert_eq!(items(source), expected);
}
