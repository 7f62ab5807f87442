//! Loops over elements in machine code.

use crate::allocate::emit;
use crate::elementwise::{Chunk, LANES, compute, is_expensive, needs_range_reduction};
use crate::executable::ExecutableMemory;
use crate::machine::{Condition, Encoder, Mem, Register};
use crate::masks::{mask_of_bytes, mask_store};
use crate::ops::{Op, Store};
use crate::small::{is_small, lanes_of_small, small_load, small_store};
use crate::vector::{HalfNumbers, NOWHERE, ScalarInst, VectorFunction, Width};
use numerics::math::{BinaryOp, Elementwise, SliceKernel, UnaryOp};
use numerics::{DType, Family};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A loop: what it reads, computes and writes.
pub struct Loop<'a> {
    /// The inputs.
    pub inputs: &'a [LoopInput],
    /// The functions. Their operands are values by number: first the inputs, then the results of
    /// functions.
    pub functions: &'a [(&'a SliceKernel, &'a [usize])],
    /// The values that are written.
    pub outputs: &'a [usize],
}

/// An input of a loop.
#[derive(Clone, Copy, Debug)]
pub struct LoopInput {
    /// Its type.
    pub dtype: DType,
    /// True for one element that all iterations share.
    pub repeats: bool,
    /// The bits of that element, if they are known.
    pub constant: Option<u64>,
}

impl LoopInput {
    /// Vectors of the element, if the code has it as a constant: then it is not among the inputs
    /// of [`LoopCode::run`].
    fn known(&self, code: &mut VectorFunction) -> Option<Chunk> {
        let bits = self.constant.filter(|_| self.is_known())?;
        Some(match self.dtype.bytes() {
            8 => Chunk::Eight([code.splat8(bits); 2]),
            4 => Chunk::Four(code.splat4(bits as u32)),
            bytes => {
                let above = u32::BITS - 8 * bytes as u32;
                let is_signed = self.dtype.family() == Family::Signed;
                let lanes = (bits as u32) << above;
                let lane = if is_signed { (lanes as i32 >> above) as u32 } else { lanes >> above };
                Chunk::Four(code.splat4(lane))
            }
        })
    }

    /// True if code for this input has the element as a constant, and is not given it.
    pub fn is_known(&self) -> bool {
        let is_integer = matches!(self.dtype.family(), Family::Signed | Family::Unsigned);
        let fits = match self.dtype.bytes() {
            4 | 8 => true,
            bytes => bytes < 4 && is_integer,
        };
        fits && self.constant.is_some()
    }
}

/// True if there is code for a function in loops.
pub fn has_loop_code(kernel: &SliceKernel) -> bool {
    has_code_in(kernel, VectorFunction::with_exceptions(Width::default()))
}

/// True if there is code for a function, of all operands.
pub fn has_code(kernel: &SliceKernel) -> bool {
    has_code_in(kernel, VectorFunction::new())
}

fn has_code_in(kernel: &SliceKernel, mut code: VectorFunction) -> bool {
    let is_of = |dtype: DType| {
        kernel.result() == dtype && kernel.operands().iter().all(|&operand| operand == dtype)
    };
    // The code of these is long to make.
    if is_of(DType::F32)
        && let Some(function) = kernel.function()
        && (is_expensive(function) || code.exceptions.is_some() && needs_range_reduction(function))
    {
        return true;
    }
    let operands: Option<SmallVec<[Chunk; 3]>> =
        kernel.operands().iter().map(|&dtype| placeholder(&mut code, dtype)).collect();
    let Some((function, operands)) = kernel.function().zip(operands) else { return false };
    code.has_lanes(kernel.result())
        && compute(&mut code, function, kernel.operands(), &operands, true).is_some()
}

