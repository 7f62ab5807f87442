//! Tests of `convolution.rs`.

use kernels::{Convolution, PreparedConvolution};
use numerics::math::AlignedBytes;
use numerics::{DType, Tensor, TensorError};
use program::WindowDim;
use program::primitives::ConvDims;
use std::sync::LazyLock;

fn tensor(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_vec(shape, values.to_vec()).expect("shape and values agree")
}

static NHWC: LazyLock<ConvDims> = LazyLock::new(|| ConvDims {
    input_batch_dimension: 0,
    input_feature_dimension: 3,
    input_spatial_dimensions: vec![1, 2],
    kernel_input_feature_dimension: 2,
    kernel_output_feature_dimension: 3,
    kernel_spatial_dimensions: vec![0, 1],
    output_batch_dimension: 0,
    output_feature_dimension: 3,
    output_spatial_dimensions: vec![1, 2],
});

fn conv(feature_groups: usize, window: &[WindowDim]) -> Convolution<'_> {
    Convolution { dims: &NHWC, window, reversal: &[], feature_groups, batch_groups: 1 }
}

const WINDOW: WindowDim =
    WindowDim { size: 3, stride: 4, pad_low: 0, pad_high: 0, base_dilation: 2, window_dilation: 1 };

#[test]
fn convolution_example_of_the_specification() {
    let lhs = tensor(&[1, 4, 4, 1], &[1, 2, 5, 6, 3, 4, 7, 8, 10, 11, 14, 15, 12, 13, 16, 17]);
    let rhs = tensor(&[3, 3, 1, 1], &[1; 9]);
    let result = conv(1, &[WINDOW; 2]).eval(lhs.clone(), rhs.clone(), DType::I64).expect("valid");
    assert_eq!(result, tensor(&[1, 2, 2, 1], &[10, 26, 46, 62]));
    // Two features, each with its own kernel, are two independent convolutions.
    let both = |t: &Tensor, shape: &[usize], factor: i64| {
        let values = t.as_slice::<i64>().expect("i64").iter().flat_map(|&x| [x, x * factor]);
        tensor(shape, &values.collect::<Vec<_>>())
    };
    let (lhs, rhs) = (both(&lhs, &[1, 4, 4, 2], 1), both(&rhs, &[3, 3, 1, 2], 2));
    let result = conv(2, &[WINDOW; 2]).eval(lhs, rhs, DType::I64).expect("valid");
    assert_eq!(result, tensor(&[1, 2, 2, 2], &[10, 20, 26, 52, 46, 92, 62, 124]));
}

/// A convolution of numbers that are exact in every order, by the formula of the specification.
fn by_definition(c: &Convolution<'_>, lhs: &Tensor, rhs: &Tensor, shape: &[usize]) -> Vec<f32> {
    let (input, kernel) = (lhs.as_slice::<f32>().unwrap(), rhs.as_slice::<f32>().unwrap());
    let (x, k) = (lhs.shape(), rhs.shape());
    let mut results = Vec::new();
    let mut indices = numerics::shape::Indices::new(shape);
    while let Some(&[batch, row, column, feature]) = indices.next_index() {
        let group = feature / (k[3] / c.feature_groups);
        let batch_group = feature / (k[3] / c.batch_groups);
        let first = if c.feature_groups > 1 { group * k[2] } else { 0 };
        let batch = if c.batch_groups > 1 { batch_group * shape[0] + batch } else { batch };
        let place = |axis: usize, output: usize, tap: usize| {
            let dim = &c.window[axis];
            let tap = if c.reversal[axis] { k[axis] - 1 - tap } else { tap } as i64;
            let at = output as i64 * dim.stride + tap * dim.window_dilation - dim.pad_low;
            let within = at >= 0 && at % dim.base_dilation == 0;
            let at = (at / dim.base_dilation) as usize;
            (within && at < x[axis + 1]).then_some(at)
        };
        let mut sum = 0.0;
        for i in 0..k[0] {
            let Some(row) = place(0, row, i) else { continue };
            for j in 0..k[1] {
                let Some(column) = place(1, column, j) else { continue };
                let at = ((batch * x[1] + row) * x[2] + column) * x[3] + first;
                let tap = (i * k[1] + j) * k[2] * k[3] + feature;
                for f in 0..k[2] {
                    sum += input[at + f] * kernel[tap + f * k[3]];
                }
            }
        }
        results.push(sum);
    }
    results
}

