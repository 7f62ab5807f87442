//! The enumerations of the dialect. Values are those of the bytecode encoding.

use crate::Version;
use mlir::ods::{EnumDef, EnumStyle};

/// An enumeration with the first version that has it, and its bytecode code. No enumeration was
/// ever removed.
pub struct VersionedEnum {
    /// The declaration.
    pub def: &'static EnumDef,
    /// The first version that has it.
    pub since: Version,
    /// Code in bytecode.
    pub code: u64,
}

macro_rules! enums {
    ($($ident:ident $mnemonic:literal since ($major:literal, $minor:literal) code $code:literal
        [$($value:literal = $case:literal),+ $(,)?];)+) => {
        $(#[doc = concat!("`#vhlo<", $mnemonic, " …>`")]
        pub static $ident: EnumDef = EnumDef {
            dialect: "vhlo",
            mnemonic: $mnemonic,
            cases: &[$(($value, $case)),+],
            style: EnumStyle::Spaced,
        };)+

        /// The declarations.
        pub static ENUMS: &[&EnumDef] = &[$(&$ident),+];

        /// The enumerations with their versions.
        pub static VERSIONED_ENUMS: &[VersionedEnum] =
            &[$(VersionedEnum { def: &$ident, since: Version::new($major, $minor), code: $code }),+];
    };
}

enums! {
    API_VERSION "api_version_v1" since (0, 9) code 5
        [0 = "API_VERSION_UNSPECIFIED", 1 = "API_VERSION_ORIGINAL", 2 = "API_VERSION_STATUS_RETURNING",
         3 = "API_VERSION_STATUS_RETURNING_UNIFIED", 4 = "API_VERSION_TYPED_FFI"];
    COMPARISON_DIRECTION "comparison_direction_v1" since (0, 9) code 3
        [0 = "EQ", 1 = "NE", 2 = "GE", 3 = "GT", 4 = "LE", 5 = "LT"];
    COMPARISON_TYPE "comparison_type_v1" since (0, 9) code 4
        [0 = "NOTYPE", 1 = "FLOAT", 2 = "TOTALORDER", 3 = "SIGNED", 4 = "UNSIGNED"];
    FFT_TYPE "fft_type_v1" since (0, 9) code 7 [0 = "FFT", 1 = "IFFT", 2 = "RFFT", 3 = "IRFFT"];
    PRECISION "precision_v1" since (0, 9) code 11 [0 = "DEFAULT", 1 = "HIGH", 2 = "HIGHEST"];
    RESULT_ACCURACY_MODE "result_accuracy_mode_v1" since (1, 9) code 19 [0 = "DEFAULT", 1 = "HIGHEST", 2 = "TOLERANCE"];
    RNG_ALGORITHM "rng_algorithm_v1" since (0, 9) code 12 [0 = "DEFAULT", 1 = "THREE_FRY", 2 = "PHILOX"];
    RNG_DISTRIBUTION "rng_distribution_v1" since (0, 9) code 13 [1 = "UNIFORM", 2 = "NORMAL"];
    TRANSPOSE "transpose_v1" since (0, 9) code 16
        [0 = "TRANSPOSE_INVALID", 1 = "NO_TRANSPOSE", 2 = "TRANSPOSE", 3 = "ADJOINT"];
}
