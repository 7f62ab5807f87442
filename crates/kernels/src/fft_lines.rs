//! Discrete Fourier transforms of lines of complex numbers in double precision.
//!
//! Several lines are transformed at a time, one in each lane of vectors. What is computed for a
//! line does not depend on the number of lanes, nor on the vector instructions: results have the
//! same bits on every machine.

use numerics::simd::{Doubles, DoublesArray, DoublesKernel, Isa};
use std::array::from_fn;
use std::f64::consts::TAU;
use std::ops::{Add, Mul, Sub};

/// Lengths with a larger prime factor become convolutions.
const MAX_PRIME: usize = 128;

/// An element of each of several lines, in memory: the real parts, and the imaginary ones.
pub type Lanes<A> = [A; 2];

/// An element of each of several lines, in vectors.
#[derive(Clone, Copy)]
struct LineElement<V> {
    re: V,
    im: V,
}

impl<V: Doubles> LineElement<V> {
    /// Reads from memory.
    #[inline(always)]
    fn read([re, im]: &Lanes<V::Array>) -> LineElement<V> {
        LineElement { re: V::read(re), im: V::read(im) }
    }

    /// As it is in memory.
    #[inline(always)]
    fn lanes(self) -> Lanes<V::Array> {
        [self.re.array(), self.im.array()]
    }

    /// Zeros.
    #[inline(always)]
    fn zero() -> LineElement<V> {
        LineElement { re: V::splat(0.0), im: V::splat(0.0) }
    }

    /// Real and imaginary parts exchanged. Between exchanges, a transform is the inverse one.
    #[inline(always)]
    fn swapped(self) -> LineElement<V> {
        LineElement { re: self.im, im: self.re }
    }

    /// The complex conjugates.
    #[inline(always)]
    fn conj(self) -> LineElement<V> {
        LineElement { re: self.re, im: -self.im }
    }

    /// The product with `-i`.
    #[inline(always)]
    fn turned(self) -> LineElement<V> {
        LineElement { re: self.im, im: -self.re }
    }

    /// The sum with the product of other numbers and a real one, rounded once.
    #[inline(always)]
    fn plus_scaled(self, other: LineElement<V>, factor: V) -> LineElement<V> {
        LineElement { re: other.re.mul_add(factor, self.re), im: other.im.mul_add(factor, self.im) }
    }

    /// The products with complex numbers.
    #[inline(always)]
    fn times(self, [re, im]: [V; 2]) -> LineElement<V> {
        LineElement { re: self.re.mul_sub(re, self.im * im), im: self.re.mul_add(im, self.im * re) }
    }

    /// The product with a real number.
    #[inline(always)]
    fn scaled(self, factor: f64) -> LineElement<V> {
        let factor = V::splat(factor);
        LineElement { re: self.re * factor, im: self.im * factor }
    }
}

