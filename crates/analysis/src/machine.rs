//! Measurements of the machine, beside what its model assumes.

use host::{Host, Machine};
use numerics::simd::Isa;
use numerics::{DType, Tensor};
use program::EvalError;
use program::primitives::DotDims;
use serde_json::{Value, json};
use std::fmt;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A measurement is repeated for about this time.
const MEASURED: Duration = Duration::from_millis(20);
/// A measured fact and its model differ if one is more than so many times the other.
const TOLERANCE: f64 = 2.0;
/// Rows and columns of the matrices whose product is measured.
const PRODUCT: usize = 512;
/// Bytes that no cache of one thread keeps.
const MEMORY: usize = 128 << 20;
/// Time after which a helper sleeps.
const ASLEEP: Duration = Duration::from_millis(2);
/// A helper that has not come after this time is not waited for.
const LATEST: Duration = Duration::from_millis(50);

/// Measurements of a machine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Measurements {
    /// The measurements, in the order in which they are printed.
    pub rows: Vec<Measurement>,
    /// The model, with measured numbers in place of those that differ.
    pub model: Machine,
}

/// A measurement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Measurement {
    /// Description of the measurement.
    pub name: String,
    /// Its result, in [`Measurement::unit`].
    pub measured: f64,
    /// The unit of both numbers.
    pub unit: &'static str,
    /// The value that the model assumes.
    pub assumed: Option<f64>,
    /// The fact of the model that says so.
    pub fact: Option<&'static str>,
}

impl Measurement {
    /// True if the model assumes nothing else, within a factor of two.
    pub fn fits(&self) -> bool {
        self.assumed.is_none_or(|assumed| {
            (1.0 / TOLERANCE..=TOLERANCE).contains(&(self.measured / assumed))
        })
    }

    /// The conclusion, for people.
    pub fn verdict(&self) -> &'static str {
        match self.assumed {
            None => "",
            Some(_) if self.fits() => "as assumed",
            Some(assumed) if self.measured > assumed => "more than assumed",
            Some(_) => "less than assumed",
        }
    }
}

impl Measurements {
    /// Measures the machine with the threads of a host, which takes about a second; `None` if the
    /// host has no clock, or there is no memory for the operands.
    pub fn take(host: &Host) -> Option<Measurements> {
        let _entered = host.enter();
        let mut measured = Measuring { host, rows: Vec::new(), model: host::machine().clone() };
        measured.arithmetic()?;
        measured.bandwidth()?;
        measured.hand_overs()?;
        measured.products().ok()??;
        Some(Measurements { rows: measured.rows, model: measured.model })
    }

    /// True if the model assumes nothing that was measured otherwise, within a factor of two.
    pub fn fit(&self) -> bool {
        self.rows.iter().all(Measurement::fits)
    }

    /// The measurements as a JSON object: `fits`, `measurements`, each with the fields of
    /// [`Measurement`] and its `verdict`, and the facts of the measured `model`.
    pub fn to_json(&self) -> String {
        let row = |row: &Measurement| {
            json!({
                "name": row.name, "measured": row.measured, "unit": row.unit,
                "assumed": row.assumed, "fact": row.fact, "verdict": row.verdict(),
            })
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        let model = facts(&self.model);
        json!({ "fits": self.fit(), "measurements": rows, "model": model }).to_string()
    }
}

/// A model as a JSON object: its name and its facts, by their names.
pub fn model_to_json(model: &Machine) -> String {
    facts(model).to_string()
}

fn facts(model: &Machine) -> Value {
    let mut value = json!({ "name": model.name });
    for (name, fact) in model.facts() {
        value[name] = json!(fact);
    }
    value
}

impl fmt::Display for Measurements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:44} {:>10} {:>10}  {:8} verdict", "", "measured", "assumed", "unit")?;
        for row in &self.rows {
            let assumed = row.assumed.map_or("-".into(), |assumed| format!("{assumed:.1}"));
            let line = format!(
                "{:44} {:>10.1} {assumed:>10}  {:8} {}",
                row.name,
                row.measured,
                row.unit,
                row.verdict()
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        let wrong = self.rows.iter().filter(|row| !row.fits()).filter_map(|row| row.fact);
        let wrong: Vec<&str> = wrong.collect();
        match wrong[..] {
            [] => writeln!(f, "The model fits this machine."),
            _ => writeln!(
                f,
                "The model does not fit this machine, or other work disturbed the measurement: {} \
                 differ{} by more than a factor of two.",
                wrong.join(", "),
                if wrong.len() == 1 { "s" } else { "" }
            ),
        }
    }
}

/// Measurements that are being taken.
struct Measuring<'h> {
    host: &'h Host,
    rows: Vec<Measurement>,
    model: Machine,
}

