//! Signal context: yes. CPU time of one thread that yields again and again while it waits.
//!
//! The kernel takes samples of CPU time at its ticks, and at ticks it changes threads as well: a thread that yields as soon
//! as it runs is on the CPU between the ticks only. Performance events take longer to fire than it stays. Samples alone
//! would charge its CPU time to where it works next, so it is known at every yield: read from the thread's clock, or from the
//! wall's if so little has passed that it was spent waiting. That takes a tenth as long, and a rank that polls and yields does so
//! some hundred thousand times a second.

/// CPU time of its own from yield to yield up to which a thread does nothing but wait.
const TURN_NS: u64 = 20_000;
/// CPU time that a tick may add to that, in a virtual machine.
const TICK_NS: u64 = 80_000;
/// CPU time between two readings of its clock.
const READING_NS: u64 = 100_000;
/// Part of a sampling period, as a divisor, that is worth a booking.
const WORTH: u64 = 4;
/// Sampling periods of work that may wait for a sample of the work.
const PATIENCE: u64 = 2;

/// One thread's.
#[derive(Clone, Copy)]
pub struct Spin {
    /// CPU time at the last yield, as far as it is known; 0 before the first.
    yielded_ns: u64,
    /// How much of that is known from the wall's clock.
    unread_ns: u64,
    /// Wall time at the last yield.
    wall_ns: u64,
    /// What the sampler has taken since, and what samples have booked since.
    sampler_ns: u64,
    shared_ns: u64,
    /// CPU time that belongs to where the thread yields, and is not booked there yet.
    kept_ns: u64,
}

impl Spin {
    /// Nothing yet.
    pub const NONE: Spin =
        Spin { yielded_ns: 0, unread_ns: 0, wall_ns: 0, sampler_ns: 0, shared_ns: 0, kept_ns: 0 };

    /// Whether the thread has ever yielded.
    pub fn is_used(&self) -> bool {
        self.yielded_ns != 0
    }

    /// The thread yields at this wall time; `read` reads its CPU clock.
    pub fn yields(&mut self, wall_ns: u64, read: impl FnOnce() -> u64) {
        let passed_ns = wall_ns.saturating_sub(core::mem::replace(&mut self.wall_ns, wall_ns));
        if self.is_used() && passed_ns <= TURN_NS && self.unread_ns + passed_ns <= READING_NS {
            self.unread_ns += passed_ns;
            self.ends(self.yielded_ns + passed_ns);
            return;
        }
        let cpu_ns = read();
        // Others have had the processor for a part of what has passed.
        let over_ns = self.yielded_ns.saturating_sub(cpu_ns).min(self.unread_ns);
        (self.yielded_ns, self.unread_ns) = (self.yielded_ns - over_ns, 0);
        self.kept_ns = self.kept_ns.saturating_sub(over_ns);
        self.ends(cpu_ns);
    }

    /// A turn ends.
    fn ends(&mut self, cpu_ns: u64) {
        let turn_ns = cpu_ns.saturating_sub(self.yielded_ns);
        if self.is_used() && turn_ns <= TURN_NS + self.sampler_ns {
            self.kept_ns += turn_ns.saturating_sub(self.shared_ns);
        }
        // The handler may have come between the reading of the clock and this.
        self.yielded_ns = self.yielded_ns.max(cpu_ns);
        (self.sampler_ns, self.shared_ns) = (0, 0);
    }

    /// The sampler has run for so long.
    pub fn sampled(&mut self, passed_ns: u64) {
        self.sampler_ns += passed_ns;
    }

    /// Whether what is kept is worth a booking where the thread yields.
    pub fn is_worth(&self, period_ns: u64) -> bool {
        self.kept_ns >= period_ns / WORTH
    }

    /// What is to be booked there.
    pub fn take(&mut self) -> u64 {
        core::mem::take(&mut self.kept_ns)
    }

    /// What a sample books of `rest_ns`, the CPU time up to `cpu_ns` that is not booked. Work is left to samples of the
    /// work, unless these never come: the thread may still wait.
    pub fn share(&mut self, cpu_ns: u64, rest_ns: u64, period_ns: u64) -> u64 {
        let work_ns = rest_ns.saturating_sub(self.kept_ns);
        let turn_ns = cpu_ns.saturating_sub(self.yielded_ns);
        let new_ns = turn_ns.saturating_sub(self.shared_ns).min(work_ns);
        let may_wait = self.is_used() && turn_ns <= TURN_NS + TICK_NS + self.sampler_ns;
        let share_ns = if may_wait && work_ns - new_ns <= PATIENCE * period_ns { new_ns } else { work_ns };
        self.shared_ns += share_ns.min(new_ns);
        share_ns
    }
}
