//! Programs of single ops: each op of the project's tests in a separate function, and variants of
//! them with other element types, sizes and attributes.
//!
//! Whatever the verifier accepts must run, or be refused by a rule of the verifier.

use crate::engines::{self, Verdict};
use generate::Random;
use stablo::ir::{
    AttrConstraint, BlockId, DYNAMIC, EnumDef, Loc, OpId, OpRef, RegionId, TensorType, Trait,
    TypeKind, Value, ValueDef,
};
use stablo::{Attribute, Module, Type};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Dialects whose ops are tried.
const DIALECTS: [&str; 3] = ["stablehlo", "chlo", "mhlo"];

/// Element types of StableHLO, and some that it does not have.
const ELEMENTS: [&str; 39] = [
    "i1",
    "i2",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "ui2",
    "ui4",
    "ui8",
    "ui16",
    "ui32",
    "ui64",
    "f4E2M1FN",
    "f6E2M3FN",
    "f6E3M2FN",
    "f8E3M4",
    "f8E4M3",
    "f8E4M3B11FNUZ",
    "f8E4M3FN",
    "f8E4M3FNUZ",
    "f8E5M2",
    "f8E5M2FNUZ",
    "f8E8M0FNU",
    "bf16",
    "f16",
    "f32",
    "f64",
    "tf32",
    "complex<f32>",
    "complex<f64>",
    "index",
    "i5",
    "si32",
    "!quant.uniform<i8:f32, 0.5>",
    "!quant.uniform<u8:f32, 0.25:3>",
    "!quant.uniform<i32:f32, 0.125>",
    "!quant.uniform<i4:bf16, 0.5:1>",
    "!quant.uniform<i8:f32:0, {0.5, 0.25}>",
];

/// Numbers in attributes.
const NUMBERS: [&str; 7] = ["-1", "0", "1", "2", "3", "5", "64"];

/// Sizes of dimensions.
const SIZES: [i64; 6] = [0, 1, 2, 3, 4, DYNAMIC];

/// Strings in attributes: configurations of `einsum`, right and wrong.
const STRINGS: [&str; 22] = [
    "",
    "->",
    "a",
    "a->a",
    "aa->a",
    "ab->ba",
    "ab->b",
    "ab->abb",
    "ab->abc",
    "ab,bc->ac",
    "ab,bc->ca",
    "ab,ab->",
    "ab,cd->abcd",
    "aa,ab->ab",
    "ab,bc",
    "ab,bc->aac",
    "ab,bc->ad",
    "AB,BC->AC",
    "...ab,...bc->...ac",
    "ab,bc,cd->ad",
    "ab bc->ac",
    "ab,bc->ac->",
];

/// A program of one op: `main` takes its operands and returns its results.
#[derive(Clone)]
pub struct Single {
    /// The name of the op.
    pub name: String,
    pub(crate) module: Module,
    pub(crate) function: OpId,
    pub(crate) block: BlockId,
    pub(crate) op: OpId,
}

/// Different programs of each op of some texts, by its name.
pub fn by_op<'t>(texts: impl IntoIterator<Item = &'t String>) -> BTreeMap<String, Vec<Single>> {
    let mut known = BTreeSet::new();
    let mut all: BTreeMap<String, Vec<Single>> = BTreeMap::new();
    for single in texts.into_iter().flat_map(|text| singles(text)) {
        if known.insert((single.name.clone(), single.key())) {
            all.entry(single.name.clone()).or_default().push(single);
        }
    }
    all
}

/// The ops of a text that run, each in a program.
fn singles(text: &str) -> Vec<Single> {
    let Ok(module) = stablo::load("seed.mlir", text.to_string()) else { return Vec::new() };
    let functions = stablo::walk(&module).filter(|op| op.name() == "func.func");
    let mut singles = Vec::new();
    for function in functions {
        let Some(&region) = function.regions().first() else { continue };
        let [block] = *module.blocks(region) else { continue };
        let ops = module.ops(block).filter(|op| is_tried(*op));
        singles.extend(ops.filter_map(|op| isolate(&module, function.id(), block, op.id())));
    }
    singles
}

