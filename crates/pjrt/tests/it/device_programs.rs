//! The text of a program for several devices is a program for one of them. A process for each
//! device, with shards of the arguments, computes the shards of the results: parts of the
//! results of the program on whole tensors. Numbers are small integers, so that sums are exact in
//! any order.

use crate::client::*;
use crate::run::{devices, optimized};
use stablo::{Grid, Program, RunOptions, Tensor, Unobserved};
use std::sync::Arc;

/// A tensor and the axes that split its dimensions, such as `8x4` and `x,y`: `x` and `y` have two
/// devices each, `xy` all four; `-` is whole.
type Sharded = (&'static str, &'static str);

fn sizes(text: &str) -> Vec<usize> {
    text.split('x').filter(|size| !size.is_empty()).map(|size| size.parse().unwrap()).collect()
}

fn axes(text: &str) -> Vec<&str> {
    text.split(',').filter(|own| !own.is_empty()).map(|own| own.trim_matches('-')).collect()
}

fn tensor_type((shape, _): Sharded) -> String {
    format!("tensor<{}f32>", sizes(shape).iter().map(|size| format!("{size}x")).collect::<String>())
}

fn sharding((_, split): Sharded) -> String {
    let axis = |axis: char| format!("\"{axis}\"");
    let dim = |own: &str| format!("{{{}}}", own.chars().map(axis).collect::<Vec<_>>().join(", "));
    let dims: Vec<String> = axes(split).into_iter().map(dim).collect();
    format!("sdy.sharding = #sdy.sharding<@mesh, [{}]>", dims.join(", "))
}

/// The shard of a device.
fn shard(whole: &Tensor, split: &str, device: usize) -> Tensor {
    let coordinate = |axis: char| if axis == 'x' { device / 2 } else { device % 2 };
    let shape = whole.shape();
    let (mut starts, mut sizes) = (vec![0; shape.len()], shape.to_vec());
    for (dim, own) in axes(split).into_iter().enumerate() {
        let number = own.chars().fold(0, |number, axis| number * 2 + coordinate(axis));
        sizes[dim] /= 1 << own.len();
        starts[dim] = number * sizes[dim];
    }
    let all = whole.as_slice::<f32>().unwrap();
    let count: usize = sizes.iter().product();
    let element = |mut at: usize| {
        let (mut place, mut step) = (0, 1);
        for dim in (0..shape.len()).rev() {
            place += (starts[dim] + at % sizes[dim]) * step;
            step *= shape[dim];
            at /= sizes[dim];
        }
        all[place]
    };
    Tensor::from_vec(sizes.clone(), (0..count).map(element).collect::<Vec<f32>>()).unwrap()
}

/// The text of a device's program, after it has been compared with the program on whole tensors.
fn checked(arguments: &[Sharded], body: &str, results: &[Sharded], helpers: &str) -> String {
    let mut declared = Vec::new();
    for (at, &own) in arguments.iter().enumerate() {
        declared.push(format!("%a{at}: {} {{{}}}", tensor_type(own), sharding(own)));
    }
    let list: Vec<String> =
        results.iter().map(|&own| format!("{} {{{}}}", tensor_type(own), sharding(own))).collect();
    let types: Vec<String> = results.iter().map(|&own| tensor_type(own)).collect();
    let text = format!(
        "module {{
          sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>
          {helpers}
          func.func @main({}) -> ({}) {{
            %zero = stablehlo.constant dense<0.0> : tensor<f32>
            {body} : {}
          }}
        }}",
        declared.join(", "),
        list.join(", "),
        types.join(", ")
    );
    let inputs: Vec<Tensor> = { arguments.iter().enumerate() }
        .map(|(at, own)| {
            let shape = sizes(own.0);
            let count: usize = shape.iter().product();
            let numbers = (0..count).map(|n| ((n * 7 + at * 3) % 11) as f32 - 4.0);
            Tensor::from_vec(shape, numbers.collect::<Vec<f32>>()).unwrap()
        })
        .collect();
    let module = stablo::load("whole", text.as_str()).unwrap();
    let values = inputs.iter().map(|own| own.clone().into()).collect();
    let whole = stablo::run(&module, "main", values).unwrap();
    let client = client(4);
    let program = compile_with(&client, &text, &devices(5, 4)).unwrap();
    let found = optimized(&program);
    let module = stablo::load("device", found.as_str()).unwrap_or_else(|e| panic!("{e}\n{found}"));
    let program = Program::prepare(Arc::new(module), "main", RunOptions::default()).unwrap();
    let process = |device: usize| {
        let own = inputs.iter().zip(arguments);
        own.map(|(input, (_, split))| shard(input, split, device).into()).collect()
    };
    let grid = Grid { replicas: 1, partitions: 4 };
    let shards = program.run_grid(grid, (0..4).map(process).collect(), &mut Unobserved);
    let shards = shards.unwrap_or_else(|e| panic!("{e}\n{found}"));
    for (device, own) in shards.iter().enumerate() {
        for ((value, whole), (_, split)) in own.iter().zip(&whole).zip(results) {
            let expected = shard(whole.tensor().unwrap(), split, device);
            assert_eq!(value.tensor().unwrap(), &expected, "device {device} of\n{text}\n{found}");
        }
    }
    found
}

