//! Elements between the memory of clients, in any order, and tensors, in row-major order.

use crate::error::{Code, Failure, Outcome};
use crate::handle::{array, structure};
use crate::order::Order;
use pjrt_abi::{MemoryLayout, STRIDES, TILED};
use stablo::{DType, Tensor};
use std::ffi::{c_int, c_void};

/// Sizes as PJRT gives them.
///
/// # Errors
/// If one is negative.
pub(crate) fn sizes(dims: &[i64]) -> Outcome<Vec<usize>> {
    let size = |&dim: &i64| {
        usize::try_from(dim).map_err(|_| Failure::invalid(format!("{dim} is not a size")))
    };
    dims.iter().map(size).collect()
}

/// The distances in bytes between elements in row-major order.
pub(crate) fn row_major(shape: &[usize], element: usize) -> Vec<i64> {
    strides_of(shape, element, (0..shape.len()).rev())
}

/// The distances in bytes between elements that are dense, by the dimensions from the one that
/// varies fastest on.
pub(crate) fn strides_of(
    shape: &[usize],
    element: usize,
    minor_to_major: impl Iterator<Item = usize>,
) -> Vec<i64> {
    let mut strides = vec![0; shape.len()];
    let mut distance = element as i64;
    for dim in minor_to_major {
        strides[dim] = distance;
        distance = distance.saturating_mul(shape[dim] as i64);
    }
    strides
}

/// The kind of a layout of a client with its numbers: dimensions from the one that varies fastest
/// on, or strides.
///
/// # Errors
/// If it has tiles.
pub(crate) fn numbers_of_layout(
    layout: *const MemoryLayout,
    rank: usize,
) -> Outcome<(c_int, Vec<i64>)> {
    let layout = structure(layout)?;
    let numbers = match layout.kind {
        TILED => {
            // SAFETY: the kind says which field of the union the client wrote.
            let tiled = unsafe { layout.layout.tiled };
            if tiled.num_tiles != 0 {
                return Err(Failure::new(Code::Unimplemented, "layouts with tiles"));
            }
            // jaxlib lists the dimensions of views in memory that it has freed.
            if rank <= 1 {
                return Ok((TILED, (0..rank as i64).collect()));
            }
            array(tiled.minor_to_major, tiled.minor_to_major_size)?
        }
        STRIDES => {
            // SAFETY: as above.
            let strides = unsafe { layout.layout.strides };
            array(strides.byte_strides, strides.num_byte_strides)?
        }
        other => return Err(Failure::invalid(format!("{other} is not a kind of layout"))),
    };
    Ok((layout.kind, numbers.to_vec()))
}

/// True if a layout of a client lists no order of the dimensions: jaxlib 0.12 lists the order of a
/// copy to the host in memory that it has freed. Another order that this memory holds by accident
/// is not found out.
pub(crate) fn is_freed(layout: *const MemoryLayout, rank: usize) -> bool {
    match numbers_of_layout(layout, rank) {
        Ok((TILED, dims)) => Order::of_minor_to_major(&dims, rank).is_none(),
        Ok(_) | Err(_) => false,
    }
}

/// The failure for a layout of another shape.
pub(crate) fn wrong_layout() -> Failure {
    Failure::invalid("the layout does not have the dimensions of the shape")
}

/// The strides that a layout of a client states; row-major order for null.
///
/// # Errors
/// If it has tiles, or is not one for the shape.
pub(crate) fn strides(
    layout: *const MemoryLayout,
    shape: &[usize],
    element: usize,
) -> Outcome<Option<Vec<i64>>> {
    if layout.is_null() {
        return Ok(None);
    }
    let (kind, numbers) = numbers_of_layout(layout, shape.len())?;
    let strides = match kind {
        STRIDES => numbers,
        _ => {
            let order = Order::of_minor_to_major(&numbers, shape.len()).ok_or_else(wrong_layout)?;
            strides_of(shape, element, order.minor_to_major(shape.len()).into_iter())
        }
    };
    if strides.len() != shape.len() {
        return Err(wrong_layout());
    }
    Ok((strides != row_major(shape, element)).then_some(strides))
}

