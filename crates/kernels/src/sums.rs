//! The one definition of sums: how many numbers are combined into one with an associative
//! operation.
//!
//! Elements are the leaves of a [`Tree`] over neighbours: both halves of the elements, the left one
//! having a power of two of them, are combined independently, and then with one another. The
//! rounding error of a sum grows with the depth of the tree, the logarithm of the number of
//! elements. All kernels here, by rows or by columns, give the bits that this definition gives;
//! `docs/accuracy.md` states it for other implementations.

pub use super::column_sums::{combine_columns, copy_strided};
use super::levels::combine_parts;
pub use super::row_sums::Addition;
use super::tree::Tree;
use bytemuck::{cast, cast_slice, cast_slice_mut};
use numerics::simd::{Isa, Kernel};
use numerics::{DType, Element};

/// Elements, of one row or several, that are combined level by level in the first cache.
pub(super) const BLOCK: usize = 1024;
/// Rows of at most this many elements are combined each at once.
pub(super) const TINY: usize = 4;
/// Rows longer than that and shorter than this are combined as columns, many at a time.
pub(super) const SHORT_ROW: usize = 32;
/// Elements of a short row that are combined with others at a time where any order does.
pub(super) const LANES: usize = 8;
/// Elements of a long row, so.
const MANY_LANES: usize = 32;
/// Rows that are combined at a time, in registers.
pub const ROWS: usize = 8;
/// An associative operation on elements, as loops over slices that are compiled for it.
pub trait Combine<T>: Sync {
    /// Combines two elements.
    fn pair(&self, left: T, right: T) -> T;

    /// Combines each element of `left` with that of `right` into the left one.
    fn merge(&self, left: &mut [T], right: &[T]);

    /// Writes the combination of each element of `left` with that of `right` to `out`.
    fn merge_into(&self, left: &[T], right: &[T], out: &mut [T]);

    /// Combines rows of values, one for each target, into the elements from their targets
    /// on, in order; those that would reach outside are skipped.
    fn merge_at(&self, elements: &mut [T], targets: &[usize], values: &[T]);

    /// Combines the columns of `ROWS` rows.
    fn merge_rows(&self, rows: [&[T]; ROWS], out: &mut [T]);

    /// Combines the columns of each `ROWS` rows, which are neighbours of `columns` elements each.
    fn merge_adjacent(&self, elements: &[T], columns: usize, out: &mut [T]);

    /// Combines each row of `len` neighbouring elements.
    fn combine_rows(&self, elements: &[T], len: usize, out: &mut [T]);

    /// Combines the first element of each row of `len` elements with `init`, the second one with
    /// this result, and so on.
    fn scan_rows(&self, elements: &[T], len: usize, init: T, out: &mut [T]);

    /// Combines the taps of each window with the element of `out` at its position, in order.
    fn chain(&self, elements: &[T], windows: WindowLines<'_>, out: &mut [T]);
}

/// Lines of windows over elements.
#[derive(Clone, Copy)]
pub struct WindowLines<'a> {
    /// Where the first window of each line begins.
    pub line_starts: &'a [usize],
    /// The distance of the windows of a line.
    pub stride: usize,
    /// Where the elements of a window are, from its start on.
    pub taps: &'a [usize],
}

impl<T: Element, F: Fn(T, T) -> T + Copy + Sync> Combine<T> for F {
    fn pair(&self, left: T, right: T) -> T {
        self(left, right)
    }

    fn merge(&self, left: &mut [T], right: &[T]) {
        let merge = Merge { left, right, f: *self };
        // A call takes longer than a few elements.
        if merge.left.len() < SHORT_ROW { merge.run() } else { run::<T>(merge) }
    }

    fn merge_into(&self, left: &[T], right: &[T], out: &mut [T]) {
        run::<T>(MergeInto { left, right, out, f: *self });
    }

