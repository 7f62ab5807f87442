//! The values and operations of a function: what the passes rewrite.

use crate::termination;
use numerics::shape::{Sizes, num_elements};
use numerics::{DType, Tensor};
use program::{
    BlockId, Callee, Code, Effects, FunctionId, Kind, Origin, Primitive, Slot, ValueType,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;

/// Functions that nest deeper are not planned, and calls that do are not inlined.
pub(crate) const MAX_DEPTH: usize = 64;

/// A value of a graph.
pub(crate) type Value = u32;

/// A function as values and nodes.
pub(crate) struct Graph<'c> {
    pub code: &'c Code,
    /// The type of each value.
    pub types: Vec<Arc<ValueType>>,
    /// The values that are constants.
    pub constants: FxHashMap<Value, Tensor>,
    /// The constants that splats and iotas repeat.
    pub repeated: FxHashMap<Value, Value>,
    /// Broadcasts of constants that are small: as steps they are views.
    pub broadcasts: FxHashMap<Value, Tensor>,
    /// Results of movements that stay in memory: loops read them again and again.
    pub in_memory: FxHashSet<Value>,
    /// The calls around inlined nodes: the op of each, and the call around it.
    pub calls: Vec<(Origin, Option<u32>)>,
    /// The effects of functions that are called.
    pub function_effects: RefCell<FunctionEffects>,
    /// The function.
    pub body: Region,
}

/// A block: nodes in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    /// The arguments. Regions of a loop have the results of the loop as arguments: its values have
    /// one place in the condition, in the body, and after it.
    pub arguments: Vec<Value>,
    pub nodes: Vec<Node>,
    pub results: Vec<Value>,
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub primitive: Arc<Primitive>,
    pub operands: SmallVec<[Value; 2]>,
    pub results: SmallVec<[Value; 1]>,
    /// The regions of control flow.
    pub regions: Vec<Region>,
    /// The slots and values of what the blocks of other primitives use from around them.
    pub captures: Vec<(Slot, Value)>,
    /// The instruction that it was made from, for profiles, and its function.
    pub instruction: u32,
    pub function: FunctionId,
    /// The op at which errors are reported.
    pub origin: Origin,
    /// A lower bound of the bytes by which the results exceed the operands.
    pub growth: usize,
    /// Number of ops that it stands for.
    pub ops: u32,
    /// The innermost inlined call around it.
    pub call: Option<u32>,
    /// The position in the region of the last member of its group, if it is fused.
    pub group: Option<usize>,
}

impl Graph<'_> {
    /// A new value.
    pub(crate) fn value(&mut self, ty: &Arc<ValueType>) -> Value {
        self.types.push(ty.clone());
        // Fewer values than bytes of the program.
        (self.types.len() - 1) as Value
    }

    /// The shape of a value, if it is static.
    pub(crate) fn shape(&self, value: Value) -> Option<Sizes> {
        self.types[value as usize].static_shape()
    }

    /// The number of elements of a value, if it is static.
    pub(crate) fn elements(&self, value: Value) -> Option<usize> {
        num_elements(&self.shape(value)?)
    }

    /// The bytes of a value, if its shape is static.
    pub(crate) fn bytes(&self, value: Value) -> Option<usize> {
        self.elements(value)?.checked_mul(self.dtype(value)?.bytes())
    }

    /// The element type of a tensor.
    pub(crate) fn dtype(&self, value: Value) -> Option<DType> {
        match &*self.types[value as usize] {
            ValueType::Tensor { dtype, .. } => Some(*dtype),
            _ => None,
        }
    }

    /// The effects of a node, its regions and its blocks. Operands of dynamic shapes may be ones
    /// that an operation does not take, and results larger than their bounds or not of the types
    /// that regions return.
    pub(crate) fn effects(&self, node: &Node) -> Effects {
        let is_dynamic = |value: Value| match &*self.types[value as usize] {
            ValueType::Tensor { .. } => self.shape(value).is_none(),
            ValueType::Unranked(_) => true,
            ValueType::Scalar(_) | ValueType::Token | ValueType::Tuple(_) | ValueType::Opaque => {
                false
            }
        };
        let is_bounded = |value: Value| match &*self.types[value as usize] {
            ValueType::Tensor { bounds, .. } => !bounds.is_empty(),
            _ => false,
        };
        let is_checked =
            |&result: &Value| is_bounded(result) || !node.regions.is_empty() && is_dynamic(result);
        let region_results = node.regions.iter().flat_map(|region| &region.results);
        let may_not_fit =
            node.operands.iter().chain(region_results).any(|&value| is_dynamic(value))
                || node.results.iter().any(is_checked);
        let declared = match termination::terminates(self, node) {
            true => Effects::None,
            false => node.primitive.effects(),
        };
        let own = match may_not_fit {
            true => declared.max(Effects::MayFail),
            false => declared,
        };
        let nodes = node.regions.iter().flat_map(|region| &region.nodes);
        let inner = nodes.map(|node| self.effects(node)).max().unwrap_or(Effects::None);
        let blocks = match node.primitive.kind() {
            // Its regions have the nodes of its blocks.
            Kind::Control if !node.regions.is_empty() => Effects::None,
            _ => {
                let known = &mut self.function_effects.borrow_mut();
                effects_of_blocks(self.code, &node.primitive, MAX_DEPTH, known)
            }
        };
        own.max(inner).max(blocks)
    }

    /// True if no node calls a function, waits for another process or runs code of others.
    pub(crate) fn is_flat(&self) -> bool {
        fn region_is_flat(code: &Code, region: &Region, depth: usize) -> bool {
            region.nodes.iter().all(|node| {
                is_flat(code, &node.primitive, depth)
                    && node.regions.iter().all(|r| region_is_flat(code, r, depth.saturating_sub(1)))
            })
        }
        region_is_flat(self.code, &self.body, MAX_DEPTH)
    }
}

