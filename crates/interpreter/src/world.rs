//! What a machine offers to ops that act on what is outside of their process.

use crate::machine::Machine;
use crate::session::Job;
use mlir::eval::{EvalEnv, EvalError, EvalResult, RuntimeValue};
use mlir::process::{Channel, Contributions, CustomCall, Grid, ProcessId, Work, World};
use mlir::{OpRef, Type};
use numerics::Tensor;

impl World for Machine<'_, '_> {
    fn process(&self) -> ProcessId {
        self.scheduler.grid.process(self.process).unwrap_or_default()
    }

    fn grid(&self) -> Grid {
        self.scheduler.grid
    }

    fn exchange(
        &mut self,
        op: OpRef<'_>,
        group: &[ProcessId],
        channel: i64,
        values: Vec<RuntimeValue>,
    ) -> Result<Contributions, EvalError> {
        self.scheduler.exchange(self.process, op, group, channel, values)
    }

    fn send(&mut self, channel: Channel, values: Vec<RuntimeValue>) {
        self.scheduler.send(channel, values);
    }

    fn receive(&mut self, op: OpRef<'_>, channel: Channel) -> EvalResult {
        self.scheduler.receive(self.process, op, channel)
    }

    fn infeed(&mut self) -> EvalResult {
        match self.scheduler.infeed() {
            Some(symbol) => self.call(&symbol, Vec::new()),
            None => Err(EvalError::new("infeed", "the infeed of this grid has no more values")),
        }
    }

    fn outfeed(&mut self, values: Vec<RuntimeValue>) -> Result<(), EvalError> {
        let process = self.process();
        self.session.observe(|observer| observer.outfeed(process, &values))
    }

    fn run_grid(
        &mut self,
        grid: Grid,
        work: Vec<Work<'_>>,
        infeed: Vec<String>,
    ) -> Result<Vec<Vec<RuntimeValue>>, EvalError> {
        let job = |work| -> Result<Job, EvalError> {
            Ok(match work {
                Work::Call { symbol, arguments } => {
                    Job::Call { function: self.function(&symbol)?, arguments }
                }
                Work::Eval { op, operands } => Job::Eval { op: op.id(), operands },
            })
        };
        let jobs = work.into_iter().map(job).collect::<Result<_, _>>()?;
        self.session.run_grid(grid, jobs, infeed, self.depth)
    }

    fn custom_call(&self, target: &str) -> Option<CustomCall> {
        self.session.interpreter.options.custom_calls.get(target)
    }

    fn random(&mut self, op: OpRef<'_>, units: u64) -> (usize, u128) {
        self.session.random(op, units)
    }

    fn print(&mut self, op: OpRef<'_>, tensor: &Tensor) -> Result<(), EvalError> {
        self.session.observe(|observer| observer.print(op, tensor))
    }

    fn probe(&mut self, name: &str, ty: &Type, tensor: &Tensor) -> Result<(), EvalError> {
        self.session.observe(|observer| observer.probe(name, ty, tensor))
    }

    fn probed(&mut self, name: &str, iteration: usize) -> Result<(Type, Tensor), EvalError> {
        self.session.observe(|observer| observer.probed(name, iteration))
    }
}
