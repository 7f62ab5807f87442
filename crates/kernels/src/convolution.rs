//! `convolution`: products of windows and kernels.
//!
//! Windows are rows of a matrix, which is multiplied with the kernel: where they are in the input,
//! or in a [copy with zeros](super::padded), if they are there in runs that pay; else a few rows at
//! a time are copied.

mod phases;
mod row_wise;

use super::accumulator::Accumulator;
use super::contract::{
    accumulation, dispatch_sum, distinct, invalid, max_shared, packed, panels_bytes,
};
use super::conv_features_first::{FeaturesFirst, multiply_windows};
use super::conv_kernels::{KernelView, Weights, all_finite};
use super::conv_sizes::ConvSizes;
use super::conv_windows::{Patches, Windows};
use super::depthwise::{Alike, depthwise};
use super::matmul::{self, BLOCK, FEW, Product, Results, multiply};
use super::movement;
use super::padded::PaddedWindows;
use super::panels::RowOrder;
use super::parallel::{parts_in_parallel, task_size};
use super::rows::{Matrix, Rows};
use numerics::budget::reserve;
use numerics::math::AlignedBytes;
use numerics::shape::{StridedView, num_elements};
use numerics::simd::Isa;
use numerics::{AlignedMemory, DType, Element, Tensor, TensorError, math};
use phases::Phases;
use program::primitives::ConvDims;
use program::{EvalError, WindowDim};
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// At most this many places of windows are kept.
const MAX_PREPARED: usize = 1 << 16;
/// A part of an input that is copied with zeros has at least this many windows.
const MIN_PART_ROWS: usize = 256;
/// To copy this many elements takes as long as to multiply one with some windows.
const PART_REUSE: usize = 4;

thread_local! {
    /// Memory for copies of input, kernel and results, and of the input with zeros.
    static ROOMS: Cell<[AlignedBytes; 4]> = const { Cell::new([const { AlignedBytes::new() }; 4]) };
}

/// The maximum number of bytes of a padded copy of the input that is made as a whole: twice the
/// second-level cache, so that much of it is still there when it is read.
fn whole_bytes() -> usize {
    2 * host::machine().l2.bytes
}

/// Keeps memory for the next convolution.
fn keep(rooms: [AlignedBytes; 4]) {
    let kept = rooms.iter().map(|room| room.len()).sum::<usize>();
    if kept <= whole_bytes().max(matmul::deep_panels_bytes()) {
        ROOMS.set(rooms);
    }
}

/// The windows of a convolution.
pub struct Convolution<'a> {
    /// Which dimensions are batch, feature and spatial ones.
    pub dims: &'a ConvDims,
    /// One entry a spatial dimension.
    pub window: &'a [WindowDim],
    /// Spatial dimensions along which the kernel is reversed; empty for none.
    pub reversal: &'a [bool],
    /// Number of groups of features, each convolved independently.
    pub feature_groups: usize,
    /// Number of groups of batches, each convolved independently.
    pub batch_groups: usize,
}

impl<'a> Convolution<'a> {
    fn new(
        parameters: &'a program::primitives::Convolution,
        window: &'a [WindowDim],
    ) -> Convolution<'a> {
        let program::primitives::Convolution {
            dims, reversal, feature_groups, batch_groups, ..
        } = parameters;
        let (feature_groups, batch_groups) = (*feature_groups, *batch_groups);
        Convolution { dims, window, reversal, feature_groups, batch_groups }
    }
}

/// A window of the size of a kernel.
fn sized(window: &[WindowDim], dims: &ConvDims, kernel: &[usize]) -> Vec<WindowDim> {
    let sizes = dims.kernel_spatial_dimensions.iter().map(|&d| {
        usize::try_from(d).ok().and_then(|d| kernel.get(d)).map_or(0, |&size| size as i64)
    });
    window.iter().zip(sizes).map(|(&dim, size)| WindowDim { size, ..dim }).collect()
}

/// A convolution with a window of the size of the kernel.
///
/// # Errors
/// If the attributes do not fit the shapes.
pub(crate) fn evaluate(
    parameters: &program::primitives::Convolution,
    window: &[WindowDim],
    lhs: Tensor,
    rhs: Tensor,
) -> Result<Tensor, EvalError> {
    let window = sized(window, &parameters.dims, rhs.shape());
    Convolution::new(parameters, &window).eval(lhs, rhs, parameters.dtype)
}

