//! Invalid programs: inspecting, writing or printing one without verification gives an error or its
//! text, never a panic.

use stablo::{LoadOptions, SerializeOptions, Version};

/// Programs may be inspected or written without verification.
#[test]
fn programs_that_are_not_valid_are_survived() {
    for op in stablo::registry().ops() {
        let name = op.name;
        for shape in [
            "() : () -> ()",
            "(%x) : (i32) -> (tensor<?xf32>)",
            "(%x) ({ }) : (i32) -> (i32)",
            "() ({ ^b(%a: i32): }, { ^b: }) : () -> (i32)",
        ] {
            let text =
                format!("\"func.func\"() ({{ ^b(%x: i32): %r = \"{name}\"{shape} }}) : () -> ()");
            let text = if shape.ends_with("()") { text.replace("%r = ", "") } else { text };
            let _ = stablo::inspect("invalid", &*text);
            let options = LoadOptions::default().convert_vhlo(false).verify(false);
            let mut module = options.load("invalid", text).module;
            for target in [Version::MINIMUM, Version::CURRENT] {
                for allowed in [false, true] {
                    let options = SerializeOptions::from(target).allow_other_dialects(allowed);
                    let _ = stablo::serialize(&module, options);
                }
            }
            let _ = portable::restore(&mut module);
            let _ = module.to_string();
        }
    }
}

#[test]
fn reading_ends_after_many_errors_and_says_so() {
    let errors = |lines: usize| {
        let body = "  stablehlo.nothing\n".repeat(lines);
        let text = format!("func.func @f() {{\n{body}  return\n}}");
        LoadOptions::default().load("many", text).diagnostics
    };
    let few = errors(99);
    assert_eq!((few.len(), few[98].notes.len()), (99, 0));
    let many = errors(300);
    assert_eq!(many.len(), 100);
    let (note, _) = &many[99].notes[0];
    assert!(note.contains("100 errors"), "{note}");
}

/// Bytecode has no lines to point at: errors begin with the name of the file.
#[test]
fn errors_of_bytecode_name_the_file() {
    let module = stablo::load("whole", "func.func @main() { return }").unwrap();
    let half = stablo::serialize(&module, Version::CURRENT).unwrap()[..60].to_vec();
    let errors = [
        stablo::load("half.bc", half.clone()).unwrap_err(),
        stablo::inspect("half.bc", half).unwrap_err(),
    ];
    for error in errors {
        assert!(error.diagnostics()[0].message.starts_with("half.bc: "), "{error}");
    }
}

#[test]
fn unknown_ops_that_are_built_have_a_suggestion() {
    let mut module = stablo::new_module();
    let mut builder = stablo::Builder::new(&mut module);
    let vector = stablo::Type::tensor([2], stablo::Type::f32());
    for (name, near) in
        [("stablehlo.ad", "stablehlo.add"), ("chlo.erff", "chlo.erf"), ("erf", "chlo.erf")]
    {
        let built = builder.function("f", [vector.clone()], |b, arguments| {
            Ok(vec![b.op(name).operands([arguments[0]]).value()?])
        });
        let error = built.map(|_| ()).unwrap_err().to_string();
        let expected = format!("there is no op `{name}`; did you mean `{near}`?");
        assert!(error.contains(&expected), "{error}");
    }
}
