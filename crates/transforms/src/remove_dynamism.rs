//! `stablehlo-remove-dynamism`, and the library function that makes a program static: arguments get
//! sizes, shapes are refined, and dynamic ops are replaced by static ones.

use crate::dimensions::Dimensions;
use crate::dynamic_values::first_dynamic_value;
use crate::refine_arguments::{
    entry_function, refine_arguments, refine_entry_arguments, substitute_argument,
};
use crate::refine_shapes::refine_shapes;
use crate::{canonicalize_dynamism, check_shape_assertions, cse, symbol_dce};
use mlir::diag::{Diagnostics, Severity};
use mlir::pass::{OptionKind, Pass, PassContext, PassOption, PassOptions};
use mlir::rewrite::{Rewriter, Statistics};
use mlir::verify::{VerifyOptions, verify};
use mlir::{Diagnostic, Module, OpId, OpRef, Type};
use side_dialects::func::FuncOp;

/// Refines arguments and shapes, and replaces dynamic ops.
pub(crate) const PASS: Pass = Pass::on_modules(
    "stablehlo-remove-dynamism",
    "Refine arguments and shapes, and replace dynamic ops by static ones",
    run,
)
.with_options(&[PassOption {
    name: "types",
    doc: "The types of the entry function's arguments; unchanged if empty",
    kind: OptionKind::List,
}]);

fn run(cx: &mut PassContext<'_>) {
    let types = cx.options.list("types");
    if let Err(error) = if types.is_empty() { Ok(()) } else { refine_entry_arguments(cx, types) } {
        return cx.report(error);
    }
    let errors = refine_shapes(cx.module, cx.root, cx.options, true);
    cx.diagnostics.extend(errors);
    if !cx.failed() {
        let errors = on_functions(cx.module, cx.root, &canonicalize_dynamism::PASS);
        cx.diagnostics.extend(errors);
    }
}

/// Runs a pass with default options on each function of a module.
fn on_functions(module: &mut Module, root: OpId, pass: &Pass) -> Diagnostics {
    let options = PassOptions::defaults(pass.options);
    let mut diagnostics = Vec::new();
    let functions: Vec<OpId> =
        module.walk(root).filter(|op| op.is(FuncOp::DEF)).map(OpRef::id).collect();
    for root in functions {
        let statistics = Statistics::default();
        let mut cx =
            PassContext { module, root, options: &options, diagnostics: Vec::new(), statistics };
        (pass.run)(&mut cx);
        diagnostics.append(&mut cx.diagnostics);
    }
    diagnostics
}

/// Sizes for the arguments of the entry function, to make a program static.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Integer arguments with their values: these become constants, and the arguments are removed.
    pub constants: Vec<(usize, i64)>,
    /// The types of the other arguments. If `None`, they follow from the fields below.
    pub types: Option<Vec<Type>>,
    /// The size of the first dimension of each argument, where it is dynamic.
    pub batch: Option<i64>,
    /// Sizes of named dimensions.
    pub names: Vec<(String, i64)>,
}

/// Makes a verified program static: its entry function, which is the only one or `main`, and all
/// that it calls.
///
/// Assertions on shapes are checked and removed, private functions without uses are removed, and a
/// value that stays dynamic is an error that explains why. On error, the module is left partially
/// transformed.
pub fn make_static(module: &mut Module, sizes: &Sizes) -> Diagnostics {
    let root = module.top().id();
    if let Err(error) = set_arguments(module, root, sizes) {
        return vec![error];
    }
    let mut diagnostics = refine_shapes(module, root, &PassOptions::default(), true);
    if diagnostics.is_empty() && first_dynamic_value(module, root).is_some() {
        // The size of a slice is static if its limits are computed from the same value as its
        // starts, which CSE reveals.
        diagnostics = on_functions(module, root, &cse::PASS);
        diagnostics.extend(refine_shapes(module, root, &PassOptions::default(), true));
    }
    for pass in [&canonicalize_dynamism::PASS, &check_shape_assertions::PASS] {
        if diagnostics.is_empty() {
            symbol_dce::remove_unused(module, root, |op| op.is(FuncOp::DEF));
            diagnostics.extend(why_dynamic(module, root));
        }
        if diagnostics.is_empty() {
            diagnostics.extend(on_functions(module, root, pass));
        }
    }
    diagnostics
}

