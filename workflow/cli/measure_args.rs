//! Options that say what to measure, alike for a run and a sweep.

use clap::{Args, ValueEnum};
use falloff_profiler::event::Measure;
use falloff_profiler::{CpuClock, EventLog, EventSpec, Logged, Request, Sampling, Size, WaitClock};

use crate::failure::Failure;

#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// What to measure: time (CPU time and waits; the default), cpu, blocked, or events such as page-faults, cycles,
    /// LLC-load-misses or a raw code r01c2; @RATE samples per second (200 if not said), or
    /// /PERIOD events a sample; may be repeated
    #[arg(short = 'e', value_name = "EVENT[@RATE|/PERIOD]", value_delimiter = ',')]
    pub events: Vec<EventSpec>,
    /// What samples CPU time; the timer up to the kernel's tick, perf above, if not given
    #[arg(long, value_enum, value_name = "CLOCK", env = "FALLOFF_CPU_CLOCK", hide_env_values = true)]
    pub cpu_clock: Option<CpuClockName>,
    /// How waits are found; by perf's context switches where they are allowed, else by timing calls, if not given
    #[arg(long, value_enum, value_name = "WAY", env = "FALLOFF_WAITS", hide_env_values = true)]
    pub waits: Option<WaitClockName>,
    /// Measure programs of this file name only; may be repeated
    #[arg(long, value_name = "NAME", env = "FALLOFF_ONLY", value_delimiter = ':', hide_env_values = true)]
    pub only: Vec<String>,
    /// Log the calls of MPI beside the samples: what they send, receive and wait for, and from which call paths
    #[arg(long = "events", value_enum, value_name = "WHAT")]
    pub log: Option<LoggedName>,
    /// Log so much per process at most, and no events after
    #[arg(long = "events-limit", value_name = "SIZE", default_value_t = Size::OF_A_LOG, requires = "log")]
    pub log_limit: Size,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LoggedName {
    /// Calls of MPI
    Mpi,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum CpuClockName {
    /// A timer on the CPU clock of each thread, at most one sample a tick
    Timer,
    /// perf's task clock
    Perf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum WaitClockName {
    /// perf's context switches
    Switches,
    /// The C library's calls that may wait
    Calls,
    /// The same and a wall-clock timer; raw system calls may be interrupted, see docs/events.md
    Wall,
}

impl MeasureArgs {
    /// What is asked for; `rate` is for the clocks.
    pub fn request(&self, rate: Option<u32>) -> Result<Request, Failure> {
        let mut events = self.events.clone();
        if events.is_empty() {
            events.push(EventSpec { measure: Measure::Time, sampling: None });
        }
        if let Some(rate) = rate {
            set_rate(&mut events, rate)?;
        }
        Ok(Request {
            events,
            cpu_clock: self.cpu_clock.map(|name| match name {
                CpuClockName::Timer => CpuClock::Timer,
                CpuClockName::Perf => CpuClock::Perf,
            }),
            waits: self.waits.map(|name| match name {
                WaitClockName::Switches => WaitClock::Switches,
                WaitClockName::Calls => WaitClock::Calls,
                WaitClockName::Wall => WaitClock::Wall,
            }),
            only: self.only.iter().filter(|name| !name.is_empty()).cloned().collect(),
            event_log: self.log.map(|LoggedName::Mpi| EventLog { of: Logged::Mpi, limit: self.log_limit }),
        })
    }
}

fn set_rate(events: &mut [EventSpec], rate: u32) -> Result<(), Failure> {
    let refused = |why: &str| {
        Failure::usage(format!("failed to set the rate: {why}"), "give rates behind events: `-e time@500`")
    };
    let mut clocks = events.iter_mut().filter(|e| !matches!(e.measure, Measure::Perf(_))).peekable();
    if clocks.peek().is_none() {
        return Err(refused("`--rate` is that of time, cpu and blocked, none of which is measured"));
    }
    for clock in clocks {
        if clock.sampling.replace(Sampling::Rate(rate)).is_some() {
            return Err(refused("it is given by `--rate` and behind an event"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(texts: &[&str], rate: Option<u32>) -> Option<Vec<String>> {
        let events = texts.iter().map(|t| t.parse().unwrap()).collect();
        let args = MeasureArgs {
            events,
            cpu_clock: None,
            waits: None,
            only: vec![String::new()],
            log: None,
            log_limit: Size::OF_A_LOG,
        };
        let request = args.request(rate).ok()?;
        assert!(request.only.is_empty());
        Some(request.events.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn time_is_the_default_and_has_the_rate() {
        assert_eq!(events(&[], None).unwrap(), ["time"]);
        assert_eq!(events(&[], Some(500)).unwrap(), ["time@500"]);
        assert_eq!(events(&["cpu", "cycles"], Some(500)).unwrap(), ["cpu@500", "cycles"]);
        assert_eq!(events(&["cycles"], Some(500)), None);
        assert_eq!(events(&["cpu@100"], Some(500)), None);
    }
}
