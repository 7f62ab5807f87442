//! Mutations of texts: of single tokens, and of a size or an element type everywhere.

use generate::Random;

/// Numbers at which something may overflow, be empty or be negative.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "64",
    "1000000",
    "-1",
    "4294967295",
    "3000000000",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
];

/// Sizes of a dimension.
const SIZES: [&str; 10] =
    ["0", "1", "2", "3", "7", "?", "1000", "100000", "4294967296", "9223372036854775807"];

/// Element types.
const ELEMENTS: [&str; 26] = [
    "i1",
    "i2",
    "i4",
    "i8",
    "i16",
    "i32",
    "i64",
    "ui2",
    "ui8",
    "ui32",
    "ui64",
    "f4E2M1FN",
    "f8E4M3FN",
    "f8E5M2",
    "f8E8M0FNU",
    "bf16",
    "f16",
    "f32",
    "f64",
    "complex<f32>",
    "complex<f64>",
    "index",
    "tf32",
    "i5",
    "!stablehlo.token",
    "!quant.uniform<i8:f32, 0.5:3>",
];

/// Tokens that are special somewhere.
const TOKENS: [&str; 22] = [
    "?",
    "x",
    "[]",
    "[-1]",
    "none",
    "tuple<>",
    "tensor<*xf32>",
    "tensor<?xi32>",
    "tensor<0xf32>",
    "1e400",
    "0xFFFFFFFF",
    "dense<>",
    "dense<0>",
    "true",
    "unit",
    "array<i64>",
    "@main",
    "%arg0",
    "loc(unknown)",
    "{",
    "}",
    "\"\"",
];

/// Splits a text into words, numbers, strings, spaces and other characters; a word has its sigil.
fn tokens(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = |from: usize, is_in: &dyn Fn(char) -> bool| {
            rest[from..].find(|c| !is_in(c)).map_or(rest.len(), |length| from + length)
        };
        let end = match first {
            '%' | '@' | '#' | '!' | '^' => run(1, &is_word),
            '"' => rest[1..].find('"').map_or(rest.len(), |length| length + 2),
            c if is_word(c) => run(0, &is_word),
            c if c.is_whitespace() => run(0, &char::is_whitespace),
            c => c.len_utf8(),
        };
        tokens.push(rest[..end].to_string());
        rest = &rest[end..];
    }
    tokens
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit())
}

/// Positions of tokens with a property.
fn positions(tokens: &[String], holds: impl Fn(usize, &str) -> bool) -> Vec<usize> {
    (0..tokens.len()).filter(|&i| holds(i, &tokens[i])).collect()
}

/// Deletes, copies, exchanges or replaces some tokens.
pub(crate) fn mutate_tokens(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    for _ in 0..*random.choose(&[1, 1, 1, 2, 3, 5]) {
        let solid = positions(&tokens, |_, token| !token.trim().is_empty());
        if solid.len() < 3 {
            break;
        }
        let at = *random.choose(&solid);
        match random.below(10) {
            0 | 1 => drop(tokens.remove(at)),
            2 => tokens.swap(at, *random.choose(&solid)),
            3 => tokens.insert(at, tokens[at].clone()),
            4 => tokens[at] = tokens[*random.choose(&solid)].clone(),
            5 => tokens[at] = random.choose(&TOKENS).to_string(),
            6 => tokens[at] = random.choose(&ELEMENTS).to_string(),
            _ => change_number(&mut tokens, random),
        }
    }
    tokens.concat()
}

/// Replaces the first digits of a token that has some.
fn change_number(tokens: &mut [String], random: &mut Random) {
    let numbers = positions(tokens, |_, token| token.contains(|c: char| c.is_ascii_digit()));
    if numbers.is_empty() {
        return;
    }
    let token = &mut tokens[*random.choose(&numbers)];
    let start = token.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let length = token[start..].find(|c: char| !c.is_ascii_digit());
    let end = length.map_or(token.len(), |length| start + length);
    token.replace_range(start..end, random.choose::<&str>(&NUMBERS));
}

/// True for tokens such as `2x?xf32` after `tensor<`.
fn is_in_tensor(tokens: &[String], at: usize) -> bool {
    let mut before = tokens[..at].iter().rev();
    let only_type = |token: &&String| token.contains('?') || token.contains('x');
    let opening = before.find(|token| !only_type(token) || token.contains("tensor"));
    opening.is_some_and(|token| token == "<")
        && before.next().is_some_and(|token| token == "tensor")
}

