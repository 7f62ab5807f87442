//! From a group of nodes to a loop.

use crate::graph::{Node, Value};
use crate::lower::outer::{self, is_outer_product};
use crate::lower::unrolled::UnrolledReduction;
use crate::lower::views::{Definitions, Viewed};
use crate::passes::fuse_elementwise::kernels;
use codegen::{Emitter, ExecutableMemory, Loop, LoopCode, LoopInput, MAX_STEP, Width};
use kernels::{Fused, Layout, Load, LoopOp, LoopOutput, Stage, TilePlace, Tree};
use numerics::math::{Elementwise, SliceKernel};
use numerics::shape::{Runs, StridedView, num_elements};
use numerics::{DType, Tensor};
use program::Primitive;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// The maximum period of a load that is read once a tile: the iterations after which it has the
/// same elements again.
const MAX_PERIOD: usize = 1 << 10;
/// Rows of fewer iterations do not share an element in code: a call of code takes about as long as
/// their vectors.
const MIN_ROW: usize = 256;

/// A loop and the values that it reads.
pub(crate) struct Built {
    pub fused: Fused,
    pub operands: Vec<Value>,
    /// The instructions that it computes, the last one last.
    pub instructions: SmallVec<[u32; 1]>,
}

/// A loop while its instructions are added. Values are numbered, loads before operations, so
/// operations have numbers of a separate range until [`LoopBuilder::finish`].
struct LoopBuilder<'a> {
    definitions: &'a Definitions<'a>,
    count: usize,
    loads: Vec<Load>,
    ops: Vec<(&'static str, SliceKernel, SmallVec<[ValueNumber; 3]>)>,
    operands: Vec<Value>,
    instructions: SmallVec<[u32; 1]>,
    /// The numbers of values.
    numbers: FxHashMap<Value, ValueNumber>,
}

#[derive(Clone, Copy, PartialEq)]
enum ValueNumber {
    Load(usize),
    Op(usize),
}

/// The loop of some nodes, which gives the values `outputs`; `None` if a value cannot be read.
pub(crate) fn build(
    definitions: &Definitions<'_>,
    members: &[&Node],
    outputs: &[Value],
) -> Option<Built> {
    let first = members.first()?.results[0];
    let mut builder = LoopBuilder {
        definitions,
        count: definitions.graph.elements(first)?,
        loads: Vec::new(),
        ops: Vec::new(),
        operands: Vec::new(),
        instructions: SmallVec::new(),
        numbers: FxHashMap::default(),
    };
    for member in members {
        builder.add(member)?;
        builder.instructions.push(member.instruction);
    }
    builder.finish(outputs)
}

