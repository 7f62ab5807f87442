//! Types.

use super::Printer;
use crate::attrs::Attribute;
use crate::types::{DYNAMIC, Signedness, Type, TypeKind};

/// Tuples with more elements get aliases.
pub(super) const LONG_TUPLE: usize = 16;

impl Printer<'_> {
    /// Writes a type.
    pub fn ty(&mut self, ty: &Type) {
        // Long tuples have aliases.
        let is_long = matches!(&**ty, TypeKind::Tuple(types) if types.len() > LONG_TUPLE);
        if !(is_long && self.alias(&Attribute::from(ty.clone()))) {
            self.ty_in_full(ty);
        }
    }

    /// Writes a type in full, not as an alias.
    pub(super) fn ty_in_full(&mut self, ty: &Type) {
        if !self.may_write() {
            return;
        }
        match &**ty {
            TypeKind::Integer { width, signedness } => {
                self.write(match signedness {
                    Signedness::Signless => "i",
                    Signedness::Signed => "si",
                    Signedness::Unsigned => "ui",
                });
                self.number(width);
            }
            TypeKind::Index => self.write("index"),
            TypeKind::Float(kind) => self.write(kind.name()),
            TypeKind::Complex(part) => {
                self.write("complex<");
                self.ty(part);
                self.write(">");
            }
            TypeKind::None => self.write("none"),
            TypeKind::Function { inputs, results } => self.signature(inputs, results),
            TypeKind::Tuple(types) => {
                self.write("tuple<");
                self.types(types);
                self.write(">");
            }
            TypeKind::Vector { shape, scalable, element } => {
                self.write("vector<");
                for (size, scalable) in shape.iter().zip(scalable) {
                    self.write(if *scalable { "[" } else { "" });
                    self.number(size);
                    self.write(if *scalable { "]x" } else { "x" });
                }
                self.ty(element);
                self.write(">");
            }
            TypeKind::RankedTensor(tensor) => {
                self.write("tensor<");
                self.dimensions(&tensor.shape);
                self.ty(&tensor.element);
                self.parameter(tensor.encoding.as_ref());
                self.write(">");
            }
            TypeKind::UnrankedTensor(element) => {
                self.write("tensor<*x");
                self.ty(element);
                self.write(">");
            }
            TypeKind::MemRef { shape, element, layout, memory_space } => {
                self.write("memref<");
                self.dimensions(shape);
                self.ty(element);
                self.parameter(layout.as_ref());
                self.memory_space(memory_space.as_ref());
                self.write(">");
            }
            TypeKind::UnrankedMemRef { element, memory_space } => {
                self.write("memref<*x");
                self.ty(element);
                self.memory_space(memory_space.as_ref());
                self.write(">");
            }
            TypeKind::Opaque { dialect, body } => self.opaque("!", dialect, body),
            TypeKind::Dialect(t) => {
                self.write("!");
                self.write(t.def.dialect);
                self.dialect_body(t.def.mnemonic, |p| {
                    p.params(t.def.params, &t.def.assembly, &t.params)
                });
            }
        }
    }

    /// Writes types separated by commas.
    pub fn types<'t>(&mut self, types: impl IntoIterator<Item = &'t Type>) {
        self.separated(", ", types, |p, t| p.ty(t));
    }

    /// Writes `(inputs) -> results`, with parentheses around the results unless there is a single
    /// one that is not a function type.
    pub fn signature<'t>(
        &mut self,
        inputs: impl IntoIterator<Item = &'t Type>,
        results: impl IntoIterator<Item = &'t Type, IntoIter: ExactSizeIterator + Clone>,
    ) {
        self.write("(");
        self.types(inputs);
        self.write(") -> ");
        self.result_types(results);
    }

    /// Writes the result types of a function type, after the arrow.
    pub fn result_types<'t>(
        &mut self,
        results: impl IntoIterator<Item = &'t Type, IntoIter: ExactSizeIterator + Clone>,
    ) {
        let results = results.into_iter();
        let bare = results.len() == 1
            && results.clone().next().is_some_and(|t| !matches!(**t, TypeKind::Function { .. }));
        self.write(if bare { "" } else { "(" });
        self.types(results);
        self.write(if bare { "" } else { ")" });
    }

    /// Writes `2x?x`.
    pub fn dimensions(&mut self, shape: &[i64]) {
        for &size in shape {
            if size == DYNAMIC {
                self.write("?x");
            } else {
                self.number(size);
                self.write("x");
            }
        }
    }

    fn parameter(&mut self, attribute: Option<&Attribute>) {
        if let Some(attribute) = attribute {
            self.write(", ");
            self.attribute(attribute);
        }
    }

    fn memory_space(&mut self, attribute: Option<&Attribute>) {
        if let Some(attribute) = attribute {
            self.write(", ");
            self.element(attribute);
        }
    }

    /// Writes an attribute or type of an unknown dialect: `#dialect.body`, or `#dialect<"body">` if
    /// the body would not parse.
    pub(super) fn opaque(&mut self, sigil: &str, dialect: &str, body: &str) {
        self.write(sigil);
        self.write(dialect);
        let start = body.bytes().next().unwrap_or(b'<');
        if start.is_ascii_alphabetic() || start == b'_' {
            self.write(".");
        }
        self.write(body);
    }
}
