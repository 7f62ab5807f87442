//! The inputs of `stablo run`: files, literals, or generated tensors.

use crate::array_files::{Arrays, Wanted};
use crate::format::first;
use crate::io::{CommandFailure, Io};
use stablo::dialects::func::FuncOp;
use stablo::numerics::math;
use stablo::numerics::text::format_float;
use stablo::{ArgumentNames, DType, RuntimeValue, Tensor, TensorError, Type, counted};
use std::path::Path;

/// True if an argument of this type needs an input; tokens do not.
fn is_given(ty: &Type) -> bool {
    !stablo::value_fits(&RuntimeValue::Token, ty)
}

/// The arguments of a function, for messages and to find their inputs.
pub(crate) struct Arguments<'m> {
    function: &'m str,
    types: &'m [Type],
    names: ArgumentNames,
}

impl<'m> Arguments<'m> {
    /// The arguments of `function`.
    pub(crate) fn of(function: FuncOp<'m>) -> Arguments<'m> {
        Arguments {
            function: function.symbol_name().unwrap_or(""),
            types: function.signature().0,
            names: ArgumentNames::of(function),
        }
    }

    /// The inputs: each argument takes the value that `values` give it by name or in order, or else
    /// its array in `file`. Tokens need none.
    ///
    /// # Errors
    /// If the number of inputs is wrong, or one cannot be read or does not match its argument.
    pub(crate) fn inputs(
        &self,
        values: &[String],
        file: Option<&Path>,
        io: &mut Io<'_>,
    ) -> Result<Vec<RuntimeValue>, CommandFailure> {
        let assigned = self.assign(values, file, io)?;
        let mut arrays = file.map(|path| Arrays::open(path, io)).transpose()?;
        let mut inputs = Vec::with_capacity(self.types.len());
        for (index, ty) in self.types.iter().enumerate() {
            if !is_given(ty) {
                inputs.push(RuntimeValue::Token);
                continue;
            }
            let name = self.names.get(index);
            let given = assigned[index].map(str::to_string);
            let given = given.or_else(|| file.map(|file| file.display().to_string()));
            let given = given.unwrap_or_default();
            let tensor = match (assigned[index], &mut arrays) {
                (None, Some(arrays)) => {
                    let wanted = Wanted { stem: "input", number: &index.to_string(), name };
                    dtype_of(ty).and_then(|dtype| arrays.find(&wanted, dtype, io))
                }
                (spec, _) => input(spec.unwrap_or_default(), ty, index, io),
            };
            inputs.push(RuntimeValue::Tensor(self.checked(index, &given, tensor)?));
        }
        Ok(inputs)
    }

    /// The arguments that `arrays`, opened at `path`, has, with their numbers.
    ///
    /// # Errors
    /// If it has none, or one cannot be read or does not match its argument.
    pub(crate) fn found(
        &self,
        arrays: &mut Arrays,
        path: &Path,
        io: &mut Io<'_>,
    ) -> Result<Vec<(usize, Tensor)>, CommandFailure> {
        let mut found = Vec::new();
        for (index, ty) in self.types.iter().enumerate() {
            let number = index.to_string();
            let wanted = Wanted { stem: "input", number: &number, name: self.names.get(index) };
            if !is_given(ty) || !arrays.has(&wanted, io) {
                continue;
            }
            let tensor = dtype_of(ty).and_then(|dtype| arrays.find(&wanted, dtype, io));
            found.push((index, self.checked(index, &path.display().to_string(), tensor)?));
        }
        if found.is_empty() {
            return Err(CommandFailure::input(format!(
                "{} has no array with the name of an argument of @{}, or as input_0, input_1, …",
                path.display(),
                self.function
            )));
        }
        Ok(found)
    }

    /// A tensor that was read from `given`, if it has the type of its argument.
    fn checked(
        &self,
        index: usize,
        given: &str,
        tensor: Result<Tensor, String>,
    ) -> Result<Tensor, CommandFailure> {
        let ty = &self.types[index];
        tensor.and_then(|tensor| check(&tensor, ty).map(|()| tensor)).map_err(|why| {
            let (argument, function) = (self.describe(index), self.function);
            CommandFailure::input(format!(
                "{argument} of @{function} is a {ty}, given `{given}`: {why}"
            ))
        })
    }

    /// `argument 0`, with its name if it has one.
    fn describe(&self, index: usize) -> String {
        match self.names.get(index) {
            Some(name) => format!("argument {index} (`{name}`)"),
            None => format!("argument {index}"),
        }
    }

    /// The value given for each argument.
    fn assign<'v>(
        &self,
        values: &'v [String],
        file: Option<&Path>,
        io: &Io<'_>,
    ) -> Result<Vec<Option<&'v str>>, CommandFailure> {
        let mut assigned = vec![None; self.types.len()];
        let mut in_order = Vec::new();
        for value in values {
            let Some((index, value)) = self.named(value) else {
                if let Some(failure) = self.unknown_name(value, io) {
                    return Err(failure);
                }
                in_order.push(value.as_str());
                continue;
            };
            if assigned[index].replace(value).is_some() {
                let what = self.describe(index);
                return Err(CommandFailure::usage(format!("{what} is given more than once")));
            }
        }
        if file.is_some() {
            if let Some(value) = in_order.first() {
                return Err(CommandFailure::usage(format!(
                    "`{value}` is for no argument: where --inputs gives the others, write NAME=VALUE"
                )));
            }
            return Ok(assigned);
        }
        let given: Vec<usize> = (0..assigned.len()).filter(|&i| is_given(&self.types[i])).collect();
        let open = given.iter().filter(|&&i| assigned[i].is_none()).copied().collect::<Vec<_>>();
        if in_order.len() != open.len() {
            return Err(self.wrong_number(values.len(), &given));
        }
        for (index, value) in open.into_iter().zip(in_order) {
            assigned[index] = Some(value);
        }
        Ok(assigned)
    }

    /// The argument of `NAME=VALUE`, and the value; names may have `=` in them.
    fn named<'v>(&self, value: &'v str) -> Option<(usize, &'v str)> {
        value.match_indices('=').find_map(|(at, _)| {
            let index = self.names.find(&value[..at]).ok()?;
            Some((index, &value[at + 1..]))
        })
    }

    /// The error of `NAME=VALUE` if no argument has the name; `None` if it is a file or a literal.
    fn unknown_name(&self, value: &str, io: &Io<'_>) -> Option<CommandFailure> {
        let (name, _) = value.split_once('=')?;
        let is_file = || {
            let path = value.rsplit_once(':').map_or(value, |(path, _)| path);
            io.path(Path::new(value)).exists() || io.path(Path::new(path)).exists()
        };
        if name.is_empty() || name.contains(['<', '/']) || is_file() {
            return None;
        }
        self.names.find(name).err().map(CommandFailure::input)
    }

    fn wrong_number(&self, found: usize, given: &[usize]) -> CommandFailure {
        let (count, function) = (given.len(), self.function);
        let found = match found {
            0 => "none were given".into(),
            1 => "1 was given".into(),
            found => format!("{found} were given"),
        };
        let inputs = counted(count as u64, "input");
        let mut message = format!(
            "@{function} takes {inputs}, {found}; give --input once for each argument, or \
             --inputs with a file of them:"
        );
        for &index in given {
            message.push_str(&format!("\n  {}: {}", self.describe(index), self.types[index]));
        }
        CommandFailure::input(message)
    }
}

