//! Small inputs that stand for something large are refused, or take work in proportion to their
//! size.

use mlir::attrs::{AttrKind, MAX_SPLAT_INTS};
use mlir::ir::OpId;
use mlir::ods::{AttrDef, ParamKind};
use mlir::types::MAX_RANK;
use mlir::{Attribute, Module, Type};
use numerics::Bytes;
use stablo::dialects::func::FuncOp;
use stablo::{BytecodeOptions, LoadOptions, RuntimeValue, Tensor, Version};
use std::fmt::Write;

/// The first error of a program, if it is not valid.
fn error(text: &str) -> Option<String> {
    let loaded = LoadOptions::default().load("hostile.mlir", text);
    loaded.into_result().err().map(|error| error.diagnostics()[0].message.clone())
}

/// A module with one function, and that.
fn empty_function() -> (Module, OpId) {
    let text = "func.func @main() { return }";
    let module = LoadOptions::default().load("m.mlir", text).into_result().unwrap();
    let function = module.walk(module.top().id()).find(|op| op.is(FuncOp::DEF)).unwrap().id();
    (module, function)
}

/// The first error of reading the bytecode of a module, if it cannot be read.
fn read_back(module: &Module) -> Option<String> {
    let bytes = stablo::write_bytecode(module, &BytecodeOptions::default()).unwrap();
    let loaded = LoadOptions::default().load("m.mlirbc", &*bytes).into_result();
    loaded.err().map(|error| error.diagnostics()[0].message.clone())
}

/// A definition of an alias for each level, in terms of the one before.
fn chain(first: &str, levels: usize, level: impl Fn(usize) -> String) -> String {
    let mut text = format!("{first}\n");
    for i in 0..levels {
        writeln!(text, "{}", level(i)).unwrap();
    }
    text
}

#[test]
fn aliases_nest_no_deeper_than_what_is_written_out() {
    let types = |n: usize| {
        let aliases = chain("!t0 = tuple<f32>", n, |i| format!("!t{} = tuple<!t{i}>", i + 1));
        format!("{aliases}func.func @main(%a: !t{n}) {{ return }}")
    };
    let attributes = |n: usize| {
        let aliases = chain("#t0 = [1]", n, |i| format!("#t{} = [#t{i}]", i + 1));
        format!("{aliases}func.func @main() attributes {{a.b = #t{n}}} {{ return }}")
    };
    let locations = |n: usize| {
        let level = |i| format!("#t{} = loc(callsite(#t{i} at \"f\":1:2))", i + 1);
        let aliases = chain("#t0 = loc(\"f\":1:2)", n, level);
        format!("{aliases}func.func @main() {{ return loc(#t{n}) }}")
    };
    let texts: [&dyn Fn(usize) -> String; 3] = [&types, &attributes, &locations];
    for text in texts {
        assert_eq!(error(&text(200)), None);
        let message = error(&text(100_000)).unwrap();
        assert!(message.contains("nesting deeper than 256 levels"), "{message}");
    }
}

#[test]
fn entries_of_bytecode_nest_no_deeper_than_what_is_written_out() {
    // Each attribute is decoded when the ones within are, so that no recursion is deep.
    let (mut module, function) = empty_function();
    let mut attribute = Attribute::i64(0);
    for i in 0..1000 {
        module.set_attr(function, &format!("a.x{i:04}"), attribute.clone());
        attribute = Attribute::array(vec![attribute]);
    }
    let message = read_back(&module).unwrap();
    assert!(message.contains("nesting deeper than 256 levels"), "{message}");
}

#[test]
fn attributes_in_bytecode_have_parameters_of_the_declared_kinds() {
    let value_of = |kind: ParamKind| match kind {
        ParamKind::I64 => Attribute::i64(2),
        ParamKind::Bool => Attribute::bool(true),
        ParamKind::I64s => Attribute::i64_array(Vec::new()),
        ParamKind::String => Attribute::string("x"),
        _ => Attribute::array(Vec::new()),
    };
    let (mut module, function) = empty_function();
    let mut tried = 0;
    for dialect in stablo::registry().dialects() {
        let lists = |def: &AttrDef| def.params.iter().any(|p| matches!(p.kind, ParamKind::Defs(_)));
        for def in dialect.attributes.iter().filter(|def| lists(def)) {
            let params = def.params.iter().map(|param| match param.kind {
                ParamKind::Defs(_) => Some(Attribute::array(vec![Attribute::unit()])),
                kind => Some(value_of(kind)),
            });
            module.set_attr(function, "a.x", Attribute::dialect(def, params.collect()));
            let message = read_back(&module).unwrap();
            // Attributes without a bytecode encoding are written as text, which is refused, too.
            let refused = ["must be a list of #", "cannot be read"];
            let is_refused = refused.iter().any(|words| message.contains(words));
            assert!(is_refused, "{}: {message}", def.mnemonic);
            tried += 1;
        }
    }
    assert!(tried > 10);
}