fn is_tried(op: OpRef<'_>) -> bool {
    op.def()
        .is_some_and(|def| DIALECTS.contains(&def.dialect()) && !def.has_trait(&Trait::Terminator))
}

/// The program of one op of a function. Constants of integers stay, as sizes are some.
fn isolate(from: &Module, function: OpId, block: BlockId, op: OpId) -> Option<Single> {
    let mut module = from.clone();
    let end = module.terminator(block)?.id();
    let is_outside = |module: &Module, value: Value| match module.definition(value) {
        ValueDef::Argument { block: of, .. } => of == block,
        ValueDef::Result { op, .. } => module.op(op).block() == Some(block),
    };
    let old_arguments = module.arguments(block).len();
    let mut kept = BTreeSet::from([op, end]);
    let mut arguments: HashMap<Value, Value> = HashMap::new();
    let nested: Vec<OpId> = module.walk(op).map(OpRef::id).collect();
    for user in nested {
        let mut operands = module.op(user).operands().to_vec();
        for operand in &mut operands {
            if !is_outside(&module, *operand) {
                continue;
            }
            let constant = module.defining_op(*operand).filter(|constant| {
                constant.def().is_some_and(|def| def.has_trait(&Trait::ConstantLike))
                    && module.ty(*operand).element_type().is_integer(None)
            });
            if let Some(constant) = constant.map(OpRef::id) {
                kept.insert(constant);
                continue;
            }
            let argument = *arguments.entry(*operand).or_insert_with(|| {
                let ty = module.ty(*operand).clone();
                module.add_argument(block, ty, Loc::Unknown)
            });
            *operand = argument;
        }
        module.set_operands(user, operands);
    }
    let results: Vec<Value> = module.op(op).results().collect();
    module.set_operands(end, results);
    let ops: Vec<OpId> = module.ops(block).map(OpRef::id).collect();
    for dropped in ops.into_iter().rev().filter(|op| !kept.contains(op)) {
        module.erase(dropped);
    }
    (0..old_arguments).rev().for_each(|index| module.erase_argument(block, index));
    for name in ["arg_attrs", "res_attrs", "sym_visibility"] {
        module.remove_attr(function, name);
    }
    drop_unused_symbols(&mut module, function);
    module.set_attr(function, "sym_name", Attribute::string("main"));
    let name = module.op(op).name().to_string();
    let mut single = Single { name, module, function, block, op };
    single.set_signature();
    Some(single)
}

/// Drops the symbols beside a function that it does not use. A symbol that uses others keeps them.
fn drop_unused_symbols(module: &mut Module, function: OpId) {
    let Some(block) = module.op(function).block() else { return };
    let symbols: Vec<OpId> = module.ops(block).map(OpRef::id).collect();
    let mut used: Vec<String> = Vec::new();
    let mut kept = BTreeSet::from([function]);
    let mut todo = vec![function];
    while let Some(op) = todo.pop() {
        used.push(text_of(module, op));
        for &symbol in &symbols {
            let name = module.op(symbol).symbol_name().map(|name| format!("@{name}"));
            let is_used = name.is_some_and(|name| used.iter().any(|text| text.contains(&name)));
            if is_used && kept.insert(symbol) {
                todo.push(symbol);
            }
        }
    }
    symbols.into_iter().filter(|op| !kept.contains(op)).for_each(|op| module.erase(op));
}

/// The attributes of an op and of the ops in its regions.
fn text_of(module: &Module, op: OpId) -> String {
    let attributes = |op: OpRef<'_>| {
        let declared = op.def().map_or(&[][..], |def| def.attributes);
        let inherent = declared.iter().filter_map(|slot| op.attr(slot.name));
        let all = inherent.chain(op.attributes().iter().map(|(_, value)| value));
        all.map(|value| format!("{value} ")).collect::<String>()
    };
    module.walk(op).map(attributes).collect()
}

