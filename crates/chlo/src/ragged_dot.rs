//! `chlo.ragged_dot`.

use crate::constraints::{RANKED_INTS, TENSOR, refuse_quantized};
use crate::enums::PRECISION;
use hlo::attrs::{DOT_DIMENSION_NUMBERS, DotDims};
use hlo::check::{self, require};
use hlo::compat;
use mlir::diag::counted;
use mlir::ods::{AttrConstraint, AttrDef, AttrValue, ParamAssembly, ParamDef, ParamKind};
use mlir::text::{Parsed, Parser};
use mlir::{Attribute, Diagnostic, OpRef, Type, op};

const fn dims(name: &'static str) -> ParamDef {
    ParamDef { name, kind: ParamKind::I64s, optional: true }
}

/// `#chlo.ragged_dot<…>`
pub static RAGGED_DOT_DIMENSION_NUMBERS: AttrDef = AttrDef {
    dialect: "chlo",
    mnemonic: "ragged_dot",
    doc: "Which dimensions `ragged_dot` batches and contracts, which one is ragged, and which one numbers the groups.",
    params: &[
        dims("lhs_batching_dimensions"),
        dims("rhs_batching_dimensions"),
        dims("lhs_contracting_dimensions"),
        dims("rhs_contracting_dimensions"),
        dims("lhs_ragged_dimensions"),
        dims("rhs_group_dimensions"),
    ],
    assembly: ParamAssembly::Custom {
        parse,
        print: |printer, values| {
            printer.write("<");
            printer.struct_params(RAGGED_DOT_DIMENSION_NUMBERS.params, values);
            printer.write(">");
        },
    },
    verify: None,
    bounds: None,
    verify_encoding: None,
    becomes: None,
};

/// Reads the dimensions as CHLO writes them, or as MHLO: the first four as
/// `dot_dimension_numbers = #mhlo.dot<…>`.
fn parse(parser: &mut Parser<'_>) -> Parsed<Vec<Option<Attribute>>> {
    let defs = RAGGED_DOT_DIMENSION_NUMBERS.params;
    let mut values = vec![None; defs.len()];
    parser.expect("<")?;
    parser.list_until(">", |p| {
        let at = p.here();
        // Upstream accepts a trailing comma.
        if p.at(">") && values.iter().any(Option::is_some) {
            return Ok(());
        }
        let name = p.word("the name of a parameter")?;
        let range = match defs.iter().position(|def| def.name == name) {
            Some(index) => index..index + 1,
            None if name == "dot_dimension_numbers" => 0..DOT_DIMENSION_NUMBERS.params.len(),
            None => {
                let known: Vec<_> = defs.iter().map(|def| def.name).collect();
                let known = known.join(", ");
                return p.error_at(at, format!("unknown parameter `{name}`; known are {known}"));
            }
        };
        if let Some(index) = range.clone().find(|&index| values[index].is_some()) {
            let name = defs[index].name;
            return p.error_at(at, format!("the parameter `{name}` is given twice"));
        }
        p.expect("=")?;
        if range.len() == 1 {
            values[range.start] = Some(p.param(ParamKind::I64s)?);
            return Ok(());
        }
        let dot = p.bare_attribute(&DOT_DIMENSION_NUMBERS)?;
        let parts = dot.as_dialect(&DOT_DIMENSION_NUMBERS).unwrap_or(&[]);
        // Empty lists are left out, as they are in text.
        let is_empty = |list: &Attribute| list.as_int_array().is_some_and(<[i64]>::is_empty);
        for (value, part) in values[range].iter_mut().zip(parts) {
            *value = part.clone().filter(|list| !is_empty(list));
        }
        Ok(())
    })?;
    Ok(values)
}

static PRECISION_CASE: AttrConstraint = AttrConstraint::Enum(&PRECISION);

op! {
    /// Matrix product in which one dimension is divided into groups of different sizes.
    pub RaggedDotOp, "chlo.ragged_dot" {
        operands { lhs: single TENSOR, rhs: single TENSOR, group_sizes: single RANKED_INTS }
        results { result: single TENSOR }
        attributes {
            ragged_dot_dimension_numbers: required Def(RaggedDims),
            precision_config: optional ArrayOf(&PRECISION_CASE),
        }
        traits [Pure]
        hooks {
            verify: verify,
            refine: refine,
        }
    }
}

