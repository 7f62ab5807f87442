//! Profiles of runs, on a clock that goes on by a microsecond each time that it is read.

use serde_json::Value;
use stablo::{
    Engine, Grid, Host, LastValues, Limits, Profile, Profiling, Program, RunOptions, RuntimeValue,
    StepKind, StepProfile, Tensor, Unobserved, ViewOptions,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const LOOP: &str = "func.func @main(%x: tensor<64x96xf32>, %n: tensor<i32>) -> tensor<64x32xf32> {
  %y = stablehlo.constant dense<0.0> : tensor<96x32xf32>
  %r = func.call @power(%x, %y, %n)
      : (tensor<64x96xf32>, tensor<96x32xf32>, tensor<i32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
func.func @power(%x: tensor<64x96xf32>, %y: tensor<96x32xf32>, %n: tensor<i32>)
    -> tensor<64x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<64x32xf32>
  %r:3 = stablehlo.while(%i = %zero, %a = %z, %v = %x)
      : tensor<i32>, tensor<64x32xf32>, tensor<64x96xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.negate %v : tensor<64x96xf32>
      %p = stablehlo.dot_general %w, %y, contracting_dims = [1] x [0]
          : (tensor<64x96xf32>, tensor<96x32xf32>) -> tensor<64x32xf32>
      %b = stablehlo.add %p, %a : tensor<64x32xf32>
      %d = stablehlo.tanh %b : tensor<64x32xf32>
      stablehlo.return %j, %d, %w : tensor<i32>, tensor<64x32xf32>, tensor<64x96xf32>
    }
  return %r#1 : tensor<64x32xf32>
}";

fn prepare(text: &str, options: RunOptions) -> Program {
    let ticks = AtomicU64::new(0);
    let clock = move || Duration::from_micros(ticks.fetch_add(1, Ordering::Relaxed));
    let host = Some(Host::default().with_clock(clock));
    let module = stablo::load("test.mlir", text).unwrap();
    Program::prepare(module, "main", RunOptions { host, ..options }).unwrap()
}

fn inputs(count: i32) -> Vec<RuntimeValue> {
    let x = Tensor::scalar(0.5f32).broadcast_scalar([64, 96]).unwrap();
    vec![x.into(), Tensor::scalar(count).into()]
}

fn find<'p>(profile: &'p Profile, title: &str) -> &'p StepProfile {
    let found: Vec<_> = profile.steps.iter().filter(|step| step.title == title).collect();
    assert_eq!(found.len(), 1, "{title}: {:?}", profile.steps);
    found[0]
}

#[test]
fn steps_have_their_calls_work_and_ops() {
    for engine in Engine::ALL.iter().copied() {
        let options = RunOptions { engine, profiling: Profiling::Steps, ..RunOptions::default() };
        let program = prepare(LOOP, options);
        program.run(inputs(3)).unwrap();
        program.run(inputs(4)).unwrap();
        let profile = program.profile();
        assert_eq!((profile.runs, profile.executions.len(), profile.lost), (2, 0, 0));

        let product = find(&profile, "stablehlo.dot_general");
        assert_eq!((product.calls, product.kind), (7, StepKind::Product));
        assert_eq!(product.arithmetic(), Some(2 * 64 * 96 * 32));
        assert_eq!(product.bytes(), Some(4 * (64 * 96 + 96 * 32 + 64 * 32)));
        assert_eq!(product.location.function, "power");
        assert!(product.location.source.as_deref().unwrap().starts_with("test.mlir:20:"));
        // Nothing but its own two readings of the clock.
        assert_eq!((product.total, product.own), (Duration::from_micros(7), product.total));
        let main = find(&profile, "@main");
        assert_eq!((main.calls, main.kind), (2, StepKind::Run));
        let own: Duration = profile.steps.iter().map(|step| step.own).sum();
        assert_eq!(own, main.total);
    }
}

