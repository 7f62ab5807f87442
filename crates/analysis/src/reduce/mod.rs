//! The smallest program that still satisfies a test: delta debugging with edits of StableHLO.
//!
//! A change is made to a copy, which is cleaned of dead code, verified, and tested; if it passes,
//! it takes the place of the program. Changes to many ops come before changes to few. Rounds of all
//! kinds of changes go on until one changes nothing.

mod edits;
mod sizes;

use edits::Replacement;
pub use edits::uncalled;
use mlir::diag::Severity;
use mlir::ods::Trait;
use mlir::pass::{NoObserver, PassPipeline};
use mlir::rewrite::effects::is_memory_effect_free;
use mlir::verify::{VerifyOptions, verify};
use mlir::{Module, OpId, OpRef};
use side_dialects::func::FuncOp;

/// Tests whether a program still shows what is searched for.
pub type Test<'a, E> = &'a mut dyn FnMut(&Module) -> Result<bool, E>;

/// A reduced program.
pub struct Reduced {
    /// The program.
    pub module: Module,
    /// Number of tests.
    pub tests: usize,
    /// True if the limit of tests ended the reduction.
    pub is_limited: bool,
}

/// Reduces a verified program that passes the test, with at most `max_tests` tests.
///
/// # Errors
/// Errors of the test.
pub fn reduce<E>(module: Module, max_tests: usize, test: Test<'_, E>) -> Result<Reduced, E> {
    let mut reducer = Reducer {
        module,
        test,
        tests: 0,
        max_tests,
        inline: pipeline("inline,symbol-dce"),
        merge: pipeline("cse"),
    };
    reducer.round_of_whole()?;
    loop {
        let before = reducer.progress();
        reducer.functions()?;
        reducer.results()?;
        for replacement in Replacement::ALL {
            reducer.ops(replacement)?;
        }
        reducer.regions()?;
        reducer.returns()?;
        reducer.arguments()?;
        reducer.sizes()?;
        reducer.attributes()?;
        if reducer.is_over() || reducer.progress() == before {
            break;
        }
    }
    let merge = reducer.merge.take();
    reducer.pass(merge.as_ref())?;
    let is_limited = reducer.is_over();
    Ok(Reduced { module: reducer.module, tests: reducer.tests, is_limited })
}

fn pipeline(text: &str) -> Option<PassPipeline> {
    transforms::PASSES.parse(text).ok()
}

struct Reducer<'a, E> {
    module: Module,
    test: Test<'a, E>,
    tests: usize,
    max_tests: usize,
    inline: Option<PassPipeline>,
    merge: Option<PassPipeline>,
}

