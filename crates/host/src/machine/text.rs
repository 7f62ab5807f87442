//! Models as text: a line `name = value` for each fact.

use super::Machine;
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::Read;

/// The longest file that is read.
const MAX_BYTES: u64 = 1 << 16;
/// The greatest number in a model.
const MAX_VALUE: usize = 1 << 30;

/// Why there is no model of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineError(String);

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MachineError {}

impl Machine {
    /// The numbers of the model with their names, in the order in which they are printed.
    pub fn facts(&self) -> [(&'static str, usize); 14] {
        let mut copy = self.clone();
        copy.facts_mut().map(|(name, value)| (name, *value))
    }

    /// Changes a number of [`Machine::facts`]; another name has no effect.
    pub fn set_fact(&mut self, name: &str, value: usize) {
        if let Some((_, fact)) = self.facts_mut().into_iter().find(|(known, _)| *known == name) {
            *fact = value.clamp(1, MAX_VALUE);
        }
    }

    fn facts_mut(&mut self) -> [(&'static str, &mut usize); 14] {
        [
            ("l1_bytes", &mut self.l1.bytes),
            ("l1_shared_by", &mut self.l1.shared_by),
            ("l2_bytes", &mut self.l2.bytes),
            ("l2_shared_by", &mut self.l2.shared_by),
            ("l3_bytes", &mut self.l3.bytes),
            ("l3_shared_by", &mut self.l3.shared_by),
            ("vector_bits", &mut self.vector_bits),
            ("full_rate_bits", &mut self.full_rate_bits),
            ("threads", &mut self.threads),
            ("hand_over_ns", &mut self.hand_over_ns),
            ("wake_ns", &mut self.wake_ns),
            ("operations_per_us", &mut self.operations_per_us),
            ("flops_per_us", &mut self.flops_per_us),
            ("memory_bytes_per_us", &mut self.memory_bytes_per_us),
        ]
    }

    /// Reads the text that [`Machine`] displays: lines `name = value`, and comments after `#`.
    /// Facts without a line are those of this machine.
    ///
    /// # Errors
    /// If a line is no fact, or a number is not between 1 and 2^30.
    pub fn parse(text: &str) -> Result<Machine, MachineError> {
        let mut machine = Machine::detect();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let error = |message: String| Err(MachineError(format!("line {number}: {message}")));
            let Some((name, value)) = line.split_once('=') else {
                return error(format!("`{line}` is not of the form `name = value`"));
            };
            let (name, value) = (name.trim(), value.trim());
            if name == "name" {
                machine.name = Cow::Owned(value.trim_matches('"').to_owned());
                continue;
            }
            let facts = machine.facts_mut();
            let known = facts.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
            let Some((_, fact)) = facts.into_iter().find(|(known, _)| *known == name) else {
                return error(format!("there is no fact `{name}`; facts are name, {known}"));
            };
            match value.parse() {
                Ok(value @ 1..=MAX_VALUE) => *fact = value,
                _ => {
                    return error(format!(
                        "`{name}` is `{value}`, not a number between 1 and {MAX_VALUE}"
                    ));
                }
            }
        }
        Ok(machine)
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "name = \"{}\"", self.name)?;
        self.facts().iter().try_for_each(|(name, value)| writeln!(f, "{name} = {value}"))
    }
}

/// Reads the model in a file.
pub(super) fn read(path: &str) -> Result<Machine, MachineError> {
    let mut text = String::new();
    let file = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
    if let Err(error) = file {
        let presets = Machine::presets().iter().map(|preset| &*preset.name);
        let presets = presets.collect::<Vec<_>>().join(", ");
        return Err(MachineError(format!(
            "`{path}` is neither a file with a machine model ({error}) nor one of {presets}"
        )));
    }
    Machine::parse(&text)
        .map_err(|MachineError(message)| MachineError(format!("{path}: {message}")))
}
