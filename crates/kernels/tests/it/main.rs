//! Tests of kernels; one binary, so that they link once.

mod batch_norm;
mod contract;
mod convolution;
mod copies;
mod einsum;
mod extremum;
mod features;
mod fft;
mod fft_lines;
mod gather;
mod kernels;
mod layouts;
mod linalg;
mod matmul;
mod movement;
mod narrow;
mod philox;
mod quantize;
mod reduce;
mod rng;
mod scatter;
mod select_and_scatter;
mod sums;
mod threefry;
mod top_k;
mod window;
