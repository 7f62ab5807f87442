//! Calls: which ops refer to a function, and to which functions its ops refer.

use crate::analysis::Analysis;
use crate::file::{File, moved};
use crate::names::Target;
use crate::symbols::detail;
use stablo::Span;
use stablo::syntax::TokenKind;

/// A function, with the places at which it is called or calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Name of the function without `@`.
    pub name: String,
    /// Its type.
    pub detail: String,
    /// The function.
    pub span: Span,
    /// Its name.
    pub selection: Span,
    /// The places of the references.
    pub places: Vec<Span>,
}

impl File {
    /// The function that is named, or is around, byte `at`.
    pub fn function_at(&self, at: u32) -> Option<Call> {
        let (analysis, start, here) = self.analysis_at(at);
        let index = match analysis.target(here) {
            Some(Target::Symbol(index)) => index,
            _ => analysis.symbol_around(here)?,
        };
        analysis.call(index, Vec::new()).map(|call| call.moved(start))
    }

    /// The functions that refer to the one named at byte `at`.
    pub fn incoming_calls(&self, at: u32) -> Vec<Call> {
        let (analysis, start, here) = self.analysis_at(at);
        let Some(target @ Target::Symbol(own)) = analysis.target(here) else {
            return Vec::new();
        };
        let mut callers: Vec<(usize, Vec<Span>)> = Vec::new();
        for reference in analysis.references(&target) {
            if reference.name == analysis.symbols()[own].span {
                continue;
            }
            let Some(caller) = analysis.symbol_around(reference.name.start) else { continue };
            match callers.iter_mut().find(|(known, _)| *known == caller) {
                Some((_, places)) => places.push(reference.name),
                None => callers.push((caller, vec![reference.name])),
            }
        }
        let calls =
            callers.into_iter().filter_map(|(caller, places)| analysis.call(caller, places));
        calls.map(|call| call.moved(start)).collect()
    }

    /// The functions to which the one named at byte `at` refers.
    pub fn outgoing_calls(&self, at: u32) -> Vec<Call> {
        let (analysis, start, here) = self.analysis_at(at);
        let Some(Target::Symbol(own)) = analysis.target(here) else { return Vec::new() };
        let extent = analysis.map.ops[analysis.symbols()[own].op].span;
        let from = analysis.token_index(extent.start);
        let tokens = analysis.tokens()[from..].iter();
        let mut callees: Vec<(usize, Vec<Span>)> = Vec::new();
        for token in tokens.take_while(|token| token.span.start < extent.end) {
            if token.kind != TokenKind::Symbol || token.span == analysis.symbols()[own].span {
                continue;
            }
            let Some(Target::Symbol(callee)) = analysis.target(token.span.start + 1) else {
                continue;
            };
            match callees.iter_mut().find(|(known, _)| *known == callee) {
                Some((_, places)) => places.push(token.span),
                None => callees.push((callee, vec![token.span])),
            }
        }
        let calls =
            callees.into_iter().filter_map(|(callee, places)| analysis.call(callee, places));
        calls.map(|call| call.moved(start)).collect()
    }
}

impl Call {
    fn moved(mut self, start: u32) -> Call {
        self.span = moved(self.span, start);
        self.selection = moved(self.selection, start);
        self.places.iter_mut().for_each(|place| *place = moved(*place, start));
        self
    }
}

impl Analysis {
    /// Index of the innermost symbol that a byte is in.
    pub(crate) fn symbol_around(&self, at: u32) -> Option<usize> {
        let mut op = self.op_index_at(at);
        while let Some(index) = op {
            if let Some(found) = self.symbols().iter().position(|symbol| symbol.op == index) {
                return Some(found);
            }
            op = self.parent(index);
        }
        None
    }

    fn call(&self, symbol: usize, places: Vec<Span>) -> Option<Call> {
        let symbol = self.symbols().get(symbol)?;
        let extent = &self.map.ops[symbol.op];
        Some(Call {
            name: symbol.name.clone(),
            detail: self.op(extent).map(detail).unwrap_or_default(),
            span: extent.span,
            selection: symbol.span,
            places,
        })
    }
}