/// The dimension numbers of a `ragged_dot`.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the attribute")]
pub struct RaggedDims<'a> {
    pub lhs_batching_dimensions: &'a [i64],
    pub rhs_batching_dimensions: &'a [i64],
    pub lhs_contracting_dimensions: &'a [i64],
    pub rhs_contracting_dimensions: &'a [i64],
    pub lhs_ragged_dimensions: &'a [i64],
    pub rhs_group_dimensions: &'a [i64],
}

/// The kind of the ragged dimension, which the groups divide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ragged {
    /// A batch dimension: groups have no effect.
    Batch,
    /// A contracting dimension: the result gains a leading group dimension.
    Contracting,
    /// A free dimension of `lhs`: `rhs` has a group dimension.
    Free,
}

impl<'a> AttrValue<'a> for RaggedDims<'a> {
    fn of(attr: Option<&'a Attribute>) -> RaggedDims<'a> {
        let params = attr.and_then(|a| a.as_dialect(RaggedDims::DEF)).unwrap_or(&[]);
        let dims = |i: usize| AttrValue::of(params.get(i).and_then(Option::as_ref));
        RaggedDims {
            lhs_batching_dimensions: dims(0),
            rhs_batching_dimensions: dims(1),
            lhs_contracting_dimensions: dims(2),
            rhs_contracting_dimensions: dims(3),
            lhs_ragged_dimensions: dims(4),
            rhs_group_dimensions: dims(5),
        }
    }
}

impl<'a> RaggedDims<'a> {
    /// The declaration.
    pub const DEF: &'static AttrDef = &RAGGED_DOT_DIMENSION_NUMBERS;

    /// The numbers that `dot_general` has, too.
    fn dot(&self) -> DotDims<'a> {
        DotDims {
            lhs_batching_dimensions: self.lhs_batching_dimensions,
            rhs_batching_dimensions: self.rhs_batching_dimensions,
            lhs_contracting_dimensions: self.lhs_contracting_dimensions,
            rhs_contracting_dimensions: self.rhs_contracting_dimensions,
        }
    }

    /// The one ragged dimension of `lhs` and its kind.
    pub fn ragged(&self) -> Option<(i64, Ragged)> {
        let &[dimension] = self.lhs_ragged_dimensions else { return None };
        Some(if self.lhs_batching_dimensions.contains(&dimension) {
            (dimension, Ragged::Batch)
        } else if self.lhs_contracting_dimensions.contains(&dimension) {
            (dimension, Ragged::Contracting)
        } else {
            (dimension, Ragged::Free)
        })
    }

    /// The dimensions of `lhs` that precede the group dimension in `group_sizes`, unless one list
    /// of sizes serves all: the batch dimensions, then those of the ragged dimension's kind, as far
    /// as they precede it. The ragged dimension must be one of `lhs`.
    pub fn group_prefix(&self) -> Option<Vec<i64>> {
        let (dimension, kind) = self.ragged()?;
        let before =
            |dims: &[i64]| dims.iter().copied().take_while(|&d| d != dimension).collect::<Vec<_>>();
        let (batching, contracting) =
            (self.lhs_batching_dimensions, self.lhs_contracting_dimensions);
        Some(match kind {
            Ragged::Batch => before(batching),
            Ragged::Contracting => [batching.to_vec(), before(contracting)].concat(),
            Ragged::Free => {
                let free =
                    (0..dimension).filter(|d| !batching.contains(d) && !contracting.contains(d));
                batching.iter().copied().chain(free).collect()
            }
        })
    }
}

const LABELS: check::DotLabels = check::DotLabels {
    counts: ["attribute"; 2],
    distinct: ["attribute"; 2],
    lhs_in_range: ["attribute"; 2],
    rhs_in_range: ["attribute"; 2],
    sizes: ["operand-type"; 2],
};

