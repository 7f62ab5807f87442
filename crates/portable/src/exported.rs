//! The container that `jax.export` writes: an artifact with the calling convention of the exported
//! function.
//!
//! It is a flatbuffer. Source: JAX, `jax.export` serialization, versions 2 to 11.

use mlir::bytecode::is_bytecode;
use std::fmt;
use std::ops::Range;
use wire::flatbuffer::{Table, VisitBudget};

/// Maximum nesting of argument trees.
const MAX_DEPTH: usize = 100;

/// The contents of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Name of the exported function.
    pub function_name: String,
    /// Platforms that it was lowered for, such as `cpu`.
    pub platforms: Vec<String>,
    /// Number of devices it runs on.
    pub num_devices: u32,
    /// Version of the calling convention.
    pub calling_convention_version: u16,
    /// Types and shapes of the arguments, such as `f32[b, 8]`, in the order of the leaves of
    /// `input_tree`.
    pub inputs: Vec<String>,
    /// Nesting of the arguments.
    pub input_tree: PyTree,
    /// Types and shapes of the results.
    pub outputs: Vec<String>,
    /// Nesting of the results.
    pub output_tree: PyTree,
    /// Sharding of each argument, such as `P('x', None) on x=2, y=4`; `None` where unspecified.
    pub input_shardings: Vec<Option<String>>,
    /// Sharding of each result.
    pub output_shardings: Vec<Option<String>>,
    /// Indices of the arguments that the module takes.
    pub kept_inputs: Vec<u16>,
    /// Ordered effects, for which the module takes and returns tokens, by type name.
    pub ordered_effects: Vec<String>,
    /// Unordered effects, by type name.
    pub unordered_effects: Vec<String>,
    /// Safety checks that were disabled on export.
    pub disabled_checks: Vec<String>,
    /// Number of derivatives it holds: the container of the first derivative is nested in this one,
    /// and so on.
    pub num_derivatives: usize,
    /// Byte range of the artifact within the container.
    pub module: Range<usize>,
}

/// Nesting of arrays in values of Python. Displays as Python writes it, with `*` for an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PyTree {
    /// An array.
    Leaf,
    /// `None`
    None,
    /// `(…)`
    Tuple(Vec<PyTree>),
    /// `[…]`
    List(Vec<PyTree>),
    /// `{…}`
    Dictionary(Vec<(String, PyTree)>),
    /// An object of a class that the exporter registered.
    Custom {
        /// The name of the class.
        name: String,
        /// Data beside the children, as the exporter wrote it.
        data: Vec<u8>,
        /// Its parts.
        children: Vec<PyTree>,
    },
}

impl fmt::Display for PyTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |trees: &[PyTree]| trees.iter().map(PyTree::to_string).collect::<Vec<_>>().join(", ");
        match self {
            PyTree::Leaf => f.write_str("*"),
            PyTree::None => f.write_str("None"),
            PyTree::Tuple(children) if children.len() == 1 => write!(f, "({},)", children[0]),
            PyTree::Tuple(children) => write!(f, "({})", list(children)),
            PyTree::List(children) => write!(f, "[{}]", list(children)),
            PyTree::Dictionary(entries) => {
                let entries = entries.iter().map(|(name, child)| format!("'{name}': {child}"));
                write!(f, "{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            PyTree::Custom { name, children, .. } => write!(f, "{name}({})", list(children)),
        }
    }
}

/// Field numbers of the container's table.
mod field {
    pub(crate) const FUNCTION_NAME: usize = 1;
    pub(crate) const IN_TREE: usize = 2;
    pub(crate) const IN_AVALS: usize = 3;
    pub(crate) const OUT_TREE: usize = 4;
    pub(crate) const OUT_AVALS: usize = 5;
    pub(crate) const NUM_DEVICES_SHORT: usize = 6;
    pub(crate) const IN_SHARDINGS: usize = 7;
    pub(crate) const OUT_SHARDINGS: usize = 8;
    pub(crate) const PLATFORMS: usize = 9;
    pub(crate) const ORDERED_EFFECTS: usize = 10;
    pub(crate) const UNORDERED_EFFECTS: usize = 11;
    pub(crate) const DISABLED_CHECKS: usize = 12;
    pub(crate) const MODULE: usize = 13;
    pub(crate) const CALLING_CONVENTION_VERSION: usize = 14;
    pub(crate) const KEPT_INPUTS: usize = 15;
    pub(crate) const DERIVATIVE: usize = 17;
    pub(crate) const NUM_DEVICES: usize = 18;
    pub(crate) const UNIQUE_AVALS: usize = 19;
    pub(crate) const UNIQUE_MESHES: usize = 20;
    pub(crate) const UNIQUE_SHARDINGS: usize = 21;
    pub(crate) const IN_AVAL_INDICES: usize = 22;
    pub(crate) const OUT_AVAL_INDICES: usize = 23;
    pub(crate) const IN_SHARDING_INDICES: usize = 24;
    pub(crate) const OUT_SHARDING_INDICES: usize = 25;
}

