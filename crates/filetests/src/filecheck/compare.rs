//! Compares an input with the directives of a check file.

use super::directive::{CheckDirective, CheckGroup, Kind};
use super::pattern::{MatchError, Variables};
use std::ops::Range;

/// A directive that does not hold. Positions are byte offsets in the input.
pub(super) struct Mismatch<'a> {
    pub directive: &'a CheckDirective,
    pub problem: Problem,
    /// Range that was searched for a match.
    pub searched: Range<usize>,
    /// The values of the variables that the pattern uses.
    pub values: Vec<(String, String)>,
}

pub(super) enum Problem {
    /// No match; of a `-COUNT-` the number of matches found before.
    NotFound { found: usize },
    /// A match where there must be none.
    Forbidden { found: Range<usize> },
    /// A match on the wrong line: `lines` line ends after the end of the previous match.
    WrongLine { found: Range<usize>, lines: usize },
    /// The pattern uses an undefined variable.
    Undefined(String),
    /// The pattern cannot be matched for another reason.
    Unmatchable(String),
}

/// Compares `input` with the checks. After a mismatch, comparison continues with the next block, as
/// delimited by labels.
pub(super) fn compare<'a>(
    checks: &'a [CheckGroup],
    input: &str,
    variables: Variables,
    variable_scope: bool,
) -> Vec<Mismatch<'a>> {
    let mut comparison = LineComparison { input, variables };
    let mut mismatches = Vec::new();
    let mut start = 0;
    let mut rest = checks;
    let mut first = true;
    while !rest.is_empty() {
        // A block reaches to the match of the next label, which belongs to it.
        let label = rest.iter().position(|check| check.directive.kind == Kind::Label);
        let (block, tail) = rest.split_at(label.map_or(rest.len(), |label| label + 1));
        let mut end = input.len();
        if let (Some(_), Some(label)) = (label, block.last()) {
            match comparison.find(&label.directive, start..input.len()) {
                Ok(found) => end = found.end,
                Err(mismatch) => {
                    mismatches.push(*mismatch);
                    return mismatches;
                }
            }
        }
        if variable_scope && !first {
            comparison.variables.clear_local();
        }
        if let Err(mismatch) = comparison.block(block, start..end) {
            mismatches.push(*mismatch);
        }
        (start, rest, first) = (end, tail, false);
    }
    mismatches
}

struct LineComparison<'i> {
    input: &'i str,
    variables: Variables,
}

type Found<'a> = Result<Range<usize>, Box<Mismatch<'a>>>;
type Holds<'a> = Result<(), Box<Mismatch<'a>>>;