fn dtype_of(ty: &Type) -> Result<DType, String> {
    let unknown = || "values of this type cannot be given as inputs".to_string();
    stablo::storage_dtype(ty).ok_or_else(unknown)
}

/// A tensor for an argument of type `ty`, from a value of `--input`.
fn input(spec: &str, ty: &Type, index: usize, io: &mut Io<'_>) -> Result<Tensor, String> {
    let dtype = dtype_of(ty)?;
    let shown = |e: TensorError| e.to_string();
    let (pattern, sizes) = match spec.split_once(':') {
        Some((pattern, sizes)) => (pattern, Some(sizes)),
        None => (spec, None),
    };
    let shape = || match sizes {
        Some(sizes) => parse_shape(sizes),
        None => ty
            .as_tensor()
            .and_then(|t| t.static_shape())
            .ok_or_else(|| format!("its type has unknown sizes: write them as in `{pattern}:2x3`")),
    };
    match pattern {
        "zeros" => Tensor::zeros(dtype, shape()?).map_err(shown),
        "ones" => stablo::generated(dtype, &shape()?, |_| 1.0).map_err(shown),
        "iota" => stablo::generated(dtype, &shape()?, |i| i as f64).map_err(shown),
        "random" => stablo::random(dtype, &shape()?, index as u64, 0.0..1.0).map_err(shown),
        _ => match literal(spec, ty, dtype) {
            Some(literal) => {
                if !spec.trim_start().starts_with("dense") {
                    check_list(spec)?;
                }
                literal_tensor(&literal)
            }
            None => match not_a_number(spec, dtype) {
                Some(word) if !io.path(Path::new(spec)).exists() => {
                    let place = if word == spec.trim() { "" } else { " in the list" };
                    Err(format!("`{word}`{place} is not a number of type {dtype}"))
                }
                _ => file(spec, dtype, io),
            },
        },
    }
}

