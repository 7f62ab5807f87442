//! Declarations of the attributes, types and enumerations of dialects: their parameters and the
//! syntax of these.

use crate::attrs::{AttrKind, Attribute};
use crate::text::{Parsed, Parser, Printer};
use crate::types::Type;
use std::borrow::Cow;
use std::fmt;

/// The declaration of an enumeration.
pub struct EnumDef {
    /// Dialect namespace.
    pub dialect: &'static str,
    /// Name within the dialect.
    pub mnemonic: &'static str,
    /// Values with their spellings.
    pub cases: &'static [(u64, &'static str)],
    /// How the attribute is written.
    pub style: EnumStyle,
}

/// How an enumeration attribute is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnumStyle {
    /// `#dialect<mnemonic CASE>`
    Spaced,
    /// `#dialect.mnemonic<CASE>`
    Brackets,
    /// A set of bits, `#dialect.mnemonic<CASE,CASE>`, with that separator between cases when
    /// printed
    Bits(&'static str),
}

impl EnumDef {
    /// The spelling of a value or, for a set of bits, of each bit in it; none if there is no such
    /// value.
    pub fn spelling(&self, value: u64) -> Option<Cow<'static, str>> {
        if let Some(case) = self.case(value) {
            return Some(Cow::Borrowed(case));
        }
        let EnumStyle::Bits(separator) = self.style else { return None };
        let bits = self.cases.iter().filter(|(bit, _)| bit.is_power_of_two() && value & bit != 0);
        let known = bits.clone().fold(0, |all, (bit, _)| all | bit);
        (known == value).then(|| bits.map(|c| c.1).collect::<Vec<_>>().join(separator).into())
    }

    /// The spelling of a value.
    pub fn case(&self, value: u64) -> Option<&'static str> {
        self.cases.iter().find(|c| c.0 == value).map(|c| c.1)
    }

    /// The value of a spelling.
    pub fn value(&self, case: &str) -> Option<u64> {
        self.cases.iter().find(|c| c.1 == case).map(|c| c.0)
    }
}

/// Parameters of an attribute or type of a dialect, one entry a parameter of the declaration.
pub type Params = [Option<Attribute>];
/// Checks parameters; the message says what does not hold.
pub type ParamsCheck = fn(&Params) -> Result<(), String>;
/// Relates the parameters of two types of one declaration.
pub type ParamsRelation = fn(&Params, &Params) -> bool;
/// Checks the parameters of an encoding against the shape and element type of the tensor.
pub type EncodingCheck = fn(&Params, shape: &[i64], element: &Type) -> Result<(), String>;

/// The declaration of a dialect's attribute.
pub struct AttrDef {
    /// Dialect namespace.
    pub dialect: &'static str,
    /// Name within the dialect.
    pub mnemonic: &'static str,
    /// Documentation, as Markdown.
    pub doc: &'static str,
    /// Parameters in order.
    pub params: &'static [ParamDef],
    /// How the parameters are written.
    pub assembly: ParamAssembly,
    /// Verifier of constraints between parameters; its message names the broken one.
    pub verify: Option<ParamsCheck>,
    /// If it bounds the dimensions of the tensor that it encodes: the parameter that lists the
    /// bounds.
    pub bounds: Option<usize>,
    /// If it may be a tensor encoding: what must hold for that shape and element type.
    pub verify_encoding: Option<EncodingCheck>,
    /// If it is only another syntax of an attribute with the same parameters: that one, which text
    /// becomes when it is read.
    pub becomes: Option<&'static AttrDef>,
}

/// The declaration of a dialect's type.
pub struct TypeDef {
    /// Dialect namespace.
    pub dialect: &'static str,
    /// Name within the dialect.
    pub mnemonic: &'static str,
    /// Documentation, as Markdown.
    pub doc: &'static str,
    /// Parameters in order.
    pub params: &'static [ParamDef],
    /// How the parameters are written.
    pub assembly: ParamAssembly,
    /// Verifier of constraints between parameters; its message names the broken one.
    pub verify: Option<ParamsCheck>,
    /// True if type inference accepts one of two such types for the other; equality by default.
    pub compatible: Option<ParamsRelation>,
    /// The type as which elements of this type are stored; `None` if they have no storage.
    pub storage: Option<fn(&Params) -> Option<Type>>,
    /// Returns why no op takes a value of the given type, whose elements are of this type: a reason
    /// that the type alone does not show to be an error.
    pub misfit: Option<fn(&Type) -> Option<String>>,
}

/// One parameter of an attribute or type.
pub struct ParamDef {
    /// Name in the declaration.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: ParamKind,
    /// True if it may be absent. In an attribute, an empty list of numbers is an absent one.
    pub optional: bool,
}

