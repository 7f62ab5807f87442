//! Versions of the dialect.
//!
//! Source: StableHLO `docs/compatibility.md`, `docs/vhlo.md`.

use std::fmt;
use std::str::FromStr;

/// A version, such as 1.20.0. The dialect changes only between versions with patch 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Major number.
    pub major: u64,
    /// Minor number.
    pub minor: u64,
    /// Patch.
    pub patch: u64,
}

impl Version {
    /// The newest version.
    pub const CURRENT: Version = Version::new(1, 20);
    /// The oldest version.
    pub const MINIMUM: Version = Version::new(0, 9);

    /// `major.minor.0`
    pub const fn new(major: u64, minor: u64) -> Version {
        Version { major, minor, patch: 0 }
    }

    /// This version with patch 0: ops, attributes and types change only between minor versions.
    pub fn without_patch(self) -> Version {
        Version { patch: 0, ..self }
    }

    /// The bytecode format version of artifacts of this version.
    pub fn bytecode_version(self) -> u64 {
        const SINCE: [(Version, u64); 5] = [
            (Version::new(0, 15), 6),
            (Version::new(0, 14), 4),
            (Version::new(0, 12), 3),
            (Version::new(0, 10), 1),
            (Version::new(0, 9), 0),
        ];
        SINCE.iter().find(|(since, _)| *since <= self).map_or(0, |(_, format)| *format)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The text does not have the form `1.20.0`.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidVersion;

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Version, InvalidVersion> {
        let digits = |part: &str| match part.bytes().all(|b| b.is_ascii_digit()) {
            true => part.parse().map_err(|_| InvalidVersion),
            false => Err(InvalidVersion),
        };
        let numbers = text.split('.').map(digits).collect::<Result<Vec<u64>, _>>()?;
        match numbers[..] {
            [major, minor, patch] => Ok(Version { major, minor, patch }),
            _ => Err(InvalidVersion),
        }
    }
}

/// How old the readers of an artifact may be.
///
/// Source: StableHLO `docs/compatibility.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompatibilityRequirement {
    /// No old readers: the current version.
    None,
    /// Four weeks.
    Week4,
    /// Twelve weeks.
    Week12,
    /// The oldest supported version.
    Max,
}

impl CompatibilityRequirement {
    /// The version to write for such readers.
    pub fn version(self) -> Version {
        match self {
            CompatibilityRequirement::None => Version::CURRENT,
            CompatibilityRequirement::Week4 => Version::new(1, 18),
            CompatibilityRequirement::Week12 => Version { patch: 2, ..Version::new(1, 16) },
            CompatibilityRequirement::Max => Version::MINIMUM,
        }
    }
}
