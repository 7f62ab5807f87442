//! Writes a program for the readers of an older version of StableHLO, and learns what it needs.

use stablo::Version;
use std::error::Error;

/// Runs the example.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
                  %0 = stablehlo.tan %x : tensor<2xf32>
                  return %0 : tensor<2xf32>
                }";
    let module = stablo::load("tan.mlir", text)?;

    // Readers of the last twelve weeks.
    let artifact = stablo::serialize(&module, stablo::target_version("WEEK_12")?)?;
    println!("{} bytes for {:?}", artifact.len(), stablo::artifact_version(&artifact));
    assert_eq!(stablo::load("artifact", artifact)?.to_string(), module.to_string());

    // An older version lacks the op. The error says which has it, and so does an inspection.
    let error = stablo::serialize(&module, Version::new(1, 3)).unwrap_err();
    println!("{error}");
    assert!(error.to_string().starts_with("tan.mlir:2:"));
    let oldest = stablo::inspect("tan.mlir", text)?.oldest_target?;
    assert_eq!(oldest, Version::new(1, 4));

    // Expanding the op makes the program fit.
    let mut expanded = module.clone();
    stablo::run_pipeline(&mut expanded, "stablehlo-compatibility-expander{target=1.3.0}")?;
    stablo::serialize(&expanded, Version::new(1, 3))?;
    Ok(())
}