/// True for a function whose code is faster than its loop also alone, and has the same bits of NaN:
/// of elements of one or two bytes, of booleans, of integers of eight bytes, whose loops have the
/// instructions of all machines, and for comparisons of eight bytes and quotients of integers.
pub fn is_faster_alone(kernel: &SliceKernel) -> bool {
    use BinaryOp::{Add, Divide, Multiply, Remainder, Subtract};
    use UnaryOp::{Abs, Ceil, Floor, IsFinite, Negate, RoundNearestEven, Sign, Sqrt, Square};
    let is_small_float = |dtype: DType| dtype.is_float() && is_small(dtype);
    let is_integer = |dtype: DType| matches!(dtype.family(), Family::Signed | Family::Unsigned);
    let operand = kernel.operands()[0];
    match kernel.function() {
        Some(Elementwise::Convert(to)) => {
            let is_narrow = |dtype| dtype == DType::I1 || is_small(dtype);
            (is_narrow(operand) || is_narrow(to)) && !kernel.has_table()
        }
        Some(Elementwise::Unary(op)) => {
            let is_exact = matches!(op, Abs | Ceil | Floor | IsFinite | Negate)
                || matches!(op, RoundNearestEven | Sign | Sqrt | Square);
            is_small_float(operand) && is_exact
        }
        Some(Elementwise::Binary(Divide | Remainder)) if is_integer(operand) => {
            // Machine code takes as long as kernels for quotients of eight bytes.
            operand.bytes() <= 4
        }
        Some(Elementwise::Binary(op)) => {
            let is_wide = is_integer(operand) && operand.bytes() == 8;
            let is_arithmetic = matches!(op, Add | Divide | Multiply | Subtract);
            is_wide || is_small_float(operand) && is_arithmetic
        }
        Some(Elementwise::Compare(..)) => is_small_float(operand) || operand.bytes() == 8,
        Some(
            Elementwise::Product
            | Elementwise::Quiet
            | Elementwise::Select
            | Elementwise::Bitcast(_),
        )
        | None => false,
    }
}

fn placeholder(code: &mut VectorFunction, dtype: DType) -> Option<Chunk> {
    let zero = code.splat4(0);
    Some(match dtype {
        DType::I1 => Chunk::Mask(zero),
        _ if !code.has_lanes(dtype) => return None,
        _ if dtype.bytes() <= 4 => Chunk::Four(zero),
        _ => Chunk::Eight([zero; 2]),
    })
}

/// Code that becomes callable when all code that is made together is ready.
#[derive(Clone, Debug)]
pub struct LoopCode {
    executable: Arc<OnceLock<ExecutableMemory>>,
    entry: usize,
    inputs: Vec<LoopInput>,
    outputs: Vec<DType>,
    /// Elements of an iteration.
    step: usize,
}

/// The reason why a loop did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// The code is not ready, or was made for other inputs and outputs.
    Misfit,
    /// For one of the elements there is no code, such as for the sine of a very large angle. The
    /// outputs have any elements.
    Exception,
}

/// An iteration of fewer instructions is for [`MAX_STEP`] elements.
const SHORT: usize = 256;
/// The maximum number of elements of an iteration, computed side by side in chunks of a vector. Of
/// a multiple of it, none are left after the last whole iteration.
pub const MAX_STEP: usize = 32;
/// The chunks of the narrowest vectors.
const MAX_CHUNKS: usize = MAX_STEP / LANES;
/// The bytes of the widest vector.
const MAX_VECTOR: usize = 64;
/// The maximum bytes of vectors on the stack: less than a page.
const MAX_STACK: usize = 3840;
impl LoopCode {
    /// Adds the code of a loop; `None` if one of its functions has no code.
    pub fn new<M: Encoder>(
        source: &Loop<'_>,
        width: Width,
        machine: &mut M,
        executable: &Arc<OnceLock<ExecutableMemory>>,
    ) -> Option<LoopCode> {
        let one = body::<M>(source, width, 1)?;
        let (step, mut body) = match one.len() {
            ..SHORT => (MAX_STEP, body::<M>(source, width, MAX_STEP / width.lanes())?),
            _ => (width.lanes(), one),
        };
        body.schedule();
        let function = |value: usize| value.checked_sub(source.inputs.len());
        let dtype = |value: usize| match function(value) {
            Some(function) => source.functions[function].0.result(),
            None => source.inputs[value].dtype,
        };
        let has_exceptions = body.exceptions.as_ref().is_some_and(|masks| !masks.is_empty());
        let outputs: Vec<DType> = source.outputs.iter().map(|&value| dtype(value)).collect();
        let inputs: Vec<LoopInput> =
            source.inputs.iter().filter(|input| !input.is_known()).copied().collect();
        let entry = machine.position();
        let entered = machine.enter_loop();
        let addresses = inputs.len() + outputs.len() + usize::from(has_exceptions);
        for number in 0..addresses.min(M::ADDRESSES) {
            let from = Mem::at(Register::First, 8 * number as i32);
            machine.load(Register::Address(number as u8), from, 8, false);
        }
        machine.set(Register::Element, 0);
        let start = machine.label();
        machine.bind(start);
        let mut slots = 0;
        emit(&body, machine, &mut slots);
        machine.add_number(Register::Element, step as i32);
        machine.compare(Register::Element, Register::Second);
        machine.jump_if(Condition::Below, start);
        let stack = slots as usize * width.bytes();
        if stack > MAX_STACK {
            return None;
        }
        machine.leave_loop(entered, stack as i32);
        let executable = Arc::clone(executable);
        Some(LoopCode { executable, entry, inputs, outputs, step })
    }

