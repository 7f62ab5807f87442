//! The order of elements in memory: row-major, or what clients ask for.
//!
//! Programs compute with tensors in row-major order. A buffer in another order has a tensor whose
//! dimensions are those of memory; arguments and results are put in order around an execution.

use crate::buffer::Shape;
use crate::error::{Code, Failure, Outcome};
use crate::transfer;
use pjrt_abi::{MemoryLayout, TILED};
use stablo::dialects::func::CallOp;
use stablo::dialects::stablehlo::{
    BroadcastInDimOp, ConstantOp, CustomCallOp, OptimizationBarrierOp, TransposeOp,
};
use stablo::ir::{OpRef, Trait, Value, ValueDef};
use stablo::{Module, Tensor};

/// The maximum number of ops that are followed from a result to where its order comes from.
const MAX_OPS: usize = 256;

/// The dimensions from the one that varies slowest on. `None` is row-major order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Order(Option<Box<[usize]>>);

impl Order {
    /// The order of a list of dimensions from the one that varies slowest on; `None` if it is not
    /// one of `rank` dimensions.
    fn new(major_to_minor: Vec<usize>, rank: usize) -> Option<Order> {
        let mut sorted = major_to_minor.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..rank) {
            return None;
        }
        let is_row_major = major_to_minor.iter().copied().eq(0..rank);
        Some(Order((!is_row_major).then(|| major_to_minor.into())))
    }

    /// The order of dimensions from the one that varies fastest on.
    pub fn of_minor_to_major(dims: &[i64], rank: usize) -> Option<Order> {
        let dims = dims.iter().rev().map(|&dim| usize::try_from(dim).ok());
        Order::new(dims.collect::<Option<_>>()?, rank)
    }

    /// The order that a client states by a layout; row-major order for null.
    ///
    /// # Errors
    /// If the layout has tiles or states strides, or is not one for the shape.
    pub fn of_layout(layout: *const MemoryLayout, rank: usize) -> Outcome<Order> {
        if layout.is_null() {
            return Ok(Order::default());
        }
        let (kind, dims) = transfer::numbers_of_layout(layout, rank)?;
        if kind != TILED {
            let message = "layouts of buffers by strides";
            return Err(Failure::new(Code::Unimplemented, message));
        }
        Order::of_minor_to_major(&dims, rank).ok_or_else(transfer::wrong_layout)
    }

    /// The order of a text such as `{0,1}`, dimensions from the one that varies fastest on.
    fn of_text(text: &str, rank: usize) -> Option<Order> {
        let dims = text.strip_prefix('{')?.strip_suffix('}')?;
        // After a colon, there are tiles and the like, which memory here has not.
        let dims = dims.split(':').next()?.split(',').filter(|dim| !dim.is_empty());
        let dims = dims.map(|dim| dim.trim().parse::<i64>().ok());
        Order::of_minor_to_major(&dims.collect::<Option<Vec<_>>>()?, rank)
    }

    /// The order of a result that the mode of an argument or result asks for.
    ///
    /// # Errors
    /// If the text is not understood.
    pub fn of_mode(mode: &str, rank: usize, automatic: impl FnOnce() -> Order) -> Outcome<Order> {
        match mode {
            "default" => Ok(Order::default()),
            "auto" => Ok(automatic()),
            text => Order::of_text(text, rank).ok_or_else(|| {
                Failure::invalid(format!("{text} is not a layout of {rank} dimensions"))
            }),
        }
    }

    pub fn is_row_major(&self) -> bool {
        self.0.is_none()
    }

    /// The dimensions from the one that varies slowest on.
    fn major_to_minor(&self, rank: usize) -> Vec<usize> {
        self.0.as_ref().map_or_else(|| (0..rank).collect(), |order| order.to_vec())
    }

    /// The dimensions from the one that varies fastest on.
    pub fn minor_to_major(&self, rank: usize) -> Vec<usize> {
        self.major_to_minor(rank).into_iter().rev().collect()
    }

    /// The properties of dimensions, in the order of memory.
    pub fn in_memory<T: Copy>(&self, of_dims: &[T]) -> Vec<T> {
        self.major_to_minor(of_dims.len()).into_iter().map(|dim| of_dims[dim]).collect()
    }

    /// A tensor in row-major order, of one in this order.
    pub fn to_row_major(&self, tensor: Tensor, shape: &Shape) -> Outcome<Tensor> {
        if self.is_row_major() {
            return Ok(tensor);
        }
        let dims = self.minor_to_major(shape.sizes.len()).into_iter();
        let strides = transfer::strides_of(&shape.sizes, shape.dtype.bytes(), dims);
        transfer::read(tensor.bytes().as_ptr().cast(), shape.dtype, &shape.sizes, Some(&strides))
    }

    /// A tensor in this order, of one in row-major order.
    pub fn of_row_major(&self, tensor: Tensor) -> Outcome<Tensor> {
        if self.is_row_major() {
            return Ok(tensor);
        }
        let (dtype, sizes) = (tensor.dtype(), tensor.shape());
        let strides = transfer::strides_of(sizes, dtype.bytes(), (0..sizes.len()).rev());
        let (sizes, strides) = (self.in_memory(sizes), self.in_memory(&strides));
        transfer::read(tensor.bytes().as_ptr().cast(), dtype, &sizes, Some(&strides))
    }

    /// The order of a transposed value, if it stays where it is.
    fn transposed(&self, permutation: &[i64]) -> Option<Order> {
        let dim = |from: usize| permutation.iter().position(|&own| own == from as i64);
        let dims = self.major_to_minor(permutation.len()).into_iter().map(dim);
        Order::new(dims.collect::<Option<_>>()?, permutation.len())
    }
}

