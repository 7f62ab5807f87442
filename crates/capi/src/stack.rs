//! The stack of the caller.

use std::cell::OnceCell;

/// Bytes of stack within which a program that does not nest runs.
const ENOUGH: usize = 256 << 10;

/// True if the thread has enough stack left to run a program that does not nest; false if that is
/// not known.
pub(crate) fn is_enough() -> bool {
    thread_local! {
        static END: OnceCell<Option<usize>> = const { OnceCell::new() };
    }
    let here = 0u8;
    let address = (&raw const here).addr();
    let end = END.with(|end| *end.get_or_init(lowest_address));
    end.is_some_and(|end| address.saturating_sub(end) >= ENOUGH)
}

/// The lowest address of the stack of this thread.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn lowest_address() -> Option<usize> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut start, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the first call initializes the attributes if it returns 0; the others read them and
    // write to variables that live.
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
fn lowest_address() -> Option<usize> {
    // SAFETY: both functions read the description of a thread that lives.
    unsafe {
        let thread = libc::pthread_self();
        let top = libc::pthread_get_stackaddr_np(thread).addr();
        Some(top - libc::pthread_get_stacksize_np(thread))
    }
}

/// Not known on this system.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn lowest_address() -> Option<usize> {
    None
}
