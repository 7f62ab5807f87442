//! Every input of the specification has the types that the specification allows, or is listed with
//! a reason in `inputs.txt`.
//!
//! The constraint of each slot is probed with types and attributes of all kinds.

use hlo::STABLEHLO;
use mlir::ods::{Arity, AttrConstraint, OpDef, ParamKind, Registry, ValueSlot};
use mlir::text::{ParseOptions, parse_attribute, parse_type};
use mlir::{Attribute, Type};
use numerics::{DType, Family};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let mut dialects = vec![&STABLEHLO];
        dialects.extend(side_dialects::DIALECTS);
        Registry::new(&dialects)
    })
}

/// A line of the table, with its continuation lines.
#[derive(Default)]
struct Input {
    name: String,
    /// The attribute that it is a part of.
    attribute: Option<String>,
    kinds: Vec<String>,
    more: BTreeSet<String>,
    less: BTreeSet<String>,
    reasons: Vec<String>,
}

/// True if a reason is the label of a check, such as `if_i1`; `verify.rs` then has a program that
/// violates it.
fn is_label(reason: &str) -> bool {
    reason.contains('_')
        && reason.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn table() -> BTreeMap<String, Vec<Input>> {
    let mut table: BTreeMap<String, Vec<Input>> = BTreeMap::new();
    let mut op = String::new();
    for line in include_str!("inputs.txt").lines().filter(|line| !line.starts_with('#')) {
        let words = |text: &str| text.split(' ').map(str::to_string).collect::<Vec<_>>();
        if let Some(deviation) = line.strip_prefix("    ") {
            let input = table
                .get_mut(&op)
                .and_then(|inputs| inputs.last_mut())
                .expect("a deviation stands below its input");
            let (kinds, reason) = deviation.split_once(": ").expect("a reason");
            let (set, kinds) = match kinds.split_once(' ').expect("a sign and kinds") {
                ("+", kinds) => (&mut input.more, kinds),
                ("-", kinds) => (&mut input.less, kinds),
                _ => panic!("{line:?} is neither more nor less"),
            };
            set.extend(words(kinds));
            input.reasons.push(reason.to_string());
        } else if let Some(input) = line.strip_prefix("  ") {
            let inputs = table.get_mut(&op).expect("an input stands below its op");
            let (place, kinds) = input.split_once(": ").expect("a name and kinds");
            let (number, name) = place.split_once(' ').expect("a number and a name");
            assert_eq!(number.parse(), Ok(inputs.len() + 1), "{op}: {input}");
            let (name, attribute) = match name.split_once(" in ") {
                Some((name, attribute)) => (name, Some(attribute.to_string())),
                None => (name, None),
            };
            inputs.push(Input {
                name: name.to_string(),
                attribute,
                kinds: words(kinds),
                ..Input::default()
            });
        } else {
            op = line.to_string();
            table.insert(op.clone(), Vec::new());
        }
    }
    table
}

/// Element types by kind; `other` ones are in no kind of the specification.
fn kinds() -> &'static [(&'static str, Vec<&'static str>)] {
    static KINDS: OnceLock<Vec<(&str, Vec<&str>)>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let of = |family| {
            let named = DType::ALL.iter().filter(|d| d.family() == family).map(|d| d.name());
            named.filter(|&name| name != "tf32").collect()
        };
        vec![
            ("bool", of(Family::Boolean)),
            ("signed", of(Family::Signed)),
            ("unsigned", of(Family::Unsigned)),
            ("float", of(Family::Float)),
            ("complex", of(Family::Complex)),
            ("quantized", vec!["!quant.uniform<i8:f32,0.5>", "!quant.uniform<u4:f32,0.5:3>"]),
            ("per_axis", vec!["!quant.uniform<i8:f32:0,{0.5,0.25}>"]),
            ("other", vec!["i3", "si8", "tf32", "f80", "f128", "index", "complex<f16>"]),
        ]
    })
}

/// All of these element types.
fn all_elements() -> impl Iterator<Item = &'static str> {
    kinds().iter().flat_map(|(_, elements)| elements.iter().copied())
}

/// Types that are not ranked tensors, by kind.
const VALUES: [(&str, &str); 7] = [
    ("token", "!stablehlo.token"),
    ("tuple", "tuple<tensor<f32>>"),
    ("future", "!stablehlo.future<tensor<f32>>"),
    ("unranked", "tensor<*xf32>"),
    ("buffer", "memref<2xf32>"),
    ("number", "f32"),
    ("number", "index"),
];

/// Shapes by rank. Per-axis quantized ones have two scales in dimension 0.
const SHAPES: [(&str, &[&str]); 3] =
    [("0d", &[""]), ("1d", &["2x", "?x"]), ("2d", &["2x3x", "?x3x", "2x?x"])];

