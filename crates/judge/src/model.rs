//! How a backend may round: models, as data.

use crate::bounds::Rounding;
use numerics::DType;
use numerics::math::{BinaryOp, UnaryOp};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The models by name, as the text of model files.
const BUILT_IN: [(&str, &str); 4] = [
    ("ieee", include_str!("models/ieee.toml")),
    ("xla-cpu", include_str!("models/xla-cpu.toml")),
    ("xla-gpu", include_str!("models/xla-gpu.toml")),
    ("tpu", include_str!("models/tpu.toml")),
];

/// The rounding that a backend may do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// By element type, of complex numbers or their parts, or `*` for all, and op: the largest
    /// error in units in the last place. Ops that are not listed are correctly rounded.
    pub ulps: BTreeMap<String, BTreeMap<String, f64>>,
    /// Likewise: an error that is allowed besides, as a number.
    pub absolute: BTreeMap<String, BTreeMap<String, f64>>,
    /// Functions that are not listed have at most this error.
    pub functions: Option<f64>,
    /// The element types whose subnormal numbers may be taken as zeros.
    pub flushes: Vec<DType>,
    /// True if a product that is added may stay unrounded: fused multiply-adds.
    pub contracts: bool,
    /// True if any result may stay unrounded.
    pub excess: bool,
    /// The type to which operands of `f32` products that are summed may be rounded.
    pub products: Option<DType>,
    /// By narrow element type, the type of its sums; by default its own or any wider one.
    pub accumulation: BTreeMap<String, DType>,
}

/// A model file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    base: Option<String>,
    #[serde(default)]
    ulps: BTreeMap<String, BTreeMap<String, f64>>,
    #[serde(default)]
    absolute: BTreeMap<String, BTreeMap<String, f64>>,
    functions: Option<f64>,
    flushes: Option<Vec<String>>,
    contracts: Option<bool>,
    excess: Option<bool>,
    products: Option<String>,
    #[serde(default)]
    accumulation: BTreeMap<String, String>,
}

/// Checks the names of ops whose errors are listed.
fn check_ops(ops: &BTreeMap<String, f64>) -> Result<(), String> {
    let is_known = |name: &str| {
        let others = ["convert", "fft", "sum"];
        UnaryOp::from_name(name).is_some()
            || BinaryOp::from_name(name).is_some()
            || others.contains(&name)
    };
    match ops.keys().find(|name| !is_known(name)) {
        Some(name) => {
            Err(format!("`{name}` is no op with an error: ops have names such as `tanh`"))
        }
        None => Ok(()),
    }
}

/// Checks the name of a type whose errors are listed.
fn check_listed(name: &str) -> Result<(), String> {
    let is_complex = DType::from_name(name).is_some_and(DType::is_complex);
    if name == "*" || is_complex { Ok(()) } else { dtype(name).map(|_| ()) }
}

fn dtype(name: &str) -> Result<DType, String> {
    let known = DType::from_name(name).filter(|dtype| dtype.is_float());
    known.ok_or_else(|| format!("`{name}` is not a floating-point type"))
}

impl Model {
    /// The names of the models that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The built-in model of a name.
    pub fn built_in(name: &str) -> Option<Model> {
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Model::parse(text).ok()
    }

