//! Every instruction that the encoder for AArch64 writes, as an independent decoder reads it.

use codegen::a64::{A64Assembler, A64Emitter, LaneSize, Neon, SP, TransferSize, V, X, ZERO};
use codegen::{Condition, Encoder, Loop, LoopCode, LoopInput, Width};
use numerics::DType;
use numerics::math::{BinaryOp, Direction, SliceKernel, UnaryOp};
use std::sync::Arc;
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

/// The instructions of some code, as text.
fn texts(code: &[u8]) -> Vec<String> {
    let (words, rest) = code.as_chunks::<4>();
    assert!(rest.is_empty());
    let text = |word: &[u8; 4]| {
        let instruction = InstDecoder::default().decode(&mut U8Reader::new(word));
        instruction.unwrap_or_else(|error| panic!("{word:02x?}: {error}")).to_string()
    };
    words.iter().map(text).collect()
}

fn decoded(write: impl FnOnce(&mut A64Assembler)) -> Vec<String> {
    let mut assembler = A64Assembler::new();
    write(&mut assembler);
    let len = assembler.position();
    texts(&assembler.finish(&[]).expect("all labels are somewhere")[..len])
}

/// The text of an instruction on vectors, by its name and the lanes of its registers.
fn expected(text: &str, registers: &[u8]) -> String {
    let mut words = text.split(' ');
    let name = words.next().unwrap_or_default();
    let registers: Vec<String> =
        words.zip(registers).map(|(lanes, register)| format!("v{register}.{lanes}")).collect();
    format!("{name} {}", registers.join(", "))
}

const REGISTERS: [u8; 5] = [0, 3, 15, 16, 31];

#[test]
fn vector_instructions_of_all_registers() {
    for (number, d) in (1..).zip(REGISTERS) {
        let [n, m] = [1, 2].map(|by| REGISTERS[(number + by) % REGISTERS.len()]);
        for &(text, op) in Neon::OF_TWO {
            let found = decoded(|assembler| assembler.vector(op, V(d), V(n), V(m)));
            assert_eq!(found, [expected(text, &[d, n, m])]);
        }
        for &(text, op) in Neon::OF_ONE {
            let found = decoded(|assembler| assembler.vector_of_one(op, V(d), V(n)));
            assert_eq!(found, [expected(text, &[d, n])]);
        }
        for &(text, op) in Neon::WIDENING {
            let found = decoded(|assembler| assembler.vector_of_one(op, V(d), V(n)));
            assert_eq!(found, [expected(text, &[d, n]) + ", #0x0"]);
        }
    }
}

#[test]
fn other_vector_instructions() {
    let text = decoded(|assembler| {
        assembler.vector_of_one(Neon::NOT, V(1), V(30));
        assembler.vector_of_one(Neon::UMAXV_S, V(2), V(29));
        assembler.copy(V(3), V(28));
        assembler.table(V(4), V(30), V(27));
        assembler.halves_between(V(5), V(26), V(9));
        assembler.splat(LaneSize::S, V(6), V(25), 0);
        assembler.splat_general(V(7), X(15));
        assembler.insert(LaneSize::S, (V(8), 3), (V(24), 1));
        assembler.insert(LaneSize::D, (V(9), 0), (V(23), 1));
        assembler.first_lane(X(17), V(22));
        assembler.splat_number(V(10), 32);
        assembler.splat_number(V(10), 255);
        assembler.shift_left(LaneSize::S, V(11), V(21), 31);
        assembler.shift_left(LaneSize::D, V(11), V(21), 52);
        assembler.shift_right(LaneSize::S, V(12), V(20), 1);
        assembler.shift_right(LaneSize::D, V(12), V(20), 64);
        assembler.load_lane(LaneSize::S, V(13), 0, X(3));
        assembler.load_lane(LaneSize::S, V(13), 3, X(3));
        assembler.load_lane(LaneSize::D, V(13), 1, X(3));
        assembler.load_splat(Neon::LD1R_S, V(14), X(4));
        assembler.load_splat(Neon::LD1R_D, V(14), X(4));
        assembler.load_splat(Neon::LD1R_B, V(14), X(4));
    });
    let expected = [
        "mvn v1.16b, v30.16b",
        "umaxv s2, v29.4s",
        "mov v3.16b, v28.16b",
        "tbl v4.16b, {v30.16b, v31.16b}, v27.16b",
        "ext v5.16b, v26.16b, v9.16b, #0x8",
        "mov v6.4s, v25.s[0]",
        "dup v7.2d, x15",
        "mov v8.s[3], v24.s[1]",
        "mov v9.d[0], v23.d[1]",
        "mov w17, v22.s[0]",
        "movi v10.4s, #0x20",
        "movi v10.4s, #0xff",
        "shl v11.4s, v21.4s, #0x1f",
        "shl v11.2d, v21.2d, #0x34",
        "ushr v12.4s, v20.4s, #0x1",
        "ushr v12.2d, v20.2d, #0x40",
        "ld1 {v13.s}[0], [x3]",
        "ld1 {v13.s}[3], [x3]",
        "ld1 {v13.d}[1], [x3]",
        "ld1r {v14.4s}, [x4]",
        "ld1r {v14.2d}, [x4]",
        "ld1r {v14.16b}, [x4]",
    ];
    assert_eq!(text, expected);
}

