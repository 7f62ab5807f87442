//! JAX's generator of random numbers on GPU: Threefry of two words of key and two of counter, for
//! each element.

use mlir::OpRef;
use mlir::prepare::{Prepared, Preparer, native};
use numerics::Tensor;
use program::{EvalError, operands};

/// `cu_threefry2x32_ffi`, and its older form without `_ffi`, which may have the number of elements
/// as its last operand.
pub(super) fn threefry(op: OpRef<'_>, _: &mut Preparer<'_>) -> Prepared {
    native(op, |operands| {
        let operands = operands::tensor_list(operands)?;
        let [k0, k1, x0, x1, ..] = &operands[..] else {
            return Err(EvalError::new(
                "custom_call",
                "two words of key and of counter are required",
            ));
        };
        if [k1, x0, x1].iter().any(|other| other.shape() != k0.shape()) {
            let message = "words of keys and counters must have the same shape";
            return Err(EvalError::new("custom_call", message));
        }
        let words = |tensor: &Tensor| tensor.to_vec::<u32>();
        let (k0, k1, shape) = (words(k0)?, words(k1)?, k0.shape());
        let counters = words(x0)?.into_iter().zip(words(x1)?);
        let blocks = k0.into_iter().zip(k1).zip(counters);
        let block = |((k0, k1), (x0, x1))| kernels::threefry::block([k0, k1], [x0, x1]).into();
        let (first, second): (Vec<u32>, Vec<u32>) = blocks.map::<(u32, u32), _>(block).unzip();
        Ok(vec![Tensor::from_vec(shape, first)?.into(), Tensor::from_vec(shape, second)?.into()])
    })
}
