// A page that shows a program as a graph, and the model that it shows.
// RUN: stablo view %s --format json | FileCheck %s
// RUN: stablo view %s --entry @bodies --format json | FileCheck %s --check-prefix=ENTRY
// RUN: stablo view - --format json < %s | FileCheck %s --check-prefix=STDIN
// RUN: stablo view %s | FileCheck %s --check-prefix=PAGE
// RUN: stablo view %s -o %t.html
// RUN: FileCheck %s --check-prefix=PAGE --input-file %t.html
// RUN: stablo view %s --run --input "[[0, 1, 2, 3], [4, 5, 6, 7]]" --input 5 --format json | FileCheck %s --check-prefix=VALUES
// RUN: stablo view %s --run -o %t.run.html
// RUN: stablo view %S/data/base.mlir %S/data/fault.mlir --format json | FileCheck %s --check-prefix=DIFFERENCE
// RUN: stablo view %S/data/base.mlir - --ignore value --format json < %S/data/fault.mlir | FileCheck %s --check-prefix=IGNORE
// RUN: not stablo view - - < %s 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not stablo view %s %S/data/none.mlir 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not stablo view %s --ignore value 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not stablo view %s --run --input 1 2>&1 | FileCheck %s --check-prefix=INPUTS
// RUN: not stablo view %s --input 1 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: not stablo view %s --entry none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not stablo view %s -o %t/none/page.html 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not stablo view %S/data/none.mlir 2>&1 | FileCheck %s --check-prefix=INPUT

// A product of 2x4 and 4x3 elements takes 2 * 2 * 4 * 3 = 48 FLOPs, reads and writes
// 4 * (8 + 12 + 6) = 104 bytes, and runs once. The loop adds twice, 5 times, and compares 6 times.
// Other ops of floats take 6 for the negation and for the absolute value, and 4 for the sum.
// CHECK: {"callers":["main","Net.__call__"],
// CHECK-NEXT: "cost":{"bytes":{{[0-9]+}},"doubts":[],"entry":"main","flops":80,"peak_memory":{{[0-9]+}},"transcendentals":12},
// Frames of call stacks have a function, a place, and what called them.
// CHECK-NEXT: "frames":{{\[\[}}0,{{[0-9]+}},null],[1,{{[0-9]+}},0]],
// Kinds have what is said about them in the specification.
// CHECK-NEXT: "kinds":[{{.*}}{"doc":"{{.*}}Dot products{{.*}}","name":"stablehlo.dot_general","rules":{{\[\[}}"dot_general_c1","{{.*}}
// CHECK-NEXT: "name":"{{.*}}view.mlir",
// CHECK-NEXT: "ops":[
// CHECK-NEXT: "symbol":"tools","text":"module @tools {...}"},
// CHECK-NEXT: "blocks":[{"arguments":[0,1],"ops":[2,3,4,{{.*}}"name":"body"}],"results":[],{{.*}}"symbol":"main","text":"func.func @main({{.*}}) -> {{.*}} {...}"},

// The mean of 0, 1, 2 and 4 is 7/4, and the mean square of the differences to it 35/16. Of the 24
// parts of the range, those that begin at 0, 1 and 2 hold one each, and the last holds the 4.
// CHECK-NEXT: {"constant":{"deviation":1.479019945774904,"elements":4,"histogram":[1,0,0,0,0,0,1,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,1],"infinite":0,"max":4.0,"mean":1.75,"min":0.0,"nan":0,"zeros":1},{{.*}}dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 4.000000e+00]>
// Infinities and NaNs are counted apart: the others are 1 and 3.
// CHECK-NEXT: {"constant":{"deviation":1.0,"elements":4,"histogram":[1,{{[0,]*}},1],"infinite":1,"max":3.0,"mean":2.0,"min":1.0,"nan":1,"zeros":0}
// CHECK-NEXT: {"constant":{"elements":12,"splat":0.5}
// CHECK-NEXT: {"constant":{"elements":1,"splat":"-inf"}
// CHECK-NEXT: {"constant":{"elements":2},{{.*}}(1.000000e+00,2.000000e+00)
// Ten times 0 to 9: the mean square of the differences to 4.5 is 8.25.
// CHECK-NEXT: {"constant":{"deviation":2.8722813232690143,"elements":100,{{.*}}"max":9.0,"mean":4.5,"min":0.0,"nan":0,"zeros":10},{{.*}}dense_resource<__elided__>

// CHECK: {"cost":{"bytes":104,"doubt":null,"flops":48,"runs":1,"transcendentals":0},{{.*}}"operands":[0,4],"results":[8],"scope":0,"source":{{[0-9]+}},"text":"%{{.*}} = stablehlo.dot_general %x, %w, {{.*}}"}

