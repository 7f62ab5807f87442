//! The calls of LAPACK's routines that JAX exported before those of `_ffi`: sizes and options are
//! operands before the matrices, and results include LAPACK's workspaces.
//!
//! Source: JAX 0.4.13 to 0.4.30, `jaxlib/lapack.py`.

use super::RoutineCall;
use mlir::attrs::{Attribute, Dictionary};
use mlir::diag::counted;
use numerics::{Complex64, DType, Tensor, math};
use program::EvalError;

/// The meaning of an operand.
enum OperandMeaning {
    /// A size, which the matrices tell, too.
    Size,
    /// A factor, which must be one.
    One,
    /// An option as an index into these letters.
    Choice(&'static str, &'static str),
    /// An option that has this letter, whatever other operands say, if the operand is zero.
    Unless(&'static str, char),
    /// An option as it is in the configuration of the newer call.
    Option(&'static str),
    /// An operand of the newer call.
    Matrix,
}
use OperandMeaning::{Choice, Matrix, One, Option as Letter, Size, Unless};

/// A call in terms of its successor's.
pub(super) struct Older {
    /// The name without `lapack_` or `blas_` and the letter of the element type.
    names: &'static [&'static str],
    operands: &'static [OperandMeaning],
    /// An option that has no operand.
    fixed: Option<(&'static str, char)>,
    /// The results of the newer call that are those of the older one, for real and for complex
    /// numbers; `None` is a workspace. Any more results are workspaces as well.
    results: [&'static [Option<usize>]; 2],
}

/// Lists of results.
macro_rules! results {
    (@ _) => { None };
    (@ $index:literal) => { Some($index) };
    ($($result:tt)*) => { &[$(results!(@ $result)),*] };
}

const FIRST: [&[Option<usize>]; 2] = [results![0], results![0]];

const CALLS: &[Older] = &[
    Older {
        names: &["trsm"],
        operands: &[
            Choice("side", "RL"),
            Choice("uplo", "UL"),
            Choice("trans_x", "NTC"),
            Choice("diag", "NU"),
            Size,
            Size,
            Size,
            One,
            Matrix,
            Matrix,
        ],
        fixed: None,
        results: FIRST,
    },
    Older {
        names: &["getrf"],
        operands: &[Size, Size, Size, Matrix],
        fixed: None,
        results: [results![0 1 2]; 2],
    },
    Older {
        names: &["geqrf"],
        operands: &[Size, Size, Size, Size, Matrix],
        fixed: None,
        results: [results![0 1]; 2],
    },
    Older {
        names: &["orgqr", "ungqr"],
        operands: &[Size, Size, Size, Size, Size, Matrix, Matrix],
        fixed: None,
        results: FIRST,
    },
    Older {
        names: &["potrf"],
        operands: &[Choice("uplo", "UL"), Size, Size, Matrix],
        fixed: None,
        results: [results![0 1]; 2],
    },
    Older {
        names: &["gesdd"],
        operands: &[Choice("mode", "SA"), Unless("mode", 'N'), Size, Size, Size, Size, Matrix],
        fixed: None,
        results: [results![0 1 2 3 4]; 2],
    },
    Older {
        names: &["syevd", "heevd"],
        operands: &[Choice("uplo", "UL"), Size, Size, Matrix],
        fixed: Some(("mode", 'V')),
        results: [results![0 1 2]; 2],
    },
    Older {
        names: &["geev"],
        operands: &[Size, Size, Letter("compute_left"), Letter("compute_right"), Matrix],
        fixed: None,
        results: [results![_ _ _ 0 1 2 3 4], results![_ _ 0 1 2 3]],
    },
    Older {
        names: &["gees"],
        operands: &[Size, Size, Letter("mode"), Letter("sort"), Matrix],
        fixed: None,
        results: [results![0 2 3 1 4 5], results![0 _ 2 1 3 4]],
    },
    Older {
        names: &["gehrd"],
        operands: &[Size, Letter("low"), Letter("high"), Size, Size, Size, Matrix],
        fixed: None,
        results: [results![0 1 2]; 2],
    },
    Older {
        names: &["sytrd", "hetrd"],
        operands: &[Size, Choice("uplo", "UL"), Size, Size, Size, Matrix],
        fixed: None,
        results: [results![0 1 2 3 4]; 2],
    },
];

/// The older call of a routine, if any.
pub(super) fn of(routine: &str) -> Option<&'static Older> {
    CALLS.iter().find(|call| call.names.contains(&routine))
}

/// The integer of a scalar operand.
fn integer(operand: &Tensor) -> Result<i64, EvalError> {
    match operand.to_i64s()?[..] {
        [value] => Ok(value),
        _ => Err(EvalError::new("custom_call", "a size or option must be one integer")),
    }
}

impl Older {
    /// The operands and the configuration of the newer call.
    pub(super) fn arguments(
        &self,
        given: &[Tensor],
    ) -> Result<(Vec<Tensor>, Dictionary), EvalError> {
        if given.len() < self.operands.len() {
            let (found, expected) = (given.len(), self.operands.len());
            let found = counted(found as u64, "operand");
            let message = format!("the call has {found}, but {expected} are required");
            return Err(EvalError::new("custom_call", message));
        }
        let mut matrices = Vec::new();
        let letter = |letter: char| i64::from(u32::from(letter));
        let mut options: Vec<_> =
            self.fixed.map(|(name, l)| (name, letter(l))).into_iter().collect();
        for (operand, value) in self.operands.iter().zip(given) {
            match operand {
                Size => {}
                Matrix => matrices.push(value.clone()),
                One => {
                    let factor = math::convert(value.clone(), DType::C128)?;
                    if factor.to_vec::<Complex64>()? != [Complex64::new(1.0, 0.0)] {
                        return Err(EvalError::new("custom_call", "`alpha` must be 1"));
                    }
                }
                Letter(name) => options.push((*name, integer(value)?)),
                Choice(name, letters) => {
                    let index = integer(value)?;
                    let chosen = usize::try_from(index).ok().and_then(|i| letters.chars().nth(i));
                    let chosen = chosen.ok_or_else(|| {
                        EvalError::new("custom_call", format!("{index} is no `{name}`"))
                    })?;
                    options.push((*name, letter(chosen)));
                }
                Unless(name, otherwise) => {
                    if integer(value)? == 0 {
                        options.retain(|(other, _)| other != name);
                        options.push((*name, letter(*otherwise)));
                    }
                }
            }
        }
        let entries = options.into_iter().map(|(name, value)| (name.into(), Attribute::i64(value)));
        let config = Dictionary::new(entries.collect())
            .map_err(|_| EvalError::new("custom_call", "an option is given twice"))?;
        Ok((matrices, config))
    }

    /// The result of the older call that is result `index` of the newer one.
    pub(super) fn result(&self, index: usize, complex: bool) -> Option<usize> {
        self.results[usize::from(complex)].iter().position(|&newer| newer == Some(index))
    }

    /// The results of the older call.
    pub(super) fn results(
        &self,
        call: &RoutineCall<'_>,
        newer: &[Tensor],
        complex: bool,
    ) -> Result<Vec<Tensor>, EvalError> {
        let known = self.results[usize::from(complex)];
        let result = |index: usize| match known.get(index).copied().flatten() {
            Some(i) => newer.get(i).cloned().ok_or_else(|| call.missing("result")),
            None => call.workspace(index),
        };
        (0..call.parameters.dtypes.len()).map(result).collect()
    }
}
