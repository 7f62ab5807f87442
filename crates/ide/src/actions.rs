//! Refactorings of a selection: edits that keep what the program computes.

use crate::analysis::Analysis;
use crate::file::{Edit, File, moved};
use crate::names::{is_result_number, symbol_name};
use rustc_hash::FxHashMap;
use stablo::Span;
use stablo::dialects::func::{CallOp, FuncOp};
use stablo::ir::{Trait, Type};
use stablo::syntax::{Token, TokenKind};
use std::fmt::Write as _;
use std::sync::Arc;

/// A refactoring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Title, in the imperative.
    pub title: String,
    /// Kind.
    pub kind: ActionKind,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
    /// The text of a new file beside this one.
    pub file: Option<String>,
}

/// Kind of a refactoring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// Moves ops into a function.
    Extract,
    /// Replaces a call by the ops of its function.
    Inline,
    /// Writes the same in another way.
    Rewrite,
    /// Mends all findings.
    FixAll,
}

impl File {
    /// The refactorings of the ops in a range.
    pub fn actions(&self, range: Span) -> Vec<Action> {
        let section = self.section(range.start);
        let analysis = self.analysis(section);
        let start = section.start;
        let from = self.within(section, range.start);
        let within = Span { start: from, end: self.within(section, range.end).max(from) };
        let mut actions = Vec::new();
        if let Some(selected) = Selected::new(&analysis, within) {
            // The place of a cursor selects nothing.
            if !range.is_empty() {
                actions.extend(selected.extract());
                actions.extend(selected.program(self.allows_unregistered()).map(|text| Action {
                    title: "Make a program of these ops in a new file".to_string(),
                    kind: ActionKind::Extract,
                    edits: Vec::new(),
                    file: Some(text),
                }));
            }
        }
        actions.extend(analysis.inline(within.start));
        // Some ops are valid with others only, such as the halves of asynchronous ones.
        if analysis.is_valid() {
            actions.retain(|action| self.is_valid_after(&analysis, action));
        }
        actions.extend(analysis.rewrites());
        actions.extend(analysis.sizes(within.start));
        for edit in actions.iter_mut().flat_map(|action| &mut action.edits) {
            edit.span = moved(edit.span, start);
        }
        actions
    }

    /// True if a program is valid after an action. In large programs, actions that edit them are
    /// not checked.
    fn is_valid_after(&self, analysis: &Analysis, action: &Action) -> bool {
        let text = match &action.file {
            Some(text) => text.clone(),
            None if self.is_large() => return true,
            None => {
                let whole = Span { start: 0, end: analysis.text().len() as u32 };
                analysis.edited(whole, &action.edits)
            }
        };
        self.analyse(Arc::new(text)).is_valid()
    }

    /// The ops in a range, or the one at it, as a program: what they use are its arguments, what is
    /// used of them its results.
    pub fn reproducer(&self, range: Span) -> Option<String> {
        let section = self.section(range.start);
        let analysis = self.analysis(section);
        let from = self.within(section, range.start);
        let within = Span { start: from, end: self.within(section, range.end).max(from) };
        Selected::new(&analysis, within)?.program(self.allows_unregistered())
    }
}

/// Ops of one block that follow each other, with the values that go in and out.
struct Selected<'a> {
    analysis: &'a Analysis,
    /// From the first to the last of them.
    span: Span,
    /// Index of the extent of the function around them.
    function: usize,
    /// Values that are used and defined before, by their text: `%x` or `%x#1`.
    inputs: Vec<(String, Type)>,
    /// Values that are defined and used later: name, and types of all it stands for.
    outputs: Vec<(String, Vec<Type>)>,
}

