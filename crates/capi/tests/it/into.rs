//! Results in memory of the caller: overlaps and mistakes.

#![allow(unsafe_code, reason = "functions for C; each block gives its reason")]

use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

/// `stablo_array` and `stablo_buffer`, as the header declares them.
#[repr(C)]
struct Array {
    dtype: *const c_char,
    shape: *const i64,
    rank: usize,
    data: *const u8,
    size: usize,
}

/// Runs a program on arrays of four floats at positions of a memory; on failure, the text of the
/// error.
fn run(text: &str, memory: &mut [f32], inputs: &[usize], outputs: &[usize]) -> Result<(), String> {
    run_on("f32", 4, text, memory.as_mut_ptr().cast(), inputs, outputs)
}

/// As [`run`], on vectors of a length with elements of a type.
fn run_on(
    dtype: &str,
    length: usize,
    text: &str,
    start: *mut u8,
    inputs: &[usize],
    outputs: &[usize],
) -> Result<(), String> {
    let name = CString::new(dtype).unwrap();
    let shape = [length as i64];
    let size = length * stablo::DType::from_name(dtype).unwrap().bytes();
    let array = |&at: &usize| Array {
        dtype: name.as_ptr(),
        shape: shape.as_ptr(),
        rank: 1,
        data: start.wrapping_byte_add(at),
        size,
    };
    let inputs: Vec<Array> = inputs.iter().map(array).collect();
    let outputs: Vec<Array> = outputs.iter().map(array).collect();
    let mut error: *mut c_char = null_mut();
    // SAFETY: texts, arrays and the places for results are as the header says, and what is returned
    // is freed once.
    unsafe {
        let module = stablo_c::stablo_load(text.as_ptr(), text.len(), null(), &mut error);
        let program = stablo_c::stablo_prepare(module, null(), null(), &mut error);
        assert!(!program.is_null());
        let is_done = stablo_c::stablo_program_run_into(
            program,
            inputs.as_ptr().cast(),
            inputs.len(),
            outputs.as_ptr().cast(),
            outputs.len(),
            &mut error,
        );
        stablo_c::stablo_program_free(program);
        stablo_c::stablo_module_free(module);
        if is_done {
            return Ok(());
        }
        let message = CStr::from_ptr(error).to_str().unwrap().to_string();
        stablo_c::stablo_string_free(error);
        Err(message)
    }
}

/// The sum of two vectors, and the first of them backwards.
const TEXT: &str = "
  func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.add %x, %y : tensor<4xf32>
    %1 = stablehlo.reverse %x, dims = [0] : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }";

#[test]
fn outputs_may_overlap_inputs() {
    let mut memory = [1f32, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0];
    run(TEXT, &mut memory, &[0, 16], &[0, 16]).unwrap();
    assert_eq!(memory, [11.0, 22.0, 33.0, 44.0, 4.0, 3.0, 2.0, 1.0]);
    let mut memory = [0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    run(TEXT, &mut memory, &[4, 8], &[0, 24]).unwrap();
    assert_eq!(memory, [3.0, 5.0, 7.0, 9.0, 4.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
}

#[test]
fn mistakes_write_nothing() {
    let before = [1f32, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0, 0.0];
    let mut memory = before;
    let mut failure = |inputs: &[usize], outputs: &[usize]| {
        let error = run(TEXT, &mut memory, inputs, outputs).unwrap_err();
        assert_eq!(memory, before);
        error
    };
    assert_eq!(failure(&[0, 16], &[0, 12]), "outputs 0 and 1 overlap");
    assert!(failure(&[0, 16], &[0]).contains("found 1 output"));
    assert!(failure(&[0], &[0, 16]).contains("found 1"));
    let unaligned = failure(&[0, 16], &[2, 20]);
    assert_eq!(unaligned, "output 0: the memory is not aligned for elements of type f32");
}

#[test]
fn arrays_without_elements_are_anywhere() {
    for dtype in ["f64", "i1", "complex<f32>"] {
        let ty = format!("tensor<0x{dtype}>");
        let text = format!(
            "func.func @main(%x: {ty}) -> ({ty}, {ty}) {{
               %0 = stablehlo.reverse %x, dims = [0] : {ty}
               return %0, %x : {ty}, {ty}
             }}"
        );
        let mut memory = [0u64; 2];
        let start = memory.as_mut_ptr().cast();
        run_on(dtype, 0, &text, start, &[0], &[0, 3]).unwrap();
        run_on(dtype, 0, &text, null_mut(), &[0], &[0, 0]).unwrap();
    }
}

/// The other booleans are 0 and 1.
#[test]
fn any_byte_but_zero_is_true() {
    let text = "func.func @main(%x: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>) {
      %0 = stablehlo.not %x : tensor<4xi1>
      return %0, %x : tensor<4xi1>, tensor<4xi1>
    }";
    let mut memory = [0, 1, 2, 255, 9, 9, 9, 9, 9, 9, 9, 9];
    run_on("i1", 4, text, memory.as_mut_ptr(), &[0], &[4, 8]).unwrap();
    assert_eq!(memory, [0, 1, 2, 255, 1, 0, 0, 0, 0, 1, 1, 1]);
}
