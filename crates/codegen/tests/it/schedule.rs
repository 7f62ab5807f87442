//! Tests of `schedule.rs`.

use codegen::{Mem, NOWHERE, Op, Register, Store, VectorFunction};

/// Two chains, one after the other: their instructions alternate, each after its operands, and
/// what nothing uses is gone.
#[test]
fn chains_run_side_by_side() {
    let mut code = VectorFunction::new();
    let load = |code: &mut VectorFunction, at| {
        code.load(Op::Load, Mem::at(Register::Address(0), at), NOWHERE)
    };
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
