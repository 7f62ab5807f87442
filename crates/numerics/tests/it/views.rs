//! Views of tensors.

use numerics::shape::StridedView;

fn view(offset: usize, shape: &[usize], strides: &[isize]) -> StridedView {
    StridedView::new(offset, shape, strides).expect("a stride for each dimension")
}

#[test]
fn shapes_change_where_strides_allow_it() {
    let dense = StridedView::dense(&[2, 6]).expect("small");
    assert_eq!(dense.reshaped(&[3, 1, 4]), Some(view(0, &[3, 1, 4], &[4, 0, 1])));
    // Every second one of eight elements, in two rows.
    let columns = view(1, &[2, 2], &[4, 2]);
    assert_eq!(columns.reshaped(&[4]), Some(view(1, &[4], &[2])));
    let transposed = view(0, &[3, 2], &[1, 3]);
    assert_eq!(transposed.reshaped(&[6]), None);
    assert_eq!(transposed.reshaped(&[3, 1, 2]), Some(view(0, &[3, 1, 2], &[1, 0, 3])));
    let repeated = view(5, &[4], &[0]);
    assert_eq!(repeated.reshaped(&[2, 2]), Some(view(5, &[2, 2], &[0, 0])));
}

#[test]
fn parts_of_views_are_views() {
    // Rows 1 and 3 of a matrix of 4 x 3, from the last column to the first.
    let dense = StridedView::dense(&[4, 3]).expect("small");
    let of = |d: usize, size, stride: isize| match d {
        0 => Some((1, 2, 2 * stride)),
        _ => Some((size - 1, size, -stride)),
    };
    let part = dense.part(of).expect("inside");
    assert_eq!(part, view(5, &[2, 3], &[6, -1]));
    let elements: Vec<i32> = (0..12).collect();
    assert_eq!(part.gather(&elements).expect("inside"), [5, 4, 3, 11, 10, 9]);
}
