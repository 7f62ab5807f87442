//! Parses the small part of the shell language that RUN lines use: words with quotes, pipes, `&&`
//! and redirections. Everything else is an error that names what is not supported.

/// Pipelines joined by `&&`.
pub(crate) type Script = Vec<Pipeline>;

/// Commands joined by `|`.
pub(crate) type Pipeline = Vec<ShellCommand>;

/// A program with arguments and redirections.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellCommand {
    /// The program's name, then its arguments, without quotes.
    pub argv: Vec<String>,
    /// In the order written, which matters for `2>&1`.
    pub redirects: Vec<Redirect>,
}

/// A redirection of one of the three standard streams.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Redirect {
    /// `< file`
    Input(String),
    /// `> file`, `>> file`, `2> file`, `2>> file`
    Output {
        /// Standard error instead of standard output.
        stderr: bool,
        /// Keep what the file holds.
        append: bool,
        /// The file.
        path: String,
    },
    /// `2>&1`: standard error goes where standard output goes at this point of the line.
    ErrorToOutput,
}

#[derive(Debug, PartialEq, Eq)]
enum ShellToken {
    Word(String),
    Operator(&'static str),
}

/// Longest first, so that the first prefix found is the operator.
const OPERATORS: [&str; 15] =
    ["2>&1", "2>>", "2>", "1>", "&&", "||", "|&", "&>", ">>", ">&", "|", ">", "<", ";", "&"];

/// Parses one RUN line. A line of blanks is an empty script.
pub(crate) fn parse(text: &str) -> Result<Script, String> {
    let mut script = Script::new();
    let mut pipeline = Pipeline::new();
    let mut command = ShellCommand::default();
    let mut tokens = tokens(text)?.into_iter().peekable();
    if tokens.peek().is_none() {
        return Ok(script);
    }
    while let Some(token) = tokens.next() {
        let operator = match token {
            ShellToken::Word(word) => {
                command.argv.push(word);
                continue;
            }
            ShellToken::Operator(operator) => operator,
        };
        let redirect = match operator {
            "|" | "&&" => {
                end_command(&mut command, &mut pipeline, operator)?;
                if operator == "&&" {
                    script.push(std::mem::take(&mut pipeline));
                }
                continue;
            }
            "2>&1" => Redirect::ErrorToOutput,
            "<" | ">" | "1>" | ">>" | "2>" | "2>>" => {
                let Some(ShellToken::Word(path)) = tokens.next() else {
                    return Err(format!("`{operator}` needs a file name"));
                };
                match operator {
                    "<" => Redirect::Input(path),
                    _ => Redirect::Output {
                        stderr: operator.starts_with('2'),
                        append: operator.ends_with(">>"),
                        path,
                    },
                }
            }
            _ => return Err(format!("`{operator}` is not supported in RUN lines")),
        };
        command.redirects.push(redirect);
    }
    end_command(&mut command, &mut pipeline, "end of line")?;
    script.push(pipeline);
    Ok(script)
}

fn end_command(
    command: &mut ShellCommand,
    pipeline: &mut Pipeline,
    before: &str,
) -> Result<(), String> {
    if command.argv.is_empty() {
        return Err(format!("a command is missing before `{before}`"));
    }
    pipeline.push(std::mem::take(command));
    Ok(())
}

fn tokens(text: &str) -> Result<Vec<ShellToken>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(operator) = OPERATORS.into_iter().find(|o| rest.starts_with(o)) {
            tokens.push(ShellToken::Operator(operator));
            rest = &rest[operator.len()..];
        } else {
            let (word, tail) = word(rest)?;
            tokens.push(ShellToken::Word(word));
            rest = tail;
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

/// Reads one word from the start of `text`: plain characters, `\c`, `'…'` and `"…"`.
fn word(text: &str) -> Result<(String, &str), String> {
    let mut word = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c.is_whitespace() => return Ok((word, &text[at..])),
            '|' | '&' | '<' | '>' | ';' => return Ok((word, &text[at..])),
            '$' | '`' => return Err(format!("`{c}` is not supported in RUN lines; quote it")),
            '\\' => word.push(chars.next().ok_or("the line ends in a backslash")?.1),
            '\'' | '"' => loop {
                match chars.next().map(|(_, c)| c) {
                    None => return Err(format!("a {c} has no closing {c}")),
                    Some(end) if end == c => break,
                    Some('\\') if c == '"' => match chars.next().map(|(_, c)| c) {
                        Some(escaped @ ('"' | '\\' | '$' | '`')) => word.push(escaped),
                        Some(other) => word.extend(['\\', other]),
                        None => word.push('\\'),
                    },
                    Some(inner) => word.push(inner),
                }
            },
            c => word.push(c),
        }
    }
    Ok((word, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(argv: &[&str]) -> ShellCommand {
        ShellCommand {
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            redirects: Vec::new(),
        }
    }

    #[test]
    fn words_and_quotes() {
        assert_eq!(
            parse(r#"a 'b c' --d="e \"f\" \n" g\ h "" 2"#),
            Ok(vec![vec![command(&["a", "b c", r#"--d=e "f" \n"#, "g h", "", "2"])]])
        );
    }

    #[test]
    fn pipelines_and_redirections() {
        let mut first = command(&["a", "%s"]);
        first.redirects.push(Redirect::ErrorToOutput);
        let mut last = command(&["c"]);
        last.redirects.push(Redirect::Output {
            stderr: false,
            append: false,
            path: "%t.0".to_owned(),
        });
        assert_eq!(
            parse("a %s 2>&1 | b&&c > %t.0"),
            Ok(vec![vec![first, command(&["b"])], vec![last]])
        );
        assert_eq!(parse("  "), Ok(Vec::new()));
    }

    #[test]
    fn unsupported_syntax() {
        for line in
            ["a ; b", "a || b", "a &", "| a", "a &&", "a >", "a 'b", "$a", "a > | b", "a 1>&2"]
        {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
