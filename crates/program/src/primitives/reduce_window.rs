use super::{Blocks, Effects, Kind, Operation};
use crate::work::{BodyWork, Shapes, Work};
use crate::work::{positions, product};
use crate::{Body, Window};
use numerics::shape::StridedView;

/// Inputs reduced over each position of a window, from initial values.
#[derive(Clone, Debug, PartialEq)]
pub struct ReduceWindow {
    /// The window; `None` if given by operands: sizes, strides, base dilations, window
    /// dilations and padding, after the initial values.
    pub window: Option<Window>,
    /// Number of inputs.
    pub inputs: usize,
    /// Combines accumulators with values.
    pub body: Box<Body>,
}

impl Operation for ReduceWindow {
    fn kind(&self) -> Kind {
        Kind::Reduction
    }

    fn effects(&self) -> Effects {
        match self.window {
            Some(_) => Effects::None,
            None => Effects::MayFail,
        }
    }

    fn blocks(&self) -> Blocks {
        Blocks::from_slice(&[self.body.callee])
    }

    fn is_arithmetic(&self) -> bool {
        true
    }

    fn is_by_element(&self) -> bool {
        false
    }

    fn as_view(&self, _: &StridedView) -> Option<StridedView> {
        None
    }

    fn arithmetic(&self, shapes: &Shapes<'_>, body: BodyWork<'_>) -> Option<Work> {
        let positions = match &self.window {
            Some(window) => positions(window),
            None => shapes.operand(0).checked_div(shapes.result()).unwrap_or(0),
        };
        let combined = product([shapes.result(), positions.saturating_sub(1)]);
        Some(self.body.once(body).times(combined))
    }

    fn bytes(&self, shapes: &Shapes<'_>) -> u64 {
        shapes.all_bytes()
    }
}
