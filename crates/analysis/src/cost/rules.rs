//! The work of each primitive, as a formula of its operands and results.

use super::Work;
use numerics::math::{BinaryOp, UnaryOp};
use program::collective::CollectiveKind;
use program::{
    BatchNorm, BodyShape, Callee, ConvDims, Convolution, DYNAMIC, DotDims, Dynamic, Primitive,
    ValueType, Window,
};

/// The operands and results of an instruction.
pub struct Shapes<'a> {
    /// Types of the operands.
    pub operands: Vec<&'a ValueType>,
    /// Types of the results.
    pub results: Vec<&'a ValueType>,
}

/// The arithmetic of one application of a body or comparator to scalars.
pub type BodyWork<'a> = &'a dyn Fn(Callee) -> Work;

/// Number of elements; dynamic dimensions count as 1.
pub fn elements(ty: &ValueType) -> u64 {
    sizes(ty).iter().copied().fold(1, u64::saturating_mul)
}

/// The sizes of the dimensions; 1 if dynamic.
fn sizes(ty: &ValueType) -> Vec<u64> {
    let size = |&size: &i64| if size == DYNAMIC { 1 } else { u64::try_from(size).unwrap_or(0) };
    match ty {
        ValueType::Tensor { shape, .. } => shape.iter().map(size).collect(),
        _ => Vec::new(),
    }
}

fn bytes(ty: &ValueType) -> u64 {
    ty.min_bytes() as u64
}

impl Shapes<'_> {
    fn operand(&self, index: usize) -> u64 {
        self.operands.get(index).map_or(0, |ty| elements(ty))
    }

    fn result(&self) -> u64 {
        self.results.first().map_or(0, |ty| elements(ty))
    }

    /// The size of a dimension of an operand; of the last one that is counted from the end if the
    /// index is negative.
    fn size(&self, operand: usize, dimension: i64) -> u64 {
        let sizes = self.operands.get(operand).map_or(Vec::new(), |ty| sizes(ty));
        let index = match dimension {
            0.. => usize::try_from(dimension).ok(),
            _ => usize::try_from(dimension.unsigned_abs())
                .ok()
                .and_then(|back| sizes.len().checked_sub(back)),
        };
        index.and_then(|index| sizes.get(index).copied()).unwrap_or(1)
    }

    fn all_bytes(&self) -> u64 {
        self.operands.iter().chain(&self.results).map(|ty| bytes(ty)).fold(0, u64::saturating_add)
    }

    /// Bytes of the results, and of the operands but for the first `skipped`.
    fn bytes_without(&self, skipped: usize) -> u64 {
        let operands = self.operands.iter().skip(skipped);
        operands.chain(&self.results).map(|ty| bytes(ty)).fold(0, u64::saturating_add)
    }
}

/// The bytes that a primitive reads and writes: each operand and result once. Views move nothing;
/// what reads or writes a part counts the part.
pub fn moved(primitive: &Primitive, shapes: &Shapes<'_>) -> u64 {
    let result = shapes.results.first().map_or(0, |ty| bytes(ty));
    match primitive {
        Primitive::Constant(_)
        | Primitive::Splat { .. }
        | Primitive::Identity
        | Primitive::Token
        | Primitive::Tuple
        | Primitive::TupleElement(_)
        | Primitive::Untuple
        | Primitive::Reshape(_)
        | Primitive::DimensionSize(_)
        | Primitive::Block(_)
        | Primitive::If(_)
        | Primitive::Case(_)
        | Primitive::While { .. }
        | Primitive::Call(_)
        | Primitive::Invalid(_) => 0,
        Primitive::Slice { .. }
        | Primitive::DynamicSlice { .. }
        | Primitive::Gather { .. }
        | Primitive::IndexSelect { .. } => shapes.bytes_without(1).saturating_add(result),
        Primitive::DynamicUpdateSlice => {
            let update = shapes.operands.get(1).map_or(0, |ty| bytes(ty));
            let indices = shapes.operands.iter().skip(2).map(|ty| bytes(ty));
            update.saturating_mul(2).saturating_add(indices.fold(0, u64::saturating_add))
        }
        Primitive::Quantized(quantized) => match quantized.primitive {
            Primitive::Reshape(_) => 0,
            _ => shapes.all_bytes(),
        },
        _ => shapes.all_bytes(),
    }
}

