//! `stablo run --trace`: values as `.npy` files, and `index.jsonl` with one object per value that
//! describes its origin.

use crate::files::write_whole;
use regex_lite::{Regex, RegexBuilder};
use stablo::arrays::npy;
use stablo::ir::OpRef;
use stablo::{Module, ProcessId, RuntimeValue, TraceIndex};
use std::path::PathBuf;

/// Name of the index file.
const INDEX: &str = "index.jsonl";

/// Largest number of groups of a pattern: matching takes memory for each group and state.
const MAX_GROUPS: usize = 100;

/// Largest size in bytes of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// Compiles the pattern of names.
fn compile(pattern: &str) -> Result<Regex, String> {
    let regex = RegexBuilder::new(pattern).size_limit(MAX_PATTERN_BYTES).build();
    let regex = regex.map_err(|error| error.to_string())?;
    // The whole match counts as one.
    match regex.captures_len() - 1 {
        count if count > MAX_GROUPS => {
            Err(format!("a pattern has at most {MAX_GROUPS} groups; found {count}"))
        }
        _ => Ok(regex),
    }
}

/// An output directory for values.
pub(crate) struct ValueTrace<'m> {
    directory: PathBuf,
    /// Filters values by name, op or location.
    pattern: Option<Regex>,
    names: TraceIndex<'m>,
    saved: usize,
    index: String,
}

impl<'m> ValueTrace<'m> {
    /// Starts a trace of a run of `module` in a directory, which is created.
    ///
    /// # Errors
    /// If it cannot be created, or the pattern is not a valid regular expression.
    pub(crate) fn new(
        module: &'m Module,
        directory: PathBuf,
        pattern: Option<&str>,
    ) -> Result<ValueTrace<'m>, String> {
        let pattern =
            pattern.map(compile).transpose().map_err(|e| format!("--trace-match: {e}"))?;
        std::fs::create_dir_all(&directory)
            .map_err(|e| format!("cannot make the directory {}: {e}", directory.display()))?;
        Ok(ValueTrace {
            directory,
            pattern,
            names: TraceIndex::of(module),
            saved: 0,
            index: String::new(),
        })
    }

    /// Saves a value: result `index` of `op`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn save(
        &mut self,
        process: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        let RuntimeValue::Tensor(tensor) = value else { return Ok(()) };
        if index >= op.num_results() {
            return Ok(());
        }
        let name = self.names.name(op, index);
        let matches = |pattern: &Regex| {
            [&name.value, op.name(), &name.location].into_iter().any(|text| pattern.is_match(text))
        };
        if self.pattern.as_ref().is_some_and(|pattern| !matches(pattern)) {
            return Ok(());
        }
        let file = format!("value_{:06}.npy", self.saved);
        let line = self.names.line(process, (op, index), &name, tensor, &file);
        let path = self.directory.join(&file);
        write_whole(&path, |out| npy::write(tensor, out))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        self.saved += 1;
        self.index.push_str(&format!("{line}\n"));
        Ok(())
    }

    /// Writes the index.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn finish(&self) -> Result<(), String> {
        let path = self.directory.join(INDEX);
        write_whole(&path, |out| out.write_all(self.index.as_bytes()))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))
    }
}
