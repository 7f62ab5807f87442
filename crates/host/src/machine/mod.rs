//! The machine model: caches, widths of vectors, threads and costs, which kernels and plans ask
//! instead of having constants.
//!
//! A model decides how work is divided, blocked and shared, and never what a result is: results
//! have the same bits under every model. The process looks its machine up once, when the first
//! kernel asks; the environment variable `STABLO_MACHINE` names another model, of those in
//! [`Machine::presets`] or in a file, and [`Host::with_machine`](crate::Host::with_machine) gives
//! one to a run.

mod detect;
mod presets;
mod text;

pub use text::MachineError;

use std::borrow::Cow;
use std::sync::OnceLock;

/// Elementary operations that a hand-over to a thread that waits for work must be worth.
const HAND_OVERS: usize = 10;
/// The same for one that sleeps.
const WAKES: usize = 4;

/// Facts of a machine. Times are in nanoseconds; speeds are those of one thread, in units a
/// microsecond. The unit of work is the elementary operation: an addition of two `f32` vectors in
/// the first-level cache does one for each element.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Machine {
    /// The name of the processor, or of the model.
    pub name: Cow<'static, str>,
    /// The first-level cache for data.
    pub l1: Cache,
    /// The second-level cache.
    pub l2: Cache,
    /// The third-level cache; where there is none, as the second-level one.
    pub l3: Cache,
    /// Width of the widest vectors that are used: 128, 256 or 512.
    pub vector_bits: usize,
    /// Width of the widest vectors whose instructions have full throughput. On Zen 4, those of 512
    /// bits take two cycles.
    pub full_rate_bits: usize,
    /// Number of threads that run at the same time.
    pub threads: usize,
    /// The time until a thread that waits for work has begun with it.
    pub hand_over_ns: usize,
    /// The time until a thread that sleeps has begun with work.
    pub wake_ns: usize,
    /// Elementary operations a microsecond.
    pub operations_per_us: usize,
    /// Peak of multiplications and additions of `f32` in a microsecond; a fused multiply-add is
    /// two.
    pub flops_per_us: usize,
    /// Bytes that are read from memory in a microsecond.
    pub memory_bytes_per_us: usize,
}

/// A level of cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cache {
    /// Its size.
    pub bytes: usize,
    /// Number of hardware threads that share it.
    pub shared_by: usize,
}

impl Machine {
    /// The model that `STABLO_MACHINE` names, or that of this machine. It is made once.
    ///
    /// # Errors
    /// If the variable names no preset, and no file with a model.
    pub fn of_process() -> Result<&'static Machine, &'static MachineError> {
        static MACHINE: OnceLock<Result<Machine, MachineError>> = OnceLock::new();
        let machine = MACHINE.get_or_init(|| match named_model() {
            None => Ok(Machine::detect()),
            Some(name) => Machine::named(&name),
        });
        machine.as_ref()
    }

    /// The machine that the process runs on.
    pub fn detect() -> Machine {
        detect::machine()
    }

    /// A preset by its name, or else the model in the file of this path.
    ///
    /// # Errors
    /// If there is neither, or the file has no valid model.
    pub fn named(name: &str) -> Result<Machine, MachineError> {
        match Machine::presets().iter().find(|preset| preset.name == name) {
            Some(preset) => Ok(preset.clone()),
            None => text::read(name),
        }
    }

    /// Models of processors, and two of none, `tiny` and `huge`, with which tests take every path.
    pub fn presets() -> &'static [Machine] {
        &presets::PRESETS
    }

    /// Elementary operations in some time.
    pub fn operations(&self, ns: usize) -> usize {
        ns.saturating_mul(self.operations_per_us) / 1000
    }

    /// Work that is shared with threads that wait for some, at least.
    pub fn min_shared_work(&self) -> usize {
        self.operations(self.hand_over_ns.saturating_mul(HAND_OVERS))
    }

    /// Work for which threads that sleep are woken, at least.
    pub fn min_waking_work(&self) -> usize {
        self.operations(self.wake_ns.saturating_mul(WAKES)).max(self.min_shared_work())
    }

    /// Work that takes as long as to begin a task.
    pub fn task_work(&self) -> usize {
        self.operations(self.hand_over_ns)
    }

    /// Elementary operations that take as long as to read these bytes from memory.
    pub fn reading_work(&self, bytes: usize) -> usize {
        bytes.saturating_mul(self.operations_per_us) / self.memory_bytes_per_us.max(1)
    }

    /// Fused multiply-adds in registers that take as long as an elementary operation.
    pub fn products_per_operation(&self) -> usize {
        (self.flops_per_us / 2 / self.operations_per_us.max(1)).clamp(1, 8)
    }
}