/// Element types by code, in JAX's abbreviations.
const DTYPES: [&str; 30] = [
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
    "c64",
    "c128",
    "bf16",
    "i4",
    "u4",
    "f8_e4m3b11fnuz",
    "f8_e4m3fn",
    "f8_e4m3fnuz",
    "f8_e5m2",
    "f8_e5m2fnuz",
    "f0",
    "f8_e4m3",
    "f8_e3m4",
    "f8_e8m0fnu",
    "f4_e2m1fn",
    "key<fry>",
    "key<rbg>",
    "key<unsafe_rbg>",
];

impl Exported {
    /// Parses a container; `None` if the bytes are not one.
    pub fn read(bytes: &[u8]) -> Option<Exported> {
        Exported::read_fields(bytes).ok()
    }

    /// A container like that of `bytes` with another program: bytecode with the same types of
    /// arguments and results. The new program stands at the end, in place of the old one, whose
    /// bytes become zeros. `None` if `bytes` are no container, or 4 GiB would be exceeded.
    pub fn with_module(bytes: &[u8], module: &[u8]) -> Option<Vec<u8>> {
        let old = Exported::read(bytes)?.module;
        let budget = VisitBudget::of(bytes);
        let field = Table::root(bytes, &budget)?.field(field::MODULE)?;
        let mut container = bytes.to_vec();
        container.get_mut(old)?.fill(0);
        // Vectors are found by their distance from the field, and aligned to their length.
        container.resize(container.len().next_multiple_of(4), 0);
        let distance = u32::try_from(container.len().checked_sub(field)?).ok()?;
        container.get_mut(field..field + 4)?.copy_from_slice(&distance.to_le_bytes());
        container.extend(u32::try_from(module.len()).ok()?.to_le_bytes());
        container.extend_from_slice(module);
        let is_valid = Exported::read(&container)
            .is_some_and(|new| container.get(new.module).is_some_and(|found| found == module));
        is_valid.then_some(container)
    }

    /// The first field that cannot be read, of bytes that are no container.
    pub fn unreadable_field(bytes: &[u8]) -> Option<&'static str> {
        Exported::read_fields(bytes).err()
    }

    fn read_fields(bytes: &[u8]) -> Result<Exported, &'static str> {
        let budget = VisitBudget::of(bytes);
        let root = Table::root(bytes, &budget).ok_or("the table of fields")?;
        let module = root.vector(field::MODULE, 1).ok_or("the program")?;
        if !bytes.get(module.clone()).is_some_and(is_bytecode) {
            return Err("the program");
        }
        let unique = root.tables(field::UNIQUE_AVALS).ok_or("the types")?;
        // Newer containers store each type once, older ones inline those of the arguments.
        let avals = |indices: usize, inline: usize| -> Option<Vec<String>> {
            match root.u32s(indices)? {
                indices if indices.is_empty() => root.tables(inline)?.iter().map(aval).collect(),
                indices => indices.iter().map(|&i| aval(unique.get(i as usize)?)).collect(),
            }
        };
        // Likewise the shardings; index 0 means none. They are informative, so errors in them are
        // ignored.
        let meshes = root.tables(field::UNIQUE_MESHES).unwrap_or_default();
        let unique = root.tables(field::UNIQUE_SHARDINGS).unwrap_or_default();
        let shardings = |indices: usize, inline: usize| -> Vec<Option<String>> {
            let unknown = || "?".to_string();
            let by_index = |i: u32| {
                let i = (i as usize).checked_sub(1)?;
                Some(unique.get(i).and_then(|s| named_sharding(s, &meshes)).unwrap_or_else(unknown))
            };
            match root.u32s(indices).unwrap_or_default() {
                indices if indices.is_empty() => root
                    .tables(inline)
                    .unwrap_or_default()
                    .iter()
                    .map(|s| sharding(s, &meshes))
                    .collect(),
                indices => indices.into_iter().map(by_index).collect(),
            }
        };
        let tree = |number: usize| match root.table(number) {
            Some(table) => tree(&table, 0),
            None => Some(PyTree::None),
        };
        let effects = |number: usize| -> Option<Vec<String>> {
            root.tables(number)?.iter().map(|effect| Some(effect.string(0)?.to_string())).collect()
        };
        let num_devices = match root.u32(field::NUM_DEVICES) {
            Some(n) if n > 0 => n,
            _ => root.u16(field::NUM_DEVICES_SHORT).unwrap_or(0).into(),
        };
        let texts = |list: Vec<&str>| list.into_iter().map(str::to_string).collect();
        let disabled = root.tables(field::DISABLED_CHECKS).ok_or("the disabled checks")?;
        Ok(Exported {
            function_name: root.string(field::FUNCTION_NAME).ok_or("the function's name")?.into(),
            platforms: root.strings(field::PLATFORMS).map(texts).ok_or("the platforms")?,
            num_devices,
            calling_convention_version: root.u16(field::CALLING_CONVENTION_VERSION).unwrap_or(0),
            inputs: avals(field::IN_AVAL_INDICES, field::IN_AVALS).ok_or("the types of inputs")?,
            input_tree: tree(field::IN_TREE).ok_or("the tree of inputs")?,
            outputs: avals(field::OUT_AVAL_INDICES, field::OUT_AVALS)
                .ok_or("the types of outputs")?,
            output_tree: tree(field::OUT_TREE).ok_or("the tree of outputs")?,
            input_shardings: shardings(field::IN_SHARDING_INDICES, field::IN_SHARDINGS),
            output_shardings: shardings(field::OUT_SHARDING_INDICES, field::OUT_SHARDINGS),
            kept_inputs: root.u16s(field::KEPT_INPUTS).ok_or("the kept inputs")?,
            ordered_effects: effects(field::ORDERED_EFFECTS).ok_or("the ordered effects")?,
            unordered_effects: effects(field::UNORDERED_EFFECTS).ok_or("the unordered effects")?,
            disabled_checks: disabled.iter().map(check).collect(),
            num_derivatives: root.depth(field::DERIVATIVE),
            module,
        })
    }
}

