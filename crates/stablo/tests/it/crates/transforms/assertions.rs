//! `stablehlo-check-shape-assertions`.

use super::common::errors;

#[test]
fn messages_show_values() {
    let shown = |message: &str| {
        let text = format!(
            "func.func @main() {{
               %holds = stablehlo.constant dense<false> : tensor<i1>
               %a = stablehlo.constant dense<7> : tensor<i32>
               %b = stablehlo.constant dense<8> : tensor<i64>
               stablehlo.custom_call @shape_assertion(%holds, %a, %b) {{
                 error_message = \"{message}\", has_side_effect = true
               }} : (tensor<i1>, tensor<i32>, tensor<i64>) -> ()
               return
             }}"
        );
        let errors = errors(&text, "func.func(stablehlo-check-shape-assertions)");
        errors.into_iter().map(|e| e.message).collect::<Vec<_>>()
    };
    assert_eq!(shown("a {0} b {1:x}"), ["a 7 b 8"]);
    assert_eq!(shown("{ x } {12"), ["{ x } {12"]);
    assert_eq!(shown(""), [""]);
}
