//! The PJRT C interface: structures and functions, for the plugin and for clients of plugins.
//!
//! Names and layouts follow the header, version 0.114, without the prefix `PJRT_`. A function
//! of the interface takes one structure, which begins with its size and a list of extensions; newer
//! clients have longer ones, older clients shorter ones. A plugin exports one symbol, `GetPjrtApi`,
//! which returns its table of functions.
//!
//! Source: OpenXLA, `xla/pjrt/c/pjrt_c_api.h`.

#![allow(unsafe_code, reason = "a C interface is made of pointers; each block gives its reason")]
#![allow(missing_docs, reason = "the interface and its names are the header's")]

mod handle;
mod named;
mod proto;
mod slots;
mod structures;
mod types;

pub use handle::Handle;
pub use named::{Named, NamedValues, array, read_named, text};
pub use proto::{CompileOptions, Override, write_assignment};
pub use slots::{ApiHeader, Function, Slot};
pub use structures::*;
pub use types::{TOKEN, dtype, number};
