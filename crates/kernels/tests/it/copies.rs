//! Tests of `copies.rs`.

use kernels::{CopyPart, copy};
use numerics::DType;
use numerics::shape::{Runs, StridedView};

/// A row of 7 of `rows` has an element that is 0, two of the first operand, each second element of
/// three of the second operand backwards, and one that is 0.
#[test]
fn parts_of_rows() {
    for rows in [1, 2, 3, 100, 30_000] {
        let shape = [rows, 7];
        let window = |first: usize, width: usize| {
            let view = StridedView::window(&shape, &[0, first], &[rows, width], &[1, 1]).unwrap();
            Runs::new(&view, rows * 7).unwrap()
        };
        let left: Vec<f32> = (0..rows * 2).map(|i| 1.0 + i as f32).collect();
        let right: Vec<f32> = (0..rows * 6).map(|i| -1.0 - i as f32).collect();
        let strides = vec![6, -2];
        let backwards = StridedView::new(4, vec![rows, 3], strides).unwrap();
        let read = Runs::new(&backwards, rows * 6).unwrap();
        let (first, second) = (window(1, 2), window(3, 3));
        let parts = [
            CopyPart {
                source: bytemuck::cast_slice(&left),
                elements: rows * 2,
                read: None,
                write: Some(&first),
            },
            CopyPart {
                source: bytemuck::cast_slice(&right),
                elements: rows * 3,
                read: Some(&read),
                write: Some(&second),
            },
        ];
        let expected: Vec<f32> = (0..rows)
            .flat_map(|i| {
                let (l, r) = (&left[2 * i..], &right[6 * i..]);
                [0.0, l[0], l[1], r[4], r[2], r[0], 0.0]
            })
            .collect();
        for workers in [1, 3] {
            let _entered = host::Host::default().with_workers(workers).enter();
            let mut out = vec![9.0_f32; rows * 7];
            let zero = 0.0_f32.to_ne_bytes();
            copy(&parts, Some(&zero), DType::F32, bytemuck::cast_slice_mut(&mut out)).unwrap();
            assert!(out == expected, "{rows} rows, {workers} threads");
        }
    }
}

/// Parts one after the other, the last one over a part of the first.
#[test]
fn parts_in_order() {
    let count = 100_000;
    let whole: Vec<i32> = (0..count).collect();
    let update = vec![-1_i32; 10];
    let view = StridedView::window(&[count as usize], &[50], &[10], &[1]).unwrap();
    let write = Runs::new(&view, count as usize).unwrap();
    let all = CopyPart {
        source: bytemuck::cast_slice(&whole),
        elements: count as usize,
        read: None,
        write: None,
    };
    let some = CopyPart {
        source: bytemuck::cast_slice(&update),
        elements: 10,
        read: None,
        write: Some(&write),
    };
    for workers in [1, 3] {
        let _entered = host::Host::default().with_workers(workers).enter();
        let mut out = vec![0_i32; count as usize];
        copy(&[all, some], None, DType::I32, bytemuck::cast_slice_mut(&mut out)).unwrap();
        let expected = |i: i32| if (50..60).contains(&i) { -1 } else { i };
        assert!(out.iter().zip(0..).all(|(&found, i)| found == expected(i)), "{workers}");
    }
    // Memory that is too short is an error.
    let short = CopyPart { elements: count as usize + 1, ..all };
    let mut out = vec![0_u8; (count as usize + 1) * 4];
    assert!(copy(&[short], None, DType::I32, &mut out).is_err());
}
