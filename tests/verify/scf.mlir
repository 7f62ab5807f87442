// RUN: stablehlo-opt %s --verify-diagnostics --split-input-file

func.func @results_without_else(%c: i1, %x: f32) -> f32 {
  // expected-error @+1 {{an if with results must have an else region}}
  %0 = scf.if %c -> (f32) {
    scf.yield %x : f32
  }
  return %0 : f32
}

// -----

func.func @branches_differ(%c: i1, %x: f32, %y: i32) -> f32 {
  // expected-error @+1 {{the else region must yield values of the types of the results}}
  %0 = scf.if %c -> (f32) {
    scf.yield %x : f32
  } else {
    scf.yield %y : i32
  }
  return %0 : f32
}

// -----

func.func @nothing_yielded(%c: i1) -> f32 {
  // expected-error @+1 {{the then region must yield values of the types of the results}}
  %0 = scf.if %c -> (f32) {
  } else {
  }
  return %0 : f32
}

// -----

func.func @condition_of_tensor(%c: tensor<i1>) {
  // expected-error @+1 {{must be an i1, but has type tensor<i1>}}
  "scf.if"(%c) ({ scf.yield }, {}) : (tensor<i1>) -> ()
  return
}

// -----

func.func @no_condition(%x: f32) -> f32 {
  // expected-error @+1 {{the region `before` must end with scf.condition}}
  %0 = scf.while (%a = %x) : (f32) -> f32 {
    scf.yield %a : f32
  } do {
  ^bb0(%a: f32):
    scf.yield %a : f32
  }
  return %0 : f32
}

// -----

func.func @passes_on_another_type(%x: f32, %c: i1, %n: i32) -> f32 {
  // expected-error @+1 {{the condition must pass on values of the types of the results, (f32); found (i32)}}
  %0 = scf.while (%a = %x) : (f32) -> f32 {
    scf.condition(%c) %n : i32
  } do {
  ^bb0(%a: f32):
    scf.yield %a : f32
  }
  return %0 : f32
}

// -----

func.func @yields_another_type(%x: f32, %c: i1, %n: i32) -> i32 {
  // expected-error @+1 {{`after` must yield values of the types of the initial values, (f32); found (i32)}}
  %0 = scf.while (%a = %x) : (f32) -> i32 {
    scf.condition(%c) %n : i32
  } do {
  ^bb0(%a: i32):
    scf.yield %a : i32
  }
  return %0 : i32
}

// -----

func.func @types_of_values(%x: f32, %c: i1) {
  // expected-error @+1 {{1 value of the loop, but 2 types}}
  scf.while (%a = %x) : (f32, f32) -> () {
    scf.condition(%c)
  } do {
    scf.yield
  }
  return
}

// -----

func.func @condition_outside(%c: i1) {
  // expected-error @+1 {{scf.while}}
  scf.condition(%c)
}