/// The arithmetic of a primitive without nested control flow; `None` if that is not known.
///
/// An operation on an element counts one, whatever its type; a multiplication with an addition
/// two. Moving elements costs none.
pub fn arithmetic(primitive: &Primitive, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
    let result = shapes.result();
    let flops = match primitive {
        Primitive::Unary(op) if is_transcendental(*op) => return Some(Work::functions(result)),
        Primitive::Binary(
            BinaryOp::Atan2 | BinaryOp::Polygamma | BinaryOp::Power | BinaryOp::Zeta,
        ) => return Some(Work::functions(result)),
        Primitive::Unary(UnaryOp::Real | UnaryOp::Imag)
        | Primitive::Binary(BinaryOp::Complex)
        | Primitive::Bitcast(_) => 0,
        Primitive::Unary(_)
        | Primitive::Binary(_)
        | Primitive::Compare(_)
        | Primitive::Select
        | Primitive::Clamp
        | Primitive::Convert(_)
        | Primitive::ReducePrecision { .. } => result,
        Primitive::Dot { dims, .. } => {
            twice(product([result, contracted(dims.as_deref(), shapes)]))
        }
        Primitive::Convolution(convolution) => twice(convolved(convolution, shapes)),
        Primitive::Dynamic(dynamic) => match &**dynamic {
            Dynamic::Convolution(convolution) => twice(convolved(convolution, shapes)),
            _ => 0,
        },
        Primitive::Einsum { config, .. } => twice(labelled(config, shapes)),
        Primitive::Map(block) => return Some(body(Callee::Block(*block)).times(result)),
        Primitive::Reduce { body: own, .. } => {
            let combined = shapes.operand(0).saturating_sub(result);
            return Some(once(own.shape, own.callee, body).times(combined));
        }
        Primitive::ReduceWindow { window, body: own, .. } => {
            let window = match window {
                Some(window) => positions(window),
                None => shapes.operand(0).checked_div(result).unwrap_or(0),
            };
            let each = once(own.shape, own.callee, body);
            return Some(each.times(product([result, window.saturating_sub(1)])));
        }
        Primitive::SelectAndScatter { window, select, scatter, .. } => {
            let sources = shapes.operand(1);
            let compared = product([sources, positions(window).saturating_sub(1)]);
            let select = body(Callee::Block(*select)).times(compared);
            return Some(select.plus(once(scatter.shape, scatter.callee, body).times(sources)));
        }
        Primitive::Scatter { body: own, .. } => {
            let inputs = own.dtypes.len() / 2;
            let updates = shapes.operand(inputs + 1);
            return Some(once(own.shape, own.callee, body).times(updates));
        }
        Primitive::Sort { dimension, comparator } => {
            let rounds = log2_ceiling(shapes.size(0, *dimension));
            let compared = product([shapes.operand(0), rounds]);
            return Some(body(Callee::Block(comparator.block)).times(compared));
        }
        Primitive::TopK { .. } => shapes.operand(0),
        Primitive::Fft { lengths, .. } => {
            // 5 N log2 N of complex numbers, half of that on the real side of a real transform.
            let transformed = lengths.iter().map(|&n| n as u64).fold(1, u64::saturating_mul);
            let is_real = shapes.operands.iter().chain(&shapes.results).any(|ty| !is_complex(ty));
            let all = shapes.operand(0).max(result);
            let flops = product([5, all, log2_ceiling(transformed)]);
            if is_real { flops / 2 } else { flops }
        }
        Primitive::Cholesky { .. } => {
            let n = shapes.size(0, -1);
            product([shapes.operand(0), n]) / 3
        }
        Primitive::TriangularSolve(_) => product([result, shapes.size(0, -1)]),
        // The equations of the specification, for each element.
        Primitive::BatchNorm { kind, .. } => match kind {
            BatchNorm::Inference => result.saturating_mul(4),
            BatchNorm::Training => result.saturating_mul(8),
            BatchNorm::Grad => result.saturating_mul(11),
        },
        Primitive::RandomBits { .. } | Primitive::RandomNumbers { .. } => {
            let drawn = shapes.results.last().map_or(0, |ty| elements(ty));
            return Some(Work::functions(drawn));
        }
        Primitive::Collective(collective) => match &collective.kind {
            CollectiveKind::Reduce(own) => {
                return Some(once(own.shape, own.callee, body).times(shapes.operand(0)));
            }
            CollectiveKind::ReduceScatter { computation, .. }
            | CollectiveKind::ReduceToRoot { computation, .. } => {
                let each = once(computation.shape, computation.callee, body);
                return Some(each.times(shapes.operand(0)));
            }
            CollectiveKind::Sum => shapes.operand(0),
            _ => 0,
        },
        Primitive::Quantized(quantized) => return arithmetic(&quantized.primitive, shapes, body),
        Primitive::Native(_) | Primitive::Invalid(_) => return None,
        _ => 0,
    };
    Some(Work { flops, ..Work::default() })
}

