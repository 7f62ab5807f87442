//! The error function, its complement and its inverse.
//!
//! Coefficients: Cephes (`ndtr.c`, `ndtrf.c`), Eigen (`erf` of f32), and Giles, "Approximating the
//! erfinv function" (2012). Polynomials hold the coefficient of the highest power first.

use super::expr::{Expr, clamp, polynomial, select};
use super::wide;

/// `erf`
pub(super) fn erf(x: Expr<'_>) -> Expr<'_> {
    if wide::is_f64(x) { erf_f64(x) } else { wide::in_f32([x], |[x]| erf_f32(x)) }
}

/// `erfc(x) = 1 - erf(x)`
pub(super) fn erfc(x: Expr<'_>) -> Expr<'_> {
    let (tail, center): (Part, Part) = if wide::is_f64(x) {
        (erfc_tail_f64, erf_center_f64)
    } else {
        (erfc_tail_f32, erf_center_f32)
    };
    wide::in_f32([x], |[x]| {
        let tail = tail(x);
        let one = x.like(1.0);
        let center = one - center(x);
        select(x.abs().lt(one), center, tail)
    })
}

/// Inverse of `erf`.
pub(super) fn erf_inv(x: Expr<'_>) -> Expr<'_> {
    if wide::is_f64(x) { erf_inv_f64(x) } else { wide::in_f32([x], |[x]| erf_inv_f32(x)) }
}

type Part = for<'b> fn(Expr<'b>) -> Expr<'b>;

const ERF_ALPHA: &[f32] = &[
    -2.7261424e-10,
    2.7706815e-8,
    -2.101024e-6,
    -5.6925062e-5,
    -0.00073499064,
    -0.0029546,
    -0.016096033,
];
const ERF_BETA: &[f32] =
    &[-1.45660715e-5, -0.00021337405, -0.001682827, -0.0073733293, -0.014264739];

/// `erf(x) = x α(x²) / β(x²)` for `x` cut off at ±4, cut off at ±1.
fn erf_f32(x: Expr<'_>) -> Expr<'_> {
    let low = x.like(-4.0);
    let high = x.like(4.0);
    let x = clamp(low, x, high);
    let square = x * x;
    let alpha = polynomial(square, ERF_ALPHA);
    let beta = polynomial(square, ERF_BETA);
    let erf = x * alpha / beta;
    clamp(x.like(-1.0), erf, x.like(1.0))
}

/// The center where `|x| < 1`, else `1 - erfc(x)`.
fn erf_f64(x: Expr<'_>) -> Expr<'_> {
    let center = erf_center_f64(x);
    let one = x.like(1.0);
    let tail = one - erfc_tail_f64(x);
    select(x.abs().lt(one), center, tail)
}

#[allow(
    clippy::approx_constant,
    reason = "the last coefficient is one unit less than 2 / sqrt(pi)"
)]
const ERF_T_F32: &[f32] = &[
    7.8538615e-5,
    -0.00080101937,
    0.0051883277,
    -0.026853813,
    0.112835854,
    -0.37612626,
    1.1283791,
];

/// `erf(x) = x T(x²)` for `|x| <= 1`.
fn erf_center_f32(x: Expr<'_>) -> Expr<'_> {
    x * polynomial(x * x, ERF_T_F32)
}

const ERF_T_F64: &[f64] = &[
    9.604973739870516,
    90.02601972038427,
    2232.005345946843,
    7003.325141128051,
    55592.30130103949,
];
const ERF_U_F64: &[f64] = &[
    1.0,
    33.56171416475031,
    521.3579497801527,
    4594.323829709801,
    22629.000061389095,
    49267.39426086359,
];

/// `erf(x) = x T(x²) / U(x²)` for `|x| <= 1`.
fn erf_center_f64(x: Expr<'_>) -> Expr<'_> {
    let square = x * x;
    x * polynomial(square, ERF_T_F64) / polynomial(square, ERF_U_F64)
}

const ERFC_P_F32: &[f32] = &[
    0.0232682,
    -0.13870394,
    0.36874247,
    -0.5824733,
    0.62100047,
    -0.49445152,
    0.340488,
    -0.2741127,
    0.56382596,
];
const ERFC_R_F32: &[f32] =
    &[-10.477664, 12.9772, -7.4955187, 2.921019, -1.0152652, 0.42184633, -0.28207675, 0.5641895];
/// Logarithm of the greatest f32.
const MAX_LOG_F32: f64 = 88.722_839_052_068_35;

/// `erfc(x) = exp(-x²) / |x| P(1 / x²)` for `1 <= |x| < 2`, with `R` for `P` from there on.
fn erfc_tail_f32(x: Expr<'_>) -> Expr<'_> {
    let square = x * x;
    let z = -square;
    let ax = x.abs();
    let one = x.like(1.0);
    let inverse = one / square;
    let scale = z.exp() * (one / ax);
    let two = x.like(2.0);
    let is_near = ax.lt(two);
    let near = polynomial(inverse, ERFC_P_F32);
    let far = polynomial(inverse, ERFC_R_F32);
    let erfc = scale * select(is_near, near, far);
    let is_tiny = z.lt(x.like(-MAX_LOG_F32));
    let zero = x.like(0.0);
    let erfc = select(is_tiny, zero, erfc);
    let is_negative = x.lt(zero);
    select(is_negative, two - erfc, erfc)
}

const ERFC_P_F64: &[f64] = &[
    2.461969814735305e-10,
    0.5641895648310689,
    7.463210564422699,
    48.63719709856814,
    196.5208329560771,
    526.4451949954773,
    934.5285271719576,
    1027.5518868951572,
    557.5353353693994,
];
const ERFC_Q_F64: &[f64] = &[
    1.0,
    13.228195115474499,
    86.70721408859897,
    354.9377788878199,
    975.7085017432055,
    1823.9091668790973,
    2246.3376081871097,
    1656.6630919416134,
    557.5353408177277,
];
const ERFC_R_F64: &[f64] = &[
    0.5641895835477551,
    1.275366707599781,
    5.019050422511805,
    6.160210979930536,
    7.4097426995044895,
    2.9788666537210022,
];
const ERFC_S_F64: &[f64] = &[
    1.0,
    2.2605286322011726,
    9.396035249380015,
    12.048953980809666,
    17.08144507475659,
    9.608968090632859,
    3.369076451000815,
];
/// Logarithm of the greatest f64.
const MAX_LOG_F64: f64 = 709.782_712_893_384;

/// `erfc(x) = exp(-x²) P(|x|) / Q(|x|)` for `1 <= |x| < 8`, with `R / S` from there on.
fn erfc_tail_f64(x: Expr<'_>) -> Expr<'_> {
    let z = -(x * x);
    let exp = z.exp();
    let ax = x.abs();
    let near = exp * polynomial(ax, ERFC_P_F64) / polynomial(ax, ERFC_Q_F64);
    let far = exp * polynomial(ax, ERFC_R_F64) / polynomial(ax, ERFC_S_F64);
    let is_near = ax.lt(x.like(8.0));
    let erfc = select(is_near, near, far);
    let is_tiny = z.lt(x.like(-MAX_LOG_F64));
    let zero = x.like(0.0);
    let erfc = select(is_tiny, zero, erfc);
    let is_negative = x.lt(zero);
    select(is_negative, x.like(2.0) - erfc, erfc)
}

const INV_BELOW_5: [f32; 9] = [
    2.8102264e-8,
    3.4327394e-7,
    -3.5233877e-6,
    -4.3915065e-6,
    0.00021858087,
    -0.001253725,
    -0.0041776816,
    0.24664073,
    1.5014094,
];
const INV_ABOVE_5: [f32; 9] = [
    -0.00020021426,
    0.00010095056,
    0.0013493432,
    -0.0036734284,
    0.0057395077,
    -0.0076224613,
    0.0094388705,
    1.001674,
    2.8329768,
];

/// `erf_inv(x) = x P(w - 2.5)` for `w = -log(1 - x²) < 5`, else `x P(sqrt(w) - 3)`.
fn erf_inv_f32(x: Expr<'_>) -> Expr<'_> {
    let w = -(x * -x).ln_1p();
    let is_center = w.lt(x.like(5.0));
    let w = select(is_center, w - x.like(2.5), w.sqrt() - x.like(3.0));
    let coefficient =
        |i: usize| select(is_center, x.like(INV_BELOW_5[i].into()), x.like(INV_ABOVE_5[i].into()));
    let mut p = coefficient(0);
    for i in 1..INV_BELOW_5.len() {
        p = coefficient(i) + p * w;
    }
    infinite_at_one(x, p * x)
}

const INV_BELOW_6: &[f64] = &[
    -3.64441206401782e-21,
    -1.6850591381820166e-19,
    1.28584807152564e-18,
    1.1157877678025181e-17,
    -1.333171662854621e-16,
    2.0972767875968562e-17,
    6.637638134358324e-15,
    -4.054566272975207e-14,
    -8.151934197605472e-14,
    2.6335093153082323e-12,
    -1.2975133253453532e-11,
    -5.415412054294628e-11,
    1.0512122733215323e-9,
    -4.112633980346984e-9,
    -2.9070369957882005e-8,
    4.2347877827932404e-7,
    -1.3654692000834679e-6,
    -1.3882523362786469e-5,
    0.00018673420803405714,
    -0.000740702534166267,
    -0.006033670871430149,
    0.24015818242558962,
    1.6536545626831027,
];
const INV_BELOW_16: &[f64] = &[
    2.2137376921775787e-9,
    9.075656193888539e-8,
    -2.7517406297064545e-7,
    1.8239629214389228e-8,
    1.5027403968909828e-6,
    -4.013867526981546e-6,
    2.9234449089955446e-6,
    1.2475304481671779e-5,
    -4.7318229009055734e-5,
    6.828485145957318e-5,
    2.4031110387097894e-5,
    -0.0003550375203628475,
    0.0009532893797373805,
    -0.0016882755560235047,
    0.002491442096107851,
    -0.003751208507569241,
    0.005370914553590064,
    1.0052589676941592,
    3.0838856104922208,
];
const INV_ABOVE_16: &[f64] = &[
    -2.7109920616438573e-11,
    -2.555641816996525e-10,
    1.5076572693500548e-9,
    -3.789465440126737e-9,
    7.61570120807834e-9,
    -1.496002662714924e-8,
    2.914795345090108e-8,
    -6.771199775845234e-8,
    2.2900482228026655e-7,
    -9.9298272942317e-7,
    4.526062597223154e-6,
    -1.968177810553167e-5,
    7.599527703001776e-5,
    -0.00021503011930044477,
    -0.00013871931833623122,
    1.0103004648645344,
    4.849906401408584,
];

/// As [`erf_inv_f32`], with polynomials of different degrees in `w - 3.125` for `w < 6.25`, in
/// `sqrt(w) - 3.25` for `w < 16`, else in `sqrt(w) - 5`.
fn erf_inv_f64(x: Expr<'_>) -> Expr<'_> {
    let w = -(x * -x).ln_1p();
    let is_center = w.lt(x.like(6.25));
    let is_middle = w.lt(x.like(16.0));
    let coefficient = |i: usize| {
        let mut c = x.like(INV_BELOW_6[i]);
        if let Some(&middle) = INV_BELOW_16.get(i) {
            c = select(is_center, c, x.like(middle));
        }
        if let Some(&far) = INV_ABOVE_16.get(i) {
            c = select(is_middle, c, x.like(far));
        }
        c
    };
    let root = w.sqrt();
    let center = w - x.like(3.125);
    let shift = select(is_middle, w.like(3.25), w.like(5.0));
    let w = select(is_center, center, root - shift);
    let mut p = coefficient(0);
    for i in 1..INV_BELOW_6.len() {
        let next = coefficient(i) + p * w;
        p = if i < INV_ABOVE_16.len() {
            next
        } else {
            select(if i < INV_BELOW_16.len() { is_middle } else { is_center }, next, p)
        };
    }
    infinite_at_one(x, p * x)
}

/// `inverse`, but `±inf` where `x = ±1`.
fn infinite_at_one<'b>(x: Expr<'b>, inverse: Expr<'b>) -> Expr<'b> {
    let is_one = x.abs().eq(x.like(1.0));
    select(is_one, x * x.like(f64::INFINITY), inverse)
}
