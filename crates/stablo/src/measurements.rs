//! Measurements of a device: their file, from which a measurement goes on, the model file and the
//! tables that follow from them.

use crate::DType;
use crate::op_accuracy::{BINARY, DTYPES, OpAccuracy, OpCase, UNARY, WITH_ZEROS};
use crate::sum_accuracy::{SUMS, SumAccuracy};
use numerics::FloatFormat;
use numerics::ulp::unit_in_the_last_place;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Measurements of a device.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct OpMeasurements {
    /// Elementwise ops.
    pub ops: Vec<OpAccuracy>,
    /// Ops that make sums.
    pub sums: Vec<SumAccuracy>,
    /// The cases that the device does not run, with its reason.
    pub refused: Vec<(OpCase, String)>,
}

/// A line of the file.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct MeasurementLine {
    op: String,
    dtype: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sums: Option<SumsLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct ErrorLine {
    ulps: f64,
    at: Vec<f64>,
    points: usize,
    flushes: bool,
    wrong: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    wrong_at: Vec<f64>,
    unknown: usize,
}

#[derive(Deserialize, Serialize)]
struct SumsLine {
    accumulation: Option<String>,
    products: Option<String>,
}

impl OpMeasurements {
    /// True if a case has been measured, or refused.
    pub fn has(&self, case: OpCase) -> bool {
        let is_own = |op: &str, dtype: DType| op == case.op && dtype == case.dtype;
        self.ops.iter().any(|own| is_own(own.op, own.dtype))
            || self.sums.iter().any(|own| is_own(own.op, own.dtype))
            || self.refused.iter().any(|(own, _)| *own == case)
    }

    /// The measurements as lines of JSON.
    pub fn to_lines(&self) -> String {
        let named = |op: &str, dtype: DType| MeasurementLine {
            op: op.to_string(),
            dtype: dtype.to_string(),
            ..MeasurementLine::default()
        };
        let errors = self.ops.iter().map(|own| {
            let OpAccuracy { op, dtype, ulps, points, flushes, wrong, unknown, .. } = *own;
            let (at, wrong_at) = (own.at.clone(), own.wrong_at.clone());
            let error = ErrorLine { ulps, at, points, flushes, wrong, wrong_at, unknown };
            MeasurementLine { error: Some(error), ..named(op, dtype) }
        });
        let sums = self.sums.iter().map(|own| {
            let name = |dtype: DType| dtype.to_string();
            let sums = SumsLine {
                accumulation: own.accumulation.map(name),
                products: own.products.map(name),
            };
            MeasurementLine { sums: Some(sums), ..named(own.op, own.dtype) }
        });
        let refused = self.refused.iter().map(|(case, why)| MeasurementLine {
            refused: Some(why.clone()),
            ..named(case.op, case.dtype)
        });
        let mut text = String::new();
        for line in errors.chain(sums).chain(refused) {
            // Numbers and strings do not fail to be written.
            text += &serde_json::to_string(&line).unwrap_or_default();
            text.push('\n');
        }
        text
    }

    /// Reads lines of JSON as [`OpMeasurements::to_lines`] writes them.
    ///
    /// # Errors
    /// If a line is none of these.
    pub fn from_lines(text: &str) -> Result<OpMeasurements, String> {
        let mut all = OpMeasurements::default();
        for (number, line) in (1..).zip(text.lines()) {
            all.add_line(line).map_err(|why| format!("line {number}: {why}"))?;
        }
        Ok(all)
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        let MeasurementLine { op, dtype, error, sums, refused } =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        let case = OpCase::all().find(|case| case.op == op && case.dtype.name() == dtype);
        let case = case.ok_or_else(|| format!("`{op}` of `{dtype}` is not measured"))?;
        if self.has(case) {
            return Err(format!("`{op}` of `{dtype}` has an earlier line"));
        }
        let OpCase { op, dtype } = case;
        match (error, sums, refused) {
            (Some(line), None, None) => {
                let ErrorLine { ulps, at, points, flushes, wrong, wrong_at, unknown } = line;
                self.ops.push(OpAccuracy {
                    op,
                    dtype,
                    ulps,
                    at,
                    points,
                    flushes,
                    wrong,
                    wrong_at,
                    unknown,
                });
            }
            (None, Some(SumsLine { accumulation, products }), None) => {
                let of = |name: Option<String>| match name {
                    Some(name) => DType::from_name(&name)
                        .map(Some)
                        .ok_or_else(|| format!("`{name}` is no element type")),
                    None => Ok(None),
                };
                let (accumulation, products) = (of(accumulation)?, of(products)?);
                self.sums.push(SumAccuracy { op, dtype, accumulation, products });
            }
            (None, None, Some(why)) => self.refused.push((case, why)),
            _ => return Err("one of `error`, `sums` and `refused` is required".to_string()),
        }
        Ok(())
    }