/// Gives a function the type of one that returns values.
pub(crate) fn set_results(module: &mut Module, function: OpId, block: BlockId, results: &[Value]) {
    let types = |values: &[Value]| values.iter().map(|&v| module.ty(v).clone()).collect();
    let signature = Type::function(types(module.arguments(block)), types(results));
    module.set_attr(function, "function_type", signature.into());
}

impl Single {
    /// The program as text.
    pub fn text(&self) -> String {
        self.module.to_string()
    }

    /// The first error of the verifier, with its label.
    pub fn error(&self) -> Option<String> {
        let found = stablo::verify_with(&self.module, &stablo::VerifyOptions::default());
        found.first().map(|error| format!("[{}] {}", error.label, error.message))
    }

    /// A key that is equal for programs whose ops have equal types, attributes and regions.
    fn key(&self) -> String {
        let op = self.module.op(self.op);
        let types: Vec<String> = op.operand_types().map(Type::to_string).collect();
        let regions: Vec<&str> = self.module.walk(self.op).map(OpRef::name).collect();
        format!("{types:?} {} {regions:?}", text_of(&self.module, self.op))
    }

    fn set_signature(&mut self) {
        let results: Vec<Value> = self.module.op(self.op).results().collect();
        set_results(&mut self.module, self.function, self.block, &results);
    }

    /// All values: arguments, results, and values of regions.
    fn values(&self) -> Vec<Value> {
        let mut values = Vec::new();
        let mut blocks = vec![self.block];
        while let Some(block) = blocks.pop() {
            values.extend(self.module.arguments(block));
            for op in self.module.ops(block) {
                values.extend(op.results());
                let within = |&region: &RegionId| self.module.blocks(region).to_vec();
                blocks.extend(op.regions().iter().flat_map(within));
            }
        }
        values
    }

    /// The program with types that `change` returns. `None` if it changes none, or a constant
    /// cannot have its new type.
    fn retyped(&self, change: impl Fn(Value, &TensorType) -> Option<Type>) -> Option<Single> {
        let mut single = self.clone();
        let mut is_changed = false;
        for value in self.values() {
            let Some(ty) = self.module.ty(value).as_tensor() else { continue };
            let Some(new) = change(value, ty) else { continue };
            is_changed = true;
            let constant = self.module.defining_op(value).filter(|op| op.attr("value").is_some());
            if let Some(constant) = constant {
                let element = match &**new.element_type() {
                    TypeKind::Complex(_) => "(1.0, 1.0)",
                    _ if new.element_type().is_float() => "1.0",
                    _ if new.element_type().is_integer(Some(1)) => "true",
                    _ => "1",
                };
                let constant = constant.id();
                let value = stablo::parse_attribute(&format!("dense<{element}> : {new}")).ok()?;
                single.module.set_attr(constant, "value", value);
            }
            single.module.set_type(value, new);
        }
        single.set_signature();
        is_changed.then_some(single)
    }

    /// The program and all its variants.
    pub fn variants(&self) -> impl Iterator<Item = Single> {
        let retyped = [vec![self.clone()], self.of_elements(), self.of_sizes()];
        retyped.into_iter().flatten().chain(self.of_attributes())
    }

