//! Types.

use super::habits::reordered;
use super::{Kind, Parsed, Parser};
use crate::attrs::{AttrKind, Attribute};
use crate::nearest::suggestion;
use crate::ods::Dialect;
use crate::text::TypeList;
use crate::text::lexer::word_length;
use crate::types::{
    DYNAMIC, FloatKind, Signedness, TensorType, Type, TypeKind, check_complex_part, check_element,
    check_shape,
};
use smallvec::smallvec;

/// Maximum width of integer types, as in MLIR.
const MAX_INTEGER_WIDTH: u32 = (1 << 24) - 1;

impl<'a> Parser<'a> {
    /// Reads a type.
    ///
    /// # Errors
    /// If no type comes next, or an invalid one.
    pub fn ty(&mut self) -> Parsed<Type> {
        match self.optional_type()? {
            Some(ty) => Ok(ty),
            None if self.token.kind == Kind::Word => {
                let word = self.token_text();
                let message = format!("expected a type, found `{word}`");
                let is_name = self.text[self.token.span.end as usize..].starts_with(':');
                let help = match is_name {
                    true => Some(format!("names of values start with `%`: `%{word}: …`")),
                    false => spelling(word),
                };
                self.error_with_help(self.here(), message, help)
            }
            None => self.unexpected("a type"),
        }
    }

    /// Reads a type if one comes next.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn optional_type(&mut self) -> Parsed<Option<Type>> {
        match self.token.kind {
            Kind::Word => self.word_type(),
            Kind::Exclaim => self.dialect_type().map(Some),
            Kind::Punct(b'(') => self.nested(Self::function_type).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads the types after `->`: a type that is not a function type, or types in parentheses.
    ///
    /// # Errors
    /// If no types come next.
    pub fn result_types(&mut self) -> Parsed<TypeList> {
        if self.at_punct(b'(') { self.type_list() } else { Ok(smallvec![self.noted_type()?]) }
    }

    /// Reads `(T, U)`.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn type_list(&mut self) -> Parsed<TypeList> {
        self.expect_punct(b'(')?;
        let mut types = TypeList::new();
        self.list_until(")", |p| {
            types.push(p.noted_type()?);
            Ok(())
        })?;
        Ok(types)
    }

    fn noted_type(&mut self) -> Parsed<Type> {
        let start = self.here();
        let ty = self.without_parts(Self::ty)?;
        self.note_type(start);
        Ok(ty)
    }

