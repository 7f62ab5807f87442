//! The values and operations of a function, calls inlined.

use crate::fold::{self, Folded};
use numerics::shape::{Sizes, num_elements};
use numerics::{DType, Tensor};
use program::{
    BlockId, Callee, Code, Effects, FunctionId, Instruction, Kind, Origin, Primitive, Slot, UNUSED,
    ValueType, primitives,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// Functions that nest deeper are not planned, and calls that do are not inlined.
const MAX_DEPTH: usize = 64;
/// Calls are inlined as long as that makes no more nodes than this, or than [`GROWTH`] times the
/// instructions of the program.
const MIN_NODES: usize = 1 << 12;
const GROWTH: usize = 4;
/// Longer iotas are not kept as constants.
const MAX_IOTA: usize = 1 << 12;

/// A value of a graph.
pub type Value = u32;

/// A function as values and nodes.
pub(crate) struct Graph<'c> {
    pub code: &'c Code,
    /// The type of each value.
    pub types: Vec<Arc<ValueType>>,
    /// The values that are constants.
    pub constants: FxHashMap<Value, Tensor>,
    /// The constants that splats and iotas repeat.
    pub repeated: FxHashMap<Value, Value>,
    /// Other values that are known.
    pub folded: Folded,
    /// The calls around inlined nodes: the op of each, and the call around it.
    pub calls: Vec<(Origin, Option<u32>)>,
    /// True if no node calls a function, waits for another process or runs code of others.
    pub is_flat: bool,
    /// For each function, whether all values are known that its blocks use from around them.
    plannable: Vec<bool>,
    /// The number of instructions of each function.
    sizes: Vec<usize>,
}

/// A block: nodes in order.
pub(crate) struct Region {
    pub arguments: Vec<Value>,
    pub nodes: Vec<Node>,
    pub results: Vec<Value>,
}

/// An operation.
pub(crate) struct Node {
    /// Its instruction.
    pub instruction: u32,
    /// The function that the instruction belongs to.
    pub function: FunctionId,
    pub operands: SmallVec<[Value; 2]>,
    pub results: SmallVec<[Value; 1]>,
    /// The blocks of control flow.
    pub regions: Vec<Region>,
    /// The slots and values of what the blocks of other primitives use from around them.
    pub captures: Vec<(Slot, Value)>,
    /// The innermost call around it.
    pub call: Option<u32>,
    /// Values that it uses: operands, captures, and those of regions from around them.
    pub uses: Vec<Value>,
    /// True if a node before it, whose results are used in place of its own, does the same.
    pub is_repeated: bool,
    /// Of a sort: so many elements along its dimension are its results, in place of slices, which
    /// have none.
    pub limit: Option<usize>,
}

impl<'c> Graph<'c> {
    /// The graph of a function; `None` if it cannot be planned.
    pub fn of(code: &'c Code, function: FunctionId) -> Option<(Graph<'c>, Region)> {
        let mut graph = Graph {
            code,
            types: Vec::new(),
            constants: FxHashMap::default(),
            repeated: FxHashMap::default(),
            folded: Folded::default(),
            calls: Vec::new(),
            is_flat: true,
            plannable: plannable(code),
            sizes: sizes(code),
        };
        let room = code.instructions.len().saturating_mul(GROWTH).max(MIN_NODES);
        let mut builder = Builder {
            graph: &mut graph,
            room,
            call: None,
            depth: 0,
            known: FxHashMap::default(),
            order: Vec::new(),
        };
        let body = code.function(function).body?;
        let region = builder.function(function, body, None)?;
        Some((graph, region))
    }