/// A convolution of operands of known shapes, whose type is that of its sums.
#[derive(Debug)]
pub struct PreparedConvolution {
    dtype: DType,
    sizes: Arc<ConvSizes>,
    /// Elements in the order of [`ConvSizes`], where operands have another one,
    input: Option<StridedView>,
    kernel: Option<KernelView>,
    /// and those of results in that of the output.
    output: Option<StridedView>,
    /// If results have the features first, and are computed so.
    features_first: Option<FeaturesFirst>,
    shape: Vec<usize>,
    has_feature_groups: bool,
    /// The numbers of elements of input and kernel.
    lens: [Option<usize>; 2],
    /// None if there are no results, or these are sums of nothing.
    windows: Option<SomeWindows>,
    /// If each feature has a separate kernel: what is used where that is finite.
    depthwise: Option<(Windows, Vec<Alike>)>,
    /// If the input has holes: what is used where the kernel is finite.
    phases: Option<Phases>,
}

/// The windows as rows of a matrix.
#[derive(Debug)]
enum SomeWindows {
    /// Where they are in the input, or in a copy with zeros.
    Padded(PaddedWindows),
    /// Copied a few at a time.
    Patches(Windows),
}

impl Convolution<'_> {
    /// The convolution of `lhs` with the kernel `rhs`, with elements of type `dtype`.
    ///
    /// # Errors
    /// If the attributes do not fit the shapes.
    pub fn eval(&self, lhs: Tensor, rhs: Tensor, dtype: DType) -> Result<Tensor, EvalError> {
        let sum_type = accumulation(lhs.dtype(), rhs.dtype(), dtype);
        let (lhs, rhs) = (math::convert(lhs, sum_type)?, math::convert(rhs, sum_type)?);
        let prepared = self.prepare([lhs.shape(), rhs.shape()], sum_type, usize::MAX)?;
        let mut result = Tensor::zeros(sum_type, &prepared.shape)?;
        prepared.run(lhs.bytes(), rhs.bytes(), result.bytes_mut()?)?;
        Ok(math::convert(result, dtype)?)
    }

    /// Prepares the convolution of operands of these shapes, with elements of type `dtype`, which
    /// is one in which products are summed.
    ///
    /// # Errors
    /// If the attributes do not fit the shapes, or it would keep more than `most` places.
    fn prepare(
        &self,
        [lhs, rhs]: [&[usize]; 2],
        dtype: DType,
        most: usize,
    ) -> Result<PreparedConvolution, EvalError> {
        let d = self.dims;
        let order = |first: &[i64], last: &[i64], rank, label| -> Result<Vec<usize>, EvalError> {
            let order = distinct(label, &[first, last].concat(), rank)?;
            if order.len() == rank {
                Ok(order)
            } else {
                Err(invalid(label, "not all dimensions are listed"))
            }
        };
        let in_order = |shape: &[usize], order: &[usize]| -> Result<_, EvalError> {
            let view = StridedView::dense(shape)?.permute(order)?;
            Ok((view.shape().to_vec(), view))
        };
        let unless_dense = |view: StridedView| (!view.is_dense()).then_some(view);
        let batch = &[&[d.input_batch_dimension], &d.input_spatial_dimensions[..]].concat();
        let input_order = order(batch, &[d.input_feature_dimension], lhs.len(), "convolution_c13")?;
        let features = &[d.kernel_input_feature_dimension, d.kernel_output_feature_dimension];
        let kernel_order =
            order(&d.kernel_spatial_dimensions, features, rhs.len(), "convolution_c18")?;
        let (input_sizes, input) = in_order(lhs, &input_order)?;
        let (kernel_sizes, kernel) = in_order(rhs, &kernel_order)?;
        let sizes = Arc::new(ConvSizes::new(self, &input_sizes, &kernel_sizes)?);
        let kernel = reversed(kernel, self.reversal)
            .ok_or_else(|| invalid("convolution_c9", "the kernel cannot be reversed"))?;
        let shape =
            [&[sizes.group_batch], &sizes.output_spatial[..], &[sizes.output_features]].concat();
        let batch = &[&[d.output_batch_dimension], &d.output_spatial_dimensions[..]].concat();
        let output_order =
            order(batch, &[d.output_feature_dimension], shape.len(), "convolution_c20")?;
        let mut inverse = vec![0; output_order.len()];
        for (from, &to) in output_order.iter().enumerate() {
            inverse[to] = from;
        }
        let (shape, output) = in_order(&shape, &inverse)?;
        let in_memory = StridedView::dense(&shape)?.permute(&output_order)?;
        // The other sizes of nothing may be too large for tables, or to be multiplied.
        let is_empty = kernel_sizes.contains(&0) || shape.contains(&0);
        let features_first = match is_empty {
            true => None,
            false => FeaturesFirst::new(dtype, &kernel, &in_memory, &sizes),
        };
        let lens = [&input_sizes, &kernel_sizes].map(|sizes| num_elements(sizes));
        let phases = match is_empty {
            true => None,
            false => Phases::new(self, &sizes, lens, (&kernel, &in_memory), dtype)?,
        };
        let kernel = unless_dense(kernel).map(|view| KernelView::new(view, &sizes));
        if !is_empty && sizes.places() > most {
            return Err(invalid("convolution_c25", "too large"));
        }
        let is_depthwise = !is_empty
            && sizes.kernel_features == 1
            && sizes.group_features == 1
            && self.batch_groups == 1
            && sizes.depth() <= BLOCK;
        let tables = || Windows::new(self, Arc::clone(&sizes));
        let depthwise = match is_depthwise {
            true => Some(tables()?).map(|windows| {
                let alike = Alike::all(&windows);
                (windows, alike)
            }),
            false => None,
        };
        let windows = match is_empty {
            true => None,
            false => Some(match PaddedWindows::whole(self, Arc::clone(&sizes))? {
                Some(padded) => SomeWindows::Padded(padded),
                None => SomeWindows::Patches(tables()?),
            }),
        };
        let has_feature_groups = self.feature_groups > 1;
        Ok(PreparedConvolution {
            dtype,
            sizes,
            input: unless_dense(input),
            kernel,
            output: unless_dense(output),
            features_first: features_first.filter(|_| depthwise.is_none()),
            shape,
            has_feature_groups,
            lens,
            windows,
            phases: phases.filter(|_| depthwise.is_none()),
            depthwise,
        })
    }
}

