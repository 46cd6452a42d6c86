//! The event log that a run may keep beside its samples.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Logged {
    /// Calls of MPI.
    Mpi,
}

impl Logged {
    /// Name on the command line and in the environment.
    pub fn name(self) -> &'static str {
        match self {
            Logged::Mpi => "mpi",
        }
    }
}

/// An event log that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLog {
    /// What is logged.
    pub of: Logged,
    /// How much a process may log.
    #[serde(rename = "limit_bytes")]
    pub limit: Size,
}

/// A number of bytes, as users write it.
///
/// ```
/// use falloff_profiler::Size;
/// assert_eq!("64MiB".parse::<Size>().unwrap().bytes(), 64 << 20);
/// assert_eq!(Size::from_bytes(64 << 20).to_string(), "64MiB");
/// assert!("64MB".parse::<Size>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Size(u64);

const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];

impl Size {
    /// What a process logs at most if nothing is said.
    pub const OF_A_LOG: Size = Size(256 << 20);

    /// So many bytes.
    pub const fn from_bytes(bytes: u64) -> Size {
        Size(bytes)
    }

    /// How many bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let (number, shift) = UNITS
            .iter()
            .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)))
            .unwrap_or((text, 0));
        let bytes =
            number.trim_end().parse::<u64>().ok().filter(|n| *n > 0).and_then(|n| n.checked_mul(1 << shift));
        bytes.map(Size).ok_or_else(|| {
            "a size is a number of bytes, or one with KiB, MiB or GiB behind it: 256MiB".into()
        })
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |shift: u32| self.0 > 0 && self.0.trailing_zeros() >= shift;
        match UNITS.iter().find(|(_, shift)| whole(*shift)) {
            Some((unit, shift)) => write!(f, "{}{unit}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        let bytes = |text: &str| text.parse::<Size>().ok().map(Size::bytes);
        assert_eq!(bytes("1000"), Some(1000));
        assert_eq!(bytes("2 GiB"), Some(2 << 30));
        for wrong in ["", "0", "-1", "MiB", "1.5GiB", "99999999999GiB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
        for text in ["1000", "3KiB", "1GiB", "1025KiB"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
    }
}
