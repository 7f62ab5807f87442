//! The arguments and results of programs: their shapes on each device, and their shardings.

use crate::buffer::{BufferExtent, Shape};
use crate::device::MEMORY_KINDS;
use crate::error::{Code, Failure, Outcome};
use crate::order::{self, Order};
use crate::propagation::result_shardings;
use crate::types;
use pjrt_abi::TOKEN;
use stablo::ir::{Dictionary, OpRef};
use stablo::{Attribute, DType, Distribution, EvalError, Module, RuntimeValue, Type};
use std::ffi::c_int;
use std::sync::Arc;

/// The function that runs.
pub(crate) const ENTRY: &str = "main";

/// An argument or a result of a program.
pub struct Parameter {
    /// The shape on each device.
    pub shape: Arc<BufferExtent>,
    /// The distribution over devices; `None` if each has all of it.
    pub distribution: Option<Distribution>,
    /// True for tokens, for which clients pass empty booleans, or tokens that they got.
    pub is_token: bool,
    /// True if an execution may take over the memory of the argument.
    pub is_donated: bool,
    /// The memory that a result is to be in, as an index of [`MEMORY_KINDS`].
    pub memory: usize,
}

impl Parameter {
    /// The number of the element type.
    pub fn number(&self) -> Outcome<c_int> {
        if self.is_token { Ok(TOKEN) } else { types::number(self.shape.dtype) }
    }
}

/// The type of an argument or result of `function`, and what its attributes say of it.
fn parameter(
    what: &str,
    ty: &Type,
    attributes: Option<&Attribute>,
    function: OpRef<'_>,
    partitions: usize,
    automatic: impl FnOnce() -> Order,
) -> Outcome<Parameter> {
    let is_token = stablo::value_fits(&RuntimeValue::Token, ty);
    let sizes = ty.as_tensor().and_then(|tensor| tensor.static_shape());
    let known =
        if is_token { Some((vec![0], DType::I1)) } else { sizes.zip(stablo::storage_dtype(ty)) };
    let Some((sizes, dtype)) = known else {
        let message = format!("{what} of the program has type {ty}, not a static tensor");
        return Err(Failure::new(Code::Unimplemented, message));
    };
    types::number(dtype)?;
    let attributes = attributes.and_then(Attribute::as_dictionary);
    let attribute = |name| attributes.and_then(|own| own.get(name));
    let is_donated = attribute("tf.aliasing_output").is_some()
        || attribute("jax.buffer_donor").and_then(Attribute::as_bool) == Some(true);
    let kind = attribute("mhlo.memory_kind").and_then(Attribute::as_str);
    let memory = MEMORY_KINDS.iter().position(|own| Some(*own) == kind).unwrap_or(0);
    let distribution = match attributes {
        Some(attributes) if partitions > 1 && !is_token => {
            Distribution::of(function, attributes, sizes.len(), partitions).map_err(unsharded)?
        }
        _ => None,
    };
    let sizes = match &distribution {
        Some(distribution) => distribution.tile_shape(&sizes).map_err(unsharded)?,
        None => sizes,
    };
    let mode = attribute("mhlo.layout_mode").and_then(Attribute::as_str).unwrap_or("default");
    let order = Order::of_mode(mode, sizes.len(), automatic)?;
    let shape = BufferExtent::new(Shape { dtype, sizes, order });
    Ok(Parameter { distribution, shape, is_token, is_donated, memory })
}

/// The distribution of an `#sdy.sharding` in a function.
pub(crate) fn distribution_of(
    function: OpRef<'_>,
    sharding: Attribute,
    rank: usize,
    devices: usize,
) -> Outcome<Option<Distribution>> {
    let mut attributes = Dictionary::default();
    attributes.set("sdy.sharding", sharding);
    Distribution::of(function, &attributes, rank, devices).map_err(unsharded)
}

/// The failure of a sharding that cannot be applied.
pub(crate) fn unsharded(error: EvalError) -> Failure {
    Failure::of(Code::Unimplemented)(error.into())
}

/// The arguments and the results of the function that runs.
pub(crate) fn parameters(
    module: &Module,
    partitions: usize,
) -> Outcome<(Vec<Parameter>, Vec<Parameter>)> {
    let function =
        stablo::entry_function(module, ENTRY).map_err(Failure::of(Code::InvalidArgument))?;
    let (inputs, results) = function.signature();
    let body = function.regions().first().and_then(|&body| module.entry(body));
    let returned = body.and_then(|body| module.terminator(body)).map_or(&[][..], OpRef::operands);
    let derived = match partitions {
        0 | 1 => Vec::new(),
        _ => result_shardings(module, *function),
    };
    let list = |what: &str, types: &[Type], attributes: Option<&[Attribute]>, orders: &[Order]| {
        let each = types.iter().enumerate().map(|(index, ty)| {
            let attributes = attributes.and_then(|all| all.get(index));
            let own = attributes.and_then(Attribute::as_dictionary);
            let derived = derived.get(index).filter(|_| what == "result").and_then(|derived| {
                let mut all = own.cloned().unwrap_or_default();
                if all.get("mhlo.sharding").is_none() {
                    all.set("sdy.sharding", derived.clone()?);
                }
                Some(Attribute::from(all))
            });
            let attributes = derived.as_ref().or(attributes);
            let automatic = || match returned.get(index).filter(|_| what == "result") {
                Some(&value) => order::automatic(module, value, orders),
                None => Order::default(),
            };
            let what = format!("{what} {index}");
            parameter(&what, ty, attributes, *function, partitions, automatic)
        });
        each.collect::<Outcome<Vec<Parameter>>>()
    };
    let mut arguments = list("argument", inputs, function.arg_attrs(), &[])?;
    let orders: Vec<Order> = arguments.iter().map(|own| own.shape.order.clone()).collect();
    let results = list("result", results, function.res_attrs(), &orders)?;
    keep_useful_donations(function.arg_attrs().unwrap_or(&[]), &mut arguments, &results);
    Ok((arguments, results))
}

/// Donates an argument for which no result is stated only if one has the same number of bytes, as
/// XLA does: clients go on to use the others.
fn keep_useful_donations(
    attributes: &[Attribute],
    arguments: &mut [Parameter],
    results: &[Parameter],
) {
    let aliased: Vec<Option<usize>> = attributes
        .iter()
        .map(|own| own.as_dictionary()?.get("tf.aliasing_output")?.as_i64()?.try_into().ok())
        .collect();
    let size = |own: &Parameter| (own.shape.bytes(), own.memory);
    let mut open: Vec<_> = { results.iter().enumerate() }
        .filter(|(index, own)| !own.is_token && !aliased.contains(&Some(*index)))
        .map(|(_, own)| size(own))
        .collect();
    for (argument, result) in arguments.iter_mut().zip(aliased) {
        if argument.is_donated && result.is_none() {
            let place = open.iter().position(|own| *own == size(argument));
            argument.is_donated = place.map(|place| open.swap_remove(place)).is_some();
        }
    }
}
