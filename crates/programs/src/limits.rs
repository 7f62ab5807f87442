//! Limits of a program on its memory and time.

use crate::io::{Cause, CommandFailure, FAILURE, Io};
use stablo::{Budget, Entered, Host, Limits};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::Duration;

/// Flags on limits of a run.
#[derive(clap::Args)]
pub struct LimitFlags {
    /// Fail if files that are read, inputs, live values and processes take more bytes than this; K,
    /// M and G are powers of 1024; by default three quarters of the machine's memory
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    max_memory: Option<usize>,
    /// Fail if reading program and inputs, a run, or writing the results takes longer than this
    /// many seconds; checked between ops, and a second later everywhere
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    max_time: Option<Duration>,
    /// Fail if a run executes more ops than this, counting repetitions in loops and functions;
    /// plans do not count calls that they inline, nor dead ops at the end of a block
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
}

/// Parses a number of bytes, such as `4096`, `64K` or `2G`.
///
/// # Errors
/// If it is something else.
pub fn bytes(text: &str) -> Result<usize, String> {
    let unit = text.trim_end_matches(['i', 'B']);
    let (digits, shift) = match unit.chars().last() {
        Some('K' | 'k') => (&unit[..unit.len() - 1], 10),
        Some('M') => (&unit[..unit.len() - 1], 20),
        Some('G') => (&unit[..unit.len() - 1], 30),
        _ => (unit, 0),
    };
    let invalid = |_| "this is not a number of bytes, such as 4096, 64K or 2G".to_string();
    let number = digits.parse::<usize>().map_err(invalid)?;
    number.checked_mul(1 << shift).ok_or_else(|| "this is more than can be counted".to_string())
}

/// Parses a number of seconds, such as `2` or `0.5`.
///
/// # Errors
/// If it is something else.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.trim_end_matches('s').parse::<f64>().ok();
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "this is not a number of seconds, such as 2 or 0.5".to_string())
}

impl LimitFlags {
    /// The limits of a run.
    pub fn of_run(&self) -> Limits {
        Limits { time: self.max_time, steps: self.max_steps, ..Limits::default() }
    }

    /// Gives free memory back to the system if there is a limit, which counts what is in use.
    pub fn return_free_memory(&self, io: &Io<'_>) {
        if self.max_memory.is_some() {
            io.keep_no_free_memory();
        }
    }

    /// Does `work` within the limits of memory and time.
    ///
    /// # Errors
    /// Errors of `work`.
    pub fn enforce<T>(
        &self,
        io: &mut Io<'_>,
        work: impl FnOnce(&mut Io<'_>, &Deadline) -> Result<T, CommandFailure>,
    ) -> Result<T, CommandFailure> {
        self.return_free_memory(io);
        let _entered = enter(self.max_memory);
        let deadline = Deadline::new(io, self.max_time);
        work(io, &deadline).map_err(|mut failure| {
            let limit = Host::current().budget().map(|budget| budget.limit());
            let is_over = |limit| failure.to_string().contains(&format!("limit of {limit} bytes"));
            let is_over = limit.is_some_and(is_over);
            if self.max_memory.is_none()
                && let Cause::Message(after) | Cause::Diagnostics(_, after) = &mut failure.cause
                && is_over
            {
                after.push_str(
                    "\nnote: this is three quarters of the memory that this process may use; \
                     --max-memory sets another limit",
                );
            }
            failure
        })
    }
}

/// Makes `bytes` the limit of what this thread reads, computes and prints, while the guard lives.
pub fn enter(bytes: Option<usize>) -> Option<Entered> {
    bytes.map(|bytes| Host::current().with_budget(Budget::new(bytes)).enter())
}

/// The limit unless another is given: three quarters of the memory of the machine, or of what the
/// process may use of it, so that programs fail with an error before the system ends them. `None`
/// if none of these is known.
pub fn default_memory() -> Option<usize> {
    let files = |path: &Path| std::fs::read_to_string(path).ok();
    let limits = [physical_memory(), control_group_memory(&files), free_address_space()];
    Some(limits.into_iter().flatten().min()? / 4 * 3)
}

/// The bytes of address space that this process may still use, if they are limited (`ulimit -v`).
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a function of C; the block gives the reason")]
fn free_address_space() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a place for the limits, which the function writes.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    if result != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    let used = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
    });
    Some(usize::try_from(limit.rlim_cur).ok()?.saturating_sub(used.unwrap_or(0)))
}

#[cfg(not(target_os = "linux"))]
fn free_address_space() -> Option<usize> {
    None
}

#[cfg(unix)]
#[allow(unsafe_code, reason = "a function of C; the block gives the reason")]
fn physical_memory() -> Option<usize> {
    // SAFETY: `sysconf` may be called at any time; it returns -1 for what it does not know.
    let [pages, size] =
        unsafe { [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| libc::sysconf(name)) };
    usize::try_from(pages).ok()?.checked_mul(usize::try_from(size).ok()?)
}

#[cfg(not(unix))]
fn physical_memory() -> Option<usize> {
    None
}

/// The least limit of the control groups of this process, of version 2 or 1.
pub fn control_group_memory(read: &dyn Fn(&Path) -> Option<String>) -> Option<usize> {
    let groups = read(Path::new("/proc/self/cgroup"))?;
    let limits = groups.lines().flat_map(|line| {
        // `0::/path` in version 2, `7:memory:/path` in version 1.
        let mut fields = line.splitn(3, ':').skip(1);
        let (root, file) = match fields.next() {
            Some("") => ("/sys/fs/cgroup", "memory.max"),
            Some(kinds) if kinds.split(',').any(|kind| kind == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return Vec::new(),
        };
        let group = fields.next().unwrap_or_default().trim_start_matches('/');
        // The group itself and those around it; in a container, the path may not exist.
        let groups = Path::new(group).ancestors();
        let limit = |group: &Path| read(&Path::new(root).join(group).join(file));
        groups.filter_map(limit).filter_map(|limit| limit.trim().parse().ok()).collect()
    });
    limits.min()
}

/// Terminates the process unless dropped in time: for what cannot be interrupted.
pub struct Deadline {
    restart: Option<Sender<()>>,
}

impl Deadline {
    /// Additional time before the process is terminated.
    const GRACE: Duration = Duration::from_secs(1);

    /// Starts the deadline: `time` and a grace period later, the process is terminated with a
    /// message.
    pub fn new(io: &Io<'_>, time: Option<Duration>) -> Deadline {
        let watch = |time: Duration| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let wait = move || {
                let time_out = loop {
                    match receiver.recv_timeout(time + Deadline::GRACE) {
                        Ok(()) => {}
                        Err(error) => break error == RecvTimeoutError::Timeout,
                    }
                };
                if time_out {
                    eprintln!(
                        "error[time_limit]: this takes longer than {time:?}, which is the limit"
                    );
                    std::process::exit(FAILURE);
                }
            };
            // If no thread can be started, only the checks between ops remain.
            std::thread::Builder::new().spawn(wait).ok().map(|_| sender)
        };
        Deadline { restart: time.filter(|_| io.own_process).and_then(watch) }
    }

    /// Starts the time again.
    pub fn restart(&self) {
        if let Some(sender) = &self.restart {
            // The thread lives as long as this.
            let _ = sender.send(());
        }
    }
}
