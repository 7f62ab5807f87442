//! The ways to run a program.

/// A way to run programs. Engines compute the same bits, and differ in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Plans: elementwise ops fused to loops, data movement as views, prepared functions, threads.
    #[default]
    Fast,
    /// The interpreter, op by op as the specification reads.
    Reference,
}

impl Engine {
    /// All engines, the default first.
    pub const ALL: &'static [Engine] = &[Engine::Fast, Engine::Reference];

    /// The engine of that name.
    pub fn from_name(name: &str) -> Option<Engine> {
        Engine::ALL.iter().copied().find(|engine| engine.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Reference => "reference",
            Engine::Fast => "fast",
        }
    }

    /// A summary of one line.
    pub fn description(self) -> &'static str {
        match self {
            Engine::Reference => "The interpreter, op by op as the specification reads",
            Engine::Fast => "A plan of the program, with the bits of the interpreter",
        }
    }
}
