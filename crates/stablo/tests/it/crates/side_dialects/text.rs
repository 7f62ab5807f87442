//! Programs print as upstream prints them, and verify.

use mlir::diag::{Source, render};
use mlir::ods::Registry;
use mlir::text::{ParseOptions, PrintOptions, parse, print_module};
use mlir::verify::{VerifyOptions, verify};
use side_dialects::DIALECTS;
use std::sync::{Arc, LazyLock};

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new(DIALECTS));

fn print(text: &str, options: &PrintOptions) -> Result<String, String> {
    let source = Arc::new(Source::new("<test>", text));
    let read = parse(source.clone(), &REGISTRY, ParseOptions::default());
    let mut errors = read.diagnostics;
    if errors.is_empty() {
        errors = verify(&read.module, &VerifyOptions::default());
    }
    match errors.is_empty() {
        true => Ok(print_module(&read.module, options)),
        false => Err(errors.iter().map(|e| render(e, Some(&source))).collect()),
    }
}

/// Each line of a function body, with the function's arguments, prints as itself; also after a
/// round trip through the generic form.
fn check_lines(arguments: &str, lines: &str) {
    let mut failures = String::new();
    for block in lines.split("\n\n").map(str::trim_end).filter(|b| !b.trim().is_empty()) {
        let block = block.trim_start_matches('\n');
        let expected =
            format!("module {{\n  func.func @f({arguments}) {{\n{block}\n    return\n  }}\n}}\n");
        let generic = PrintOptions { generic: true, ..PrintOptions::default() };
        let direct = print(&expected, &PrintOptions::default());
        let detour =
            print(&expected, &generic).and_then(|text| print(&text, &PrintOptions::default()));
        for (how, found) in [("directly", direct), ("by the generic form", detour)] {
            match found {
                Ok(found) if found == expected => {}
                Ok(found) => failures += &format!("{how}:\n{block}\nprints as\n{found}\n"),
                Err(errors) => failures += &format!("{how}:\n{block}\n{errors}\n"),
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn arith() {
    check_lines(
        "%arg0: i32, %arg1: f32, %arg2: i1, %arg3: tensor<2xf32>, %arg4: index, %arg5: tensor<2xi1>",
        "
    %0 = arith.cmpi slt, %arg0, %arg0 {x} : i32

    %0 = arith.cmpf ueq, %arg1, %arg1 fastmath<nnan,ninf> : f32

    %0 = arith.cmpf false, %arg3, %arg3 : tensor<2xf32>

    %0 = arith.addi %arg0, %arg0 overflow<nsw, nuw> {z} : i32

    %0 = arith.subi %arg4, %arg4 : index

    %0 = arith.addf %arg1, %arg1 fastmath<fast> : f32

    %0 = arith.mulf %arg3, %arg3 upward fastmath<reassoc,nnan,nsz,arcp,contract,afn> : tensor<2xf32>

    %0 = arith.select %arg2, %arg1, %arg1 {a} : f32

    %0 = arith.select %arg2, %arg3, %arg3 : tensor<2xf32>

    %0 = arith.select %arg5, %arg3, %arg3 : tensor<2xi1>, tensor<2xf32>

    %0 = arith.extf %arg1 fastmath<none> : f32 to f64

    %0 = arith.truncf %arg1 to_nearest_even fastmath<contract> {a} : f32 to bf16

    %0 = arith.trunci %arg0 overflow<nsw> : i32 to i8

    %0 = arith.extui %arg0 nneg : i32 to i64

    %0 = arith.extsi %arg0 : i32 to i64

    %0 = arith.divui %arg0, %arg0 exact : i32

    %0 = arith.negf %arg1 fastmath<fast> : f32

    %0 = arith.scaling_extf %arg1, %arg1 : f32, f32 to f64

    %0 = arith.index_castui %arg0 nneg : i32 to index

    %c5_i32 = arith.constant {a.b} 5 : i32

    %c-5_i64 = arith.constant -5 : i64

    %true = arith.constant true

    %c5 = arith.constant 5 : index

    %cst = arith.constant 5.000000e-01 : bf16

    %cst = arith.constant dense<[true, false]> : tensor<2xi1>",
    );
}

#[test]
fn func() {
    check_lines(
        "%arg0: i32",
        "
    %f = constant @f : (i32) -> ()

    call @f(%arg0) {a} : (i32) -> ()

    %f = constant @f : (i32) -> ()
    call_indirect %f(%arg0) {a.b} : (i32) -> ()",
    );
}

#[test]
fn shape() {
    check_lines(
        "%arg0: !shape.shape, %arg1: !shape.size, %arg2: index, %arg3: tensor<?xindex>, %arg4: tensor<2x?xf32>, \
         %arg5: !shape.value_shape, %arg6: !shape.witness, %arg7: i1",
        "
    %0 = shape.add %arg1, %arg1 : !shape.size, !shape.size -> !shape.size

    %0 = shape.max %arg1, %arg1 : !shape.size, !shape.size -> !shape.size

    %0 = shape.broadcast %arg0, %arg3 {error = \"x\"} : !shape.shape, tensor<?xindex> -> !shape.shape

    %0 = shape.concat %arg0, %arg0 : !shape.shape, !shape.shape -> !shape.shape

    %0 = shape.const_shape [1, 2] : tensor<2xindex>

    %0 = shape.const_shape [] : tensor<0xindex>

    %0 = shape.const_shape  {a = 1 : i64}[1, 2] : !shape.shape

    %c3 = shape.const_size 3

    %0 = shape.shape_eq %arg0, %arg0 : !shape.shape, !shape.shape

    %0 = shape.from_extents %arg2, %arg1 : index, !shape.size

    %0 = shape.from_extent_tensor %arg3 : tensor<?xindex>

    %0 = shape.is_broadcastable %arg0, %arg0 : !shape.shape, !shape.shape

    %0 = shape.rank %arg0 : !shape.shape -> !shape.size

    %0 = shape.to_extent_tensor %arg0 : !shape.shape -> tensor<?xindex>

    %0 = shape.dim %arg4, %arg2 : tensor<2x?xf32>, index -> index

    %0 = shape.get_extent %arg0, %arg1 : !shape.shape, !shape.size -> !shape.size

    %0 = shape.index_to_size %arg2

    %0 = shape.meet %arg0, %arg0, error = \"x\" : !shape.shape, !shape.shape -> !shape.shape

    %0 = shape.num_elements %arg0 : !shape.shape -> !shape.size

    %0 = shape.reduce(%arg3, %arg2) : tensor<?xindex> -> index {
    ^bb0(%arg8: index, %arg9: index, %arg10: index):
      shape.yield %arg10 : index
    }

    %0 = shape.shape_of %arg4 : tensor<2x?xf32> -> tensor<2xindex>

    %0 = shape.shape_of %arg5 : !shape.value_shape -> !shape.shape

    %0 = shape.value_of %arg5 : tensor<2xf32>

    %0 = shape.size_to_index %arg1 : !shape.size

    %0 = shape.value_as_shape %arg3 : tensor<?xindex> -> !shape.shape

    %0 = shape.with_shape %arg4, %arg0 : tensor<2x?xf32>, !shape.shape

    %0 = \"shape.debug_print\"(%arg0) : (!shape.shape) -> !shape.shape

    %0 = shape.any %arg0, %arg0 : !shape.shape, !shape.shape -> !shape.shape

    %0 = shape.assuming %arg6 -> (tensor<2x?xf32>) {
      shape.assuming_yield %arg4 : tensor<2x?xf32>
    }

    shape.assuming %arg6 {
    }

    %0 = shape.assuming_all %arg6, %arg6

    %0 = shape.cstr_broadcastable %arg0, %arg0 : !shape.shape, !shape.shape

    %0 = shape.cstr_eq %arg0, %arg0 : !shape.shape, !shape.shape

    %0 = shape.const_witness true

    %0 = shape.cstr_require %arg7, \"hello\"",
    );
}

#[test]
fn shape_functions() {
    let text = "module {
  shape.function_library @lib {
    func @same(%arg0: !shape.value_shape) -> !shape.shape {
      %0 = shape_of %arg0 : !shape.value_shape -> !shape.shape
      return %0 : !shape.shape
    }
  } mapping {foo.bar = @same}
}
";
    assert_eq!(print(text, &PrintOptions::default()).unwrap_or_else(|e| panic!("{e}")), text);
}

#[test]
fn tensor() {
    check_lines(
        "%arg0: tensor<2x?xf32>, %arg1: tensor<*xf32>, %arg2: index, %arg3: f32, %arg4: tensor<4x6xf32>, \
         %arg5: tensor<2xi32>, %arg6: tensor<1xf32>, %arg7: tensor<1xindex>",
        "
    %0 = tensor.bitcast %arg4 : tensor<4x6xf32> to tensor<4x6xi32>

    %cast = tensor.cast %arg4 {a} : tensor<4x6xf32> to tensor<?x?xf32>

    %concat = tensor.concat dim(0) %arg4, %arg4 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>

    %dim = tensor.dim %arg0, %arg2 : tensor<2x?xf32>

    %0 = tensor.empty(%arg2) : tensor<?x2xf32>

    %0 = tensor.empty() : tensor<2xf32, \"enc\">

    %extracted = tensor.extract %arg0[%arg2, %arg2] : tensor<2x?xf32>

    %extracted_slice = tensor.extract_slice %arg4[0, %arg2] [2, %arg2] [1, 1] : tensor<4x6xf32> to tensor<2x?xf32>

    %from_elements = tensor.from_elements %arg3, %arg3 : tensor<2xf32>

    %gather = tensor.gather %arg4[%arg7] gather_dims([0]) unique : (tensor<4x6xf32>, tensor<1xindex>) -> tensor<1x6xf32>

    %generated = tensor.generate %arg2 {
    ^bb0(%arg8: index, %arg9: index):
      tensor.yield %arg3 : f32
    } : tensor<2x?xf32>

    %inserted = tensor.insert %arg3 into %arg0[%arg2, %arg2] : tensor<2x?xf32>

    %inserted_slice = tensor.insert_slice %arg6 into %arg4[0, %arg2] [1, 1] [1, 1] : tensor<1xf32> into tensor<4x6xf32>

    %rank = tensor.rank %arg1 : tensor<*xf32>

    %reshape = tensor.reshape %arg4(%arg5) : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<6x4xf32>

    %expanded = tensor.expand_shape %arg4 [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf32> into tensor<2x2x6xf32>

    %expanded = tensor.expand_shape %arg0 [[0], [1, 2]] output_shape [2, %arg2, 6] : tensor<2x?xf32> into tensor<2x?x6xf32>

    %collapsed = tensor.collapse_shape %arg4 [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>

    %padded = tensor.pad %arg4 nofold low[%arg2, 1] high[1, 2] {
    ^bb0(%arg8: index, %arg9: index):
      tensor.yield %arg3 : f32
    } {a.b} : tensor<4x6xf32> to tensor<?x9xf32>

    %splat = tensor.splat %arg3 : tensor<8x16xf32>

    %splat = tensor.splat %arg3[%arg2] : tensor<8x?xf32>",
    );
}

#[test]
fn quant() {
    check_lines(
        "%arg0: tensor<2xf32>, %arg1: tensor<2x!quant.uniform<i8:f32, 1.000000e+00:17>>, \
         %arg2: !quant.uniform<ui8<1:200>:f32, 0.13170163023705575:-1>, \
         %arg3: tensor<2x!quant.uniform<i8:f32:0, {2.000000e+00,1.000000e-01:-30}>>, \
         %arg4: tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{2.000000e+00:10, 3.000000e+00:20}, {3.000000e+00:30, 4.000000e+00}}>>, \
         %arg5: !quant.any<i8<-8:7>:f32>, %arg6: !quant.any<u8>, \
         %arg7: !quant.uniform<u8<1:200>:f32, 1.000000e+00>, %arg8: !quant.calibrated<f32<-0.998:1.232100e+00>>",
        "
    %0 = quant.qcast %arg0 : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 1.000000e+00:17>>

    %0 = quant.dcast %arg1 : tensor<2x!quant.uniform<i8:f32, 1.000000e+00:17>> to tensor<2xf32>

    %0 = quant.scast %arg1 : tensor<2x!quant.uniform<i8:f32, 1.000000e+00:17>> to tensor<2xi8>",
    );
}

#[test]
fn check() {
    check_lines(
        "%arg0: tensor<2xf32>, %arg1: tensor<2xf32>",
        "
    check.expect_almost_eq_const %arg0, dense<[0.999998986, 2.000000e+00]> : tensor<2xf32>

    check.expect_almost_eq %arg0, %arg1, tolerance = 1.000000e-03 : tensor<2xf32>

    check.expect_eq_const %arg0, dense<1.000000e+00> : tensor<2xf32>

    check.expect_eq %arg0, %arg1 : tensor<2xf32>

    check.expect_close %arg0, %arg1, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>

    check.expect_close %arg0, %arg1, max_ulp_difference = 3, min_ulp_difference = 2 : tensor<2xf32>, tensor<2xf32>

    check.expect_serialized_eq %arg0, probe_id = \"probe0\", iter = 1 : tensor<2xf32>

    interpreter.print %arg0 : tensor<2xf32>

    %0 = interpreter.probe %arg0, probe_id = \"probe0\" : tensor<2xf32>",
    );
}

/// Each line is an attribute that prints as itself.
fn check_attributes(lines: &str) {
    for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
        match mlir::text::parse_attribute(line, &REGISTRY, ParseOptions::default()) {
            Ok(attribute) => assert_eq!(attribute.to_string(), line),
            Err(errors) => panic!("{line}: {}", errors[0].message),
        }
    }
}

#[test]
fn sdy_attributes() {
    check_attributes(
        r##"
        #sdy.mesh<["a"=2, "b"=4]>
        #sdy.mesh<[]>
        #sdy.mesh<[], device_ids=[3]>
        #sdy.mesh<["a"=2], device_ids=[1, 0]>
        #sdy.sharding<@mesh, [{"a"}, {}, {?}, {"b", ?}p1, {"a":(1)2, "c"}]>
        #sdy.sharding<@mesh, []>
        #sdy.sharding<@mesh, [{}], replicated={"c"}, unreduced={"a", "b":(2)4}>
        #sdy.sharding<@mesh, [], unreduced=max{"a"}>
        #sdy.sharding<@mesh, [], unreduced=min{"a"}>
        #sdy.sharding<mesh<["a"=2]>, [{"a"}]>
        #sdy.sharding_per_value<[<@mesh, [{"a"}]>, <@mesh, []>]>
        #sdy.sharding_per_value<[]>
        #sdy.op_sharding_rule<([i, j], [j])->([i]) {i=8, j=8}>
        #sdy.op_sharding_rule<([ij, k], [])->([i, jk]) {i=8, j=8, k=2} reduction={i} need_replication={k} permutation={j} blocked_propagation={i, j}, custom>
        #sdy.op_sharding_rule<([])->([])>
        #sdy<manual_axes{"a", "b"}>
        #sdy<manual_axes{}>
        #sdy<axis_ref"a":(1)2>
        #sdy<mesh_axis"a"=2>
        #sdy<dimension_sharding{"a", ?}p0>
        #sdy<list_of_axis_ref_lists[{"a"}, {}]>
        #sdy<axis_ref_list{"a", "b"}>
        #sdy<sub_axis_info(1)2>
        #sdy<tensor_mapping[i, j]>
        #sdy<all_to_all_param_list[{"b"}: 0->2, {"c"}: 1->3]>
        #sdy.propagation_edges<[{step-2 = [{"y" = operand-1 -> [operand-0, result-0]}]}, {step-0 = [{"x":(1)2 = result-0 -> [operand-0]}]}]>
        #mpmd.topology<<"m1" : <["x"=2, "y"=4]>>, <"m2" : <["x"=2], device_ids=[1, 0]>>>
        #mpmd.user_origin<"f"(2)>
        #mpmd.user_origin<"g">
        #mpmd.meshes_with_origins<"m1", "m2"["a", "b"]>
        #mpmd.meshes_with_origins<>
        #mpmd.reduction<max>
        "##,
    );
    let factors: Vec<String> = (0..20)
        .map(|i| if i < 18 { ((b'i' + i) as char).into() } else { format!("z_{}", i - 17) })
        .collect();
    let sizes: Vec<String> = factors.iter().map(|f| format!("{f}=2")).collect();
    check_attributes(&format!(
        "#sdy.op_sharding_rule<([{}])->([]) {{{}}}>",
        factors.concat(),
        sizes.join(", ")
    ));
}

#[test]
fn sdy() {
    let text = r#"module {
  sdy.mesh @mesh = <["a"=2, "b"=2, "c"=4, "d"=2]> {stablehlo.mesh = {axes = []}}
  sdy.mesh @mesh_0 {stablehlo.mesh = {axes = []}}
  func.func @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8x8xf32>, %arg4: tensor<8x8xf32>) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"a"}, {?}]> {x} : tensor<8x8xf32>
    %1 = sdy.reshard %arg0 <@mesh, [{"a"}, {?}]> : tensor<8x8xf32>
    sdy.sharding_group %arg0 group_id=21 : tensor<8x8xf32>
    %2 = sdy.constant {a.b} dense<1.000000e+00> : tensor<8x8xf32>
    %3 = sdy.all_gather [{"a"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %4 = sdy.all_slice [{"b"}, {}] %arg0 out_sharding=<@mesh, [{"a", "b"}, {}]> : tensor<8x8xf32>
    %5 = sdy.all_reduce {"b", "c":(1)2} %arg0 out_sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
    %6 = sdy.all_to_all [{"a"}: 0->1] %0 out_sharding=<@mesh, [{}, {"a"}]> : tensor<8x8xf32>
    %7 = sdy.collective_permute %0 out_sharding=<@mesh, [{"b"}, {}]> : tensor<8x8xf32>
    %8 = sdy.propagation_barrier %arg0 allowed_direction=NONE : tensor<8x8xf32>
    %9 = sdy.data_flow_edge %arg2 sharding=<@mesh, [{"a"}, {?}]> : tensor<8x8xf32>
    %10 = sdy.data_flow_edge %arg3 : tensor<8x8xf32>
    %11 = sdy.func_data_flow_edge %arg4 : tensor<8x8xf32>
    %12 = sdy.named_computation<"foo">(%arg0) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] (%arg5: tensor<8x8xf32>) {
      sdy.return %arg5 : tensor<8x8xf32>
    } {x.y} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.named_computation<"foo">() () {
      sdy.return
    } : () -> ()
    %13 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"a"}, {}]>, <@mesh, [{?}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%arg5: tensor<4x8xf32>, %arg6: tensor<8x8xf32>) {
      sdy.return %arg5 : tensor<4x8xf32>
    } {x} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
      sdy.return
    } : () -> ()
    return
  }
}
"#;
    let found = print(text, &PrintOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(found, text);
    let generic = PrintOptions { generic: true, ..PrintOptions::default() };
    let detour = print(text, &generic).and_then(|t| print(&t, &PrintOptions::default()));
    assert_eq!(detour.unwrap_or_else(|e| panic!("{e}")), text);
}

