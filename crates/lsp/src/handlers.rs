//! Requests and notifications.

use crate::assistance::{calls, completion, hints, incoming, outgoing, resolve, signature};
use crate::commands;
use crate::convert;
use crate::position::Encoding;
use crate::server::{Client, Document, Server};
use crate::workspace;
use ide::{ActionKind, Edit, File, Span};
use ls_types as types;
use ls_types::Uri;
use lsp_server::{ErrorCode, Request, RequestId};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The result of a request, or a code and message.
pub(crate) type Answer = Result<Value, (ErrorCode, String)>;

/// Classes of tokens in the order of the legend.
const TOKEN_TYPES: [&str; 13] = [
    "comment",
    "function",
    "keyword",
    "type",
    "variable",
    "parameter",
    "method",
    "label",
    "macro",
    "property",
    "enumMember",
    "number",
    "string",
];

/// Kinds of code actions.
const ACTION_KINDS: [&str; 6] = [
    "quickfix",
    "refactor.extract",
    "refactor.inline",
    "refactor.rewrite",
    "source.convert",
    "source.fixAll",
];

/// Readers for which a program is offered to be converted, and their age.
const READERS: [(&str, &str); 2] = [("WEEK_4", "four weeks"), ("WEEK_12", "twelve weeks")];

/// Modifiers of tokens: bits in the order of the legend.
const TOKEN_MODIFIERS: [&str; 3] = ["declaration", "readonly", "deprecated"];