    pub fn instruction(&self, node: &Node) -> &'c Instruction {
        &self.code.instructions[node.instruction as usize]
    }

    pub fn primitive(&self, node: &Node) -> &'c Primitive {
        &self.instruction(node).primitive
    }

    fn value(&mut self, ty: &Arc<ValueType>) -> Value {
        self.types.push(ty.clone());
        // Fewer values than bytes of the program.
        (self.types.len() - 1) as Value
    }

    /// Notes the constant that an instruction gives, or repeats.
    fn note_constant(&mut self, primitive: &Primitive, result: Value) {
        let repeated = match primitive {
            Primitive::Constant(primitives::Constant { tensor }) => {
                self.constants.insert(result, tensor.clone());
                return;
            }
            Primitive::Splat(primitives::Splat { element, .. }) => Some(element.clone()),
            Primitive::Iota(primitives::Iota { dtype, shape, dimension }) => {
                let size = shape.get(*dimension).filter(|&&size| size <= MAX_IOTA);
                size.and_then(|&size| Tensor::iota(*dtype, [size], 0).ok())
            }
            _ => None,
        };
        if let Some(tensor) = repeated {
            let ty = ValueType::tensor(tensor.dtype(), tensor.shape());
            let value = self.value(&Arc::new(ty));
            self.constants.insert(value, tensor);
            self.repeated.insert(result, value);
        }
    }

    /// The shape of a value, if it is static.
    pub fn shape(&self, value: Value) -> Option<Sizes> {
        self.types[value as usize].static_shape()
    }

    /// The number of elements of a value, if it is static.
    pub fn elements(&self, value: Value) -> Option<usize> {
        num_elements(&self.shape(value)?)
    }

    /// The element type of a tensor.
    pub fn dtype(&self, value: Value) -> Option<DType> {
        match &*self.types[value as usize] {
            ValueType::Tensor { dtype, .. } => Some(*dtype),
            _ => None,
        }
    }
}

/// True for a padding with nothing: the result is the operand.
fn is_unchanged(primitive: &Primitive) -> bool {
    let Primitive::Pad(primitives::Pad { low, high, interior }) = primitive else { return false };
    low.iter().chain(high).chain(interior).all(|&count| count == 0)
}

struct Builder<'g, 'c> {
    graph: &'g mut Graph<'c>,
    /// Nodes of calls that may still be made. Failed attempts count, and leave values without uses.
    room: usize,
    call: Option<u32>,
    depth: usize,
    /// The results of nodes before that apply plain native functions.
    known: FxHashMap<Applied, SmallVec<[Value; 1]>>,
    /// The keys of `known` in the order of their nodes.
    order: Vec<Applied>,
}

/// The class of a plain native function, and operands.
type Applied = (u32, SmallVec<[Value; 2]>);

