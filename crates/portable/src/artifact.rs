//! Artifacts: VHLO in bytecode, with the version in the producer string.

use crate::cache::ConversionCache;
use crate::convert::OpConversion;
use crate::{ForeignOps, from_vhlo, ops, to_version, to_vhlo, types, versions};
use mlir::builtin::{ModuleOp, UnrealizedConversionCastOp};
use mlir::bytecode::{
    Encoded, ReadHooks, ReadOptions, WriteOptions, is_bytecode, read, read_converted, write,
};
use mlir::diag::{Diagnostic, Diagnostics, Severity};
use mlir::ods::Registry;
use mlir::{Module, OpId, Type};
use numerics::Bytes;
use vhlo::{CompatibilityRequirement, Version};

/// The producer string of artifacts, before the version.
const PRODUCER: &str = "StableHLO_v";

/// Options of [`serialize`].
#[derive(Clone, Copy, Debug)]
pub struct ArtifactOptions {
    /// The version to write: artifacts can be read by readers of this version or newer.
    pub target: Version,
    /// Treatment of ops, types and attributes of other dialects.
    pub foreign: ForeignOps,
}

/// Parses a target version: `1.16.2`, `current`, `minimum`, or the version that readers of the last
/// weeks support: `WEEK_4`, `WEEK_12`.
///
/// # Errors
/// If the text is no version, or the version cannot be written.
pub fn target_version(target: &str) -> Result<Version, Diagnostic> {
    let (oldest, current) = (Version::MINIMUM, Version::CURRENT);
    let error = |message: String| Err(Diagnostic::error("target", message));
    let version = match target {
        "current" | "NONE" => CompatibilityRequirement::None.version(),
        "WEEK_4" => CompatibilityRequirement::Week4.version(),
        "WEEK_12" => CompatibilityRequirement::Week12.version(),
        "minimum" | "MAX" => CompatibilityRequirement::Max.version(),
        "" => {
            return error(format!(
                "there is no target version; name one from {oldest} to {current}"
            ));
        }
        text => match text.parse::<Version>() {
            Ok(version) => version,
            Err(_) => {
                return error(format!(
                    "target version {text:?} is not three numbers with dots between, as in \
                     {current}, nor `current`, `minimum`, `WEEK_4` or `WEEK_12`"
                ));
            }
        },
    };
    match version {
        _ if version < oldest => {
            error(format!("target version {version} is older than the oldest, {oldest}"))
        }
        _ if version > current => {
            error(format!("target version {version} is newer than the newest, {current}"))
        }
        _ => Ok(version),
    }
}

/// Writes a program as an artifact.
///
/// # Errors
/// If the program cannot be expressed in the target version or in bytecode.
pub fn serialize(module: &Module, options: ArtifactOptions) -> Result<Encoded, Diagnostics> {
    let mut module = module.clone();
    let root = module.top().id();
    to_vhlo(&mut module, root, options.foreign).map_err(|error| vec![error])?;
    // Upstream recreates ops that differ between versions, which shows in the use-list order.
    let latest = to_version(&mut module, root, options.target)?;
    let producer = format!("{PRODUCER}{}", options.target);
    let write_options = WriteOptions {
        version: options.target.bytecode_version(),
        producer,
        latest,
        regions_first: false,
    };
    write(&module, &write_options).map_err(|error| vec![error])
}

/// Reads an artifact. Its constants share `bytes`.
///
/// # Errors
/// If the bytes are not a valid artifact.
pub fn deserialize(bytes: &Bytes, registry: &'static Registry) -> Result<Module, Diagnostics> {
    if let Some(module) = read_program(bytes, registry) {
        return Ok(module);
    }
    let output = read(bytes, registry, ReadOptions::default());
    if output.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Err(output.diagnostics);
    }
    let mut module = output.module;
    restore(&mut module).map(|()| module)
}

/// Converts a VHLO module of any version to a program.
///
/// # Errors
/// If the module is not valid VHLO.
pub fn restore(module: &mut Module) -> Result<(), Diagnostics> {
    let root = module.top().id();
    to_version(module, root, Version::CURRENT)?;
    from_vhlo(module, root).map_err(|error| vec![error])
}

/// Reads an artifact directly as a program, the fast path. Returns `None` if the artifact is
/// invalid or cannot be converted op by op; [`read`] and [`restore`] then report why.
pub fn read_program(bytes: &Bytes, registry: &'static Registry) -> Option<Module> {
    artifact_version(bytes)?;
    let mut module = read_converted(bytes, registry, &mut Restoring::default())?;
    // As in the two-step path: use-list orders refer to the ops of the file.
    module.forget_use_orders();
    Some(module)
}

/// Converts VHLO of any version to a program, op by op, while reading.
#[derive(Default)]
struct Restoring {
    cache: ConversionCache,
}

impl ReadHooks for Restoring {
    fn ty(&mut self, ty: &Type) -> Option<Type> {
        types::from_vhlo(ty, &mut self.cache)
    }

    fn op(&mut self, module: &mut Module, op: OpId) -> Option<bool> {
        if module.op(op).is(ModuleOp::DEF) {
            return Some(true);
        }
        let mut is_current = true;
        match versions::convert(module.op(op), Version::CURRENT).ok()? {
            // Casts may have become redundant, which only the whole program shows.
            OpConversion::ForeignOps => {
                return (!module.op(op).is(UnrealizedConversionCastOp::DEF)).then_some(true);
            }
            OpConversion::Same => {}
            OpConversion::Replace(newer) => {
                is_current = false;
                newer.apply(module, op);
            }
        }
        let view = module.op(op);
        let depends_on_place = view.def().is_some_and(ops::depends_on_place);
        let OpConversion::Replace(replacement) = ops::from_vhlo(view, &mut self.cache).ok()? else {
            return None;
        };
        replacement.apply(module, op);
        // Converting an op of an older version may depend on its operands.
        Some(is_current && !depends_on_place)
    }
}

/// The version in the artifact's producer string.
pub fn artifact_version(bytes: &[u8]) -> Option<Version> {
    if !is_bytecode(bytes) {
        return None;
    }
    let end = bytes.iter().position(|&b| b == 0)?;
    let header = &bytes[..end];
    let at = header.windows(PRODUCER.len()).position(|w| w == PRODUCER.as_bytes())?;
    std::str::from_utf8(&header[at + PRODUCER.len()..]).ok()?.parse().ok()
}