    /// True if the code is callable.
    pub fn is_ready(&self) -> bool {
        self.executable.get().is_some()
    }

    /// True for inputs, counted without known ones, of which all iterations share one element.
    pub fn repeats(&self, input: usize) -> bool {
        self.inputs.get(input).is_some_and(|input| input.repeats)
    }

    /// Runs the loop on the elements of its inputs, but for known ones, and outputs. Inputs of
    /// `tile` elements have these for all tiles; inputs of one element that iterations share
    /// may have one for each tile, at equal distances.
    ///
    /// # Errors
    /// If there are not as many as the loop was made for, all others with the same number of
    /// elements, the code is not ready, or has an exception.
    pub fn run(
        &self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        tile: usize,
    ) -> Result<(), NotRun> {
        let (Some(first), Some(dtype)) = (outputs.first(), self.outputs.first()) else {
            return Err(NotRun::Misfit);
        };
        let count = first.len() / dtype.bytes();
        let fits_output =
            |(bytes, dtype): (&&mut [u8], &DType)| bytes.len() == count * dtype.bytes();
        // The bytes from an element of each input to the next one, and from one that a tile shares
        // to that of the next tile; zero if all tiles have the same.
        let tiles = count.div_ceil(tile.max(1));
        let mut steps: SmallVec<[[usize; 2]; 12]> = SmallVec::new();
        for (bytes, &LoopInput { dtype, repeats, .. }) in inputs.iter().zip(&self.inputs) {
            steps.push(match bytes.len() / dtype.bytes() {
                1 if repeats => [0, 0],
                elements if repeats && elements > 0 && tiles > 1 => {
                    if !(elements - 1).is_multiple_of(tiles - 1) {
                        return Err(NotRun::Misfit);
                    }
                    [0, (elements - 1) / (tiles - 1) * dtype.bytes()]
                }
                elements if !repeats && elements == count => [dtype.bytes(), 0],
                elements if !repeats && elements == tile => [0, 0],
                _ => return Err(NotRun::Misfit),
            });
        }
        let fits = inputs.len() == self.inputs.len()
            && outputs.len() == self.outputs.len()
            && outputs.iter().zip(&self.outputs).all(fits_output);
        if !fits {
            return Err(NotRun::Misfit);
        }
        let has_tiles = steps
            .iter()
            .zip(&self.inputs)
            .any(|(&[element, tile], input)| element == 0 && !input.repeats || tile > 0);
        let tile = if has_tiles { tile } else { count };
        // Kept between tiles: a copy of what was just written would wait for all stores before.
        let mut addresses: SmallVec<[*mut u8; 12]> = SmallVec::new();
        for start in (0..count).step_by(tile.max(1)) {
            let len = tile.min(count - start);
            let whole = len - len % self.step;
            let number = start / tile;
            let reads = inputs
                .iter()
                .zip(&steps)
                .map(|(bytes, [element, tile])| &bytes[start * element + number * tile..]);
            if whole > 0 {
                let writes = outputs.iter_mut().zip(&self.outputs);
                let writes =
                    writes.map(|(bytes, dtype)| bytes[start * dtype.bytes()..].as_mut_ptr());
                let reads = reads.clone().map(|bytes| bytes.as_ptr().cast_mut());
                addresses.clear();
                addresses.extend(reads.chain(writes));
                self.call(&mut addresses, whole)?;
            }
            if whole == len {
                continue;
            }
            if whole == 0 {
                let reads: SmallVec<[&[u8]; 8]> = reads.collect();
                self.run_rest(&reads, outputs, start, 0..len)?;
                continue;
            }
            // The last iteration computes some elements again.
            let last = len - self.step;
            let reads = reads.zip(&self.inputs).map(|(bytes, input)| {
                let first = if input.repeats { 0 } else { last * input.dtype.bytes() };
                bytes[first..].as_ptr().cast_mut()
            });
            let writes = outputs.iter_mut().zip(&self.outputs);
            let writes =
                writes.map(|(bytes, dtype)| bytes[(start + last) * dtype.bytes()..].as_mut_ptr());
            addresses.clear();
            addresses.extend(reads.chain(writes));
            self.call(&mut addresses, self.step)?;
        }
        Ok(())
    }

