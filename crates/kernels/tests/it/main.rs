//! Tests of kernels; one binary, so that they link once.

mod batch_norm;
mod contract;
mod convolution;
mod einsum;
mod fft;
mod linalg;
mod matmul;
mod movement;
mod quantize;
mod top_k;
mod window;
