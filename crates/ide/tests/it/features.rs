//! The table of features and mistakes, `features.txt`: what the library answers.

use ide::{Edit, File, LensKind, Severity, Span};

/// An entry of the table.
struct Entry {
    name: String,
    request: String,
    file: File,
    at: u32,
    expected: Vec<String>,
}

fn entries() -> Vec<Entry> {
    let table = include_str!("../features.txt");
    let entry = |text: &str| {
        let mut lines = text.lines();
        let name = lines.next().expect("a name").to_string();
        let request = lines.next().expect("a request").to_string();
        let (mut program, mut expected) = (String::new(), Vec::new());
        for line in lines {
            match line.strip_prefix("--- ") {
                Some(line) => expected.push(line.to_string()),
                None if expected.is_empty() => {
                    program.push_str(&line.replace('␍', "\r"));
                    program.push('\n');
                }
                None => {}
            }
        }
        let at = program.find("$0").unwrap_or_else(|| panic!("{name}: no cursor")) as u32;
        let file = File::new("test.mlir", program.replacen("$0", "", 1));
        Entry { name, request, file, at, expected }
    };
    table.split("\n=== ").skip(1).map(entry).collect()
}

/// Line and column in characters, from 1.
fn place(file: &File, at: u32) -> String {
    let before = &file.text()[..at as usize];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    format!("{}:{}", before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

fn symbols(symbols: &[ide::Symbol], depth: usize, lines: &mut Vec<String>) {
    for symbol in symbols {
        lines.push(format!("{}{}", "  ".repeat(depth), symbol.name));
        self::symbols(&symbol.children, depth + 1, lines);
    }
}

fn lines(all: impl IntoIterator<Item = String>) -> String {
    all.into_iter().collect::<Vec<_>>().join("\n")
}

impl Entry {
    fn edited(&self, edits: &[Edit]) -> String {
        crate::edited(&self.file, edits)
    }

    /// The answer to the request as text.
    fn answer(&self) -> String {
        let Entry { file, at, .. } = self;
        let (request, argument) = self.request.split_once(' ').unwrap_or((&self.request, ""));
        let at = *at;
        let whole = Span { start: 0, end: file.text().len() as u32 };
        let here = Span { start: at, end: at };
        match request {
            "hover" => file.hover(at).map_or(String::new(), |hover| hover.text),
            "complete" => lines(file.completions(at).items.into_iter().map(|item| item.label)),
            "signature" => file.signature(at).map_or(String::new(), |signature| {
                format!("{}\nactive {}", signature.label, signature.active)
            }),
            "definition" => {
                file.definition(at).map_or(String::new(), |found| place(file, found.name.start))
            }
            "references" => {
                lines(file.references(at).iter().map(|found| place(file, found.name.start)))
            }
            "rename" => match file.rename(at, argument) {
                Ok(edits) => self.edited(&edits),
                Err(error) => format!("error: {error}"),
            },
            "symbols" => {
                let mut all = Vec::new();
                symbols(&file.symbols(), 0, &mut all);
                lines(all)
            }
            "folds" => lines(file.folds().iter().map(|fold| {
                let line = |at| place(file, at).split(':').next().unwrap_or_default().to_string();
                format!("{}-{}", line(fold.span.start), line(fold.span.end))
            })),
            "selections" => lines(
                file.selections(at)
                    .iter()
                    .map(|span| format!("{}-{}", place(file, span.start), place(file, span.end))),
            ),
            "hints" => lines(
                file.hints(whole)
                    .iter()
                    .map(|hint| format!("{} {}", place(file, hint.at), hint.text)),
            ),
            "lenses" => lines(file.lenses().iter().map(|lens| match lens.kind {
                LensKind::Run => "Run".to_string(),
                LensKind::Trace => "Trace".to_string(),
                LensKind::Cost => "Cost".to_string(),
                LensKind::Graph => "Graph".to_string(),
                LensKind::Refine => "Refine".to_string(),
                LensKind::References(count) => stablo::counted(count as u64, "reference"),
            })),
            "format" => self.edited(&file.format()),
            "incoming" => lines(file.incoming_calls(at).into_iter().map(|call| call.name)),
            "outgoing" => lines(file.outgoing_calls(at).into_iter().map(|call| call.name)),
            "errors" => lines(file.diagnostics().iter().map(|finding| {
                format!(
                    "{} {}: {}",
                    place(file, finding.span.start),
                    finding.label,
                    finding.message
                )
            })),
            "fix" => {
                let findings = file.diagnostics();
                let near = findings.iter().filter(|f| f.span.start <= at && at <= f.span.end);
                let mut fixes = near.flat_map(|finding| &finding.fixes);
                match fixes.clone().find(|fix| fix.title == argument) {
                    Some(fix) => self.edited(&fix.edits),
                    None => {
                        lines(fixes.by_ref().map(|fix| format!("not asked for: {}", fix.title)))
                    }
                }
            }
            "action" => {
                let actions = file.actions(here);
                match actions.iter().find(|action| action.title.starts_with(argument)) {
                    Some(action) => self.edited(&action.edits),
                    None => lines(
                        actions.iter().map(|action| format!("not asked for: {}", action.title)),
                    ),
                }
            }
            "command" => {
                let options = stablo::RefineOptions::default().batch(3);
                let result = match argument {
                    "run" => file.run(at, "main", 0),
                    "trace" => file.traced(at, "main", 0),
                    "cost" => file.cost(at, "main"),
                    "graph" => file.graph(at),
                    "model" => file.graph_model(at),
                    "refine" => file.refined(at, "main", &options),
                    "transform" => file.transformed(at, "cse"),
                    "reproducer" => Ok(file.reproducer(here).unwrap_or_default()),
                    other => panic!("there is no command {other}"),
                };
                result.unwrap_or_else(|error| format!("error: {error}"))
            }
            other => panic!("there is no request {other}"),
        }
    }
}

#[test]
fn features_and_mistakes() {
    let entries = entries();
    assert!(entries.len() >= 100, "{}", entries.len());
    let mut failures = Vec::new();
    for entry in &entries {
        let answer = entry.answer();
        for line in &entry.expected {
            let (wanted, text) = match line.strip_prefix("! ") {
                Some(text) => (false, text),
                None => (true, &**line),
            };
            if answer.contains(text) != wanted {
                failures.push(format!("{}: {line}\n  in: {answer}", entry.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn fixes_of_entries_leave_no_error() {
    for entry in entries().iter().filter(|entry| entry.request.starts_with("fix ")) {
        let fixed = File::new("fixed.mlir", entry.answer());
        let errors = fixed.diagnostics().into_iter().filter(|f| f.severity == Severity::Error);
        // A type that is mended has uses, which are mended after it.
        let left: Vec<_> = errors.filter(|f| !f.message.contains("is used as")).collect();
        assert!(left.is_empty(), "{}: {left:?}\n{}", entry.name, fixed.text());
    }
}
