//! Signal context: yes. CPU time of one thread that yields again and again while it waits.
//!
//! The kernel takes samples of CPU time at its ticks, and at ticks it changes threads as well: a thread that yields as soon
//! as it runs is on the CPU between the ticks only. Performance events take longer to fire than it stays. Samples alone
//! would charge its CPU time to where it works next, so it is known at every yield. What passes from the end of a yield to the
//! next, a turn, is measured by a clock that takes nanoseconds to read ([`turn_clock`](crate::turn_clock)); the CPU clock,
//! whose reading is a system call, is read now and then, and says how much CPU time was not taken by turns of work.

/// CPU time of its own from yield to yield up to which a thread does nothing but wait.
const TURN_NS: u64 = 20_000;
/// CPU time that a tick may add to that, in a virtual machine.
const TICK_NS: u64 = 80_000;
/// Wall time between two readings of the CPU clock.
const READING_NS: u64 = 1_000_000;
/// What a yield takes of the CPU, where only a guess is to be had.
const YIELD_NS: u64 = 1_000;
/// Yields in a window beyond which a thread yields often.
const OFTEN: u32 = 1_000;
const WINDOW_NS: u64 = 100_000_000;
/// Sampling periods of work in turns too short for samples that may wait for a sample of work.
const PATIENCE: u64 = 2;

/// One thread's.
#[derive(Clone, Copy)]
pub struct Spin {
    /// CPU time up to which turns are accounted for; 0 before the first yield.
    yielded_ns: u64,
    /// Wall time at the last reading of the CPU clock.
    read_ns: u64,
    /// Wall time at the begin and the end of the last yield.
    begun_ns: u64,
    returned_ns: u64,
    /// CPU time of short turns since the reading, as guessed, and wall time of longer ones.
    guess_ns: u64,
    long_ns: u64,
    /// What the sampler has taken since, and what samples have booked since.
    sampler_ns: u64,
    shared_ns: u64,
    /// CPU time that belongs to where the thread yields, and is not booked there yet.
    kept_ns: u64,
    /// That of turns of work so short that a sample takes them for waiting, not booked yet.
    short_ns: u64,
    /// Yields since a window began, and whether they were many in the one before.
    count: u32,
    since_ns: u64,
    is_often: bool,
}

impl Spin {
    /// Nothing yet.
    pub const NONE: Spin = Spin {
        yielded_ns: 0,
        read_ns: 0,
        begun_ns: 0,
        returned_ns: 0,
        guess_ns: 0,
        long_ns: 0,
        sampler_ns: 0,
        shared_ns: 0,
        kept_ns: 0,
        short_ns: 0,
        count: 0,
        since_ns: 0,
        is_often: false,
    };

    /// Whether the thread has ever yielded.
    pub fn is_used(&self) -> bool {
        self.yielded_ns != 0
    }

    /// The thread yields at this wall time; `read` reads its CPU clock.
    pub fn yields(&mut self, wall_ns: u64, read: impl FnOnce() -> u64) {
        let turn_ns = wall_ns.saturating_sub(self.returned_ns);
        self.count += 1;
        if self.sampler_ns > 0 || wall_ns.saturating_sub(self.read_ns) > READING_NS {
            self.turn_ends(wall_ns, read());
        } else if turn_ns <= TURN_NS {
            self.guess_ns += turn_ns;
        } else {
            self.long_ns += turn_ns;
            self.short_ns += if self.may_wait(turn_ns) { turn_ns } else { 0 };
        }
        self.begun_ns = wall_ns;
    }

    /// The thread goes on after a yield.
    pub fn returns(&mut self, wall_ns: u64) {
        self.guess_ns += YIELD_NS.min(wall_ns.saturating_sub(self.begun_ns));
        self.returned_ns = wall_ns;
    }

