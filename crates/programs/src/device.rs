//! Devices of PJRT plugins, for commands that run programs.

use crate::io::{CommandFailure, Io};
use stablo::{Device, DeviceSpec};

/// The value of `--device`.
///
/// # Errors
/// If it is not the text of a device.
pub fn spec(text: &str) -> Result<DeviceSpec, String> {
    let error = |error: stablo::Error| {
        let messages = error.into_diagnostics().into_iter().map(|own| own.message);
        messages.collect::<Vec<_>>().join("; ")
    };
    text.parse().map_err(error)
}

/// Loads the plugin of a device.
///
/// # Errors
/// If it cannot be loaded, or fails.
pub fn open(spec: &DeviceSpec, io: &Io<'_>) -> Result<Device, CommandFailure> {
    let mut own = spec.clone();
    own.path = io.path(&spec.path);
    Ok(Device::open(&own)?)
}

#[cfg(unix)]
pub use crash::guard;

/// Nothing is done about plugins that crash.
#[cfg(not(unix))]
pub fn guard(_: &DeviceSpec, _: &Io<'_>) {}

/// Messages for plugins that crash, which would otherwise end the process without a word.
#[cfg(unix)]
#[allow(unsafe_code, reason = "signals are handled by functions of C; each block gives its reason")]
mod crash {
    use crate::io::{FAILURE, Io};
    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, c_int, sigaction};
    use stablo::DeviceSpec;
    use std::mem::MaybeUninit;
    use std::sync::OnceLock;

    const SIGNALS: [c_int; 5] = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV];

    /// The message, which the handler may not allocate.
    static MESSAGE: OnceLock<String> = OnceLock::new();

    /// Restores the former handlers when it is dropped.
    pub struct Guard(Vec<(c_int, sigaction)>);

    /// Reports a crash as an error of the plugin while the guard lives, if this process is the
    /// program's own.
    pub fn guard(spec: &DeviceSpec, io: &Io<'_>) -> Option<Guard> {
        if !io.own_process {
            return None;
        }
        let path = spec.path.display();
        MESSAGE.get_or_init(|| format!("error[device]: {path}: the plugin crashed this process\n"));
        let mut former = Vec::new();
        for signal in SIGNALS {
            let mut action = MaybeUninit::<sigaction>::zeroed();
            let mut old = MaybeUninit::<sigaction>::zeroed();
            let handler: extern "C" fn(c_int) = report;
            // SAFETY: zeros are a valid action, and both places are ours.
            let done = unsafe {
                let action = action.assume_init_mut();
                action.sa_sigaction = handler as usize;
                action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
                sigaction(signal, action, old.as_mut_ptr())
            };
            if done == 0 {
                // SAFETY: the function has written the former action.
                former.push((signal, unsafe { old.assume_init() }));
            }
        }
        Some(Guard(former))
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            for (signal, action) in &self.0 {
                // SAFETY: it is the action that was there before.
                unsafe { sigaction(*signal, action, std::ptr::null_mut()) };
            }
        }
    }

    extern "C" fn report(_: c_int) {
        let message = MESSAGE.get().map_or("", String::as_str);
        // SAFETY: both functions may be called in a handler of signals.
        unsafe {
            libc::write(2, message.as_ptr().cast(), message.len());
            libc::_exit(FAILURE);
        }
    }
}
