//! `stablehlo-complex-math-expander`: expands complex functions into real ones, accurate on the
//! whole plane.
//!
//! The formulas keep sums of squares from cancelling (in twice the precision, by Dekker's product
//! and Knuth's sum: T. J. Dekker, "A floating-point technique for extending the available
//! precision", 1971) and from overflowing (by scaling). Their constants and the order of their ops
//! are upstream's, so that results have the same bits.

use crate::chlo_legalize::expr::{
    Expr, FormulaConstants, atan2, complex, max, min, replace_by, select,
};
use hlo::attrs;
use hlo::ops::{ExponentialOp, LogOp, LogPlusOneOp, SqrtOp};
use mlir::OpId;
use mlir::pass::{Pass, PassContext};
use mlir::rewrite::{PatternSet, RewritePattern, Rewriter};

/// Expands complex functions.
pub(crate) const PASS: Pass = Pass::on_functions(
    "stablehlo-complex-math-expander",
    "Expand complex functions into functions of real and imaginary parts",
    run,
);

fn run(cx: &mut PassContext<'_>) {
    cx.rewrite_greedily(&mut PatternSet::new(&[PATTERNS]));
}

static PATTERNS: &[RewritePattern] = &[
    RewritePattern::new("complex-exponential", ExponentialOp::DEF, |rw, op| {
        expand(rw, op, exponential)
    }),
    RewritePattern::new("complex-log", LogOp::DEF, |rw, op| expand(rw, op, log)),
    RewritePattern::new("complex-log-plus-one", LogPlusOneOp::DEF, |rw, op| {
        expand(rw, op, log_plus_one)
    }),
    RewritePattern::new("complex-sqrt", SqrtOp::DEF, |rw, op| expand(rw, op, sqrt)),
];

/// Expands a complex function that does not request a specific accuracy.
fn expand(
    rw: &mut Rewriter<'_>,
    op: OpId,
    formula: for<'b> fn(Expr<'b>) -> Expr<'b>,
) -> Option<()> {
    let view = rw.op(op);
    let is_complex = matches!(**view.operand_type(0).element_type(), mlir::TypeKind::Complex(_));
    let accuracy = view.attr_or_default("result_accuracy")?;
    if !is_complex || *accuracy != attrs::default_result_accuracy() {
        return None;
    }
    replace_by(rw, op, |[z]| formula(z))
}

/// exp(x + iy) = exp(x) (cos y + i sin y), in two factors where exp(x) overflows; real where y is
/// zero
fn exponential(z: Expr<'_>) -> Expr<'_> {
    let x = z.real();
    let e = x.exp();
    let overflows = e.eq(x.like(f64::INFINITY));
    let root = (x * x.like(0.5)).exp();
    let y = z.imag();
    let cos = y.cos();
    let re = select(overflows, root * cos * root, e * cos);
    let zero = x.like(0.0);
    let is_real = y.eq(zero);
    let sin = y.sin();
    complex(re, select(is_real, zero, select(overflows, root * sin * root, e * sin)))
}

/// The factor that splits a float into two halves whose products are exact: 2^s + 1, where s is
/// half the precision in bits.
fn splitter<'b>(largest: Expr<'b>, constants: &FormulaConstants<'b>) -> Expr<'b> {
    let is_double = largest.gt(constants.get(1e308));
    let for_double = constants.get(134_217_729.0);
    let is_single = largest.gt(constants.get(1e38));
    let others = select(is_single, constants.get(4097.0), constants.get(65.0));
    select(is_double, for_double, others)
}

/// The rounding error of `square = x * x`: the exact square minus `square`.
///
/// Dekker: x = h + l, x² - square = ((h h - square) + 2 h l) + l l
fn square_error<'b>(
    x: Expr<'b>,
    square: Expr<'b>,
    splitter: impl FnOnce() -> Expr<'b>,
) -> (Expr<'b>, Expr<'b>) {
    let negated = -square;
    let splitter = splitter();
    let scaled = splitter * x;
    let high = scaled + (x - scaled);
    let first = negated + high * high;
    let low = x - high;
    let mixed = high * low;
    (first + mixed + mixed + low * low, splitter)
}

