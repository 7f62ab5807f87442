//! The container that `jax.export` writes: an artifact with the calling convention of the exported
//! function.
//!
//! It is a flatbuffer: tables of numbered fields, located by offsets. Source: JAX, `jax.export`
//! serialization, versions 2 to 11; FlatBuffers, "FlatBuffers internals".

use mlir::bytecode::is_bytecode;
use std::cell::Cell;
use std::ops::Range;

/// Maximum nesting of argument trees.
const MAX_DEPTH: usize = 100;

/// A container may reference its parts many times; the total number of bytes visited is limited to
/// this multiple of the file size.
const LOOKS_PER_BYTE: usize = 64;

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
    /// Nesting of the arguments, as Python writes it; `*` is an array.
    pub input_tree: String,
    /// Types and shapes of the results.
    pub outputs: Vec<String>,
    /// Nesting of the results.
    pub output_tree: String,
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

/// Field numbers of the container's table.
mod field {
    pub const FUNCTION_NAME: usize = 1;
    pub const IN_TREE: usize = 2;
    pub const IN_AVALS: usize = 3;
    pub const OUT_TREE: usize = 4;
    pub const OUT_AVALS: usize = 5;
    pub const NUM_DEVICES_SHORT: usize = 6;
    pub const IN_SHARDINGS: usize = 7;
    pub const OUT_SHARDINGS: usize = 8;
    pub const PLATFORMS: usize = 9;
    pub const ORDERED_EFFECTS: usize = 10;
    pub const UNORDERED_EFFECTS: usize = 11;
    pub const DISABLED_CHECKS: usize = 12;
    pub const MODULE: usize = 13;
    pub const CALLING_CONVENTION_VERSION: usize = 14;
    pub const KEPT_INPUTS: usize = 15;
    pub const DERIVATIVE: usize = 17;
    pub const NUM_DEVICES: usize = 18;
    pub const UNIQUE_AVALS: usize = 19;
    pub const UNIQUE_MESHES: usize = 20;
    pub const UNIQUE_SHARDINGS: usize = 21;
    pub const IN_AVAL_INDICES: usize = 22;
    pub const OUT_AVAL_INDICES: usize = 23;
    pub const IN_SHARDING_INDICES: usize = 24;
    pub const OUT_SHARDING_INDICES: usize = 25;
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
        let budget = Cell::new(bytes.len().saturating_mul(LOOKS_PER_BYTE));
        let root = Table { bytes, at: u32_at(bytes, 0)? as usize, budget: &budget };
        let module = root.vector(field::MODULE, 1)?;
        if !is_bytecode(bytes.get(module.clone())?) {
            return None;
        }
        let unique = root.tables(field::UNIQUE_AVALS)?;
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
            None => Some(String::new()),
        };
        let effects = |number: usize| -> Option<Vec<String>> {
            root.tables(number)?.iter().map(|effect| Some(effect.string(0)?.to_string())).collect()
        };
        let num_devices = match root.u32(field::NUM_DEVICES) {
            Some(n) if n > 0 => n,
            _ => root.u16(field::NUM_DEVICES_SHORT).unwrap_or(0).into(),
        };
        Some(Exported {
            function_name: root.string(field::FUNCTION_NAME)?.to_string(),
            platforms: root.strings(field::PLATFORMS)?.into_iter().map(str::to_string).collect(),
            num_devices,
            calling_convention_version: root.u16(field::CALLING_CONVENTION_VERSION).unwrap_or(0),
            inputs: avals(field::IN_AVAL_INDICES, field::IN_AVALS)?,
            input_tree: tree(field::IN_TREE)?,
            outputs: avals(field::OUT_AVAL_INDICES, field::OUT_AVALS)?,
            output_tree: tree(field::OUT_TREE)?,
            input_shardings: shardings(field::IN_SHARDING_INDICES, field::IN_SHARDINGS),
            output_shardings: shardings(field::OUT_SHARDING_INDICES, field::OUT_SHARDINGS),
            kept_inputs: root.u16s(field::KEPT_INPUTS)?,
            ordered_effects: effects(field::ORDERED_EFFECTS)?,
            unordered_effects: effects(field::UNORDERED_EFFECTS)?,
            disabled_checks: root.tables(field::DISABLED_CHECKS)?.iter().map(check).collect(),
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

/// The tree described by a table, in Python's notation.
fn tree(table: &Table<'_>, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let children =
        table.tables(1)?.iter().map(|child| tree(child, depth + 1)).collect::<Option<Vec<_>>>()?;
    Some(match table.u8(0).unwrap_or(0) {
        0 => "*".to_string(),
        1 => "None".to_string(),
        2 if children.len() == 1 => format!("({},)", children[0]),
        2 => format!("({})", children.join(", ")),
        3 => format!("[{}]", children.join(", ")),
        4 => {
            let names = table.strings(2)?;
            let entries: Vec<String> = names
                .iter()
                .zip(children)
                .map(|(name, child)| format!("'{name}': {child}"))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        5 => format!("{}({})", table.string(3).unwrap_or("?"), children.join(", ")),
        _ => return None,
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// A flatbuffer table. Absent fields read as `None` or empty vectors; all methods return `None` if
/// the file is truncated.
struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of bytes that may still be visited, shared by all tables.
    budget: &'a Cell<usize>,
}

impl<'a> Table<'a> {
    /// Offset of a field, if present.
    fn field(&self, number: usize) -> Option<usize> {
        // A table begins with the relative offset of its vtable.
        let back = u32_at(self.bytes, self.at)? as i32;
        let fields = usize::try_from(i64::try_from(self.at).ok()? - i64::from(back)).ok()?;
        let entry = 4 + 2 * number;
        if entry + 2 > usize::from(u16_at(self.bytes, fields)?) {
            return None;
        }
        match u16_at(self.bytes, fields.checked_add(entry)?)? {
            0 => None,
            offset => Some(self.at + usize::from(offset)),
        }
    }

    /// The table at an offset.
    fn table_at(&self, at: usize) -> Option<Table<'a>> {
        self.look(4)?;
        Some(Table { at, ..*self })
    }

    /// Takes `bytes` from the budget; `None` if it is exhausted.
    fn look(&self, bytes: usize) -> Option<()> {
        self.budget.set(self.budget.get().checked_sub(bytes)?);
        Some(())
    }

    fn u8(&self, number: usize) -> Option<u8> {
        self.bytes.get(self.field(number)?).copied()
    }

    fn u16(&self, number: usize) -> Option<u16> {
        u16_at(self.bytes, self.field(number)?)
    }

    fn u32(&self, number: usize) -> Option<u32> {
        u32_at(self.bytes, self.field(number)?)
    }

    /// The target of the offset stored at `at`.
    fn follow(&self, at: usize) -> Option<usize> {
        at.checked_add(u32_at(self.bytes, at)? as usize)
    }

    fn table(&self, number: usize) -> Option<Table<'a>> {
        self.table_at(self.follow(self.field(number)?)?)
    }

    /// Number of tables nested in each other, starting from the given field.
    fn depth(&self, number: usize) -> usize {
        std::iter::successors(self.table(number), |table| table.table(number))
            .take(MAX_DEPTH)
            .count()
    }

    /// Byte range of a vector's elements, each `size` bytes long.
    fn vector(&self, number: usize, size: usize) -> Option<Range<usize>> {
        let Some(field) = self.field(number) else { return Some(0..0) };
        let range = self.elements(self.follow(field)?, size)?;
        self.look(range.len())?;
        Some(range)
    }

    fn elements(&self, at: usize, size: usize) -> Option<Range<usize>> {
        let length = (u32_at(self.bytes, at)? as usize).checked_mul(size)?;
        let range = at + 4..(at + 4).checked_add(length)?;
        (range.end <= self.bytes.len()).then_some(range)
    }

    fn u16s(&self, number: usize) -> Option<Vec<u16>> {
        self.vector(number, 2)?.step_by(2).map(|at| u16_at(self.bytes, at)).collect()
    }

    fn u32s(&self, number: usize) -> Option<Vec<u32>> {
        self.vector(number, 4)?.step_by(4).map(|at| u32_at(self.bytes, at)).collect()
    }

    fn tables(&self, number: usize) -> Option<Vec<Table<'a>>> {
        let tables = self.vector(number, 4)?.step_by(4);
        tables.map(|at| self.table_at(self.follow(at)?)).collect()
    }

    fn text(&self, at: usize) -> Option<&'a str> {
        let range = self.elements(at, 1)?;
        self.look(4 + range.len())?;
        std::str::from_utf8(&self.bytes[range]).ok()
    }

    fn string(&self, number: usize) -> Option<&'a str> {
        self.text(self.follow(self.field(number)?)?)
    }

    fn strings(&self, number: usize) -> Option<Vec<&'a str>> {
        self.vector(number, 4)?.step_by(4).map(|at| self.text(self.follow(at)?)).collect()
    }
}
