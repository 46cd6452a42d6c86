//! What the system did to a thread meanwhile, which may explain the noise.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::unistd::{SysconfVar, sysconf};
use serde::{Deserialize, Serialize};

/// Counts over the measurement of noise, or since the thread began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Times that the thread gave up its processor.
    pub voluntary_switches: u64,
    /// Times that its processor was taken away.
    pub involuntary_switches: u64,
    /// Page faults without input.
    pub minor_faults: u64,
    /// Time in which the thread was ready and had no processor; absent where the kernel does not say.
    pub run_delay_seconds: Option<f64>,
    /// Time that the hypervisor gave to others, over all processors of the machine.
    pub stolen_seconds: Option<f64>,
}

impl Counters {
    /// Those of this thread now.
    pub fn now() -> Counters {
        let usage = getrusage(UsageWho::RUSAGE_THREAD).ok();
        let count = |of: Option<i64>| of.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok();
        let stat = fs::read_to_string("/proc/stat").ok();
        let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().filter(|hz| *hz > 0);
        Counters {
            voluntary_switches: count(usage.map(|u| u.voluntary_context_switches())),
            involuntary_switches: count(usage.map(|u| u.involuntary_context_switches())),
            minor_faults: count(usage.map(|u| u.minor_page_faults())),
            run_delay_seconds: schedstat.and_then(|text| run_delay(&text)),
            stolen_seconds: stat.zip(ticks).and_then(|(text, hz)| Some(stolen(&text)? / hz as f64)),
        }
    }

    /// What was added since then.
    pub fn since(self, then: Counters) -> Counters {
        let added = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        Counters {
            voluntary_switches: self.voluntary_switches.saturating_sub(then.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(then.involuntary_switches),
            minor_faults: self.minor_faults.saturating_sub(then.minor_faults),
            run_delay_seconds: added(self.run_delay_seconds, then.run_delay_seconds),
            stolen_seconds: added(self.stolen_seconds, then.stolen_seconds),
        }
    }
}

/// Seconds of the second field of a `schedstat`.
fn run_delay(text: &str) -> Option<f64> {
    Some(text.split_whitespace().nth(1)?.parse::<u64>().ok()? as f64 * 1e-9)
}

/// Ticks in the eighth column of the first line of `/proc/stat`.
fn stolen(text: &str) -> Option<f64> {
    text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().nth(7)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(run_delay("1247851 4000000000 2\n"), Some(4.0));
        assert_eq!(run_delay("x"), None);
        assert_eq!(stolen("cpu  10 1 5 1000 50 2 3 7 0 0\ncpu0 1\n"), Some(7.0));
        assert_eq!(stolen("cpu0 1 2 3 4 5 6 7 8"), None);
    }

    #[test]
    fn only_what_was_added_counts() {
        let then = Counters { involuntary_switches: 3, run_delay_seconds: Some(1.0), ..Counters::default() };
        let now = Counters { involuntary_switches: 10, run_delay_seconds: Some(1.5), ..Counters::default() };
        let added = now.since(then);
        assert_eq!(
            (added.involuntary_switches, added.run_delay_seconds, added.stolen_seconds),
            (7, Some(0.5), None)
        );
        let before = Counters::now();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(Counters::now().since(before).voluntary_switches >= 1);
    }
}
