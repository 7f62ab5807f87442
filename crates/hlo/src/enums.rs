//! The enumerations of the dialect.

use mlir::ods::{EnumDef, EnumStyle};

macro_rules! enums {
    ($($(#[doc = $doc:literal])+ $name:ident, $mnemonic:literal, $style:ident, [$($value:literal = $case:literal),+ $(,)?];)+) => {
        $($(#[doc = $doc])+
        pub static $name: EnumDef = EnumDef {
            dialect: "stablehlo",
            mnemonic: $mnemonic,
            cases: &[$(($value, $case)),+],
            style: EnumStyle::$style,
        };)+
    };
}

/// Enumerations that are attributes, in alphabetical order. (`CUSTOM_CALL_API_VERSION` is
/// represented as an integer.)
pub static ENUMS: &[&EnumDef] = &[
    &COMPARISON_DIRECTION,
    &COMPARISON_TYPE,
    &FFT_TYPE,
    &PRECISION,
    &RESULT_ACCURACY_MODE,
    &RNG_ALGORITHM,
    &RNG_DISTRIBUTION,
    &TRANSPOSE,
];

/// The case of [`RESULT_ACCURACY_MODE`] that gives tolerances.
pub const RESULT_ACCURACY_TOLERANCE: u64 = 2;

enums! {
    /// The relation that `compare` tests.
    COMPARISON_DIRECTION, "comparison_direction", Spaced, [0 = "EQ", 1 = "NE", 2 = "GE", 3 = "GT", 4 = "LE", 5 = "LT"];
    /// The interpretation of `compare`'s operands.
    COMPARISON_TYPE, "comparison_type", Spaced,
        [0 = "NOTYPE", 1 = "FLOAT", 2 = "TOTALORDER", 3 = "SIGNED", 4 = "UNSIGNED"];
    /// The calling convention of a `custom_call`'s callee; an `i32`.
    CUSTOM_CALL_API_VERSION, "custom_call_api_version", Spaced,
        [0 = "API_VERSION_UNSPECIFIED", 1 = "API_VERSION_ORIGINAL", 2 = "API_VERSION_STATUS_RETURNING",
         3 = "API_VERSION_STATUS_RETURNING_UNIFIED", 4 = "API_VERSION_TYPED_FFI"];
    /// The Fourier transform that `fft` computes.
    FFT_TYPE, "fft_type", Spaced, [0 = "FFT", 1 = "IFFT", 2 = "RFFT", 3 = "IRFFT"];
    /// Precision of an operand of a contraction; its meaning is up to the backend.
    PRECISION, "precision", Spaced, [0 = "DEFAULT", 1 = "HIGH", 2 = "HIGHEST"];
    /// The way in which the accuracy of a transcendental op is requested.
    RESULT_ACCURACY_MODE, "result_accuracy_mode", Brackets, [0 = "DEFAULT", 1 = "HIGHEST", 2 = "TOLERANCE"];
    /// The generator of `rng_bit_generator`.
    RNG_ALGORITHM, "rng_algorithm", Spaced, [0 = "DEFAULT", 1 = "THREE_FRY", 2 = "PHILOX"];
    /// The distribution that `rng` draws from.
    RNG_DISTRIBUTION, "rng_distribution", Spaced, [1 = "UNIFORM", 2 = "NORMAL"];
    /// The transformation of the matrix in `triangular_solve`.
    TRANSPOSE, "transpose", Spaced, [0 = "TRANSPOSE_INVALID", 1 = "NO_TRANSPOSE", 2 = "TRANSPOSE", 3 = "ADJOINT"];
}
