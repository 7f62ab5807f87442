//! `canonicalize` on ops of shape, arith, tensor and CHLO. Expected programs follow from
//! arithmetic, and agree with upstream.

use super::common::passed;

/// Asserts that `before` is canonicalized to `after`. Both are module bodies.
#[track_caller]
fn becomes(before: &str, after: &str) {
    let found = passed(before, "canonicalize");
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|l| l.trim().to_string()).filter(|l| !l.is_empty()).collect()
    };
    let expected = lines(&format!("module {{\n{after}\n}}"));
    assert_eq!(lines(&found), expected, "found:\n{found}");
}

#[test]
fn integers() {
    becomes(
        "func.func @main(%i: index) -> (index, index, index, index, i32) {
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %c3 = arith.constant 3 : index
            %a = arith.addi %c0, %i : index
            %b = arith.muli %c1, %i : index
            %c = arith.muli %c0, %i : index
            %d = arith.addi %c1, %c3 : index
            %e = arith.index_cast %c3 : index to i32
            return %a, %b, %c, %d, %e : index, index, index, index, i32
        }",
        "func.func @main(%arg0: index) -> (index, index, index, index, i32) {
            %c0 = arith.constant 0 : index
            %c4 = arith.constant 4 : index
            %c3_i32 = arith.constant 3 : i32
            return %arg0, %arg0, %c0, %c4, %c3_i32 : index, index, index, index, i32
        }",
    );
}

#[test]
fn floats_keep_the_sign_of_zero() {
    becomes(
        "func.func @main(%x: f32) -> (f32, f32, i1) {
            %zero = arith.constant 0.0 : f32
            %c = arith.constant 1.5 : f32
            %square = arith.mulf %c, %c : f32
            %less = arith.cmpf olt, %zero, %square : f32
            %sum = arith.addf %x, %zero : f32
            return %sum, %square, %less : f32, f32, i1
        }",
        "func.func @main(%arg0: f32) -> (f32, f32, i1) {
            %cst = arith.constant 0.000000e+00 : f32
            %cst_0 = arith.constant 2.250000e+00 : f32
            %true = arith.constant true
            %0 = arith.addf %arg0, %cst : f32
            return %0, %cst_0, %true : f32, f32, i1
        }",
    );
}

/// A cast of an index to 32 bits may truncate, so casting back is not a no-op.
#[test]
fn casts_that_lose_bits_stay() {
    becomes(
        "func.func @main(%i: index, %n: i32) -> (index, i32) {
            %narrow = arith.index_cast %i : index to i32
            %back = arith.index_cast %narrow : i32 to index
            %wide = arith.index_cast %n : i32 to index
            %same = arith.index_cast %wide : index to i32
            return %back, %same : index, i32
        }",
        "func.func @main(%arg0: index, %arg1: i32) -> (index, i32) {
            %0 = arith.index_cast %arg0 : index to i32
            %1 = arith.index_cast %0 : i32 to index
            return %1, %arg1 : index, i32
        }",
    );
}

#[test]
fn shapes_that_types_tell() {
    becomes(
        "func.func @main(%x: tensor<2x3xf32>, %y: tensor<?x3xf32>) -> (tensor<2xindex>, !shape.shape, index, index, index, index) {
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %s = shape.shape_of %x : tensor<2x3xf32> -> tensor<2xindex>
            %t = shape.shape_of %x : tensor<2x3xf32> -> !shape.shape
            %n = shape.num_elements %s : tensor<2xindex> -> index
            %d = tensor.dim %y, %c1 : tensor<?x3xf32>
            %u = shape.shape_of %y : tensor<?x3xf32> -> tensor<2xindex>
            %e = tensor.extract %u[%c0] : tensor<2xindex>
            %r = shape.rank %u : tensor<2xindex> -> index
            return %s, %t, %n, %d, %e, %r : tensor<2xindex>, !shape.shape, index, index, index, index
        }",
        "func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<?x3xf32>) -> (tensor<2xindex>, !shape.shape, index, index, index, index) {
            %c2 = arith.constant 2 : index
            %c0 = arith.constant 0 : index
            %0 = shape.const_shape [2, 3] : tensor<2xindex>
            %1 = shape.const_shape [2, 3] : !shape.shape
            %c6 = arith.constant 6 : index
            %c3 = arith.constant 3 : index
            %dim = tensor.dim %arg1, %c0 : tensor<?x3xf32>
            return %0, %1, %c6, %c3, %dim, %c2 : tensor<2xindex>, !shape.shape, index, index, index, index
        }",
    );
}

#[test]
fn what_is_assumed_and_holds_goes() {
    becomes(
        "func.func @main(%x: tensor<?x8xf32>, %y: tensor<1xf32>, %w: !shape.witness) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
            %s = shape.shape_of %x : tensor<?x8xf32> -> tensor<2xindex>
            %t = shape.shape_of %y : tensor<1xf32> -> tensor<1xindex>
            %c = shape.cstr_broadcastable %s, %t, %s : tensor<2xindex>, tensor<1xindex>, tensor<2xindex>
            %r:2 = shape.assuming %c -> (tensor<?x8xf32>, tensor<2xindex>) {
                %z = stablehlo.add %x, %x : tensor<?x8xf32>
                shape.assuming_yield %z, %s : tensor<?x8xf32>, tensor<2xindex>
            }
            %all = shape.assuming_all %w, %c
            %q:2 = shape.assuming %all -> (tensor<?x8xf32>, tensor<2xindex>) {
                %z = stablehlo.multiply %x, %x : tensor<?x8xf32>
                shape.assuming_yield %z, %s : tensor<?x8xf32>, tensor<2xindex>
            }
            return %r#0, %q#0 : tensor<?x8xf32>, tensor<?x8xf32>
        }",
        "func.func @main(%arg0: tensor<?x8xf32>, %arg1: tensor<1xf32>, %arg2: !shape.witness) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
            %0 = stablehlo.add %arg0, %arg0 : tensor<?x8xf32>
            %1 = shape.assuming %arg2 -> (tensor<?x8xf32>) {
                %2 = stablehlo.multiply %arg0, %arg0 : tensor<?x8xf32>
                shape.assuming_yield %2 : tensor<?x8xf32>
            }
            return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
        }",
    );
}