impl PreparedConvolution {
    /// Prepares a convolution of operands of these types and shapes; `None` if elements have to be
    /// converted before or after, it would keep many places, or the attributes do not fit.
    pub fn new(
        parameters: &program::primitives::Convolution,
        [lhs, rhs]: [(DType, &[usize]); 2],
    ) -> Option<PreparedConvolution> {
        let dtype = accumulation(lhs.0, rhs.0, parameters.dtype);
        let window = sized(&parameters.window, &parameters.dims, rhs.1);
        let convolution = Convolution::new(parameters, &window);
        let is_converted = [lhs.0, rhs.0, parameters.dtype] != [dtype; 3];
        if is_converted {
            return None;
        }
        convolution.prepare([lhs.1, rhs.1], dtype, MAX_PREPARED).ok()
    }

    /// The shape of the result.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Writes the results of operands that are given as the bytes of their elements.
    ///
    /// # Errors
    /// If their sizes do not match the shapes, or there is no memory for copies.
    pub fn run(&self, lhs: &[u8], rhs: &[u8], out: &mut [u8]) -> Result<(), TensorError> {
        self.run_packed(lhs, rhs, None, out)
    }

    /// True if [`PreparedConvolution::pack`] makes it faster.
    pub fn is_packable(&self) -> bool {
        if self.depthwise.is_some() {
            return self.kernel.is_some();
        }
        if let Some(phases) = &self.phases {
            return phases.is_packable();
        }
        let (has_windows, depth) = (self.windows.is_some(), self.sizes.depth());
        has_windows && self.sizes.groups == 1 && depth > FEW && self.sizes.output_features > 1
    }

