//! Programs as people look at them: a model of a program as JSON, and a page that shows it.

mod frames;
mod names;
mod page;
mod statistics;
mod times;
mod values;

pub use values::LastValues;

use crate::cost::{Cost, OpCost};
use crate::diff::{Change, Detail, Diff};
use crate::place::{Location, shortened_to};
use crate::profile::Profile;
use frames::Frames;
use mlir::diag::name_of;
use mlir::ods::{OpDef, Trait};
use mlir::text::ValueNames;
use mlir::{BlockId, Module, OpId, OpRef, RegionId, Value as ModuleValue};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};
use side_dialects::func::FuncOp;
use times::Times;

/// The most characters of the text of an op.
const MAX_CHARACTERS: usize = 4000;

/// A program to look at.
#[derive(Clone, Debug)]
pub struct View {
    model: Map<String, Value>,
    /// The position of each op in the program.
    ops: FxHashMap<OpId, usize>,
    /// The program beside it, with the pairs of ops and the differences.
    beside: Option<(Box<View>, Value, Value)>,
}

impl View {
    /// The model of the program as a JSON object, with a line for each op:
    ///
    /// - `name` of the program;
    /// - `cost` of a run: `entry`, `flops`, `transcendentals`, `bytes`, `peak_memory` and `doubts`;
    ///   null if it is not known;
    /// - `profile`: the number of `runs`, the `seconds` that they took, and `steps` with `title`,
    ///   `kind`, `calls`, `seconds` and the number of `ops`; null without one;
    /// - `judgement` of its results, if there is one: the `verdict`, the `model` of rounding, the
    ///   `report`, and `outputs` with `name`, `verdict`, `shape`, and a map of `rows` by `columns`
    ///   of cells with the largest error in `ulps` and the worst verdict (`states`, a letter each);
    /// - `types`, `sources`, `scopes` and `callers`: texts that others refer to by position;
    /// - `frames` of call stacks: the name of the function (`callers`), the place in it
    ///   (`sources`), and the frame that called it, or null;
    /// - `kinds` of ops: `name`, `doc`, and `rules` of the specification, each a label and a text;
    /// - `values`: for each, its name in the text that was read, else as printed, its type, and for
    ///   arguments the exporter's name;
    /// - `ops` in order, parents first: `kind`, `text`, `operands` and `results` (values), and as
    ///   far as present `source`, `scope`, `frame`, `symbol`, `calls` (ops), `cost`, `constant`
    ///   (statistics of its elements), `statistics` (of the last values of its results), `time`
    ///   (its share in `seconds` of the time of `steps`), `error` (the `width` of the bounds of its
    ///   results in proportion to these, recorded `ulps` and the `verdict`) and `regions`, each with
    ///   a `name` and `blocks` of `arguments` (values) and `ops`.
    ///
    /// Of two programs, the models `left` and `right`, `pairs` of corresponding ops, and `changes`
    /// with the ops that differ on the `left` and `right`, or null, and `details`.
    pub fn to_json(&self) -> String {
        if let Some((right, pairs, changes)) = &self.beside {
            let (left, right) = (self.model_to_json(), right.model_to_json());
            return format!(
                "{{\"left\":{left},\n\"right\":{right},\n\"pairs\":{pairs},\n\"changes\":{changes}}}"
            );
        }
        self.model_to_json()
    }

    fn model_to_json(&self) -> String {
        let field = |(name, value): (&String, &Value)| match value {
            Value::Array(items) if name == "ops" => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                format!("{}:[\n{}\n]", json!(name), items.join(",\n"))
            }
            _ => format!("{}:{value}", json!(name)),
        };
        let fields: Vec<String> = self.model.iter().map(field).collect();
        format!("{{{}}}", fields.join(",\n"))
    }

    /// This program and another one side by side, with the differences between them.
    pub fn beside(mut self, right: View, diff: &Diff) -> View {
        let pair =
            |&(left, other): &(OpId, OpId)| Some([*self.ops.get(&left)?, *right.ops.get(&other)?]);
        let pairs: Vec<[usize; 2]> = diff.pairs.iter().filter_map(pair).collect();
        let change = |change: &Change| {
            let left = change.left.as_ref().and_then(|side| self.ops.get(&side.op));
            let other = change.right.as_ref().and_then(|side| right.ops.get(&side.op));
            let details: Vec<String> = change.details.iter().map(Detail::to_string).collect();
            json!({"left": left, "right": other, "details": details})
        };
        let changes: Vec<Value> = diff.changes.iter().map(change).collect();
        self.beside = Some((Box::new(right), json!(pairs), json!(changes)));
        self
    }

    /// The same view with errors of rounding: `judgement` is about the program, and each op of
    /// `errors` has its own.
    #[must_use]
    pub fn judged(
        mut self,
        judgement: Value,
        errors: impl IntoIterator<Item = (OpId, Value)>,
    ) -> View {
        if let Some(Value::Array(ops)) = self.model.get_mut("ops") {
            for (op, error) in errors {
                if let Some(own) = self.ops.get(&op).and_then(|&position| ops.get_mut(position)) {
                    own["error"] = error;
                }
            }
        }
        self.model.insert("judgement".to_string(), judgement);
        self
    }

    /// A self-contained page in HTML that shows the program as a graph.
    pub fn to_html(&self) -> String {
        page::html(&self.to_json())
    }
}

