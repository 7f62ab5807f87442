//! The environment that a machine provides to ops with side effects.

use crate::machine::{Machine, site};
use crate::session::ProcessJob;
use numerics::Tensor;
use program::{
    Channel, Contributions, EvalError, EvalResult, Evaluator, FunctionId, Grid, Origin,
    ProcessContext, ProcessId, RuntimeValue, Task,
};

impl ProcessContext for Machine<'_, '_> {
    fn process(&self) -> ProcessId {
        self.scheduler.grid.process(self.process).unwrap_or_default()
    }

    fn grid(&self) -> Grid {
        self.scheduler.grid
    }

    fn exchange(
        &mut self,
        origin: Origin,
        group: &[ProcessId],
        channel: i64,
        values: Vec<RuntimeValue>,
    ) -> Result<Contributions, EvalError> {
        let site = site(self.session.program, origin);
        self.scheduler.exchange(self.process, site, group, channel, values)
    }

    fn send(&mut self, channel: Channel, values: Vec<RuntimeValue>) {
        self.scheduler.send(channel, values);
    }

    fn receive(&mut self, origin: Origin, channel: Channel) -> EvalResult {
        self.scheduler.receive(self.process, site(self.session.program, origin), channel)
    }

    fn infeed(&mut self) -> EvalResult {
        match self.scheduler.infeed() {
            Some(function) => self.call(function, Vec::new()),
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
        tasks: Vec<Task>,
        infeed: Vec<FunctionId>,
    ) -> Result<Vec<Vec<RuntimeValue>>, EvalError> {
        let job = |work| match work {
            Task::Call { function, arguments } => ProcessJob::Call { function, arguments },
            Task::Instruction { origin, operands } => ProcessJob::Instruction { origin, operands },
        };
        let jobs = tasks.into_iter().map(job).collect();
        let start = self.session.now();
        let results = self.session.run_grid(grid, jobs, infeed, self.depth);
        // Its processes record their steps.
        self.exclude(start);
        results
    }

    fn advance_random(&mut self, origin: Origin, units: u64) -> u128 {
        self.session.advance_random(origin, units)
    }

    fn print(&mut self, origin: Origin, tensor: &Tensor) -> Result<(), EvalError> {
        let op = self.session.program.op(origin);
        self.session.observe(|observer| observer.print(op, tensor))
    }

    fn probe(&mut self, origin: Origin, name: &str, tensor: &Tensor) -> Result<(), EvalError> {
        let ty = self.session.program.op(origin).operand_type(0);
        self.session.observe(|observer| observer.probe(name, ty, tensor))
    }

    fn probed(&mut self, name: &str, iteration: usize) -> Result<(String, Tensor), EvalError> {
        self.session.observe(|observer| observer.probed(name, iteration))
    }

    fn within(&mut self, origin: Origin, tensor: &Tensor) -> Result<(), EvalError> {
        let (op, process) = (self.session.program.op(origin), self.process());
        let within = self.session.observe(|observer| Ok(observer.within(process, op, tensor)))?;
        within.map_err(|message| EvalError::new("check.expect_within", message))
    }
}
