//! Buffers: tensors on a device, which may still be computed.

use crate::device::{Device, Memory};
use crate::error::{Code, Failure, Outcome};
use crate::event::{Event, Promise, Signal};
use crate::handle::{Foreign, Handle, Resolve, array, give, null, text};
use crate::order::Order;
use crate::transfer::{self, sizes};
use crate::types;
use pjrt_abi::{
    BufferBitcast, BufferCopyRawToHost, BufferCopyToDevice, BufferCopyToMemory, BufferDestroy,
    BufferDevice, BufferDimensions, BufferDynamicDimensionIndices, BufferElementType,
    BufferGetMemoryLayout, BufferIsDeleted, BufferIsOnCpu, BufferMemory, BufferOnDeviceSizeInBytes,
    BufferPointer, BufferReadyEvent, BufferToHostBuffer, ClientBufferFromHostBuffer,
    ClientCreateErrorBuffer, ClientCreateUninitializedBuffer, ClientCreateViewOfDeviceBuffer,
    IMMUTABLE_ZERO_COPY, Layout, MUTABLE_ZERO_COPY, MemoryLayout, TILED, TOKEN, Tiled,
    ViewDeleteFn,
};
use stablo::{Bytes, DType, Tensor};
use std::cell::Cell;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Element type and shape of a buffer, and the order of its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub dtype: DType,
    pub sizes: Vec<usize>,
    pub order: Order,
}

impl Shape {
    /// The number of bytes of elements.
    pub fn bytes(&self) -> usize {
        self.sizes.iter().fold(self.dtype.bytes(), |bytes, &size| bytes.saturating_mul(size))
    }

    /// The shape that a client states by number and sizes, in row-major order.
    pub fn read(number: i32, dims: *const i64, num_dims: usize) -> Outcome<Shape> {
        let (dtype, sizes) = (types::dtype(number)?, sizes(array(dims, num_dims)?)?);
        Ok(Shape { dtype, sizes, order: Order::default() })
    }

    /// The same with the order of a layout.
    fn with_layout(self, layout: *const MemoryLayout) -> Outcome<Shape> {
        let order = Order::of_layout(layout, self.sizes.len())?;
        Ok(Shape { order, ..self })
    }

    /// The sizes in the order of memory, which are those of the tensor of a buffer.
    pub fn sizes_in_memory(&self) -> Vec<usize> {
        self.order.in_memory(&self.sizes)
    }
}

/// A shape with what clients may ask of it: made once for a result of a program.
pub struct BufferExtent {
    shape: Shape,
    dims: Box<[i64]>,
    minor_to_major: Box<[i64]>,
}

impl BufferExtent {
    pub fn new(shape: Shape) -> Arc<BufferExtent> {
        let minor_to_major = shape.order.minor_to_major(shape.sizes.len());
        Arc::new(BufferExtent {
            dims: shape.sizes.iter().map(|&size| size as i64).collect(),
            minor_to_major: minor_to_major.into_iter().map(|dim| dim as i64).collect(),
            shape,
        })
    }
}

impl Deref for BufferExtent {
    type Target = Shape;

    fn deref(&self) -> &Shape {
        &self.shape
    }
}

/// A tensor that counts as memory in use on its device.
struct Contents {
    value: Arc<Promise<Tensor>>,
    bytes: i64,
    device: Handle<Device>,
}

impl Drop for Contents {
    fn drop(&mut self) {
        if let Some(device) = self.device.get_if_any() {
            device.usage.remove(self.bytes);
        }
    }
}

