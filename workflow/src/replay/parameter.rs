//! What a sweep of replays varies.

use std::fmt;
use std::str::FromStr;

use falloff_messages::{Distribution, Network, Noise, Perturbation, Scenario};

use crate::error::{Error, Result};

/// What a sweep of replays varies; all else is as in the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Constant noise of each burst, in nanoseconds.
    Noise,
    /// L, in nanoseconds.
    Latency,
    /// o, in nanoseconds.
    Overhead,
    /// The inverse of G, in bytes a second.
    Bandwidth,
    /// S, in bytes.
    Eager,
}

const ALL: [(Parameter, &str); 5] = [
    (Parameter::Noise, "noise"),
    (Parameter::Latency, "latency"),
    (Parameter::Overhead, "overhead"),
    (Parameter::Bandwidth, "bandwidth"),
    (Parameter::Eager, "eager"),
];

/// Picoseconds in a second.
const PICOSECONDS: f64 = 1e12;

impl Parameter {
    /// The base with another value of this.
    pub fn vary(self, base: &Scenario, value: f64) -> Scenario {
        let whole = value.round() as u64;
        let network = match self {
            Parameter::Noise => {
                let local = Noise::PerBurst { length: Distribution::Constant(value), shortest: 1 };
                return base.disturbed(Perturbation { local, ..Perturbation::none() });
            }
            Parameter::Latency => Network { latency: whole, ..base.network },
            Parameter::Overhead => Network { overhead: whole, ..base.network },
            Parameter::Bandwidth => Network { byte_ps: byte_ps(value), ..base.network },
            Parameter::Eager => Network { eager: whole, ..base.network },
        };
        base.on(network)
    }
}

/// Picoseconds a byte at so many bytes a second.
pub(super) fn byte_ps(bandwidth: f64) -> u64 {
    (PICOSECONDS / bandwidth).round() as u64
}

impl FromStr for Parameter {
    type Err = Error;

    fn from_str(text: &str) -> Result<Parameter> {
        ALL.iter().find(|(_, name)| *name == text).map(|&(parameter, _)| parameter).ok_or_else(|| {
            Error::Usage {
                action: "sweep a parameter of the replay",
                reason: format!("there is no parameter `{text}`"),
                hint: format!("name one of {}", ALL.map(|(_, name)| name).join(", ")),
            }
        })
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ALL.iter().find(|(parameter, _)| parameter == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}
