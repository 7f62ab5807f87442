//! The stack of a thread.

use std::cell::OnceCell;

/// The free bytes of the stack of this thread; `None` where the system does not report them.
pub fn stack_left() -> Option<usize> {
    thread_local! {
        /// Read once: for the main thread, the system reads a file.
        static END: OnceCell<Option<usize>> = const { OnceCell::new() };
    }
    let local = 0u8;
    let here = (&raw const local).addr();
    END.with(|end| *end.get_or_init(lowest_address)).map(|end| here.saturating_sub(end))
}

/// The lowest address of the stack of this thread.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(unsafe_code, reason = "functions of C; the block gives the reason")]
fn lowest_address() -> Option<usize> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut start, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are read only after the first call filled them, and released once;
    // each pointer is to a variable of its type.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let found = libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (found == 0).then(|| start.addr())
    }
}

/// The lowest address of the stack of this thread.
#[cfg(target_os = "macos")]
#[allow(unsafe_code, reason = "functions of C; the block gives the reason")]
fn lowest_address() -> Option<usize> {
    // SAFETY: both functions read the description of this thread, which lives.
    let (top, size) = unsafe {
        let thread = libc::pthread_self();
        (libc::pthread_get_stackaddr_np(thread).addr(), libc::pthread_get_stacksize_np(thread))
    };
    top.checked_sub(size)
}

/// Not reported on this system.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn lowest_address() -> Option<usize> {
    None
}
