//! Artifacts: VHLO in bytecode, with the version in the name of the producer.

use crate::convert::Outcome;
use crate::known::Known;
use crate::{Foreign, from_vhlo, ops, to_version, to_vhlo, types, versions};
use mlir::builtin::{ModuleOp, UnrealizedConversionCastOp};
use mlir::bytecode::{
    Convert, Encoded, ReadOptions, WriteOptions, is_bytecode, read, read_converted, write,
};
use mlir::diag::{Diagnostic, Diagnostics, Severity};
use mlir::ods::Registry;
use mlir::{Module, OpId, Type};
use numerics::Bytes;
use vhlo::{CompatibilityRequirement, Version};

/// What artifacts name as their producer, before the version.
const PRODUCER: &str = "StableHLO_v";

/// How a program is written.
#[derive(Clone, Copy, Debug)]
pub struct SerializeOptions {
    /// The version of the oldest readers.
    pub target: Version,
    /// What becomes of ops, types and attributes of other dialects.
    pub foreign: Foreign,
}

/// The version that a target names: `1.16.2`, `current`, `minimum`, or the readers of the last
/// weeks: `WEEK_4`, `WEEK_12`.
///
/// # Errors
/// If it names none, or one that cannot be written.
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
                    "target version {text:?} is not three numbers with dots between, as in {current}"
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
/// What cannot be expressed in the target version, or in bytecode.
pub fn serialize(module: &Module, options: SerializeOptions) -> Result<Encoded, Diagnostics> {
    let mut module = module.clone();
    let root = module.top().id();
    to_vhlo(&mut module, root, options.foreign).map_err(|error| vec![error])?;
    // Upstream makes anew the ops that differ between versions, and lists of uses show it.
    let latest = to_version(&mut module, root, options.target)?;
    let producer = format!("{PRODUCER}{}", options.target);
    let write_options =
        WriteOptions { version: options.target.bytecode_version(), producer, latest };
    write(&module, &write_options).map_err(|error| vec![error])
}

/// Reads an artifact. Its constants share `bytes`.
///
/// # Errors
/// What is wrong with it.
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

/// Makes a module of VHLO of any version a program.
///
/// # Errors
/// What is not valid VHLO.
pub fn restore(module: &mut Module) -> Result<(), Diagnostics> {
    let root = module.top().id();
    to_version(module, root, Version::CURRENT)?;
    from_vhlo(module, root).map_err(|error| vec![error])
}

/// Reads an artifact as a program at once; none if something is wrong with it or cannot be
/// converted alone, which [`read`] and [`restore`] tell.
pub fn read_program(bytes: &Bytes, registry: &'static Registry) -> Option<Module> {
    artifact_version(bytes)?;
    let mut module = read_converted(bytes, registry, &mut Restoring::default())?;
    // As in two steps: the orders are those of the ops of the file.
    module.forget_use_orders();
    Some(module)
}

/// Turns VHLO of any version into a program.
#[derive(Default)]
struct Restoring {
    known: Known,
}

impl Convert for Restoring {
    fn ty(&mut self, ty: &Type) -> Option<Type> {
        types::from_vhlo(ty, &mut self.known)
    }

    fn op(&mut self, module: &mut Module, op: OpId) -> Option<bool> {
        if module.op(op).is(ModuleOp::DEF) {
            return Some(true);
        }
        let mut is_current = true;
        match versions::convert(module.op(op), Version::CURRENT).ok()? {
            // Casts may have no purpose any more, which only the whole program tells.
            Outcome::Foreign => {
                return (!module.op(op).is(UnrealizedConversionCastOp::DEF)).then_some(true);
            }
            Outcome::Same => {}
            Outcome::Becomes(newer) => {
                is_current = false;
                newer.apply(module, op);
            }
        }
        let view = module.op(op);
        let depends_on_place = view.def().is_some_and(ops::depends_on_place);
        let Outcome::Becomes(restated) = ops::from_vhlo(view, &mut self.known).ok()? else {
            return None;
        };
        restated.apply(module, op);
        // Whether an op of an older version can become another may depend on its operands.
        Some(is_current && !depends_on_place)
    }
}

/// The version that an artifact says it was written for.
pub fn artifact_version(bytes: &[u8]) -> Option<Version> {
    if !is_bytecode(bytes) {
        return None;
    }
    let end = bytes.iter().position(|&b| b == 0)?;
    let header = &bytes[..end];
    let at = header.windows(PRODUCER.len()).position(|w| w == PRODUCER.as_bytes())?;
    std::str::from_utf8(&header[at + PRODUCER.len()..]).ok()?.parse().ok()
}
