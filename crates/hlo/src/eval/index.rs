//! Elements picked and placed by linear indices: the common core of gather, scatter and windows.

use mlir::RegionId;
use mlir::eval::{EvalEnv, EvalError};
use numerics::{Tensor, dispatch_all};

/// The elements of `tensor` at row-major positions, as a vector.
///
/// # Errors
/// A position outside of the tensor.
pub fn take(tensor: &Tensor, positions: &[usize]) -> Result<Tensor, EvalError> {
    dispatch_all!(tensor.dtype(), T => {
        let source = tensor.as_slice::<T>()?;
        let picked: Option<Vec<T>> = positions.iter().map(|&i| source.get(i).copied()).collect();
        let picked = picked.ok_or_else(|| EvalError::new("index", "a position is outside of the tensor"))?;
        Ok(Tensor::from_vec([picked.len()], picked)?)
    })
}

/// Puts the elements of the vector `values` at row-major positions of `tensor`.
///
/// # Errors
/// A position outside of the tensor, or another element type.
pub fn put(tensor: &mut Tensor, positions: &[usize], values: &Tensor) -> Result<(), EvalError> {
    dispatch_all!(tensor.dtype(), T => {
        let values = values.as_slice::<T>()?;
        let target = tensor.make_mut::<T>()?;
        for (&i, &value) in positions.iter().zip(values) {
            let slot = target.get_mut(i);
            *slot.ok_or_else(|| EvalError::new("index", "a position is outside of the tensor"))? = value;
        }
        Ok(())
    })
}

/// Row-major positions of all index combinations along some dimensions of a tensor: `strides` and `sizes` of those.
pub fn positions(strides: &[usize], sizes: &[usize]) -> Vec<usize> {
    let mut out = vec![0];
    for (&stride, &size) in strides.iter().zip(sizes) {
        out = out.iter().flat_map(|&base| (0..size).map(move |i| base + i * stride)).collect();
    }
    out
}

/// For each update in order, combines with a region the elements of `results` at its target with its `updates`, both lists
/// of tensors; `targets` are row-major positions, none for an update that is dropped.
///
/// Updates of different targets are independent, so they run in one pass over vectors; the n-th update of each target runs in
/// the n-th pass.
///
/// # Errors
/// Whatever stops the region.
pub fn update(
    env: &mut dyn EvalEnv,
    region: RegionId,
    results: &mut [Tensor],
    updates: &[Tensor],
    targets: &[Option<usize>],
) -> Result<(), EvalError> {
    let size = results.first().map_or(0, Tensor::num_elements);
    let mut seen = vec![0u32; size];
    let mut passes: Vec<Vec<(usize, usize)>> = Vec::new();
    for (source, target) in targets.iter().enumerate() {
        let Some(target) = *target else { continue };
        let pass = seen[target] as usize;
        seen[target] += 1;
        if passes.len() <= pass {
            passes.push(Vec::new());
        }
        passes[pass].push((target, source));
    }
    for pass in passes {
        let (to, from): (Vec<usize>, Vec<usize>) = pass.into_iter().unzip();
        let mut args = Vec::with_capacity(2 * results.len());
        for result in results.iter() {
            args.push(take(result, &to)?);
        }
        for update in updates {
            args.push(take(update, &from)?);
        }
        let combined = env.scalar_region(region, to.len(), args)?;
        for (result, values) in results.iter_mut().zip(&combined) {
            put(result, &to, values)?;
        }
    }
    Ok(())
}
