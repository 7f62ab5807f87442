//! Names that front ends give to the arguments and results of functions.

use mlir::attrs::{AttrKind, Attribute, LocationKind};
use mlir::ir::Loc;
use mlir::nearest::{distance, suggestion};
use mlir::{Module, Type};
use side_dialects::func::FuncOp;
use std::iter;
use std::sync::Arc;

/// The names by which inputs are given to the arguments of a function.
///
/// An argument has the name of its location, which JAX writes, such as `params['w']`, or else its
/// name in the text without `%`. Names in the text count where the argument has another one, too,
/// and `2` or `arg2` stands for the argument of that position if none has the name.
///
/// ```
/// let module = stablo::load(
///     "scale.mlir",
///     "func.func @main(%weight: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
///        %0 = stablehlo.multiply %weight, %x : tensor<f32>
///        return %0 : tensor<f32>
///      }",
/// )?;
/// let names = stablo::ArgumentNames::of(stablo::entry_function(&module, "main")?);
/// assert_eq!((names.get(0), names.find("x")), (Some("weight"), Ok(1)));
/// let error = names.find("weigth").unwrap_err();
/// assert!(error.starts_with("there is no argument `weigth`; did you mean `weight`?"), "{error}");
/// # Ok::<(), stablo::Error>(())
/// ```
pub struct ArgumentNames {
    function: String,
    /// The names for messages.
    shown: Vec<Option<String>>,
    /// The names in the text.
    written: Vec<Option<String>>,
    types: Vec<Type>,
}

/// Number of arguments that messages list.
const LISTED: usize = 12;

impl ArgumentNames {
    /// The names of the arguments of a function.
    pub fn of(function: FuncOp<'_>) -> ArgumentNames {
        let module = function.module();
        let types = function.signature().0.to_vec();
        let entry = module.entry(function.body());
        let locations = entry.map_or(&[][..], |entry| module.argument_locs(entry));
        let padded = |names: &mut dyn Iterator<Item = Option<String>>| {
            unique(names.chain(iter::repeat(None)).take(types.len()).collect())
        };
        let written = padded(&mut locations.iter().map(|loc| written_name(module, loc)));
        let located = padded(&mut locations.iter().map(|loc| name_of(&module.location(loc))));
        let shown = located.into_iter().zip(&written).map(|(located, written)| {
            located.or_else(|| written.clone().filter(|name| position(name).is_none()))
        });
        let function_name = function.symbol_name().unwrap_or("").to_string();
        ArgumentNames { function: function_name, shown: unique(shown.collect()), written, types }
    }

    /// The name of an argument in messages.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.shown.get(index)?.as_deref()
    }

    /// The names in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&str>> {
        self.shown.iter().map(Option::as_deref)
    }

    /// The position of the argument of a name.
    ///
    /// # Errors
    /// If no argument has the name: a message with the valid names, nearest first.
    pub fn find(&self, name: &str) -> Result<usize, String> {
        let among = |names: &[Option<String>]| {
            names.iter().position(|known| known.as_deref() == Some(name))
        };
        let found = among(&self.shown).or_else(|| among(&self.written));
        let found = found.or_else(|| position(name).filter(|&index| index < self.types.len()));
        found.ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> String {
        let shown = |index: usize| self.shown[index].clone().unwrap_or(format!("arg{index}"));
        let mut known: Vec<(String, &Type)> =
            self.types.iter().enumerate().map(|(index, ty)| (shown(index), ty)).collect();
        let help = suggestion(name, known.iter().map(|(name, _)| &**name));
        let help = help.map_or(";".to_string(), |help| format!("; {help}"));
        // The sort is stable: names that are as near are in order.
        known.sort_by_key(|(known, _)| (!known.contains(name), distance(name, known)));
        let more = match known.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let list = known.iter().take(LISTED).map(|(name, ty)| format!("{name}: {ty}"));
        let list = list.collect::<Vec<_>>().join(", ");
        format!("there is no argument `{name}`{help} @{} takes ({list}){more}", self.function)
    }
}

/// Adds the names that arguments of functions have in the text, such as `%x`, to their locations,
/// which bytecode has, too.
pub fn keep_argument_names(module: &mut Module) {
    let functions: Vec<_> = crate::walk(module).filter_map(FuncOp::cast).collect();
    let entries: Vec<_> = functions.iter().filter_map(|f| module.entry(f.body())).collect();
    let named = |name: Arc<str>, child: Attribute| -> Attribute {
        AttrKind::Location(LocationKind::Named { name, child }).into()
    };
    for entry in entries {
        for (index, loc) in module.argument_locs(entry).to_vec().iter().enumerate() {
            let Some(written) = written_name(module, loc) else { continue };
            let location = module.location(loc);
            let written = named(format!("%{written}").into(), location.clone());
            let location = match name_of(&location) {
                Some(name) => named(name.into(), written),
                None => written,
            };
            module.set_argument_loc(entry, index, Loc::Explicit(location, None));
        }
    }
}

/// The name that an argument has in the text that it was parsed from, or had as its location says,
/// without `%`.
fn written_name(module: &Module, loc: &Loc) -> Option<String> {
    if let Loc::Source(span) | Loc::Explicit(_, Some(span)) = loc {
        let text = module.source()?.text();
        let name = text.get(span.start as usize..span.end as usize)?.strip_prefix('%')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "$._-".contains(c);
        return (!name.is_empty() && name.chars().all(is_name)).then(|| name.to_string());
    }
    let mut location = module.location(loc);
    loop {
        let AttrKind::Location(LocationKind::Named { name, child }) = &*location else {
            return None;
        };
        if let Some(name) = name.strip_prefix('%') {
            return Some(name.to_string());
        }
        let child = child.clone();
        location = child;
    }
}

/// The position that a name such as `2` or `arg2` stands for.
fn position(name: &str) -> Option<usize> {
    name.strip_prefix("arg").unwrap_or(name).parse().ok()
}

/// The names of the results of a function: its `jax.result_info`, such as `result['loss']`.
pub fn result_names(function: FuncOp<'_>) -> Vec<Option<String>> {
    let attributes = function.res_attrs().unwrap_or(&[]);
    let name = |index: usize| {
        let info = attributes.get(index)?.as_dictionary()?.get("jax.result_info")?.as_str()?;
        (!info.is_empty()).then(|| info.to_string())
    };
    unique((0..function.signature().1.len()).map(name).collect())
}

fn name_of(location: &Attribute) -> Option<String> {
    match &**location {
        // Names with `%` come from text.
        AttrKind::Location(LocationKind::Named { name, .. }) if !name.starts_with('%') => {
            Some(name.to_string())
        }
        _ => None,
    }
}

/// The names that occur once.
fn unique(names: Vec<Option<String>>) -> Vec<Option<String>> {
    let mut sorted: Vec<&String> = names.iter().flatten().collect();
    sorted.sort_unstable();
    let repeated: Vec<String> =
        sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()).collect();
    names.into_iter().map(|name| name.filter(|name| !repeated.contains(name))).collect()
}
