//! The syntax that an op expects at a place in it: the declared format is followed over the
//! tokens before that.

use crate::analysis::Analysis;
use crate::hover::enumeration;
use stablo::ir::{Arity, AttrSlot, OpDef, Trait, Type};
use stablo::syntax::{Directive, Literal, Token, TokenKind};

/// An op up to a place in it.
pub(crate) struct Statement<'a> {
    analysis: &'a Analysis,
    /// The declaration.
    pub def: &'static OpDef,
    /// The tokens after its name and before the place.
    tokens: &'a [Token],
    /// True if its name is in quotes.
    is_generic: bool,
}

/// The next part of an op.
pub(crate) enum Expected {
    /// The name of an attribute, in a dictionary.
    AttributeName,
    /// The value of an attribute, in a dictionary.
    AttributeValue(&'static AttrSlot),
    /// The value of an attribute, in the format of the op.
    Case(&'static AttrSlot),
    /// An operand, by its slot.
    Operand(usize),
    /// A type.
    Type,
    /// The element type of a tensor.
    Element,
    /// Nothing that is known.
    Nothing,
}

impl<'a> Statement<'a> {
    /// The op that a place is in, after its name. `None` where an op may begin.
    pub(crate) fn at(analysis: &'a Analysis, at: u32) -> Option<Statement<'a>> {
        let all = analysis.tokens();
        let end = all.partition_point(|token| token.span.end <= at);
        // In the line, after results: `%a, %b:2 = `.
        let line = analysis.text()[..at as usize].rfind('\n').map_or(0, |at| at + 1) as u32;
        let first = all.partition_point(|token| token.span.start < line);
        let mut name = first;
        if all.get(first).is_some_and(|token| token.kind == TokenKind::Percent) {
            let equals = all[first..end].iter().position(|t| t.kind == TokenKind::Punct(b'='));
            name = equals.map_or(first, |equals| first + equals + 1);
        }
        let is_in_line =
            name < end && matches!(all[name].kind, TokenKind::Word | TokenKind::String);
        let named = |index: usize| analysis.find_op(analysis.slice(all[index].span));
        let (def, name) = match is_in_line.then(|| named(name)).flatten() {
            Some(def) => (def, name),
            None => {
                let extent = analysis.op_at(at)?;
                if extent.name.is_empty() || extent.name.end > at {
                    return None;
                }
                let name = all.partition_point(|token| token.span.start < extent.name.start);
                (named(name)?, name)
            }
        };
        // In a region of the op, another op begins.
        let tokens = &all[(name + 1).min(end)..end];
        let mut open: Vec<usize> = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Punct(b'{' | b'(' | b'[' | b'<') => open.push(index),
                TokenKind::Punct(b'}' | b')' | b']' | b'>') => drop(open.pop()),
                _ => {}
            }
        }
        let is_region = |(at, &index): (usize, &usize)| {
            // In the list of a function's arguments, attributes follow types.
            let is_in_list =
                open[..at].iter().any(|&around| tokens[around].kind == TokenKind::Punct(b'('));
            let before = index.checked_sub(1).map(|before| tokens[before]);
            let text = before.map(|token| analysis.slice(token.span));
            let is_dictionary = text.is_some_and(|text| text == "<" || text == "attributes")
                || is_in_list && text.is_none_or(|text| text != "(" && text != ",");
            tokens[index].kind == TokenKind::Punct(b'{')
                && !is_dictionary
                && (!def.regions.is_empty() || def.has_trait(&Trait::SymbolTable))
        };
        if open.iter().enumerate().any(is_region) {
            return None;
        }
        let is_generic = all[name].kind == TokenKind::String;
        Some(Statement { analysis, def, tokens, is_generic })
    }

    fn text(&self, index: usize) -> &'a str {
        self.analysis.slice(self.tokens[index].span)
    }

    /// True if a word stands right before the place.
    pub(crate) fn follows(&self, word: &str) -> bool {
        self.tokens.len().checked_sub(1).is_some_and(|last| self.text(last) == word)
    }