    /// A turn ends at these times.
    fn turn_ends(&mut self, wall_ns: u64, cpu_ns: u64) {
        self.settle(wall_ns, cpu_ns);
        let turn_ns = cpu_ns.saturating_sub(self.yielded_ns);
        let rest_ns = turn_ns.saturating_sub(self.shared_ns);
        // A sample came with an interrupt.
        let interrupt_ns = if self.sampler_ns > 0 { TICK_NS } else { 0 };
        if self.is_used() && turn_ns <= TURN_NS + interrupt_ns + self.sampler_ns {
            self.kept_ns += rest_ns;
        } else if self.may_wait(turn_ns) {
            self.short_ns += rest_ns;
        }
        // The handler may have come between the reading of the clock and this.
        self.yielded_ns = self.yielded_ns.max(cpu_ns);
        self.read_ns = wall_ns;
        (self.sampler_ns, self.shared_ns) = (0, 0);
        if wall_ns.saturating_sub(self.since_ns) > WINDOW_NS {
            self.is_often = self.count > OFTEN;
            (self.count, self.since_ns) = (0, wall_ns);
        }
    }

    /// Whether the thread yields ten thousand times a second and more; says so once in a window.
    pub fn takes_often(&mut self) -> bool {
        core::mem::take(&mut self.is_often)
    }

    /// Accounts for the turns before the one that is under way. What longer ones and it cannot have taken, since it is more than
    /// the wall time that they took, was taken by short ones; if that is nothing, the thread has been made to wait within a turn,
    /// and the guess counts.
    fn settle(&mut self, wall_ns: u64, cpu_ns: u64) {
        let passed_ns = cpu_ns.saturating_sub(self.yielded_ns);
        let is_yielding = self.begun_ns > self.returned_ns;
        let turn_ns = if is_yielding { 0 } else { wall_ns.saturating_sub(self.returned_ns) };
        let least_ns = passed_ns.saturating_sub(self.long_ns + turn_ns);
        let short_ns = if least_ns > 0 { least_ns } else { self.guess_ns.min(passed_ns) };
        self.kept_ns += short_ns;
        self.yielded_ns += short_ns + self.long_ns.min(passed_ns - short_ns);
        (self.guess_ns, self.long_ns) = (0, 0);
    }

    /// The sampler has run for so long.
    pub fn sampled(&mut self, passed_ns: u64) {
        self.sampler_ns += passed_ns;
    }

    /// Whether what is kept is worth a booking where the thread yields.
    pub fn is_worth(&self, period_ns: u64) -> bool {
        self.kept_ns + self.guess_ns >= period_ns
    }

    /// What is to be booked there, at these times.
    pub fn take(&mut self, wall_ns: u64, cpu_ns: u64) -> u64 {
        self.settle(wall_ns, cpu_ns);
        core::mem::take(&mut self.kept_ns)
    }

    /// Whether a sample so long after a yield cannot tell that the thread works.
    fn may_wait(&self, turn_ns: u64) -> bool {
        self.is_used() && turn_ns <= TURN_NS + TICK_NS + self.sampler_ns
    }

    /// What a sample books of `rest_ns`, the CPU time up to `cpu_ns` that is not booked. Work is left to samples of the
    /// work, unless it is too short for any: the thread may still wait.
    pub fn share(&mut self, wall_ns: u64, cpu_ns: u64, rest_ns: u64, period_ns: u64) -> u64 {
        self.settle(wall_ns, cpu_ns);
        let work_ns = rest_ns.saturating_sub(self.kept_ns);
        let turn_ns = cpu_ns.saturating_sub(self.yielded_ns);
        let new_ns = turn_ns.saturating_sub(self.shared_ns).min(work_ns);
        self.shared_ns += new_ns;
        if self.may_wait(turn_ns) && self.short_ns <= PATIENCE * period_ns {
            return new_ns;
        }
        let short_ns = core::mem::take(&mut self.short_ns);
        if self.may_wait(turn_ns) { work_ns.min(new_ns + short_ns) } else { work_ns }
    }
}