    fn merge_at(&self, elements: &mut [T], targets: &[usize], values: &[T]) {
        if targets.len() < values.len() {
            return run::<T>(MergeRowsAt { elements, targets, values, f: *self });
        }
        for (&target, &value) in targets.iter().zip(values) {
            if let Some(element) = elements.get_mut(target) {
                *element = self(*element, value);
            }
        }
    }

    fn merge_rows(&self, rows: [&[T]; ROWS], out: &mut [T]) {
        run_rows::<T>(MergeRows { rows, out, f: *self });
    }

    fn merge_adjacent(&self, elements: &[T], columns: usize, out: &mut [T]) {
        run_rows::<T>(MergeAdjacent { elements, columns, out, f: *self });
    }

    fn combine_rows(&self, elements: &[T], len: usize, out: &mut [T]) {
        run_rows::<T>(SummedRows { elements, len, out, f: *self });
    }

    fn scan_rows(&self, elements: &[T], len: usize, init: T, out: &mut [T]) {
        run_rows::<T>(ScannedRows { elements, len, init, out, f: *self });
    }

    fn chain(&self, elements: &[T], windows: WindowLines<'_>, out: &mut [T]) {
        run::<T>(Chain { elements, windows, out, f: *self });
    }
}

/// The methods of [`Combine`] by which a wrapper combines elements as its inner operation does.
macro_rules! combined_by_inner {
    () => {
        fn merge(&self, left: &mut [T], right: &[T]) {
            self.0.merge(left, right);
        }

        fn merge_into(&self, left: &[T], right: &[T], out: &mut [T]) {
            self.0.merge_into(left, right, out);
        }

        fn merge_at(&self, elements: &mut [T], targets: &[usize], values: &[T]) {
            self.0.merge_at(elements, targets, values);
        }

        fn merge_rows(&self, rows: [&[T]; ROWS], out: &mut [T]) {
            self.0.merge_rows(rows, out);
        }

        fn scan_rows(&self, elements: &[T], len: usize, init: T, out: &mut [T]) {
            self.0.scan_rows(elements, len, init, out);
        }

        fn chain(&self, elements: &[T], windows: WindowLines<'_>, out: &mut [T]) {
            self.0.chain(elements, windows, out);
        }
    };
}
pub(super) use combined_by_inner;

/// An operation whose results do not depend on the order of elements: their rows are combined in
/// lanes, without shuffles.
pub struct Commutative<F>(pub F);

impl<T: Element, F: Fn(T, T) -> T + Copy + Sync> Combine<T> for Commutative<F> {
    combined_by_inner!();

    fn pair(&self, left: T, right: T) -> T {
        self.0(left, right)
    }

    fn merge_adjacent(&self, elements: &[T], columns: usize, out: &mut [T]) {
        self.0.merge_adjacent(elements, columns, out);
    }

    fn combine_rows(&self, elements: &[T], len: usize, out: &mut [T]) {
        if len < 2 * LANES {
            self.0.combine_rows(elements, len, out);
        } else if len < 8 * MANY_LANES {
            run::<T>(RowsInLanes::<T, F, LANES> { elements, len, out, f: self.0 });
        } else {
            run::<T>(RowsInLanes::<T, F, MANY_LANES> { elements, len, out, f: self.0 });
        }
    }
}

/// An operation of windows and scatters: elements that are reduced along dimensions are combined by
/// [`least_or_largest`](super::least_or_largest), so that code for these is to be little.
pub struct OfWindows<F>(pub F);

impl<T: Element, F: Fn(T, T) -> T + Copy + Sync> Combine<T> for OfWindows<F> {
    combined_by_inner!();

    fn pair(&self, left: T, right: T) -> T {
        self.0(left, right)
    }

    fn merge_adjacent(&self, elements: &[T], columns: usize, out: &mut [T]) {
        MergeAdjacent { elements, columns, out, f: self.0 }.run_shared();
    }

    fn combine_rows(&self, elements: &[T], len: usize, out: &mut [T]) {
        SummedRows { elements, len, out, f: self.0 }.run_shared();
    }
}