    /// The kernel in the order in which products read it, which does not change from run to run;
    /// `None` if it has it.
    ///
    /// # Errors
    /// As [`PreparedConvolution::run`].
    pub fn pack(&self, rhs: &[u8]) -> Result<Option<AlignedMemory>, TensorError> {
        if !self.is_packable() {
            return Ok(None);
        }
        if self.lens[1] != Some(rhs.len() / self.dtype.bytes()) {
            return Err(TensorError::OutOfBounds);
        }
        if let Some(phases) = &self.phases {
            return phases.pack(rhs);
        }
        let (view, strides, order) = self.kernel_order(self.depthwise.is_none());
        let copied = if view.is_some() { self.kernel_bytes() } else { 0 };
        let _reserved = reserve::<u8>(copied)?;
        let mut room = AlignedBytes::new();
        room.resize(copied);
        let kernel = gathered(self.dtype, rhs, view, &mut room)?;
        if self.depthwise.is_some() {
            let mut packed = AlignedMemory::try_zeros(room.len())?;
            packed.copy_from_slice(&room);
            return Ok(Some(packed));
        }
        let (depth, features) = (self.sizes.depth(), self.sizes.output_features);
        dispatch_sum!(self.dtype, T, R, C => {
            let b = Matrix { elements: elements::<T>(kernel)?, strides };
            matmul::pack::<T, C>(b, order, [depth, features])
        })
    }

    /// The bytes of what [`PreparedConvolution::pack`] returns, if that is not `None`.
    pub fn packed_bytes(&self) -> usize {
        if self.depthwise.is_some() {
            return self.lens[1].unwrap_or(0) * self.dtype.bytes();
        }
        if let Some(phases) = &self.phases {
            return phases.packed_bytes();
        }
        let sizes = [self.sizes.depth(), self.sizes.output_features];
        dispatch_sum!(self.dtype, T, R, C => Ok(panels_bytes::<T, C>(sizes))).unwrap_or(0)
    }

    /// The view by which the kernel is copied, if it is, and its distances between rows and columns
    /// and the order of its rows then. It is read where it is if that `pays` and it can.
    fn kernel_order(&self, pays: bool) -> (Option<&StridedView>, [usize; 2], Option<&RowOrder>) {
        let dense = [self.sizes.output_features, 1];
        match &self.kernel {
            None => (None, dense, None),
            Some(KernelView { in_place: Some(matrix), .. }) if pays => {
                (None, matrix.strides, matrix.order.as_ref())
            }
            Some(kernel) => (Some(&kernel.view), dense, None),
        }
    }

    /// As [`PreparedConvolution::run`], with the kernel as [`PreparedConvolution::pack`] has
    /// ordered it, too.
    ///
    /// # Errors
    /// As there.
    pub fn run_packed(
        &self,
        lhs: &[u8],
        rhs: &[u8],
        panels: Option<&[u8]>,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        self.run_some(None, [lhs, rhs], panels, out)
    }

    /// True if the results are rows, of the features of a window each, consecutively, and
    /// some of them take no more work alone than among all.
    pub fn is_of_rows(&self) -> bool {
        // A kernel for each feature has few elements to put in order.
        let is_kernel_near = self.kernel.is_none() || self.depthwise.is_some();
        let is_in_order = self.input.is_none() && is_kernel_near && self.output.is_none();
        if self.phases.is_some() {
            return false;
        }
        let is_divisible = match &self.windows {
            Some(SomeWindows::Padded(windows)) => {
                self.depthwise.is_some() || self.is_divisible(windows, 1)
            }
            Some(SomeWindows::Patches(_)) => self.sizes.group_batch == self.sizes.batch,
            None => false,
        };
        is_in_order && is_divisible
    }

    /// True if windows can be divided, and the part of the input that is copied for this many of
    /// them takes less than their products.
    fn is_divisible(&self, windows: &PaddedWindows, rows: usize) -> bool {
        let copied = windows.part(&(0..rows)).len() / PART_REUSE;
        self.sizes.group_batch == self.sizes.batch
            && copied <= rows.saturating_mul(self.kernel_len())
    }

    /// Number of windows for which a padded part of the input is copied at a time; `None` if the
    /// copy is not larger than caches, or parts do not pay.
    fn part_rows(&self, windows: &PaddedWindows) -> Option<usize> {
        let size = self.dtype.bytes();
        let bytes = windows.copied().saturating_mul(size);
        if bytes <= whole_bytes() || self.kernel_len() > max_shared() {
            return None;
        }
        let all = self.rows();
        // Of a large input, about as much as the second-level cache holds is copied at a time, and
        // at most four times that with what other parts have, too.
        let near = host::machine().l2.bytes;
        let rows = all.div_ceil((bytes / near).max(1)).max(MIN_PART_ROWS).min(all);
        let part = windows.part(&(0..rows)).len().saturating_mul(size);
        (part <= 4 * near && self.is_divisible(windows, rows)).then_some(rows)
    }

    /// The number of windows.
    pub fn rows(&self) -> usize {
        self.sizes.windows()
    }

