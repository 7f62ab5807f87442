//! More digits of true values, on demand: numbers of arbitrary precision beside the parts of balls.
//!
//! During [`with_bits`], operations of a [`Ball`] that are not exact are repeated with that many
//! bits. The store of the thread keeps the number, and the ball its handle; the parts of the ball
//! are rounded from the number, so that nothing else has to know of it. Functions that are missing
//! here keep the digits of balls.
//!
//! More digits are worth a bounded time: a run has a budget of work, and after it is spent the
//! digits of balls.

use crate::ball::{Ball, U, up};
use dashu_float::round::mode::HalfEven;
use dashu_float::{ConstCache, Context, FBig, FpResult, Repr};
use std::cell::{Cell, RefCell};

/// At most this many numbers are kept, which takes about 300 MB.
pub(crate) const MAX_NUMBERS: usize = 1 << 21;

/// The work that runs with more digits may do, in operations, which take about two microseconds
/// each.
pub(crate) const BUDGET: u64 = 400_000;

/// The work of a function, in operations.
pub(crate) const FUNCTION_WORK: u64 = 50;

/// The handle of a number in the store, negative for the number of the other sign; 0 for none.
pub(crate) type Handle = i32;

/// A number with its largest error.
#[derive(Clone)]
struct Precise {
    value: Repr<2>,
    radius: f64,
}

/// The numbers of a run.
struct DigitStore {
    context: Context<HalfEven>,
    /// The error of a rounding in proportion to the result.
    roundoff: f64,
    numbers: Vec<Precise>,
    constants: ConstCache,
}

thread_local! {
    static STORE: RefCell<Option<DigitStore>> = const { RefCell::new(None) };
    static IS_ON: Cell<bool> = const { Cell::new(false) };
    /// The work that may still be done.
    static LEFT: Cell<u64> = const { Cell::new(0) };
}

/// Resources that a run with more digits has used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// The inexact numbers that were kept.
    pub(crate) numbers: usize,
    /// The work.
    pub(crate) work: u64,
}

/// Runs with more digits: `bits` of them, at most 1,000, for as long as a budget of work lasts and
/// there are at most [`MAX_NUMBERS`] inexact numbers.
pub(crate) fn with_bits<T>(bits: usize, budget: u64, run: impl FnOnce() -> T) -> (T, Spent) {
    let store = DigitStore {
        context: Context::new(bits),
        roundoff: 2f64.powi(1 - bits as i32),
        numbers: Vec::new(),
        constants: ConstCache::new(),
    };
    STORE.set(Some(store));
    LEFT.set(budget);
    IS_ON.set(true);
    let result = run();
    IS_ON.set(false);
    let numbers = STORE.take().map_or(0, |store| store.numbers.len());
    (result, Spent { numbers, work: budget - LEFT.get() })
}

/// Takes work from the budget.
pub(crate) fn spend(work: u64) {
    LEFT.set(LEFT.get().saturating_sub(work));
}

/// True if the budget of the run with more digits is spent.
pub(crate) fn is_exhausted() -> bool {
    LEFT.get() == 0
}

/// True if operations have more digits.
#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.get() && !is_exhausted()
}

/// Operations have the digits of balls while this lives.
pub(crate) struct Pause(bool);

/// Pauses [`with_bits`].
pub(crate) fn pause() -> Pause {
    Pause(IS_ON.replace(false))
}

impl Drop for Pause {
    fn drop(&mut self) {
        IS_ON.set(self.0);
    }
}

/// Operations on two numbers.
#[derive(Clone, Copy)]
pub(crate) enum PreciseOperation {
    /// The sum.
    Add,
    /// The product.
    Multiply,
    /// The quotient.
    Divide,
}

/// Functions of a number that increase or decrease over a ball of which the value is known to
/// exist, but for sine and cosine.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "they are named for what they are")]
pub(crate) enum Elementary {
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cbrt,
    Cosh,
    Cosine,
    Erf,
    Erfc,
    Exponential,
    ExponentialMinusOne,
    Log,
    LogPlusOne,
    Sine,
    Sinh,
    Sqrt,
    Tanh,
}

