//! From the instructions of a function to a graph.

use crate::graph::{Graph, MAX_DEPTH, Node, Region, Value, blocks, free_slots, nested};
use program::{BlockId, Code, FunctionId, Primitive, Slot, UNUSED, primitives};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;

impl<'c> Graph<'c> {
    /// The graph of a function; `None` if it cannot be planned.
    pub(crate) fn of(code: &'c Code, function: FunctionId) -> Option<Graph<'c>> {
        let mut graph = Graph {
            code,
            types: Vec::new(),
            constants: FxHashMap::default(),
            repeated: FxHashMap::default(),
            broadcasts: FxHashMap::default(),
            in_memory: FxHashSet::default(),
            calls: Vec::new(),
            function_effects: RefCell::default(),
            body: Region::default(),
        };
        if !plannable(code)[function.index()] {
            return None;
        }
        graph.body =
            GraphBuilder { graph: &mut graph, call: None, depth: 0 }.function(function, None)?;
        Some(graph)
    }
}

/// Adds the blocks of functions to a graph.
pub(crate) struct GraphBuilder<'g, 'c> {
    pub graph: &'g mut Graph<'c>,
    /// The call that is inlined.
    pub call: Option<u32>,
    /// Number of regions and calls around.
    pub depth: usize,
}

impl GraphBuilder<'_, '_> {
    /// The region of a function that can be planned, on arguments or on new values; `None` if it
    /// has no body, or is nested too deep.
    pub(crate) fn function(
        &mut self,
        id: FunctionId,
        arguments: Option<&[Value]>,
    ) -> Option<Region> {
        let function = self.graph.code.function(id);
        self.region(function.body?, arguments, &mut vec![None; function.slots])
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
        let operands: SmallVec<[Value; 2]> = operands.collect::<Option<_>>()?;
        if let Primitive::Block(primitives::Block { block }) = *instruction.primitive
            && let Some(region) = self.region(block, Some(&operands), slots)
        {
            nodes.extend(region.nodes);
            for (&slot, &value) in instruction.results.iter().zip(&region.results) {
                define(slots, slot, value)?;
            }
            return Some(());
        }
        let types = &instruction.result_types;
        let results: SmallVec<[Value; 1]> = types.iter().map(|ty| self.graph.value(ty)).collect();
        let regions: Vec<Region> = match &*instruction.primitive {
            Primitive::While(primitives::While { cond, body }) => [*cond, *body]
                .map(|block| self.region(block, Some(&results), slots))
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
        for (&slot, &value) in instruction.results.iter().zip(&results) {
            define(slots, slot, value)?;
        }
        nodes.push(Node {
            primitive: instruction.primitive.clone(),
            operands,
            results,
            regions,
            captures,
            instruction: index,
            function,
            origin: instruction.origin,
            growth: instruction.growth,
            ops: instruction.ops,
            call: self.call,
            group: None,
        });
        Some(())
    }

    fn branches(&mut self, blocks: &[BlockId], slots: &mut [Option<Value>]) -> Option<Vec<Region>> {
        blocks.iter().map(|&block| self.region(block, None, slots)).collect()
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

/// For each function, true if the blocks of its native primitives, which are not known, use only
/// values that they define.
pub(crate) fn plannable(code: &Code) -> Vec<bool> {
    let bodies = code.functions.iter().filter_map(|function| function.body);
    let known: FxHashSet<BlockId> = bodies.flat_map(|body| nested(code, body)).collect();
    let mut plannable = vec![true; code.functions.len()];
    for id in (0..code.blocks.len() as u32).map(BlockId).filter(|id| !known.contains(id)) {
        plannable[code.block(id).function.index()] &= free_slots(code, id).is_empty();
    }
    plannable
}
