//! Where the ops, names and regions of a text are, recorded for tools that work on the text:
//! editors and refactorings. Reading programs to run them records nothing.

use crate::diag::Span;
use crate::ir::{OpId, Value};

/// The places of ops, definitions and regions in a text, each in the order in which they begin.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    /// Ops, parents before their nested ops, including those that could not be read.
    pub ops: Vec<OpExtent>,
    /// Regions; the first is the text as a whole.
    pub scopes: Vec<Scope>,
    /// Definitions of values.
    pub definitions: Vec<Definition>,
    /// The open scopes, innermost last.
    open: Vec<u32>,
}

/// The place of an op.
#[derive(Clone, Copy, Debug)]
pub struct OpExtent {
    /// The op; `None` if it could not be read.
    pub op: Option<OpId>,
    /// From its first result to its end; its location is part of it.
    pub span: Span,
    /// Its name, quotes included. Empty if an error came before.
    pub name: Span,
    /// Index of the scope that it is in.
    pub scope: u32,
}

/// The place of a region: names defined in it are not visible outside of it.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// From its opening to its closing brace.
    pub span: Span,
    /// Index of the scope around it.
    pub parent: Option<u32>,
    /// True if names of scopes around it are not visible in it.
    pub isolated: bool,
}

/// The place where values get a name.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The name, `%` included.
    pub name: Span,
    /// Index of the scope in which the name is visible.
    pub scope: u32,
    /// The values.
    pub values: Defined,
}

/// The values that a name stands for.
#[derive(Clone, Copy, Debug)]
pub enum Defined {
    /// `count` results of `op` from `first`.
    Results {
        /// The op.
        op: OpId,
        /// Index of the first of the results.
        first: u32,
        /// Number of the results.
        count: u32,
    },
    /// A block argument.
    Argument(Value),
    /// The result of an op that could not be read.
    Unread,
}

impl SourceMap {
    fn scope(&self) -> u32 {
        self.open.last().copied().unwrap_or_default()
    }

    /// Opens an op that starts at `start`. Returns its index.
    pub(super) fn begin_op(&mut self, start: Span) -> usize {
        let scope = self.scope();
        let name = Span { start: start.start, end: start.start };
        self.ops.push(OpExtent { op: None, span: start, name, scope });
        self.ops.len() - 1
    }

    /// Sets the end of the ops from `first` on that could not be read.
    pub(super) fn end_unread(&mut self, first: u32, end: u32) {
        let unread = self.ops.iter_mut().rev().take_while(|op| op.span.start >= first);
        for op in unread.filter(|op| op.op.is_none()) {
            op.span.end = op.span.end.max(end);
        }
    }

    /// Opens a scope at byte `start`.
    pub(super) fn enter(&mut self, start: u32, isolated: bool) {
        let parent = self.open.last().copied();
        self.open.push(self.scopes.len() as u32);
        self.scopes.push(Scope { span: Span { start, end: start }, parent, isolated });
    }

    /// Closes the innermost scope before byte `end`.
    pub(super) fn leave(&mut self, end: u32) {
        if let Some(scope) = self.open.pop() {
            self.scopes[scope as usize].span.end = end;
        }
    }

    /// Records a definition in the innermost scope.
    pub(super) fn define(&mut self, name: Span, values: Defined) {
        let scope = self.scope();
        self.definitions.push(Definition { name, scope, values });
    }
}