#[test]
fn symbols_in_bytecode_are_text() {
    let (mut module, function) = empty_function();
    module.set_attr(
        function,
        "sym_name",
        AttrKind::String { value: [0xd2].into(), ty: Type::none() }.into(),
    );
    let message = read_back(&module).unwrap();
    assert!(message.contains("a symbol name"), "{message}");
}

#[test]
fn types_in_bytecode_hold_what_they_may() {
    let inner = Type::tensor([8], Type::f32());
    let message = |ty: Type| {
        let (mut module, function) = empty_function();
        module.set_attr(function, "a", AttrKind::Type(ty).into());
        read_back(&module).unwrap()
    };
    for element in [inner.clone(), Type::none(), Type::tuple(Vec::new())] {
        for ty in [Type::tensor([2], element.clone()), Type::unranked_tensor(element)] {
            let message = message(ty);
            assert!(message.contains("a tensor cannot hold elements of type"), "{message}");
        }
    }
    let message = message(Type::complex(inner));
    assert!(message.contains("the parts of a complex type are"), "{message}");
}

#[test]
fn ranks_are_bounded() {
    let text =
        |rank: usize| format!("func.func @f(%a: tensor<{}f32>) {{ return }}", "1x".repeat(rank));
    assert_eq!(error(&text(MAX_RANK)), None);
    assert!(error(&text(MAX_RANK + 1)).unwrap().contains("at most 1024 dimensions"));
}

#[test]
fn no_attribute_that_becomes_a_list_is_a_giant_splat() {
    let splat = |shape: &[i64], element: Type| {
        let bytes = Bytes::from_vec(vec![0u8; element.dtype().unwrap().bytes()]);
        let ty = Type::tensor(shape, element);
        Attribute::from(mlir::attrs::DenseElements::new(ty, bytes).unwrap())
    };
    let mut lists = 0;
    for dialect in stablo::registry().dialects() {
        for def in dialect.ops {
            for slot in def.attributes {
                let holds = |attribute: &Attribute| slot.constraint.holds(attribute);
                let takes_any = holds(&splat(&[1], Type::f32()));
                for element in [Type::i64(), Type::index()] {
                    if takes_any || !holds(&splat(&[2, 2], element.clone())) {
                        continue;
                    }
                    lists += 1;
                    let giant = splat(&[1, MAX_SPLAT_INTS as i64 + 1], element);
                    assert!(!holds(&giant), "{} {}", def.name, slot.name);
                    assert_eq!(giant.as_dense().unwrap().int_values(), None);
                }
            }
        }
    }
    assert!(lists > 10);
}

/// Functions of which each calls the next one so often, the first from outside; the last computes.
fn calls(levels: usize, times: usize) -> Module {
    let function = |i: usize, body: &str, result: usize| {
        let visibility = if i == 0 { "public" } else { "private" };
        format!(
            "func.func {visibility} @f{i}(%0: tensor<f32>) -> tensor<f32> {{
                {body}
                return %{result} : tensor<f32>
            }}\n"
        )
    };
    let mut text = String::new();
    for i in 0..levels {
        let call = |k| {
            format!("%{} = func.call @f{}(%{k}) : (tensor<f32>) -> tensor<f32>\n", k + 1, i + 1)
        };
        text.push_str(&function(i, &(0..times).map(call).collect::<String>(), times));
    }
    text.push_str(&function(levels, "%1 = stablehlo.sine %0 : tensor<f32>", 1));
    LoadOptions::default().load("m.mlir", text).into_result().unwrap()
}

