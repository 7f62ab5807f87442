//! Templates of ops: what the file's ops of one name, attributes and properties share.

use super::IrReader;
use crate::attrs::Dictionary;
use crate::bytecode::cursor::{Cursor, Read, ReadError};
use crate::bytecode::encoding::EntryReader;
use crate::bytecode::{fields, mask, properties, version};
use crate::ir::{Loc, OpName, OpParts, Template};
use crate::ods::OpDef;

/// The numbers by which the file says what the template of an op is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TemplateKey {
    name: usize,
    attributes: Option<u64>,
    properties: Option<usize>,
}

/// A template that was read, for further ops of its key.
pub(super) struct ReadTemplate {
    pub(super) template: Template,
    /// In a conversion: the template that replaced it, if it replaces it in every op without
    /// regions and successors.
    pub(super) converted: Option<Template>,
}

impl<'a> IrReader<'a, '_, '_> {
    /// Reads the attributes and properties of an op, unless an earlier op has the same. Returns the
    /// position in `templates`.
    pub(super) fn template(
        &mut self,
        cursor: &mut Cursor<'a>,
        name: usize,
        mask: u8,
    ) -> Read<usize> {
        let mut key = TemplateKey { name, attributes: None, properties: None };
        let at = cursor.offset();
        if mask & mask::ATTRIBUTES != 0 {
            let number = cursor.varint()?;
            key.attributes = Some(number);
            if self.entries.notes.are_wanted() {
                let attribute = self.entries.attribute(number, at)?;
                self.note(at, cursor, || format!("attributes {}", fields::text_of(&attribute)));
            }
        }
        let properties_at = cursor.offset();
        if mask & mask::PROPERTIES != 0 {
            let number = cursor.index(self.property_table.len(), "properties");
            if number.is_err()
                && let Some(attribute) = key.attributes
            {
                // Errors come in the order of the file: the attributes are decoded below only.
                self.entries.attribute(attribute, at)?;
            }
            let number = number?;
            key.properties = Some(number);
            self.note(properties_at, cursor, || format!("properties {number}"));
        }
        if let Some(&known) = self.template_numbers.get(&key) {
            return Ok(known);
        }
        let (name, declared) = self.op_names[name].clone();
        let mut parts = OpParts::new(name, Loc::Unknown);
        if let Some(number) = key.attributes {
            let attribute = self.entries.attribute(number, at)?;
            let Some(dictionary) = attribute.as_dictionary() else {
                return Err(ReadError::new(
                    at,
                    format!("a dictionary must stand here; found {attribute}"),
                ));
            };
            self.attributes(&mut parts, dictionary);
        }
        if let Some(number) = key.properties {
            self.properties(&mut parts, declared, number, properties_at)?;
        }
        let template = self.module.template(parts.name, parts.properties, parts.attributes);
        let number = self.templates.len();
        self.templates.push(ReadTemplate { template, converted: None });
        self.template_numbers.insert(key, number);
        Ok(number)
    }

    /// Splits a dictionary into properties and discardable attributes.
    fn attributes(&self, parts: &mut OpParts, dictionary: &Dictionary) {
        let OpName::Registered(def) = parts.name else {
            parts.attributes = dictionary.clone();
            return;
        };
        if self.entries.tables.version >= version::PROPERTIES && def.attributes.is_empty() {
            parts.attributes = dictionary.clone();
            return;
        }
        parts.properties.resize(def.attributes.len(), None);
        for (name, value) in dictionary.iter() {
            match def.attribute_index(name) {
                Some(slot) => parts.properties[slot] = Some(value.clone()),
                None => parts.attributes.set(name.clone(), value.clone()),
            }
        }
    }

    /// Reads the properties of that number, which an op names at `at`.
    fn properties(
        &mut self,
        parts: &mut OpParts,
        declared: bool,
        index: usize,
        at: usize,
    ) -> Read<()> {
        let range = self.property_table[index].clone();
        let cursor = Cursor::new(self.entries.file(), range.clone());
        let notes = self.entries.notes.clone();
        let mut entry = EntryReader { cursor, entries: &mut self.entries };
        if !declared {
            let attribute = entry.attribute()?;
            notes.add(range, || format!("properties {index}: {}", fields::text_of(&attribute)));
            match (&parts.name, attribute.as_dictionary()) {
                (OpName::Unregistered(_), _) => parts.properties.push(Some(attribute)),
                (OpName::Registered(_), Some(dictionary)) => self.attributes(parts, dictionary),
                (OpName::Registered(_), None) => {}
            }
            return Ok(());
        }
        let def: &'static OpDef = match &parts.name {
            OpName::Registered(def) => def,
            OpName::Unregistered(name) => {
                let message = format!("the properties of the unknown op `{name}` cannot be read");
                return Err(ReadError::new(at, message));
            }
        };
        let order = self.property_orders.of(def);
        parts.properties = properties::read(def, &order, &mut entry)?;
        notes.add(range, || {
            format!("properties {index}: {}", properties::text_of(def, &parts.properties))
        });
        Ok(())
    }
}
