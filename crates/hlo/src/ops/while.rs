//! `stablehlo.while`.

use super::prelude::*;
use mlir::text::{OpState, Parsed, Parser, RegionArgument};

op! {
    /// The last values of a loop that starts from `operand` and replaces the values by those that `body` returns for as
    /// long as `cond` returns true. Both regions take the values as arguments.
    pub WhileOp, "stablehlo.while" {
        operands { operand: variadic ANY_TENSOR_TOKEN_OR_BUFFER }
        results { results: variadic ANY_TENSOR_TOKEN_OR_BUFFER }
        regions { cond: one, body: one }
        traits [RecursiveMemoryEffects, SingleBlock, ImplicitTerminator("stablehlo.return")]
        hooks {
            assembly: Assembly::Custom { parse, print: |_, _| {} },
            argument_name: Some(|_, _, _| Some("iterArg".to_string())),
        }
    }
}

/// `(%arg = %init, …) : T, … attributes {…} cond {…} do {…}`
fn parse(parser: &mut Parser<'_>, state: &mut OpState) -> Parsed<()> {
    let (mut names, mut operands, mut types) = (Vec::new(), Vec::new(), Vec::new());
    parser.expect("(")?;
    parser.list_until(")", |p| {
        names.push(p.operand()?.name);
        p.expect("=")?;
        operands.push(p.operand()?);
        Ok(())
    })?;
    if !operands.is_empty() {
        parser.expect(":")?;
        parser.comma_separated(|p| {
            types.push(p.ty()?);
            Ok(())
        })?;
        if types.len() != operands.len() {
            return parser.error(format!("{} operand(s), but {} type(s)", operands.len(), types.len()));
        }
    }
    parser.optional_attr_dict_with_keyword(state)?;
    for (slot, keyword) in ["cond", "do"].into_iter().enumerate() {
        parser.expect(keyword)?;
        let named = names.iter().zip(&types);
        let arguments = named.map(|(name, ty)| RegionArgument::new(*name, ty.clone())).collect();
        let region = parser.region(state.def, arguments)?;
        state.regions[slot].push(region);
    }
    state.operands[0] = operands;
    state.result_types[0] = Some(types.clone());
    state.operand_types[0] = Some(types);
    Ok(())
}
