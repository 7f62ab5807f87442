use bytemuck::Pod;
use numerics::simd::{PATTERN, pattern_reach, read_patterns, read_strided, write_patterns};
use std::fmt::Debug;

/// Distinct elements, unless the type has too few.
fn elements<T: Pod>(count: usize) -> Vec<T> {
    let bytes: Vec<u8> = (0..2 * count as u64)
        .flat_map(|i| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes())
        .collect();
    let element = |bytes: &[u8]| bytemuck::pod_read_unaligned(&bytes[..size_of::<T>()]);
    bytes.chunks_exact(16).map(element).collect()
}

fn check_strides<T: Pod + PartialEq + Debug>() {
    let source = elements::<T>(9000);
    for stride in 1..=70 {
        for count in [0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 128] {
            // Nothing is read beyond the last one.
            let end = if count == 0 { 0 } else { (count - 1) * stride + 1 };
            let source = &source[3..][..end];
            let expected: Vec<T> = source.iter().step_by(stride).copied().collect();
            let mut found = vec![T::zeroed(); count];
            read_strided(source, stride, &mut found);
            assert_eq!(found, expected, "{count} elements {stride} apart");
        }
    }
}

#[test]
fn strided_elements_of_all_sizes() {
    check_strides::<u8>();
    check_strides::<u16>();
    check_strides::<u32>();
    check_strides::<u64>();
    check_strides::<[u64; 2]>();
    check_strides::<[u8; 3]>();
}

fn check_patterns<T: Pod + PartialEq + Debug>() {
    let source = elements::<T>(2000);
    let reach = pattern_reach::<T>();
    let patterns: [&[usize]; 6] =
        [&[0], &[1, 0], &[0, 0, 0, 1, 1, 1], &[4, 3, 2, 1, 0], &[7; 9], &[2; PATTERN]];
    for places in patterns.into_iter().filter(|places| places.iter().all(|&at| at < reach)) {
        for (first, distance) in [(0, 0), (0, 1), (5, 2), (1900, -3), (3, 9), (1000, 500)] {
            for count in [0, 1, 2, 5, 40] {
                let at = |i: usize| first as isize + i as isize * distance;
                let is_inside = |i: usize| (0..1990).contains(&at(i));
                let count = (0..count).take_while(|&i| is_inside(i)).count();
                let mut out = vec![T::zeroed(); count * places.len()];
                let done = read_patterns(&source, (first, distance), places, &mut out);
                assert!(done <= count);
                for (i, pattern) in out.chunks_exact(places.len()).enumerate().take(done) {
                    let expected = places.iter().map(|place| source[at(i) as usize + place]);
                    assert!(pattern.iter().copied().eq(expected), "{places:?}, number {i}");
                }
            }
        }
    }
}

#[test]
fn patterns_of_elements_of_all_sizes() {
    check_patterns::<u8>();
    check_patterns::<u16>();
    check_patterns::<u32>();
    check_patterns::<u64>();
    check_patterns::<[u64; 2]>();
}

fn check_written<T: Pod + PartialEq + Debug>() {
    let source = elements::<T>(300);
    let reach = pattern_reach::<T>();
    let patterns: [&[usize]; 6] =
        [&[0], &[1, 0], &[0, 2, 5], &[4, 3, 2, 1, 0], &[7], &[0, 1, 2, 3, 5, 6]];
    for places in patterns.into_iter().filter(|places| places.iter().all(|&at| at < reach)) {
        for (first, distance) in [(0, 8), (5, 11), (1900, -9), (3, 64), (1000, 500), (0, 7)] {
            for count in [0, 1, 2, 5, 40] {
                let at = |i: usize| first as isize + i as isize * distance;
                let is_inside = |i: usize| (0..1990).contains(&at(i));
                let count = (0..count).take_while(|&i| is_inside(i)).count();
                let source = &source[..count * places.len()];
                let mut target = elements::<T>(2000);
                let mut expected = target.clone();
                let done = write_patterns(source, &mut target, (first, distance), places);
                assert!(done <= count);
                for (i, pattern) in source.chunks_exact(places.len()).enumerate().take(done) {
                    for (&x, place) in pattern.iter().zip(places) {
                        expected[at(i) as usize + place] = x;
                    }
                }
                assert_eq!(target, expected, "{places:?}, {distance} apart");
            }
        }
    }
}

#[test]
fn patterns_are_written_and_nothing_else() {
    check_written::<u8>();
    check_written::<u16>();
    check_written::<u32>();
    check_written::<u64>();
    check_written::<[u64; 2]>();
}
