//! Pointers that cross the interface.
//!
//! The contract of the interface is what makes their uses sound: clients pass pointers that this
//! library gave them and that they have not freed, and arrays of the stated length. Objects are
//! never changed but behind locks, as clients use them from many threads.

use crate::error::{Code, Failure, Outcome};
use pjrt_abi::{Args, Named, NamedValue};
use std::ffi::{c_char, c_int, c_void};

/// The object of this library that clients know as `Self`.
pub trait Opaque: Sized {
    type Object: Object<Opaque = Self>;
}

/// An object that clients may hold pointers to.
pub trait Object: Sync {
    type Opaque: Opaque<Object = Self>;
}

/// Pairs objects with their names in the interface.
macro_rules! objects {
    ($($object:ty = $opaque:ident,)*) => {$(
        impl Opaque for pjrt_abi::$opaque {
            type Object = $object;
        }

        impl Object for $object {
            type Opaque = pjrt_abi::$opaque;
        }
    )*};
}

objects! {
    crate::deferred::AliasFulfillment = AliasFulfillment,
    crate::deferred::Tracking = Tracking,
    crate::deferred::TransferManager = TransferManager,
    crate::buffer::Buffer = Buffer,
    crate::client::Client = Client,
    crate::device::Description = Description,
    crate::device::Device = Device,
    crate::device::Memory = Memory,
    crate::device::Topology = Topology,
    crate::error::Error = Error,
    crate::event::Event = Event,
    crate::executable::Executable = Executable,
    crate::executable::LoadedExecutable = Loaded,
    crate::execute::Context = Context,
    crate::layouts::Layout = MemoryOrder,
}

/// A pointer to an object that a client holds; null stands for no object.
pub type Handle<T> = pjrt_abi::Handle<<T as Object>::Opaque>;

/// No object.
pub const fn null<T>() -> pjrt_abi::Handle<T> {
    pjrt_abi::Handle::NULL
}

/// Gives an object to a client, which frees it by the function for that.
pub fn give<T: Object>(object: T) -> Handle<T> {
    Handle::<T>::from_pointer(Box::into_raw(Box::new(object)).cast())
}

/// A handle to an object that its owner keeps for as long as clients may use it.
pub fn lend<T: Object>(object: &T) -> Handle<T> {
    Handle::<T>::from_pointer(std::ptr::from_ref(object).cast_mut().cast())
}

/// The uses of handles.
pub trait Resolve {
    type Object: 'static;

    /// The object.
    ///
    /// # Errors
    /// If the client passed null.
    fn get<'a>(self) -> Outcome<&'a Self::Object>;

    /// The object, unless the handle is null.
    fn get_if_any<'a>(self) -> Option<&'a Self::Object>;

    /// Frees an object that [`give`] gave; null is nothing to free.
    fn free(self);
}

impl<T: Opaque<Object: 'static>> Resolve for pjrt_abi::Handle<T> {
    type Object = T::Object;

    fn get<'a>(self) -> Outcome<&'a T::Object> {
        self.get_if_any().ok_or_else(|| missing(std::any::type_name::<T::Object>()))
    }

    fn get_if_any<'a>(self) -> Option<&'a T::Object> {
        // SAFETY: clients pass null or an object of this library that lives.
        unsafe { self.pointer().cast::<T::Object>().as_ref() }
    }

    fn free(self) {
        if !self.is_null() {
            // SAFETY: clients free an object once, by the function for its type.
            drop(unsafe { Box::from_raw(self.pointer().cast::<T::Object>()) });
        }
    }
}

/// The failure of a call that lacks an object of a type.
#[cold]
fn missing(path: &str) -> Failure {
    let name = path.rsplit("::").next().unwrap_or_default();
    Failure::new(Code::InvalidArgument, format!("a {name} is required, found null"))
}

/// The values of an array that a client passed.
///
/// # Errors
/// If it passed null for an array that is not empty.
pub(crate) fn array<'a, T>(data: *const T, len: usize) -> Outcome<&'a [T]> {
    // SAFETY: clients pass arrays of the stated length.
    unsafe { pjrt_abi::array(data, len) }.map_err(Failure::invalid)
}

/// The places of an array that a client passed to be written.
///
/// # Errors
/// As [`array`].
pub(crate) fn array_mut<'a, T>(data: *mut T, len: usize) -> Outcome<&'a mut [T]> {
    array(data.cast_const(), len)?;
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: clients pass arrays of the stated length, which nothing else uses during the call.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, len) })
}

/// The bytes that a client passed.
///
/// # Errors
/// As [`array`].
pub(crate) fn bytes<'a>(data: *const c_char, len: usize) -> Outcome<&'a [u8]> {
    array(data.cast(), len)
}

/// The text that a client passed.
pub(crate) fn text(data: *const c_char, len: usize) -> Outcome<String> {
    // SAFETY: clients pass texts of the stated length.
    unsafe { pjrt_abi::text(data.cast(), len) }.map_err(Failure::invalid)
}

/// The options that a client passed.
///
/// # Errors
/// If one is of an unknown kind.
pub(crate) fn options(values: *const NamedValue, count: usize) -> Outcome<Vec<(String, Named)>> {
    // SAFETY: clients pass values of the stated number and sizes.
    unsafe { pjrt_abi::read_named(values, count) }.map_err(Failure::invalid)
}

/// A structure that a client passed, however long its version of it is.
///
/// # Errors
/// If it passed null.
pub(crate) fn structure<T: Args>(pointer: *const T) -> Outcome<T> {
    let found = read(pointer.cast());
    found.ok_or_else(|| {
        Failure::new(Code::InvalidArgument, "a structure is required, found null".to_string())
    })
}

/// The bytes of a structure that the client has and we know.
///
/// # Safety
/// The structure begins with its size.
unsafe fn size_of_args<T: Args>(pointer: *const c_void) -> usize {
    // SAFETY: as the caller says.
    unsafe { pointer.cast::<usize>().read() }.max(T::LEAST).min(size_of::<T>())
}

/// Copies the bytes of a structure that the client states, followed by zeros.
pub(crate) fn read<T: Args>(pointer: *const c_void) -> Option<T> {
    if pointer.is_null() {
        return None;
    }
    let mut copy = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: the first field is the size of the structure, of which no more is read; `Args` may be
    // zeros or what clients write.
    unsafe {
        let size = size_of_args::<T>(pointer);
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), size);
        Some(copy.assume_init())
    }
}

/// Copies the bytes of a structure that the client has.
pub(crate) fn write<T: Args>(pointer: *mut c_void, from: &T) {
    // SAFETY: the client's structure, which was read by [`read`], has the size that it states.
    unsafe {
        let size = size_of_args::<T>(pointer);
        std::ptr::copy_nonoverlapping(std::ptr::from_ref(from).cast::<u8>(), pointer.cast(), size);
    }
}

/// A pointer of the client, which only the functions of the client read.
#[derive(Clone, Copy)]
pub struct Foreign(pub *mut c_void);

// SAFETY: the client's functions that get it may be called from any thread.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

/// Start and length of a text or of bytes, for a structure of a client.
pub fn parts(bytes: &[u8]) -> (*const c_char, usize) {
    (bytes.as_ptr().cast(), bytes.len())
}

/// A size as the interface's `int`.
pub fn int(size: usize) -> c_int {
    c_int::try_from(size).unwrap_or(c_int::MAX)
}
