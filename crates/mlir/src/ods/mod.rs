//! Op definitions as data: everything that the parser, printer, verifier, bytecode and docs know
//! about an op, an attribute, a type or an enumeration stands in one static stanza that they walk.
//!
//! The structure follows MLIR's operation definition specification (ODS).

mod attr_constraints;
mod format;
mod macros;
mod registry;
mod slots;
mod type_constraints;

pub use attr_constraints::AttrConstraint;
pub use format::{Directive, FormatError, Literal, TypeSource};
pub use registry::{Dialect, Registry};
pub use slots::SegmentError;
pub(crate) use slots::slot_sizes;
pub use type_constraints::{ElementSet, Ranks, TensorRule, TypeConstraint, TypeRule};

use crate::attrs::Attribute;
use crate::diag::{Diagnostic, Diagnostics};
use crate::ir::OpRef;
use crate::prepare::PrepareFn;
use crate::rewrite::{FoldFn, Rewrite};
use crate::text::{OpState, Parsed, Parser, Printer};
use crate::types::Type;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Which errors upstream finds when it infers the types of results. It reports each of those twice:
/// the reason, and that types could not be inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpstreamInfers {
    /// None: it checks types where it verifies the rest.
    Nothing,
    /// Those of [`OpDef::infer`].
    Types,
    /// Those of all hooks.
    Everything,
}

/// The declaration of an op. Its identity is its address.
pub struct OpDef {
    /// Full name, such as `stablehlo.add`.
    pub name: &'static str,
    /// What it does, as Markdown; the first line is the summary.
    pub doc: &'static str,
    /// Operands in order.
    pub operands: &'static [ValueSlot],
    /// Results in order.
    pub results: &'static [ValueSlot],
    /// Inherent attributes (properties), in the order of the declaration.
    pub attributes: &'static [AttrSlot],
    /// Regions in order.
    pub regions: &'static [RegionSlot],
    /// Number of successor blocks.
    pub successors: usize,
    /// Structural properties.
    pub traits: &'static [Trait],
    /// Pretty syntax.
    pub assembly: Assembly,
    /// Checks beyond the slots and traits. Runs only on ops that satisfy those.
    pub verify: Option<VerifyFn>,
    /// Checks that look into regions, run after the ops in them are verified; in upstream's order
    /// of errors before them, if [`Trait::RegionsByTypes`].
    pub verify_regions: Option<VerifyFn>,
    /// Checks of the symbols that the op refers to, run after all ops of the symbol table are
    /// verified.
    pub verify_symbols: Option<VerifyFn>,
    /// Result types from operands, attributes and regions.
    pub infer: Option<InferFn>,
    /// What is known of the result types once operands are known better than they are declared,
    /// their values included. Where this is absent, `infer` tells.
    pub refine: Option<RefineFn>,
    /// Rewrites the op to one that has as attributes what are constants among its operands.
    pub to_static: Option<Rewrite>,
    /// The constraint that results break whose types are not those inferred, as a diagnostic's
    /// label.
    pub infer_label: &'static str,
    /// Which errors upstream finds when it infers the types of results.
    pub upstream_infers: UpstreamInfers,
    /// The meaning of the op on values: which primitive it is.
    pub prepare: Option<PrepareFn>,
    /// What the op is when some operands are constants: values or constants in the place of its
    /// results.
    pub fold: Option<FoldFn>,
    /// Rewrites to a simpler form, each under its name, applied by `canonicalize`.
    pub canonicalize: &'static [(&'static str, Rewrite)],
    /// The name of its results when printed (`%c`, `%cst`); empty for a number. Without this hook,
    /// several result slots are named as declared.
    pub result_name: Option<fn(OpRef<'_>) -> String>,
    /// Names of the arguments of a region (`%iterArg`), by region index and argument index.
    pub argument_name: Option<ArgumentNameFn>,
    /// Where the parsed `assembly` format is kept; `op!` fills it in.
    pub parsed_format: Option<&'static ParsedFormat>,
}

/// The directives of a format, or what is wrong with it, once read.
pub type ParsedFormat = OnceLock<Result<Vec<Directive>, FormatError>>;

