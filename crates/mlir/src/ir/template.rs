//! Templates: the part of an op that many ops of a program have in common.
//!
//! Most ops of a large program differ from an earlier one in nothing but operands, result types and
//! location. They share one immutable template, a name with attributes. Readers make an op from the
//! template of an equal one, and a change of one op gives it a template of its own. Results that
//! depend on the template and the types alone (verification, conversion to another version) are
//! computed once for each pair.

use super::{Module, OpId, OpName, Properties};
use crate::attrs::Dictionary;
use crate::ods::OpDef;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The name and the attributes of an op. Cloning copies a pointer. Two templates are equal if they
/// are one object, so that comparison and hashing take constant time; equal contents may stand in
/// several.
#[derive(Clone)]
pub struct Template(Arc<TemplateContents>);

#[derive(Clone)]
pub(super) struct TemplateContents {
    pub name: OpName,
    pub properties: Properties,
    pub attributes: Dictionary,
}

impl Template {
    /// A template of these parts. `properties` has an entry for each attribute of the declaration,
    /// or is empty.
    pub fn new(name: OpName, mut properties: Properties, attributes: Dictionary) -> Template {
        if let OpName::Registered(def) = &name {
            properties.resize(def.attributes.len(), None);
        }
        Template(Arc::new(TemplateContents { name, properties, attributes }))
    }

    pub(super) fn contents(&self) -> &TemplateContents {
        &self.0
    }

    /// The contents, for a change of one op.
    pub(super) fn make_mut(&mut self) -> &mut TemplateContents {
        Arc::make_mut(&mut self.0)
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Template) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Template {}

impl Hash for Template {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl Module {
    /// Makes an op an op of another declaration, with other attributes; operands, results, regions,
    /// successors and location stay.
    pub fn set_template(&mut self, op: OpId, template: Template) {
        self.ops[op.index()].template = template;
    }

    /// The template of an op of these parts. Ops without attributes share that of their
    /// declaration.
    pub(crate) fn template(
        &mut self,
        name: OpName,
        properties: Properties,
        attributes: Dictionary,
    ) -> Template {
        let def: &'static OpDef = match name {
            OpName::Registered(def)
                if attributes.is_empty() && properties.iter().all(Option::is_none) =>
            {
                def
            }
            _ => return Template::new(name, properties, attributes),
        };
        let bare = self.bare_templates.entry(std::ptr::from_ref(def).addr());
        bare.or_insert_with(|| Template::new(name, properties, attributes)).clone()
    }
}
