//! The greedy driver: folds, removes dead code and applies patterns up to a fixed point.
//!
//! Source: MLIR's greedy pattern rewrite driver, whose order of work this follows, so that results
//! agree.

use super::fold::{Folder, is_constant};
use super::rewriter::RewriteEvent;
use super::{PatternSet, Rewriter, Statistics, effects};
use crate::diag::Diagnostics;
use crate::ir::{Module, OpId, OpRef};
use crate::options::PassOptions;
use rustc_hash::FxHashMap;

/// Driver configuration.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Fold ops and unique constants.
    pub fold: bool,
    /// Maximum number of passes over all ops.
    pub max_iterations: usize,
    /// Maximum number of rewrites in one pass over all ops.
    pub max_rewrites: usize,
    /// Visit ops top-down; bottom-up if false.
    pub top_down: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config { fold: true, max_iterations: 10, max_rewrites: usize::MAX, top_down: true }
    }
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct RewriteOutcome {
    /// True if a fixed point was reached.
    pub converged: bool,
    /// True if anything changed.
    pub changed: bool,
    /// Pattern statistics.
    pub statistics: Statistics,
    /// Diagnostics reported by patterns.
    pub diagnostics: Diagnostics,
}

/// Applies patterns to all ops in the regions of `root`.
pub fn rewrite(
    module: &mut Module,
    root: OpId,
    patterns: &mut PatternSet,
    options: &PassOptions,
    config: Config,
) -> RewriteOutcome {
    let mut rewriter = Rewriter::new(module, options);
    let mut driver = GreedyDriver {
        patterns,
        config,
        work: Worklist::default(),
        folder: Folder::default(),
        outcome: RewriteOutcome::default(),
    };
    for _ in 0..config.max_iterations {
        driver.folder = Folder::default();
        if !driver.iterate(&mut rewriter, root) {
            driver.outcome.converged = true;
            break;
        }
        driver.outcome.changed = true;
    }
    driver.outcome.diagnostics = rewriter.diagnostics;
    driver.outcome
}

struct GreedyDriver<'p> {
    patterns: &'p mut PatternSet,
    config: Config,
    work: Worklist,
    folder: Folder,
    outcome: RewriteOutcome,
}

impl GreedyDriver<'_> {
    /// One pass over all ops and those that it adds to the worklist. Returns true if anything
    /// changed.
    fn iterate(&mut self, rewriter: &mut Rewriter<'_>, root: OpId) -> bool {
        let mut changed = false;
        let ops: Vec<OpId> = rewriter.walk(root).skip(1).map(OpRef::id).collect();
        for &op in &ops {
            if self.config.fold
                && is_constant(rewriter.op(op))
                && !self.folder.insert_known(rewriter, op)
            {
                changed = true;
                self.drain(rewriter);
                continue;
            }
            self.work.push(op);
        }
        // The worklist is a stack.
        if self.config.top_down {
            self.work.reverse();
        }
        let mut rewrites = 0;
        while rewrites < self.config.max_rewrites {
            let Some(op) = self.work.pop() else { break };
            if rewriter.is_attached(op) && self.visit(rewriter, op) {
                rewrites += 1;
                changed = true;
            }
        }
        changed
    }

    /// Folds, erases or rewrites one op. Returns true if anything changed.
    fn visit(&mut self, rewriter: &mut Rewriter<'_>, op: OpId) -> bool {
        if effects::is_dead(rewriter, op) {
            rewriter.erase(op);
            self.outcome.statistics.count("dead-code", true);
            self.drain(rewriter);
            return true;
        }
        rewriter.set_root(op);
        if self.config.fold && !is_constant(rewriter.op(op)) {
            let folded = self.folder.fold(rewriter, op);
            self.drain(rewriter);
            if folded {
                self.outcome.statistics.count("fold", true);
                return true;
            }
        }
        for at in 0..self.patterns.indices(rewriter.op(op).def()).len() {
            let index = self.patterns.indices(rewriter.op(op).def())[at];
            let pattern = self.patterns.patterns[index];
            rewriter.set_root(op);
            let applied = (pattern.rewrite)(rewriter, op).is_some();
            self.outcome.statistics.count(pattern.name, applied);
            self.drain(rewriter);
            if applied {
                return true;
            }
        }
        false
    }

    /// Adds changed ops to the worklist.
    fn drain(&mut self, rewriter: &mut Rewriter<'_>) {
        for event in std::mem::take(&mut rewriter.events) {
            match event {
                RewriteEvent::Created(op) | RewriteEvent::Changed(op) => self.work.push(op),
                RewriteEvent::Erased(op) => {
                    self.work.remove(op);
                    self.folder.forget(op);
                }
                // Ops with a single remaining use may fuse with their user; unused ops are dead.
                RewriteEvent::LostUse(op) => {
                    let uses: usize =
                        rewriter.op(op).results().map(|r| rewriter.users(r).len()).sum();
                    if uses <= 1 && rewriter.is_attached(op) {
                        self.work.push(op);
                    }
                }
            }
        }
    }
}

/// A stack without duplicates.
#[derive(Default)]
struct Worklist {
    stack: Vec<Option<OpId>>,
    at: FxHashMap<OpId, usize>,
}

impl Worklist {
    fn push(&mut self, op: OpId) {
        if !self.at.contains_key(&op) {
            self.at.insert(op, self.stack.len());
            self.stack.push(Some(op));
        }
    }

    fn pop(&mut self) -> Option<OpId> {
        while let Some(top) = self.stack.pop() {
            if let Some(op) = top {
                self.at.remove(&op);
                return Some(op);
            }
        }
        None
    }

    fn remove(&mut self, op: OpId) {
        if let Some(at) = self.at.remove(&op) {
            self.stack[at] = None;
        }
    }

    fn reverse(&mut self) {
        self.stack.reverse();
        self.at = self.stack.iter().enumerate().filter_map(|(i, op)| Some(((*op)?, i))).collect();
    }
}