impl<'c> Builder<'_, 'c> {
    /// The region of a function, on arguments or on new values.
    fn function(
        &mut self,
        function: FunctionId,
        body: BlockId,
        arguments: Option<&[Value]>,
    ) -> Option<Region> {
        if !self.graph.plannable[function.index()] {
            return None;
        }
        let mut slots = vec![None; self.graph.code.function(function).slots];
        self.region(body, arguments, &mut slots)
    }

    fn region(
        &mut self,
        block: BlockId,
        arguments: Option<&[Value]>,
        slots: &mut [Option<Value>],
    ) -> Option<Region> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let code = self.graph.code;
        let block = code.block(block);
        let arguments: Vec<Value> = match arguments {
            Some(values) => values.to_vec(),
            None => block.argument_types.iter().map(|ty| self.graph.value(ty)).collect(),
        };
        if arguments.len() != block.arguments.len() {
            return None;
        }
        for (&slot, &value) in block.arguments.iter().zip(&arguments) {
            define(slots, slot, value)?;
        }
        let mut nodes = Vec::new();
        for index in block.instructions.clone() {
            self.depth += 1;
            let added = self.instruction(index, block.function, slots, &mut nodes);
            self.depth -= 1;
            added?;
        }
        let results = block.results.iter().map(|operand| find(slots, operand.slot));
        Some(Region { arguments, nodes, results: results.collect::<Option<_>>()? })
    }

    fn instruction(
        &mut self,
        index: u32,
        function: FunctionId,
        slots: &mut [Option<Value>],
        nodes: &mut Vec<Node>,
    ) -> Option<()> {
        let code = self.graph.code;
        let instruction = &code.instructions[index as usize];
        let operands = instruction.operands.iter().map(|operand| find(slots, operand.slot));
        let mut operands: SmallVec<[Value; 2]> = operands.collect::<Option<_>>()?;
        let before = self.order.len();
        let inlined = match &instruction.primitive {
            Primitive::Call(primitives::Call { function: callee }) => {
                self.inline(*callee, &operands, instruction.origin)
            }
            Primitive::Block(primitives::Block { block }) => {
                self.region(*block, Some(&operands), slots)
            }
            _ => None,
        };
        if let (&[operand, ..], &[slot]) = (&operands[..], &instruction.results[..])
            && is_unchanged(&instruction.primitive)
            && instruction.result_types.first() == self.graph.types.get(operand as usize)
        {
            return define(slots, slot, operand);
        }
        if let Some(region) = inlined {
            nodes.extend(region.nodes);
            for (&slot, &value) in instruction.results.iter().zip(&region.results) {
                define(slots, slot, value)?;
            }
            return Some(());
        }
        self.forget(before);
        self.graph.is_flat &= is_flat(code, &instruction.primitive, MAX_DEPTH - self.depth);
        let types = &instruction.result_types;
        let mut results: SmallVec<[Value; 1]> =
            types.iter().map(|ty| self.graph.value(ty)).collect();
        // Constants that a loop carries are used in place of its values.
        let mut carried = results.clone();
        if let Primitive::While(primitives::While { body, .. }) = &instruction.primitive {
            let invariants = fold::invariants(self.graph, *body, &operands, &results);
            for (value, constant) in carried.iter_mut().zip(invariants) {
                *value = constant.unwrap_or(*value);
            }
        }
        let mut regions: Vec<Region> = match &instruction.primitive {
            // A loop's values have one place: in the condition, in the body, and after the loop.
            Primitive::While(primitives::While { cond, body }) => [*cond, *body]
                .map(|block| self.inner_region(block, Some(&carried), slots))
                .into_iter()
                .collect(),
            Primitive::If(primitives::If { branches }) => self.branches(branches, slots),
            Primitive::Case(primitives::Case { branches }) => self.branches(branches, slots),
            _ => Some(Vec::new()),
        }?;
        let captures = blocks(&instruction.primitive).into_iter();
        let captures = captures.flat_map(|block| free_slots(code, block));
        let captures = captures.map(|slot| Some((slot, find(slots, slot)?)));
        let captures: Vec<(Slot, Value)> = captures.collect::<Option<_>>()?;
        let same = self.known_results(&instruction.primitive, &operands, &results);
        let is_repeated = same.is_some();
        for (&slot, value) in
            instruction.results.iter().zip(same.unwrap_or_else(|| carried.clone()))
        {
            define(slots, slot, value)?;
        }
        if let (Primitive::While(_), [_, body]) = (&instruction.primitive, &mut regions[..])
            && carried != results
        {
            let changes: SmallVec<[bool; 8]> =
                carried.iter().zip(&results).map(|(value, result)| value == result).collect();
            let left = |values: &[Value]| -> Vec<Value> {
                values.iter().zip(&changes).filter(|(_, left)| **left).map(|(&v, _)| v).collect()
            };
            body.results = left(&body.results);
            (operands, results) = (left(&operands).into(), left(&results).into());
        }
        if let &[result] = &results[..] {
            self.graph.note_constant(&instruction.primitive, result);
            fold::fold(self.graph, instruction, &operands, result);
        }
        let mut uses: Vec<Value> = operands.to_vec();
        uses.extend(captures.iter().map(|&(_, value)| value));
        uses.extend(regions.iter().flat_map(|region| region.nodes.iter().flat_map(|n| &n.uses)));
        uses.extend(regions.iter().flat_map(|region| &region.results));
        uses.sort_unstable();
        uses.dedup();
        let (instruction, call) = (index, self.call);
        nodes.push(Node {
            instruction,
            function,
            operands,
            results,
            regions,
            captures,
            call,
            uses,
            is_repeated,
            limit: None,
        });
        Some(())
    }

    /// The results of a node before that is the same plain native function of the same operands;
    /// if there is none, this one is it for those that follow.
    fn known_results(
        &mut self,
        primitive: &Primitive,
        operands: &[Value],
        results: &[Value],
    ) -> Option<SmallVec<[Value; 1]>> {
        let Primitive::Native(native) = primitive else { return None };
        let applied = (native.class?, SmallVec::from_slice(operands));
        if let Some(results) = self.known.get(&applied) {
            return Some(results.clone());
        }
        self.order.push(applied.clone());
        self.known.insert(applied, SmallVec::from_slice(results));
        None
    }

    /// Forgets the results of nodes after the first ones.
    fn forget(&mut self, count: usize) {
        for applied in self.order.drain(count..) {
            self.known.remove(&applied);
        }
    }

    fn branches(&mut self, blocks: &[BlockId], slots: &mut [Option<Value>]) -> Option<Vec<Region>> {
        blocks.iter().map(|&block| self.inner_region(block, None, slots)).collect()
    }

    /// A region of control flow, whose nodes those after it do not know.
    fn inner_region(
        &mut self,
        block: BlockId,
        arguments: Option<&[Value]>,
        slots: &mut [Option<Value>],
    ) -> Option<Region> {
        let before = self.order.len();
        let region = self.region(block, arguments, slots);
        self.forget(before);
        region
    }

    /// The region of a call; `None` if it stays a call.
    fn inline(&mut self, callee: FunctionId, operands: &[Value], origin: Origin) -> Option<Region> {
        let body = self.graph.code.function(callee).body?;
        self.room = self.room.checked_sub(self.graph.sizes[callee.index()])?;
        let outer = self.call;
        self.graph.calls.push((origin, outer));
        self.call = Some((self.graph.calls.len() - 1) as u32);
        let region = self.function(callee, body, Some(operands));
        self.call = outer;
        region
    }
}

