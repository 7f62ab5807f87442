//! `chlo.scan`.

use crate::constraints::{TENSOR, refuse_quantized};
use hlo::check::{self, require};
use hlo::compat;
use mlir::attrs::AttrKind;
use mlir::diag::counted;
use mlir::text::{OpState, Parsed, Parser, Printer};
use mlir::types::DYNAMIC;
use mlir::{Attribute, Diagnostic, OpRef, Type, op};

op! {
    /// Runs its region on the slices of the inputs along one dimension, in order, threading the
    /// carried values through.
    pub ScanOp, "chlo.scan" {
        operands { inputs: variadic TENSOR, inits: variadic TENSOR }
        results { outputs: variadic TENSOR, carries: variadic TENSOR }
        attributes {
            dimension: required Int(64),
            scan_dim_size: optional Int(64),
            is_reverse: implied Bool => DefaultValue::Bool(false),
            is_associative: optional Bool,
            operandSegmentSizes: required I32Array,
            resultSegmentSizes: required I32Array,
        }
        regions { body: one }
        traits [
            AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove,
            RecursiveMemoryEffects,
        ]
        hooks {
            parse: parse,
            print: print,
            result_name: Fixed(""),
            argument_name: argument_name,
            verify_regions: verify,
        }
    }
}

fn argument_name(op: OpRef<'_>, _: usize, argument: usize) -> Option<String> {
    Some(if argument < op.operand_slot(0).len() { "input" } else { "carry" }.into())
}

/// The body takes a slice of each input and the carried values, and returns elements of the outputs
/// and the carried values.
fn verify(op: OpRef<'_>) -> Result<(), Diagnostic> {
    refuse_quantized(op)?;
    let scan = ScanOp(op);
    let inputs = scan.inputs().len();
    let carries = scan.inits().len();
    let Ok(dimension) = usize::try_from(scan.dimension()) else {
        return Err(op.error("attribute", "`dimension` must not be negative"));
    };
    require(op, "operands", inputs + op.num_results() > carries, || {
        "there must be an input or an output".into()
    })?;
    let mut size = scan.scan_dim_size().unwrap_or(DYNAMIC);
    let mut required = Vec::new();
    for (i, ty) in op.operand_types().enumerate() {
        let Some(tensor) = ty.as_tensor() else {
            return Err(
                op.error("operand-type", format!("operand {i} must be ranked, but has type {ty}"))
            );
        };
        if i >= inputs {
            required.push(ty.clone());
            continue;
        }
        let mut shape = tensor.shape.clone();
        require(op, "operand-type", dimension < shape.len(), || {
            format!("operand {i} of type {ty} has no dimension {dimension} to scan")
        })?;
        let found = shape.remove(dimension);
        require(op, "operand-type", compat::dims(size, found), || {
            format!(
                "the scanned dimensions must have one size; found {size} and {found} in operand {i}"
            )
        })?;
        size = if size == DYNAMIC { found } else { size };
        required.push(Type::tensor(shape, tensor.element.clone()));
    }
    let (taken, returned) = check::signature(op, scan.body());
    require(op, "region", compat::lists(required.iter(), taken.iter().copied()), || {
        let (required, found) = (check::list(required.iter()), check::list(taken.iter().copied()));
        format!("the body must take {required}; found {found}")
    })?;
    require(op, "region", returned.len() == op.num_results(), || {
        format!(
            "the body must return a value for each of {}; found {}",
            counted(op.num_results(), "result"),
            returned.len()
        )
    })?;
    let outputs = returned.len().saturating_sub(carries);
    for (i, (value, result)) in returned.into_iter().zip(op.result_types()).enumerate() {
        let Some(tensor) = value.as_tensor() else {
            return Err(
                op.error("region", format!("the body must return ranked tensors; found {value}"))
            );
        };
        let mut shape = tensor.shape.clone();
        if i < outputs {
            require(op, "region", dimension <= shape.len(), || {
                format!(
                    "result {i} of the body, of type {value}, has no place for dimension {dimension}"
                )
            })?;
            shape.insert(dimension, size);
        }
        let ty = Type::tensor(shape, tensor.element.clone());
        require(op, "result-type", compat::types(&ty, result), || {
            format!("result {i} must have type {ty}, but has type {result}")
        })?;
    }
    Ok(())
}

/// Reads `(%inputs) inits (%inits) dimension=0 attributes {…} region : type`. The last results are
/// the carried values.
fn parse(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    parser.expect("(")?;
    state.operands[0] = parser.operands()?;
    parser.expect(")")?;
    parser.expect("inits")?;
    parser.expect("(")?;
    state.operands[1] = parser.operands()?;
    parser.expect(")")?;
    parser.expect("dimension")?;
    parser.expect("=")?;
    let dimension = parser.integer()?;
    state.set_attr("dimension", Attribute::i64(dimension));
    parser.optional_attr_dict_with_keyword(state)?;
    let region = parser.region(state.def, Vec::new())?;
    state.regions[0].push(region);
    parser.expect(":")?;
    let span = parser.here();
    let (inputs, results) = parser.function_signature()?;
    let carries = state.operands[1].len();
    let Some(outputs) = results.len().checked_sub(carries) else {
        let message = format!(
            "{}, but {} are carried",
            counted(results.len(), "result"),
            counted(carries, "value")
        );
        return parser.error_at(span, message);
    };
    let sizes =
        AttrKind::DenseArray { element: Type::i32(), values: vec![outputs as i64, carries as i64] };
    state.set_attr("resultSegmentSizes", sizes.into());
    state.all_operand_types = Some(inputs);
    state.all_result_types = Some(results);
    Ok(())
}

fn print(printer: &mut Printer<'_>, op: OpRef<'_>) {
    let scan = ScanOp(op);
    printer.write("(");
    printer.values(scan.inputs());
    printer.write(") inits (");
    printer.values(scan.inits());
    printer.number(format_args!(") dimension={} ", scan.dimension()));
    printer.attr_dict_with_keyword(op, &["dimension"]);
    printer.write(" ");
    printer.region(op, scan.body(), true, true);
    printer.write(" : ");
    printer.functional_type(op);
}
