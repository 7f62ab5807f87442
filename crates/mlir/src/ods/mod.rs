//! Op definitions as data: all that the parser, printer, verifier, bytecode and docs need of an op,
//! attribute, type or enumeration is declared in one static.
//!
//! The structure follows MLIR's operation definition specification (ODS).

mod attr_constraints;
mod attr_values;
mod format;
mod macros;
mod registry;
mod rules;
mod slots;
mod type_constraints;

pub use crate::params::{
    AttrDef, EncodingCheck, EnumDef, EnumStyle, ParamAssembly, ParamDef, ParamKind, Params,
    ParamsCheck, ParamsRelation, TypeDef,
};
pub use attr_constraints::AttrConstraint;
pub use attr_values::AttrValue;
pub use format::{Directive, FormatError, Literal, TypeSource};
pub use registry::{Dialect, Registry};
pub use rules::{Checked, Rule};
pub use slots::SegmentError;
pub(crate) use slots::slot_sizes;
pub use type_constraints::{ElementSet, Ranks, TensorRule, TypeConstraint, TypeRule};

use crate::attrs::Attribute;
use crate::diag::{Diagnostic, Verdict};
use crate::ir::{OpId, OpRef, Value};
use crate::prepare::PrepareFn;
use crate::rewrite::{FoldFn, Rewrite, Rewriter};
use crate::text::{OpState, Parsed, Parser, Printer};
use crate::types::Type;

use std::sync::OnceLock;

/// The declaration of an op, identified by its address: slots and traits, which generic code walks,
/// then hooks for what data cannot say, grouped by interface. Declarations list them in this order.
pub struct OpDef {
    /// Full name, such as `stablehlo.add`.
    pub name: &'static str,
    /// Documentation as Markdown; the first line is the summary.
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
    /// The constraints of the specification as text; [`OpDef::rules`] reads them.
    pub rules: &'static str,

    // Syntax
    /// Pretty syntax.
    pub assembly: Assembly,
    /// Returns the cache of the parsed `assembly` format; `op!` fills it in.
    pub parsed_format: Option<fn() -> &'static ParsedFormat>,
    /// The suggested name of its results when printed (`%c`, `%cst`); empty for a number. Without
    /// this hook, ops with several result slots use the declared names.
    pub result_name: Option<ResultName>,
    /// Suggested names of region arguments (`%iterArg`), by region index and argument index.
    pub argument_name: Option<ArgumentNameFn>,

    // Verification
    /// Verification beyond slots and traits. Runs only on ops that satisfy those.
    pub verify: Option<VerifyFn>,
    /// Rules that upstream's verifier lacks, but without which the op has no meaning. Checked after
    /// `verify` if [`VerifyOptions::strict`](crate::verify::VerifyOptions) is set, and before
    /// `prepare`.
    pub verify_strict: Option<VerifyFn>,
    /// Verification of regions, after the nested ops.
    pub verify_regions: Option<VerifyFn>,
    /// Verification of symbol references, after all ops of the symbol table.
    pub verify_symbols: Option<VerifyFn>,

    // Types
    /// Infers result types from operands, attributes and regions.
    pub infer: Option<InferFn>,
    /// The diagnostic label for result types that differ from the inferred ones.
    pub infer_label: &'static str,
    /// Refines result types from operands with more specific types or constant values. If absent,
    /// `infer` is used.
    pub refine: Option<RefineFn>,
    /// Rewrites the op to a static one if its shape operands are constants.
    pub to_static: Option<Rewrite>,
    /// Emits code that computes the shape of the first result, before the op.
    pub reify: Option<ReifyFn>,

    // Semantics
    /// The meaning of the op on values: which primitive it is.
    pub prepare: Option<PrepareFn>,
    /// Decides where the op may run beyond where the program runs it.
    pub speculate: Option<SpeculateFn>,

    // Rewriting
    /// Folds the op: values or constants that replace its results, given constant operands.
    pub fold: Option<FoldFn>,
    /// Canonicalization patterns with their names, applied by `canonicalize`.
    pub canonicalize: &'static [(&'static str, Rewrite)],
}

/// The parsed directives of a format, or its error.
pub type ParsedFormat = OnceLock<Result<Vec<Directive>, FormatError>>;