fn is_complex(ty: &ValueType) -> bool {
    matches!(ty, ValueType::Tensor { dtype, .. } if dtype.is_complex())
}

/// True for functions that hardware computes by many operations.
fn is_transcendental(op: UnaryOp) -> bool {
    !matches!(
        op,
        UnaryOp::Abs
            | UnaryOp::Ceil
            | UnaryOp::CountLeadingZeros
            | UnaryOp::Floor
            | UnaryOp::Imag
            | UnaryOp::IsFinite
            | UnaryOp::IsInf
            | UnaryOp::IsNegInf
            | UnaryOp::IsPosInf
            | UnaryOp::Negate
            | UnaryOp::Not
            | UnaryOp::Popcnt
            | UnaryOp::Real
            | UnaryOp::RoundNearestAfz
            | UnaryOp::RoundNearestEven
            | UnaryOp::Sign
            | UnaryOp::Square
    )
}

/// The arithmetic of combining two elements.
fn once(shape: BodyShape, callee: Callee, body: BodyWork<'_>) -> Work {
    match shape {
        BodyShape::Binary { .. } => Work { flops: 1, ..Work::default() },
        BodyShape::Values => Work::default(),
        BodyShape::Block => body(callee),
    }
}

fn product<const N: usize>(factors: [u64; N]) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}

fn twice(multiplications: u64) -> u64 {
    multiplications.saturating_mul(2)
}

fn log2_ceiling(n: u64) -> u64 {
    u64::from(n.max(1).next_power_of_two().trailing_zeros())
}

/// Number of positions in a window.
fn positions(window: &Window) -> u64 {
    let size = |size: i64| u64::try_from(size).unwrap_or(0);
    window.iter().map(|dim| size(dim.size)).fold(1, u64::saturating_mul)
}

/// Number of products that are summed for an element of a dot product.
fn contracted(dims: Option<&DotDims>, shapes: &Shapes<'_>) -> u64 {
    match dims {
        Some(dims) => {
            let sizes = dims.lhs_contracting_dimensions.iter().map(|&d| shapes.size(0, d));
            sizes.fold(1, u64::saturating_mul)
        }
        None => shapes.size(0, -1),
    }
}