impl<'a> Selected<'a> {
    /// The ops that a range touches; `None` if they are not in one function, or one of them ends
    /// its block or could not be read.
    fn new(analysis: &'a Analysis, range: Span) -> Option<Selected<'a>> {
        let text = analysis.slice(range);
        let lead = text.len() - text.trim_start().len();
        let first = range.start + lead as u32;
        let last = (range.start + text.trim_end().len() as u32).max(first);
        let mut first = analysis.op_index_at(first)?;
        let mut last = analysis.op_index_at(last)?;
        // Up to one block.
        while analysis.map.ops[first].scope != analysis.map.ops[last].scope {
            let (a, b) = (analysis.map.ops[first].span, analysis.map.ops[last].span);
            if a.end - a.start <= b.end - b.start {
                first = analysis.parent(first)?;
            } else {
                last = analysis.parent(last)?;
            }
        }
        let scope = analysis.map.ops[first].scope;
        let (start, end) = (analysis.map.ops[first].span.start, analysis.map.ops[last].span.end);
        let span = Span { start, end: end.max(analysis.map.ops[first].span.end) };
        let function = analysis.function_around(first)?;
        let chosen = analysis.map.ops[first..].iter();
        for extent in chosen.take_while(|op| op.span.start < span.end) {
            let op = analysis.op(extent)?;
            if extent.scope == scope && op.has_trait(&Trait::Terminator) {
                return None;
            }
        }
        let mut selected =
            Selected { analysis, span, function, inputs: Vec::new(), outputs: Vec::new() };
        selected.find_inputs()?;
        selected.find_outputs(scope);
        Some(selected)
    }

    /// The tokens of the ops.
    fn tokens(&self) -> impl Iterator<Item = (usize, &'a Token)> + use<'a> {
        let span = self.span;
        let from = self.analysis.token_index(span.start);
        let tokens = self.analysis.tokens().iter().enumerate().skip(from);
        tokens.take_while(move |(_, token)| token.span.start < span.end)
    }

    /// The number of a result after the name at a token.
    fn number(&self, index: usize) -> Option<usize> {
        let tokens = self.analysis.tokens();
        let next = tokens.get(index + 1).filter(|next| is_result_number(&tokens[index], next))?;
        self.analysis.slice(next.span)[1..].parse().ok()
    }

    fn find_inputs(&mut self) -> Option<()> {
        let analysis = self.analysis;
        for (index, token) in self.tokens() {
            if token.kind != TokenKind::Percent || analysis.definition_at(token.span).is_some() {
                continue;
            }
            let scope = analysis.scope_at(token.span.start)?;
            let definition = analysis.resolve(analysis.slice(token.span), scope)?;
            let name = analysis.map.definitions[definition].name;
            if self.span.start <= name.start && name.end <= self.span.end {
                continue;
            }
            let number = self.number(index);
            let value = *analysis.values(definition).get(number.unwrap_or_default())?;
            let number = number.map_or(String::new(), |number| format!("#{number}"));
            let text = format!("{}{number}", analysis.slice(token.span));
            if self.inputs.iter().all(|(known, _)| *known != text) {
                self.inputs.push((text, analysis.module.ty(value).clone()));
            }
        }
        Some(())
    }

    fn find_outputs(&mut self, scope: u32) {
        let analysis = self.analysis;
        for (index, definition) in analysis.map.definitions.iter().enumerate() {
            let name = definition.name;
            let is_inside = self.span.start <= name.start && name.end <= self.span.end;
            if !is_inside || definition.scope != scope {
                continue;
            }
            let references = analysis.references(&crate::names::Target::Value(index));
            if references.iter().any(|r| r.name.start >= self.span.end) {
                let types = analysis.values(index).into_iter();
                let types = types.map(|value| analysis.module.ty(value).clone()).collect();
                self.outputs.push((analysis.slice(name).to_string(), types));
            }
        }
        self.outputs.sort_by_key(|(name, _)| analysis.slice(self.span).find(&**name));
    }

    /// The parameters of a function of the ops, and their text with names of these. A result of
    /// several, such as `%x#1`, becomes `%x_1`.
    fn parameters_and_body(&self, indent: &str) -> (String, String) {
        let mut parameters: Vec<String> = Vec::new();
        for (name, ty) in &self.inputs {
            parameters.push(format!("{}: {ty}", unnumbered(name)));
        }
        let mut edits = Vec::new();
        for (index, token) in self.tokens() {
            let text = self.analysis.slice(token.span);
            let number = self.number(index).map(|number| format!("{text}#{number}"));
            let input = number.filter(|name| self.inputs.iter().any(|(input, _)| input == name));
            if let Some(name) = input {
                let end = token.span.start + name.len() as u32;
                let span = Span { start: token.span.start, end };
                edits.push(Edit::replace(span, unnumbered(&name)));
            }
            // Names without a dialect mean other ops in other regions.
            if text == "call" && self.analysis.op_named_at(token.span).is_some() {
                edits.push(Edit::replace(token.span, "func.call"));
            }
        }
        let body = self.analysis.edited(self.span, &edits);
        (parameters.join(", "), reindented(&body, self.analysis.indent(self.span.start), indent))
    }

    /// The names and types of the results, for `return`.
    fn results(&self) -> (Vec<String>, Vec<String>) {
        let mut names = Vec::new();
        let mut types = Vec::new();
        for (name, of) in &self.outputs {
            for (number, ty) in of.iter().enumerate() {
                names.push(if of.len() == 1 { name.clone() } else { format!("{name}#{number}") });
                types.push(ty.to_string());
            }
        }
        (names, types)
    }

    /// A function of the ops.
    fn function(&self, head: &str, indent: &str) -> String {
        let inner = format!("{indent}  ");
        let (parameters, body) = self.parameters_and_body(&inner);
        let (names, types) = self.results();
        let mut text = format!("{indent}func.func {head}({parameters})");
        match &types[..] {
            [] => {}
            [only] => drop(write!(text, " -> {only}")),
            types => drop(write!(text, " -> ({})", types.join(", "))),
        }
        let _ = write!(text, " {{\n{inner}{body}\n{inner}return");
        if !names.is_empty() {
            let _ = write!(text, " {} : {}", names.join(", "), types.join(", "));
        }
        let _ = write!(text, "\n{indent}}}\n");
        text
    }

    /// Moves the ops into a new function after the one around them.
    fn extract(&self) -> Option<Action> {
        let analysis = self.analysis;
        let name = analysis.free_symbol("extracted");
        let around = analysis.map.ops[self.function].span;
        let indent = " ".repeat(analysis.indent(around.start));
        let function = self.function(&format!("private @{name}"), &indent);
        let operands: Vec<&str> = self.inputs.iter().map(|(name, _)| &**name).collect();
        let types: Vec<String> = self.inputs.iter().map(|(_, ty)| ty.to_string()).collect();
        let (_, results) = self.results();
        let mut call = String::new();
        let named = |(name, types): &(String, Vec<Type>)| match types.len() {
            1 => name.clone(),
            count => format!("{name}:{count}"),
        };
        let named: Vec<String> = self.outputs.iter().map(named).collect();
        if !named.is_empty() {
            let _ = write!(call, "{} = ", named.join(", "));
        }
        let result = match &results[..] {
            [only] => only.clone(),
            results => format!("({})", results.join(", ")),
        };
        let _ = write!(
            call,
            "func.call @{name}({}) : ({}) -> {result}",
            operands.join(", "),
            types.join(", ")
        );
        Some(Action {
            title: "Extract into a function".to_string(),
            kind: ActionKind::Extract,
            edits: vec![
                Edit::replace(self.span, call),
                Edit::insert(around.end, format!("\n{}", function.trim_end())),
            ],
            file: None,
        })
    }

    /// A program of the ops, with the functions and aliases that they need.
    fn program(&self, allow_unregistered: bool) -> Option<String> {
        let analysis = self.analysis;
        let mut text = self.function("@main", "");
        let mut wanted: Vec<Span> = vec![self.span];
        let mut taken: Vec<usize> = Vec::new();
        let mut aliases: Vec<&str> = Vec::new();
        while let Some(span) = wanted.pop() {
            let from = analysis.token_index(span.start);
            let tokens = analysis.tokens()[from..].iter();
            for token in tokens.take_while(|token| token.span.start < span.end) {
                let name = analysis.slice(token.span);
                match token.kind {
                    TokenKind::Symbol => {
                        let is_it =
                            |s: &crate::names::SymbolDefinition| s.name == symbol_name(name);
                        let found = analysis.symbols().iter().find(|symbol| is_it(symbol));
                        if let Some(symbol) = found.filter(|symbol| !taken.contains(&symbol.op)) {
                            taken.push(symbol.op);
                            let whole = analysis.map.ops[symbol.op].span;
                            if symbol.op == self.function {
                                return None;
                            }
                            wanted.push(whole);
                            let indent = analysis.indent(whole.start);
                            let _ =
                                writeln!(text, "{}", reindented(analysis.slice(whole), indent, ""));
                        }
                    }
                    TokenKind::Hash | TokenKind::Exclaim => {
                        let Some(definition) = analysis.alias_definition(name) else { continue };
                        let line = analysis.text()[definition.start as usize..].lines().next()?;
                        if !aliases.contains(&line) {
                            aliases.push(line);
                            let end = definition.start + line.len() as u32;
                            wanted.push(Span { start: definition.end, end });
                        }
                    }
                    _ => {}
                }
            }
        }
        // An alias stands before its uses.
        aliases.reverse();
        let aliases: String = aliases.iter().map(|line| format!("{line}\n")).collect();
        // The comment by which this file allows them.
        let head = match allow_unregistered {
            true => "// RUN: stablehlo-opt -allow-unregistered-dialect %s\n",
            false => "",
        };
        Some(format!("{head}{aliases}{text}"))
    }
}

impl Analysis {
    /// Index of the extent of the function around an op.
    fn function_around(&self, op: usize) -> Option<usize> {
        let mut around = self.parent(op);
        while let Some(index) = around {
            let is_function = |op: stablo::ir::OpRef<'_>| op.is(FuncOp::DEF);
            if self.op(&self.map.ops[index]).is_some_and(is_function) {
                return Some(index);
            }
            around = self.parent(index);
        }
        None
    }

    /// The number of spaces before a place in its line, if nothing else is there.
    fn indent(&self, at: u32) -> usize {
        let line = self.text()[..at as usize].rsplit('\n').next().unwrap_or_default();
        line.len() - line.trim_start_matches(' ').len()
    }

    /// A symbol that is not taken.
    fn free_symbol(&self, stem: &str) -> String {
        let is_taken = |name: &str| self.symbols().iter().any(|symbol| symbol.name == name);
        let numbered = (0..).map(|number| format!("{stem}_{number}"));
        let mut names = std::iter::once(stem.to_string()).chain(numbered);
        names.find(|name| !is_taken(name)).unwrap_or_default()
    }

    /// A part of the text after edits within it.
    fn edited(&self, span: Span, edits: &[Edit]) -> String {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|edit| edit.span.start);
        let mut text = String::new();
        let mut at = span.start;
        for edit in edits {
            text.push_str(self.slice(Span { start: at, end: edit.span.start }));
            text.push_str(&edit.text);
            at = edit.span.end;
        }
        text.push_str(self.slice(Span { start: at, end: span.end }));
        text
    }

    /// Replaces the call at a place by the body of its function.
    fn inline(&self, at: u32) -> Option<Action> {
        let index = self.op_index_at(at)?;
        let extent = &self.map.ops[index];
        let call = self.op(extent)?;
        if !call.is(CallOp::DEF) || !self.is_valid() {
            return None;
        }
        let callee = call.attr("callee")?.as_flat_symbol()?;
        let symbol = self.symbols().iter().find(|symbol| *symbol.name == **callee)?;
        let function = self.op(&self.map.ops[symbol.op])?;
        if !function.is(FuncOp::DEF) || self.function_around(index) == Some(symbol.op) {
            return None;
        }
        let [block] = self.module.blocks(*function.regions().first()?) else { return None };
        let terminator = self.module.terminator(*block)?;
        let body: Vec<usize> = (symbol.op + 1..self.map.ops.len())
            .take_while(|&op| self.map.ops[op].span.start < self.map.ops[symbol.op].span.end)
            .collect();
        let is_end = |op: &&usize| self.map.ops[**op].op == Some(terminator.id());
        let end = *body.iter().find(is_end)?;
        // The text of each operand of the call replaces that of an argument.
        let operands = self.operand_texts(extent.span);
        let arguments = self.module.arguments(*block);
        if operands.len() != arguments.len() {
            return None;
        }
        let mut names: FxHashMap<&str, String> = FxHashMap::default();
        let scope = extent.scope;
        let mut taken: Vec<String> = Vec::new();
        for definition in &self.map.definitions {
            let name = self.slice(definition.name);
            let is_inside = |op: &usize| {
                let span = self.map.ops[*op].span;
                span.start <= definition.name.start && definition.name.end <= span.end
            };
            if let stablo::syntax::Defined::Argument(value) = definition.values
                && let Some(position) = arguments.iter().position(|&argument| argument == value)
            {
                names.insert(name, operands[position].clone());
            } else if body.iter().any(is_inside) && !names.contains_key(name) {
                let is_free = |name: &str| {
                    !taken.iter().any(|other| other == name) && !self.is_named_in(name, scope)
                };
                let numbered = (0..).map(|number| unnumbered(&format!("{name}#{number}")));
                let mut candidates = std::iter::once(name.to_string()).chain(numbered);
                let new = candidates.find(|name| is_free(name))?;
                taken.push(new.clone());
                names.insert(name, new);
            }
        }
        let renamed = |span: Span| {
            let from = self.token_index(span.start);
            let tokens = self.tokens()[from..].iter();
            let mut edits = Vec::new();
            for token in tokens.take_while(|token| token.span.start < span.end) {
                let text = self.slice(token.span);
                if token.kind == TokenKind::Percent
                    && let Some(new) = names.get(text)
                {
                    edits.push(Edit::replace(token.span, new.clone()));
                } else if text == "call" && self.op_named_at(token.span).is_some() {
                    edits.push(Edit::replace(token.span, "func.call"));
                }
            }
            self.edited(span, &edits)
        };
        let returned = self.operand_texts(self.map.ops[end].span);
        let returned: Vec<String> = returned
            .iter()
            .map(|text| {
                let (name, number) = text.split_once('#').unwrap_or((text, ""));
                let new = names.get(name).map_or(name, |new| new);
                if number.is_empty() { new.to_string() } else { format!("{new}#{number}") }
            })
            .collect();
        let mut edits = Vec::new();
        let inner = body.first().filter(|&&first| first != end);
        let first = inner.map(|&first| self.map.ops[first].span.start);
        match first {
            Some(first) => {
                let last = self.text()[..self.map.ops[end].span.start as usize].trim_end().len();
                let text = renamed(Span { start: first, end: last as u32 });
                let to = " ".repeat(self.indent(extent.span.start));
                let text = reindented(&text, self.indent(first), &to);
                edits.push(Edit::replace(extent.span, text));
            }
            None => edits.push(Edit::remove(self.with_line(extent.span))),
        }
        edits.extend(self.replaced_results(extent.span, &returned)?);
        Some(Action {
            title: format!("Inline this call of @{callee}"),
            kind: ActionKind::Inline,
            edits,
            file: None,
        })
    }

    /// The edits that replace uses of the results of the op at a span by other values.
    fn replaced_results(&self, op: Span, values: &[String]) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        let mut first = 0;
        let named = self.map.definitions.iter().enumerate();
        let mut named: Vec<_> = named
            .filter(|(_, d)| op.start <= d.name.start && d.name.end <= op.end)
            .map(|(index, d)| (d.name, index))
            .collect();
        named.sort_by_key(|(name, _)| name.start);
        for (name, index) in named {
            let count = self.values(index).len();
            for reference in self.references(&crate::names::Target::Value(index)) {
                if reference.name == name {
                    continue;
                }
                let token = self.token_index(reference.name.start);
                let tokens = self.tokens();
                let next = tokens.get(token + 1);
                let next = next.filter(|next| is_result_number(&tokens[token], next));
                let number = next.and_then(|n| self.slice(n.span)[1..].parse::<usize>().ok());
                let end = next.map_or(reference.name.end, |next| next.span.end);
                let value = values.get(first + number.unwrap_or_default())?;
                edits.push(Edit::replace(Span { start: reference.name.start, end }, value.clone()));
            }
            first += count;
        }
        Some(edits)
    }