/// An operation that loops call: less code than loops for each of the ones that programs hardly
/// reduce with.
pub struct Called<W: 'static> {
    /// The operation.
    pub f: &'static (dyn Fn(W, W) -> W + Sync),
    /// True if it is [`Commutative`].
    pub is_commutative: bool,
}

impl<W: Element> Combine<W> for Called<W> {
    fn pair(&self, left: W, right: W) -> W {
        (self.f)(left, right)
    }

    fn merge(&self, left: &mut [W], right: &[W]) {
        Merge { left, right, f: self.f as Calls<'_, W> }.run_with_calls();
    }

    fn merge_into(&self, left: &[W], right: &[W], out: &mut [W]) {
        MergeInto { left, right, out, f: self.f as Calls<'_, W> }.run_with_calls();
    }

    fn merge_at(&self, elements: &mut [W], targets: &[usize], values: &[W]) {
        MergeRowsAt { elements, targets, values, f: self.f as Calls<'_, W> }.run_with_calls();
    }

    fn merge_rows(&self, rows: [&[W]; ROWS], out: &mut [W]) {
        MergeRows { rows, out, f: self.f as Calls<'_, W> }.run_with_calls();
    }

    fn merge_adjacent(&self, elements: &[W], columns: usize, out: &mut [W]) {
        MergeAdjacent { elements, columns, out, f: self.f as Calls<'_, W> }.run_with_calls();
    }

    fn combine_rows(&self, elements: &[W], len: usize, out: &mut [W]) {
        let f: Calls<'_, W> = self.f;
        if !self.is_commutative || len < 2 * LANES {
            SummedRows { elements, len, out, f }.run_with_calls();
        } else if len < 8 * MANY_LANES {
            RowsInLanes::<W, _, LANES> { elements, len, out, f }.run_with_calls();
        } else {
            RowsInLanes::<W, _, MANY_LANES> { elements, len, out, f }.run_with_calls();
        }
    }

    fn scan_rows(&self, elements: &[W], len: usize, init: W, out: &mut [W]) {
        ScannedRows { elements, len, init, out, f: self.f as Calls<'_, W> }.run_with_calls();
    }

    fn chain(&self, elements: &[W], windows: WindowLines<'_>, out: &mut [W]) {
        Chain { elements, windows, out, f: self.f as Calls<'_, W> }.run_with_calls();
    }
}

/// Runs a loop over elements of a type, with the widest instructions where many compute with it.
/// The condition is a constant: other loops are compiled once.
fn run<T: Element>(kernel: impl Kernel) {
    if const { T::DTYPE.is_vectorized() || matches!(T::DTYPE, DType::I64 | DType::U64) } {
        Isa::best().run(kernel);
    } else {
        kernel.run();
    }
}

/// Evaluates an expression with a type alias bound to the unsigned integers that have the size of a
/// type, so that loops which call their operation are compiled once for each size.
macro_rules! with_word {
    ($T:ty, $W:ident => $body:expr) => {
        if const { size_of::<$T>() == 1 } {
            with_word!(@as u8, $W => $body)
        } else if const { size_of::<$T>() == 2 } {
            with_word!(@as u16, $W => $body)
        } else if const { size_of::<$T>() == 4 } {
            with_word!(@as u32, $W => $body)
        } else {
            with_word!(@as u64, $W => $body)
        }
    };
    (@as $Word:ty, $W:ident => $body:expr) => {{
        type $W = $Word;
        $body
    }};
}

/// An operation that loops call.
type Calls<'a, W> = &'a dyn Fn(W, W) -> W;

/// Loops that call their operation, compiled once for each size of elements.
trait RunWithCalls {
    /// Runs the loop.
    fn run_with_calls(self);
}

macro_rules! run_with_calls {
    ($($kernel:ident $(<$lanes:ident>)?)*) => {$(
        impl<W: Element $(, const $lanes: usize)?> RunWithCalls
            for $kernel<'_, W, Calls<'_, W> $(, $lanes)?>
        {
            #[inline(never)]
            fn run_with_calls(self) {
                self.run();
            }
        }
    )*};
}
run_with_calls! {
    Merge MergeInto MergeRowsAt MergeRows MergeAdjacent SummedRows ScannedRows Chain
    RowsInLanes<LANES>
}

/// As [`run`], for loops over rows. Rows of narrow floats are added as `f32`.
fn run_rows<T: Element>(kernel: impl Kernel) {
    if const { matches!(T::DTYPE, DType::BF16 | DType::F16) } {
        kernel.run_shared();
    } else {
        run::<T>(kernel);
    }
}

struct Merge<'a, T, F> {
    left: &'a mut [T],
    right: &'a [T],
    f: F,
}

impl<T: Element, F: Fn(T, T) -> T> Kernel for Merge<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        for (x, &y) in self.left.iter_mut().zip(self.right) {
            *x = (self.f)(*x, y);
        }
    }

    fn run_shared(self) {
        let Merge { left, right, f } = self;
        with_word!(T, W => Merge {
                left: cast_slice_mut(left),
                right: cast_slice(right),
                f: &|x: W, y: W| -> W { cast(f(cast(x), cast(y))) } as Calls<'_, W>,
        }.run_with_calls());
    }
}

struct MergeInto<'a, T, F> {
    left: &'a [T],
    right: &'a [T],
    out: &'a mut [T],
    f: F,
}

impl<T: Element, F: Fn(T, T) -> T> Kernel for MergeInto<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        for ((out, &x), &y) in self.out.iter_mut().zip(self.left).zip(self.right) {
            *out = (self.f)(x, y);
        }
    }

    fn run_shared(self) {
        let MergeInto { left, right, out, f } = self;
        with_word!(T, W => MergeInto {
                left: cast_slice(left),
                right: cast_slice(right),
                out: cast_slice_mut(out),
                f: &|x: W, y: W| -> W { cast(f(cast(x), cast(y))) } as Calls<'_, W>,
        }.run_with_calls());
    }
}

struct MergeRowsAt<'a, T, F> {
    elements: &'a mut [T],
    targets: &'a [usize],
    values: &'a [T],
    f: F,
}

