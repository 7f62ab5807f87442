//! A client of PJRT plugins: it loads a plugin, compiles programs on it and runs them.
//!
//! A plugin is a shared library that exports `GetPjrtApi`. What it answers is checked as far as
//! that is possible: versions, the functions of its table, null where an object is due, numbers of
//! results, and the sizes of buffers.
//!
//! Source: OpenXLA, `xla/pjrt/c/pjrt_c_api.h`.

#![allow(unsafe_code, reason = "a C interface is made of pointers; each block gives its reason")]

mod buffer;
mod client;
mod error;
mod executable;
mod plugin;

pub use client::Client;
pub use error::Error;
pub use executable::{Executable, Input};
pub use pjrt_abi::{CompileOptions, Named};
pub use plugin::Plugin;