    /// The operands of the op at a span as they are written, regions aside.
    fn operand_texts(&self, op: Span) -> Vec<String> {
        let tokens = self.tokens();
        let mut texts = Vec::new();
        for (index, token) in tokens.iter().enumerate().skip(self.token_index(op.start)) {
            if token.span.start >= op.end {
                break;
            }
            if token.kind != TokenKind::Percent || self.definition_at(token.span).is_some() {
                continue;
            }
            let next = tokens.get(index + 1).filter(|next| is_result_number(token, next));
            let end = next.map_or(token.span.end, |next| next.span.end);
            texts.push(self.slice(Span { start: token.span.start, end }).to_string());
        }
        texts
    }

    /// True if a name is visible in a scope or defined within its isolated region.
    fn is_named_in(&self, name: &str, scope: u32) -> bool {
        let within = self.isolated_around(scope);
        self.map.definitions.iter().any(|definition| {
            within.start <= definition.name.start
                && definition.name.end <= within.end
                && self.slice(definition.name) == name
        }) || self.resolve(name, scope).is_some()
    }

    /// Other texts of the whole program; none if comments would be lost.
    fn rewrites(&self) -> Vec<Action> {
        const MAX_BYTES: usize = 1 << 20;
        if !self.is_valid() || self.text().len() > MAX_BYTES || self.has_inner_comment() {
            return Vec::new();
        }
        let first = self.tokens().first().map_or(0, |token| token.span.start);
        let program = Span { start: first, end: self.text().trim_end().len() as u32 };
        let mut actions = Vec::new();
        let mut add = |title: &str, kind, text: String| {
            if text.trim_end() != self.slice(program) {
                let edits = vec![Edit::replace(program, text.trim_end())];
                actions.push(Action { title: title.to_string(), kind, edits, file: None });
            }
        };
        let options = stablo::PrintOptions::default();
        if let Ok(text) = stablo::print(&self.module, &options) {
            add("Write the program as MLIR prints it", ActionKind::Rewrite, text);
        }
        let generic = stablo::PrintOptions { generic: true, ..options };
        if let Ok(text) = stablo::print(&self.module, &generic) {
            add("Write the program in the generic form", ActionKind::Rewrite, text);
        }
        let fixable = ["constant-expression", "dead-op", "deprecated-op", "unused-function"];
        if self.lints().iter().any(|lint| fixable.contains(&&*lint.label)) {
            let mut module = self.module.clone();
            if stablo::fix_lints(&mut module).is_ok()
                && let Ok(text) = stablo::print(&module, &stablo::PrintOptions::default())
            {
                add("Mend all that lints find", ActionKind::FixAll, text);
            }
        }
        actions
    }

