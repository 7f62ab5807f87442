//! The printer: MLIR text as upstream's printer writes it, byte for byte, for the same flags.
//!
//! Printing never fails: an op that does not satisfy its declaration prints in the generic form.

mod aliases;
mod attributes;
mod format;
mod locations;
mod names;
mod ops;
mod types;
mod users;

pub use ops::print_module_op;

use crate::attrs::{Attribute, Resource};
use crate::diag::Diagnostic;
use crate::ir::{Module, OpRef, Value};
use crate::text::MAX_PARTS;
use crate::types::Type;
use aliases::{Aliases, Collector};
use names::Names;
use rustc_hash::FxHashMap;
use std::fmt;
use users::Users;

/// Printer options, named after upstream's flags.
#[derive(Clone, Copy, Debug)]
pub struct PrintOptions {
    /// `--mlir-print-op-generic`
    pub generic: bool,
    /// `--mlir-print-debuginfo`
    pub debug_info: bool,
    /// `--mlir-pretty-debuginfo`
    pub pretty_debug_info: bool,
    /// `--mlir-use-nameloc-as-prefix`: values are named after the names in their locations.
    pub name_locations_as_prefix: bool,
    /// `--mlir-print-local-scope`
    pub local_scope: bool,
    /// `--mlir-elide-elementsattrs-if-larger`: elides attributes with more elements.
    pub elide_elements_if_larger: Option<usize>,
    /// `--mlir-elide-resource-strings-if-larger`: elides resources with more characters.
    pub elide_resources_if_larger: Option<usize>,
    /// `--mlir-print-elementsattrs-with-hex-if-larger`: prints attributes with more elements in
    /// hexadecimal; none if absent.
    pub hex_if_larger: Option<usize>,
    /// `--mlir-print-skip-regions`
    pub skip_regions: bool,
    /// `--mlir-print-unique-ssa-ids`: value numbers are unique across regions. Always the case in
    /// the generic form.
    pub unique_ssa_ids: bool,
    /// `--mlir-print-value-users`: comments name the users of values.
    pub value_users: bool,
}

impl Default for PrintOptions {
    fn default() -> PrintOptions {
        PrintOptions {
            generic: false,
            debug_info: false,
            pretty_debug_info: false,
            name_locations_as_prefix: false,
            local_scope: false,
            elide_elements_if_larger: None,
            elide_resources_if_larger: None,
            hex_if_larger: Some(100),
            skip_regions: false,
            unique_ssa_ids: false,
            value_users: false,
        }
    }
}

/// Prints a whole module, including aliases and resources. See [`print_op`] for the limit.
pub fn print_module(module: &Module, options: &PrintOptions) -> String {
    print_op(module.top(), options)
}

/// The text of the module with default options, as [`print_module`] gives it.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_module(self, &PrintOptions::default()))
    }
}

/// The text of the module, as `Display` gives it.
impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text of a whole module, aliases and resources included.
///
/// # Errors
/// If the expanded types or attributes of an op, which may share parts, are too long, or memory
/// does not suffice.
pub fn try_print_module(module: &Module, options: &PrintOptions) -> Result<String, Diagnostic> {
    let printer = printed_op(module.top(), options);
    if printer.out_of_memory {
        let message = format!("no memory is left after {} bytes of text", printer.out.len());
        return Err(Diagnostic::error("print", message));
    }
    if printer.written <= printer.limit {
        return Ok(printer.out);
    }
    let message = format!(
        "an op holds more than {MAX_PARTS} types and attributes, counted as often as they would be written"
    );
    Err(Diagnostic::error("print", message))
}

/// Prints an op as if it were the top of a file. Types and attributes beyond the limit on expanded
/// text are truncated.
pub fn print_op(op: OpRef<'_>, options: &PrintOptions) -> String {
    printed_op(op, options).out
}

