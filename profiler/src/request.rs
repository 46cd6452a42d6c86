//! What a user asks a run to measure.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::event::{EventSpec, PerfEvent, Selection};
use crate::event_log::EventLog;
use crate::probe::{Access, Machine, Missing, measurable, missing_line, obstacle};

/// What drives the samples of CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CpuClock {
    /// A timer on each thread's CPU clock, which rides on the kernel's tick.
    Timer,
    /// perf's task clock, which knows no tick.
    Perf,
}

/// How waits are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitClock {
    /// By perf's context switches.
    Switches,
    /// By timing the calls that may wait.
    Calls,
    /// The same, and by a timer on wall-clock time.
    Wall,
}

impl CpuClock {
    /// Name on the command line and in the environment.
    pub fn name(self) -> &'static str {
        match self {
            CpuClock::Timer => "timer",
            CpuClock::Perf => "perf",
        }
    }
}

impl WaitClock {
    /// Name on the command line and in the environment.
    pub fn name(self) -> &'static str {
        match self {
            WaitClock::Switches => "switches",
            WaitClock::Calls => "calls",
            WaitClock::Wall => "wall",
        }
    }
}

/// What is to be measured; as little as nothing need be said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Events; `time` if there are none.
    pub events: Vec<EventSpec>,
    /// What drives the samples of CPU time; the sampler's choice if not given.
    pub cpu_clock: Option<CpuClock>,
    /// How waits are found; the sampler's choice if not given.
    pub waits: Option<WaitClock>,
    /// File names of the programs that are measured; all if there are none.
    pub only: Vec<String>,
    /// What is logged beside the samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_log: Option<EventLog>,
}

/// A request and what of it can be measured here.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What was asked for.
    pub request: Request,
    /// What is measured.
    pub selection: Selection,
    /// What is not.
    pub missing: Vec<Missing>,
}

impl Request {
    /// The options of `falloff run` that ask for this.
    pub fn options(&self) -> Vec<String> {
        let events = self.events.iter().map(|e| ("-e", e.to_string()));
        let cpu_clock = self.cpu_clock.map(|clock| ("--cpu-clock", clock.name().to_owned()));
        let waits = self.waits.map(|clock| ("--waits", clock.name().to_owned()));
        let only = self.only.iter().map(|name| ("--only", name.clone()));
        let log = self.event_log.iter().flat_map(|log| {
            [("--events", log.of.name().to_owned()), ("--events-limit", log.limit.to_string())]
        });
        events
            .chain(cpu_clock)
            .chain(waits)
            .chain(only)
            .chain(log)
            .flat_map(|(option, value)| [option.to_owned(), value])
            .collect()
    }

    /// Tries on this machine what was asked for. Fails if it makes no sense or nothing of it can be had.
    pub fn prepare(self) -> Result<Prepared, Error> {
        let asked = Selection::of(&self.events)?;
        let by_perf = self.cpu_clock == Some(CpuClock::Perf) || self.waits == Some(WaitClock::Switches);
        // The clocks by themselves can always be had in some way.
        if asked.events.is_empty() && !by_perf {
            return Ok(Prepared { request: self, selection: asked, missing: Vec::new() });
        }
        let machine = Machine::probe();
        let (selection, mut missing) = measurable(asked, &machine, Access::to);
        if selection.is_empty() {
            return Err(Error::NothingToMeasure(missing_line(&missing).unwrap_or_default()));
        }
        missing.extend(self.missing_clocks(&selection, &machine));
        Ok(Prepared { request: self, selection, missing })
    }

    /// Clocks that were asked for and have to be replaced.
    fn missing_clocks(&self, selection: &Selection, machine: &Machine) -> Vec<Missing> {
        let by_perf = selection.cpu && self.cpu_clock == Some(CpuClock::Perf);
        let by_switches = selection.waits && self.waits == Some(WaitClock::Switches);
        let tried = [
            (by_perf, "CPU time by perf", PerfEvent::task_clock()),
            (by_switches, "waits by context switches", PerfEvent::context_switches()),
        ];
        tried
            .into_iter()
            .filter(|(asked, ..)| *asked)
            .filter_map(|(_, name, event)| {
                Some(Missing::new(name, obstacle(&event, Access::to(&event), machine)?))
            })
            .collect()
    }
}

impl Prepared {
    /// One line about what is not measured, why, and what would enable it.
    pub fn missing_line(&self) -> Option<String> {
        missing_line(&self.missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_log::{Logged, Size};

    #[test]
    fn options_ask_for_the_same() {
        let request = Request {
            events: vec!["cpu@500".parse().unwrap(), "page-faults/1".parse().unwrap()],
            cpu_clock: Some(CpuClock::Timer),
            waits: Some(WaitClock::Calls),
            only: vec!["solver".into()],
            event_log: Some(EventLog { of: Logged::Mpi, limit: Size::from_bytes(64 << 20) }),
        };
        let words = request.options().join(" ");
        assert_eq!(
            words,
            "-e cpu@500 -e page-faults/1 --cpu-clock timer --waits calls --only solver --events mpi --events-limit 64MiB"
        );
        assert!(Request::default().options().is_empty());
    }

    #[test]
    fn clocks_alone_are_always_measurable() {
        let prepared = Request::default().prepare().unwrap();
        assert!(prepared.selection.cpu && prepared.selection.waits && prepared.missing.is_empty());
    }

    #[test]
    fn a_run_without_anything_is_refused() {
        let request = Request { events: vec!["rffffffffffffffff".parse().unwrap()], ..Request::default() };
        assert!(matches!(request.prepare(), Err(Error::NothingToMeasure(_))));
    }
}
