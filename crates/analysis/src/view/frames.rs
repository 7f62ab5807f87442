//! Call stacks that exporters record in locations.

use super::Texts;
use mlir::Attribute;
use mlir::attrs::LocationKind;
use rustc_hash::FxHashMap;

/// The most parts of a location that are looked at.
const MAX_PARTS: usize = 256;

/// Distinct frames of call stacks, each after the frame that called it.
#[derive(Default)]
pub(super) struct Frames {
    /// For each, the positions of its function's name, of the place in it, and of its caller.
    pub frames: Vec<(usize, usize, Option<usize>)>,
    /// Names of functions.
    pub callers: Texts,
    positions: FxHashMap<(usize, usize, Option<usize>), usize>,
}

impl Frames {
    /// The position of the innermost frame of a location. `None` if it has no named function.
    pub(crate) fn position(&mut self, location: &Attribute, sources: &mut Texts) -> Option<usize> {
        let mut caller = None;
        for (function, place) in stack(location).into_iter().rev() {
            let frame = (self.callers.position(function), sources.position(&place), caller);
            let next = self.frames.len();
            let position = *self.positions.entry(frame).or_insert(next);
            if position == next {
                self.frames.push(frame);
            }
            caller = Some(position);
        }
        caller
    }
}

/// Names of functions and the places in them, innermost first: names whose child is a place in a
/// file, but for the name of the op itself, which is around all.
fn stack(location: &Attribute) -> Vec<(&str, String)> {
    let mut stack = Vec::new();
    let mut parts = match location.as_location() {
        Some(LocationKind::Named { child, .. }) => vec![child],
        _ => vec![location],
    };
    for _ in 0..MAX_PARTS {
        let Some(part) = parts.pop() else { break };
        match part.as_location() {
            Some(LocationKind::CallSite { callee, caller }) => parts.extend([caller, callee]),
            Some(LocationKind::Named { name, child }) => match child.as_location() {
                Some(LocationKind::File { file, start: (line, column), .. }) => {
                    stack.push((&**name, format!("{file}:{line}:{column}")));
                }
                _ => parts.push(child),
            },
            Some(LocationKind::Fused { locations, .. }) => parts.extend(locations.first()),
            Some(LocationKind::File { .. } | LocationKind::Unknown) | None => {}
        }
    }
    stack
}
