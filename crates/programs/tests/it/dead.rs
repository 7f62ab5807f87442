//! Every op with results that nothing uses, or only views that nothing uses: in the function, in a
//! loop and in a branch. Both engines compute what is left, or fail with the same message.

use crate::corpus::programs;
use crate::engines::{differences_at, inputs};
use stablo::{Module, Type};

/// Results of a call of `main` as names and types.
struct Call {
    text: String,
    views: String,
    results: Vec<(String, String)>,
}

/// A call of `main` on arguments `%a0`, …, and views of each result.
fn call(arguments: &[Type], results: &[Type]) -> Call {
    let list = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
    let operands: Vec<String> = (0..arguments.len()).map(|i| format!("%a{i}")).collect();
    let names: Vec<String> = (0..results.len()).map(|i| format!("%r{i}")).collect();
    let text = format!(
        "{} = func.call @main({}) : ({}) -> ({})\n",
        names.join(", "),
        operands.join(", "),
        list(arguments),
        list(results)
    );
    let mut views = String::new();
    for (i, ty) in results.iter().enumerate() {
        let Some(shape) = ty.shape().filter(|shape| shape.iter().all(|&size| size >= 0)) else {
            continue;
        };
        let Some(&first) = shape.first() else { continue };
        let element = ty.element_type();
        let named = |shape: &[i64]| {
            let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
            format!("tensor<{sizes}{element}>")
        };
        let mut part = shape.to_vec();
        part[0] = first / 2;
        let ranges: Vec<String> = part.iter().map(|size| format!("0:{size}")).collect();
        let mut turned = part.clone();
        turned.reverse();
        let order: Vec<String> = (0..part.len()).rev().map(|d| d.to_string()).collect();
        views += &format!(
            "%s{i} = stablehlo.slice %r{i} [{}] : ({ty}) -> {}\n\
             %t{i} = stablehlo.transpose %s{i}, dims = [{}] : ({}) -> {}\n",
            ranges.join(", "),
            named(&part),
            order.join(", "),
            named(&part),
            named(&turned),
        );
    }
    let results = names.into_iter().zip(results.iter().map(Type::to_string)).collect();
    Call { text, views, results }
}

/// Functions that call `main` and use at most one of its results.
fn functions(arguments: &[Type], results: &[Type]) -> Vec<String> {
    let Call { text, views, results } = call(arguments, results);
    let parameters: Vec<String> =
        arguments.iter().enumerate().map(|(i, ty)| format!("%a{i}: {ty}")).collect();
    let parameters = parameters.join(", ");
    let seven = "%seven = stablehlo.constant dense<7> : tensor<i32>\n";
    let mut functions = Vec::new();
    for views in ["", &views] {
        functions.push(format!(
            "({parameters}) -> tensor<i32> {{\n{text}{views}{seven}return %seven : tensor<i32>\n}}"
        ));
        functions.push(format!(
            "({parameters}) -> tensor<i32> {{
               %zero = stablehlo.constant dense<0> : tensor<i32>
               %two = stablehlo.constant dense<2> : tensor<i32>
               %one = stablehlo.constant dense<1> : tensor<i32>
               %w = stablehlo.while(%i = %zero) : tensor<i32>
               cond {{
                 %p = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
                 stablehlo.return %p : tensor<i1>
               }} do {{
                 {text}{views}
                 %next = stablehlo.add %i, %one : tensor<i32>
                 stablehlo.return %next : tensor<i32>
               }}
               return %w : tensor<i32>
             }}"
        ));
        functions.push(format!(
            "({parameters}) -> tensor<i32> {{
               %true = stablehlo.constant dense<true> : tensor<i1>
               %b = \"stablehlo.if\"(%true) ({{
                 {text}{views}{seven}
                 stablehlo.return %seven : tensor<i32>
               }}, {{
                 %zero = stablehlo.constant dense<0> : tensor<i32>
                 stablehlo.return %zero : tensor<i32>
               }}) : (tensor<i1>) -> tensor<i32>
               return %b : tensor<i32>
             }}"
        ));
        if results.len() > 1 {
            for (name, ty) in &results {
                functions.push(format!(
                    "({parameters}) -> {ty} {{\n{text}{views}return {name} : {ty}\n}}"
                ));
            }
        }
    }
    functions
}