    /// A model file with measured errors, and types of sums. Ops that are correctly rounded at all
    /// points are not listed; wrong results are comments, as no bound is to contain them.
    pub fn to_model(&self, name: &str) -> String {
        let OpMeasurements { ops: measured, sums, .. } = self;
        let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for OpAccuracy { op, dtype, ulps, .. } in measured {
            if *ulps > 0.5 {
                // A tenth of room, as errors between the measured points may be larger.
                let ulps = (ulps * 11.0).ceil() / 10.0;
                let mut add = |kind: &str, value: f64| {
                    tables
                        .entry(format!("{kind}.{dtype}"))
                        .or_default()
                        .push(format!("{op} = {value}"));
                };
                add("ulps", ulps);
                if let Some(format) = dtype.float_format().filter(|_| WITH_ZEROS.contains(op)) {
                    add("absolute", ulps * unit_in_the_last_place(1.0, format));
                }
            }
        }
        let flushes = DTYPES
            .iter()
            .filter(|dtype| measured.iter().any(|own| own.flushes && own.dtype == **dtype));
        let flushes: Vec<String> = flushes.map(|dtype| format!("\"{dtype}\"")).collect();
        let mut text = String::new();
        for OpAccuracy { op, dtype, points, wrong, wrong_at, .. } in measured {
            if *wrong > 0 {
                let _ = writeln!(
                    text,
                    "# {wrong} of {points} results of {op} of {dtype} are wrong, as of {wrong_at:?}"
                );
            }
        }
        let _ = writeln!(text, "name = {name:?}\nflushes = [{}]", flushes.join(", "));
        let precision = |dtype: DType| dtype.float_format().map_or(0, FloatFormat::precision);
        let products = sums.iter().filter_map(|own| own.products);
        if let Some(products) = products.min_by_key(|&dtype| precision(dtype)) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "products = \"{products}\"");
        }
        for dtype in DTYPES {
            let own = sums.iter().filter(|own| own.dtype == dtype);
            let narrowest =
                own.filter_map(|own| own.accumulation).min_by_key(|&sums| precision(sums));
            if let Some(narrowest) = narrowest.filter(|&narrowest| narrowest != dtype) {
                let line = format!("{dtype} = \"{narrowest}\"");
                tables.entry("accumulation".into()).or_default().push(line);
            }
        }
        for (table, lines) in tables {
            // Writing to a string does not fail.
            let _ = write!(text, "\n[{table}]\n{}\n", lines.join("\n"));
        }
        text
    }

    /// The largest errors in units in the last place, and the types of sums, as tables of Markdown.
    pub fn to_table(&self) -> String {
        let OpMeasurements { ops: measured, sums, .. } = self;
        let head = |name: &str| {
            let names = DTYPES.map(|dtype| dtype.to_string()).join(" | ");
            format!("| {name} | {names} |\n|{}\n", " --- |".repeat(DTYPES.len() + 1))
        };
        let mut text = head("op");
        for op in UNARY.iter().chain(&BINARY) {
            let cell = |dtype: &DType| {
                let own = measured.iter().find(|own| own.op == *op && own.dtype == *dtype);
                let Some(own) = own else { return "-".to_string() };
                let error = if own.ulps <= 0.5 { "0.5".into() } else { format!("{:.3}", own.ulps) };
                let wrong =
                    if own.wrong > 0 { format!(" ({} wrong)", own.wrong) } else { String::new() };
                let flushes = if own.flushes { " f" } else { "" };
                format!("{error}{flushes}{wrong}")
            };
            let cells: Vec<String> = DTYPES.iter().map(cell).collect();
            let _ = writeln!(text, "| {op} | {} |", cells.join(" | "));
        }
        text = text + "\n" + &head("sums of");
        for op in SUMS {
            let cell = |dtype: &DType| {
                let Some(own) = sums.iter().find(|own| own.op == op && own.dtype == *dtype) else {
                    return "-".to_string();
                };
                let sums = own.accumulation.map_or("unexplained".into(), |dtype| dtype.to_string());
                let products = own.products.map(|dtype| format!(" of products of {dtype}"));
                sums + &products.unwrap_or_default()
            };
            let cells: Vec<String> = DTYPES.iter().map(cell).collect();
            let _ = writeln!(text, "| {op} | {} |", cells.join(" | "));
        }
        text
    }
}
