//! The verifier: SSA dominance, symbols, terminators, slots, constraints and traits of declarations, then each op's own checks.
