//! What takes the samples: a test can be repeated with every source of events that falloff has.

use std::env;

/// A way to sample, chosen by the variable FALLOFF_TEST_SOURCE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// What a user gets who asks for nothing: the timer of CPU time that rides on the kernel's tick.
    Timer,
    /// CPU time by perf's task clock, 1000 samples a second.
    Perf,
    /// Waits by perf's context switches.
    Switches,
    /// Waits by interposed calls.
    Calls,
}

impl Source {
    /// The chosen one.
    pub fn chosen() -> Self {
        match env::var("FALLOFF_TEST_SOURCE").as_deref() {
            Err(_) | Ok("" | "timer") => Self::Timer,
            Ok("perf") => Self::Perf,
            Ok("switches") => Self::Switches,
            Ok("calls") => Self::Calls,
            Ok(other) => panic!("FALLOFF_TEST_SOURCE is `{other}`, not timer, perf, switches or calls"),
        }
    }

    /// Samples a second of CPU time that it takes by itself.
    pub fn rate(self) -> u32 {
        if self == Self::Perf { 1000 } else { 200 }
    }

    /// Options of `falloff run` that ask for it at this rate, as words of a shell command.
    pub fn options(self, rate: u32) -> String {
        let more = match self {
            Self::Timer => "",
            Self::Perf => " --cpu-clock perf",
            Self::Switches => " --waits switches",
            Self::Calls => " --waits calls",
        };
        format!("-e time@{rate}{more}")
    }
}
