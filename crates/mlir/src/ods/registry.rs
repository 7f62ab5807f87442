//! Dialects, and the registry for looking up declarations by name.

use super::{AttrDef, CustomDirective, EnumDef, OpDef, TypeDef};
use crate::attrs::Attribute;
use crate::bytecode::DialectBytecode;
use crate::diag::Verdict;
use crate::ir::{OpParts, OpRef};
use crate::types::Type;
use crate::verify::UpstreamErrors;

/// A namespace with its declarations, each list in alphabetical order.
pub struct Dialect {
    /// Namespace, such as `stablehlo`.
    pub namespace: &'static str,
    /// Ops.
    pub ops: &'static [&'static OpDef],
    /// Attributes.
    pub attributes: &'static [&'static AttrDef],
    /// Types.
    pub types: &'static [&'static TypeDef],
    /// Enumerations.
    pub enums: &'static [&'static EnumDef],
    /// Custom directives of the formats of this dialect's ops.
    pub directives: &'static [CustomDirective],
    /// Other spellings of attribute or type mnemonics: (spelling, mnemonic).
    pub aliases: &'static [(&'static str, &'static str)],
    /// Names of ops in other systems, for suggestions: (name, full name of the op).
    pub synonyms: &'static [(&'static str, &'static str)],
    /// Dialects whose ops, attributes, types and enumerations this one has, too, under its own
    /// namespace: they descend from it. An entity read under this namespace becomes theirs.
    pub successors: &'static [&'static Dialect],
    /// True if only a part of the dialect is declared: its other ops, attributes and types are
    /// treated as if the dialect were unregistered.
    pub partial: bool,
    /// True if a `partial` dialect declares all of its types.
    pub has_all_types: bool,
    /// Suggests aliases for attributes and types, defined at the top of a printed file (`#sdy.mesh`
    /// as `#mesh`).
    pub alias_for: Option<fn(&Attribute) -> Option<String>>,
    /// Materializes a constant: the op, without a location, for a value and type.
    pub constant: Option<fn(&Attribute, &Type) -> Option<OpParts>>,
    /// Verifies a discardable attribute of this dialect (`dialect.name`) on any op.
    pub verify_attribute: Option<fn(OpRef<'_>, &str, &Attribute) -> Verdict>,
    /// Verifies an attribute of this dialect on an argument or result of that type of a function.
    pub verify_value_attribute: Option<VerifyValueAttribute>,
    /// The ops whose errors upstream finds at other times.
    pub upstream_errors: UpstreamErrors,
    /// Bytecode encodings of attributes and types. If `None`, they are written as text.
    pub bytecode: Option<&'static DialectBytecode>,
}

/// Verifies the attribute of a name on a value of a type of a function.
pub(crate) type VerifyValueAttribute = fn(OpRef<'_>, &Type, &str, &Attribute) -> Result<(), String>;

impl Dialect {
    /// An empty dialect, for struct update syntax.
    pub const EMPTY: Dialect = Dialect {
        namespace: "",
        ops: &[],
        attributes: &[],
        types: &[],
        enums: &[],
        directives: &[],
        aliases: &[],
        synonyms: &[],
        successors: &[],
        partial: false,
        has_all_types: false,
        alias_for: None,
        constant: None,
        verify_attribute: None,
        verify_value_attribute: None,
        upstream_errors: UpstreamErrors::NONE,
        bytecode: None,
    };

    /// Looks up an op by its name without the namespace.
    pub fn op(&self, mnemonic: &str) -> Option<&'static OpDef> {
        self.ops
            .binary_search_by_key(&mnemonic, |op| op.mnemonic())
            .ok()
            .map(|index| self.ops[index])
            .or_else(|| self.inherited(|successor| successor.op(mnemonic)))
    }

    fn inherited<T>(&self, lookup: impl Fn(&'static Dialect) -> Option<T>) -> Option<T> {
        self.successors.iter().find_map(|successor| lookup(successor))
    }

    /// Looks up a directive by name.
    pub fn directive(&self, name: &str) -> Option<&CustomDirective> {
        self.directives.iter().find(|d| d.name == name)
    }

    fn resolve<'a>(&self, mnemonic: &'a str) -> &'a str {
        self.aliases
            .iter()
            .find(|(spelling, _)| *spelling == mnemonic)
            .map_or(mnemonic, |(_, target)| target)
    }

    /// Looks up an attribute by mnemonic.
    pub fn attribute(&self, mnemonic: &str) -> Option<&'static AttrDef> {
        let mnemonic = self.resolve(mnemonic);
        let own = self.attributes.iter().copied().find(|a| a.mnemonic == mnemonic);
        own.or_else(|| self.inherited(|successor| successor.attribute(mnemonic)))
    }

    /// Looks up a type by mnemonic.
    pub fn type_def(&self, mnemonic: &str) -> Option<&'static TypeDef> {
        let mnemonic = self.resolve(mnemonic);
        let own = self.types.iter().copied().find(|t| t.mnemonic == mnemonic);
        own.or_else(|| self.inherited(|successor| successor.type_def(mnemonic)))
    }

    /// Looks up an enumeration by mnemonic.
    pub fn enumeration(&self, mnemonic: &str) -> Option<&'static EnumDef> {
        let own = self.enums.iter().copied().find(|e| e.mnemonic == mnemonic);
        own.or_else(|| self.inherited(|successor| successor.enumeration(mnemonic)))
    }
}

/// The registered dialects.
pub struct Registry {
    dialects: Vec<&'static Dialect>,
}

impl Registry {
    /// A registry of the builtin dialect and of `dialects`.
    pub fn new(dialects: &[&'static Dialect]) -> Registry {
        let mut all = vec![&crate::builtin::BUILTIN];
        all.extend_from_slice(dialects);
        debug_assert!(
            all.iter().all(|d| d.ops.is_sorted_by_key(|op| op.name)),
            "ops are found by binary search"
        );
        Registry { dialects: all }
    }

    /// Looks up an op by its full name.
    pub fn op(&self, name: &str) -> Option<&'static OpDef> {
        let (namespace, mnemonic) = name.split_once('.')?;
        self.dialect(namespace)?.op(mnemonic)
    }

    /// Looks up a dialect by namespace.
    pub fn dialect(&self, namespace: &str) -> Option<&'static Dialect> {
        self.dialects.iter().copied().find(|d| d.namespace == namespace)
    }

    /// True if all ops of the namespace are declared, so that any other is an error.
    pub fn is_complete(&self, namespace: &str) -> bool {
        self.dialect(namespace).is_some_and(|dialect| !dialect.partial)
    }

    /// All dialects.
    pub fn dialects(&self) -> &[&'static Dialect] {
        &self.dialects
    }

    /// The full name of the op that other systems call `name`.
    pub fn synonym(&self, name: &str) -> Option<&'static str> {
        let mut synonyms = self.dialects.iter().flat_map(|dialect| dialect.synonyms);
        synonyms.find(|(synonym, _)| *synonym == name).map(|&(_, op)| op)
    }

    /// The full name of the first op of any dialect with a mnemonic.
    pub fn op_of_any_dialect(&self, mnemonic: &str) -> Option<&'static str> {
        self.ops().find(|op| op.mnemonic() == mnemonic).map(|op| op.name)
    }

    /// All ops of all dialects.
    pub fn ops(&self) -> impl Iterator<Item = &'static OpDef> + '_ {
        self.dialects.iter().flat_map(|d| d.ops.iter().copied())
    }
}
