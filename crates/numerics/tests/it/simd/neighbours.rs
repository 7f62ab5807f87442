//! Tests of `simd/neighbours.rs`.

use numerics::simd::add_eights;

#[test]
fn eight_neighbours_are_a_tree() {
    for count in [0, 1, 7, 8, 9, 16, 19] {
        // With the sum of each two rounded.
        let number = |i: usize| ((i * 2_654_435 % 1_000_003) as f32).sqrt();
        let elements: Vec<f32> = (0..8 * count).map(number).collect();
        for room in [count, count + 1] {
            let mut sums = vec![f32::NAN; room];
            add_eights(&elements, &mut sums);
            for (sum, eight) in sums.iter().zip(elements.chunks(8)) {
                let pairs: Vec<f32> = eight.chunks(2).map(|x| x[0] + x[1]).collect();
                assert_eq!(*sum, (pairs[0] + pairs[1]) + (pairs[2] + pairs[3]));
            }
            assert!(sums[count..].iter().all(|x| x.is_nan()));
        }
    }
}
