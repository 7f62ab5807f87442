//! Inspection: the format of a file, and what its program holds and needs.

use crate::error::check;
use crate::load::{container, has_vhlo, name_file, read_bytecode};
use crate::{Bytes, Error, LoadOptions, Module, Result, Version, is_bytecode};
use hlo::ops::{CompositeOp, ConstantOp, CustomCallOp};
use mlir::OpRef;
use mlir::bytecode::ReadOptions;
use mlir::verify::{VerifyOptions, verify};
use portable::{
    Exported, ForeignOps, artifact_version, oldest_version, restore, to_version, to_vhlo,
};
use side_dialects::func::FuncOp;
use std::collections::{BTreeMap, BTreeSet};

/// The result of [`inspect`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// Size of the file.
    pub bytes: usize,
    /// Format of the program.
    pub format: FileFormat,
    /// The container, if any.
    pub exported: Option<Exported>,
    /// Public functions: name and type.
    pub functions: Vec<(String, String)>,
    /// Number of ops by name.
    pub ops: BTreeMap<String, usize>,
    /// Constants.
    pub constants: Constants,
    /// Number of custom calls by target.
    pub custom_calls: BTreeMap<String, usize>,
    /// Number of composites by name.
    pub composites: BTreeMap<String, usize>,
    /// The oldest version that the program can be written for, or the reason why there is none.
    pub oldest_target: Result<Version, String>,
    /// Ops that the minimum version lacks, by name.
    pub requirements: BTreeMap<String, Requirement>,
    /// Dialects of ops that artifacts do not version, such as `sdy`: they are written as they are.
    pub other_dialects: BTreeSet<String>,
}

/// How a program is written.
#[derive(Debug)]
pub enum FileFormat {
    /// MLIR text.
    Text,
    /// MLIR bytecode.
    Bytecode {
        /// Version of the format.
        version: u64,
        /// The producer string.
        producer: String,
        /// The VHLO version that it was written for, if it is a portable artifact.
        artifact: Option<Version>,
        /// Sections with their sizes in bytes.
        sections: Vec<(&'static str, usize)>,
    },
}

/// Statistics of a program's constants.
#[derive(Debug, Default)]
pub struct Constants {
    /// Number of constants.
    pub count: usize,
    /// Total size of their elements in bytes; a splat counts as one element.
    pub bytes: usize,
    /// Type and size in bytes of the largest one.
    pub largest: Option<(String, usize)>,
}

/// The reason why an op requires a newer version.
#[derive(Debug)]
pub struct Requirement {
    /// The oldest version that supports it.
    pub version: Version,
    /// The feature that older versions lack.
    pub reason: String,
    /// Number of ops of this name that require the version.
    pub count: usize,
    /// Location of the first of them.
    pub location: String,
}

/// The dialects whose ops artifacts version.
const PORTABLE: [&str; 5] = ["builtin", "func", "stablehlo", "chlo", "vhlo"];

/// Reads and verifies a program of any format and reports what it holds: functions, ops,
/// constants, custom calls, and the oldest version of StableHLO that can express it. Ops of
/// dialects that are not registered are allowed.
///
/// # Errors
/// Everything that is wrong with the program.
pub fn inspect(name: &str, bytes: impl Into<Bytes>) -> Result<Inspection> {
    let bytes = bytes.into();
    let size = bytes.len();
    let exported = if is_bytecode(&bytes) { None } else { Exported::read(&bytes) };
    let bytes = container(&bytes).unwrap_or(bytes);
    let (format, module, diagnostics) = if is_bytecode(&bytes) {
        let options = ReadOptions { allow_unregistered_dialects: true, ..ReadOptions::default() };
        let mut output = read_bytecode(&bytes, options);
        name_file(name, &mut output.diagnostics);
        let sections = output.sections.iter().map(|(name, range)| (*name, range.len())).collect();
        let artifact = artifact_version(&bytes);
        let format = FileFormat::Bytecode {
            version: output.version,
            producer: output.producer,
            artifact,
            sections,
        };
        (format, output.module, output.diagnostics)
    } else {
        let options = LoadOptions::default().allow_unregistered_dialects(true);
        let loaded = options.convert_vhlo(false).verify(false).load(name, bytes);
        (FileFormat::Text, loaded.module, loaded.diagnostics)
    };
    check(diagnostics, &module)?;
    let mut program = module.clone();
    if has_vhlo(&program) {
        restore(&mut program).map_err(|errors| Error::in_module(errors, &module))?;
    }
    let options = VerifyOptions { allow_unregistered_dialects: true, ..VerifyOptions::default() };
    check(verify(&program, &options), &program)?;
    let mut inspection = Inspection {
        bytes: size,
        format,
        exported,
        functions: Vec::new(),
        ops: BTreeMap::new(),
        constants: Constants::default(),
        custom_calls: BTreeMap::new(),
        composites: BTreeMap::new(),
        oldest_target: Ok(Version::MINIMUM),
        requirements: BTreeMap::new(),
        other_dialects: BTreeSet::new(),
    };
    program.walk(program.top().id()).for_each(|op| inspection.count(op));
    inspection.require(module);
    Ok(inspection)
}

impl Inspection {
    fn count(&mut self, op: OpRef<'_>) {
        *self.ops.entry(op.name().to_string()).or_default() += 1;
        let dialect = op.name().split_once('.').map_or("", |(namespace, _)| namespace);
        if !PORTABLE.contains(&dialect) {
            self.other_dialects.insert(dialect.to_string());
        }
        if let Some(function) = FuncOp::cast(op) {
            let is_public = function.sym_visibility().is_none_or(|v| v == "public");
            if is_public && !function.is_declaration() {
                let (inputs, results) = function.signature();
                let ty = mlir::Type::function(inputs.to_vec(), results.to_vec());
                self.functions
                    .push((op.symbol_name().unwrap_or_default().to_string(), ty.to_string()));
            }
        } else if let Some(call) = CustomCallOp::cast(op) {
            *self.custom_calls.entry(call.call_target_name().to_string()).or_default() += 1;
        } else if let Some(composite) = CompositeOp::cast(op) {
            *self.composites.entry(composite.name().to_string()).or_default() += 1;
        } else if let Some(constant) = ConstantOp::cast(op) {
            let bytes = constant.value().stored_bytes();
            self.constants.count += 1;
            self.constants.bytes += bytes;
            if self.constants.largest.as_ref().is_none_or(|(_, largest)| bytes > *largest) {
                self.constants.largest = Some((constant.value().ty().to_string(), bytes));
            }
        }
    }

    /// Finds the oldest version that the program can be written for.
    fn require(&mut self, mut module: Module) {
        let root = module.top().id();
        let converted = match has_vhlo(&module) {
            true => to_version(&mut module, root, Version::CURRENT)
                .map(drop)
                .map_err(|mut errors| errors.swap_remove(0)),
            false => to_vhlo(&mut module, root, ForeignOps::Keep),
        };
        if let Err(error) = converted {
            self.oldest_target = Err(error.message);
            return;
        }
        let mut oldest = Version::MINIMUM;
        for op in module.walk(root) {
            let Some((version, Some(refusal))) = oldest_version(op) else { continue };
            oldest = oldest.max(version);
            let name = op.name().to_string();
            match self.requirements.get_mut(&name) {
                Some(known) if known.version > version => {}
                Some(known) if known.version == version => known.count += 1,
                _ => {
                    let location = op.location().to_string();
                    let requirement =
                        Requirement { version, reason: refusal.message, count: 1, location };
                    self.requirements.insert(name, requirement);
                }
            }
        }
        self.oldest_target = Ok(oldest);
    }
}