impl LoopBuilder<'_> {
    fn add(&mut self, node: &Node) -> Option<()> {
        let graph = self.definitions.graph;
        if let Some(short) = UnrolledReduction::of(graph, node) {
            let number = self.reduce(&short)?;
            self.numbers.insert(node.results[0], number);
            return Some(());
        }
        let mut operands: SmallVec<[ValueNumber; 4]> = if is_outer_product(graph, node) {
            let views = outer::operands(self.definitions, node)?;
            views
                .into_iter()
                .zip(&node.operands)
                .map(|(viewed, &value)| self.load(value, viewed))
                .collect::<Option<_>>()?
        } else {
            node.operands.iter().map(|&operand| self.number(operand)).collect::<Option<_>>()?
        };
        if !matches!(&*node.primitive, Primitive::Reshape(_)) {
            self.apply(node, &mut operands)?;
        }
        self.numbers.insert(node.results[0], *operands.last()?);
        Some(())
    }

    /// Adds the operations of a node on its operands; their results come after these.
    fn apply(&mut self, node: &Node, operands: &mut SmallVec<[ValueNumber; 4]>) -> Option<()> {
        for (name, kernel, numbers) in kernels(self.definitions.graph, node)? {
            let used = numbers.iter().map(|&number| operands.get(number).copied());
            let used = used.collect::<Option<_>>()?;
            operands.push(self.op(name, kernel, used));
        }
        Some(())
    }

    fn op(
        &mut self,
        name: &'static str,
        kernel: SliceKernel,
        operands: SmallVec<[ValueNumber; 3]>,
    ) -> ValueNumber {
        self.ops.push((name, kernel, operands));
        ValueNumber::Op(self.ops.len() - 1)
    }

    /// Adds a short reduction, in the order of additions that `docs/accuracy.md` defines.
    fn reduce(&mut self, short: &UnrolledReduction) -> Option<ValueNumber> {
        let (op, dtype) = (short.reduction.op(), short.reduction.dtype());
        let wide = short.reduction.wide();
        let computed = short.computed(self.definitions);
        let combine = |builder: &mut LoopBuilder<'_>, left, right| -> Result<ValueNumber, ()> {
            let kernel = SliceKernel::binary(op, wide).ok_or(())?;
            Ok(builder.op(op.name(), kernel, SmallVec::from_slice(&[left, right])))
        };
        let mut tree = Tree::new();
        for number in 0..short.reduction.count() {
            let mut parts = FxHashMap::default();
            let part = match short.reduction.count() {
                // A member of the loop, possibly.
                1 => self.number(short.operand)?,
                _ => self.part(short, &computed, number, short.operand, &mut parts)?,
            };
            let leaf = self.converted(part, [dtype, wide])?;
            tree.try_push(leaf, |left, right| combine(self, left, right)).ok()?;
        }
        let combined = tree.try_finish(|left, right| combine(self, left, right)).ok()??;
        let init = self.number(short.init)?;
        let init = self.converted(init, [dtype, wide])?;
        let mut result = combine(self, init, combined).ok()?;
        if let Some(quiet) = SliceKernel::quiet(wide) {
            result = self.op("quiet", quiet, SmallVec::from_slice(&[result]));
        }
        self.converted(result, [wide, dtype])
    }

    /// The number of element `number` for each result of a reduction.
    fn part(
        &mut self,
        short: &UnrolledReduction,
        computed: &FxHashSet<Value>,
        number: usize,
        value: Value,
        parts: &mut FxHashMap<Value, ValueNumber>,
    ) -> Option<ValueNumber> {
        if let Some(&part) = parts.get(&value) {
            return Some(part);
        }
        let graph = self.definitions.graph;
        let part = match self.definitions.neighbour(value, short.result) {
            Some(node) if computed.contains(&value) => {
                let operands = node.operands.iter();
                let operands =
                    operands.map(|&operand| self.part(short, computed, number, operand, parts));
                let mut operands = operands.collect::<Option<_>>()?;
                self.apply(node, &mut operands)?;
                if number == 0 {
                    self.instructions.push(node.instruction);
                }
                *operands.last()?
            }
            _ if graph.elements(value) == Some(1) => self.number(value)?,
            _ => {
                let viewed = short.part(self.definitions.view(value)?, number)?;
                self.load(value, viewed)?
            }
        };
        parts.insert(value, part);
        Some(part)
    }

    fn converted(&mut self, number: ValueNumber, [from, to]: [DType; 2]) -> Option<ValueNumber> {
        if from == to {
            return Some(number);
        }
        let kernel = SliceKernel::convert(from, to)?;
        Some(self.op("convert", kernel, SmallVec::from_slice(&[number])))
    }

    /// The number of a value: of a node before, or loaded.
    fn number(&mut self, value: Value) -> Option<ValueNumber> {
        if let Some(&number) = self.numbers.get(&value) {
            return Some(number);
        }
        let viewed = self.definitions.view(value)?;
        let number = self.load(value, viewed)?;
        self.numbers.insert(value, number);
        Some(number)
    }

    /// Adds a load of a value as a view.
    fn load(&mut self, value: Value, viewed: Viewed) -> Option<ValueNumber> {
        let dtype = self.definitions.graph.dtype(value)?;
        let Viewed { memory, view, len } = viewed;
        let found = num_elements(view.shape())?;
        let constant = self.definitions.graph.constants.get(&memory);
        let constant = constant.filter(|tensor| is_uniform(tensor));
        let view = match constant {
            Some(_) => StridedView::new(0, view.shape(), vec![0; view.shape().len()]).ok()?,
            None => view,
        };
        let view = match () {
            () if found == self.count && view.is_dense() && len == found => None,
            () if found == self.count => Some(Runs::new(&view, len).ok()?),
            // A scalar is the same in each iteration.
            () if found == 1 => {
                let scalar = StridedView::new(view.offset(), [], []).ok()?;
                Some(Runs::new(&scalar, len).ok()?)
            }
            () => return None,
        };
        let operand = self.operand(memory);
        let repeats = view.as_ref().is_some_and(Runs::is_splat);
        let first = constant.and_then(|tensor| tensor.bytes().get(..dtype.bytes()));
        let constant = first.filter(|_| repeats).and_then(bits);
        self.loads.push(Load {
            operand,
            dtype,
            view,
            repeats,
            is_periodic: false,
            is_of_rows: false,
            constant,
            source_elements: len,
        });
        Some(ValueNumber::Load(self.loads.len() - 1))
    }

    fn operand(&mut self, value: Value) -> usize {
        self.operands.iter().position(|&known| known == value).unwrap_or_else(|| {
            self.operands.push(value);
            self.operands.len() - 1
        })
    }

    fn finish(mut self, outputs: &[Value]) -> Option<Built> {
        // A value that is no operation's, or a result already, is copied to its result.
        let mut results: Vec<usize> = Vec::new();
        let mut described = Vec::new();
        let graph = self.definitions.graph;
        for &output in outputs {
            let dtype = graph.dtype(output)?;
            let op = match *self.numbers.get(&output)? {
                ValueNumber::Op(op) if !results.contains(&op) => op,
                number => {
                    let copy = SliceKernel::convert(dtype, dtype)?;
                    self.ops.push(("copy", copy, SmallVec::from_iter([number])));
                    self.ops.len() - 1
                }
            };
            results.push(op);
            described.push(LoopOutput { dtype, shape: graph.shape(output)? });
        }
        let loads = self.loads.len();
        let number = |number: ValueNumber| match number {
            ValueNumber::Load(load) => load,
            ValueNumber::Op(op) => loads + op,
        };
        let ops = self.ops.into_iter().map(|(name, kernel, operands)| LoopOp {
            name,
            kernel: Arc::new(kernel),
            operands: operands.into_iter().map(number).collect(),
        });
        let ops: Vec<LoopOp> = ops.collect();
        let results: Vec<usize> = results.into_iter().map(|op| loads + op).collect();
        let stages = (0..ops.len()).map(Stage::Op).collect();
        let mut loads = self.loads;
        let period = common_period(&mut loads);
        let row = common_row(&mut loads);
        let layout = layout(&loads, &ops, &results, stages);
        let fused = Fused {
            elements: self.count,
            loads,
            ops,
            outputs: described,
            period,
            row,
            layout,
            code: None,
        };
        Some(Built { fused, operands: self.operands, instructions: self.instructions })
    }
}

