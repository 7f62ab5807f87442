//! Code lenses, commands, and programs in bytecode.

use crate::handlers::Found;
use crate::server::Server;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ide::{LensKind, Opened, Span};
use ls_types as types;
use ls_types::Uri;
use lsp_server::{ErrorCode, Notification};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The commands that `workspace/executeCommand` takes. Each has one argument, an object with `uri`,
/// `position` and, where it is about a function, `function`; the result is an object with `text`
/// or, for artifacts, `data` in base 64.
pub(crate) const COMMANDS: [&str; 9] = [
    "stablo.run",
    "stablo.trace",
    "stablo.cost",
    "stablo.graph",
    "stablo.refine",
    "stablo.convert",
    "stablo.transform",
    "stablo.reproducer",
    "stablo.showReferences",
];

/// The argument of a command.
#[derive(Deserialize)]
struct Argument {
    uri: Uri,
    #[serde(default)]
    position: types::Position,
    #[serde(default)]
    range: Option<types::Range>,
    #[serde(default)]
    function: Option<String>,
    /// Of `stablo.run` and `stablo.trace`: what random inputs follow from.
    #[serde(default)]
    seed: u32,
    /// Of `stablo.refine`: the size of the first dimensions.
    #[serde(default)]
    batch: Option<i64>,
    /// Of `stablo.refine`: sizes by name.
    #[serde(default)]
    dimensions: std::collections::BTreeMap<String, i64>,
    /// Of `stablo.refine`: the types of the arguments.
    #[serde(default)]
    types: Option<String>,
    /// Of `stablo.convert`: the version.
    #[serde(default)]
    target: Option<String>,
    /// Of `stablo.transform`: the passes.
    #[serde(default)]
    pipeline: Option<String>,
}

/// Commands above functions.
pub(crate) fn lenses(
    server: &Server,
    params: types::CodeLensParams,
) -> Found<Vec<types::CodeLens>> {
    let uri = params.text_document.uri;
    let document = server.document(&uri)?;
    let lens = |lens: ide::Lens| {
        let range = document.range(lens.span);
        let (title, command) = match lens.kind {
            LensKind::Run => ("Run".to_string(), "stablo.run"),
            LensKind::Trace => ("Trace".to_string(), "stablo.trace"),
            LensKind::Cost => ("Cost".to_string(), "stablo.cost"),
            LensKind::Graph => ("Graph".to_string(), "stablo.graph"),
            LensKind::Refine => ("Refine".to_string(), "stablo.refine"),
            LensKind::References(count) => {
                (stablo::counted(count as u64, "reference"), "stablo.showReferences")
            }
        };
        let argument = json!({"uri": uri, "position": range.start, "function": lens.function});
        types::CodeLens {
            range,
            command: Some(types::Command {
                title,
                command: command.to_string(),
                arguments: Some(vec![argument]),
            }),
            data: None,
        }
    };
    Ok(document.file.lenses().into_iter().map(lens).collect())
}

/// Executes a command.
pub(crate) fn execute(server: &mut Server, params: types::ExecuteCommandParams) -> Found<Value> {
    let command = params.command.clone();
    let result = result_of(server, params)?;
    if let Some(text) = result["text"].as_str().filter(|_| !server.client.panels) {
        server.show(&command, text);
    }
    Ok(result)
}

impl Server {
    /// Shows the result of a command in a client that does not do so by itself: as a file, or as a
    /// message.
    fn show(&mut self, command: &str, text: &str) {
        const MAX_MESSAGE: usize = 2000;
        let name = command.trim_start_matches("stablo.");
        let end = match command {
            "stablo.graph" => "html",
            "stablo.run" | "stablo.trace" | "stablo.cost" => "txt",
            _ => "mlir",
        };
        let saved =
            self.client.show_document.then(|| self.save_result(&format!("{name}.{end}"), text));
        match saved.flatten() {
            Some(uri) => {
                let params = json!({"uri": uri, "external": end == "html", "takeFocus": true});
                self.ask("window/showDocument", params);
            }
            None if end == "html" => {}
            None => {
                let cut = text.char_indices().nth(MAX_MESSAGE).map_or(text, |(at, _)| &text[..at]);
                let params = json!({"type": 3, "message": cut});
                self.send(Notification::new("window/showMessage".into(), params).into());
            }
        }
    }

    /// Writes a text into the folder of results, which no other process has.
    fn save_result(&mut self, name: &str, text: &str) -> Option<Uri> {
        if self.results.is_none() {
            let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
            let folder = format!("stablo-lsp-{}-{}", std::process::id(), time.as_nanos());
            let folder = std::env::temp_dir().join(folder);
            std::fs::create_dir(&folder).ok()?;
            self.results = Some(folder);
        }
        let path = self.results.as_ref()?.join(name);
        std::fs::write(&path, text).ok()?;
        Uri::from_file_path(&path)
    }
}