#[test]
fn loads_and_stores() {
    // Each with the names of its load, its store and its register.
    let kinds = [
        (TransferSize::S, "ldr", "str", "s"),
        (TransferSize::D, "ldr", "str", "d"),
        (TransferSize::Q, "ldr", "str", "q"),
        (TransferSize::Byte, "ldrb", "strb", "w"),
        (TransferSize::Half, "ldrh", "strh", "w"),
        (TransferSize::Word, "ldr", "str", "w"),
        (TransferSize::Double, "ldr", "str", "x"),
        (TransferSize::SignedByte, "ldrsb", "strb", "x"),
        (TransferSize::SignedHalf, "ldrsh", "strh", "x"),
        (TransferSize::SignedWord, "ldrsw", "str", "x"),
    ];
    for (kind, load, store, letter) in kinds {
        // The stores of narrow registers.
        let stored = if store != "str" || kind == TransferSize::SignedWord { "w" } else { letter };
        let last = 4095 * kind.bytes();
        for (address, distance) in [(X(30), 0), (SP, last), (X(2), -256), (X(8), 127)] {
            let is_unscaled = distance < 0 || distance % kind.bytes() != 0;
            let place = match (address, distance) {
                (_, 0) => "[x30]".to_owned(),
                (SP, _) => format!("[sp, #{distance:#x}]"),
                (_, ..0) => format!("[x2, #-{:#x}]", -distance),
                _ => format!("[x8, #{distance:#x}]"),
            };
            for (is_load, name, letter) in [(true, load, letter), (false, store, stored)] {
                let name = match is_unscaled {
                    true => name.replace("ldr", "ldur").replace("str", "stur"),
                    false => name.to_owned(),
                };
                let text = decoded(|assembler| {
                    assert!(assembler.transfer((kind, is_load), 17, address, distance));
                });
                assert_eq!(text, [format!("{name} {letter}17, {place}")]);
            }
        }
        for distance in [last + kind.bytes(), -257] {
            let text = decoded(|assembler| {
                assert!(!assembler.transfer((kind, true), 17, SP, distance));
            });
            assert!(text.is_empty());
        }
    }
    let text = decoded(|assembler| {
        assert!(assembler.transfer_pair(true, [V(30), V(31)], X(28), 1008));
        assert!(assembler.transfer_pair(false, [V(0), V(1)], SP, -1024));
        assert!(!assembler.transfer_pair(false, [V(0), V(1)], SP, 1024));
        assert!(!assembler.transfer_pair(false, [V(0), V(1)], SP, 8));
        assembler.transfer_low_halves(true, [V(8), V(9)], 48);
        assembler.transfer_low_halves(false, [V(14), V(15)], 504);
        assembler.transfer_general(true, [X(19), X(20)], 16);
        assembler.transfer_general(false, [X(27), X(28)], 32);
        assembler.push([X(29), X(30)], 112);
        assembler.pop([X(29), X(30)], 112);
    });
    let expected = [
        "ldp q30, q31, [x28, #0x3f0]",
        "stp q0, q1, [sp, #-0x400]",
        "ldp d8, d9, [sp, #0x30]",
        "stp d14, d15, [sp, #0x1f8]",
        "ldp x19, x20, [sp, #0x10]",
        "stp x27, x28, [sp, #0x20]",
        "stp x29, x30, [sp, #-0x70]!",
        "ldp x29, x30, [sp], #0x70",
    ];
    assert_eq!(text, expected);
}