    /// The programs with an element type replaced: of all values, and of one.
    fn of_elements(&self) -> Vec<Single> {
        let elements: Vec<Type> =
            ELEMENTS.iter().filter_map(|text| stablo::parse_type(text).ok()).collect();
        let values = self.values();
        let known: BTreeMap<String, Type> = values
            .iter()
            .filter_map(|&value| self.module.ty(value).as_tensor())
            .map(|ty| (ty.element.to_string(), ty.element.clone()))
            .collect();
        let with = |ty: &TensorType, element: &Type| {
            Type::encoded_tensor(ty.shape.clone(), element.clone(), ty.encoding.clone())
        };
        let mut all = Vec::new();
        for new in &elements {
            for old in known.values().filter(|&old| old != new) {
                all.extend(self.retyped(|_, ty| (ty.element == *old).then(|| with(ty, new))));
                // Of all but the operands, as where sums are wider.
                let operands = self.module.arguments(self.block);
                all.extend(self.retyped(|value, ty| {
                    (ty.element == *old && !operands.contains(&value)).then(|| with(ty, new))
                }));
                let real = |element: &Type| match &**element {
                    TypeKind::Complex(part) => part.clone(),
                    _ => element.clone(),
                };
                // With the type of its parts.
                if real(old) != *old && real(new) != *new {
                    all.extend(self.retyped(|_, ty| {
                        if ty.element == *old {
                            return Some(with(ty, new));
                        }
                        (ty.element == real(old)).then(|| with(ty, &real(new)))
                    }));
                }
            }
            for &only in values.iter().take(8) {
                all.extend(self.retyped(|value, ty| (value == only).then(|| with(ty, new))));
            }
        }
        all
    }

    /// The programs with a size replaced: of all values, and of one; and with a
    /// dimension more or less of one.
    fn of_sizes(&self) -> Vec<Single> {
        let values = self.values();
        let shape = |value: Value| self.module.ty(value).shape().unwrap_or(&[]).to_vec();
        let known: BTreeSet<i64> = values.iter().flat_map(|&value| shape(value)).collect();
        // Only dynamic dimensions have a bound.
        let with = |ty: &TensorType, shape: Vec<i64>| {
            let encoding = ty.encoding.clone().filter(|_| shape.contains(&DYNAMIC));
            Type::encoded_tensor(shape, ty.element.clone(), encoding)
        };
        let mut all = Vec::new();
        for new in SIZES {
            for &old in known.iter().filter(|&&old| old != new) {
                let replaced = |ty: &TensorType| {
                    ty.shape.iter().map(|&d| if d == old { new } else { d }).collect()
                };
                all.extend(
                    self.retyped(|_, ty| ty.shape.contains(&old).then(|| with(ty, replaced(ty)))),
                );
            }
            for &only in values.iter().take(6) {
                for at in 0..shape(only).len() {
                    all.extend(self.retyped(|value, ty| {
                        let mut shape = ty.shape.clone();
                        (value == only).then(|| {
                            shape[at] = new;
                            with(ty, shape)
                        })
                    }));
                }
            }
        }
        for &only in values.iter().take(6) {
            all.extend(self.retyped(|value, ty| {
                (value == only && !ty.shape.is_empty()).then(|| with(ty, ty.shape[1..].to_vec()))
            }));
            all.extend(self.retyped(|value, ty| {
                (value == only).then(|| with(ty, [&[2], &ty.shape[..]].concat()))
            }));
        }
        all
    }

    /// The programs with another value of one attribute.
    fn of_attributes(&self) -> Vec<Single> {
        let op = self.module.op(self.op);
        let Some(def) = op.def() else { return Vec::new() };
        let mut all = Vec::new();
        for slot in def.attributes {
            let old = op.attr(slot.name);
            let mut values = candidates(slot.constraint);
            values.extend(old.map(changed).unwrap_or_default());
            for new in values.into_iter().filter(|new| Some(new) != old) {
                let mut single = self.clone();
                single.module.set_attr(self.op, slot.name, new);
                all.push(single);
            }
            if old.is_some() {
                let mut single = self.clone();
                single.module.remove_attr(self.op, slot.name);
                all.push(single);
            }
        }
        all
    }

