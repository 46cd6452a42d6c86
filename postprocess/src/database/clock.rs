//! How a location's CPU time and waits were measured.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An enum whose values have words: the same in databases, JSON and reports.
macro_rules! clock {
    ($(#[$about:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub enum $name { $($(#[$each])* #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// All of them; the place of each is its number in measurement files, but for the last.
            const ALL: &[$name] = &[$($name::$variant),*];

            /// The word that databases and reports use.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The one with this word.
            pub fn from_word(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|c| c.word() == word)
            }

            /// The one with this number in measurement files.
            pub(crate) fn from_code(code: u16) -> $name {
                $name::ALL.get(usize::from(code)).copied().unwrap_or($name::Unknown)
            }
        }
    };
}

clock! {
    /// How the CPU time of a thread was sampled.
    CpuClock {
        /// Not at all.
        #[default]
        NotMeasured = "not measured",
        /// By a timer on the thread's CPU clock.
        Timer = "CPU timer",
        /// By perf task-clock events.
        TaskClock = "perf task-clock",
        /// By perf task-clock events that see user mode only; kernel time is booked at the next sample.
        TaskClockUser = "perf task-clock, user mode only",
        /// By perf task-clock events at first, and by a timer since the thread yielded so often that its event cost too much.
        TaskClockThenTimer = "perf task-clock, then CPU timer",
        /// The same after events that see user mode only.
        TaskClockUserThenTimer = "perf task-clock, user mode only, then CPU timer",
        /// In a way that this version does not know.
        Unknown = "unknown clock",
    }
}

clock! {
    /// How the waits of a thread were found.
    WaitClock {
        /// Not at all.
        #[default]
        NotMeasured = "not measured",
        /// By perf context-switch events.
        Switches = "context switches",
        /// By timing the calls of the C library that may block.
        Calls = "timed calls",
        /// By a timer on wall-clock time.
        Wall = "wall timer",
        /// By switches at first, and by calls since the thread switched so often that trapping switches cost too much.
        SwitchesThenCalls = "context switches, then timed calls",
        /// In a way that this version does not know.
        Unknown = "unknown clock",
    }
}

/// The clocks of a location. Values measured by different ones are not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Clocks {
    /// How CPU time was sampled.
    pub cpu: CpuClock,
    /// How waits were found.
    pub waits: WaitClock,
}

impl CpuClock {
    /// The one that was used as long as the thread let it.
    pub fn chosen(self) -> CpuClock {
        match self {
            CpuClock::TaskClockThenTimer => CpuClock::TaskClock,
            CpuClock::TaskClockUserThenTimer => CpuClock::TaskClockUser,
            other => other,
        }
    }
}

impl WaitClock {
    /// The one that was used as long as the thread let it.
    pub fn chosen(self) -> WaitClock {
        if self == WaitClock::SwitchesThenCalls { WaitClock::Switches } else { self }
    }
}

impl fmt::Display for Clocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cpu, waits) = (self.cpu.word(), self.waits.word());
        let by = |measured| if measured { "by " } else { "" };
        let cpu_by = by(self.cpu != CpuClock::NotMeasured);
        let waits_by = by(self.waits != WaitClock::NotMeasured);
        write!(f, "CPU time {cpu_by}{cpu}, waits {waits_by}{waits}")
    }
}

#[cfg(test)]
mod tests {
    use falloff_format::records;

    use super::*;

    #[test]
    fn numbers_and_words_name_the_same() {
        assert_eq!(CpuClock::from_code(records::CpuClock::None as u16), CpuClock::NotMeasured);
        assert_eq!(CpuClock::from_code(records::CpuClock::Timer as u16), CpuClock::Timer);
        assert_eq!(CpuClock::from_code(records::CpuClock::TaskClock as u16), CpuClock::TaskClock);
        assert_eq!(CpuClock::from_code(records::CpuClock::TaskClockUser as u16), CpuClock::TaskClockUser);
        for clock in [records::CpuClock::TaskClock, records::CpuClock::TaskClockUser] {
            let after = CpuClock::from_code(clock.after_yields().unwrap() as u16);
            assert_eq!(after.chosen(), CpuClock::from_code(clock as u16));
            assert!(after.word().ends_with(", then CPU timer"));
        }
        assert_eq!(WaitClock::from_code(records::WaitClock::None as u16), WaitClock::NotMeasured);
        assert_eq!(WaitClock::from_code(records::WaitClock::Switches as u16), WaitClock::Switches);
        assert_eq!(WaitClock::from_code(records::WaitClock::Calls as u16), WaitClock::Calls);
        assert_eq!(WaitClock::from_code(records::WaitClock::Wall as u16), WaitClock::Wall);
        assert_eq!(
            WaitClock::from_code(records::WaitClock::SwitchesThenCalls as u16),
            WaitClock::SwitchesThenCalls
        );
        assert_eq!(CpuClock::from_code(99), CpuClock::Unknown);
        for clock in WaitClock::ALL {
            assert_eq!(WaitClock::from_word(clock.word()), Some(*clock));
            assert_eq!(serde_json::to_value(clock).unwrap(), clock.word());
        }
    }
}
