//! Machine code of single operations computes what their kernels do.

use codegen::{
    Emitter, Encoder, ExecutableMemory, Loop, LoopCode, LoopInput, NotRun, Width, has_loop_code,
    is_available,
};
use numerics::DType;
use numerics::math::SliceKernel;
use numerics::math::{BinaryOp, Direction, UnaryOp};
use std::sync::{Arc, OnceLock};

/// Elements of a type: every pair of some special numbers, and of pseudo-random bits.
fn samples(dtype: DType, salt: u64) -> Vec<u8> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        -2.5,
        3.0,
        1e-40,
        -1e-40,
        1e30,
        -1e30,
        3e9,
        -3e9,
        5e9,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        2147483647.0,
        16777217.0,
        80.0,
        -80.0,
    ];
    let mut bytes = Vec::new();
    let mut state = 1 + salt;
    // All numbers of 16 bits.
    let count = if dtype.bytes() == 2 { 1 << 16 } else { 300 };
    for i in 0..special.len() * special.len() + count {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let bits = state >> 20 ^ state << 33;
        let number = if salt == 0 { i % special.len() } else { i / special.len() };
        let x = special.get(number).filter(|_| i < special.len() * special.len());
        let small = (bits % 2000) as f64 / 37.0 - 27.0;
        let x = x.copied().or((i % 3 == 0 && dtype.bytes() > 2).then_some(small));
        match dtype {
            DType::I1 => bytes.push((bits >> 7 & 1) as u8),
            _ if dtype.bytes() < 4 => {
                let bits = match (dtype.float_format(), x) {
                    (Some(format), Some(x)) => format.encode(x),
                    (None, Some(x)) => x as i64 as u64,
                    (_, None) if i >= special.len() * special.len() => i as u64,
                    _ => bits,
                };
                let spare = 64 - dtype.bits();
                let bits = match dtype.is_signed() && dtype.is_integer() {
                    true => ((bits << spare) as i64 >> spare) as u64,
                    false => bits << spare >> spare,
                };
                bytes.extend_from_slice(&bits.to_le_bytes()[..dtype.bytes()]);
            }
            DType::F32 => {
                bytes.extend(x.map_or(bits as u32, |x| (x as f32).to_bits()).to_ne_bytes())
            }
            DType::F64 => bytes.extend(x.map_or(bits, f64::to_bits).to_ne_bytes()),
            _ if dtype.bytes() == 4 => {
                bytes.extend((x.map_or(bits as i32, |x| x as i32)).to_ne_bytes());
            }
            _ => bytes.extend((x.map_or(bits as i64, |x| x as i64)).to_ne_bytes()),
        }
    }
    bytes
}

/// The widths of vectors that this machine has.
fn widths() -> Vec<Width> {
    if cfg!(target_arch = "aarch64") {
        return vec![Width::Neon];
    }
    let isas = numerics::simd::Isa::available().into_iter();
    let width = |isa: numerics::simd::Isa| match (isa.has_avx2(), isa.has_avx512()) {
        (false, _) => None,
        (true, false) => Some(Width::Avx2),
        (true, true) => Some(Width::Avx512),
    };
    isas.filter_map(width).collect()
}

fn check(kernel: SliceKernel) -> bool {
    check_with(kernel, None)
}

/// Compares code with a kernel, whose last operand may be the same number in each iteration.
fn check_with(kernel: SliceKernel, constant: Option<u64>) -> bool {
    if !has_loop_code(&kernel) || !is_available() {
        return false;
    }
    check_widths(&kernel, constant);
    true
}