impl LineComparison<'_> {
    fn block<'a>(&mut self, checks: &'a [CheckGroup], region: Range<usize>) -> Holds<'a> {
        let mut start = region.start;
        for check in checks {
            start = self.check(check, start..region.end)?;
        }
        Ok(())
    }

    /// Compares one check and the directives before it; returns where its match ends.
    fn check<'a>(
        &mut self,
        check: &'a CheckGroup,
        region: Range<usize>,
    ) -> Result<usize, Box<Mismatch<'a>>> {
        let (start, nots) = self.unordered(&check.before, &region)?;
        let directive = &check.directive;
        let found = self.find(directive, start..region.end)?;
        let lines = self.input[start..found.start].matches('\n').count();
        let right = match directive.kind {
            Kind::Next | Kind::Empty => lines == 1,
            Kind::Same => lines == 0,
            _ => true,
        };
        if !right {
            let problem = Problem::WrongLine { found: found.clone(), lines };
            return Err(self.mismatch(directive, start..region.end, problem));
        }
        self.absent(&nots, start..found.start)?;
        Ok(found.end)
    }

    /// Finds a directive's match, all of them when it has a count: from the start of the first one
    /// to the end of the last one.
    fn find<'a>(&mut self, directive: &'a CheckDirective, region: Range<usize>) -> Found<'a> {
        let count = match directive.kind {
            Kind::Plain { count } => count,
            _ => 1,
        };
        let mut whole: Option<Range<usize>> = None;
        for found in 0..count {
            let start = whole.as_ref().map_or(region.start, |whole| whole.end);
            let searched = start..region.end;
            let next = self
                .find_once(directive, searched.clone())?
                .ok_or_else(|| self.mismatch(directive, searched, Problem::NotFound { found }))?;
            whole = Some(whole.map_or(next.start, |whole| whole.start)..next.end);
        }
        let mut whole = whole.unwrap_or(region.start..region.start);
        if directive.kind == Kind::Empty {
            // The line end in the match is that of the line before, which is not the directive's.
            whole.start += 1;
        }
        Ok(whole)
    }

    fn find_once<'a>(
        &mut self,
        directive: &'a CheckDirective,
        region: Range<usize>,
    ) -> Result<Option<Range<usize>>, Box<Mismatch<'a>>> {
        let found = directive.pattern.find(&self.input[region.clone()], &mut self.variables);
        match found {
            Ok(found) => Ok(found.map(|f| region.start + f.start..region.start + f.end)),
            Err(error) => {
                let problem = match error {
                    MatchError::Undefined(name) => Problem::Undefined(name),
                    MatchError::Other(problem) => Problem::Unmatchable(problem),
                };
                Err(self.mismatch(directive, region, problem))
            }
        }
    }

    /// Compares the `DAG` and `NOT` directives before a check. Returns where the check's own match
    /// is to be looked for and the `NOT` directives that apply up to that match.
    fn unordered<'a>(
        &mut self,
        directives: &'a [CheckDirective],
        region: &Range<usize>,
    ) -> Result<(usize, Vec<&'a CheckDirective>), Box<Mismatch<'a>>> {
        let mut start = region.start;
        let mut nots: Vec<&CheckDirective> = Vec::new();
        for group in directives.chunk_by(|a, b| a.kind == b.kind) {
            if group.iter().all(|directive| directive.kind == Kind::Not) {
                nots.extend(group);
                continue;
            }
            let found = self.group(group, start..region.end)?;
            if let (Some(first), Some(last)) = (found.first(), found.last()) {
                self.absent(&nots, start..first.start)?;
                start = last.end;
            }
            nots.clear();
        }
        Ok((start, nots))
    }

    /// Finds a match of each directive such that no two overlap; returns them in the input's order.
    fn group<'a>(
        &mut self,
        directives: &'a [CheckDirective],
        region: Range<usize>,
    ) -> Result<Vec<Range<usize>>, Box<Mismatch<'a>>> {
        let mut taken: Vec<Range<usize>> = Vec::new();
        for directive in directives {
            let mut start = region.start;
            loop {
                let found = self.find(directive, start..region.end)?;
                let at = taken.partition_point(|taken| taken.end <= found.start);
                match taken.get(at) {
                    Some(other) if other.start < found.end => start = other.end,
                    _ => {
                        taken.insert(at, found);
                        break;
                    }
                }
            }
        }
        Ok(taken)
    }

    /// Checks that none of the directives matches in the region.
    fn absent<'a>(&mut self, nots: &[&'a CheckDirective], region: Range<usize>) -> Holds<'a> {
        for not in nots {
            if let Some(found) = self.find_once(not, region.clone())? {
                return Err(self.mismatch(not, region, Problem::Forbidden { found }));
            }
        }
        Ok(())
    }

    fn mismatch<'a>(
        &self,
        directive: &'a CheckDirective,
        searched: Range<usize>,
        problem: Problem,
    ) -> Box<Mismatch<'a>> {
        let value = |name: &str| {
            let text = self.variables.texts.get(name).cloned();
            let number = || Some(self.variables.numbers.get(name)?.0.to_string());
            Some((name.to_owned(), text.or_else(number)?))
        };
        let names = directive.pattern.used_variables();
        Box::new(Mismatch {
            directive,
            problem,
            searched,
            values: names.into_iter().filter_map(value).collect(),
        })
    }
}