fn verify(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let dims = RaggedDotOp(op).ragged_dot_dimension_numbers();
    let (lhs, rhs) = (op.operand_type(0), op.operand_type(1));
    refuse_quantized(op)?;
    if let Some(config) = RaggedDotOp(op).precision_config() {
        require(op, "attribute", matches!(config.len(), 0 | 2), || {
            format!(
                "`precision_config` must have an entry for each of two operands, but has {}",
                config.len()
            )
        })?;
    }
    if lhs.shape().is_none() || rhs.shape().is_none() {
        return Ok(());
    }
    check::dot_dimensions(op, &LABELS, lhs, rhs, &dims.dot())?;
    verify_groups(op, &dims)?;
    let (Some(required), Some(found)) = (result_shape(op), op.result_type(0).shape()) else {
        return Ok(());
    };
    check::has_shape(op, "result-type", "the result", found, &required)
}

fn verify_groups(op: OpRef<'_>, dims: &RaggedDims<'_>) -> Result<(), Diagnostic> {
    let (lhs, rhs, sizes) = (op.operand_type(0), op.operand_type(1), op.operand_type(2));
    let Some((dimension, kind)) = dims.ragged() else {
        let found = dims.lhs_ragged_dimensions.len();
        return Err(op.error(
            "attribute",
            format!("lhs must have one ragged dimension, but {found} are given"),
        ));
    };
    check::in_range(op, "attribute", "lhs_ragged_dimensions", &[dimension], check::rank(lhs))?;
    let prefix = dims.group_prefix().unwrap_or_default();
    let found = check::shape(sizes);
    let Some((&groups, leading)) = found.split_last() else {
        return Err(op.error("operand-type", "`group_sizes` must have a dimension for the group"));
    };
    let prefix: Vec<i64> = prefix.iter().map(|&d| check::shape(lhs)[d as usize]).collect();
    require(op, "operand-type", leading.is_empty() || compat::shapes(&prefix, leading), || {
        let required = check::show(&[&prefix[..], &[groups]].concat());
        format!(
            "`group_sizes` must have shape [{groups}] or {required}, but has {}",
            check::show(found)
        )
    })?;
    let group = dims.rhs_group_dimensions;
    check::in_range(op, "attribute", "rhs_group_dimensions", group, check::rank(rhs))?;
    for others in [
        ("rhs_batching_dimensions", dims.rhs_batching_dimensions),
        ("rhs_contracting_dimensions", dims.rhs_contracting_dimensions),
    ] {
        check::distinct_together(op, "attribute", ("rhs_group_dimensions", group), others)?;
    }
    let required = usize::from(kind == Ragged::Free);
    require(op, "attribute", group.len() == required, || {
        format!(
            "rhs must have {required} group dimensions where this dimension of lhs is ragged; found {}",
            group.len()
        )
    })?;
    match group
        .iter()
        .map(|&d| check::shape(rhs)[d as usize])
        .find(|&size| !compat::dims(size, groups))
    {
        Some(size) => {
            let message = format!(
                "`group_sizes` has {}, but the group dimension of rhs has size {size}",
                counted(groups, "group")
            );
            Err(op.error("operand-type", message))
        }
        None => Ok(()),
    }
}

/// The number of groups if a contracting dimension is ragged, the batch dimensions, then the free
/// dimensions of `lhs` and of `rhs`.
fn result_shape(op: OpRef<'_>) -> Option<Vec<i64>> {
    let dims = RaggedDotOp(op).ragged_dot_dimension_numbers();
    let (lhs, rhs) = (op.operand_type(0).shape()?, op.operand_type(1).shape()?);
    let without = |shape: &[i64], dropped: [&[i64]; 3]| -> Vec<i64> {
        let numbered = (0i64..).zip(shape);
        numbered
            .filter(|(d, _)| dropped.iter().all(|list| !list.contains(d)))
            .map(|(_, &size)| size)
            .collect()
    };
    let size = |&d: &i64| lhs.get(usize::try_from(d).ok()?).copied();
    let mut sizes = dims.lhs_batching_dimensions.iter().map(size).collect::<Option<Vec<i64>>>()?;
    sizes
        .extend(without(lhs, [dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions, &[]]));
    let used =
        [dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions, dims.rhs_group_dimensions];
    sizes.extend(without(rhs, used));
    if dims.ragged()?.1 == Ragged::Contracting {
        sizes.insert(0, *op.operand_type(2).shape()?.last()?);
    }
    Some(sizes)
}

fn refine(op: OpRef<'_>) -> Option<Vec<Type>> {
    Some(vec![Type::tensor(result_shape(op)?, op.result_type(0).element_type().clone())])
}