#[test]
fn convolutions_follow_the_formula() {
    let mut state = 5u64;
    let (mut packed_kernels, mut parts) = (0, 0);
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    for round in 0..400 {
        let feature_groups = [1, 1, 2, 20][below(4)];
        let batch_groups = if feature_groups == 1 { 1 + below(2) } else { 1 };
        let features = if feature_groups > 2 { 1 } else { [1, 2, 40][below(3)] };
        let results = feature_groups.max(batch_groups) * [1, 2, 9, 16][below(4)];
        let widest = [9, 9, 70][below(3)];
        let size: [usize; 2] = [1 + below(9), 1 + below(widest)];
        let width: [usize; 2] = [1 + below(4), 1 + below(5)];
        let window = width.map(|size| WindowDim {
            size: size as i64,
            stride: 1 + below(3) as i64,
            pad_low: below(4) as i64 - 1,
            pad_high: below(4) as i64 - 1,
            base_dilation: 1 + below(2) as i64,
            window_dilation: 1 + below(2) as i64,
        });
        let reversal = [below(4) == 0, below(4) == 0];
        let c = Convolution {
            dims: &NHWC,
            window: &window,
            reversal: &reversal,
            feature_groups,
            batch_groups,
        };
        let mut tensor = |shape: &[usize]| {
            let count = shape.iter().product();
            let values = (0..count).map(|_| below(9) as f32 - 4.0).collect::<Vec<f32>>();
            Tensor::from_vec(shape, values).unwrap()
        };
        let batch = batch_groups * (1 + round % 2);
        let lhs = tensor(&[batch, size[0], size[1], features * feature_groups]);
        let rhs = tensor(&[width[0], width[1], features, results]);
        let _entered = host::Host::default().with_workers(1 + round % 3).enter();
        let result = c.eval(lhs.clone(), rhs.clone(), DType::F32).unwrap();
        let expected = by_definition(&c, &lhs, &rhs, result.shape());
        assert_eq!(result.as_slice::<f32>().unwrap(), expected, "{window:?} {lhs:?} {rhs:?}");
        // The same of a kernel that is packed.
        let parameters = program::primitives::Convolution {
            dims: NHWC.clone(),
            window: window.into_iter().collect(),
            reversal: reversal.to_vec(),
            feature_groups,
            batch_groups,
            dtype: DType::F32,
        };
        let types = [(DType::F32, lhs.shape()), (DType::F32, rhs.shape())];
        let prepared = PreparedConvolution::new(&parameters, types).unwrap();
        let packed = prepared.pack(rhs.bytes()).unwrap();
        if prepared.is_of_rows() {
            // And of some of the windows.
            let row = 4 * prepared.features();
            let start = below(prepared.rows());
            let rows = start..start + 1 + below(prepared.rows() - start);
            let mut part = AlignedBytes::zeros(rows.len() * row);
            let operands: [&[u8]; 2] = [lhs.bytes(), rhs.bytes()];
            prepared.run_rows(rows.clone(), operands, packed.as_deref(), &mut part).unwrap();
            let expected = &result.bytes()[rows.start * row..rows.end * row];
            assert!(part[..] == *expected, "{rows:?} {window:?} {lhs:?} {rhs:?}");
            let beyond = start..prepared.rows() + 1;
            let mut part = AlignedBytes::zeros(beyond.len() * row);
            let refused = prepared.run_rows(beyond, operands, None, &mut part);
            assert!(matches!(refused, Err(TensorError::OutOfBounds)));
            parts += 1;
        }
        if let Some(packed) = packed {
            let mut again = Tensor::zeros(DType::F32, result.shape()).unwrap();
            let out = again.bytes_mut().unwrap();
            prepared.run_packed(lhs.bytes(), rhs.bytes(), Some(&packed), out).unwrap();
            assert_eq!(again, result, "{window:?} {lhs:?} {rhs:?}");
            packed_kernels += 1;
        }
    }
    assert!(packed_kernels > 30, "{packed_kernels} kernels were packed");
    assert!(parts > 100, "{parts} results were rows");
}

