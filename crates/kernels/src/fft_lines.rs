//! Discrete Fourier transforms of lines of complex numbers in double precision.
//!
//! Several lines are transformed at a time, one in each lane of vectors. What is computed for a
//! line does not depend on the number of lanes, nor on the vector instructions: results have the
//! same bits on every machine.

use numerics::simd::Kernel;
use std::array::from_fn;
use std::f64::consts::TAU;
use std::ops::{Add, Mul, Sub};

/// Lengths with a larger prime factor become convolutions.
const MAX_PRIME: usize = 128;

/// An element of each of several lines.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<const L: usize> {
    /// Real parts.
    pub re: [f64; L],
    /// Imaginary parts.
    pub im: [f64; L],
}

impl<const L: usize> Lanes<L> {
    /// Zeros.
    pub const ZERO: Lanes<L> = Lanes { re: [0.0; L], im: [0.0; L] };

    /// Real and imaginary parts exchanged. Between exchanges, a transform is the inverse one.
    #[inline(always)]
    pub fn swapped(self) -> Lanes<L> {
        Lanes { re: self.im, im: self.re }
    }

    /// The complex conjugates.
    #[inline(always)]
    pub fn conj(self) -> Lanes<L> {
        Lanes { re: self.re, im: self.im.map(|x| -x) }
    }

    /// The product with `-i`.
    #[inline(always)]
    fn turned(self) -> Lanes<L> {
        Lanes { re: self.im, im: self.re.map(|x| -x) }
    }

    /// The sum with the product of other numbers and a real one, rounded once.
    #[inline(always)]
    fn plus_scaled(self, other: Lanes<L>, factor: f64) -> Lanes<L> {
        Lanes {
            re: from_fn(|l| other.re[l].mul_add(factor, self.re[l])),
            im: from_fn(|l| other.im[l].mul_add(factor, self.im[l])),
        }
    }

    /// The product with a real number.
    #[inline(always)]
    pub fn scaled(self, factor: f64) -> Lanes<L> {
        Lanes { re: self.re.map(|x| x * factor), im: self.im.map(|x| x * factor) }
    }
}

impl<const L: usize> Add for Lanes<L> {
    type Output = Lanes<L>;
    #[inline(always)]
    fn add(self, other: Lanes<L>) -> Lanes<L> {
        Lanes {
            re: from_fn(|l| self.re[l] + other.re[l]),
            im: from_fn(|l| self.im[l] + other.im[l]),
        }
    }
}

impl<const L: usize> Sub for Lanes<L> {
    type Output = Lanes<L>;
    #[inline(always)]
    fn sub(self, other: Lanes<L>) -> Lanes<L> {
        Lanes {
            re: from_fn(|l| self.re[l] - other.re[l]),
            im: from_fn(|l| self.im[l] - other.im[l]),
        }
    }
}

/// The product with a complex number.
impl<const L: usize> Mul<Root> for Lanes<L> {
    type Output = Lanes<L>;
    #[inline(always)]
    fn mul(self, [re, im]: Root) -> Lanes<L> {
        Lanes {
            re: from_fn(|l| self.re[l].mul_add(re, -(self.im[l] * im))),
            im: from_fn(|l| self.re[l].mul_add(im, self.im[l] * re)),
        }
    }
}

/// The parts of a root of unity.
type Root = [f64; 2];