/// A float as it is.
fn exact(value: f64) -> Repr<2> {
    Repr::try_from(value).unwrap_or_else(|_| Repr::zero())
}

/// The sum or difference without rounding.
fn exact_sum(a: &Repr<2>, b: &Repr<2>) -> Option<Repr<2>> {
    Some(Context::<HalfEven>::new(0).add(a, b).ok()?.value().into_repr())
}

fn to_f64(value: &Repr<2>) -> f64 {
    value.to_f64().value()
}

fn taken(result: FpResult<FBig<HalfEven, 2>>) -> Option<Repr<2>> {
    let value = result.ok()?.value().into_repr();
    value.is_finite().then_some(value)
}

impl DigitStore {
    /// The number of a ball.
    fn number(&self, ball: Ball) -> Option<Precise> {
        if ball.handle != 0 {
            let number = self.numbers.get(ball.handle.unsigned_abs() as usize - 1)?.clone();
            let value = if ball.handle < 0 { -number.value } else { number.value };
            return Some(Precise { value, ..number });
        }
        Some(Precise { value: exact_sum(&exact(ball.hi), &exact(ball.lo))?, radius: ball.radius })
    }

    /// The ball of a number, which is kept.
    fn keep(&mut self, value: Repr<2>, radius: f64) -> Option<Ball> {
        let hi = to_f64(&value);
        if !hi.is_finite() || !radius.is_finite() {
            return None;
        }
        let rest = exact_sum(&value, &exact(-hi))?;
        let lo = to_f64(&rest);
        // Of an inexact number, a bound of what is left is as good.
        let left = match radius > 0.0 {
            true => lo.abs() * U + 1e-322,
            false => {
                let left = exact_sum(&rest, &exact(-lo))?;
                if left.significand().is_zero() { 0.0 } else { to_f64(&left).abs() + 1e-322 }
            }
        };
        let around = if radius + left == 0.0 { 0.0 } else { up(radius + left) };
        let mut ball = Ball { hi, lo, radius: around, handle: 0 };
        if around > 0.0 {
            if self.numbers.len() == MAX_NUMBERS {
                LEFT.set(0);
                return None;
            }
            self.numbers.push(Precise { value, radius });
            ball.handle = self.numbers.len() as Handle;
        }
        Some(ball)
    }

    /// A rounded result: the error of operands, and of the rounding.
    fn rounded(&mut self, value: Repr<2>, error: f64) -> Option<Ball> {
        let size = to_f64(&value).abs();
        let radius = up(error + size * self.roundoff);
        self.keep(value, radius)
    }

    fn operation(&mut self, operation: PreciseOperation, a: Ball, b: Ball) -> Option<Ball> {
        let (x, y) = (self.number(a)?, self.number(b)?);
        let context = self.context;
        let (value, error) = match operation {
            PreciseOperation::Add => (context.add(&x.value, &y.value), x.radius + y.radius),
            PreciseOperation::Multiply => {
                let linear = a.magnitude() * y.radius + b.magnitude() * x.radius;
                (context.mul(&x.value, &y.value), linear + x.radius * y.radius)
            }
            PreciseOperation::Divide => {
                let value = context.div(&x.value, &y.value);
                let least = b.mignitude();
                if least == 0.0 {
                    return None;
                }
                let size = up(a.magnitude() / least);
                (value, up(x.radius + size * y.radius) / least)
            }
        };
        let value = taken(value)?;
        self.rounded(value, if error == 0.0 { 0.0 } else { up(error) })
    }