/// A kernel is read in every order of its dimensions, for the same sums, and results have their
/// features last or first.
#[test]
fn kernels_in_any_order() {
    let mut state = 7u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    let mut packed_kernels = 0;
    for round in 0..360 {
        let (groups, features) = ([1, 1, 2][below(3)], [1, 2, 5, 18, 130][below(5)]);
        let (features, results) = (features, groups * [1, 3, 17, 33, 70][below(5)]);
        let sizes: [usize; 2] = std::array::from_fn(|_| 1 + below(7));
        let width: [usize; 2] = std::array::from_fn(|_| 1 + below(4));
        let window = width.map(|size| WindowDim {
            size: size as i64,
            stride: 1 + below(2) as i64,
            pad_low: below(3) as i64,
            pad_high: 3,
            base_dilation: 1 + below(2) as i64,
            window_dilation: 1,
        });
        let mut tensor = |shape: &[usize]| {
            let count = shape.iter().product();
            let values = (0..count).map(|_| below(2001) as f32 / 64.0 - 15.0);
            Tensor::from_vec(shape, values.collect::<Vec<f32>>()).unwrap()
        };
        let lhs = tensor(&[1 + round % 3, sizes[0], sizes[1], features * groups]);
        let rhs = tensor(&[width[0], width[1], features, results]);
        let _entered = host::Host::default().with_workers(1 + round % 2).enter();
        let reversal = [round % 5 == 0, false];
        let c = Convolution {
            dims: &NHWC,
            window: &window,
            reversal: &reversal,
            feature_groups: groups,
            batch_groups: 1,
        };
        let mut expected = c.eval(lhs.clone(), rhs.clone(), DType::F32).unwrap();
        let is_features_first = round % 2 == 0;
        if is_features_first {
            let view = numerics::shape::StridedView::dense(expected.shape()).unwrap();
            expected = expected.gather(&view.permute(&[3, 0, 1, 2]).unwrap()).unwrap();
        }
        let output = |dimension: i64| (dimension + i64::from(is_features_first)) % 4;
        // The dimension of `rhs` that each one of the kernel is.
        let mut order = vec![0, 1, 2, 3];
        for i in 1..4 {
            order.swap(i, below(i + 1));
        }
        let position = |d: usize| order.iter().position(|&at| at == d).unwrap() as i64;
        let view = numerics::shape::StridedView::dense(rhs.shape()).unwrap();
        let kernel = rhs.gather(&view.permute(&order).unwrap()).unwrap();
        let dims = ConvDims {
            kernel_spatial_dimensions: vec![position(0), position(1)],
            kernel_input_feature_dimension: position(2),
            kernel_output_feature_dimension: position(3),
            output_batch_dimension: output(0),
            output_feature_dimension: output(3),
            output_spatial_dimensions: vec![output(1), output(2)],
            ..NHWC.clone()
        };
        let parameters = program::primitives::Convolution {
            dims,
            window: window.into_iter().collect(),
            reversal: reversal.to_vec(),
            feature_groups: groups,
            batch_groups: 1,
            dtype: DType::F32,
        };
        let types = [(DType::F32, lhs.shape()), (DType::F32, kernel.shape())];
        let prepared = PreparedConvolution::new(&parameters, types).unwrap();
        let packed = prepared.pack(kernel.bytes()).unwrap();
        packed_kernels += usize::from(packed.is_some());
        for panels in [None, packed.as_deref()] {
            let mut result = Tensor::zeros(DType::F32, expected.shape()).unwrap();
            let out = result.bytes_mut().unwrap();
            prepared.run_packed(lhs.bytes(), kernel.bytes(), panels, out).unwrap();
            assert_eq!(
                result,
                expected,
                "{order:?} {window:?} {:?} {:?}",
                lhs.shape(),
                rhs.shape()
            );
        }
    }
    assert!(packed_kernels > 100, "{packed_kernels} kernels were packed");
}

