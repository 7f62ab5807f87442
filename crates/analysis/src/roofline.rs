//! The roofline of a machine: how fast it computes, and how fast it moves bytes to and from memory.

use host::Host;
use numerics::{DType, Tensor};
use program::EvalError;
use program::primitives::DotDims;
use std::time::Duration;

/// Rows and columns of the matrices that are multiplied first, and of larger ones where these take
/// no longer than [`MEASURED`].
const SMALL: usize = 192;
const LARGE: usize = 512;
/// Bytes that are copied: with the copy, more than most processors keep in caches. More would take
/// longer, mostly to get the memory. A thread copies one part at a time.
const COPIED: usize = 20 << 20;
const PART: usize = 1 << 20;
/// Repetitions end after about this time.
const MEASURED: Duration = Duration::from_millis(5);

/// The limits of a machine for a number of threads.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Roofline {
    /// Operations on `f32` a second, in a product of matrices that caches hold.
    pub flops: f64,
    /// Bytes a second that a copy beyond the caches reads and writes.
    pub bytes: f64,
    /// The number of threads.
    pub threads: usize,
}

impl Roofline {
    /// Measures the machine, which takes some hundredths of a second; `None` if the host has no
    /// clock, or not the memory.
    pub fn measure(host: &Host) -> Option<Roofline> {
        let _entered = host.enter();
        let threads = host.workers();
        let flops = products(host).ok()??;
        let bytes = copies(host).ok()??;
        Some(Roofline { flops, bytes, threads })
    }

    /// The least time in seconds for some operations and bytes.
    pub fn seconds(&self, arithmetic: u64, bytes: u64) -> f64 {
        (arithmetic as f64 / self.flops).max(bytes as f64 / self.bytes)
    }
}

/// Operations a second of products of matrices.
fn products(host: &Host) -> Result<Option<f64>, EvalError> {
    let mut best = None;
    for size in [SMALL, LARGE] {
        let matrix = Tensor::scalar(1f32).broadcast_scalar([size; 2])?;
        let dims = DotDims {
            lhs_contracting_dimensions: vec![1],
            rhs_contracting_dimensions: vec![0],
            ..DotDims::default()
        };
        let Some(took) = shortest(host, || {
            kernels::dot_general(matrix.clone(), matrix.clone(), &dims, DType::F32).map(drop)
        })?
        else {
            return Ok(None);
        };
        let speed = 2.0 * (size as f64).powi(3) / took.as_secs_f64();
        best = Some(speed.max(best.unwrap_or(0.0)));
        if took.mul_f64((LARGE as f64 / SMALL as f64).powi(3)) > MEASURED {
            break;
        }
    }
    Ok(best)
}

/// Bytes a second of copies.
fn copies(host: &Host) -> Result<Option<f64>, EvalError> {
    let shape = [COPIED / size_of::<f32>()];
    // Both are written before, so that the system has given their memory.
    let source = Tensor::scalar(1f32).broadcast_scalar(shape)?;
    let mut target = Tensor::scalar(2f32).broadcast_scalar(shape)?;
    let took = shortest(host, || {
        let parts = target.bytes_mut()?.chunks_mut(PART).zip(source.bytes().chunks(PART));
        let copy = |(to, from): (&mut [u8], &[u8])| {
            to.copy_from_slice(from);
            Ok::<(), EvalError>(())
        };
        host::parallel(parts.collect(), copy)
    })?;
    Ok(took.map(|took| 2.0 * COPIED as f64 / took.as_secs_f64()))
}

/// The shortest time of some repetitions; `None` if there is no clock.
fn shortest(
    host: &Host,
    mut work: impl FnMut() -> Result<(), EvalError>,
) -> Result<Option<Duration>, EvalError> {
    let mut times = Vec::new();
    while times.iter().sum::<Duration>() < MEASURED && times.len() < 100 {
        let Some(start) = host.now() else { return Ok(None) };
        work()?;
        times.push(host.now().unwrap_or(start).saturating_sub(start));
    }
    Ok(times.into_iter().min().map(|time| time.max(Duration::from_nanos(1))))
}
