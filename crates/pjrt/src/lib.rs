//! A PJRT plugin: JAX and other clients of the interface compile and run programs on stablo.
//!
//! The crate `pjrt-abi` has the structures of the interface. `table.rs` is its table of functions,
//! each of a structure of arguments, which `call.rs` reads from clients of any version. Values that
//! are still computed are promises (`event.rs`).

#![allow(unsafe_code, reason = "a C interface is made of pointers; each block gives its reason")]
#![allow(missing_docs, reason = "the interface and its names are the header's")]

mod buffer;
mod cache;
#[doc(hidden)]
pub mod call; // For tests, as the others.
mod client;
mod combine;
mod debug;
mod deferred;
mod device;
mod device_program;
mod divided;
mod error;
mod event;
mod executable;
mod execute;
mod extensions;
mod factors;
#[doc(hidden)]
pub mod handle;
mod host;
mod layouts;
mod order;
mod parameters;
mod partitioned;
mod platform;
mod propagation;
mod queue;
mod splits;
#[doc(hidden)]
pub mod table;
mod terms;
mod transfer;
mod types;

/// The table of functions: the only symbol that PJRT clients look for.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const table::Api {
    &table::API
}