/// `PJRT_Buffer`.
pub struct Buffer {
    device: Handle<Device>,
    memory: Handle<Memory>,
    extent: Arc<BufferExtent>,
    /// True for the token of an execution, which has no elements to read.
    is_token: bool,
    /// True if the elements are in memory of the client, which may change it later on.
    is_lent: bool,
    /// `None` once it is deleted or donated.
    contents: Mutex<Option<Contents>>,
    /// Values that other frameworks use, whatever becomes of the buffer.
    shared: Mutex<Vec<Arc<Promise<Tensor>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Buffer {
    /// A buffer in a memory, of a value that may still be computed.
    pub fn new(
        memory: Handle<Memory>,
        extent: Arc<BufferExtent>,
        value: Arc<Promise<Tensor>>,
    ) -> Buffer {
        let device = memory.get_if_any().map_or(null(), Memory::device);
        let bytes = i64::try_from(extent.bytes()).unwrap_or(i64::MAX);
        if let Some(device) = device.get_if_any() {
            device.usage.add(bytes);
        }
        Buffer {
            device,
            memory,
            extent,
            is_token: false,
            is_lent: false,
            contents: Mutex::new(Some(Contents { value, bytes, device })),
            shared: Mutex::default(),
        }
    }

    /// The buffer, which says that it is a token if it is.
    pub fn with_token(self, is_token: bool) -> Buffer {
        Buffer { is_token, ..self }
    }

    /// The addresses of the elements if they are in memory of the client.
    pub fn lent(&self) -> Option<Range<usize>> {
        if !self.is_lent {
            return None;
        }
        let range = |tensor: &Tensor| {
            let bytes = tensor.bytes().as_ptr_range();
            bytes.start.addr()..bytes.end.addr()
        };
        Some(self.value().ok()?.wait_for(range).ok()).flatten()
    }

    pub fn extent(&self) -> Arc<BufferExtent> {
        self.extent.clone()
    }

    pub fn shape(&self) -> &Shape {
        &self.extent
    }

    /// True if element type and shape are these.
    pub fn has_shape(&self, shape: &Shape) -> bool {
        self.extent.dtype == shape.dtype && self.extent.sizes == shape.sizes
    }

    pub fn order(&self) -> &Order {
        &self.extent.order
    }

    pub fn device(&self) -> Handle<Device> {
        self.device
    }

    pub fn memory(&self) -> Handle<Memory> {
        self.memory
    }

    /// The start and the length of bytes that a client asks for.
    ///
    /// # Errors
    /// If they are not all in the buffer.
    pub fn range(&self, offset: i64, size: i64) -> Outcome<(usize, usize)> {
        let all = self.shape().bytes();
        let range = usize::try_from(offset).ok().zip(usize::try_from(size).ok());
        let is_within =
            |(start, len): &(usize, usize)| start.checked_add(*len).is_some_and(|end| end <= all);
        range.filter(is_within).ok_or_else(|| outside(offset, size, all))
    }

    fn deleted() -> Failure {
        Failure::invalid("the buffer has been deleted or donated")
    }

    /// The value.
    ///
    /// # Errors
    /// If the buffer was deleted.
    pub fn value(&self) -> Outcome<Arc<Promise<Tensor>>> {
        lock(&self.contents).as_ref().map(|own| own.value.clone()).ok_or_else(Buffer::deleted)
    }

    /// Takes the value out, so that whoever has it may write it.
    ///
    /// # Errors
    /// If the buffer was deleted.
    pub fn take(&self) -> Outcome<Arc<Promise<Tensor>>> {
        lock(&self.contents).take().map(|own| own.value.clone()).ok_or_else(Buffer::deleted)
    }

    /// The value, which is waited for.
    fn tensor(&self) -> Outcome<Tensor> {
        self.value()?.wait_for(Clone::clone)
    }

    /// A buffer with the same value in another memory.
    fn copy_to(&self, memory: Handle<Memory>) -> Outcome<Handle<Buffer>> {
        memory.get()?;
        let value = match self.lent() {
            Some(lent) => Arc::new(Promise::from(own_copy(self.tensor()?, &[lent]))),
            None => self.value()?,
        };
        let copy = Buffer::new(memory, self.extent(), value);
        Ok(give(copy.with_token(self.is_token)))
    }
}

/// The tensor, in memory that no client changes: a copy if it is in one of these ranges.
pub(crate) fn own_copy(tensor: Tensor, lent: &[Range<usize>]) -> Outcome<Tensor> {
    let start = tensor.bytes().as_ptr().addr();
    if !lent.iter().any(|range| range.contains(&start)) {
        return Ok(tensor);
    }
    Ok(Tensor::copied(tensor.dtype(), tensor.shape(), tensor.bytes())?)
}

/// The memory for a new buffer: that of a client's arguments, or the device's default.
fn memory_of(memory: Handle<Memory>, device: Handle<Device>) -> Outcome<Handle<Memory>> {
    if !memory.is_null() {
        return Ok(memory);
    }
    Ok(device.get()?.default_memory())
}

/// Gives a client a buffer with a value that is there.
fn give_buffer(memory: Handle<Memory>, shape: Shape, value: Outcome<Tensor>) -> Handle<Buffer> {
    give(Buffer::new(memory, BufferExtent::new(shape), Arc::new(Promise::from(value))))
}

/// As [`give_buffer`], of elements in memory of the client.
fn give_lent(memory: Handle<Memory>, shape: Shape, tensor: Tensor) -> Handle<Buffer> {
    let value = Arc::new(Promise::from(Ok(tensor)));
    give(Buffer { is_lent: true, ..Buffer::new(memory, BufferExtent::new(shape), value) })
}

pub(crate) fn from_host(args: &mut ClientBufferFromHostBuffer) -> Outcome {
    args.client.get()?;
    let shape = Shape::read(args.element_type, args.dims, args.num_dims)?;
    let shape = shape.with_layout(args.device_layout)?;
    let strides = array(args.byte_strides, args.num_byte_strides)?;
    let memory = memory_of(args.memory, args.device)?;
    let (rank, element, len) = (shape.sizes.len(), shape.dtype.bytes(), shape.bytes());
    let strides = match strides.len() {
        0 => transfer::row_major(&shape.sizes, element),
        count if count == rank => strides.to_vec(),
        count => {
            let message = format!("{count} strides are given for {rank} dimensions");
            return Err(Failure::invalid(message));
        }
    };
    let (sizes, strides) = (shape.sizes_in_memory(), shape.order.in_memory(&strides));
    let is_dense = strides == transfer::row_major(&sizes, element);
    let is_lent = [IMMUTABLE_ZERO_COPY, MUTABLE_ZERO_COPY].contains(&args.host_buffer_semantics);
    let data = Foreign(args.data.cast_mut());
    let is_aligned = !data.0.is_null() && data.0.addr().is_multiple_of(LENT_ALIGNMENT);
    if is_lent && is_aligned && is_dense && len >= LEAST_LENT {
        let done = Arc::new(Promise::<()>::default());
        let lent = Lent { data, len, done: done.clone() };
        let tensor = Tensor::from_bytes(shape.dtype, &sizes, Bytes::from_owner(Arc::new(lent)))?;
        args.buffer = give_lent(memory, shape, tensor);
        args.done_with_host_buffer = Event::of(done);
        return Ok(());
    }
    let tensor = transfer::read(args.data, shape.dtype, &sizes, Some(&strides))?;
    args.buffer = give_buffer(memory, shape, Ok(tensor));
    // The elements were copied.
    args.done_with_host_buffer = Event::ready();
    Ok(())
}

/// The alignment at which arrays of hosts are used where they are, as by XLA on CPUs: an array that
/// NumPy makes seldom has it, so that programs that write such an array afterwards work.
const LENT_ALIGNMENT: usize = 64;

/// The alignment that views must have.
const ALIGNMENT: usize = 16;

/// The least number of bytes that are not copied.
const LEAST_LENT: usize = 16 << 10;

/// Memory of a client that it does not change until an event.
struct Lent {
    data: Foreign,
    len: usize,
    done: Arc<Promise<()>>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the client passes that number of bytes, unchanged until the event.
        unsafe { std::slice::from_raw_parts(self.data.0.cast(), self.len) }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.done.set(Ok(()));
    }
}

