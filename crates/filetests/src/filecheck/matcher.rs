//! Searches text for expressions, with backtracking that prefers the first alternative and the
//! longest repetition.
//!
//! An expression without backreferences takes time in proportion to its size and that of the text:
//! what failed at a place once is not tried there again. One with backreferences has a limit.

use std::ops::Range;

/// Steps that a search with backreferences may take.
const MAX_STEPS: usize = 10_000_000;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// This text.
    Text(String),
    /// Any character but a line end.
    Any,
    /// A character of a set.
    Set(Set),
    /// The start of a line.
    LineStart,
    /// The end of a line.
    LineEnd,
    /// The text that the group of this number matched.
    Backreference(usize),
    /// One of several sequences, which is the group of this number, if it has one.
    Group(Option<usize>, Vec<Vec<Node>>),
    /// From so many to so many times; `None` is any number.
    Repeat(Box<Node>, usize, Option<usize>),
}

/// A set of characters.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    /// All characters but these, and but line ends.
    pub is_negated: bool,
    /// First and last characters of ranges.
    pub ranges: Vec<(char, char)>,
    /// Predicates.
    pub classes: Vec<fn(char) -> bool>,
}

impl Set {
    fn contains(&self, c: char, ignore_case: bool) -> bool {
        let has = |c: char| {
            self.ranges.iter().any(|&(first, last)| (first..=last).contains(&c))
                || self.classes.iter().any(|class| class(c))
        };
        let is_listed = match ignore_case {
            true => c.to_lowercase().any(has) || c.to_uppercase().any(has),
            false => has(c),
        };
        match self.is_negated {
            true => !is_listed && c != '\n',
            false => is_listed,
        }
    }
}

/// An instruction. Each goes on with the next one, if nothing else is said.
#[derive(Debug)]
enum Step {
    Text(String),
    Any,
    Set(Set),
    LineStart,
    LineEnd,
    Backreference(usize),
    /// Stores the place in this slot.
    Save(usize),
    /// Goes on with the first step, and if that fails with the second one. Splits are numbered.
    Split {
        number: usize,
        first: usize,
        second: usize,
    },
    Jump(usize),
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Matcher {
    steps: Vec<Step>,
    splits: usize,
    groups: usize,
    has_backreference: bool,
    ignore_case: bool,
}

/// The places of a match and of its groups, from number 1 on.
pub(super) struct Match {
    pub range: Range<usize>,
    pub groups: Vec<Option<Range<usize>>>,
}

impl Matcher {
    /// Compiles an expression with so many groups.
    pub fn new(nodes: &[Node], groups: usize, ignore_case: bool) -> Matcher {
        let mut matcher =
            Matcher { steps: Vec::new(), splits: 0, groups, has_backreference: false, ignore_case };
        matcher.sequence(nodes);
        matcher
    }

    fn sequence(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node) {
        let step = match node {
            Node::Text(text) => Step::Text(text.clone()),
            Node::Any => Step::Any,
            Node::Set(set) => Step::Set(set.clone()),
            Node::LineStart => Step::LineStart,
            Node::LineEnd => Step::LineEnd,
            Node::Backreference(group) => {
                self.has_backreference = true;
                Step::Backreference(*group)
            }
            Node::Group(number, alternatives) => return self.group(*number, alternatives),
            Node::Repeat(node, least, most) => return self.repeat(node, *least, *most),
        };
        self.steps.push(step);
    }

    fn group(&mut self, number: Option<usize>, alternatives: &[Vec<Node>]) {
        self.steps.extend(number.map(|number| Step::Save(2 * number)));
        let mut ends = Vec::new();
        for (i, alternative) in alternatives.iter().enumerate() {
            let is_last = i + 1 == alternatives.len();
            let split = (!is_last).then(|| self.split());
            self.sequence(alternative);
            if let Some(split) = split {
                ends.push(self.steps.len());
                self.steps.push(Step::Jump(0));
                self.set_second(split);
            }
        }
        for end in ends {
            self.steps[end] = Step::Jump(self.steps.len());
        }
        self.steps.extend(number.map(|number| Step::Save(2 * number + 1)));
    }

    fn repeat(&mut self, node: &Node, least: usize, most: Option<usize>) {
        (0..least).for_each(|_| self.node(node));
        let Some(most) = most else {
            let split = self.split();
            self.node(node);
            self.steps.push(Step::Jump(split));
            return self.set_second(split);
        };
        let split_and_node = |_| {
            let split = self.split();
            self.node(node);
            split
        };
        let splits: Vec<usize> = (least..most).map(split_and_node).collect();
        splits.into_iter().for_each(|split| self.set_second(split));
    }

    /// Appends a split whose first step is the next one.
    fn split(&mut self) -> usize {
        let at = self.steps.len();
        self.steps.push(Step::Split { number: self.splits, first: at + 1, second: 0 });
        self.splits += 1;
        at
    }

    /// Makes the step that comes next the second one of a split.
    fn set_second(&mut self, split: usize) {
        let next = self.steps.len();
        if let Step::Split { second, .. } = &mut self.steps[split] {
            *second = next;
        }
    }