/// Checks an op and reports what is wrong.
pub type VerifyFn = fn(OpRef<'_>, &mut Diagnostics);
/// Infers the result types of an op whose operands, attributes and regions are in place.
pub type InferFn = fn(OpRef<'_>) -> Result<Vec<Type>, Diagnostic>;
/// What is known of the result types, one a result; `None` if nothing.
pub type RefineFn = fn(OpRef<'_>) -> Option<Vec<Type>>;
/// Names an argument of a region, by region index and argument index.
pub type ArgumentNameFn = fn(OpRef<'_>, usize, usize) -> Option<String>;
/// Parses the pretty form of an op after its name.
pub type ParseOpFn = fn(&mut Parser<'_>, &mut OpState) -> Parsed<()>;
/// Prints the pretty form of an op after its name.
pub type PrintOpFn = fn(&mut Printer<'_>, OpRef<'_>);

impl OpDef {
    /// A declaration with nothing but defaults, for struct update syntax.
    pub const EMPTY: OpDef = OpDef {
        name: "",
        doc: "",
        operands: &[],
        results: &[],
        attributes: &[],
        regions: &[],
        successors: 0,
        traits: &[],
        assembly: Assembly::Generic,
        verify: None,
        verify_regions: None,
        verify_symbols: None,
        infer: None,
        refine: None,
        to_static: None,
        infer_label: "result-type",
        upstream_infers: UpstreamInfers::Types,
        prepare: None,
        fold: None,
        canonicalize: &[],
        result_name: None,
        argument_name: None,
        parsed_format: None,
    };

    /// The dialect namespace: what stands before the first dot.
    pub fn dialect(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(d, _)| d)
    }

    /// The name within the dialect.
    pub fn mnemonic(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, m)| m)
    }

    /// Index of the inherent attribute of that name.
    pub fn attribute_index(&self, name: &str) -> Option<usize> {
        self.attributes.iter().position(|a| a.name == name)
    }

    /// Whether the op has that trait (parameters of the trait included).
    pub fn has_trait(&self, t: &Trait) -> bool {
        let kind = std::mem::discriminant(t);
        self.traits.iter().any(|own| std::mem::discriminant(own) == kind && own == t)
    }
}

/// One operand or result slot.
pub struct ValueSlot {
    /// Name in the specification or the dialect.
    pub name: &'static str,
    /// How many values it holds.
    pub arity: Arity,
    /// Which types they may have.
    pub constraint: &'static TypeConstraint,
}

/// How many values a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly one.
    Single,
    /// None or one.
    Optional,
    /// Any number.
    Variadic,
}

/// One inherent attribute.
pub struct AttrSlot {
    /// Name in the specification or the dialect.
    pub name: &'static str,
    /// Whether it must be there.
    pub presence: Presence,
    /// What it may be.
    pub constraint: &'static AttrConstraint,
}

impl AttrSlot {
    /// What is wrong with the value of this attribute of an op of that name, if it is not what it
    /// may be.
    pub(crate) fn mismatch(&self, op: &str, value: &Attribute) -> Option<String> {
        (!self.constraint.holds(value)).then(|| {
            let (name, summary) = (self.name, self.constraint.summary());
            format!("attribute `{name}` of `{op}` must be {summary}, but is {}", abbreviated(value))
        })
    }
}

/// An attribute for a message: constants of any size are cut.
fn abbreviated(attr: &Attribute) -> String {
    const MOST: usize = 80;
    if attr.is_elements() {
        return format!("elements of type {}", attr.ty());
    }
    let text = attr.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Whether an inherent attribute must be there, and what it is if not.
#[derive(Clone, Copy, PartialEq)]
pub enum Presence {
    /// An op without it is invalid.
    Required,
    /// An op without the attribute is invalid, unless the op has another of that name among those
    /// it does not declare. Bytecode has a place for the attribute in any case.
    RequiredUnless(&'static str),
    /// It may be absent.
    Optional,
    /// An op read without it gets this value; the pretty form omits the value.
    Default(DefaultValue),
    /// An op without it means this value; the pretty form omits the value.
    ImpliedDefault(DefaultValue),
}

/// Default values of attributes as constants.
#[derive(Clone, Copy)]
pub enum DefaultValue {
    /// `true` or `false`
    Bool(bool),
    /// `n : i64`
    I64(i64),
    /// `n : i32`
    I32(i32),
    /// A string
    String(&'static str),
    /// `[]`
    EmptyArray,
    /// `{}`
    EmptyDictionary,
    /// `array<i64>`
    EmptyI64Array,
    /// A case of an enumeration
    Enum(&'static EnumDef, u64),
    /// Anything else
    Computed(fn() -> Attribute),
}

impl PartialEq for DefaultValue {
    fn eq(&self, other: &Self) -> bool {
        self.attribute() == other.attribute()
    }
}

impl DefaultValue {
    /// The attribute.
    pub fn attribute(&self) -> Attribute {
        match *self {
            DefaultValue::Bool(b) => Attribute::bool(b),
            DefaultValue::I64(n) => Attribute::i64(n),
            DefaultValue::I32(n) => Attribute::i32(n),
            DefaultValue::String(s) => Attribute::string(s),
            DefaultValue::EmptyArray => Attribute::array(Vec::new()),
            DefaultValue::EmptyDictionary => crate::attrs::Dictionary::default().into(),
            DefaultValue::EmptyI64Array => Attribute::i64_array([]),
            DefaultValue::Enum(def, value) => Attribute::enumeration(def, value),
            DefaultValue::Computed(make) => make(),
        }
    }
}

impl AttrSlot {
    /// The value that an absent attribute stands for.
    pub fn default_value(&self) -> Option<Attribute> {
        match self.presence {
            Presence::Default(v) | Presence::ImpliedDefault(v) => Some(v.attribute()),
            Presence::Required | Presence::RequiredUnless(_) | Presence::Optional => None,
        }
    }
}

/// One region slot.
pub struct RegionSlot {
    /// Name in the specification or the dialect.
    pub name: &'static str,
    /// Number of blocks that a region of this slot may have.
    pub blocks: BlockCount,
    /// Whether the slot holds any number of regions; only the last slot may.
    pub variadic: bool,
}

/// Number of blocks of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCount {
    /// Any number, also none.
    Any,
    /// Exactly one.
    One,
    /// At most one.
    AtMostOne,
}

/// Structural properties of ops, each known to the verifier, parser or transformations.
#[derive(Clone, Copy)]
pub enum Trait {
    /// Ends its block.
    Terminator,
    /// Its operands are the results of the region that it ends.
    ReturnLike,
    /// Its regions use no values from outside.
    IsolatedFromAbove,
    /// Its region holds symbols.
    SymbolTable,
    /// It defines the symbol named by its attribute `sym_name`.
    Symbol,
    /// Each of its regions has at most one block.
    SingleBlock,
    /// Its blocks need no terminator.
    NoTerminator,
    /// Each of its regions ends with that op, which the pretty form may omit.
    ImplicitTerminator(&'static str),
    /// Its regions have no arguments.
    NoRegionArguments,
    /// Its parent is one of these ops.
    HasParent(&'static [&'static str]),
    /// Sizes of variadic operand slots stand in the attribute `operandSegmentSizes`.
    AttrSizedOperandSegments,
    /// Sizes of variadic result slots stand in the attribute `resultSegmentSizes`.
    AttrSizedResultSegments,
    /// All variadic operand slots have the same size.
    SameVariadicOperandSize,
    /// All variadic result slots have the same size.
    SameVariadicResultSize,
    /// All operands and results have one type.
    SameOperandsAndResultType,
    /// All operands and results have one element type.
    SameOperandsAndResultElementType,
    /// All operands and results have one shape.
    SameOperandsAndResultShape,
    /// All operands have one type.
    SameTypeOperands,
    /// The named operands, results and typed attributes have one type, so that one of them tells
    /// the others when parsing.
    AllTypesMatch(&'static [&'static str]),
    /// Swapping the operands changes nothing.
    Commutative,
    /// Folding puts operands that are constants behind the others; only for ops that are
    /// commutative.
    ConstantsLast,
    /// Applies one scalar function at each position: may run on whole tensors where it is declared
    /// on scalars.
    Elementwise,
    /// Has no effect but its results.
    Pure,
    /// Has no effect on memory, but may be undefined for some inputs.
    NoMemoryEffect,
    /// Has no effect on memory if that holds of the op.
    NoMemoryEffectIf(fn(OpRef<'_>) -> bool),
    /// Has the effects of the ops in its regions.
    RecursiveMemoryEffects,
    /// Is a constant, whose value is its attribute `value`.
    ConstantLike,
    /// Ops of that dialect are written without its name in the regions of this op.
    DefaultDialect(&'static str),
    /// Calls the symbol named by its attribute.
    Call(&'static str),
    /// Speculatable if all operands have static shapes.
    SpeculatableIfAllInputsStatic,
    /// Its checks look at what its operands are, such as constants, not only at their types.
    ReadsOperands,
    /// `verify_regions` looks only at the types of what regions take and give, whatever the ops in
    /// them are.
    RegionsByTypes,
    /// A check shared by several ops, under a name.
    Check(&'static str, VerifyFn),
}

impl PartialEq for Trait {
    fn eq(&self, other: &Self) -> bool {
        use Trait::*;
        match (self, other) {
            (ImplicitTerminator(a), ImplicitTerminator(b))
            | (DefaultDialect(a), DefaultDialect(b))
            | (Call(a), Call(b)) => a == b,
            (HasParent(a), HasParent(b)) | (AllTypesMatch(a), AllTypesMatch(b)) => a == b,
            (Check(a, _), Check(b, _)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// The pretty syntax of an op.
#[derive(Clone, Copy)]
pub enum Assembly {
    /// Only the generic form.
    Generic,
    /// MLIR's declarative assembly format (language reference, "Declarative Assembly Format").
    Format(&'static str),
    /// Written by hand.
    Custom {
        /// Parses what follows the name.
        parse: ParseOpFn,
        /// Prints what follows the name.
        print: PrintOpFn,
    },
}

/// A function behind `custom<Name>(…)` in the formats of a dialect.
pub struct CustomDirective {
    /// The name in the brackets.
    pub name: &'static str,
    /// Parses into the slots that `args` name.
    pub parse: fn(&mut Parser<'_>, &mut OpState, args: &[DirectiveArg]) -> Parsed<()>,
    /// Prints the slots that `args` name.
    pub print: fn(&mut Printer<'_>, OpRef<'_>, args: &[DirectiveArg]),
}

/// An argument of a custom directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectiveArg {
    /// `$operand`, by slot index.
    Operand(usize),
    /// `$attribute`, by slot index.
    Attribute(usize),
    /// `$region`, by slot index.
    Region(usize),
    /// `type($operand)`
    OperandType(usize),
    /// `type($result)`
    ResultType(usize),
}

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
    /// What it means, as Markdown.
    pub doc: &'static str,
    /// Parameters in order.
    pub params: &'static [ParamDef],
    /// How the parameters are written.
    pub assembly: ParamAssembly,
    /// What must hold among the parameters; the message says what does not.
    pub verify: Option<ParamsCheck>,
    /// If it bounds the dimensions of the tensor that it encodes: the parameter that lists the
    /// bounds.
    pub bounds: Option<usize>,
    /// If it may be a tensor encoding: what must hold for that shape and element type.
    pub verify_encoding: Option<EncodingCheck>,
}

/// The declaration of a dialect's type.
pub struct TypeDef {
    /// Dialect namespace.
    pub dialect: &'static str,
    /// Name within the dialect.
    pub mnemonic: &'static str,
    /// What it means, as Markdown.
    pub doc: &'static str,
    /// Parameters in order.
    pub params: &'static [ParamDef],
    /// How the parameters are written.
    pub assembly: ParamAssembly,
    /// What must hold among the parameters; the message says what does not.
    pub verify: Option<ParamsCheck>,
    /// Whether type inference takes two such types for one another; by default if they are equal.
    pub compatible: Option<ParamsRelation>,
    /// The type as which elements of this type are stored; `None` if they have no storage.
    pub storage: Option<fn(&[Option<Attribute>]) -> Option<Type>>,
}

/// One parameter of an attribute or type.
pub struct ParamDef {
    /// Name in the declaration.
    pub name: &'static str,
    /// What it holds.
    pub kind: ParamKind,
    /// Whether it may be absent. In an attribute, an empty list of numbers is an absent one.
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

/// What a parameter holds, and the attribute that represents it.
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
