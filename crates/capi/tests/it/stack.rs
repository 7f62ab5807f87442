//! Deeply nested programs are handled on small stacks.

#![allow(unsafe_code)] // functions for C; each block gives its reason

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
