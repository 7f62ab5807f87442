//! `stablo run --profile`: the steps of runs as a table.

use crate::display::printable;
use crate::units::size;
use stablo::{Location, Profile, Roofline, StepKind, StepProfile, counted};
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of steps that have a line each.
const LISTED_STEPS: usize = 30;

/// Maximum number of executions of steps that are written.
pub const MAX_EXECUTIONS: usize = 1_000_000;

/// The value of `--profile`: the file of a trace.
///
/// # Errors
/// If the name is that of something else, such as the program.
pub fn trace_file(name: &str) -> Result<PathBuf, String> {
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(path.into());
    }
    Err(format!(
        "a trace is written to a file whose name ends in .json; for a table, give `--profile` \
         after the program, as in `stablo run {name} --profile`"
    ))
}

/// The table of a profile, with the limits of the machine if they are known, and a summary by kinds
/// of steps.
pub fn table(profile: &Profile, roofline: Option<Roofline>) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = ProfileTable::of(profile, roofline).write(&mut text);
    text
}

struct ProfileTable<'p> {
    runs: u64,
    /// The longest first.
    steps: Vec<&'p StepProfile>,
    total: Duration,
    roofline: Option<Roofline>,
}

impl<'p> ProfileTable<'p> {
    fn of(profile: &'p Profile, roofline: Option<Roofline>) -> ProfileTable<'p> {
        let (steps, total) = (profile.longest(), profile.time());
        ProfileTable { runs: profile.runs, steps, total, roofline }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let (all, runs) = (self.total, self.runs);
        let mean = ms(all) / runs.max(1) as f64;
        writeln!(out, "profile of {}: {:.3} ms, {mean:.3} ms each", counted(runs, "run"), ms(all))?;
        if let Some(Roofline { flops, bytes, threads, .. }) = self.roofline {
            writeln!(
                out,
                "roofline of {}: {:.1} GFLOP/s (products of f32), {:.1} GB/s (copies)",
                counted(threads as u64, "thread"),
                flops / 1e9,
                bytes / 1e9
            )?;
        } else {
            writeln!(out, "roofline: not measured: there is no memory for it")?;
        }
        writeln!(
            out,
            "\n{:>7} {:>11} {:>9} {:>11} {:>10} {:>8} {:>8} {:>8}  step",
            "share", "total ms", "calls", "mean µs", "bytes", "GB/s", "GFLOP/s", "roofline"
        )?;
        let listed = self.steps.iter().filter(|step| step.kind != StepKind::Run);
        let listed: Vec<&StepProfile> = listed.copied().collect();
        let (shown, rest) = listed.split_at(listed.len().min(LISTED_STEPS));
        shown.iter().try_for_each(|step| self.step(out, step))?;
        if !rest.is_empty() {
            self.time(out, rest)?;
            writeln!(out, "{:52}{} more", "", counted(rest.len() as u64, "step"))?;
        }
        writeln!(out, "\n{:>7} {:>11} {:>9} {:>11}  kind", "share", "total ms", "calls", "steps")?;
        for kind in StepKind::ALL {
            let steps: Vec<_> = self.steps.iter().copied().filter(|s| s.kind == kind).collect();
            if !steps.is_empty() {
                self.time(out, &steps)?;
                writeln!(out, " {:>11}  {}", steps.len(), kind.name())?;
            }
        }
        Ok(())
    }

    fn step(&self, out: &mut String, step: &StepProfile) -> fmt::Result {
        self.time(out, &[step])?;
        let mean = step.own.as_secs_f64() * 1e6 / step.calls.max(1) as f64;
        let rate = |amount: Option<u64>| match amount {
            // Amounts are those of an execution, of which the mean takes so many µs.
            Some(amount) if mean > 0.0 && amount > 0 => {
                format!("{:.2}", amount as f64 / (1e3 * mean))
            }
            _ => "-".into(),
        };
        let bytes = step.bytes().filter(|&bytes| bytes > 0);
        let moved = bytes.map_or("-".into(), |bytes| size(usize::try_from(bytes).unwrap_or(0)));
        let (speed, arithmetic) = (rate(bytes), rate(step.arithmetic()));
        write!(out, " {mean:>11.2} {moved:>10} {speed:>8} {arithmetic:>8}")?;
        write!(out, " {:>8}  {}", self.limit(step), step.title)?;
        let types = if step.types.is_empty() { "" } else { " : " };
        writeln!(out, "{types}{}{}", step.types, place(step))
    }

    /// The share of the roofline that a step reaches.
    fn limit(&self, step: &StepProfile) -> String {
        let share = self.roofline.as_ref().and_then(|roofline| step.share(roofline));
        share.map_or("-".into(), |share| format!("{:.1}%", 100.0 * share))
    }

    /// Share, time and number of calls.
    fn time(&self, out: &mut String, steps: &[&StepProfile]) -> fmt::Result {
        let own = time(steps);
        let share = 100.0 * own.as_secs_f64() / self.total.as_secs_f64().max(f64::MIN_POSITIVE);
        let calls: u64 = steps.iter().map(|step| step.calls).sum();
        write!(out, "{share:>6.1}% {:>11.3} {calls:>9}", ms(own))
    }
}

fn time(steps: &[&StepProfile]) -> Duration {
    steps.iter().map(|step| step.own).sum()
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The line that a step was made from, and that of the call around it, without directories; and the
/// scope.
fn place(step: &StepProfile) -> String {
    let line = |location: &Location| {
        let source = location.source.as_deref()?;
        Some(source.rsplit('/').next().unwrap_or(source).to_string())
    };
    let call = step.call.as_ref().and_then(line).map(|line| format!("called at {line}"));
    let parts = line(&step.location).into_iter().chain(call).chain(step.location.scope.clone());
    parts.map(|part| format!("  {}", printable(&part))).collect()
}