/// Sizes beside a zero need no tables, in whatever order the kernel is.
#[test]
fn kernels_without_elements() {
    let huge = 1_usize << 31;
    let dims = ConvDims {
        kernel_output_feature_dimension: 0,
        kernel_input_feature_dimension: 1,
        kernel_spatial_dimensions: vec![2, 3],
        ..NHWC.clone()
    };
    let window = WindowDim { stride: 1, base_dilation: 1, ..WINDOW };
    let parameters = program::primitives::Convolution {
        dims,
        window: [window; 2].into_iter().collect(),
        reversal: vec![],
        feature_groups: 1,
        batch_groups: 1,
        dtype: DType::F32,
    };
    let types = [(DType::F32, &[0, 4, 4, huge][..]), (DType::F32, &[0, huge, 3, 3][..])];
    let prepared = PreparedConvolution::new(&parameters, types).expect("nothing to compute");
    assert_eq!(prepared.shape(), [0, 2, 2, 0]);
    prepared.run(&[], &[], &mut []).expect("nothing to compute");
}

/// A copy of the input with zeros that is larger than caches is made in parts.
#[test]
fn large_inputs_are_padded_in_parts() {
    let dim = WindowDim { size: 2, pad_low: 1, pad_high: 2, base_dilation: 1, ..WINDOW };
    let window = [WindowDim { stride: 1, ..dim }, WindowDim { stride: 2, ..dim }];
    let c = Convolution { reversal: &[false, true], ..conv(1, &window) };
    let numbers = |shape: &[usize]| {
        let count = shape.iter().product::<usize>();
        let values = (0..count).map(|i| (i * 7 % 31) as f32 - 15.0).collect::<Vec<f32>>();
        Tensor::from_vec(shape, values).unwrap()
    };
    let (lhs, rhs) = (numbers(&[2, 70, 130, 64]), numbers(&[2, 2, 64, 2]));
    let expected = by_definition(&c, &lhs, &rhs, &[2, 72, 66, 2]);
    for workers in [1, 3] {
        let _entered = host::Host::default().with_workers(workers).enter();
        let result = c.eval(lhs.clone(), rhs.clone(), DType::F32).unwrap();
        assert_eq!(result.shape(), [2, 72, 66, 2]);
        assert!(result.as_slice::<f32>().unwrap() == expected, "{workers}");
    }
}

