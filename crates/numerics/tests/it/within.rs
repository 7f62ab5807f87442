//! Tests of `math/within.rs`.

use numerics::DType;
use numerics::math::within::{ALIGNMENT, room};
use numerics::math::{AlignedBytes, BinaryOp, Direction, SliceKernel, UnaryOp};
use std::sync::Arc;

/// The kernel gives the bits of its loop over slices, for values of several sizes, and leaves
/// what is beside the room of its result.
fn check(kernel: SliceKernel) {
    let kernel = Arc::new(kernel);
    let sizes = [kernel.operands(), &[kernel.result()]].concat();
    for count in [1, 3, 8, 13] {
        let mut ends = Vec::new();
        let mut end = ALIGNMENT;
        for dtype in &sizes {
            ends.push(end);
            end += room(dtype.bytes(), count).unwrap();
        }
        let mut memory = AlignedBytes::zeros(end + ALIGNMENT);
        for (i, byte) in memory.iter_mut().enumerate() {
            *byte = (i * 37 + i / 7) as u8;
        }
        for (&at, dtype) in ends.iter().zip(&sizes).filter(|(_, dtype)| **dtype == DType::I1) {
            memory[at..at + count * dtype.bytes()].iter_mut().for_each(|bit| *bit &= 1);
        }
        let before = memory.clone();
        let operands = ends.iter().zip(kernel.operands());
        let operands: Vec<&[u8]> =
            operands.map(|(&at, dtype)| &before[at..at + count * dtype.bytes()]).collect();
        let result = ends[ends.len() - 1];
        let bytes = count * kernel.result().bytes();
        let mut expected = AlignedBytes::zeros(bytes);
        kernel.apply(&mut expected, &operands).unwrap();
        let mut at = [0; 3];
        at.iter_mut().zip(&ends).for_each(|(at, &end)| *at = end);
        kernel.within().run(&mut memory, result, at, count).unwrap();
        assert_eq!(memory[result..result + bytes], expected[..], "{count} of {kernel:?}");
        assert_eq!(memory[..result], before[..result], "{kernel:?}");
        assert_eq!(memory[end..], before[end..], "{kernel:?}");
    }
}

#[test]
fn kernels_in_one_memory_compute_what_those_of_slices_do() {
    for &dtype in DType::ALL {
        let unary = UnaryOp::ALL.iter().filter_map(|&op| SliceKernel::unary(op, dtype));
        let binary = BinaryOp::ALL.iter().filter_map(|&op| SliceKernel::binary(op, dtype));
        unary.chain(binary).for_each(check);
        check(SliceKernel::select(dtype));
        if !dtype.is_complex() {
            for direction in Direction::ALL {
                check(SliceKernel::compare(direction, false, dtype));
            }
        }
        DType::ALL.iter().filter_map(|&to| SliceKernel::convert(dtype, to)).for_each(check);
    }
}
