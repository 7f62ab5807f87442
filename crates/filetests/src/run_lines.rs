//! Reads the `RUN:` lines of a test file and resolves the `%if` blocks in them.

/// One command line of a test: a `RUN:` line with its continuations joined.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RunLine {
    /// One-based line of the file on which the command starts.
    pub line: usize,
    /// The command as written, without the line ends and the backslashes before them.
    pub text: String,
}

/// The RUN lines of `source` in order. A line that ends in `\` goes on in the next RUN line.
pub(crate) fn run_lines(source: &str) -> Result<Vec<RunLine>, String> {
    const KEYWORD: &str = "RUN:";
    let mut lines: Vec<RunLine> = Vec::new();
    let mut continues = false;
    for (index, line) in source.lines().enumerate() {
        let Some(at) = line.find(KEYWORD) else {
            continue;
        };
        let in_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        if line[..at].ends_with(in_word) {
            continue;
        }
        let text = line[at + KEYWORD.len()..].trim();
        let (text, more) = match text.strip_suffix('\\') {
            Some(text) => (text.trim_end(), true),
            None => (text, false),
        };
        match lines.last_mut() {
            Some(last) if continues => {
                last.text.push(' ');
                last.text.push_str(text);
            }
            _ => lines.push(RunLine { line: index + 1, text: text.to_owned() }),
        }
        continues = more;
    }
    match lines.last() {
        None => Err("the file has no RUN line".to_owned()),
        Some(last) if continues => Err(format!(
            "line {}: the last RUN line ends in a backslash, but no other one follows",
            last.line
        )),
        Some(_) => Ok(lines),
    }
}

/// Replaces `%if feature %{ yes %} %else %{ no %}` by the branch that `features` choose.
/// `%else` may be absent; blocks may nest.
pub(crate) fn resolve_conditions(text: &str, features: &[String]) -> Result<String, String> {
    let mut resolved = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("%if ") {
        resolved.push_str(&rest[..at]);
        let after = &rest[at + "%if ".len()..];
        let open = after.find("%{").ok_or("`%if` needs a branch in `%{` and `%}`")?;
        let feature = after[..open].trim();
        let (yes, tail) = block(&after[open..])?;
        let (no, tail) = match tail.trim_start().strip_prefix("%else") {
            Some(tail) => block(tail.trim_start())?,
            None => ("", tail),
        };
        let holds = feature == "true" || features.iter().any(|f| f == feature);
        resolved.push_str(&resolve_conditions(if holds { yes } else { no }, features)?);
        rest = tail;
    }
    resolved.push_str(rest);
    Ok(resolved)
}

/// Splits `%{ inner %} tail` into `inner` and `tail`, minding nested blocks.
fn block(text: &str) -> Result<(&str, &str), String> {
    let body = text.strip_prefix("%{").ok_or("`%else` needs a `%{`")?;
    let mut depth = 1;
    for (at, _) in body.match_indices('%') {
        match body.as_bytes().get(at + 1) {
            Some(b'{') => depth += 1,
            Some(b'}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok((&body[..at], &body[at + 2..]));
        }
    }
    Err("a `%{` has no matching `%}`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuations_join() {
        let lines = run_lines("// RUN: a \\\n// text\n//  RUN: | b\n// RUN: c\n// DRY-RUN: d\n");
        let line = |line, text: &str| RunLine { line, text: text.to_owned() };
        assert_eq!(lines, Ok(vec![line(1, "a | b"), line(4, "c")]));
        assert!(run_lines("// CHECK: a\n").is_err());
        assert!(run_lines("// RUN: a \\\n").is_err());
    }

    #[test]
    fn conditions() {
        let with = |text| resolve_conditions(text, &["asserts".to_owned()]);
        assert_eq!(with("a %if asserts %{ b %} c"), Ok("a  b  c".to_owned()));
        assert_eq!(with("%if x %{ a %} %else %{b%}"), Ok("b".to_owned()));
        assert_eq!(with("%if asserts %{ 1 %if no %{ 2 %} 3 %}"), Ok(" 1  3 ".to_owned()));
        assert!(with("%if asserts %{ a").is_err());
    }
}