fn printed_op<'m>(op: OpRef<'m>, options: &PrintOptions) -> Printer<'m> {
    let mut printer = Printer::new(*options);
    printer.module = Some(op.module());
    printer.names = Names::of(op, options);
    printer.users = options.value_users.then(|| Users::of(op));
    if !options.local_scope {
        // A first pass collects aliases; its output is discarded.
        printer.collector = Some(Collector::new(op.module().registry()));
        printer.full_op(op);
        printer.aliases = printer.collector.take().map(Collector::finish).unwrap_or_default();
        printer.out.clear();
    }
    printer.alias_definitions(false);
    printer.full_op(op);
    printer.write("\n");
    printer.alias_definitions(true);
    if !options.local_scope {
        printer.resources();
    }
    printer
}

/// Prints an attribute.
pub fn print_attribute(attribute: &Attribute, options: &PrintOptions) -> String {
    let mut printer = Printer::new(*options);
    printer.attribute(attribute);
    printer.out
}

/// Names of values as in the printed text of an op.
pub struct ValueNames<'m> {
    printer: Printer<'m>,
}

impl<'m> ValueNames<'m> {
    /// The names of all values below `op`, as printed by [`print_op`].
    pub fn of(op: OpRef<'m>) -> ValueNames<'m> {
        let mut printer = Printer::new(PrintOptions::default());
        printer.module = Some(op.module());
        printer.names = Names::of(op, &printer.options);
        ValueNames { printer }
    }

    /// Gives consecutive results of an op, or an argument, another name, without its `%`.
    pub fn rename(&mut self, values: &[Value], name: &str) {
        self.printer.names.rename(values, name);
    }

    /// `%name`, or `%name#1` for one of several results.
    pub fn get(&mut self, value: Value) -> String {
        self.printer.value(value);
        std::mem::take(&mut self.printer.out)
    }

    /// The text of an op without its regions and large elements, as it stands in that text.
    pub fn text(&mut self, op: OpRef<'m>) -> String {
        let options = PrintOptions {
            elide_elements_if_larger: Some(16),
            elide_resources_if_larger: Some(16),
            local_scope: true,
            skip_regions: true,
            ..self.printer.options
        };
        let options = std::mem::replace(&mut self.printer.options, options);
        self.printer.full_op(op);
        self.printer.options = options;
        std::mem::take(&mut self.printer.out)
    }
}

/// Prints MLIR text; the hooks of dialects print through its methods.
pub struct Printer<'m> {
    /// The module whose values have names; `None` to print a type or attribute alone.
    module: Option<&'m Module>,
    out: String,
    options: PrintOptions,
    indent: usize,
    names: Names,
    /// The users of values, if they are printed.
    users: Option<Users>,
    aliases: Aliases,
    /// The alias collector of the first pass.
    collector: Option<Collector>,
    /// Default dialects of the enclosing regions, innermost last.
    default_dialects: Vec<&'static str>,
    /// Resources in the order in which they are printed.
    resources: Vec<Resource>,
    /// Distinct attributes, numbered in the order in which they are printed.
    distinct: FxHashMap<Attribute, usize>,
    /// Number of types and attributes printed for the current op, including nested ones; nothing is
    /// printed beyond `limit`.
    written: usize,
    limit: usize,
    /// Text is missing for lack of memory.
    out_of_memory: bool,
}

/// Maximum number of types and attributes in a message, unless a precision limits the text further.
const MESSAGE_LIMIT: usize = 1 << 16;

impl<'m> Printer<'m> {
    fn new(options: PrintOptions) -> Self {
        Printer {
            module: None,
            out: String::new(),
            options,
            indent: 0,
            names: Names::default(),
            users: None,
            aliases: Aliases::default(),
            collector: None,
            default_dialects: vec!["builtin"],
            resources: Vec::new(),
            distinct: FxHashMap::default(),
            written: 0,
            limit: MAX_PARTS,
            out_of_memory: false,
        }
    }

    /// Counts a type or attribute. Returns false beyond the limit: shared parts may expand
    /// exponentially.
    fn may_write(&mut self) -> bool {
        self.written += 1;
        self.written <= self.limit
    }

