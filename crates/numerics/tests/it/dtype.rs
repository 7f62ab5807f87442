//! Tests of `dtype.rs`.

use numerics::DType;

#[test]
fn names_are_unique_and_found() {
    for &dtype in DType::ALL {
        assert_eq!(DType::from_name(dtype.name()), Some(dtype));
    }
    assert_eq!(DType::from_name("f128"), None);
}

#[test]
fn formats_fill_the_bits() {
    for &dtype in DType::ALL {
        let Some(format) = dtype.float_format() else {
            assert!(!dtype.is_float() && !dtype.is_complex());
            continue;
        };
        let parts = if dtype.is_complex() { 2 } else { 1 };
        assert_eq!(format.bits() * parts, dtype.bits(), "{dtype}");
    }
}

#[test]
fn parts() {
    assert_eq!(DType::C64.part(), DType::F32);
    assert_eq!(DType::F64.complex(), Some(DType::C128));
    assert_eq!(DType::I8.part(), DType::I8);
}
