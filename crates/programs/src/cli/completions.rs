//! `stablo completions`: prints a script that completes command lines in a shell.

use crate::io::{CommandFailure, Io};
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  stablo completions bash > ~/.local/share/bash-completion/completions/stablo";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Runs the command.
///
/// # Errors
/// If the output cannot be written.
pub(crate) fn run(
    options: &CompletionsArgs,
    mut command: clap::Command,
    io: &mut Io<'_>,
) -> Result<(), CommandFailure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "stablo", &mut script);
    io.print(script)
}