#[test]
fn loops_read_and_write_less_than_their_ops() {
    let options = RunOptions { profiling: Profiling::Steps, ..RunOptions::default() };
    let program = prepare(LOOP, options);
    program.run(inputs(1)).unwrap();
    let profile = program.profile();
    let fused = find(&profile, "loop of 2 ops");
    let ops: Vec<&str> = fused.ops.iter().map(|location| &*location.op).collect();
    assert_eq!(ops, ["stablehlo.add", "stablehlo.tanh"]);
    // Two tensors are read and one is written; of each element, a sum and a tanh are computed.
    assert_eq!(fused.bytes(), Some(3 * 4 * 64 * 32));
    let work = fused.work;
    assert_eq!((work.flops, work.transcendentals), (64 * 32, 64 * 32));
    // The call is inlined.
    let call = fused.call.as_ref().unwrap();
    assert_eq!((&*call.op, &*call.function), ("func.call", "main"));
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn profiles_are_json() {
    for engine in Engine::ALL.iter().copied() {
        let options = RunOptions { engine, profiling: Profiling::Steps, ..RunOptions::default() };
        let program = prepare(LOOP, options);
        program.run(inputs(3)).unwrap();
        let profile = program.profile();
        let value = json(&profile.to_json(None));
        assert_eq!((&value["runs"], &value["roofline"]), (&1.into(), &Value::Null));
        let steps = value["steps"].as_array().unwrap();
        let sum = |rows: &[Value]| rows.iter().map(|row| row["seconds"].as_f64().unwrap()).sum();
        let (all, kinds): (f64, f64) = (sum(steps), sum(value["kinds"].as_array().unwrap()));
        let total = value["seconds"].as_f64().unwrap();
        assert!((all - total).abs() < 1e-9 && (kinds - total).abs() < 1e-9);
        let product = steps.iter().find(|step| step["title"] == "stablehlo.dot_general").unwrap();
        assert_eq!((&product["calls"], &product["flops"]), (&3.into(), &(2 * 64 * 96 * 32).into()));
        assert_eq!(product["ops"][0]["op"], "stablehlo.dot_general");
    }
}

#[test]
fn views_have_the_times_of_ops() {
    let options = RunOptions { profiling: Profiling::Steps, ..RunOptions::default() };
    let program = prepare(LOOP, options);
    program.run(inputs(3)).unwrap();
    let profile = program.profile();
    let shown = ViewOptions::default().profile(&profile);
    let view = json(&stablo::view(program.module(), "loop", shown).unwrap().to_json());
    let ops = view["ops"].as_array().unwrap();
    let times = ops.iter().filter_map(|op| op["time"]["seconds"].as_f64());
    // All time is that of an op.
    assert!((times.sum::<f64>() - profile.time().as_secs_f64()).abs() < 1e-9);
    let op = |name: &str| {
        let kinds = view["kinds"].as_array().unwrap();
        let kind = kinds.iter().position(|kind| kind["name"] == name).unwrap();
        let is_it = |op: &&Value| op["kind"] == kind && !op["time"].is_null();
        ops.iter().find(is_it).map(|op| &op["time"]).unwrap()
    };
    let step =
        |time: &Value| &view["profile"]["steps"][time["steps"][0].as_u64().unwrap() as usize];
    // The sum and its function are one loop, whose time they share.
    let tanh = op("stablehlo.tanh");
    let fused = step(tanh);
    assert_eq!((&fused["ops"], &fused["calls"]), (&2.into(), &3.into()));
    assert_eq!(tanh["seconds"].as_f64().unwrap() * 2.0, fused["seconds"].as_f64().unwrap());
    assert_eq!(step(op("stablehlo.dot_general"))["title"], "stablehlo.dot_general");
}

/// The complete events of a trace, each with its start, end and depth.
fn events(profile: &Profile) -> Vec<(Value, f64, f64)> {
    let mut bytes = Vec::new();
    profile.write_trace(&mut bytes).unwrap();
    let trace: Value = serde_json::from_slice(&bytes).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter();
    let complete = events.filter(|event| event["ph"] == "X").cloned();
    let timed = complete.map(|event| {
        let (start, duration) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        (event, start, start + duration)
    });
    timed.collect()
}

#[test]
fn events_of_a_trace_nest() {
    for engine in Engine::ALL.iter().copied() {
        let profiling = Profiling::Executions(1000);
        let program = prepare(LOOP, RunOptions { engine, profiling, ..RunOptions::default() });
        program.run(inputs(3)).unwrap();
        let events = events(&program.profile());
        let mut open: Vec<&(Value, f64, f64)> = Vec::new();
        let mut products = 0;
        for event in &events {
            while open.last().is_some_and(|around| around.2 <= event.1) {
                open.pop();
            }
            assert!(open.last().is_none_or(|around| event.2 <= around.2), "{event:?} in {open:?}");
            if event.0["name"] == "stablehlo.dot_general" {
                products += 1;
                assert_eq!(event.0["args"]["flops"], 2 * 64 * 96 * 32);
                let around: Vec<&str> =
                    open.iter().map(|event| event.0["name"].as_str().unwrap()).collect();
                match engine {
                    Engine::Fast => assert_eq!(around, ["@main", "while"]),
                    Engine::Reference => {
                        assert_eq!(around, ["@main", "func.call", "stablehlo.while"]);
                    }
                }
            }
            open.push(event);
        }
        assert_eq!(products, 3);
    }
}

#[test]
fn executions_are_bounded() {
    let profiling = Profiling::Executions(5);
    let program = prepare(LOOP, RunOptions { profiling, ..RunOptions::default() });
    program.run(inputs(100)).unwrap();
    let profile = program.profile();
    let calls: u64 = profile.steps.iter().map(|step| step.calls).sum();
    assert_eq!((profile.executions.len(), profile.lost as u64), (5, calls - 5));
    // Those that began first, the ones around others among them.
    assert_eq!(events(&profile)[0].0["name"], "@main");
}

#[test]
fn processes_are_apart() {
    let text = "func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = \"stablehlo.all_reduce\"(%x) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
          : (tensor<64x64xf32>) -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }";
    let profiling = Profiling::Executions(1000);
    let program = prepare(text, RunOptions { profiling, ..RunOptions::default() });
    let x: RuntimeValue = Tensor::scalar(0.5f32).broadcast_scalar([64, 64]).unwrap().into();
    let inputs = vec![vec![x.clone()], vec![x]];
    program.run_grid(Grid { replicas: 2, partitions: 1 }, inputs, &mut Unobserved).unwrap();
    let profile = program.profile();
    assert_eq!(profile.runs, 1);
    let sum = profile.steps.iter().find(|step| step.title.ends_with("stablehlo.all_reduce"));
    assert_eq!(sum.unwrap().calls, 2);
    let processes: Vec<Value> = events(&profile).iter().map(|e| e.0["pid"].clone()).collect();
    assert_eq!(processes, [0, 0, 1, 1]);
}