/// Marks loads that have the same elements again soon, and gives the [period](Fused::period).
fn common_period(loads: &mut [Load]) -> usize {
    // The least common multiple, if it is small.
    let multiple = |a: usize, b: usize| {
        let (mut divisor, mut rest) = (a, b);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Some(a / divisor * b).filter(|&multiple| multiple <= MAX_PERIOD)
    };
    let mut common = 1;
    for load in loads {
        let period = load.view.as_ref().and_then(Runs::period).filter(|p| *p <= MAX_PERIOD);
        if let Some(both) = period.filter(|p| *p > 0).and_then(|period| multiple(common, period)) {
            (common, load.is_periodic) = (both, true);
        }
    }
    multiple(common, MAX_STEP).unwrap_or(common)
}

/// Marks loads that have one element in each row of many iterations, and returns the length of
/// rows, or 1 without loads of rows.
fn common_row(loads: &mut [Load]) -> usize {
    let times = |load: &Load| {
        let [_, times] = load.view.as_ref()?.times()?;
        Some(times).filter(|&times| times >= MIN_ROW)
    };
    let Some(row) = loads.iter().filter_map(times).min() else { return 1 };
    loads.iter_mut().for_each(|load| load.is_of_rows = times(load) == Some(row));
    row
}

/// True if there are elements, and all have the same bits.
fn is_uniform(tensor: &Tensor) -> bool {
    let (bytes, size) = (tensor.bytes(), tensor.dtype().bytes());
    !bytes.is_empty() && bytes[size..] == bytes[..bytes.len() - size]
}

