//! Which part of a run is written.

use std::collections::BTreeSet;
use std::str::FromStr;

use crate::{Call, Location};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// A time and some ranks. Calls that are partly within it belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// From when on, nanoseconds of the ranks' clocks.
    pub from: u64,
    /// Until when, without it; `None` for the end.
    pub until: Option<u64>,
    /// Which ranks; `None` for all.
    pub ranks: Option<BTreeSet<u32>>,
}

/// Text that tells no window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no time from A to B; use seconds, as in 0.5..0.75, 2.. or ..10")]
pub struct WindowError(String);

impl Window {
    /// Whether a call of a location belongs to it.
    pub fn holds(&self, location: Location, call: &Call) -> bool {
        let within = self.until.is_none_or(|until| call.enter < until) && call.leave >= self.from;
        within && self.ranks.as_ref().is_none_or(|ranks| ranks.contains(&location.rank))
    }

    /// The same window, its times counted from another moment.
    pub fn counted_from(&self, moment: u64) -> Window {
        let moved = |time: u64| time.saturating_add(moment);
        Window { from: moved(self.from), until: self.until.map(moved), ranks: self.ranks.clone() }
    }
}

impl FromStr for Window {
    type Err = WindowError;

    /// `A..B` in seconds; either may be left out.
    fn from_str(text: &str) -> Result<Window, WindowError> {
        let wrong = || WindowError(text.to_owned());
        let (from, until) = text.split_once("..").ok_or_else(wrong)?;
        let time = |text: &str| match text.parse::<f64>() {
            Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok((seconds * SECOND).round() as u64),
            _ => Err(wrong()),
        };
        let from = if from.is_empty() { 0 } else { time(from)? };
        let until = if until.is_empty() { None } else { Some(time(until)?) };
        if until.is_some_and(|until| until <= from) {
            return Err(wrong());
        }
        Ok(Window { from, until, ranks: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_from_and_until() {
        let window = |from, until| Ok(Window { from, until, ranks: None });
        assert_eq!("0.5..0.75".parse(), window(500_000_000, Some(750_000_000)));
        assert_eq!("2..".parse(), window(2_000_000_000, None));
        assert_eq!("..1e-6".parse(), window(0, Some(1000)));
        for wrong in ["", "1", "2..1", "1..1", "a..b", "-1..2", "nan..", "..inf"] {
            assert!(wrong.parse::<Window>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn calls_partly_within_belong() {
        let window = Window { from: 10, until: Some(20), ranks: Some([1].into()) };
        let holds = |rank, enter, leave| {
            window.holds(Location { rank, thread: 0 }, &Call { enter, leave, ..Call::default() })
        };
        assert!(holds(1, 5, 10) && holds(1, 19, 30) && holds(1, 0, 100));
        assert!(!holds(1, 0, 9) && !holds(1, 20, 30) && !holds(0, 10, 12));
        assert_eq!(window.counted_from(100).until, Some(120));
    }
}