impl Measuring<'_> {
    /// Adds a measurement of a fact, which the model gives in units of `scale`.
    fn fact(&mut self, name: impl Into<String>, fact: &'static str, measured: f64, scale: f64) {
        let unit = if fact.ends_with("_ns") {
            "µs"
        } else if fact.starts_with("memory") {
            "GB/s"
        } else {
            "G/s"
        };
        let number = self.model.facts().into_iter().find(|(name, _)| *name == fact);
        let assumed = number.map(|(_, number)| number as f64 / scale);
        let row = Measurement { name: name.into(), measured, unit, assumed, fact: Some(fact) };
        if !row.fits() {
            self.model.set_fact(fact, (measured * scale).round() as usize);
        }
        self.rows.push(row);
    }

    /// Adds a measurement that the model says nothing about.
    fn other(&mut self, name: impl Into<String>, measured: f64, unit: &'static str) {
        self.rows.push(Measurement {
            name: name.into(),
            measured,
            unit,
            assumed: None,
            fact: None,
        });
    }

    /// The shortest time in seconds of some repetitions of `work`.
    fn shortest(&self, mut work: impl FnMut()) -> Option<f64> {
        let start = self.host.now()?;
        let mut best = f64::INFINITY;
        loop {
            let before = self.host.now()?;
            work();
            let after = self.host.now()?;
            best = best.min(after.saturating_sub(before).as_secs_f64().max(1e-9));
            if after.saturating_sub(start) > MEASURED {
                return Some(best);
            }
        }
    }

    /// Peaks of each width of vectors, and elementary operations.
    fn arithmetic(&mut self) -> Option<()> {
        const ROUNDS: usize = 20_000;
        let best = Isa::best();
        for isa in Isa::available() {
            if !isa.has_vectors() {
                continue;
            }
            let mut flops = 0;
            let seconds = self.shortest(|| flops = isa.multiply_adds(ROUNDS).unwrap_or(0))?;
            let speed = flops as f64 / seconds / 1e9;
            let bits = match (isa.has_avx512(), isa.has_avx2()) {
                (true, _) => 512,
                (_, true) => 256,
                _ => 128,
            };
            let name = format!("f32 multiplications and additions, {bits} bits");
            if isa == best {
                self.fact(name, "flops_per_us", speed, 1e3);
            } else {
                self.other(name, speed, "G/s");
            }
        }
        let len = self.model.l1.bytes / 16;
        let (x, y) = (vec![1f32; len], vec![2f32; len]);
        let mut out = vec![0f32; len];
        let rounds = (1 << 22) / len.max(1);
        let seconds = self.shortest(|| {
            for _ in 0..rounds {
                best.add(black_box(&x), &y, &mut out);
            }
            black_box(&out);
        })?;
        let speed = (rounds * len) as f64 / seconds / 1e9;
        self.fact("elementary operations", "operations_per_us", speed, 1e3);
        Some(())
    }

    /// Reads of each cache and of memory.
    fn bandwidth(&mut self) -> Option<()> {
        let Machine { l1, l2, l3, .. } = self.model;
        let far = (l3.bytes / 2).min(8 * l2.bytes);
        let levels = [
            ("first-level cache", l1.bytes / 2),
            ("second-level cache", l2.bytes / 2),
            ("third-level cache", far),
        ];
        let read = |measuring: &Self, bytes: usize| {
            let words = vec![1u64; bytes.max(64) / 8];
            let rounds = ((8 << 20) / bytes.max(1)).max(1);
            let seconds = measuring.shortest(|| {
                for _ in 0..rounds {
                    black_box(Isa::best().read(black_box(&words)));
                }
            })?;
            Some((rounds * words.len() * 8) as f64 / seconds / 1e9)
        };
        for (name, bytes) in levels {
            let speed = read(self, bytes)?;
            self.other(format!("reads of the {name}"), speed, "GB/s");
        }
        let bytes = MEMORY.max(l3.bytes.min(MEMORY) * 2);
        host::check(bytes).ok()?;
        let speed = read(self, bytes)?;
        self.fact("reads of memory", "memory_bytes_per_us", speed, 1e3);
        Some(())
    }

    /// The time until another thread works, when it waits for work and when it sleeps.
    fn hand_overs(&mut self) -> Option<()> {
        if self.host.workers() < 2 {
            return Some(());
        }
        let clock = || self.host.now().unwrap_or_default();
        let meet = || {
            let start = clock();
            let arrived = AtomicUsize::new(0);
            let wait = |()| -> Result<(), ()> {
                arrived.fetch_add(1, Ordering::SeqCst);
                while arrived.load(Ordering::SeqCst) < 2 && clock() < start + LATEST {
                    spin_loop();
                }
                Ok(())
            };
            let _ = host::parallel(vec![(), ()], wait);
            clock().saturating_sub(start)
        };
        let median = |mut times: Vec<Duration>| {
            times.sort_unstable();
            times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        meet();
        let awake = median((0..200).map(|_| meet()).collect());
        self.fact("hand-over to a thread that waits", "hand_over_ns", awake, 1e3);
        let asleep = (0..20).map(|_| {
            let start = clock();
            while clock() < start + ASLEEP {
                spin_loop();
            }
            meet()
        });
        let asleep = median(asleep.collect());
        self.fact("hand-over to a thread that sleeps", "wake_ns", asleep, 1e3);
        Some(())
    }

    /// Products of matrices on one thread, and their share of the peak.
    fn products(&mut self) -> Result<Option<()>, EvalError> {
        let peak = self.rows.iter().find(|row| row.fact == Some("flops_per_us"));
        let peak = peak.map_or(f64::INFINITY, |row| row.measured);
        let _alone = self.host.clone().with_workers(1).enter();
        let matrix = Tensor::scalar(1f32).broadcast_scalar([PRODUCT; 2])?;
        let dims = DotDims {
            lhs_contracting_dimensions: vec![1],
            rhs_contracting_dimensions: vec![0],
            ..DotDims::default()
        };
        let mut failure = None;
        let seconds = self.shortest(|| {
            let product = kernels::dot_general(matrix.clone(), matrix.clone(), &dims, DType::F32);
            failure = product.err().or(failure.take());
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let Some(seconds) = seconds else { return Ok(None) };
        let speed = 2.0 * (PRODUCT as f64).powi(3) / seconds / 1e9;
        self.other(format!("product of matrices of {PRODUCT} x {PRODUCT}"), speed, "G/s");
        if peak.is_finite() && peak > 0.0 {
            self.other("its share of the peak", 100.0 * speed / peak, "%");
        }
        Ok(Some(()))
    }
}