impl<V: Doubles> Add for LineElement<V> {
    type Output = LineElement<V>;
    #[inline(always)]
    fn add(self, other: LineElement<V>) -> LineElement<V> {
        LineElement { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<V: Doubles> Sub for LineElement<V> {
    type Output = LineElement<V>;
    #[inline(always)]
    fn sub(self, other: LineElement<V>) -> LineElement<V> {
        LineElement { re: self.re - other.re, im: self.im - other.im }
    }
}

/// The product with a complex number.
impl<V: Doubles> Mul<Root> for LineElement<V> {
    type Output = LineElement<V>;
    #[inline(always)]
    fn mul(self, [re, im]: Root) -> LineElement<V> {
        self.times([V::splat(re), V::splat(im)])
    }
}

/// The parts of a root of unity.
type Root = [f64; 2];

/// `exp(-2 pi i k / n)`.
pub fn root(k: usize, n: usize) -> Root {
    // Of an angle of at most an eighth of the circle: in units of 1 / (8 n) of it.
    let (k, n) = ((k % n) as u128 * 8, n as u128);
    let (octant, rest) = (k / n, k % n);
    let rest = if octant % 2 == 1 { n - rest } else { rest };
    let (sin, cos) = libm::sincos(TAU * (rest as f64 / (8 * n) as f64));
    in_octant([cos, sin], octant as usize)
}

/// A root from the cosine and sine of its distance from the nearest multiple of a quarter of the
/// circle.
fn in_octant([cos, sin]: [f64; 2], octant: usize) -> Root {
    let [cos, sin] = if matches!(octant, 1 | 2 | 5 | 6) { [sin, cos] } else { [cos, sin] };
    let cos = if (2..6).contains(&octant) { -cos } else { cos };
    [cos, if octant < 4 { -sin } else { sin }]
}

/// `exp(-2 pi i k / n)` for `k` below `n`.
fn all_roots(n: usize) -> Vec<Root> {
    if !n.is_multiple_of(8) {
        return (0..n).map(|k| root(k, n)).collect();
    }
    let eighth = n / 8;
    let first: Vec<Root> = (0..=eighth).map(|k| root(k, n)).collect();
    let reflected = |k: usize| {
        let (octant, rest) = (k / eighth, k % eighth);
        let [cos, sin] = first[if octant % 2 == 1 { eighth - rest } else { rest }];
        in_octant([cos, -sin], octant)
    };
    (0..n).map(reflected).collect()
}

/// A transform of lines of some length.
///
/// Stockham's algorithm: the results of each stage are in the order in which the next one takes
/// them, and the results of the last one in order. A line that is alone is cut into four, so that
/// vectors have their lanes.
#[derive(Debug)]
pub struct LinePlan {
    /// Number of elements of a line.
    pub length: usize,
    method: Method,
}

#[derive(Debug)]
enum Method {
    /// The transforms of the prime factors, in turn.
    Factors(Vec<TransformStage>),
    /// Bluestein's algorithm: a product with the first numbers, a convolution with others, whose
    /// transform is here, and a product with the first numbers again.
    Chirp { chirp: Vec<Root>, transformed: Vec<Root>, plan: Box<LinePlan> },
    /// The transforms of every fourth element, as lanes, and of four of their results at a time,
    /// after products with roots of unity.
    Quarters { stages: Vec<TransformStage>, twiddles: Vec<[Root; 4]> },
}

/// Transforms of a factor of the length, `radix`, for each of `rest` positions.
#[derive(Debug)]
struct TransformStage {
    radix: usize,
    rest: usize,
    /// By position, the factors of all results but the first.
    twiddles: Vec<Root>,
    /// The roots of unity of an odd radix.
    roots: Vec<Root>,
}

impl LinePlan {
    /// A plan for lines of `length`, which is not zero, or for a line that is alone: it is
    /// transformed in memory for one line.
    pub fn new(length: usize, is_alone: bool) -> LinePlan {
        let (factors, rest) = LinePlan::factors(length);
        let method = if rest > 1 {
            LinePlan::chirp(length)
        } else if is_alone && factors.first() == Some(&4) {
            let roots = all_roots(length);
            let twiddle = |k| from_fn(|lane| roots[lane * k]);
            Method::Quarters {
                stages: LinePlan::stages(length / 4, &factors[1..]),
                twiddles: (0..length / 4).map(twiddle).collect(),
            }
        } else {
            Method::Factors(LinePlan::stages(length, &factors))
        };
        LinePlan { length, method }
    }

    /// The small prime factors of a length, fours first, and the product of the others.
    fn factors(length: usize) -> (Vec<usize>, usize) {
        let mut factors = Vec::new();
        let mut rest = length;
        for factor in [4, 2].into_iter().chain((3..=MAX_PRIME).step_by(2)) {
            while rest > 1 && rest.is_multiple_of(factor) {
                factors.push(factor);
                rest /= factor;
            }
        }
        (factors, rest)
    }

    /// The number of complex numbers of the plan.
    pub fn roots(&self) -> usize {
        let of_stages = |stages: &[TransformStage]| {
            stages.iter().map(|stage| stage.twiddles.len() + stage.roots.len()).sum::<usize>()
        };
        match &self.method {
            Method::Factors(stages) => of_stages(stages),
            Method::Quarters { stages, twiddles } => of_stages(stages) + 4 * twiddles.len(),
            Method::Chirp { chirp, transformed, plan } => {
                chirp.len() + transformed.len() + plan.roots()
            }
        }
    }

    /// The number of complex numbers that are in memory while a plan is made, at most:
    /// [`LinePlan::new`].
    pub fn max_roots(length: usize, is_alone: bool) -> usize {
        let (factors, rest) = LinePlan::factors(length);
        // All roots of unity, and the roots of the stages, which divide the length among them.
        let of_stages = |length: usize| length.saturating_mul(2);
        if rest > 1 {
            let size = LinePlan::chirp_size(length);
            // Beside the stages of the convolution, a line, scratch memory and the transform.
            return length.saturating_add(size.saturating_mul(4));
        }
        match is_alone && factors.first() == Some(&4) {
            true => of_stages(length).saturating_add(of_stages(length / 4)),
            false => of_stages(length),
        }
    }

    /// The least multiple of a power of two that has room for the convolution of a chirp.
    fn chirp_size(length: usize) -> usize {
        let least = length.saturating_mul(2).saturating_sub(1);
        let multiple = |odd: usize| {
            let power = least.div_ceil(odd).checked_next_power_of_two();
            power.map_or(usize::MAX, |power| power.saturating_mul(odd))
        };
        [1, 3, 5, 9].map(multiple).into_iter().min().unwrap_or(least)
    }

    fn stages(length: usize, factors: &[usize]) -> Vec<TransformStage> {
        let all = &all_roots(length);
        let mut rest = length;
        let stage = |&radix: &usize| {
            let stride = length / rest;
            rest /= radix;
            let twiddle = |p: usize| (1..radix).map(move |k| all[p * k * stride]);
            let roots = if radix % 2 == 1 { radix } else { 0 };
            TransformStage {
                radix,
                rest,
                twiddles: (0..if rest > 1 { rest } else { 0 }).flat_map(twiddle).collect(),
                roots: (0..roots).map(|k| all[k * (length / radix)]).collect(),
            }
        };
        factors.iter().map(stage).collect()
    }

    fn chirp(length: usize) -> Method {
        // jk = (j^2 + k^2 - (k - j)^2) / 2.
        let square = |j: usize| (j as u128 * j as u128 % (2 * length as u128)) as usize;
        let chirp: Vec<Root> = (0..length).map(|j| root(square(j), 2 * length)).collect();
        let plan = LinePlan::new(LinePlan::chirp_size(length), false);
        let size = plan.length;
        let [mut x, mut scratch] = [0; 2].map(|_| vec![[[0.0; 1]; 2]; size]);
        for (j, &[re, im]) in chirp.iter().enumerate() {
            // Scaled for the way back.
            let value = [[re / size as f64], [-im / size as f64]];
            x[j] = value;
            x[(size - j) % size] = value;
        }
        let (mut x, mut scratch) = (&mut x[..], &mut scratch[..]);
        Isa::best().run_doubles(Transform {
            plan: &plan,
            way: Way::Complex,
            lanes: 1,
            x: &mut x,
            scratch: &mut scratch,
        });
        let transformed = x.iter().map(|&[[re], [im]]| [re, im]).collect();
        Method::Chirp { chirp, transformed, plan: Box::new(plan) }
    }

    /// The number of elements that lines have while they are transformed.
    pub fn size(&self) -> usize {
        match &self.method {
            Method::Factors(_) | Method::Quarters { .. } => self.length,
            Method::Chirp { plan, .. } => plan.length,
        }
    }

    /// True if it transforms lines in memory for one line.
    pub fn is_alone(&self) -> bool {
        matches!(self.method, Method::Quarters { .. })
    }

    /// Elementary operations of the transform of a line, roughly.
    pub fn work(&self) -> usize {
        let of_stages = |stages: &[TransformStage]| {
            stages.iter().map(|stage| stage.radix).sum::<usize>().saturating_mul(self.length)
        };
        match &self.method {
            Method::Factors(stages) | Method::Quarters { stages, .. } => of_stages(stages),
            Method::Chirp { plan, .. } => plan.work().saturating_mul(2),
        }
    }

    /// How often a transform exchanges the places of its elements and of scratch memory.
    pub fn swaps(&self, way: Way<'_>) -> usize {
        let own = match &self.method {
            Method::Factors(stages) => stages.len(),
            // Twice the number that its plan has.
            Method::Quarters { .. } | Method::Chirp { .. } => 0,
        };
        own + usize::from(!matches!(way, Way::Complex))
    }

    /// Replaces the first `length` of [`LinePlan::size`] elements of `lanes` lines by their
    /// transform. The contents of `scratch`, of the same size, are lost.
    #[inline(always)]
    fn replace<'x, X: Doubles, V: Doubles<Array = [f64; 4]>>(
        &self,
        lanes: usize,
        x: &mut &'x mut [Lanes<X::Array>],
        scratch: &mut &'x mut [Lanes<X::Array>],
    ) {
        let (stages, chirp) = match &self.method {
            Method::Factors(stages) => (stages, None),
            Method::Quarters { stages, twiddles } => {
                if const { size_of::<X::Array>() > size_of::<f64>() } {
                    unreachable!("a line that is alone among others");
                }
                return transform_quarters::<X, V>(stages, twiddles, lanes, x);
            }
            Method::Chirp { chirp, transformed, plan } => {
                // No chirp has another one within.
                let Method::Factors(stages) = &plan.method else { return };
                for (x, &c) in x.iter_mut().zip(chirp) {
                    *x = (LineElement::<X>::read(x) * c).lanes();
                }
                x[self.length..].fill(LineElement::<X>::zero().lanes());
                (stages, Some((chirp, transformed)))
            }
        };
        // One place for all transforms, as it is compiled into many.
        for is_back in [false, true] {
            transform::<X, V>(stages, x, scratch);
            match chirp {
                None => return,
                Some((_, transformed)) if !is_back => {
                    for (x, &c) in x.iter_mut().zip(transformed) {
                        *x = (LineElement::<X>::read(x) * c).swapped().lanes();
                    }
                }
                Some((chirp, _)) => {
                    for (x, &c) in x.iter_mut().zip(chirp) {
                        *x = (LineElement::<X>::read(x).swapped() * c).lanes();
                    }
                }
            }
        }
    }
}

/// The transforms of one line at a time, by transforms of its quarters, in the lanes of `V`.
#[inline(always)]
fn transform_quarters<X: Doubles, V: Doubles<Array = [f64; 4]>>(
    stages: &[TransformStage],
    twiddles: &[[Root; 4]],
    lanes: usize,
    x: &mut [Lanes<X::Array>],
) {
    let count = twiddles.len();
    let [mut quarters, mut scratch] = [0; 2].map(|_| vec![[[0.0; 4]; 2]; count]);
    let (mut quarters, mut scratch) = (&mut quarters[..], &mut scratch[..]);
    for line in 0..lanes {
        for (quarter, x) in quarters.iter_mut().zip(x.as_chunks::<4>().0) {
            *quarter = [0, 1].map(|part| from_fn(|lane| x[lane][part].as_ref()[line]));
        }
        transform::<V, V>(stages, &mut quarters, &mut scratch);
        for (k, ([re, im], roots)) in quarters.iter().zip(twiddles).enumerate() {
            let turned = from_fn(|lane| LineElement { re: re[lane], im: im[lane] } * roots[lane]);
            for (j, result) in RadixFour.of(turned).into_iter().enumerate() {
                let [re, im] = &mut x[k + j * count];
                (re.as_mut()[line], im.as_mut()[line]) = (result.re, result.im);
            }
        }
    }
}

/// The stages in turn. Where operations of `Q` are calls, there is one loop for all odd radices.
#[inline(always)]
fn transform<'x, V: Doubles, Q: Doubles>(
    stages: &[TransformStage],
    x: &mut &'x mut [Lanes<V::Array>],
    scratch: &mut &'x mut [Lanes<V::Array>],
) {
    let mut stride = 1;
    for stage in stages {
        match stage.radix {
            2 => stage.run::<2, V>(x, scratch, stride, &RadixTwo),
            4 => stage.run::<4, V>(x, scratch, stride, &RadixFour),
            _ if const { Q::HAS_CALLS } => stage.run_odd::<V>(x, scratch, stride),
            3 => stage.run::<3, V>(x, scratch, stride, &Odd::<1>(&stage.roots)),
            5 => stage.run::<5, V>(x, scratch, stride, &Odd::<2>(&stage.roots)),
            7 => stage.run::<7, V>(x, scratch, stride, &Odd::<3>(&stage.roots)),
            _ => stage.run_odd::<V>(x, scratch, stride),
        }
        stride *= stage.radix;
        std::mem::swap(x, scratch);
    }
}

/// A transform of `R` elements. No closure, as these are not always inlined, and what is not has
/// no vectors.
trait Butterfly<const R: usize> {
    /// The transform. Implementations are `#[inline(always)]`.
    fn of<V: Doubles>(&self, x: [LineElement<V>; R]) -> [LineElement<V>; R];
}

struct RadixTwo;

impl Butterfly<2> for RadixTwo {
    #[inline(always)]
    fn of<V: Doubles>(&self, [a, b]: [LineElement<V>; 2]) -> [LineElement<V>; 2] {
        [a + b, a - b]
    }
}

struct RadixFour;

impl Butterfly<4> for RadixFour {
    #[inline(always)]
    fn of<V: Doubles>(&self, [a, b, c, d]: [LineElement<V>; 4]) -> [LineElement<V>; 4] {
        let (even, odd) = ([a + c, a - c], [b + d, (b - d).turned()]);
        [even[0] + odd[0], even[1] + odd[1], even[0] - odd[0], even[1] - odd[1]]
    }
}

/// Of an odd number of elements, which is `2 * H + 1`, with the roots of unity.
struct Odd<'a, const H: usize>(&'a [Root]);

