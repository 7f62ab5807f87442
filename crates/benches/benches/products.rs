//! Products and convolutions on one thread: a multiplication and an addition are two items.

use divan::Bencher;
use divan::counter::ItemsCount;
use kernels::{Convolution, dot_general};
use numerics::{DType, Tensor};
use program::WindowDim;
use program::primitives::{ConvDims, DotDims};

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
