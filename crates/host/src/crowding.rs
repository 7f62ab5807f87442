//! Help on a machine whose processors others use, too: a helper that the system stops in the middle
//! of a task holds up the thread that waits for it, and one that is on the processor of that thread
//! takes its time.

use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The time of jobs with help after which it is judged.
const WINDOW: Duration = Duration::from_millis(10);
/// For how long a thread works alone at first when help has not paid, and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(40), Duration::from_millis(1280)];
/// For how long others have a processor that the system has taken away, at most.
const STOP: Duration = Duration::from_millis(3);

thread_local! {
    static CROWDING: RefCell<Crowding> = const { RefCell::new(Crowding::NEW) };
}

/// A job with help, as the thread whose job it is sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HelpedJob {
    /// The tasks of the job, and those that the thread has done itself.
    pub tasks: [usize; 2],
    /// The time of these.
    pub own: Duration,
    /// The time until all were done.
    pub whole: Duration,
}

/// True if this thread works alone for now, because help has not paid.
pub(crate) fn is_alone() -> bool {
    CROWDING.with_borrow_mut(|crowding| crowding.is_alone(Instant::now))
}

/// Takes note of a job of this thread.
pub(crate) fn record(job: HelpedJob) {
    CROWDING.with_borrow_mut(|crowding| crowding.record(job, Instant::now, ThreadUsage::now));
}

/// Makes this thread work alone for a long time, or no longer.
#[cfg(test)]
pub(crate) fn set_alone(is_alone: bool) {
    let until = is_alone.then(|| Instant::now() + Duration::from_secs(3600));
    CROWDING.set(Crowding { until, ..Crowding::NEW });
}

/// The gain from helpers in recent jobs of a thread.
struct Crowding {
    /// The time of jobs with help.
    helped: Duration,
    /// The time of this thread's tasks in them.
    own: Duration,
    /// The time that they would have taken alone.
    alone: Duration,
    /// The time when the first of these jobs ended, and the usage of the thread until then.
    since: Option<(Instant, ThreadUsage)>,
    /// The length of the last pause, less since help has paid again.
    pause: Duration,
    /// The end of the pause.
    until: Option<Instant>,
}

impl Crowding {
    const NEW: Crowding = Crowding {
        helped: Duration::ZERO,
        own: Duration::ZERO,
        alone: Duration::ZERO,
        since: None,
        pause: Duration::ZERO,
        until: None,
    };

    fn is_alone(&mut self, now: impl Fn() -> Instant) -> bool {
        if self.until.is_some_and(|until| now() >= until) {
            self.until = None;
        }
        self.until.is_some()
    }

    fn record(
        &mut self,
        job: HelpedJob,
        now: impl Fn() -> Instant,
        usage: impl Fn() -> ThreadUsage,
    ) {
        let [all, own] = job.tasks.map(|tasks| u32::try_from(tasks).unwrap_or(u32::MAX));
        // Nothing is known of tasks that a helper has all done.
        if own == 0 || own >= all {
            return;
        }
        let (since, before) = *self.since.get_or_insert_with(|| (now(), usage()));
        self.helped += job.whole;
        self.own += job.own;
        self.alone += job.own.mul_f64(f64::from(all) / f64::from(own));
        if self.helped < WINDOW {
            return;
        }
        // Alone, this thread would have had its processor for itself.
        let (now_at, after) = (now(), usage().max(before));
        let idle = now_at.duration_since(since).saturating_sub(after.busy - before.busy);
        let stopped = idle.min(STOP.saturating_mul(after.stops - before.stops));
        let busy = self.own.saturating_sub(stopped);
        self.since = Some((now_at, after));
        let alone = self.alone.mul_f64(busy.as_secs_f64() / self.own.as_secs_f64().max(1e-9));
        if self.helped > alone {
            self.pause = (2 * self.pause).clamp(PAUSES[0], PAUSES[1]);
            self.until = Some(now_at + self.pause);
            let Crowding { pause, until, .. } = *self;
            *self = Crowding { pause, until, ..Crowding::NEW };
        } else {
            self.pause /= 2;
            // Older jobs count less.
            (self.helped, self.own, self.alone) = (self.helped / 2, self.own / 2, self.alone / 2);
        }
    }
}

