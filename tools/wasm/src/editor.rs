//! The interface to an editor in a page: requests and answers in JSON, about one text.

use ide::{CompletionKind, Edit, File, Severity, Span};
use serde_json::{Value, json};
use std::cell::RefCell;

thread_local! {
    /// The text that is edited.
    static FILE: RefCell<File> = RefCell::new(File::new("program.mlir", ""));
}

/// Answers a request, an object with the `method` and its parameters: `{"ok": …}`, or
/// `{"error": message}`. Offsets are bytes of UTF-8.
pub fn answer(request: &[u8]) -> String {
    let answer = match serde_json::from_slice::<Value>(request) {
        Ok(request) => dispatch(&request),
        Err(error) => Err(error.to_string()),
    };
    match answer {
        Ok(value) => json!({"ok": value}),
        Err(error) => json!({"error": error}),
    }
    .to_string()
}

fn dispatch(request: &Value) -> Result<Value, String> {
    let number = |name: &str| request[name].as_u64().unwrap_or_default() as u32;
    let text = |name: &str| request[name].as_str().unwrap_or_default();
    let function = request["function"].as_str().unwrap_or("main");
    let failed = |error: stablo::Error| error.to_string();
    FILE.with_borrow_mut(|file| match text("method") {
        "set" => {
            file.set_text(text("text"));
            Ok(Value::Null)
        }
        "edit" => {
            let span = Span { start: number("start"), end: number("end") };
            Ok(json!(file.edit(&Edit::replace(span, text("text")))))
        }
        "diagnostics" => Ok(file.diagnostics().iter().map(diagnostic).collect()),
        "highlights" => {
            let all = file.highlights(Span { start: 0, end: file.text().len() as u32 });
            let number = |h: ide::Highlight| [h.span.start, h.span.end, h.kind.number()];
            Ok(json!(all.into_iter().map(number).collect::<Vec<_>>()))
        }
        "hover" => Ok(match file.hover(number("at")) {
            Some(hover) => json!({"start": hover.span.start, "end": hover.span.end, "text": hover.text}),
            None => Value::Null,
        }),
        "complete" => {
            let found = file.completions(number("at"));
            let item = |item: ide::Completion| {
                json!({
                    "label": item.label,
                    "detail": item.detail,
                    "kind": kind(item.kind),
                    "start": item.replace.start,
                    "end": item.replace.end,
                    "snippet": item.snippet,
                })
            };
            Ok(found.items.into_iter().take(100).map(item).collect())
        }
        "definition" => Ok(match file.definition(number("at")) {
            Some(found) => json!([found.name.start, found.name.end]),
            None => Value::Null,
        }),
        "references" => {
            let all = file.references(number("at")).into_iter();
            Ok(all.map(|r| json!([r.name.start, r.name.end])).collect())
        }
        "rename" => {
            let edits = file.rename(number("at"), text("name")).map_err(|error| error.to_string())?;
            Ok(edits.iter().map(edit).collect())
        }
        "format" => Ok(file.format().iter().map(edit).collect()),
        "functions" => {
            let lenses = file.lenses().into_iter();
            let mut names: Vec<String> = lenses.map(|lens| lens.function).collect();
            names.dedup();
            Ok(json!(names))
        }
        "signature" => {
            let module = file.program(0).map_err(failed)?;
            let function = stablo::entry_function(&module, function).map_err(failed)?;
            let ty = function.0.attr("function_type").and_then(|ty| ty.as_type());
            let (inputs, results) = ty.and_then(|ty| ty.as_function()).unwrap_or_default();
            let list = |types: &[stablo::Type]| -> Vec<String> {
                types.iter().map(ToString::to_string).collect()
            };
            Ok(json!({"inputs": list(inputs), "results": list(results)}))
        }
        "cost" => file.cost(0, function).map(Value::from).map_err(failed),
        "graph" => file.graph(0).map(Value::from).map_err(failed),
        "transform" => file.transformed(0, text("pipeline")).map(Value::from).map_err(failed),
        "refine" => {
            let mut options = stablo::RefineOptions::default();
            options.batch = request["batch"].as_i64();
            file.refined(0, function, &options).map(Value::from).map_err(failed)
        }
        "artifact" => file.artifact(0, text("target")).map(Value::from).map_err(failed),
        "open" => {
            let bytes: Vec<u8> = request["bytes"].as_array().map_or(Vec::new(), |bytes| {
                bytes.iter().map(|byte| byte.as_u64().unwrap_or_default() as u8).collect()
            });
            let opened = ide::Opened::read(text("name"), &bytes).map_err(|error| error.to_string())?;
            Ok(json!({"text": opened.text, "format": opened.format}))
        }
        method => Err(format!("there is no method {method}")),
    })
}

fn edit(edit: &Edit) -> Value {
    json!({"start": edit.span.start, "end": edit.span.end, "text": edit.text})
}

fn diagnostic(finding: &ide::Finding) -> Value {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning if finding.is_unnecessary => "hint",
        Severity::Warning => "warning",
        Severity::Remark | Severity::Note | Severity::Help => "info",
    };
    let fixes = finding.fixes.iter();
    let fixes = fixes.map(|fix| json!({"title": fix.title, "edits": fix.edits.iter().map(edit).collect::<Vec<_>>()}));
    json!({
        "start": finding.span.start,
        "end": finding.span.end,
        "severity": severity,
        "label": finding.label,
        "message": finding.message,
        "fixes": fixes.collect::<Vec<_>>(),
    })
}

fn kind(kind: CompletionKind) -> &'static str {
    match kind {
        CompletionKind::Op => "op",
        CompletionKind::Value => "value",
        CompletionKind::Symbol => "symbol",
        CompletionKind::Block => "block",
        CompletionKind::Alias => "alias",
        CompletionKind::Attribute => "attribute",
        CompletionKind::Case => "case",
        CompletionKind::Type => "type",
        CompletionKind::Keyword => "keyword",
    }
}