/// `exp(-2 pi i k / n)`.
fn root(k: usize, n: usize) -> Root {
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
/// them, and those of the last in order. A line that is alone is cut into four, so that vectors
/// have their lanes.
#[derive(Debug)]
pub struct Plan {
    length: usize,
    method: Method,
}

#[derive(Debug)]
enum Method {
    /// The transforms of the prime factors, in turn.
    Factors(Vec<Stage>),
    /// Bluestein's algorithm: a product with the first numbers, a convolution with others, whose
    /// transform is here, and a product with the first numbers again.
    Chirp { chirp: Vec<Root>, transformed: Vec<Root>, plan: Box<Plan> },
    /// The transforms of every fourth element, as lanes, and of four of their results at a time,
    /// after products with roots of unity.
    Quarters { stages: Vec<Stage>, twiddles: Vec<[Root; 4]> },
}

/// Transforms of a factor of the length, `radix`, for each of `rest` positions.
#[derive(Debug)]
struct Stage {
    radix: usize,
    rest: usize,
    /// By position, the factors of all results but the first.
    twiddles: Vec<Root>,
    /// The roots of unity of an odd radix.
    roots: Vec<Root>,
}

impl Plan {
    /// A plan for lines of `length`, which is not zero, or for a line that is alone.
    pub fn new(length: usize, is_alone: bool) -> Plan {
        let mut factors = Vec::new();
        let mut rest = length;
        for factor in [4, 2].into_iter().chain((3..=MAX_PRIME).step_by(2)) {
            while rest.is_multiple_of(factor) {
                factors.push(factor);
                rest /= factor;
            }
        }
        let method = if rest > 1 {
            Plan::chirp(length)
        } else if is_alone && factors.first() == Some(&4) {
            let roots = all_roots(length);
            let twiddle = |k| from_fn(|lane| roots[lane * k]);
            Method::Quarters {
                stages: Plan::stages(length / 4, &factors[1..]),
                twiddles: (0..length / 4).map(twiddle).collect(),
            }
        } else {
            Method::Factors(Plan::stages(length, &factors))
        };
        Plan { length, method }
    }

    fn stages(length: usize, factors: &[usize]) -> Vec<Stage> {
        let all = &all_roots(length);
        let mut rest = length;
        let stage = |&radix: &usize| {
            let stride = length / rest;
            rest /= radix;
            let twiddle = |p: usize| (1..radix).map(move |k| all[p * k * stride]);
            let roots = if radix % 2 == 1 { radix } else { 0 };
            Stage {
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
        // The least multiple of a power of two that has room for the convolution.
        let least = 2 * length - 1;
        let multiple = |odd: usize| odd * least.div_ceil(odd).next_power_of_two();
        let plan = Plan::new([1, 3, 5, 9].map(multiple).into_iter().min().unwrap_or(least), false);
        let size = plan.length;
        let mut around = vec![Lanes::<1>::ZERO; size];
        for (j, &[re, im]) in chirp.iter().enumerate() {
            // Scaled for the way back.
            let value = Lanes { re: [re / size as f64], im: [-im / size as f64] };
            around[j] = value;
            around[(size - j) % size] = value;
        }
        plan.transform(&mut around, &mut vec![Lanes::ZERO; size]);
        let transformed = around.iter().map(|x| [x.re[0], x.im[0]]).collect();
        Method::Chirp { chirp, transformed, plan: Box::new(plan) }
    }

    /// The number of elements that lines have while they are transformed.
    pub fn size(&self) -> usize {
        match &self.method {
            Method::Factors(_) | Method::Quarters { .. } => self.length,
            Method::Chirp { plan, .. } => plan.length,
        }
    }

    /// Replaces the first `length` of [`Plan::size`] elements by their transform. The
    /// contents of `scratch`, of the same size, are lost.
    #[inline(always)]
    fn transform<const L: usize>(&self, x: &mut Vec<Lanes<L>>, scratch: &mut Vec<Lanes<L>>) {
        match &self.method {
            Method::Factors(stages) => transform(stages, x, scratch),
            Method::Quarters { stages, twiddles } => transform_quarters(stages, twiddles, x),
            Method::Chirp { chirp, transformed, plan } => {
                for (x, &c) in x.iter_mut().zip(chirp) {
                    *x = *x * c;
                }
                x[self.length..].fill(Lanes::ZERO);
                // No chirp has another one within.
                let Method::Factors(stages) = &plan.method else { return };
                transform(stages, x, scratch);
                for (x, &c) in x.iter_mut().zip(transformed) {
                    *x = (*x * c).swapped();
                }
                transform(stages, x, scratch);
                for (x, &c) in x.iter_mut().zip(chirp) {
                    *x = x.swapped() * c;
                }
            }
        }
    }
}

/// The transforms of lines one after the other, by those of their quarters.
#[inline(always)]
fn transform_quarters<const L: usize>(
    stages: &[Stage],
    twiddles: &[[Root; 4]],
    x: &mut [Lanes<L>],
) {
    let count = twiddles.len();
    let [mut quarters, mut scratch] = [0; 2].map(|_| vec![Lanes::<4>::ZERO; count]);
    for line in 0..L {
        for (k, quarter) in quarters.iter_mut().enumerate() {
            let of = |lane: usize| &x[4 * k + lane];
            let (re, im) = (from_fn(|lane| of(lane).re[line]), from_fn(|lane| of(lane).im[line]));
            *quarter = Lanes { re, im };
        }
        transform(stages, &mut quarters, &mut scratch);
        for (k, (quarter, roots)) in quarters.iter().zip(twiddles).enumerate() {
            let turned = from_fn(|lane| {
                Lanes { re: [quarter.re[lane]], im: [quarter.im[lane]] } * roots[lane]
            });
            for (j, result) in of_4(turned).into_iter().enumerate() {
                let to = &mut x[k + j * count];
                (to.re[line], to.im[line]) = (result.re[0], result.im[0]);
            }
        }
    }
}

/// The stages in turn.
#[inline(always)]
fn transform<const L: usize>(stages: &[Stage], x: &mut Vec<Lanes<L>>, scratch: &mut Vec<Lanes<L>>) {
    let mut stride = 1;
    for stage in stages {
        match stage.radix {
            4 => stage.run(x, scratch, stride, of_4),
            2 => stage.run(x, scratch, stride, |[a, b]| [a + b, a - b]),
            3 => stage.run(x, scratch, stride, |x| of_odd::<3, 1, L>(x, &stage.roots)),
            5 => stage.run(x, scratch, stride, |x| of_odd::<5, 2, L>(x, &stage.roots)),
            7 => stage.run(x, scratch, stride, |x| of_odd::<7, 3, L>(x, &stage.roots)),
            _ => stage.run_odd(x, scratch, stride),
        }
        stride *= stage.radix;
        std::mem::swap(x, scratch);
    }
}

#[inline(always)]
fn of_4<const L: usize>([a, b, c, d]: [Lanes<L>; 4]) -> [Lanes<L>; 4] {
    let (even, odd) = ([a + c, a - c], [b + d, (b - d).turned()]);
    [even[0] + odd[0], even[1] + odd[1], even[0] - odd[0], even[1] - odd[1]]
}

/// The transform of an odd number of elements, which is `2 * H + 1`.
#[inline(always)]
fn of_odd<const R: usize, const H: usize, const L: usize>(
    x: [Lanes<L>; R],
    roots: &[Root],
) -> [Lanes<L>; R] {
    let sums: [Lanes<L>; H] = from_fn(|j| x[j + 1] + x[R - 1 - j]);
    let differences: [Lanes<L>; H] = from_fn(|j| x[j + 1] - x[R - 1 - j]);
    let mut results = [x[0]; R];
    for sum in sums {
        results[0] = results[0] + sum;
    }
    for k in 1..=H {
        let (mut even, mut odd) = (x[0], Lanes::ZERO);
        for j in 0..H {
            let [cos, sin] = roots[(j + 1) * k % R];
            even = even.plus_scaled(sums[j], cos);
            odd = odd.plus_scaled(differences[j], -sin);
        }
        (results[k], results[R - k]) = (even + odd.turned(), even - odd.turned());
    }
    results
}

impl Stage {
    /// Transforms lines whose elements are `stride` lines of earlier stages.
    #[inline(always)]
    fn run<const R: usize, const L: usize>(
        &self,
        x: &[Lanes<L>],
        y: &mut [Lanes<L>],
        stride: usize,
        butterfly: impl Fn([Lanes<L>; R]) -> [Lanes<L>; R],
    ) {
        let step = stride * self.rest;
        for (p, y) in y[..R * step].chunks_exact_mut(R * stride).enumerate() {
            let x = &x[p * stride..];
            if self.rest == 1 {
                for q in 0..stride {
                    let results = butterfly(from_fn(|j| x[q + j * step]));
                    for (k, result) in results.into_iter().enumerate() {
                        y[q + k * stride] = result;
                    }
                }
            } else {
                let twiddles = &self.twiddles[p * (R - 1)..][..R - 1];
                for q in 0..stride {
                    let results = butterfly(from_fn(|j| x[q + j * step]));
                    y[q] = results[0];
                    for k in 1..R {
                        y[q + k * stride] = results[k] * twiddles[k - 1];
                    }
                }
            }
        }
    }

    /// [`Stage::run`] with an odd radix.
    #[inline(always)]
    fn run_odd<const L: usize>(&self, x: &[Lanes<L>], y: &mut [Lanes<L>], stride: usize) {
        let radix = self.radix;
        let (step, half) = (stride * self.rest, radix / 2);
        let mut pairs = [[Lanes::ZERO; 2]; MAX_PRIME / 2];
        let pairs = &mut pairs[..half];
        for (p, y) in y[..radix * step].chunks_exact_mut(radix * stride).enumerate() {
            let x = &x[p * stride..];
            for q in 0..stride {
                let first = x[q];
                let mut sum = first;
                for (j, pair) in pairs.iter_mut().enumerate() {
                    let (a, b) = (x[q + (j + 1) * step], x[q + (radix - 1 - j) * step]);
                    *pair = [a + b, a - b];
                    sum = sum + pair[0];
                }
                y[q] = sum;
                for k in 1..=half {
                    let (mut even, mut odd, mut at) = (first, Lanes::ZERO, 0);
                    for &[sum, difference] in pairs.iter() {
                        at = if at + k >= radix { at + k - radix } else { at + k };
                        let [cos, sin] = self.roots[at];
                        even = even.plus_scaled(sum, cos);
                        odd = odd.plus_scaled(difference, -sin);
                    }
                    for (k, mut result) in
                        [(k, even + odd.turned()), (radix - k, even - odd.turned())]
                    {
                        if self.rest > 1 {
                            result = result * self.twiddles[p * (radix - 1) + k - 1];
                        }
                        y[q + k * stride] = result;
                    }
                }
            }
        }
    }
}

/// The transform of real lines of even length: of their elements in pairs, with the roots of unity
/// of the whole length.
#[derive(Debug)]
pub struct Pairs(Vec<Root>);

impl Pairs {
    /// For lines of a length, which is even.
    pub fn new(length: usize) -> Pairs {
        let mut roots = all_roots(length);
        roots.truncate(length / 2 + 1);
        Pairs(roots)
    }

    /// The first half of the transform, and the element after it, from that of the pairs.
    #[inline(always)]
    fn separate<const L: usize>(&self, pairs: &[Lanes<L>], x: &mut [Lanes<L>]) {
        let n = self.0.len() - 1;
        for ((k, x), &root) in x.iter_mut().enumerate().zip(&self.0) {
            // The first element follows the last one.
            let around = |k: usize| pairs[if k == n { 0 } else { k }];
            let (a, b) = (around(k), around(n - k).conj());
            *x = ((a + b) + (a - b).turned() * root).scaled(0.5);
        }
    }

    /// Twice the inverse of [`Pairs::separate`]. The imaginary parts of the first and last elements
    /// are not read.
    #[inline(always)]
    fn join<const L: usize>(&self, x: &mut [Lanes<L>], pairs: &mut [Lanes<L>]) {
        let n = self.0.len() - 1;
        (x[0].im, x[n].im) = ([0.0; L], [0.0; L]);
        for ((k, pair), &[re, im]) in pairs[..n].iter_mut().enumerate().zip(&self.0) {
            let (a, b) = (x[k], x[n - k].conj());
            // The product with i is the conjugate of that with -i.
            *pair = (a + b) - ((a - b) * [re, -im]).turned();
        }
    }
}

/// The direction and the places of a transform of lines in lanes.
#[derive(Clone, Copy, Debug)]
pub enum Way<'a> {
    /// The transform.
    Forward,
    /// The inverse transform, times the length.
    Inverse,
    /// The transform of real lines given as pairs: half of it, and one more element.
    Separate(&'a Pairs),
    /// Real lines as pairs, from half of their transform and one more element, times the length.
    Join(&'a Pairs),
}

/// Transforms the lines in `x`, in place.
pub struct Transform<'a, const L: usize> {
    /// The plan for their length, or for half of it if they are real.
    pub plan: &'a Plan,
    /// The direction.
    pub way: Way<'a>,
    /// The lines: [`Plan::size`] elements and one more.
    pub x: &'a mut Vec<Lanes<L>>,
    /// Scratch memory of the same size.
    pub scratch: &'a mut Vec<Lanes<L>>,
}

impl<const L: usize> Kernel for Transform<'_, L> {
    #[inline(always)]
    fn run(self) {
        let Transform { plan, way, x, scratch } = self;
        let length = plan.length;
        if let Way::Join(pairs) = way {
            pairs.join(x, scratch);
            std::mem::swap(x, scratch);
        }
        let is_inverse = matches!(way, Way::Inverse | Way::Join(_));
        if is_inverse {
            x[..length].iter_mut().for_each(|x| *x = x.swapped());
        }
        plan.transform(x, scratch);
        if is_inverse {
            x[..length].iter_mut().for_each(|x| *x = x.swapped());
        }
        if let Way::Separate(pairs) = way {
            pairs.separate(x, scratch);
            std::mem::swap(x, scratch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use numerics::simd::Isa;

    fn line(n: usize, seed: usize) -> Vec<[f64; 2]> {
        let part = |k: usize| ((k * k * 31 + k * 7 + seed) % 97) as f64 / 97.0 - 0.5;
        (0..n).map(|k| [part(k), part(k + n)]).collect()
    }

    /// The sums of the definition.
    fn defined(line: &[[f64; 2]]) -> Vec<[f64; 2]> {
        let n = line.len();
        let term = |k: usize, j: usize| {
            let ([re, im], [c, s]) = (line[j], root(j * k % n, n));
            [re * c - im * s, re * s + im * c]
        };
        let sum =
            |k: usize| (0..n).map(|j| term(k, j)).fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
        (0..n).map(sum).collect()
    }

    fn transformed<const L: usize>(
        isa: Isa,
        plan: &Plan,
        lines: &[Vec<[f64; 2]>],
        way: Way<'_>,
    ) -> Vec<Vec<[f64; 2]>> {
        let mut x = vec![Lanes::<L>::ZERO; plan.size() + 1];
        let mut scratch = x.clone();
        for (lane, line) in lines.iter().enumerate() {
            for (x, &parts) in x.iter_mut().zip(line) {
                [x.re[lane], x.im[lane]] = parts;
            }
        }
        isa.run(Transform { plan, way, x: &mut x, scratch: &mut scratch });
        let of = |lane: usize| x[..=plan.length].iter().map(|x| [x.re[lane], x.im[lane]]).collect();
        (0..lines.len()).map(of).collect()
    }

    fn assert_close(found: &[[f64; 2]], expected: &[[f64; 2]]) {
        for (k, (x, y)) in found.iter().zip(expected).enumerate() {
            let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * expected.len() as f64;
            assert!(near(x[0], y[0]) && near(x[1], y[1]), "{k} of {}: {x:?} {y:?}", expected.len());
        }
    }

    /// All radices, several of them, and primes that are too large for one.
    const LENGTHS: [usize; 18] =
        [1, 2, 3, 4, 5, 7, 8, 12, 29, 30, 64, 98, 105, 116, 131, 211, 262, 400];

    #[test]
    fn lines_of_every_kind() {
        for n in LENGTHS {
            let lines: Vec<_> = (0..3).map(|seed| line(n, seed)).collect();
            let plans = [Plan::new(n, false), Plan::new(n, true)];
            let [together, alone] = plans.each_ref().map(|plan| {
                let found = transformed::<4>(Isa::BASELINE, plan, &lines, Way::Forward);
                for isa in Isa::available() {
                    for (line, found) in lines.iter().zip(&found) {
                        let lines = std::slice::from_ref(line);
                        let single = &transformed::<1>(isa, plan, lines, Way::Forward)[0];
                        assert_eq!(single[..n], found[..n], "the same bits");
                    }
                }
                found
            });
            for ((line, x), y) in lines.iter().zip(&together).zip(&alone) {
                assert_close(&x[..n], &defined(line));
                assert_close(&y[..n], &defined(line));
                let back = &transformed::<1>(
                    Isa::best(),
                    &plans[0],
                    std::slice::from_ref(x),
                    Way::Inverse,
                )[0];
                let scaled: Vec<_> = line.iter().map(|x| x.map(|x| x * n as f64)).collect();
                assert_close(&back[..n], &scaled);
            }
        }
    }

    #[test]
    fn real_lines_as_pairs() {
        for n in LENGTHS {
            let pairs = line(n, 5);
            let real: Vec<_> = pairs.iter().flatten().map(|&x| [x, 0.0]).collect();
            let (plan, roots) = (Plan::new(n, false), Pairs::new(2 * n));
            let lines = std::slice::from_ref(&pairs);
            let half = transformed::<1>(Isa::best(), &plan, lines, Way::Separate(&roots));
            assert_close(&half[0], &defined(&real)[..=n]);
            let back = &transformed::<1>(Isa::best(), &plan, &half, Way::Join(&roots))[0];
            let scaled: Vec<_> = pairs.iter().map(|x| x.map(|x| x * 2.0 * n as f64)).collect();
            assert_close(&back[..n], &scaled);
        }
    }
}
