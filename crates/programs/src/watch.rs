//! Observes a run: progress, printed output, probes, traces and outfeeds.

use crate::probes::Probes;
use crate::trace::ValueTrace;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stablo::ir::{OpRef, ValueNames};
use stablo::{Observer, ProcessId, Progress, RuntimeValue, Tensor, Type, counted};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Time after which a run shows its progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes a value with a name and a type.
pub(crate) type Style = fn(&mut dyn Write, &str, &RuntimeValue, &Type) -> io::Result<()>;

/// Observer of a run.
pub(crate) struct Watcher<'w, 'm> {
    /// Output printed by the program.
    output: &'w mut (dyn Write + Send),
    style: Style,
    top: OpRef<'m>,
    /// The names of values, once one is printed.
    names: Option<ValueNames<'m>>,
    /// The output of probes, if any.
    pub probes: Option<&'w mut Probes>,
    /// The output of the trace, if any.
    pub trace: Option<&'w mut ValueTrace<'m>>,
    /// Print outfed values.
    pub outfeed: bool,
    progress: Option<(Instant, Option<ProgressBar>)>,
}

impl<'w, 'm> Watcher<'w, 'm> {
    /// Observes a run of the module below `top`; printed values are written to `output` at once.
    pub(crate) fn new(
        top: OpRef<'m>,
        output: &'w mut (dyn Write + Send),
        style: Style,
    ) -> Watcher<'w, 'm> {
        Watcher {
            output,
            style,
            top,
            names: None,
            probes: None,
            trace: None,
            outfeed: false,
            progress: None,
        }
    }

    /// Shows a progress bar on standard error if the run takes long.
    pub(crate) fn show_progress(&mut self) {
        self.progress = Some((Instant::now(), None));
    }
}

impl Drop for Watcher<'_, '_> {
    fn drop(&mut self) {
        if let Some((_, Some(bar))) = &self.progress {
            bar.finish_and_clear();
        }
    }
}

fn progress_bar(start: Instant) -> ProgressBar {
    let template = "{elapsed_precise} [{bar:40}] {pos}/{len} of the entry function, {msg}";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        .with_style(style)
        .with_elapsed(start.elapsed())
}

fn cannot_write(error: io::Error) -> String {
    format!("cannot write the output: {error}")
}

impl Observer for Watcher<'_, '_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        if let Some((start, bar)) = &mut self.progress
            && start.elapsed() >= PATIENCE
        {
            let bar = bar.get_or_insert_with(|| progress_bar(*start));
            bar.set_length(progress.length as u64);
            bar.set_position(progress.position as u64);
            bar.set_message(format!("{} run", counted(progress.ops, "op")));
        }
        ControlFlow::Continue(())
    }

    fn traces(&self) -> bool {
        self.trace.is_some()
    }

    fn value(
        &mut self,
        process: ProcessId,
        op: OpRef<'_>,
        index: usize,
        value: &RuntimeValue,
    ) -> Result<(), String> {
        match &mut self.trace {
            Some(trace) => trace.save(process, op, index, value),
            None => Ok(()),
        }
    }

    fn print(&mut self, op: OpRef<'_>, tensor: &Tensor) -> Result<(), String> {
        let names = self.names.get_or_insert_with(|| ValueNames::of(self.top));
        let name = names.get(op.operand(0));
        let value = RuntimeValue::Tensor(tensor.clone());
        (self.style)(self.output, &name, &value, op.operand_type(0)).map_err(cannot_write)
    }

    fn probe(&mut self, name: &str, ty: &Type, tensor: &Tensor) -> Result<(), String> {
        self.probes.as_mut().map_or(Ok(()), |probes| probes.save(name, ty, tensor))
    }

    fn probed(&mut self, name: &str, iteration: usize) -> Result<(String, Tensor), String> {
        let probes = self
            .probes
            .as_ref()
            .ok_or("probes are read where they are saved: give --probe-output-dir")?;
        probes.read(name, iteration)
    }

    fn outfeed(&mut self, process: ProcessId, values: &[RuntimeValue]) -> Result<(), String> {
        for (index, value) in values.iter().enumerate().filter(|_| self.outfeed) {
            let ty = match value {
                RuntimeValue::Tensor(tensor) => {
                    let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
                    Type::tensor(shape, Type::from(tensor.dtype()))
                }
                _ => Type::none(),
            };
            let name = format!("outfeed {index} of process {process}");
            (self.style)(self.output, &name, value, &ty).map_err(cannot_write)?;
        }
        Ok(())
    }
}
