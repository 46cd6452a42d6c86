//! What a program of the tests says of its own time: `tests/programs/clocks.h`.

use serde::Deserialize;

/// Time of a thread by its own clocks, in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Clocks {
    pub wall_ns: u64,
    pub cpu_ns: u64,
    /// Runnable, while another had the processor.
    pub delay_ns: u64,
}

impl Clocks {
    /// Off the CPU of its own accord, in microseconds.
    pub fn blocked_us(self) -> u64 {
        self.wall_ns.saturating_sub(self.cpu_ns).saturating_sub(self.delay_ns) / 1000
    }
}

/// Fails where a measured time is farther from the true one than 5 % or `slack_us`.
#[track_caller]
pub fn agree(what: &str, measured_us: u64, true_us: u64, slack_us: u64) {
    let slack = slack_us.max(true_us / 20);
    assert!(
        measured_us.abs_diff(true_us) <= slack,
        "{what}: {measured_us} us measured, {true_us} us in truth, {slack} us apart allowed"
    );
}
