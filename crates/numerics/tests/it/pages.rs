//! Tests of `pages.rs`.

use numerics::pages::{AlignedMemory, prefer_large};

/// Of sizes around the least.
#[test]
fn contents_stay() {
    for bytes in [0, 1, (4 << 20) - 1, 4 << 20, (4 << 20) + 70_001] {
        let elements: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
        prefer_large(&elements);
        assert!(elements.iter().enumerate().all(|(i, &element)| element == i as u8));
    }
}

#[test]
fn memory_begins_with_a_line() {
    for len in [0, 1, 70_000, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 70 << 20] {
        let mut memory = AlignedMemory::zeros(len).expect("so much memory");
        assert_eq!((memory.len(), memory.as_ptr().addr() % 64), (len, 0));
        assert!(memory.iter().all(|&byte| byte == 0));
        memory.fill(7);
        memory.offer();
        assert!(memory.iter().all(|&byte| byte == 7 || byte == 0));
    }
    assert!(
        AlignedMemory::zeros(usize::MAX).is_none()
            && AlignedMemory::zeros(isize::MAX as usize).is_none()
    );
}
