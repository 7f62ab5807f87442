//! The order of ops in blocks compared with a list: insertion, removal, order queries.

use mlir::attrs::Name;
use mlir::ir::{Loc, OpName, OpParts};
use mlir::ods::Registry;
use mlir::{BlockId, Module, OpId, OpRef};
use std::sync::LazyLock;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new(&[]));

fn op(module: &mut Module) -> OpId {
    module.create_op(OpParts::new(OpName::Unregistered(Name::from("test.op")), Loc::Unknown))
}

/// A module, and blocks of a detached region.
fn blocks(count: usize) -> (Module, Vec<BlockId>) {
    let mut module = Module::new(&REGISTRY);
    let region = module.create_region();
    let blocks = (0..count).map(|_| module.create_block(region)).collect();
    (module, blocks)
}

fn check(module: &Module, block: BlockId, expected: &[OpId]) {
    let ids = |ops: &mut dyn Iterator<Item = OpRef<'_>>| ops.map(OpRef::id).collect::<Vec<_>>();
    assert_eq!(ids(&mut module.ops(block)), expected);
    let backwards: Vec<OpId> = expected.iter().rev().copied().collect();
    assert_eq!(ids(&mut module.ops(block).rev()), backwards);
    assert_eq!(module.ops(block).len(), expected.len());
    assert_eq!(module.first_op(block).map(OpRef::id), expected.first().copied());
    assert_eq!(module.terminator(block).map(OpRef::id), expected.last().copied());
    for (i, &id) in expected.iter().enumerate() {
        let op = module.op(id);
        assert_eq!(op.block(), Some(block));
        assert_eq!(op.next_in_block().map(OpRef::id), expected.get(i + 1).copied());
        let previous = i.checked_sub(1).and_then(|i| expected.get(i)).copied();
        assert_eq!(op.previous_in_block().map(OpRef::id), previous);
        assert!(!module.is_before_in_block(id, id));
        if let Some(previous) = previous {
            assert!(module.is_before_in_block(previous, id), "op {i} of {}", expected.len());
            assert!(!module.is_before_in_block(id, previous));
        }
    }
}

/// Pseudorandom numbers below `n` (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn random_edits_agree_with_a_list() {
    for seed in 1..=40_u64 {
        let mut random = Random(seed);
        let (mut module, blocks) = blocks(3);
        let mut lists: Vec<Vec<OpId>> = vec![Vec::new(); blocks.len()];
        // Detached ops.
        let mut detached: Vec<OpId> = Vec::new();
        for _ in 0..1_000 {
            let b = random.below(blocks.len());
            let moves = random.below(4) == 0;
            let from = random.below(blocks.len());
            let id = match detached.pop() {
                _ if moves && !lists[from].is_empty() => {
                    let at = random.below(lists[from].len());
                    lists[from].remove(at)
                }
                Some(id) => id,
                None => op(&mut module),
            };
            let at = random.below(lists[b].len() + 1);
            match random.below(6) {
                0 => {
                    module.append(blocks[b], id);
                    lists[b].push(id);
                }
                1 => {
                    module.prepend(blocks[b], id);
                    lists[b].insert(0, id);
                }
                2 | 3 if at < lists[b].len() => {
                    module.insert_before(id, lists[b][at]);
                    lists[b].insert(at, id);
                }
                4 if at > 0 => {
                    module.insert_after(id, lists[b][at - 1]);
                    lists[b].insert(at, id);
                }
                5 if random.below(2) == 0 => module.erase(id),
                _ => {
                    module.detach(id);
                    detached.push(id);
                }
            }
            assert_eq!(module.op(id).block().is_some(), lists.iter().any(|l| l.contains(&id)));
            let (a, b) = (&lists[b], &lists[from]);
            if let (false, false) = (a.is_empty(), b.is_empty()) {
                let (i, j) = (random.below(a.len()), random.below(b.len()));
                let expected = std::ptr::eq(a, b) && i < j;
                assert_eq!(module.is_before_in_block(a[i], b[j]), expected);
            }
        }
        for (&block, list) in blocks.iter().zip(&lists) {
            check(&module, block, list);
        }
    }
}

#[test]
fn many_insertions_at_one_place_keep_the_order() {
    const COUNT: usize = 20_000;
    let (mut module, blocks) = blocks(4);
    let ends: Vec<(OpId, OpId)> = blocks
        .iter()
        .map(|&block| {
            let ends = (op(&mut module), op(&mut module));
            module.append(block, ends.0);
            module.append(block, ends.1);
            ends
        })
        .collect();
    let new: Vec<OpId> = (0..COUNT).map(|_| op(&mut module)).collect();
    let around =
        |list: Vec<OpId>, (first, last): (OpId, OpId)| [vec![first], list, vec![last]].concat();
    let reversed: Vec<OpId> = new.iter().rev().copied().collect();

    new.iter().for_each(|&op| module.insert_before(op, ends[0].1));
    check(&module, blocks[0], &around(new.clone(), ends[0]));
    new.iter().for_each(|&op| module.insert_after(op, ends[1].0));
    check(&module, blocks[1], &around(reversed.clone(), ends[1]));
    check(&module, blocks[0], &[ends[0].0, ends[0].1]);
    new.iter().for_each(|&op| module.prepend(blocks[2], op));
    check(&module, blocks[2], &[reversed, vec![ends[2].0, ends[2].1]].concat());
    // Insertion towards the middle, alternately from both sides.
    let (mut left, mut right) = (ends[3].0, Vec::new());
    let mut expected = Vec::new();
    for pair in new.chunks(2) {
        module.insert_after(pair[0], left);
        module.insert_after(pair[1], pair[0]);
        left = pair[0];
        expected.push(pair[0]);
        right.push(pair[1]);
    }
    right.reverse();
    check(&module, blocks[3], &around([expected, right].concat(), ends[3]));
}

#[test]
fn an_op_next_to_itself_stays() {
    let (mut module, blocks) = blocks(1);
    let ops: Vec<OpId> = (0..3).map(|_| op(&mut module)).collect();
    ops.iter().for_each(|&op| module.append(blocks[0], op));
    module.insert_before(ops[1], ops[1]);
    module.insert_after(ops[1], ops[1]);
    module.insert_before(ops[1], ops[2]);
    module.insert_after(ops[1], ops[0]);
    check(&module, blocks[0], &ops);
    module.append(blocks[0], ops[2]);
    module.prepend(blocks[0], ops[0]);
    check(&module, blocks[0], &ops);
    module.append(blocks[0], ops[0]);
    check(&module, blocks[0], &[ops[1], ops[2], ops[0]]);
}

#[test]
fn inlining_a_block_moves_its_ops() {
    let (mut module, blocks) = blocks(2);
    let ops: Vec<OpId> = (0..6).map(|_| op(&mut module)).collect();
    ops[..3].iter().for_each(|&op| module.append(blocks[0], op));
    ops[3..].iter().for_each(|&op| module.append(blocks[1], op));
    module.build_uses();
    module.inline_block_before(blocks[1], ops[1], &[]);
    check(&module, blocks[0], &[ops[0], ops[3], ops[4], ops[5], ops[1], ops[2]]);
    check(&module, blocks[1], &[]);
    module.erase_block(blocks[0]);
    assert!(ops.iter().all(|&op| !module.is_attached(op)));
}
