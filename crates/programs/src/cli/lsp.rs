//! `stablo lsp`: the language server.

use crate::io::{CommandFailure, Io};

const EXAMPLES: &str = "\
Editors start it for files that end in .mlir. Exit code: 0 if the editor ended the session in the
order of the protocol, 1 if not.";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LspArgs {
    /// Accepted for editors that pass it: there is no other way to connect
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Runs the command.
///
/// # Errors
/// If the editor goes away without ending the session.
pub(crate) fn run(_: &LspArgs, io: &mut Io<'_>) -> Result<(), CommandFailure> {
    if !io.own_process {
        return Err(CommandFailure::usage("the server needs the streams of a process for itself"));
    }
    crate::io::begin_waiting();
    let cannot_read = |error| CommandFailure::input(format!("cannot read standard input: {error}"));
    let (connection, writer) = lsp::stdio().map_err(cannot_read)?;
    let is_over = lsp::serve(&connection);
    drop(connection);
    match (is_over, writer.join()) {
        (true, Ok(Ok(()))) => Ok(()),
        _ => Err(CommandFailure::reported()),
    }
}
