//! Tests of `shape.rs`.

use numerics::shape::{Indices, Runs, StridedView, num_elements, strides};

fn iota(count: i32) -> Vec<i32> {
    (0..count).collect()
}

/// The elements of a view by its definition.
fn by_definition(view: &StridedView, source: &[i32]) -> Vec<i32> {
    let mut indices = Indices::new(view.shape());
    let mut elements = Vec::new();
    while let Some(index) = indices.next_index() {
        let distance: isize = index.iter().zip(view.strides()).map(|(&i, s)| i as isize * s).sum();
        elements.push(source[view.offset().checked_add_signed(distance).unwrap()]);
    }
    elements
}

fn check(view: &StridedView, source: &[i32]) -> Vec<i32> {
    let gathered = view.gather(source).unwrap();
    assert_eq!(gathered, by_definition(view, source));
    gathered
}

#[test]
fn views_repeat_after_a_period() {
    let period = |shape: &[usize], strides: &[isize]| {
        Runs::new(&StridedView::new(0, shape, strides).unwrap(), 100).unwrap().period()
    };
    assert_eq!(period(&[5, 4, 3], &[0, 3, 1]), Some(12));
    assert_eq!(period(&[5, 4, 3], &[0, 0, 1]), Some(3));
    assert_eq!(period(&[5, 3], &[0, 0]), Some(1));
    assert_eq!(period(&[5, 3], &[1, 0]), None);
    assert_eq!(period(&[12], &[1]), None);
}

/// Lines of few elements are read and written many at a time, from any element on.
#[test]
fn short_lines_are_read_and_written_as_defined() {
    let source = iota(9000);
    let shapes: [(&[usize], &[isize]); 9] = [
        (&[7, 9, 3], &[27, 3, 1]),
        (&[7, 9, 3], &[27, 3, 0]),
        (&[7, 9, 3], &[27, -3, -1]),
        (&[5, 4, 6], &[6, 0, 1]),
        (&[5, 4, 6], &[4, 1, 0]),
        (&[3, 40, 5], &[200, 1, 40]),
        (&[3, 5, 2, 4], &[40, 0, 4, 1]),
        (&[300, 3], &[1, 0]),
        (&[2, 2, 2, 2, 2], &[31, 17, 0, -1, 5]),
    ];
    let sizes = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 25, 31, 33];
    let lines = sizes.iter().flat_map(|&size| {
        [(size as isize + 3, 1), (1, 0), (4, -1), (-5, -1), (1, 20), (0, 1), (20, 2)]
            .map(|(distance, stride)| (vec![20, size], vec![distance, stride]))
    });
    let all = shapes.map(|(shape, strides)| (shape.to_vec(), strides.to_vec()));
    for (shape, strides) in all.into_iter().chain(lines) {
        let view = StridedView::new(300, shape.clone(), strides).unwrap();
        let expected = check(&view, &source);
        let runs = Runs::new(&view, source.len()).unwrap();
        for start in 0..expected.len().min(70) {
            for end in [start + 1, start + 3, (start + 41).min(expected.len()), expected.len()] {
                let mut part = vec![-1; end.min(expected.len()) - start];
                runs.read(&source, start, &mut part);
                assert_eq!(part, expected[start..][..part.len()], "{view:?} from {start}");
            }
        }
        // All places differ.
        let mut distinct = expected.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() == expected.len() {
            let mut target = vec![-1; source.len()];
            let values: Vec<i32> = (0..expected.len() as i32).collect();
            runs.write(&values, &mut target);
            assert_eq!(by_definition(&view, &target), values, "{view:?}");
            assert_eq!(target.iter().filter(|&&x| x != -1).count(), values.len(), "{view:?}");
        }
    }
    // To the last element of the memory.
    for (first, distance, stride) in [(60, 6, 1), (64, 6, -1), (60, 6, 0)] {
        let view = StridedView::new(first, vec![2, 5], vec![distance, stride]).unwrap();
        check(&view, &source[..71]);
    }
}

#[test]
fn transposes_of_several_blocks() {
    for shape in [[129, 300], [256, 128], [16, 1000]] {
        let view = StridedView::dense(&shape).unwrap().permute(&[1, 0]).unwrap();
        let source = iota((shape[0] * shape[1]) as i32);
        let mut gathered = vec![0; source.len()];
        view.gather_into(&source, &mut gathered).unwrap();
        assert_eq!(gathered, check(&view, &source));
        assert!(view.gather_into(&source, &mut gathered[1..]).is_err());
    }
}

