//! The process that tries inputs, one after another.
//!
//! It reports to standard output: `try N`, then one of `refused`, `accepted`, `panic MESSAGE`,
//! `differs MESSAGE` and `unread MESSAGE`. After an input that took too much memory, it prints
//! `large` and ends.

use stablo_fuzz::{Kind, Outcome, Seeds, make, try_input};
use std::io::{self, Write};
use std::panic;
use std::sync::{Arc, Mutex};

/// Peak memory in bytes above which an input is reported.
const MAX_MEMORY: u64 = 1 << 30;

/// Tries inputs until the parent ends the process.
pub(crate) fn run(kind: Kind, first: u64) -> io::Result<bool> {
    let seeds = Seeds::read()?;
    let message = Arc::new(Mutex::new(String::new()));
    let last = Arc::clone(&message);
    panic::set_hook(Box::new(move |info| {
        if let Ok(mut last) = last.lock() {
            *last = info.to_string().replace('\n', " ");
        }
    }));
    let mut out = io::stdout().lock();
    for number in first.. {
        writeln!(out, "try {number}")?;
        out.flush()?;
        let outcome = panic::catch_unwind(|| {
            let (input, mut random) = make(kind, number, &seeds);
            try_input(kind, &input, &mut random)
        });
        match outcome {
            Ok(Outcome::Refused) => writeln!(out, "refused")?,
            Ok(Outcome::Accepted) => writeln!(out, "accepted")?,
            Ok(Outcome::NotReadBack(what)) => writeln!(out, "unread {}", what.replace('\n', " "))?,
            Ok(Outcome::Differs(what)) => writeln!(out, "differs {}", what.replace('\n', " "))?,
            Err(_) => {
                let message = message.lock().map_or_else(|_| String::new(), |m| m.clone());
                writeln!(out, "panic {message}")?;
            }
        }
        if peak_memory().is_some_and(|bytes| bytes > MAX_MEMORY) {
            writeln!(out, "large")?;
            return out.flush().map(|()| true);
        }
    }
    Ok(true)
}

/// The peak memory of this process in bytes, on Linux.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Writes an input to standard output and runs it.
pub(crate) fn replay(kind: Kind, number: u64) -> io::Result<bool> {
    let (input, mut random) = make(kind, number, &Seeds::read()?);
    io::stdout().write_all(&input)?;
    let outcome = try_input(kind, &input, &mut random);
    eprintln!(
        "{}",
        match &outcome {
            Outcome::Refused => "refused",
            Outcome::Accepted => "accepted",
            Outcome::Differs(message) | Outcome::NotReadBack(message) => message,
        }
    );
    Ok(matches!(outcome, Outcome::Refused | Outcome::Accepted))
}
