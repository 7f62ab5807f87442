//! Tests of `simd/columns.rs`.

use numerics::simd::{ColumnSums, Columns, GROUP, Isa, WIDE_GROUP};
use numerics::{Widen, bf16, f16};

/// Checks the chains of `W` columns, which there are if it `is_compiled`.
fn check<S: Widen<f32>, const W: usize>(
    isa: Isa,
    is_compiled: bool,
    groups: [Columns<'_, f32, S>; 2],
) where
    f32: ColumnSums<S>,
{
    let found = f32::column_chains::<W, 2>(isa, groups);
    // The vectors of both groups with the columns of the first one.
    let vectors = groups.map(|group| group.vector);
    let shared = f32::shared_chains::<W, 2>(isa, vectors, groups[0]);
    let other = Columns { vector: vectors[1], ..groups[0] };
    let separate = f32::column_chains::<W, 2>(isa, [groups[0], other]);
    let numbers = |sums: Option<[[f32; W]; 2]>| {
        let sums = sums.into_iter().flatten().flatten();
        sums.filter(|x| !x.is_nan()).map(f32::to_bits).collect::<Vec<u32>>()
    };
    assert_eq!(numbers(shared), numbers(separate), "{isa:?}");
    assert_eq!(found.is_some(), is_compiled, "{isa:?}");
    for (group, sums) in groups.iter().zip(found.into_iter().flatten()) {
        for (column, sum) in sums.iter().enumerate() {
            let column = &group.elements[column * group.stride..][..group.vector.len()];
            let products = group.vector.iter().zip(column);
            let expected = products.fold(0.0, |sum: f32, (a, b)| a.mul_add(b.widen(), sum));
            let equal = sum.to_bits() == expected.to_bits() || (sum.is_nan() && expected.is_nan());
            assert!(equal, "{isa:?}, {W} columns of {}: {sum}, not {expected}", column.len());
        }
    }
}

/// Ordinary and special numbers of 16 bits, and others.
#[test]
fn columns_are_chains_of_fused_multiply_adds() {
    let number = |i: usize| 1.0 / (1 + i * 37 % 101) as f32 - 0.3;
    chains(number);
    chains(|i| bf16::from_f32(number(i)));
    chains(|i| bf16::from_bits((i * 40503) as u16));
    chains(|i| f16::from_f32(number(i)));
    chains(|i| f16::from_bits((i * 40503) as u16));
    // Subnormal ones.
    chains(|i| f16::from_bits((i * 40503) as u16 & 0x83FF));
}

fn chains<S: Widen<f32>>(element: impl Fn(usize) -> S)
where
    f32: ColumnSums<S>,
{
    let number = |i: usize| 1.0 / (1 + i * 37 % 101) as f32 - 0.3;
    let vectors: Vec<f32> = (0..130).map(|i| number(3 * i)).collect();
    let elements: Vec<S> = (0..1500).map(element).collect();
    for len in [0, 1, 3, 4, 5, 16, 39, 64, 77] {
        for stride in [len, len + 1, 80] {
            let group = |at: usize| Columns {
                vector: &vectors[at..at + len],
                elements: &elements[at..],
                stride,
                next: 0,
            };
            for isa in Isa::available() {
                check::<S, GROUP>(isa, isa.has_avx2(), [group(0), group(50)]);
                check::<S, WIDE_GROUP>(isa, isa.has_avx512(), [group(0), group(50)]);
            }
        }
    }
}

#[test]
fn columns_that_are_too_short() {
    let (vector, elements) = (&[1.0; 9][..], &[1.0; 64][..]);
    let group = |vector, elements, stride| Columns { vector, elements, stride, next: 0 };
    let whole = group(&vector[..8], elements, 8);
    for other in [
        group(vector, elements, 8),
        group(&vector[..8], &elements[1..], 8),
        group(&vector[..8], elements, 9),
        group(&vector[..8], elements, usize::MAX),
    ] {
        assert!(f32::column_chains::<GROUP, 2>(Isa::best(), [whole, other]).is_none());
    }
}
