//! The host of a run: the clock that it reads, the threads that it starts, the memory that it may
//! take, and the machine that it runs on.
//!
//! A [`Host`] is an object that the embedding program makes and gives to runs. Where it would have
//! to pass through every function that allocates, it is ambient instead: [`Host::enter`] makes it
//! the host of a thread, [`Host::current`] finds it, and the threads that it starts have it, too.
//! The library starts threads by [`Host::spawn`], or has the help of a pool by [`parallel()`], so
//! that their work is charged to the budget of the run that they work for, and not to any other run
//! in the process.

mod budget;
mod crowding;
mod machine;
mod parallel;
mod pool;
mod stack;

pub use budget::{Budget, Charge, OverBudget};
pub use machine::{Cache, Machine, MachineError, available_threads, machine};
pub use parallel::parallel;
pub use pool::may_help;
pub use stack::stack_left;

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

/// Time since a fixed point in the past.
type Clock = dyn Fn() -> Duration + Send + Sync;

/// The clock, threads and memory budget of a run. The default is the operating system's, without a
/// budget; WebAssembly by itself has neither a clock nor threads.
#[derive(Clone)]
pub struct Host {
    clock: Option<Arc<Clock>>,
    has_threads: bool,
    workers: usize,
    budget: Option<Arc<Budget>>,
    machine: Option<&'static Machine>,
}

impl Default for Host {
    fn default() -> Host {
        Host {
            clock: system::clock(),
            has_threads: system::HAS_THREADS,
            workers: 1,
            budget: None,
            machine: None,
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("has_clock", &self.clock.is_some())
            .field("has_threads", &self.has_threads)
            .field("workers", &self.workers)
            .field("budget", &self.budget)
            .field("machine", &self.machine.map(|machine| &machine.name))
            .finish()
    }
}

#[cfg(not(target_family = "wasm"))]
mod system {
    use super::{Arc, Clock};
    use std::sync::LazyLock;
    use std::time::Instant;

    pub(crate) const HAS_THREADS: bool = true;

    pub(crate) fn clock() -> Option<Arc<Clock>> {
        static CLOCK: LazyLock<Arc<Clock>> = LazyLock::new(|| {
            let start = Instant::now();
            Arc::new(move || start.elapsed())
        });
        Some(CLOCK.clone())
    }
}

/// `Instant::now` panics there, and no thread can be started.
#[cfg(target_family = "wasm")]
mod system {
    use super::{Arc, Clock};

    pub const HAS_THREADS: bool = false;

    pub fn clock() -> Option<Arc<Clock>> {
        None
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Host>> = const { RefCell::new(None) };
}

impl Host {
    /// The host that this thread has entered, or the default.
    pub fn current() -> Host {
        CURRENT.with(|current| current.borrow().clone()).unwrap_or_default()
    }

    /// Replaces the clock: a function that returns the time since a fixed point in the past.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Host {
        Host { clock: Some(Arc::new(clock)), ..self }
    }

    /// The same host, which starts no threads.
    #[must_use]
    pub fn without_threads(self) -> Host {
        Host { has_threads: false, ..self }
    }

    /// The same host, whose kernels use up to `count` threads.
    #[must_use]
    pub fn with_workers(self, count: usize) -> Host {
        Host { workers: count.max(1), ..self }
    }

    /// The same host, which charges tensors and files to `budget`.
    #[must_use]
    pub fn with_budget(self, budget: Arc<Budget>) -> Host {
        Host { budget: Some(budget), ..self }
    }

    /// The same host, whose kernels take this for the model of the machine.
    #[must_use]
    pub fn with_machine(self, machine: &'static Machine) -> Host {
        Host { machine: Some(machine), ..self }
    }

    /// The time since a fixed point in the past; `None` if there is no clock.
    pub fn now(&self) -> Option<Duration> {
        self.clock.as_ref().map(|clock| clock())
    }

    /// True if the host can start threads.
    pub fn has_threads(&self) -> bool {
        self.has_threads
    }

    /// The number of threads that a kernel may use.
    pub fn workers(&self) -> usize {
        if self.has_threads { self.workers } else { 1 }
    }

    /// The budget for memory, if it is limited.
    pub fn budget(&self) -> Option<&Arc<Budget>> {
        self.budget.as_ref()
    }

    /// Makes this the host of the current thread while the guard lives.
    pub fn enter(&self) -> Entered {
        let before = CURRENT.with(|current| current.replace(Some(self.clone())));
        Entered { before, _thread: PhantomData }
    }

    /// As [`Host::enter`], for good: a thread of the pool keeps the host of the last job, which is
    /// mostly that of the next one.
    fn enter_as_helper(&self) {
        CURRENT.with(|current| {
            let mut current = current.borrow_mut();
            if !current.as_ref().is_some_and(|current| current.is_same(self)) {
                *current = Some(self.clone());
            }
        });
    }