/// How this thread has used its processor.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadUsage {
    /// The time that it has run.
    busy: Duration,
    /// The number of times that the system has stopped it for others to run.
    stops: u32,
}

impl ThreadUsage {
    /// The greater of both numbers: the system may give earlier ones.
    fn max(self, other: ThreadUsage) -> ThreadUsage {
        ThreadUsage { busy: self.busy.max(other.busy), stops: self.stops.max(other.stops) }
    }

    #[cfg(target_os = "linux")]
    #[allow(unsafe_code, reason = "a function of C, which the block explains")]
    fn now() -> ThreadUsage {
        // SAFETY: the structure is of numbers, which may be zero, and the call writes it.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
            usage
        };
        let time = |time: libc::timeval| {
            Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
        };
        let stops = u32::try_from(usage.ru_nivcsw).unwrap_or(u32::MAX);
        ThreadUsage { busy: time(usage.ru_utime) + time(usage.ru_stime), stops }
    }

    /// Not known.
    #[cfg(not(target_os = "linux"))]
    fn now() -> ThreadUsage {
        ThreadUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Jobs of two tasks of a millisecond, the second of which a helper has done `late`.
    fn job(late: u32) -> HelpedJob {
        HelpedJob { tasks: [2, 1], own: MS, whole: MS + late * MS }
    }

    fn no_stops() -> ThreadUsage {
        ThreadUsage::default()
    }

    #[test]
    fn threads_work_alone_while_helpers_are_late() {
        let start = Instant::now();
        let mut crowding = Crowding::NEW;
        for _ in 0..1000 {
            crowding.record(job(0), || start, no_stops);
            assert!(!crowding.is_alone(|| start));
        }
        // Late by as much as they help, and by more.
        for _ in 0..1000 {
            crowding.record(job(1), || start, no_stops);
        }
        assert!(!crowding.is_alone(|| start));
        let mut now = start;
        let mut pauses = Vec::new();
        for _ in 0..8 {
            while !crowding.is_alone(|| now) {
                crowding.record(job(3), || now, no_stops);
            }
            let from = now;
            while crowding.is_alone(|| now) {
                now += MS;
            }
            pauses.push((now - from).as_millis());
        }
        // Each time for longer, with a look at helpers between.
        assert_eq!(pauses, [40, 80, 160, 320, 640, 1280, 1280, 1280]);
        // Until they are there again.
        for _ in 0..1000 {
            crowding.record(job(0), || now, no_stops);
            assert!(!crowding.is_alone(|| now));
        }
    }

    #[test]
    fn jobs_without_help_say_nothing() {
        let mut crowding = Crowding::NEW;
        for tasks in [[3, 0], [3, 3]] {
            for _ in 0..1000 {
                let job = HelpedJob { tasks, own: MS, whole: 9 * MS };
                crowding.record(job, Instant::now, no_stops);
            }
        }
        assert!(!crowding.is_alone(Instant::now));
    }

    #[test]
    fn threads_work_alone_that_share_a_processor_with_their_helpers() {
        // Stopped once in a hundred jobs, and once in three: for all of the time that a stop takes
        // at most, or for hardly any.
        for (jobs, busy, is_alone) in [(100, 0.9, false), (3, 0.4, true), (3, 0.99, false)] {
            let (mut now, mut crowding) = (Instant::now(), Crowding::NEW);
            let mut usage = ThreadUsage::default();
            for number in 0..1000 {
                now += MS;
                usage.busy += MS.mul_f64(busy);
                usage.stops = number / jobs;
                crowding.record(job(0), || now, || usage);
            }
            assert_eq!(crowding.is_alone(|| now), is_alone, "{jobs} jobs, {busy} busy");
        }
    }
}
