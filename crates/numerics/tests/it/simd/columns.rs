//! Tests of `simd/columns.rs`.

use numerics::simd::{ColumnScales, ColumnSums, Columns, GROUP, Isa, WIDE_GROUP};
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
                scales: ColumnScales::NONE,
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
    let group = |vector, elements, stride| Columns {
        vector,
        elements,
        stride,
        next: 0,
        scales: ColumnScales::NONE,
    };
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

/// Integers are multiplied with the scale of their group, rounded, and added as products.
#[test]
fn columns_of_scaled_integers() {
    scaled_chains(|i| ((i * 40503) >> 3) as i8);
    scaled_chains(|i| ((i * 40503) >> 3) as u8);
}

fn scaled_chains<S: Widen<f32>>(element: impl Fn(usize) -> S)
where
    f32: ColumnSums<S>,
{
    let elements: Vec<S> = (0..WIDE_GROUP * 256).map(element).collect();
    let number = |i: usize| 1.0 / (1 + i * 37 % 101) as f32 - 0.3;
    let vector: Vec<f32> = (0..256).map(number).collect();
    let factors: Vec<f32> = (0..20 * WIDE_GROUP).map(|i| number(5 * i)).collect();
    let shifts: Vec<f32> = (0..20 * WIDE_GROUP).map(|i| number(3 * i) * 100.0).collect();
    for (len, group, first) in
        [(256, 256, 0), (256, 64, 0), (250, 64, 64), (100, usize::MAX, 0), (7, 7, 0), (64, 16, 32)]
    {
        for shifts in [&[][..], &shifts[..]] {
            let stride = WIDE_GROUP;
            let scales = ColumnScales { factors: &factors, shifts, stride, group, first };
            let columns = Columns {
                vector: &vector[..len],
                elements: &elements,
                stride: 256,
                next: 0,
                scales,
            };
            let expected = |column: usize| {
                (0..len).fold(0.0, |sum: f32, k| {
                    let place = (first + k) / group * WIDE_GROUP + column;
                    let shift = shifts.get(place).copied().unwrap_or_default();
                    let element = (elements[column * 256 + k].widen() + shift) * factors[place];
                    vector[k].mul_add(element, sum)
                })
            };
            for isa in Isa::available() {
                let narrow = f32::column_chains::<GROUP, 1>(isa, [columns]);
                assert_eq!(narrow.is_some(), isa.has_avx2(), "{isa:?} {len} {group}");
                let narrow = narrow.into_iter().flatten().flatten().enumerate();
                narrow.for_each(|(column, sum)| assert_eq!(sum, expected(column), "{len} {group}"));
                // Where a vector register has elements of several groups, there is no instruction.
                let wide = f32::column_chains::<WIDE_GROUP, 1>(isa, [columns]);
                let is_alike = group >= first + len || group % 64 == 0;
                assert!(wide.is_some() == isa.has_avx512() || !is_alike, "{isa:?} {len} {group}");
                let wide = wide.into_iter().flatten().flatten().enumerate();
                wide.for_each(|(column, sum)| assert_eq!(sum, expected(column), "{len} {group}"));
            }
        }
    }
}

#[test]
fn columns_without_enough_scales() {
    let (vector, elements, factors) = ([1.0; 192], [1_i8; 192 * WIDE_GROUP], [1.0; WIDE_GROUP]);
    let refused = |scales: ColumnScales<'_, f32>| {
        let (vector, elements) = (&vector[..], &elements[..]);
        let columns = Columns { vector, elements, stride: 192, next: 0, scales };
        for isa in Isa::available() {
            assert!(f32::column_chains::<GROUP, 1>(isa, [columns]).is_none());
            assert!(f32::column_chains::<WIDE_GROUP, 1>(isa, [columns]).is_none());
        }
    };
    let shifts = &[][..];
    refused(ColumnScales { factors: &[], shifts, stride: WIDE_GROUP, group: 192, first: 0 });
    let few = &factors[..GROUP - 1];
    refused(ColumnScales { factors: few, shifts, stride: 1, group: 192, first: 0 });
    let whole = ColumnScales { factors: &factors, shifts, stride: 1, group: 192, first: 0 };
    refused(ColumnScales { shifts: few, ..whole });
    // Not for the second group, and beyond all memory for it.
    refused(ColumnScales { stride: WIDE_GROUP, group: 64, ..whole });
    refused(ColumnScales { stride: 1 << (usize::BITS - 1), group: 64, ..whole });
    refused(ColumnScales { group: 64, first: usize::MAX, ..whole });
    refused(ColumnScales { group: 0, ..whole });
}
