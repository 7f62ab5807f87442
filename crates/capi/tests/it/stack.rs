//! Programs are handled on threads with small stacks.

#![allow(unsafe_code, reason = "functions for C; each block gives its reason")]

use std::ffi::{CStr, c_char};
use std::ptr::null_mut;

/// 250 regions in one another: more than a stack of 512 KB has room for.
#[test]
fn nested_regions_fit_on_small_stacks() {
    let mut text = "func.func @main(%c: tensor<i1>) {\n".to_string();
    for _ in 0..250 {
        text += "\"stablehlo.if\"(%c) ({\n";
    }
    for _ in 0..250 {
        let end = "\"stablehlo.return\"() : () -> ()";
        text += &format!("{end}\n}}, {{\n{end}\n}}) : (tensor<i1>) -> ()\n");
    }
    text += "return\n}\n";
    let run = move || {
        let mut error: *mut c_char = null_mut();
        // SAFETY: there are so many bytes, and `error` may be written.
        let module = unsafe {
            stablo_c::stablo_load(text.as_ptr(), text.len(), std::ptr::null(), &mut error)
        };
        assert!(!module.is_null());
        // SAFETY: the module lives until it is freed, which happens once; so with the texts.
        unsafe {
            assert!(stablo_c::stablo_verify(module, &mut error));
            let printed = stablo_c::stablo_to_text(module, false);
            assert!(CStr::from_ptr(printed).to_bytes().len() > text.len());
            stablo_c::stablo_string_free(printed);
            let pipeline = c"canonicalize";
            assert!(stablo_c::stablo_run_pipeline(module, pipeline.as_ptr(), &mut error));
            let (mut data, mut size) = (null_mut(), 0);
            let target = std::ptr::null();
            assert!(stablo_c::stablo_serialize(module, target, &mut data, &mut size, &mut error));
            stablo_c::stablo_bytes_free(data, size);
            stablo_c::stablo_module_free(module);
        }
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap().join().unwrap();
}

/// A thread with the stack that the header asks for loads, prepares and runs programs.
#[test]
fn small_stacks_suffice() {
    const STACK: usize = 64 << 10;
    let header = include_str!("../../include/stablo.h");
    assert!(header.contains(&format!("need {} KB of stack", STACK >> 10)));
    let body = "%1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
        %2 = stablehlo.exponential %1 : tensor<8x8xf32>
        %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
        %4 = stablehlo.fft %3, type = RFFT, length = [8] : (tensor<8x8xf32>) -> tensor<8x5xcomplex<f32>>
        %5:2 = \"stablehlo.sort\"(%2, %3) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
          %6 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %6 : tensor<i1>
        }) {dimension = 1 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)";
    let text = format!(
        "func.func @main() -> (tensor<8x8xf32>, tensor<8x5xcomplex<f32>>) {{
        %0 = stablehlo.iota dim = 1 : tensor<8x8xf32>
        %x = stablehlo.cosine %0 : tensor<8x8xf32>
        {body}
        return %5#1, %4 : tensor<8x8xf32>, tensor<8x5xcomplex<f32>>
        }}"
    );
    let run = move || {
        let mut error: *mut c_char = null_mut();
        // SAFETY: the bytes are there, `error` may be written, and what is returned is freed once.
        unsafe {
            let module =
                stablo_c::stablo_load(text.as_ptr(), text.len(), std::ptr::null(), &mut error);
            assert!(!module.is_null());
            let null = std::ptr::null();
            let program = stablo_c::stablo_prepare(module, null, std::ptr::null(), &mut error);
            assert!(!program.is_null());
            for _ in 0..3 {
                let (mut outputs, mut count) = (null_mut(), 0);
                assert!(stablo_c::stablo_program_run(
                    program,
                    std::ptr::null(),
                    0,
                    &mut outputs,
                    &mut count,
                    &mut error
                ));
                assert_eq!(count, 2);
                stablo_c::stablo_arrays_free(outputs, count);
            }
            stablo_c::stablo_program_free(program);
            stablo_c::stablo_module_free(module);
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(run).unwrap().join().unwrap();
}
