//! Stacks: work on deeply nested programs takes the thread of the caller where it has room.

/// Bytes that suffice for reading, changing, writing and dropping any program that the parsers
/// accept, in builds with optimization, four times over.
const ENOUGH: usize = 6 << 20;

/// Runs `work` on this thread if its stack has room, else on one with a large stack: starting a
/// thread, whose memory is cold, takes as long as reading a small program.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match bytes_left() {
        Some(bytes) if bytes >= ENOUGH => work(),
        _ => stablo::with_large_stack(work),
    }
}

/// The free bytes of the stack of this thread; `None` where the system does not report them.
#[cfg(all(target_os = "linux", not(debug_assertions)))]
fn bytes_left() -> Option<usize> {
    use std::cell::OnceCell;
    use std::mem::MaybeUninit;

    thread_local! {
        /// The lowest address of the stack. That of the main thread is read from a file.
        static END: OnceCell<Option<usize>> = const { OnceCell::new() };
    }

    #[expect(unsafe_code)]
    fn end() -> Option<usize> {
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        let (mut start, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: the attributes are used only after they are filled, and given back once; each
        // pointer is to a variable of its type.
        unsafe {
            if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
                return None;
            }
            let found = libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut size);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            (found == 0).then_some(start.addr())
        }
    }

    let local = 0u8;
    let here = std::ptr::from_ref(&local).addr();
    END.with(|known| *known.get_or_init(end)).map(|end| here.saturating_sub(end))
}

#[cfg(not(all(target_os = "linux", not(debug_assertions))))]
fn bytes_left() -> Option<usize> {
    None
}