fn check_widths(kernel: &SliceKernel, constant: Option<u64>) {
    let input = |&dtype| LoopInput { dtype, repeats: false, constant: None };
    let mut types: Vec<LoopInput> = kernel.operands().iter().map(input).collect();
    if let (Some(x), Some(input)) = (constant, types.last_mut()) {
        (input.repeats, input.constant) = (true, Some(x));
    }
    let numbers: Vec<usize> = (0..types.len()).collect();
    let source = Loop { inputs: &types, functions: &[(kernel, &numbers)], outputs: &[types.len()] };
    let code = |width: Width| {
        let executable = Arc::new(OnceLock::new());
        let mut emitter = Emitter::default();
        let code = LoopCode::new(&source, width, &mut emitter, &executable).unwrap();
        executable.set(ExecutableMemory::new(&emitter.finish().unwrap()).unwrap()).unwrap();
        (width, code)
    };
    let codes: Vec<(Width, LoopCode)> = widths().into_iter().map(code).collect();
    let samples = |(i, input): (usize, &LoopInput)| samples(input.dtype, i as u64);
    let mut operands: Vec<Vec<u8>> = types.iter().enumerate().map(samples).collect();
    if let (Some(x), Some(operand)) = (constant, operands.last_mut()) {
        let size = kernel.operands()[0].bytes();
        operand.chunks_mut(size).for_each(|bytes| bytes.copy_from_slice(&x.to_le_bytes()[..size]));
    }
    // Once more without very large numbers, for which there may be no code.
    let mut smaller = operands.clone();
    let is_float = |(_, t): &(_, &LoopInput)| t.dtype == DType::F32 && !t.is_known();
    for (bytes, _) in smaller.iter_mut().zip(&types).filter(is_float) {
        for bytes in bytes.as_chunks_mut::<4>().0 {
            let x = f32::from_ne_bytes(*bytes);
            let x = if x.abs() > 1e6 { x.signum() * (x.to_bits() % 999_983) as f32 } else { x };
            *bytes = x.to_ne_bytes();
        }
    }
    let count = operands[0].len() / types[0].dtype.bytes();
    let counts = [count, 3, 8, 13, 16, 31];
    let all = [&operands, &smaller].into_iter().take(if smaller == operands { 1 } else { 2 });
    for (operands, count) in all.flat_map(|operands| counts.map(|count| (operands, count))) {
        let parts = operands.iter().zip(&types).map(|(b, t)| &b[..count * t.dtype.bytes()]);
        let parts: Vec<&[u8]> = parts.collect();
        let size = kernel.result().bytes();
        let aligned = |bytes: &[u8]| {
            let mut copy = numerics::math::AlignedBytes::zeros(bytes.len());
            copy.copy_from_slice(bytes);
            copy
        };
        let copies: Vec<_> = parts.iter().map(|part| aligned(part)).collect();
        let copies: Vec<&[u8]> = copies.iter().map(|copy| &copy[..]).collect();
        let mut expected = aligned(&vec![0; count * size]);
        kernel.apply(&mut expected, &copies).unwrap();
        let read = parts.iter().zip(&types);
        let read: Vec<&[u8]> = read.filter(|(_, t)| !t.is_known()).map(|(&part, _)| part).collect();
        for (width, code) in &codes {
            let mut found = vec![0; count * size];
            if code.run(&read, &mut [&mut found[..]], count) == Err(NotRun::Exception) {
                let is_large = |bytes: &&[u8]| {
                    let numbers =
                        bytes.chunks(4).map(|x| f32::from_ne_bytes(x.try_into().unwrap()));
                    numbers.into_iter().any(|x| x.abs() > 1e6)
                };
                assert!(read.iter().any(is_large), "{kernel:?}");
                continue;
            }
            if found[..] == expected[..] {
                continue;
            }
            let results = found.chunks(size).zip(expected.chunks(size));
            for (at, (found, expected)) in results.enumerate().filter(|(_, (a, b))| a != b) {
                let element = |(part, t): (&&[u8], &LoopInput)| {
                    part[at * t.dtype.bytes()..][..t.dtype.bytes()].to_vec()
                };
                let operands: Vec<Vec<u8>> = parts.iter().zip(&types).map(element).collect();
                let nans = operands.iter().zip(&types).filter(|(x, t)| is_nan(t.dtype, x));
                assert!(
                    same_nans(kernel, nans.count(), found, expected),
                    "{width:?} {:?} of {kernel:?}: {found:?}, not {expected:?}, of {operands:?}",
                    kernel.function(),
                );
            }
        }
    }
}

fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    match dtype {
        DType::F32 => f32::from_ne_bytes(bytes.try_into().unwrap()).is_nan(),
        DType::F64 => f64::from_ne_bytes(bytes.try_into().unwrap()).is_nan(),
        _ if dtype.bytes() > 2 => false,
        _ => dtype.float_format().is_some_and(|format| {
            let bits = bytes.iter().rev().fold(0, |bits, &b| bits << 8 | u64::from(b));
            format.is_nan(bits)
        }),
    }
}