    /// The number of features of a window.
    pub fn features(&self) -> usize {
        self.sizes.output_features
    }

    /// The number of elements of the kernel.
    pub fn kernel_len(&self) -> usize {
        self.sizes.depth().saturating_mul(self.sizes.output_features)
    }

    /// The bytes of the kernel in the order of [`ConvSizes`].
    fn kernel_bytes(&self) -> usize {
        self.kernel_len().saturating_mul(self.dtype.bytes())
    }

    /// Its work for a window, in elementary operations: a rough estimate.
    fn row_work(&self) -> usize {
        self.kernel_len() / if self.depthwise.is_some() { 4 } else { 1 }
    }

    /// As [`PreparedConvolution::run_packed`], of some of the rows, on this thread.
    ///
    /// # Errors
    /// As there, or if the results are not [rows](PreparedConvolution::is_of_rows).
    pub fn run_rows(
        &self,
        rows: Range<usize>,
        operands: [&[u8]; 2],
        panels: Option<&[u8]>,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        if !self.is_of_rows() || rows.start > rows.end || rows.end > self.rows() {
            return Err(TensorError::OutOfBounds);
        }
        self.run_some(Some(rows), operands, panels, out)
    }

    /// All results, on several threads where that pays, or some rows.
    fn run_some(
        &self,
        rows: Option<Range<usize>>,
        [lhs, rhs]: [&[u8]; 2],
        panels: Option<&[u8]>,
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let dtype = self.dtype;
        let count = |bytes: &[u8]| Some(bytes.len() / dtype.bytes());
        let results = match &rows {
            Some(rows) => rows.len().checked_mul(self.sizes.output_features),
            None => num_elements(&self.shape),
        };
        if self.lens != [count(lhs), count(rhs)] || results != count(out) {
            return Err(TensorError::OutOfBounds);
        }
        let Some(windows) = &self.windows else {
            out.fill(0);
            return Ok(());
        };
        if let Some(phases) = &self.phases
            && rows.is_none()
            && dispatch_sum!(dtype, T, R, C => Ok(all_finite(elements::<T>(rhs)?)))?
        {
            let _reserved = reserve::<u8>(if self.input.is_some() { lhs.len() } else { 0 })?;
            let mut room = AlignedBytes::new();
            room.try_resize(if self.input.is_some() { lhs.len() } else { 0 })?;
            let input = gathered(dtype, lhs, self.input.as_ref(), &mut room)?;
            return phases.run([input, rhs], panels, out);
        }
        // Those of phases are of parts of the kernel.
        let panels = panels.filter(|_| self.phases.is_none());
        if let Some(features_first) =
            self.features_first.as_ref().filter(|_| rows.is_none() && panels.is_none())
        {
            return self.run_features_first(windows, features_first, [lhs, rhs], out);
        }
        // A kernel that is copied once serves all parts.
        let has_parts = rows.is_none()
            && matches!(windows, SomeWindows::Padded(windows) if self.part_rows(windows).is_some());
        let (view, strides, order) = self.kernel_order(self.depthwise.is_none() && !has_parts);
        let view = view.filter(|_| panels.is_none());
        let (ordered, panels) = match self.depthwise {
            Some(_) => (panels.filter(|ordered| ordered.len() == rhs.len()), None),
            None => (None, panels),
        };
        let sizes = [
            (self.input.as_ref(), lhs.len()),
            (view, self.kernel_bytes()),
            (self.output.as_ref(), out.len()),
        ];
        let copied = sizes.map(|(view, bytes)| if view.is_some() { bytes } else { 0 });
        let _reserved = reserve::<u8>(copied.iter().copied().fold(0, usize::saturating_add))?;
        let mut rooms = ROOMS.take();
        for (room, bytes) in rooms.iter_mut().zip(copied) {
            room.resize(bytes);
        }
        let [input, kernel, results, padded] = &mut rooms;
        let input = gathered(dtype, lhs, self.input.as_ref(), input)?;
        let kernel = match ordered {
            Some(ordered) => ordered,
            None => gathered(dtype, rhs, view, kernel)?,
        };
        let in_own_order = match &self.output {
            Some(_) => &mut results[..],
            None => &mut *out,
        };
        dispatch_sum!(dtype, T, R, C => {
            let (input, elements) = (elements::<T>(input)?, elements(kernel)?);
            let results = bytemuck::try_cast_slice_mut(in_own_order);
            let results = results.map_err(|_| TensorError::OutOfBounds)?;
            let panels = packed::<T, C>(panels, [self.sizes.depth(), self.sizes.output_features])?;
            let weights = Weights { elements, strides, order, panels };
            self.compute::<T, R, C>(windows, rows, (input, weights), padded, results)
        })?;
        if let Some(order) = &self.output {
            movement::gather(order, dtype, results, out)?;
        }
        keep(rooms);
        Ok(())
    }

