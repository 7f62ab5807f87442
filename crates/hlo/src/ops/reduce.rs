//! `stablehlo.reduce`.

use super::prelude::*;
use mlir::ir::{Loc, OpName, OpParts};
use mlir::nearest::suggestion;
use mlir::ods::{OpDef, Trait};
use mlir::text::{OpState, OperandList, Parsed, Parser, Printer};

op! {
    /// The reduction of `inputs` along `dimensions` with `body`, from `init_values`; the reduced
    /// dimensions are dropped.
    pub ReduceOp, "stablehlo.reduce" {
        operands { inputs: variadic TENSOR, init_values: variadic TENSOR }
        results { results: variadic TENSOR }
        attributes { dimensions: required I64Array }
        regions { body: one }
        traits [
            SameVariadicOperandSize, RecursiveMemoryEffects, SingleBlock,
            ImplicitTerminator("stablehlo.return"),
        ]
        rules include_str!("reduce.txt");
        hooks {
            parse: parse,
            print: print,
            verify_regions: verify_body,
            infer: infer,
            infer_label: "reduce_c7",
            reify: reify,
            prepare: prepare,
            speculate: speculation::static_operands_as_regions,
        }
    }
}

fn infer(op: OpRef<'_>) -> Inferred {
    let view = ReduceOp(op);
    let module = op.module();
    let inputs = || view.inputs().iter().map(|&v| module.ty(v));
    let Some(first) = inputs().next() else {
        return Err(op.error("reduce_c3", "there must be at least one input; found none"));
    };
    require(op, "reduce_c1", inputs().all(|t| compat::shapes(shape(first), shape(t))), || {
        format!("inputs must have compatible shapes; found {}", check::list(inputs()))
    })?;
    for (i, (input, init)) in
        inputs().zip(view.init_values().iter().map(|&v| module.ty(v))).enumerate()
    {
        require(
            op,
            "reduce_c2",
            compat::promotable(input.element_type(), init.element_type()),
            || {
                format!(
                    "init value #{i} must have the element type of input #{i}, {input}; found {init}"
                )
            },
        )?;
    }
    let dimensions = view.dimensions();
    check::in_range(op, "reduce_c4", "dimensions", dimensions, rank(first))?;
    check::distinct(op, "reduce_c5", "dimensions", dimensions)?;
    let elements = check::accumulators(op, view.body(), inputs());
    elements
        .into_iter()
        .map(|element| infer::sized(op, element, |inputs| Ok(kept_sizes(op, inputs[0]))))
        .collect()
}

/// The sizes of the dimensions that are not reduced.
fn kept_sizes(op: OpRef<'_>, sizes: &[i64]) -> Vec<i64> {
    let dimensions = ReduceOp(op).dimensions();
    (0..).zip(sizes).filter(|(d, _)| !dimensions.contains(d)).map(|(_, &size)| size).collect()
}

fn verify_body(op: OpRef<'_>) -> Verdict {
    let view = ReduceOp(op);
    let inits: Vec<&Type> = view.init_values().iter().map(|&v| op.module().ty(v)).collect();
    let inputs = view.inputs().iter().map(|&v| op.module().ty(v));
    check::reducer(op, "reduce_c6", "body", view.body(), inputs, &inits)?;
    let sizes = op.operand_types().next().map_or(&[][..], shape);
    check::reducer_dims(op, "reduce_c6", view.body(), &kept_sizes(op, sizes))
}

/// `(%input init: %init), … applies stablehlo.add across dimensions = [0] {attributes} : (…) -> …`
/// if the body is a single commutative op on its arguments, else the same without `applies`,
/// followed by `reducer(%a: T, %b: T) … {…}` with one pair of arguments per input.
fn parse(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    // The location of a reduce is that of its operands.
    state.span = parser.here();
    let (mut operands, mut inits) = (OperandList::new(), OperandList::new());
    parser.comma_separated(|p| {
        p.expect("(")?;
        operands.push(p.operand()?);
        p.expect("init")?;
        p.expect(":")?;
        inits.push(p.operand()?);
        p.expect(")")
    })?;
    operands.append(&mut inits);
    let combiner = if parser.eat("applies") { Some(parse_combiner(parser)?) } else { None };
    parser.expect("across")?;
    parser.expect("dimensions")?;
    parser.expect("=")?;
    let start = parser.here();
    let dimensions = parser.i64_list()?;
    parser.note_attribute("dimensions", start);
    state.properties[0] = Some(parser.i64_array(&dimensions));
    parser.optional_attr_dict(state)?;
    parser.expect(":")?;
    let start = parser.here();
    let (inputs, results) = parser.function_signature()?;
    let body = match combiner {
        Some(combiner) => {
            let Some(input) = inputs.first() else {
                return parser
                    .error_at(parser.span_from(start), "a reduction has at least one input");
            };
            implied_body(
                parser,
                combiner,
                Type::tensor([], input.element_type().clone()),
                Loc::Source(state.span),
            )
        }
        None => parse_body(parser, state.def)?,
    };
    state.regions[0].push(body);
    state.all_operands = Some(operands);
    state.all_operand_types = Some(inputs);
    state.all_result_types = Some(results);
    Ok(())
}