/// If results that differ are NaNs which may. Payloads of NaNs may differ, but not of operations
/// that loops have code for alone; and of several NaNs among the operands any may be the result.
fn same_nans(kernel: &SliceKernel, nans: usize, found: &[u8], expected: &[u8]) -> bool {
    // Each part of a complex number is a number.
    let is_same_part =
        |(a, b): (&[u8], &[u8])| a == b || is_nan(DType::F32, a) && is_nan(DType::F32, b);
    let result = kernel.result();
    if result == DType::C64 {
        return found.chunks(4).zip(expected.chunks(4)).all(is_same_part);
    }
    let sign = |bytes: &[u8]| bytes[bytes.len() - 1] >> 7;
    is_nan(result, found)
        && is_nan(result, expected)
        && (nans > 1 || sign(found) == sign(expected) && !codegen::is_faster_alone(kernel))
}

/// Checks all kernels that have code, of which there are at least a number where there is code.
fn check_all(kernels: impl Iterator<Item = SliceKernel>, least: usize) {
    let checked = kernels.filter_map(|kernel| check(kernel).then_some(())).count();
    assert!(checked >= least || !is_available(), "{checked}");
}

#[test]
fn code_computes_what_kernels_do() {
    let of_type = |&dtype: &DType| {
        let unary = UnaryOp::ALL.iter().filter_map(move |&op| SliceKernel::unary(op, dtype));
        let binary = BinaryOp::ALL.iter().filter_map(move |&op| SliceKernel::binary(op, dtype));
        let compare = Direction::ALL.iter().map(move |&d| SliceKernel::compare(d, false, dtype));
        unary.chain(binary).chain(compare).chain([SliceKernel::select(dtype)])
    };
    check_all(DType::ALL.iter().flat_map(of_type), 120);
}

#[test]
fn code_converts_as_kernels_do() {
    let of_type = |&from: &DType| {
        let converted = DType::ALL.iter().filter_map(move |&to| SliceKernel::convert(from, to));
        converted.chain(DType::ALL.iter().filter_map(move |&to| SliceKernel::bitcast(from, to)))
    };
    check_all(DType::ALL.iter().flat_map(of_type), 50);
}

/// Code for operands that are known.
#[test]
fn constants_are_part_of_code() {
    let mut checked = 0;
    for exponent in [0.0, 0.5, 1.5, -1.5, 2.0, 3.0, -1.0, 1e10, f32::INFINITY, f32::NAN] {
        let power = SliceKernel::binary(BinaryOp::Power, DType::F32).unwrap();
        checked += usize::from(check_with(power, Some(exponent.to_bits().into())));
    }
    for bound in [0.0, -0.0, 6.0, -1.5, 1e-40, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        for op in [BinaryOp::Maximum, BinaryOp::Minimum] {
            let kernel = SliceKernel::binary(op, DType::F32).unwrap();
            checked += usize::from(check_with(kernel, Some(bound.to_bits().into())));
        }
    }
    for divisor in [1, 2, 3, 7, 64, 10_000, i32::MAX.into(), i32::MIN.into(), -1, -2, -5, -4096, 0]
        .into_iter()
        .chain([1 << 32, (1 << 32) + 1, 641 * 6_700_417, i64::MAX, i64::MIN, i64::MIN + 1])
    {
        for dtype in DType::ALL.iter().filter(|dtype| dtype.is_integer()) {
            for op in [BinaryOp::Divide, BinaryOp::Remainder] {
                let above = u64::BITS - dtype.bits();
                let bits = match dtype.is_signed() {
                    true => (divisor << above >> above) as u64,
                    false => (divisor as u64) << above >> above,
                };
                let kernel = SliceKernel::binary(op, *dtype).unwrap();
                checked += usize::from(check_with(kernel, Some(bits)));
            }
        }
    }
    assert!(checked > 30 || !is_available(), "{checked}");
}

