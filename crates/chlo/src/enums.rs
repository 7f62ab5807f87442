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
    /// Which relation `broadcast_compare` tests.
    COMPARISON_DIRECTION, "comparison_direction";
    /// How `broadcast_compare` reads its operands.
    COMPARISON_TYPE, "comparison_type";
    /// How precisely an operand of `ragged_dot` is used; backends decide what that means.
    PRECISION, "precision";
}
