//! Small products and reductions.

use super::LINE;
use super::lowering::OpLowering;
use crate::block::MAX_OPERANDS;
use codegen::{Chunk, LANES, Op, Value};
use kernels::{DotKernel, Reduction, Tree};
use numerics::DType;
use numerics::math::Elementwise;
use smallvec::SmallVec;
use std::ops::Range;

/// The maximum number of lines that the code of an op combines.
const MAX_COMBINED: usize = 64;

impl OpLowering<'_> {
    /// Adds products in order, as [`kernels::Products`] says.
    pub(super) fn dot(
        &mut self,
        dot: &DotKernel,
        operands: &[Range<u32>; MAX_OPERANDS],
        result: u32,
    ) -> Option<()> {
        let products = dot.products()?;
        let size = products.dtype().bytes() as u32;
        let (results, depth) = (products.results(), products.depth());
        let lanes = (LINE / size) as usize;
        if results.div_ceil(lanes) * depth > MAX_COMBINED || size > 8 {
            return None;
        }
        let [multiply, add, fused] = match size {
            4 => [Op::MultiplyF32, Op::AddF32, Op::MultiplyAddF32],
            _ => [Op::MultiplyF64, Op::AddF64, Op::MultiplyAddF64],
        };
        let mut sums = SmallVec::<[Value; 8]>::new();
        for first in (0..results).step_by(lanes) {
            let line = first..results.min(first + lanes);
            let zero = self.region.code.splat4(0);
            let mut sum = zero;
            for product in 0..depth {
                let mut factors = [zero; 2];
                for (side, factor) in factors.iter_mut().enumerate() {
                    let start = operands[side].start / size;
                    let number = |r: usize| start + products.factors(r, product)[side] as u32;
                    let numbers: SmallVec<[u32; 8]> = line.clone().map(number).collect();
                    *factor = self.gathered(size, &numbers)?;
                }
                let (code, [x, y]) = (&mut self.region.code, factors);
                sum = if products.is_fused() {
                    code.multiply_add(fused, sum, x, y)
                } else {
                    let product = code.pair(multiply, x, y);
                    code.pair(add, sum, product)
                };
            }
            let sum = self.quiet(products.dtype(), sum);
            // Zero is positive.
            sums.push(self.region.code.pair(add, sum, zero));
        }
        for (at, sum) in (result..).step_by(LINE as usize).zip(sums) {
            self.store_line(at, sum)?;
        }
        Some(())
    }

    /// Replaces any NaN by the canonical one.
    fn quiet(&mut self, dtype: DType, x: Value) -> Value {
        let chunk = if dtype.bytes() == 4 { Chunk::Four(x) } else { Chunk::Eight([x; 2]) };
        let function = Elementwise::Quiet;
        match codegen::compute(&mut self.region.code, function, &[dtype], &[chunk], true) {
            Some(Chunk::Four(x) | Chunk::Eight([x, _])) => x,
            _ => x,
        }
    }

    /// Combines elements in a tree over neighbours, and then with the initial value.
    pub(super) fn reduce(
        &mut self,
        reduction: &Reduction,
        operands: &[Range<u32>; MAX_OPERANDS],
        result: u32,
    ) -> Option<()> {
        let (dtype, count) = (reduction.dtype(), reduction.count());
        if reduction.results() == 0 || dtype.is_complex() {
            return None;
        }
        let size = dtype.bytes() as u32;
        let lanes = if dtype == DType::I1 { LANES } else { (LINE / size) as usize };
        if reduction.results().div_ceil(lanes) * count > MAX_COMBINED || count == 0 {
            return None;
        }
        let [start, init] = [operands[0].start / size, operands[1].start / size];
        let mut lines = SmallVec::<[Value; 8]>::new();
        for first in (0..reduction.results()).step_by(lanes) {
            let line = first..reduction.results().min(first + lanes);
            let mut tree = Tree::new();
            for element in 0..count {
                let number = |r: usize| start + reduction.element(r, element) as u32;
                let numbers: SmallVec<[u32; 8]> = line.clone().map(number).collect();
                let leaf = self.lanes(dtype, &numbers)?;
                tree.try_push(leaf, |x, y| self.pair(reduction, x, y).ok_or(())).ok()?;
            }
            let combined = tree.try_finish(|x, y| self.pair(reduction, x, y).ok_or(())).ok()??;
            let init = self.lanes(dtype, &SmallVec::<[u32; 8]>::from_elem(init, line.len()))?;
            let combined = self.pair(reduction, init, combined)?;
            lines.push(self.quiet(dtype, combined));
        }
        let step = if dtype == DType::I1 { LANES } else { LINE as usize };
        for (at, line) in (result..).step_by(step).zip(lines) {
            match dtype {
                DType::I1 => self.store_mask(at, line)?,
                _ => self.store_line(at, line)?,
            }
        }
        Some(())
    }

    /// Elements with some numbers, as lanes.
    fn lanes(&mut self, dtype: DType, numbers: &[u32]) -> Option<Value> {
        match (dtype, dtype.bytes()) {
            (DType::I1, _) => self.gathered_booleans(numbers, true),
            (_, size @ (4 | 8)) => self.gathered(size as u32, numbers),
            _ => None,
        }
    }

    fn pair(&mut self, reduction: &Reduction, x: Value, y: Value) -> Option<Value> {
        let dtype = reduction.dtype();
        let chunk = |x| match (dtype, dtype.bytes()) {
            (DType::I1, _) => Chunk::Mask(x),
            (_, 4) => Chunk::Four(x),
            _ => Chunk::Eight([x; 2]),
        };
        let function = Elementwise::Binary(reduction.op());
        let operands = [chunk(x), chunk(y)];
        match codegen::compute(&mut self.region.code, function, &[dtype; 2], &operands, true)? {
            Chunk::Four(x) | Chunk::Mask(x) | Chunk::Eight([x, _]) => Some(x),
        }
    }
}