/// An input of a tile has the same elements for all tiles, of whole iterations or not.
#[test]
fn inputs_of_a_tile_are_read_again() {
    let kernel = SliceKernel::binary(BinaryOp::Subtract, DType::F32).unwrap();
    if !has_loop_code(&kernel) || !is_available() {
        return;
    }
    let input = LoopInput { dtype: DType::F32, repeats: false, constant: None };
    let source = Loop { inputs: &[input; 2], functions: &[(&kernel, &[0, 1])], outputs: &[2] };
    for width in widths() {
        let executable = Arc::new(OnceLock::new());
        let mut emitter = Emitter::default();
        let code = LoopCode::new(&source, width, &mut emitter, &executable).unwrap();
        executable.set(ExecutableMemory::new(&emitter.finish().unwrap()).unwrap()).unwrap();
        for (count, tile) in [(96, 32), (100, 32), (170, 40), (64, 64), (20, 20)] {
            let bytes = |of: &dyn Fn(usize) -> usize, count: usize| -> Vec<u8> {
                (0..count).flat_map(|i| (of(i) as f32).to_ne_bytes()).collect()
            };
            let (all, alike) = (bytes(&|i| 1000 + i, count), bytes(&|i| 3 * i, tile));
            let mut found = vec![0; 4 * count];
            let inputs = [&all[..], &alike[..]];
            assert_eq!(code.run(&inputs, &mut [&mut found[..]], tile), Ok(()));
            let expected = bytes(&|i| 1000 + i - 3 * (i % tile), count);
            assert!(found == expected, "{width:?} {count} {tile}");
            // Other sizes are refused.
            let inputs = [&all[..], &alike[4..]];
            let refused = code.run(&inputs, &mut [&mut found[..]], tile);
            assert_eq!(refused, Err(NotRun::Misfit));
        }
    }
}

/// Iterations of a tile share one element, which is some elements after that of the tile before.
#[test]
fn elements_that_a_tile_shares() {
    let kernel = SliceKernel::binary(BinaryOp::Subtract, DType::F64).unwrap();
    if !has_loop_code(&kernel) || !is_available() {
        return;
    }
    let [one, shared] =
        [false, true].map(|repeats| LoopInput { dtype: DType::F64, repeats, constant: None });
    let source = Loop { inputs: &[one, shared], functions: &[(&kernel, &[0, 1])], outputs: &[2] };
    for width in widths() {
        let executable = Arc::new(OnceLock::new());
        let mut emitter = Emitter::default();
        let code = LoopCode::new(&source, width, &mut emitter, &executable).unwrap();
        executable.set(ExecutableMemory::new(&emitter.finish().unwrap()).unwrap()).unwrap();
        let numbers = |count: usize, of: &dyn Fn(usize) -> usize| -> Vec<u8> {
            (0..count).flat_map(|i| (of(i) as f64).to_ne_bytes()).collect()
        };
        for (count, tile) in [(96usize, 32), (100, 32), (170, 45), (64, 64), (20, 5), (700, 233)] {
            for distance in [0, 1, 3] {
                let tiles = count.div_ceil(tile);
                let all = numbers(count, &|i| 1000 + i);
                let of_tiles = numbers((tiles - 1) * distance + 1, &|i| 7 * i);
                let mut found = vec![0; 8 * count];
                let outputs = &mut [&mut found[..]];
                assert_eq!(code.run(&[&all, &of_tiles], outputs, tile), Ok(()));
                let expected = numbers(count, &|i| 1000 + i - 7 * (i / tile * distance));
                assert!(found == expected, "{width:?} {count} {tile} {distance}");
            }
        }
        // Two elements for three tiles.
        let (all, two, mut found) = (numbers(96, &|i| i), numbers(2, &|i| i), vec![0; 8 * 96]);
        let refused = code.run(&[&all, &two], &mut [&mut found[..]], 32);
        assert_eq!(refused, Err(NotRun::Misfit));
    }
}

