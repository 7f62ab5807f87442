//! The parameters of the op or call around the cursor.

use crate::expected::Statement;
use crate::file::File;
use stablo::ir::{Arity, Trait, Type};

/// The parameters of an op or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// All of it on one line.
    pub label: String,
    /// The parameters: ranges of bytes in the label, each with a text about it.
    pub parameters: Vec<(std::ops::Range<u32>, String)>,
    /// Index of the parameter at the cursor.
    pub active: usize,
    /// A text about the op.
    pub doc: String,
}

impl File {
    /// The parameters of the op or call at byte `at`.
    pub fn signature(&self, at: u32) -> Option<Signature> {
        let (analysis, _, here) = self.local_analysis_at(at);
        let statement = Statement::at(&analysis, here)?;
        let def = statement.def;
        let mut label = String::new();
        let mut parameters = Vec::new();
        let mut add = |label: &mut String, text: String, doc: String| {
            if !label.ends_with(['(', ' ']) {
                label.push_str(", ");
            }
            let from = label.len() as u32;
            label.push_str(&text);
            parameters.push((from..label.len() as u32, doc));
        };
        let callee = statement.symbol().filter(|_| def.has_trait(&Trait::Call("callee")));
        let callee = callee.and_then(|name| analysis.module.top().lookup_symbol(name));
        let function = callee.and_then(|op| op.attr("function_type")?.as_type());
        match function.and_then(|ty| ty.as_function()) {
            Some((inputs, results)) => {
                label.push_str(&format!("@{}(", statement.symbol().unwrap_or_default()));
                for (index, ty) in inputs.iter().enumerate() {
                    add(&mut label, ty.to_string(), format!("argument {index}"));
                }
                let results: Vec<String> = results.iter().map(Type::to_string).collect();
                label.push_str(&format!(") -> ({})", results.join(", ")));
            }
            None => {
                label.push_str(def.name);
                label.push(' ');
                for slot in def.operands {
                    let text = match slot.arity {
                        Arity::Single => format!("%{}", slot.name),
                        Arity::Optional => format!("[%{}]", slot.name),
                        Arity::Variadic => format!("%{}…", slot.name),
                    };
                    add(&mut label, text, slot.constraint.summary.to_string());
                }
                for slot in def.attributes.iter().filter(|s| !s.name.ends_with("egmentSizes")) {
                    add(&mut label, slot.name.to_string(), crate::hover::summary(slot));
                }
                let results: Vec<&str> = def.results.iter().map(|slot| slot.name).collect();
                if !results.is_empty() {
                    label.push_str(&format!(" -> {}", results.join(", ")));
                }
            }
        }
        let doc = def.doc.trim().lines().next().unwrap_or_default().to_string();
        let active = statement.argument().min(parameters.len().saturating_sub(1));
        Some(Signature { label, parameters, active, doc })
    }
}