impl<E> Reducer<'_, E> {
    fn is_over(&self) -> bool {
        self.tests >= self.max_tests
    }

    /// Numbers of which one becomes smaller with each change that is kept.
    fn progress(&self) -> (usize, usize, usize, u128) {
        let ops = || self.module.walk(self.module.top().id());
        let constants = ops().filter(|op| op.has_trait(&Trait::ConstantLike)).count();
        let attributes = ops().map(|op| op.attributes().len()).sum();
        let elements = ops().flat_map(OpRef::result_types).map(|ty| {
            let sizes = ty.shape().unwrap_or(&[]).iter();
            sizes.map(|&size| u128::from(size.unsigned_abs())).fold(1, u128::saturating_mul)
        });
        (
            ops().count() - constants,
            ops().count(),
            attributes,
            elements.fold(0, u128::saturating_add),
        )
    }

    /// Makes a change if the result passes the test. Returns true if so.
    fn attempt(&mut self, change: &mut dyn FnMut(&mut Module) -> Option<()>) -> Result<bool, E> {
        if self.is_over() {
            return Ok(false);
        }
        let mut changed = self.module.clone();
        changed.build_uses();
        if change(&mut changed).is_none() {
            return Ok(false);
        }
        edits::remove_dead(&mut changed);
        let errors = verify(&changed, &VerifyOptions::default());
        if errors.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return Ok(false);
        }
        self.tests += 1;
        let passes = (self.test)(&changed)?;
        if passes {
            self.module = changed;
        }
        Ok(passes)
    }

    /// Makes a change to a maximal number of `items`: to chunks of them, of half the size each
    /// time. `change` skips items that are gone, and is `None` if there is nothing to change.
    fn chunks<T: Copy>(
        &mut self,
        items: &[T],
        change: &mut dyn FnMut(&mut Module, &[T]) -> Option<()>,
    ) -> Result<(), E> {
        let mut items = items.to_vec();
        let mut size = items.len();
        while size > 0 {
            // Later ones first: what only they need goes with them.
            let mut end = items.len();
            while end > 0 {
                let start = end.saturating_sub(size);
                if self.attempt(&mut |module| change(module, &items[start..end]))? {
                    items.drain(start..end);
                }
                end = start;
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        Ok(())
    }

    fn pass(&mut self, pipeline: Option<&PassPipeline>) -> Result<bool, E> {
        let Some(pipeline) = pipeline else { return Ok(false) };
        self.attempt(&mut |module| {
            let before = module.to_string();
            // Ops may have other numbers afterwards.
            let found = pipeline.run(module, None, &mut NoObserver);
            let failed = found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
            (!failed && module.to_string() != before).then_some(())
        })
    }

    /// Changes to the program as a whole: without locations, without dead code, inlined.
    fn round_of_whole(&mut self) -> Result<(), E> {
        self.attempt(&mut |module| {
            edits::forget_locations(module);
            Some(())
        })?;
        let inline = self.inline.take();
        self.pass(inline.as_ref()).map(drop)
    }

    fn ids(&self, which: impl Fn(OpRef<'_>) -> bool) -> Vec<OpId> {
        let ops = self.module.walk(self.module.top().id());
        ops.filter(|op| which(*op)).map(OpRef::id).collect()
    }

    /// Removes functions that nothing refers to.
    fn functions(&mut self) -> Result<(), E> {
        let functions = self.ids(|op| op.symbol_name().is_some() && op.parent().is_some());
        self.chunks(&functions, &mut |module, functions| {
            let mut erased = None;
            for &function in functions {
                if module.is_attached(function) {
                    module.erase(function);
                    erased = Some(());
                }
            }
            erased
        })
    }

    /// Removes results of functions that nothing calls.
    fn results(&mut self) -> Result<(), E> {
        for function in uncalled(&self.module) {
            let count = |module: &Module| FuncOp(module.op(function)).signature().1.len();
            let mut size = count(&self.module);
            while size > 0 {
                // Items before a removed range keep their positions.
                let mut end = count(&self.module);
                while end > 0 {
                    let start = end.saturating_sub(size);
                    self.attempt(&mut |module| {
                        let keep = |index| !(start..end).contains(&index);
                        edits::keep_results(module, function, &keep)
                    })?;
                    end = start;
                }
                size = if size == 1 { 0 } else { size.div_ceil(2) };
            }
        }
        Ok(())
    }

    /// Replaces the results of ops.
    fn ops(&mut self, replacement: Replacement) -> Result<(), E> {
        let ops = self.ids(|op| {
            op.num_results() > 0
                && !op.has_trait(&Trait::ConstantLike)
                && !op.has_trait(&Trait::Terminator)
        });
        self.chunks(&ops, &mut |module, ops| {
            let mut changed = None;
            for &op in ops {
                if module.is_attached(op) && replacement.apply(module, op).is_some() {
                    changed = Some(());
                }
            }
            changed
        })?;
        // Ops with effects and without results.
        let effects = self.ids(|op| {
            op.num_results() == 0
                && op.symbol_name().is_none()
                && !op.has_trait(&Trait::Terminator)
                && op.parent().is_some()
                && !is_memory_effect_free(op)
        });
        self.chunks(&effects, &mut |module, ops| {
            let attached: Vec<OpId> =
                ops.iter().copied().filter(|&op| module.is_attached(op)).collect();
            attached.iter().for_each(|&op| module.erase(op));
            (!attached.is_empty()).then_some(())
        })
    }

    /// Replaces an op by one of its regions: a branch, or one iteration of a loop.
    fn regions(&mut self) -> Result<(), E> {
        for op in self.ids(|op| !op.regions().is_empty() && op.num_results() > 0) {
            let count = match self.module.is_attached(op) {
                true => self.module.op(op).regions().len(),
                false => 0,
            };
            for region in (0..count).rev() {
                if self.attempt(&mut |module| edits::inline_region(module, op, region))? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Makes the result of an op the only result of its function, if there are few ops.
    fn returns(&mut self) -> Result<(), E> {
        const MAX_OPS: usize = 64;
        for function in uncalled(&self.module) {
            let is_own = |op: OpRef<'_>| op.parent().map(OpRef::id) == Some(function);
            let ops = self.ids(|op| is_own(op) && op.num_results() > 0);
            for op in ops.into_iter().take(MAX_OPS) {
                if self.attempt(&mut |module| edits::return_only(module, function, op))? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Removes unused arguments of functions that nothing calls.
    fn arguments(&mut self) -> Result<(), E> {
        for function in uncalled(&self.module) {
            self.attempt(&mut |module| edits::drop_unused_arguments(module, function))?;
        }
        Ok(())
    }

    /// Makes dimensions smaller.
    fn sizes(&mut self) -> Result<(), E> {
        for size in sizes::sizes(&self.module) {
            for smaller in [1, 2, size / 2] {
                let is_smaller = smaller > 0 && smaller < size;
                if is_smaller
                    && (self.attempt(&mut |module| sizes::replace(module, size, smaller, true))?
                        || self
                            .attempt(&mut |module| sizes::replace(module, size, smaller, false))?)
                {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Removes attributes that are not part of the declaration of their op.
    fn attributes(&mut self) -> Result<(), E> {
        let ops = self.ids(|op| !op.attributes().is_empty());
        self.chunks(&ops, &mut |module, ops| edits::drop_attributes(module, ops))?;
        let functions = self.ids(|op| FuncOp::cast(op).is_some());
        self.chunks(&functions, &mut |module, functions| {
            let mut changed = None;
            for &function in functions {
                for name in ["arg_attrs", "res_attrs"] {
                    if module.is_attached(function) && module.remove_attr(function, name).is_some()
                    {
                        changed = Some(());
                    }
                }
            }
            changed
        })
    }
}
