//! Judgements as text, JSON, JUnit and SARIF.

use crate::judgement::{Blames, Estimate, Growth, Judgement};
use crate::record::Blame;
use crate::verdict::{DoubtAt, Element, Output, Verdict};
use analysis::Location;
use mlir::diag::counted;
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// Numbers of JSON are finite.
pub(crate) fn number(x: f64) -> Json {
    if x.is_finite() { json!(x) } else { json!(x.to_string()) }
}

fn element(element: &Element) -> Json {
    json!({
        "index": element.index,
        "verdict": element.verdict.name(),
        "found": number(element.found),
        "truth": element.truth,
        "low": number(element.bounds.0),
        "high": number(element.bounds.1),
        "nan": element.bounds.2,
        "others": element.others.iter().copied().map(number).collect::<Vec<Json>>(),
        "ulps": number(element.ulps),
        "doubt": element.doubt,
    })
}

fn output(output: &Output) -> Json {
    json!({
        "output": output.index,
        "name": output.name,
        "check": output.check.as_ref().map(|(location, text)| {
            json!({ "location": location.to_value(), "text": text })
        }),
        "type": output.dtype.name(),
        "shape": output.shape,
        "verdict": output.verdict().name(),
        "inside": output.counts[0],
        "undecided": output.counts[1],
        "outside": output.counts[2],
        "max_ulps": number(output.max_ulps()),
        "max_width": number(output.max_width()),
        "amplification": number(output.amplification),
        "ill_conditioned": output.is_ill_conditioned(),
        "worst": output.worst.as_ref().map(element),
    })
}

fn doubt(doubt: &DoubtAt) -> Json {
    json!({
        "kind": doubt.kind,
        "location": doubt.location.to_value(),
        "text": doubt.text,
        "elements": doubt.elements,
        "distance_ulps": doubt.distance.map(number),
        "example": doubt.example,
    })
}

fn blame(blame: &Blame) -> Json {
    json!({
        "location": blame.location.to_value(),
        "text": blame.text,
        "specification": specification(&blame.location),
        "iteration": blame.iteration,
        "result": output(&blame.result),
    })
}

fn growth(growth: &Growth) -> Json {
    json!({
        "location": growth.location.to_value(),
        "text": growth.text,
        "relative": number(growth.relative),
        "factor": number(growth.factor),
    })
}

fn estimate(estimate: &Estimate) -> Json {
    json!({
        "output": estimate.output,
        "samples": estimate.samples,
        "elements": estimate.elements,
        "apart": estimate.apart,
        "spread_ulps": number(estimate.spread_ulps),
    })
}

/// The paragraph of the specification about an op.
fn specification(location: &Location) -> Option<String> {
    let mnemonic = location.op.strip_prefix("stablehlo.")?;
    Some(format!("https://github.com/openxla/stablehlo/blob/main/docs/spec.md#{mnemonic}"))
}

/// Where an op stands.
fn place(location: &Location) -> String {
    let function = &location.function;
    location.source.clone().unwrap_or_else(|| format!("@{function}"))
}

impl Element {
    /// The element in a line.
    fn describe(&self) -> String {
        let (low, high, nan) = self.bounds;
        let bounds = match (low > high, nan, low == high) {
            (true, ..) => "NaN".to_string(),
            (_, true, _) => format!("[{low:e}, {high:e}] or NaN"),
            (_, _, true) => format!("{low:e}"),
            _ => format!("[{low:e}, {high:e}]"),
        };
        let ulps = match self.ulps {
            ulps if ulps.is_nan() => String::new(),
            ulps if ulps.is_infinite() => String::new(),
            ulps => format!(", off by {ulps:.3} ulp"),
        };
        let others = self.others.iter().map(|value| format!(" or {value:e}"));
        let bounds = bounds + &others.collect::<String>();
        let Element { index, found, truth, .. } = self;
        format!("at {index:?}: found {found:e}, true {truth}{ulps}, allowed {bounds}")
    }
}

impl DoubtAt {
    /// The example, and the distance from the flip.
    fn example(&self) -> Option<String> {
        let example = if self.example.is_empty() { None } else { Some(&self.example) };
        let distance = self.distance.map(|ulps| format!("{ulps:.3} ulp from the flip"));
        match (example, distance) {
            (Some(example), Some(distance)) => Some(format!("such as {example}, {distance}")),
            (Some(example), None) => Some(format!("such as {example}")),
            (None, distance) => distance,
        }
    }
}

impl Output {
    /// The largest width of bounds in units in the last place.
    fn max_width(&self) -> f64 {
        self.widths.iter().copied().fold(0.0, f64::max)
    }

    /// Its number and name, or the place of the op that expects it.
    pub(crate) fn title(&self) -> String {
        match (&self.check, &self.name) {
            (Some((location, text)), _) => format!("{}: {text}", place(location)),
            (None, Some(name)) => format!("output {} ({name})", self.index),
            (None, None) => format!("output {}", self.index),
        }
    }

