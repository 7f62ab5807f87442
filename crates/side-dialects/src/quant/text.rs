//! Syntax of quantized types.
//!
//! ```text
//! uniform    ::= `<` storage `:` type (`:` axis | `:` `{` (axis `:` size),* `}`)? `,` scales `>`
//! any        ::= `<` storage (`:` type)? `>`
//! calibrated ::= `<` type `<` float `:` float `>` `>`
//! storage    ::= (`i` | `si` | `u` | `ui`) width (`<` min `:` max `>`)?
//! scales     ::= scale | `{` scales (`,` scales)* `}`
//! scale      ::= float (`:` zero-point)?
//! ```

use super::types::{Granularity, Uniform, UniformParts, storage_limits};
use mlir::attrs::AttrKind;
use mlir::text::{MAX_NESTING, Parsed, Parser, Printer};
use mlir::types::Signedness;
use mlir::{Attribute, Type, TypeKind};
use numerics::DType;

type Params = Vec<Option<Attribute>>;

/// A parsed storage type, with its range.
struct StorageText {
    ty: Type,
    /// True if written `u8` rather than `ui8`.
    unsigned_by_flag: bool,
    min: i64,
    max: i64,
}

fn parse_storage(p: &mut Parser<'_>) -> Parsed<StorageText> {
    let span = p.here();
    let word = p.word("a storage type such as i8 or u8")?;
    let spelled = [
        ("ui", Signedness::Unsigned, false),
        ("u", Signedness::Unsigned, true),
        ("si", Signedness::Signed, false),
        ("i", Signedness::Signless, false),
    ];
    let found = spelled.iter().find_map(|(prefix, signedness, by_flag)| {
        let width = word.strip_prefix(prefix)?.parse::<u32>().ok()?;
        Some((width, *signedness, *by_flag))
    });
    let Some((width, signedness, unsigned_by_flag)) =
        found.filter(|(width, ..)| (1..=32).contains(width))
    else {
        return p.error_at(
            span,
            format!("`{word}` is not a storage type: an integer of 1 to 32 bits, such as i8 or u8"),
        );
    };
    let ty = Type::integer(width, signedness);
    let (mut min, mut max) = storage_limits(&ty);
    if p.eat("<") {
        min = p.integer()?;
        p.expect(":")?;
        max = p.integer()?;
        p.expect(">")?;
    }
    Ok(StorageText { ty, unsigned_by_flag, min, max })
}

fn print_storage(p: &mut Printer<'_>, storage: &StorageText) {
    let &StorageText { ref ty, unsigned_by_flag, min, max } = storage;
    match **ty {
        TypeKind::Integer { width, .. } if unsigned_by_flag => p.number(format_args!("u{width}")),
        _ => p.ty(ty),
    }
    if (min, max) != storage_limits(ty) {
        p.number(format_args!("<{min}:{max}>"));
    }
}

/// Reads a number of a float type, in decimal or as its bits.
fn parse_float(p: &mut Parser<'_>, ty: &Type) -> Parsed<f64> {
    let span = p.here();
    let number = p.attribute(Some(ty))?;
    match (&*number, ty.dtype().and_then(DType::float_format)) {
        (AttrKind::Float { bits, .. }, Some(format)) => Ok(format.decode(*bits as u64)),
        (AttrKind::Float { bits, .. }, None) => Ok(f64::from_bits(*bits as u64)),
        _ => p.error_at(span, "expected a number with a decimal point"),
    }
}

/// Scales and zero points in row-major order.
struct ScaleTable {
    /// Type of the numbers in the text.
    ty: Type,
    scales: Vec<f64>,
    zero_points: Vec<i64>,
}

impl ScaleTable {
    fn parse_one(&mut self, p: &mut Parser<'_>) -> Parsed<()> {
        self.scales.push(parse_float(p, &self.ty)?);
        self.zero_points.push(if p.eat(":") { p.integer()? } else { 0 });
        Ok(())
    }

    /// Reads the rest of a list after `{`; returns its shape.
    fn parse_list(&mut self, p: &mut Parser<'_>, depth: usize) -> Parsed<Vec<i64>> {
        if depth >= MAX_NESTING {
            return p.error(format!("scales cannot be nested deeper than {MAX_NESTING} levels"));
        }
        let mut inner: Option<Vec<i64>> = None;
        let mut count = 0;
        p.comma_separated(|p| {
            let span = p.here();
            let shape = if p.eat("{") {
                self.parse_list(p, depth + 1)?
            } else {
                self.parse_one(p)?;
                Vec::new()
            };
            count += 1;
            match &inner {
                Some(first) if *first != shape => p.error_at(
                    span,
                    "this part of the scales has another shape than the parts before it",
                ),
                _ => {
                    inner = Some(shape);
                    Ok(())
                }
            }
        })?;
        p.expect("}")?;
        let mut shape = vec![count];
        shape.extend(inner.unwrap_or_default());
        Ok(shape)
    }
}

