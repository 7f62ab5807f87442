//! `chlo.scan`.

use crate::constraints::TENSOR;
use mlir::attrs::AttrKind;
use mlir::ods::Assembly;
use mlir::text::{OpState, Parsed, Parser, Printer};
use mlir::{Attribute, OpRef, Type, op};

op! {
    /// Runs its region on the slices of the inputs along one dimension, in order, and passes the carried values on.
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
        traits [AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove, RecursiveMemoryEffects]
        hooks {
            assembly: Assembly::Custom { parse, print },
            result_name: Some(|_| "".into()),
            argument_name: Some(argument_name),
        }
    }
}

fn argument_name(op: OpRef<'_>, _: usize, argument: usize) -> Option<String> {
    Some(if argument < op.operand_slot(0).len() { "input" } else { "carry" }.into())
}

/// Reads `(%inputs) inits (%inits) dimension=0 attributes {…} region : type`. The last results are the carried values.
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
        let message = format!("{} results are too few for {carries} carried values", results.len());
        return parser.error_at(span, message);
    };
    let sizes = AttrKind::DenseArray { element: Type::i32(), values: vec![outputs as i64, carries as i64] };
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
    let dimension = scan.dimension().and_then(|d| d.as_i64()).unwrap_or(0);
    printer.number(format_args!(") dimension={dimension} "));
    printer.attr_dict_with_keyword(op, &["dimension"]);
    printer.write(" ");
    printer.region(op, scan.body(), true, true);
    printer.write(" : ");
    printer.functional_type(op);
}