/// Sizes such as `2x3`; of a scalar, nothing.
fn parse_shape(text: &str) -> Result<Vec<usize>, String> {
    let sizes = text.split('x').filter(|_| !text.is_empty());
    let sizes = sizes.map(|size| size.parse().map_err(|_| format!("`{size}` is not a size")));
    sizes.collect()
}

/// The array in a file of one, or `FILE:NAME` in a file of several.
fn file(spec: &str, dtype: DType, io: &mut Io<'_>) -> Result<Tensor, String> {
    let exists = |path: &str| io.path(Path::new(path)).exists();
    let (path, name) = match spec.rsplit_once(':') {
        Some((path, name)) if !exists(spec) && exists(path) => (path, Some(name)),
        _ => (spec, None),
    };
    let mut arrays = Arrays::open(Path::new(path), io).map_err(|failure| {
        format!(
            "{failure}; an input is a file, `zeros`, `ones`, `iota`, `random`, a number, a list such as \
             `[1, 2]` or `dense<…>`"
        )
    })?;
    match name {
        Some(name) => arrays.named(name, dtype, io),
        None => arrays.only(dtype, io),
    }
}

/// The text of a literal: `dense<…>`, with an explicit type or that of the argument, or a number or
/// nested list in the syntax of Python. `None` if this is something else.
fn literal(text: &str, ty: &Type, dtype: DType) -> Option<String> {
    let text = text.trim();
    if text.starts_with("dense") {
        let is_typed = !text.ends_with('>') || text.contains("> : ");
        return Some(if is_typed { text.to_string() } else { format!("{text} : {ty}") });
    }
    let is_list = text.starts_with('[');
    let elements = rewrite_elements(text, dtype)?;
    let is_static = ty.as_tensor().is_some_and(|tensor| tensor.static_shape().is_some());
    if !is_list && is_static {
        return Some(format!("dense<{elements}> : {ty}"));
    }
    // The first element of each level tells the sizes; the parser compares the others with them.
    let shape: Vec<i64> = list_shape(text).into_iter().map(|size| size as i64).collect();
    // MLIR writes no brackets where there are no elements.
    let has_elements = elements.contains(|c: char| !"[], \n\t".contains(c));
    let is_closed = elements.matches('[').count() == elements.matches(']').count();
    let elements = if has_elements || !is_closed { elements } else { String::new() };
    let ty = Type::tensor(shape, ty.element_type().clone());
    Some(format!("dense<{elements}> : {ty}"))
}

