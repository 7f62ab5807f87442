//! Loops that update parts of the values that they carry.

use stablo::{Engine, Program, RunOptions, RuntimeValue, Tensor};

/// Pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end
    }
}

/// A loop over four vectors, some of which get sums, or a part of another one at the index of the
/// iteration, and change places; and updates after it.
fn program(numbers: &mut Numbers) -> String {
    const VECTOR: &str = "tensor<6xi32>";
    let mut values: Vec<String> = (0..4).map(|i| format!("%v{i}")).collect();
    let mut steps = |prefix: &str, index: &str, values: &mut Vec<String>| -> String {
        let step = |nth: usize| {
            let [x, y] = [(); 2].map(|()| values[numbers.below(values.len())].clone());
            let (result, first) = (format!("%{prefix}{nth}"), numbers.below(5));
            values.push(result.clone());
            if numbers.below(3) == 0 {
                return format!("{result} = stablehlo.add {x}, {y} : {VECTOR}\n");
            }
            let (part, last) = (format!("%{prefix}p{nth}"), first + 2);
            format!(
                "{part} = stablehlo.slice {y} [{first}:{last}] : ({VECTOR}) -> tensor<2xi32>
                 {result} = stablehlo.dynamic_update_slice {x}, {part}, {index}
                   : ({VECTOR}, tensor<2xi32>, tensor<i32>) -> {VECTOR}\n"
            )
        };
        let text = (0..5).map(step).collect();
        for at in 0..4 {
            let from = numbers.below(values.len());
            values.swap(at, from);
        }
        values.truncate(4);
        text
    };
    let body = steps("b", "%i", &mut values);
    let next = values.join(", ");
    let mut results: Vec<String> = (1..5).map(|i| format!("%w#{i}")).collect();
    let after = steps("a", "%one", &mut results);
    let results = results.join(", ");
    let vectors = [VECTOR; 4].join(", ");
    format!(
        "func.func @main(%x0: {VECTOR}, %x1: {VECTOR}, %x2: {VECTOR}, %x3: {VECTOR})
            -> ({vectors}) {{
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %end = stablehlo.constant dense<5> : tensor<i32>
          %w:5 = stablehlo.while(%i = %zero, %v0 = %x0, %v1 = %x1, %v2 = %x2, %v3 = %x3)
            : tensor<i32>, {vectors}
          cond {{
            %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          }} do {{
            %next = stablehlo.add %i, %one : tensor<i32>
            {body}
            stablehlo.return %next, {next} : tensor<i32>, {vectors}
          }}
          {after}
          return {results} : {vectors}
        }}"
    )
}

/// Updates in the place of a value never change one that is used later.
#[test]
fn carried_values_are_updated() {
    let inputs = || {
        let vector = |first: i32| {
            let elements: Vec<i32> = (first..first + 6).collect();
            RuntimeValue::Tensor(Tensor::from_vec([6], elements).unwrap())
        };
        [1, 10, 100, 1000].map(vector).to_vec()
    };
    for seed in 0..200 {
        let text = program(&mut Numbers(seed));
        let module = stablo::load("test.mlir", text.as_str()).unwrap();
        let run = |options: RunOptions| {
            let program = Program::prepare(module.clone(), "main", options).unwrap();
            // A second run finds what the first one has left.
            let runs = [(); 2].map(|()| program.run(inputs()).unwrap());
            runs.map(|results| {
                let tensors = results.into_iter().map(|result| result.into_tensor().unwrap());
                tensors.collect::<Vec<Tensor>>()
            })
        };
        let options = |engine| RunOptions { engine, ..RunOptions::default() };
        let expected = run(options(Engine::Reference));
        assert_eq!(run(options(Engine::Fast)), expected, "{text}");
        let without = RunOptions { without_machine_code: true, ..options(Engine::Fast) };
        assert_eq!(run(without), expected, "{text}");
    }
}