    /// Runs the loop on copies of elements, less than an iteration. Outputs have them from `first`
    /// on.
    fn run_rest(
        &self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        first: usize,
        range: Range<usize>,
    ) -> Result<(), NotRun> {
        const ROOM: usize = 8 * MAX_STEP;
        let mut copies: SmallVec<[[u8; ROOM]; 12]> = SmallVec::new();
        for (bytes, &LoopInput { dtype, repeats, .. }) in inputs.iter().zip(&self.inputs) {
            let range = if repeats { 0..1 } else { range.clone() };
            let rest = &bytes[range.start * dtype.bytes()..range.end * dtype.bytes()];
            let mut copy = [0; ROOM];
            copy[..rest.len()].copy_from_slice(rest);
            copies.push(copy);
        }
        copies.resize(inputs.len() + outputs.len(), [0; ROOM]);
        self.call(&mut copies.iter_mut().map(|copy| copy.as_mut_ptr()).collect(), self.step)?;
        let results = outputs.iter_mut().zip(&self.outputs).zip(&copies[inputs.len()..]);
        for ((bytes, dtype), copy) in results {
            let [start, end] = [range.start, range.end].map(|at| (first + at) * dtype.bytes());
            bytes[start..end].copy_from_slice(&copy[..end - start]);
        }
        Ok(())
    }

    /// Runs the loop on `count` elements, of whole iterations, at each address.
    fn call(&self, addresses: &mut SmallVec<[*mut u8; 12]>, count: usize) -> Result<(), NotRun> {
        let executable = self.executable.get().ok_or(NotRun::Misfit)?;
        let mut exceptions = [0u8; MAX_VECTOR];
        addresses.push(exceptions.as_mut_ptr());
        let count = std::ptr::without_provenance_mut(count);
        // SAFETY: a function made by `new` starts at `entry`. It reads and writes `count` elements
        // at the addresses, which `run` has checked, or one where iterations share it, and a vector
        // of exceptions at the last one if it has any.
        #[allow(unsafe_code, reason = "machine code is called")]
        unsafe {
            executable.call(self.entry, addresses.as_mut_ptr().cast(), count);
        }
        let has_none = exceptions.iter().fold(0, |any, byte| any | byte) == 0;
        if has_none { Ok(()) } else { Err(NotRun::Exception) }
    }
}

/// The code of an iteration, over some chunks side by side.
fn body<M: Encoder>(source: &Loop<'_>, width: Width, chunks: usize) -> Option<VectorFunction> {
    let mut body = VectorFunction::with_exceptions(width);
    // The chunks of each value.
    let mut values: Vec<SmallVec<[Chunk; MAX_CHUNKS]>> = Vec::new();
    let mut addresses = 0;
    for input @ &LoopInput { dtype, repeats, .. } in source.inputs {
        if let Some(known) = input.known(&mut body) {
            values.push(smallvec![known; chunks]);
            continue;
        }
        let mut read = |chunk| {
            let base = address::<M>(&mut body, addresses);
            load(&mut body, base, dtype, chunk)
        };
        values.push(match repeats {
            true => smallvec![read(None)?; chunks],
            false => (0..chunks).map(|chunk| read(Some(chunk))).collect::<Option<_>>()?,
        });
        addresses += 1;
    }
    for &(kernel, operands) in source.functions {
        let function = kernel.function()?;
        let result = |chunk: usize| {
            let operands = operands.iter().map(|&operand| Some(values.get(operand)?[chunk]));
            let operands: SmallVec<[Chunk; 3]> = operands.collect::<Option<_>>()?;
            compute(&mut body, function, kernel.operands(), &operands, false)
        };
        let results = (0..chunks).map(result).collect::<Option<_>>()?;
        values.push(results);
    }
    for &value in source.outputs {
        let dtype = match value.checked_sub(source.inputs.len()) {
            Some(function) => source.functions.get(function)?.0.result(),
            None => source.inputs[value].dtype,
        };
        for (chunk, &value) in values.get(value)?.iter().enumerate() {
            let base = address::<M>(&mut body, addresses);
            store(&mut body, base, chunk, value, dtype);
        }
        addresses += 1;
    }
    let masks = body.exceptions.clone().unwrap_or_default();
    if let Some(mask) = masks.into_iter().reduce(|x, y| body.pair(Op::Or, x, y)) {
        let place = Mem::at(address::<M>(&mut body, addresses), 0);
        let all = body.load_into(Op::Or, mask, place, NOWHERE);
        body.store(Store::Whole, all, place, NOWHERE);
    }
    Some(body)
}

