//! Runs use the clock, threads and memory of their host, and no other.

use stablo::{
    Budget, Error, Grid, Host, Limits, Program, RunOptions, RuntimeValue, Tensor, Unobserved,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

fn prepare(text: &str, options: impl Into<RunOptions>) -> Program {
    Program::prepare(stablo::load("test.mlir", text).unwrap(), "main", options).unwrap()
}

fn on(host: Host) -> RunOptions {
    RunOptions { host: Some(host), ..RunOptions::default() }
}

fn number(x: i64) -> RuntimeValue {
    Tensor::scalar(x).into()
}

/// The message of an error of a limit.
fn limit(error: Error) -> String {
    let diagnostic = error.into_diagnostics().remove(0);
    assert!(diagnostic.label.ends_with("_limit"), "{}", diagnostic.message);
    diagnostic.message
}

/// Each process holds 8 MB while it waits for the others.
const GRID: &str = "func.func @main(%x: tensor<i64>) -> (tensor<i64>, tensor<1000000xi64>) {
  %big = stablehlo.iota dim = 0 : tensor<1000000xi64>
  %0 = \"stablehlo.all_reduce\"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
  }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<i64>) -> tensor<i64>
  return %0, %big : tensor<i64>, tensor<1000000xi64>
}";

#[test]
fn all_processes_of_a_grid_charge_one_budget() {
    let run = |limit: usize| {
        let budget = Budget::new(limit);
        let program = prepare(GRID, on(Host::default().with_budget(budget.clone())));
        let inputs = (0..4).map(|i| vec![number(i)]).collect();
        let results =
            program.run_grid(Grid { replicas: 4, partitions: 1 }, inputs, &mut Unobserved);
        (budget, results)
    };
    let (budget, results) = run(33_000_000);
    let results = results.unwrap();
    assert_eq!(results[3][0].tensor().unwrap().item::<i64>(), Ok(6));
    // The four tensors that the run returned are still charged.
    assert!((32_000_000..32_100_000).contains(&budget.used()), "{}", budget.used());
    drop(results);
    assert_eq!(budget.used(), 0);
    let (budget, results) = run(31_000_000);
    assert!(limit(results.unwrap_err()).contains("8000000 bytes more"));
    assert_eq!(budget.used(), 0);
}

#[test]
fn runs_at_the_same_time_charge_their_own_budgets() {
    let both_run = Arc::new(Barrier::new(2));
    let used = |elements: usize| {
        let text = format!(
            "func.func @main() -> tensor<i64> {{
               %0 = stablehlo.iota dim = 0 : tensor<{elements}xi64>
               %1 = stablehlo.custom_call @used(%0) : (tensor<{elements}xi64>) -> tensor<i64>
               return %1 : tensor<i64>
             }}"
        );
        let mut options = on(Host::default().with_budget(Budget::new(10_000_000)));
        let both_run = both_run.clone();
        options.custom_calls.register("used", move |_, _| {
            both_run.wait();
            let used = Host::current().budget().map_or(0, |budget| budget.used());
            both_run.wait();
            Ok(vec![number(used as i64)])
        });
        let results = prepare(&text, options).run(Vec::new()).unwrap();
        results[0].tensor().unwrap().item::<i64>().unwrap()
    };
    thread::scope(|scope| {
        let [one, two] = [100_000, 200_000].map(|elements| scope.spawn(move || used(elements)));
        let [one, two] = [one, two].map(|thread| thread.join().unwrap());
        assert!((800_000..850_000).contains(&one) && (1_600_000..1_650_000).contains(&two));
    });
}

#[test]
fn a_run_has_the_host_of_its_caller_by_default() {
    let program = prepare(
        "func.func @main() -> tensor<1000xi64> {
           %0 = stablehlo.iota dim = 0 : tensor<1000xi64>
           return %0 : tensor<1000xi64>
         }",
        RunOptions::default(),
    );
    let _entered = Host::default().with_budget(Budget::new(7_999)).enter();
    assert!(limit(program.run(Vec::new()).unwrap_err()).contains("7999 bytes"));
}

