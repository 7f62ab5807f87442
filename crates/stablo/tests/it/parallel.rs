//! Grids of processes: communication groups, deadlocks, and limits of runs.

use stablo::{
    Diagnostic, Grid, Limits, Module, Program, RunOptions, RuntimeValue, Tensor, Unobserved,
};
use std::time::Duration;

fn module(text: &str) -> Module {
    stablo::load("test.mlir", text).unwrap()
}

fn vector(values: &[i64]) -> Tensor {
    Tensor::from_vec([values.len()], values.to_vec()).unwrap()
}

/// Runs `@main` on a grid; process `i` gets the vector `[i, 10 * i]`.
fn run(text: &str, replicas: usize, partitions: usize) -> Result<Vec<Vec<i64>>, Diagnostic> {
    let module = module(text);
    let program = Program::prepare(module, "main", RunOptions::default()).unwrap();
    let inputs = (0..(replicas * partitions) as i64)
        .map(|i| vec![RuntimeValue::Tensor(vector(&[i, 10 * i]))])
        .collect();
    let results = program.run_grid(Grid { replicas, partitions }, inputs, &mut Unobserved);
    let values = |results: Vec<RuntimeValue>| results[0].tensor().unwrap().to_vec().unwrap();
    results
        .map(|all| all.into_iter().map(values).collect())
        .map_err(|error| error.diagnostics()[0].clone())
}

fn all_reduce(attributes: &str) -> String {
    format!(
        "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {{
          %0 = \"stablehlo.all_reduce\"(%x) ({{
            ^bb0(%a: tensor<i64>, %b: tensor<i64>):
              %s = stablehlo.add %a, %b : tensor<i64>
              stablehlo.return %s : tensor<i64>
          }}) {{ {attributes} }} : (tensor<2xi64>) -> tensor<2xi64>
          return %0 : tensor<2xi64>
        }}"
    )
}

const CHANNEL: &str = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>";

/// On a grid of 2 replicas by 3 partitions, whose processes contribute 0 to 5.
#[test]
fn strategies_group_processes() {
    let replicas = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>";
    let sums = run(&all_reduce(replicas), 2, 3).unwrap();
    assert_eq!(sums, [[3, 30], [5, 50], [7, 70], [3, 30], [5, 50], [7, 70]]);

    let sums = run(&all_reduce(&format!("{replicas}, {CHANNEL}")), 2, 3).unwrap();
    assert_eq!(sums, [[15, 150]; 6]);

    let apart = "replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>";
    let sums = run(&all_reduce(&format!("{apart}, {CHANNEL}")), 2, 3).unwrap();
    assert_eq!(sums, [[3, 30], [3, 30], [3, 30], [12, 120], [12, 120], [12, 120]]);

    let numbers = "replica_groups = dense<[[0, 5, -1], [1, 2, 3], [4, -1, -1]]> : tensor<3x3xi64>";
    let sums =
        run(&all_reduce(&format!("{numbers}, {CHANNEL}, use_global_device_ids")), 2, 3).unwrap();
    assert_eq!(sums, [[5, 50], [6, 60], [6, 60], [6, 60], [4, 40], [5, 50]]);
}

/// Groups of devices that differ only along an axis of a mesh, or a part of one.
#[test]
fn axes_of_meshes_group_processes() {
    let groups = |axes: &str| {
        let mesh = "#stablehlo.mesh<axes=[#stablehlo.mesh_axis<name=\"x\", size=2>, #stablehlo.mesh_axis<name=\"y\", size=4>]>";
        let groups = format!(
            "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [{axes}]>"
        );
        run(&all_reduce(&format!("{groups}, {CHANNEL}, use_global_device_ids")), 1, 8)
            .unwrap()
            .iter()
            .map(|sum| sum[0])
            .collect::<Vec<_>>()
    };
    assert_eq!(groups("#stablehlo.axis_ref<name = \"x\">"), [4, 6, 8, 10, 4, 6, 8, 10]);
    assert_eq!(groups("#stablehlo.axis_ref<name = \"y\">"), [6, 6, 6, 6, 22, 22, 22, 22]);
    let half = "#stablehlo.axis_ref<name = \"y\", sub_axis_info = (1)2>";
    assert_eq!(groups(half), [2, 4, 2, 4, 10, 12, 10, 12]);
}

