//! Buffers whose values the client sets later: by asynchronous transfers, by an alias that it
//! fulfills, or by an event that a donation waits for.

use crate::buffer::{Buffer, BufferExtent, Shape, copy_raw, outside};
use crate::device::Memory;
use crate::error::{Code, Failure, Outcome};
use crate::event::{Event, Promise, Signal};
use crate::handle::{Foreign, Handle, Resolve, array, give, structure, text};
use crate::transfer;
use pjrt_abi::{
    BufferCopyRawToHostFuture, BufferDonateWithDependency, ClientCreateAliasBuffer,
    ClientCreateBuffersForAsyncTransfer, ClientFulfillAliasBuffer, DependencyReady,
    DeviceCreateTracking, RawToHostReady, ShapeSpec, TrackingDestroy, TransferAddMetadata,
    TransferCount, TransferData, TransferDevice, TransferLiteral, TransferManagerDestroy,
    TransferRetrieve, TransferSetError, TransferSize,
};
use stablo::Tensor;
use std::ffi::{c_char, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};

/// A buffer that transfers fill.
struct DeferredValue {
    shape: Shape,
    /// The elements that have come. `None` once the value is set.
    elements: Mutex<Option<Tensor>>,
    value: Arc<Promise<Tensor>>,
}

impl DeferredValue {
    /// Sets the value, unless it is set.
    fn finish(&self, value: Outcome<Tensor>) {
        self.elements.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.value.set(value);
    }
}

/// `PJRT_AsyncHostToDeviceTransferManager`.
pub struct TransferManager {
    memory: Handle<Memory>,
    transfers: Vec<DeferredValue>,
}

impl TransferManager {
    fn transfer(&self, index: c_int) -> Outcome<&DeferredValue> {
        let found = usize::try_from(index).ok().and_then(|index| self.transfers.get(index));
        found.ok_or_else(|| {
            let count = self.transfers.len();
            Failure::invalid(format!("there is no buffer {index}: the transfer has {count}"))
        })
    }
}

impl Drop for TransferManager {
    fn drop(&mut self) {
        for transfer in &self.transfers {
            let message = "the transfer manager was destroyed before the last transfer";
            transfer.finish(Err(Failure::new(Code::Cancelled, message)));
        }
    }
}

/// The failure that a client states, or success.
fn stated(code: c_int, message: *const c_char, message_size: usize) -> Outcome {
    match code {
        0 => Ok(()),
        code => Err(Failure::new(Code::from_number(code), text(message, message_size)?)),
    }
}

pub(crate) fn create_transfers(args: &mut ClientCreateBuffersForAsyncTransfer) -> Outcome {
    args.client.get()?;
    args.memory.get()?;
    let mut transfers = Vec::new();
    let mut next = args.shapes;
    for _ in 0..args.num_shapes {
        let spec: ShapeSpec = structure(next)?;
        // Structures of newer clients are longer.
        let bytes = spec.struct_size.max(size_of::<ShapeSpec>());
        next = next.wrapping_byte_add(bytes.next_multiple_of(align_of::<ShapeSpec>()));
        let shape = Shape::read(spec.element_type, spec.dims, spec.num_dims)?;
        let elements = Mutex::new(Some(Tensor::zeros(shape.dtype, &shape.sizes)?));
        transfers.push(DeferredValue { shape, elements, value: Arc::default() });
    }
    args.manager = give(TransferManager { memory: args.memory, transfers });
    Ok(())
}

pub(crate) fn destroy_transfers(args: &mut TransferManagerDestroy) -> Outcome {
    args.manager.free();
    Ok(())
}

/// Copies bytes to their place; the last copy makes the buffer ready.
pub(crate) fn transfer_data(args: &mut TransferData) -> Outcome {
    let transfer = args.manager.get()?.transfer(args.index)?;
    let from: &[u8] = array(args.data.cast(), size(args.size)?)?;
    let start = size(args.offset)?;
    let mut guard = transfer.elements.lock().unwrap_or_else(PoisonError::into_inner);
    let elements = guard.as_mut().ok_or_else(is_set)?;
    let all = elements.bytes_mut()?;
    let len = all.len();
    let place = start.checked_add(from.len()).and_then(|end| all.get_mut(start..end));
    place.ok_or_else(|| outside(args.offset, args.size, len))?.copy_from_slice(from);
    let done = if args.is_last.is_set() { guard.take() } else { None };
    drop(guard);
    if let Some(tensor) = done {
        // Clients may write bits outside of the width of an element.
        let shape = &transfer.shape;
        let tensor = Tensor::from_bytes(shape.dtype, &shape.sizes, tensor.bytes().clone());
        transfer.value.set(tensor.map_err(Failure::from));
    }
    args.done = Event::ready();
    Ok(())
}

