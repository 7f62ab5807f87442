//! `dense_resource` attributes and the metadata section `{-# … #-}` that defines their blobs.

use super::dense::decode_hex;
use super::{Kind, Parsed, Parser};
use crate::attrs::{AttrKind, Attribute, Blob, Name, Resource};
use crate::ir::ExternalResource;
use crate::types::Type;
use numerics::Bytes;

impl<'a> Parser<'a> {
    pub(super) fn dense_resource(&mut self, ty: Option<&Type>) -> Parsed<Attribute> {
        self.advance();
        self.expect_punct(b'<')?;
        let key = self.resource_key()?;
        self.expect_punct(b'>')?;
        let ty = match ty {
            Some(ty) => ty.clone(),
            None => {
                self.expect_punct(b':')?;
                let span = self.here();
                let ty = self.ty()?;
                if ty.shape().is_none() {
                    return self.error_at(span, format!("elements have a shaped type, not {ty}"));
                }
                ty
            }
        };
        let resource = self.resource("builtin", key);
        Ok(AttrKind::DenseResource { ty, resource }.into())
    }

    fn resource_key(&mut self) -> Parsed<Name> {
        self.attribute_name()
    }

    fn resource(&mut self, dialect: &str, key: Name) -> Resource {
        let dialect = self.name(dialect);
        self.resources.entry((dialect, key.clone())).or_insert_with(|| Resource::new(key)).clone()
    }

    /// Reads `{-# section: {…}, … #-}`.
    pub(super) fn metadata(&mut self) -> Parsed<()> {
        self.advance();
        loop {
            if self.token.kind == Kind::MetadataEnd {
                self.advance();
                return Ok(());
            }
            let section = self.word("the name of a metadata section")?;
            self.expect_punct(b':')?;
            self.expect_punct(b'{')?;
            self.list_until("}", |p| {
                let owner = p.attribute_name()?;
                p.expect_punct(b':')?;
                p.expect_punct(b'{')?;
                p.list_until("}", |p| {
                    let key = p.resource_key()?;
                    p.expect_punct(b':')?;
                    match section {
                        "dialect_resources" => p.blob(&owner, key),
                        "external_resources" => {
                            let value = p.resource_value()?;
                            let value = p.name(value);
                            let owner = owner.clone();
                            p.module.add_external_resource(ExternalResource { owner, key, value });
                            Ok(())
                        }
                        _ => p.resource_value().map(|_| ()),
                    }
                })
            })?;
            if !self.eat_punct(b',') && self.token.kind != Kind::MetadataEnd {
                return self.unexpected("`,` or `#-}`");
            }
        }
    }

    /// Reads a string or a boolean as it is written.
    fn resource_value(&mut self) -> Parsed<&'a str> {
        let text = self.token_text();
        let is_value = match self.token.kind {
            Kind::String => true,
            Kind::Word => matches!(text, "true" | "false"),
            _ => false,
        };
        if !is_value {
            return self.unexpected("a string or a boolean");
        }
        self.advance();
        Ok(text)
    }

    fn blob(&mut self, dialect: &str, key: Name) -> Parsed<()> {
        let span = self.here();
        let text = self.token_text();
        if self.token.kind != Kind::String {
            return self.unexpected("a string of hexadecimal digits");
        }
        self.advance();
        let digits = text[1..text.len() - 1].strip_prefix("0x");
        let Some(data) = digits.and_then(|d| decode_hex(d.as_bytes())).filter(|d| d.len() >= 4)
        else {
            return self.error_at(
                span,
                "a blob is `0x`, 4 bytes of alignment and the data, in hexadecimal digits",
            );
        };
        let alignment = u32::from_le_bytes([data[0], data[1], data[2], data[3]]);
        if !alignment.is_power_of_two() {
            return self.error_at(
                span,
                format!("the alignment of a blob is a power of two, not {alignment}"),
            );
        }
        let data = Bytes::from_vec(data[4..].to_vec());
        let resource = self.resource(dialect, key.clone());
        if !resource.define(Blob { alignment, data }) {
            return self.error_at(span, format!("the resource `{key}` is defined twice"));
        }
        Ok(())
    }
}