/// The numbers of sums and gathers over devices, and of slices.
fn collectives(text: &str) -> [usize; 3] {
    ["stablehlo.all_reduce", "stablehlo.all_gather", "stablehlo.dynamic_slice"]
        .map(|name| text.matches(name).count())
}

fn check(arguments: &[Sharded], body: &str, results: &[Sharded], expected: [usize; 3]) {
    let text = checked(arguments, body, results, "");
    assert_eq!(collectives(&text), expected, "{text}");
    assert!(!text.contains("sdy."), "{text}");
}

const A: Sharded = ("8x4", "x,y");

#[test]
fn ops_on_shards_need_no_other_devices() {
    for (body, result) in [
        ("%0 = stablehlo.multiply %a0, %a0 : tensor<8x4xf32>\nreturn %0", A),
        (
            "%0 = stablehlo.transpose %a0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
             return %0",
            ("4x8", "y,x"),
        ),
        (
            "%0 = stablehlo.slice %a0 [0:8, 0:4:1] : (tensor<8x4xf32>) -> tensor<8x4xf32>
             %1 = stablehlo.reshape %0 : (tensor<8x4xf32>) -> tensor<4x2x4xf32>
             return %1",
            ("4x2x4", "x,-,y"),
        ),
        (
            "%0 = stablehlo.broadcast_in_dim %a0, dims = [1, 2]
               : (tensor<8x4xf32>) -> tensor<2x8x4xf32>
             return %0",
            ("2x8x4", "-,x,y"),
        ),
    ] {
        check(&[A], body, &[result], [0, 0, 0]);
    }
}

/// Positions in a split dimension begin where the shard does.
#[test]
fn positions_are_those_of_the_shard() {
    let body = "%0 = stablehlo.iota dim = 0 : tensor<8x4xf32>
        %1 = stablehlo.iota dim = 1 : tensor<8x4xf32>
        %2 = stablehlo.add %0, %1 : tensor<8x4xf32>
        %3 = stablehlo.multiply %2, %a0 : tensor<8x4xf32>
        return %3";
    check(&[A], body, &[A], [0, 0, 2]);
}

#[test]
fn products_gather_or_add() {
    let product = |types: &str| {
        format!(
            "%0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : {types}\nreturn %0"
        )
    };
    let types = "(tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>";
    for (left, right, result, expected) in [
        ("x,-", "-,y", "x,y", [0, 0, 0]),
        ("x,y", "y,-", "x,-", [1, 0, 0]),
        ("x,-", "x,-", "x,-", [0, 1, 0]),
        ("-,y", "-,y", "-,y", [0, 1, 0]),
        ("-,xy", "xy,-", "-,-", [1, 0, 0]),
    ] {
        check(&[("8x4", left), ("4x8", right)], &product(types), &[("8x8", result)], expected);
    }
    // A value that is both operands is split in one way for each.
    let square = "%0 = stablehlo.dot_general %a0, %a0, contracting_dims = [1] x [0]
          : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        return %0";
    check(&[("4x4", "x,-")], square, &[("4x4", "x,-")], [0, 1, 0]);
}