impl<T: Element, F: Fn(T, T) -> T> Kernel for MergeRowsAt<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let len = self.values.len().checked_div(self.targets.len()).unwrap_or(0).max(1);
        for (&target, values) in self.targets.iter().zip(self.values.chunks_exact(len)) {
            let from_target = self.elements.get_mut(target..);
            let Some(row) = from_target.and_then(|row| row.get_mut(..len)) else { continue };
            // Eight at a time, so that short rows become vectors, too.
            let ((eights, rest), (values, last)) =
                (row.as_chunks_mut::<LANES>(), values.as_chunks::<LANES>());
            for (xs, ys) in eights.iter_mut().zip(values) {
                *xs = std::array::from_fn(|i| (self.f)(xs[i], ys[i]));
            }
            rest.iter_mut().zip(last).for_each(|(x, &y)| *x = (self.f)(*x, y));
        }
    }

    fn run_shared(self) {
        let MergeRowsAt { elements, targets, values, f } = self;
        with_word!(T, W => MergeRowsAt {
                elements: cast_slice_mut(elements),
                targets,
                values: cast_slice(values),
                f: &|x: W, y: W| -> W { cast(f(cast(x), cast(y))) } as Calls<'_, W>,
        }.run_with_calls());
    }
}

struct MergeRows<'a, T, F> {
    rows: [&'a [T]; ROWS],
    out: &'a mut [T],
    f: F,
}

