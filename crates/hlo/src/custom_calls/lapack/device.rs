//! The calls of decompositions that JAX and TensorFlow export for GPU and TPU, in terms of LAPACK's
//! routines. Where a decomposition is not unique, results are LAPACK's.
//!
//! Source: JAX, `jax/_src/lax/linalg.py` and `jax/_src/tpu/linalg`; XLA,
//! `xla/hlo/builder/lib/{lu_decomposition,qr,self_adjoint_eig}.cc`.

use super::{Results, RoutineCall};
use crate::custom_calls::pivots;
use crate::ops::CustomCallOp;
use kernels::linalg;
use mlir::OpRef;
use mlir::attrs::{Attribute, Dictionary};
use numerics::math::{self, BinaryOp};
use numerics::{Complex64, DType, Tensor};
use program::EvalError;

/// A call in terms of a routine.
pub(super) struct DeviceCall {
    /// The name without `cu` or `hip`, for GPU; the whole name for TPU.
    name: &'static str,
    is_gpu: bool,
    pub(super) routine: &'static str,
    kind: Kind,
}

/// Differences of attributes and results from the routine.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Any more results are workspaces.
    Plain,
    /// One triangle of the operand is read, by the flag `lower`.
    Triangle,
    /// Singular values with the adjoint of `v`; both are exchanged if the operand is transposed.
    Svd,
    /// Singular values with `v`.
    SvdWithV,
    /// The solution only.
    Solution,
    /// Eigenvalues of any matrix, with flags for its eigenvectors on either side.
    Eig,
    /// As [`Kind::Eig`], with what is left of the operand first, complex eigenvalues, and of real
    /// matrices the eigenvectors as LAPACK packs them.
    PackedEig,
    /// Eigenvalues of one triangle, with an option that is text.
    Eigh,
    /// Factors, pivots from 0 on, and the permutation.
    Lu,
}

const fn gpu(name: &'static str, routine: &'static str, kind: Kind) -> DeviceCall {
    DeviceCall { name, is_gpu: true, routine, kind }
}

const fn tpu(name: &'static str, routine: &'static str, kind: Kind) -> DeviceCall {
    DeviceCall { name, is_gpu: false, routine, kind }
}

static DEVICES: &[DeviceCall] = &[
    gpu("blas_geqrf_batched_ffi", "geqrf", Kind::Plain),
    gpu("blas_getrf_batched_ffi", "getrf", Kind::Plain),
    gpu("hybrid_eig_comp", "geev", Kind::Eig),
    gpu("hybrid_eig_real", "geev", Kind::Eig),
    gpu("solver_geev_ffi", "geev", Kind::PackedEig),
    gpu("solver_geqrf_ffi", "geqrf", Kind::Plain),
    gpu("solver_gesdd_ffi", "gesdd", Kind::Svd),
    gpu("solver_gesvd_ffi", "gesvd", Kind::Svd),
    gpu("solver_gesvdj_ffi", "gesvd", Kind::SvdWithV),
    gpu("solver_gesvdp_ffi", "gesvd", Kind::SvdWithV),
    gpu("solver_getrf_ffi", "getrf", Kind::Plain),
    gpu("solver_orgqr_ffi", "orgqr", Kind::Plain),
    gpu("solver_potrf_ffi", "potrf", Kind::Triangle),
    gpu("solver_syevd_ffi", "syevd", Kind::Triangle),
    gpu("solver_sytrd_ffi", "sytrd", Kind::Triangle),
    gpu("sparse_gtsv2_f32_ffi", "gtsv", Kind::Solution),
    gpu("sparse_gtsv2_f64_ffi", "gtsv", Kind::Solution),
    gpu("sparse_gtsv2_ffi", "gtsv", Kind::Solution),
    tpu("Eigh", "syevd", Kind::Eigh),
    tpu("LuDecomposition", "getrf", Kind::Lu),
    tpu("ProductOfElementaryHouseholderReflectors", "orgqr", Kind::Plain),
    tpu("Qr", "geqrf", Kind::Plain),
];

/// The call that a target names.
pub(super) fn of(target: &str) -> Option<&'static DeviceCall> {
    let on_gpu = target.strip_prefix("cu").or_else(|| target.strip_prefix("hip"));
    DEVICES.iter().find(|device| match device.is_gpu {
        true => on_gpu == Some(device.name),
        false => target == device.name,
    })
}

/// The names of all targets.
pub(super) fn targets() -> impl Iterator<Item = String> {
    DEVICES.iter().flat_map(|device| {
        let prefixes: &[&str] = if device.is_gpu { &["cu", "hip"] } else { &[""] };
        prefixes.iter().map(|prefix| format!("{prefix}{}", device.name))
    })
}

fn flag(config: Option<&Dictionary>, name: &str) -> Option<bool> {
    config?.get(name)?.as_bool()
}

/// LAPACK's letter for one of two options.
fn either(condition: bool, then: char, otherwise: char) -> char {
    if condition { then } else { otherwise }
}

