// Shape arithmetic as exporters write it: shape, arith and tensor ops mixed with StableHLO.
// RUN: stablehlo-translate --interpret --split-input-file %s

func.func @outer_sum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %nx = tensor.dim %x, %c0 : tensor<?xf32>
  %ny = tensor.dim %y, %c0 : tensor<?xf32>
  %shape = tensor.from_elements %nx, %ny : tensor<2xindex>
  %a = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %b = stablehlo.dynamic_broadcast_in_dim %y, %shape, dims = [1] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %0 = stablehlo.add %a, %b : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = stablehlo.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %dx = tensor.cast %x : tensor<2xf32> to tensor<?xf32>
  %dy = tensor.cast %y : tensor<3xf32> to tensor<?xf32>
  %0 = func.call @outer_sum(%dx, %dy) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<2x3xf32>
  check.expect_eq_const %1, dense<[[11.0, 21.0, 31.0], [12.0, 22.0, 32.0]]> : tensor<2x3xf32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<0.0> : tensor<2x1x4xf32>
  %s = shape.shape_of %x : tensor<2x1x4xf32> -> tensor<3xindex>
  %t = shape.const_shape [5, 1] : tensor<2xindex>
  %w = shape.cstr_broadcastable %s, %t : tensor<3xindex>, tensor<2xindex>
  %b = shape.assuming %w -> (tensor<3xindex>) {
    %1 = shape.broadcast %s, %t : tensor<3xindex>, tensor<2xindex> -> tensor<3xindex>
    shape.assuming_yield %1 : tensor<3xindex>
  }
  %i = arith.index_cast %b : tensor<3xindex> to tensor<3xi64>
  check.expect_eq_const %i, dense<[2, 5, 4]> : tensor<3xi64>
  %n = shape.num_elements %b : tensor<3xindex> -> index
  %c = tensor.from_elements %n : tensor<1xindex>
  %j = arith.index_cast %c : tensor<1xindex> to tensor<1xi32>
  check.expect_eq_const %j, dense<[40]> : tensor<1xi32>
  return
}

// -----

// Signedness belongs to the ops: -1 is 255 for unsigned ones.
func.func @main() {
  %a = arith.constant dense<[-1, 7, -7, -128]> : tensor<4xi8>
  %b = arith.constant dense<[2, 2, 2, -1]> : tensor<4xi8>
  %0 = arith.divsi %a, %b : tensor<4xi8>
  check.expect_eq_const %0, dense<[0, 3, -3, -128]> : tensor<4xi8>
  %1 = arith.divui %a, %b : tensor<4xi8>
  check.expect_eq_const %1, dense<[127, 3, 124, 0]> : tensor<4xi8>
  %2 = arith.floordivsi %a, %b : tensor<4xi8>
  check.expect_eq_const %2, dense<[-1, 3, -4, -128]> : tensor<4xi8>
  %3 = arith.ceildivsi %a, %b : tensor<4xi8>
  check.expect_eq_const %3, dense<[0, 4, -3, -128]> : tensor<4xi8>
  %4 = arith.maxui %a, %b : tensor<4xi8>
  check.expect_eq_const %4, dense<[-1, 7, -7, -1]> : tensor<4xi8>
  %5 = arith.cmpi ult, %b, %a : tensor<4xi8>
  check.expect_eq_const %5, dense<[true, true, true, false]> : tensor<4xi1>
  %6 = arith.extui %a : tensor<4xi8> to tensor<4xi32>
  check.expect_eq_const %6, dense<[255, 7, 249, 128]> : tensor<4xi32>
  %7 = arith.extsi %5 : tensor<4xi1> to tensor<4xi8>
  check.expect_eq_const %7, dense<[-1, -1, -1, 0]> : tensor<4xi8>
  %8 = arith.select %5, %a, %b : tensor<4xi1>, tensor<4xi8>
  check.expect_eq_const %8, dense<[-1, 7, -7, -1]> : tensor<4xi8>
  %9 = arith.shrui %a, %b : tensor<4xi8>
  check.expect_eq_const %9, dense<[63, 1, 62, 0]> : tensor<4xi8>
  %10 = arith.uitofp %a : tensor<4xi8> to tensor<4xf32>
  check.expect_eq_const %10, dense<[255.0, 7.0, 249.0, 128.0]> : tensor<4xf32>
  %11 = arith.fptosi %10 : tensor<4xf32> to tensor<4xi16>
  check.expect_eq_const %11, dense<[255, 7, 249, 128]> : tensor<4xi16>
  return
}

// -----

func.func @main() {
  %nan = arith.constant 0x7FC00000 : f32
  %one = arith.constant 1.0 : f32
  %0 = arith.maxnumf %nan, %one : f32
  %1 = arith.maximumf %nan, %one : f32
  %2 = arith.cmpf ult, %nan, %one : f32
  %3 = arith.cmpf olt, %nan, %one : f32
  %4 = tensor.from_elements %0, %1 : tensor<2xf32>
  check.expect_eq_const %4, dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %5 = tensor.from_elements %2, %3 : tensor<2xi1>
  check.expect_eq_const %5, dense<[true, false]> : tensor<2xi1>
  return
}

// -----

func.func @main() {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : i64
  %0 = tensor.extract_slice %x[0, 1] [2, %c1] [1, 1] : tensor<2x3xi64> to tensor<2x?xi64>
  %1 = tensor.cast %0 : tensor<2x?xi64> to tensor<2x1xi64>
  check.expect_eq_const %1, dense<[[2], [5]]> : tensor<2x1xi64>
  %2 = tensor.insert %c7 into %x[%c1, %c0] : tensor<2x3xi64>
  %3 = tensor.extract %2[%c1, %c0] : tensor<2x3xi64>
  %4 = tensor.splat %3 : tensor<2xi64>
  check.expect_eq_const %4, dense<7> : tensor<2xi64>
  %5 = tensor.collapse_shape %2 [[0, 1]] : tensor<2x3xi64> into tensor<6xi64>
  check.expect_eq_const %5, dense<[1, 2, 3, 7, 5, 6]> : tensor<6xi64>
  %6 = tensor.generate {
  ^bb0(%i: index):
    %e = tensor.extract %5[%i] : tensor<6xi64>
    %d = arith.addi %e, %c7 : i64
    tensor.yield %d : i64
  } : tensor<3xi64>
  check.expect_eq_const %6, dense<[8, 9, 10]> : tensor<3xi64>
  %7 = tensor.pad %6 low[1] high[%c1] {
  ^bb0(%i: index):
    tensor.yield %c7 : i64
  } : tensor<3xi64> to tensor<?xi64>
  %8 = tensor.cast %7 : tensor<?xi64> to tensor<5xi64>
  check.expect_eq_const %8, dense<[7, 8, 9, 10, 7]> : tensor<5xi64>
  %9 = tensor.concat dim(0) %6, %4 : (tensor<3xi64>, tensor<2xi64>) -> tensor<5xi64>
  check.expect_eq_const %9, dense<[8, 9, 10, 7, 7]> : tensor<5xi64>
  %10 = tensor.insert_slice %4 into %9[1] [2] [2] : tensor<2xi64> into tensor<5xi64>
  check.expect_eq_const %10, dense<[8, 7, 10, 7, 7]> : tensor<5xi64>
  return
}
