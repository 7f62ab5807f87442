//! Services of editors for programs in MLIR text: diagnostics while typing, definitions, references,
//! hover texts, completion, refactorings.
//!
//! A [`File`] is a text that is edited. Its methods answer for a byte offset or a range, also where
//! the text has errors. Nothing here knows a protocol or an editor: offsets are bytes of UTF-8, and
//! texts for people are Markdown.
//!
//! ```
//! let file = ide::File::new("f.mlir", "func.func @f(%x: tensor<f32>) { return }");
//! let found = file.definition(14).unwrap();
//! assert_eq!(&file.text()[found.name.start as usize..found.name.end as usize], "%x");
//! ```

mod actions;
mod analysis;
mod bytes;
mod calls;
mod check;
mod completion;
mod constants;
mod diagnostics;
mod expectations;
mod expected;
mod file;
mod fixes;
mod format;
mod highlight;
mod hints;
mod hover;
mod names;
mod part;
mod programs;
mod rename;
mod signature;
mod snippets;
mod structure;
mod symbols;
mod trace;

pub use actions::{Action, ActionKind};
pub use bytes::{Opened, SaveError};
pub use calls::Call;
pub use check::{Checked, Snapshot};
pub use completion::{Completion, CompletionKind, Completions};
pub use diagnostics::{Finding, Fix};
pub use expectations::Expectations;
pub use file::{Edit, File};
pub use highlight::{Highlight, HighlightKind};
pub use hints::{Hint, HintKind};
pub use hover::Hover;
pub use names::{Definition, Reference};
pub use part::ValueTypes;
pub use programs::{Lens, LensKind};
pub use rename::RenameError;
pub use signature::Signature;
pub use structure::{Fold, FoldKind};
pub use symbols::{Symbol, SymbolKind};
pub use trace::{Step, Trace};

pub use stablo::{Severity, Span};
