//! Observes passes: IR before and after them, times and statistics.

use super::PassFlags;
use super::reproducer::Reproducer;
use crate::io::{CommandFailure, Io};
use stablo::ir::OpId;
use stablo::passes::{Invocation, PassObserver, PatternStatistics, Step};
use stablo::{Module, PrintOptions, print_op};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Observes passes as requested by flags.
pub(super) struct Log<'a> {
    flags: &'a PassFlags,
    print: PrintOptions,
    text: String,
    /// Dumps that go to files of `--mlir-print-ir-tree-dir`.
    tree: DumpTree,
    /// The reproducer of the last failure.
    pub(super) reproducer: Reproducer,
    /// Time and statistics by pass, in the order of their first run.
    passes: Vec<(&'static str, Duration, PatternStatistics)>,
    /// The text before the pass, if needed for comparison.
    before: String,
}

impl<'a> Log<'a> {
    pub(super) fn new(flags: &'a PassFlags, print: PrintOptions) -> Log<'a> {
        Log {
            flags,
            print,
            text: String::new(),
            tree: DumpTree::default(),
            reproducer: Reproducer::new(flags, print),
            passes: Vec::new(),
            before: String::new(),
        }
    }

    /// The text of the op that a pass runs on.
    fn shown(&self, module: &Module, root: OpId) -> String {
        if self.flags.mlir_print_ir_module_scope {
            print_op(module.top(), &self.print)
        } else {
            print_op(module.op(root), &self.print)
        }
    }

    fn dump(&mut self, when: &str, invocation: &Invocation, module: &Module, root: OpId) {
        let shown = self.shown(module, root);
        if self.flags.mlir_print_ir_tree_dir.is_some() {
            let text = format!("// IR Dump {when} {}\n{shown}\n", invocation.pass.name);
            return self.tree.add(invocation, module, root, text);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.text,
            "// -----// IR Dump {when} {} //----- //\n{shown}\n",
            invocation.pass.name
        );
    }

    /// Writes the dumps and the reproducer to their files, and reports the rest.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn finish(mut self, io: &mut Io<'_>) -> Result<(), CommandFailure> {
        let dumped = match &self.flags.mlir_print_ir_tree_dir {
            Some(directory) => std::mem::take(&mut self.tree).write(directory, io),
            None => Ok(()),
        };
        let reproducer = std::mem::take(&mut self.reproducer);
        io.report(self.summary());
        dumped.and(reproducer.write(io))
    }

    /// The dumps, times and statistics.
    fn summary(mut self) -> String {
        if self.flags.mlir_timing {
            let total: Duration = self.passes.iter().map(|(_, elapsed, _)| *elapsed).sum();
            let lines = self.passes.iter().map(|(name, elapsed, _)| (*name, *elapsed));
            for (name, elapsed) in lines.chain([("total", total)]) {
                let share =
                    100.0 * elapsed.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
                let _ =
                    writeln!(self.text, "{:10.6} s ({share:5.1} %)  {name}", elapsed.as_secs_f64());
            }
        }
        if self.flags.mlir_pass_statistics {
            for (name, _, statistics) in &self.passes {
                let _ = writeln!(self.text, "{name}");
                for (pattern, count) in statistics.iter() {
                    let _ = writeln!(
                        self.text,
                        "  {:8} of {:8}  {pattern}",
                        count.applied, count.tried
                    );
                }
            }
        }
        self.text
    }
}

impl PassObserver for Log<'_> {
    fn before(&mut self, invocation: &Invocation, module: &Module, root: OpId) {
        if self.flags.mlir_print_ir_before_all
            || names(&self.flags.mlir_print_ir_before, invocation)
        {
            self.dump("Before", invocation, module, root);
        }
        if self.flags.mlir_print_ir_after_change {
            self.before = self.shown(module, root);
        }
        self.reproducer.before_pass(invocation, module, root);
    }

    fn after(&mut self, step: &Step<'_>, module: &Module) {
        if self.flags.mlir_print_ir_after_all
            || names(&self.flags.mlir_print_ir_after, step.invocation)
        {
            let unchanged = self.flags.mlir_print_ir_after_change
                && self.shown(module, step.root) == self.before;
            if !unchanged {
                self.dump("After", step.invocation, module, step.root);
            }
        }
        let name = step.invocation.pass.name;
        match self.passes.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, elapsed, statistics)) => {
                *elapsed += step.elapsed;
                statistics.merge(step.statistics);
            }
            None => {
                let mut statistics = PatternStatistics::default();
                statistics.merge(step.statistics);
                self.passes.push((name, step.elapsed, statistics));
            }
        }
    }

    fn failed(&mut self, invocation: &Invocation, module: &Module, root: OpId) {
        if self.flags.mlir_print_ir_after_failure {
            self.dump("After Failure of", invocation, module, root);
        }
    }
}

fn names(names: &[String], invocation: &Invocation) -> bool {
    names.iter().any(|name| name == invocation.pass.name)
}

/// Dumps as files in directories that are nested as the ops are.
#[derive(Default)]
struct DumpTree {
    files: Vec<(PathBuf, String)>,
    /// Number of dumps of each op.
    dumps: HashMap<OpId, usize>,
}

impl DumpTree {
    /// Adds `func_func_main/0_1_cse.mlir` and the like: the numbers count the dumps of the op, and
    /// of each op around it when this one was made, from 0.
    fn add(&mut self, invocation: &Invocation, module: &Module, root: OpId, text: String) {
        let number = self.dumps.get(&root).copied().unwrap_or(0);
        let mut path = Vec::new();
        let mut numbers = vec![number.to_string()];
        let mut around = Some(root);
        while let Some(op) = around {
            let op_ref = module.op(op);
            let symbol = op_ref.symbol_name().unwrap_or("no-symbol-name");
            path.push(file_name(&format!("{}_{symbol}", op_ref.name().replace('.', "_"))));
            around = op_ref.parent().map(|parent| parent.id());
            if let Some(parent) = around {
                let dumps = self.dumps.get(&parent).copied().unwrap_or(0);
                numbers.push(dumps.saturating_sub(1).to_string());
            }
        }
        numbers.reverse();
        self.dumps.insert(root, number + 1);
        let mut file: PathBuf = path.iter().rev().collect();
        file.push(format!("{}_{}.mlir", numbers.join("_"), invocation.pass.name));
        self.files.push((file, text));
    }

    fn write(self, directory: &Path, io: &Io<'_>) -> Result<(), CommandFailure> {
        for (file, text) in self.files {
            let path = directory.join(file);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(io.path(parent)).map_err(|error| {
                    let message =
                        format!("cannot make the directory {}: {error}", parent.display());
                    CommandFailure::input(message)
                })?;
            }
            io.write_file(&path, |out| out.write_all(text.as_bytes()))?;
        }
        Ok(())
    }
}

/// A name as a part of a path: symbols may hold any character.
fn file_name(name: &str) -> String {
    const LONGEST: usize = 200;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '$');
    name.chars().take(LONGEST).map(|c| if plain(c) { c } else { '_' }).collect()
}