/// Windows along one dimension and along three: some of them are what they are among all.
#[test]
fn parts_of_lines_and_volumes() {
    for spatial in [1, 3] {
        let last = spatial as i64 + 1;
        let dims = ConvDims {
            input_feature_dimension: last,
            input_spatial_dimensions: (1..last).collect(),
            kernel_input_feature_dimension: last - 1,
            kernel_output_feature_dimension: last,
            kernel_spatial_dimensions: (0..last - 1).collect(),
            output_feature_dimension: last,
            output_spatial_dimensions: (1..last).collect(),
            ..NHWC.clone()
        };
        let dim = WindowDim { stride: 2, base_dilation: 1, pad_low: 1, pad_high: 2, ..WINDOW };
        let parameters = program::primitives::Convolution {
            dims,
            window: std::iter::repeat_n(dim, spatial).collect(),
            reversal: vec![],
            feature_groups: 1,
            batch_groups: 1,
            dtype: DType::I32,
        };
        let shape = |first: usize, size: usize, last: usize| {
            let sizes = std::iter::repeat_n(size, spatial);
            std::iter::once(first).chain(sizes).chain([last]).collect::<Vec<_>>()
        };
        let numbers = |shape: &[usize]| {
            let count = shape.iter().product::<usize>();
            Tensor::from_vec(shape, (0..count as i32).map(|i| i * 7 % 31).collect()).unwrap()
        };
        let lhs = numbers(&shape(3, 7, 5));
        let kernel = [&shape(3, 3, 5)[1..], &[6]].concat();
        let rhs = numbers(&kernel);
        let types = [(DType::I32, lhs.shape()), (DType::I32, rhs.shape())];
        let prepared = PreparedConvolution::new(&parameters, types).unwrap();
        assert!(prepared.is_of_rows(), "{spatial}");
        let (rows, row) = (prepared.rows(), 4 * prepared.features());
        let mut all = AlignedBytes::zeros(rows * row);
        prepared.run(lhs.bytes(), rhs.bytes(), &mut all).unwrap();
        for (start, end) in [(0, 1), (0, rows), (rows / 3, rows / 2), (rows - 2, rows)] {
            let mut part = AlignedBytes::zeros((end - start) * row);
            let operands: [&[u8]; 2] = [lhs.bytes(), rhs.bytes()];
            prepared.run_rows(start..end, operands, None, &mut part).unwrap();
            assert!(part[..] == all[start * row..end * row], "{spatial} {start} {end}");
        }
    }
}

/// Of an input of one element, no dilation is too large.
#[test]
fn dilations_that_overflow() {
    for base_dilation in [1 << 62, i64::MAX] {
        let dim = WindowDim { size: 1, stride: 1, base_dilation, ..WINDOW };
        let whole = WindowDim { base_dilation: 1, ..dim };
        let lhs = tensor(&[1, 1, 1, 4], &[1, 2, 3, 4]);
        let rhs = tensor(&[1, 1, 4, 1], &[1, 10, 100, 1000]);
        for window in [[dim, whole], [whole, dim], [dim, dim]] {
            let result = conv(1, &window).eval(lhs.clone(), rhs.clone(), DType::I64);
            assert_eq!(result.expect("valid"), tensor(&[1, 1, 1, 1], &[4321]));
        }
    }
}

/// Sums of nothing are zero, and no results are none, whatever the other sizes.
#[test]
fn huge_windows_over_nothing() {
    let size = 1 << 40;
    let huge = WindowDim { size, pad_high: size, stride: 1, base_dilation: 1, ..WINDOW };
    let side = size as usize;
    let rhs = tensor(&[side, side, 0, 2], &[]);
    let lhs = tensor(&[1, 4, 4, 0], &[]);
    let result = conv(1, &[huge; 2]).eval(lhs, rhs, DType::I64).expect("valid");
    assert_eq!(result, tensor(&[1, 5, 5, 2], &[0; 50]));

    let one = WindowDim { size: 1, pad_high: 0, ..huge };
    let lhs = tensor(&[0, side, side, 1], &[]);
    let result = conv(1, &[one; 2]).eval(lhs, tensor(&[1, 1, 1, 2], &[1, 2]), DType::I64);
    assert_eq!(result.expect("valid"), tensor(&[0, side, side, 2], &[]));
}