/// The bits of an element of at most eight bytes.
fn bits(bytes: &[u8]) -> Option<u64> {
    let mut bits = [0; 8];
    bits.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(bits))
}

/// The code of loops that differ only in what they read and write, as in repeated layers.
#[derive(Default)]
pub(crate) struct LoopCodes(FxHashMap<LoopKey, Option<LoopCode>>);

/// All that the code of a loop depends on.
#[derive(PartialEq, Eq, Hash)]
struct LoopKey {
    /// Type, whether all iterations share one element, and its bits if they are known.
    inputs: Vec<(DType, bool, Option<u64>)>,
    functions: Vec<FunctionKey>,
    outputs: Vec<usize>,
}

/// A function of a loop, the types of its operands and result, and its operands.
type FunctionKey = (Elementwise, SmallVec<[DType; 4]>, SmallVec<[usize; 3]>);

impl LoopCodes {
    /// The code of a loop, made where none is the same.
    fn get(
        &mut self,
        source: &Loop<'_>,
        emitter: &mut Emitter,
        executable: &Arc<OnceLock<ExecutableMemory>>,
    ) -> Option<LoopCode> {
        let function = |(kernel, operands): &(&SliceKernel, &[usize])| {
            let types = kernel.operands().iter().copied().chain([kernel.result()]).collect();
            Some((kernel.function()?, types, SmallVec::from_slice(operands)))
        };
        let input =
            |&LoopInput { dtype, repeats, constant }: &LoopInput| (dtype, repeats, constant);
        let key = LoopKey {
            inputs: source.inputs.iter().map(input).collect(),
            functions: source.functions.iter().map(function).collect::<Option<_>>()?,
            outputs: source.outputs.to_vec(),
        };
        let make = || LoopCode::new(source, Width::best(), emitter, executable);
        self.0.entry(key).or_insert_with(make).clone()
    }
}

/// In loops of at least this many elements, the number of values of `f16`, functions with tables
/// are looked up instead of computed.
const LEAST_LOOKED_UP: usize = 1 << 16;

/// Adds machine code for the operations that have some, where it replaces several or long ones.
pub(crate) fn add_code(
    fused: &mut Fused,
    codes: &mut LoopCodes,
    emitter: &mut Emitter,
    executable: &Arc<OnceLock<ExecutableMemory>>,
) {
    if let Some(stages) = stages(fused, codes, emitter, executable) {
        let results = results(fused);
        fused.code = Some(layout(&fused.loads, &fused.ops, &results, stages));
    }
}

/// The values that are results.
fn results(fused: &Fused) -> Vec<usize> {
    let places = &fused.layout.places;
    let value = |number| places.iter().position(|&place| place == TilePlace::Output(number));
    (0..fused.outputs.len()).filter_map(value).collect()
}