/// Makes the view of a verified module. `cost` is that of running the function of that name,
/// `values` and `profile` are of runs of it.
pub fn view(
    module: &Module,
    name: &str,
    cost: Option<(&str, &Cost)>,
    values: Option<&LastValues>,
    profile: Option<&Profile>,
) -> View {
    let mut maker = Maker {
        module,
        names: names::as_written(module),
        ops: module.walk(module.top().id()).map(OpRef::id).zip(0..).collect(),
        values: vec![None; module.num_values()],
        costs: cost.map_or_else(FxHashMap::default, |(_, cost)| {
            cost.ops.iter().map(|cost| (cost.op, cost)).collect()
        }),
        last_values: values,
        times: profile.map(Times::of),
        types: Texts::default(),
        sources: Texts::default(),
        scopes: Texts::default(),
        frames: Frames::default(),
        kinds: Texts::default(),
        definitions: Vec::new(),
    };
    let values: Vec<Value> = maker.values_in_order();
    let ops: Vec<Value> = module.walk(module.top().id()).map(|op| maker.op(op)).collect();
    let kinds = maker.kinds.texts.iter().zip(&maker.definitions);
    let kinds: Vec<Value> = kinds.map(|(name, def)| kind(name, *def)).collect();
    let fields = [
        ("name", json!(name)),
        ("cost", cost.map_or(Value::Null, |(entry, cost)| total(entry, cost))),
        ("profile", maker.times.as_ref().map_or(Value::Null, Times::to_value)),
        ("types", json!(maker.types.texts)),
        ("sources", json!(maker.sources.texts)),
        ("scopes", json!(maker.scopes.texts)),
        ("callers", json!(maker.frames.callers.texts)),
        ("frames", json!(maker.frames.frames)),
        ("kinds", json!(kinds)),
        ("values", json!(values)),
        ("ops", json!(ops)),
    ];
    let model = fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    View { model, ops: maker.ops, beside: None }
}

/// Distinct texts, which others refer to by position.
#[derive(Default)]
struct Texts {
    texts: Vec<String>,
    positions: FxHashMap<String, usize>,
}

impl Texts {
    fn position(&mut self, text: &str) -> usize {
        if let Some(&position) = self.positions.get(text) {
            return position;
        }
        self.texts.push(text.to_string());
        self.positions.insert(text.to_string(), self.texts.len() - 1);
        self.texts.len() - 1
    }
}

struct Maker<'m, 'c> {
    module: &'m Module,
    names: ValueNames<'m>,
    /// The position of each op in the program.
    ops: FxHashMap<OpId, usize>,
    /// The position of each value, by its index in the module.
    values: Vec<Option<usize>>,
    costs: FxHashMap<OpId, &'c OpCost>,
    last_values: Option<&'c LastValues>,
    times: Option<Times<'c>>,
    types: Texts,
    sources: Texts,
    scopes: Texts,
    frames: Frames,
    kinds: Texts,
    /// The declaration of each kind.
    definitions: Vec<Option<&'static OpDef>>,
}

