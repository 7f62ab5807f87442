//! Portable artifacts: programs as VHLO of any version in MLIR bytecode, which readers of that
//! version or newer can read.
//!
//! A program is converted op by op to VHLO of the current version ([`to_vhlo`]), then to the target
//! version ([`to_version`]), and written as bytecode ([`serialize`]); [`deserialize`] goes back.
//!
//! Source: StableHLO `docs/vhlo.md`, `docs/compatibility.md`.

mod artifact;
mod attributes;
mod cache;
mod convert;
#[doc(hidden)]
pub mod defaults; // For its tests.
mod exported;
mod ops;
pub mod passes;
mod types;
mod versions;

pub use artifact::{
    ArtifactOptions, artifact_version, deserialize, read_program, restore, serialize,
    target_version,
};
pub use convert::{ConversionError, ForeignOps};
pub use exported::{Exported, PyTree};
pub use versions::oldest_version;

use cache::ConversionCache;
use convert::ModuleConversion;
use mlir::diag::{Diagnostic, Diagnostics};
use mlir::{Module, OpId, Type};
use vhlo::Version;

/// Converts everything below `root` to VHLO of the current version.
///
/// # Errors
/// The first op without a portable form. The module is left partially converted.
pub fn to_vhlo(module: &mut Module, root: OpId, foreign: ForeignOps) -> Result<(), Diagnostic> {
    module.forget_use_orders();
    let mut cache = ConversionCache::default();
    let mut op = |op: mlir::OpRef<'_>| ops::to_vhlo(op, foreign, &mut cache);
    ModuleConversion {
        op: &mut op,
        by_template: &|_| true,
        ty: &|ty| types::to_vhlo(ty, foreign, &mut ConversionCache::default()),
        all_types: false,
        foreign,
    }
    .run(module, root)
    .map(drop)
}

/// Converts VHLO below `root` to another version. Ops of other dialects are unchanged. Returns the
/// replaced ops.
///
/// # Errors
/// The first op that the version cannot express, and the module that contains it. The module is
/// left partially converted.
pub fn to_version(
    module: &mut Module,
    root: OpId,
    version: Version,
) -> Result<Vec<OpId>, Diagnostics> {
    let mut op = |op: mlir::OpRef<'_>| {
        versions::convert(op, version.without_patch()).map_err(|error| explain(error, version))
    };
    let conversion = ModuleConversion {
        op: &mut op,
        // Changes between versions may depend on operands.
        by_template: &|_| false,
        ty: &|ty| Some(ty.clone()),
        all_types: false,
        foreign: ForeignOps::Keep,
    };
    conversion.run(module, root).map_err(|error| {
        let message =
            format!("the program cannot be written for version {version}: it uses what that lacks");
        vec![error, module.op(root).error("portable", message)]
    })
}

/// Adds the required version to the message.
fn explain(error: ConversionError, version: Version) -> ConversionError {
    let message = match error.since {
        Some(since) if since > version => {
            format!(
                "version {version} lacks it ({}); the first version that has it is {since}",
                error.message
            )
        }
        _ => format!("version {version} lacks it ({})", error.message),
    };
    ConversionError { message, ..error }
}

/// Converts VHLO of the current version below `root` to a program.
///
/// # Errors
/// The first op that is not valid VHLO of the current version. The module is left partially
/// converted.
pub fn from_vhlo(module: &mut Module, root: OpId) -> Result<(), Diagnostic> {
    module.forget_use_orders();
    let mut cache = ConversionCache::default();
    let mut op = |op: mlir::OpRef<'_>| ops::from_vhlo(op, &mut cache);
    let ty = |ty: &Type| types::from_vhlo(ty, &mut ConversionCache::default());
    ModuleConversion {
        op: &mut op,
        by_template: &|op| op.def().is_none_or(|def| !ops::depends_on_place(def)),
        ty: &ty,
        all_types: true,
        foreign: ForeignOps::Keep,
    }
    .run(module, root)?;
    convert::remove_idle_casts(module, root);
    Ok(())
}
