// RUN: stablo run %s --input zeros --engine fast | FileCheck %s
// RUN: stablo run %s --input zeros --engine reference | FileCheck %s

// Large values that a scatter updates where they are, if nothing reads them later: in the round with
// number i of 5, one at i. The sum is of elements 0 before each update: 0 + 1 + 1 + 1 + 1.
// CHECK: output 0: tensor<6xf32>
// CHECK-NEXT: {{^  }}{{[[]}}1.0, 1.0, 1.0, 1.0, 1.0, 0.0]{{$}}
// CHECK: output 1: tensor<f32>
// CHECK-NEXT: {{^  }}4.0{{$}}

// Two values that change places after one of them is updated: 2 at i in what is the second one.
// CHECK: output 2: tensor<6xf32>
// CHECK-NEXT: {{^  }}{{[[]}}2.0, 0.0, 2.0, 0.0, 2.0, 0.0]{{$}}
// CHECK: output 3: tensor<6xf32>
// CHECK-NEXT: {{^  }}{{[[]}}0.0, 2.0, 0.0, 2.0, 0.0, 0.0]{{$}}

// An argument that is updated stays as it is: 7 + 0.
// CHECK: output 4: tensor<f32>
// CHECK-NEXT: {{^  }}7.0{{$}}

func.func @main(%start: tensor<100000xf32>)
    -> (tensor<6xf32>, tensor<f32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %sum = stablehlo.constant dense<0.0> : tensor<f32>
  %0:5 = stablehlo.while(%i = %zero, %x = %start, %s = %sum, %a = %start, %b = %start)
    : tensor<i32>, tensor<100000xf32>, tensor<f32>, tensor<100000xf32>, tensor<100000xf32>
  cond {
    %more = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %index = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
    %first = stablehlo.slice %x [0:1] : (tensor<100000xf32>) -> tensor<1xf32>
    %element = stablehlo.reshape %first : (tensor<1xf32>) -> tensor<f32>
    %t = stablehlo.add %s, %element : tensor<f32>
    %update = stablehlo.constant dense<1.0> : tensor<f32>
    %y = func.call @add_at(%x, %index, %update)
      : (tensor<100000xf32>, tensor<1xi32>, tensor<f32>) -> tensor<100000xf32>
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %c = func.call @add_at(%b, %index, %two)
      : (tensor<100000xf32>, tensor<1xi32>, tensor<f32>) -> tensor<100000xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %y, %t, %c, %a
      : tensor<i32>, tensor<100000xf32>, tensor<f32>, tensor<100000xf32>, tensor<100000xf32>
  }
  %1 = stablehlo.slice %0#1 [0:6] : (tensor<100000xf32>) -> tensor<6xf32>
  %2 = stablehlo.slice %0#3 [0:6] : (tensor<100000xf32>) -> tensor<6xf32>
  %3 = stablehlo.slice %0#4 [0:6] : (tensor<100000xf32>) -> tensor<6xf32>
  %index = stablehlo.constant dense<99999> : tensor<1xi32>
  %seven = stablehlo.constant dense<7.0> : tensor<f32>
  %updated = func.call @add_at(%start, %index, %seven)
    : (tensor<100000xf32>, tensor<1xi32>, tensor<f32>) -> tensor<100000xf32>
  %both = stablehlo.add %updated, %start : tensor<100000xf32>
  %last = stablehlo.slice %both [99999:100000] : (tensor<100000xf32>) -> tensor<1xf32>
  %4 = stablehlo.reshape %last : (tensor<1xf32>) -> tensor<f32>
  return %1, %0#2, %2, %3, %4
    : tensor<6xf32>, tensor<f32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>
}

func.func private @add_at(%x: tensor<100000xf32>, %index: tensor<1xi32>, %update: tensor<f32>)
    -> tensor<100000xf32> {
  %0 = "stablehlo.scatter"(%x, %index, %update) <{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<100000xf32>, tensor<1xi32>, tensor<f32>) -> tensor<100000xf32>
  return %0 : tensor<100000xf32>
}
