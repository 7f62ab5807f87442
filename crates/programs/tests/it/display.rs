//! Readable results.

use programs::display::display;
use stablo::{DType, RuntimeValue, Tensor, Type};

fn shown(tensor: Tensor) -> String {
    let ty = Type::tensor([], Type::from(tensor.dtype()));
    let mut out = Vec::new();
    display(&mut out, "x", &RuntimeValue::Tensor(tensor), &ty).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn small_tensors_are_whole() {
    assert_eq!(shown(Tensor::scalar(0.1f32)), "x: tensor<f32>\n  0.1\n");
    let matrix = Tensor::from_vec([2, 2], vec![1i8, 2, 3, -4]).unwrap();
    assert_eq!(shown(matrix), "x: tensor<2x2xi8>\n  [[1, 2],\n   [3, -4]]\n");
    assert_eq!(
        shown(Tensor::from_vec([0], Vec::<f32>::new()).unwrap()),
        "x: tensor<0xf32>\n  []\n"
    );
}

/// A list of empty lists is as long as one of elements.
#[test]
fn empty_lists_are_abbreviated() {
    let shown = shown(Tensor::from_vec([usize::MAX, 0, 2], Vec::<i8>::new()).unwrap());
    assert_eq!(shown.matches("[]").count(), 6, "{shown}");
}

/// No dimension is long enough to be abbreviated, but there are a million elements.
#[test]
fn tensors_of_many_dimensions_are_abbreviated() {
    let text = shown(Tensor::zeros(DType::I8, [2; 20]).unwrap());
    assert!(text.len() < 500_000 && text.contains('…'), "{}", text.len());
}

#[test]
fn large_tensors_are_abbreviated() {
    let values = (0..100).map(|i| if i == 50 { f64::NAN } else { 1.0 }).collect();
    let text = shown(Tensor::from_vec([100], values).unwrap());
    let expected = "x: tensor<100xf64>\n  [1.0, 1.0, 1.0, …, 1.0, 1.0, 1.0]\n  \
                    min 1.0, max 1.0, mean 1.0, standard deviation 0.0, 1 NaN\n";
    assert_eq!(text, expected);
}
