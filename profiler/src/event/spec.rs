//! One event as asked for: `EVENT`, `EVENT@RATE` or `EVENT/PERIOD`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::table::{PerfEvent, Sampling};

/// Most samples a second that can be asked for.
pub const RATE_HZ_MAX: u32 = 100_000;

/// What an event measures.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// CPU time and waits: all of wall time.
    Time,
    /// CPU time.
    Cpu,
    /// Waits: time off the CPU of a thread's own accord, and time ready to run without a CPU.
    Blocked,
    /// An event of perf.
    Perf(PerfEvent),
}

/// One event as asked for.
///
/// ```
/// use falloff_profiler::{EventSpec, Sampling};
/// let spec: EventSpec = "cycles/1000000".parse().unwrap();
/// assert_eq!(spec.sampling, Some(Sampling::Period(1_000_000)));
/// assert_eq!(spec.to_string(), "cycles/1000000");
/// assert_eq!("CPU-CYCLES@99".parse::<EventSpec>().unwrap().to_string(), "cycles@99");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventSpec {
    /// What is measured.
    pub measure: Measure,
    /// How often it is sampled, if that was said.
    pub sampling: Option<Sampling>,
}

/// Why a text is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No such name.
    #[error("there is no event `{0}`; use time, cpu, blocked, or an event that `falloff doctor` lists")]
    Unknown(String),
    /// Part of others.
    #[error("`preempted` is measured together with `blocked`; use `blocked`, or `time` for both and `cpu`")]
    Preempted,
    /// Not a rate.
    #[error("`{0}` is no rate; use 1 to {RATE_HZ_MAX} samples per second")]
    Rate(String),
    /// Not a period.
    #[error("`{0}` is no period; use the number of events between two samples, 1 or more")]
    Period(String),
    /// A clock has no events to be counted.
    #[error("`{0}` is a clock, which has a rate and no period; use `{0}@RATE`")]
    ClockPeriod(String),
}

/// Parses a rate in samples per second.
pub fn rate_hz(text: &str) -> Result<u32, SpecError> {
    match text.parse() {
        Ok(rate @ 1..=RATE_HZ_MAX) => Ok(rate),
        _ => Err(SpecError::Rate(text.to_owned())),
    }
}

impl FromStr for EventSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<EventSpec, SpecError> {
        let (name, sampling) = match text.split_once(['@', '/']) {
            None => (text, None),
            Some((name, rate)) if text[name.len()..].starts_with('@') => {
                (name, Some(Sampling::Rate(rate_hz(rate)?)))
            }
            Some((name, period)) => (name, Some(Sampling::Period(parse_period(period)?))),
        };
        let measure = Measure::named(name)?;
        match (&measure, sampling) {
            (Measure::Perf(_), _) | (_, None | Some(Sampling::Rate(_))) => {
                Ok(EventSpec { measure, sampling })
            }
            (_, Some(Sampling::Period(_))) => Err(SpecError::ClockPeriod(name.to_owned())),
        }
    }
}

fn parse_period(text: &str) -> Result<u64, SpecError> {
    // The kernel takes the uppermost bit for a sign.
    match text.parse() {
        Ok(period @ 1..=0x7fff_ffff_ffff_ffff) => Ok(period),
        _ => Err(SpecError::Period(text.to_owned())),
    }
}

impl Measure {
    fn named(name: &str) -> Result<Measure, SpecError> {
        Ok(match name {
            "time" => Measure::Time,
            "cpu" => Measure::Cpu,
            "blocked" => Measure::Blocked,
            "preempted" => return Err(SpecError::Preempted),
            _ => Measure::Perf(PerfEvent::named(name).ok_or_else(|| SpecError::Unknown(name.to_owned()))?),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Measure::Time => "time",
            Measure::Cpu => "cpu",
            Measure::Blocked => "blocked",
            Measure::Perf(event) => &event.name,
        }
    }
}

impl fmt::Display for EventSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.measure.name())?;
        match self.sampling {
            None => Ok(()),
            Some(Sampling::Rate(rate)) => write!(f, "@{rate}"),
            Some(Sampling::Period(period)) => write!(f, "/{period}"),
        }
    }
}

impl TryFrom<String> for EventSpec {
    type Error = SpecError;

    fn try_from(text: String) -> Result<EventSpec, SpecError> {
        text.parse()
    }
}

impl From<EventSpec> for String {
    fn from(spec: EventSpec) -> String {
        spec.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_event_is_refused() {
        let refused = |text: &str| text.parse::<EventSpec>().unwrap_err();
        assert_eq!(refused("cpu@0"), SpecError::Rate("0".into()));
        assert_eq!(refused("cpu@100001"), SpecError::Rate("100001".into()));
        assert_eq!(refused("cycles@"), SpecError::Rate(String::new()));
        assert_eq!(refused("cycles/0"), SpecError::Period("0".into()));
        assert_eq!(refused("cycles/9223372036854775808"), SpecError::Period("9223372036854775808".into()));
        assert_eq!(refused("cycles/1@2"), SpecError::Period("1@2".into()));
        assert_eq!(refused("time/5"), SpecError::ClockPeriod("time".into()));
        assert_eq!(refused("preempted"), SpecError::Preempted);
        assert_eq!(refused("@5"), SpecError::Unknown(String::new()));
        assert_eq!(refused("ä@5"), SpecError::Unknown("ä".into()));
    }

    #[test]
    fn texts_come_back() {
        for text in ["time", "cpu@1000", "blocked@50", "page-faults/1", "r1c2@99", "LLC-load-misses/10000"] {
            assert_eq!(text.parse::<EventSpec>().unwrap().to_string(), text);
        }
    }
}
