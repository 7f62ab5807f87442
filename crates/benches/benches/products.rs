//! Products, convolutions and gathers on one thread: a multiplication and an addition are two
//! items.

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use kernels::{Convolution, DotKernel, dot_general, gather};
use numerics::shape::StridedView;
use numerics::{DType, Tensor, math};
use program::WindowDim;
use program::primitives::{ConvDims, DotDims, GatherDims};

fn main() {
    divan::main();
}

fn ones(shape: &[usize]) -> Tensor {
    Tensor::splat(shape, 1f32).expect("there is memory")
}

/// Rows, depth and columns.
const PRODUCTS: &[[usize; 3]] = &[
    [96, 192, 192],
    [96, 192, 512],
    [96, 512, 192],
    [128, 64, 64],
    [128, 16, 128],
    [48, 32, 48],
    [1, 128, 384],
    [1, 256, 1024],
    [98, 2304, 256],
    [16, 960, 160],
    [512, 512, 512],
];

/// Matrices in row-major order.
#[divan::bench(args = PRODUCTS)]
fn product(bencher: Bencher<'_, '_>, &[rows, depth, columns]: &[usize; 3]) {
    multiply(bencher, &[rows, depth], &[depth, columns], [1, 0]);
}

/// The right matrix in column-major order.
#[divan::bench(args = PRODUCTS)]
fn product_of_columns(bencher: Bencher<'_, '_>, &[rows, depth, columns]: &[usize; 3]) {
    multiply(bencher, &[rows, depth], &[columns, depth], [1, 1]);
}

/// The left matrix in column-major order.
#[divan::bench(args = PRODUCTS)]
fn product_of_rows(bencher: Bencher<'_, '_>, &[rows, depth, columns]: &[usize; 3]) {
    multiply(bencher, &[depth, rows], &[depth, columns], [0, 0]);
}

fn multiply(bencher: Bencher<'_, '_>, lhs: &[usize], rhs: &[usize], contracting: [i64; 2]) {
    let numbers = DotDims {
        lhs_contracting_dimensions: vec![contracting[0]],
        rhs_contracting_dimensions: vec![contracting[1]],
        ..DotDims::default()
    };
    let results = rhs[1 - contracting[1] as usize];
    let count = 2 * lhs.iter().product::<usize>() * results;
    let (lhs, rhs) = (ones(lhs), ones(rhs));
    bencher
        .counter(ItemsCount::new(count))
        .bench(|| dot_general(lhs.clone(), rhs.clone(), &numbers, DType::F32));
}

/// Stored types of a matrix of 2,048 x 2,048 elements that is multiplied with a vector.
const STORED: &[DType] = &[DType::F32, DType::BF16, DType::F16, DType::F8E4M3FN];

/// The elements of each result are neighbours, as in a linear layer of PyTorch. The bytes of the
/// matrix are counted.
#[divan::bench(args = STORED)]
fn vector_of_columns(bencher: Bencher<'_, '_>, &dtype: &DType) {
    multiply_stored(bencher, dtype, [1, 2048, 2048], 1);
}

/// The results of each element are neighbours.
#[divan::bench(args = STORED)]
fn vector_of_rows(bencher: Bencher<'_, '_>, &dtype: &DType) {
    multiply_stored(bencher, dtype, [1, 2048, 2048], 0);
}

/// Products of matrices whose elements are stored in 16 bits.
#[divan::bench(args = [[4, 2048, 2048], [64, 2048, 2048], [512, 512, 512]])]
fn product_of_halves(bencher: Bencher<'_, '_>, &sizes: &[usize; 3]) {
    multiply_stored(bencher, DType::BF16, sizes, 1);
}

fn multiply_stored(
    bencher: Bencher<'_, '_>,
    dtype: DType,
    [m, k, n]: [usize; 3],
    contracting: i64,
) {
    let numbers = DotDims {
        lhs_contracting_dimensions: vec![1],
        rhs_contracting_dimensions: vec![contracting],
        ..DotDims::default()
    };
    let shapes = [[m, k], if contracting == 1 { [n, k] } else { [k, n] }];
    let [lhs, rhs] = shapes.map(|shape| math::convert(ones(&shape), dtype).expect("a float type"));
    let views = shapes.map(|shape| StridedView::dense(&shape).expect("small"));
    let dot =
        DotKernel::new((dtype, &views[0]), (dtype, &views[1]), &numbers, dtype).expect("prepared");
    let mut result = Tensor::zeros(dtype, [m, n]).expect("there is memory");
    bencher.counter(BytesCount::new(rhs.bytes().len())).bench_local(|| {
        let out = result.bytes_mut().expect("unshared");
        dot.run(lhs.bytes(), rhs.bytes(), out)
    });
}

/// Number of scalars that are gathered from as many.
#[divan::bench(args = [1 << 10, 1 << 16, 1 << 20, 10_000_000])]
fn gather_of_scalars(bencher: Bencher<'_, '_>, &count: &usize) {
    let numbers = GatherDims {
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        index_vector_dim: 1,
        ..GatherDims::default()
    };
    let indices = (0..count).map(|i| (i * 40_503 % count) as i32).collect();
    let indices = Tensor::from_vec([count], indices).expect("there is memory");
    let operand = ones(&[count]);
    bencher.counter(ItemsCount::new(count)).bench(|| gather(&operand, &indices, &numbers, &[1]));
}

/// Batch, size of the image and features of the input; size of the window, stride, features of the
/// output; groups.
const CONVOLUTIONS: &[[usize; 7]] = &[
    [2, 224, 3, 7, 2, 32, 1],
    [2, 56, 32, 3, 1, 32, 1],
    [2, 56, 32, 3, 2, 64, 1],
    [2, 28, 64, 3, 1, 64, 1],
    [2, 14, 128, 3, 1, 128, 1],
    [2, 7, 256, 3, 1, 256, 1],
    [1, 4, 960, 1, 1, 160, 1],
    [1, 64, 32, 3, 1, 32, 32],
    [1, 32, 144, 3, 1, 144, 144],
    [1, 4, 960, 3, 1, 960, 960],
];

#[divan::bench(args = CONVOLUTIONS)]
fn convolution(bencher: Bencher<'_, '_>, sizes: &[usize; 7]) {
    let &[batch, size, features, width, stride, results, groups] = sizes;
    let padding = (width / 2) as i64;
    let window = [WindowDim {
        size: width as i64,
        stride: stride as i64,
        pad_low: padding,
        pad_high: padding,
        base_dilation: 1,
        window_dilation: 1,
    }; 2];
    let dims = ConvDims {
        input_batch_dimension: 0,
        input_feature_dimension: 3,
        input_spatial_dimensions: vec![1, 2],
        kernel_input_feature_dimension: 2,
        kernel_output_feature_dimension: 3,
        kernel_spatial_dimensions: vec![0, 1],
        output_batch_dimension: 0,
        output_feature_dimension: 3,
        output_spatial_dimensions: vec![1, 2],
    };
    let convolution = Convolution {
        dims: &dims,
        window: &window,
        reversal: &[],
        feature_groups: groups,
        batch_groups: 1,
    };
    let input = ones(&[batch, size, size, features]);
    let kernel = ones(&[width, width, features / groups, results]);
    let outputs = size.div_ceil(stride).pow(2) * batch;
    let count = 2 * outputs * width * width * features / groups * results;
    bencher
        .counter(ItemsCount::new(count))
        .bench(|| convolution.eval(input.clone(), kernel.clone(), DType::F32));
}
