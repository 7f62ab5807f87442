//! Mutations of bytes.

use generate::Random;

/// Sequences that are special in variable-length integers and counts.
const SPECIAL: [&[u8]; 6] =
    [&[0xff; 9], &[0], &[1], &[0x80; 4], &[0xff; 4], &[0, 0, 0, 0, 0, 0, 0, 0x80]];

/// Changes, inserts or removes some bytes.
pub(crate) fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..*random.choose(&[1, 1, 1, 2, 4, 8]) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(10) {
            0..=3 => bytes[at] = random.bits() as u8,
            4..=5 => bytes[at] ^= 1 << random.below(8),
            6 => {
                let end = (at + *random.choose(&[1, 2, 8, 100])).min(bytes.len());
                bytes.drain(at..end);
            }
            7 => {
                let special = *random.choose(&SPECIAL);
                bytes.splice(at..at, special.iter().copied());
            }
            8 => {
                let from = random.below(bytes.len());
                let end = (from + 1 + random.below(16)).min(bytes.len());
                let copy = bytes[from..end].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => {
                let special = *random.choose(&SPECIAL);
                let end = (at + special.len()).min(bytes.len());
                bytes[at..end].copy_from_slice(&special[..end - at]);
            }
        }
    }
    if random.one_in(20) {
        bytes.truncate(random.below(bytes.len() + 1));
    }
}