#[test]
fn processes_that_never_come_are_named() {
    let text = "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
      %zero = stablehlo.constant dense<0> : tensor<ui32>
      %id = stablehlo.replica_id : tensor<ui32>
      %first = stablehlo.compare EQ, %id, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %0 = \"stablehlo.if\"(%first) ({
        %1 = \"stablehlo.all_gather\"(%x) {
          all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
        } : (tensor<2xi64>) -> tensor<4xi64>
        %2 = stablehlo.slice %1 [0:2] : (tensor<4xi64>) -> tensor<2xi64>
        stablehlo.return %2 : tensor<2xi64>
      }, {
        stablehlo.return %x : tensor<2xi64>
      }) : (tensor<i1>) -> tensor<2xi64>
      return %0 : tensor<2xi64>
    }";
    let error = run(text, 2, 1).expect_err("process (1, 0) does not come");
    assert_eq!(error.label, "deadlock");
    let expected = "process (0, 0) waits in stablehlo.all_gather for (1, 0); finished: (1, 0)";
    assert!(error.message.contains(expected), "{}", error.message);
    assert!(run(text, 1, 1).is_err(), "there is no replica 1");
}

#[test]
fn ops_that_do_not_match_are_named() {
    let text = "func.func @f(%x: tensor<2xi64>) -> tensor<4xi64> {
      %0 = \"stablehlo.all_gather\"(%x) {
        all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
      } : (tensor<2xi64>) -> tensor<4xi64>
      return %0 : tensor<4xi64>
    }
    func.func @g(%x: tensor<2xi64>) -> tensor<2xi64> {
      %0 = \"stablehlo.all_to_all\"(%x) {
        split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
        replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
      } : (tensor<2xi64>) -> tensor<2xi64>
      return %0 : tensor<2xi64>
    }
    func.func @main(%x: tensor<2xi64>) -> tensor<4xi64> {
      %0:2 = \"interpreter.run_parallel\"(%x, %x) { programs = [[@f], [@g]] }
        : (tensor<2xi64>, tensor<2xi64>) -> (tensor<4xi64>, tensor<2xi64>)
      return %0#0 : tensor<4xi64>
    }";
    let error = run(text, 1, 1).expect_err("two different ops");
    assert_eq!(error.label, "mismatched_collective");
    let expected = "process (1, 0) comes with stablehlo.all_to_all of (tensor<2xi64>) to a rendezvous to which (0, 0) came with \
                    stablehlo.all_gather of (tensor<2xi64>)";
    assert!(error.message.contains(expected), "{}", error.message);
}

#[test]
fn messages_go_from_sources_to_targets() {
    let pairs = "source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>";
    let text = format!(
        "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {{
          %token = stablehlo.create_token : !stablehlo.token
          %sent = \"stablehlo.send\"(%x, %token) {{
            channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, {pairs}
          }} : (tensor<2xi64>, !stablehlo.token) -> !stablehlo.token
          %got, %done = \"stablehlo.recv\"(%sent) {{
            channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, {pairs}
          }} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
          return %got : tensor<2xi64>
        }}"
    );
    assert_eq!(run(&text, 1, 3).unwrap(), [[0, 0], [0, 0], [1, 10]]);
}

const LOOP: &str = "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = stablehlo.while(%i = %x) : tensor<2xi64> cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    stablehlo.return %i : tensor<2xi64>
  }
  return %0 : tensor<2xi64>
}";

fn limited(text: &str, limits: Limits) -> String {
    let module = module(text);
    let program = Program::prepare(module, "main", limits).unwrap();
    let result = program.run(vec![RuntimeValue::Tensor(vector(&[1, 2]))]);
    let error = result.expect_err("a limit is reached").into_diagnostics().remove(0);
    assert!(error.label.ends_with("_limit"), "{}", error.message);
    error.message
}

#[test]
fn limits_end_runs() {
    let message = limited(LOOP, Limits { steps: Some(1000), ..Limits::default() });
    assert!(message.contains("1000 steps"), "{message}");
    let message =
        limited(LOOP, Limits { time: Some(Duration::from_millis(20)), ..Limits::default() });
    assert!(message.contains("20ms"), "{message}");
    let big = "func.func @main(%x: tensor<2xi64>) -> tensor<1000000000xi64> {
      %0 = stablehlo.iota dim = 0 : tensor<1000000000xi64>
      return %0 : tensor<1000000000xi64>
    }";
    let message = limited(big, Limits { memory: Some(1 << 20), ..Limits::default() });
    assert!(message.contains("8000000000 bytes") && message.contains("1048576"), "{message}");
    // Scratch memory of a kernel counts, too: the input has one byte per element, positions have
    // eight.
    let scratch = "func.func @main(%x: tensor<2xi64>) -> tensor<100000xi8> {
      %0 = stablehlo.iota dim = 0 : tensor<100000xi8>
      %1 = \"stablehlo.sort\"(%0) ({
        ^bb0(%a: tensor<i8>, %b: tensor<i8>):
          %less = stablehlo.compare LT, %a, %b : (tensor<i8>, tensor<i8>) -> tensor<i1>
          stablehlo.return %less : tensor<i1>
      }) {dimension = 0 : i64} : (tensor<100000xi8>) -> tensor<100000xi8>
      return %1 : tensor<100000xi8>
    }";
    limited(scratch, Limits { memory: Some(1 << 19), ..Limits::default() });
}
