//! Tests of the plugin as a client of the interface sees it.

#![allow(unsafe_code, reason = "the tests are a client, which passes pointers")]

mod client;
mod contract;
mod copies;
mod deferred;
mod device_programs;
mod devices;
mod layout;
mod orders;
mod run;
mod shardings;
mod terms;
