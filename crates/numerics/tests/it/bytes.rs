//! Tests of `bytes.rs`.

use numerics::Bytes;
use std::io::{self, Read};
use std::sync::Arc;

#[test]
fn slices_share_and_stay_inside() {
    let bytes = Bytes::from_vec(vec![1u16, 2, 3]);
    assert_eq!(bytes.len(), 6);
    let tail = bytes.slice(2..6).unwrap();
    assert_eq!(&*tail, bytemuck::cast_slice::<u16, u8>(&[2, 3]));
    assert!(tail.slice(0..5).is_none());
    assert_eq!(tail.slice(4..4).unwrap().len(), 0);
}

#[test]
fn a_vector_comes_back_as_it_went_in() {
    let bytes = Bytes::from_vec(vec![1u8, 2, 3]);
    let address = bytes.as_ptr();
    let vec = bytes.into_vec();
    assert_eq!((vec.as_ptr(), &vec[..]), (address, &[1, 2, 3][..]));
    let shared = Bytes::from_vec(vec);
    assert_eq!(shared.clone().into_vec(), [1, 2, 3]);
    assert_eq!(shared.slice(1..3).unwrap().into_vec(), [2, 3]);
    drop(shared);
    assert_eq!(Bytes::from_vec(vec![1u16]).into_vec(), [1, 0]);
    assert_eq!(Bytes::from_owner(Arc::new([7u8])).into_vec(), [7]);
}

#[test]
fn reading_is_bounded() {
    let read = |bytes: u64, limit: usize| {
        Bytes::read(io::repeat(7).take(bytes), 0, limit).map(|bytes| bytes.len())
    };
    assert_eq!([read(5, 5).unwrap(), read(0, 0).unwrap()], [5, 0]);
    assert!(read(6, 5).is_err() && read(u64::MAX, 5 << 20).is_err());
    let budget = host::Budget::new(3 << 20);
    let _entered = host::Host::default().with_budget(budget.clone()).enter();
    let bytes = Bytes::read(io::repeat(7).take(2 << 20), 0, usize::MAX).unwrap();
    assert_eq!(budget.used(), 2 << 20);
    let error = read(u64::MAX, usize::MAX).unwrap_err();
    assert!(error.to_string().contains("limit of 3145728 bytes"), "{error}");
    assert_eq!(bytes.last(), Some(&7));
    drop(bytes);
    // Nearly all of the budget, and wrong expectations.
    for (bytes, expected) in [(3 << 20, 0), (3 << 20, 3 << 20), (5, usize::MAX), (2 << 20, 7)] {
        let source = io::repeat(7).take(bytes);
        let read = Bytes::read(source, expected, usize::MAX).expect("within the budget");
        assert_eq!((read.len() as u64, budget.used()), (bytes, read.len()));
    }
}

#[test]
fn writing_needs_a_sole_owner() {
    let mut bytes = Bytes::from_vec(vec![1u8, 2]);
    bytes.get_mut().unwrap()[0] = 7;
    let other = bytes.clone();
    assert!(bytes.get_mut().is_none());
    drop(other);
    assert_eq!(bytes.get_mut().unwrap(), [7, 2]);
    let mut foreign = Bytes::from_owner(Arc::new([1u8, 2]));
    assert_eq!(&*foreign, [1, 2]);
    assert!(foreign.get_mut().is_none());
}
