//! The enumerations of the dialect: StableHLO's under its own name.

use mlir::ods::{EnumDef, EnumStyle};

macro_rules! enums {
    ($($(#[doc = $doc:literal])+ $name:ident, $mnemonic:literal;)+) => {
        $($(#[doc = $doc])+
        pub static $name: EnumDef = EnumDef {
            dialect: "chlo",
            mnemonic: $mnemonic,
            cases: hlo::enums::$name.cases,
            style: EnumStyle::Spaced,
        };)+
    };
}

enums! {
    /// The relation that `broadcast_compare` tests.
    COMPARISON_DIRECTION, "comparison_direction";
    /// The interpretation of `broadcast_compare`'s operands, such as total order.
    COMPARISON_TYPE, "comparison_type";
    /// Precision of an operand of `ragged_dot`; its meaning is up to the backend.
    PRECISION, "precision";
}
