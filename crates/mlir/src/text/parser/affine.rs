//! Affine maps and integer sets.

use super::{Kind, Parsed, Parser};
use crate::affine::{AffineExpr, AffineMap, AffineOp, IntegerSet};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// An expression, and true if it contains no dimension.
type Term = (AffineExpr, bool);

/// Names of the dimensions and symbols of a map.
struct AffineNames<'a> {
    dims: Vec<&'a str>,
    symbols: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    pub(super) fn affine_map(&mut self) -> Parsed<AffineMap> {
        self.annotated_affine_map(|_| Ok(()))
    }

    /// Reads an affine map, with an annotation after each result, read by `annotation`.
    ///
    /// # Errors
    /// If something else comes next, and those of `annotation`.
    pub fn annotated_affine_map(
        &mut self,
        mut annotation: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<AffineMap> {
        let names = self.affine_names()?;
        self.expect("->")?;
        self.expect_punct(b'(')?;
        let mut results = Vec::new();
        self.list_until(")", |p| {
            results.push(p.affine_sum(&names)?.0);
            annotation(p)
        })?;
        Ok(AffineMap {
            dims: names.dims.len() as u32,
            symbols: names.symbols.len() as u32,
            results,
        })
    }

    pub(super) fn integer_set(&mut self) -> Parsed<IntegerSet> {
        let names = self.affine_names()?;
        self.expect_punct(b':')?;
        self.expect_punct(b'(')?;
        let mut constraints = Vec::new();
        self.list_until(")", |p| {
            let left = p.affine_sum(&names)?;
            let sign = p.token.kind;
            p.advance();
            if !matches!(sign, Kind::Punct(b'<' | b'>' | b'=')) || !p.eat_punct(b'=') {
                return p.unexpected("`>=`, `<=` or `==`");
            }
            let right = p.affine_sum(&names)?;
            let (a, b) = if sign == Kind::Punct(b'<') { (right, left) } else { (left, right) };
            let difference =
                if b.0 == AffineExpr::Constant(0) { a } else { add(a, multiply(b, constant(-1))) };
            constraints.push((difference.0, sign == Kind::Punct(b'=')));
            Ok(())
        })?;
        Ok(IntegerSet {
            dims: names.dims.len() as u32,
            symbols: names.symbols.len() as u32,
            constraints,
        })
    }

    fn affine_names(&mut self) -> Parsed<AffineNames<'a>> {
        let mut names = AffineNames { dims: Vec::new(), symbols: Vec::new() };
        let mut seen = FxHashSet::default();
        let mut name = |p: &mut Self, what| {
            let span = p.here();
            let name = p.word(what)?;
            if !seen.insert(name) {
                return p
                    .error_at(span, format!("`{name}` is the name of two dimensions or symbols"));
            }
            Ok(name)
        };
        self.expect_punct(b'(')?;
        self.list_until(")", |p| {
            names.dims.push(name(p, "the name of a dimension")?);
            Ok(())
        })?;
        if self.eat_punct(b'[') {
            self.list_until("]", |p| {
                names.symbols.push(name(p, "the name of a symbol")?);
                Ok(())
            })?;
        }
        Ok(names)
    }

    fn affine_sum(&mut self, names: &AffineNames<'_>) -> Parsed<Term> {
        let mut left = self.affine_product(names)?;
        loop {
            if self.eat_punct(b'+') {
                left = add(left, self.affine_product(names)?);
            } else if self.eat_punct(b'-') {
                left = add(left, multiply(self.affine_product(names)?, constant(-1)));
            } else {
                return Ok(left);
            }
        }
    }

    fn affine_product(&mut self, names: &AffineNames<'_>) -> Parsed<Term> {
        let mut left = self.affine_operand(names)?;
        loop {
            let op = match self.token.kind {
                Kind::Punct(b'*') => AffineOp::Mul,
                Kind::Word if self.at("mod") => AffineOp::Mod,
                Kind::Word if self.at("floordiv") => AffineOp::FloorDiv,
                Kind::Word if self.at("ceildiv") => AffineOp::CeilDiv,
                _ => return Ok(left),
            };
            let span = self.here();
            self.advance();
            let right = self.affine_operand(names)?;
            // Factors and divisors must be symbolic: without dimensions.
            if !(right.1 || op == AffineOp::Mul && left.1) {
                return self.error_at(
                    span,
                    "this is not affine: one factor, and a divisor, must not contain dimensions",
                );
            }
            left =
                if op == AffineOp::Mul { multiply(left, right) } else { binary(op, left, right) };
        }
    }

    fn affine_operand(&mut self, names: &AffineNames<'_>) -> Parsed<Term> {
        if self.eat_punct(b'(') {
            let inner = self.nested(|p| p.affine_sum(names))?;
            self.expect_punct(b')')?;
            return Ok(inner);
        }
        if self.eat_punct(b'-') {
            let inner = self.nested(|p| p.affine_operand(names))?;
            return Ok(multiply(inner, constant(-1)));
        }
        if self.token.kind == Kind::Integer {
            return Ok(constant(self.integer()?));
        }
        let span = self.here();
        let name = self.word("a dimension, symbol or number")?;
        if let Some(i) = names.dims.iter().position(|n| *n == name) {
            Ok((AffineExpr::Dim(i as u32), false))
        } else if let Some(i) = names.symbols.iter().position(|n| *n == name) {
            Ok((AffineExpr::Symbol(i as u32), true))
        } else {
            self.error_at(span, format!("`{name}` is neither a dimension nor a symbol of this map"))
        }
    }
}

fn constant(value: i64) -> Term {
    (AffineExpr::Constant(value), true)
}

fn binary(op: AffineOp, a: Term, b: Term) -> Term {
    (AffineExpr::Binary(op, Arc::new((a.0, b.0))), a.1 && b.1)
}

/// `a + b`, with constants folded, and symbolic terms moved to the right, as in MLIR.
fn add(a: Term, b: Term) -> Term {
    match (&a.0, &b.0) {
        (AffineExpr::Constant(x), AffineExpr::Constant(y)) if x.checked_add(*y).is_some() => {
            constant(x + y)
        }
        (_, AffineExpr::Constant(0)) => a,
        (AffineExpr::Constant(_), other) if !matches!(other, AffineExpr::Constant(_)) => add(b, a),
        _ if a.1 && !b.1 => binary(AffineOp::Add, b, a),
        _ => binary(AffineOp::Add, a, b),
    }
}

/// `a * b`, with constants folded, and symbolic factors moved to the right, as in MLIR.
fn multiply(a: Term, b: Term) -> Term {
    match (&a.0, &b.0) {
        (AffineExpr::Constant(x), AffineExpr::Constant(y)) if x.checked_mul(*y).is_some() => {
            constant(x * y)
        }
        (_, AffineExpr::Constant(1)) => a,
        (_, AffineExpr::Constant(0)) => b,
        (AffineExpr::Constant(_), other) if !matches!(other, AffineExpr::Constant(_)) => {
            multiply(b, a)
        }
        _ if a.1 && !b.1 => binary(AffineOp::Mul, b, a),
        _ => binary(AffineOp::Mul, a, b),
    }
}