macro_rules! odd {
    ($($radix:literal $half:literal)*) => {$(
        impl Butterfly<$radix> for Odd<'_, $half> {
            #[inline(always)]
            fn of<V: Doubles>(&self, x: [LineElement<V>; $radix]) -> [LineElement<V>; $radix] {
                let (mut sums, mut differences) = ([x[0]; $half], [x[0]; $half]);
                for j in 0..$half {
                    sums[j] = x[j + 1] + x[$radix - 1 - j];
                    differences[j] = x[j + 1] - x[$radix - 1 - j];
                }
                let mut results = [x[0]; $radix];
                for sum in sums {
                    results[0] = results[0] + sum;
                }
                for k in 1..=$half {
                    let (mut even, mut odd) = (x[0], LineElement::zero());
                    for j in 0..$half {
                        let [cos, sin] = self.0[(j + 1) * k % $radix];
                        even = even.plus_scaled(sums[j], V::splat(cos));
                        odd = odd.plus_scaled(differences[j], V::splat(-sin));
                    }
                    results[k] = even + odd.turned();
                    results[$radix - k] = even - odd.turned();
                }
                results
            }
        }
    )*};
}
odd! { 3 1 5 2 7 3 }

impl TransformStage {
    /// Transforms lines whose elements are `stride` lines of earlier stages.
    #[inline(always)]
    fn run<const R: usize, V: Doubles>(
        &self,
        x: &[Lanes<V::Array>],
        y: &mut [Lanes<V::Array>],
        stride: usize,
        butterfly: &impl Butterfly<R>,
    ) {
        let step = stride * self.rest;
        let (x, y) = (&x[..R * step], &mut y[..R * step]);
        if const { R.is_multiple_of(2) } && stride == 1 {
            // Neighbours are of other positions. Of odd radices, this is for odd lengths alone.
            for (p, y) in y.as_chunks_mut::<R>().0.iter_mut().enumerate() {
                let factors = self.factors::<R, V>(p);
                let mut elements = [LineElement::<V>::zero(); R];
                for j in 0..R {
                    elements[j] = LineElement::read(&x[p + j * step]);
                }
                let results = self.results(elements, &factors, butterfly);
                for k in 0..R {
                    y[k] = results[k].lanes();
                }
            }
            return;
        }
        for (p, y) in y.chunks_exact_mut(R * stride).enumerate() {
            let factors = self.factors::<R, V>(p);
            let x = &x[p * stride..];
            for q in 0..stride {
                let mut elements = [LineElement::<V>::zero(); R];
                for j in 0..R {
                    elements[j] = LineElement::read(&x[q + j * step]);
                }
                let results = self.results(elements, &factors, butterfly);
                for k in 0..R {
                    y[q + k * stride] = results[k].lanes();
                }
            }
        }
    }