    fn describe(&self) -> String {
        let total: usize = self.counts.iter().sum();
        let [_, undecided, outside] = self.counts;
        match self.verdict() {
            Verdict::Inside if self.dtype.part().float_format().is_none() => {
                format!("inside: {total} elements")
            }
            Verdict::Inside => format!(
                "inside: {total} elements, off by at most {:.3} ulp, bounds at most {:.3} ulp wide",
                self.max_ulps(),
                self.max_width()
            ),
            Verdict::Undecided => format!("undecided: {undecided} of {total} elements"),
            Verdict::Outside => format!("OUTSIDE: {outside} of {total} elements"),
        }
    }
}

/// The message of a `check.expect_within` that fails.
pub(crate) fn failed_check(output: &Output, doubts: &[DoubtAt], model: &str) -> String {
    let total: usize = output.counts.iter().sum();
    let [_, undecided, outside] = output.counts;
    let (count, verdict) = match output.verdict() {
        Verdict::Outside => (outside, "outside of the bounds"),
        Verdict::Inside | Verdict::Undecided => (undecided, "undecided by the bounds"),
    };
    let are = if count == 1 { "is" } else { "are" };
    let elements = counted(total as u64, "element");
    let mut text = format!("{count} of {elements} {are} {verdict} of the model {model}");
    if let Some(worst) = &output.worst {
        text += &format!("; the worst {}", worst.describe());
        if let Some(doubt) = worst.doubt.and_then(|index| doubts.get(index)) {
            text += &format!("; {}: {}: {}", place(&doubt.location), doubt.description, doubt.text);
        }
    }
    text
}

impl Judgement {
    /// The judgement as a JSON object.
    pub fn to_json(&self) -> String {
        let blames = |blames: &Blames| {
            json!({
                "compared": blames.compared,
                "isolated": blames.isolated.iter().map(blame).collect::<Vec<Json>>(),
                "accumulated": blames.accumulated.as_ref().map(blame),
            })
        };
        let licences = self.licences.iter();
        let licences = licences.map(|l| json!({ "licence": l.name, "outside": l.outside }));
        let value = json!({
            "verdict": self.verdict().name(),
            "model": self.model,
            "truth": { "bits": self.truth.bits, "unknown": self.truth.unknown },
            "outputs": self.outputs.iter().map(output).collect::<Vec<Json>>(),
            "doubts": self.doubts.iter().map(doubt).collect::<Vec<Json>>(),
            "licences": licences.collect::<Vec<Json>>(),
            "growth": self.growth.iter().map(growth).collect::<Vec<Json>>(),
            "estimates": self.estimates.iter().map(estimate).collect::<Vec<Json>>(),
            "blames": self.blames.as_ref().map(blames),
        });
        value.to_string()
    }

