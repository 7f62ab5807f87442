//! Tests of `threefry.rs`.

use kernels::threefry::fill;

/// The words of one counter.
fn pair(key: u64, counter: u64) -> [u32; 2] {
    let mut words = [0; 2];
    fill(key, counter, 2, 1, &mut words);
    words
}

#[test]
fn known_answers_of_the_paper() {
    assert_eq!(pair(0, 0), [0x6b20_0159, 0x99ba_4efe]);
    assert_eq!(pair(u64::MAX, u64::MAX), [0x1cb9_96fc, 0xbb00_2be7]);
}

#[test]
fn words_depend_on_their_counter_only() {
    let (key, first) = (7, (1 << 32) - 20);
    for (groups, size, inner) in [(40, 2, 1), (3, 2, 5), (2, 2, 33), (2, 7, 3), (1, 1, 1)] {
        let mut words = vec![0; groups * size * inner];
        let counters = fill(key, first, size, inner, &mut words);
        let mut expected = vec![0; words.len()];
        let mut counter = first;
        for group in 0..groups {
            for row in (0..size).step_by(2) {
                for column in 0..inner {
                    let pair = pair(key, counter);
                    counter += 1;
                    for (row, word) in (row..size).zip(pair) {
                        expected[(group * size + row) * inner + column] = word;
                    }
                }
            }
        }
        assert_eq!((counters as u64, words), (counter - first, expected));
    }
}
