//! Tests of `select_and_scatter.rs`.

use kernels::num_windows;
use kernels::select_and_scatter::{NOTHING, select};
use numerics::Tensor;
use numerics::shape::Indices;
use program::WindowDim;

#[test]
fn windows_select_the_first_of_the_largest() {
    let dim = |size, stride, pad_low, pad_high| WindowDim {
        size,
        stride,
        pad_low,
        pad_high,
        base_dilation: 1,
        window_dilation: 1,
    };
    let windows = [
        (vec![2, 9, 11], [dim(1, 1, 0, 0), dim(3, 2, 1, 1), dim(1, 1, 0, 0)]),
        (vec![2, 7, 6], [dim(1, 1, 0, 0), dim(2, 2, 0, 0), dim(3, 1, 2, 0)]),
        (vec![3, 4, 5], [dim(2, 1, 0, 1), dim(2, 3, 1, 0), dim(5, 1, 4, 4)]),
        // Rows of many windows, with and without padding, one, two and three elements apart.
        (vec![2, 5, 33], [dim(1, 1, 0, 0), dim(3, 1, 1, 1), dim(3, 1, 1, 1)]),
        (vec![2, 5, 34], [dim(1, 1, 0, 0), dim(2, 2, 0, 1), dim(3, 2, 1, 1)]),
        (vec![2, 5, 35], [dim(2, 1, 1, 0), dim(1, 2, 0, 0), dim(3, 2, 0, 0)]),
        (vec![1, 4, 60], [dim(1, 1, 0, 0), dim(2, 1, 0, 0), dim(4, 3, 2, 2)]),
        // The first window sees padding only.
        (vec![1, 3, 8], [dim(1, 1, 0, 0), dim(1, 1, 1, 0), dim(1, 1, 0, 0)]),
    ];
    for (shape, window) in windows {
        let len: usize = shape.iter().product();
        let elements: Vec<f32> = (0..len).map(|i| (i * 37 % 11) as f32).collect();
        let operand = Tensor::from_vec(&shape[..], elements.clone()).unwrap();
        let counts = num_windows(&shape, &window).unwrap();
        let mut selected = vec![NOTHING; counts.iter().product()];
        assert!(select(&operand, &counts, &window, |x: f32, y| x >= y, &mut selected));
        let mut expected = Vec::new();
        let mut numbers = Indices::new(&counts);
        while let Some(number) = numbers.next_index() {
            let mut best: Option<usize> = None;
            let mut places = Indices::new(&shape);
            let mut at = 0;
            while let Some(place) = places.next_index() {
                let mut dims = place.iter().zip(number).zip(&window);
                let is_seen = dims.all(|((&place, &number), dim)| {
                    let start = number as i64 * dim.stride - dim.pad_low;
                    (start..start + dim.size).contains(&(place as i64))
                });
                if is_seen && best.is_none_or(|best| elements[at] > elements[best]) {
                    best = Some(at);
                }
                at += 1;
            }
            expected.push(best.unwrap_or(NOTHING));
        }
        assert_eq!(selected, expected, "{shape:?}");
    }
}
