//! Slices, concatenation and padding. Offsets, sizes and strides are constants, or operands where
//! the constant is `DYNAMIC`.

use super::elements::check_body;
use super::{INDEX, RANKED, prepare};
use mlir::diag::counted;
use mlir::ods::{Assembly, DirectiveArg};
use mlir::text::{OpState, Parsed, Parser, Printer};
use mlir::types::DYNAMIC;
use mlir::{Attribute, Diagnostics, OpRef, op};

/// Checks that each list has one operand per dynamic entry; `lists` are operand slots with their
/// attributes.
fn check_lists(op: OpRef<'_>, lists: &[(usize, &str)], errors: &mut Diagnostics) {
    for &(slot, name) in lists {
        let entries = op.int_array(name).unwrap_or(&[]);
        let dynamic = entries.iter().filter(|&&e| e == DYNAMIC).count();
        let given = op.operand_slot(slot).len();
        if given != dynamic {
            let message = format!(
                "`{name}` has {}, but operands for {given}",
                counted(dynamic, "dynamic entry")
            );
            errors.push(op.error("operands", message));
        }
    }
}

/// Reads `[1, %i]` into an operand slot and an array attribute with `DYNAMIC` in place of each
/// operand.
pub(super) fn parse_indices(
    parser: &mut Parser<'_>,
    state: &mut OpState,
    args: &[DirectiveArg],
) -> Parsed<()> {
    let &[DirectiveArg::Operand(operands), DirectiveArg::Attribute(attribute)] = args else {
        return Ok(());
    };
    parser.expect("[")?;
    let mut entries = Vec::new();
    parser.list_until("]", |p| {
        match p.optional_operand()? {
            Some(operand) => {
                state.operands[operands].push(operand);
                entries.push(DYNAMIC);
            }
            None => entries.push(p.integer()?),
        }
        Ok(())
    })?;
    state.properties[attribute] = Some(Attribute::i64_array(entries));
    Ok(())
}

pub(super) fn print_indices(printer: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let &[DirectiveArg::Operand(operands), DirectiveArg::Attribute(attribute)] = args else {
        return;
    };
    let entries = op.property(attribute).and_then(|a| a.as_int_array()).unwrap_or(&[]);
    let mut operands = op.operand_slot(operands).iter();
    printer.write("[");
    printer.separated(", ", entries, |p, &entry| {
        match if entry == DYNAMIC { operands.next() } else { None } {
            Some(&value) => p.value(value),
            None => p.number(entry),
        }
    });
    printer.write("]");
}

op! {
    /// Tensors joined along one dimension.
    pub ConcatOp, "tensor.concat" {
        operands { inputs: variadic RANKED }
        results { result: single RANKED }
        attributes { dim: required Int(64) }
        traits [Pure]
        hooks { prepare: Some(prepare::concat),
            assembly: Assembly::Format("`dim` `(` $dim `)` $inputs attr-dict `:` functional-type(operands, results)"),
            verify: Some(verify_concat),
            result_name: Some(|_| "concat".into()),
        }
    }
}

fn verify_concat(op: OpRef<'_>, errors: &mut Diagnostics) {
    let result = op.result_type(0);
    let rank = result.shape().map_or(0, <[i64]>::len);
    let dim = ConcatOp(op).dim().and_then(|d| d.as_i64()).unwrap_or(-1);
    if op.operands().is_empty() {
        errors.push(op.error("operands", "at least one tensor is needed"));
    } else if usize::try_from(dim).map_or(true, |d| d >= rank) {
        errors.push(op.error("attribute", format!("{result} has no dimension {dim}")));
    } else if let Some(other) = op.operand_types().find(|t| {
        t.element_type() != result.element_type() || t.shape().map_or(0, <[i64]>::len) != rank
    }) {
        errors.push(op.error("operand-type", format!("{other} cannot be part of {result}")));
    }
}