/// The operations in an order that groups the ones with machine code; `None` if
/// there is no code for several of them, or for a long one.
fn stages(
    fused: &Fused,
    codes: &mut LoopCodes,
    emitter: &mut Emitter,
    executable: &Arc<OnceLock<ExecutableMemory>>,
) -> Option<Vec<Stage>> {
    let loads = fused.loads.len();
    let is_expensive = |op: &LoopOp| {
        let is_expensive = |f| codegen::is_expensive(f) || codegen::needs_range_reduction(f);
        op.kernel.function().is_some_and(is_expensive)
    };
    // Of many elements, a table is faster than long code.
    let is_looked_up = |op: &LoopOp| {
        op.kernel.has_table() && is_expensive(op) && fused.elements >= LEAST_LOOKED_UP
    };
    let has_code = |op: &LoopOp| codegen::has_loop_code(&op.kernel) && !is_looked_up(op);
    let has_code: Vec<bool> = fused.ops.iter().map(has_code).collect();
    let is_result = |value: usize| matches!(fused.layout.places[value], TilePlace::Output(_));
    let mut is_known: Vec<bool> = (0..loads + fused.ops.len()).map(|value| value < loads).collect();
    let mut is_used: Vec<bool> = (0..is_known.len()).map(is_result).collect();
    for (number, op) in fused.ops.iter().enumerate().rev() {
        if is_used[loads + number] {
            op.operands.iter().for_each(|&operand| is_used[operand] = true);
        }
    }
    let mut waiting: Vec<usize> = (0..fused.ops.len()).filter(|&op| is_used[loads + op]).collect();
    let mut stages = Vec::new();
    let mut has_any = false;
    while !waiting.is_empty() {
        let mut members = Vec::new();
        for with_code in [true, false] {
            let mut taken = Vec::new();
            waiting.retain(|&op| {
                let operands = &fused.ops[op].operands;
                let runs = has_code[op] == with_code && operands.iter().all(|&o| is_known[o]);
                if runs {
                    taken.push(op);
                    is_known[loads + op] = true;
                }
                !runs
            });
            if with_code {
                members = taken;
                let gains = |&op: &usize| {
                    let op = &fused.ops[op];
                    is_expensive(op) || codegen::is_faster_alone(&op.kernel)
                };
                if members.len() > 1 || members.iter().any(gains) {
                    has_any = true;
                    let mut is_member = vec![false; loads + fused.ops.len()];
                    members.iter().for_each(|&op| is_member[loads + op] = true);
                    let mut is_read_by_others = vec![false; is_member.len()];
                    for (op, _) in
                        fused.ops.iter().zip(&is_member[loads..]).filter(|(_, own)| !**own)
                    {
                        op.operands.iter().for_each(|&value| is_read_by_others[value] = true);
                    }
                    let mut inputs: Vec<usize> = Vec::new();
                    for &operand in members.iter().flat_map(|&op| &fused.ops[op].operands) {
                        if !is_member[operand] && !inputs.contains(&operand) {
                            inputs.push(operand);
                        }
                    }
                    let values = members.iter().map(|&op| loads + op);
                    let results: Vec<usize> = values
                        .filter(|&value| is_result(value) || is_read_by_others[value])
                        .collect();
                    let values = (&members[..], &inputs[..], &results[..]);
                    let code = code(fused, values, codes, emitter, executable)?;
                    inputs
                        .retain(|&value| value >= loads || !input(&fused.loads[value]).is_known());
                    stages.push(Stage::Code { code, inputs, results });
                } else {
                    stages.extend(members.iter().copied().map(Stage::Op));
                }
            } else {
                if members.is_empty() && taken.is_empty() {
                    return None;
                }
                stages.extend(taken.into_iter().map(Stage::Op));
            }
        }
    }
    has_any.then_some(stages)
}

/// The machine code of some operations, which have some inputs and results.
fn code(
    fused: &Fused,
    (members, inputs, results): (&[usize], &[usize], &[usize]),
    codes: &mut LoopCodes,
    emitter: &mut Emitter,
    executable: &Arc<OnceLock<ExecutableMemory>>,
) -> Option<LoopCode> {
    let loads = fused.loads.len();
    let described = inputs.iter().map(|&value| match fused.loads.get(value) {
        Some(load) => input(load),
        None => {
            let dtype = fused.ops[value - loads].kernel.result();
            LoopInput { dtype, repeats: false, constant: None }
        }
    });
    let described: Vec<_> = described.collect();
    // Values are numbered anew: inputs, then members.
    let values = inputs.iter().copied().chain(members.iter().map(|&op| loads + op));
    let numbers: FxHashMap<usize, usize> =
        values.enumerate().map(|(number, value)| (value, number)).collect();
    let number = |value: usize| numbers.get(&value).copied();
    let operands = members.iter().map(|&op| fused.ops[op].operands.iter().map(|&o| number(o)));
    let operands: Vec<SmallVec<[usize; 3]>> =
        operands.map(|operands| operands.collect()).collect::<Option<_>>()?;
    let functions: Vec<(&SliceKernel, &[usize])> = members
        .iter()
        .zip(&operands)
        .map(|(&op, operands)| (&*fused.ops[op].kernel, &operands[..]))
        .collect();
    let outputs: Vec<usize> = results.iter().map(|&value| number(value)).collect::<Option<_>>()?;
    let source = Loop { inputs: &described, functions: &functions, outputs: &outputs };
    codes.get(&source, emitter, executable)
}