/// The result of a command.
fn result_of(server: &Server, params: types::ExecuteCommandParams) -> Found<Value> {
    let invalid = |message: String| (ErrorCode::InvalidParams, message);
    let argument = params.arguments.into_iter().next().unwrap_or_default();
    let argument: Argument =
        serde_json::from_value(argument).map_err(|error| invalid(error.to_string()))?;
    let document = server.document(&argument.uri)?;
    let file = &document.file;
    let at = document.offset(argument.position);
    let function = argument.function.as_deref().unwrap_or("main");
    let failed = |error: stablo::Error| (ErrorCode::RequestFailed, error.to_string());
    let text = match &*params.command {
        "stablo.run" => file.run(at, function, argument.seed).map_err(failed)?,
        "stablo.trace" => file.traced(at, function, argument.seed).map_err(failed)?,
        "stablo.cost" => file.cost(at, function).map_err(failed)?,
        "stablo.graph" => file.graph(at).map_err(failed)?,
        "stablo.refine" => {
            let mut options = stablo::RefineOptions::default();
            options.batch = argument.batch;
            options.dimensions = argument.dimensions.into_iter().collect();
            if let Some(types) = &argument.types {
                options.input_types = Some(stablo::parse_types(types).map_err(failed)?);
            }
            file.refined(at, function, &options).map_err(failed)?
        }
        "stablo.convert" => {
            let target = argument.target.as_deref().unwrap_or("current");
            let artifact = file.artifact(at, target).map_err(failed)?;
            return Ok(json!({"data": STANDARD.encode(artifact)}));
        }
        "stablo.transform" => {
            let pipeline = argument.pipeline.ok_or_else(|| invalid("no pipeline".to_string()))?;
            file.transformed(at, &pipeline).map_err(failed)?
        }
        "stablo.reproducer" => {
            let whole = Span { start: at, end: at };
            let span =
                argument.range.map_or(whole, |range| document.lines.span(file.text(), range));
            let text = file.reproducer(span);
            text.ok_or_else(|| {
                (ErrorCode::RequestFailed, "select ops of one function".to_string())
            })?
        }
        "stablo.showReferences" => {
            let references = file.references(at + 1).into_iter().filter(|r| !r.is_definition);
            let places: Vec<_> = references.map(|r| document.range(r.name)).collect();
            return Ok(json!({"uri": argument.uri, "ranges": places}));
        }
        command => return Err(invalid(format!("there is no command {command}"))),
    };
    Ok(json!({"text": text}))
}

/// The parameters of requests about files of bytecode.
#[derive(Deserialize)]
pub(crate) struct FileParams {
    uri: Uri,
    /// Of `stablo/save`: the new program.
    #[serde(default)]
    text: String,
}

/// A program in bytecode as text.
#[derive(Serialize)]
pub(crate) struct OpenResult {
    text: String,
    format: String,
}

/// The output of a conversion.
#[derive(Serialize)]
pub(crate) struct Output {
    output: String,
}

/// The bytes of a file on disk.
fn bytes(uri: &Uri) -> Found<Vec<u8>> {
    let no_path = || (ErrorCode::InvalidParams, format!("{} is no file", uri.as_str()));
    let path = uri.to_file_path().ok_or_else(no_path)?;
    let failed =
        |error| (ErrorCode::RequestFailed, format!("cannot read {}: {error}", path.display()));
    std::fs::read(&path).map_err(failed)
}

fn refused(error: ide::SaveError) -> (ErrorCode, String) {
    (ErrorCode::RequestFailed, error.to_string())
}

/// `stablo/open`: the text of a file in any format.
pub(crate) fn open(_: &Server, params: FileParams) -> Found<OpenResult> {
    let bytes = bytes(&params.uri)?;
    let opened = Opened::read(params.uri.as_str(), &bytes).map_err(refused)?;
    Ok(OpenResult { text: opened.text, format: opened.format })
}

/// `stablo/save`: a text as bytes in the format of a file, in base 64. The client writes them.
pub(crate) fn save(_: &Server, params: FileParams) -> Found<Output> {
    let bytes = bytes(&params.uri)?;
    let saved = Opened::save(params.uri.as_str(), &params.text, &bytes).map_err(refused)?;
    Ok(Output { output: STANDARD.encode(saved) })
}

/// `mlir/convertFromBytecode` of mlir-lsp-server: a file of bytecode as text.
pub(crate) fn from_bytecode(server: &Server, params: FileParams) -> Found<Output> {
    Ok(Output { output: open(server, params)?.text })
}

/// `mlir/convertToBytecode` of mlir-lsp-server: an open text as bytecode, in base 64.
pub(crate) fn to_bytecode(server: &Server, params: FileParams) -> Found<Output> {
    let document = server.document(&params.uri)?;
    let failed = |error: stablo::Error| (ErrorCode::RequestFailed, error.to_string());
    let module = document.file.program(0).map_err(failed)?;
    let bytes = stablo::write_bytecode(&module, &stablo::BytecodeOptions::default());
    Ok(Output { output: STANDARD.encode(bytes.map_err(failed)?) })
}