#[test]
fn sizes() {
    assert_eq!(num_elements(&[]), Some(1));
    assert_eq!(num_elements(&[usize::MAX, 2, 0]), Some(0));
    assert_eq!(num_elements(&[usize::MAX, 2]), None);
    assert_eq!(strides(&[2, 3, 4]), [12, 4, 1]);
}

#[test]
fn indices_are_row_major() {
    let mut indices = Indices::new([2, 2]);
    let mut all = Vec::new();
    while let Some(index) = indices.next_index() {
        all.push(index.to_vec());
    }
    assert_eq!(all, [[0, 0], [0, 1], [1, 0], [1, 1]]);
    assert_eq!(Indices::new([]).next_index(), Some(&[][..]));
    assert_eq!(Indices::new([3, 0]).next_index(), None);
}

#[test]
fn transposes() {
    let view = StridedView::dense(&[2, 3]).unwrap().permute(&[1, 0]).unwrap();
    assert_eq!(check(&view, &iota(6)), [0, 3, 1, 4, 2, 5]);
    let view = StridedView::dense(&[3, 50, 70]).unwrap();
    for permutation in [[0, 2, 1], [2, 1, 0], [1, 2, 0], [2, 0, 1], [1, 0, 2]] {
        let view = view.permute(&permutation).unwrap();
        let source = iota(3 * 50 * 70);
        let gathered = check(&view, &source);
        let mut back = vec![-1; source.len()];
        view.scatter(&gathered, &mut back).unwrap();
        assert_eq!(back, source);
    }
    assert!(view.permute(&[0, 1]).is_err());
    assert!(view.permute(&[0, 1, 3]).is_err());
    assert!(view.permute(&[0, 1, 1]).is_err());
}

#[test]
fn broadcasts() {
    let view = StridedView::dense(&[1, 3]).unwrap().broadcast(&[2, 3, 2], &[0, 1]).unwrap();
    assert_eq!(check(&view, &iota(3)), [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
    let scalar = StridedView::dense(&[]).unwrap().broadcast(&[3], &[]).unwrap();
    assert_eq!(check(&scalar, &[7]), [7, 7, 7]);
    assert!(StridedView::dense(&[2]).unwrap().broadcast(&[3], &[0]).is_err());
}

#[test]
fn windows() {
    let view = StridedView::window(&[4, 5], &[1, 0], &[2, 3], &[2, 2]).unwrap();
    assert_eq!(check(&view, &iota(20)), [5, 7, 9, 15, 17, 19]);
    let reversed = StridedView::window(&[4], &[3], &[4], &[-1]).unwrap();
    assert_eq!(check(&reversed, &iota(4)), [3, 2, 1, 0]);
    let mut target = [0; 6];
    let view = StridedView::window(&[2, 3], &[0, 1], &[2, 2], &[1, 1]).unwrap();
    view.scatter(&[1, 2, 3, 4], &mut target).unwrap();
    assert_eq!(target, [0, 1, 2, 0, 3, 4]);
    assert!(StridedView::window(&[4], &[1], &[4], &[1]).is_err());
    assert!(StridedView::window(&[4], &[2], &[4], &[-1]).is_err());
    assert_eq!(StridedView::window(&[4], &[4], &[0], &[1]).unwrap().gather(&iota(4)).unwrap(), []);
}

#[test]
fn views_outside_of_the_data_are_errors() {
    let view = StridedView::new(0, [usize::MAX / 2], [isize::MAX]).unwrap();
    assert!(view.gather(&[0i32; 4]).is_err());
    assert!(StridedView::new(1, [2], [-2]).unwrap().gather(&[0i32; 4]).is_err());
    assert!(StridedView::new(9, [0, 4], [1, 1]).unwrap().gather(&[0i32; 4]).unwrap().is_empty());
    assert!(StridedView::new(0, [usize::MAX, 2], [0, 0]).is_err());
    assert!(StridedView::new(0, [usize::MAX], [0]).unwrap().gather(&[0i32]).is_err());
}
