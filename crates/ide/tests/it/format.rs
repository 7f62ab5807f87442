//! Formatting.

use crate::edited;
use ide::File;

fn formatted(text: &str) -> String {
    let file = File::new("test.mlir", text);
    edited(&file, &file.format())
}

#[test]
fn indentation_and_spaces() {
    let text = "module {
func.func @f(%x: tensor<f32>,
 %y: tensor<f32>) {\x20\x20
      // Comment.


   %0 = \"stablehlo.if\"(%p) ({
 stablehlo.return %x : tensor<f32>
}, {
   stablehlo.return %y : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
   cf.br ^bb1
 ^bb1:
  return
    }
  }
// -----
";
    let expected = "module {
  func.func @f(%x: tensor<f32>,
    %y: tensor<f32>) {
    // Comment.

    %0 = \"stablehlo.if\"(%p) ({
      stablehlo.return %x : tensor<f32>
    }, {
      stablehlo.return %y : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    cf.br ^bb1
  ^bb1:
    return
  }
}
// -----
";
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected);
}