#[test]
fn instructions_of_general_purpose_registers() {
    let text = decoded(|assembler| {
        let (start, end) = (assembler.label(), assembler.label());
        assembler.bind(start);
        assembler.mov(X(3), X(30));
        assembler.set(X(1), 0);
        assembler.set(X(1), 0x1234_0000_5678);
        assembler.set(X(1), u64::MAX);
        assembler.add(X(16), X(2), X(8), 3);
        assembler.add_to_stack(SP, SP, X(17));
        assembler.add_number(X(29), SP, 0, false);
        assembler.add_number(X(9), X(10), 4095, false);
        assembler.subtract_number(SP, SP, 1, true);
        assembler.subtract(ZERO, X(8), X(1));
        assembler.subtract(X(15), X(15), X(17));
        assembler.test(X(17));
        assembler.test_bit(X(17));
        assembler.multiply(X(11), X(9), X(17));
        assembler.choose(Condition::Greater, X(9), X(2), X(9));
        assembler.choose(Condition::Below, X(9), X(2), X(9));
        for condition in [
            Condition::Below,
            Condition::AboveOrEqual,
            Condition::Equal,
            Condition::NotEqual,
            Condition::Above,
            Condition::Less,
            Condition::Greater,
        ] {
            assembler.jump_if(condition, start);
        }
        assembler.jump_if(Condition::Equal, end);
        assembler.jump(start);
        assembler.jump(end);
        assembler.call_label(end);
        assembler.call(X(17));
        assembler.bind(end);
        assembler.ret();
        assembler.address_of_constants(X(28));
    });
    let expected = [
        "mov x3, x30",
        "mov x1, #0x0",
        "mov x1, #0x5678",
        "movk x1, #0x1234, lsl #32",
        "mov x1, #0xffff",
        "movk x1, #0xffff, lsl #16",
        "movk x1, #0xffff, lsl #32",
        "movk x1, #0xffff, lsl #48",
        "add x16, x2, x8, lsl #3",
        "add sp, sp, x17",
        "mov x29, sp",
        "add x9, x10, #0xfff",
        "sub sp, sp, #0x1, lsl #12",
        "cmp x8, x1",
        "subs x15, x15, x17",
        "cmp w17, #0x0",
        "tst w17, #0x1",
        "mul x11, x9, x17",
        "csel x9, x2, x9, gt",
        "csel x9, x2, x9, lo",
        "b.lo $-0x50",
        "b.hs $-0x54",
        "b.eq $-0x58",
        "b.ne $-0x5c",
        "b.hi $-0x60",
        "b.lt $-0x64",
        "b.gt $-0x68",
        "b.eq $+0x14",
        "b $-0x70",
        "b $+0xc",
        "bl $+0x8",
        "blr x17",
        "ret",
        "adrp x28, $+0x0",
        "add x28, x28, #0x90",
    ];
    assert_eq!(text, expected);
}

/// The code of loops is instructions from its start to its end, on any machine that makes it.
#[test]
fn code_of_loops() {
    let mut kernels: Vec<SliceKernel> = Vec::new();
    for &dtype in DType::ALL {
        kernels.extend(UnaryOp::ALL.iter().filter_map(|&op| SliceKernel::unary(op, dtype)));
        kernels.extend(BinaryOp::ALL.iter().filter_map(|&op| SliceKernel::binary(op, dtype)));
        kernels.extend(Direction::ALL.map(|way| SliceKernel::compare(way, false, dtype)));
        kernels.extend(DType::ALL.iter().filter_map(|&to| SliceKernel::convert(dtype, to)));
        kernels.push(SliceKernel::select(dtype));
    }
    let mut instructions = 0;
    for kernel in &kernels {
        let input = |&dtype| LoopInput { dtype, repeats: false, constant: None };
        let inputs: Vec<LoopInput> = kernel.operands().iter().map(input).collect();
        let numbers: Vec<usize> = (0..inputs.len()).collect();
        let functions = [(kernel, &numbers[..])];
        let source = Loop { inputs: &inputs, functions: &functions, outputs: &[inputs.len()] };
        let mut emitter = A64Emitter::default();
        if LoopCode::new(&source, Width::Neon, &mut emitter, &Arc::default()).is_some() {
            let len = emitter.position();
            let code = emitter.finish().expect("the machine has all operations");
            instructions += texts(&code[..len]).len();
        }
    }
    assert!(instructions > 10_000, "{instructions}");
}