pub(crate) fn uninitialized(args: &mut ClientCreateUninitializedBuffer) -> Outcome {
    args.client.get()?;
    let shape = Shape::read(args.element_type, args.dims, args.num_dims)?;
    let shape = shape.with_layout(args.layout)?;
    let memory = memory_of(args.memory, args.device)?;
    let tensor = Tensor::zeros(shape.dtype, shape.sizes_in_memory())?;
    args.buffer = give_buffer(memory, shape, Ok(tensor));
    Ok(())
}

pub(crate) fn error_buffer(args: &mut ClientCreateErrorBuffer) -> Outcome {
    args.client.get()?;
    let shape = Shape::read(args.element_type, args.dims, args.num_dims)?;
    args.memory.get()?;
    let message = text(args.error_message, args.error_message_size)?;
    let failure = Failure::new(Code::from_number(args.error_code), message);
    args.buffer = give_buffer(args.memory, shape, Err(failure));
    Ok(())
}

/// Memory of a client, whose callback runs when it is no longer used.
struct SharedView {
    data: Foreign,
    len: usize,
    on_delete: ViewDeleteFn,
    argument: Foreign,
}

impl AsRef<[u8]> for SharedView {
    fn as_ref(&self) -> &[u8] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the client passes that number of bytes, unchanged until its callback runs.
        unsafe { std::slice::from_raw_parts(self.data.0.cast(), self.len) }
    }
}