    /// The factors of results, of which the first has none, for a position.
    #[inline(always)]
    fn factors<const R: usize, V: Doubles>(&self, p: usize) -> [[V; 2]; R] {
        let mut factors = [[V::splat(0.0); 2]; R];
        if self.rest > 1 {
            let twiddles = &self.twiddles[p * (R - 1)..][..R - 1];
            for (factor, &[re, im]) in factors[1..].iter_mut().zip(twiddles) {
                *factor = [V::splat(re), V::splat(im)];
            }
        }
        factors
    }

    /// The results of a butterfly, with their factors.
    #[inline(always)]
    fn results<const R: usize, V: Doubles>(
        &self,
        elements: [LineElement<V>; R],
        factors: &[[V; 2]; R],
        butterfly: &impl Butterfly<R>,
    ) -> [LineElement<V>; R] {
        let mut results = butterfly.of(elements);
        if self.rest > 1 {
            for k in 1..R {
                results[k] = results[k].times(factors[k]);
            }
        }
        results
    }

    /// [`TransformStage::run`] with an odd radix.
    #[inline(always)]
    fn run_odd<V: Doubles>(&self, x: &[Lanes<V::Array>], y: &mut [Lanes<V::Array>], stride: usize) {
        let radix = self.radix;
        let (step, half) = (stride * self.rest, radix / 2);
        let mut pairs = [[LineElement::<V>::zero(); 2]; MAX_PRIME / 2];
        let pairs = &mut pairs[..half];
        for (p, y) in y[..radix * step].chunks_exact_mut(radix * stride).enumerate() {
            let x = &x[p * stride..];
            for q in 0..stride {
                let first = LineElement::read(&x[q]);
                let mut sum = first;
                for (j, pair) in pairs.iter_mut().enumerate() {
                    let a = LineElement::read(&x[q + (j + 1) * step]);
                    let b = LineElement::read(&x[q + (radix - 1 - j) * step]);
                    *pair = [a + b, a - b];
                    sum = sum + pair[0];
                }
                y[q] = sum.lanes();
                // Several at a time, as the sums of one depend on one another: one for each of the
                // registers that remain.
                let mut k = 1;
                if size_of::<V::Array>() == size_of::<[f64; 8]>() {
                    while k + 3 <= half {
                        self.some_results::<V, 4>(y, [p, q, stride], first, pairs, k);
                        k += 4;
                    }
                }
                while k < half {
                    self.some_results::<V, 2>(y, [p, q, stride], first, pairs, k);
                    k += 2;
                }
                if k == half {
                    self.some_results::<V, 1>(y, [p, q, stride], first, pairs, k);
                }
            }
        }
    }

