//! Tests of `pages.rs`.

use numerics::pages::prefer_large;

/// Of sizes around the least.
#[test]
fn contents_stay() {
    for bytes in [0, 1, (4 << 20) - 1, 4 << 20, (4 << 20) + 70_001] {
        let elements: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
        prefer_large(&elements);
        assert!(elements.iter().enumerate().all(|(i, &element)| element == i as u8));
    }
}