    /// The model in the text of a file: `name`; `base`, a built-in model whose entries hold as far
    /// as the file has no others; `ulps."*"` and `ulps.TYPE`, by op, and `absolute` likewise;
    /// `functions`; `flushes`, a list of types; `contracts`; `excess`; `products`, a type;
    /// `accumulation`, types by type.
    ///
    /// # Errors
    /// If the text is no TOML, or has fields or types that are unknown.
    pub fn parse(text: &str) -> Result<Model, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut model = match &file.base {
            None => Model::default(),
            Some(base) => Model::built_in(base).ok_or_else(|| {
                let names: Vec<&str> = Model::names().collect();
                format!("there is no model `{base}`; there are {}", names.join(", "))
            })?,
        };
        model.name = file.name;
        for (dtype_name, ops) in file.ulps {
            check_listed(&dtype_name)?;
            check_ops(&ops)?;
            if let Some((op, ulps)) = ops.iter().find(|(_, ulps)| ulps.is_nan() || **ulps < 0.5) {
                return Err(format!("the error of `{op}` is at least 0.5 units; found {ulps}"));
            }
            // An error for all types replaces the errors of the base for single types.
            if dtype_name == "*" {
                let known = model.ulps.values_mut();
                known.for_each(|known| known.retain(|op, _| !ops.contains_key(op)));
            }
            model.ulps.entry(dtype_name).or_default().extend(ops);
        }
        for (dtype_name, ops) in file.absolute {
            check_listed(&dtype_name)?;
            check_ops(&ops)?;
            if let Some((op, error)) = ops.iter().find(|(_, x)| x.is_nan() || **x < 0.0) {
                return Err(format!("the error of `{op}` is not negative; found {error}"));
            }
            model.absolute.entry(dtype_name).or_default().extend(ops);
        }
        if let Some(functions) = file.functions {
            if functions.is_nan() || functions < 0.5 {
                return Err(format!(
                    "the error of functions is at least 0.5 units; found {functions}"
                ));
            }
            model.functions = Some(functions);
        }
        if let Some(flushes) = file.flushes {
            model.flushes = flushes.iter().map(|name| dtype(name)).collect::<Result<_, _>>()?;
        }
        model.contracts = file.contracts.unwrap_or(model.contracts);
        model.excess = file.excess.unwrap_or(model.excess);
        if let Some(products) = file.products {
            model.products = Some(dtype(&products)?);
        }
        for (narrow, wide) in file.accumulation {
            dtype(&narrow)?;
            model.accumulation.insert(narrow, dtype(&wide)?);
        }
        Ok(model)
    }

    /// The same model with one more licence each, by name: what may explain results that are
    /// outside. Licences of the same group are ordered by what they allow.
    pub fn licences(&self) -> Vec<(String, usize, Model)> {
        let mut licences = Vec::new();
        let mut add = |name: &str, group: usize, change: &dyn Fn(&mut Model)| {
            let mut model = self.clone();
            change(&mut model);
            if model != *self {
                licences.push((name.to_string(), group, model));
            }
        };
        add("fused multiply-adds", 0, &|model| model.contracts = true);
        add("results that stay unrounded", 0, &|model| model.excess = true);
        add("subnormal numbers as zeros", 1, &|model| {
            model.flushes = vec![DType::BF16, DType::F16, DType::F32, DType::F64];
        });
        for ulps in [1.0, 2.0, 4.0, 16.0, 64.0, 1024.0] {
            add(&format!("functions of {ulps} ulps"), 2, &|model| {
                model.functions = Some(model.functions.unwrap_or(0.5).max(ulps));
                for op in model.ulps.values_mut().flat_map(BTreeMap::values_mut) {
                    *op = op.max(ulps);
                }
            });
        }
        add("sums of f64 in f32", 4, &|model| {
            model.accumulation.insert(DType::F64.name().into(), DType::F32);
        });
        let products = |dtype| move |model: &mut Model| model.products = Some(dtype);
        add("tf32 products", 3, &products(DType::TF32));
        add("bf16 products", 3, &products(DType::BF16));
        for dtype in [DType::F16, DType::BF16] {
            add(&format!("sums in {dtype}"), 4, &|model| {
                for own in [DType::F32, DType::F64] {
                    model.accumulation.insert(own.name().into(), dtype);
                }
            });
        }
        licences
    }

    /// The rounding of an op with a result of this element type.
    pub fn rounding(&self, op: &str, dtype: DType) -> Rounding {
        let part = dtype.part();
        let of = |errors: &BTreeMap<String, BTreeMap<String, f64>>| {
            let types = [dtype.name(), part.name(), "*"];
            types.into_iter().find_map(|ty| errors.get(ty)?.get(op)).copied()
        };
        let listed = of(&self.ulps);
        let is_basic = BASIC.contains(&op);
        let default = if is_basic { 0.5 } else { self.functions.unwrap_or(0.5) };
        let ulps = listed.unwrap_or(default);
        Rounding {
            ulps,
            absolute: of(&self.absolute).unwrap_or(0.0),
            relative: 0.0,
            unrounded: self.excess || (self.contracts && op == "multiply"),
            flushes: self.flushes(part),
        }
    }

    /// True if subnormal numbers of the type may be taken as zeros.
    pub fn flushes(&self, dtype: DType) -> bool {
        self.flushes.contains(&dtype.part())
    }

    /// The unit roundoff of sums of the type.
    pub fn sum_roundoff(&self, dtype: DType) -> f64 {
        let part = dtype.part();
        let sums = self.accumulation.get(part.name()).copied().unwrap_or(part);
        match sums.float_format() {
            Some(format) => (0.5f64).powi(format.precision() as i32),
            None => 0.0,
        }
    }
}

/// Ops that IEEE 754 defines, or that only choose.
const BASIC: [&str; 14] = [
    "abs",
    "add",
    "ceil",
    "convert",
    "divide",
    "floor",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "remainder",
    "round_nearest_even",
    "sqrt",
    "subtract",
];