/// Answers `initialize`: notes what the client can do, and says what the server can.
pub(crate) fn initialize(server: &mut Server, params: &Value) -> Value {
    let general = &params["capabilities"]["general"]["positionEncodings"];
    let encodings = general.as_array().map_or(&[][..], |list| list);
    if encodings.iter().any(|encoding| encoding == "utf-8") {
        server.encoding = Encoding::Utf8;
    }
    let text = &params["capabilities"]["textDocument"];
    let is_set = |value: &Value| value.as_bool() == Some(true);
    server.client = Client {
        snippets: is_set(&text["completion"]["completionItem"]["snippetSupport"]),
        document_changes: is_set(
            &params["capabilities"]["workspace"]["workspaceEdit"]["documentChanges"],
        ),
        hierarchical_symbols: is_set(&text["documentSymbol"]["hierarchicalDocumentSymbolSupport"]),
        new_files: {
            let edits = &params["capabilities"]["workspace"]["workspaceEdit"];
            let kinds = edits["resourceOperations"].as_array().map_or(&[][..], |kinds| kinds);
            is_set(&edits["documentChanges"]) && kinds.iter().any(|kind| kind == "create")
        },
        panels: is_set(&params["initializationOptions"]["panels"]),
        show_document: is_set(&params["capabilities"]["window"]["showDocument"]["support"]),
    };
    let uris = params["workspaceFolders"].as_array().cloned().unwrap_or_default();
    let uris = uris.iter().filter_map(|folder| folder["uri"].as_str());
    let root = params["rootUri"].as_str();
    let uris = uris.chain(root).filter_map(|uri| uri.parse::<Uri>().ok());
    server.folders = uris.filter_map(|uri| Some(uri.to_file_path()?.into_owned())).collect();
    server.folders.dedup();
    json!({
        "capabilities": {
            "positionEncoding": match server.encoding { Encoding::Utf8 => "utf-8", Encoding::Utf16 => "utf-16" },
            "textDocumentSync": {"openClose": true, "change": 2, "save": true},
            "hoverProvider": true,
            "definitionProvider": true,
            "declarationProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "documentSymbolProvider": true,
            "foldingRangeProvider": true,
            "selectionRangeProvider": true,
            "documentFormattingProvider": true,
            "documentRangeFormattingProvider": true,
            "renameProvider": {"prepareProvider": true},
            "completionProvider": {
                "triggerCharacters": ["%", "@", "#", "!", "^", ".", ":", " "],
                "resolveProvider": true,
            },
            "signatureHelpProvider": {"triggerCharacters": ["(", ",", " "]},
            "inlayHintProvider": true,
            "callHierarchyProvider": true,
            "workspaceSymbolProvider": true,
            "codeActionProvider": {"codeActionKinds": ACTION_KINDS},
            "codeLensProvider": {"resolveProvider": false},
            "executeCommandProvider": {"commands": commands::COMMANDS},
            "semanticTokensProvider": {
                "legend": {"tokenTypes": TOKEN_TYPES, "tokenModifiers": TOKEN_MODIFIERS},
                "full": true,
                "range": true,
            },
        },
        "serverInfo": {"name": "stablo", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// Reads parameters and answers.
fn call<P: DeserializeOwned, R: serde::Serialize>(
    params: Value,
    answer: impl FnOnce(P) -> Result<R, (ErrorCode, String)>,
) -> Answer {
    let invalid = |error: serde_json::Error| (ErrorCode::InvalidParams, error.to_string());
    let params = serde_json::from_value(params).map_err(invalid)?;
    let failed = |error: serde_json::Error| (ErrorCode::InternalError, error.to_string());
    serde_json::to_value(answer(params)?).map_err(failed)
}

/// True if a request reads all of a program, rather than the part around a place.
pub(crate) fn reads_all(method: &str) -> bool {
    let rest = method.strip_prefix("textDocument/");
    let is_local = |rest| {
        matches!(
            rest,
            "completion" | "signatureHelp" | "formatting" | "rangeFormatting" | "foldingRange"
        )
    };
    rest.is_some_and(|rest| !is_local(rest))
}

/// Answers a request.
pub(crate) fn request(server: &mut Server, method: &str, params: Value) -> Answer {
    match method {
        "textDocument/hover" => call(params, |p| hover(server, p)),
        "textDocument/definition" | "textDocument/declaration" => {
            call(params, |p| definition(server, p))
        }
        "textDocument/references" => call(params, |p| references(server, p)),
        "textDocument/documentHighlight" => call(params, |p| highlight(server, p)),
        "textDocument/documentSymbol" => call(params, |p| symbols(server, p)),
        "textDocument/foldingRange" => call(params, |p| folds(server, p)),
        "textDocument/selectionRange" => call(params, |p| selections(server, p)),
        "textDocument/formatting" => call(params, |p| format(server, p)),
        "textDocument/rangeFormatting" => call(params, |p| format_range(server, p)),
        "textDocument/prepareRename" => call(params, |p| prepare_rename(server, p)),
        "textDocument/rename" => call(params, |p| rename(server, p)),
        "textDocument/completion" => call(params, |p| completion(server, p)),
        "completionItem/resolve" => call(params, |p| Ok(resolve(p))),
        "textDocument/signatureHelp" => call(params, |p| signature(server, p)),
        "textDocument/inlayHint" => call(params, |p| hints(server, p)),
        "textDocument/prepareCallHierarchy" => call(params, |p| calls(server, p)),
        "callHierarchy/incomingCalls" => call(params, |p| incoming(server, p)),
        "callHierarchy/outgoingCalls" => call(params, |p| outgoing(server, p)),
        "textDocument/codeLens" => call(params, |p| commands::lenses(server, p)),
        "workspace/executeCommand" => call(params, |p| commands::execute(server, p)),
        "stablo/open" => call(params, |p| commands::open(server, p)),
        "stablo/save" => call(params, |p| commands::save(server, p)),
        "mlir/convertFromBytecode" => call(params, |p| commands::from_bytecode(server, p)),
        "mlir/convertToBytecode" => call(params, |p| commands::to_bytecode(server, p)),
        "workspace/symbol" => call(params, |p| workspace::symbols(server, p)),
        "textDocument/codeAction" => call(params, |p| actions(server, p)),
        "textDocument/semanticTokens/full" => call(params, |p| tokens(server, p)),
        "textDocument/semanticTokens/range" => call(params, |p| tokens_in(server, p)),
        _ => Err((ErrorCode::MethodNotFound, format!("there is no method {method}"))),
    }
}

/// Handles a notification; unknown ones are ignored, as the protocol wants.
pub(crate) fn notification(server: &mut Server, method: &str, params: Value) {
    match method {
        "textDocument/didOpen" => {
            let Ok(params) = serde_json::from_value::<types::DidOpenTextDocumentParams>(params)
            else {
                return;
            };
            let types::TextDocumentItem { uri, version, text, .. } = params.text_document;
            let file = File::new(name_of(&uri), text);
            let document = Document::new(file, server.encoding, version);
            server.documents.insert(uri.clone(), document);
            server.changed(uri);
        }
        "textDocument/didChange" => {
            let Ok(params) = serde_json::from_value::<types::DidChangeTextDocumentParams>(params)
            else {
                return;
            };
            let uri = params.text_document.uri;
            let encoding = server.encoding;
            let modified = "the text has changed";
            server.refuse_waiting(|of, _| *of == uri, ErrorCode::ContentModified, modified);
            let Some(document) = server.documents.get_mut(&uri) else { return };
            for change in params.content_changes {
                match change.range {
                    Some(range) => {
                        let span = document.lines.span(document.file.text(), range);
                        document.edit(&Edit::replace(span, change.text));
                    }
                    None => document.set_text(change.text, encoding),
                }
            }
            document.version = params.text_document.version;
            server.changed(uri);
        }
        "textDocument/didClose" => {
            let Ok(params) = serde_json::from_value::<types::DidCloseTextDocumentParams>(params)
            else {
                return;
            };
            let uri = &params.text_document.uri;
            server.refuse_waiting(|of, _| of == uri, ErrorCode::ContentModified, "it is closed");
            server.documents.remove(uri);
            // Publishes an empty list.
            server.changed(params.text_document.uri);
        }
        "$/cancelRequest" => {
            let id = serde_json::from_value::<RequestId>(params["id"].clone()).ok();
            let is_it = |_: &Uri, request: &Request| Some(&request.id) == id.as_ref();
            server.refuse_waiting(is_it, ErrorCode::RequestCanceled, "cancelled");
        }
        _ => {}
    }
}

/// The name of a file in diagnostics and locations.
fn name_of(uri: &Uri) -> String {
    match uri.to_file_path() {
        Some(path) => path.to_string_lossy().into_owned(),
        None => uri.as_str().to_string(),
    }
}

/// The parameters of `publishDiagnostics` for a text; none for one that is not open.
pub(crate) fn diagnostics(server: &Server, uri: &Uri) -> Value {
    let Some(document) = server.documents.get(uri) else {
        return json!({"uri": uri, "diagnostics": []});
    };
    let findings = document.findings.iter();
    let found = findings.map(|finding| convert::diagnostic(uri, document, finding));
    let found: Vec<_> = found.collect();
    json!({"uri": uri, "version": document.version, "diagnostics": found})
}

impl Server {
    /// An open text.
    pub(crate) fn document(&self, uri: &Uri) -> Result<&Document, (ErrorCode, String)> {
        let closed = || (ErrorCode::InvalidParams, format!("{} is not open", uri.as_str()));
        self.documents.get(uri).ok_or_else(closed)
    }

    /// An open text and a byte in it.
    pub(crate) fn place(
        &self,
        at: &types::TextDocumentPositionParams,
    ) -> Result<(&Document, u32), (ErrorCode, String)> {
        let document = self.document(&at.text_document.uri)?;
        Ok((document, document.offset(at.position)))
    }
}

/// The result of a request before it is JSON.
pub(crate) type Found<T> = Result<T, (ErrorCode, String)>;

fn hover(server: &Server, params: types::HoverParams) -> Found<Option<types::Hover>> {
    let (document, at) = server.place(&params.text_document_position_params)?;
    Ok(document.file.hover(at).map(|hover| types::Hover {
        contents: types::HoverContents::Markup(types::MarkupContent {
            kind: types::MarkupKind::Markdown,
            value: hover.text,
        }),
        range: Some(document.range(hover.span)),
    }))
}

fn definition(
    server: &Server,
    params: types::GotoDefinitionParams,
) -> Found<Option<types::Location>> {
    let at = params.text_document_position_params;
    let (document, offset) = server.place(&at)?;
    let found = document.file.definition(offset);
    Ok(found.map(|found| types::Location {
        uri: at.text_document.uri,
        range: document.range(found.name),
    }))
}

fn references(server: &Server, params: types::ReferenceParams) -> Found<Vec<types::Location>> {
    let at = params.text_document_position;
    let (document, offset) = server.place(&at)?;
    let all = document.file.references(offset).into_iter();
    let wanted = all.filter(|r| params.context.include_declaration || !r.is_definition);
    let location = |r: ide::Reference| types::Location {
        uri: at.text_document.uri.clone(),
        range: document.range(r.name),
    };
    Ok(wanted.map(location).collect())
}

fn highlight(
    server: &Server,
    params: types::DocumentHighlightParams,
) -> Found<Vec<types::DocumentHighlight>> {
    let (document, at) = server.place(&params.text_document_position_params)?;
    let all = document.file.references(at).into_iter();
    let highlight = |r: ide::Reference| types::DocumentHighlight {
        range: document.range(r.name),
        kind: Some(match r.is_definition {
            true => types::DocumentHighlightKind::WRITE,
            false => types::DocumentHighlightKind::READ,
        }),
    };
    Ok(all.map(highlight).collect())
}

#[allow(deprecated, reason = "the field must be set")]
fn symbols(server: &Server, params: types::DocumentSymbolParams) -> Found<Value> {
    let uri = params.text_document.uri;
    let document = server.document(&uri)?;
    let roots = document.file.symbols();
    if server.client.hierarchical_symbols {
        let all: Vec<_> = roots.iter().map(|symbol| convert::symbol(document, symbol)).collect();
        return Ok(json!(all));
    }
    let mut flat = Vec::new();
    let mut left: Vec<(&ide::Symbol, Option<&str>)> =
        roots.iter().rev().map(|s| (s, None)).collect();
    while let Some((symbol, container)) = left.pop() {
        flat.push(types::SymbolInformation {
            name: symbol.name.clone(),
            kind: convert::symbol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: types::Location { uri: uri.clone(), range: document.range(symbol.span) },
            container_name: container.map(str::to_string),
        });
        left.extend(symbol.children.iter().rev().map(|child| (child, Some(&*symbol.name))));
    }
    Ok(json!(flat))
}

fn folds(server: &Server, params: types::FoldingRangeParams) -> Found<Vec<types::FoldingRange>> {
    let document = server.document(&params.text_document.uri)?;
    let fold = |fold: &ide::Fold| {
        let range = document.range(fold.span);
        types::FoldingRange {
            start_line: range.start.line,
            start_character: Some(range.start.character),
            end_line: range.end.line,
            end_character: Some(range.end.character),
            kind: Some(convert::fold_kind(fold.kind)),
            collapsed_text: None,
        }
    };
    Ok(document.file.folds().iter().map(fold).collect())
}

fn selections(
    server: &Server,
    params: types::SelectionRangeParams,
) -> Found<Vec<types::SelectionRange>> {
    let document = server.document(&params.text_document.uri)?;
    let around = |position: &types::Position| {
        let spans = document.file.selections(document.offset(*position));
        let mut parent = None;
        for span in spans.into_iter().rev() {
            let range = document.range(span);
            parent = Some(types::SelectionRange { range, parent: parent.map(Box::new) });
        }
        let here = types::Range { start: *position, end: *position };
        parent.unwrap_or(types::SelectionRange { range: here, parent: None })
    };
    Ok(params.positions.iter().map(around).collect())
}

fn format(server: &Server, params: types::DocumentFormattingParams) -> Found<Vec<types::TextEdit>> {
    let document = server.document(&params.text_document.uri)?;
    Ok(document.edits(&document.file.format()))
}

fn format_range(
    server: &Server,
    params: types::DocumentRangeFormattingParams,
) -> Found<Vec<types::TextEdit>> {
    let document = server.document(&params.text_document.uri)?;
    let span = document.lines.span(document.file.text(), params.range);
    Ok(document.edits(&document.file.format_range(span)))
}

fn prepare_rename(
    server: &Server,
    params: types::TextDocumentPositionParams,
) -> Found<Option<types::Range>> {
    let (document, at) = server.place(&params)?;
    Ok(document.file.renamable(at).map(|span| document.range(span)))
}

fn rename(server: &Server, params: types::RenameParams) -> Found<types::WorkspaceEdit> {
    let at = params.text_document_position;
    let (document, offset) = server.place(&at)?;
    let refused = |error: ide::RenameError| (ErrorCode::RequestFailed, error.to_string());
    let edits = document.file.rename(offset, &params.new_name).map_err(refused)?;
    Ok(server.workspace_edit(&at.text_document.uri, document, &edits))
}

impl Server {
    /// Edits of one text.
    fn workspace_edit(
        &self,
        uri: &Uri,
        document: &Document,
        edits: &[Edit],
    ) -> types::WorkspaceEdit {
        let edits = document.edits(edits);
        if !self.client.document_changes {
            return types::WorkspaceEdit {
                changes: Some([(uri.clone(), edits)].into_iter().collect()),
                ..Default::default()
            };
        }
        let change = types::TextDocumentEdit {
            text_document: types::OptionalVersionedTextDocumentIdentifier {
                uri: uri.clone(),
                version: Some(document.version),
            },
            edits: edits.into_iter().map(types::OneOf::Left).collect(),
        };
        types::WorkspaceEdit {
            document_changes: Some(types::DocumentChanges::Edits(vec![change])),
            ..Default::default()
        }
    }
}

fn actions(server: &Server, params: types::CodeActionParams) -> Found<Vec<types::CodeAction>> {
    let uri = params.text_document.uri;
    let document = server.document(&uri)?;
    let span = document.lines.span(document.file.text(), params.range);
    let mut actions = Vec::new();
    // Findings in small texts are computed at once, others on another thread.
    let own;
    let findings = match document.file.is_large() {
        true => &document.findings,
        false => {
            own = document.file.diagnostics();
            &own
        }
    };
    for finding in findings {
        if finding.span.end < span.start || finding.span.start > span.end {
            continue;
        }
        let fixes = document.file.fixes(finding);
        for fix in &fixes {
            actions.push(types::CodeAction {
                title: fix.title.clone(),
                kind: Some(types::CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![convert::diagnostic(&uri, document, finding)]),
                edit: Some(server.workspace_edit(&uri, document, &fix.edits)),
                is_preferred: Some(fixes.len() == 1),
                ..Default::default()
            });
        }
    }
    for action in document.file.actions(span) {
        let kind = match action.kind {
            ActionKind::Extract => types::CodeActionKind::REFACTOR_EXTRACT,
            ActionKind::Inline => types::CodeActionKind::REFACTOR_INLINE,
            ActionKind::Rewrite => types::CodeActionKind::REFACTOR_REWRITE,
            ActionKind::FixAll => types::CodeActionKind::SOURCE_FIX_ALL,
        };
        let edit = match action.file {
            Some(text) if server.client.new_files => new_file(&uri, text),
            Some(_) => continue,
            None => server.workspace_edit(&uri, document, &action.edits),
        };
        actions.push(types::CodeAction {
            title: action.title,
            kind: Some(kind),
            edit: Some(edit),
            ..Default::default()
        });
    }
    for (target, age) in READERS.iter().filter(|_| server.client.panels) {
        let title = format!("Save for readers of {age} ago");
        let arguments = vec![json!({"uri": uri, "position": params.range.start, "target": target})];
        actions.push(types::CodeAction {
            title: title.clone(),
            kind: Some(types::CodeActionKind::from("source.convert")),
            command: Some(types::Command {
                title,
                command: "stablo.convert".to_string(),
                arguments: Some(arguments),
            }),
            ..Default::default()
        });
    }
    // Editors ask for a kind, of which others may be kinds: `refactor` for `refactor.inline`.
    if let Some(only) = params.context.only {
        let is_wanted = |kind: &types::CodeActionKind| {
            only.iter().any(|only| {
                let rest = kind.as_str().strip_prefix(only.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        actions.retain(|action| action.kind.as_ref().is_some_and(is_wanted));
    }
    Ok(actions)
}

/// An edit that creates a file of a text beside another one: `a.part.mlir` beside `a.mlir`.
fn new_file(beside: &Uri, text: String) -> types::WorkspaceEdit {
    let path = beside.as_str();
    let stem = path.strip_suffix(".mlir").unwrap_or(path);
    let Ok(uri) = format!("{stem}.part.mlir").parse::<Uri>() else { return Default::default() };
    let create = types::CreateFile {
        uri: uri.clone(),
        options: Some(types::CreateFileOptions { overwrite: Some(true), ignore_if_exists: None }),
        annotation_id: None,
    };
    let edit = types::TextEdit { range: types::Range::default(), new_text: text };
    let edit = types::TextDocumentEdit {
        text_document: types::OptionalVersionedTextDocumentIdentifier { uri, version: None },
        edits: vec![types::OneOf::Left(edit)],
    };
    types::WorkspaceEdit {
        document_changes: Some(types::DocumentChanges::Operations(vec![
            types::DocumentChangeOperation::Op(types::ResourceOp::Create(create)),
            types::DocumentChangeOperation::Edit(edit),
        ])),
        ..Default::default()
    }
}

/// In longer texts, only tokens of ranges have classes: a response about all would be many times as
/// long as the text.
const MAX_TOKENS: usize = 1 << 20;

fn tokens(server: &Server, params: types::SemanticTokensParams) -> Found<Value> {
    let document = server.document(&params.text_document.uri)?;
    let end = document.file.text().len() as u32;
    if end as usize > MAX_TOKENS {
        return Ok(Value::Null);
    }
    Ok(json!({"data": encoded(document, Span { start: 0, end })}))
}

fn tokens_in(server: &Server, params: types::SemanticTokensRangeParams) -> Found<Value> {
    let document = server.document(&params.text_document.uri)?;
    let span = document.lines.span(document.file.text(), params.range);
    Ok(json!({"data": encoded(document, span)}))
}

/// The tokens in a range: five numbers each, positions relative to the token before.
fn encoded(document: &Document, range: Span) -> Vec<u32> {
    let text = document.file.text();
    let mut data = Vec::new();
    let mut last = types::Position::default();
    for token in document.file.highlights(range) {
        let start = document.lines.position(text, token.span.start);
        let same_line = start.line == last.line;
        let column = start.character - if same_line { last.character } else { 0 };
        let written = &text[token.span.start as usize..token.span.end as usize];
        let flags = [token.is_definition, token.is_constant, token.is_deprecated];
        let modifiers = flags.iter().rev().fold(0, |bits, &set| bits << 1 | u32::from(set));
        let length = document.lines.length(written);
        data.extend([start.line - last.line, column, length, token.kind.number(), modifiers]);
        last = start;
    }
    data
}
