//! Tokens of the MLIR textual format.