    /// All results, which have the features first.
    fn run_features_first(
        &self,
        windows: &SomeWindows,
        FeaturesFirst { kernel }: &FeaturesFirst,
        [lhs, rhs]: [&[u8]; 2],
        out: &mut [u8],
    ) -> Result<(), TensorError> {
        let copied = if self.input.is_some() { lhs.len() } else { 0 };
        let _reserved = reserve::<u8>(copied.saturating_add(rhs.len()))?;
        let mut rooms = ROOMS.take();
        let [input, weights, panels, padded] = &mut rooms;
        input.resize(copied);
        weights.resize(rhs.len());
        let input = gathered(self.dtype, lhs, self.input.as_ref(), input)?;
        let weights = gathered(self.dtype, rhs, Some(kernel), weights)?;
        dispatch_sum!(float self.dtype, T, R, C => {
            let (input, weights) = (elements::<T>(input)?, elements(weights)?);
            let out = bytemuck::try_cast_slice_mut(out).map_err(|_| TensorError::OutOfBounds)?;
            let sizes = &*self.sizes;
            let mut multiply = |windows: &dyn Rows<T>| {
                multiply_windows::<T, R, C>(weights, windows, sizes, panels, &mut *out)
            };
            match windows {
                SomeWindows::Padded(windows) if windows.are_elements() => {
                    multiply(&Matrix { elements: input, strides: [sizes.input_features, 1] })
                }
                SomeWindows::Padded(windows) => {
                    let _reserved = reserve::<T>(windows.copied())?;
                    padded.resize(windows.copied().saturating_mul(size_of::<T>()));
                    let copy = bytemuck::cast_slice_mut(&mut padded[..]);
                    multiply(&windows.over(input, copy)?.group(0, 0))
                }
                SomeWindows::Patches(windows) => {
                    let _reserved = reserve::<Option<usize>>(sizes.taps())?;
                    multiply(&Patches { windows, input, first: [0, 0] })
                }
            }
        })?;
        keep(rooms);
        Ok(())
    }