/// The rounding error of `sum = a + b`: the exact sum minus `sum`.
fn sum_error<'b>(a: Expr<'b>, b: Expr<'b>, sum: Expr<'b>) -> Expr<'b> {
    let added = sum - a;
    (a - (sum - added)) + (b - added)
}

/// As [`sum_error`], for |a| >= |b|.
fn fast_sum_error<'b>(a: Expr<'b>, b: Expr<'b>, sum: Expr<'b>) -> Expr<'b> {
    b - (sum - a)
}

/// The sum of five numbers in twice the precision: `sums` and the last list are the partial sums,
/// `error` a rounding error.
fn accurate_sum<'b>(
    [a, b, c]: [Expr<'b>; 3],
    error: fn(Expr<'b>, Expr<'b>, Expr<'b>) -> Expr<'b>,
    sums: [Expr<'b>; 2],
    [d, e]: [Expr<'b>; 2],
    [third, fourth]: [Expr<'b>; 2],
) -> Expr<'b> {
    let [first, second] = sums;
    let mut lost = error(a, b, first);
    lost = lost + error(first, c, second);
    lost = lost + error(second, d, third);
    lost = lost + error(third, e, fourth);
    fourth + lost
}

/// log1p(x + iy) = log|x + 1 + iy| + i atan2(y, x + 1), where log|…| is, with m ≥ n the absolute
/// values of x and y,
///
/// - log m + log1p((n / m)²) / 2 if m is so large that its square overflows,
/// - log((x + 1)² + y²) / 2 close to x = -1,
/// - log1p(2 x + x² + y²) / 2 else, with the sum in twice the precision.
fn log_plus_one(z: Expr<'_>) -> Expr<'_> {
    let x = z.real();
    let constants = FormulaConstants::new(x);
    let ax = x.abs();
    let y = z.imag();
    let ay = y.abs();
    let mx = max(ax, ay);
    let largest = x.like_max();
    let is_large = mx.gt(largest.sqrt() * constants.get(0.01));
    let log_mx = mx.ln();
    let half = constants.get(0.5);
    let mn = min(ax, ay);
    let same = mn.eq(mx);
    let one = constants.get(1.0);
    let ratio = mn / mx;
    let large = log_mx + half * select(same, one, ratio * ratio).ln_1p();

    let xp1 = x + one;
    let is_close = (xp1.abs() + ay).lt(constants.get(0.2));
    let square = xp1 * xp1;
    let yy = y * y;
    let close = half * (square + yy).ln();

    let twice = x + x;
    let first = twice + yy;
    let xx = x * x;
    let second = first + xx;
    let (yy_error, split) = square_error(y, yy, || splitter(largest, &constants));
    let third = second + yy_error;
    let (xx_error, _) = square_error(x, xx, || split);
    let fourth = third + xx_error;
    let sum = accurate_sum(
        [twice, yy, xx],
        sum_error,
        [first, second],
        [yy_error, xx_error],
        [third, fourth],
    );
    let general = half * sum.ln_1p();
    let re = select(is_large, large, select(is_close, close, general));
    complex(re, atan2(y, xp1))
}

/// log(x + iy) = log|x + iy| + i atan2(y, x), where log|…| is, with m ≥ n the absolute values of x
/// and y,
///
/// - log1p(s) / 2 if |s| < 1/2, s = x² + y² - 1 in twice the precision,
/// - log m + log1p((n / m)²) / 2 else.
fn log(z: Expr<'_>) -> Expr<'_> {
    let x = z.real();
    let constants = FormulaConstants::new(x);
    let y = z.imag();
    let minus_one = constants.get(-1.0);
    let yy = y * y;
    let xx = x * x;
    let y_first = yy.gt(xx);
    let greater = select(y_first, yy, xx);
    let first = minus_one + greater;
    let smaller = select(y_first, xx, yy);
    let second = first + smaller;
    let (yy_error, split) = square_error(y, yy, || splitter(x.like_max(), &constants));
    let third = second + yy_error;
    let (xx_error, _) = square_error(x, xx, || split);
    let fourth = third + xx_error;
    let terms = [minus_one, greater, smaller];
    let sum =
        accurate_sum(terms, fast_sum_error, [first, second], [yy_error, xx_error], [third, fourth]);
    let half = constants.get(0.5);
    let is_close = sum.abs().lt(half);
    let close = half * sum.ln_1p();

    let (ax, ay) = (x.abs(), y.abs());
    let mx = max(ax, ay);
    let log_mx = mx.ln();
    let mn = min(ax, ay);
    let same = mn.eq(mx);
    let ratio = select(same, constants.get(1.0), mn / mx);
    let general = log_mx + half * (ratio * ratio).ln_1p();
    complex(select(is_close, close, general), atan2(y, x))
}

/// |a + ib| for a, b ≥ 0: m sqrt(1 + r) with r = (n / m)², or m + m r / 2 where 1 + r rounds to 1;
/// m ≥ n
fn hypot<'b>(a: Expr<'b>, b: Expr<'b>, constants: &FormulaConstants<'b>) -> Expr<'b> {
    let (m, n) = (max(a, b), min(a, b));
    let same = m.eq(n);
    let diagonal = constants.get(std::f64::consts::SQRT_2) * m;
    let ratio = n / m;
    let r = ratio * ratio;
    let one = constants.get(1.0);
    let root = (one + r).sqrt();
    let is_tiny = root.eq(one) & r.gt(constants.get(0.0));
    let general = select(is_tiny, m + m * r / constants.get(2.0), m * root);
    select(same, diagonal, general)
}

/// sqrt(1 + sqrt 2)
const SQRT_1_SQRT_2: f64 = 1.553_773_974_030_037_4;
/// sqrt(2 (1 + sqrt 2))
const SQRT_2_SQRT_8: f64 = 2.197_368_226_935_62;

/// With u = sqrt((|z| + |x|) / 2): sqrt(x + iy) = u + i y / 2u if x ≥ 0, else |y| / 2u + i sgn(y) u
///
/// If u underflows or overflows, the root of the larger part is factored out.
fn sqrt(z: Expr<'_>) -> Expr<'_> {
    // In upstream's order.
    let x = z.real();
    let constants = FormulaConstants::new(x);
    let zero = constants.get(0.0);
    let is_right = x.ge(zero);
    let ax = x.abs();
    let y = z.imag();
    let ay = y.abs();
    let same = ax.eq(ay);
    let root_ax = ax.sqrt();
    let diagonal = root_ax * constants.get(SQRT_1_SQRT_2);
    let sqrt_2 = constants.get(std::f64::consts::SQRT_2);
    let diagonal = diagonal / sqrt_2;

    let length = hypot(ax, ay, &constants);
    let (one, two) = (constants.get(1.0), constants.get(2.0));
    let general = (length / two + ax / two).sqrt();
    let is_extreme = general.eq(zero) | general.eq(constants.get(f64::INFINITY));

    let (greater, less) = (ax.gt(ay), ax.lt(ay));
    let ratio = select(same, one, select(less, ax / ay, ay / ax));
    let h = hypot(one, ratio.abs(), &constants);
    let root_1h = (one + h).sqrt();
    let wide = root_ax * (root_1h / sqrt_2);
    let root_ay = ay.sqrt();
    let root_rh = (ratio + h).sqrt();
    let extreme = select(greater, wide, root_ay * (root_rh / sqrt_2));
    let u = select(same, diagonal, select(is_extreme, extreme, general));

    let diagonal = root_ay / constants.get(SQRT_2_SQRT_8);
    let root_ratio = select(same, one, select(less, root_ax / root_ay, root_ay / root_ax));
    let wide = root_ay * root_ratio / (root_1h * sqrt_2);
    let extreme = select(greater, wide, root_ay / (root_rh * sqrt_2));
    let v = select(same, diagonal, select(is_extreme, extreme, ay / (general * two)));

    let re = select(is_right, u, v);
    let (is_left, is_below) = (x.lt(zero), y.lt(zero));
    let im = select(is_left, select(is_below, -u, u), select(is_below, -v, v));
    complex(re, im)
}
