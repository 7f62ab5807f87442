//! `stablo manual`: writes the manual pages.

use crate::io::{CommandFailure, Io};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  stablo manual ~/.local/share/man/man1";

/// The command line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManualArgs {
    /// The directory of the pages: stablo.1, stablo-run.1, …
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// If a page cannot be written.
pub(crate) fn run(
    options: &ManualArgs,
    mut command: clap::Command,
    io: &mut Io<'_>,
) -> Result<(), CommandFailure> {
    let directory = &options.directory;
    std::fs::create_dir_all(io.path(directory)).map_err(|e| {
        CommandFailure::input(format!("cannot make the directory {}: {e}", directory.display()))
    })?;
    command.build();
    write_page(&command, directory, io)?;
    let mut commands = command.get_subcommands().filter(|command| command.get_name() != "help");
    commands.try_for_each(|command| write_page(command, directory, io))
}

fn write_page(
    command: &clap::Command,
    directory: &Path,
    io: &Io<'_>,
) -> Result<(), CommandFailure> {
    let page = clap_mangen::Man::new(command.clone());
    io.write_file(&directory.join(page.get_filename()), |mut out| page.render(&mut out))
}