impl Drop for SharedView {
    fn drop(&mut self) {
        if let Some(on_delete) = self.on_delete {
            // SAFETY: the client gave the function for this.
            unsafe { on_delete(self.data.0, self.argument.0) };
        }
    }
}

thread_local! {
    /// The rank and the order of the next view of this thread.
    static VIEW_ORDER: Cell<Option<(usize, Order)>> = const { Cell::new(None) };
}

/// States the order of the next view of this thread, by dimensions from the one that varies fastest
/// on, in place of its layout: jaxlib lists the dimensions in memory that it has freed. Of no
/// dimensions, the next view has the order of its layout.
///
/// # Safety
/// `dims` points to `rank` numbers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn stablo_pjrt_set_view_order(dims: *const i64, rank: usize) {
    let order = array(dims, rank).ok().and_then(|dims| Order::of_minor_to_major(dims, rank));
    VIEW_ORDER.set(order.filter(|_| rank != 0).map(|order| (rank, order)));
}

pub(crate) fn view(args: &mut ClientCreateViewOfDeviceBuffer) -> Outcome {
    let stated = VIEW_ORDER.take();
    args.client.get()?;
    let mut shape = Shape::read(args.element_type, args.dims, args.num_dims)?;
    let memory = memory_of(args.memory, args.device)?;
    let len = shape.bytes();
    if args.device_buffer_ptr.is_null() && len != 0 {
        return Err(Failure::invalid("elements are required, found null"));
    }
    let data = Foreign(args.device_buffer_ptr);
    if len != 0 && !data.0.addr().is_multiple_of(ALIGNMENT) {
        // JAX looks for these words, and quotes what follows them as a sentence.
        let message = format!("a view of {:p}, which is not aligned to {ALIGNMENT} bytes.", data.0);
        return Err(Failure::invalid(message));
    }
    // The memory is copied if it is not in the order of a layout, and else used where it is.
    let order = match stated {
        Some((rank, order)) if rank == shape.sizes.len() => Ok(order),
        _ => Order::of_layout(args.layout, shape.sizes.len()),
    };
    let strides = match order {
        Ok(order) => {
            shape.order = order;
            None
        }
        Err(_) => transfer::strides(args.layout, &shape.sizes, shape.dtype.bytes())?,
    };
    let view = SharedView {
        data,
        len,
        on_delete: args.on_delete_callback,
        argument: Foreign(args.on_delete_callback_arg),
    };
    args.buffer = match strides {
        // The view is dropped once its elements are copied.
        Some(strides) => {
            let tensor = transfer::read(view.data.0, shape.dtype, &shape.sizes, Some(&strides));
            give_buffer(memory, shape, Ok(tensor?))
        }
        None => {
            let bytes = Bytes::from_owner(Arc::new(view));
            let tensor = Tensor::from_bytes(shape.dtype, shape.sizes_in_memory(), bytes)?;
            give_lent(memory, shape, tensor)
        }
    };
    Ok(())
}

