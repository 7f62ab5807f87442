//! Buffers: tensors in the memory of a device.

use crate::client::Client;
use crate::error::Error;
use numerics::{DType, Tensor};
use pjrt_abi::{
    Args, Buffer as PluginBuffer, BufferDestroy, BufferDimensions, BufferElementType,
    BufferToHostBuffer, ClientBufferFromHostBuffer, Handle, Layout, MemoryLayout, Slot, TILED,
    TOKEN, Tiled, dtype, number,
};
use std::sync::Arc;

/// A tensor in the memory of a device.
pub(crate) struct Buffer {
    client: Arc<Client>,
    pub handle: Handle<PluginBuffer>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut args = BufferDestroy::zeroed();
        args.buffer = self.handle;
        // Nothing is left to be done about a buffer that cannot be destroyed.
        let _ = self.client.plugin.call(Slot::Buffer_Destroy, &mut args);
    }
}

/// Dimensions as the interface has them.
fn dims(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| i64::try_from(size).unwrap_or(i64::MAX)).collect()
}

impl Buffer {
    /// The buffer that a plugin returned.
    pub(crate) fn of(client: &Arc<Client>, handle: Handle<PluginBuffer>) -> Buffer {
        Buffer { client: client.clone(), handle }
    }

    /// Copies a tensor to the device.
    pub(crate) fn from_tensor(client: &Arc<Client>, tensor: &Tensor) -> Result<Buffer, Error> {
        let dtype = tensor.dtype();
        let number = number(dtype)
            .ok_or_else(|| Error::new(format!("PJRT has no element type for {}", dtype.name())))?;
        Buffer::from_bytes(client, number, tensor.shape(), tensor.bytes())
    }

    /// A stand-in for a token, as JAX passes it: an empty array of booleans.
    pub(crate) fn token(client: &Arc<Client>) -> Result<Buffer, Error> {
        Buffer::from_bytes(client, number(DType::I1).unwrap_or_default(), &[0], &[])
    }

    fn from_bytes(
        client: &Arc<Client>,
        number: i32,
        shape: &[usize],
        bytes: &[u8],
    ) -> Result<Buffer, Error> {
        let dims = dims(shape);
        let mut args = ClientBufferFromHostBuffer::zeroed();
        args.client = client.client;
        // The semantics 0: the memory is not used after the call. Plugins want an address for
        // empty arrays, too, which a slice has.
        (args.data, args.element_type) = (bytes.as_ptr().cast(), number);
        (args.dims, args.num_dims) = (dims.as_ptr(), dims.len());
        args.device = client.device;
        let slot = Slot::Client_BufferFromHostBuffer;
        client.plugin.call(slot, &mut args)?;
        if args.buffer.is_null() {
            return Err(client.plugin.wrong(slot, "there is no buffer"));
        }
        let buffer = Buffer::of(client, args.buffer);
        client.plugin.wait(args.done_with_host_buffer)?;
        Ok(buffer)
    }

    /// Waits for the value and copies it from the device; `None` for a token.
    pub(crate) fn to_tensor(&self) -> Result<Option<Tensor>, Error> {
        let plugin = &self.client.plugin;
        let mut element = BufferElementType::zeroed();
        element.buffer = self.handle;
        plugin.call(Slot::Buffer_ElementType, &mut element)?;
        if element.element_type == TOKEN {
            return Ok(None);
        }
        let dtype = dtype(element.element_type).ok_or_else(|| {
            let number = element.element_type;
            Error::new(format!("a result has the element type number {number}, which is unknown"))
        })?;
        let mut sizes = BufferDimensions::zeroed();
        sizes.buffer = self.handle;
        let slot = Slot::Buffer_Dimensions;
        plugin.call(slot, &mut sizes)?;
        let sizes = plugin.list(slot, sizes.dims, sizes.num_dims)?;
        let shape: Option<Vec<usize>> =
            sizes.iter().map(|&size| usize::try_from(size).ok()).collect();
        let shape = shape.ok_or_else(|| plugin.wrong(slot, &format!("the shape is {sizes:?}")))?;
        let no_room = |error: numerics::TensorError| Error::new(error.to_string());
        let mut tensor = Tensor::unwritten(dtype, &shape).map_err(no_room)?;
        let bytes = tensor.bytes_mut().map_err(no_room)?;
        self.copy(&shape, bytes)?;
        // The bytes that the plugin wrote need not be elements, such as a boolean of 2.
        let bytes = tensor.bytes().clone();
        Tensor::from_bytes(dtype, &shape, bytes).map(Some).map_err(no_room)
    }

    /// Copies the elements, in row-major order.
    fn copy(&self, shape: &[usize], bytes: &mut [u8]) -> Result<(), Error> {
        let plugin = &self.client.plugin;
        let order: Vec<i64> = (0..shape.len() as i64).rev().collect();
        let mut layout = MemoryLayout::zeroed();
        layout.kind = TILED;
        layout.layout = Layout {
            tiled: Tiled {
                struct_size: size_of::<Tiled>(),
                extension_start: std::ptr::null_mut(),
                minor_to_major: order.as_ptr(),
                minor_to_major_size: order.len(),
                tile_dims: std::ptr::null(),
                tile_dim_sizes: std::ptr::null(),
                num_tiles: 0,
            },
        };
        let mut args = BufferToHostBuffer::zeroed();
        (args.src, args.host_layout) = (self.handle, &raw mut layout);
        // Without a destination, the function returns the size of one.
        let slot = Slot::Buffer_ToHostBuffer;
        plugin.call(slot, &mut args)?;
        plugin.wait(args.event)?;
        if args.dst_size != bytes.len() {
            let (found, required) = (args.dst_size, bytes.len());
            let message = format!("a result of {required} bytes is said to have {found}");
            return Err(plugin.wrong(slot, &message));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        (args.dst, args.event) = (bytes.as_mut_ptr().cast(), Handle::NULL);
        plugin.call(slot, &mut args)?;
        plugin.wait(args.event)
    }
}