impl<'m> Maker<'m, '_> {
    /// All values: for each op its results, then the arguments of its blocks.
    fn values_in_order(&mut self) -> Vec<Value> {
        let module = self.module;
        let mut values = Vec::new();
        for op in module.walk(module.top().id()) {
            for result in op.results() {
                values.push(self.value(result, None, values.len()));
            }
            let blocks = op.regions().iter().flat_map(|&region| module.blocks(region));
            for &block in blocks {
                for (&value, loc) in module.arguments(block).iter().zip(module.argument_locs(block))
                {
                    // In regions and exported functions, names of locations are scopes.
                    let location = module.location(loc);
                    let name = name_of(&location)
                        .filter(|name| FuncOp::cast(op).is_some() && !is_scope(name));
                    values.push(self.value(value, name, values.len()));
                }
            }
        }
        values
    }

    fn value(&mut self, value: ModuleValue, name: Option<&str>, position: usize) -> Value {
        self.values[value.index()] = Some(position);
        let ty = self.types.position(&self.module.ty(value).to_string());
        match name.filter(|name| !name.is_empty()) {
            Some(name) => json!([self.names.get(value), ty, name]),
            None => json!([self.names.get(value), ty]),
        }
    }

    /// Positions of values that are in the program.
    fn positions(&self, values: impl IntoIterator<Item = ModuleValue>) -> Vec<usize> {
        values.into_iter().filter_map(|value| *self.values.get(value.index())?).collect()
    }

    fn kind(&mut self, op: OpRef<'_>) -> usize {
        let kind = self.kinds.position(op.name());
        if kind == self.definitions.len() {
            self.definitions.push(op.def());
        }
        kind
    }

    fn op(&mut self, op: OpRef<'m>) -> Value {
        let location = Location::of(op);
        let mut fields = json!({
            "kind": self.kind(op),
            "text": shortened_to(&self.names.text(op), MAX_CHARACTERS),
            "operands": self.positions(op.operands().iter().copied()),
            "results": self.positions(op.results()),
        });
        let frame = self.frames.position(&op.location(), &mut self.sources);
        let mut add = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields[name] = value;
            }
        };
        add("source", location.source.map(|source| json!(self.sources.position(&source))));
        add("scope", location.scope.map(|scope| json!(self.scopes.position(&scope))));
        add("frame", frame.map(|frame| json!(frame)));
        add("symbol", op.symbol_name().map(|name| json!(name)));
        let calls = self.calls(op);
        add("calls", (!calls.is_empty()).then(|| json!(calls)));
        add("cost", self.costs.get(&op.id()).map(|cost| cost_of(cost)));
        let constant = op.has_trait(&Trait::ConstantLike).then(|| op.property(0)).flatten();
        add("constant", constant.and_then(statistics::of));
        let statistics = |index| self.last_values?.statistics(op.id(), index);
        let statistics: Vec<Value> =
            (0..op.num_results()).map(|index| json!(statistics(index))).collect();
        let is_known = statistics.iter().any(|value| !value.is_null());
        add("statistics", is_known.then(|| json!(statistics)));
        add("time", self.times.as_ref().and_then(|times| times.op(op)));
        let regions = op.regions().iter().enumerate();
        let regions: Vec<Value> = regions.map(|(i, &region)| self.region(op, i, region)).collect();
        add("regions", (!regions.is_empty()).then(|| json!(regions)));
        fields
    }

    /// Positions of the ops whose symbols an op refers to.
    fn calls(&self, op: OpRef<'m>) -> Vec<usize> {
        let symbols = op.properties().iter().flatten().filter_map(|value| value.as_flat_symbol());
        let around = std::iter::successors(op.parent(), |op| op.parent());
        let tables = around.filter(|op| op.has_trait(&Trait::SymbolTable));
        let called =
            symbols.filter_map(|symbol| tables.clone().find_map(|op| op.lookup_symbol(symbol)));
        called.filter_map(|called| self.ops.get(&called.id()).copied()).collect()
    }

    fn region(&self, op: OpRef<'m>, index: usize, region: RegionId) -> Value {
        let slots = op.def().map_or(&[][..], |def| def.regions);
        // Only the last slot may hold several regions.
        let name = match slots.get(index).or(slots.last()) {
            Some(slot) if slot.variadic => format!("{} {}", slot.name, index + 1 - slots.len()),
            Some(slot) => slot.name.to_string(),
            None => format!("region {index}"),
        };
        let blocks = self.module.blocks(region).iter().map(|&block| self.block(block));
        json!({"name": name, "blocks": blocks.collect::<Vec<_>>()})
    }

    fn block(&self, block: BlockId) -> Value {
        let ops = self.module.ops(block).filter_map(|op| self.ops.get(&op.id()));
        json!({
            "arguments": self.positions(self.module.arguments(block).iter().copied()),
            "ops": ops.collect::<Vec<_>>(),
        })
    }
}

/// True for names such as `jit(f)/layer_0`, but not for `p['a/b']`.
fn is_scope(name: &str) -> bool {
    name.split(['[', '\'']).next().is_some_and(|name| name.contains('/'))
}

fn kind(name: &str, def: Option<&'static OpDef>) -> Value {
    let Some(def) = def else { return json!({"name": name}) };
    let rules = def.rules().into_iter().map(|rule| {
        let remark = rule.checked.remark(def).map_or(String::new(), |text| format!(" ({text})"));
        json!([def.label(&rule), format!("{}{remark}", rule.text)])
    });
    json!({
        "name": name,
        "doc": def.doc.trim().replace("\n ", "\n"),
        "rules": rules.collect::<Vec<_>>(),
    })
}

fn cost_of(cost: &OpCost) -> Value {
    json!({
        "runs": cost.runs,
        "flops": cost.work.flops,
        "transcendentals": cost.work.transcendentals,
        "bytes": cost.work.bytes,
        "doubt": cost.doubt.map(crate::cost::Doubt::explain),
    })
}

fn total(entry: &str, cost: &Cost) -> Value {
    let doubts = cost.doubts.iter().map(|(doubt, ops)| format!("{} ({ops})", doubt.explain()));
    json!({
        "entry": entry,
        "flops": cost.total.flops,
        "transcendentals": cost.total.transcendentals,
        "bytes": cost.total.bytes,
        "peak_memory": cost.peak_memory,
        "doubts": doubts.collect::<Vec<_>>(),
    })
}