impl ParamDef {
    /// A parameter that must be there.
    pub const fn required(name: &'static str, kind: ParamKind) -> ParamDef {
        ParamDef { name, kind, optional: false }
    }

    /// A parameter that may be absent.
    pub const fn optional(name: &'static str, kind: ParamKind) -> ParamDef {
        ParamDef { name, kind, optional: true }
    }
}

/// Kind of a parameter's value, and the attribute that represents it.
#[derive(Clone, Copy)]
pub enum ParamKind {
    /// A 64-bit integer: `Integer` of type i64.
    I64,
    /// A boolean: `Integer` of type i1.
    Bool,
    /// A 64-bit float: `Float` of type f64.
    F64,
    /// A list of 64-bit integers: `DenseArray` of i64.
    I64s,
    /// A string: `String`.
    String,
    /// A type: `Type`.
    Type,
    /// A list of types: `Array` of `Type`.
    Types,
    /// Any attribute.
    Attribute,
    /// An affine map written out, never as an alias: `AffineMap`.
    AffineMap,
    /// An attribute of that declaration, written without its dialect and mnemonic.
    Def(&'static AttrDef),
    /// A list of those: `Array`.
    Defs(&'static AttrDef),
    /// A case of that enumeration: `Enum`.
    Enum(&'static EnumDef),
}

impl ParamKind {
    /// True if the attribute represents a value of the kind.
    pub fn holds(self, value: &Attribute) -> bool {
        let is_list_of = |is: &dyn Fn(&Attribute) -> bool| {
            value.as_array().is_some_and(|elements| elements.iter().all(is))
        };
        match self {
            ParamKind::I64 => value.as_i64().is_some(),
            ParamKind::Bool => value.as_bool().is_some(),
            ParamKind::F64 => value.as_f64().is_some(),
            ParamKind::I64s => value.as_int_array().is_some(),
            ParamKind::String => matches!(**value, AttrKind::String { .. }),
            ParamKind::Type => value.as_type().is_some(),
            ParamKind::Types => is_list_of(&|element| element.as_type().is_some()),
            ParamKind::Attribute => true,
            ParamKind::AffineMap => matches!(**value, AttrKind::AffineMap(_)),
            ParamKind::Def(def) => value.as_dialect(def).is_some(),
            ParamKind::Defs(def) => is_list_of(&|element| element.as_dialect(def).is_some()),
            ParamKind::Enum(def) => value.as_enum(def).is_some(),
        }
    }
}

impl fmt::Display for ParamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParamKind::I64 => "an integer",
            ParamKind::Bool => "a boolean",
            ParamKind::F64 => "a float",
            ParamKind::I64s => "a list of integers",
            ParamKind::String => "a string",
            ParamKind::Type => "a type",
            ParamKind::Types => "a list of types",
            ParamKind::Attribute => "an attribute",
            ParamKind::AffineMap => "an affine map",
            ParamKind::Def(def) => return write!(f, "#{}.{}", def.dialect, def.mnemonic),
            ParamKind::Defs(def) => {
                return write!(f, "a list of #{}.{}", def.dialect, def.mnemonic);
            }
            ParamKind::Enum(def) => return write!(f, "a case of {}.{}", def.dialect, def.mnemonic),
        })
    }
}

impl AttrDef {
    /// Checks the kinds of parameters and the constraints between them.
    ///
    /// # Errors
    /// The constraint that is violated.
    pub fn check(&self, params: &Params) -> Result<(), String> {
        check_kinds(self.params, params)?;
        self.verify.map_or(Ok(()), |verify| verify(params))
    }
}

impl TypeDef {
    /// Checks the kinds of parameters and the constraints between them.
    ///
    /// # Errors
    /// The constraint that is violated.
    pub fn check(&self, params: &Params) -> Result<(), String> {
        check_kinds(self.params, params)?;
        self.verify.map_or(Ok(()), |verify| verify(params))
    }
}

fn check_kinds(defs: &[ParamDef], params: &Params) -> Result<(), String> {
    for (ParamDef { name, kind, optional }, param) in defs.iter().zip(params) {
        match param {
            None if !optional => return Err(format!("the parameter `{name}` is missing")),
            Some(value) if !kind.holds(value) => {
                return Err(format!("the parameter `{name}` must be {kind}, found {value:.80}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// How parameters are written.
#[derive(Clone, Copy)]
pub enum ParamAssembly {
    /// Nothing: there are no parameters.
    None,
    /// `<name = value, …>`; parameters that are optional and absent are omitted.
    Struct,
    /// `<value, …>` in order.
    List,
    /// Written by hand, brackets included.
    Custom {
        /// Parses the parameters.
        parse: fn(&mut Parser<'_>) -> Parsed<Vec<Option<Attribute>>>,
        /// Prints the parameters.
        print: fn(&mut Printer<'_>, &[Option<Attribute>]),
    },
}
