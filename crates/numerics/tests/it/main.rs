//! Tests of numbers; one binary, so that they link once.

mod accuracy;
mod binary;
mod budget;
mod bytes;
mod compare;
mod convert;
mod critical;
mod dtype;
mod element;
mod float_format;
mod floats;
mod integers;
mod iota;
mod lanes;
mod math;
mod pages;
mod scalar;
mod shape;
mod simd;
mod tensor;
mod text;
mod ulp;
mod unary;
mod views;
mod within;
