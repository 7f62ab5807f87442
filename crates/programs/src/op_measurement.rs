//! `stablo judge --ops`: measures the ops of a device.

use crate::device;
use crate::io::{CommandFailure, Io};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stablo::judging::{OpCase, OpMeasurements};
use stablo::{DeviceSpec, Program, RuntimeValue, counted};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Operands of an op and type, unless another number is given.
const POINTS: u32 = 65536;

/// Selection and limits of a measurement.
#[derive(clap::Args)]
pub(crate) struct MeasureArgs {
    /// With --ops: the number of operands for each op and type; 65536 are all values of types of
    /// 8 and 16 bits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    points: Option<u32>,
    /// With --ops: measure only this op, such as `tanh`, `power` or `reduce`; may be repeated
    #[arg(long, value_name = "NAME")]
    op: Vec<String>,
    /// With --ops: begin no measurement after this number of seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// With --ops: write each measurement to this file (lines of JSON) when it ends, and take those
    /// that are there, so that a measurement goes on where it was stopped
    #[arg(long, value_name = "FILE")]
    measured: Option<PathBuf>,
}

impl MeasureArgs {
    /// True if something is given that only `--ops` reads.
    pub(crate) fn is_given(&self) -> bool {
        let MeasureArgs { points, op, seconds, measured } = self;
        points.is_some() || !op.is_empty() || seconds.is_some() || measured.is_some()
    }

    /// Measures a device, or our interpreter.
    ///
    /// # Errors
    /// If an op has no such name, a file cannot be read or written, or true values cannot be
    /// computed.
    pub(crate) fn measure(
        &self,
        spec: Option<&DeviceSpec>,
        io: &mut Io<'_>,
    ) -> Result<OpMeasurements, CommandFailure> {
        let start = Instant::now();
        let cases = self.cases()?;
        let mut all = self.earlier(io)?;
        let mut guards = Vec::new();
        let mut opened = None;
        if let Some(spec) = spec {
            guards.push(device::guard(spec, io));
            opened = Some(device::open(spec, io)?);
        }
        let mut run = |program: &Program, inputs: &[RuntimeValue]| match &opened {
            Some(device) => device.compile_for(program.module(), "main", Some(inputs))?.run(inputs),
            None => program.run(inputs.to_vec()),
        };
        let points = self.points.unwrap_or(POINTS) as usize;
        let bar = progress_bar(cases.len(), io.terminal);
        let mut left = Vec::new();
        for case in cases {
            bar.set_message(format!("{} of {}", case.op, case.dtype));
            bar.inc(1);
            if all.has(case) {
                continue;
            }
            if self.seconds.is_some_and(|limit| start.elapsed().as_secs() >= limit) {
                left.push(case);
                continue;
            }
            case.measure(points, &mut run, &mut all)?;
            if let Some(path) = &self.measured {
                io.write(path, all.to_lines().as_bytes())?;
            }
        }
        bar.finish_and_clear();
        for (OpCase { op, dtype, .. }, why) in &all.refused {
            io.report(format!("{op} of {dtype} does not run: {why}\n"));
        }
        if let [OpCase { op, dtype, .. }, ..] = left[..] {
            let count = counted(left.len() as u64, "measurement");
            io.report(format!("no time for {count}, from {op} of {dtype} on\n"));
        }
        Ok(all)
    }

    /// The cases that are asked for.
    fn cases(&self) -> Result<Vec<OpCase>, CommandFailure> {
        if let Some(unknown) = self.op.iter().find(|op| OpCase::all().all(|case| case.op != **op)) {
            let mut names: Vec<&str> = OpCase::all().map(|case| case.op).collect();
            names.dedup();
            let names = names.join(", ");
            let message = format!("`{unknown}` is not measured; these are: {names}");
            return Err(CommandFailure::usage(message));
        }
        let is_wanted =
            |case: &OpCase| self.op.is_empty() || self.op.iter().any(|op| op == case.op);
        Ok(OpCase::all().filter(is_wanted).collect())
    }

    /// The measurements of an earlier run.
    fn earlier(&self, io: &mut Io<'_>) -> Result<OpMeasurements, CommandFailure> {
        let Some(path) = self.measured.as_ref().filter(|path| io.cwd.join(path).exists()) else {
            return Ok(OpMeasurements::default());
        };
        let bytes = io.read(path)?;
        let text = crate::source::text(&bytes, path)?;
        OpMeasurements::from_lines(text)
            .map_err(|why| CommandFailure::input(format!("cannot read {}: {why}", path.display())))
    }
}

/// A progress bar, which is drawn on terminals only.
fn progress_bar(cases: usize, is_terminal: bool) -> ProgressBar {
    let target = match is_terminal {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let style = ProgressStyle::with_template("{elapsed_precise} [{bar:40}] {pos}/{len} {msg}");
    let bar = ProgressBar::with_draw_target(Some(cases as u64), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}