#[test]
fn reductions_over_split_dimensions_are_over_devices() {
    for (name, dims, result, expected) in [
        ("add", "0, 1", ("", ""), [1, 0, 0]),
        ("add", "0", ("4", "y"), [1, 0, 0]),
        ("maximum", "1", ("8", "x"), [1, 0, 0]),
        // The initial value would count for each device.
        ("multiply", "1", ("8", "x"), [0, 1, 0]),
    ] {
        let body = format!(
            "%0 = stablehlo.reduce(%a0 init: %zero) applies stablehlo.{name} across dimensions = [{dims}]
               : (tensor<8x4xf32>, tensor<f32>) -> {}
             return %0",
            tensor_type(result)
        );
        check(&[A], &body, &[result], expected);
    }
    // Two sums are one exchange.
    let body =
        "%0 = stablehlo.reduce(%a0 init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
        %1 = stablehlo.negate %a0 : tensor<8x4xf32>
        %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
        %3 = stablehlo.add %0, %2 : tensor<4xf32>
        return %3";
    check(&[A], body, &[("4", "y")], [1, 0, 0]);
}

/// Ops that need other elements of a dimension see all of it.
#[test]
fn other_ops_gather_and_cut() {
    for (body, result, expected) in [
        ("%0 = stablehlo.reverse %a0, dims = [0] : tensor<8x4xf32>\nreturn %0", A, [0, 1, 2]),
        (
            "%0 = stablehlo.slice %a0 [2:6, 0:4] : (tensor<8x4xf32>) -> tensor<4x4xf32>
             return %0",
            ("4x4", "x,y"),
            [0, 1, 2],
        ),
        (
            "%0 = stablehlo.concatenate %a0, %a0, dim = 0
               : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
             return %0",
            ("16x4", "-,y"),
            [0, 2, 2],
        ),
        ("%0 = stablehlo.negate %a0 : tensor<8x4xf32>\nreturn %0", ("8x4", "y,x"), [0, 2, 3]),
    ] {
        check(&[A], body, &[result], expected);
    }
}

#[test]
fn loops_and_branches_carry_shards() {
    let body = "%i0 = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %n = stablehlo.constant dense<3> : tensor<i32>
        %l:2 = stablehlo.while(%i = %i0, %v = %a0) : tensor<i32>, tensor<8x4xf32>
          cond {
            %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %j = stablehlo.add %i, %one : tensor<i32>
            %w = func.call @f(%v) : (tensor<8x4xf32>) -> tensor<8x4xf32>
            stablehlo.return %j, %w : tensor<i32>, tensor<8x4xf32>
          }
        %s = stablehlo.reduce(%l#1 init: %zero) applies stablehlo.add across dimensions = [0, 1]
          : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
        %p = stablehlo.compare GT, %s, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %r = \"stablehlo.if\"(%p) ({
          stablehlo.return %l#1 : tensor<8x4xf32>
        }, {
          %m = stablehlo.negate %l#1 : tensor<8x4xf32>
          stablehlo.return %m : tensor<8x4xf32>
        }) : (tensor<i1>) -> tensor<8x4xf32>
        return %r";
    let helper = "func.func private @f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
        %0 = stablehlo.add %x, %x : tensor<8x4xf32>
        return %0 : tensor<8x4xf32>
      }";
    let text = checked(&[A], body, &[A], helper);
    assert_eq!(collectives(&text), [1, 0, 0], "{text}");
}

