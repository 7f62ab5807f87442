//! Graphs as text.

use crate::graph::{Graph, Node, Region, Value};
use program::Origin;
use std::fmt::{self, Write};

/// A graph, one node a line; `name` gives the names of ops.
pub(crate) fn graph(graph: &Graph<'_>, function: &str, name: &dyn Fn(Origin) -> String) -> String {
    let mut printer = GraphPrinter { graph, name, text: String::new(), indent: 0 };
    // Writing to a string does not fail.
    let _ = printer.function(function);
    printer.text
}

struct GraphPrinter<'a> {
    graph: &'a Graph<'a>,
    name: &'a dyn Fn(Origin) -> String,
    text: String,
    indent: usize,
}

impl GraphPrinter<'_> {
    fn function(&mut self, function: &str) -> fmt::Result {
        let body = &self.graph.body;
        let typed = |&value: &Value| format!("%{value}: {}", self.ty(value));
        let arguments: Vec<String> = body.arguments.iter().map(typed).collect();
        let opening = format!("@{function}({}) {{", arguments.join(", "));
        self.line(&opening)?;
        self.region(body)?;
        self.line("}")
    }

    fn region(&mut self, region: &Region) -> fmt::Result {
        self.indent += 1;
        for node in &region.nodes {
            self.node(region, node)?;
        }
        let results = self.values(&region.results);
        self.line(&format!("return {results}"))?;
        self.indent -= 1;
        Ok(())
    }

    fn node(&mut self, region: &Region, node: &Node) -> fmt::Result {
        let results: Vec<String> = node.results.iter().map(|value| format!("%{value}")).collect();
        let types: Vec<String> = node.results.iter().map(|&value| self.ty(value)).collect();
        let captures = node.captures.iter().map(|&(_, value)| value);
        let operands: Vec<Value> = node.operands.iter().copied().chain(captures).collect();
        let mut line = (self.name)(node.origin);
        if !results.is_empty() {
            line = format!("{} = {line}", results.join(", "));
        }
        if !operands.is_empty() {
            line = format!("{line} {}", self.values(&operands));
        }
        line = format!("{line} : {}", types.join(", "));
        if let Some(root) = node.group.and_then(|root| region.nodes.get(root)) {
            line = format!("{line} in group {}", self.values(&root.results));
        }
        let [first, rest @ ..] = &node.regions[..] else { return self.line(&line) };
        self.line(&format!("{line} {{"))?;
        self.region(first)?;
        for region in rest {
            self.line("}, {")?;
            self.region(region)?;
        }
        self.line("}")
    }

    fn values(&self, values: &[Value]) -> String {
        let shown = values.iter().map(|&value| match self.graph.constants.contains_key(&value) {
            true => format!("constant {}", self.ty(value)),
            false => format!("%{value}"),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    fn ty(&self, value: Value) -> String {
        self.graph.types[value as usize].to_string()
    }

    fn line(&mut self, line: &str) -> fmt::Result {
        writeln!(self.text, "{:width$}{line}", "", width = 2 * self.indent)
    }
}
