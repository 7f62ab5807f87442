//! Tests of `schedule.rs`.

use codegen::{Mem, NOWHERE, Op, Register, Store, Vectors};

/// Two chains, one after the other: their instructions alternate, each after its operands, and
/// what nothing uses is gone.
#[test]
fn chains_run_side_by_side() {
    let mut code = Vectors::new();
    let load =
        |code: &mut Vectors, at| code.load(Op::Load, Mem::at(Register::Address(0), at), NOWHERE);
    for chain in 0..2 {
        let first = load(&mut code, 32 * chain);
        let last = (0..10).fold(first, |x, _| code.pair(Op::MultiplyF32, x, first));
        load(&mut code, 64);
        let to = Mem::at(Register::Address(1), 32 * chain);
        code.store(Store::Whole, last, to, NOWHERE);
    }
    code.schedule();
    assert_eq!(code.len(), 2 * 12);
    // The chain of each instruction.
    let mut chains: Vec<usize> = Vec::new();
    for (at, operands) in code.operands().into_iter().enumerate() {
        assert!(operands.iter().all(|&operand| operand < at));
        chains.push(operands.first().map_or(at, |&first| chains[first]));
    }
    let changes = chains.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(changes >= 20, "{chains:?}");
}

/// Code that reads what it also stores keeps its order.
#[test]
fn stores_to_memory_that_is_read_stay() {
    let order = |reads: std::ops::Range<u32>| {
        let mut code = Vectors::new();
        let place = |at| Mem::at(Register::Memory, at);
        let x = code.load(Op::Load, place(0), 0..32);
        let last = (0..10).fold(x, |x, _| code.unary(Op::SqrtF32, x));
        code.store(Store::Whole, last, place(32), 32..64);
        let y = code.load(Op::Load, place(reads.start as i32), reads);
        code.store(Store::Whole, y, place(96), 96..128);
        code.schedule();
        code.operands()
    };
    // The second load is the last but one, or is among the roots.
    assert!(order(32..64)[12].is_empty());
    assert!(!order(64..96)[12].is_empty());
}