    /// Reads `(T) -> U` as its inputs and results.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn function_signature(&mut self) -> Parsed<(TypeList, TypeList)> {
        self.note_signature();
        if !self.at_punct(b'(') {
            return self.unexpected(
                "a function type, with operand types in parentheses as in `(tensor<2xf32>) -> \
                 tensor<2xf32>`",
            );
        }
        let inputs = self.type_list()?;
        self.note_arrow();
        self.expect("->")?;
        Ok((inputs, self.result_types()?))
    }

    fn function_type(&mut self) -> Parsed<Type> {
        let (inputs, results) = self.function_signature()?;
        Ok(Type::function(inputs.into_vec(), results.into_vec()))
    }

    fn word_type(&mut self) -> Parsed<Option<Type>> {
        let word = self.token_text();
        if !matches!(word, "tensor" | "vector" | "memref" | "tuple" | "complex") {
            let ty = match self.types.get(word) {
                Some(ty) => ty.clone(),
                None => {
                    let Some(ty) = self.scalar_type(word)? else { return Ok(None) };
                    self.types.insert(word, ty.clone());
                    ty
                }
            };
            self.advance();
            return Ok(Some(ty));
        }
        // The spelling up to the matching bracket identifies the type, unless it refers to an
        // alias.
        let start = self.here();
        let spelling = self.bracketed_spelling();
        if let Some(ty) = spelling.and_then(|s| self.types.get(s)) {
            let ty = ty.clone();
            self.jump(start.start as usize + spelling.map_or(0, str::len));
            return Ok(Some(ty));
        }
        self.advance();
        let ty = self.nested(|p| match word {
            "tensor" => p.tensor_type(),
            "vector" => p.vector_type(),
            "memref" => p.memref_type(),
            "tuple" => p.tuple_type(),
            _ => p.complex_type(),
        })?;
        let read = self.slice(self.span_from(start));
        if spelling == Some(read) {
            self.types.insert(read, ty.clone());
        }
        Ok(Some(ty))
    }

    /// The text from the current word to its closing bracket, if it consists of plain characters
    /// only.
    fn bracketed_spelling(&self) -> Option<&'a str> {
        let start = self.token.span.start as usize;
        let bytes = self.text.as_bytes();
        let open = self.token.span.end as usize;
        // Usually there is only one word in the brackets: sizes and an element type.
        let close = open + 1 + word_length(bytes.get(open + 1..)?);
        if bytes[open] == b'<' && bytes.get(close) == Some(&b'>') {
            return Some(&self.text[start..=close]);
        }
        let mut depth = 0usize;
        for (i, &b) in (open..).zip(&bytes[open..]) {
            match b {
                b'<' => depth += 1,
                b'>' if depth <= 1 => return (depth == 1).then(|| &self.text[start..=i]),
                b'>' => depth -= 1,
                b'"' | b'#' | b'!' | b'-' | b'\n' | b'(' | b'{' => return None,
                _ => {}
            }
        }
        None
    }

    fn scalar_type(&mut self, word: &str) -> Parsed<Option<Type>> {
        if word == "index" {
            return Ok(Some(Type::index()));
        }
        if word == "none" {
            return Ok(Some(Type::none()));
        }
        if let Some((kind, ..)) = FloatKind::ALL.iter().find(|(_, name, _)| *name == word) {
            return Ok(Some(Type::float(*kind)));
        }
        let (signedness, digits) = if let Some(digits) = word.strip_prefix("si") {
            (Signedness::Signed, digits)
        } else if let Some(digits) = word.strip_prefix("ui") {
            (Signedness::Unsigned, digits)
        } else if let Some(digits) = word.strip_prefix('i') {
            (Signedness::Signless, digits)
        } else {
            return Ok(None);
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(None);
        }
        match digits.parse().ok().filter(|&width| width <= MAX_INTEGER_WIDTH) {
            Some(width) => Ok(Some(Type::integer(width, signedness))),
            None => self.error(format!("integer types have at most {MAX_INTEGER_WIDTH} bits")),
        }
    }

    fn complex_type(&mut self) -> Parsed<Type> {
        self.expect_punct(b'<')?;
        let span = self.here();
        let part = self.ty()?;
        if let Err(message) = check_complex_part(&part) {
            return self.error_at(span, message);
        }
        self.expect_punct(b'>')?;
        Ok(Type::complex(part))
    }

    fn tuple_type(&mut self) -> Parsed<Type> {
        self.expect_punct(b'<')?;
        let mut elements = Vec::new();
        self.list_until(">", |p| {
            elements.push(p.ty()?);
            Ok(())
        })?;
        Ok(Type::tuple(elements))
    }

    fn tensor_type(&mut self) -> Parsed<Type> {
        self.expect_punct(b'<')?;
        let start = self.here();
        let unranked = self.unranked_prefix();
        let shape = if unranked { Vec::new() } else { self.dimensions(true)? };
        let element_span = self.here();
        let element = self.ty()?;
        if let Err(message) = check_element(&element) {
            return self.error_at(element_span, message);
        }
        let encoding_span = self.here();
        let encoding = if self.eat_punct(b',') { Some(self.attribute(None)?) } else { None };
        self.expect_punct(b'>')?;
        if unranked {
            return match encoding {
                None => Ok(Type::unranked_tensor(element)),
                Some(_) => self.error_at(encoding_span, "an unranked tensor has no encoding"),
            };
        }
        if let Some(AttrKind::Dialect(attr)) = encoding.as_deref()
            && let Some(verify) = attr.def.verify_encoding
            && let Err(message) = verify(&attr.params, &shape, &element)
        {
            return self.error_at(self.span_from(start), message);
        }
        Ok(TypeKind::RankedTensor(TensorType { shape, element, encoding }).into())
    }

    /// Reads `*x` if it comes next.
    fn unranked_prefix(&mut self) -> bool {
        if !self.at_punct(b'*') {
            return false;
        }
        let pos = self.token.span.end as usize;
        let found = self.text.as_bytes().get(pos) == Some(&b'x');
        if found {
            self.jump(pos + 1);
        }
        found
    }

    /// Reads `2x?x` with the last `x`; `4x` may also be spelled with spaces before the `x`'s
    /// operand, as MLIR allows.
    pub fn dimensions(&mut self, allow_dynamic: bool) -> Parsed<Vec<i64>> {
        let bytes = self.text.as_bytes();
        let mut shape = Vec::new();
        loop {
            let start = self.token.span.start as usize;
            let mut pos = start;
            let size = match bytes.get(pos) {
                Some(b'?') if allow_dynamic => {
                    pos += 1;
                    DYNAMIC
                }
                Some(b'0'..=b'9') => {
                    pos += bytes[pos..].iter().take_while(|b| b.is_ascii_digit()).count();
                    match self.text[start..pos].parse() {
                        Ok(size) => size,
                        Err(_) => return self.error("this dimension does not fit 64 bits"),
                    }
                }
                Some(b'-') => {
                    return self.error("a dimension must have a size of at least 0, or `?`");
                }
                _ => return self.checked_shape(shape),
            };
            while bytes.get(pos) == Some(&b' ') {
                pos += 1;
            }
            if bytes.get(pos) != Some(&b'x') {
                self.jump(pos);
                return self.unexpected("`x` after a dimension");
            }
            self.jump(pos + 1);
            shape.push(size);
        }
    }

    fn checked_shape(&mut self, shape: Vec<i64>) -> Parsed<Vec<i64>> {
        match check_shape(&shape) {
            Err(message) => self.error(message),
            Ok(()) => Ok(shape),
        }
    }

    fn vector_type(&mut self) -> Parsed<Type> {
        self.expect_punct(b'<')?;
        let (mut shape, mut scalable) = (Vec::new(), Vec::new());
        loop {
            let in_brackets = self.eat_punct(b'[');
            if in_brackets {
                let size = self.integer()?;
                if !self.at_punct(b']') {
                    return self.unexpected("`]`");
                }
                let pos = self.token.span.end as usize;
                if self.text.as_bytes().get(pos) != Some(&b'x') {
                    return self.error("expected `x` after a dimension");
                }
                self.jump(pos + 1);
                shape.push(size);
                scalable.push(true);
                continue;
            }
            let sizes = self.dimensions(false)?;
            if sizes.is_empty() {
                break;
            }
            scalable.resize(scalable.len() + sizes.len(), false);
            shape.extend(sizes);
        }
        let shape = self.checked_shape(shape)?;
        let element = self.ty()?;
        self.expect_punct(b'>')?;
        Ok(TypeKind::Vector { shape, scalable, element }.into())
    }

    fn memref_type(&mut self) -> Parsed<Type> {
        self.expect_punct(b'<')?;
        let unranked = self.unranked_prefix();
        let shape = if unranked { Vec::new() } else { self.dimensions(true)? };
        let element = self.ty()?;
        let mut more: Vec<Attribute> = Vec::new();
        while self.eat_punct(b',') {
            more.push(self.attribute(None)?);
        }
        self.expect_punct(b'>')?;
        let is_neither = |a: &Attribute| {
            matches!(&**a, AttrKind::Float { .. } | AttrKind::Dense(_) | AttrKind::Array(_))
        };
        if let Some(space) = more.iter().find(|a| is_neither(a)) {
            return self
                .error(format!("{space} is neither the layout nor the memory space of a memref"));
        }
        let mut more = more.into_iter();
        if unranked {
            return Ok(TypeKind::UnrankedMemRef { element, memory_space: more.next() }.into());
        }
        let is_layout =
            |a: &Attribute| matches!(**a, AttrKind::AffineMap(_) | AttrKind::StridedLayout { .. });
        let (layout, memory_space) = match (more.next(), more.next()) {
            (Some(a), b) if is_layout(&a) => (Some(a), b),
            (a, _) => (None, a),
        };
        // Drop the default layout and memory space.
        let layout =
            layout.filter(|a| !matches!(&**a, AttrKind::AffineMap(map) if map.is_identity()));
        let memory_space = memory_space.filter(|a| a.as_i64() != Some(0));
        Ok(TypeKind::MemRef { shape, element, layout, memory_space }.into())
    }

    /// Reads `!alias`, `!dialect.mnemonic<…>` or `!dialect<…>`.
    fn dialect_type(&mut self) -> Parsed<Type> {
        let span = self.here();
        let text = &self.token_text()[1..];
        let Some((namespace, mnemonic)) = self.dialect_symbol(text) else {
            self.advance();
            let Some(ty) = self.type_aliases.get(text).cloned() else {
                return self.error_at(span, format!("the type alias `!{text}` is not defined"));
            };
            self.check_alias(span, ty.extent())?;
            return Ok(ty);
        };
        let is_known = |dialect: &&Dialect| {
            let mnemonic = mnemonic.unwrap_or_else(|| self.word_in_brackets());
            !dialect.partial || dialect.has_all_types || dialect.type_def(mnemonic).is_some()
        };
        let Some(dialect) = self.registry.dialect(namespace).filter(is_known) else {
            let body = self.opaque_body("type", span, namespace, mnemonic)?;
            return Ok(TypeKind::Opaque { dialect: namespace.into(), body: body.into() }.into());
        };
        self.advance();
        let (mnemonic, in_brackets) = self.mnemonic(mnemonic)?;
        let Some(def) = dialect.type_def(mnemonic) else {
            let known: Vec<_> = dialect.types.iter().map(|t| t.mnemonic).collect();
            let message = match &known[..] {
                [] => format!("dialect `{namespace}` has no types"),
                _ => format!(
                    "dialect `{namespace}` has no type `{mnemonic}`; it has {}",
                    known.join(", ")
                ),
            };
            return self.error_at(span, message);
        };
        let params = self.nested(|p| p.params(def.params, &def.assembly))?;
        if in_brackets {
            self.expect_punct(b'>')?;
        }
        if let Err(message) = def.check(&params) {
            return self.error_at(self.span_from(span), message);
        }
        Ok(Type::dialect(def, params))
    }
}