/// Absolute values of complex numbers are compared by their squares, with the same results.
#[test]
fn comparisons_of_absolute_values() {
    let abs = SliceKernel::unary(UnaryOp::Abs, DType::C64).unwrap();
    if !has_loop_code(&abs) || !is_available() {
        return;
    }
    let next = |x: f32| f32::from_bits(x.to_bits() + 1);
    let parts = [0.0, -0.0, 3.0, next(3.0), -4.0, 1.2, 1.6, 1e-45, 3e38, f32::INFINITY, f32::NAN];
    let pairs = parts.iter().flat_map(|re| parts.iter().flat_map(move |im| [*re, *im]));
    let mut numbers: Vec<u8> = pairs.flat_map(f32::to_ne_bytes).collect();
    numbers.resize(128 * 8, 0);
    let mut values = vec![0; 128 * 4];
    abs.apply(&mut values, &[&numbers]).unwrap();
    let bounds = [2.0, 5.0, next(5.0), 0.0, -0.0, -1.0, 1e-45, f32::MAX, f32::INFINITY, f32::NAN];
    for (bound, width) in bounds.into_iter().flat_map(|b| widths().into_iter().map(move |w| (b, w)))
    {
        for (&direction, swapped) in Direction::ALL.iter().flat_map(|d| [(d, false), (d, true)]) {
            let compare = SliceKernel::compare(direction, false, DType::F32);
            let constant = Some(u64::from(bound.to_bits()));
            let inputs = [
                LoopInput { dtype: DType::C64, repeats: false, constant: None },
                LoopInput { dtype: DType::F32, repeats: true, constant },
            ];
            let operands: [usize; 2] = if swapped { [1, 2] } else { [2, 1] };
            let functions: [(&SliceKernel, &[usize]); 2] = [(&abs, &[0]), (&compare, &operands)];
            let source = Loop { inputs: &inputs, functions: &functions, outputs: &[3] };
            let executable = Arc::new(OnceLock::new());
            let mut emitter = Emitter::default();
            let code = LoopCode::new(&source, width, &mut emitter, &executable).unwrap();
            executable.set(ExecutableMemory::new(&emitter.finish().unwrap()).unwrap()).unwrap();
            let bounds: Vec<u8> = [bound; 128].into_iter().flat_map(f32::to_ne_bytes).collect();
            let sides = if swapped { [&bounds, &values] } else { [&values, &bounds] };
            let mut expected = vec![0; 128];
            compare.apply(&mut expected, &sides.map(|side| &side[..])).unwrap();
            let mut found = vec![0; 128];
            assert_eq!(code.run(&[&numbers], &mut [&mut found[..]], 128), Ok(()));
            assert!(found == expected, "{width:?} {direction:?} {bound} {swapped}");
        }
    }
}

/// Quotients and remainders of integers of 64 bits, of dividends beside multiples of divisors.
#[test]
fn quotients_of_64_bits() {
    for dtype in [DType::I64, DType::U64] {
        let kernels = [BinaryOp::Divide, BinaryOp::Remainder]
            .map(|op| SliceKernel::binary(op, dtype).unwrap());
        if !is_available() || !kernels.iter().all(has_loop_code) {
            return;
        }
        let ends = |bits: u32| {
            let end = 1u64.checked_shl(bits).unwrap_or(0);
            [end.wrapping_sub(1), end, end + 1]
        };
        let mut numbers: Vec<u64> = (0..=64).step_by(3).flat_map(ends).collect();
        numbers.extend(numbers.clone().iter().map(|x| x.wrapping_neg()));
        numbers.extend([3, 10, 12_345_678_901, u64::MAX / 3, u64::MAX / 5 * 3 + 1]);
        let mut pairs = Vec::new();
        for &y in &numbers {
            for &x in &numbers {
                let multiple = x.wrapping_mul(y);
                pairs.extend([x, multiple, multiple.wrapping_sub(1)].map(|x| (x, y)));
            }
        }
        let bytes = |of: &dyn Fn(&(u64, u64)) -> u64| -> Vec<u8> {
            pairs.iter().flat_map(|pair| of(pair).to_ne_bytes()).collect()
        };
        let (xs, ys) = (bytes(&|pair| pair.0), bytes(&|pair| pair.1));
        let both = |&(x, y): &(u64, u64)| -> [u64; 2] {
            match (dtype, y) {
                (_, 0) => [u64::MAX, x],
                (DType::U64, _) => [x / y, x % y],
                _ => {
                    let (x, y) = (x as i64, y as i64);
                    [x.wrapping_div(y) as u64, x.wrapping_rem(y) as u64]
                }
            }
        };
        let expected = [0, 1].map(|at| bytes(&|pair| both(pair)[at]));
        let input = LoopInput { dtype, repeats: false, constant: None };
        // Both in one loop, which divides once.
        let functions: [(&SliceKernel, &[usize]); 2] =
            [(&kernels[0], &[0, 1]), (&kernels[1], &[0, 1])];
        let source = Loop { inputs: &[input; 2], functions: &functions, outputs: &[2, 3] };
        for width in widths() {
            let executable = Arc::new(OnceLock::new());
            let mut emitter = Emitter::default();
            let code = LoopCode::new(&source, width, &mut emitter, &executable).unwrap();
            executable.set(ExecutableMemory::new(&emitter.finish().unwrap()).unwrap()).unwrap();
            let mut found = [vec![0; xs.len()], vec![0; xs.len()]];
            let [first, second] = &mut found;
            let mut outputs = [&mut first[..], &mut second[..]];
            assert_eq!(code.run(&[&xs, &ys], &mut outputs, pairs.len()), Ok(()));
            assert!(found == expected, "{width:?} {dtype}");
        }
    }
}
