//! The façade against upstream's files, arithmetic and broken input; one binary, so that tests
//! link once.

mod api;
mod artifacts;
mod compare;
mod compiled;
mod crates;
mod dynamic;
mod examples;
mod generated;
mod host;
mod hostile;
mod into;
mod invalid;
mod parallel;
mod profile;
mod reference;
mod rng;
mod run;
mod specialized;
mod status;
mod updates;
mod weights;
