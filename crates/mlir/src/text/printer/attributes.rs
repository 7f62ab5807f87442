//! Attributes.

use super::Printer;
use crate::affine::{AffineExpr, AffineMap, AffineOp, IntegerSet};
use crate::attrs::{AttrKind, Attribute, DenseElements, Dictionary, Name};
use crate::ods::{AttrDef, EnumDef, EnumStyle, ParamAssembly, ParamDef, ParamKind};
use crate::types::{DYNAMIC, Signedness, Type, TypeKind};
use numerics::DType;

/// When the type of a number is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeShown {
    Always,
    UnlessDefault,
    Never,
}

impl Printer<'_> {
    /// Writes an attribute, as an alias if it has one.
    pub fn attribute(&mut self, attribute: &Attribute) {
        if !self.alias(attribute) {
            self.body(attribute, TypeShown::Always);
        }
    }

    /// Writes an attribute without its trailing type.
    pub fn attribute_without_type(&mut self, attribute: &Attribute) {
        if !self.alias(attribute) {
            self.body(attribute, TypeShown::Never);
        }
    }

    /// Writes an attribute in full, not as an alias.
    pub(super) fn attribute_in_full(&mut self, attribute: &Attribute) {
        match **attribute {
            AttrKind::Location(_) => self.location(attribute, false),
            AttrKind::Type(ref ty) => self.ty_in_full(ty),
            _ => self.body(attribute, TypeShown::Always),
        }
    }

    pub(super) fn element(&mut self, attribute: &Attribute) {
        if !self.alias(attribute) {
            self.body(attribute, TypeShown::UnlessDefault);
        }
    }

    fn colon_type(&mut self, ty: &Type, shown: TypeShown) {
        if shown != TypeShown::Never && !matches!(**ty, TypeKind::None) {
            self.write(" : ");
            self.ty(ty);
        }
    }

    fn body(&mut self, attribute: &Attribute, shown: TypeShown) {
        if !self.may_write() {
            return;
        }
        match &**attribute {
            AttrKind::Unit => self.write("unit"),
            AttrKind::Integer { value, ty } => {
                if *ty == Type::i1() {
                    return self.write(if *value != 0 { "true" } else { "false" });
                }
                self.number(value);
                if shown == TypeShown::Always || *ty != Type::i64() {
                    self.colon_type(ty, shown);
                }
            }
            AttrKind::Float { bits, ty } => {
                self.float(*bits, ty);
                if shown == TypeShown::Always || *ty != Type::f64() {
                    self.colon_type(ty, shown);
                }
            }
            AttrKind::String { value, ty } => {
                self.string(value);
                self.colon_type(ty, shown);
            }
            AttrKind::Array(elements) => {
                self.write("[");
                self.separated(", ", elements, |p, e| p.element(e));
                self.write("]");
            }
            AttrKind::Dictionary(dictionary) => self.dictionary(dictionary),
            AttrKind::Type(ty) => self.ty(ty),
            AttrKind::Symbol { root, nested } => self.symbol(root, nested),
            AttrKind::Dense(elements) => {
                self.dense(elements);
                self.colon_type(elements.ty(), shown);
            }
            AttrKind::DenseStrings { ty, .. }
            | AttrKind::DenseRaw { ty, .. }
            | AttrKind::DenseResource { ty, .. }
            | AttrKind::Sparse { ty, .. } => {
                self.other_elements(attribute);
                self.colon_type(ty, shown);
            }
            AttrKind::DenseArray { element, values } => {
                self.write("array<");
                self.ty(element);
                self.write(if values.is_empty() { "" } else { ": " });
                self.array_elements(element, values);
                self.write(">");
            }
            AttrKind::AffineMap(map) => {
                self.write("affine_map<");
                self.affine_map(map);
                self.write(">");
            }
            AttrKind::IntegerSet(set) => {
                self.write("affine_set<");
                self.integer_set(set);
                self.write(">");
            }
            AttrKind::StridedLayout { strides, offset } => self.strided_layout(strides, *offset),
            AttrKind::Distinct { value, .. } => self.distinct(attribute, value),
            AttrKind::Opaque { dialect, body, ty } => {
                self.opaque("#", dialect, body);
                self.colon_type(ty, shown);
            }
            AttrKind::Location(_) => self.location(attribute, true),
            AttrKind::Enum(e) => self.enumeration(e.def, e.value),
            AttrKind::Dialect(a) => {
                self.write("#");
                self.write(a.def.dialect);
                self.dialect_body(a.def.mnemonic, |p| {
                    p.params(a.def.params, &a.def.assembly, &a.params)
                });
            }
        }
    }

    fn symbol(&mut self, root: &str, nested: &[Name]) {
        self.symbol_name(root);
        for name in nested {
            self.write("::");
            self.symbol_name(name);
        }
    }

    /// Writes elements that are no numbers in memory, without their type.
    fn other_elements(&mut self, attribute: &Attribute) {
        match &**attribute {
            AttrKind::DenseStrings { ty, values } => {
                self.write("dense<");
                self.strings_body(ty, values);
                self.write(">");
            }
            AttrKind::DenseRaw { ty, data } => self.dense_raw(ty, data),
            AttrKind::DenseResource { resource, .. } => {
                if !self.resources.contains(resource) {
                    self.resources.push(resource.clone());
                }
                self.write("dense_resource<");
                self.keyword_or_string(resource.key());
                self.write(">");
            }
            AttrKind::Sparse { indices, values, .. } => self.sparse(indices, values),
            _ => {}
        }
    }

    fn sparse(&mut self, indices: &Attribute, values: &Attribute) {
        let count = |a: &Attribute| a.as_dense().map_or(0, DenseElements::num_elements);
        let elided = self.options.elide_elements_if_larger;
        if elided.is_some_and(|limit| count(indices) > limit || count(values) > limit) {
            return self.write("dense_resource<__elided__>");
        }
        self.write("sparse<");
        if count(indices) > 0 {
            let hex_if_larger = self.options.hex_if_larger.take();
            self.elements(indices);
            self.options.hex_if_larger = hex_if_larger;
            self.write(", ");
            self.elements(values);
        }
        self.write(">");
    }

    fn strided_layout(&mut self, strides: &[i64], offset: i64) {
        let size = |p: &mut Self, n: i64| if n == DYNAMIC { p.write("?") } else { p.number(n) };
        self.write("strided<[");
        self.separated(", ", strides, |p, n| size(p, *n));
        self.write("]");
        if offset != 0 {
            self.write(", offset: ");
            size(self, offset);
        }
        self.write(">");
    }

    /// Writes a distinct attribute with its number among those of the text.
    fn distinct(&mut self, attribute: &Attribute, value: &Attribute) {
        self.write("distinct[");
        let next = self.distinct.len();
        let number = *self.distinct.entry(attribute.clone()).or_insert(next);
        self.number(number);
        self.write("]<");
        if !matches!(**value, AttrKind::Unit) {
            self.attribute(value);
        }
        self.write(">");
    }

    fn enumeration(&mut self, def: &EnumDef, value: u64) {
        let spaced = def.style == EnumStyle::Spaced;
        self.write("#");
        self.write(def.dialect);
        self.write(if spaced { "<" } else { "." });
        self.write(def.mnemonic);
        self.write(if spaced { " " } else { "<" });
        self.enum_value(def, value);
        self.write(">");
    }

    /// Writes `.mnemonic<…>`, or `<mnemonic…>` if the parameters are not in angle brackets.
    pub(super) fn dialect_body(&mut self, mnemonic: &str, params: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.write(".");
        self.write(mnemonic);
        let end = self.out.len();
        params(self);
        if !self.out[end..].starts_with('<') && self.out.len() > end {
            self.out.replace_range(start..=start, "<");
            self.write(">");
        }
    }

    /// Writes the case of an enumeration, or several for a set of bits.
    pub fn enum_value(&mut self, def: &EnumDef, value: u64) {
        match def.spelling(value) {
            Some(text) => self.write(&text),
            None => self.number(value),
        }
    }

    /// Writes `{name = value, unit}`.
    pub fn dictionary(&mut self, dictionary: &Dictionary) {
        self.write("{");
        self.separated(", ", dictionary.iter(), |p, (name, value)| p.named_attribute(name, value));
        self.write("}");
    }

    /// Writes `name = value`, or just the name of a unit attribute.
    pub fn named_attribute(&mut self, name: &str, value: &Attribute) {
        self.keyword_or_string(name);
        if !matches!(**value, AttrKind::Unit) {
            self.write(" = ");
            self.attribute(value);
        }
    }

    /// Writes the values of an array separated by commas.
    pub fn array_elements(&mut self, element: &Type, values: &[i64]) {
        self.separated(", ", values, |p, &value| match &**element {
            TypeKind::Float(kind) => {
                let mask = if kind.width() < 64 { (1u64 << kind.width()) - 1 } else { u64::MAX };
                p.float(u128::from(value as u64 & mask), element);
            }
            TypeKind::Integer { width: 1, .. } => {
                p.write(if value != 0 { "true" } else { "false" })
            }
            TypeKind::Integer { signedness: Signedness::Unsigned, .. } => p.number(value as u64),
            _ => p.number(value),
        });
    }

    fn float(&mut self, bits: u128, ty: &Type) {
        match ty.dtype() {
            Some(dtype) => numerics::text::write_float(&mut self.out, bits as u64, dtype),
            None => {
                self.write("0x");
                self.number(format_args!("{bits:X}"));
            }
        }
    }

    fn elements(&mut self, attribute: &Attribute) {
        match &**attribute {
            AttrKind::Dense(elements) => self.dense_body(elements),
            AttrKind::DenseRaw { ty, data } => self.raw_body(ty, data),
            AttrKind::DenseStrings { ty, values } => self.strings_body(ty, values),
            _ => self.attribute_without_type(attribute),
        }
    }

    fn dense(&mut self, elements: &DenseElements) {
        let count = elements.num_elements();
        let elide = self.options.elide_elements_if_larger.is_some_and(|limit| count > limit);
        if elide && !elements.is_splat() {
            return self.write("dense_resource<__elided__>");
        }
        self.write("dense<");
        self.dense_body(elements);
        self.write(">");
    }

    fn strings_body(&mut self, ty: &Type, values: &[Box<[u8]>]) {
        match values {
            [] => {}
            [one] => self.string(one),
            _ => {
                let shape = ty.shape().unwrap_or(&[]).to_vec();
                self.nested_lists(&shape, 0, &mut |p, i| {
                    p.string(values.get(i).map_or(&[], |v| v))
                });
            }
        }
    }

    fn dense_raw(&mut self, ty: &Type, data: &[u8]) {
        let size = crate::raw::element_size(ty.element_type()).unwrap_or(1);
        if data.len() > size
            && self.options.elide_elements_if_larger.is_some_and(|limit| data.len() / size > limit)
        {
            return self.write("dense_resource<__elided__>");
        }
        self.write("dense<");
        self.raw_body(ty, data);
        self.write(">");
    }

    fn raw_body(&mut self, ty: &Type, data: &[u8]) {
        let element = ty.element_type();
        let size = crate::raw::element_size(element).unwrap_or(1);
        let count = data.len() / size;
        if count == 1 {
            return self.raw_element(element, data);
        }
        if self.options.hex_if_larger.is_some_and(|limit| count > limit) {
            self.write("\"0x");
            self.hex_digits(data.iter().copied());
            return self.write("\"");
        }
        if count > 0 {
            let shape = ty.shape().unwrap_or(&[]).to_vec();
            self.nested_lists(&shape, 0, &mut |p, i| {
                p.raw_element(element, &data[i * size..(i + 1) * size])
            });
        }
    }

    fn raw_element(&mut self, element: &Type, bytes: &[u8]) {
        let (part, is_complex) = match &**element {
            TypeKind::Complex(part) => (part, true),
            _ => (element, false),
        };
        self.write(if is_complex { "(" } else { "" });
        self.separated(",", crate::raw::numbers(element, bytes), |p, bits| {
            p.raw_number(part, bits)
        });
        self.write(if is_complex { ")" } else { "" });
    }

    fn raw_number(&mut self, ty: &Type, bits: u128) {
        match **ty {
            TypeKind::Float(_) => self.float(bits, ty),
            TypeKind::Integer { width: 1, .. } => {
                self.write(if bits != 0 { "true" } else { "false" })
            }
            TypeKind::Integer { signedness: Signedness::Unsigned, .. } => self.number(bits),
            _ => {
                let unused = 128 - ty.bit_width().unwrap_or(128).clamp(1, 128);
                self.number((bits << unused) as i128 >> unused);
            }
        }
    }

    fn dense_body(&mut self, elements: &DenseElements) {
        let (dtype, data) = (elements.dtype(), &elements.data()[..]);
        let size = dtype.bytes();
        let element = elements.ty().element_type().clone();
        if elements.is_splat() {
            return self.stored_element(&element, dtype, data);
        }
        if self.options.hex_if_larger.is_some_and(|limit| elements.num_elements() > limit) {
            self.write("\"0x");
            self.hex(dtype, data);
            return self.write("\"");
        }
        if elements.num_elements() == 0 {
            return;
        }
        let shape = elements.ty().shape().unwrap_or(&[]).to_vec();
        self.nested_lists(&shape, 0, &mut |p, i| {
            p.stored_element(&element, dtype, &data[i * size..(i + 1) * size])
        });
    }

    /// Writes `[[0, 1], [2, 3]]` for the elements of a shape, starting with index `first`.
    fn nested_lists(
        &mut self,
        shape: &[i64],
        first: usize,
        element: &mut dyn FnMut(&mut Self, usize),
    ) {
        let Some((&size, inner)) = shape.split_first() else { return element(self, first) };
        let step: usize = inner.iter().map(|&d| d as usize).product();
        self.write("[");
        self.separated(", ", 0..size as usize, |p, i| {
            p.nested_lists(inner, first + i * step, element)
        });
        self.write("]");
    }

    fn stored_element(&mut self, ty: &Type, dtype: DType, bytes: &[u8]) {
        if let TypeKind::Complex(part) = &**ty {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            self.write("(");
            self.stored_element(part, dtype.part(), re);
            self.write(",");
            self.stored_element(part, dtype.part(), im);
            return self.write(")");
        }
        let mut raw = [0; 8];
        let n = bytes.len().min(8);
        raw[..n].copy_from_slice(&bytes[..n]);
        let bits = u64::from_le_bytes(raw);
        if dtype == DType::I1 {
            self.write(if bits != 0 { "true" } else { "false" });
        } else if dtype == DType::TF32 {
            self.float(u128::from(bits >> (32 - dtype.bits())), ty);
        } else if dtype.is_float() {
            self.float(u128::from(bits), ty);
        } else if dtype.is_unsigned() {
            self.number(bits);
        } else {
            let shift = 64 - 8 * n as u32;
            self.number(((bits << shift) as i64) >> shift);
        }
    }

    /// Writes the bytes of elements in upstream's representation: sub-byte integers without sign
    /// extension, tf32 in three bytes.
    fn hex(&mut self, dtype: DType, data: &[u8]) {
        match dtype {
            DType::I2 => self.hex_digits(data.iter().map(|b| b & 3)),
            DType::I4 => self.hex_digits(data.iter().map(|b| b & 15)),
            DType::TF32 => self.hex_digits(data.chunks_exact(4).flat_map(|b| {
                let bits = u32::from_le_bytes([b[0], b[1], b[2], b[3]]) >> (32 - dtype.bits());
                bits.to_le_bytes().into_iter().take(3)
            })),
            _ => self.hex_digits(data.iter().copied()),
        }
    }

    pub(super) fn hex_digits(&mut self, bytes: impl Iterator<Item = u8>) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        if !self.has_room(bytes.size_hint().0.saturating_mul(2)) {
            return;
        }
        let mut chunk = String::with_capacity(256);
        for b in bytes {
            chunk.push(DIGITS[usize::from(b >> 4)] as char);
            chunk.push(DIGITS[usize::from(b & 15)] as char);
            if chunk.len() >= 254 {
                self.write(&chunk);
                chunk.clear();
            }
        }
        self.write(&chunk);
    }

    /// Writes the parameters of an attribute or type after its mnemonic.
    pub fn params(
        &mut self,
        defs: &[ParamDef],
        assembly: &ParamAssembly,
        values: &[Option<Attribute>],
    ) {
        match assembly {
            ParamAssembly::None => {}
            ParamAssembly::Custom { print, .. } => print(self, values),
            ParamAssembly::List => {
                self.write("<");
                let present = defs.iter().zip(values).filter_map(|(d, v)| Some((d, v.as_ref()?)));
                self.separated(", ", present, |p, (d, v)| p.param(d.kind, v));
                self.write(">");
            }
            ParamAssembly::Struct => {
                self.write("<");
                self.struct_params(defs, values);
                self.write(">");
            }
        }
    }

    /// Writes `name = value, …`; absent parameters are omitted.
    pub fn struct_params(&mut self, defs: &[ParamDef], values: &[Option<Attribute>]) {
        let present = defs.iter().zip(values).filter_map(|(d, v)| Some((d, v.as_ref()?)));
        self.separated(", ", present, |p, (d, v)| {
            p.write(d.name);
            p.write(" = ");
            p.param(d.kind, v);
        });
    }

    /// Writes one parameter of the given kind.
    pub fn param(&mut self, kind: ParamKind, value: &Attribute) {
        match (kind, &**value) {
            (ParamKind::I64 | ParamKind::Bool | ParamKind::F64, _) => {
                self.attribute_without_type(value)
            }
            (ParamKind::I64s, AttrKind::DenseArray { element, values }) => {
                self.write("[");
                self.array_elements(element, values);
                self.write("]");
            }
            (ParamKind::Types, AttrKind::Array(types)) => {
                self.write("[");
                self.separated(", ", types, |p, t| p.attribute(t));
                self.write("]");
            }
            (ParamKind::Def(def), _) => self.bare_attribute(def, value),
            (ParamKind::Defs(def), AttrKind::Array(elements)) => {
                self.write("[");
                self.separated(", ", elements, |p, e| p.bare_attribute(def, e));
                self.write("]");
            }
            (ParamKind::Enum(def), AttrKind::Enum(e)) => self.enum_value(def, e.value),
            _ => self.attribute(value),
        }
    }

    /// Writes an attribute without the dialect and mnemonic of its declaration.
    pub fn bare_attribute(&mut self, def: &'static AttrDef, value: &Attribute) {
        match value.as_dialect(def) {
            Some(params) if !self.alias(value) => self.params(def.params, &def.assembly, params),
            Some(_) => {}
            None => self.attribute(value),
        }
    }

    fn affine_map(&mut self, map: &AffineMap) {
        self.annotated_affine_map(map, |_, _| {});
    }

    /// Writes an affine map, with an annotation after each result, written by `annotation` for its
    /// index.
    pub fn annotated_affine_map(
        &mut self,
        map: &AffineMap,
        mut annotation: impl FnMut(&mut Self, usize),
    ) {
        self.affine_names(map.dims, map.symbols);
        self.write(" -> (");
        self.separated(", ", map.results.iter().enumerate(), |p, (i, e)| {
            p.affine(e, false);
            annotation(p, i);
        });
        self.write(")");
    }

    fn integer_set(&mut self, set: &IntegerSet) {
        self.affine_names(set.dims, set.symbols);
        self.write(" : (");
        self.separated(", ", &set.constraints, |p, (e, equality)| {
            p.affine(e, false);
            p.write(if *equality { " == 0" } else { " >= 0" });
        });
        self.write(")");
    }

    fn affine_names(&mut self, dims: u32, symbols: u32) {
        self.write("(");
        self.separated(", ", 0..dims, |p, i| p.number(format_args!("d{i}")));
        self.write(")");
        if symbols > 0 {
            self.write("[");
            self.separated(", ", 0..symbols, |p, i| p.number(format_args!("s{i}")));
            self.write("]");
        }
    }

    fn affine(&mut self, expr: &AffineExpr, in_product: bool) {
        match expr {
            AffineExpr::Dim(i) => self.number(format_args!("d{i}")),
            AffineExpr::Symbol(i) => self.number(format_args!("s{i}")),
            AffineExpr::Constant(c) => self.number(c),
            AffineExpr::Binary(AffineOp::Add, parts) => {
                self.write(if in_product { "(" } else { "" });
                self.affine(&parts.0, false);
                match &parts.1 {
                    AffineExpr::Constant(c) if *c < 0 => {
                        self.number(format_args!(" - {}", c.unsigned_abs()))
                    }
                    AffineExpr::Binary(AffineOp::Mul, product) => match &product.1 {
                        AffineExpr::Constant(-1) => {
                            self.write(" - ");
                            let inner_sum =
                                matches!(product.0, AffineExpr::Binary(AffineOp::Add, _));
                            self.affine(&product.0, inner_sum);
                        }
                        AffineExpr::Constant(c) if *c < -1 => {
                            self.write(" - ");
                            self.affine(&product.0, true);
                            self.number(format_args!(" * {}", c.unsigned_abs()));
                        }
                        _ => {
                            self.write(" + ");
                            self.affine(&parts.1, false);
                        }
                    },
                    other => {
                        self.write(" + ");
                        self.affine(other, false);
                    }
                }
                self.write(if in_product { ")" } else { "" });
            }
            AffineExpr::Binary(op, parts) => {
                if (*op, &parts.1) == (AffineOp::Mul, &AffineExpr::Constant(-1)) {
                    self.write("-");
                    return self.affine(&parts.0, true);
                }
                self.write(if in_product { "(" } else { "" });
                self.affine(&parts.0, true);
                self.write(match op {
                    AffineOp::Mul => " * ",
                    AffineOp::Mod => " mod ",
                    AffineOp::FloorDiv => " floordiv ",
                    AffineOp::CeilDiv | AffineOp::Add => " ceildiv ",
                });
                self.affine(&parts.1, true);
                self.write(if in_product { ")" } else { "" });
            }
        }
    }
}