pub(crate) fn destroy(args: &mut BufferDestroy) -> Outcome {
    args.buffer.free();
    Ok(())
}

pub(crate) fn delete(args: &mut BufferDestroy) -> Outcome {
    let contents = lock(&args.buffer.get()?.contents).take();
    drop(contents);
    Ok(())
}

pub(crate) fn is_deleted(args: &mut BufferIsDeleted) -> Outcome {
    args.is_deleted = lock(&args.buffer.get()?.contents).is_none().into();
    Ok(())
}

pub(crate) fn element_type(args: &mut BufferElementType) -> Outcome {
    let own = args.buffer.get()?;
    args.element_type = if own.is_token { TOKEN } else { types::number(own.extent.dtype)? };
    Ok(())
}

pub(crate) fn dimensions(args: &mut BufferDimensions) -> Outcome {
    let dims = &args.buffer.get()?.extent.dims;
    (args.dims, args.num_dims) = (dims.as_ptr(), dims.len());
    Ok(())
}

pub(crate) fn dynamic_dimensions(args: &mut BufferDynamicDimensionIndices) -> Outcome {
    args.buffer.get()?;
    (args.indices, args.num_indices) = (std::ptr::NonNull::dangling().as_ptr(), 0);
    Ok(())
}

pub(crate) fn memory_layout(args: &mut BufferGetMemoryLayout) -> Outcome {
    let order = &args.buffer.get()?.extent.minor_to_major;
    let tiled = Tiled {
        struct_size: size_of::<Tiled>(),
        extension_start: std::ptr::null_mut(),
        minor_to_major: order.as_ptr(),
        minor_to_major_size: order.len(),
        tile_dims: std::ptr::null(),
        tile_dim_sizes: std::ptr::null(),
        num_tiles: 0,
    };
    args.layout = MemoryLayout {
        struct_size: size_of::<MemoryLayout>(),
        extension_start: std::ptr::null_mut(),
        layout: Layout { tiled },
        kind: TILED,
    };
    Ok(())
}

pub(crate) fn size_in_bytes(args: &mut BufferOnDeviceSizeInBytes) -> Outcome {
    args.size = args.buffer.get()?.shape().bytes();
    Ok(())
}

/// Copies the value once it is there, and returns an event for that.
fn copy_when_ready(
    value: Arc<Promise<Tensor>>,
    copy: impl FnOnce(&Tensor) -> Outcome + Send + 'static,
) -> Outcome<Handle<Event>> {
    if value.is_ready() {
        value.wait_for(copy)??;
        return Ok(Event::ready());
    }
    let done = Arc::new(Promise::<()>::default());
    let event = Event::of(done.clone());
    let source = value.clone();
    value.then(Box::new(move |outcome| {
        done.set(outcome.and_then(|()| source.wait_for(copy)?));
    }));
    Ok(event)
}

pub(crate) fn to_host(args: &mut BufferToHostBuffer) -> Outcome {
    let buffer = args.src.get()?;
    let shape = buffer.shape();
    if args.dst.is_null() && (args.dst_size == 0 || shape.bytes() != 0) {
        args.dst_size = shape.bytes();
        return Ok(());
    }
    let element = shape.dtype.bytes();
    // Without a layout, the elements are in the order of the buffer, which jaxlib asks for.
    let layout = args.host_layout;
    let strides = match layout.is_null() || transfer::is_freed(layout, shape.sizes.len()) {
        true => None,
        false => {
            let strides = transfer::strides(layout, &shape.sizes, element)?;
            let strides = strides.unwrap_or_else(|| transfer::row_major(&shape.sizes, element));
            Some(shape.order.in_memory(&strides))
        }
    };
    let (dst, size) = (Foreign(args.dst), args.dst_size);
    args.event = copy_when_ready(buffer.value()?, move |tensor| {
        let dst = dst;
        transfer::write(tensor, dst.0, size, strides.as_deref())
    })?;
    Ok(())
}

