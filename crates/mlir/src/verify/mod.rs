//! The verifier: checks a module against the declarations of its ops and the rules of MLIR.
//!
//! It goes as upstream's does: within each op that is isolated from above, first each op in order
//! before its regions, then what looks into regions, then the isolated ops within, then symbols,
//! then dominance. `op.rs` and `traits.rs` check one op against its declaration, `blocks.rs`
//! terminators and successors, `symbols.rs` symbols, `dominance.rs` where values are visible,
//! `compatible.rs` inferred types, `upstream.rs` upstream's order of errors. `parallel.rs` shares
//! the work between two threads, `verified.rs` is a cache of valid ops.

mod blocks;
mod compatible;
mod dominance;
mod labels;
mod op;
mod parallel;
mod single;
mod symbols;
mod traits;
mod upstream;
mod verified;

pub use compatible::{are_compatible, have_compatible_shapes};
pub use labels::{LABELS, Label};
pub use single::verify_inputs;
pub use symbols::{nearest_symbol, suggest_symbol};
pub use upstream::UpstreamErrors;

use crate::diag::counted;
use crate::diag::{self, Diagnostic, Diagnostics, Severity};
use crate::ir::{BlockId, Module, OpId, OpRef, RegionId};
use crate::ods::{OpDef, Trait};
use upstream::FoundBy;

/// Which errors are reported, and in which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reporting {
    /// Every independent error, that is the first of each op, in textual order.
    #[default]
    All,
    /// Upstream's order, and only the first error of each op that is isolated from above.
    LikeUpstream,
}

/// Options of the verifier.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifyOptions {
    /// Which errors are reported.
    pub reporting: Reporting,
    /// Allow ops of unregistered dialects.
    pub allow_unregistered_dialects: bool,
    /// Refuse what upstream's verifier accepts, but no run.
    pub strict: bool,
}

/// Checks the module and everything in it. The module is valid if no diagnostic is an error.
///
/// Hooks may assume that their op and its ancestors satisfy their slots and traits;
/// `verify_regions` and `verify_symbols` may assume that of nested ops, too.
pub fn verify(module: &Module, options: &VerifyOptions) -> Diagnostics {
    if parallel::are_valid(module, options) {
        return Vec::new();
    }
    let mut verifier = Verifier::new(module, options, None);
    verifier.isolated(module.top().id(), true);
    let mut errors = verifier.errors;
    if options.reporting == Reporting::All {
        diag::sort(&mut errors);
    }
    errors
}

/// An op whose regions are being verified: an entry of the work stack.
struct RegionVisit {
    op: OpId,
    region: usize,
    block: usize,
    /// The op of the block that was visited last.
    last: Option<OpId>,
    /// Run hooks of nested ops: false if an ancestor does not satisfy its declaration.
    hooks: bool,
    /// Number of errors before the op.
    errors_before: usize,
    /// Number of symbol users before the op.
    users_before: usize,
}

struct Verifier<'m> {
    module: &'m Module,
    options: VerifyOptions,
    stops: bool,
    errors: Diagnostics,
    frames: Vec<RegionVisit>,
    /// Ops with `verify_symbols` whose symbol table is still being verified.
    symbol_users: Vec<OpId>,
    verified: verified::VerifiedOps<'m>,
    dominance: dominance::Dominance<'m>,
    /// The ops that another worker checks, if there is one.
    second_share: Option<parallel::SecondShare>,
}

