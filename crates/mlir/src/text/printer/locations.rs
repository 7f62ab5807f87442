//! Locations.

use super::Printer;
use crate::attrs::{AttrKind, Attribute, LocationKind};

impl Printer<'_> {
    /// Writes the ` loc(…)` of an op if locations are printed.
    pub(super) fn op_location(&mut self, location: impl FnOnce() -> Attribute) {
        self.trailing_location(location, true);
    }

    /// Writes the ` loc(…)` of a block argument if locations are printed: always in full.
    pub(super) fn argument_location(&mut self, location: impl FnOnce() -> Attribute) {
        self.trailing_location(location, false);
    }

    fn trailing_location(&mut self, location: impl FnOnce() -> Attribute, by_alias: bool) {
        if self.options.debug_info {
            let location = location();
            if let Some(collector) = &mut self.collector {
                // Only the locations of ops may be defined at the end of the text.
                collector.attribute(&location, by_alias);
                return;
            }
            self.write(" ");
            self.location(&location, by_alias);
        }
    }

    /// Writes `loc(…)`, as an alias if it has one and that is allowed; in the pretty form always in
    /// full, without `loc`.
    pub(super) fn location(&mut self, location: &Attribute, by_alias: bool) {
        if self.options.pretty_debug_info {
            return self.location_body(location);
        }
        self.write("loc(");
        if !(by_alias && self.alias(location)) {
            self.location_body(location);
        }
        self.write(")");
    }

    fn inner_location(&mut self, location: &Attribute) {
        if !self.alias(location) {
            self.location_body(location);
        }
    }

    fn location_body(&mut self, location: &Attribute) {
        let AttrKind::Location(kind) = &**location else { return self.attribute(location) };
        if !self.may_write() {
            return;
        }
        let pretty = self.options.pretty_debug_info;
        match kind {
            LocationKind::Unknown => self.write(if pretty { "[unknown]" } else { "unknown" }),
            LocationKind::File { file, start, end } => {
                if pretty {
                    self.write(file)
                } else {
                    self.string(file.as_bytes())
                }
                self.write(":");
                self.number(start.0);
                self.write(":");
                self.number(start.1);
                if start != end {
                    self.write(" to ");
                    if start.0 != end.0 {
                        self.number(end.0);
                    }
                    self.write(":");
                    self.number(end.1);
                }
            }
            LocationKind::Named { name, child } => {
                self.string(name.as_bytes());
                if !matches!(child.as_location(), Some(LocationKind::Unknown)) {
                    self.write("(");
                    self.inner_location(child);
                    self.write(")");
                }
            }
            LocationKind::CallSite { callee, caller } => {
                if pretty {
                    let named = matches!(callee.as_location(), Some(LocationKind::Named { .. }));
                    let in_file = matches!(caller.as_location(), Some(LocationKind::File { .. }));
                    self.inner_location(callee);
                    self.write(if named && in_file { " at " } else { "\n at " });
                    return self.inner_location(caller);
                }
                self.write("callsite(");
                self.inner_location(callee);
                self.write(" at ");
                self.inner_location(caller);
                self.write(")");
            }
            LocationKind::Fused { metadata, locations } => {
                if !pretty {
                    self.write("fused");
                }
                if let Some(metadata) = metadata {
                    self.write("<");
                    self.attribute(metadata);
                    self.write(">");
                }
                self.write("[");
                self.separated(", ", locations, |p, l| p.inner_location(l));
                self.write("]");
            }
        }
    }
}