/// The order of a value that is made without moving its elements: through transposes and
/// elementwise ops, from an argument of the function that runs, whose orders are given, or from
/// another op, in row-major order.
pub(crate) fn automatic(module: &Module, value: Value, arguments: &[Order]) -> Order {
    let mut budget = MAX_OPS;
    follow(module, value, arguments, &mut budget).unwrap_or_default()
}

fn follow(module: &Module, value: Value, arguments: &[Order], budget: &mut usize) -> Option<Order> {
    *budget = budget.checked_sub(1)?;
    let (op, result) = match module.definition(value) {
        ValueDef::Argument { index, .. } => return arguments.get(index as usize).cloned(),
        ValueDef::Result { op, index } => (module.op(op), index as usize),
    };
    let mut operand = |index: usize| follow(module, op.operand(index), arguments, budget);
    if op.is(TransposeOp::DEF) {
        return operand(0)?.transposed(op.int_array("permutation")?);
    }
    if op.is(OptimizationBarrierOp::DEF) {
        return operand(result);
    }
    if let Some(call) = CustomCallOp::cast(op) {
        return constrained(op, call).or_else(|| operand(0));
    }
    if let Some(call) = CallOp::cast(op) {
        let body = module.top().lookup_symbol(call.callee())?;
        let body = module.entry(*body.regions().first()?)?;
        let returned = *module.terminator(body)?.operands().get(result)?;
        let inner: Vec<Order> =
            (0..op.operands().len()).map(|index| operand(index).unwrap_or_default()).collect();
        return follow(module, returned, &inner, budget);
    }
    if !op.has_trait(&Trait::Elementwise) {
        return None;
    }
    // Operands that only repeat a value have no order.
    let has_order = |index: &usize| match module.definition(op.operand(*index)) {
        ValueDef::Argument { .. } => true,
        ValueDef::Result { op, .. } => {
            !module.op(op).is_any(&[ConstantOp::DEF, BroadcastInDimOp::DEF])
        }
    };
    let mut orders = (0..op.operands().len()).filter(has_order).map(&mut operand);
    let first = orders.next()??;
    orders.all(|own| own.as_ref() == Some(&first)).then_some(first)
}

/// The order that a custom call states for its result.
fn constrained(op: OpRef<'_>, call: CustomCallOp<'_>) -> Option<Order> {
    if call.call_target_name() != "LayoutConstraint" {
        return None;
    }
    let layouts = op.attr("result_layouts")?.as_array()?;
    let rank = op.result_type(0).as_tensor()?.static_shape()?.len();
    Order::of_minor_to_major(&layouts.first()?.as_dense()?.int_values()?, rank)
}