/// Calls a function with the offset, in bytes by the strides, of each run of elements that are next
/// to each other in both orders, and with the length of runs in bytes. `dense` has elements in
/// row-major order.
fn runs(shape: &[usize], element: usize, strides: &[i64], mut each: impl FnMut(isize, usize)) {
    if shape.contains(&0) {
        return;
    }
    // The last dimensions in row-major order are one run.
    let mut outer = shape.len();
    let mut run = element;
    while outer > 0 && (shape[outer - 1] == 1 || strides[outer - 1] == run as i64) {
        run *= shape[outer - 1];
        outer -= 1;
    }
    let mut at = vec![0; outer];
    let mut offset = 0isize;
    loop {
        each(offset, run);
        let mut dim = outer;
        loop {
            if dim == 0 {
                return;
            }
            dim -= 1;
            at[dim] += 1;
            offset = offset.wrapping_add(strides[dim] as isize);
            if at[dim] < shape[dim] {
                break;
            }
            offset = offset.wrapping_sub(strides[dim] as isize * shape[dim] as isize);
            at[dim] = 0;
        }
    }
}

/// A tensor of a copy of a client's elements; without strides, they are in row-major order.
///
/// # Errors
/// If there is no memory, or the client passed null.
pub(crate) fn read(
    data: *const c_void,
    dtype: DType,
    shape: &[usize],
    strides: Option<&[i64]>,
) -> Outcome<Tensor> {
    let mut tensor = Tensor::unwritten(dtype, shape)?;
    let element = dtype.bytes();
    let bytes = tensor.bytes_mut()?;
    if data.is_null() && !bytes.is_empty() {
        return Err(Failure::invalid("elements are required, found null"));
    }
    let natural = row_major(shape, element);
    let strides = strides.unwrap_or(&natural);
    if strides.len() != shape.len() {
        return Err(Failure::invalid("there must be as many strides as dimensions"));
    }
    let mut to = bytes;
    runs(shape, element, strides, |offset, len| {
        let (run, rest) = std::mem::take(&mut to).split_at_mut(len);
        // SAFETY: the client passes the elements of this shape at these strides.
        unsafe {
            let from = data.cast::<u8>().wrapping_offset(offset);
            std::ptr::copy_nonoverlapping(from, run.as_mut_ptr(), len);
        }
        to = rest;
    });
    if dtype.bits() as usize != 8 * element {
        // Clients may write bits outside of the width of an element.
        let bytes = tensor.bytes().clone();
        return Ok(Tensor::from_bytes(dtype, shape, bytes)?);
    }
    Ok(tensor)
}

/// Copies a tensor to memory of a client; without strides, in row-major order.
///
/// # Errors
/// If there is less memory than the tensor has.
pub(crate) fn write(
    tensor: &Tensor,
    data: *mut c_void,
    size: usize,
    strides: Option<&[i64]>,
) -> Outcome {
    let from = tensor.bytes();
    if size < from.len() {
        let message = format!("the destination has {size} bytes, but {} are needed", from.len());
        return Err(Failure::invalid(message));
    }
    let natural = row_major(tensor.shape(), tensor.dtype().bytes());
    let mut rest = &from[..];
    runs(tensor.shape(), tensor.dtype().bytes(), strides.unwrap_or(&natural), |offset, len| {
        let (run, after) = rest.split_at(len);
        // SAFETY: the client passes memory for the elements of this shape at these strides.
        unsafe {
            let to = data.cast::<u8>().wrapping_offset(offset);
            std::ptr::copy_nonoverlapping(run.as_ptr(), to, len);
        }
        rest = after;
    });
    Ok(())
}
