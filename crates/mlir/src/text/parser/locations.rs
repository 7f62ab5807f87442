//! Locations.

use super::{Kind, Parsed, Parser};
use crate::attrs::{AttrKind, Attribute, LocationKind};
use crate::diag::Span;
use crate::ir::{BlockId, Loc, OpId};
use crate::text::lexer::name_length;

/// The owner of a location.
#[derive(Clone, Copy)]
pub(super) enum Located {
    Op(OpId),
    Argument(BlockId, usize),
}

/// A location that follows an op or an argument.
pub(super) enum TrailingLocation {
    Known(Attribute),
    /// An alias that is not defined yet: its position, `#` included.
    Alias(Span),
}

impl<'a> Parser<'a> {
    /// Reads `loc(…)`.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn location(&mut self) -> Parsed<Attribute> {
        self.expect("loc")?;
        self.expect_punct(b'(')?;
        let location = self.nested(Self::location_body)?;
        self.expect_punct(b')')?;
        Ok(location)
    }

    /// Reads `loc(…)` if it comes next, after an op or an argument.
    pub(super) fn trailing_location(&mut self) -> Parsed<Option<TrailingLocation>> {
        if !self.at("loc") {
            return Ok(None);
        }
        // Fast path for `loc(#alias)`, the most frequent form.
        let start = self.token.span.end as usize;
        if let Some(rest) = self.text[start..].strip_prefix("(#")
            && let length = name_length(rest.as_bytes())
            && rest.as_bytes().get(length) == Some(&b')')
            && length > 0
            && self.is_undefined_alias(&rest[..length])
        {
            let end = start + "(#".len() + length;
            self.jump(end + 1);
            return Ok(Some(TrailingLocation::Alias(Span {
                start: start as u32 + 1,
                end: end as u32,
            })));
        }
        self.advance();
        self.expect_punct(b'(')?;
        let location =
            if self.token.kind == Kind::Hash && self.is_undefined_alias(&self.token_text()[1..]) {
                let span = self.here();
                self.advance();
                TrailingLocation::Alias(span)
            } else {
                TrailingLocation::Known(self.nested(Self::location_body)?)
            };
        self.expect_punct(b')')?;
        Ok(Some(location))
    }

    fn is_undefined_alias(&self, name: &str) -> bool {
        !name.contains('.') && self.attribute_aliases.get(name).is_none()
    }

    /// Sets the location of `owner`, deferred to the end of the text if the alias is not defined
    /// yet.
    pub(super) fn locate(&mut self, owner: Located, location: &TrailingLocation) {
        match location {
            TrailingLocation::Known(location) => self.set_location(owner, location.clone()),
            TrailingLocation::Alias(span) => self.deferred_locations.push((owner, *span)),
        }
    }

    /// Sets the location of `owner`, in addition to its position in the text.
    fn set_location(&mut self, owner: Located, location: Attribute) {
        let place = |loc: &Loc| match loc {
            Loc::Source(at) | Loc::Explicit(_, Some(at)) => Some(*at),
            _ => None,
        };
        match owner {
            Located::Op(op) => {
                let at = place(self.module.op(op).loc());
                self.module.set_loc(op, Loc::Explicit(location, at));
            }
            Located::Argument(block, index) => {
                let at = place(&self.module.argument_locs(block)[index]);
                self.module.set_argument_loc(block, index, Loc::Explicit(location, at));
            }
        }
    }

    fn location_body(&mut self) -> Parsed<Attribute> {
        let span = self.here();
        match self.token.kind {
            Kind::Hash => {
                let attribute = self.attribute(None)?;
                match attribute.as_location() {
                    Some(_) => Ok(attribute),
                    None => self.error_at(span, "expected a location"),
                }
            }
            Kind::String => self.file_or_name(),
            Kind::Word => match self.token_text() {
                "unknown" => {
                    self.advance();
                    Ok(Attribute::unknown_location())
                }
                "callsite" => {
                    self.advance();
                    self.expect_punct(b'(')?;
                    let callee = self.nested(Self::location_body)?;
                    self.expect("at")?;
                    let caller = self.nested(Self::location_body)?;
                    self.expect_punct(b')')?;
                    Ok(AttrKind::Location(LocationKind::CallSite { callee, caller }).into())
                }
                "fused" => {
                    self.advance();
                    let metadata = if self.eat_punct(b'<') {
                        let metadata = self.attribute(None)?;
                        self.expect_punct(b'>')?;
                        Some(metadata)
                    } else {
                        None
                    };
                    self.expect_punct(b'[')?;
                    let mut locations = Vec::new();
                    self.list_until("]", |p| {
                        locations.push(p.nested(Self::location_body)?);
                        Ok(())
                    })?;
                    Ok(LocationKind::fused(locations, metadata))
                }
                "loc" => self.location(),
                _ => self.unexpected("a location"),
            },
            _ => self.unexpected("a location"),
        }
    }

    fn file_or_name(&mut self) -> Parsed<Attribute> {
        let name = self.string_name()?;
        if self.eat_punct(b':') {
            let line = self.line_number()?;
            let start = (line, if self.eat_punct(b':') { self.line_number()? } else { 0 });
            let mut end = start;
            if self.eat("to") {
                if self.token.kind == Kind::Integer {
                    end.0 = self.line_number()?;
                }
                self.expect_punct(b':')?;
                end.1 = self.line_number()?;
            }
            return Ok(AttrKind::Location(LocationKind::File { file: name, start, end }).into());
        }
        let child = if self.eat_punct(b'(') {
            let child = self.nested(Self::location_body)?;
            self.expect_punct(b')')?;
            child
        } else {
            Attribute::unknown_location()
        };
        Ok(AttrKind::Location(LocationKind::Named { name, child }).into())
    }

    fn line_number(&mut self) -> Parsed<u32> {
        let span = self.here();
        let value = self.integer()?;
        match u32::try_from(value) {
            Ok(value) => Ok(value),
            Err(_) => self.error_at(span, "lines and columns have 32 bits"),
        }
    }

    /// Sets the deferred locations of ops and arguments.
    pub(super) fn resolve_deferred_locations(&mut self) {
        for (owner, span) in std::mem::take(&mut self.deferred_locations) {
            let alias = &self.slice(span)[1..];
            let location = match self.attribute_aliases.get(alias) {
                Some(a) if a.as_location().is_some() => a.clone(),
                Some(_) => {
                    let _ = self.error_at::<()>(span, format!("`#{alias}` is not a location"));
                    continue;
                }
                None => {
                    let _ = self.error_at::<()>(
                        span,
                        format!("the location alias `#{alias}` is not defined"),
                    );
                    continue;
                }
            };
            self.set_location(owner, location);
        }
    }
}
