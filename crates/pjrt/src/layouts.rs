//! The extension for memory layouts.
//!
//! Without it, JAX reads the layouts of each program from its text, which takes longer than to
//! compile it.
//!
//! Source: OpenXLA, `xla/pjrt/c/pjrt_c_api_layouts_extension.h`.

use crate::call::call;
use crate::error::{Error, Outcome};
use crate::extensions::{Base, FFI_EXTENSION};
use crate::handle::{Handle, Resolve, give, parts};
use crate::order::Order;
use crate::parameters::Parameter;
use pjrt_abi::{
    Function, LayoutDestroy, LayoutOfBuffer, LayoutOfClient, LayoutOfTopology, LayoutSerialize,
    LayoutsOfExecutable,
};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// `PJRT_Layouts_MemoryLayout`: a serialized layout. There is one for each order of dimensions,
/// which is never freed, so that clients may or may not do that.
pub struct Layout(String);

/// The layout of arrays of an order.
fn of_order(order: &Order, rank: usize) -> Handle<Layout> {
    static ALL: Mutex<BTreeMap<Vec<usize>, Handle<Layout>>> = Mutex::new(BTreeMap::new());
    let dims = order.minor_to_major(rank);
    // Such as `{1,0}` for a matrix in row-major order.
    let list: Vec<String> = dims.iter().map(usize::to_string).collect();
    let layout = || give(Layout(format!("{{{}}}", list.join(","))));
    *ALL.lock().unwrap_or_else(PoisonError::into_inner).entry(dims).or_insert_with(layout)
}

/// The layout of arrays of a rank in row-major order.
fn of_rank(rank: usize) -> Handle<Layout> {
    of_order(&Order::default(), rank)
}

/// The layouts of arguments or results.
pub(crate) fn of_parameters(parameters: &[Parameter]) -> Vec<Handle<Layout>> {
    let layout = |own: &Parameter| of_order(&own.shape.order, own.shape.sizes.len());
    parameters.iter().map(layout).collect()
}

/// `PJRT_Extension_Type_Layouts`.
const LAYOUTS: c_int = 4;

/// `PJRT_Layouts_Extension`.
#[repr(C)]
pub(crate) struct LayoutsExtension {
    base: Base,
    functions: [Function; 7],
}

// SAFETY: nothing changes the extension.
unsafe impl Sync for LayoutsExtension {}

/// A function of the extension.
macro_rules! slot {
    ($function:path) => {{
        extern "C" fn slot(args: *mut c_void) -> Handle<Error> {
            call(args, $function)
        }
        slot
    }};
}

/// The extension.
pub(crate) static LAYOUTS_EXTENSION: LayoutsExtension = LayoutsExtension {
    base: Base {
        struct_size: size_of::<LayoutsExtension>(),
        kind: LAYOUTS,
        next: (&raw const FFI_EXTENSION).cast(),
    },
    functions: [
        slot!(destroy),
        slot!(serialize),
        slot!(of_client),
        slot!(of_buffer),
        slot!(of_topology),
        slot!(of_results),
        slot!(of_arguments),
    ],
};

fn destroy(_: &mut LayoutDestroy) -> Outcome {
    Ok(())
}

/// Nothing is to be deleted, but clients require a function.
unsafe extern "C" fn delete_nothing(_: *mut c_void) {}

fn serialize(args: &mut LayoutSerialize) -> Outcome {
    (args.bytes, args.bytes_size) = parts(args.layout.get()?.0.as_bytes());
    args.owner = std::ptr::null_mut();
    args.deleter = Some(delete_nothing);
    Ok(())
}

fn of_client(args: &mut LayoutOfClient) -> Outcome {
    args.client.get()?;
    args.layout = of_rank(args.num_dims);
    Ok(())
}

fn of_topology(args: &mut LayoutOfTopology) -> Outcome {
    args.topology.get()?;
    args.layout = of_rank(args.num_dims);
    Ok(())
}

fn of_buffer(args: &mut LayoutOfBuffer) -> Outcome {
    let shape = args.buffer.get()?.shape();
    args.layout = of_order(&shape.order, shape.sizes.len());
    Ok(())
}

fn of_results(args: &mut LayoutsOfExecutable) -> Outcome {
    let layouts = args.executable.get()?.0.result_layouts();
    (args.layouts, args.count) = (layouts.as_ptr(), layouts.len());
    Ok(())
}

fn of_arguments(args: &mut LayoutsOfExecutable) -> Outcome {
    let layouts = args.executable.get()?.0.argument_layouts();
    (args.layouts, args.count) = (layouts.as_ptr(), layouts.len());
    Ok(())
}