pub(crate) fn transfer_literal(args: &mut TransferLiteral) -> Outcome {
    let transfer = args.manager.get()?.transfer(args.index)?;
    let shape = Shape::read(args.element_type, args.dims, args.num_dims)?;
    if shape != transfer.shape {
        return Err(other_shape("literal", &shape, "buffer", &transfer.shape));
    }
    let strides = transfer::strides(args.layout, &shape.sizes, shape.dtype.bytes())?;
    if transfer.value.is_ready() {
        return Err(is_set());
    }
    transfer.finish(Ok(transfer::read(args.data, shape.dtype, &shape.sizes, strides.as_deref())?));
    args.done = Event::ready();
    Ok(())
}

pub(crate) fn retrieve_transfer(args: &mut TransferRetrieve) -> Outcome {
    let manager = args.manager.get()?;
    let transfer = manager.transfer(args.index)?;
    args.buffer = give(Buffer::new(
        manager.memory,
        BufferExtent::new(transfer.shape.clone()),
        transfer.value.clone(),
    ));
    Ok(())
}

pub(crate) fn transfer_device(args: &mut TransferDevice) -> Outcome {
    args.device = args.manager.get()?.memory.get()?.device();
    Ok(())
}

pub(crate) fn transfer_count(args: &mut TransferCount) -> Outcome {
    args.count = args.manager.get()?.transfers.len();
    Ok(())
}

pub(crate) fn transfer_size(args: &mut TransferSize) -> Outcome {
    args.size = args.manager.get()?.transfer(args.index)?.shape.bytes();
    Ok(())
}

pub(crate) fn transfer_error(args: &mut TransferSetError) -> Outcome {
    let transfer = args.manager.get()?.transfer(args.index)?;
    let failure = stated(args.error_code, args.error_message, args.error_message_size).err();
    let failure = failure.ok_or_else(|| Failure::invalid("the code 0 is that of success"))?;
    transfer.finish(Err(failure));
    Ok(())
}

/// Metadata change nothing.
pub(crate) fn transfer_metadata(args: &mut TransferAddMetadata) -> Outcome {
    args.manager.get().map(drop)
}

fn size(number: i64) -> Outcome<usize> {
    usize::try_from(number).map_err(|_| Failure::invalid(format!("{number} is not a size")))
}

fn is_set() -> Failure {
    Failure::new(Code::FailedPrecondition, "the value of the buffer is set")
}

/// `PJRT_FulfillAliasBufferCallback`: sets the value of an alias, once.
pub struct AliasFulfillment {
    shape: Shape,
    value: Arc<Promise<Tensor>>,
}

pub(crate) fn create_alias(args: &mut ClientCreateAliasBuffer) -> Outcome {
    args.client.get()?;
    args.memory.get()?;
    let shape = Shape::read(args.element_type, args.dims, args.num_dims)?;
    let value = Arc::<Promise<Tensor>>::default();
    args.buffer = give(Buffer::new(args.memory, BufferExtent::new(shape.clone()), value.clone()));
    args.fulfillment = give(AliasFulfillment { shape, value });
    Ok(())
}

/// Sets the value of an alias to that of a buffer once it has one, and frees the fulfillment.
pub(crate) fn fulfill_alias(args: &mut ClientFulfillAliasBuffer) -> Outcome {
    args.client.get()?;
    let alias = args.fulfillment.get()?;
    match stated(args.error_code, args.error_message, args.error_message_size) {
        Err(failure) => alias.value.set(Err(failure)),
        Ok(()) => {
            let buffer = args.buffer.get()?;
            if !buffer.has_shape(&alias.shape) {
                return Err(other_shape("buffer", buffer.shape(), "alias", &alias.shape));
            }
            if !buffer.order().is_row_major() {
                let message = "aliases of buffers in another order than row-major";
                return Err(Failure::new(Code::Unimplemented, message));
            }
            let value = buffer.value()?;
            if Arc::ptr_eq(&value, &alias.value) {
                return Err(Failure::invalid("an alias cannot be fulfilled by itself"));
            }
            forward(value, alias.value.clone());
        }
    }
    args.fulfillment.free();
    Ok(())
}

