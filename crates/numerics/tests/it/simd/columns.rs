//! Tests of `simd/columns.rs`.

use numerics::simd::{ColumnSums, Columns, Isa};

#[test]
fn columns_are_chains_of_fused_multiply_adds() {
    let number = |i: usize| 1.0 / (1 + i * 37 % 101) as f32 - 0.3;
    let vectors: Vec<f32> = (0..90).map(|i| number(3 * i)).collect();
    let elements: Vec<f32> = (0..1000).map(number).collect();
    for len in [0, 1, 3, 4, 5, 16, 39] {
        for stride in [len, len + 1, 64] {
            let group = |at: usize| Columns {
                vector: &vectors[at..at + len],
                elements: &elements[at..],
                stride,
            };
            for isa in Isa::available() {
                let Some(sums) = f32::column_chains(isa, [group(0), group(50)]) else {
                    assert!(!isa.has_avx2());
                    continue;
                };
                for (at, sums) in [0, 50].into_iter().zip(sums) {
                    for (column, sum) in sums.iter().enumerate() {
                        let column = &elements[at + column * stride..][..len];
                        let expected = vectors[at..at + len]
                            .iter()
                            .zip(column)
                            .fold(0.0, |sum: f32, (a, b)| a.mul_add(*b, sum));
                        assert_eq!(sum.to_bits(), expected.to_bits(), "{len} {stride}");
                    }
                }
            }
        }
    }
}

#[test]
fn columns_that_are_too_short() {
    let (vector, elements) = (&[1.0; 9][..], &[1.0; 64][..]);
    let group = |vector, elements, stride| Columns { vector, elements, stride };
    let whole = group(&vector[..8], elements, 8);
    for other in [
        group(vector, elements, 8),
        group(&vector[..8], &elements[1..], 8),
        group(&vector[..8], elements, 9),
        group(&vector[..8], elements, usize::MAX),
    ] {
        assert!(f32::column_chains(Isa::best(), [whole, other]).is_none());
    }
}