#[test]
fn inlining_that_grows_exponentially_is_an_error() {
    let mut module = calls(60, 2);
    let error = stablo::run_pipeline(&mut module, "inline").unwrap_err();
    assert!(error.diagnostics()[0].message.contains("more than 262144 ops"), "{error}");
}

/// Neither a branch of 2^40 calls that is not taken, nor endless recursion of functions that call
/// twice takes time to plan.
#[test]
fn calls_that_grow_exponentially_are_planned() {
    let functions = |levels: usize, last: &str| -> String {
        let function = |i: usize| {
            let next = if i + 1 < levels { format!("f{}", i + 1) } else { last.to_owned() };
            format!(
                "func.func private @f{i}(%0: tensor<f32>) -> tensor<f32> {{
                    %1 = func.call @{next}(%0) : (tensor<f32>) -> tensor<f32>
                    %2 = func.call @{next}(%1) : (tensor<f32>) -> tensor<f32>
                    return %2 : tensor<f32>
                }}\n"
            )
        };
        (0..levels).map(function).collect()
    };
    let run = |text: String| {
        let module = LoadOptions::default().load("m.mlir", text).into_result().unwrap();
        let one = RuntimeValue::Tensor(Tensor::scalar(1.0_f32));
        stablo::run(&module, "main", vec![one]).map(|results| results.len())
    };
    let branch = format!(
        r#"func.func @main(%0: tensor<f32>) -> tensor<f32> {{
            %is_greater = stablehlo.compare GT, %0, %0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %r = "stablehlo.if"(%is_greater) ({{
                %1 = func.call @f0(%0) : (tensor<f32>) -> tensor<f32>
                stablehlo.return %1 : tensor<f32>
            }}, {{
                stablehlo.return %0 : tensor<f32>
            }}) : (tensor<i1>) -> tensor<f32>
            return %r : tensor<f32>
        }}
        func.func private @last(%0: tensor<f32>) -> tensor<f32> {{ return %0 : tensor<f32> }}
        {}"#,
        functions(40, "last")
    );
    assert_eq!(run(branch).unwrap(), 1);
    let recursion = format!(
        "func.func @main(%0: tensor<f32>) -> tensor<f32> {{
            %1 = func.call @f0(%0) : (tensor<f32>) -> tensor<f32>
            return %1 : tensor<f32>
        }}
        {}",
        functions(3, "f1")
    );
    let error = run(recursion).unwrap_err().to_string();
    assert!(error.contains("nest deeper than 1000 levels"), "{error}");
}

#[test]
fn locations_of_inlined_ops_can_be_read_back() {
    let mut module = calls(1000, 1);
    stablo::run_pipeline(&mut module, "inline").unwrap();
    let artifact = stablo::serialize(&module, Version::CURRENT).unwrap();
    assert!(LoadOptions::default().load("m.mlir.bc", &*artifact).into_result().is_ok());
}

#[test]
fn bits_beyond_the_width_of_an_element_are_ignored() {
    let numbers = [1u8, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1];
    for (ty, width) in
        [("ui2", 2), ("ui4", 4), ("i2", 2), ("i4", 4), ("i3", 3), ("ui5", 5), ("i7", 7)]
    {
        let text = format!(
            "module attributes {{test.a = dense<{numbers:?}> : tensor<{}x{ty}>}} {{}}",
            numbers.len()
        );
        let load = |bytes: &[u8]| LoadOptions::default().load("m", bytes).into_result().unwrap();
        let module = load(text.as_bytes());
        let mut bytes = stablo::write_bytecode(&module, &BytecodeOptions::default()).unwrap();
        let at = bytes.windows(numbers.len()).position(|window| window == numbers).unwrap();
        bytes[at..at + numbers.len()].iter_mut().for_each(|byte| *byte |= 0xff << width);
        assert_eq!(load(&bytes).to_string(), module.to_string(), "{ty}");
    }
}

#[test]
fn elements_of_a_numeric_type_are_no_strings() {
    let (mut module, function) = empty_function();
    let strings = |ty| AttrKind::DenseStrings { ty, values: vec![(*b"a").into()] };
    let ty = Type::tensor([2], Type::integer(32, mlir::types::Signedness::Signless));
    module.set_attr(function, "test.a", strings(ty).into());
    let message = read_back(&module).unwrap();
    let expected = "elements of tensor<2xi32> must be numbers; found strings";
    assert!(message.contains(expected), "{message}");
}