/// A dynamic size may be anything, so it is only compatible with 1; and sizes 2 and 3 never are.
#[test]
fn constraints_that_may_fail_stay() {
    let stays = |x: &str, y: &str| {
        let text = format!(
            "func.func @main(%arg0: tensor<{x}xf32>, %arg1: tensor<{y}xf32>) -> !shape.witness {{
                %0 = shape.shape_of %arg0 : tensor<{x}xf32> -> tensor<1xindex>
                %1 = shape.shape_of %arg1 : tensor<{y}xf32> -> tensor<1xindex>
                %2 = shape.cstr_broadcastable %0, %1 : tensor<1xindex>, tensor<1xindex>
                return %2 : !shape.witness
            }}"
        );
        passed(&text, "canonicalize").contains("shape.cstr_broadcastable")
    };
    assert!(stays("?", "?") && stays("?", "2") && stays("2", "3"));
    assert!(!stays("?", "1") && !stays("2", "2"));
}

#[test]
fn broadcasts_of_several_constants() {
    becomes(
        "func.func @main(%x: tensor<2x?x8xf32>) -> (tensor<?xindex>, tensor<3xindex>) {
            %s = shape.shape_of %x : tensor<2x?x8xf32> -> tensor<3xindex>
            %c = shape.const_shape [1] : tensor<1xindex>
            %d = shape.const_shape [2, 8, 1] : tensor<3xindex>
            %e = shape.const_shape [] : tensor<0xindex>
            %b = shape.broadcast %c, %s, %d, %e, %s : tensor<1xindex>, tensor<3xindex>, tensor<3xindex>, tensor<0xindex>, tensor<3xindex> -> tensor<?xindex>
            %f = shape.broadcast %e, %s : tensor<0xindex>, tensor<3xindex> -> tensor<3xindex>
            return %b, %f : tensor<?xindex>, tensor<3xindex>
        }",
        "func.func @main(%arg0: tensor<2x?x8xf32>) -> (tensor<?xindex>, tensor<3xindex>) {
            %0 = shape.const_shape [2, 8, 1] : tensor<3xindex>
            %1 = shape.shape_of %arg0 : tensor<2x?x8xf32> -> tensor<3xindex>
            %2 = shape.broadcast %1, %0 : tensor<3xindex>, tensor<3xindex> -> tensor<3xindex>
            %cast = tensor.cast %2 : tensor<3xindex> to tensor<?xindex>
            return %cast, %1 : tensor<?xindex>, tensor<3xindex>
        }",
    );
}

#[test]
fn elements_of_what_is_made_of_elements() {
    becomes(
        "func.func @main(%i: index) -> (index, tensor<2xindex>, index) {
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %t = tensor.from_elements %i, %c1 : tensor<2xindex>
            %e = tensor.extract %t[%c0] : tensor<2xindex>
            %u = tensor.from_elements %c0, %c1 : tensor<2xindex>
            %f = tensor.extract %u[%c1] : tensor<2xindex>
            return %e, %u, %f : index, tensor<2xindex>, index
        }",
        "func.func @main(%arg0: index) -> (index, tensor<2xindex>, index) {
            %cst = arith.constant dense<[0, 1]> : tensor<2xindex>
            %c1 = arith.constant 1 : index
            return %arg0, %cst, %c1 : index, tensor<2xindex>, index
        }",
    );
}

#[test]
fn constants_like_values_of_known_shape() {
    becomes(
        r#"func.func @main(%x: tensor<?xf32>, %y: tensor<2x3xf32>) -> (tensor<?xf32>, tensor<2x3xf32>) {
            %0 = "chlo.constant_like"(%x) <{value = 1.5 : f32}> : (tensor<?xf32>) -> tensor<?xf32>
            %1 = "chlo.constant_like"(%y) <{value = 1.5 : f32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
            return %0, %1 : tensor<?xf32>, tensor<2x3xf32>
        }"#,
        r#"func.func @main(%arg0: tensor<?xf32>, %arg1: tensor<2x3xf32>) -> (tensor<?xf32>, tensor<2x3xf32>) {
            %0 = chlo.constant dense<1.500000e+00> : tensor<2x3xf32>
            %1 = "chlo.constant_like"(%arg0) <{value = 1.500000e+00 : f32}> : (tensor<?xf32>) -> tensor<?xf32>
            return %1, %0 : tensor<?xf32>, tensor<2x3xf32>
        }"#,
    );
}

/// A check that fails at run time is not folded away, and does not stop other folding.
#[test]
fn what_does_not_hold_stays() {
    let text = r#"func.func @main() -> (!shape.witness, index) {
        %c = arith.constant false
        %i = arith.constant 5 : index
        %s = shape.const_shape [2, 3] : tensor<2xindex>
        %w = shape.cstr_require %c, "no"
        %g = shape.get_extent %s, %i : tensor<2xindex>, index -> index
        return %w, %g : !shape.witness, index
    }"#;
    let found = passed(text, "canonicalize");
    assert!(found.contains("shape.cstr_require") && found.contains("shape.get_extent"), "{found}");
}
