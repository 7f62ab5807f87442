// RUN: stablo run %s --entry diagonal --input iota | FileCheck %s --check-prefix=DIAGONAL
// RUN: stablo run %s --entry diagonal --input iota --engine reference | FileCheck %s --check-prefix=DIAGONAL
// RUN: stablo run %s --entry below --input iota | FileCheck %s --check-prefix=BELOW
// RUN: stablo run %s --entry below --input iota --engine reference | FileCheck %s --check-prefix=BELOW
// RUN: stablo run %s --entry wrapped --input iota | FileCheck %s --check-prefix=WRAPPED
// RUN: stablo run %s --entry wrapped --input iota --engine reference | FileCheck %s --check-prefix=WRAPPED
// RUN: stablo run %s --entry unsigned --input iota | FileCheck %s --check-prefix=UNSIGNED
// RUN: stablo run %s --entry unsigned --input iota --engine reference | FileCheck %s --check-prefix=UNSIGNED
// RUN: stablo run %s --entry ends --input iota | FileCheck %s --check-prefix=ENDS
// RUN: stablo run %s --entry ends --input iota --engine reference | FileCheck %s --check-prefix=ENDS
// RUN: stablo run %s --entry far --input iota | FileCheck %s --check-prefix=FAR
// RUN: stablo run %s --entry far --input iota --engine reference | FileCheck %s --check-prefix=FAR
// RUN: stablo run %s --entry transposed --input iota | FileCheck %s --check-prefix=TRANSPOSED
// RUN: stablo run %s --entry transposed --input iota --engine reference | FileCheck %s --check-prefix=TRANSPOSED
// RUN: stablo run %s --entry batches --input iota | FileCheck %s --check-prefix=BATCHES
// RUN: stablo run %s --entry batches --input iota --engine reference | FileCheck %s --check-prefix=BATCHES

// Gathers at indices that count evenly, as both engines compute them: results by the formula of the
// specification, which moves starts into the operand.

// Index vectors of two progressions.
// DIAGONAL: {{\[}}0, 5, 10, 15]
func.func @diagonal(%x: tensor<4x4xi32>) -> tensor<4xi32> {
  %i = stablehlo.iota dim = 0 : tensor<4x1xi64>
  %ij = stablehlo.concatenate %i, %i, dim = 1 : (tensor<4x1xi64>, tensor<4x1xi64>) -> tensor<4x2xi64>
  %g = "stablehlo.gather"(%x, %ij) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xi32>, tensor<4x2xi64>) -> tensor<4xi32>
  return %g : tensor<4xi32>
}

// Starts below zero are moved to zero.
// BELOW: {{\[}}0, 0, 0, 1, 2]
func.func @below(%x: tensor<7xi32>) -> tensor<5xi32> {
  %i = stablehlo.iota dim = 0 : tensor<5x1xi64>
  %two = stablehlo.constant dense<2> : tensor<5x1xi64>
  %less = stablehlo.subtract %i, %two : tensor<5x1xi64>
  %g = "stablehlo.gather"(%x, %less) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<7xi32>, tensor<5x1xi64>) -> tensor<5xi32>
  return %g : tensor<5xi32>
}

// Twice 64 is -128 in i8, which is moved to zero.
// WRAPPED: {{\[}}124, 126, 0, 0, 0]
func.func @wrapped(%x: tensor<200xi32>) -> tensor<5xi32> {
  %i = stablehlo.iota dim = 0 : tensor<100x1xi8>
  %two = stablehlo.constant dense<2> : tensor<100x1xi8>
  %twice = stablehlo.multiply %i, %two : tensor<100x1xi8>
  %g = "stablehlo.gather"(%x, %twice) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<200xi32>, tensor<100x1xi8>) -> tensor<100xi32>
  %some = stablehlo.slice %g [62:67] : (tensor<100xi32>) -> tensor<5xi32>
  return %some : tensor<5xi32>
}

// Numbers of ui64.
// UNSIGNED: {{\[}}1, 2, 3, 4, 5]
func.func @unsigned(%x: tensor<7xi32>) -> tensor<5xi32> {
  %i = stablehlo.iota dim = 0 : tensor<5x1xui64>
  %one = stablehlo.constant dense<1> : tensor<5x1xui64>
  %next = stablehlo.add %i, %one : tensor<5x1xui64>
  %g = "stablehlo.gather"(%x, %next) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<7xi32>, tensor<5x1xui64>) -> tensor<5xi32>
  return %g : tensor<5xi32>
}

// The last start of a slice of three elements, and one after it.
// ENDS: {{\[}}3, 4, 5, 4, 5, 6, 4, 5, 6, 4, 5, 6]
func.func @ends(%x: tensor<7xi32>) -> tensor<12xi32> {
  %i = stablehlo.iota dim = 0 : tensor<2x1xi64>
  %three = stablehlo.constant dense<3> : tensor<2x1xi64>
  %four = stablehlo.constant dense<4> : tensor<2x1xi64>
  %last = stablehlo.add %i, %three : tensor<2x1xi64>
  %beyond = stablehlo.add %i, %four : tensor<2x1xi64>
  %a = "stablehlo.gather"(%x, %last) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 3>}> : (tensor<7xi32>, tensor<2x1xi64>) -> tensor<2x3xi32>
  %b = "stablehlo.gather"(%x, %beyond) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 3>}> : (tensor<7xi32>, tensor<2x1xi64>) -> tensor<2x3xi32>
  %g = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<4x3xi32>
  %flat = stablehlo.reshape %g : (tensor<4x3xi32>) -> tensor<12xi32>
  return %flat : tensor<12xi32>
}

// A progression whose steps have a sum beyond i64.
// FAR: {{\[}}0, 0, 0, 6]
func.func @far(%x: tensor<7xi32>) -> tensor<4xi32> {
  %i = stablehlo.constant dense<[[-9223372036854775808, -2305843009213693952], [-2305843009213693952, 4611686018427387904]]> : tensor<2x2xi64>
  %g = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1>}> : (tensor<7xi32>, tensor<2x2xi64>) -> tensor<2x2xi32>
  %flat = stablehlo.reshape %g : (tensor<2x2xi32>) -> tensor<4xi32>
  return %flat : tensor<4xi32>
}

// An operand that is a view itself.
// TRANSPOSED: {{\[}}3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8]
func.func @transposed(%x: tensor<3x4xi32>) -> tensor<12xi32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4xi32>) -> tensor<4x3xi32>
  %i = stablehlo.iota dim = 0 : tensor<4x1xi64>
  %three = stablehlo.constant dense<3> : tensor<4x1xi64>
  %back = stablehlo.subtract %three, %i : tensor<4x1xi64>
  %g = "stablehlo.gather"(%t, %back) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xi32>, tensor<4x1xi64>) -> tensor<4x3xi32>
  %flat = stablehlo.reshape %g : (tensor<4x3xi32>) -> tensor<12xi32>
  return %flat : tensor<12xi32>
}

// Batching dimensions.
// BATCHES: {{\[}}0, 1, 4, 5, 8, 9]
func.func @batches(%x: tensor<3x4xi32>) -> tensor<6xi32> {
  %i = stablehlo.iota dim = 1 : tensor<3x2x1xi64>
  %g = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xi32>, tensor<3x2x1xi64>) -> tensor<3x2xi32>
  %flat = stablehlo.reshape %g : (tensor<3x2xi32>) -> tensor<6xi32>
  return %flat : tensor<6xi32>
}
