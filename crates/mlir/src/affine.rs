//! Affine expressions, maps and integer sets, as they occur in attributes.
//!
//! Source: MLIR language reference, "Affine Dialect".

use std::sync::Arc;

/// An affine expression of dimensions `d0…` and symbols `s0…`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AffineExpr {
    /// `dN`
    Dim(u32),
    /// `sN`
    Symbol(u32),
    /// A constant
    Constant(i64),
    /// An operation on two expressions
    Binary(AffineOp, Arc<(AffineExpr, AffineExpr)>),
}

/// The operations of affine expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffineOp {
    /// `a + b`
    Add,
    /// `a * b`
    Mul,
    /// `a mod b`
    Mod,
    /// `a floordiv b`
    FloorDiv,
    /// `a ceildiv b`
    CeilDiv,
}

/// `(d0, d1)[s0] -> (results)`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// Result expressions.
    pub results: Vec<AffineExpr>,
}

impl AffineMap {
    /// True if the results are the dimensions in order, and there are no symbols.
    pub fn is_identity(&self) -> bool {
        self.symbols == 0 && self.results.iter().cloned().eq((0..self.dims).map(AffineExpr::Dim))
    }
}

/// `(d0)[s0] : (e >= 0, e == 0)`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntegerSet {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// Each expression, and true if it must equal zero, false if it must be at least zero.
    pub constraints: Vec<(AffineExpr, bool)>,
}
