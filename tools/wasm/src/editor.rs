//! The interface to an editor in a page: requests and answers in JSON, about one text.

use crate::push_tensor;
use ide::{CompletionKind, Edit, File, Severity, Span};
use serde_json::{Value, json};
use std::cell::RefCell;

thread_local! {
    /// The text that is edited.
    static FILE: RefCell<File> = RefCell::new(File::new("program.mlir", ""));
}

/// Answers a request, an object with the `method` and its parameters, and maybe bytes: `{"ok": …}`,
/// or `{"error": message}`, and maybe bytes. Offsets are bytes of UTF-8.
pub fn answer(request: &[u8], payload: &[u8]) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    let answer = match serde_json::from_slice::<Value>(request) {
        Ok(request) => FILE.with_borrow_mut(|file| {
            let method = request["method"].as_str().unwrap_or_default();
            match language(file, method, &request) {
                Some(answer) => answer,
                None => program(file, method, &request, payload, &mut bytes),
            }
        }),
        Err(error) => Err(error.to_string()),
    };
    let answer = match answer {
        Ok(value) => json!({"ok": value}),
        Err(error) => json!({"error": error}),
    };
    (answer.to_string(), bytes)
}

fn number(request: &Value, name: &str) -> u32 {
    request[name].as_u64().unwrap_or_default() as u32
}

fn text<'r>(request: &'r Value, name: &str) -> &'r str {
    request[name].as_str().unwrap_or_default()
}

/// Answers what is about the language; `None` for other methods.
fn language(file: &mut File, method: &str, request: &Value) -> Option<Result<Value, String>> {
    let at = number(request, "at");
    Some(Ok(match method {
        "set" => {
            file.set_text(text(request, "text"));
            Value::Null
        }
        "edit" => {
            let span = Span { start: number(request, "start"), end: number(request, "end") };
            json!(file.edit(&Edit::replace(span, text(request, "text"))))
        }
        "diagnostics" => file.diagnostics().iter().map(diagnostic).collect(),
        "highlights" => {
            let all = file.highlights(Span { start: 0, end: file.text().len() as u32 });
            let number = |h: ide::Highlight| [h.span.start, h.span.end, h.kind.number()];
            json!(all.into_iter().map(number).collect::<Vec<_>>())
        }
        "hover" => match file.hover(at) {
            Some(hover) => {
                json!({"start": hover.span.start, "end": hover.span.end, "text": hover.text})
            }
            None => Value::Null,
        },
        "complete" => {
            let found = file.completions(at);
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
            found.items.into_iter().take(100).map(item).collect()
        }
        "signature_help" => match file.signature(at) {
            Some(found) => {
                let part = |(range, doc): &(std::ops::Range<u32>, String)| {
                    json!([range.start, range.end, doc])
                };
                let parts: Vec<Value> = found.parameters.iter().map(part).collect();
                json!({"label": found.label, "parameters": parts, "active": found.active})
            }
            None => Value::Null,
        },
        "definition" => match file.definition(at) {
            Some(found) => json!([found.name.start, found.name.end]),
            None => Value::Null,
        },
        "references" => {
            let all = file.references(at).into_iter();
            all.map(|r| json!([r.name.start, r.name.end, r.is_definition])).collect()
        }
        "rename" => match file.rename(at, text(request, "name")) {
            Ok(edits) => edits.iter().map(edit).collect(),
            Err(error) => return Some(Err(error.to_string())),
        },
        "format" => file.format().iter().map(edit).collect(),
        "actions" => {
            let range = Span { start: at, end: number(request, "end").max(at) };
            let action = |action: &ide::Action| {
                let edits: Vec<Value> = action.edits.iter().map(edit).collect();
                json!({"title": action.title, "edits": edits, "file": action.file})
            };
            file.actions(range).iter().map(action).collect()
        }
        _ => return None,
    }))
}

/// Answers what is about the program as a whole.
fn program(
    file: &File,
    method: &str,
    request: &Value,
    payload: &[u8],
    bytes: &mut Vec<u8>,
) -> Result<Value, String> {
    let function = request["function"].as_str().unwrap_or("main");
    let failed = |error: stablo::Error| error.to_string();
    match method {
        "signature" => {
            let module = file.program(0).map_err(failed)?;
            let function = stablo::entry_function(&module, function).map_err(failed)?;
            let ty = function.0.attr("function_type").and_then(|ty| ty.as_type());
            let (inputs, results) = ty.and_then(|ty| ty.as_function()).unwrap_or_default();
            let list = |types: &[stablo::Type]| -> Vec<String> {
                types.iter().map(ToString::to_string).collect()
            };
            let names = stablo::ArgumentNames::of(function);
            let names: Vec<&str> =
                (0..inputs.len()).map(|index| names.get(index).unwrap_or_default()).collect();
            Ok(json!({"inputs": list(inputs), "results": list(results), "names": names}))
        }
        "random" => {
            let module = file.program(0).map_err(failed)?;
            let entry = stablo::entry_function(&module, function).map_err(failed)?;
            let inputs = stablo::random_inputs(entry.signature().0, number(request, "seed"));
            for value in inputs.map_err(failed)? {
                push_tensor(bytes, value.tensor().map_err(|error| error.to_string())?);
            }
            Ok(Value::Null)
        }
        "trace" => {
            let inputs = crate::values(payload).map_err(failed)?;
            let trace = file.trace(0, function, Ok(inputs)).map_err(failed)?;
            let step = |step: &ide::Step| {
                push_tensor(bytes, &step.tensor);
                json!({
                    "start": step.span.start,
                    "end": step.span.end,
                    "op": step.op,
                    "name": step.name,
                    "type": step.ty.to_string(),
                    "depth": step.depth,
                })
            };
            let steps: Vec<Value> = trace.steps.iter().map(step).collect();
            Ok(json!({"steps": steps, "is_cut": trace.is_cut}))
        }
        "cost" => file.cost(0, function).map(Value::from).map_err(failed),
        // The page is a file of the playground.
        "graph" => file.graph_model(0).map(Value::from).map_err(failed),
        "passes" => Ok(stablo::passes::all().iter().map(|pass| pass.name).collect()),
        "transform" => file.transformed(0, text(request, "pipeline")).map(Value::from).map_err(failed),
        "refine" => {
            let mut options = stablo::RefineOptions::default();
            options.batch = request["batch"].as_i64();
            let sizes = request["dimensions"].as_object().into_iter().flatten();
            options.dimensions =
                sizes.filter_map(|(name, size)| Some((name.clone(), size.as_i64()?))).collect();
            if let Some(types) = request["types"].as_str() {
                options.input_types = Some(stablo::parse_types(types).map_err(failed)?);
            }
            file.refined(0, function, &options).map(Value::from).map_err(failed)
        }
        "artifact" => {
            *bytes = file.artifact(0, text(request, "target")).map_err(failed)?;
            Ok(Value::Null)
        }
        "bytecode" => {
            let module = file.program(0).map_err(failed)?;
            let options = stablo::BytecodeOptions::default();
            *bytes = stablo::write_bytecode(&module, &options).map_err(failed)?;
            Ok(Value::Null)
        }
        "open" => {
            let opened = ide::Opened::read(text(request, "name"), payload);
            let opened = opened.map_err(|error| error.to_string())?;
            Ok(json!({"text": opened.text, "format": opened.format}))
        }
        method => Err(format!("there is no method {method}")),
    }
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