    /// Writes results from `k` on, and the same number from `radix - k` downwards.
    #[inline(always)]
    fn some_results<V: Doubles, const N: usize>(
        &self,
        y: &mut [Lanes<V::Array>],
        at: [usize; 3],
        first: LineElement<V>,
        pairs: &[[LineElement<V>; 2]],
        k: usize,
    ) {
        let results = self.sums_of_pairs(first, pairs, from_fn::<_, N, _>(|n| k + n));
        for (n, &result) in results.iter().enumerate() {
            self.put(y, at, k + n, result);
        }
    }

    /// Writes results `k` and `radix - k` of a transform, from their even and odd parts.
    #[inline(always)]
    fn put<V: Doubles>(
        &self,
        y: &mut [Lanes<V::Array>],
        [p, q, stride]: [usize; 3],
        k: usize,
        [even, odd]: [LineElement<V>; 2],
    ) {
        let both = [(k, even + odd.turned()), (self.radix - k, even - odd.turned())];
        for (k, mut result) in both {
            if self.rest > 1 {
                result = result * self.twiddles[p * (self.radix - 1) + k - 1];
            }
            y[q + k * stride] = result.lanes();
        }
    }

    /// The even and odd parts of some results, of sums and differences of pairs of elements.
    #[inline(always)]
    fn sums_of_pairs<V: Doubles, const N: usize>(
        &self,
        first: LineElement<V>,
        pairs: &[[LineElement<V>; 2]],
        numbers: [usize; N],
    ) -> [[LineElement<V>; 2]; N] {
        let mut results = [[first, LineElement::zero()]; N];
        let mut at = [0; N];
        for &[sum, difference] in pairs {
            for n in 0..N {
                at[n] += numbers[n];
                at[n] -= if at[n] >= self.radix { self.radix } else { 0 };
                let [cos, sin] = self.roots[at[n]];
                results[n][0] = results[n][0].plus_scaled(sum, V::splat(cos));
                results[n][1] = results[n][1].plus_scaled(difference, V::splat(-sin));
            }
        }
        results
    }
}