/// Number of products of a convolution: those with padding and with holes do not count.
fn convolved(convolution: &Convolution, shapes: &Shapes<'_>) -> u64 {
    let ConvDims {
        input_batch_dimension,
        input_spatial_dimensions,
        kernel_input_feature_dimension,
        kernel_output_feature_dimension,
        kernel_spatial_dimensions,
        output_spatial_dimensions,
        ..
    } = &convolution.dims;
    let batch = shapes.size(0, *input_batch_dimension) / (convolution.batch_groups as u64).max(1);
    // Each output feature sees the input features of its group, which are those of the kernel.
    let features = [kernel_input_feature_dimension, kernel_output_feature_dimension];
    let features = features.map(|&dimension| shapes.size(1, dimension));
    let output = shapes.results.first().map_or(Vec::new(), |ty| sizes(ty));
    let mut products = product([batch, features[0], features[1]]);
    let spatial = input_spatial_dimensions.iter().zip(kernel_spatial_dimensions);
    for (index, (&input, &kernel)) in spatial.enumerate() {
        let at = output_spatial_dimensions.get(index).and_then(|&d| usize::try_from(d).ok());
        let steps = at.and_then(|at| output.get(at).copied()).unwrap_or(1);
        let line = Line {
            input: shapes.size(0, input),
            kernel: shapes.size(1, kernel),
            output: steps,
            dim: convolution.window.get(index),
        };
        products = products.saturating_mul(line.products());
    }
    products
}

/// One spatial dimension of a convolution.
struct Line<'a> {
    input: u64,
    kernel: u64,
    output: u64,
    dim: Option<&'a program::WindowDim>,
}

impl Line<'_> {
    /// Number of pairs of an output position and a kernel position that meet an input element.
    fn products(&self) -> u64 {
        /// Larger lines are not counted one by one; padding is then counted, too.
        const MAX_KERNEL: u64 = 1 << 16;
        let all = self.kernel.saturating_mul(self.output);
        let Some(dim) = self.dim else { return all };
        if self.kernel > MAX_KERNEL {
            return all;
        }
        let [stride, base, dilation] =
            [dim.stride, dim.base_dilation, dim.window_dilation].map(|n| i128::from(n.max(1)));
        let (low, input, output) =
            (i128::from(dim.pad_low), i128::from(self.input), i128::from(self.output));
        let mut count = 0u64;
        for k in 0..i128::from(self.kernel) {
            // Output position o meets input position (o * stride + k * dilation - low) / base.
            let shift = k * dilation - low;
            let last = (input - 1) * base - shift;
            if input == 0 || last < 0 {
                continue;
            }
            let first = if shift < 0 { (-shift + stride - 1) / stride } else { 0 };
            let end = (last / stride + 1).min(output);
            count = count.saturating_add(hits(first, end, stride, shift, base));
        }
        count
    }
}

/// Number of `o` in `first..end` for which `o * stride + shift` is a multiple of `base`.
fn hits(first: i128, end: i128, stride: i128, shift: i128, base: i128) -> u64 {
    let length = (end - first).max(0);
    // Remainders repeat after at most `base` positions.
    let period = base / gcd(stride % base, base);
    let found = (first..first + period.min(1 << 16))
        .position(|o| (o * stride + shift).rem_euclid(base) == 0);
    let Some(found) = found else { return 0 };
    let rest = length - found as i128;
    if rest <= 0 { 0 } else { u64::try_from((rest + period - 1) / period).unwrap_or(u64::MAX) }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

/// Number of products of an einsum: of the sizes of all its labels.
fn labelled(config: &str, shapes: &Shapes<'_>) -> u64 {
    let inputs = config.split("->").next().unwrap_or_default();
    let mut seen: Vec<(char, u64)> = Vec::new();
    for (operand, labels) in inputs.split(',').enumerate() {
        for (dimension, label) in labels.chars().filter(|c| c.is_alphabetic()).enumerate() {
            if !seen.iter().any(|&(known, _)| known == label) {
                seen.push((label, shapes.size(operand, dimension as i64)));
            }
        }
    }
    seen.iter().map(|&(_, size)| size).fold(1, u64::saturating_mul)
}
