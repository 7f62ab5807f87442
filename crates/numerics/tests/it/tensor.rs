//! Tests of `tensor.rs`.

use numerics::{Bytes, DType, F4E2M1FN, I1, I4, Tensor, TensorError};

#[test]
fn the_shape_fits_the_data() {
    assert!(Tensor::from_vec([2, 3], vec![0f32; 6]).is_ok());
    assert!(Tensor::from_vec([2, 3], vec![0f32; 5]).is_err());
    assert!(Tensor::from_vec([0, usize::MAX], Vec::<i8>::new()).is_ok());
    assert!(Tensor::from_bytes(DType::F32, [1], vec![0u8; 3].into()).is_err());
}

#[test]
fn counting_along_a_dimension() {
    let rows = Tensor::iota(DType::I8, [2, 3], 0).unwrap();
    assert_eq!(rows, Tensor::from_vec([2, 3], vec![0i8, 0, 0, 1, 1, 1]).unwrap());
    let columns = Tensor::iota(DType::F32, [2, 3], 1).unwrap();
    assert_eq!(columns, Tensor::from_vec([2, 3], vec![0f32, 1.0, 2.0, 0.0, 1.0, 2.0]).unwrap());
    assert_eq!(Tensor::iota(DType::U8, [300], 0).unwrap().as_slice::<u8>().unwrap()[299], 43);
    assert_eq!(Tensor::iota(DType::I8, [0, usize::MAX], 1).unwrap().num_elements(), 0);
    assert!(Tensor::iota(DType::I8, [1 << 40, 1 << 40], 0).is_err());
    assert!(Tensor::iota(DType::I8, [1], 1).is_err());
}

#[test]
fn absurd_sizes_are_errors() {
    assert!(Tensor::zeros(DType::F32, [99_999_999_999, 99_999_999_999]).is_err());
    assert!(Tensor::zeros(DType::F64, [1 << 61]).is_err());
    assert!(Tensor::zeros(DType::I8, [1 << 62]).is_err());
}

#[test]
fn reading_as_the_wrong_type_is_an_error() {
    let tensor = Tensor::scalar(1i32);
    assert_eq!(tensor.as_slice::<i32>().unwrap(), [1]);
    assert!(tensor.as_slice::<u32>().is_err());
    assert!(tensor.clone().make_mut::<f32>().is_err());
}

#[test]
fn writing_copies_what_is_shared() {
    let mut a = Tensor::from_vec([2], vec![1, 2]).unwrap();
    let b = a.reshape([1, 2]).unwrap();
    assert!(a.bytes().as_ptr() == b.bytes().as_ptr());
    a.make_mut::<i32>().unwrap()[0] = 9;
    assert_eq!(a.as_slice::<i32>().unwrap(), [9, 2]);
    assert_eq!(b.as_slice::<i32>().unwrap(), [1, 2]);
    let owner = a.bytes().as_ptr();
    a.make_mut::<i32>().unwrap()[1] = 8;
    assert_eq!(a.bytes().as_ptr(), owner);
}

#[test]
fn elements_at_positions() {
    let tensor = Tensor::from_vec([2, 2], vec![1i16, 2, 3, 4]).unwrap();
    assert_eq!(tensor.take(&[3, 0, 3]).unwrap(), Tensor::from_vec([3], vec![4i16, 1, 4]).unwrap());
    assert!(matches!(tensor.take(&[4]), Err(TensorError::OutOfBounds)));
    let mut changed = tensor.clone();
    changed.put(&[1, 9, 1], &Tensor::from_vec([3], vec![7i16, 8, 9]).unwrap()).unwrap();
    assert_eq!(changed.as_slice::<i16>().unwrap(), [1, 9, 3, 4]);
    assert_eq!(tensor.as_slice::<i16>().unwrap(), [1, 2, 3, 4]);
    assert!(changed.put(&[0], &Tensor::scalar(1u16)).is_err());
}

#[test]
fn unaligned_bytes_are_copied() {
    let bytes = Bytes::from_vec(vec![0u32, 0x3F80_0000, 0]);
    let shifted: Vec<u8> = [&[0u8][..], &bytes].concat();
    let shifted = Bytes::from_vec(shifted).slice(1..13).unwrap();
    let tensor = Tensor::from_bytes(DType::F32, [3], shifted).unwrap();
    assert_eq!(tensor.as_slice::<f32>().unwrap(), [0.0, 1.0, 0.0]);
}

#[test]
fn bits_beyond_the_width_are_dropped() {
    let bytes = |dtype| Tensor::from_bytes(dtype, [2], vec![0x0Fu8, 0x11].into()).unwrap();
    assert_eq!(bytes(DType::I4).as_slice::<I4>().unwrap(), [I4::new(-1), I4::new(1)]);
    assert_eq!(bytes(DType::I1).as_slice::<I1>().unwrap(), [I1::new(true); 2]);
    let floats = bytes(DType::F4E2M1FN);
    assert_eq!(floats.as_slice::<F4E2M1FN>().unwrap()[1].to_f32(), 0.5);
    assert_eq!(floats.as_slice::<F4E2M1FN>().unwrap()[0].to_f32(), -6.0);
}

/// Memory of a dropped tensor is found again, and is no longer charged.
#[test]
fn placeholders_are_charged_once_written() {
    let budget = host::Budget::new(1 << 20);
    let _entered = host::Host::default().with_budget(budget.clone()).enter();
    let charged = if cfg!(target_os = "linux") { 0 } else { 4 * 123 * 457 };
    let mut tensor = Tensor::placeholder(DType::F32, [123, 457]).unwrap();
    assert!(tensor.as_slice::<f32>().unwrap().iter().all(|&x| x.to_bits() == 0));
    assert_eq!((tensor.shape(), budget.used()), (&[123, 457][..], charged));
    tensor.make_mut::<f32>().unwrap()[7] = 1.5;
    assert_eq!((tensor.as_slice::<f32>().unwrap()[7], budget.used()), (1.5, 4 * 123 * 457));
    drop(tensor);
    // Few bytes take memory in any case, and not all types have zeros without bits.
    let few = Tensor::placeholder(DType::I16, [1, 100]).unwrap();
    assert_eq!((few.num_elements(), budget.used()), (100, 200));
    assert!(Tensor::placeholder(DType::F64, [1 << 61]).is_err());
}

#[test]
fn unwritten_tensors_have_all_elements() {
    let budget = host::Budget::new(1 << 20);
    let _entered = host::Host::default().with_budget(budget.clone()).enter();
    for _ in 0..3 {
        let mut tensor = Tensor::unwritten(DType::F32, [123, 457]).unwrap();
        assert_eq!((tensor.shape(), budget.used()), (&[123, 457][..], 4 * 123 * 457));
        tensor.make_mut::<f32>().unwrap().fill(1.5);
        assert!(tensor.as_slice::<f32>().unwrap().iter().all(|&x| x == 1.5));
        drop(tensor);
        assert_eq!(budget.used(), 0);
        let zeros = Tensor::zeros(DType::F32, [123, 457]).unwrap();
        assert!(zeros.as_slice::<f32>().unwrap().iter().all(|&x| x == 0.0));
    }
    assert!(Tensor::unwritten(DType::F32, [1 << 19]).is_err());
    assert!(Tensor::unwritten(DType::F32, [usize::MAX, 2]).is_err());
    assert_eq!(Tensor::unwritten(DType::F32, [0, 3]).unwrap().num_elements(), 0);
}
