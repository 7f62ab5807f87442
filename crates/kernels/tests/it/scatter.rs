//! Tests of `scatter.rs`.

use kernels::Combiner;
use kernels::scatter::{ScatterKernel, run_length};
use numerics::math::BinaryOp;
use numerics::{DType, Tensor};
use program::primitives::ScatterDims;
use program::{Body, BodyShape, Callee, FunctionId, NoEvaluator};

#[test]
fn rows_of_updates_are_combined_at_a_time() {
    let numbers = ScatterDims {
        update_window_dims: vec![1, 2],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    // Some windows are partly or wholly outside, and some overlap.
    let indices = Tensor::from_vec([6, 1], vec![1i32, -1, 0, 4, 9, 1]).unwrap();
    let input = Tensor::iota(DType::F32, [5, 9], 0).unwrap();
    let updates = (0..6 * 2 * 9).map(|i| 1.0 / (i as f32 + 3.0)).collect();
    let updates = Tensor::from_vec([6, 2, 9], updates).unwrap();
    let add = BodyShape::Binary { op: BinaryOp::Add, swapped: false };
    for shape in [add, BodyShape::Values] {
        let kinds = (input.shape(), DType::F32);
        let scatter =
            ScatterKernel::new(shape, kinds, (&[6, 1], DType::I32), &[6, 2, 9], &numbers).unwrap();
        assert_eq!(scatter.targets.run, 18);
        let mut found = Tensor::zeros(DType::F32, [5, 9]).unwrap();
        let bytes = [input.bytes(), indices.bytes(), updates.bytes()].map(|bytes| &bytes[..]);
        scatter.run(bytes, found.bytes_mut().unwrap()).unwrap();
        let body = Body {
            callee: Callee::Function(FunctionId(0)),
            dtypes: Vec::new(),
            shape,
            extremum: None,
            choice: None,
            closed: true,
        };
        let mut env = NoEvaluator;
        let body = &mut Combiner::new(&body, &mut env);
        let lists = (vec![input.clone()], vec![updates.clone()]);
        let expected = kernels::scatter(lists.0, &indices, lists.1, &numbers, false, body);
        assert_eq!([found], expected.unwrap()[..]);
    }
}

#[test]
fn updates_of_single_elements() {
    let numbers = ScatterDims {
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    // More than a block of them, some outside, and many of the same element.
    let places: Vec<i64> = (0..300).map(|k| k * k % 13 - 2).collect();
    let indices = Tensor::from_vec([300, 1], places.clone()).unwrap();
    let updates = Tensor::from_vec([300], (1..=300).collect::<Vec<i32>>()).unwrap();
    let input = Tensor::from_vec([8], vec![7i32; 8]).unwrap();
    let add = BodyShape::Binary { op: BinaryOp::Add, swapped: false };
    for shape in [add, BodyShape::Values] {
        let mut expected = [7i32; 8];
        for (&place, update) in places.iter().zip(1..) {
            let element = usize::try_from(place).ok().and_then(|at| expected.get_mut(at));
            if let Some(element) = element {
                *element = if shape == add { *element + update } else { update };
            }
        }
        let (kinds, index) = ((&[8][..], DType::I32), (&[300, 1][..], DType::I64));
        let scatter = ScatterKernel::new(shape, kinds, index, &[300], &numbers).unwrap();
        assert_eq!(scatter.targets.row, Some(1));
        let mut found = Tensor::zeros(DType::I32, [8]).unwrap();
        let bytes = [input.bytes(), indices.bytes(), updates.bytes()].map(|bytes| &bytes[..]);
        scatter.run(bytes, found.bytes_mut().unwrap()).unwrap();
        assert_eq!(found.as_slice::<i32>().unwrap(), expected);
    }
}

/// Rows at indices of several types, of lengths with and without whole vectors; some are outside.
#[test]
fn updates_of_rows() {
    let numbers = ScatterDims {
        update_window_dims: vec![1],
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    let places: Vec<i64> = (0..300).map(|k| k * k % 13 - 2).collect();
    let add = BodyShape::Binary { op: BinaryOp::Add, swapped: false };
    for (len, body) in [1, 3, 8, 9, 40].into_iter().flat_map(|n| [(n, add), (n, BodyShape::Values)])
    {
        let update = |row: usize, column: usize| (row * 7 + column) as f32;
        let updates: Vec<f32> = (0..300 * len).map(|i| update(i / len, i % len)).collect();
        let updates = Tensor::from_vec([300, len], updates).unwrap();
        let mut expected = vec![1f32; 8 * len];
        for (row, &place) in places.iter().enumerate().filter(|(_, place)| (0..8).contains(*place))
        {
            for column in 0..len {
                let element = &mut expected[place as usize * len + column];
                let update = update(row, column);
                *element = if body == add { *element + update } else { update };
            }
        }
        let input = Tensor::from_vec([8, len], vec![1f32; 8 * len]).unwrap();
        let kinds = (input.shape(), DType::F32);
        let narrow = places.iter().map(|&place| place as i32).collect::<Vec<_>>();
        let short = places.iter().map(|&place| place as i16).collect::<Vec<_>>();
        for indices in [
            Tensor::from_vec([300, 1], places.clone()).unwrap(),
            Tensor::from_vec([300, 1], narrow).unwrap(),
            Tensor::from_vec([300, 1], short).unwrap(),
        ] {
            let index = (&[300, 1][..], indices.dtype());
            let scatter = ScatterKernel::new(body, kinds, index, &[300, len], &numbers).unwrap();
            assert_eq!(scatter.targets.row, Some(len));
            let mut found = Tensor::zeros(DType::F32, [8, len]).unwrap();
            let bytes = [input.bytes(), indices.bytes(), updates.bytes()].map(|bytes| &bytes[..]);
            scatter.run(bytes, found.bytes_mut().unwrap()).unwrap();
            assert_eq!(found.as_slice::<f32>().unwrap(), expected);
        }
    }
}

/// Updates come in the order of their memory, not window by window: the last one stays.
#[test]
fn windows_outside_of_batches() {
    let numbers = ScatterDims {
        update_window_dims: vec![0, 2],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    let indices = Tensor::from_vec([2, 1], vec![0i32, 1]).unwrap();
    let input = Tensor::zeros(DType::F32, [3, 8]).unwrap();
    // Element (w, b, i) is 10 w + b + 1.
    let updates = (0..32).map(|i| (i / 16 * 10 + i / 8 % 2 + 1) as f32).collect();
    let updates = Tensor::from_vec([2, 2, 8], updates).unwrap();
    let kinds = (input.shape(), DType::F32);
    let (index, shape) = ((&[2, 1][..], DType::I32), BodyShape::Values);
    let scatter = ScatterKernel::new(shape, kinds, index, &[2, 2, 8], &numbers).unwrap();
    let mut found = Tensor::zeros(DType::F32, [3, 8]).unwrap();
    let bytes = [input.bytes(), indices.bytes(), updates.bytes()].map(|bytes| &bytes[..]);
    scatter.run(bytes, found.bytes_mut().unwrap()).unwrap();
    // Row 1 has the updates (0, 1) and then (1, 0).
    let rows: Vec<f32> = found.as_slice::<f32>().unwrap().iter().step_by(8).copied().collect();
    assert_eq!(rows, [1.0, 11.0, 12.0]);
}

#[test]
fn runs_of_neighbours() {
    assert_eq!(run_length([&[0, 1, 2, 10, 11, 12], &[5, 6, 7, 8, 9, 10]]), 3);
    assert_eq!(run_length([&[0, 1, 2, 10], &[5, 6, 7, 8]]), 1);
    assert_eq!(run_length([&[0, 2], &[5, 6]]), 1);
    assert_eq!(run_length([&[4], &[5]]), 1);
    assert_eq!(run_length([&[], &[]]), 1);
}