#[test]
fn dead_results_of_every_op() {
    let (mut count, mut wrong) = (0, Vec::new());
    // All take a minute.
    let step = if std::env::var_os("STABLO_ALL_PROGRAMS").is_some() { 1 } else { 7 };
    for (number, program) in programs().into_iter().enumerate() {
        let main = stablo::entry_function(&program.module, "main").unwrap();
        let (arguments, results) = main.signature();
        let (arguments, results) = (arguments.to_vec(), results.to_vec());
        let own = Some(program.inputs).filter(|own| !own.is_empty());
        let Some(inputs) = own.or_else(|| inputs(&program.module)) else { continue };
        let text = program.module.to_string();
        let body = text.trim_end().strip_suffix('}').expect("a module ends with a brace");
        let functions = functions(&arguments, &results);
        for (nth, function) in functions.iter().enumerate().skip(number % step).step_by(step) {
            let text = format!("{body}\nfunc.func @dead{function}\n}}");
            // Results whose types no slice takes.
            let Ok(module): Result<Module, _> = stablo::load("dead.mlir", &*text) else { continue };
            count += 1;
            let name = format!("{} {nth}", program.name);
            wrong.extend(differences_at("dead", &name, &module, &inputs));
        }
    }
    println!("{count} programs, {} mismatches", wrong.len());
    assert!(count > 150 && wrong.is_empty(), "{count} programs:\n{}", wrong.join("\n"));
}

/// Each program without effects takes the same nodes when its results are computed twice, and none
/// when they are not used.
#[test]
fn equal_and_dead_ops_cost_nothing() {
    /// Ops that draw numbers, exchange values or run code of users, that may fail or go on for
    /// ever, dynamic shapes, and branches, which are not compared.
    const EXCLUDED: &[&str] = &[
        "rng",
        "all_",
        "collective_",
        "reduce_scatter",
        "feed",
        "send",
        "recv",
        "custom_call",
        "partition_id",
        "dynamic_",
        "einsum",
        "torch_index_select",
        "fft",
        "while",
        ".if",
        ".case",
        "scan",
        "mulhi",
        "?",
    ];
    let (mut count, mut wrong) = (0, Vec::new());
    for program in programs() {
        let main = stablo::entry_function(&program.module, "main").unwrap();
        let (arguments, results) = main.signature();
        let text = program.module.to_string();
        let is_sized = |ty: &Type| ty.shape().is_some_and(|shape| shape.iter().all(|&n| n >= 0));
        let is_static = arguments.iter().chain(results).all(is_sized);
        if !is_static
            || EXCLUDED.iter().any(|op| text.contains(op))
            || program.name.contains("side_dialects")
        {
            continue;
        }
        let Call { text: call, results, .. } = call(arguments, results);
        let parameters: Vec<String> =
            arguments.iter().enumerate().map(|(i, ty)| format!("%a{i}: {ty}")).collect();
        let names: Vec<&str> = results.iter().map(|(name, _)| &**name).collect();
        let types: Vec<&str> = results.iter().map(|(_, ty)| &**ty).collect();
        let seven = "%seven = stablehlo.constant dense<7> : tensor<i32>\n";
        let function = |body: String, names: &str, types: &str| {
            format!(
                "func.func @test({}) -> ({types}) {{\n{body}return {names} : {types}\n}}",
                parameters.join(", ")
            )
        };
        let other: Vec<String> = names.iter().map(|name| name.replace("%r", "%s")).collect();
        let other: Vec<&str> = other.iter().map(|name| &**name).collect();
        let join = |first: &[&str], second: &[&str]| [first, second].concat().join(", ");
        let twice = format!("{call}{}", call.replace("%r", "%s"));
        let doubled = function(twice, &join(&names, &other), &join(&types, &types));
        let repeated = function(call.clone(), &join(&names, &names), &join(&types, &types));
        let dead = function(format!("{call}{seven}"), "%seven", "tensor<i32>");
        let none = function(seven.into(), "%seven", "tensor<i32>");
        for (name, one, other) in [("doubled", &doubled, &repeated), ("dead", &dead, &none)] {
            let nodes = |function: &str| {
                let body = text.trim_end().strip_suffix('}').expect("a module ends with a brace");
                let module = stablo::load("test.mlir", format!("{body}{function}\n}}")).ok()?;
                let options = stablo::RunOptions::default();
                let program = stablo::Program::prepare(module, "test", options).ok()?;
                Some(program.plan_after("dce", None).ok()?.lines().count())
            };
            let (Some(one), Some(other)) = (nodes(one), nodes(other)) else { continue };
            count += 1;
            if one != other {
                wrong.push(format!("{} {name}: {one} nodes, not {other}", program.name));
            }
        }
    }
    println!("{count} programs, {} mismatches", wrong.len());
    assert!(count > 80 && wrong.is_empty(), "{count} programs:\n{}", wrong.join("\n"));
}