    fn value(&mut self, function: Elementary, x: &Repr<2>) -> Option<Repr<2>> {
        let (context, cache) = (self.context, Some(&mut self.constants));
        taken(match function {
            Elementary::Acos => context.acos(x, cache),
            Elementary::Acosh => context.acosh(x, cache),
            Elementary::Asin => context.asin(x, cache),
            Elementary::Asinh => context.asinh(x, cache),
            Elementary::Atan => context.atan(x, cache),
            Elementary::Atanh => context.atanh(x, cache),
            Elementary::Cbrt => context.cbrt(x),
            Elementary::Cosh => context.cosh(x, cache),
            Elementary::Cosine => context.cos(x, cache),
            Elementary::Erf => return self.erf(x, false),
            Elementary::Erfc => return self.erf(x, true),
            Elementary::Exponential => context.exp(x, cache),
            Elementary::ExponentialMinusOne => context.exp_m1(x, cache),
            Elementary::Log => context.ln(x, cache),
            Elementary::LogPlusOne => context.ln_1p(x, cache),
            Elementary::Sine => context.sin(x, cache),
            Elementary::Sinh => context.sinh(x, cache),
            Elementary::Sqrt => context.sqrt(x),
            Elementary::Tanh => context.tanh(x, cache),
        })
    }

    /// The error function, or its complement, by the series of positive terms
    /// `erf(x) = 2x / √π · exp(-x²) · Σ (2x²)ⁿ / (1 · 3 · … · (2n + 1))`.
    fn erf(&mut self, x: &Repr<2>, is_complement: bool) -> Option<Repr<2>> {
        /// Digits for the roundings of a series of up to 2²⁴ terms.
        const GUARD: usize = 48;
        let size = to_f64(x);
        // Beyond, the complement is below 2⁻²⁰⁰⁰.
        if size.abs() > 38.0 {
            return None;
        }
        // The complement of a value near one has fewer digits, by -log2(erfc(x)).
        let lost = if is_complement && size > 0.0 { 1.5 * size * size + 8.0 } else { 0.0 };
        let bits = self.context.precision() + GUARD + lost as usize;
        let context = Context::<HalfEven>::new(bits);
        let square = taken(context.sqr(x))?;
        let double = Repr::new(square.significand().clone(), square.exponent() + 1);
        let (mut term, mut sum) = (Repr::<2>::one(), Repr::<2>::one());
        let end = -(bits as f64) - 4.0;
        let mut terms = 0;
        for n in 1u32.. {
            terms = u64::from(n);
            let product = taken(context.mul(&term, &double))?;
            term = taken(context.div(&product, &Repr::from(2 * n + 1)))?;
            sum = taken(context.add(&sum, &term))?;
            // Each further term is at most half of the one before.
            let is_small = to_f64(&double) <= f64::from(n);
            let log2 = |x: &Repr<2>| x.exponent() as f64 + x.digits() as f64;
            if term.significand().is_zero() || (is_small && log2(&term) - log2(&sum) < end) {
                break;
            }
        }
        spend(terms * (1 + bits as u64 / 128));
        let power = taken(context.exp(&-square, Some(&mut self.constants)))?;
        let pi = context.pi::<2>(Some(&mut self.constants)).value().into_repr();
        let root = taken(context.sqrt(&pi))?;
        let product = taken(context.mul(&taken(context.mul(x, &power))?, &sum))?;
        let value = taken(context.div(&product, &root))?;
        let value = Repr::new(value.significand().clone(), value.exponent() + 1);
        match is_complement {
            true => exact_sum(&Repr::one(), &-value),
            false => Some(value),
        }
    }

