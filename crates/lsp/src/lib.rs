//! The language server of StableHLO in MLIR text: the protocol around the crate `ide`.
//!
//! Source: Language Server Protocol, version 3.17.

mod assistance;
mod commands;
mod convert;
mod handlers;
mod position;
mod server;
mod transport;
mod worker;
mod workspace;

pub use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
pub use server::serve;
pub use transport::stdio;
