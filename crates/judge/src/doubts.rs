//! Reasons why a value cannot be judged.

use program::Origin;
use rustc_hash::FxHashMap;

/// The kind of a doubt.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A decision between values that rounding may exchange: a comparison, a conversion to
    /// integers.
    Decision,
    /// The order of elements that rounding may exchange.
    Order,
    /// A branch or loop that depends on a decision in doubt.
    Control,
    /// A reduction whose result depends on the order of its steps, of which not all are tried.
    Reduction,
    /// The judge has no rule for the op.
    NoRule,
}

impl Kind {
    /// The name in reports.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Kind::Decision => "decision",
            Kind::Order => "order",
            Kind::Control => "control",
            Kind::Reduction => "reduction",
            Kind::NoRule => "no_rule",
        }
    }

    /// A sentence for people.
    pub(crate) fn description(&self) -> &'static str {
        match self {
            Kind::Decision => "rounding can flip this decision",
            Kind::Order => "rounding can change this order",
            Kind::Control => "rounding can change the path of the program",
            Kind::Reduction => "the order of this reduction can change its result",
            Kind::NoRule => "the judge has no rule for this op",
        }
    }
}

/// A reason, and where it arose.
#[derive(Clone, Debug)]
pub(crate) struct Doubt {
    /// The op.
    pub origin: Origin,
    /// The reason.
    pub kind: Kind,
    /// The number of elements that it arose at.
    pub elements: usize,
    /// The least distance from the flip, in units in the last place; `None` if there is no such
    /// distance.
    pub distance: Option<f64>,
    /// An example, such as the operands of a comparison.
    pub example: String,
}

/// All doubts of a run. An element depends on at most one, the first that is found; it is referred
/// to by a code, which is odd if the true value is in doubt, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doubts {
    list: Vec<Doubt>,
    known: FxHashMap<(Origin, Kind), usize>,
}

impl Doubts {
    /// The code of a doubt about one more element.
    pub(crate) fn code(
        &mut self,
        origin: Origin,
        kind: Kind,
        is_truth: bool,
        distance: Option<f64>,
        example: impl FnOnce() -> String,
    ) -> u32 {
        let index = *self.known.entry((origin, kind.clone())).or_insert_with(|| {
            self.list.push(Doubt { origin, kind, elements: 0, distance, example: example() });
            self.list.len() - 1
        });
        let own = &mut self.list[index];
        own.elements += 1;
        if let Some(distance) = distance
            && own.distance.is_none_or(|known| distance < known)
        {
            own.distance = Some(distance);
        }
        (index as u32 + 1) << 1 | u32::from(is_truth)
    }

    /// The position of the doubt of a code in [`Doubts::all`].
    pub(crate) fn index_of(&self, code: u32) -> Option<usize> {
        (code >> 1).checked_sub(1).map(|index| index as usize)
    }

    /// All doubts, in the order in which they arose.
    pub(crate) fn all(&self) -> &[Doubt] {
        &self.list
    }
}
