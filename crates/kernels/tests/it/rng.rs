//! Tests of `rng.rs`.

use kernels::philox;
use kernels::rng::random_bits;
use numerics::{Element, Tensor};
use program::primitives::Generator;

fn run<T: Element>(generator: Generator, state: &[u64], shape: &[usize]) -> (Vec<u64>, Vec<T>) {
    let state = Tensor::from_vec([state.len()], state.to_vec()).unwrap();
    let (state, bits) = random_bits(generator, &state, shape, T::DTYPE).unwrap();
    (state.to_vec().unwrap(), bits.to_vec().unwrap())
}

#[test]
fn example_of_the_specification() {
    let bits = vec![
        9236835810183407956u64,
        16087790271692313299,
        18212823393184779219,
        2658481902456610144,
    ];
    assert_eq!(run(Generator::ThreeFry, &[1, 2], &[2, 2]), (vec![1, 6], bits));
}

#[test]
fn philox_as_xla_counts() {
    let words = vec![
        0x7d34_a749u32,
        0xa9b8_bbe8,
        0x7ba4_23d7,
        0x2fb3_24d9,
        0x6cf9_23fe,
        0xbadf_79c3,
        0xecca_e2d7,
    ];
    assert_eq!(run(Generator::Philox, &[1, 2], &[7]), (vec![1, 4], words));
    let words = vec![0xa9b8_bbe8_7d34_a749u64, 0x2fb3_24d9_7ba4_23d7, 0xbadf_79c3_6cf9_23fe];
    assert_eq!(run(Generator::Philox, &[1, 2], &[3]), (vec![1, 4], words));
    assert_eq!(run::<u16>(Generator::Philox, &[1, 2], &[2]).1, [0xa749, 0xbbe8]);
    let (state, words) = run::<u32>(Generator::Philox, &[1, u64::MAX, 1], &[8]);
    let mut first = [0];
    philox::fill(1, 2 << 64, &mut first);
    assert_eq!((state, words[4]), (vec![1, 1, 2], first[0]));
}

#[test]
fn threefry_pairs_one_dimension() {
    let (state, words) = run::<u32>(Generator::ThreeFry, &[1, 2], &[3, 3]);
    let expected = [
        0x0296_e954,
        0xed34_92d3,
        0x63b4_0bd3,
        0x802f_d53b,
        0xdf43_5003,
        0xfcc0_f261,
        0x7dbb_1d60,
        0x9718_c0ad,
        0xaafe_5a17,
    ];
    assert_eq!((state, &words[..]), (vec![1, 8], &expected[..]));
    let (state, words) = run::<u32>(Generator::ThreeFry, &[1, 2], &[3, 4]);
    assert_eq!((state, &words[..3]), (vec![1, 8], &[0x0296_e954, 0x802f_d53b, 0xed34_92d3][..]));
    assert_eq!(run::<u32>(Generator::ThreeFry, &[1, 2], &[]), (vec![1, 3], vec![0x0296_e954]));
    assert_eq!(run::<u32>(Generator::ThreeFry, &[1, 2], &[0, 3]), (vec![1, 2], vec![]));
}