impl<T: Element, F: Fn(T, T) -> T> Kernel for MergeRows<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let MergeRows { rows, out, f } = self;
        // Of the same length, so that there is one check for the loop.
        let [a, b, c, d, e, g, h, i] = rows.map(|row| &row[..out.len()]);
        for (j, out) in out.iter_mut().enumerate() {
            let left = f(f(a[j], b[j]), f(c[j], d[j]));
            *out = f(left, f(f(e[j], g[j]), f(h[j], i[j])));
        }
    }

    fn run_shared(self) {
        let MergeRows { rows, out, f } = self;
        with_word!(T, W => MergeRows {
                rows: rows.map(cast_slice),
                out: cast_slice_mut(out),
                f: &|x: W, y: W| -> W { cast(f(cast(x), cast(y))) } as Calls<'_, W>,
        }.run_with_calls());
    }
}

struct MergeAdjacent<'a, T, F> {
    elements: &'a [T],
    columns: usize,
    out: &'a mut [T],
    f: F,
}

impl<T: Element, F: Fn(T, T) -> T> Kernel for MergeAdjacent<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let MergeAdjacent { elements, columns, out, f } = self;
        let rows = elements.chunks_exact(ROWS * columns);
        for (out, rows) in out.chunks_exact_mut(columns).zip(rows) {
            let tree =
                |x: [T; ROWS]| f(f(f(x[0], x[1]), f(x[2], x[3])), f(f(x[4], x[5]), f(x[6], x[7])));
            // Pairs of vectors, each of which the compiler knows as one.
            let pairs = |x: [T; LANES], y: [T; LANES]| -> [T; LANES] {
                std::array::from_fn(|j| f(x[j], y[j]))
            };
            let (many, rest) = out.as_chunks_mut::<LANES>();
            let whole = many.len() * LANES;
            for (part, out) in many.iter_mut().enumerate() {
                let mut lanes = [[T::ZERO; LANES]; ROWS];
                for (lanes, row) in lanes.iter_mut().zip(rows.chunks_exact(columns)) {
                    lanes.copy_from_slice(&row[part * LANES..][..LANES]);
                }
                let [a, b, c, d, e, g, h, i] = lanes;
                *out = pairs(pairs(pairs(a, b), pairs(c, d)), pairs(pairs(e, g), pairs(h, i)));
            }
            for (j, out) in (whole..).zip(rest) {
                *out = tree(std::array::from_fn(|i| rows[i * columns + j]));
            }
        }
    }

    fn run_shared(self) {
        let MergeAdjacent { elements, columns, out, f } = self;
        with_word!(T, W => MergeAdjacent {
                elements: cast_slice(elements),
                columns,
                out: cast_slice_mut(out),
                f: &|x: W, y: W| -> W { cast(f(cast(x), cast(y))) } as Calls<'_, W>,
        }.run_with_calls());
    }
}

struct SummedRows<'a, T, F> {
    elements: &'a [T],
    len: usize,
    out: &'a mut [T],
    f: F,
}

impl<T: Element, F: Fn(T, T) -> T + Copy> Kernel for SummedRows<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let SummedRows { elements, len, out, f } = self;
        if len == 0 {
            return;
        }
        let mut levels = [[T::ZERO; BLOCK / 2]; 2];
        // The number that leaves room for elements that wait, or one row of several blocks.
        let rows = (BLOCK / len.next_multiple_of(2)).max(1);
        let mut tree = Tree::new();
        for (out, rows) in out.chunks_mut(rows).zip(elements.chunks(rows * len)) {
            // One loop for short and long rows, as it is compiled for many functions.
            for part in rows.chunks(BLOCK) {
                let results = combine_parts(part, len.min(part.len()), f, &mut levels);
                match part.len() {
                    _ if len <= BLOCK => out.copy_from_slice(results),
                    BLOCK => tree.push(results[0], f),
                    // Smaller than the subtrees of the blocks.
                    _ => tree.push_last(results[0]),
                }
            }
            if let Some(result) = tree.finish(f) {
                out[0] = result;
            }
        }
    }

    fn run_shared(self) {
        let SummedRows { elements, len, out, f } = self;
        with_word!(T, W => SummedRows {
                elements: cast_slice(elements),
                len,
                out: cast_slice_mut(out),
                f: &|x: W, y: W| -> W { cast(f(cast(x), cast(y))) } as Calls<'_, W>,
        }.run_with_calls());
    }
}

