//! Pointers that cross the interface.
//!
//! The contract of the interface is what makes their uses sound: clients pass pointers that this
//! library gave them and that they have not freed, and arrays of the stated length. Objects are
//! never changed but behind locks, as clients use them from many threads.

use crate::abi::Args;
use crate::error::{Code, Failure, Outcome};
use std::ffi::{c_char, c_int, c_void};

/// A pointer to an object of this library that a client holds; null stands for no object.
#[repr(transparent)]
pub struct Handle<T>(*mut T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Handle<T> {
        *self
    }
}

impl<T> Copy for Handle<T> {}

// SAFETY: a handle gives shared references only, to objects that are `Sync`.
unsafe impl<T: Sync> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Handle<T> {}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Handle<T>) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl<T: Sync> Handle<T> {
    /// No object.
    pub const NULL: Handle<T> = Handle(std::ptr::null_mut());

    /// Gives an object to a client, which frees it by the function for that.
    pub fn new(object: T) -> Handle<T> {
        Handle(Box::into_raw(Box::new(object)))
    }

    /// A handle to an object that is never freed.
    pub fn of(object: &'static T) -> Handle<T> {
        Handle(std::ptr::from_ref(object).cast_mut())
    }

    /// A handle to an object that its owner keeps for as long as clients may use it.
    pub fn within(object: &T) -> Handle<T> {
        Handle(std::ptr::from_ref(object).cast_mut())
    }

    /// The handle of an address that [`Handle::pointer`] gave.
    pub fn from_pointer(pointer: *mut c_void) -> Handle<T> {
        Handle(pointer.cast())
    }

    /// True if there is no object.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The object.
    ///
    /// # Errors
    /// If the client passed null.
    pub fn get<'a>(self) -> Outcome<&'a T> {
        // SAFETY: clients pass null or an object of this library that lives.
        unsafe { self.0.as_ref() }.ok_or_else(|| {
            let name = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
            Failure::new(Code::InvalidArgument, format!("a {name} is required, found null"))
        })
    }

    /// The object, unless the handle is null.
    pub fn get_if_any<'a>(self) -> Option<&'a T> {
        // SAFETY: as above.
        unsafe { self.0.as_ref() }
    }

    /// Frees an object that [`Handle::new`] gave; null is nothing to free.
    pub fn free(self) {
        if !self.0.is_null() {
            // SAFETY: clients free an object once, by the function for its type.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }

    /// The address, for callbacks of clients.
    pub fn pointer(self) -> *mut T {
        self.0
    }
}

/// The values of an array that a client passed.
///
/// # Errors
/// If it passed null for an array that is not empty.
pub(crate) fn array<'a, T>(data: *const T, len: usize) -> Outcome<&'a [T]> {
    match (data.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => {
            let message = format!("an array of {len} values is required, found null");
            Err(Failure::new(Code::InvalidArgument, message))
        }
        // SAFETY: clients pass arrays of the stated length.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(data, len) }),
    }
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
pub(crate) fn text<'a>(data: *const c_char, len: usize) -> Outcome<std::borrow::Cow<'a, str>> {
    Ok(String::from_utf8_lossy(bytes(data, len)?))
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

/// A pointer of the client, which only its own functions read.
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
