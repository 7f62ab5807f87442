//! Command lines in upstream's style on top of clap: `-flag` and `--flag` are the same.

use crate::io::{CommandFailure, Io, USAGE};
use anstream::AutoStream;
use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use stablo::{PrintOptions, Styles};
use std::ffi::OsString;

/// How a report is printed.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReportStyle {
    Human,
    Json,
}

/// Parses a number that is not 0.
///
/// # Errors
/// If it is something else.
pub(crate) fn at_least_one<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    match text.parse::<u64>() {
        Ok(0) => Err("this must be at least 1".to_string()),
        Ok(number) => N::try_from(number).map_err(|_| "this is too large".to_string()),
        Err(_) => Err("this is not a number from 1 on".to_string()),
    }
}

/// Parses arguments. Returns `None` if help or the version was requested and printed.
///
/// # Errors
/// If `command` does not accept the arguments.
pub(crate) fn parse(
    command: Command,
    argv: &[OsString],
    io: &mut Io<'_>,
) -> Result<Option<ArgMatches>, CommandFailure> {
    let argv =
        argv.iter().enumerate().map(|(i, arg)| if i == 0 { arg.clone() } else { two_dashes(arg) });
    let command = command.args_override_self(true).mut_args(|arg| match arg.get_action() {
        ArgAction::SetTrue => switch(arg),
        _ => arg,
    });
    match command.try_get_matches_from(argv) {
        Ok(matches) => Ok(Some(matches)),
        Err(error) if !error.use_stderr() => {
            io.print(error.render().to_string())?;
            Ok(None)
        }
        Err(error) => {
            io.report(error.render());
            Err(CommandFailure { code: USAGE, ..CommandFailure::reported() })
        }
    }
}

/// A flag that also accepts `--flag=true` and `--flag=false`.
fn switch(arg: Arg) -> Arg {
    arg.action(ArgAction::Set)
        .num_args(0..=1)
        .require_equals(true)
        .value_parser(BoolishValueParser::new())
        .default_missing_value("true")
        .default_value("false")
        .value_name("BOOL")
        .hide_default_value(true)
        .hide_possible_values(true)
}

/// `-flag` as `--flag`; `-o`, `-` and numbers are unchanged.
fn two_dashes(arg: &OsString) -> OsString {
    match arg.to_str() {
        Some(text)
            if text.len() > 2
                && text.starts_with('-')
                && text[1..].starts_with(|c: char| c.is_ascii_alphabetic())
                && !text.starts_with("-o=") =>
        {
            format!("-{text}").into()
        }
        _ => arg.clone(),
    }
}

/// When diagnostics have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the environment says otherwise (`NO_COLOR`)
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// The styles of diagnostics on standard error.
    pub(crate) fn styles(self) -> Styles {
        let colored = match self {
            Color::Auto => AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never,
            Color::Always => true,
            Color::Never => false,
        };
        if colored { Styles::COLORED } else { Styles::PLAIN }
    }
}

/// Flags about diagnostics.
#[derive(clap::Args, Debug)]
pub(crate) struct DiagnosticFlags {
    /// When diagnostics have colours
    #[arg(long, global = true, value_name = "WHEN")]
    color: Option<Color>,
}

impl DiagnosticFlags {
    /// Lets diagnostics be printed as the flags say.
    pub(crate) fn apply(&self, io: &mut Io<'_>) {
        if let Some(color) = self.color {
            io.styles = color.styles();
        }
    }
}

/// Flags of MLIR's programs that change nothing here, so that command lines with them work.
#[derive(clap::Args, Debug)]
pub(crate) struct CompatibilityFlags {
    /// Accepted for compatibility: passes always run sequentially
    #[arg(long)]
    mlir_disable_threading: bool,
    /// Accepted for compatibility: there is no debug output
    #[arg(long)]
    debug: bool,
    /// Accepted for compatibility: there is no debug output
    #[arg(long, value_name = "TYPES", require_equals = true)]
    debug_only: Option<String>,
}

/// Flags of MLIR's programs that cannot work here, and why.
const REFUSED: [(&str, &str); 3] = [
    ("irdl-file", "dialects are compiled into this program: definitions in IRDL cannot be loaded"),
    (
        "load-dialect-plugin",
        "plugins of LLVM cannot be loaded: dialects are compiled into this program",
    ),
    ("load-pass-plugin", "plugins of LLVM cannot be loaded: passes are compiled into this program"),
];

/// Checks that no argument is a flag of MLIR's programs that cannot work here.
///
/// # Errors
/// If one is; the message gives the reason.
pub(crate) fn check_supported(argv: &[OsString]) -> Result<(), CommandFailure> {
    let given = argv.iter().skip(1).filter_map(|arg| arg.to_str()?.strip_prefix('-'));
    for flag in given.map(|flag| flag.strip_prefix('-').unwrap_or(flag)) {
        let name = flag.split('=').next().unwrap_or_default();
        if let Some((name, reason)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            return Err(CommandFailure::usage(format!("--{name} is not supported: {reason}")));
        }
    }
    Ok(())
}

/// Printing flags of both upstream programs.
#[derive(clap::Args, Debug)]
pub(crate) struct PrintFlags {
    /// Print all ops in the generic form
    #[arg(long, alias = "print-op-generic")]
    mlir_print_op_generic: bool,
    /// Print locations
    #[arg(long)]
    mlir_print_debuginfo: bool,
    /// Print locations in a readable form
    #[arg(long)]
    mlir_pretty_debuginfo: bool,
    /// Name values after the names in their locations
    #[arg(long)]
    mlir_use_nameloc_as_prefix: bool,
    /// Print no aliases
    #[arg(long)]
    mlir_print_local_scope: bool,
    /// Omit regions
    #[arg(long)]
    mlir_print_skip_regions: bool,
    /// Number values uniquely across regions
    #[arg(long)]
    mlir_print_unique_ssa_ids: bool,
    /// Name the users of values in comments
    #[arg(long)]
    mlir_print_value_users: bool,
    /// Elide constants with more elements than this
    #[arg(long, value_name = "N")]
    mlir_elide_elementsattrs_if_larger: Option<usize>,
    /// Elide resources with more characters than this
    #[arg(long, value_name = "N")]
    mlir_elide_resource_strings_if_larger: Option<usize>,
    /// Print constants with more elements than this in hexadecimal; -1 for none
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true)]
    mlir_print_elementsattrs_with_hex_if_larger: i64,
}

impl PrintFlags {
    /// The printer options.
    pub(crate) fn options(&self) -> PrintOptions {
        PrintOptions {
            generic: self.mlir_print_op_generic,
            debug_info: self.mlir_print_debuginfo,
            pretty_debug_info: self.mlir_pretty_debuginfo,
            name_locations_as_prefix: self.mlir_use_nameloc_as_prefix,
            local_scope: self.mlir_print_local_scope,
            elide_elements_if_larger: self.mlir_elide_elementsattrs_if_larger,
            elide_resources_if_larger: self.mlir_elide_resource_strings_if_larger,
            hex_if_larger: usize::try_from(self.mlir_print_elementsattrs_with_hex_if_larger).ok(),
            skip_regions: self.mlir_print_skip_regions,
            unique_ssa_ids: self.mlir_print_unique_ssa_ids,
            value_users: self.mlir_print_value_users,
        }
    }
}
