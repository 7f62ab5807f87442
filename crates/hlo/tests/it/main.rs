//! Tests of the StableHLO dialect; one binary, so that they link once.

mod common;
mod constraints;
mod custom_calls;
mod inputs;
mod registry;
#[allow(dead_code, reason = "of a file of the crate, its tests use a part")]
#[path = "../../src/sharding.rs"]
mod sharding; // With its unit tests, so that the library need not be built a second time for them.
mod syntax;
mod verify;