op! {
    /// A slice.
    pub ExtractSliceOp, "tensor.extract_slice" {
        operands { source: single RANKED, offsets: variadic INDEX, sizes: variadic INDEX, strides: variadic INDEX }
        results { result: single RANKED }
        attributes {
            static_offsets: required I64Array,
            static_sizes: required I64Array,
            static_strides: required I64Array,
            operandSegmentSizes: required I32Array,
        }
        traits [Pure, AttrSizedOperandSegments]
        hooks { prepare: Some(prepare::extract_slice),
            assembly: Assembly::Format(
                "$source `` custom<DynamicIndexList>($offsets, $static_offsets) \
                 custom<DynamicIndexList>($sizes, $static_sizes) \
                 custom<DynamicIndexList>($strides, $static_strides) \
                 attr-dict `:` type($source) `to` type($result)",
            ),
            verify: Some(|op, errors| {
                check_lists(op, &[(1, "static_offsets"), (2, "static_sizes"), (3, "static_strides")], errors);
            }),
            result_name: Some(|_| "extracted_slice".into()),
        }
    }
}

op! {
    /// A tensor with a slice replaced.
    pub InsertSliceOp, "tensor.insert_slice" {
        operands {
            source: single RANKED,
            dest: single RANKED,
            offsets: variadic INDEX,
            sizes: variadic INDEX,
            strides: variadic INDEX,
        }
        results { result: single RANKED }
        attributes {
            static_offsets: required I64Array,
            static_sizes: required I64Array,
            static_strides: required I64Array,
            operandSegmentSizes: required I32Array,
        }
        traits [Pure, AttrSizedOperandSegments, AllTypesMatch(&["dest", "result"])]
        hooks { prepare: Some(prepare::insert_slice),
            assembly: Assembly::Format(
                "$source `into` $dest `` custom<DynamicIndexList>($offsets, $static_offsets) \
                 custom<DynamicIndexList>($sizes, $static_sizes) \
                 custom<DynamicIndexList>($strides, $static_strides) \
                 attr-dict `:` type($source) `into` type($dest)",
            ),
            verify: Some(|op, errors| {
                check_lists(op, &[(2, "static_offsets"), (3, "static_sizes"), (4, "static_strides")], errors);
            }),
            result_name: Some(|_| "inserted_slice".into()),
        }
    }
}

op! {
    /// Writes a slice of a tensor that is shared by parallel code.
    pub ParallelInsertSliceOp, "tensor.parallel_insert_slice" {
        operands {
            source: single RANKED,
            dest: single RANKED,
            offsets: variadic INDEX,
            sizes: variadic INDEX,
            strides: variadic INDEX,
        }
        attributes {
            static_offsets: required I64Array,
            static_sizes: required I64Array,
            static_strides: required I64Array,
            operandSegmentSizes: required I32Array,
        }
        traits [AttrSizedOperandSegments]
        hooks {
            assembly: Assembly::Format(
                "$source `into` $dest `` custom<DynamicIndexList>($offsets, $static_offsets) \
                 custom<DynamicIndexList>($sizes, $static_sizes) \
                 custom<DynamicIndexList>($strides, $static_strides) \
                 attr-dict `:` type($source) `into` type($dest)",
            ),
            verify: Some(|op, errors| {
                check_lists(op, &[(2, "static_offsets"), (3, "static_sizes"), (4, "static_strides")], errors);
            }),
        }
    }
}

op! {
    /// A padded tensor; the region computes the added elements from their indices.
    pub PadOp, "tensor.pad" {
        operands { source: single RANKED, low: variadic INDEX, high: variadic INDEX }
        results { result: single RANKED }
        attributes {
            static_low: required I64Array,
            static_high: required I64Array,
            nofold: optional Unit,
            operandSegmentSizes: required I32Array,
        }
        regions { region: one }
        traits [Pure, AttrSizedOperandSegments, SingleBlock, ImplicitTerminator("tensor.yield")]
        hooks { prepare: Some(prepare::pad),
            assembly: Assembly::Format(
                "$source (`nofold` $nofold^)? `low` `` custom<DynamicIndexList>($low, $static_low) \
                 `high` `` custom<DynamicIndexList>($high, $static_high) $region attr-dict \
                 `:` type($source) `to` type($result)",
            ),
            verify: Some(|op, errors| check_lists(op, &[(1, "static_low"), (2, "static_high")], errors)),
            verify_regions: Some(|op, errors| check_body(op, op.result_type(0), errors)),
            result_name: Some(|_| "padded".into()),
        }
    }
}