/// True if a body that applies this op to its two arguments may be abbreviated.
fn is_combiner(def: &OpDef) -> bool {
    def.dialect() == "stablehlo"
        && def.operands.len() == 2
        && def.results.len() == 1
        && def.regions.is_empty()
        && def.has_trait(&Trait::Commutative)
}

fn parse_combiner(parser: &mut Parser<'_>) -> Parsed<&'static OpDef> {
    let at = parser.here();
    let name = parser.word("the name of an op")?;
    match parser.registry().op(name) {
        Some(def) if is_combiner(def) => Ok(def),
        _ => {
            let combiners = parser.registry().ops().filter(|def| is_combiner(def));
            let near = suggestion(name, combiners.map(|def| def.name));
            let help = near
                .or_else(|| Some("such ops are `stablehlo.add` and `stablehlo.maximum`".into()));
            let message = format!(
                "`{name}` is not a commutative StableHLO op of two operands and one result"
            );
            parser.error_with_help(at, message, help)
        }
    }
}

/// Builds the region that applies `combiner` to two scalars of type `ty`.
fn implied_body(parser: &mut Parser<'_>, combiner: &'static OpDef, ty: Type, loc: Loc) -> RegionId {
    let module = parser.module();
    let region = module.create_region();
    let block = module.create_block(region);
    let arguments = [(); 2].map(|()| module.add_argument(block, ty.clone(), loc.clone()));
    let mut parts = OpParts::new(OpName::Registered(combiner), loc.clone());
    parts.operands.extend(arguments);
    parts.result_types.push(ty);
    let op = module.create_op(parts);
    module.append(block, op);
    let mut parts = OpParts::new(OpName::Registered(super::ReturnOp::DEF), loc);
    parts.operands.push(module.op(op).result(0));
    let end = module.create_op(parts);
    module.append(block, end);
    region
}

/// `reducer(%a: T, %b: T) (%c: U, %d: U) {…}`: the first arguments of all pairs come before the
/// second ones.
fn parse_body(parser: &mut Parser<'_>, def: &'static OpDef) -> Parsed<RegionId> {
    parser.expect("reducer")?;
    let (mut arguments, mut accumulators) = (Vec::new(), Vec::new());
    while parser.eat("(") {
        arguments.push(parser.region_argument()?);
        parser.expect(",")?;
        accumulators.push(parser.region_argument()?);
        parser.expect(")")?;
    }
    arguments.append(&mut accumulators);
    parser.region(def, arguments)
}

/// The single op that the body applies to its arguments, if the syntax can abbreviate it.
fn combiner(op: OpRef<'_>) -> Option<OpRef<'_>> {
    let module = op.module();
    let block = module.entry(*op.regions().first()?)?;
    let mut ops = module.ops(block);
    let (Some(inner), Some(end), None) = (ops.next(), ops.next(), ops.next()) else { return None };
    let scalar = Type::tensor([], op.operand_types().next()?.element_type().clone());
    let applies = is_combiner(inner.def()?)
        && inner.operands() == module.arguments(block)
        && inner.operand_types().chain(inner.result_types()).all(|t| *t == scalar)
        && end.is(super::ReturnOp::DEF)
        && inner.results().eq(end.operands().iter().copied());
    applies.then_some(inner)
}

fn print(printer: &mut Printer<'_>, op: OpRef<'_>) {
    let module = op.module();
    let (inputs, inits) = op.operands().split_at(op.operands().len() / 2);
    printer.separated(", ", inputs.iter().zip(inits), |p, (&input, &init)| {
        p.write("(");
        p.value(input);
        p.write(" init: ");
        p.value(init);
        p.write(")");
    });
    let combiner = combiner(op);
    if let Some(combiner) = combiner {
        printer.write(" applies ");
        printer.write(combiner.name());
    }
    printer.number(format_args!(" across dimensions = {:?}", ints(op.property(0))));
    printer.attr_dict(op, &["dimensions"]);
    printer.write(" : ");
    printer.functional_type(op);
    let (None, Some(&body)) = (combiner, op.regions().first()) else { return };
    printer.newline();
    printer.write(" reducer");
    if let Some(block) = module.entry(body) {
        let pairs = module.arguments(block).len() / 2;
        for i in 0..pairs {
            printer.write("(");
            printer.argument(module, block, i);
            printer.write(", ");
            printer.argument(module, block, pairs + i);
            printer.write(") ");
        }
    }
    printer.write(" ");
    printer.region(op, body, false, true);
}

/// The dimensions that are not reduced.
fn reify(rw: &mut Rewriter<'_>, op: OpId) -> Option<Value> {
    let along = ReduceOp(rw.op(op)).dimensions().to_vec();
    let sizes = (0i64..)
        .zip(reify::dims(rw, op, 0)?)
        .filter(|(d, _)| !along.contains(d))
        .map(|(_, size)| size)
        .collect();
    reify::vector(rw, op, sizes)
}

fn prepare(op: OpRef<'_>, cx: &mut Preparer<'_>) -> Prepared {
    let dimensions = prepare::usizes(op, ReduceOp(op).dimensions())?;
    Ok(Primitive::Reduce(primitives::Reduce {
        dimensions,
        body: prepare::body(op, ReduceOp(op).body(), cx)?,
    }))
}
