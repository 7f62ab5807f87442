//! The macro that declares an op: a static [`OpDef`](crate::ods::OpDef) and a typed view over it.

/// Declares an op once.
///
/// ```text
/// op! {
///     /// Elementwise addition of two tensors.
///     pub AddOp, "stablehlo.add" {
///         operands { lhs: single TENSOR, rhs: single TENSOR }
///         results { result: single TENSOR }
///         attributes { }
///         regions { }
///         traits [Pure, Commutative]
///         hooks {
///             format: "$lhs `,` $rhs attr-dict `:` type($result)",
///             infer: infer::same_type,
///         }
///     }
/// }
/// ```
///
/// makes `pub struct AddOp<'m>(OpRef<'m>)` with `AddOp::DEF: &'static OpDef`, `AddOp::cast(op) ->
/// Option<AddOp>`, and a method for each operand, attribute and region: `lhs()` is a value for a
/// `single` slot, an `Option` of one for an `optional` slot and a list for a `variadic` slot. The
/// method of an attribute returns its value, by the table `@value` below: an `i64` for `Int(64)`, a
/// `&[i64]` for `I64Array`, a typed view for `Def(View)`. It is an `Option` for an `optional`
/// attribute, but a `bool` for an `optional Unit`.
///
/// Operand and result kinds are `single`, `optional` or `variadic`, then a path to a
/// [`TypeConstraint`](crate::ods::TypeConstraint). An attribute is `required`, `required_unless`,
/// `optional`, `default` or `implied` ([`Presence`](crate::ods::Presence)), then an
/// [`AttrConstraint`](crate::ods::AttrConstraint), then `=> value` where the presence has one; a
/// region is `one`, `any` or `at_most_one` block, or `each one` and so on for a variadic slot.
/// Sections, and hooks, must be in this order; empty ones may be omitted. `DefaultValue`,
/// `AttrConstraint`, `Trait` variants are used by their bare names.
#[macro_export]
macro_rules! op {
    (
        $(#[doc = $doc:literal])+
        $vis:vis $view:ident, $name:literal {
            $(operands { $($operand:ident : $oarity:ident $oset:expr),* $(,)? })?
            $(results { $($result:ident : $rarity:ident $rset:expr),* $(,)? })?
            $(attributes {
                $($attr:ident : $presence:ident $kind:ident $(($($args:tt)*))? $(=> $default:expr)?),*
                $(,)?
            })?
            $(regions { $($region:ident : $blocks:ident $($more:ident)?),* $(,)? })?
            $(traits [$($traits:expr),* $(,)?])?
            $(successors $successors:literal)?
            $(rules $rules:expr;)?
            $(hooks {
                $(format: $format:expr,)?
                $(parse: $parse:expr, print: $print:expr,)?
                $(result_name: $result_name:expr,)?
                $(argument_name: $argument_name:expr,)?
                $(verify: $verify:expr,)?
                $(verify_strict: $verify_strict:expr,)?
                $(verify_regions: $verify_regions:expr,)?
                $(verify_symbols: $verify_symbols:expr,)?
                $(infer: $infer:expr,)?
                $(infer_label: $infer_label:expr,)?
                $(refine: $refine:expr,)?
                $(to_static: $to_static:expr,)?
                $(reify: $reify:expr,)?
                $(prepare: $prepare:expr,)?
                $(speculate: $speculate:expr,)?
                $(fold: $fold:expr,)?
                $(canonicalize: $canonicalize:expr,)?
            })?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy)]
        $vis struct $view<'m>($vis $crate::ir::OpRef<'m>);

        #[allow(dead_code, unused_imports, missing_docs, non_upper_case_globals, non_snake_case, reason = "a declaration may not use all that is generated, whose names are those of slots")]
        const _: () = {
            use $crate::ods::{AttrConstraint::*, DefaultValue, Presence, ResultName::*, Trait::*};
            static FORMAT: $crate::ods::ParsedFormat = $crate::ods::ParsedFormat::new();
            static DEFINITION: $crate::ods::OpDef = $crate::ods::OpDef {
                name: $name,
                doc: concat!($($doc, "\n"),+),
                $(operands: &[$($crate::ods::ValueSlot {
                    name: stringify!($operand),
                    arity: $crate::op!(@arity $oarity),
                    constraint: &$oset,
                }),*],)?
                $(results: &[$($crate::ods::ValueSlot {
                    name: stringify!($result),
                    arity: $crate::op!(@arity $rarity),
                    constraint: &$rset,
                }),*],)?
                $(attributes: &[$($crate::ods::AttrSlot {
                    name: stringify!($attr),
                    presence: $crate::op!(@presence $presence $($default)?),
                    constraint: &$crate::op!(@constraint $kind $(($($args)*))?),
                    default_value: $crate::op!(@default $presence $($default)?),
                }),*],)?
                $(regions: &[$($crate::op!(@region $region $blocks $($more)?)),*],)?
                $(traits: &[$($traits),*],)?
                $(successors: $successors,)?
                $(rules: $rules,)?
                $(
                    $(assembly: $crate::ods::Assembly::Format($format),)?
                    $(assembly: $crate::ods::Assembly::Custom { parse: $parse, print: $print },)?
                    $(result_name: Some($result_name),)?
                    $(argument_name: Some($argument_name),)?
                    $(verify: Some($verify),)?
                    $(verify_strict: Some($verify_strict),)?
                    $(verify_regions: Some($verify_regions),)?
                    $(verify_symbols: Some($verify_symbols),)?
                    $(infer: Some($infer),)?
                    $(infer_label: $infer_label,)?
                    $(refine: Some($refine),)?
                    $(to_static: Some($to_static),)?
                    $(reify: Some($reify),)?
                    $(prepare: Some($prepare),)?
                    $(speculate: Some($speculate),)?
                    $(fold: Some($fold),)?
                    $(canonicalize: $canonicalize,)?
                )?
                parsed_format: Some(|| &FORMAT),
                ..$crate::ods::OpDef::EMPTY
            };

            impl<'m> $view<'m> {
                /// The declaration.
                pub const DEF: &'static $crate::ods::OpDef = &DEFINITION;

                /// The typed view of `op`, if it is an op of this kind.
                pub fn cast(op: $crate::ir::OpRef<'m>) -> Option<$view<'m>> {
                    op.is(Self::DEF).then_some($view(op))
                }

                $crate::op!(@operands $vis [0] $($($operand $oarity)*)?);
                $crate::op!(@attributes $vis [0] $($([$attr $presence $kind $(($($args)*))?])*)?);
                $crate::op!(@regions $vis [0] $($($region $blocks)*)?);
            }

            impl<'m> std::ops::Deref for $view<'m> {
                type Target = $crate::ir::OpRef<'m>;
                fn deref(&self) -> &$crate::ir::OpRef<'m> {
                    &self.0
                }
            }
        };
    };

    (@arity single) => { $crate::ods::Arity::Single };
    (@arity optional) => { $crate::ods::Arity::Optional };
    (@arity variadic) => { $crate::ods::Arity::Variadic };
    (@presence required) => { Presence::Required };
    (@presence required_unless $other:expr) => { Presence::RequiredUnless($other) };
    (@presence optional) => { Presence::Optional };
    (@presence default $value:expr) => { Presence::Default($value) };
    (@presence implied $value:expr) => { Presence::ImpliedDefault($value) };
    (@region $name:ident each $blocks:ident) => {
        $crate::ods::RegionSlot { name: stringify!($name), blocks: $crate::op!(@blocks $blocks), variadic: true }
    };
    (@region $name:ident $blocks:ident) => {
        $crate::ods::RegionSlot { name: stringify!($name), blocks: $crate::op!(@blocks $blocks), variadic: false }
    };
    (@blocks any) => { $crate::ods::BlockCount::Any };
    (@blocks one) => { $crate::ods::BlockCount::One };
    (@blocks at_most_one) => { $crate::ods::BlockCount::AtMostOne };

    (@operands $vis:vis [$i:expr]) => {};
    (@operands $vis:vis [$i:expr] $name:ident single $($rest:tt)*) => {
        $vis fn $name(self) -> $crate::ir::Value { self.0.operand_slot($i)[0] }
        $crate::op!(@operands $vis [$i + 1] $($rest)*);
    };
    (@operands $vis:vis [$i:expr] $name:ident optional $($rest:tt)*) => {
        $vis fn $name(self) -> Option<$crate::ir::Value> { self.0.operand_slot($i).first().copied() }
        $crate::op!(@operands $vis [$i + 1] $($rest)*);
    };
    (@operands $vis:vis [$i:expr] $name:ident variadic $($rest:tt)*) => {
        $vis fn $name(self) -> &'m [$crate::ir::Value] { self.0.operand_slot($i) }
        $crate::op!(@operands $vis [$i + 1] $($rest)*);
    };
    (@attributes $vis:vis [$i:expr]) => {};
    (@attributes $vis:vis [$i:expr] [$name:ident optional Unit] $($rest:tt)*) => {
        $vis fn $name(self) -> bool { self.0.property($i).is_some() }
        $crate::op!(@attributes $vis [$i + 1] $($rest)*);
    };
    (@attributes $vis:vis [$i:expr] [$name:ident required $($kind:tt)*] $($rest:tt)*) => {
        $vis fn $name(self) -> $crate::op!(@value $($kind)*) {
            $crate::ods::AttrValue::of(self.0.property($i))
        }
        $crate::op!(@attributes $vis [$i + 1] $($rest)*);
    };
    (@attributes $vis:vis [$i:expr] [$name:ident default $($kind:tt)*] $($rest:tt)*) => {
        $vis fn $name(self) -> $crate::op!(@value $($kind)*) {
            $crate::ods::AttrValue::of(self.0.property_or_default($i))
        }
        $crate::op!(@attributes $vis [$i + 1] $($rest)*);
    };
    (@attributes $vis:vis [$i:expr] [$name:ident implied $($kind:tt)*] $($rest:tt)*) => {
        $crate::op!(@attributes $vis [$i] [$name default $($kind)*] $($rest)*);
    };
    (@attributes $vis:vis [$i:expr] [$name:ident $presence:ident $($kind:tt)*] $($rest:tt)*) => {
        $vis fn $name(self) -> Option<$crate::op!(@value $($kind)*)> {
            let value = self.0.property($i)?;
            Some($crate::ods::AttrValue::of(Some(value)))
        }
        $crate::op!(@attributes $vis [$i + 1] $($rest)*);
    };

    // The type that an accessor returns, by the constraint of the attribute.
    (@value Def ($view:ident)) => { $view<'m> };
    (@value Bool) => { bool };
    (@value Unit) => { bool };
    (@value Int $width:tt) => { i64 };
    (@value UInt $width:tt) => { u64 };
    (@value NonNegative $width:tt) => { i64 };
    (@value Positive $width:tt) => { i64 };
    (@value IntEnum $case:tt) => { i64 };
    (@value Index) => { i64 };
    (@value Enum $def:tt) => { u64 };
    (@value Float $width:tt) => { f64 };
    (@value String) => { &'m str };
    (@value SymbolName) => { &'m str };
    (@value FlatSymbolRef) => { &'m str };
    (@value Type $set:tt) => { &'m $crate::types::Type };
    (@value Dictionary) => { &'m $crate::attrs::Dictionary };
    (@value ArrayOf $set:tt) => { &'m [$crate::attrs::Attribute] };
    (@value I64Array) => { &'m [i64] };
    (@value I32Array) => { &'m [i64] };
    (@value BoolArray) => { &'m [i64] };
    (@value $kind:ident $($args:tt)?) => { &'m $crate::attrs::Attribute };

    // A dialect attribute with a typed view, which declares it, is written `Def(View)`.
    (@constraint Def ($view:ident)) => { Def($view::DEF) };
    (@constraint $kind:ident $($args:tt)?) => { $kind $($args)? };

    (@default $presence:ident) => { || None };
    (@default required_unless $other:expr) => { || None };
    (@default $presence:ident $value:expr) => {
        || {
            static VALUE: std::sync::OnceLock<$crate::attrs::Attribute> = std::sync::OnceLock::new();
            Some(VALUE.get_or_init(|| ($value).attribute()))
        }
    };
    (@regions $vis:vis [$i:expr]) => {};
    (@regions $vis:vis [$i:expr] $name:ident each $($rest:tt)*) => {
        $vis fn $name(self) -> &'m [$crate::ir::RegionId] { &self.0.regions()[$i..] }
    };
    (@regions $vis:vis [$i:expr] $name:ident $blocks:ident $($rest:tt)*) => {
        $vis fn $name(self) -> $crate::ir::RegionId { self.0.regions()[$i] }
        $crate::op!(@regions $vis [$i + 1] $($rest)*);
    };
}
