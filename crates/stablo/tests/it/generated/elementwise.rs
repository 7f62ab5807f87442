//! Elementwise ops: for each declared element type, on arbitrary bits.

use super::model::{OneOp, type_text};
use mlir::ods::{Arity, OpDef, Presence, Trait};
use numerics::shape::StridedView;
use numerics::{Float, Integer, dispatch, dispatch_all};
use proptest::prelude::*;
use stablo::{Bytes, DType, Engine, Tensor, Type};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Ops between quantized and other types, whose parameters are not generated here.
const QUANTIZED: [&str; 2] = ["uniform_dequantize", "uniform_quantize"];

/// Elementwise ops without special requirements on operands and attributes.
fn plain_ops() -> Vec<&'static OpDef> {
    let plain = |op: &&'static OpDef| {
        op.dialect() == "stablehlo"
            && op.has_trait(&Trait::Elementwise)
            && op.results.len() == 1
            && op.operands.iter().all(|slot| slot.arity == Arity::Single)
            && op.attributes.iter().all(|slot| slot.presence != Presence::Required)
            && !QUANTIZED.contains(&op.mnemonic())
    };
    stablo::registry().ops().filter(plain).collect()
}

/// True if the declaration accepts these elements for all operands.
fn takes(op: &OpDef, dtype: DType) -> bool {
    // Declared, as in the specification, which does not define the remainder of complex numbers.
    if op.mnemonic() == "remainder" && dtype.is_complex() {
        return false;
    }
    let text = type_text(&[2], dtype.name());
    let Ok(types) = stablo::parse_types(&text) else { return false };
    types.first().is_some_and(|ty: &Type| op.operands.iter().all(|slot| slot.constraint.holds(ty)))
}

/// Element types that a result of an op on `dtype` may have.
fn result_elements(dtype: DType) -> Vec<DType> {
    let mut all = vec![dtype, DType::I1];
    all.extend(if dtype.is_complex() { Some(dtype.part()) } else { dtype.complex() });
    all
}

/// A tensor of these bytes, truncated to the width of the type.
fn of_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Tensor {
    let count: usize = shape.iter().product();
    let data = bytes.iter().copied().cycle().take(count * dtype.bytes()).collect::<Vec<u8>>();
    // Booleans are 0 or 1.
    let data = if dtype == DType::I1 { data.iter().map(|b| b & 1).collect() } else { data };
    Tensor::from_bytes(dtype, shape, Bytes::from_vec(data)).expect("as many bytes as elements need")
}

/// A kind of programs.
#[derive(Clone, Copy, Debug)]
struct Kind {
    op: &'static str,
    operands: usize,
    dtype: DType,
}

/// Every op with every element type that it takes.
static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let kinds = |op: &'static OpDef| {
        let takes = move |&&dtype: &&DType| dtype != DType::TF32 && takes(op, dtype);
        let kind = |&dtype| Kind { op: op.name, operands: op.operands.len(), dtype };
        DType::ALL.iter().filter(takes).map(kind)
    };
    plain_ops().into_iter().flat_map(kinds).collect()
});

/// An op of the kinds that are kept, and operands for it.
fn programs(keep: impl Fn(&Kind) -> bool) -> impl Strategy<Value = (&'static str, Vec<Tensor>)> {
    let kinds: Vec<Kind> = KINDS.iter().copied().filter(keep).collect();
    let shape = prop::collection::vec(0..4usize, 0..3);
    let bytes = prop::collection::vec(prop::collection::vec(any::<u8>(), 64), 3);
    (prop::sample::select(kinds), shape, bytes).prop_map(
        |(Kind { op, operands, dtype }, shape, bytes): (_, Vec<usize>, Vec<Vec<u8>>)| {
            (op, bytes[..operands].iter().map(|bytes| of_bytes(dtype, &shape, bytes)).collect())
        },
    )
}

/// The element at a position, as a tensor of rank 0.
fn element(tensor: &Tensor, place: usize) -> Tensor {
    let flat = tensor.reshape([tensor.num_elements()]).expect("as many elements");
    let view = StridedView::window(flat.shape(), &[place], &[1], &[1]).expect("within the tensor");
    flat.gather(&view).and_then(|t| t.into_shape([])).expect("one element")
}