struct ScannedRows<'a, T, F> {
    elements: &'a [T],
    len: usize,
    init: T,
    out: &'a mut [T],
    f: F,
}

/// Rows that are scanned in turn, as each step of one waits for the one before.
const SCANNED: usize = 4;

impl<T: Element, F: Fn(T, T) -> T + Copy> Kernel for ScannedRows<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let ScannedRows { elements, len, init, out, f } = self;
        let len = len.max(1);
        let block = SCANNED * len;
        let whole = elements.len() / block * block;
        let blocks = elements.chunks_exact(block).zip(out.chunks_exact_mut(block));
        for (elements, out) in blocks {
            // Of the same length, so that there is one check for the loop.
            let rows: [&[T]; SCANNED] = std::array::from_fn(|row| &elements[row * len..][..len]);
            let mut places = out.chunks_exact_mut(len);
            let mut places: [&mut [T]; SCANNED] =
                std::array::from_fn(|_| places.next().unwrap_or_default());
            let mut results = [init; SCANNED];
            for place in 0..len {
                for ((result, row), out) in results.iter_mut().zip(rows).zip(&mut places) {
                    *result = f(*result, row[place]);
                    out[place] = *result;
                }
            }
        }
        let rest = elements[whole..].chunks_exact(len);
        for (elements, out) in rest.zip(out[whole..].chunks_exact_mut(len)) {
            let mut result = init;
            for (&x, out) in elements.iter().zip(out) {
                result = f(result, x);
                *out = result;
            }
        }
    }

    fn run_shared(self) {
        let ScannedRows { elements, len, init, out, f } = self;
        with_word!(T, W => ScannedRows {
                elements: cast_slice(elements),
                len,
                init: cast(init),
                out: cast_slice_mut(out),
                f: &|x: W, y: W| -> W { cast(f(cast(x), cast(y))) } as Calls<'_, W>,
        }.run_with_calls());
    }
}

struct Chain<'a, T, F> {
    elements: &'a [T],
    windows: WindowLines<'a>,
    out: &'a mut [T],
    f: F,
}

impl<T: Element, F: Fn(T, T) -> T> Kernel for Chain<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let Chain { elements, windows: WindowLines { line_starts, stride, taps }, out, f } = self;
        let line = (out.len() / line_starts.len().max(1)).max(1);
        for (out, &start) in out.chunks_exact_mut(line).zip(line_starts) {
            // Different loops, so that each becomes vector instructions.
            match stride {
                1 => chain_line::<T, false>(&elements[start..], 1, taps, &f, out),
                2 => chain_pairs(&elements[start..], taps, &f, out),
                _ => chain_line::<T, true>(&elements[start..], stride, taps, &f, out),
            }
        }
    }

    fn run_shared(self) {
        let Chain { elements, windows, out, f } = self;
        with_word!(T, W => Chain {
                elements: cast_slice(elements),
                windows,
                out: cast_slice_mut(out),
                f: &|x: W, y: W| -> W { cast(f(cast(x), cast(y))) } as Calls<'_, W>,
        }.run_with_calls());
    }
}

/// Combines the taps of a line of windows.
#[inline(always)]
fn chain_line<T: Element, const STRIDED: bool>(
    elements: &[T],
    stride: usize,
    taps: &[usize],
    f: &impl Fn(T, T) -> T,
    out: &mut [T],
) {
    let (mut rest, mut start) = (out, 0);
    // Elements that are apart are read one by one, however many lanes there are, which takes longer
    // than to combine them unless they are narrow floats.
    if const { !STRIDED || size_of::<T>() == 2 } {
        let (many, others) = rest.as_chunks_mut::<MANY_LANES>();
        for out in many {
            chain_lanes::<T, STRIDED, MANY_LANES>(&elements[start..], stride, taps, f, out);
            start += MANY_LANES * stride;
        }
        rest = others;
    }
    let (few, rest) = rest.as_chunks_mut::<LANES>();
    for out in few {
        chain_lanes::<T, STRIDED, LANES>(&elements[start..], stride, taps, f, out);
        start += LANES * stride;
    }
    for out in rest {
        for &tap in taps {
            *out = f(*out, elements[start + tap]);
        }
        start += stride;
    }
}

