//! Tests of `window.rs`.

use kernels::{SHORT_WINDOW, Tree, WindowReduction, num_windows};
use numerics::math::BinaryOp;
use numerics::shape::{Indices, strides};
use numerics::{Complex32, Number, f16};
use program::{BodyShape, WindowDim};

/// The definition for one window: a chain from `init` on, or a tree.
fn combined<T: Number>(elements: &[T], init: T) -> T {
    if elements.len() <= SHORT_WINDOW {
        return elements.iter().fold(init, |x, &y| x.add(y));
    }
    let mut tree = Tree::new();
    elements.iter().for_each(|&x| tree.push(x, T::add));
    init.add(tree.finish(T::add).unwrap())
}

#[test]
fn windows_see_padding_and_holes() {
    let place = |i: usize| 1.0 / (1.0 + (i * 29 % 37) as f32);
    check(place, 0.3, usize::MAX);
    let complex = |i: usize| Complex32::new(place(i), -place(i + 5));
    check(complex, Complex32::new(0.3, 0.1), usize::MAX);
    // Padding that changes nothing.
    check(place, 0.0, usize::MAX);
    check(complex, Complex32::new(0.0, 0.0), usize::MAX);
    check(|i| i as i64 * 1_000_003, 0, usize::MAX);
}

/// Each addition of `f16` is rounded, also to subnormal numbers and to infinity. Long windows are
/// added in `f32`.
#[test]
fn windows_of_halves_are_rounded_each() {
    for scale in [1.0, 2e-7, 3e-5, 6e4] {
        let sign = |i: usize| if i.is_multiple_of(3) { -1.0 } else { 1.0 };
        let number = |i: usize| f16::from_f32(sign(i) * scale / (1.0 + (i * 29 % 37) as f32));
        check(number, f16::from_f32(0.3 * scale), SHORT_WINDOW);
        check(number, f16::ZERO, SHORT_WINDOW);
    }
}

/// Compares sums of windows of up to a number of elements with the definition.
fn check<T: Number>(element: impl Fn(usize) -> T, init: T, most: usize) {
    let dim = |size, stride, pad_low, pad_high, base_dilation, window_dilation| WindowDim {
        size,
        stride,
        pad_low,
        pad_high,
        base_dilation,
        window_dilation,
    };
    let whole = dim(1, 1, 0, 0, 1, 1);
    let cases = [
        (vec![2, 9, 8, 5], vec![whole, dim(3, 2, 1, 1, 1, 1), dim(2, 1, 0, 2, 1, 2), whole]),
        (vec![9, 8, 45], vec![dim(3, 1, 1, 1, 1, 1), dim(3, 1, -1, 2, 1, 1), whole]),
        (vec![9, 8, 3], vec![dim(7, 1, 3, 3, 1, 1), dim(7, 1, 3, 3, 1, 1), whole]),
        (vec![6, 7], vec![dim(3, 1, 2, 0, 2, 1), dim(2, 3, 0, 1, 1, 2)]),
        (vec![6, 40], vec![whole, dim(40, 1, 39, 0, 1, 1)]),
        (vec![60, 6], vec![dim(60, 1, 59, 0, 1, 1), whole]),
        (vec![5, 16], vec![whole, dim(16, 1, 15, 0, 1, 1)]),
        (vec![4, 4, 1], vec![dim(2, 1, 1, 0, 1, 1), dim(2, 1, 1, 0, 1, 1), whole]),
        // More results than are added at a time, and windows whose elements are far apart.
        (vec![5000], vec![dim(3, 1, 1, 1, 1, 1)]),
        (vec![4000, 3], vec![dim(3, 1, 0, 0, 1, 1500), whole]),
        // Short lines.
        (vec![300, 3], vec![dim(3, 1, 1, 1, 1, 1), whole]),
        (vec![700, 5], vec![whole, dim(2, 1, 0, 1, 1, 1)]),
        (vec![1500, 2], vec![whole, dim(2, 1, 1, 0, 1, 1)]),
        (vec![300, 17], vec![whole, dim(17, 1, 16, 0, 1, 1)]),
        (vec![70, 40], vec![whole, dim(3, 1, -2, 6, 1, 2)]),
        (vec![2, 30, 9], vec![whole, whole, dim(3, 1, 12, -6, 1, 3)]),
        (vec![90, 2, 3], vec![dim(60, 1, 59, 0, 1, 1), whole, whole]),
        (vec![100, 17], vec![dim(100, 1, 99, 0, 1, 1), whole]),
        (vec![3, 40, 4], vec![dim(2, 1, 0, 0, 1, 1), dim(3, 1, 1, 1, 1, 2), whole]),
        (vec![3, 70], vec![dim(1, 2, 1, 1, 1, 1), dim(3, 2, 0, 0, 1, 1)]),
        // Taps so far from each other that places overflow.
        (vec![5, 40], vec![dim(3, 1, 1 << 60, 1 << 60, 1, 1 << 60), whole]),
    ];
    for (shape, window) in cases {
        let n: usize = shape.iter().product();
        if window.iter().map(|dim| dim.size as usize).product::<usize>() > most {
            continue;
        }
        let elements: Vec<T> = (0..n).map(&element).collect();
        let body = BodyShape::Binary { op: BinaryOp::Add, swapped: false };
        let reduction = WindowReduction::prepare(body, T::DTYPE, &shape, &window).unwrap();
        let counts = num_windows(&shape, &window).unwrap();
        let mut found = vec![T::ZERO; counts.iter().product()];
        let input = bytemuck::cast_slice(&elements);
        reduction
            .run(input, bytemuck::bytes_of(&init), bytemuck::cast_slice_mut(&mut found))
            .unwrap();
        let (mut indices, strides) = (Indices::new(&counts), strides(&shape));
        let sizes: Vec<usize> = window.iter().map(|d| d.size as usize).collect();
        for (number, found) in found.into_iter().enumerate() {
            let index = indices.next_index().unwrap();
            let (mut seen, mut taps) = (Vec::new(), Indices::new(&sizes));
            while let Some(tap) = taps.next_index() {
                let place = (0..shape.len()).map(|d| {
                    let dim = &window[d];
                    let at = index[d] as i64 * dim.stride - dim.pad_low
                        + tap[d] as i64 * dim.window_dilation;
                    let is_element = at >= 0 && at % dim.base_dilation == 0;
                    let at = (at / dim.base_dilation) as usize;
                    (is_element && at < shape[d]).then(|| at * strides[d])
                });
                seen.push(place.sum::<Option<usize>>().map_or(init, |at| elements[at]));
            }
            assert_eq!(found, combined(&seen, init), "window {number} of {shape:?}");
        }
    }
}