/// The elements denoted by a word of the table.
fn elements(word: &str) -> Vec<&'static str> {
    let words: &[&str] = match word {
        "tensor" => &["bool", "signed", "unsigned", "float", "complex"],
        "int" => &["signed", "unsigned"],
        "values" => &["bool", "signed", "unsigned", "float", "complex", "quantized", "per_axis"],
        word => &[word],
    };
    let of = |kind: &str| kinds().iter().find(|(k, _)| *k == kind).map(|(_, elements)| elements);
    match words {
        [element] if of(element).is_none() => all_elements().filter(|e| e == element).collect(),
        words => words.iter().filter_map(|kind| of(kind)).flatten().copied().collect(),
    }
}

fn ty(text: &str) -> Type {
    parse_type(text, registry(), ParseOptions::default())
        .unwrap_or_else(|d| panic!("{text}: {}", d[0].message))
}

/// Differences between a value slot and the table.
fn value_faults(slot: &ValueSlot, input: &Input) -> Vec<String> {
    let mut allowed: BTreeSet<&str> = input.kinds.iter().map(String::as_str).collect();
    allowed.extend(input.more.iter().map(String::as_str));
    input.less.iter().for_each(|kind| _ = allowed.remove(kind.as_str()));
    let mut faults = Vec::new();
    if (slot.arity == Arity::Variadic) != allowed.contains("many") {
        faults.push("many".to_string());
    }
    let less: Vec<&str> = input.less.iter().flat_map(|word| elements(word)).collect();
    let sets: BTreeSet<&str> =
        allowed.iter().flat_map(|word| elements(word)).filter(|e| !less.contains(e)).collect();
    let any_rank = !SHAPES.iter().any(|(rank, _)| allowed.contains(rank));
    for (rank, shapes) in SHAPES {
        for element in all_elements() {
            for shape in shapes {
                let per_axis = element.contains(":0,");
                if per_axis && !shape.starts_with('2') {
                    continue;
                }
                let fits_rank = any_rank || allowed.contains(rank) || allowed.contains("any_rank");
                let fits_sizes = !shape.contains('?') || !input.less.contains("dynamic");
                let is_allowed = sets.contains(element) && fits_rank && fits_sizes;
                let ty = ty(&format!("tensor<{shape}{element}>"));
                if slot.constraint.holds(&ty) != is_allowed {
                    faults.push(format!("{} {ty}", if is_allowed { "-" } else { "+" }));
                }
            }
        }
    }
    for (kind, text) in VALUES {
        if slot.constraint.holds(&ty(text))
            != (allowed.contains(kind)
                || (allowed.contains("values")
                    && ["token", "tuple"].contains(&kind)
                    && !input.less.contains(kind)))
        {
            faults.push(kind.to_string());
        }
    }
    faults
}

/// Attributes by kind; several may have the same meaning.
const ATTRIBUTES: [(&str, &str); 24] = [
    ("si64", "1 : i64"),
    ("si32", "1 : i32"),
    ("si16", "1 : i16"),
    ("ui64", "1 : ui64"),
    ("i1", "true"),
    ("i1", "unit"),
    ("f32", "1.0 : f32"),
    ("f64", "1.0 : f64"),
    ("string", "\"s\""),
    ("si64[]", "array<i64: 0, 1>"),
    ("si64[]", "dense<1> : tensor<2xi64>"),
    ("si32[]", "array<i32: 0, 1>"),
    ("si32[]", "dense<1> : tensor<2xi32>"),
    ("i1[]", "array<i1: true>"),
    ("i1[]", "dense<true> : tensor<2xi1>"),
    ("si64[][]", "dense<1> : tensor<1x2xi64>"),
    ("si32[][]", "dense<1> : tensor<1x2xi32>"),
    ("floats", "dense<1.0> : tensor<2xf32>"),
    ("symbol", "@f"),
    ("string[]", "[\"s\"]"),
    ("symbol[]", "[@f]"),
    ("dictionary", "{a = 1 : i64}"),
    ("type", "f32"),
    ("channel", "#stablehlo.channel_handle<handle = 1, type = 1>"),
];

/// The kinds of attributes denoted by a word of the table.
fn attribute_kinds(word: &str) -> Vec<&str> {
    match word {
        "constant" => vec!["si64[]", "si64[][]", "si32[]", "si32[][]", "i1[]", "floats"],
        "replica_groups" => vec!["si64[][]"],
        "string[]" => vec!["symbol[]"],
        word => vec![word],
    }
}