    /// Finds the first match.
    ///
    /// # Errors
    /// If there are backreferences and the search takes too many steps.
    pub fn find(&self, text: &str) -> Result<Option<Match>, String> {
        let memory = if self.has_backreference { 0 } else { self.splits * (text.len() + 1) };
        let mut search = Search {
            matcher: self,
            text,
            slots: vec![None; 2 * (self.groups + 1)],
            tried: vec![0; memory.div_ceil(64)],
            steps: 0,
        };
        let mut start = 0;
        loop {
            if let (Some(Step::Text(first)), false) = (self.steps.first(), self.ignore_case) {
                let Some(skipped) = text[start..].find(&**first) else { return Ok(None) };
                start += skipped;
            }
            if let Some(end) = search.run(start)? {
                let slots = &search.slots;
                let group = |at: usize| Some(slots[2 * at]?..slots[2 * at + 1]?);
                let groups = (1..=self.groups).map(group).collect();
                return Ok(Some(Match { range: start..end, groups }));
            }
            match text[start..].chars().next() {
                Some(c) => start += c.len_utf8(),
                None => return Ok(None),
            }
        }
    }
}

/// What is undone or tried when a step fails.
enum Retry {
    Step { step: usize, at: usize },
    Restore { slot: usize, place: Option<usize> },
}

struct Search<'s> {
    matcher: &'s Matcher,
    text: &'s str,
    /// Starts and ends of the groups.
    slots: Vec<Option<usize>>,
    /// A bit for each split at each place: set if it was tried, from any start.
    tried: Vec<u64>,
    steps: usize,
}

impl Search<'_> {
    /// The end of the match that starts at a place.
    fn run(&mut self, start: usize) -> Result<Option<usize>, String> {
        let mut retries = Vec::new();
        let (mut step, mut at) = (0, start);
        loop {
            if self.matcher.has_backreference {
                self.steps += 1;
                if self.steps > MAX_STEPS {
                    return Err(format!("the search takes more than {MAX_STEPS} steps"));
                }
            }
            let Some(next) = self.matcher.steps.get(step) else { return Ok(Some(at)) };
            let found = match next {
                Step::Split { number, first, second } => {
                    let is_new = self.matcher.has_backreference || self.is_new(*number, at);
                    is_new.then(|| {
                        retries.push(Retry::Step { step: *second, at });
                        (*first, at)
                    })
                }
                Step::Jump(to) => Some((*to, at)),
                &Step::Save(slot) => {
                    let place = self.slots[slot].replace(at);
                    retries.push(Retry::Restore { slot, place });
                    Some((step + 1, at))
                }
                simple => self.after(simple, at).map(|at| (step + 1, at)),
            };
            (step, at) = match found {
                Some(next) => next,
                None => loop {
                    match retries.pop() {
                        Some(Retry::Step { step, at }) => break (step, at),
                        Some(Retry::Restore { slot, place }) => self.slots[slot] = place,
                        None => return Ok(None),
                    }
                },
            };
        }
    }

    /// True if a split was not tried at this place before.
    fn is_new(&mut self, split: usize, at: usize) -> bool {
        let bit = split * (self.text.len() + 1) + at;
        let (word, mask) = (&mut self.tried[bit / 64], 1 << (bit % 64));
        let is_new = *word & mask == 0;
        *word |= mask;
        is_new
    }

    /// The place after a step that matches text; `None` if it does not.
    fn after(&self, step: &Step, at: usize) -> Option<usize> {
        let ignore_case = self.matcher.ignore_case;
        let rest = &self.text[at..];
        let next = |holds: &dyn Fn(char) -> bool| {
            let c = rest.chars().next().filter(|&c| holds(c))?;
            Some(at + c.len_utf8())
        };
        let same = |text: &str| Some(at + same_start(rest, text, ignore_case)?);
        let here = |holds: bool| holds.then_some(at);
        match step {
            Step::Text(text) => same(text),
            Step::Any => next(&|c| c != '\n'),
            Step::Set(set) => next(&|c| set.contains(c, ignore_case)),
            Step::LineStart => here(at == 0 || self.text[..at].ends_with('\n')),
            Step::LineEnd => here(rest.is_empty() || rest.starts_with('\n')),
            Step::Backreference(group) => {
                let range = self.slots[2 * group]?..self.slots[2 * group + 1]?;
                same(&self.text[range])
            }
            Step::Split { .. } | Step::Jump(_) | Step::Save(_) => None,
        }
    }
}

/// The length of the start of `rest` that is `text`.
fn same_start(rest: &str, text: &str, ignore_case: bool) -> Option<usize> {
    if !ignore_case {
        return rest.starts_with(text).then_some(text.len());
    }
    let mut found = rest.chars();
    let is_same = |wanted: char| {
        found.next().is_some_and(|c| c == wanted || c.to_lowercase().eq(wanted.to_lowercase()))
    };
    text.chars().all(is_same).then(|| rest.len() - found.as_str().len())
}
