//! Every instruction that the encoder writes, as an independent decoder reads it.

use codegen::Condition;
use codegen::x64::{Avx, Gpr, Length, Mem, X64Assembler, Ymm};
use iced_x86::{Decoder, DecoderOptions, Formatter, NasmFormatter};

/// The instructions of some code, as text.
fn decoded(write: impl FnOnce(&mut X64Assembler)) -> Vec<String> {
    let mut assembler = X64Assembler::new();
    write(&mut assembler);
    let len = assembler.position();
    let code = assembler.finish().expect("all labels are somewhere");
    let mut formatter = NasmFormatter::new();
    let mut decoder = Decoder::with_ip(64, &code[..len], 0, DecoderOptions::NONE);
    let mut texts = Vec::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        assert!(!instruction.is_invalid(), "{:02x?}", &code[..len]);
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        texts.push(text);
    }
    texts
}

/// The instructions that shift by a number have it in place of a second operand.
const SHIFTS: [&str; 2] = ["PSHIFTD_IMMEDIATE", "PSHIFTQ_IMMEDIATE"];

#[test]
fn vector_instructions_of_all_registers() {
    // That of masks writes a general-purpose register.
    let vectors = |op: &Avx| op.has_vex() && *op != Avx::MOVMSKPS;
    for &(name, op) in Avx::ALL.iter().filter(|(_, op)| vectors(op)) {
        let mnemonic = match name {
            "PSHIFTD_IMMEDIATE" => "vpslld".to_owned(),
            "PSHIFTQ_IMMEDIATE" => "vpsllq".to_owned(),
            _ => format!("v{}", name.split('_').next().unwrap_or(name).to_lowercase()),
        };
        let has_immediate = [
            "BLENDPS",
            "BLENDVPS",
            "CMPPD",
            "CMPPS",
            "CVTPS2PH",
            "EXTRACTI128",
            "INSERTI128",
            "INSERTPS",
            "PERMPD",
            "ROUNDPD",
            "ROUNDPS",
            "SHUFPS",
        ]
        .contains(&name)
            || SHIFTS.contains(&name);
        for register in [0, 3, 7, 8, 15u8] {
            for other in [1, 9u8] {
                let is_shift = SHIFTS.contains(&name);
                // Digit 6 shifts up.
                let (reg, vvvv) = if is_shift { (6, register) } else { (register, 0) };
                let text = decoded(|assembler| {
                    let immediate = has_immediate.then_some(0x10);
                    let length = match name {
                        // Of the low half only.
                        "MOVD_LOAD" | "MOVQ_LOAD" | "MOVQ_STORE" | "INSERTPS" => Length::Half,
                        _ => Length::Whole,
                    };
                    let is_load = ["MOVHPS_LOAD", "MOVD_LOAD"].contains(&name);
                    // Registers of another kind, or none at all, are their operands.
                    let length = if name == "MOVHPS_LOAD" { Length::Half } else { length };
                    if is_load {
                        assembler.vex(op, length, reg, vvvv, Mem::at(Gpr::Rbx, 64), immediate);
                    } else {
                        assembler.vex(op, length, reg, vvvv, Ymm(other), immediate);
                    }
                });
                let [text] = &text[..] else { panic!("{name}: {text:?}") };
                let found = text.split([' ']).next().unwrap_or_default();
                // Comparisons have names of their own for each predicate.
                let fits =
                    found == mnemonic || (name.starts_with("CMPP") && found.starts_with("vcmp"));
                assert!(fits, "{name}: {text}");
                let named = |number: u8| {
                    text.split([' ', ',', '[', ']']).any(|part| {
                        part == format!("ymm{number}") || part == format!("xmm{number}")
                    })
                };
                assert!(named(register), "{name} {register}: {text}");
                let is_memory = text.contains('[');
                assert!(is_memory || named(other), "{name} {register} {other}: {text}");
            }
        }
    }
}