/// The results of `geev` as cuSOLVER has them.
fn packed(call: &RoutineCall<'_>, results: Vec<Tensor>) -> Results {
    let mut own = results.into_iter();
    let mut next = || own.next().ok_or_else(|| call.missing("result"));
    let (mut values, mut im) = (next()?, None);
    if !call.dtype.is_complex() {
        let part = next()?;
        values = math::binary(BinaryOp::Complex, values, part.clone())?;
        im = Some(part);
    }
    let mut all = vec![call.operand(0)?.clone(), values];
    for (index, wanted) in [(2, "compute_left"), (3, "compute_right")] {
        let vectors = next()?;
        all.push(match (call.letter(wanted)?, &im) {
            ('V', Some(im)) => packed_vectors(im, &vectors, call.dtype)?,
            ('V', None) => vectors,
            _ => call.workspace(index)?,
        });
    }
    all.push(next()?);
    Ok(all)
}

/// Of two vectors that are conjugate, the first column is the real part, the second the imaginary
/// part of the first vector.
fn packed_vectors(im: &Tensor, vectors: &Tensor, dtype: DType) -> Result<Tensor, EvalError> {
    let im = math::convert(im.clone(), DType::F64)?.to_vec::<f64>()?;
    let elements = math::convert(vectors.clone(), DType::C128)?.to_vec::<Complex64>()?;
    let mut packed = Vec::with_capacity(elements.len());
    if let Some(&n) = vectors.shape().last().filter(|&&n| n != 0) {
        for (row, elements) in elements.chunks(n).enumerate() {
            let values = &im[row / n * n..][..n];
            let mut is_second = false;
            for (column, element) in elements.iter().enumerate() {
                packed.push(if is_second { elements[column - 1].im } else { element.re });
                is_second = values[column] != 0.0 && !is_second;
            }
        }
    }
    Ok(math::convert(Tensor::from_vec(vectors.shape(), packed)?, dtype)?)
}

impl DeviceCall {
    /// The attributes that the routine takes.
    ///
    /// # Errors
    /// If an attribute of the call is missing.
    pub(super) fn config(
        &self,
        op: OpRef<'_>,
        config: Option<&Dictionary>,
    ) -> Result<Dictionary, EvalError> {
        let required = |name: &str| {
            flag(config, name).ok_or_else(|| {
                let target = CustomCallOp(op).call_target_name();
                let message = format!("the call of {target} must have a flag `{name}`");
                EvalError::new("custom_call", message)
            })
        };
        let letters = match self.kind {
            Kind::Plain | Kind::Solution | Kind::Lu => Vec::new(),
            Kind::Eig | Kind::PackedEig => vec![
                ("compute_left", either(required("left")?, 'V', 'N')),
                ("compute_right", either(required("right")?, 'V', 'N')),
            ],
            Kind::Triangle => vec![("mode", 'V'), ("uplo", either(required("lower")?, 'L', 'U'))],
            Kind::Svd | Kind::SvdWithV => {
                let all = either(required("full_matrices")?, 'A', 'S');
                vec![("mode", either(required("compute_uv")?, all, 'N'))]
            }
            // 1 for the lower triangle, then options of the algorithm.
            Kind::Eigh => {
                let text = CustomCallOp(op).backend_config().and_then(|config| config.as_str());
                let lower = match text.and_then(|text| text.split(',').next()) {
                    Some("1") => 'L',
                    Some("0") => 'U',
                    _ => {
                        let message = "the backend_config of Eigh must begin with 0 or 1, for the \
                                       upper or the lower triangle";
                        return Err(EvalError::new("custom_call", message));
                    }
                };
                vec![("mode", 'V'), ("uplo", lower)]
            }
        };
        let mut entries: Vec<_> = letters
            .into_iter()
            .map(|(name, letter)| (name.into(), Attribute::i64(i64::from(u32::from(letter)))))
            .collect();
        let transposed = self.kind == Kind::Svd && flag(config, "transposed") == Some(true);
        entries.push(("transposed".into(), Attribute::bool(transposed)));
        Dictionary::new(entries)
            .map_err(|_| EvalError::new("custom_call", "an option is given twice"))
    }

    /// Converts the results of the routine to the results of the call.
    pub(super) fn results(&self, call: &RoutineCall<'_>, mut results: Vec<Tensor>) -> Results {
        match self.kind {
            Kind::Plain | Kind::Triangle | Kind::Eig => {}
            Kind::PackedEig => results = packed(call, results)?,
            Kind::Svd | Kind::SvdWithV if call.letter("mode")? == 'N' => {}
            Kind::Svd => {
                if call.flag("transposed")? {
                    results.swap(2, 3);
                }
            }
            Kind::SvdWithV => {
                if let Some(vh) = results.get_mut(3) {
                    *vh = linalg::adjoint(vh)?;
                }
            }
            Kind::Solution => {
                results = results.into_iter().skip(3).take(1).collect();
            }
            Kind::Eigh => results.truncate(2),
            Kind::Lu => {
                let rows = call.operand(0)?.shape().iter().rev().nth(1).copied().unwrap_or(0);
                results.truncate(2);
                let exchanged = results.pop().ok_or_else(|| call.missing("result"))?;
                let one = Tensor::scalar(1i32).broadcast_scalar(exchanged.shape())?;
                let exchanged = math::binary(BinaryOp::Subtract, exchanged, one)?;
                let permutation = pivots::permutation(&exchanged, rows)?;
                results.extend([exchanged, permutation]);
            }
        }
        for index in results.len()..call.parameters.dtypes.len() {
            results.push(call.workspace(index)?);
        }
        results.truncate(call.parameters.dtypes.len());
        Ok(results)
    }
}