/// Numbers and lists with each number as MLIR writes it: floats with a point, NaN and infinities in
/// hexadecimal. `None` if something else is among them.
fn rewrite_elements(text: &str, dtype: DType) -> Option<String> {
    let part = dtype.part();
    let element = |token: &str| -> Option<String> {
        let lower = token.to_ascii_lowercase();
        match (part, &*lower) {
            (_, "true" | "false") => return Some(lower),
            (DType::I1, "0") => return Some("false".into()),
            (DType::I1, "1") => return Some("true".into()),
            _ if !part.is_float() => return lower.parse::<i128>().is_ok().then_some(lower),
            _ => {}
        }
        let number: f64 = lower.parse().ok()?;
        if !number.is_finite() {
            return Some(format_float(non_finite_bits(number, part), part));
        }
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let point = if mantissa.contains('.') { "" } else { ".0" };
        Some(format!("{mantissa}{point}e{exponent}"))
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if "[](), \n\t".contains(first) {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.find(|c| "[](), \n\t".contains(c)).unwrap_or(rest.len());
        out.push_str(&element(&rest[..end])?);
        rest = &rest[end..];
    }
    Some(out)
}

/// Returns the first word of a list that is not a number, if this is a list.
fn not_a_number(text: &str, dtype: DType) -> Option<&str> {
    let is_list = text.trim_start().starts_with(['[', '(']);
    if !is_list && text.trim().parse::<f64>().is_err() {
        return None;
    }
    let words = text.split(|c| "[](), \n\t".contains(c)).filter(|word| !word.is_empty());
    let mut words = words.filter(|word| rewrite_elements(word, dtype).is_none());
    words.next()
}

/// Checks the brackets and commas of a number or list in the syntax of Python.
fn check_list(text: &str) -> Result<(), String> {
    let mut open: Vec<char> = Vec::new();
    let mut rest = text.trim();
    // True after a number or a closed list, which a comma or bracket follows.
    let mut complete = false;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| "[](), \n\t".contains(c)).unwrap_or(rest.len());
        let word = &rest[..end.max(first.len_utf8())];
        rest = &rest[word.len()..];
        match first {
            ' ' | '\n' | '\t' => continue,
            ',' if !complete => return Err("a number or list is missing before a `,`".into()),
            ',' if open.is_empty() => {
                return Err("several numbers are a list, which is in brackets: `[1, 2]`".into());
            }
            ',' => complete = false,
            ']' | ')' => {
                let opening = if first == ']' { '[' } else { '(' };
                if open.pop() != Some(opening) {
                    return Err(format!("there is a `{first}` without its `{opening}`"));
                }
                complete = true;
            }
            _ if complete && open.is_empty() => {
                return Err(format!(
                    "several numbers are a list, which is in brackets: `[1, 2]`; found `{word}` after the end"
                ));
            }
            _ if complete => return Err(format!("a comma is missing before `{word}`")),
            '[' | '(' => open.push(first),
            _ => complete = true,
        }
    }
    match open.last() {
        Some('(') => Err("the list is not closed: a `)` is missing".into()),
        Some(_) => Err("the list is not closed: a `]` is missing".into()),
        None => Ok(()),
    }
}

/// The bits of an infinity or NaN of a floating-point type.
fn non_finite_bits(number: f64, dtype: DType) -> u64 {
    let bits = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    let tensor = math::convert(Tensor::scalar(number), dtype);
    tensor.map_or(0, |tensor| bits(tensor.bytes()))
}

/// Levels of a nested list that are counted.
const MAX_DEPTH: usize = 64;

/// The sizes of a nested list, from its first elements.
fn list_shape(text: &str) -> Vec<usize> {
    let mut shape = Vec::new();
    let mut rest = text.trim();
    // Deeper lists are no tensors, which the parser says.
    while let Some(inner) = rest.strip_prefix('[').filter(|_| shape.len() < MAX_DEPTH) {
        let (mut depth, mut commas, mut is_empty) = (0usize, 0, true);
        for c in inner.chars() {
            match c {
                '[' | '(' => depth += 1,
                ']' | ')' if depth == 0 => break,
                ']' | ')' => depth -= 1,
                ',' if depth == 0 => commas += 1,
                _ => {}
            }
            is_empty &= c.is_whitespace();
        }
        shape.push(if is_empty { 0 } else { commas + 1 });
        rest = inner.trim_start();
    }
    shape
}

fn literal_tensor(literal: &str) -> Result<Tensor, String> {
    let attribute = stablo::parse_attribute(literal).map_err(|error| first(&error).to_string())?;
    match attribute.to_tensor() {
        Some(tensor) => tensor.map_err(|e| e.to_string()),
        None => Err("this literal has no elements that can be run on".into()),
    }
}

/// Checks that a tensor has the type of its argument.
fn check(tensor: &Tensor, ty: &Type) -> Result<(), String> {
    if stablo::value_fits(&RuntimeValue::Tensor(tensor.clone()), ty) {
        return Ok(());
    }
    let shape: Vec<i64> = tensor.shape().iter().map(|&d| d as i64).collect();
    Err(format!("this is a {}", Type::tensor(shape, Type::from(tensor.dtype()))))
}
