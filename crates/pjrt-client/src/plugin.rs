//! Plugins: shared libraries with a table of functions.

use crate::error::Error;
use libloading::Library;
use pjrt_abi::{
    ApiHeader, Args, Error as PluginError, ErrorDestroy, ErrorGetCode, ErrorMessage, Event,
    EventAwait, EventDestroy, Function, Handle, MAJOR, Named, PluginAttributes, PluginInitialize,
    Slot, array, read_named, text,
};
use std::ffi::{c_int, c_void};
use std::path::Path;

/// Least minor version of the interface: functions of older ones have other places in the table.
const LEAST_MINOR: c_int = 54;

/// Words of memory for arguments beyond what we know of their structures.
const SPARE_WORDS: usize = 32;

/// Attributes of plugins that are read, at most.
const MAX_ATTRIBUTES: usize = 1 << 16;

/// A loaded plugin. It is never unloaded: its threads may run for as long as the process.
#[derive(Clone, Copy)]
pub struct Plugin {
    header: &'static ApiHeader,
    /// Number of functions in the table.
    len: usize,
}

// SAFETY: a plugin does not change its table, and its functions may be called from any thread.
unsafe impl Send for Plugin {}
// SAFETY: as above.
unsafe impl Sync for Plugin {}

/// The arguments of a function, with room for plugins that write more than they are asked for.
#[repr(C)]
struct PaddedArgs<A> {
    args: A,
    spare: [usize; SPARE_WORDS],
}

