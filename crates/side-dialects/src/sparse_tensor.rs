//! The sparse_tensor dialect, as far as StableHLO programs use it: the tensor encoding.
//!
//! Source: MLIR, "'sparse_tensor' Dialect".

use mlir::attrs::AttrKind;
use mlir::diag::counted;
use mlir::ods::{AttrDef, Dialect, ParamAssembly, ParamDef, ParamKind};
use mlir::text::{Parsed, Parser, Printer};
use mlir::{Attribute, Type};

/// The sparse_tensor dialect.
pub static SPARSE_TENSOR: Dialect = Dialect {
    namespace: "sparse_tensor",
    partial: true,
    attributes: &[&ENCODING],
    alias_for: Some(|_| Some("sparse".to_string())),
    ..Dialect::EMPTY
};

/// The storage of a sparse tensor: the map from dimensions to levels, the format of each level, and
/// the bit widths of positions and coordinates, where 0 is the machine's.
pub static ENCODING: AttrDef = AttrDef {
    dialect: "sparse_tensor",
    mnemonic: "encoding",
    doc: "How the elements of a sparse tensor are stored.",
    params: &[
        ParamDef { name: "map", kind: ParamKind::AffineMap, optional: false },
        ParamDef { name: "level_types", kind: ParamKind::Attribute, optional: false },
        ParamDef { name: "posWidth", kind: ParamKind::I64, optional: true },
        ParamDef { name: "crdWidth", kind: ParamKind::I64, optional: true },
    ],
    assembly: ParamAssembly::Custom { parse, print },
    verify: None,
    bounds: None,
    verify_encoding: Some(verify_rank),
    becomes: None,
};

/// Formats of levels.
const FORMATS: &[&str] = &["dense", "batch", "compressed", "loose_compressed", "singleton"];
/// Properties of level formats.
const PROPERTIES: &[&str] = &["nonunique", "nonordered", "soa"];
/// Parameters that hold widths: indices into those of [`ENCODING`].
const WIDTHS: [usize; 2] = [2, 3];

type Params = Vec<Option<Attribute>>;

/// `<{ map = (d0, d1) -> (d0 : dense, d1 : compressed), posWidth = 32, crdWidth = 32 }>`
fn parse(p: &mut Parser<'_>) -> Parsed<Params> {
    let mut params: Params = vec![None; ENCODING.params.len()];
    p.expect("<")?;
    p.expect("{")?;
    let start = p.here();
    p.list_until("}", |p| {
        let key = p.here();
        let name = p.word("the name of a parameter")?;
        p.expect("=")?;
        if name == "map" {
            let mut levels = Vec::new();
            let map = p.annotated_affine_map(|p| {
                p.expect(":")?;
                levels.push(Attribute::string(level(p)?));
                Ok(())
            })?;
            params[0] = Some(AttrKind::AffineMap(map).into());
            params[1] = Some(Attribute::array(levels));
            return Ok(());
        }
        match WIDTHS.into_iter().find(|&i| ENCODING.params[i].name == name) {
            Some(i) => params[i] = Some(Attribute::i64(p.integer()?)),
            None => return p.error_at(key, format!("`{name}` is none of map, posWidth, crdWidth")),
        }
        Ok(())
    })?;
    if params[0].is_none() {
        return p.error_at(start, "an encoding has a map of dimensions to levels");
    }
    p.expect(">")?;
    Ok(params)
}

/// Reads a level format, such as `compressed(nonunique)`, and returns it as printed.
fn level(p: &mut Parser<'_>) -> Parsed<String> {
    let start = p.here();
    let format = p.word("the format of a level")?;
    if !FORMATS.contains(&format) {
        return p.error_at(start, format!("`{format}` is none of {}", FORMATS.join(", ")));
    }
    let mut properties = Vec::new();
    if p.eat("(") {
        p.list_until(")", |p| {
            let start = p.here();
            let property = p.word("a property of a level")?;
            if !PROPERTIES.contains(&property) {
                return p
                    .error_at(start, format!("`{property}` is none of {}", PROPERTIES.join(", ")));
            }
            properties.push(property);
            Ok(())
        })?;
    }
    Ok(if properties.is_empty() {
        format.to_string()
    } else {
        format!("{format}({})", properties.join(", "))
    })
}

fn print(p: &mut Printer<'_>, params: &[Option<Attribute>]) {
    p.write("<{ map = ");
    let levels = params[1].as_ref().and_then(|a| a.as_array()).unwrap_or(&[]);
    if let Some(AttrKind::AffineMap(map)) = params[0].as_deref() {
        p.annotated_affine_map(map, |p, i| {
            p.write(" : ");
            p.write(levels.get(i).and_then(|l| l.as_str()).unwrap_or_default());
        });
    }
    for i in WIDTHS {
        if let Some(width) = params[i].as_ref().and_then(|a| a.as_i64()).filter(|&w| w != 0) {
            p.number(format_args!(", {} = {width}", ENCODING.params[i].name));
        }
    }
    p.write(" }>");
}

/// Checks that the map has as many dimensions as the tensor.
fn verify_rank(params: &[Option<Attribute>], shape: &[i64], _element: &Type) -> Result<(), String> {
    match params[0].as_deref() {
        Some(AttrKind::AffineMap(map)) if map.dims as usize != shape.len() => Err(format!(
            "the encoding maps {}; the tensor has {}",
            counted(map.dims, "dimension"),
            shape.len()
        )),
        _ => Ok(()),
    }
}
