//! Folding preserves the bits of results; folded ops are gone.

use super::common::{passed, run};

const FOLD: &str = "func.func(stablehlo-aggressive-folder)";
const ALL: &str = "func.func(stablehlo-target-independent-optimization)";

/// Asserts that folding preserves the results of a program without inputs, and leaves only
/// constants.
fn folds(results: &str, body: &str) {
    let text = format!("func.func @main() -> ({results}) {{\n{body}\n}}");
    let before = run(&text, "cse", &[]);
    for pipeline in [FOLD, ALL] {
        let after = run(&text, pipeline, &[]);
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(
                (before.shape(), &before.bytes()[..]),
                (after.shape(), &after.bytes()[..]),
                "{text}"
            );
        }
        let text = passed(&text, pipeline);
        let left =
            text.lines().find(|line| line.contains("= ") && !line.contains("stablehlo.constant"));
        assert_eq!(left, None, "{text}");
    }
}

#[test]
fn arithmetic() {
    folds(
        "tensor<4xf32>, tensor<4xi8>, tensor<4xf32>, tensor<4xbf16>, tensor<4xi1>",
        "%a = stablehlo.constant dense<[1.5, -0.0, 0x7FC00001, 3.0e38]> : tensor<4xf32>
         %b = stablehlo.constant dense<[0.1, -0.0, 1.0, 3.0e38]> : tensor<4xf32>
         %0 = stablehlo.add %a, %b : tensor<4xf32>
         %i = stablehlo.constant dense<[127, -128, 5, 0]> : tensor<4xi8>
         %1 = stablehlo.multiply %i, %i : tensor<4xi8>
         %2 = stablehlo.tanh %b : tensor<4xf32>
         %3 = stablehlo.convert %b : (tensor<4xf32>) -> tensor<4xbf16>
         %4 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
         return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xi8>, tensor<4xf32>, tensor<4xbf16>, tensor<4xi1>",
    );
}

#[test]
fn whole_subgraphs() {
    folds(
        "tensor<2x2xf32>, tensor<3xf32>, tensor<2x4xi32>",
        "%a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
         %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
         %0 = stablehlo.dot_general %a, %t, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
         %s = stablehlo.slice %a [1:2, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
         %r = stablehlo.reshape %s : (tensor<1x3xf32>) -> tensor<3xf32>
         %1 = stablehlo.sqrt %r : tensor<3xf32>
         %c = stablehlo.constant dense<7> : tensor<2x2xi32>
         %d = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
         %2 = stablehlo.concatenate %c, %d, dim = 1 : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x4xi32>
         return %0, %1, %2 : tensor<2x2xf32>, tensor<3xf32>, tensor<2x4xi32>",
    );
}

/// Splats fold whatever their size, also through reductions that preserve them.
#[test]
fn equal_elements() {
    folds(
        "tensor<1000000xf32>, tensor<i1>",
        "%a = stablehlo.constant dense<2.0> : tensor<1000x1000xf32>
         %0 = stablehlo.sqrt %a : tensor<1000x1000xf32>
         %1 = stablehlo.reshape %0 : (tensor<1000x1000xf32>) -> tensor<1000000xf32>
         %b = stablehlo.constant dense<false> : tensor<400x320xi1>
         %f = stablehlo.constant dense<false> : tensor<i1>
         %2 = stablehlo.reduce(%b init: %f) applies stablehlo.or across dimensions = [0, 1] : (tensor<400x320xi1>, tensor<i1>) -> tensor<i1>
         return %1, %2 : tensor<1000000xf32>, tensor<i1>",
    );
}

/// Tensors above the limit are not folded, nor are results on which hardware disagrees.
#[test]
fn what_does_not_fold() {
    let stays = |op: &str, body: &str, pipeline: &str| {
        let text = passed(
            &format!(
                "func.func @main() -> tensor<4xi32> {{\n{body}\nreturn %0 : tensor<4xi32>\n}}"
            ),
            pipeline,
        );
        assert!(text.contains(op), "{text}");
    };
    let constants = "%a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
                     %b = stablehlo.constant dense<[1, 0, 3, 4]> : tensor<4xi32>
                     %x = stablehlo.constant dense<[1.0, 2.0, 3.0e38, 4.0]> : tensor<4xf32>\n";
    let limited = "func.func(stablehlo-aggressive-folder{fold-op-element-limit=3})";
    stays(
        "stablehlo.add",
        &format!("{constants}%0 = stablehlo.add %a, %b : tensor<4xi32>"),
        limited,
    );
    stays(
        "stablehlo.divide",
        &format!("{constants}%0 = stablehlo.divide %a, %b : tensor<4xi32>"),
        FOLD,
    );
    let convert = "%0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>";
    stays("stablehlo.convert", &format!("{constants}{convert}"), FOLD);
}
