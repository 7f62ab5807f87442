//! Tests of `philox.rs`.

use kernels::philox::fill;

#[test]
fn known_answers_of_the_paper() {
    let mut words = [0; 4];
    fill(0, 0, &mut words);
    assert_eq!(words, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    fill(u64::MAX, u128::MAX, &mut words);
    assert_eq!(words, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
}

#[test]
fn words_depend_on_their_counter_only() {
    // Across the end of the low 64 bits, and with an incomplete last counter.
    let (key, first) = (7, (3 << 64) - 20);
    let mut all = [0; 4 * 40 + 3];
    fill(key, first, &mut all);
    for (number, words) in all.chunks(4).enumerate() {
        let mut own = [0; 4];
        fill(key, first + number as u128, &mut own);
        assert_eq!(words, &own[..words.len()]);
    }
}
