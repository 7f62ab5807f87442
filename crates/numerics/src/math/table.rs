//! Functions of elements of one or two bytes, by tables of all results.
//!
//! A function of a number of 16 bits has 65,536 results. A table of them, made by the function
//! itself, is read faster than most functions are computed.

use super::aligned::AlignedBytes;
use super::kernel::SliceKernel;
use super::unary::UnaryOp;
use crate::DType;
use bytemuck::Pod;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

/// All results of a function of elements of one or two bytes.
#[derive(Default)]
struct ResultTable {
    /// The number of results that were computed one by one.
    computed: AtomicUsize,
    results: OnceLock<Option<AlignedBytes>>,
}

impl ResultTable {
    /// The table of a function, which all kernels of it share: programs have many of them.
    fn shared(op: UnaryOp, dtype: DType) -> Arc<ResultTable> {
        type Tables = HashMap<(UnaryOp, DType), Arc<ResultTable>>;
        static TABLES: LazyLock<Mutex<Tables>> = LazyLock::new(Mutex::default);
        let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tables.entry((op, dtype)).or_default())
    }

    /// The results in order of the bits of operands; `None` until the number of results computed
    /// reaches the size of the table, so that making it at most doubles the work. `count` results
    /// are needed now.
    fn results(&self, count: usize, kernel: &SliceKernel) -> Option<&[u8]> {
        if let Some(results) = self.results.get() {
            return results.as_deref();
        }
        let size = kernel.operands()[0].bytes();
        let computed = self.computed.fetch_add(count, Ordering::Relaxed).saturating_add(count);
        if computed < 1 << (8 * size) {
            return None;
        }
        self.results.get_or_init(|| all_results(size, kernel)).as_deref()
    }
}

/// The result of a function for every operand of one or two bytes.
fn all_results(size: usize, kernel: &SliceKernel) -> Option<AlignedBytes> {
    let count = 1 << (8 * size);
    let mut operands = AlignedBytes::zeros(count * size);
    match size {
        1 => (0..=u8::MAX).zip(&mut *operands).for_each(|(bits, element)| *element = bits),
        _ => (0..=u16::MAX)
            .zip(bytemuck::try_cast_slice_mut(&mut operands).ok()?)
            .for_each(|(bits, element): (u16, &mut u16)| *element = bits),
    }
    let mut results = AlignedBytes::zeros(count * kernel.result().bytes());
    kernel.run(&mut results, &[&operands])?;
    Some(results)
}

/// Writes the results of operands of a table of `N`.
fn look_up<X: Pod + Into<usize>, R: Pod, const N: usize>(
    table: &[u8],
    xs: &[u8],
    results: &mut [u8],
) -> Option<()> {
    let table: &[R; N] = bytemuck::try_cast_slice(table).ok()?.try_into().ok()?;
    let xs = bytemuck::try_cast_slice::<u8, X>(xs).ok()?;
    let results = bytemuck::try_cast_slice_mut::<u8, R>(results).ok()?;
    for (result, &x) in results.iter_mut().zip(xs) {
        // All are in the table.
        *result = table[x.into() & (N - 1)];
    }
    Some(())
}

/// Overwrites operands of a table of `N` by their results.
fn replace<X: Pod + Into<usize>, const N: usize>(table: &[u8], elements: &mut [u8]) -> Option<()> {
    let table: &[X; N] = bytemuck::try_cast_slice(table).ok()?.try_into().ok()?;
    for x in bytemuck::try_cast_slice_mut::<u8, X>(elements).ok()? {
        *x = table[(*x).into() & (N - 1)];
    }
    Some(())
}

/// True for functions of elements of a type that are looked up in tables: not for ones of a few
/// instructions.
fn is_tabulated(op: UnaryOp, dtype: DType) -> bool {
    use UnaryOp::{Abs, Imag, Negate, Real, Square};
    let is_short = matches!(op, Abs | Imag | Negate | Real | Square) && dtype.bytes() == 2;
    dtype.is_float() && dtype.bytes() <= 2 && !is_short
}

impl SliceKernel {
    /// The kernel of a unary operation, with a table if that is faster.
    pub(super) fn tabulated_unary(self, op: UnaryOp) -> SliceKernel {
        let dtype = self.operands()[0];
        if is_tabulated(op, dtype) { self.tabulated(ResultTable::shared(op, dtype)) } else { self }
    }

    /// The kernel of a conversion of elements of one byte, with a table.
    pub(super) fn tabulated_conversion(self) -> SliceKernel {
        self.tabulated(Arc::default())
    }

    fn tabulated(self, table: Arc<ResultTable>) -> SliceKernel {
        let (operand, result) = (self.operands()[0], self.result());
        let size = operand.bytes();
        if self.overwrites() {
            let replace = if size == 1 { replace::<u8, 0x100> } else { replace::<u16, 0x1_0000> };
            return SliceKernel::overwriting(operand, move |elements| {
                match table.results(elements.len() / size, &self) {
                    Some(table) => replace(table, elements),
                    None => self.overwrite(elements).ok(),
                }
            })
            .with_table();
        }
        let look_up = match (size, result.bytes()) {
            (1, 1) => look_up::<u8, u8, 0x100>,
            (1, 2) => look_up::<u8, u16, 0x100>,
            (1, 4) => look_up::<u8, u32, 0x100>,
            (1, 8) => look_up::<u8, u64, 0x100>,
            (2, 1) => look_up::<u16, u8, 0x1_0000>,
            (2, 2) => look_up::<u16, u16, 0x1_0000>,
            _ => return self,
        };
        SliceKernel::of([operand; 3], 1, result, move |results, operands| {
            let &[xs] = operands else { return None };
            match table.results(xs.len() / size, &self) {
                Some(table) => look_up(table, xs, results),
                None => self.run(results, operands),
            }
        })
        .with_table()
    }

    fn with_table(mut self) -> SliceKernel {
        self.has_table = true;
        self
    }
}