/// The op with the first result type that verifies.
fn program(op: &str, inputs: &[Tensor]) -> Result<OneOp, TestCaseError> {
    let mut errors = Vec::new();
    for dtype in result_elements(inputs[0].dtype()) {
        match OneOp::new(op, inputs, "", &type_text(inputs[0].shape(), dtype.name()), Engine::Fast)
        {
            Ok(program) => return Ok(program),
            Err(error) => errors.push(error),
        }
    }
    Err(TestCaseError::fail(errors.join("\n")))
}

fn run(program: &OneOp, inputs: &[Tensor]) -> Result<Tensor, TestCaseError> {
    program.run(inputs).map_err(TestCaseError::fail)
}

fn raw<T: Float>(tensor: &Tensor) -> Vec<f64> {
    tensor.as_slice::<T>().expect("of that type").iter().map(|x| x.to_f64()).collect()
}

fn is_narrow(dtype: DType) -> bool {
    dtype.is_float() && dtype.bits() <= 16
}

/// The numbers of each narrow type of floats, ascending.
static NUMBERS: LazyLock<BTreeMap<DType, Vec<f64>>> = LazyLock::new(|| {
    let numbers = |dtype: DType| -> Vec<f64> {
        let all = dispatch!(dtype, [float] T => {
            (0..1u64 << dtype.bits()).map(|bits| T::from_raw(bits).to_f64()).collect()
        }, else Vec::new());
        let mut all: Vec<f64> = all.into_iter().filter(|x| x.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    let narrow = DType::ALL.iter().filter(|&&dtype| is_narrow(dtype));
    narrow.map(|&dtype| (dtype, numbers(dtype))).collect()
});

/// True if none of the numbers, which ascend, is nearer to `exact` than `value`. Ties may round
/// either way.
fn is_nearest(numbers: &[f64], value: f64, exact: f64) -> bool {
    let after = numbers.partition_point(|&x| x < exact);
    let neighbours = &numbers[after.saturating_sub(1)..numbers.len().min(after + 1)];
    let nearest = neighbours.iter().map(|x| (x - exact).abs()).fold(f64::INFINITY, f64::min);
    (value - exact).abs() == nearest
}

/// Exact values of ops on floats, where `f64` has them.
fn exact_float(op: &str, x: f64, y: f64) -> Option<f64> {
    Some(match op {
        "stablehlo.add" => x + y,
        "stablehlo.subtract" => x - y,
        "stablehlo.multiply" => x * y,
        "stablehlo.negate" => -x,
        "stablehlo.abs" => x.abs(),
        "stablehlo.floor" => x.floor(),
        "stablehlo.ceil" => x.ceil(),
        _ => return None,
    })
}

/// Values of ops on `bits`-bit integers, before reduction modulo 2^`bits`.
fn exact_integer(op: &str, x: i128, y: i128, bits: u32, signed: bool) -> Option<i128> {
    let amount = if y < 0 { y + (1 << bits) } else { y };
    let wide = amount >= i128::from(bits);
    let unsigned = if x < 0 { x + (1 << bits) } else { x };
    Some(match op {
        "stablehlo.add" => x + y,
        "stablehlo.subtract" => x - y,
        "stablehlo.multiply" => x.checked_mul(y)?,
        "stablehlo.negate" => -x,
        "stablehlo.abs" => x.abs(),
        "stablehlo.sign" => x.signum(),
        "stablehlo.maximum" => x.max(y),
        "stablehlo.minimum" => x.min(y),
        "stablehlo.and" => x & y,
        "stablehlo.or" => x | y,
        "stablehlo.xor" => x ^ y,
        "stablehlo.not" => !x,
        "stablehlo.divide" if y != 0 => x / y,
        "stablehlo.remainder" if y != 0 => x % y,
        "stablehlo.shift_left" => {
            if wide {
                0
            } else {
                x << amount
            }
        }
        "stablehlo.shift_right_logical" => {
            if wide {
                0
            } else {
                unsigned >> amount
            }
        }
        "stablehlo.shift_right_arithmetic" => {
            // The top bit is repeated, whatever it means.
            let x = if signed || unsigned >> (bits - 1) == 0 { x } else { unsigned - (1 << bits) };
            x >> if wide { i128::from(bits) - 1 } else { amount }
        }
        "stablehlo.popcnt" => i128::from(unsigned.count_ones()),
        "stablehlo.count_leading_zeros" => {
            i128::from(bits) - i128::from(128 - unsigned.leading_zeros())
        }
        _ => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// An op on tensors equals the op on each element, whatever the bits.
    #[test]
    fn each_element_is_computed_alone((op, inputs) in programs(|_| true)) {
        let result = run(&program(op, &inputs)?, &inputs)?;
        prop_assert_eq!(result.shape(), inputs[0].shape());
        let mut on_scalars = None;
        for place in 0..result.num_elements() {
            let scalars: Vec<Tensor> = inputs.iter().map(|t| element(t, place)).collect();
            let program = match on_scalars {
                Some(ref program) => program,
                None => on_scalars.insert(program(op, &scalars)?),
            };
            let alone = run(program, &scalars)?;
            prop_assert!(alone.bytes()[..] == element(&result, place).bytes()[..], "{} at {} of {:?}", op, place, inputs);
        }
    }

    /// Integers: arithmetic modulo two to the power of the width.
    #[test]
    fn integers_wrap_around((op, inputs) in programs(|kind| kind.dtype.is_integer())) {
        let dtype = inputs[0].dtype();
        let result = run(&program(op, &inputs)?, &inputs)?;
        let checked = dispatch!(dtype, [integer] T => {
            let list = |t: &Tensor| t.as_slice::<T>().map(|s| s.iter().map(|x| x.to_i128()).collect::<Vec<_>>()).unwrap_or_default();
            let (x, y) = (list(&inputs[0]), list(inputs.last().unwrap_or(&inputs[0])));
            list(&result).iter().zip(x.iter().zip(&y)).all(|(&r, (&x, &y))| {
                let exact = exact_integer(op, x, y, <T as Integer>::BITS, <T as Integer>::SIGNED);
                exact.is_none_or(|exact| (exact - r) % (1 << <T as Integer>::BITS) == 0)
            })
        }, else true);
        prop_assert!(checked, "{} of {:?} is {:?}", op, inputs, result);
    }

    /// An operand used twice is not overwritten too early.
    #[test]
    fn operands_may_be_shared((op, mut inputs) in programs(|kind| kind.operands == 2)) {
        let program = program(op, &inputs)?;
        let copy = dispatch_all!(inputs[0].dtype(), T => Tensor::from_vec(inputs[0].shape(), inputs[0].to_vec::<T>().expect("typed")));
        inputs[1] = inputs[0].clone();
        let shared = run(&program, &inputs)?;
        inputs[1] = copy.expect("as many elements");
        let apart = run(&program, &inputs)?;
        prop_assert!(shared.bytes()[..] == apart.bytes()[..]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Narrow floats: no number of the type is closer to the exact result.
    #[test]
    fn floats_are_rounded_to_the_nearest((op, inputs) in programs(is_exact_on_narrow_floats)) {
        let dtype = inputs[0].dtype();
        let result = run(&program(op, &inputs)?, &inputs)?;
        prop_assert_eq!(result.dtype(), dtype);
        let numbers = &NUMBERS[&dtype];
        let range = numbers[0]..=numbers[numbers.len() - 1];
        dispatch!(dtype, [float] T => {
            let (x, y, r) = (raw::<T>(&inputs[0]), raw::<T>(inputs.last().unwrap_or(&inputs[0])), raw::<T>(&result));
            for (&r, (&x, &y)) in r.iter().zip(x.iter().zip(&y)) {
                let Some(exact) = exact_float(op, x, y).filter(|e| range.contains(e)) else { continue };
                prop_assert!(is_nearest(numbers, r, exact), "{} of {:e} and {:e} is {:e} in {}", op, x, y, r, dtype.name());
            }
        }, else ());
    }
}

fn is_exact_on_narrow_floats(kind: &Kind) -> bool {
    is_narrow(kind.dtype) && exact_float(kind.op, 1.0, 1.0).is_some()
}

/// Names of ops that random programs reach.
#[test]
fn most_elementwise_ops_are_generated() {
    let names: Vec<&str> = plain_ops().iter().map(|op| op.mnemonic()).collect();
    assert!(names.len() >= 35, "{names:?}");
    for op in plain_ops() {
        assert!(DType::ALL.iter().any(|&dtype| takes(op, dtype)), "{} takes nothing", op.name);
    }
}