fn input(load: &Load) -> LoopInput {
    let repeats = load.repeats || load.is_of_rows;
    LoopInput { dtype: load.dtype, repeats, constant: load.constant }
}

/// Gives each value that a stage reads or writes a place.
fn layout(loads: &[Load], ops: &[LoopOp], results: &[usize], stages: Vec<Stage>) -> Layout {
    let mut last_use = vec![None; loads.len() + ops.len()];
    for (position, stage) in stages.iter().enumerate() {
        let read = match stage {
            Stage::Op(op) => &ops[*op].operands[..],
            Stage::Code { inputs, .. } => inputs,
        };
        read.iter().for_each(|&value| last_use[value] = Some(position));
    }
    let bytes = |value: usize| match loads.get(value) {
        Some(load) => load.dtype.bytes(),
        None => ops[value - loads.len()].kernel.result().bytes(),
    };
    // Operations read a tile of what all iterations share, code one element.
    let is_tile = |value: usize| {
        let reads = |stage: &Stage| match stage {
            Stage::Op(op) => ops[*op].operands.contains(&value),
            Stage::Code { .. } => false,
        };
        stages.iter().any(reads)
    };
    let is_by_rows = stages.iter().any(|stage| match stage {
        Stage::Op(_) => false,
        Stage::Code { inputs, .. } => {
            inputs.iter().any(|&value| loads.get(value).is_some_and(|load| load.is_of_rows))
        }
    });
    let mut registers = FreeRegisters::default();
    let mut places: Vec<TilePlace> = vec![TilePlace::Inner; last_use.len()];
    for (value, load) in loads.iter().enumerate() {
        places[value] = match load.view {
            None => TilePlace::Source,
            // In code as a constant.
            Some(_) if last_use[value].is_none() => TilePlace::Inner,
            Some(_) if (load.repeats || load.is_of_rows) && !is_tile(value) => TilePlace::Element,
            Some(_) => TilePlace::Register(registers.take(load.dtype.bytes())),
        };
    }
    // Repeated elements are read once, so their register is never used for anything else.
    let ends = |value: usize, position: usize| {
        let is_repeated = loads.get(value).is_some_and(|load| load.repeats || load.is_periodic);
        last_use[value] == Some(position) && !is_repeated
    };
    for (position, stage) in stages.iter().enumerate() {
        let one;
        let (read, written) = match stage {
            Stage::Op(op) => {
                one = [loads.len() + op];
                (&ops[*op].operands[..], &one[..])
            }
            Stage::Code { inputs, results, .. } => (&inputs[..], &results[..]),
        };
        let ending = |places: &[TilePlace], value: usize| match places[value] {
            TilePlace::Register(register) if ends(value, position) => Some(register),
            _ => None,
        };
        let mut overwritten = None;
        for &value in written {
            let output = results.iter().position(|&result| result == value);
            overwritten = match (stage, read) {
                (Stage::Op(op), &[operand]) if ops[*op].kernel.overwrites() && output.is_none() => {
                    ending(&places, operand)
                }
                _ => None,
            };
            places[value] = match (output, overwritten) {
                (Some(output), _) => TilePlace::Output(output),
                (None, Some(register)) => TilePlace::Register(register),
                (None, None) => TilePlace::Register(registers.take(bytes(value))),
            };
        }
        let mut freed: SmallVec<[usize; 3]> =
            read.iter().filter_map(|&value| ending(&places, value)).collect();
        freed.sort_unstable();
        freed.dedup();
        registers.free.extend(freed.into_iter().filter(|&freed| overwritten != Some(freed)));
    }
    Layout { stages, places, registers: registers.sizes, is_by_rows }
}

/// Registers while they are given to values.
#[derive(Default)]
struct FreeRegisters {
    /// The bytes of an element of each register.
    sizes: Vec<usize>,
    free: Vec<usize>,
}

impl FreeRegisters {
    fn take(&mut self, bytes: usize) -> usize {
        let found = self.free.iter().position(|&register| self.sizes[register] == bytes);
        found.map(|at| self.free.swap_remove(at)).unwrap_or_else(|| {
            self.sizes.push(bytes);
            self.sizes.len() - 1
        })
    }
}