/// The type that an unknown word may stand for: one of another system, or a misspelled one.
#[cold]
fn spelling(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let width = |prefix: &str| lower.strip_prefix(prefix)?.parse::<u32>().ok();
    let spelling = match &*lower {
        "bool" | "boolean" | "pred" => Some("i1".to_string()),
        "half" => Some("f16".into()),
        "single" | "float" | "fp32" => Some("f32".into()),
        "double" | "fp64" => Some("f64".into()),
        "bfloat16" => Some("bf16".into()),
        "complex64" | "c64" => Some("complex<f32>".into()),
        "complex128" | "c128" => Some("complex<f64>".into()),
        "int" => Some("i32".into()),
        _ => reordered(&lower)
            .or_else(|| width("float").map(|n| format!("f{n}")))
            .or_else(|| width("int").or_else(|| width("s")).map(|n| format!("i{n}")))
            .or_else(|| width("uint").or_else(|| width("u")).map(|n| format!("ui{n}"))),
    };
    let floats = FloatKind::ALL.iter().map(|(_, name, _)| *name);
    let names = ["tensor", "vector", "memref", "tuple", "complex", "index", "none"];
    match spelling {
        Some(spelling) => Some(format!("did you mean `{spelling}`?")),
        None => suggestion(word, names.into_iter().chain(floats)),
    }
}