#[test]
fn failed_runs_are_recorded_up_to_the_failure() {
    for engine in Engine::ALL.iter().copied() {
        let limits = Limits { steps: Some(30), ..Limits::default() };
        let profiling = Profiling::Steps;
        let options = RunOptions { engine, profiling, limits, ..RunOptions::default() };
        let program = prepare(LOOP, options);
        program.run(inputs(1000)).unwrap_err();
        let profile = program.profile();
        assert!(find(&profile, "stablehlo.dot_general").calls > 1);
        assert_eq!(find(&profile, "@main").calls, 1);
    }
}

#[test]
fn processes_that_an_op_runs_record_their_steps() {
    let text = "sdy.mesh @mesh = <[\"x\"=4]>
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"x\"}]>]
          out_shardings=[<@mesh, [{\"x\"}]>] manual_axes={\"x\"} (%a: tensor<2xf32>) {
        %1 = stablehlo.tanh %a : tensor<2xf32>
        sdy.return %1 : tensor<2xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }";
    for engine in Engine::ALL.iter().copied() {
        let profiling = Profiling::Executions(100);
        let program = prepare(text, RunOptions { engine, profiling, ..RunOptions::default() });
        program.run(vec![Tensor::scalar(0.5f32).broadcast_scalar([8]).unwrap().into()]).unwrap();
        let profile = program.profile();
        let tanh = find(&profile, "stablehlo.tanh");
        assert_eq!((tanh.calls, profile.runs), (4, 1));
        assert_eq!(tanh.work.transcendentals, 2);
        let process = find(&profile, "process of sdy.manual_computation");
        assert_eq!((process.calls, process.kind), (4, StepKind::Run));
        let events = events(&profile);
        let tanh = events.iter().filter(|event| event.0["name"] == "stablehlo.tanh");
        let processes: Vec<&Value> = tanh.map(|event| &event.0["pid"]).collect();
        assert_eq!(processes, [0, 1, 2, 3]);
        // The op waits for its processes, which takes none of its own time.
        let mut others = profile.steps.iter().filter(|step| step.kind != StepKind::Run);
        let op = others.find(|step| step.title.ends_with("sdy.manual_computation"));
        assert!(op.is_some_and(|op| op.own + process.total / 4 <= op.total));
    }
}

/// `chlo.broadcast_add` is expanded to run; ids of other ops are those of the program that is
/// shown.
#[test]
fn views_have_statistics_at_their_ops() {
    let text = "func.func @main(%x: tensor<2xf32>, %y: tensor<1xf32>) -> tensor<2xf32> {
      %0 = stablehlo.negate %x : tensor<2xf32>
      %1 = chlo.broadcast_add %0, %y : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
      %2 = stablehlo.abs %1 : tensor<2xf32>
      %3 = chlo.broadcast_multiply %2, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %4 = func.call @half(%3) : (tensor<2xf32>) -> tensor<2xf32>
      return %4 : tensor<2xf32>
    }
    func.func private @half(%x: tensor<2xf32>) -> tensor<2xf32> {
      %c = stablehlo.constant dense<2.0> : tensor<2xf32>
      %0 = chlo.broadcast_divide %x, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %1 = stablehlo.negate %0 : tensor<2xf32>
      return %1 : tensor<2xf32>
    }";
    let module = stablo::load("broadcasts", text).unwrap();
    let program = prepare(text, RunOptions::default());
    let x = Tensor::from_vec([2], vec![1f32, 3.0]).unwrap();
    let y = Tensor::from_vec([1], vec![-1f32]).unwrap();
    let mut values = LastValues::default();
    program.run_observed(vec![x.into(), y.into()], &mut values).unwrap();
    let shown = ViewOptions::default().values(&values);
    let view = json(&stablo::view(&module, "broadcasts", shown).unwrap().to_json());
    let largest = |text: &str| {
        let mut ops = view["ops"].as_array().unwrap().iter();
        let op = ops.find(|op| op["text"].as_str().unwrap().contains(text)).unwrap();
        op["statistics"][0]["max"].as_f64()
    };
    assert_eq!(largest("stablehlo.negate %"), Some(-1.0));
    assert_eq!(largest("stablehlo.abs"), Some(4.0));
    assert_eq!(largest("call @half"), Some(-2.0));
    assert_eq!(largest("stablehlo.constant"), Some(2.0));
    for expanded in ["broadcast_add", "broadcast_multiply", "broadcast_divide"] {
        assert_eq!(largest(expanded), None);
    }
}
