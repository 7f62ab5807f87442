//! Tests of `reduce.rs`.

use kernels::Tree;
use kernels::reduce::combine_windows;

#[test]
fn windows_that_share_subtrees_have_the_sums_of_their_trees() {
    let elements: Vec<f32> = (0..4000).map(|i| 1.0 / (3.0 + (i * 37 % 101) as f32)).collect();
    let add = |x: f32, y: f32| x + y;
    for (count, step, stride) in [(33, 1, 1), (64, 1, 2), (100, 3, 1), (127, 2, 5), (900, 1, 1)] {
        let line = (elements.len() / 2 - (count - 1) * step) / stride;
        let starts = [0, elements.len() / 2];
        let mut found = vec![0.0; 2 * line];
        let windows = (&starts[..], stride, count);
        combine_windows(&add, (&elements, 0.5), windows, step, &mut found)
            .expect("there is memory");
        for (number, found) in found.iter().enumerate() {
            let first = starts[number / line] + number % line * stride;
            let mut tree = Tree::new();
            (0..count).for_each(|tap| tree.push(elements[first + tap * step], add));
            let expected = tree.finish(add).map(|sum| 0.5 + sum);
            assert_eq!(Some(*found), expected, "window {number} of {count}");
        }
    }
}