#[test]
fn branches() {
    let text = "module {
  func.func @f(%arg0: i1, %arg1: f32) -> f32 {
    cf.assert %arg0, \"so it is\"
    cf.cond_br %arg0, ^bb1(%arg1, %arg0 : f32, i1), ^bb2
  ^bb1(%0: f32, %1: i1):  // pred: ^bb0
    cf.br ^bb3(%0 : f32)
  ^bb2:  // 2 preds: ^bb0, ^bb2
    cf.cond_br %arg0 weights([1, 9]), ^bb3(%arg1 : f32), ^bb2 {x}
  ^bb3(%2: f32):  // 2 preds: ^bb1, ^bb2
    return %2 : f32
  }
}
";
    assert_eq!(print(text, &PrintOptions::default()).as_deref(), Ok(text));
    let generic = PrintOptions { generic: true, ..PrintOptions::default() };
    let detour = print(text, &generic).and_then(|t| print(&t, &PrintOptions::default()));
    assert_eq!(detour.as_deref(), Ok(text));
}

#[test]
fn buffers() {
    check_lines(
        "%arg0: memref<2xf32>, %arg1: tensor<2xf32>, %arg2: memref<*xf32>, %arg3: i8",
        "
    %0 = memref.cast %arg0 : memref<2xf32> to memref<?xf32>

    %0 = memref.cast %arg2 {x} : memref<*xf32> to memref<f32>

    %0 = bufferization.to_tensor %arg0 : memref<2xf32> to tensor<2xf32>

    %0 = bufferization.to_tensor %arg0 restrict writable {x} : memref<2xf32> to tensor<2xf32>

    %0 = bufferization.to_buffer %arg1 read_only : tensor<2xf32> to memref<2xf32>

    %0 = llvm.add %arg3, %arg3 : i8",
    );
}

#[test]
fn sparse_encodings_print_under_aliases_and_fit_the_rank() {
    let text = "#sparse = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed(nonunique)), crdWidth = 32 }>\n\
                module {\n  func.func private @f(tensor<2x3xf32, #sparse>)\n}\n";
    assert_eq!(print(text, &PrintOptions::default()).as_deref(), Ok(text));
    let of_rank_1 = text.replace("2x3", "3");
    let message =
        print(&of_rank_1, &PrintOptions::default()).expect_err("the map has two dimensions");
    assert!(message.contains("maps 2 dimensions; the tensor has 1"), "{message}");
}