/// The register with an address. An address without a register is read when it is needed.
fn address<M: Encoder>(body: &mut VectorFunction, number: usize) -> Register {
    if number < M::ADDRESSES {
        return Register::Address(number as u8);
    }
    let from = Mem::at(Register::First, 8 * number as i32);
    body.scalar(ScalarInst::Load { from }, NOWHERE, NOWHERE);
    Register::Loaded
}

/// Reads a chunk of an input, or the element that all share.
fn load(
    body: &mut VectorFunction,
    base: Register,
    dtype: DType,
    chunk: Option<usize>,
) -> Option<Chunk> {
    let place = Mem::at(base, 0);
    let first = (chunk.unwrap_or(0) * body.width.lanes() * dtype.bytes()) as i32;
    let vector = body.width.bytes() as i32;
    let at = |scale, offset| Mem::at(base, first + offset).indexed(Register::Element, scale);
    if !body.has_lanes(dtype) {
        return None;
    }
    if is_small(dtype) {
        let load = small_load(dtype);
        let mut read = |op| match chunk {
            Some(_) => body.load(op, at(dtype.bytes().trailing_zeros() as u8, 0), NOWHERE),
            None => {
                let splat = if dtype.bytes() == 1 { Op::Splat1 } else { Op::Splat2 };
                let all = body.load(splat, place, NOWHERE);
                body.unary(op, all)
            }
        };
        let loaded = read(load);
        if dtype == DType::F16 {
            let singles = read(Op::F16ToF32);
            body.halves.insert(loaded, HalfNumbers { singles, packed: None });
        }
        return Some(Chunk::Four(lanes_of_small(body, dtype, loaded)));
    }
    let mut read = |op, place| body.load(op, place, NOWHERE);
    Some(match (dtype, chunk) {
        (DType::I1, Some(_)) => {
            let bytes = read(Op::U8ToU32, at(0, 0));
            Chunk::Mask(mask_of_bytes(body, bytes))
        }
        (DType::I1, None) => {
            let bytes = read(Op::Splat1, place);
            let bytes = body.unary(Op::U8ToU32, bytes);
            Chunk::Mask(mask_of_bytes(body, bytes))
        }
        (_, Some(_)) if dtype.bytes() == 4 => Chunk::Four(read(Op::Load, at(2, 0))),
        (_, None) if dtype.bytes() == 4 => Chunk::Four(read(Op::Splat4, place)),
        (_, Some(_)) => {
            let halves = [at(3, 0), at(3, vector)];
            Chunk::Eight(halves.map(|half| read(Op::Load, half)))
        }
        (_, None) => Chunk::Eight([read(Op::Splat8, place); 2]),
    })
}

/// Writes a chunk of an output.
fn store(body: &mut VectorFunction, base: Register, number: usize, chunk: Chunk, dtype: DType) {
    let size = dtype.bytes();
    let first = (number * body.width.lanes() * size) as i32;
    let vector = body.width.bytes() as i32;
    let scale = size.trailing_zeros() as u8;
    let at = |offset| Mem::at(base, first + offset).indexed(Register::Element, scale);
    match chunk {
        Chunk::Four(x) if size < 4 => {
            let (bytes, part) = small_store(body, dtype, x);
            body.store(part, bytes, at(0), NOWHERE);
        }
        Chunk::Four(x) => body.store(Store::Whole, x, at(0), NOWHERE),
        Chunk::Eight([low, high]) => {
            body.store(Store::Whole, low, at(0), NOWHERE);
            body.store(Store::Whole, high, at(vector), NOWHERE);
        }
        Chunk::Mask(mask) => {
            let (bytes, part) = mask_store(body, mask);
            body.store(part, bytes, at(0), NOWHERE);
        }
    }
}