/// Differences between an attribute slot and the table.
fn attribute_faults(constraint: &AttrConstraint, input: &Input) -> Vec<String> {
    let mut faults = Vec::new();
    let words = || input.kinds.iter().chain(&input.more).filter(|word| !input.less.contains(*word));
    let allowed: BTreeSet<&str> = words().flat_map(|word| attribute_kinds(word)).collect();
    let holds = |text: &str| {
        let attribute: Attribute = parse_attribute(text, registry(), ParseOptions::default())
            .unwrap_or_else(|d| panic!("{text}: {}", d[0].message));
        constraint.holds(&attribute)
    };
    let held: BTreeSet<&str> =
        ATTRIBUTES.iter().filter(|(_, text)| holds(text)).map(|(kind, _)| *kind).collect();
    let known: BTreeSet<&str> = ATTRIBUTES.iter().map(|(kind, _)| *kind).collect();
    faults.extend(held.difference(&allowed).map(|kind| format!("+ {kind}")));
    faults.extend(
        allowed
            .intersection(&known)
            .filter(|kind| !held.contains(*kind))
            .map(|kind| format!("- {kind}")),
    );
    faults
}

/// Differences between the declaration of an op and a line of the table.
fn faults(def: &'static OpDef, input: &Input) -> Vec<String> {
    if let Some(slot) = def.operands.iter().find(|slot| slot.name == input.name) {
        return value_faults(slot, input);
    }
    if def.regions.iter().any(|slot| {
        slot.name == input.name && slot.variadic == input.kinds.contains(&"many".into())
    }) {
        return if input.kinds.ends_with(&["function".into()]) {
            Vec::new()
        } else {
            vec!["a region".into()]
        };
    }
    let name = input.attribute.as_ref().unwrap_or(&input.name);
    let Some(slot) = def.attributes.iter().find(|slot| slot.name == *name) else {
        let is_missing = input.kinds.iter().all(|kind| input.less.contains(kind));
        return if is_missing { Vec::new() } else { vec![format!("there is no {name}")] };
    };
    match (slot.constraint, &input.attribute) {
        (AttrConstraint::Def(attribute), Some(_)) => {
            let param = attribute.params.iter().find(|param| param.name == input.name);
            param.map_or(vec!["no such part".into()], |param| part_faults(&param.kind, input))
        }
        (AttrConstraint::Enum(cases), None)
        | (AttrConstraint::ArrayOf(AttrConstraint::Enum(cases)), None) => {
            let names: BTreeSet<&str> = cases.cases.iter().map(|(_, name)| *name).collect();
            let words = input.kinds.iter().chain(&input.more).map(String::as_str);
            let expected: BTreeSet<&str> =
                words.filter(|word| !["many", "enum"].contains(word)).collect();
            let mut faults = attribute_faults(slot.constraint, input);
            faults.extend(names.symmetric_difference(&expected).map(|name| format!("case {name}")));
            faults
        }
        (constraint, _) => attribute_faults(constraint, input),
    }
}

fn part_faults(kind: &ParamKind, input: &Input) -> Vec<String> {
    let expected: &[&str] = match kind {
        ParamKind::I64 => &["si64"],
        ParamKind::I64s => &["si64[]"],
        ParamKind::Bool => &["i1"],
        ParamKind::Type => &["float_type"],
        _ => &[],
    };
    let words = || input.kinds.iter().chain(&input.more).filter(|word| !input.less.contains(*word));
    if words().eq(expected.iter().copied()) {
        Vec::new()
    } else {
        vec![format!("part of {expected:?}")]
    }
}

#[test]
fn declarations_allow_the_types_of_the_specification() {
    let mut wrong = Vec::new();
    for (name, inputs) in table() {
        let Some(def) = registry().op(&format!("stablehlo.{name}")) else {
            wrong.push(format!("there is no op {name}"));
            continue;
        };
        for (number, input) in inputs.iter().enumerate() {
            let faults = faults(def, input);
            for label in input.reasons.iter().filter(|reason| is_label(reason)) {
                if !include_str!("verify.rs").contains(&format!("\"{label}\"")) {
                    wrong.push(format!("no program of verify.rs breaks {label}"));
                }
            }
            if !faults.is_empty() {
                wrong.push(format!("{name} I{} {}: {}", number + 1, input.name, faults.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_op_of_the_specification_has_its_inputs() {
    /// Ops without inputs, or not in the specification.
    const WITHOUT: [&str; 12] = [
        "broadcast",
        "create_token",
        "cross-replica-sum",
        "dot",
        "einsum",
        "partition_id",
        "real_dynamic_slice",
        "replica_id",
        "return",
        "set_dimension_size",
        "torch_index_select",
        "unary_einsum",
    ];
    let table = table();
    assert_eq!(table.values().map(Vec::len).sum::<usize>(), 340);
    let missing: Vec<_> = STABLEHLO
        .ops
        .iter()
        .map(|op| op.mnemonic())
        .filter(|name| !table.contains_key(*name))
        .collect();
    assert_eq!(missing, WITHOUT);
}