/// Verifies an op.
pub type VerifyFn = fn(OpRef<'_>) -> Verdict;
/// Infers the result types of an op whose operands, attributes and regions are in place.
pub type InferFn = fn(OpRef<'_>) -> Result<Vec<Type>, Diagnostic>;
/// Refined result types, one per result; `None` if nothing is known.
pub type RefineFn = fn(OpRef<'_>) -> Option<Vec<Type>>;
/// The shape of the first result, a `tensor<rank x index>`; `None` if it cannot be computed.
pub type ReifyFn = fn(&mut Rewriter<'_>, OpId) -> Option<Value>;
/// Decides where an op that is not [`Trait::Pure`] may run.
pub type SpeculateFn = fn(OpRef<'_>) -> Speculation;
/// Names an argument of a region, by region index and argument index.
pub type ArgumentNameFn = fn(OpRef<'_>, usize, usize) -> Option<String>;
/// Parses the pretty form of an op after its name.
pub type ParseOpFn = fn(&mut Parser<'_>, &mut OpState) -> Parsed<()>;
/// Prints the pretty form of an op after its name.
pub type PrintOpFn = fn(&mut Printer<'_>, OpRef<'_>);

impl OpDef {
    /// Default fields of a declaration, for struct update syntax.
    pub const EMPTY: OpDef = OpDef {
        name: "",
        doc: "",
        operands: &[],
        results: &[],
        attributes: &[],
        regions: &[],
        successors: 0,
        traits: &[],
        rules: "",
        assembly: Assembly::Generic,
        parsed_format: None,
        result_name: None,
        argument_name: None,
        verify: None,
        verify_strict: None,
        verify_regions: None,
        verify_symbols: None,
        infer: None,
        infer_label: "result-type",
        refine: None,
        to_static: None,
        reify: None,
        prepare: None,
        speculate: None,
        fold: None,
        canonicalize: &[],
    };

    /// The dialect namespace: the part before the first dot.
    pub fn dialect(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(d, _)| d)
    }

    /// The name within the dialect.
    pub fn mnemonic(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, m)| m)
    }

    /// Index of the inherent attribute with the given name.
    pub fn attribute_index(&self, name: &str) -> Option<usize> {
        self.attributes.iter().position(|a| a.name == name)
    }

    /// True if the op has the trait, with equal parameters.
    pub fn has_trait(&self, t: &Trait) -> bool {
        let kind = std::mem::discriminant(t);
        self.traits.iter().any(|own| std::mem::discriminant(own) == kind && own == t)
    }
}

/// One operand or result slot.
pub struct ValueSlot {
    /// Name in the specification or the dialect.
    pub name: &'static str,
    /// The number of values.
    pub arity: Arity,
    /// The allowed types.
    pub constraint: &'static TypeConstraint,
}

/// The number of values of a slot.
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
    /// Required, optional or with a default.
    pub presence: Presence,
    /// The allowed values.
    pub constraint: &'static AttrConstraint,
    /// The default value of an absent attribute, made once.
    pub default_value: fn() -> Option<&'static Attribute>,
}

impl AttrSlot {
    /// A message if `value` violates the constraint of this attribute of the op `op`.
    pub(crate) fn mismatch(&self, op: &str, value: &Attribute) -> Option<String> {
        (!self.constraint.holds(value)).then(|| {
            let (name, summary) = (self.name, self.constraint.summary());
            format!("attribute `{name}` of `{op}` must be {summary}, but is {}", abbreviated(value))
        })
    }
}

/// An attribute for a message: large constants are elided.
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

/// Presence of an inherent attribute: required, or optional with a default value.
#[derive(Clone, Copy, PartialEq)]
pub enum Presence {
    /// An op without it is invalid.
    Required,
    /// An op without it is invalid, unless it has a discardable attribute with the given name.
    /// Bytecode has a place for the attribute in any case.
    RequiredUnless(&'static str),
    /// It may be absent.
    Optional,
    /// An absent attribute is set to this value by the parser; the pretty form omits the value.
    Default(DefaultValue),
    /// An absent attribute means this value; the pretty form omits the value.
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
    /// Any other attribute
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

/// One region slot.
pub struct RegionSlot {
    /// Name in the specification or the dialect.
    pub name: &'static str,
    /// Number of blocks that a region of this slot may have.
    pub blocks: BlockCount,
    /// The slot holds any number of regions; only the last slot may.
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

/// Structural properties of ops, used by the verifier, the parser or transformations.
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
    /// Each of its regions ends with the given op, which the pretty form may omit.
    ImplicitTerminator(&'static str),
    /// Its regions have no arguments.
    NoRegionArguments,
    /// Its parent is one of these ops.
    HasParent(&'static [&'static str]),
    /// The attribute `operandSegmentSizes` holds the sizes of variadic operand slots.
    AttrSizedOperandSegments,
    /// The attribute `resultSegmentSizes` holds the sizes of variadic result slots.
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
    /// The named operands, results and typed attributes have the same type, so the syntax need only
    /// include one of them.
    AllTypesMatch(&'static [&'static str]),
    /// Swapping the operands changes nothing.
    Commutative,
    /// Folding moves constant operands last; only for commutative ops.
    ConstantsLast,
    /// Applies one scalar function at each position: may run on whole tensors where it is declared
    /// on scalars.
    Elementwise,
    /// No side effects.
    Pure,
    /// No memory effects, but undefined behaviour for some inputs.
    NoMemoryEffect,
    /// No memory effects if the predicate holds.
    NoMemoryEffectIf(fn(OpRef<'_>) -> bool),
    /// Has the effects of the ops in its regions.
    RecursiveMemoryEffects,
    /// Is a constant, whose value is its attribute `value`.
    ConstantLike,
    /// Ops of the given dialect are written without its prefix in the regions of this op.
    DefaultDialect(&'static str),
    /// Calls the symbol named by its attribute.
    Call(&'static str),
    /// Its verification depends on the operands themselves, such as constants, not only on their
    /// types.
    ReadsOperands,
    /// A mark by which a dialect selects ops.
    Tag(&'static str),
    /// A named check, shared by several ops.
    Check(&'static str, VerifyFn),
}

impl PartialEq for Trait {
    fn eq(&self, other: &Self) -> bool {
        use Trait::*;
        match (self, other) {
            (ImplicitTerminator(a), ImplicitTerminator(b))
            | (DefaultDialect(a), DefaultDialect(b))
            | (Call(a), Call(b))
            | (Tag(a), Tag(b)) => a == b,
            (HasParent(a), HasParent(b)) | (AllTypesMatch(a), AllTypesMatch(b)) => a == b,
            (Check(a, _), Check(b, _)) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// Permission to run an op where the program would not have run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speculation {
    /// It may not.
    Never,
    /// It may.
    Always,
    /// It may if all nested ops may.
    AsItsRegions,
}

impl Speculation {
    /// `Always` if `holds`, else `Never`.
    pub fn always_if(holds: bool) -> Speculation {
        if holds { Speculation::Always } else { Speculation::Never }
    }

    /// `AsItsRegions` if `holds`, else `Never`.
    pub fn as_regions_if(holds: bool) -> Speculation {
        if holds { Speculation::AsItsRegions } else { Speculation::Never }
    }
}

/// The suggested name of an op's results.
#[derive(Clone, Copy)]
pub enum ResultName {
    /// Always this one.
    Fixed(&'static str),
    /// By the op.
    ByOp(fn(OpRef<'_>) -> String),
}

/// The pretty syntax of an op.
#[derive(Clone, Copy)]
pub enum Assembly {
    /// Only the generic form.
    Generic,
    /// MLIR's declarative assembly format (language reference, "Declarative Assembly Format").
    Format(&'static str),
    /// Hand-written functions.
    Custom {
        /// Parses the text after the name.
        parse: ParseOpFn,
        /// Prints the text after the name.
        print: PrintOpFn,
    },
}

/// The implementation of `custom<Name>(…)` in the formats of a dialect.
pub struct CustomDirective {
    /// The name in the angle brackets.
    pub name: &'static str,
    /// Parses into the slots in `args`.
    pub parse: fn(&mut Parser<'_>, &mut OpState, args: &[DirectiveArg]) -> Parsed<()>,
    /// Prints the slots in `args`.
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