    /// Writes all results, or some rows, for operands in the order of [`ConvSizes`], given memory
    /// for a copy of the input with zeros.
    fn compute<T: Accumulator, const R: usize, const C: usize>(
        &self,
        some: &SomeWindows,
        rows: Option<Range<usize>>,
        (input, kernel): (&[T], Weights<'_, T>),
        room: &mut AlignedBytes,
        out: &mut [T],
    ) -> Result<(), TensorError> {
        let sizes = &*self.sizes;
        if let Some((windows, alike)) = &self.depthwise
            && all_finite(kernel.elements)
        {
            let operands = [input, kernel.elements];
            if let Some(rows) = rows {
                depthwise::<T, C>(windows, alike, operands, rows, out);
                return Ok(());
            }
            let (width, features) = (windows.line_len(), sizes.output_features);
            let lines = task_size(self.rows() / width, width * self.row_work(), 1);
            return parts_in_parallel(out, lines * width * features, |task, out| {
                let first = task * lines * width;
                let rows = first..first + out.len() / features;
                depthwise::<T, C>(windows, alike, operands, rows, out);
                Ok(())
            });
        }
        let groups = (0..sizes.groups).map(|group| match self.has_feature_groups {
            false => [group * sizes.group_batch, 0],
            true => [0, group * sizes.kernel_features],
        });
        let image = input.len() / sizes.batch;
        // Windows over an empty input have padding only.
        let elements =
            |[batch, feature]: [usize; 2]| input.get(batch * image + feature..).unwrap_or_default();
        match some {
            SomeWindows::Padded(windows) if windows.are_elements() => {
                let strides = [sizes.input_features, 1];
                let matrices = groups.map(|first| Matrix { elements: elements(first), strides });
                multiply_groups::<T, R, C, _>(sizes, matrices, kernel, rows, out)
            }
            SomeWindows::Padded(windows) => {
                // A copy that is larger than caches is made in parts, which are there when read.
                if rows.is_none()
                    && let Some(part_rows) = self.part_rows(windows)
                {
                    let part_rows = part_rows.next_multiple_of(R);
                    let size = part_rows * sizes.output_features;
                    return parts_in_parallel(out, size, |task, out| {
                        let first = task * part_rows;
                        let rows = first..first + out.len() / sizes.output_features;
                        let mut rooms = ROOMS.take();
                        let [.., room] = &mut rooms;
                        self.compute::<T, R, C>(some, Some(rows), (input, kernel), room, out)?;
                        ROOMS.set(rooms);
                        Ok(())
                    });
                }
                let copied = match &rows {
                    Some(rows) => windows.part(rows).len(),
                    None => windows.copied(),
                };
                let _reserved = reserve::<T>(copied)?;
                room.resize(copied.saturating_mul(size_of::<T>()));
                let copy = bytemuck::try_cast_slice_mut(&mut room[..]);
                let copy = copy.map_err(|_| TensorError::OutOfBounds)?;
                let padded = match &rows {
                    Some(rows) => windows.over_part(rows, input, copy),
                    None => windows.over(input, copy)?,
                };
                let groups = groups.map(|[batch, feature]| padded.group(batch, feature));
                multiply_groups::<T, R, C, _>(sizes, groups, kernel, rows, out)
            }
            SomeWindows::Patches(windows) => {
                // The input positions of a part of the windows.
                let _reserved = reserve::<Option<usize>>(sizes.taps())?;
                let patches = groups.map(|first| Patches { windows, input, first });
                multiply_groups::<T, R, C, _>(sizes, patches, kernel, rows, out)
            }
        }
    }
}

/// A kernel, with the spatial dimensions first, backwards along some of them.
fn reversed(kernel: StridedView, reversal: &[bool]) -> Option<StridedView> {
    if !reversal.contains(&true) {
        return Some(kernel);
    }
    kernel.part(|d, size, stride| match reversal.get(d) {
        Some(true) => Some((size.saturating_sub(1), size, stride.checked_neg()?)),
        _ => Some((0, size, stride)),
    })
}

fn elements<T: Element>(bytes: &[u8]) -> Result<&[T], TensorError> {
    bytemuck::try_cast_slice(bytes).map_err(|_| TensorError::OutOfBounds)
}

/// The bytes of elements, or of a copy in another order.
fn gathered<'a>(
    dtype: DType,
    bytes: &'a [u8],
    order: Option<&StridedView>,
    room: &'a mut [u8],
) -> Result<&'a [u8], TensorError> {
    if let Some(order) = order {
        movement::gather(order, dtype, bytes, room)?;
        return Ok(room);
    }
    Ok(bytes)
}

/// Writes the products of the windows of each group with its part of the kernel: all of them, on as
/// many threads as pay, or those of some windows.
fn multiply_groups<T: Accumulator, const R: usize, const C: usize, W: Rows<T>>(
    sizes: &ConvSizes,
    groups: impl Iterator<Item = W>,
    kernel: Weights<'_, T>,
    rows: Option<Range<usize>>,
    out: &mut [T],
) -> Result<(), TensorError> {
    let (features, depth) = (sizes.output_features, sizes.depth());
    let all = out.len() / features;
    let groups: SmallVec<[W; 1]> = groups.collect();
    let Weights { elements, strides, order, panels } = kernel;
    let product = |group: usize| Product {
        rows: all,
        depth,
        columns: sizes.group_features,
        a: &groups[group],
        b: Matrix { elements: &elements[group * sizes.group_features * strides[1]..], strides },
        order,
        panels,
    };
    let compute = |rows: Range<usize>, out: &mut [T]| {
        for group in 0..sizes.groups {
            let part = &mut out[group * sizes.group_features..];
            let mut results = Results::Strided(part, features);
            let columns = 0..sizes.group_features;
            product(group).compute::<R, C>(Isa::best(), rows.clone(), columns, &mut results)?;
        }
        Ok(())
    };
    if let Some(rows) = rows {
        return compute(rows, out);
    }
    if sizes.groups == 1 {
        return multiply::<T, R, C>(&[product(0)], depth, out);
    }
    let task_rows = task_size(all, depth * features, R);
    parts_in_parallel(out, task_rows * features, |task, out| {
        let first = task * task_rows;
        compute(first..first + out.len() / features, out)
    })
}