/// The instructions of AVX-512 by the names that they have there.
#[test]
fn vector_instructions_of_512_bits() {
    for &(name, op) in Avx::ALL.iter().filter(|(_, op)| op.has_evex()) {
        let mnemonic = match name {
            "PSHIFTD_IMMEDIATE" => "vpslld".to_owned(),
            "PSHIFTQ_IMMEDIATE" => "vpsllq".to_owned(),
            "ROUNDPD" => "vrndscalepd".to_owned(),
            "ROUNDPS" => "vrndscaleps".to_owned(),
            _ => format!("v{}", name.split('_').next().unwrap_or(name).to_lowercase()),
        };
        let has_immediate = [
            "CMPPD",
            "CMPPS",
            "CVTPS2PH",
            "EXTRACTI64X4",
            "INSERTI64X4",
            "PTERNLOGD",
            "ROUNDPD",
            "ROUNDPS",
            "SHUFPS",
        ]
        .contains(&name)
            || SHIFTS.contains(&name);
        let is_comparison = name.starts_with("CMPP") || name.starts_with("PCMP");
        let is_mask = ["PMOVM2D", "PMOVM2Q"].contains(&name);
        for register in [0, 7, 8, 15, 16, 31u8] {
            for other in [1, 9, 18, 30u8] {
                let is_shift = SHIFTS.contains(&name);
                let (reg, prefix) = if is_shift { (6, register) } else { (register, 0) };
                let other = if is_mask { 3 } else { other };
                let text = decoded(|assembler| {
                    let immediate = has_immediate.then_some(0x10);
                    assembler.evex(op, reg, prefix, Ymm(other), immediate);
                });
                // The mask register of a comparison becomes lanes.
                let written = &text[text.len() - 1];
                assert_eq!(text.len(), if is_comparison { 2 } else { 1 }, "{name}: {text:?}");
                let found = text[0].split(' ').next().unwrap_or_default();
                let fits = match is_comparison {
                    true if name.starts_with("CMPP") => found.starts_with("vcmp"),
                    _ => found == mnemonic,
                };
                assert!(fits, "{name}: {text:?}");
                let names = |text: &str, number: u8| {
                    text.split([' ', ',', '[', ']']).any(|part| {
                        ["zmm", "ymm", "xmm", "k"]
                            .iter()
                            .any(|kind| part == format!("{kind}{number}"))
                    })
                };
                assert!(names(written, register), "{name} {register}: {text:?}");
                assert!(names(&text[0], other), "{name} {register} {other}: {text:?}");
                assert!(text[0].contains("zmm") || is_mask, "{name}: {text:?}");
            }
        }
    }
    let text = decoded(|assembler| {
        assembler.evex(Avx::ADDPD, 17, 25, Mem::at(Gpr::R13, 64).indexed(Gpr::R9, 3), None);
        assembler.evex(Avx::MULPS, 1, 2, Mem::at(Gpr::Rax, 0), None);
        assembler.evex(Avx::PMOVDB, 30, 0, Mem::at(Gpr::Rsp, 16), None);
        assembler.evex(Avx::CMPPD, 20, 21, Mem::at(Gpr::Rbx, 0), Some(0));
        assembler.evex(Avx::PCMPGTD, 2, 3, Ymm(4), None);
        assembler.evex(Avx::PTERNLOGD, 16, 17, Ymm(31), Some(0xCA));
    });
    let expected = [
        "vaddpd zmm17,zmm25,[r13+r9*8+40h]",
        "vmulps zmm1,zmm2,[rax]",
        "vpmovdb [rsp+10h],zmm30",
        "vcmpeqpd k1,zmm21,[rbx]",
        "vpmovm2q zmm20,k1",
        "vpcmpgtd k1,zmm3,zmm4",
        "vpmovm2d zmm2,k1",
        "vpternlogd zmm16,zmm17,zmm31,0CAh",
    ];
    assert_eq!(text, expected);
}

#[test]
fn places_in_memory() {
    let bases = [Gpr::Rax, Gpr::Rbx, Gpr::Rsp, Gpr::Rbp, Gpr::R12, Gpr::R13, Gpr::R15];
    for base in bases {
        for offset in [0, 8, -128, 127, 128, 4096, -4096] {
            for index in [None, Some((Gpr::R8, 2)), Some((Gpr::Rcx, 3)), Some((Gpr::R12, 0))] {
                let mut place = Mem::at(base, offset);
                if let Some((register, scale)) = index {
                    place = place.indexed(register, scale);
                }
                let text = decoded(|assembler| {
                    assembler.vex(Avx::ADDPS, Length::Whole, 9, 2, place, None);
                });
                let mut expected = format!("{base:?}").to_lowercase();
                if let Some((register, scale)) = index {
                    expected += &format!("+{}", format!("{register:?}").to_lowercase());
                    if scale > 0 {
                        expected += &format!("*{}", 1 << scale);
                    }
                }
                expected += &match offset {
                    0 => String::new(),
                    1.. => format!("+{}", hexadecimal(offset)),
                    _ => format!("-{}", hexadecimal(-offset)),
                };
                assert_eq!(text, [format!("vaddps ymm9,ymm2,[{expected}]")]);
            }
        }
    }
}

/// A number as the formatter writes it.
fn hexadecimal(number: i32) -> String {
    if number < 10 {
        return number.to_string();
    }
    let digits = format!("{number:X}h");
    if digits.starts_with(|c: char| c.is_ascii_alphabetic()) {
        format!("0{digits}")
    } else {
        digits
    }
}