/// The transform of real lines of even length: of their elements in pairs, with the roots of unity
/// of the whole length.
#[derive(Debug)]
pub struct PairTransform(Vec<Root>);

impl PairTransform {
    /// For lines of a length, which is even.
    pub fn new(length: usize) -> PairTransform {
        let mut roots = all_roots(length);
        roots.truncate(length / 2 + 1);
        PairTransform(roots)
    }

    /// The first half of the transform, and the element after it, from that of the pairs.
    #[inline(always)]
    fn separate<V: Doubles>(&self, pairs: &[Lanes<V::Array>], x: &mut [Lanes<V::Array>]) {
        let n = self.0.len() - 1;
        for ((k, x), &root) in x.iter_mut().enumerate().zip(&self.0) {
            // The first element follows the last one.
            let around = [k, n - k].map(|k| &pairs[if k == n { 0 } else { k }]);
            let (a, b) = (LineElement::<V>::read(around[0]), LineElement::read(around[1]).conj());
            *x = ((a + b) + (a - b).turned() * root).scaled(0.5).lanes();
        }
    }

    /// Twice the inverse of [`PairTransform::separate`], with parts exchanged. The imaginary parts
    /// of the first and last elements are not read.
    #[inline(always)]
    fn join<V: Doubles>(&self, x: &mut [Lanes<V::Array>], pairs: &mut [Lanes<V::Array>]) {
        let n = self.0.len() - 1;
        (x[0][1], x[n][1]) = (V::splat(0.0).array(), V::splat(0.0).array());
        for ((k, pair), &[re, im]) in pairs[..n].iter_mut().enumerate().zip(&self.0) {
            let (a, b) = (LineElement::<V>::read(&x[k]), LineElement::read(&x[n - k]).conj());
            // The product with i is the conjugate of that with -i.
            *pair = ((a + b) - ((a - b) * [re, -im]).turned()).swapped().lanes();
        }
    }
}