const LOOP: &str = "func.func @main(%x: tensor<i64>) -> tensor<i64> {
  %0 = stablehlo.while(%i = %x) : tensor<i64> cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    stablehlo.return %i : tensor<i64>
  }
  return %0 : tensor<i64>
}";

#[test]
fn time_is_that_of_the_host() {
    // A clock on which each look takes a second.
    let looks = AtomicU64::new(0);
    let clock = move || Duration::from_secs(looks.fetch_add(1, Ordering::Relaxed));
    let mut options = on(Host::default().with_clock(clock));
    options.limits.time = Some(Duration::from_secs(1000));
    let error = prepare(LOOP, options).run(vec![number(1)]).unwrap_err();
    assert!(limit(error).contains("1000s"));
}

#[test]
fn hosts_without_threads_run_single_processes() {
    let host = Host::default().without_threads();
    let _entered = host.enter();
    let program = prepare(
        "func.func @main(%x: tensor<i64>) -> tensor<i64> {
           %0 = stablehlo.add %x, %x : tensor<i64>
           return %0 : tensor<i64>
         }",
        RunOptions::default(),
    );
    let results = program.run(vec![number(21)]).unwrap();
    assert_eq!(results[0].tensor().unwrap().item::<i64>(), Ok(42));

    let inputs = (0..4).map(|i| vec![number(i)]).collect();
    let grid = Grid { replicas: 4, partitions: 1 };
    let program = prepare(GRID, RunOptions::default());
    let error = program.run_grid(grid, inputs, &mut Unobserved).unwrap_err().to_string();
    assert!(error.contains("a grid of 4 processes needs threads"), "{error}");

    let mut module = stablo::load(
        "test.mlir",
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
           %0 = stablehlo.abs %x : tensor<?xf32>
           return %0 : tensor<?xf32>
         }",
    )
    .unwrap();
    stablo::refine(&mut module, &stablo::RefineOptions::default().batch(3)).unwrap();
    assert!(module.to_string().contains("stablehlo.abs %arg0 : tensor<3xf32>"));
}

fn limited(text: &str, memory: usize, inputs: Vec<RuntimeValue>) -> String {
    let limits = Limits { memory: Some(memory), ..Limits::default() };
    limit(prepare(text, limits).run(inputs).unwrap_err())
}

#[test]
fn the_limit_of_a_run_covers_its_inputs() {
    let text = "func.func @main(%x: tensor<1000xi64>, %y: tensor<1000xi64>) -> tensor<1000xi64> {
      return %x : tensor<1000xi64>
    }";
    let vector = || RuntimeValue::Tensor(Tensor::splat([1000], 1i64).unwrap());
    let message = limited(text, 15_999, vec![vector(), vector()]);
    assert!(message.contains("the inputs have 16000 bytes"), "{message}");
    // The same bytes count once.
    let shared = vector();
    let limits = Limits { memory: Some(15_999), ..Limits::default() };
    assert!(prepare(text, limits).run(vec![shared.clone(), shared]).is_ok());
}

#[test]
fn the_limit_of_a_run_covers_stacks() {
    let recursion = "func.func @main(%x: tensor<i64>) -> tensor<i64> {
      %0 = func.call @main(%x) : (tensor<i64>) -> tensor<i64>
      return %0 : tensor<i64>
    }";
    limited(recursion, 1 << 20, vec![number(1)]);
    let error = prepare(recursion, RunOptions::default()).run(vec![number(1)]).unwrap_err();
    assert_eq!(error.diagnostics()[0].label, "depth");
}

#[test]
fn the_limit_of_a_run_covers_messages() {
    let sends = "func.func @main(%x: tensor<i64>) -> !stablehlo.token {
      %token = stablehlo.create_token : !stablehlo.token
      %0 = stablehlo.while(%i = %token) : !stablehlo.token cond {
        %true = stablehlo.constant dense<true> : tensor<i1>
        stablehlo.return %true : tensor<i1>
      } do {
        %sent = \"stablehlo.send\"(%x, %i) {
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>
        } : (tensor<i64>, !stablehlo.token) -> !stablehlo.token
        stablehlo.return %sent : !stablehlo.token
      }
      return %0 : !stablehlo.token
    }";
    limited(sends, 1 << 20, vec![number(1)]);
}
