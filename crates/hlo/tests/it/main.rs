//! Tests of the StableHLO dialect; one binary, so that they link once.

mod common;
mod constraints;
mod inputs;
mod registry;
mod syntax;
mod verify;
