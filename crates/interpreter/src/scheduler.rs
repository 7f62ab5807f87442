//! The scheduler of a grid's processes: turns, rendezvous and messages.
//!
//! Each process has a thread, but only one of them runs at a time, from one rendezvous to the next.
//! So runs are deterministic, and a deadlock is detected as soon as no process can continue.

use crate::inputs::describe_elements;
use host::Charge;
use program::{
    Channel, Contributions, EvalError, Exchange, FunctionId, Grid, Origin, ProcessId, RuntimeValue,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// At most this many processes are listed in an error.
const LISTED_PROCESSES: usize = 8;

/// Bytes charged for each message that waits and for each of its values, beside their elements.
const MESSAGE_BYTES: usize = 128;

/// The processes of one grid, by number.
pub struct Scheduler {
    pub grid: Grid,
    state: Mutex<SchedulerState>,
    /// One per process, notified when it is its turn.
    turns: SmallVec<[Condvar; 1]>,
}

struct SchedulerState {
    /// The process whose turn it is; `None` when all are done.
    running: Option<usize>,
    processes: SmallVec<[Status; 1]>,
    rendezvous: FxHashMap<(Vec<ProcessId>, i64), PendingRendezvous>,
    channels: FxHashMap<Channel, VecDeque<QueuedMessage>>,
    infeed: VecDeque<FunctionId>,
    /// The error that ends the run of the grid early.
    failure: Option<EvalError>,
}

/// Values that wait for a receiver.
struct QueuedMessage {
    values: Vec<RuntimeValue>,
    _charge: Option<Charge>,
}

enum Status {
    /// Can continue.
    Ready,
    /// Can continue with the contributions to a rendezvous.
    Met(Contributions),
    /// Can continue with a message.
    Received(Vec<RuntimeValue>),
    /// Blocked until another process continues.
    Waiting(WaitReason),
    Done,
}

/// The reason why a process waits.
struct WaitReason {
    /// Description, for the error of a deadlock.
    what: String,
    origin: Origin,
    channel: Option<Channel>,
}

/// A rendezvous at which not all processes have arrived.
struct PendingRendezvous {
    /// Describes the op of the process that arrived first, with its contribution.
    what: String,
    origin: Origin,
    types: Vec<String>,
    contributions: Vec<Option<Vec<RuntimeValue>>>,
}

/// The op of a rendezvous.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub name: &'a str,
    pub origin: Origin,
}

/// The error of the other processes when one fails.
fn aborted() -> EvalError {
    EvalError::new("process", "another process failed")
}

impl Scheduler {
    pub fn new(grid: Grid, size: usize, infeed: Vec<FunctionId>) -> Scheduler {
        let state = SchedulerState {
            running: Some(0),
            processes: (0..size).map(|_| Status::Ready).collect(),
            rendezvous: FxHashMap::default(),
            channels: FxHashMap::default(),
            infeed: infeed.into(),
            failure: None,
        };
        Scheduler {
            grid,
            state: Mutex::new(state),
            turns: (0..size).map(|_| Condvar::new()).collect(),
        }
    }