    /// Verifies and runs the program. An error that only a run can find is no failure.
    pub fn verdict(&self, random: &mut Random) -> Verdict {
        match engines::verdict(&self.module, random) {
            Verdict::Failed(message) if self.may_fail(&message) => Verdict::Skipped,
            verdict => verdict,
        }
    }

    /// True if a run may fail with this message after a label: sizes are values, or processes are
    /// those of the run.
    fn may_fail(&self, message: &str) -> bool {
        const SIZED_BY_VALUES: [&str; 10] = [
            "dynamic_broadcast_in_dim",
            "dynamic_conv",
            "dynamic_gather",
            "dynamic_iota",
            "dynamic_pad",
            "dynamic_reshape",
            "dynamic_slice",
            "real_dynamic_slice",
            "rng",
            "set_dimension_size",
        ];
        const LABELS: [&str; 3] = ["process_group", "deadlock", "infeed"];
        let label = message.split(':').next().unwrap_or_default();
        let is_dynamic = |value: Value| {
            self.module.ty(value).shape().is_some_and(|shape| shape.contains(&DYNAMIC))
        };
        let (_, mnemonic) = self.name.split_once('.').unwrap_or_default();
        // No run computes it where each operand is for another process.
        let has_no_meaning =
            self.name == "mhlo.all_to_all" && message.ends_with("cannot be interpreted");
        LABELS.contains(&label)
            || has_no_meaning
            || SIZED_BY_VALUES.contains(&mnemonic)
            || self.name == "stablehlo.custom_call"
            || self.values().into_iter().any(is_dynamic)
    }
}

/// Values of a declared attribute.
fn candidates(constraint: &AttrConstraint) -> Vec<Attribute> {
    let lists: [&[i64]; 8] = [&[], &[0], &[1], &[0, 1], &[1, 0], &[1, 1], &[2, 1], &[0, 0]];
    match constraint {
        AttrConstraint::Unit => vec![Attribute::unit()],
        AttrConstraint::Bool => [false, true].map(Attribute::bool).to_vec(),
        AttrConstraint::Enum(def) => cases(def),
        AttrConstraint::I64Array => lists.iter().map(|list| Attribute::i64_array(*list)).collect(),
        AttrConstraint::BoolArray => {
            vec![Attribute::bool_array([]), Attribute::bool_array([true, true])]
        }
        AttrConstraint::String => STRINGS.map(Attribute::string).to_vec(),
        AttrConstraint::ArrayOf(element) => {
            let elements = candidates(element);
            let pairs = elements.iter().map(|e| Attribute::array(vec![e.clone(), e.clone()]));
            pairs.chain([Attribute::array(Vec::new())]).collect()
        }
        _ => Vec::new(),
    }
}

fn cases(def: &'static EnumDef) -> Vec<Attribute> {
    def.cases.iter().map(|&(value, _)| Attribute::enumeration(def, value)).collect()
}

/// The attribute with another number in its text, or without one.
fn changed(attribute: &Attribute) -> Vec<Attribute> {
    let text = attribute.to_string();
    let bytes = text.as_bytes();
    let is_word =
        |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() || at > 0 && is_word(at - 1) {
            at += 1;
            continue;
        }
        let end = (at..bytes.len()).find(|&i| !bytes[i].is_ascii_digit()).unwrap_or(bytes.len());
        let start = if at > 0 && bytes[at - 1] == b'-' { at - 1 } else { at };
        if !is_word(end) {
            for number in NUMBERS {
                let text = format!("{}{number}{}", &text[..start], &text[end..]);
                all.extend(stablo::parse_attribute(&text));
            }
            // Lists with an element less and an element more.
            let more = format!("{}, 1{}", &text[..end], &text[end..]);
            all.extend(stablo::parse_attribute(&more));
            if let Some(rest) = text[end..].strip_prefix(", ") {
                all.extend(stablo::parse_attribute(&format!("{}{rest}", &text[..start])));
            }
        }
        at = end;
    }
    all
}
