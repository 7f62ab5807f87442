//! Notes which of standard input and output were closed when the process was started. The standard
//! library opens the null device in their place before `main`, so that reading finds nothing and
//! writing seems to succeed.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "a function that runs before `main`, and one of C")]
mod noted {
    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

    // SAFETY: the section holds pointers to functions without arguments that are called once.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static CHECK: extern "C" fn() = check;

    extern "C" fn check() {
        for (number, closed) in (0..).zip(&CLOSED) {
            // SAFETY: asking for the flags of any number of a file is harmless.
            let is_closed = unsafe { libc::fcntl(number, libc::F_GETFD) } == -1;
            closed.store(is_closed, Ordering::Relaxed);
        }
    }

    /// True if there was no such stream.
    pub(crate) fn is_closed(number: usize) -> bool {
        CLOSED[number].load(Ordering::Relaxed)
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod noted {
    /// Not known on this system.
    pub fn is_closed(_: usize) -> bool {
        false
    }
}

pub(crate) use noted::is_closed;