/// The direction and the places of a transform of lines in lanes.
#[derive(Clone, Copy, Debug)]
pub enum Way<'a> {
    /// The transform of complex lines. With real and imaginary parts exchanged before and after,
    /// it is the inverse one, times the length.
    Complex,
    /// The transform of real lines given as pairs: half of it, and one more element.
    Separate(&'a PairTransform),
    /// Real lines, times the length, from half of their transform and one more element: as pairs,
    /// the second element of each as real part.
    Join(&'a PairTransform),
}

/// Transforms lines in memory.
pub struct Transform<'a, 'x, A> {
    /// The plan for their length, or for half of it if they are real.
    pub plan: &'a LinePlan,
    /// The direction.
    pub way: Way<'a>,
    /// The number of lines, which is at most that of lanes.
    pub lanes: usize,
    /// The lines: [`LinePlan::size`] elements, and one more of real lines.
    pub x: &'a mut &'x mut [Lanes<A>],
    /// Scratch memory of the same size.
    pub scratch: &'a mut &'x mut [Lanes<A>],
}

impl<A: DoublesArray> DoublesKernel for Transform<'_, '_, A> {
    type Array = A;

    #[inline(always)]
    fn run<X: Doubles<Array = A>, Q: Doubles<Array = [f64; 4]>>(self) {
        let Transform { plan, way, lanes, x, scratch } = self;
        if let Way::Join(pairs) = way {
            pairs.join::<X>(x, scratch);
            std::mem::swap(x, scratch);
        }
        plan.replace::<X, Q>(lanes, x, scratch);
        if let Way::Separate(pairs) = way {
            pairs.separate::<X>(x, scratch);
            std::mem::swap(x, scratch);
        }
    }
}