    /// Static programs of the function at a place whose arguments have dynamic dimensions.
    fn sizes(&self, at: u32) -> Vec<Action> {
        /// The program is made static to know whether that can be.
        const MAX_BYTES: usize = 64 << 10;
        const SIZES: [i64; 2] = [1, 8];
        let is_cheap = self.is_valid() && self.text().len() <= MAX_BYTES;
        let index = self.op_index_at(at).filter(|_| is_cheap && !self.has_inner_comment());
        let function = index.and_then(|index| self.op(&self.map.ops[index]));
        let Some(function) = function.and_then(FuncOp::cast) else { return Vec::new() };
        let (inputs, _) = crate::programs::signature(function.0);
        let is_static = |ty: &Type| ty.as_tensor().is_none_or(|ty| ty.static_shape().is_some());
        let Some(name) = function.0.symbol_name().filter(|_| !inputs.iter().all(is_static)) else {
            return Vec::new();
        };
        let first = self.tokens().first().map_or(0, |token| token.span.start);
        let program = Span { start: first, end: self.text().trim_end().len() as u32 };
        let action = |size: i64| {
            let mut module = self.module.clone();
            stablo::set_entry(&mut module, name).ok()?;
            stablo::refine(&mut module, &stablo::RefineOptions::default().batch(size)).ok()?;
            let text = stablo::print(&module, &stablo::PrintOptions::default()).ok()?;
            Some(Action {
                title: format!("Make @{name} static: first dimensions are {size}"),
                kind: ActionKind::Rewrite,
                edits: vec![Edit::replace(program, text.trim_end())],
                file: None,
            })
        };
        SIZES.into_iter().filter_map(action).collect()
    }

    /// True if there is a comment after the first token.
    fn has_inner_comment(&self) -> bool {
        let tokens = self.tokens();
        let mut gaps =
            tokens.windows(2).map(|pair| Span { start: pair[0].span.end, end: pair[1].span.start });
        gaps.any(|gap| self.slice(gap).contains("//"))
    }
}

/// A text whose lines after the first have another indentation.
fn reindented(text: &str, from: usize, to: &str) -> String {
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or_default().to_string();
    for line in lines {
        out.push('\n');
        let spaces = line.len() - line.trim_start_matches(' ').len();
        if !line.trim().is_empty() {
            out.push_str(to);
            out.push_str(&line[spaces.min(from)..]);
        }
    }
    out
}

/// The name `%x_1` for the result `%x#1`. Names that start with a digit have nothing but digits.
fn unnumbered(name: &str) -> String {
    let Some((name, number)) = name.split_once('#') else { return name.to_string() };
    let bare = name.trim_start_matches('%');
    let lead = if bare.starts_with(|c: char| c.is_ascii_digit()) { "v" } else { "" };
    format!("%{lead}{bare}_{number}")
}
