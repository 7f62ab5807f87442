//! Requests that help to write and to find one's way: completion, signatures, hints, calls.

use crate::handlers::Found;
use crate::server::{Document, Server};
use ide::{Call, CompletionKind, File, HintKind};
use ls_types as types;
use ls_types::Uri;
use serde_json::{Value, json};

/// The completions at a place.
pub(crate) fn completion(server: &Server, params: types::CompletionParams) -> Found<Value> {
    let (document, at) = server.place(&params.text_document_position)?;
    // A space asks for completions only where something is expected.
    let trigger = params.context.and_then(|context| context.trigger_character);
    let found = document.file.completions(at);
    if trigger.as_deref() == Some(" ") && found.items.iter().any(|i| i.kind == CompletionKind::Op) {
        return Ok(Value::Null);
    }
    let items = found.items.iter().enumerate().map(|(index, item)| {
        let kind = match item.kind {
            CompletionKind::Op => types::CompletionItemKind::FUNCTION,
            CompletionKind::Value => types::CompletionItemKind::VARIABLE,
            CompletionKind::Symbol => types::CompletionItemKind::METHOD,
            CompletionKind::Block => types::CompletionItemKind::REFERENCE,
            CompletionKind::Alias => types::CompletionItemKind::CONSTANT,
            CompletionKind::Attribute => types::CompletionItemKind::PROPERTY,
            CompletionKind::Case => types::CompletionItemKind::ENUM_MEMBER,
            CompletionKind::Type => types::CompletionItemKind::CLASS,
            CompletionKind::Keyword => types::CompletionItemKind::KEYWORD,
        };
        let snippet = item.snippet.as_ref().filter(|_| server.client.snippets);
        let edit = types::TextEdit {
            range: document.range(item.replace),
            new_text: snippet.unwrap_or(&item.label).clone(),
        };
        types::CompletionItem {
            label: item.label.clone(),
            kind: Some(kind),
            detail: (!item.detail.is_empty()).then(|| item.detail.clone()),
            sort_text: Some(format!("{index:05}")),
            filter_text: Some(item.label.clone()),
            insert_text_format: snippet.map(|_| types::InsertTextFormat::SNIPPET),
            text_edit: Some(types::CompletionTextEdit::Edit(edit)),
            tags: item.is_deprecated.then(|| vec![types::CompletionItemTag::DEPRECATED]),
            ..Default::default()
        }
    });
    let items: Vec<_> = items.collect();
    Ok(json!(types::CompletionList { is_incomplete: found.is_incomplete, items }))
}

/// A completion with documentation.
pub(crate) fn resolve(mut item: types::CompletionItem) -> types::CompletionItem {
    if let Some(text) = File::documentation(&item.label) {
        item.documentation = Some(types::Documentation::MarkupContent(types::MarkupContent {
            kind: types::MarkupKind::Markdown,
            value: text,
        }));
    }
    item
}

/// The parameters of the op or call around a place.
pub(crate) fn signature(
    server: &Server,
    params: types::SignatureHelpParams,
) -> Found<Option<types::SignatureHelp>> {
    let (document, at) = server.place(&params.text_document_position_params)?;
    let Some(found) = document.file.signature(at) else { return Ok(None) };
    let markdown = |text: &str| {
        types::Documentation::MarkupContent(types::MarkupContent {
            kind: types::MarkupKind::Markdown,
            value: text.to_string(),
        })
    };
    let parameter = |(range, doc): &(std::ops::Range<u32>, String)| {
        // Offsets are in UTF-16, whatever the encoding of positions.
        let units = |end: u32| found.label[..end as usize].encode_utf16().count() as u32;
        types::ParameterInformation {
            label: types::ParameterLabel::LabelOffsets([units(range.start), units(range.end)]),
            documentation: Some(markdown(doc)),
        }
    };
    let signature = types::SignatureInformation {
        label: found.label.clone(),
        documentation: Some(markdown(&found.doc)),
        parameters: Some(found.parameters.iter().map(parameter).collect()),
        active_parameter: Some(found.active as u32),
    };
    Ok(Some(types::SignatureHelp {
        signatures: vec![signature],
        active_signature: Some(0),
        active_parameter: Some(found.active as u32),
    }))
}

/// Types that are not written, and costs.
pub(crate) fn hints(
    server: &Server,
    params: types::InlayHintParams,
) -> Found<Vec<types::InlayHint>> {
    let document = server.document(&params.text_document.uri)?;
    let text = document.file.text();
    let span = document.lines.span(text, params.range);
    let hint = |hint: ide::Hint| types::InlayHint {
        position: document.lines.position(text, hint.at),
        label: types::InlayHintLabel::String(hint.text),
        kind: (hint.kind == HintKind::Type).then_some(types::InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: Some(hint.kind == HintKind::Cost),
        padding_right: None,
        data: None,
    };
    Ok(document.file.hints(span).into_iter().map(hint).collect())
}

fn item(uri: &Uri, document: &Document, call: &Call) -> types::CallHierarchyItem {
    types::CallHierarchyItem {
        name: call.name.clone(),
        kind: types::SymbolKind::FUNCTION,
        tags: None,
        detail: Some(call.detail.clone()),
        uri: uri.clone(),
        range: document.range(call.span),
        selection_range: document.range(call.selection),
        data: None,
    }
}

/// The function at a place.
pub(crate) fn calls(
    server: &Server,
    params: types::CallHierarchyPrepareParams,
) -> Found<Option<Vec<types::CallHierarchyItem>>> {
    let at = params.text_document_position_params;
    let (document, offset) = server.place(&at)?;
    let function = document.file.function_at(offset);
    Ok(function.map(|call| vec![item(&at.text_document.uri, document, &call)]))
}

/// The functions that call one.
pub(crate) fn incoming(
    server: &Server,
    params: types::CallHierarchyIncomingCallsParams,
) -> Found<Vec<types::CallHierarchyIncomingCall>> {
    let uri = params.item.uri;
    let document = server.document(&uri)?;
    let at = document.offset(params.item.selection_range.start);
    let call = |call: &Call| types::CallHierarchyIncomingCall {
        from: item(&uri, document, call),
        from_ranges: call.places.iter().map(|&place| document.range(place)).collect(),
    };
    Ok(document.file.incoming_calls(at).iter().map(call).collect())
}

/// The functions that one calls.
pub(crate) fn outgoing(
    server: &Server,
    params: types::CallHierarchyOutgoingCallsParams,
) -> Found<Vec<types::CallHierarchyOutgoingCall>> {
    let uri = params.item.uri;
    let document = server.document(&uri)?;
    let at = document.offset(params.item.selection_range.start);
    let call = |call: &Call| types::CallHierarchyOutgoingCall {
        to: item(&uri, document, call),
        from_ranges: call.places.iter().map(|&place| document.range(place)).collect(),
    };
    Ok(document.file.outgoing_calls(at).iter().map(call).collect())
}