impl Plugin {
    /// Loads a plugin and initializes it. Its code runs within this process.
    ///
    /// # Errors
    /// If the file is no shared library for this machine, exports no table, or the table is of
    /// another version.
    pub fn load(path: &Path) -> Result<Plugin, Error> {
        let describe = |error: libloading::Error| {
            let mut message = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(next) = cause {
                let text = next.to_string();
                if !message.contains(&text) {
                    message = format!("{message}: {text}");
                }
                cause = next.source();
            }
            message
        };
        if path.is_dir() {
            return Err(Error::new("it is a directory, a shared library is required"));
        }
        // SAFETY: to run the code of the library is what the caller asks for.
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|error| {
            Error::new(format!("it cannot be loaded as a shared library: {}", describe(error)))
        })?;
        // Threads and functions at exit of the plugin refer to its code.
        let library = Box::leak(Box::new(library));
        // SAFETY: the interface gives this symbol this type.
        let symbol = unsafe {
            library.get::<unsafe extern "C" fn() -> *const ApiHeader>(
                c"GetPjrtApi".to_bytes_with_nul(),
            )
        };
        let symbol = symbol
            .map_err(|_| Error::new("it is no PJRT plugin: it exports no function `GetPjrtApi`"))?;
        // SAFETY: the table that a plugin returns lives as long as the plugin, and is not changed.
        let header = unsafe { symbol().as_ref() };
        let header = header.ok_or_else(|| Error::new("`GetPjrtApi` returned null"))?;
        let plugin = Plugin::of_table(header)?;
        // A table without it needs no initialization.
        if plugin.function(Slot::Plugin_Initialize).is_ok() {
            plugin.call(Slot::Plugin_Initialize, &mut PluginInitialize::zeroed())?;
        }
        Ok(plugin)
    }

    /// The plugin of a table, if its version is one that this client knows.
    fn of_table(header: &'static ApiHeader) -> Result<Plugin, Error> {
        let (size, version) = (header.struct_size, header.version);
        let (major, minor) = (version.major_version, version.minor_version);
        if size < size_of::<ApiHeader>() {
            let message = format!("its table has {size} bytes, too few for a version");
            return Err(Error::new(message));
        }
        if major != MAJOR || minor < LEAST_MINOR {
            let message = format!(
                "it has version {major}.{minor} of the PJRT interface; version {MAJOR}.{LEAST_MINOR} \
                 or a later {MAJOR}.x is required"
            );
            return Err(Error::new(message));
        }
        let len = (size - size_of::<ApiHeader>()) / size_of::<usize>();
        Ok(Plugin { header, len })
    }

    /// Major and minor version of the interface that the plugin was built for.
    pub fn version(&self) -> (i32, i32) {
        (self.header.version.major_version, self.header.version.minor_version)
    }

    /// The attributes of the plugin, such as versions of StableHLO.
    ///
    /// # Errors
    /// If the plugin fails.
    pub fn attributes(&self) -> Result<Vec<(String, Named)>, Error> {
        let mut args = PluginAttributes::zeroed();
        self.call(Slot::Plugin_Attributes, &mut args)?;
        if args.num_attributes > MAX_ATTRIBUTES {
            return Err(self.wrong(Slot::Plugin_Attributes, "too many attributes"));
        }
        // SAFETY: plugins return the stated number of values, which live as long as the plugin.
        let values = unsafe { read_named(args.attributes, args.num_attributes) };
        values.map_err(|message| self.wrong(Slot::Plugin_Attributes, &message))
    }

    /// The error of an answer that breaks the contract of the interface.
    pub(crate) fn wrong(&self, slot: Slot, found: &str) -> Error {
        Error::new(format!("PJRT_{} answered wrongly: {found}", slot.name()))
    }

    /// An array that a function returned, copied.
    pub(crate) fn list<T: Copy>(
        &self,
        slot: Slot,
        data: *const T,
        len: usize,
    ) -> Result<Vec<T>, Error> {
        // SAFETY: plugins return arrays of the stated length.
        let values = unsafe { array(data, len) };
        values.map(<[T]>::to_vec).map_err(|message| self.wrong(slot, &message))
    }

    /// A text that a function returned.
    pub(crate) fn text(
        &self,
        slot: Slot,
        data: *const std::ffi::c_char,
        len: usize,
    ) -> Result<String, Error> {
        // SAFETY: plugins return texts of the stated length.
        unsafe { text(data.cast(), len) }.map_err(|message| self.wrong(slot, &message))
    }

    /// A function of the table.
    fn function(&self, slot: Slot) -> Result<Function, Error> {
        let missing = |why: &str| {
            let (major, minor) = self.version();
            let name = slot.name();
            Error::new(format!("its table, of version {major}.{minor}, {why} PJRT_{name}"))
        };
        if slot as usize >= self.len {
            return Err(missing("ends before"));
        }
        // SAFETY: the table goes on for `len` pointers, which are null or functions.
        let function = unsafe {
            std::ptr::from_ref(self.header)
                .add(1)
                .cast::<Option<Function>>()
                .add(slot as usize)
                .read()
        };
        function.ok_or_else(|| missing("has null for"))
    }

    /// Calls a function.
    ///
    /// # Errors
    /// The error that it returns, or that it is missing.
    pub(crate) fn call<A: Args>(&self, slot: Slot, args: &mut A) -> Result<(), Error> {
        let error = self.call_raw(slot, args)?;
        if error.is_null() {
            return Ok(());
        }
        let (code, message) = self.describe(error);
        // The error of an error is of no interest.
        let _ = self.call_raw(Slot::Error_Destroy, &mut {
            let mut args = ErrorDestroy::zeroed();
            args.error = error;
            args
        });
        Err(Error::of_plugin(slot.name(), code, &message))
    }

    /// Calls a function and returns its error as it is.
    fn call_raw<A: Args>(&self, slot: Slot, args: &mut A) -> Result<Handle<PluginError>, Error> {
        let function = self.function(slot)?;
        let mut padded = PaddedArgs { args: *args, spare: [0; SPARE_WORDS] };
        // SAFETY: the structure is that of this function, and all that it points to lives during
        // the call.
        let error = unsafe { function((&raw mut padded).cast::<c_void>()) };
        *args = padded.args;
        Ok(error)
    }

    /// The code and the message of an error.
    fn describe(&self, error: Handle<PluginError>) -> (c_int, String) {
        let mut code = ErrorGetCode::zeroed();
        code.error = error;
        let mut message = ErrorMessage::zeroed();
        message.error = error;
        // Errors of these are of no interest: a message is missing then. `Error_Message` returns
        // nothing, so its result is not read.
        let is_known =
            matches!(self.call_raw(Slot::Error_GetCode, &mut code), Ok(e) if e.is_null());
        let _ = self.call_raw(Slot::Error_Message, &mut message);
        let text = self.text(Slot::Error_Message, message.message, message.message_size);
        (if is_known { code.code } else { 2 }, text.unwrap_or_default())
    }

    /// Waits for an event and frees it; null is one that is over.
    ///
    /// # Errors
    /// The error of what the event is for.
    pub(crate) fn wait(&self, event: Handle<Event>) -> Result<(), Error> {
        if event.is_null() {
            return Ok(());
        }
        let mut args = EventAwait::zeroed();
        args.event = event;
        let outcome = self.call(Slot::Event_Await, &mut args);
        let mut args = EventDestroy::zeroed();
        args.event = event;
        self.call(Slot::Event_Destroy, &mut args)?;
        outcome
    }
}
