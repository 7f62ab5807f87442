//! Values of a run that `stablo run --trace` or another program has saved: `.npy` files with an
//! `index.jsonl`.

use crate::io::{CommandFailure, Io};
use serde_json::Value as Json;
use stablo::arrays::npy;
use stablo::ir::OpId;
use stablo::judging::Record;
use stablo::{Module, Tensor, TraceIndex, walk};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files of recorded values, by op, result and iteration.
pub(crate) struct RecordedRun {
    directory: PathBuf,
    files: HashMap<(OpId, usize, usize), String>,
    dtypes: HashMap<(OpId, usize), stablo::DType>,
}

impl RecordedRun {
    /// Reads the index of a directory. A value is one of an op of the module by its `id`, which
    /// `stablo run` writes, or by the name of the value and the op, if only one has it.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(crate) fn open(
        directory: &Path,
        module: &Module,
        io: &mut Io<'_>,
    ) -> Result<RecordedRun, CommandFailure> {
        let path = directory.join("index.jsonl");
        let bytes = io.read(&path)?;
        let text = crate::source::text(&bytes, &path)?;
        let mut names = TraceIndex::of(module);
        let (mut by_name, mut ids) = (HashMap::new(), HashMap::new());
        let mut dtypes = HashMap::new();
        for op in walk(module) {
            ids.insert(op.id().index() as u64, op.id());
            for index in 0..op.num_results() {
                let name = names.name(op, index).value;
                // Regions may use a name again: values of such names are of no known op.
                let own = Some((op.id(), index));
                let entry = by_name.entry((name, op.name().to_string()));
                entry.and_modify(|known| *known = None).or_insert(own);
                if let Some(dtype) = stablo::storage_dtype(op.result_type(index)) {
                    dtypes.insert((op.id(), index), dtype);
                }
            }
        }
        let mut files = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let invalid = |why: &str| {
                CommandFailure::input(format!("{}:{}: {why}", path.display(), number + 1))
            };
            let line: Json = serde_json::from_str(line).map_err(|e| invalid(&e.to_string()))?;
            let field = |name: &str| line.get(name).and_then(Json::as_u64);
            // Values of the first process only.
            if field("replica").unwrap_or(0) != 0 || field("partition").unwrap_or(0) != 0 {
                continue;
            }
            let text = |name: &str| line.get(name).and_then(Json::as_str).unwrap_or_default();
            let file = text("file");
            if file.is_empty() || file.contains(['/', '\\']) {
                return Err(invalid("there is no name of a file in this directory"));
            }
            let op = field("id").and_then(|id| ids.get(&id));
            let found = match op {
                Some(&op) => Some((op, field("result").unwrap_or(0) as usize)),
                None => {
                    let name = (text("value").to_string(), text("op").to_string());
                    by_name.get(&name).copied().flatten()
                }
            };
            let Some((op, index)) = found else { continue };
            let iteration = field("iteration").unwrap_or(0) as usize;
            files.insert((op, index, iteration), file.to_string());
        }
        Ok(RecordedRun { directory: io.path(directory), files, dtypes })
    }
}

impl Record for RecordedRun {
    fn value(
        &mut self,
        op: OpId,
        index: usize,
        iteration: usize,
    ) -> Result<Option<Tensor>, String> {
        let Some(file) = self.files.get(&(op, index, iteration)) else { return Ok(None) };
        let Some(&dtype) = self.dtypes.get(&(op, index)) else { return Ok(None) };
        let path = self.directory.join(file);
        let failed =
            |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
        let bytes = std::fs::read(&path).map_err(|error| failed(&error))?;
        npy::read(bytes, dtype).map(Some).map_err(|error| failed(&error))
    }
}