/// The sizes and element type of a token in a tensor type.
fn parts(token: &str) -> Vec<&str> {
    // `x` separates sizes from what follows; element types such as `complex` contain one, too.
    let mut parts = Vec::new();
    let mut rest = token;
    while let Some((size, more)) = rest.split_once('x') {
        if !size.chars().all(|c| c.is_ascii_digit()) {
            break;
        }
        parts.push(size);
        rest = more;
    }
    parts.push(rest);
    parts
}

/// Changes a size or an element type wherever it stands, and now and then a number or a splat.
pub(crate) fn mutate_types(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    for _ in 0..*random.choose(&[1, 1, 2]) {
        match random.below(5) {
            0 | 1 => change_size(&mut tokens, random),
            2 => change_element(&mut tokens, random),
            3 => change_attribute(&mut tokens, random),
            _ => change_splat(&mut tokens, random),
        }
    }
    tokens.concat()
}

fn change_size(tokens: &mut [String], random: &mut Random) {
    let shaped = positions(tokens, |i, token| is_in_tensor(tokens, i) && parts(token).len() > 1);
    if shaped.is_empty() {
        return;
    }
    let token = &tokens[*random.choose(&shaped)];
    let sizes = parts(token);
    let (old, new) = (random.choose(&sizes[..sizes.len() - 1]).to_string(), *random.choose(&SIZES));
    for at in shaped {
        let mut all: Vec<String> = parts(&tokens[at]).into_iter().map(String::from).collect();
        let last = all.len() - 1;
        for size in all[..last].iter_mut().filter(|size| **size == old) {
            *size = new.to_string();
        }
        tokens[at] = all.join("x");
    }
}

fn change_element(tokens: &mut [String], random: &mut Random) {
    let typed = positions(tokens, |_, token| {
        ELEMENTS.contains(&parts(token).last().copied().unwrap_or_default())
    });
    if typed.is_empty() {
        return;
    }
    let of = |token: &str| parts(token).last().copied().unwrap_or_default().to_string();
    let (old, new) = (of(&tokens[*random.choose(&typed)]), *random.choose(&ELEMENTS));
    for at in typed.into_iter().filter(|&at| of(&tokens[at]) == old).collect::<Vec<_>>() {
        let kept = tokens[at].len() - old.len();
        tokens[at].replace_range(kept.., new);
    }
}

/// Changes a number that is not part of a tensor type.
fn change_attribute(tokens: &mut [String], random: &mut Random) {
    let numbers = positions(tokens, |i, token| is_number(token) && !is_in_tensor(tokens, i));
    if numbers.is_empty() {
        return;
    }
    let at = *random.choose(&numbers);
    tokens[at] = match tokens[at].contains('.') {
        true => random.choose(&["0.0", "-0.0", "1.0e30", "0x7FC00000", "1.0e-45"]).to_string(),
        false => random.choose(&NUMBERS).to_string(),
    };
}

/// Makes the elements of a literal equal, of a shape that may be far larger.
fn change_splat(tokens: &mut Vec<String>, random: &mut Random) {
    let literals = positions(tokens, |i, token| {
        token == "dense" && tokens.get(i + 1).is_some_and(|next| next == "<")
    });
    if literals.is_empty() {
        return;
    }
    let at = *random.choose(&literals);
    let Some(end) = tokens[at..].iter().position(|token| token == ">").map(|end| at + end) else {
        return;
    };
    let element = tokens[at + 2..end].iter().find(|token| is_number(token)).cloned();
    tokens.splice(at + 2..end, [element.unwrap_or_else(|| "0".to_string())]);
    if let Some(shape) = tokens[at..].iter().position(|token| parts(token).len() > 1) {
        let mut all: Vec<String> =
            parts(&tokens[at + shape]).into_iter().map(String::from).collect();
        let size = random.below(all.len() - 1);
        all[size] = random.choose(&SIZES).to_string();
        tokens[at + shape] = all.join("x");
    }
}

/// The names of functions and the numbers of their arguments, as far as they are plain.
pub(crate) fn functions(text: &str) -> Vec<(String, usize)> {
    let mut functions = Vec::new();
    for (at, _) in text.match_indices("func.func") {
        let Some((name, rest)) =
            text[at..].split_once('@').and_then(|(_, rest)| rest.split_once('('))
        else {
            continue;
        };
        let arguments = rest.split(" {").next().unwrap_or(rest);
        let count = arguments.split("->").next().unwrap_or(arguments).matches('%').count();
        if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            functions.push((name.to_string(), count));
        }
    }
    functions
}