impl<'m> Verifier<'m> {
    fn new(
        module: &'m Module,
        options: &VerifyOptions,
        second_share: Option<parallel::SecondShare>,
    ) -> Verifier<'m> {
        Verifier {
            module,
            options: *options,
            stops: options.reporting == Reporting::LikeUpstream,
            errors: Vec::new(),
            frames: Vec::new(),
            symbol_users: Vec::new(),
            verified: Default::default(),
            dominance: dominance::Dominance::new(module),
            second_share,
        }
    }

    /// True if there are more errors than `before`.
    fn failed_since(&self, before: usize) -> bool {
        self.errors[before..].iter().any(|d| d.severity == Severity::Error)
    }

    /// Verifies an op that is isolated from above, or the top one, with its regions. Returns false
    /// on error.
    fn isolated(&mut self, root: OpId, hooks: bool) -> bool {
        let before = self.errors.len();
        let base = self.frames.len();
        let hooks = self.enter(root, hooks);
        if self.stops && self.failed_since(before) {
            return false;
        }
        if self.module.op(root).regions().is_empty() {
            return self.exit_leaf(root) && !self.failed_since(before);
        }
        self.push(root, hooks, before);
        while self.frames.len() > base {
            if !self.step() && self.stops {
                self.frames.truncate(base);
                return false;
            }
        }
        if self.second_share.is_none() && (!self.stops || !self.failed_since(before)) {
            self.check_dominance(root);
        }
        !self.failed_since(before)
    }

    fn push(&mut self, op: OpId, hooks: bool, errors_before: usize) {
        let users_before = self.symbol_users.len();
        self.frames.push(RegionVisit {
            op,
            region: 0,
            block: 0,
            last: None,
            hooks,
            errors_before,
            users_before,
        });
    }

    /// Continues with the innermost op. Returns false on error.
    fn step(&mut self) -> bool {
        let before = self.errors.len();
        let module = self.module;
        let Some(frame) = self.frames.last() else { return true };
        let regions = module.op(frame.op).regions();
        let (hooks, Some(&region)) = (frame.hooks, regions.get(frame.region)) else {
            let Some(frame) = self.frames.pop() else { return true };
            return self.exit(&frame);
        };
        let Some(&block) = module.blocks(region).get(frame.block) else {
            self.next(|f| (f.region, f.block, f.last) = (f.region + 1, 0, None));
            return true;
        };
        let mut next = match frame.last {
            Some(last) => module.op(last).next_in_block(),
            None => {
                self.enter_block(region, block);
                if self.stops && self.failed_since(before) {
                    return false;
                }
                module.first_op(block)
            }
        };
        while let Some(view) = next {
            next = view.next_in_block();
            let op = view.id();
            let is_leaf = view.regions().is_empty();
            if !is_leaf && view.has_trait(&Trait::IsolatedFromAbove) {
                continue;
            }
            if self.second_share.as_ref().is_some_and(|share| share.contains(view)) {
                continue;
            }
            let errors_before = self.errors.len();
            let hooks = self.enter(op, hooks);
            if is_leaf {
                self.exit_leaf(op);
            }
            if self.stops && self.failed_since(before) {
                return false;
            }
            if !is_leaf {
                self.next(|f| f.last = Some(op));
                self.push(op, hooks, errors_before);
                return true;
            }
        }
        self.exit_block(region, block);
        self.next(|f| (f.block, f.last) = (f.block + 1, None));
        !self.failed_since(before)
    }

    fn next(&mut self, advance: impl FnOnce(&mut RegionVisit)) {
        if let Some(frame) = self.frames.last_mut() {
            advance(frame);
        }
    }

    /// Verifies an op before its regions. Returns true if hooks of nested ops may run.
    fn enter(&mut self, id: OpId, hooks: bool) -> bool {
        let op = self.module.op(id);
        let key = verified::VerifiedOps::key(op);
        if key.is_some_and(|key| self.verified.contains(key, op)) {
            debug_assert!(
                {
                    let before = self.errors.len();
                    self.check_op(op, hooks) && !self.failed_since(before)
                },
                "{} needs the trait ReadsOperands: its checks look at more than types and properties",
                op.name()
            );
            return hooks;
        }
        let before = self.errors.len();
        let fits = self.check_op(op, hooks);
        if let Some(key) = key
            && hooks
            && !self.failed_since(before)
        {
            self.verified.insert(key, op);
        }
        hooks && fits
    }

    /// Verifies an op without its regions. Returns true if it satisfies its declaration.
    fn check_op(&mut self, op: OpRef<'m>, hooks: bool) -> bool {
        let before = self.errors.len();
        self.check_attributes_of_dialects(op);
        let mut fits = true;
        if let Some(def) = op.def() {
            fits = self.check_slots(op, def) && self.check_traits(op, def);
            if fits && hooks {
                self.run_hooks(op, def);
                if def.verify_symbols.is_some() && !self.failed_since(before) {
                    self.symbol_users.push(op.id());
                }
            }
        }
        if !self.stops || !self.failed_since(before) {
            self.check_entry_blocks(op);
        }
        fits
    }

    fn run_hooks(&mut self, op: OpRef<'m>, def: &'static OpDef) {
        let before = self.errors.len();
        for t in def.traits {
            if let Trait::Check(_, check) = t
                && let Err(error) = check(op)
            {
                self.errors.push(error);
                return;
            }
        }
        if let Some(infer) = def.infer {
            match infer(op) {
                Ok(_) if def.verify_regions.is_some() => {}
                Ok(types) => self.check_inferred(op, &types, def.infer_label),
                Err(error) => self.errors.push(error),
            }
            if self.failed_since(before) {
                return self.repeat_like_upstream(op, def, FoundBy::Inferring);
            }
        }
        if let Some(Err(error)) = def.verify.map(|verify| verify(op)) {
            self.errors.push(error);
            self.repeat_like_upstream(op, def, FoundBy::Verifying);
            return;
        }
        let strict = def.verify_strict.filter(|_| self.options.strict);
        if let Some(Err(error)) = strict.map(|verify| verify(op)) {
            self.errors.push(error);
        } else if self.regions_first(def) {
            self.run_region_hook(op, def);
        }
    }

    fn run_region_hook(&mut self, op: OpRef<'m>, def: &'static OpDef) {
        let Some(verify) = def.verify_regions else { return };
        if let Err(error) = verify(op) {
            self.errors.push(error);
            self.repeat_like_upstream(op, def, FoundBy::Verifying);
        } else if let Some(Ok(types)) = def.infer.map(|infer| infer(op)) {
            // Result types may depend on what regions return, so they are compared after that is
            // verified.
            let before = self.errors.len();
            self.check_inferred(op, &types, def.infer_label);
            if self.failed_since(before) {
                self.repeat_like_upstream(op, def, FoundBy::Comparing);
            }
        }
    }

    fn check_inferred(
        &mut self,
        op: OpRef<'m>,
        inferred: &[crate::types::Type],
        label: &'static str,
    ) {
        let name = op.name();
        if inferred.len() != op.num_results() {
            let (found, expected) = (op.num_results(), inferred.len());
            let message = format!(
                "`{name}` has {}, but {expected} follow from its operands and attributes",
                counted(found, "result")
            );
            self.errors.push(op.error(label, message));
            return;
        }
        let mut pairs = op.result_types().zip(inferred).enumerate();
        if let Some((i, (found, expected))) = pairs.find(|(_, (f, e))| !are_compatible(e, f)) {
            let message = format!(
                "result {i} of `{name}` has type {found}, but {expected} follows from its operands and attributes"
            );
            self.errors.push(op.error(label, message));
        }
    }

    /// Verifies an op without regions last. Returns false on error.
    fn exit_leaf(&mut self, id: OpId) -> bool {
        let op = self.module.op(id);
        if op.def().is_some() {
            return true;
        }
        self.check_is_allowed(op)
    }

    /// Rejects ops without a declaration, unless they are allowed.
    fn check_is_allowed(&mut self, op: OpRef<'m>) -> bool {
        let name = op.name();
        let namespace = name.split_once('.').map_or(name, |(namespace, _)| namespace);
        let message = if self.module.registry().is_complete(namespace) {
            format!("dialect `{namespace}` has no op `{name}`")
        } else if !self.options.allow_unregistered_dialects {
            format!(
                "`{name}` is no registered op; the option allow_unregistered_dialects accepts those \
                 of unregistered dialects"
            )
        } else {
            return true;
        };
        self.report(op.error("unregistered", message))
    }

    /// Verifies an op after its regions. Returns false on error, also in its regions.
    fn exit(&mut self, frame: &RegionVisit) -> bool {
        let op = self.module.op(frame.op);
        let module = self.module;
        let blocks = op.regions().iter().flat_map(|&r| module.blocks(r));
        for inner in blocks.flat_map(|&block| module.ops(block)) {
            if !inner.regions().is_empty() && inner.has_trait(&Trait::IsolatedFromAbove) {
                self.isolated(inner.id(), frame.hooks);
            }
        }
        let Some(def) = op.def() else {
            return !self.failed_since(frame.errors_before) & self.check_is_allowed(op);
        };
        let clean = !self.failed_since(frame.errors_before);
        if !clean && self.stops {
            return false;
        }
        if clean {
            self.check_region_traits(op, def);
        }
        if def.has_trait(&Trait::SymbolTable) {
            self.check_symbol_table(op, frame.users_before);
        }
        if clean
            && frame.hooks
            && !self.failed_since(frame.errors_before)
            && !self.regions_first(def)
        {
            self.run_region_hook(op, def);
        }
        !self.failed_since(frame.errors_before)
    }

    /// Verifies discardable attributes with the hook of their dialect.
    fn check_attributes_of_dialects(&mut self, op: OpRef<'m>) {
        for (name, attr) in op.attributes().iter() {
            let Some((namespace, _)) = name.split_once('.') else { continue };
            let hook = self.module.registry().dialect(namespace).and_then(|d| d.verify_attribute);
            self.errors.extend(hook.and_then(|verify| verify(op, name, attr).err()));
        }
    }

    /// Records an error and returns false.
    fn report(&mut self, diagnostic: Diagnostic) -> bool {
        self.errors.push(diagnostic);
        false
    }
}

/// True if values of the region may be used before their definition.
fn is_graph_region(module: &Module, region: RegionId) -> bool {
    let Some(parent) = module.region_parent(region) else { return true };
    let parent = module.op(parent);
    // As in upstream, regions of unregistered ops may be graph regions.
    parent
        .def()
        .is_none_or(|def| def.has_trait(&Trait::SymbolTable) && def.has_trait(&Trait::NoTerminator))
}

/// The parent op of a block.
fn parent_op(module: &Module, block: BlockId) -> Option<OpId> {
    module.region_parent(module.block_parent(block)?)
}