/// The type and shape described by a table.
fn aval(table: &Table<'_>) -> Option<String> {
    let (kind, shape, dtype) =
        (table.u8(0).unwrap_or(0), table.strings(1)?, table.u8(2).unwrap_or(0));
    match kind {
        0 => Some(format!("{}[{}]", DTYPES.get(usize::from(dtype))?, shape.join(", "))),
        _ => Some("token".to_string()),
    }
}

/// The sharding described by a table, if any: named, or, in older containers, XLA's.
fn sharding(table: &Table<'_>, meshes: &[Table<'_>]) -> Option<String> {
    match table.table(2) {
        Some(named) => Some(named_sharding(&named, meshes).unwrap_or_else(|| "?".to_string())),
        None => table.field(1).map(|_| "a sharding of XLA".to_string()),
    }
}

/// The mesh axes of each dimension, as JAX prints them, and the mesh.
fn named_sharding(table: &Table<'_>, meshes: &[Table<'_>]) -> Option<String> {
    let inline = table.table(0);
    let mesh = meshes.get(table.u32(3).unwrap_or(0) as usize).or(inline.as_ref())?;
    let axes = mesh
        .strings(1)?
        .into_iter()
        .zip(mesh.u32s(0)?)
        .map(|(name, size)| format!("{name}={size}"));
    let spec = table.table(1)?;
    let quoted =
        |names: Vec<&str>| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>();
    let dimension = |partition: &Table<'_>| -> Option<String> {
        Some(match &quoted(partition.strings(0)?)[..] {
            [] => "None".to_string(),
            [axis] => axis.clone(),
            axes => format!("({})", axes.join(", ")),
        })
    };
    let mut entries = spec.tables(0)?.iter().map(dimension).collect::<Option<Vec<_>>>()?;
    for (what, number) in [("reduced", 1), ("unreduced", 2)] {
        let names = quoted(spec.strings(number)?);
        if !names.is_empty() {
            entries.push(format!("{what}={{{}}}", names.join(", ")));
        }
    }
    let memory = table
        .string(2)
        .filter(|kind| *kind != "device")
        .map_or(String::new(), |kind| format!(" in {kind}"));
    Some(format!("P({}) on {}{memory}", entries.join(", "), axes.collect::<Vec<_>>().join(", ")))
}

/// The name of the safety check described by a table.
fn check(table: &Table<'_>) -> String {
    match table.u8(0).unwrap_or(0) {
        0 => "platform".to_string(),
        1 => format!("custom call {}", table.string(1).unwrap_or("?")),
        _ => "shape assertions".to_string(),
    }
}

/// The tree described by a table.
fn tree(table: &Table<'_>, depth: usize) -> Option<PyTree> {
    if depth > MAX_DEPTH {
        return None;
    }
    let children =
        table.tables(1)?.iter().map(|child| tree(child, depth + 1)).collect::<Option<Vec<_>>>()?;
    Some(match table.u8(0).unwrap_or(0) {
        0 => PyTree::Leaf,
        1 => PyTree::None,
        2 => PyTree::Tuple(children),
        3 => PyTree::List(children),
        4 => {
            let names = table.strings(2)?.into_iter().map(str::to_string);
            PyTree::Dictionary(names.zip(children).collect())
        }
        5 => PyTree::Custom {
            name: table.string(3).unwrap_or("?").to_string(),
            data: table.bytes(4)?.to_vec(),
            children,
        },
        _ => return None,
    })
}
