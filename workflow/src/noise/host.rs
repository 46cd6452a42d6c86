//! Where a rank ran.

use std::fs;

use falloff_profiler::probe::Machine;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::report::numbers::listed;

/// A machine as one of its processes sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Kernel release.
    pub kernel: String,
    /// Model of the first processor, empty where the system does not say.
    pub cpu_model: String,
    /// Processors that are there.
    pub processors: u32,
    /// Processors on which this process may run: `0-3, 8`.
    pub allowed_processors: String,
    /// Whether that is one only.
    pub pinned: bool,
    /// Whether a hypervisor runs the machine.
    pub virtual_machine: bool,
    /// Ticks of the kernel's timer a second.
    pub tick_hz: Option<u32>,
    /// What the kernel's clock is read from: `tsc` and the like.
    pub clock_source: String,
    /// Processes that were ready to run, mean over the last minute before the measurement.
    pub load: Option<f64>,
}

impl Host {
    /// This one.
    pub fn here() -> Host {
        let machine = Machine::probe();
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let allowed = allowed();
        Host {
            name: read("/proc/sys/kernel/hostname").trim().to_owned(),
            kernel: machine.kernel,
            cpu_model: model(&cpuinfo),
            processors: cpuinfo.lines().filter(|line| line.starts_with("processor")).count() as u32,
            pinned: allowed.len() == 1,
            allowed_processors: listed(&allowed),
            virtual_machine: machine.virtual_machine,
            tick_hz: machine.tick_hz,
            clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
                .trim()
                .to_owned(),
            load: read("/proc/loadavg").split_whitespace().next().and_then(|load| load.parse().ok()),
        }
    }
}

fn model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    line.and_then(|line| line.split_once(':')).map_or(String::new(), |(_, model)| model.trim().to_owned())
}

fn allowed() -> Vec<u32> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).map(|cpu| cpu as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_says_what_it_is() {
        let here = Host::here();
        assert!(
            !here.name.is_empty() && !here.kernel.is_empty() && !here.allowed_processors.is_empty(),
            "{here:?}"
        );
        assert_eq!(model("processor : 0\nmodel name\t: Some CPU @ 2 GHz\n"), "Some CPU @ 2 GHz");
        assert_eq!(model("processor : 0\n"), "");
    }
}