    /// True if the other host is a clone of this one.
    fn is_same(&self, other: &Host) -> bool {
        fn are_same<T: ?Sized>(one: Option<&Arc<T>>, two: Option<&Arc<T>>) -> bool {
            one.map(Arc::as_ptr).map(<*const T>::addr) == two.map(Arc::as_ptr).map(<*const T>::addr)
        }
        are_same(self.clock.as_ref(), other.clock.as_ref())
            && are_same(self.budget.as_ref(), other.budget.as_ref())
            && (self.has_threads, self.workers) == (other.has_threads, other.workers)
            && self.machine.map(std::ptr::from_ref) == other.machine.map(std::ptr::from_ref)
    }

    /// Starts a thread that has this host; `stack_bytes` is the size of its stack.
    ///
    /// # Errors
    /// If the host has no threads, or the system cannot start one.
    pub fn spawn<'scope, T: Send + 'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        stack_bytes: usize,
        work: impl FnOnce() -> T + Send + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, T>> {
        if !self.has_threads {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the host has no threads"));
        }
        let host = self.clone();
        let work = move || {
            let _entered = host.enter();
            work()
        };
        Builder::new().stack_size(stack_bytes).spawn_scoped(scope, work)
    }
}

/// Guard: while it lives, its thread has a host.
#[must_use]
pub struct Entered {
    before: Option<Host>,
    /// The guard stays on its thread.
    _thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.replace(self.before.take()));
    }
}

/// The number of threads that a kernel on this thread may use.
pub fn workers() -> usize {
    CURRENT.with(|current| current.borrow().as_ref().map_or(1, Host::workers))
}

/// The model that the host of this thread has been given.
fn of_host() -> Option<&'static Machine> {
    CURRENT.with(|current| current.borrow().as_ref().and_then(|host| host.machine))
}

/// Checks that the budget of this thread has `bytes` more.
///
/// # Errors
/// If not.
pub fn check(bytes: usize) -> Result<(), OverBudget> {
    with_budget(|budget| budget.check(bytes)).unwrap_or(Ok(()))
}

/// The bytes that the budget of this thread has left; `usize::MAX` without a budget.
pub fn available() -> usize {
    with_budget(|budget| budget.limit().saturating_sub(budget.used())).unwrap_or(usize::MAX)
}

/// Takes `bytes` from the budget of this thread, if it has one, until the result is dropped.
///
/// # Errors
/// If they are not available.
pub fn reserve(bytes: usize) -> Result<Option<Charge>, OverBudget> {
    with_budget(|budget| budget.reserve(bytes)).transpose()
}

/// Charges `bytes` that are allocated already to the budget of this thread, if it has one.
pub fn charge(bytes: usize) -> Option<Charge> {
    with_budget(|budget| budget.charge(bytes))
}

fn with_budget<T>(act: impl FnOnce(&Arc<Budget>) -> T) -> Option<T> {
    CURRENT.with(|current| current.borrow().as_ref().and_then(|host| host.budget.as_ref()).map(act))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const STACK: usize = 1 << 16;

    #[test]
    fn threads_charge_the_host_that_started_them() {
        let [one, two] = [Budget::new(100), Budget::new(100)];
        let hosts = [&one, &two].map(|budget| Host::default().with_budget(budget.clone()));
        let take = |bytes: usize| reserve(bytes).expect("within the budget");
        thread::scope(|scope| {
            let outer = hosts[0]
                .spawn(scope, STACK, move || {
                    let inner = Host::current().spawn(scope, STACK, move || take(30));
                    (take(20), inner.expect("a thread").join().expect("no panic"))
                })
                .expect("a thread");
            let other = hosts[1].spawn(scope, STACK, move || take(7)).expect("a thread");
            let _charges = (outer.join().expect("no panic"), other.join().expect("no panic"));
            assert_eq!([one.used(), two.used()], [50, 7]);
            assert!(reserve(1000).expect("this thread has no budget").is_none());
        });
        assert_eq!([one.used(), two.used()], [0, 0]);
    }

    #[test]
    fn hosts_are_entered_and_left() {
        let budget = Budget::new(10);
        let outer = Host::default().with_budget(budget.clone()).enter();
        assert!(check(11).is_err());
        {
            let _inner = Host::default().enter();
            assert!(check(11).is_ok());
        }
        assert!(check(11).is_err());
        drop(outer);
        assert!(check(11).is_ok());
    }

    #[test]
    fn a_host_may_have_its_own_clock_and_no_threads() {
        let host = Host::default().with_clock(|| Duration::from_secs(7)).without_threads();
        assert_eq!(host.now(), Some(Duration::from_secs(7)));
        thread::scope(|scope| assert!(host.spawn(scope, STACK, || ()).is_err()));
        let (one, two) = (Host::default().now(), Host::default().now());
        assert!(one.is_some() && one <= two);
    }
}
