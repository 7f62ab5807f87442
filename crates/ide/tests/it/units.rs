//! Large programs, which are read function by function.

use ide::{Edit, File, Span};

/// A program of several functions as printers write it.
fn program() -> String {
    let mut text = String::from("#loc1 = loc(\"a\")\nmodule @m attributes {test.flag = true} {\n");
    for number in 0..6 {
        let (name, visibility) = match number {
            0 => ("main".to_string(), "public"),
            number => (format!("f{number}"), "private"),
        };
        let next = (number + 1) % 6;
        let callee = if next == 0 { "f1".to_string() } else { format!("f{next}") };
        text.push_str(&format!(
            "  func.func {visibility} @{name}(%arg0: tensor<2xf32> loc(#loc1)) -> tensor<2xf32> {{
    %0 = stablehlo.sine %arg0 : tensor<2xf32> loc(#loc2)
    %1 = call @{callee}(%0) : (tensor<2xf32>) -> tensor<2xf32> loc(#loc3)
    %2 = stablehlo.add %0, %1 : tensor<2xf32>
    return %2 : tensor<2xf32>
  }} loc(#loc1)\n"
        ));
    }
    text + "}\n#loc2 = loc(\"b\")\n#loc3 = loc(callsite(#loc2 at #loc1))\n"
}

/// Positions and messages of findings.
fn shown(file: &File) -> Vec<String> {
    let finding =
        |f: &ide::Finding| format!("{:?} {:?} {} {}", f.span, f.severity, f.label, f.message);
    file.diagnostics().iter().map(finding).collect()
}

#[test]
fn parts_find_what_the_whole_finds() {
    let program = program();
    let changes = [
        ("", ""),
        ("%0 = stablehlo.sine %arg0", "%0 = stablehlo.sin %arg0"),
        ("stablehlo.add %0, %1 : tensor<2xf32>", "stablehlo.add %0, %1 : tensor<3xf32>"),
        ("call @f3(%0)", "call @f9(%0)"),
        (
            "call @f2(%0) : (tensor<2xf32>) -> tensor<2xf32>",
            "call @f2(%0) : (tensor<2xf32>) -> tensor<3xf32>",
        ),
        ("loc(#loc3)", "loc(#loc9)"),
        ("#loc2 = loc(\"b\")", "#loc2 = loc(b)"),
        ("test.flag = true", "test.flag = "),
        ("return %2 : tensor<2xf32>", "return %2, %2 : tensor<2xf32>, tensor<2xf32>"),
        ("%2 = stablehlo.add %0, %1", "%2 = stablehlo.add %0, %5"),
    ];
    for (old, new) in changes {
        let text = program.replacen(old, new, 1);
        let whole = File::new("test.mlir", &*text);
        let parts = File::new("test.mlir", &*text).with_large(0);
        assert_eq!(shown(&parts), shown(&whole), "{old} => {new}");
    }
}

#[test]
fn edits_read_what_changed() {
    let mut file = File::new("test.mlir", program()).with_large(0);
    let mut seed = 1u64;
    for _ in 0..300 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let start = (seed >> 33) as u32 % (file.text().len() as u32 + 1);
        let typed = ["", "%0", "\n", "}", "stablehlo.", "// x\n", "  func.func @g() {\n", "x"];
        let end = (start + (seed >> 20) as u32 % 4).min(file.text().len() as u32);
        let edit = Edit::replace(Span { start, end }, typed[(seed >> 12) as usize % typed.len()]);
        assert!(file.edit(&edit));
        let fresh = File::new("test.mlir", file.text()).with_large(0);
        assert_eq!(shown(&file), shown(&fresh), "{}", file.text());
        if seed.is_multiple_of(5) {
            file.set_text(program());
        }
    }
}

#[test]
fn completions_read_one_function() {
    let text = program().replacen("    return %2", "    %3 = stablehlo.cos\n    return %2", 1);
    let at = text.find("stablehlo.cos").expect("the op") as u32 + "stablehlo.cos".len() as u32;
    let whole = File::new("test.mlir", &*text).completions(at).items;
    let parts = File::new("test.mlir", &*text).with_large(0).completions(at).items;
    assert_eq!(parts, whole);
    assert_eq!(whole[0].label, "stablehlo.cosine");
    let text = text.replacen("stablehlo.cos\n", "call @f2(%0\n", 1);
    let at = text.find("call @f2(%0\n").expect("the call") as u32 + "call @f2(%0".len() as u32;
    let whole = File::new("test.mlir", &*text);
    let parts = File::new("test.mlir", &*text).with_large(0);
    assert_eq!(parts.completions(at).items, whole.completions(at).items);
    assert_eq!(parts.signature(at), whole.signature(at));
}