fn define(slots: &mut [Option<Value>], slot: Slot, value: Value) -> Option<()> {
    if slot != UNUSED {
        *slots.get_mut(slot as usize)? = Some(value);
    }
    Some(())
}

fn find(slots: &[Option<Value>], slot: Slot) -> Option<Value> {
    *slots.get(slot as usize)?
}

/// The blocks that a primitive runs, those of control flow aside.
fn blocks(primitive: &Primitive) -> SmallVec<[BlockId; 2]> {
    match primitive.kind() {
        Kind::Control => SmallVec::new(),
        _ => nested_blocks(primitive),
    }
}

/// The blocks of control flow of a primitive.
fn branches(primitive: &Primitive) -> SmallVec<[BlockId; 2]> {
    match primitive.kind() {
        Kind::Control => nested_blocks(primitive),
        _ => SmallVec::new(),
    }
}

fn nested_blocks(primitive: &Primitive) -> SmallVec<[BlockId; 2]> {
    let block = |callee| match callee {
        Callee::Block(block) => Some(block),
        Callee::Function(_) => None,
    };
    primitive.blocks().into_iter().filter_map(block).collect()
}

/// True if a primitive calls no function, waits for no process and runs no code of others, and its
/// blocks nest at most `depth` levels.
fn is_flat(code: &Code, primitive: &Primitive, depth: usize) -> bool {
    let calls = |callee: &Callee| matches!(callee, Callee::Function(_));
    if primitive.effects() == Effects::External || primitive.blocks().iter().any(calls) {
        return false;
    }
    blocks(primitive).iter().all(|&block| {
        let instructions = code.instructions_of(code.block(block));
        depth > 0
            && instructions.iter().all(|i| {
                branches(&i.primitive).is_empty() && is_flat(code, &i.primitive, depth - 1)
            })
    })
}

/// True for primitives that may run blocks, other than control flow.
pub(crate) fn runs_blocks(primitive: &Primitive) -> bool {
    match primitive {
        Primitive::Native(native) => !native.is_plain,
        _ => !blocks(primitive).is_empty(),
    }
}

/// All blocks nested in a block, itself included, as far as they belong to known primitives.
pub(crate) fn nested(code: &Code, block: BlockId) -> Vec<BlockId> {
    let mut all = vec![block];
    let mut next = 0;
    while let Some(&block) = all.get(next) {
        next += 1;
        for instruction in code.instructions_of(code.block(block)) {
            all.extend(branches(&instruction.primitive));
            all.extend(blocks(&instruction.primitive));
        }
    }
    all
}

/// The slots that a block and those in it use, but do not define.
fn free_slots(code: &Code, block: BlockId) -> Vec<Slot> {
    let (mut own, mut used): (FxHashSet<Slot>, Vec<Slot>) = Default::default();
    for block in nested(code, block) {
        let block = code.block(block);
        own.extend(&block.arguments);
        used.extend(block.results.iter().map(|operand| operand.slot));
        for instruction in code.instructions_of(block) {
            own.extend(&instruction.results);
            used.extend(instruction.operands.iter().map(|operand| operand.slot));
        }
    }
    used.retain(|slot| !own.contains(slot));
    used.sort_unstable();
    used.dedup();
    used
}

/// For each function, true if the blocks of its native primitives, which are not known, use only
/// values of their own.
fn plannable(code: &Code) -> Vec<bool> {
    let bodies = code.functions.iter().filter_map(|function| function.body);
    let known: FxHashSet<BlockId> = bodies.flat_map(|body| nested(code, body)).collect();
    let mut plannable = vec![true; code.functions.len()];
    for id in (0..code.blocks.len() as u32).map(BlockId).filter(|id| !known.contains(id)) {
        plannable[code.block(id).function.index()] &= free_slots(code, id).is_empty();
    }
    plannable
}

/// The number of instructions of each function, all its blocks together.
fn sizes(code: &Code) -> Vec<usize> {
    let mut sizes = vec![0; code.functions.len()];
    for block in &code.blocks {
        sizes[block.function.index()] += block.instructions.len();
    }
    sizes
}
