//! Running generated programs, and a plain model of tensors to compare with.

use proptest::prelude::*;
use stablo::{DType, Engine, Program, RunOptions, RuntimeValue, Tensor};

/// A tensor of integers, by index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub shape: Vec<usize>,
    pub values: Vec<i64>,
}

/// All indices of a shape, the last dimension fastest.
pub(crate) fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &size in shape {
        all = all.iter().flat_map(|index| (0..size).map(|i| [&index[..], &[i]].concat())).collect();
    }
    all
}

impl Model {
    /// A tensor with elements computed by `f`.
    pub(crate) fn build(shape: &[usize], f: impl FnMut(&[usize]) -> i64) -> Model {
        let mut f = f;
        Model {
            shape: shape.to_vec(),
            values: indices(shape).iter().map(|index| f(index)).collect(),
        }
    }

    /// The element at an index.
    pub(crate) fn at(&self, index: &[usize]) -> i64 {
        let place = index.iter().zip(&self.shape).fold(0, |place, (&i, &size)| {
            assert!(i < size, "{index:?} is outside of {:?}", self.shape);
            place * size + i
        });
        self.values[place]
    }

    /// The element at an index; `padding` if that is out of bounds.
    pub(crate) fn at_or(&self, index: &[i64], padding: i64) -> i64 {
        let inside = index.iter().zip(&self.shape).all(|(&i, &size)| i >= 0 && (i as usize) < size);
        if inside {
            self.at(&index.iter().map(|&i| i as usize).collect::<Vec<_>>())
        } else {
            padding
        }
    }

    /// The model as a tensor of the given element type, which must represent all values.
    pub(crate) fn tensor(&self, dtype: DType) -> Tensor {
        let exact =
            Tensor::from_vec(&self.shape, self.values.clone()).expect("as many as the shape says");
        numerics::math::convert(exact, dtype).expect("integers become any type")
    }

    pub(crate) fn type_of(&self, dtype: DType) -> String {
        type_text(&self.shape, dtype.name())
    }
}

/// `tensor<2x3xf32>`
pub(crate) fn type_text(shape: &[usize], element: &str) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{element}>")
}

/// A program of one op whose operands are the arguments of `main`.
pub(crate) struct OneOp {
    program: Program,
    text: String,
}

impl OneOp {
    /// The op on arguments with the types of `inputs`. `attributes` include braces and regions.
    ///
    /// # Errors
    /// Errors of the parser and the verifier.
    pub(crate) fn new(
        op: &str,
        inputs: &[Tensor],
        attributes: &str,
        result: &str,
        engine: Engine,
    ) -> Result<OneOp, String> {
        let types: Vec<String> =
            inputs.iter().map(|t| type_text(t.shape(), t.dtype().name())).collect();
        let arguments: Vec<String> =
            types.iter().enumerate().map(|(i, ty)| format!("%a{i}: {ty}")).collect();
        let names: Vec<String> = (0..inputs.len()).map(|i| format!("%a{i}")).collect();
        let text = format!(
            "func.func @main({}) -> {result} {{\n  %r = \"{op}\"({}) {attributes} : ({}) -> {result}\n  return %r : {result}\n}}",
            arguments.join(", "),
            names.join(", "),
            types.join(", ")
        );
        let shown = |error: stablo::Error| format!("{error}\n{text}");
        let module = stablo::load("generated.mlir", &*text).map_err(shown)?;
        let options = RunOptions { engine, ..RunOptions::default() };
        let program = Program::prepare(module, "main", options).map_err(shown)?;
        Ok(OneOp { program, text })
    }

    /// The result on these inputs.
    ///
    /// # Errors
    /// Errors of the run.
    pub(crate) fn run(&self, inputs: &[Tensor]) -> Result<Tensor, String> {
        let inputs = inputs.iter().cloned().map(RuntimeValue::Tensor).collect();
        let results = self.program.run(inputs);
        let results = results.map_err(|error| format!("{error}\n{}", self.text))?;
        let [result] = <[RuntimeValue; 1]>::try_from(results)
            .map_err(|_| "one result was expected".to_string())?;
        result.into_tensor().map_err(|e| e.to_string())
    }
}

/// Asserts that the op on models gives `expected`, bit by bit, for elements of the given type, with
/// both engines.
#[track_caller]
pub(crate) fn check(op: &str, dtype: DType, inputs: &[Tensor], attributes: &str, expected: &Model) {
    let ty = expected.type_of(dtype);
    let expected = expected.tensor(dtype);
    for &engine in Engine::ALL {
        let program = OneOp::new(op, inputs, attributes, &ty, engine);
        let actual = program.and_then(|program| program.run(inputs));
        let actual = actual.unwrap_or_else(|e| panic!("{op}: {e}"));
        assert_eq!(actual.shape(), expected.shape());
        assert!(
            actual.bytes()[..] == expected.bytes()[..],
            "{op} {attributes} of {inputs:?} is {actual:?}, not {expected:?}, with {engine:?}"
        );
    }
}

/// A vector of `i64` as an operand.
pub(crate) fn vector(values: &[i64]) -> Tensor {
    Tensor::from_vec([values.len()], values.to_vec()).expect("a vector")
}

/// `array<i64: 1, 2>`
pub(crate) fn array(values: &[i64]) -> String {
    if values.is_empty() {
        return "array<i64>".into();
    }
    format!("array<i64: {}>", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
}

pub(crate) fn signed(values: &[usize]) -> Vec<i64> {
    values.iter().map(|&v| v as i64).collect()
}

/// Any element type of the specification.
pub(crate) fn any_dtype() -> impl Strategy<Value = DType> {
    let all: Vec<DType> = DType::ALL.iter().copied().filter(|&d| d != DType::TF32).collect();
    prop::sample::select(all)
}

/// Shapes of at most `rank` dimensions of at most `size` elements, some of them empty.
pub(crate) fn shapes(rank: usize, size: usize) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..=size, 0..=rank)
}

/// Elements of the given shape: zeros and ones, which every type has.
pub(crate) fn bits(shape: Vec<usize>) -> impl Strategy<Value = Model> {
    let count = shape.iter().product::<usize>();
    prop::collection::vec(0..=1i64, count)
        .prop_map(move |values| Model { shape: shape.clone(), values })
}

/// Elements of the given shape: small integers.
pub(crate) fn numbers(shape: Vec<usize>) -> impl Strategy<Value = Model> {
    let count = shape.iter().product::<usize>();
    prop::collection::vec(-9..=9i64, count)
        .prop_map(move |values| Model { shape: shape.clone(), values })
}
