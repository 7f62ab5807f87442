//! The process that counts, watches the clock and starts the child anew when it ends.

use clap::ValueEnum;
use stablo_fuzz::{Kind, Seeds, make};
use std::io::{self, BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// CPU time of an input above which it is reported and ended.
const MAX_CPU: Duration = Duration::from_secs(5);

/// Time after which an input that uses no CPU counts as a deadlock.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// How often the CPU time is looked at.
const POLL: Duration = Duration::from_millis(250);

/// The unit of CPU time in `/proc`.
const TICK: Duration = Duration::from_millis(10);

/// Findings of one message beyond which inputs are no longer saved.
const MAX_SAVED: usize = 3;

/// Numbers of inputs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    tried: u64,
    accepted: u64,
    panics: u64,
    aborts: u64,
    large: u64,
    slow: u64,
    differing: u64,
    unread: u64,
}

impl Counts {
    /// Inputs with findings.
    pub(crate) fn failures(&self) -> u64 {
        self.panics + self.aborts + self.large + self.slow + self.differing + self.unread
    }
}

struct Campaign<'a> {
    kind: Kind,
    seeds: Seeds,
    findings: &'a Path,
    counts: Counts,
    /// Messages of findings, without numbers.
    seen: Vec<(String, usize)>,
}

/// Tries inputs for some time, and counts what was found.
pub(crate) fn run(kind: Kind, first: u64, seconds: u64, findings: &Path) -> io::Result<Counts> {
    std::fs::create_dir_all(findings)?;
    let mut campaign = Campaign {
        kind,
        seeds: Seeds::read()?,
        findings,
        counts: Counts::default(),
        seen: Vec::new(),
    };
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut next = first;
    while Instant::now() < end {
        next = campaign.run_child(next, end)?;
    }
    let Counts { tried, accepted, panics, aborts, large, slow, differing, unread } =
        campaign.counts;
    println!(
        "{kind:?}: inputs {first} to {next}: {tried} tried, {accepted} accepted, {panics} panics, \
         {aborts} aborts, {large} over 1 GB, {slow} over 5 s, {differing} with other bits of \
         another engine, {unread} not read back"
    );
    Ok(campaign.counts)
}

impl Campaign<'_> {
    /// Lets a child try inputs until it ends or has to be ended. Returns the number of the next
    /// input.
    fn run_child(&mut self, first: u64, end: Instant) -> io::Result<u64> {
        let name = self.kind.to_possible_value();
        let name = name.as_ref().map_or("", |value| value.get_name());
        let mut child = Command::new(std::env::current_exe()?)
            .args(["child", name, &first.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let lines = lines_of(&mut child);
        // The number of the current input, its start and the CPU time of the child then.
        let mut current: Option<(u64, Instant, Duration)> = None;
        let mut next = first;
        loop {
            match lines.recv_timeout(POLL) {
                Ok(line) => {
                    let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
                    if word == "try" {
                        let number = rest.parse().unwrap_or(next);
                        next = number + 1;
                        current = Some((number, Instant::now(), cpu_time(&child)));
                        self.counts.tried += 1;
                        if Instant::now() > end {
                            self.counts.tried -= 1;
                            next = number;
                            break;
                        }
                        continue;
                    }
                    let number = next - 1;
                    match word {
                        "accepted" => self.counts.accepted += 1,
                        "panic" => {
                            self.counts.panics += 1;
                            self.found(number, "panic", rest)?;
                        }
                        "differs" => {
                            self.counts.differing += 1;
                            self.found(number, "differs", rest)?;
                        }
                        "unread" => {
                            self.counts.unread += 1;
                            self.found(number, "unread", rest)?;
                        }
                        "large" => {
                            self.counts.large += 1;
                            self.found(number, "large", "over 1 GB")?;
                        }
                        _ => {}
                    }
                    if word != "large" {
                        current = None;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let Some((number, start, cpu)) = current else { continue };
                    if cpu_time(&child).saturating_sub(cpu) > MAX_CPU || start.elapsed() > MAX_WAIT
                    {
                        self.counts.slow += 1;
                        self.found(number, "slow", "over 5 s")?;
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    if let Some((number, ..)) = current
                        && !child.wait()?.success()
                    {
                        self.counts.aborts += 1;
                        self.found(number, "abort", "the process ended")?;
                    }
                    break;
                }
            }
        }
        // It may have ended already.
        let _ = child.kill();
        child.wait()?;
        Ok(next)
    }

    /// Shows a finding, and saves its input if there are few like it.
    fn found(&mut self, number: u64, what: &str, message: &str) -> io::Result<()> {
        let plain: String = message.chars().filter(|c| !c.is_ascii_digit()).take(150).collect();
        let at = self.seen.iter().position(|(known, _)| *known == plain);
        let at = at.unwrap_or_else(|| {
            self.seen.push((plain, 0));
            self.seen.len() - 1
        });
        self.seen[at].1 += 1;
        if self.seen[at].1 > MAX_SAVED && what != "abort" && what != "slow" && what != "large" {
            return Ok(());
        }
        let file = self.findings.join(format!("{:?}_{number}_{what}", self.kind).to_lowercase());
        // Making an input uses the programs, too.
        let (kind, seeds) = (self.kind, &self.seeds);
        let input = catch_unwind(AssertUnwindSafe(|| make(kind, number, seeds).0));
        std::fs::write(&file, input.unwrap_or_default())?;
        let message: String = message.chars().take(300).collect();
        println!("{what}: {:?} {number}: {message} ({})", self.kind, file.display());
        Ok(())
    }
}

/// The lines that the child writes.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

/// The CPU time of a process, on Linux.
fn cpu_time(child: &Child) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // After the name, which is in parentheses, user and system time are the 12th and 13th fields.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u32 = fields.skip(11).take(2).filter_map(|n| n.parse::<u32>().ok()).sum();
    TICK * ticks
}
