//! Texts of ops with placeholders, from their declared formats.

use stablo::ir::{Arity, OpDef};
use stablo::syntax::{Directive, Literal};

/// The text of an op with placeholders, as editors know them: `${1:%lhs}`. `None` if its syntax is
/// written by hand in the parser.
pub(crate) fn snippet(def: &'static OpDef, name: &str) -> Option<String> {
    if def.name == "func.return" {
        return Some(format!("{name} ${{1:%result}} : ${{2:type}}"));
    }
    if def.name == "func.call" {
        return Some(format!(
            "{name} @${{1:function}}(${{2:%operands}}) : (${{3:types}}) -> ${{4:type}}"
        ));
    }
    let directives = def.format().ok().filter(|directives| !directives.is_empty())?;
    let mut writer = Writer { text: name.to_string(), next: 1, def, glued: false };
    writer.all(directives);
    Some(writer.text)
}

struct Writer {
    text: String,
    next: usize,
    def: &'static OpDef,
    /// True if no space is written before the next part.
    glued: bool,
}

impl Writer {
    fn all(&mut self, directives: &[Directive]) {
        for directive in directives {
            self.one(directive);
        }
    }

    fn one(&mut self, directive: &Directive) {
        match directive {
            Directive::Literal(Literal::Text(text)) => {
                let hugs_left = matches!(*text, "," | ")" | "]" | ">" | "(" | "<");
                if !hugs_left && !self.glued {
                    self.text.push(' ');
                }
                self.text.push_str(text);
                self.glued = matches!(*text, "(" | "[" | "<");
            }
            Directive::Literal(_) => {}
            Directive::Operand(slot) => {
                let slot = &self.def.operands[*slot];
                let many = if slot.arity == Arity::Variadic { ", …" } else { "" };
                self.placeholder(&format!("%{}{many}", slot.name));
            }
            Directive::Operands => self.placeholder("%operands"),
            Directive::Attribute(slot) => {
                let slot = &self.def.attributes[*slot];
                match crate::hover::enumeration(slot) {
                    Some(def) => {
                        let cases: Vec<&str> = def.cases.iter().map(|(_, case)| *case).collect();
                        self.space();
                        self.text.push_str(&format!("${{{}|{}|}}", self.next, cases.join(",")));
                        self.next += 1;
                    }
                    None => self.placeholder(slot.name),
                }
            }
            Directive::Region(_) | Directive::Regions => {
                self.space();
                self.text.push_str(&format!("{{\n  ${{{}}}\n}}", self.next));
                self.next += 1;
            }
            Directive::Type(_) => self.placeholder("type"),
            Directive::FunctionalType(..) => {
                self.space();
                self.text.push_str(&format!(
                    "(${{{}:types}}) -> ${{{}:type}}",
                    self.next,
                    self.next + 1
                ));
                self.next += 2;
            }
            Directive::AttrDict | Directive::AttrDictWithKeyword => {}
            Directive::Custom(name, args) => {
                let lower = name.to_ascii_lowercase();
                let what = match args.first() {
                    Some(stablo::syntax::DirectiveArg::Attribute(slot)) => {
                        self.def.attributes[*slot].name
                    }
                    _ if lower.contains("type") => "type",
                    _ => "…",
                };
                self.placeholder(what);
            }
            // Optional parts are left out.
            Directive::Group { otherwise, .. } => self.all(otherwise),
        }
    }

    fn space(&mut self) {
        if !self.glued {
            self.text.push(' ');
        }
        self.glued = false;
    }

    fn placeholder(&mut self, what: &str) {
        self.space();
        self.text.push_str(&format!("${{{}:{what}}}", self.next));
        self.next += 1;
    }
}
