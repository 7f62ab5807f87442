//! Tests of `fft_lines.rs`.

use kernels::fft_lines::{LinePlan, PairTransform, Transform, Way, root};
use numerics::simd::DoublesArray;
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
    let sum = |k: usize| (0..n).map(|j| term(k, j)).fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d]);
    (0..n).map(sum).collect()
}

/// Lines transformed `L` at a time.
fn transformed<const L: usize>(
    isa: Isa,
    plan: &LinePlan,
    lines: &[Vec<[f64; 2]>],
    way: Way<'_>,
) -> Vec<Vec<[f64; 2]>>
where
    [f64; L]: DoublesArray,
{
    let mut results = Vec::new();
    for lines in lines.chunks(L) {
        let [mut x, mut scratch] = [0; 2].map(|_| vec![[[0.0; L]; 2]; plan.size() + 1]);
        for (lane, line) in lines.iter().enumerate() {
            for (x, &parts) in x.iter_mut().zip(line) {
                [x[0][lane], x[1][lane]] = parts;
            }
        }
        let (mut x, mut scratch) = (&mut x[..], &mut scratch[..]);
        let lanes = lines.len();
        isa.run_doubles(Transform { plan, way, lanes, x: &mut x, scratch: &mut scratch });
        let x = &x[..=plan.length];
        let of = |lane: usize| x.iter().map(|x| [x[0][lane], x[1][lane]]).collect();
        results.extend((0..lines.len()).map(of));
    }
    results
}

fn swapped(line: &[[f64; 2]]) -> Vec<[f64; 2]> {
    line.iter().map(|&[re, im]| [im, re]).collect()
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
    let way = Way::Complex;
    for n in LENGTHS {
        let lines: Vec<_> = (0..6).map(|seed| line(n, seed)).collect();
        let plans = [LinePlan::new(n, false), LinePlan::new(n, true)];
        let [together, alone] = plans.each_ref().map(|plan| {
            let found = transformed::<1>(Isa::BASELINE, plan, &lines, way);
            let check = |again: Vec<Vec<[f64; 2]>>| {
                for (again, found) in again.iter().zip(&found) {
                    assert_eq!(again[..n], found[..n], "the same bits");
                }
            };
            for isa in Isa::available() {
                check(transformed::<1>(isa, plan, &lines, way));
                if plan.is_alone() {
                    continue;
                }
                if <[f64; 4]>::is_compiled(isa) {
                    check(transformed::<4>(isa, plan, &lines, way));
                }
                if <[f64; 8]>::is_compiled(isa) {
                    check(transformed::<8>(isa, plan, &lines, way));
                }
            }
            found
        });
        for ((line, x), y) in lines.iter().zip(&together).zip(&alone) {
            assert_close(&x[..n], &defined(line));
            assert_close(&y[..n], &defined(line));
            let back = transformed::<1>(Isa::best(), &plans[0], &[swapped(x)], way);
            let scaled: Vec<_> = line.iter().map(|x| x.map(|x| x * n as f64)).collect();
            assert_close(&swapped(&back[0])[..n], &scaled);
        }
    }
}

#[test]
fn real_lines_as_pairs() {
    for n in LENGTHS {
        let pairs = line(n, 5);
        let real: Vec<_> = pairs.iter().flatten().map(|&x| [x, 0.0]).collect();
        let (plan, roots) = (LinePlan::new(n, false), PairTransform::new(2 * n));
        let lines = std::slice::from_ref(&pairs);
        let half = transformed::<1>(Isa::best(), &plan, lines, Way::Separate(&roots));
        assert_close(&half[0], &defined(&real)[..=n]);
        let back = transformed::<1>(Isa::best(), &plan, &half, Way::Join(&roots));
        let scaled: Vec<_> = pairs.iter().map(|x| x.map(|x| x * 2.0 * n as f64)).collect();
        assert_close(&swapped(&back[0])[..n], &scaled);
    }
}