/// Sets a promise to a value once that is there.
fn forward(from: Arc<Promise<Tensor>>, to: Arc<Promise<Tensor>>) {
    let source = from.clone();
    from.then(Box::new(move |outcome| {
        to.set(outcome.and_then(|()| source.wait_for(Clone::clone)));
    }));
}

fn other_shape(what: &str, found: &Shape, of: &str, required: &Shape) -> Failure {
    let text = |shape: &Shape| format!("{:?} of {}", shape.sizes, shape.dtype.name());
    let message = format!("the {what} has shape {}, the {of} {}", text(found), text(required));
    Failure::invalid(message)
}

/// A function that a client calls with the data that it got with it.
struct Pending<T>(T);

impl<T> Pending<T> {
    fn into_pointer(self) -> *mut c_void {
        Box::into_raw(Box::new(self)).cast()
    }

    /// # Safety
    /// The pointer is one of [`Pending::into_pointer`], used for the first time.
    unsafe fn from_pointer(pointer: *mut c_void) -> T {
        // SAFETY: as the caller says.
        unsafe { Box::from_raw(pointer.cast::<Pending<T>>()).0 }
    }
}

/// A copy to memory that the client has yet to provide.
struct RawCopy {
    value: Arc<Promise<Tensor>>,
    start: usize,
    len: usize,
    done: Arc<Promise<()>>,
}

pub(crate) fn copy_raw_to_future(args: &mut BufferCopyRawToHostFuture) -> Outcome {
    let buffer = args.buffer.get()?;
    let (start, len) = buffer.range(args.offset, args.transfer_size)?;
    let done = Arc::<Promise<()>>::default();
    let copy = RawCopy { value: buffer.value()?, start, len, done: done.clone() };
    args.event = Event::of(done);
    args.callback_data = Pending(copy).into_pointer();
    args.callback = Some(start_raw_copy);
    Ok(())
}

unsafe extern "C" fn start_raw_copy(args: *mut RawToHostReady) {
    // SAFETY: the client passes the structure with what `copy_raw_to_future` gave it, once.
    let (args, copy) = unsafe {
        let args = args.read();
        (args, Pending::<RawCopy>::from_pointer(args.callback_data))
    };
    let RawCopy { value, start, len, done } = copy;
    if let Err(failure) = stated(args.error_code, args.error_message, args.error_message_size) {
        return done.set(Err(failure));
    }
    let (source, dst) = (value.clone(), Foreign(args.dst));
    value.then(Box::new(move |outcome| {
        let copy = |tensor: &Tensor| copy_raw(tensor, start, len, dst);
        done.set(outcome.and_then(|()| source.wait_for(copy)));
    }));
}

/// A donation that takes effect when the client says so.
struct Donation {
    from: Arc<Promise<Tensor>>,
    to: Arc<Promise<Tensor>>,
}

pub(crate) fn donate_with_dependency(args: &mut BufferDonateWithDependency) -> Outcome {
    let buffer = args.buffer.get()?;
    let to = Arc::<Promise<Tensor>>::default();
    let donated = Buffer::new(buffer.memory(), buffer.extent(), to.clone());
    args.callback_data = Pending(Donation { from: buffer.take()?, to }).into_pointer();
    args.callback = Some(release_donation);
    args.donated = give(donated);
    Ok(())
}

unsafe extern "C" fn release_donation(args: *mut DependencyReady) {
    // SAFETY: the client passes the structure with what `donate_with_dependency` gave it, once.
    let (args, Donation { from, to }) = unsafe {
        let args = args.read();
        (args, Pending::<Donation>::from_pointer(args.callback_data))
    };
    match stated(args.error_code, args.error_message, args.error_message_size) {
        Ok(()) => forward(from, to),
        Err(failure) => to.set(Err(failure)),
    }
}

/// `PJRT_AsyncTrackingEvent`: a note of what happens on a device, which nothing reads.
pub struct Tracking(());

pub(crate) fn create_tracking(args: &mut DeviceCreateTracking) -> Outcome {
    args.device.get()?;
    args.tracking = give(Tracking(()));
    Ok(())
}

pub(crate) fn destroy_tracking(args: &mut TrackingDestroy) -> Outcome {
    args.tracking.free();
    Ok(())
}
