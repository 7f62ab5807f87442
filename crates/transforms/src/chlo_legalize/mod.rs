//! `chlo-legalize-to-stablehlo`: expands CHLO ops into StableHLO ops, and into shape ops where
//! dimensions are dynamic.
//!
//! Elementwise functions are formulas over [`expr::Expr`], one function each: `elementary.rs`,
//! `erf.rs`, `gamma.rs`, `bessel.rs` and `bits.rs`. The order of their ops and their constants are
//! upstream's, so that results have the same bits.

mod bessel;
mod bits;
pub(crate) mod broadcast;
mod elementary;
mod erf;
pub(crate) mod expr;
mod gamma;
mod ragged_dot;
mod scan;
mod top_k;
mod wide;

use expr::{Expr, replace_by};
use mlir::ods::OpDef;
use mlir::pass::{Pass, PassContext, PassOptions};
use mlir::rewrite::conversion::{ConversionTarget, Legality, convert};
use mlir::rewrite::{PatternSet, RewritePattern, Root};
use mlir::{Diagnostics, Module, OpRef};

/// Expands CHLO ops.
pub(crate) const PASS: Pass = Pass::on_functions(
    "chlo-legalize-to-stablehlo",
    "Expand CHLO ops into StableHLO and shape ops",
    run,
);

fn run(cx: &mut PassContext<'_>) {
    let legality = |op: OpRef<'_>| if is_chlo(op) { Legality::Illegal } else { Legality::Legal };
    cx.convert(&mut patterns(), &ConversionTarget { legality: &legality, types: None });
}

/// Expands the CHLO ops that the interpreter cannot evaluate directly.
///
/// # Errors
/// An op that has no expansion for its types.
pub fn expand_for_evaluation(module: &mut Module) -> Result<(), Diagnostics> {
    let legality =
        |op: OpRef<'_>| if needs_expansion(op) { Legality::Illegal } else { Legality::Legal };
    let (root, options) = (module.top().id(), PassOptions::default());
    let conversion = ConversionTarget { legality: &legality, types: None };
    let (diagnostics, _) = convert(module, root, &mut patterns(), &conversion, &options);
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}

/// True if [`expand_for_evaluation`] would expand the op.
pub fn needs_expansion(op: OpRef<'_>) -> bool {
    op.def().is_some_and(|def| def.prepare.is_none()) && is_chlo(op)
}

/// True if `chlo-legalize-to-stablehlo` expands ops of this declaration, at least for some types.
pub fn has_expansion(def: &'static OpDef) -> bool {
    patterns()
        .patterns()
        .iter()
        .any(|pattern| matches!(pattern.root, Root::Op(root) if std::ptr::eq(root, def)))
}

fn is_chlo(op: OpRef<'_>) -> bool {
    op.def().map(OpDef::dialect) == Some("chlo")
}

fn patterns() -> PatternSet {
    PatternSet::new(&[
        FUNCTIONS,
        broadcast::PATTERNS,
        ragged_dot::PATTERNS,
        scan::PATTERNS,
        top_k::PATTERNS,
    ])
}

macro_rules! functions {
    (unary { $($op:ident = $unary:expr,)* } binary { $($op2:ident = $binary:expr,)* }) => {
        /// One pattern for each elementwise function.
        static FUNCTIONS: &[RewritePattern] = &[
            $(RewritePattern::new("function", chlo::$op::DEF, |rw, op| replace_by(rw, op, |[x]| $unary(x))),)*
            $(RewritePattern::new("function", chlo::$op2::DEF, |rw, op| replace_by(rw, op, |[x, y]| $binary(x, y))),)*
        ];
    };
}

functions! {
    unary {
        AcosOp = elementary::acos,
        AcoshOp = elementary::acosh,
        AsinAcosKernelOp = elementary::asin_acos_kernel,
        AsinOp = elementary::asin,
        AsinhOp = elementary::asinh,
        AtanOp = elementary::atan,
        AtanhOp = elementary::atanh,
        BesselI1eOp = bessel::bessel_i1e,
        ConjOp = elementary::conj,
        CoshOp = |x| wide::in_f32([x], |[x]| elementary::cosh(x)),
        DigammaOp = gamma::digamma,
        ErfInvOp = erf::erf_inv,
        ErfOp = erf::erf,
        ErfcOp = erf::erfc,
        IsInfOp = elementary::is_inf,
        IsNegInfOp = elementary::is_neg_inf,
        IsPosInfOp = elementary::is_pos_inf,
        LgammaOp = gamma::lgamma,
        SinhOp = |x| wide::in_f32([x], |[x]| elementary::sinh(x)),
        SquareOp = elementary::square,
        TanOp = Expr::tan,
    }
    binary {
        MulhiOp = bits::mulhi,
        NextAfterOp = bits::next_after,
        PolygammaOp = gamma::polygamma,
        ZetaOp = gamma::zeta,
    }
}