#[test]
fn constants_are_behind_the_code() {
    let text = decoded(|assembler| {
        let first = assembler.constant([1; 32]);
        let second = assembler.constant([2; 32]);
        assert_eq!(assembler.constant([1; 32]), first);
        assembler.vex(Avx::CMPPS, Length::Whole, 0, 1, Mem::constant(second), Some(0));
        assembler.vex(Avx::ADDPS, Length::Whole, 0, 1, Mem::constant(first), None);
    });
    // 9 and 8 bytes of code, filled up to 64, and 64 bytes for each constant.
    assert_eq!(text, ["vcmpeqps ymm0,ymm1,[rel 80h]", "vaddps ymm0,ymm1,[rel 40h]"]);
}

#[test]
fn instructions_of_general_purpose_registers() {
    let place = Mem::at(Gpr::R12, 8);
    let text = decoded(|assembler| {
        let (start, end) = (assembler.label(), assembler.label());
        assembler.bind(start);
        assembler.mov(Gpr::R9, Gpr::Rdi);
        assembler.load(Gpr::Rcx, place, 1, false);
        assembler.load(Gpr::Rcx, place, 1, true);
        assembler.load(Gpr::R10, place, 2, false);
        assembler.load(Gpr::R10, place, 2, true);
        assembler.load(Gpr::Rdx, place, 4, false);
        assembler.load(Gpr::Rdx, place, 4, true);
        assembler.load(Gpr::Rdx, place, 8, false);
        assembler.store(place, Gpr::Rsi, 1);
        assembler.store(place, Gpr::R9, 2);
        assembler.store(place, Gpr::R9, 4);
        assembler.store(place, Gpr::Rax, 8);
        assembler.set(Gpr::R11, 0);
        assembler.set(Gpr::R11, 7);
        assembler.add(Gpr::Rax, Gpr::R15);
        assembler.add_number(Gpr::Rsp, -32);
        assembler.subtract_number(Mem::at(Gpr::R12, 0), 5);
        assembler.multiply(Gpr::Rax, Gpr::Rcx, 12);
        assembler.compare(Gpr::R8, Gpr::Rsi);
        assembler.compare_number(Gpr::Rcx, 3);
        assembler.test_byte(place);
        assembler.test(Gpr::Rax);
        assembler.test_bit(Gpr::Rcx);
        assembler.move_if(Condition::Greater, Gpr::Rcx, Gpr::Rdx);
        assembler.move_if(Condition::Less, Gpr::Rcx, Gpr::Rdx);
        assembler.address(Gpr::Rsp, Mem::at(Gpr::Rbp, -16));
        assembler.move_mask(Gpr::Rcx, Ymm(11));
        assembler.jump_if(Condition::NotEqual, start);
        assembler.jump_if(Condition::AboveOrEqual, end);
        assembler.call(place);
        assembler.call_label(end);
        assembler.push(Gpr::R12);
        assembler.pop(Gpr::Rbx);
        assembler.vzeroupper();
        assembler.bind(end);
        assembler.ret();
    });
    let expected = [
        "mov r9,rdi",
        "movzx ecx,byte [r12+8]",
        "movsx rcx,byte [r12+8]",
        "movzx r10d,word [r12+8]",
        "movsx r10,word [r12+8]",
        "mov edx,[r12+8]",
        "movsxd rdx,[r12+8]",
        "mov rdx,[r12+8]",
        "mov [r12+8],sil",
        "mov [r12+8],r9w",
        "mov [r12+8],r9d",
        "mov [r12+8],rax",
        "xor r11d,r11d",
        "mov r11d,7",
        "add rax,r15",
        "add rsp,0FFFFFFFFFFFFFFE0h",
        "sub qword [r12],5",
        "imul rax,rcx,0Ch",
        "cmp r8,rsi",
        "cmp rcx,3",
        "cmp byte [r12+8],0",
        "test eax,eax",
        "test cl,1",
        "cmovg rcx,rdx",
        "cmovl rcx,rdx",
        "lea rsp,[rbp-10h]",
        "vmovmskps ecx,ymm11",
        "jne near 0",
    ];
    let jumps = expected.len();
    // Words about sizes differ between assemblers.
    let plain = |text: &String| text.replace("dword ", "").replace("strict ", "");
    let found: Vec<String> = text[..jumps].iter().map(plain).collect();
    assert_eq!(found[..jumps - 1], expected[..jumps - 1]);
    assert!(text[jumps - 1].starts_with("jne"), "{}", text[jumps - 1]);
    let rest: Vec<&str> =
        text[jumps..].iter().map(|t| t.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(rest, ["jae", "call", "call", "push", "pop", "vzeroupper", "ret"]);
}
