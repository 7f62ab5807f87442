//! Values of `ide` as values of the protocol.

use crate::server::Document;
use ide::{Edit, Finding, FoldKind, Severity, Span, Symbol, SymbolKind};
use ls_types as types;
use ls_types::{Location, Range, TextEdit, Uri};

/// Where labels of diagnostics are explained.
const EXPLANATIONS: &str = "https://github.com/openxla/stablehlo/blob/main/docs/spec.md";

impl Document {
    /// The range of a span.
    pub(crate) fn range(&self, span: Span) -> Range {
        self.lines.range(self.file.text(), span)
    }

    /// The byte at a position.
    pub(crate) fn offset(&self, position: types::Position) -> u32 {
        self.lines.offset(self.file.text(), position)
    }

    /// An edit of the text in the protocol.
    pub(crate) fn text_edit(&self, edit: &Edit) -> TextEdit {
        TextEdit { range: self.range(edit.span), new_text: edit.text.clone() }
    }

    /// Edits of the text.
    pub(crate) fn edits(&self, edits: &[Edit]) -> Vec<TextEdit> {
        edits.iter().map(|edit| self.text_edit(edit)).collect()
    }
}

/// A diagnostic of a text.
pub(crate) fn diagnostic(uri: &Uri, document: &Document, finding: &Finding) -> types::Diagnostic {
    let severity = match finding.severity {
        Severity::Error => types::DiagnosticSeverity::ERROR,
        Severity::Warning if finding.is_unnecessary => types::DiagnosticSeverity::HINT,
        Severity::Warning => types::DiagnosticSeverity::WARNING,
        Severity::Remark | Severity::Note => types::DiagnosticSeverity::INFORMATION,
        Severity::Help => types::DiagnosticSeverity::HINT,
    };
    let mut message = finding.message.clone();
    let mut related = Vec::new();
    for (note, span) in &finding.notes {
        match span {
            Some(span) => related.push(types::DiagnosticRelatedInformation {
                location: Location { uri: uri.clone(), range: document.range(*span) },
                message: note.clone(),
            }),
            None => {
                message.push_str("\nnote: ");
                message.push_str(note);
            }
        }
    }
    let mut tags = Vec::new();
    if finding.is_unnecessary {
        tags.push(types::DiagnosticTag::UNNECESSARY);
    }
    if finding.is_deprecated {
        tags.push(types::DiagnosticTag::DEPRECATED);
    }
    let href = match stablo::explain(&finding.label) {
        Ok(stablo::Explanation::Constraint(op, _)) => {
            format!("{EXPLANATIONS}#{}", op.mnemonic()).parse().ok()
        }
        _ => None,
    };
    types::Diagnostic {
        range: document.range(finding.span),
        severity: Some(severity),
        code: Some(types::NumberOrString::String(finding.label.clone())),
        code_description: href.map(|href| types::CodeDescription { href }),
        source: Some("stablo".to_string()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: (!tags.is_empty()).then_some(tags),
        data: None,
    }
}

/// An entry of an outline.
#[allow(deprecated, reason = "the field must be set")]
pub(crate) fn symbol(document: &Document, symbol: &Symbol) -> types::DocumentSymbol {
    let children: Vec<_> =
        symbol.children.iter().map(|child| self::symbol(document, child)).collect();
    types::DocumentSymbol {
        name: symbol.name.clone(),
        detail: Some(symbol.detail.clone()),
        kind: symbol_kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: document.range(symbol.span),
        selection_range: document.range(symbol.selection),
        children: (!children.is_empty()).then_some(children),
    }
}

/// The kind of an entry of an outline.
pub(crate) fn symbol_kind(kind: SymbolKind) -> types::SymbolKind {
    match kind {
        SymbolKind::Module => types::SymbolKind::MODULE,
        SymbolKind::Function => types::SymbolKind::FUNCTION,
        SymbolKind::Object => types::SymbolKind::OBJECT,
        SymbolKind::Region => types::SymbolKind::NAMESPACE,
    }
}

/// The kind of a fold.
pub(crate) fn fold_kind(kind: FoldKind) -> types::FoldingRangeKind {
    match kind {
        FoldKind::Comment => types::FoldingRangeKind::Comment,
        FoldKind::Aliases => types::FoldingRangeKind::Imports,
        FoldKind::Brackets | FoldKind::Section => types::FoldingRangeKind::Region,
    }
}
