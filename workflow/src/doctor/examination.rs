//! Everything that was found out about a machine.

use std::path::Path;

use falloff_profiler::Preload;
use falloff_profiler::event::{PerfEvent, known_events};
use falloff_profiler::probe::{Access, Machine};

use super::trial::{Trial, TrialResult};
use crate::backends::installed_launchers;

/// What a machine answered.
#[derive(Clone, Debug)]
pub struct Examination {
    /// What the system says of itself.
    pub machine: Machine,
    /// CPU time by perf.
    pub task_clock: Access,
    /// Waits by perf.
    pub switches: Access,
    /// All events that have a name.
    pub events: Vec<EventAccess>,
    /// Launchers in PATH.
    pub launchers: Vec<LauncherFound>,
    /// A real measurement.
    pub trial: TrialResult,
}

/// An event and how it can be had.
#[derive(Clone, Debug)]
pub struct EventAccess {
    /// The event.
    pub event: PerfEvent,
    /// What came of trying it.
    pub access: Access,
}

/// A launcher in PATH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LauncherFound {
    /// Its name.
    pub name: String,
    /// Which MPI it is of, if it says so.
    pub flavour: Option<String>,
}

impl Examination {
    /// Examines this machine; `falloff` is the executable that carries `preload`.
    pub fn of_this_machine(preload: &Preload, falloff: &Path) -> Examination {
        let launchers = installed_launchers().into_iter().map(|(name, flavour)| LauncherFound {
            name: name.to_owned(),
            flavour: flavour.map(|f| f.to_string()),
        });
        Examination {
            machine: Machine::probe(),
            task_clock: Access::to(&PerfEvent::task_clock()),
            switches: Access::to(&PerfEvent::context_switches()),
            events: known_events().map(|event| EventAccess { access: Access::to(&event), event }).collect(),
            launchers: launchers.collect(),
            trial: Trial::run(preload, falloff),
        }
    }

    /// Whether the default, `time`, can be measured: a trial came out right.
    pub fn works(&self) -> bool {
        self.trial.as_ref().is_ok_and(Trial::is_right)
    }
}