    /// Resets the counter for the next op, unless the limit was exceeded.
    fn next_op(&mut self) {
        if self.written <= self.limit {
            self.written = 0;
        }
        if let Some(collector) = &mut self.collector {
            collector.next_op();
        }
    }

    /// Writes text verbatim.
    pub fn write(&mut self, text: &str) {
        if self.has_room(text.len()) {
            self.out.push_str(text);
        }
    }

    /// Reserves memory for that many bytes, and for the short texts that follow. Once there is
    /// none, nothing long is written.
    fn has_room(&mut self, bytes: usize) -> bool {
        const SHORT: usize = 256;
        if self.out.capacity() - self.out.len() >= bytes.saturating_add(SHORT) {
            return !self.out_of_memory;
        }
        let bytes = bytes.saturating_add(2 * SHORT);
        let reserved = self.out.try_reserve(bytes).is_ok();
        // Doubling may be too much where this much is not.
        if !self.out_of_memory && (reserved || self.out.try_reserve_exact(bytes).is_ok()) {
            return true;
        }
        self.out_of_memory = true;
        false
    }

    /// Writes a number.
    pub fn number(&mut self, number: impl fmt::Display) {
        use fmt::Write as _;
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{number}");
    }

    /// Writes `element` for each item, with `separator` between them.
    pub fn separated<T>(
        &mut self,
        separator: &str,
        items: impl IntoIterator<Item = T>,
        mut element: impl FnMut(&mut Self, T),
    ) {
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.write(separator);
            }
            element(self, item);
        }
    }

    /// Starts a new line at the current indentation.
    pub fn newline(&mut self) {
        self.out.push('\n');
        self.write_indent();
    }

    fn write_indent(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    /// Increases the indentation.
    pub fn indent(&mut self) {
        self.indent += 1;
    }

    /// Decreases the indentation.
    pub fn dedent(&mut self) {
        self.indent = self.indent.saturating_sub(1);
    }

    /// Writes a string literal with its quotes.
    pub fn string(&mut self, bytes: &[u8]) {
        if !self.has_room(bytes.len().saturating_mul(3)) {
            return;
        }
        self.out.push('"');
        for &b in bytes {
            match b {
                b'"' => self.out.push_str("\\22"),
                b'\\' => self.out.push_str("\\\\"),
                0x20..=0x7e => self.out.push(b as char),
                _ => {
                    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                    self.out.push('\\');
                    self.out.push(DIGITS[usize::from(b >> 4)] as char);
                    self.out.push(DIGITS[usize::from(b & 15)] as char);
                }
            }
        }
        self.out.push('"');
    }

    /// Writes `@name`, quoted where needed.
    pub fn symbol_name(&mut self, name: &str) {
        self.out.push('@');
        let mut letters = name.bytes();
        let bare = letters.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && letters.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'));
        if bare { self.write(name) } else { self.string(name.as_bytes()) }
    }

    /// Writes a keyword, or a string if the text is not one.
    pub fn keyword_or_string(&mut self, text: &str) {
        let mut letters = text.bytes();
        let bare = letters.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && letters.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'));
        if bare { self.write(text) } else { self.string(text.as_bytes()) }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, PrintOptions::default(), |printer| printer.ty(self))
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // For display in messages, elide large elements.
        let options =
            PrintOptions { elide_elements_if_larger: Some(256), ..PrintOptions::default() };
        show(f, options, |printer| printer.attribute(self))
    }
}

/// Writes a type or attribute for display in messages. A precision, as in `{ty:.80}`, is the number
/// of characters that are wanted: not much more is written, however many parts there are.
fn show(
    f: &mut fmt::Formatter<'_>,
    options: PrintOptions,
    write: impl FnOnce(&mut Printer<'_>),
) -> fmt::Result {
    let mut printer = Printer::new(options);
    // Each type and each attribute takes at least a character.
    printer.limit = f.precision().unwrap_or(MESSAGE_LIMIT);
    write(&mut printer);
    f.write_str(&printer.out)?;
    if printer.written > printer.limit { f.write_str("…") } else { Ok(()) }
}