    /// The judgement as text for people: what is wrong, where and why, and nothing else.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, out: &mut String) -> std::fmt::Result {
        for output in &self.outputs {
            writeln!(out, "{}: {}", output.title(), output.describe())?;
            if let Some(worst) = output.worst.as_ref().filter(|w| w.verdict != Verdict::Inside) {
                writeln!(out, "  {}", worst.describe())?;
                if let Some(doubt) = worst.doubt.and_then(|index| self.doubts.get(index)) {
                    write!(out, "  {}: {}", place(&doubt.location), doubt.description)?;
                    writeln!(out, ": {}", doubt.text)?;
                    if let Some(example) = doubt.example() {
                        writeln!(out, "    {example}")?;
                    }
                }
            }
        }
        if self.truth.unknown > 0 {
            let (count, bits) = (counted(self.truth.unknown as u64, "true value"), self.truth.bits);
            writeln!(out, "{count} cannot be told to the last digit, with {bits} bits")?;
        } else if self.truth.bits > 106 {
            writeln!(out, "true values are computed with {} bits", self.truth.bits)?;
        }
        for output in self.outputs.iter().filter(|output| output.is_ill_conditioned()) {
            let (name, amplification) = (output.title(), output.amplification);
            writeln!(
                out,
                "{name}: ill-conditioned: errors of rounding are amplified {amplification:.2e} \
                 times"
            )?;
        }
        for Estimate { output, samples, elements, apart, spread_ulps } in &self.estimates {
            writeln!(
                out,
                "output {output}: estimated from {samples} runs with random rounding, which spread \
                 by {spread_ulps:.3e} ulp: {apart} of {elements} undecided elements are apart from \
                 them"
            )?;
        }
        for Growth { location, text, relative, factor } in &self.growth {
            writeln!(
                out,
                "{}: errors grow by {factor:.2e}, to {relative:.2e} of the result: {text}",
                place(location)
            )?;
        }
        if let Some(blames) = &self.blames {
            self.write_blames(blames, out)?;
        }
        for licence in &self.licences {
            match licence.outside {
                0 => writeln!(out, "explained by {}", licence.name)?,
                left => writeln!(out, "{left} elements are left outside with {}", licence.name)?,
            }
        }
        let verdict = match self.verdict() {
            Verdict::Inside => "all results are inside of the bounds",
            Verdict::Undecided => "it cannot be decided whether the results are right",
            Verdict::Outside => "there are results that rounding does not explain",
        };
        writeln!(out, "{verdict} (model {})", self.model)
    }

    fn write_blames(&self, blames: &Blames, out: &mut String) -> std::fmt::Result {
        let mut write = |what: &str, blame: &Blame| -> std::fmt::Result {
            writeln!(out, "{what}: {}: {}", place(&blame.location), blame.text)?;
            if blame.iteration > 0 {
                writeln!(out, "  in run {} of the op", blame.iteration + 1)?;
            }
            if let Some(worst) = &blame.result.worst {
                writeln!(out, "  {}", worst.describe())?;
            }
            if let Some(link) = specification(&blame.location) {
                writeln!(out, "  {link}")?;
            }
            Ok(())
        };
        if let Some(first) = blames.isolated.first() {
            write("the first op that is wrong for its actual operands", first)?;
        }
        if let Some(first) = &blames.accumulated {
            write("the first op whose result leaves the bounds", first)?;
        }
        let others = blames.isolated.len().saturating_sub(1);
        if others > 0 {
            let results = counted(others as u64, "more op result");
            let are = if others == 1 { "is" } else { "are" };
            writeln!(out, "{results} {are} wrong for the actual operands")?;
        }
        Ok(())
    }

    /// The judgement as a test suite of JUnit, a test case for each output.
    pub fn to_junit(&self, name: &str) -> String {
        let escape = |text: &str| {
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            // XML has no way to write other control characters.
            let is_written = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
            text.replace('"', "&quot;").chars().filter(is_written).collect::<String>()
        };
        let count = |verdict| self.outputs.iter().filter(|o| o.verdict() == verdict).count();
        let name = escape(name);
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{name}\" \
             tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
            self.outputs.len(),
            count(Verdict::Outside),
            count(Verdict::Undecided)
        );
        for output in &self.outputs {
            let case = escape(&output.title());
            let head = format!("  <testcase classname=\"{name}\" name=\"{case}\"");
            let message = escape(&output.describe());
            let worst = output.worst.as_ref().map(Element::describe).unwrap_or_default();
            let worst = escape(&worst);
            let body = match output.verdict() {
                Verdict::Inside => format!("{head}/>\n"),
                Verdict::Undecided => {
                    format!("{head}><skipped message=\"{message}\">{worst}</skipped></testcase>\n")
                }
                Verdict::Outside => {
                    format!("{head}><failure message=\"{message}\">{worst}</failure></testcase>\n")
                }
            };
            out.push_str(&body);
        }
        out.push_str("</testsuite>\n</testsuites>\n");
        out
    }

    /// The judgement in SARIF 2.1.0: a result for each op to blame, output that is outside, and
    /// doubt.
    pub fn to_sarif(&self, program: &str) -> String {
        let at = |location: Option<&Location>| {
            let source = location.and_then(|location| location.source.as_deref());
            let parts = source.and_then(|source| {
                let (rest, column) = source.rsplit_once(':')?;
                let (file, line) = rest.rsplit_once(':')?;
                Some((file, line.parse::<u32>().ok()?, column.parse::<u32>().ok()?))
            });
            let (file, line, column) = parts.unwrap_or((program, 1, 1));
            json!([{ "physicalLocation": {
                "artifactLocation": { "uri": file },
                "region": { "startLine": line.max(1), "startColumn": column.max(1) },
            }}])
        };
        let mut results = Vec::new();
        let mut add = |rule: &str, level: &str, text: String, location: Option<&Location>| {
            results.push(json!({
                "ruleId": rule, "level": level, "message": { "text": text },
                "locations": at(location),
            }));
        };
        for blame in self.blames.iter().flat_map(|blames| &blames.isolated) {
            let worst = blame.result.worst.as_ref().map(Element::describe).unwrap_or_default();
            let text = format!("{} is wrong for its operands: {worst}", blame.location.op);
            add("wrong-op", "error", text, Some(&blame.location));
        }
        for output in self.outputs.iter().filter(|o| o.verdict() == Verdict::Outside) {
            let worst = output.worst.as_ref().map(Element::describe).unwrap_or_default();
            let text = format!("{}: {}; {worst}", output.title(), output.describe());
            add("outside", "error", text, output.check.as_ref().map(|(location, _)| location));
        }
        for doubt in &self.doubts {
            let text = format!("{}: {}", doubt.description, doubt.text);
            add("doubt", "note", text, Some(&doubt.location));
        }
        let value = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": { "name": "stablo judge", "rules": [
                    { "id": "wrong-op" }, { "id": "outside" }, { "id": "doubt" },
                ]}},
                "results": results,
            }],
        });
        value.to_string()
    }
}