    fn function(&mut self, function: Elementary, ball: Ball) -> Option<Ball> {
        let x = self.number(ball)?;
        // Powers of two outside of these make numbers of millions of digits.
        if ball.magnitude() > 1e6
            && !matches!(
                function,
                Elementary::Log
                    | Elementary::Sqrt
                    | Elementary::Cbrt
                    | Elementary::Sine
                    | Elementary::Cosine
                    | Elementary::Atan
                    | Elementary::Asinh
                    | Elementary::Acosh
                    | Elementary::LogPlusOne
            )
        {
            return None;
        }
        if x.radius == 0.0 {
            let value = self.value(function, &x.value)?;
            return self.rounded(value, 0.0);
        }
        if matches!(function, Elementary::Sine | Elementary::Cosine) {
            let value = self.value(function, &x.value)?;
            return self.rounded(value, x.radius);
        }
        // Both ends.
        let radius = exact(x.radius);
        let ends = [exact_sum(&x.value, &-radius.clone())?, exact_sum(&x.value, &radius)?];
        if matches!(function, Elementary::Cosh) && ends[0].sign() != ends[1].sign() {
            return None;
        }
        let [low, high] = ends.map(|end| self.value(function, &end));
        let (low, high) = (low?, high?);
        let apart = exact_sum(&high, &-low.clone())?;
        let twice = exact_sum(&low, &high)?;
        let middle = Repr::new(twice.significand().clone(), twice.exponent() - 1);
        let size = to_f64(&low).abs().max(to_f64(&high).abs());
        let error = up(to_f64(&apart).abs() * 0.5 + size * self.roundoff);
        let middle = taken(self.context.add(&middle, &Repr::zero()))?;
        self.rounded(middle, error)
    }
}

/// The result of an operation with more digits; `None` without [`with_bits`].
#[inline]
pub(crate) fn operation(operation: PreciseOperation, a: Ball, b: Ball) -> Option<Ball> {
    if !is_on() || !a.is_finite() || !b.is_finite() {
        return None;
    }
    spend(1);
    STORE.with_borrow_mut(|store| store.as_mut()?.operation(operation, a, b))
}

/// A function of a ball, with more digits than `plain` if that is not exact.
#[inline]
pub(crate) fn function(function: Elementary, x: Ball, plain: fn(Ball) -> Ball) -> Ball {
    if !is_on() {
        return plain(x);
    }
    let value = {
        let _pause = pause();
        plain(x)
    };
    if value.is_exact() || !value.is_finite() || !x.is_finite() {
        return value;
    }
    spend(FUNCTION_WORK);
    let own = STORE.with_borrow_mut(|store| store.as_mut()?.function(function, x));
    own.unwrap_or(value)
}

/// A right angle.
pub(crate) fn half_pi() -> Option<Ball> {
    if !is_on() {
        return None;
    }
    STORE.with_borrow_mut(|store| {
        let store = store.as_mut()?;
        let pi = store.context.pi::<2>(Some(&mut store.constants)).value().into_repr();
        store.rounded(Repr::new(pi.significand().clone(), pi.exponent() - 1), 0.0)
    })
}

/// The same number with a larger radius, or times a power of two.
pub(crate) fn changed(ball: Ball, exponent: i32, by: f64) -> Option<Ball> {
    if !is_on() || ball.handle == 0 {
        return None;
    }
    STORE.with_borrow_mut(|store| {
        let store = store.as_mut()?;
        let Precise { value, radius } = store.number(ball)?;
        let exponent_of = value.exponent() + exponent as isize;
        let radius = up(libm::scalbn(radius, exponent) + by);
        store.keep(Repr::new(value.significand().clone(), exponent_of), radius)
    })
}

/// The parts of a number, each the rest rounded, and its radius.
pub(crate) fn parts<const N: usize>(ball: Ball) -> ([f64; N], f64) {
    let mut parts = [0.0; N];
    let number = STORE.with_borrow(|store| store.as_ref()?.number(ball));
    let Some(Precise { mut value, radius }) = number.filter(|_| ball.handle != 0) else {
        parts[..2].copy_from_slice(&[ball.hi, ball.lo]);
        return (parts, ball.radius);
    };
    for part in &mut parts {
        *part = to_f64(&value);
        match exact_sum(&value, &exact(-*part)) {
            Some(rest) => value = rest,
            None => return (parts, f64::INFINITY),
        }
    }
    let left = if value.significand().is_zero() { 0.0 } else { to_f64(&value).abs() + 1e-322 };
    (parts, if radius + left == 0.0 { 0.0 } else { up(radius + left) })
}
