//! The quantized types and a typed view of the uniform ones.

use super::text;
use mlir::attrs::AttrKind;
use mlir::diag::counted;
use mlir::ods::{ParamAssembly, ParamDef, ParamKind, TypeDef};
use mlir::types::Signedness;
use mlir::{Attribute, Type, TypeKind};
use numerics::DType;

/// Maximum width of storage types.
const MAX_STORAGE_BITS: u32 = 32;

/// `!quant.uniform<…>`: an element of integer storage `q` that expresses `(q - zero_point) *
/// scale`.
pub static UNIFORM: TypeDef = TypeDef {
    dialect: "quant",
    mnemonic: "uniform",
    doc: "An integer `q` that stands for the number `(q - zero_point) * scale`: \
          one scale for a tensor, or one for each index along an axis, or one for each block.",
    params: &[
        ParamDef::required("storage", ParamKind::Type),
        ParamDef::required("storage_min", ParamKind::I64),
        ParamDef::required("storage_max", ParamKind::I64),
        ParamDef::required("expressed", ParamKind::Type),
        ParamDef::required("scales", ParamKind::Attribute),
        ParamDef::required("zero_points", ParamKind::I64s),
        ParamDef::optional("axes", ParamKind::I64s),
        ParamDef::optional("block_sizes", ParamKind::I64s),
        ParamDef::optional("scales_shape", ParamKind::I64s),
        // Set for `u8`, whose storage type in MLIR is `i8` with an unsigned flag, unlike that of
        // `ui8`.
        ParamDef::optional("unsigned_by_flag", ParamKind::Attribute),
    ],
    assembly: ParamAssembly::Custom { parse: text::parse_uniform, print: text::print_uniform },
    verify: Some(verify_uniform),
    compatible: Some(compatible_uniform),
    storage: Some(|params| Some(Uniform::from_params(params)?.storage.clone())),
    misfit: Some(misfit_uniform),
};

/// `!quant.any<…>`: a quantized type with unspecified parameters.
pub static ANY: TypeDef = TypeDef {
    dialect: "quant",
    mnemonic: "any",
    doc: "A quantized type with unspecified parameters: only the storage type and perhaps the expressed type are known.",
    params: &[
        ParamDef::required("storage", ParamKind::Type),
        ParamDef::required("storage_min", ParamKind::I64),
        ParamDef::required("storage_max", ParamKind::I64),
        ParamDef::optional("expressed", ParamKind::Type),
    ],
    assembly: ParamAssembly::Custom { parse: text::parse_any, print: text::print_any },
    verify: Some(verify_any),
    compatible: None,
    storage: None,
    misfit: None,
};

/// `!quant.calibrated<f32<min:max>>`: a float whose range was observed.
pub static CALIBRATED: TypeDef = TypeDef {
    dialect: "quant",
    mnemonic: "calibrated",
    doc: "A float whose values were observed to lie between `min` and `max`.",
    params: &[
        ParamDef::required("expressed", ParamKind::Type),
        ParamDef::required("min", ParamKind::F64),
        ParamDef::required("max", ParamKind::F64),
    ],
    assembly: ParamAssembly::Custom {
        parse: text::parse_calibrated,
        print: text::print_calibrated,
    },
    verify: Some(verify_calibrated),
    compatible: None,
    storage: None,
    misfit: None,
};

/// The granularity of quantization parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// One scale for all elements.
    PerTensor,
    /// One scale per index along one axis.
    PerAxis,
    /// One scale per block of elements.
    SubChannel,
}

/// A view of `!quant.uniform<…>`.
#[derive(Clone, Copy, Debug)]
pub struct Uniform<'a> {
    /// Integer type of the stored values: signless for signed ones, `ui8` and so on for unsigned
    /// ones.
    pub storage: &'a Type,
    /// Least stored value.
    pub storage_min: i64,
    /// Greatest stored value.
    pub storage_max: i64,
    /// Expressed type: the float type of the numbers that the stored values represent.
    pub expressed: &'a Type,
    /// Zero points, one per scale.
    pub zero_points: &'a [i64],
    /// Quantized dimensions: none, one (per axis), or those that are divided into blocks.
    pub axes: &'a [i64],
    /// Size of the blocks along each of `axes`, for sub-channel quantization.
    pub block_sizes: &'a [i64],
    /// Shape of the scales, for sub-channel quantization.
    pub scales_shape: &'a [i64],
    scale_bits: &'a [i64],
    granularity: Granularity,
    unsigned_by_flag: bool,
}

