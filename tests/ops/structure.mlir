// RUN: stablehlo-translate --interpret --split-input-file %s

// The branch of the index; the last one for any index out of range.
func.func @main() {
  %index = stablehlo.constant dense<1> : tensor<i32>
  %beyond = stablehlo.constant dense<-1> : tensor<i32>
  %a = stablehlo.constant dense<10> : tensor<i64>
  %b = stablehlo.constant dense<20> : tensor<i64>
  %c = stablehlo.constant dense<30> : tensor<i64>
  %second = "stablehlo.case"(%index) ({
    stablehlo.return %a : tensor<i64>
  }, {
    stablehlo.return %b : tensor<i64>
  }, {
    stablehlo.return %c : tensor<i64>
  }) : (tensor<i32>) -> tensor<i64>
  %last = "stablehlo.case"(%beyond) ({
    stablehlo.return %a : tensor<i64>
  }, {
    stablehlo.return %c : tensor<i64>
  }) : (tensor<i32>) -> tensor<i64>
  check.expect_eq_const %second, dense<20> : tensor<i64>
  check.expect_eq_const %last, dense<30> : tensor<i64>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = stablehlo.constant dense<true> : tensor<i1>
  %pair = stablehlo.tuple %x, %y : tuple<tensor<2xi32>, tensor<i1>>
  %first = stablehlo.get_tuple_element %pair[0] : (tuple<tensor<2xi32>, tensor<i1>>) -> tensor<2xi32>
  check.expect_eq_const %first, dense<[1, 2]> : tensor<2xi32>
  return
}

// -----

// Tokens order what has effects; they are no data.
func.func @main() {
  %a = stablehlo.create_token : !stablehlo.token
  %b = stablehlo.create_token : !stablehlo.token
  %both = stablehlo.after_all %a, %b : !stablehlo.token
  return
}

// -----

// Solves a * x = b for a lower triangular a: 2x = 4 and x + 4y = 10.
func.func @main() {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf64>
  %b = stablehlo.constant dense<[[4.0], [10.0]]> : tensor<2x1xf64>
  %x = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  check.expect_eq_const %x, dense<[[2.0], [2.0]]> : tensor<2x1xf64>
  return
}

// -----

// Sizes that are values.
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %reshaped = stablehlo.dynamic_reshape %x, %shape : (tensor<2x3xi64>, tensor<2xi64>) -> tensor<3x2xi64>
  check.expect_eq_const %reshaped, dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %v = stablehlo.constant dense<[7, 8]> : tensor<2xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %low = stablehlo.constant dense<1> : tensor<1xi64>
  %high = stablehlo.constant dense<2> : tensor<1xi64>
  %interior = stablehlo.constant dense<1> : tensor<1xi64>
  %padded = stablehlo.dynamic_pad %v, %zero, %low, %high, %interior
    : (tensor<2xi64>, tensor<i64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6xi64>
  check.expect_eq_const %padded, dense<[0, 7, 0, 8, 0, 0]> : tensor<6xi64>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %transposed = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi64>) -> tensor<3x2xi64>
  check.expect_eq_const %transposed, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi64>
  %reversed = stablehlo.reverse %x, dims = [1] : tensor<2x3xi64>
  check.expect_eq_const %reversed, dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi64>
  return
}