/// The function at which [`make_static`] starts, if a value in it or in functions that it calls has
/// a dynamic shape.
pub fn dynamic_entry(module: &Module) -> Option<OpId> {
    let root = module.top().id();
    first_dynamic_value(module, root)?;
    Some(entry_function(module, root).ok()?.id())
}

/// Reports why values stay dynamic, if any do. Sizes that an assertion or an op excludes make the
/// shapes that depend on them unknown, so these come before the first dynamic value.
fn why_dynamic(module: &Module, root: OpId) -> Diagnostics {
    let Some(dynamic) = first_dynamic_value(module, root) else { return Vec::new() };
    let mut causes = check_shape_assertions::failures(module, root);
    if causes.is_empty() {
        causes = verify(module, &VerifyOptions::default());
        causes.retain(|cause| cause.severity == Severity::Error);
    }
    if causes.is_empty() { vec![dynamic] } else { causes }
}

fn set_arguments(module: &mut Module, root: OpId, sizes: &Sizes) -> Result<(), Diagnostic> {
    let entry = entry_function(module, root)?.id();
    let options = PassOptions::default();
    let mut constants = sizes.constants.clone();
    // In reverse order, so that the indices of the others stay valid.
    constants.sort_unstable_by(|a, b| b.cmp(a));
    if let Some(pair) = constants.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let message =
            format!("argument {} cannot be both {} and {}", pair[0].0, pair[1].1, pair[0].1);
        return Err(module.op(entry).error("argument", message));
    }
    for &(argument, value) in &constants {
        substitute_argument(&mut Rewriter::new(module, &options), entry, argument, value)?;
    }
    if let Some(types) = &sizes.types {
        return refine_arguments(&mut Rewriter::new(module, &options), entry, types);
    }
    if let Some(size) =
        sizes.batch.iter().chain(sizes.names.iter().map(|(_, size)| size)).find(|size| **size < 0)
    {
        return Err(module.op(entry).error("size", format!("a dimension cannot have size {size}")));
    }
    let Some(mut dimensions) = Dimensions::of(FuncOp(module.op(entry))) else { return Ok(()) };
    for (i, (name, size)) in sizes.names.iter().enumerate() {
        if let Some((_, other)) =
            sizes.names[..i].iter().find(|(n, other)| n == name && other != size)
        {
            let message = format!("dimension `{name}` cannot be both {other} and {size}");
            return Err(module.op(entry).error("dim", message));
        }
        dimensions.set_name(name, *size)?;
    }
    // Named sizes take precedence over the batch size.
    dimensions.propagate();
    if let Some(size) = sizes.batch {
        dimensions.set_batch(size)?;
    }
    dimensions.check_names()?;
    let unknown: Vec<String> =
        dimensions.unknown_names().iter().map(|name| format!("`{name}`")).collect();
    let types = dimensions.types();
    let dynamic = types.iter().any(|ty| ty.as_tensor().is_some_and(|t| !t.has_static_shape()));
    if dynamic && !unknown.is_empty() {
        let message =
            format!("the sizes of these dimensions must be given, too: {}", unknown.join(", "));
        return Err(module.op(entry).error("dim", message));
    }
    let own = dimensions.constant_arguments();
    let mut types: Vec<Option<Type>> = types.into_iter().map(Some).collect();
    own.iter().for_each(|&(i, _)| types[i] = None);
    for &(argument, value) in own.iter().rev() {
        substitute_argument(&mut Rewriter::new(module, &options), entry, argument, value)?;
    }
    let types: Vec<Type> = types.into_iter().flatten().collect();
    refine_arguments(&mut Rewriter::new(module, &options), entry, &types)
}