// Values have the names in the text. The names that exporters give to arguments follow their types; what is called, and scopes, refer
// to ops and texts by position.
// CHECK: "calls":[24],{{.*}}func.call @
// CHECK: "symbol":"</script><b>bold</b>"
// CHECK: "scopes":["net/layer_0","net/layer_1","</script><img src=x onerror=document.title='owned'>"],
// CHECK: "values":{{\[\[}}"%x",0,"inputs['x']"],["%n",1],["%constant",2],

// The rows of the argument have the sums 6 and 22, half of which are the elements of the product.
// Of 5 runs of the loop, the last adds 4 to 5 + 0 + 1 + 2 + 3.
// VALUES: "statistics":[{"deviation":4.0,"elements":6,{{.*}}"max":11.0,"mean":7.0,"min":3.0,{{.*}}"runs":1,{{.*}}stablehlo.dot_general
// VALUES: "statistics":[{"{{.*}}"max":15.0,"mean":15.0,"min":15.0,{{.*}}"runs":5,"zeros":0}],"text":"%more = stablehlo.add %sum, %i 
// INPUTS: error
// USAGE: --run

// Two programs have a model each, the pairs of their ops, and what differs.
// DIFFERENCE: {"left":{"callers"
// DIFFERENCE: base.mlir"
// DIFFERENCE: "right":{"callers"
// DIFFERENCE: fault.mlir"
// DIFFERENCE: "pairs":{{\[\[}}0,0],
// DIFFERENCE: "changes":[{"details":["value: dense<8.000000e+00> : tensor<3xf32> -> dense<9.000000e+00> : tensor<3xf32>"],"left":{{[0-9]+}},"right":{{[0-9]+}}}]}
// IGNORE: "changes":[]}
// TWICE: only one of the programs can be standard input
// OTHER: OTHER

// ENTRY: "entry":"bodies"
// STDIN: "name":"<stdin>"
// Nothing of the program is markup.
// PAGE: <!doctype html>
// PAGE-NOT: <img
// PAGE-NOT: <b>
// PAGE: </html>
// NONE: error[entry]: there is no function @none to run
// OUTPUT: error: cannot write {{.*}}none/page.html
// INPUT: error: cannot read {{.*}}none.mlir

#layer = loc("net/layer_0/dot"("model.py":3:1))
#called = loc(callsite(loc("Net.__call__"("model.py":4:1)) at loc("main"("model.py":9:1))))
#hostile = loc("</script><img src=x onerror=document.title='owned'>/add"("<b>a.py":3:1))

module @tools {
  func.func @main(%x: tensor<2x4xf32> loc("inputs['x']"), %n: tensor<i32>) -> (tensor<2x3xf32>, tensor<i32>, tensor<4xf32>, tensor<2x3xf32>) {
    %constant = stablehlo.constant dense<[0.0, 1.0, 2.0, 4.0]> : tensor<4xf32>
    %special = stablehlo.constant dense<[0x7FC00000, 1.0, 0x7F800000, 3.0]> : tensor<4xf32>
    %w = stablehlo.constant dense<0.5> : tensor<4x3xf32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %complex = stablehlo.constant dense<[(1.0, 2.0), (0.0, 0.0)]> : tensor<2xcomplex<f32>>
    %large = stablehlo.constant dense<"0x00010203040506070809000102030405060708090001020304050607080900010203040506070809000102030405060708090001020304050607080900010203040506070809000102030405060708090001020304050607080900010203040506070809"> : tensor<100xi8>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc(#layer)
    %1 = stablehlo.tanh %0 : tensor<2x3xf32> loc("net/layer_0/tanh"(#called))
    %2 = stablehlo.sine %1 : tensor<2x3xf32> loc("net/layer_1/sin"("model.py":5:1))
    %3 = stablehlo.negate %2 : tensor<2x3xf32> loc("net/layer_1/neg"("model.py":6:1))
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %4:2 = stablehlo.while(%i = %zero, %sum = %n) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %more = stablehlo.add %sum, %i : tensor<i32>
      stablehlo.return %next, %more : tensor<i32>, tensor<i32>
    }
    %5 = stablehlo.add %constant, %special {note = "<img src=x onerror=alert(1)> {{page.js}} \22 \\ </script>"} : tensor<4xf32> loc(#hostile)
    %6 = func.call @"</script><b>bold</b>"(%3) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %3, %4#1, %5, %6 : tensor<2x3xf32>, tensor<i32>, tensor<4xf32>, tensor<2x3xf32>
  }

  func.func private @"</script><b>bold</b>"(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.abs %x : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }

  func.func @bodies(%x: tensor<8xf32>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