impl Node {
    /// A node without regions for the same op, which counts no op: one of several that replace this
    /// node.
    pub(crate) fn replacement(
        &self,
        primitive: impl Into<Arc<Primitive>>,
        operands: &[Value],
        result: Value,
    ) -> Node {
        Node {
            primitive: primitive.into(),
            operands: operands.into(),
            results: [result].into_iter().collect(),
            regions: Vec::new(),
            captures: Vec::new(),
            growth: 0,
            ops: 0,
            ..*self
        }
    }

    /// The values that it uses, each once: operands, captures, and what its regions use from around
    /// them.
    pub(crate) fn uses(&self) -> Vec<Value> {
        let mut uses = Vec::new();
        self.visit_uses(&mut |value| uses.push(value));
        uses.sort_unstable();
        uses.dedup();
        uses
    }

    /// Visits each use of a value in the node and its regions.
    pub(crate) fn visit_uses(&self, visit: &mut impl FnMut(Value)) {
        self.operands.iter().for_each(|&value| visit(value));
        self.captures.iter().for_each(|&(_, value)| visit(value));
        for region in &self.regions {
            region.nodes.iter().for_each(|node| node.visit_uses(visit));
            region.results.iter().for_each(|&value| visit(value));
        }
    }

    /// Visits each use of a value in the node itself.
    pub(crate) fn visit_own_uses_mut(&mut self, visit: &mut impl FnMut(&mut Value)) {
        self.operands.iter_mut().for_each(&mut *visit);
        self.captures.iter_mut().for_each(|(_, value)| visit(value));
    }

    /// Visits each value that the node and its regions define.
    pub(crate) fn visit_definitions(&self, visit: &mut impl FnMut(Value)) {
        self.results.iter().for_each(|&value| visit(value));
        for region in &self.regions {
            region.arguments.iter().for_each(|&value| visit(value));
            region.nodes.iter().for_each(|node| node.visit_definitions(visit));
        }
    }
}

/// The effects of functions that were asked for, by their numbers.
pub(crate) type FunctionEffects = FxHashMap<usize, Effects>;

/// The effects of the blocks and functions that a primitive runs, which nest at most `depth`
/// levels.
fn effects_of_blocks(
    code: &Code,
    primitive: &Primitive,
    depth: usize,
    known: &mut FunctionEffects,
) -> Effects {
    let of = |callee| match (callee, depth.checked_sub(1)) {
        (_, None) => Effects::External,
        (Callee::Block(block), Some(depth)) => effects_of_block(code, block, depth, known),
        (Callee::Function(function), Some(depth)) => {
            effects_of_function(code, function, depth, known)
        }
    };
    primitive.blocks().into_iter().map(of).max().unwrap_or(Effects::None)
}

/// As [`effects_of_blocks`], of the instructions of a block.
fn effects_of_block(
    code: &Code,
    block: BlockId,
    depth: usize,
    known: &mut FunctionEffects,
) -> Effects {
    let instructions = code.instructions_of(code.block(block)).iter();
    let effects = instructions
        .map(|i| i.primitive.effects().max(effects_of_blocks(code, &i.primitive, depth, known)));
    effects.max().unwrap_or(Effects::None)
}

/// As [`effects_of_blocks`], of a function, once: functions that each call the next one twice would
/// take time that doubles with each of them. One that calls itself may do anything.
fn effects_of_function(
    code: &Code,
    function: FunctionId,
    depth: usize,
    known: &mut FunctionEffects,
) -> Effects {
    let Some(body) = code.function(function).body else { return Effects::External };
    if let Some(&effects) = known.get(&function.index()) {
        return effects;
    }
    // The result of recursive calls.
    known.insert(function.index(), Effects::External);
    let effects = effects_of_block(code, body, depth, known);
    known.insert(function.index(), effects);
    effects
}

/// The blocks that a primitive runs, except control flow.
pub(crate) fn blocks(primitive: &Primitive) -> SmallVec<[BlockId; 2]> {
    match primitive.kind() {
        Kind::Control => SmallVec::new(),
        _ => nested_blocks(primitive),
    }
}

/// The blocks of control flow of a primitive.
pub(crate) fn branches(primitive: &Primitive) -> SmallVec<[BlockId; 2]> {
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

/// The slots that a block and its nested blocks use, but do not define.
pub(crate) fn free_slots(code: &Code, block: BlockId) -> Vec<Slot> {
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