    /// True if a word stands before the place.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        (0..self.tokens.len()).any(|index| self.text(index) == word)
    }

    /// Index of the innermost bracket that is open at the place.
    fn open_bracket(&self) -> Option<usize> {
        let mut depth = 0i32;
        (0..self.tokens.len()).rev().find(|&index| match self.tokens[index].kind {
            TokenKind::Punct(b'}' | b')' | b']' | b'>') => {
                depth += 1;
                false
            }
            TokenKind::Punct(b'{' | b'(' | b'[' | b'<') if depth > 0 => {
                depth -= 1;
                false
            }
            TokenKind::Punct(b'{' | b'(' | b'[' | b'<') => true,
            _ => false,
        })
    }

    /// True in `<{…}>`, where the op's own attributes are.
    pub(crate) fn is_in_properties(&self) -> bool {
        let before = self.open_bracket().and_then(|open| open.checked_sub(1));
        before.is_some_and(|before| self.text(before) == "<")
    }

    /// The next part at the place.
    pub(crate) fn expected(&self) -> Expected {
        let last = self.tokens.last().map(|token| token.kind);
        if let Some(open) = self.open_bracket() {
            match self.tokens[open].kind {
                TokenKind::Punct(b'{') => {
                    return match last {
                        Some(TokenKind::Punct(b'{' | b',')) => Expected::AttributeName,
                        Some(TokenKind::Punct(b'=')) => self.named_attribute(),
                        _ => Expected::Nothing,
                    };
                }
                TokenKind::Punct(b'<') if open > 0 && self.text(open - 1) == "tensor" => {
                    return Expected::Element;
                }
                _ => {}
            }
        }
        if self.is_in_types() {
            return Expected::Type;
        }
        self.next_directive()
    }

    /// The attribute whose value is expected.
    pub(crate) fn attribute(&self) -> Option<&'static AttrSlot> {
        match self.expected() {
            Expected::AttributeValue(slot) | Expected::Case(slot) => Some(slot),
            _ => None,
        }
    }

    fn named_attribute(&self) -> Expected {
        let name = self.tokens.len().checked_sub(2).map(|index| self.text(index));
        let slot = name.and_then(|name| self.def.attributes.iter().find(|slot| slot.name == name));
        slot.map_or(Expected::Nothing, Expected::AttributeValue)
    }

    /// True after the colon before the types.
    fn is_in_types(&self) -> bool {
        let mut depth = 0i32;
        let mut found = false;
        for token in self.tokens {
            match token.kind {
                TokenKind::Punct(b'{' | b'(' | b'[' | b'<') => depth += 1,
                TokenKind::Punct(b'}' | b')' | b']' | b'>') => depth -= 1,
                TokenKind::Punct(b':') if depth == 0 => found = true,
                _ => {}
            }
        }
        found
    }

    /// The slot of the operand at the place, by the number of commas before it.
    pub(crate) fn operand_slot(&self) -> Option<usize> {
        let operands = self.tokens.iter().filter(|token| token.kind == TokenKind::Percent);
        let written = operands.count();
        let slots = self.def.operands;
        if slots.is_empty() || self.is_in_types() {
            return None;
        }
        let mut slot = written.min(slots.len() - 1);
        if let Some(variadic) = slots.iter().position(|slot| slot.arity == Arity::Variadic) {
            slot = if written >= variadic { variadic } else { written };
        }
        Some(slot)
    }

    /// The parameter at the place: the number of commas outside of brackets, or in the first ones.
    pub(crate) fn argument(&self) -> usize {
        let own = i32::from(self.is_generic || self.def.has_trait(&Trait::Call("callee")));
        let mut depth = 0i32;
        let mut commas = 0;
        for token in self.tokens {
            match token.kind {
                TokenKind::Punct(b'{' | b'(' | b'[' | b'<') => depth += 1,
                TokenKind::Punct(b'}' | b')' | b']' | b'>') => depth -= 1,
                TokenKind::Punct(b',') if depth == own => commas += 1,
                _ => {}
            }
        }
        commas
    }

    /// The symbol that the op refers to before the place, without `@`.
    pub(crate) fn symbol(&self) -> Option<&'a str> {
        let token = self.tokens.iter().find(|token| token.kind == TokenKind::Symbol)?;
        Some(crate::names::symbol_name(self.analysis.slice(token.span)))
    }

    /// Types of the operands before the types, as far as they are known.
    pub(crate) fn types_of_operands(&self) -> Vec<Type> {
        let analysis = self.analysis;
        let mut types = Vec::new();
        for (index, token) in self.tokens.iter().enumerate() {
            if token.kind != TokenKind::Percent {
                continue;
            }
            let found = analysis
                .scope_at(token.span.start)
                .and_then(|scope| analysis.resolve(analysis.slice(token.span), scope));
            let values = found.map(|found| analysis.values(found)).unwrap_or_default();
            let next = self.tokens.get(index + 1);
            let number = next.filter(|next| crate::names::is_result_number(token, next));
            let number = number.and_then(|n| analysis.slice(n.span)[1..].parse::<usize>().ok());
            let value = values.get(number.unwrap_or_default());
            types.extend(value.map(|&value| analysis.module.ty(value).clone()));
        }
        types
    }

    /// The type of the first operand.
    pub(crate) fn first_operand_type(&self) -> Option<Type> {
        self.types_of_operands().into_iter().next()
    }

    /// Words that the format allows at the place.
    pub(crate) fn keywords(&self) -> Vec<&'static str> {
        let mut words = Vec::new();
        if self.open_bracket().is_some() {
            return words;
        }
        if let Walk::End(found) = self.walk() {
            words.extend(found.into_iter().filter_map(|next| match next {
                Next::Word(word) => Some(word),
                Next::Directive(_) => None,
            }));
        }
        words
    }

    fn next_directive(&self) -> Expected {
        if self.is_generic {
            let is_open = self.open_bracket() == Some(0);
            return match self.operand_slot() {
                Some(slot) if is_open => Expected::Operand(slot),
                _ => Expected::Nothing,
            };
        }
        let Walk::End(next) = self.walk() else { return Expected::Nothing };
        for next in next {
            match next {
                Next::Directive(Directive::Operand(slot)) => return Expected::Operand(*slot),
                Next::Directive(Directive::Operands) => {
                    return self.operand_slot().map_or(Expected::Nothing, Expected::Operand);
                }
                Next::Directive(Directive::Attribute(slot)) => {
                    let slot = &self.def.attributes[*slot];
                    return match enumeration(slot) {
                        Some(_) => Expected::Case(slot),
                        None => Expected::AttributeValue(slot),
                    };
                }
                Next::Directive(Directive::Type(_) | Directive::FunctionalType(..)) => {
                    return Expected::Type;
                }
                Next::Directive(_) | Next::Word(_) => {}
            }
        }
        Expected::Nothing
    }

    /// Follows the format of the op over the tokens.
    fn walk(&self) -> Walk {
        let Ok(directives) = self.def.format() else { return Walk::Lost };
        let mut at = 0;
        match self.follow(directives, &mut at) {
            Some(next) => Walk::End(next),
            None => Walk::Lost,
        }
    }

    /// Follows directives from token `at` on. Returns what may come next if the tokens end.
    fn follow(&self, directives: &'static [Directive], at: &mut usize) -> Option<Vec<Next>> {
        for (index, directive) in directives.iter().enumerate() {
            let is_at_end = *at >= self.tokens.len();
            match directive {
                Directive::Literal(Literal::Text(text)) => {
                    if is_at_end {
                        return Some(vec![Next::Word(text)]);
                    }
                    if self.text(*at) != *text {
                        return None;
                    }
                    *at += 1;
                }
                Directive::Literal(_) => {}
                Directive::Group { then, otherwise, .. } => {
                    if is_at_end {
                        let mut next = self.first(then);
                        next.extend(self.first(otherwise));
                        next.extend(self.first(&directives[index + 1..]));
                        return Some(next);
                    }
                    let taken = match then.first() {
                        Some(Directive::Literal(Literal::Text(text))) => self.text(*at) == *text,
                        Some(Directive::Operand(_)) => self.tokens[*at].kind == TokenKind::Percent,
                        _ => false,
                    };
                    let branch = if taken { then } else { otherwise };
                    if let Some(next) = self.follow(branch, at) {
                        return Some(next);
                    }
                }
                Directive::AttrDict | Directive::AttrDictWithKeyword => {
                    if !is_at_end && matches!(self.text(*at), "{" | "attributes") {
                        self.skip(at, &directives[index + 1..]);
                    }
                }
                directive => {
                    if is_at_end {
                        return Some(vec![Next::Directive(directive)]);
                    }
                    self.skip(at, &directives[index + 1..]);
                }
            }
        }
        None
    }

    /// The elements that may come first.
    fn first(&self, directives: &'static [Directive]) -> Vec<Next> {
        for directive in directives {
            match directive {
                Directive::Literal(Literal::Text(text)) => return vec![Next::Word(text)],
                Directive::Literal(_) | Directive::AttrDict | Directive::AttrDictWithKeyword => {}
                Directive::Group { then, .. } => return self.first(then),
                directive => return vec![Next::Directive(directive)],
            }
        }
        Vec::new()
    }

    /// Skips the text of a directive: up to the next literal of those that follow.
    fn skip(&self, at: &mut usize, rest: &[Directive]) {
        let mut stops: Vec<&str> = Vec::new();
        for directive in rest {
            match directive {
                Directive::Literal(Literal::Text(text)) => {
                    stops.push(text);
                    break;
                }
                Directive::Group { then, .. } => {
                    if let Some(Directive::Literal(Literal::Text(text))) = then.first() {
                        stops.push(text);
                    }
                }
                Directive::AttrDict => stops.push("{"),
                _ => {}
            }
        }
        let mut depth = 0i32;
        let start = *at;
        while *at < self.tokens.len() {
            let text = self.text(*at);
            if depth == 0 && *at > start && stops.contains(&text) {
                // A list of operands goes on after a comma before another operand.
                return;
            }
            match self.tokens[*at].kind {
                TokenKind::Punct(b'{' | b'(' | b'[' | b'<') => depth += 1,
                TokenKind::Punct(b'}' | b')' | b']' | b'>') => depth -= 1,
                _ => {}
            }
            *at += 1;
        }
    }
}

/// Where following a format ended.
enum Walk {
    /// At the end of the tokens: what may come next.
    End(Vec<Next>),
    /// The tokens do not follow the format, or it ended before them.
    Lost,
}

/// A part that may come next.
enum Next {
    Word(&'static str),
    Directive(&'static Directive),
}