pub(crate) fn raw_to_host(args: &mut BufferCopyRawToHost) -> Outcome {
    let buffer = args.buffer.get()?;
    let (start, len) = buffer.range(args.offset, args.transfer_size)?;
    let dst = Foreign(args.dst);
    args.event = copy_when_ready(buffer.value()?, move |tensor| {
        copy_raw(tensor, start, len, dst);
        Ok(())
    })?;
    Ok(())
}

/// Copies bytes of a tensor, which are within it, to memory of a client.
pub(crate) fn copy_raw(tensor: &Tensor, start: usize, len: usize, dst: Foreign) {
    let from = &tensor.bytes()[start..start + len];
    // SAFETY: the client passes memory for that number of bytes.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), dst.0.cast(), len) };
}

/// The failure for bytes that are not in a buffer.
pub(crate) fn outside(offset: i64, size: i64, all: usize) -> Failure {
    Failure::invalid(format!("{size} bytes from {offset} on are not in a buffer of {all}"))
}

pub(crate) fn copy_to_device(args: &mut BufferCopyToDevice) -> Outcome {
    args.copy = args.buffer.get()?.copy_to(args.device.get()?.default_memory())?;
    Ok(())
}

pub(crate) fn copy_to_memory(args: &mut BufferCopyToMemory) -> Outcome {
    args.copy = args.buffer.get()?.copy_to(args.memory)?;
    Ok(())
}

pub(crate) fn bitcast(args: &mut BufferBitcast) -> Outcome {
    let buffer = args.buffer.get()?;
    let shape = Shape::read(args.element_type, args.dims, args.num_dims)?;
    if shape.bytes() != buffer.shape().bytes() {
        let (found, required) = (shape.bytes(), buffer.shape().bytes());
        let message = format!("the new shape has {found} bytes, the buffer {required}");
        return Err(Failure::invalid(message));
    }
    let tensor = buffer.tensor()?;
    let tensor = Tensor::from_bytes(shape.dtype, &shape.sizes, tensor.bytes().clone())?;
    args.out_buffer = give_buffer(buffer.memory, shape, Ok(tensor));
    Ok(())
}

pub(crate) fn is_on_cpu(args: &mut BufferIsOnCpu) -> Outcome {
    args.buffer.get()?;
    args.is_on_cpu = true.into();
    Ok(())
}

pub(crate) fn device(args: &mut BufferDevice) -> Outcome {
    args.device = args.buffer.get()?.device;
    Ok(())
}

pub(crate) fn memory(args: &mut BufferMemory) -> Outcome {
    args.memory = args.buffer.get()?.memory;
    Ok(())
}

pub(crate) fn ready_event(args: &mut BufferReadyEvent) -> Outcome {
    args.event = Event::of(args.buffer.get()?.value()?);
    Ok(())
}

/// The address of the elements, which are waited for.
pub(crate) fn pointer(args: &mut BufferPointer) -> Outcome {
    args.pointer = args.buffer.get()?.tensor()?.bytes().as_ptr() as usize;
    Ok(())
}

pub(crate) fn increase_references(args: &mut BufferDestroy) -> Outcome {
    let buffer = args.buffer.get()?;
    let value = buffer.value()?;
    lock(&buffer.shared).push(value);
    Ok(())
}

pub(crate) fn decrease_references(args: &mut BufferDestroy) -> Outcome {
    let last = lock(&args.buffer.get()?.shared).pop();
    last.map(drop).ok_or_else(|| Failure::invalid("the buffer has no external reference"))
}