impl<'a> Uniform<'a> {
    /// The view of a uniform quantized type.
    pub fn of(ty: &'a Type) -> Option<Uniform<'a>> {
        Uniform::from_params(ty.as_dialect(&UNIFORM)?)
    }

    /// The view of the element type of a tensor, or of `ty` itself.
    pub fn of_element(ty: &'a Type) -> Option<Uniform<'a>> {
        Uniform::of(ty.element_type())
    }

    /// The view of a type's parameters; `None` if they are not well-formed.
    pub(super) fn from_params(params: &'a [Option<Attribute>]) -> Option<Uniform<'a>> {
        let [
            storage,
            min,
            max,
            expressed,
            scales,
            zero_points,
            axes,
            block_sizes,
            scales_shape,
            unsigned_by_flag,
        ] = params
        else {
            return None;
        };
        fn list(attr: &Option<Attribute>) -> Option<&[i64]> {
            attr.as_ref().map_or(Some(&[]), |a| a.as_int_array())
        }
        let AttrKind::DenseArray { values: scale_bits, .. } = &**scales.as_ref()? else {
            return None;
        };
        let granularity = match (axes, block_sizes) {
            (None, _) => Granularity::PerTensor,
            (Some(_), None) => Granularity::PerAxis,
            (Some(_), Some(_)) => Granularity::SubChannel,
        };
        Some(Uniform {
            storage: storage.as_ref()?.as_type()?,
            storage_min: min.as_ref()?.as_i64()?,
            storage_max: max.as_ref()?.as_i64()?,
            expressed: expressed.as_ref()?.as_type()?,
            zero_points: list(zero_points)?,
            axes: list(axes)?,
            block_sizes: list(block_sizes)?,
            scales_shape: list(scales_shape)?,
            scale_bits,
            granularity,
            unsigned_by_flag: unsigned_by_flag.is_some(),
        })
    }

    /// How the scales are spread.
    pub fn granularity(&self) -> Granularity {
        self.granularity
    }

    /// The scales: one, one per index of the axis, or one per block in row-major order.
    pub fn scales(&self) -> impl ExactSizeIterator<Item = f64> + Clone + 'a {
        self.scale_bits.iter().map(|&bits| f64::from_bits(bits as u64))
    }

    /// True if stored values are signed.
    pub fn is_signed(&self) -> bool {
        !matches!(**self.storage, TypeKind::Integer { signedness: Signedness::Unsigned, .. })
    }

    /// The storage type as MLIR holds it: that of `u8` is `i8` with an unsigned flag.
    pub fn held_storage(&self) -> Type {
        if self.unsigned_by_flag {
            Type::integer(self.storage_width(), Signedness::Signless)
        } else {
            self.storage.clone()
        }
    }

    /// Width of the storage type in bits.
    pub fn storage_width(&self) -> u32 {
        self.storage.bit_width().unwrap_or(0)
    }
}

/// The parts of a uniform type.
#[derive(Clone, Debug)]
pub struct UniformParts {
    /// Integer type of the stored values.
    pub storage: Type,
    /// True if that is unsigned by a flag, as in [`Uniform::held_storage`].
    pub unsigned_by_flag: bool,
    /// Least and greatest stored value.
    pub storage_range: (i64, i64),
    /// The expressed float type.
    pub expressed: Type,
    /// Scales.
    pub scales: Vec<f64>,
    /// Zero points, one per scale.
    pub zero_points: Vec<i64>,
    /// Quantized dimensions; `None` for per-tensor quantization.
    pub axes: Option<Vec<i64>>,
    /// Block sizes and the shape of the scales, for sub-channel quantization.
    pub blocks: Option<(Vec<i64>, Vec<i64>)>,
}

impl UniformParts {
    /// The parts of an existing type, for modification.
    pub fn of(view: &Uniform<'_>) -> UniformParts {
        let sub_channel = view.granularity == Granularity::SubChannel;
        UniformParts {
            storage: view.storage.clone(),
            unsigned_by_flag: view.unsigned_by_flag,
            storage_range: (view.storage_min, view.storage_max),
            expressed: view.expressed.clone(),
            scales: view.scales().collect(),
            zero_points: view.zero_points.to_vec(),
            axes: (view.granularity != Granularity::PerTensor).then(|| view.axes.to_vec()),
            blocks: sub_channel.then(|| (view.block_sizes.to_vec(), view.scales_shape.to_vec())),
        }
    }

    /// The parameters of the type.
    pub(super) fn params(self) -> Vec<Option<Attribute>> {
        let scales = self.scales.iter().map(|s| s.to_bits() as i64).collect();
        let (block_sizes, scales_shape) = self.blocks.unzip();
        vec![
            Some(self.storage.into()),
            Some(Attribute::i64(self.storage_range.0)),
            Some(Attribute::i64(self.storage_range.1)),
            Some(self.expressed.into()),
            Some(AttrKind::DenseArray { element: Type::f64(), values: scales }.into()),
            Some(Attribute::i64_array(self.zero_points)),
            self.axes.map(Attribute::i64_array),
            block_sizes.map(Attribute::i64_array),
            scales_shape.map(Attribute::i64_array),
            self.unsigned_by_flag.then(Attribute::unit),
        ]
    }

    /// The type; its parts are not verified.
    pub fn into_type(self) -> Type {
        Type::dialect(&UNIFORM, self.params())
    }
}

/// `storage` and `unsigned_by_flag` of [`UniformParts`], from MLIR's representation: an integer
/// type and a flag for signed.
pub fn storage_from_held(held: &Type, is_signed: bool) -> (Type, bool) {
    match **held {
        TypeKind::Integer { width, signedness: Signedness::Signless } if !is_signed => {
            (Type::integer(width, Signedness::Unsigned), true)
        }
        _ => (held.clone(), false),
    }
}

/// Least and greatest value of a storage type.
pub(super) fn storage_limits(storage: &Type) -> (i64, i64) {
    let width = storage.bit_width().unwrap_or(1).clamp(1, MAX_STORAGE_BITS);
    match **storage {
        TypeKind::Integer { signedness: Signedness::Unsigned, .. } => (0, (1 << width) - 1),
        _ => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
    }
}

/// Inference ignores scales: types are compatible if storage and expressed types are equal.
fn compatible_uniform(a: &[Option<Attribute>], b: &[Option<Attribute>]) -> bool {
    let (Some(x), Some(y)) = (Uniform::from_params(a), Uniform::from_params(b)) else {
        return false;
    };
    let per_axis = |u: &Uniform<'_>| u.granularity == Granularity::PerAxis;
    a[..4] == b[..4] && per_axis(&x) == per_axis(&y)
}

/// Returns why a tensor cannot have elements of its uniform type: a zero point that cannot be
/// stored, or scales along a dimension that it does not have or that has another size.
fn misfit_uniform(tensor: &Type) -> Option<String> {
    let view = Uniform::of_element(tensor)?;
    let (min, max) = (view.storage_min, view.storage_max);
    if let Some(zero_point) = view.zero_points.iter().find(|z| !(min..=max).contains(z)) {
        return Some(format!("the zero point {zero_point} is outside of the storage {min}:{max}"));
    }
    let (Granularity::PerAxis, [axis], Some(shape)) =
        (view.granularity(), view.axes, tensor.shape())
    else {
        return None;
    };
    let Some(&size) = usize::try_from(*axis).ok().and_then(|axis| shape.get(axis)) else {
        let rank = shape.len();
        return Some(format!("it is quantized along dimension {axis}, but has rank {rank}"));
    };
    let scales = view.scales().len();
    (size >= 0 && size as u64 != scales as u64).then(|| {
        let scales = counted(scales, "scale");
        format!("it is quantized along dimension {axis} with {scales}, but that has size {size}")
    })
}

fn check_storage(storage: &Type, min: i64, max: i64) -> Result<(), String> {
    match storage.bit_width() {
        Some(width) if storage.is_integer(None) && (1..=MAX_STORAGE_BITS).contains(&width) => {}
        _ => {
            return Err(format!(
                "storage must be an integer of 1 to {MAX_STORAGE_BITS} bits, found {storage}"
            ));
        }
    }
    let (least, greatest) = storage_limits(storage);
    if min >= max || min < least || max > greatest {
        return Err(format!(
            "the storage range {min}:{max} must not be empty and lie within {least}:{greatest}"
        ));
    }
    Ok(())
}

fn check_expressed(expressed: &Type) -> Result<(), String> {
    if expressed.is_float() {
        return Ok(());
    }
    Err(format!("the expressed type must be a float, found {expressed}"))
}

fn verify_any(params: &[Option<Attribute>]) -> Result<(), String> {
    if let [Some(storage), Some(min), Some(max), expressed] = params
        && let (Some(storage), Some(min), Some(max)) =
            (storage.as_type(), min.as_i64(), max.as_i64())
    {
        check_storage(storage, min, max)?;
        return expressed.as_ref().and_then(|e| e.as_type()).map_or(Ok(()), check_expressed);
    }
    Err("a storage type with its range is missing".into())
}

fn verify_calibrated(params: &[Option<Attribute>]) -> Result<(), String> {
    let [Some(expressed), Some(min), Some(max)] = params else {
        return Err("an expressed type with its range is missing".into());
    };
    expressed.as_type().map_or(Ok(()), check_expressed)?;
    let float = |a: &Attribute| match **a {
        AttrKind::Float { bits, .. } => f64::from_bits(bits as u64),
        _ => f64::NAN,
    };
    let (min, max) = (float(min), float(max));
    if min < max { Ok(()) } else { Err(format!("the range {min}:{max} is empty")) }
}

/// The least positive and the greatest finite value of a float type; those of `f64` for wider ones.
fn expressed_limits(expressed: &Type) -> (f64, f64) {
    match expressed.dtype().and_then(DType::float_format) {
        Some(format) => {
            (format.decode(u64::from(format.signed)), format.decode(format.max_finite()))
        }
        None => (f64::from_bits(1), f64::MAX),
    }
}

fn verify_uniform(params: &[Option<Attribute>]) -> Result<(), String> {
    let Some(view) = Uniform::from_params(params) else {
        return Err("parameters are missing".into());
    };
    check_storage(view.storage, view.storage_min, view.storage_max)?;
    check_expressed(view.expressed)?;
    if view.scale_bits.len() != view.zero_points.len() {
        return Err(format!(
            "{} scales for {} zero points",
            view.scale_bits.len(),
            view.zero_points.len()
        ));
    }
    let (least, greatest) = expressed_limits(view.expressed);
    if let Some(scale) = view.scales().find(|s| !(least..=greatest).contains(s)) {
        let expressed = view.expressed;
        return Err(format!(
            "the scale {scale:e} is out of the range of {expressed}, {least:e} to {greatest:e}"
        ));
    }
    if let Some(axis) = view.axes.iter().find(|&&axis| axis < 0) {
        return Err(format!("the quantized dimension {axis} is negative"));
    }
    if view.granularity != Granularity::SubChannel {
        return Ok(());
    }
    if let Some(size) = view.block_sizes.iter().find(|&&size| size <= 0) {
        return Err(format!("the block size {size} is not positive"));
    }
    // Bytecode writes them as elements of the storage type.
    let (least, greatest) = storage_limits(view.storage);
    if let Some(zero_point) = view.zero_points.iter().find(|z| !(least..=greatest).contains(z)) {
        let storage = view.storage;
        return Err(format!(
            "the zero point {zero_point} is out of the range of {storage}, {least} to {greatest}"
        ));
    }
    Ok(())
}