/// A kernel that no memory holds is prepared without tables of its size.
#[test]
fn kernels_of_huge_depth() {
    let features = 1usize << 50;
    let parameters = program::primitives::Convolution {
        dims: NHWC.clone(),
        window: [WindowDim { pad_low: 1, pad_high: 1, stride: 1, base_dilation: 1, ..WINDOW }; 2]
            .into_iter()
            .collect(),
        reversal: vec![],
        feature_groups: 1,
        batch_groups: 1,
        dtype: DType::F32,
    };
    let types = [(DType::F32, &[1, 4, 4, features][..]), (DType::F32, &[3, 3, features, 2])];
    let prepared = PreparedConvolution::new(&parameters, types).expect("valid");
    assert_eq!((prepared.rows(), prepared.kernel_len()), (16, 18 * features));
    let refused = prepared.run(&[], &[], &mut [0; 4 * 32]);
    assert!(matches!(refused, Err(TensorError::OutOfBounds)));
}

/// Padding is multiplied, and zero times infinity is not a number.
#[test]
fn padding_counts_if_weights_are_infinite() {
    let window = [WindowDim { pad_low: 1, stride: 1, base_dilation: 1, ..WINDOW }; 2];
    for groups in [1, 2] {
        let lhs = Tensor::splat([1, 3, 3, 2], 1f32).unwrap();
        let rhs = Tensor::splat([3, 3, 2 / groups, 2], f32::INFINITY).unwrap();
        let result = conv(groups, &window).eval(lhs, rhs, DType::F32).unwrap();
        let inner = |i: usize| [6, 7].contains(&i);
        for (i, x) in result.as_slice::<f32>().unwrap().iter().enumerate() {
            assert_eq!((x.is_nan(), x.is_infinite()), (!inner(i), inner(i)), "{groups} {i}");
        }
    }
}

/// Elements between which there are holes have the sums of an input in which zeros are.
#[test]
fn holes_are_zeros() {
    let mut state = 3u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    for round in 0..80 {
        let groups = [1, 1, 2][below(3)];
        let (features, results) =
            ([1, 3, 18, 70, 130][below(5)], groups * [1, 3, 17, 33][below(4)]);
        let sizes: [usize; 2] = std::array::from_fn(|_| 1 + below(7));
        let width: [usize; 2] = std::array::from_fn(|_| 1 + below(5));
        let window = width.map(|size| WindowDim {
            size: size as i64,
            stride: 1,
            pad_low: below(9) as i64 - 3,
            pad_high: size as i64 + below(3) as i64,
            base_dilation: 1 + below(4) as i64,
            window_dilation: 1,
        });
        let mut tensor = |shape: &[usize]| {
            let count = shape.iter().product();
            let values = (0..count).map(|_| below(2001) as f32 / 64.0 - 15.0);
            Tensor::from_vec(shape, values.collect::<Vec<f32>>()).unwrap()
        };
        let lhs = tensor(&[1 + round % 2, sizes[0], sizes[1], features * groups]);
        let mut rhs = tensor(&[width[0], width[1], features, results]);
        if round % 10 == 0 {
            // Zero times infinity is not a number, in holes, too.
            let mut weights = rhs.as_slice::<f32>().unwrap().to_vec();
            let place = weights.len() / 2;
            weights[place] = f32::INFINITY;
            rhs = Tensor::from_vec(rhs.shape(), weights).unwrap();
        }
        let _entered = host::Host::default().with_workers(1 + round % 2).enter();
        let reversal = [round % 5 == 0, round % 7 == 0];
        let c = Convolution { reversal: &reversal, ..conv(groups, &window) };
        let Ok(found) = c.eval(lhs.clone(), rhs.clone(), DType::F32) else { continue };
        let interior = [0, window[0].base_dilation - 1, window[1].base_dilation - 1, 0];
        let filled =
            kernels::pad(&lhs, &Tensor::scalar(0f32), &[0; 4], &[0; 4], &interior).unwrap();
        let window = window.map(|dim| WindowDim { base_dilation: 1, ..dim });
        let c = Convolution { window: &window, ..c };
        let expected = c.eval(filled, rhs.clone(), DType::F32).unwrap();
        assert_eq!(found.bytes(), expected.bytes(), "{window:?} {interior:?} {lhs:?} {rhs:?}");
    }
}