/// The model of the machine that this thread computes for: that of its host, or of the process.
pub fn machine() -> &'static Machine {
    crate::of_host().unwrap_or_else(of_process)
}

/// The model that `STABLO_MACHINE` names, if it is set.
fn named_model() -> Option<String> {
    std::env::var("STABLO_MACHINE").ok().filter(|name| !name.is_empty())
}

/// Number of threads that the process may use at the same time. The system is asked once: on Linux
/// that reads files, which takes longer than a run of a small program. The processor is not asked.
pub fn available_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| match named_model() {
        None => detect::threads(),
        Some(_) => of_process().threads,
    })
}

/// The model of the process. If `STABLO_MACHINE` is not valid, which programs report, that of the
/// machine.
fn of_process() -> &'static Machine {
    static DETECTED: OnceLock<Machine> = OnceLock::new();
    Machine::of_process().unwrap_or_else(|_| DETECTED.get_or_init(Machine::detect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Host;
    use std::collections::HashSet;
    use std::sync::Mutex;

    #[test]
    fn presets_are_read_as_they_are_printed() {
        for preset in Machine::presets() {
            assert_eq!(Machine::parse(&preset.to_string()).as_ref(), Ok(preset));
            assert_eq!(Machine::named(&preset.name).as_ref(), Ok(preset));
        }
    }

    #[test]
    fn invalid_models_say_what_is_wrong_and_where() {
        let error = |text: &str| Machine::parse(text).expect_err("invalid").to_string();
        assert_eq!(error("\nthreads: 2"), "line 2: `threads: 2` is not of the form `name = value`");
        for value in ["0", "-1", "1.5", "", "2000000000", "99999999999999999999"] {
            let expected =
                format!("line 1: `threads` is `{value}`, not a number between 1 and 1073741824");
            assert_eq!(error(&format!("threads = {value}")), expected);
        }
        assert!(
            error("l0_bytes = 4").starts_with("line 1: there is no fact `l0_bytes`; facts are")
        );
        assert!(Machine::named("/").is_err() && Machine::named("").is_err());
    }

    /// The time of 2^17 and 2^21 elementary operations on the machine that they were tuned on.
    #[test]
    fn work_is_shared_where_it_takes_longer_than_a_hand_over() {
        let zen5 = Machine::named("zen5").expect("a preset");
        assert_eq!(zen5.min_shared_work(), 10 * 26 * 500);
        assert_eq!(zen5.min_waking_work(), 4 * 26 * 20_000);
        assert_eq!(zen5.task_work(), 26 * 500);
        assert_eq!(zen5.products_per_operation(), 5);
        assert_eq!(zen5.reading_work(36_000), 26_000);
    }

    #[test]
    fn detected_models_are_plausible() {
        let found = Machine::detect();
        assert!(found.facts().iter().all(|(_, value)| *value > 0), "{found}");
        assert!(found.l1.bytes <= found.l2.bytes && found.l2.bytes <= found.l3.bytes, "{found}");
        assert!([128, 256, 512].contains(&found.vector_bits), "{found}");
    }

    #[test]
    fn helpers_have_the_model_of_the_caller() {
        let tiny =
            Machine::presets().iter().find(|preset| preset.name == "tiny").expect("a preset");
        let _entered = Host::default().with_workers(2).with_machine(tiny).enter();
        let names = Mutex::new(HashSet::new());
        let ask = |_| -> Result<(), ()> {
            names.lock().expect("no panic").insert(machine().name.clone());
            Ok(())
        };
        assert_eq!(crate::parallel((0..64).collect(), ask), Ok(()));
        assert_eq!(names.into_inner().expect("no panic"), HashSet::from(["tiny".into()]));
    }
}
