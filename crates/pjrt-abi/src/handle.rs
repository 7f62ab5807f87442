//! Pointers that cross the interface.

use std::ffi::c_void;

/// A pointer to an object of the plugin that a client holds; null stands for no object.
#[repr(transparent)]
#[derive(Debug)]
pub struct Handle<T>(*mut T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Handle<T> {
        *self
    }
}

impl<T> Copy for Handle<T> {}

// SAFETY: functions of the interface may be called from any thread, and a handle is nothing but a
// name of an object for them.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Handle<T>) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl<T> Handle<T> {
    /// No object.
    pub const NULL: Handle<T> = Handle(std::ptr::null_mut());

    /// The handle of an address.
    #[must_use]
    pub fn from_pointer(pointer: *mut c_void) -> Handle<T> {
        Handle(pointer.cast())
    }

    /// True if there is no object.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address.
    #[must_use]
    pub fn pointer(self) -> *mut T {
        self.0
    }
}