/// Reads `<i8:f32, 0.5:3>` and so on.
pub(super) fn parse_uniform(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    let storage = parse_storage(p)?;
    p.expect(":")?;
    let expressed = p.ty()?;
    let (mut axes, mut block_sizes) = (None, None);
    if p.eat(":") {
        if p.eat("{") {
            let (mut dims, mut sizes) = (Vec::new(), Vec::new());
            p.list_until("}", |p| {
                dims.push(p.integer()?);
                p.expect(":")?;
                sizes.push(p.integer()?);
                Ok(())
            })?;
            (axes, block_sizes) = (Some(dims), Some(sizes));
        } else {
            axes = Some(vec![p.integer()?]);
        }
    }
    p.expect(",")?;
    // Blockwise scales are numbers of the expressed type.
    let ty = if block_sizes.is_some() { expressed.clone() } else { Type::f64() };
    let mut scales = ScaleTable { ty, scales: Vec::new(), zero_points: Vec::new() };
    let mut shape = Vec::new();
    match axes {
        None => scales.parse_one(p)?,
        Some(_) => {
            let span = p.here();
            p.expect("{")?;
            shape = scales.parse_list(p, 0)?;
            if block_sizes.is_none() && shape.len() != 1 {
                return p
                    .error_at(span, "the scales of one axis are one list, without lists in it");
            }
        }
    }
    p.expect(">")?;
    let parts = UniformParts {
        storage: storage.ty,
        unsigned_by_flag: storage.unsigned_by_flag,
        storage_range: (storage.min, storage.max),
        expressed,
        scales: scales.scales,
        zero_points: scales.zero_points,
        axes,
        blocks: block_sizes.map(|sizes| (sizes, shape)),
    };
    Ok(parts.params())
}

/// Writes `<i8:f32, 0.5:3>` and so on.
pub(super) fn print_uniform(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    let Some(view) = Uniform::from_params(params) else { return p.write("<>") };
    p.write("<");
    let storage = StorageText {
        ty: view.storage.clone(),
        unsigned_by_flag: view.held_storage() != *view.storage,
        min: view.storage_min,
        max: view.storage_max,
    };
    print_storage(p, &storage);
    p.write(":");
    p.ty(view.expressed);
    let scales: Vec<(f64, i64)> = view.scales().zip(view.zero_points.iter().copied()).collect();
    match view.granularity() {
        Granularity::PerTensor => {
            p.write(", ");
            print_scales(p, &scales, &[], &Type::f64(), "");
        }
        Granularity::PerAxis => {
            p.write(":");
            p.separated(",", view.axes, |p, axis| p.number(axis));
            p.write(", ");
            print_scales(p, &scales, &[scales.len() as i64], &Type::f64(), ",");
        }
        Granularity::SubChannel => {
            p.write(":{");
            let blocks = view.axes.iter().zip(view.block_sizes);
            p.separated(", ", blocks, |p, (axis, size)| p.number(format_args!("{axis}:{size}")));
            p.write("}, ");
            print_scales(p, &scales, view.scales_shape, view.expressed, ", ");
        }
    }
    p.write(">");
}

/// Writes scales as nested lists of the given shape, as numbers of type `ty`.
fn print_scales(
    p: &mut Printer<'_>,
    scales: &[(f64, i64)],
    shape: &[i64],
    ty: &Type,
    separator: &str,
) {
    let Some((&first, rest)) = shape.split_first() else {
        for &(scale, zero_point) in scales.iter().take(1) {
            let format = ty.dtype().and_then(DType::float_format);
            let bits = format.map_or(scale.to_bits(), |format| format.encode(scale));
            p.attribute_without_type(&Attribute::float_bits(u128::from(bits), ty.clone()));
            if zero_point != 0 {
                p.number(format_args!(":{zero_point}"));
            }
        }
        return;
    };
    let each = scales.len() / usize::try_from(first).unwrap_or(1).max(1);
    p.write("{");
    p.separated(separator, scales.chunks(each.max(1)), |p, part| {
        print_scales(p, part, rest, ty, separator)
    });
    p.write("}");
}

/// Reads `<i8<-8:7>:f32>`.
pub(super) fn parse_any(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    let storage = parse_storage(p)?;
    let expressed = if p.eat(":") { Some(p.ty()?.into()) } else { None };
    p.expect(">")?;
    let [min, max] = [storage.min, storage.max].map(|n| Some(Attribute::i64(n)));
    Ok(vec![Some(storage.ty.into()), min, max, expressed])
}

/// Writes `<i8<-8:7>:f32>`.
pub(super) fn print_any(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    let [Some(storage), Some(min), Some(max), expressed] = params else { return p.write("<>") };
    let (Some(storage), Some(min), Some(max)) = (storage.as_type(), min.as_i64(), max.as_i64())
    else {
        return p.write("<>");
    };
    p.write("<");
    // Unsigned storage is always marked by the flag here, so it is printed in the short form.
    let unsigned_by_flag =
        matches!(**storage, TypeKind::Integer { signedness: Signedness::Unsigned, .. });
    print_storage(p, &StorageText { ty: storage.clone(), unsigned_by_flag, min, max });
    if let Some(expressed) = expressed.as_ref().and_then(|e| e.as_type()) {
        p.write(":");
        p.ty(expressed);
    }
    p.write(">");
}

/// Reads `<f32<-1.0:1.0>>`.
pub(super) fn parse_calibrated(p: &mut Parser<'_>) -> Parsed<Params> {
    p.expect("<")?;
    let expressed = p.ty()?;
    p.expect("<")?;
    let min = parse_float(p, &Type::f64())?;
    p.expect(":")?;
    let max = parse_float(p, &Type::f64())?;
    p.expect(">")?;
    p.expect(">")?;
    Ok(vec![Some(expressed.into()), Some(Attribute::f64(min)), Some(Attribute::f64(max))])
}

/// Writes `<f32<-1.0:1.0>>`.
pub(super) fn print_calibrated(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    let [Some(expressed), Some(min), Some(max)] = params else { return p.write("<>") };
    p.write("<");
    p.attribute(expressed);
    p.write("<");
    p.attribute_without_type(min);
    p.write(":");
    p.attribute_without_type(max);
    p.write(">>");
}