/// Windows whose taps are combined at a time: what they see stays in the first-level cache.
const PAIRS: usize = 1024;

/// As [`chain_line`], of windows two elements apart: of every two elements, the first.
#[inline(always)]
fn chain_pairs<T: Element>(elements: &[T], taps: &[usize], f: &impl Fn(T, T) -> T, out: &mut [T]) {
    for (part, out) in out.chunks_mut(PAIRS).enumerate() {
        let Some((last, others)) = out.split_last_mut() else { return };
        for &tap in taps {
            let elements = &elements[tap + 2 * part * PAIRS..];
            *last = f(*last, elements[2 * others.len()]);
            for (out, pair) in others.iter_mut().zip(elements.as_chunks::<2>().0) {
                *out = f(*out, pair[0]);
            }
        }
    }
}

/// Combines the taps of neighbouring windows, in registers.
#[inline(always)]
fn chain_lanes<T: Element, const STRIDED: bool, const N: usize>(
    elements: &[T],
    stride: usize,
    taps: &[usize],
    f: &impl Fn(T, T) -> T,
    out: &mut [T; N],
) {
    let mut lanes = *out;
    for &tap in taps {
        let mut next = [T::ZERO; N];
        if STRIDED {
            let elements = &elements[tap..=tap + (N - 1) * stride];
            for (i, x) in next.iter_mut().enumerate() {
                *x = elements[i * stride];
            }
        } else {
            next.copy_from_slice(&elements[tap..tap + N]);
        }
        for (lane, &x) in lanes.iter_mut().zip(&next) {
            *lane = f(*lane, x);
        }
    }
    *out = lanes;
}

/// Rows of at least `LANES` elements.
struct RowsInLanes<'a, T, F, const LANES: usize> {
    elements: &'a [T],
    len: usize,
    out: &'a mut [T],
    f: F,
}

impl<T: Element, F: Fn(T, T) -> T, const LANES: usize> Kernel for RowsInLanes<'_, T, F, LANES> {
    #[inline(always)]
    fn run(self) {
        let RowsInLanes { elements, len, out, f } = self;
        // In memory between the loops, so that the last one does not split vectors of the first.
        let mut all = [[T::ZERO; LANES]; ROWS];
        for (out, rows) in out.chunks_mut(ROWS).zip(elements.chunks(ROWS * len.max(1))) {
            for (lanes, row) in all.iter_mut().zip(rows.chunks_exact(len.max(1))) {
                let (blocks, rest) = row.as_chunks::<LANES>();
                let [first, blocks @ ..] = blocks else { continue };
                let mut results = *first;
                for block in blocks {
                    for (result, &x) in results.iter_mut().zip(block) {
                        *result = f(*result, x);
                    }
                }
                *lanes = results;
                for (lane, &x) in lanes.iter_mut().zip(rest) {
                    *lane = f(*lane, x);
                }
            }
            let mut count = LANES / 2;
            while count > 0 {
                for lanes in &mut all {
                    for i in 0..count {
                        lanes[i] = f(lanes[i], lanes[i + count]);
                    }
                }
                count /= 2;
            }
            for (out, lanes) in out.iter_mut().zip(&all) {
                *out = lanes[0];
            }
        }
    }

    fn run_shared(self) {
        let RowsInLanes { elements, len, out, f } = self;
        with_word!(T, W => RowsInLanes::<W, _, LANES> {
                elements: cast_slice(elements),
                len,
                out: cast_slice_mut(out),
                f: &|x: W, y: W| -> W { cast(f(cast(x), cast(y))) } as Calls<'_, W>,
        }.run_with_calls());
    }
}
