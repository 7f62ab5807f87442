//! Judgements on the page of a program: errors by op, and maps of the errors of elements.

use crate::judgement::Judgement;
use crate::report::number;
use crate::verdict::{Output, Verdict};
use analysis::view::View;
use serde_json::{Value as Json, json};

/// A map has at most this many rows and columns.
const MAX_CELLS: usize = 64;

impl Judgement {
    /// The view of the judged program with the errors of its ops, and of the elements of its
    /// results.
    pub fn shown_in(&self, view: View) -> View {
        let judgement = json!({
            "verdict": self.verdict().name(),
            "model": self.model,
            "report": self.to_text(),
            "outputs": self.outputs.iter().map(Output::map).collect::<Vec<Json>>(),
        });
        let errors = self.ops.iter().map(|own| {
            let error = json!({
                "ulps": own.ulps.map(number),
                "width": own.width.map(number),
                "verdict": own.verdict.map(Verdict::name),
            });
            (own.op, error)
        });
        view.judged(judgement, errors)
    }
}

impl Output {
    /// The map of the errors of the elements: rows are along the last dimension. Cells of large
    /// outputs are the worst of several elements.
    fn map(&self) -> Json {
        let columns = self.shape.last().copied().unwrap_or(1);
        let rows = self.ulps.len().checked_div(columns).unwrap_or(0);
        let (height, width) = (rows.div_ceil(MAX_CELLS).max(1), columns.div_ceil(MAX_CELLS).max(1));
        let cells = (rows.div_ceil(height), columns.div_ceil(width));
        let mut ulps = vec![0.0f64; cells.0 * cells.1];
        let mut verdicts = vec![Verdict::Inside; ulps.len()];
        for (i, (&error, &verdict)) in self.ulps.iter().zip(&self.verdicts).enumerate() {
            let at = (i / columns / height) * cells.1 + i % columns / width;
            // An undecided element has an infinite error.
            let error = if error.is_nan() { f64::INFINITY } else { error };
            ulps[at] = ulps[at].max(error);
            verdicts[at] = verdicts[at].max(verdict);
        }
        let states: String = verdicts.iter().filter_map(|v| v.name().chars().next()).collect();
        json!({
            "name": self.title(),
            "shape": self.shape,
            "verdict": self.verdict().name(),
            "rows": cells.0,
            "columns": cells.1,
            "ulps": ulps.into_iter().map(number).collect::<Vec<Json>>(),
            "states": states,
        })
    }
}
