//! From a group of nodes to a loop.

use crate::graph::{Node, Value};
use crate::groups::kernels;
use crate::views::{Definitions, Viewed};
use numerics::math::SliceKernel;
use numerics::shape::{Runs, StridedView, num_elements};
use program::{Fused, Load, LoopOp, LoopOutput, Primitive, TilePlace};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// A loop and the values that it reads.
pub(crate) struct Built {
    pub fused: Fused,
    pub operands: Vec<Value>,
}

/// A loop while its instructions are added. Values are numbered, loads before operations, so the
/// numbers of operations are those among themselves until [`Builder::finish`].
struct Builder<'a> {
    definitions: &'a Definitions<'a>,
    count: usize,
    loads: Vec<Load>,
    ops: Vec<(&'static str, SliceKernel, SmallVec<[Number; 3]>)>,
    operands: Vec<Value>,
    /// The numbers of values.
    numbers: FxHashMap<Value, Number>,
}

#[derive(Clone, Copy, PartialEq)]
enum Number {
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
    let mut builder = Builder {
        definitions,
        count: definitions.graph.elements(first)?,
        loads: Vec::new(),
        ops: Vec::new(),
        operands: Vec::new(),
        numbers: FxHashMap::default(),
    };
    for member in members {
        builder.add(member)?;
    }
    builder.finish(outputs)
}

impl Builder<'_> {
    fn add(&mut self, node: &Node) -> Option<()> {
        let graph = self.definitions.graph;
        let operands = node.operands.iter().map(|&operand| self.number(operand));
        let mut operands: SmallVec<[Number; 4]> = operands.collect::<Option<_>>()?;
        if !matches!(graph.primitive(node), Primitive::Reshape(_)) {
            for (name, kernel, numbers) in kernels(graph, node)? {
                let used = numbers.iter().map(|&number| operands.get(number).copied());
                self.ops.push((name, kernel, used.collect::<Option<_>>()?));
                operands.push(Number::Op(self.ops.len() - 1));
            }
        }
        self.numbers.insert(node.results[0], *operands.last()?);
        Some(())
    }

    /// The number of a value: of a node before, or loaded.
    fn number(&mut self, value: Value) -> Option<Number> {
        if let Some(&number) = self.numbers.get(&value) {
            return Some(number);
        }
        let dtype = self.definitions.graph.dtype(value)?;
        let Viewed { memory, view, len } = self.definitions.view(value)?;
        let found = num_elements(view.shape())?;
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
        self.loads.push(Load { operand, dtype, view, repeats, source_elements: len });
        let number = Number::Load(self.loads.len() - 1);
        self.numbers.insert(value, number);
        Some(number)
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
                Number::Op(op) if !results.contains(&op) => op,
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
        let number = |number: Number| match number {
            Number::Load(load) => load,
            Number::Op(op) => loads + op,
        };
        let ops = self.ops.into_iter().map(|(name, kernel, operands)| LoopOp {
            name,
            kernel: Arc::new(kernel),
            operands: operands.into_iter().map(number).collect(),
        });
        let ops: Vec<LoopOp> = ops.collect();
        let results: Vec<usize> = results.into_iter().map(|op| loads + op).collect();
        let (places, registers) = allocate(&self.loads, &ops, &results);
        let fused = Fused {
            elements: self.count,
            loads: self.loads,
            ops,
            places,
            outputs: described,
            registers,
        };
        Some(Built { fused, operands: self.operands })
    }
}

/// Gives each value a place, and returns the bytes of an element of each register.
fn allocate(loads: &[Load], ops: &[LoopOp], results: &[usize]) -> (Vec<TilePlace>, Vec<usize>) {
    let mut last_use = vec![0; loads.len() + ops.len()];
    for (position, op) in ops.iter().enumerate() {
        for &operand in &op.operands {
            last_use[operand] = position;
        }
    }
    let mut registers: Vec<usize> = Vec::new();
    let mut free: Vec<usize> = Vec::new();
    let mut take = |free: &mut Vec<usize>, bytes: usize| {
        let found = free.iter().position(|&register: &usize| registers[register] == bytes);
        found.map(|at| free.swap_remove(at)).unwrap_or_else(|| {
            registers.push(bytes);
            registers.len() - 1
        })
    };
    let mut places = Vec::with_capacity(last_use.len());
    for load in loads {
        places.push(match load.view {
            None => TilePlace::Source,
            Some(_) => TilePlace::Register(take(&mut free, load.dtype.bytes())),
        });
    }
    // A repeated element is read once, so its register is never used for anything else.
    let is_free_after = |value: usize, position: usize| {
        let is_repeated = loads.get(value).is_some_and(|load| load.repeats);
        last_use[value] == position && !is_repeated
    };
    for (position, op) in ops.iter().enumerate() {
        let value = loads.len() + position;
        let bytes = op.kernel.result().bytes();
        let ending = |places: &[TilePlace], operand: usize| match places[operand] {
            TilePlace::Register(register) if is_free_after(operand, position) => Some(register),
            _ => None,
        };
        let output = results.iter().position(|&result| result == value);
        let overwritten = match op.operands[..] {
            [operand] if op.kernel.overwrites() && output.is_none() => ending(&places, operand),
            _ => None,
        };
        let place = match (output, overwritten) {
            (Some(output), _) => TilePlace::Output(output),
            (None, Some(register)) => TilePlace::Register(register),
            (None, None) => TilePlace::Register(take(&mut free, bytes)),
        };
        let mut freed: SmallVec<[usize; 3]> =
            op.operands.iter().filter_map(|&operand| ending(&places, operand)).collect();
        freed.sort_unstable();
        freed.dedup();
        free.extend(freed.into_iter().filter(|&register| place != TilePlace::Register(register)));
        places.push(place);
    }
    (places, registers)
}