/// Computations of single devices are as they are, with the collectives that they state.
#[test]
fn computations_of_single_devices_are_part_of_the_program() {
    let sum = "%s = \"stablehlo.all_reduce\"(%v) <{replica_groups = dense<[[0, 2], [1, 3]]>
            : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
            use_global_device_ids}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %t = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %t : tensor<f32>
        }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
        sdy.return %s : tensor<4x2xf32>";
    let body = format!(
        "%m = sdy.manual_computation(%a0) in_shardings=[<@mesh, [{{\"x\"}}, {{\"y\"}}]>]
             out_shardings=[<@mesh, [{{}}, {{\"y\"}}]>] manual_axes={{\"x\", \"y\"}}
             (%v: tensor<4x2xf32>) {{ {sum} }} : (tensor<8x4xf32>) -> tensor<4x4xf32>
         %r = stablehlo.add %m, %m : tensor<4x4xf32>
         return %r"
    );
    check(&[A], &body, &[("4x4", "-,y")], [1, 0, 0]);
    // Along the other axis, all devices compute the same.
    let body = body
        .replace("[{\"x\"}, {\"y\"}]", "[{\"x\"}, {}]")
        .replace("[{}, {\"y\"}]", "[{}, {}]")
        .replace("manual_axes={\"x\", \"y\"}", "manual_axes={\"x\"}")
        .replace("4x2xf32", "4x4xf32");
    check(&[A], &body, &[("4x4", "-,y")], [1, 1, 2]);
}

/// A value that is unreduced within the program is a term on each device, and is added once.
#[test]
fn terms_are_added_where_the_value_is_needed() {
    let body = "%0 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0]
          : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
        %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}], unreduced={\"y\"}> : tensor<8x8xf32>
        %2 = stablehlo.add %1, %1 : tensor<8x8xf32>
        %3 = sdy.sharding_constraint %2 <@mesh, [{}, {}], unreduced={\"y\"}> : tensor<8x8xf32>
        %4 = sdy.sharding_constraint %3 <@mesh, [{}, {}]> : tensor<8x8xf32>
        return %4";
    check(&[("8x4", "-,y"), ("4x8", "y,-")], body, &[("8x8", "-,-")], [1, 0, 0]);
}

/// An axis of one device divides nothing, and needs no exchange.
#[test]
fn axes_of_one_device_divide_nothing() {
    let client = client(4);
    let text = "module {
      sdy.mesh @mesh = <[\"x\"=4, \"y\"=1]>
      func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {\"y\"}]>})
          -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>}) {
        %0 = stablehlo.reverse %a, dims = [1] : tensor<8x4xf32>
        return %0 : tensor<8x4xf32>
      }
    }";
    let found = optimized(&compile_with(&client, text, &devices(5, 4)).unwrap());
    assert_eq!(collectives(&found), [0, 0, 0], "{found}");
    assert!(found.contains("(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32>"), "{found}");
}

/// Clients can read the text, whatever the shardings and functions.
#[test]
fn other_programs_have_a_text() {
    let client = client(4);
    for (meshes, split, body) in [
        // Half of an axis.
        ("@mesh = <[\"x\"=4]>", "[{\"x\":(1)2}, {}]", "%0 = stablehlo.negate %a : tensor<8x4xf32>"),
        // A function that calls itself.
        (
            "@mesh = <[\"x\"=4]>",
            "[{\"x\"}, {}]",
            "%0 = call @f(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>",
        ),
        // No dimension is divided.
        ("@mesh = <[\"x\"=4]>", "[{}, {}]", "%0 = stablehlo.negate %a : tensor<8x4xf32>"),
    ] {
        let text = format!(
            "module {{
               sdy.mesh {meshes}
               func.func private @f(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {{
                 %c = stablehlo.constant dense<false> : tensor<i1>
                 %0 = \"stablehlo.if\"(%c) ({{
                   %1 = func.call @f(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
                   stablehlo.return %1 : tensor<8x4xf32>
                 }}, {{
                   stablehlo.return %a : tensor<8x4xf32>
                 }}) : (tensor<i1>) -> tensor<8x4xf32>
                 return %0 : tensor<8x4xf32>
               }}
               func.func @main(%a: tensor<8x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, {split}>}})
                   -> tensor<8x4xf32> {{
                 {body}
                 return %0 : tensor<8x4xf32>
               }}
             }}"
        );
        let found = optimized(&compile_with(&client, &text, &devices(5, 4)).unwrap());
        stablo::load("text", found.as_str()).unwrap_or_else(|error| panic!("{error}\n{found}"));
    }
}
