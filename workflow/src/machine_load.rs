//! What else the machine did while a run was made.

use std::fs;

use falloff_profiler::children_cpu_ns;
use nix::unistd::{SysconfVar, sysconf};

/// CPU time of the whole machine and of what this process has started, at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MachineLoad {
    /// Seconds that all processors were not idle.
    busy: f64,
    /// Seconds of children that have ended.
    own: f64,
}

impl MachineLoad {
    /// Now; `None` where the system does not say.
    pub fn now() -> Option<MachineLoad> {
        let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().filter(|t| *t > 0)? as f64;
        let busy = busy_ticks(&fs::read_to_string("/proc/stat").ok()?)? as f64 / ticks;
        Some(MachineLoad { busy, own: children_cpu_ns().ok()? as f64 * 1e-9 })
    }

    /// CPU time that others used from then until now, seconds.
    pub fn others_until(self, now: MachineLoad) -> f64 {
        ((now.busy - self.busy) - (now.own - self.own)).max(0.0)
    }
}

/// Ticks that were not idle, stolen ones among them, in the first line of `/proc/stat`.
fn busy_ticks(text: &str) -> Option<u64> {
    let fields: Vec<u64> =
        text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map_while(|f| f.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; guests are in user.
    (fields.len() >= 8).then(|| fields[..8].iter().sum::<u64>() - fields[3] - fields[4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_not_busy() {
        assert_eq!(busy_ticks("cpu  10 1 5 1000 50 2 3 7 0 0\ncpu0 1 1\n"), Some(28));
        assert_eq!(busy_ticks("cpu 1 2 3"), None);
        assert_eq!(busy_ticks(""), None);
    }

    #[test]
    fn the_machine_is_never_less_busy() {
        let (before, after) = (MachineLoad::now().unwrap(), MachineLoad::now().unwrap());
        assert!(before.others_until(after) >= 0.0);
        let others = MachineLoad { busy: 10.0, own: 3.0 };
        assert_eq!(others.others_until(MachineLoad { busy: 17.0, own: 8.0 }), 2.0);
    }
}
