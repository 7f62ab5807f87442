//! Durations of the steps of `stablo run`.

use serde_json::json;
use std::time::{Duration, Instant};

/// Durations of the steps.
#[derive(Debug, Default)]
pub(crate) struct Timings {
    /// Parsing the text.
    pub parse: Duration,
    /// Verifying the module.
    pub verify: Duration,
    /// Preparing the function to run.
    pub compile: Duration,
    /// Each run.
    pub execute: Vec<Duration>,
}

/// Runs `work`; returns its result and duration.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

impl Timings {
    /// The timings in milliseconds, and the peak memory of the process in bytes if available.
    pub(crate) fn to_json(&self) -> String {
        let ms = |d: &Duration| d.as_secs_f64() * 1e3;
        let value = json!({
            "parse_ms": ms(&self.parse),
            "verify_ms": ms(&self.verify),
            "compile_ms": ms(&self.compile),
            "execute_ms": self.execute.iter().map(ms).collect::<Vec<_>>(),
            "peak_rss_bytes": peak_rss_bytes(),
        });
        format!("{value}\n")
    }
}

/// The peak memory of this process, on Linux.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