    /// The state. Poisoning is ignored: a process that panics still ends its turn.
    fn lock(&self) -> MutexGuard<'_, SchedulerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is the turn of `process`.
    ///
    /// # Errors
    /// If another process failed in the meantime.
    fn wait<'s>(
        &self,
        process: usize,
        mut state: MutexGuard<'s, SchedulerState>,
    ) -> Result<MutexGuard<'s, SchedulerState>, EvalError> {
        while state.running != Some(process) {
            state = self.turns[process].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.failure.is_some() { Err(aborted()) } else { Ok(state) }
    }

    /// Waits for the first turn of `process`.
    ///
    /// # Errors
    /// If another process failed in the meantime.
    pub fn start(&self, process: usize) -> Result<(), EvalError> {
        self.wait(process, self.lock()).map(drop)
    }

    /// Ends the last turn of `process`.
    pub fn finish(&self, process: usize, error: Option<EvalError>) {
        let mut state = self.lock();
        state.processes[process] = Status::Done;
        if let Some(mut error) = error
            && state.failure.is_none()
        {
            if self.turns.len() > 1 && error.notes().len() < LISTED_PROCESSES {
                let process = self.grid.process(process).unwrap_or_default();
                error = error.note(format!("in process {process}"), None);
            }
            state.failure = Some(error);
        }
        self.pass_on(&mut state);
    }

    /// The error of the run of the grid, if it failed.
    pub fn failure(self) -> Option<EvalError> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).failure
    }

    /// Gives the turn to the first process that can continue.
    fn pass_on(&self, state: &mut SchedulerState) {
        let can = |s: &Status| !matches!(s, Status::Waiting(_) | Status::Done);
        let mut next = state.processes.iter().position(can);
        if next.is_none() && state.processes.iter().any(|s| matches!(s, Status::Waiting(_))) {
            if state.failure.is_none() {
                state.failure = Some(self.deadlock(state));
            }
            // Waiting processes end in order.
            next = state.processes.iter().position(|s| matches!(s, Status::Waiting(_)));
        }
        if state.failure.is_some() {
            next = state.processes.iter().position(|s| !matches!(s, Status::Done));
        }
        state.running = next;
        if let Some(next) = next {
            self.turns[next].notify_one();
        }
    }

    /// The error that no process can continue.
    fn deadlock(&self, state: &SchedulerState) -> EvalError {
        let mut waits = Vec::new();
        let mut done = Vec::new();
        for (number, status) in state.processes.iter().enumerate() {
            let id = self.grid.process(number).unwrap_or_default();
            match status {
                Status::Waiting(wait) => {
                    waits.push((format!("process {id} waits in {}", wait.what), wait.origin))
                }
                Status::Done => done.push(id.to_string()),
                _ => {}
            }
        }
        let count = waits.len();
        let mut message = match count {
            1 => "a process waits for what never comes: ".to_string(),
            _ => format!("{count} processes wait for what never comes: "),
        };
        let mut waits = waits.into_iter();
        let first = waits.next().map(|(first, origin)| {
            message.push_str(&first);
            origin
        });
        if !done.is_empty() {
            let more = done.len().saturating_sub(LISTED_PROCESSES);
            done.truncate(LISTED_PROCESSES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            message.push_str(&format!("; finished: {}{more}", done.join(", ")));
        }
        let mut error = EvalError::new("deadlock", message);
        if let Some(origin) = first {
            error = error.at(origin);
        }
        for (text, origin) in waits.by_ref().take(LISTED_PROCESSES - 1) {
            error = error.note(text, Some(origin));
        }
        match waits.count() {
            0 => error,
            rest => error.note(format!("{rest} more processes wait"), None),
        }
    }

    /// As [`program::ProcessContext::exchange`], for the process of that number.
    ///
    /// # Errors
    /// See there.
    pub fn exchange(
        &self,
        process: usize,
        op: Site<'_>,
        group: &[ProcessId],
        channel: i64,
        values: Vec<RuntimeValue>,
    ) -> Result<Contributions, EvalError> {
        let me = self.grid.process(process).unwrap_or_default();
        if let Some(missing) = group.iter().find(|id| !self.grid.contains(**id)) {
            let message =
                format!("{} is for process {missing}, but the grid is {}", op.name, self.grid);
            return Err(EvalError::new("process_group", message));
        }
        let Some(place) = group.iter().position(|&id| id == me) else {
            let message = format!("process {me} is in no group of {}", op.name);
            return Err(EvalError::new("process_group", message));
        };
        let mut state = self.lock();
        let key = (group.to_vec(), channel);
        let types: Vec<String> = values.iter().map(describe).collect();
        let rendezvous = state.rendezvous.entry(key.clone()).or_insert_with(|| PendingRendezvous {
            what: op.name.to_string(),
            origin: op.origin,
            types: types.clone(),
            contributions: vec![None; group.len()],
        });
        if rendezvous.what != op.name || rendezvous.types != types {
            let show = |name: &str, types: &[String]| format!("{name} of ({})", types.join(", "));
            let (mine, theirs) = (show(op.name, &types), show(&rendezvous.what, &rendezvous.types));
            let came = (0..group.len())
                .find(|&i| rendezvous.contributions[i].is_some())
                .map_or(me, |i| group[i]);
            let message = format!(
                "process {me} comes with {mine} to a rendezvous to which {came} came with {theirs}"
            );
            let note = format!("process {came} waits here");
            let error = EvalError::new("mismatched_collective", message).at(op.origin);
            return Err(error.note(note, Some(rendezvous.origin)));
        }
        rendezvous.contributions[place] = Some(values);
        if rendezvous.contributions.iter().all(Option::is_some) {
            let contributions = state
                .rendezvous
                .remove(&key)
                .map_or(Vec::new(), |rendezvous| rendezvous.contributions);
            let all: Contributions =
                Arc::new(Exchange::new(contributions.into_iter().flatten().collect()));
            for number in
                group.iter().filter_map(|&id| self.grid.number(id)).filter(|&n| n != process)
            {
                state.processes[number] = Status::Met(all.clone());
            }
            return Ok(all);
        }
        let missing = (0..group.len()).filter(|&i| rendezvous.contributions[i].is_none());
        let listed: Vec<String> =
            missing.take(LISTED_PROCESSES).map(|i| group[i].to_string()).collect();
        let listed = listed.join(", ");
        let on = if channel > 0 { format!(" on channel {channel}") } else { String::new() };
        let what = format!("{}{on} for {listed}", op.name);
        state.processes[process] =
            Status::Waiting(WaitReason { what, origin: op.origin, channel: None });
        match self.resume(process, state)? {
            Status::Met(all) => Ok(all),
            _ => Err(aborted()),
        }
    }

    /// Lets other processes run until `process` can continue; returns its result of the wait.
    fn resume(
        &self,
        process: usize,
        mut state: MutexGuard<'_, SchedulerState>,
    ) -> Result<Status, EvalError> {
        self.pass_on(&mut state);
        let mut state = self.wait(process, state)?;
        Ok(std::mem::replace(&mut state.processes[process], Status::Ready))
    }

    /// As [`program::ProcessContext::send`].
    pub fn send(&self, channel: Channel, values: Vec<RuntimeValue>) {
        let mut state = self.lock();
        let waits = |status: &Status| match status {
            Status::Waiting(wait) => wait.channel == Some(channel),
            _ => false,
        };
        match state.processes.iter_mut().find(|s| waits(s)) {
            Some(receiver) => *receiver = Status::Received(values),
            None => {
                let bytes = (values.len() + 1).saturating_mul(MESSAGE_BYTES);
                let message = QueuedMessage { values, _charge: host::charge(bytes) };
                state.channels.entry(channel).or_default().push_back(message);
            }
        }
    }

    /// As [`program::ProcessContext::receive`], for the process of that number.
    ///
    /// # Errors
    /// See there.
    pub fn receive(
        &self,
        process: usize,
        op: Site<'_>,
        channel: Channel,
    ) -> Result<Vec<RuntimeValue>, EvalError> {
        let mut state = self.lock();
        if let Some(message) = state.channels.get_mut(&channel).and_then(VecDeque::pop_front) {
            return Ok(message.values);
        }
        let from =
            channel.between.map_or("anybody".into(), |(sender, _)| format!("process {sender}"));
        let what = format!("{} on channel {} for {from}", op.name, channel.id);
        state.processes[process] =
            Status::Waiting(WaitReason { what, origin: op.origin, channel: Some(channel) });
        match self.resume(process, state)? {
            Status::Received(values) => Ok(values),
            _ => Err(aborted()),
        }
    }

    /// The function that produces the next values of the infeed.
    pub fn infeed(&self) -> Option<FunctionId> {
        self.lock().infeed.pop_front()
    }
}

/// The type of a value, as it prints.
pub(crate) fn describe(value: &RuntimeValue) -> String {
    match value {
        RuntimeValue::Tensor(tensor) => describe_elements(tensor.dtype(), tensor.shape()),
        RuntimeValue::Token => "a token".into(),
        RuntimeValue::Tuple(values) => {
            format!("tuple<{}>", values.iter().map(describe).collect::<Vec<_>>().join(", "))
        }
    }
}
