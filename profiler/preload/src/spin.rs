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
/// Wall time of short turns between two readings of the CPU clock.
const READING_NS: u64 = 250_000;
/// Part of that by which a guess may be wrong, as a divisor.
const WRONG: u64 = 8;
/// All of the wall time of a short turn.
const WHOLE: u64 = 256;
/// Sampling periods of work in turns too short for samples that may wait for a sample of work.
const PATIENCE: u64 = 2;

/// One thread's.
#[derive(Clone, Copy)]
pub struct Spin {
    /// CPU time up to which turns are accounted for; 0 before the first yield.
    yielded_ns: u64,
    /// Wall time at the last yield.
    wall_ns: u64,
    /// Turns since then that the wall's clock showed to be short: wall time, and CPU time as guessed.
    unread_ns: u64,
    guessed_ns: u64,
    /// What part of their wall time was CPU time, in parts of [`WHOLE`], when the clock was read last.
    part: u64,
    /// What the sampler has taken since, and what samples have booked since.
    sampler_ns: u64,
    shared_ns: u64,
    /// CPU time that belongs to where the thread yields, and is not booked there yet.
    kept_ns: u64,
    /// That of turns of work so short that a sample takes them for waiting, not booked yet.
    short_ns: u64,
}

impl Spin {
    /// Nothing yet.
    pub const NONE: Spin = Spin {
        yielded_ns: 0,
        wall_ns: 0,
        unread_ns: 0,
        guessed_ns: 0,
        part: WHOLE,
        sampler_ns: 0,
        shared_ns: 0,
        kept_ns: 0,
        short_ns: 0,
    };

    /// Whether the thread has ever yielded.
    pub fn is_used(&self) -> bool {
        self.yielded_ns != 0
    }

    /// The thread yields at this wall time; `read` reads its CPU clock.
    pub fn yields(&mut self, wall_ns: u64, read: impl FnOnce() -> u64) {
        let passed_ns = wall_ns.saturating_sub(core::mem::replace(&mut self.wall_ns, wall_ns));
        let is_short = self.is_used() && passed_ns <= TURN_NS && self.sampler_ns == 0;
        if is_short {
            self.unread_ns += passed_ns;
            self.guessed_ns += passed_ns * self.part / WHOLE;
            if self.unread_ns <= READING_NS {
                return;
            }
        }
        let cpu_ns = read();
        if is_short {
            self.guessed_ns = cpu_ns.saturating_sub(self.yielded_ns);
            // A sample that came just now has left nothing.
            self.part = (self.guessed_ns * WHOLE).checked_div(self.unread_ns).unwrap_or(WHOLE).min(WHOLE);
        }
        let wrong_ns = self.settle(cpu_ns);
        let turn_ns = cpu_ns.saturating_sub(self.yielded_ns);
        let rest_ns = turn_ns.saturating_sub(self.shared_ns);
        // A sample came with an interrupt.
        let interrupt_ns = if self.sampler_ns > 0 { TICK_NS } else { 0 };
        if self.is_used() && turn_ns <= TURN_NS + interrupt_ns + self.sampler_ns + wrong_ns {
            self.kept_ns += rest_ns;
        } else if self.may_wait(turn_ns) {
            self.short_ns += rest_ns;
        }
        // The handler may have come between the reading of the clock and this.
        self.yielded_ns = self.yielded_ns.max(cpu_ns);
        (self.sampler_ns, self.shared_ns) = (0, 0);
    }

    /// Takes what was guessed of turns up to now for their CPU time, as far as so much has passed; gives by how much that may
    /// be wrong.
    fn settle(&mut self, cpu_ns: u64) -> u64 {
        let turns_ns = self.guessed_ns.min(cpu_ns.saturating_sub(self.yielded_ns));
        let wrong_ns = self.unread_ns / WRONG;
        self.kept_ns += turns_ns;
        self.yielded_ns += turns_ns;
        (self.guessed_ns, self.unread_ns) = (0, 0);
        wrong_ns
    }

    /// The sampler has run for so long.
    pub fn sampled(&mut self, passed_ns: u64) {
        self.sampler_ns += passed_ns;
    }

    /// Whether what is kept is worth a booking where the thread yields.
    pub fn is_worth(&self, period_ns: u64) -> bool {
        self.kept_ns + self.guessed_ns >= period_ns
    }

    /// What is to be booked there, at this CPU time.
    pub fn take(&mut self, cpu_ns: u64) -> u64 {
        self.settle(cpu_ns);
        core::mem::take(&mut self.kept_ns)
    }

    /// Whether a sample so long after a yield cannot tell that the thread works.
    fn may_wait(&self, turn_ns: u64) -> bool {
        self.is_used() && turn_ns <= TURN_NS + TICK_NS + self.sampler_ns
    }

    /// What a sample books of `rest_ns`, the CPU time up to `cpu_ns` that is not booked. Work is left to samples of the
    /// work, unless it is too short for any: the thread may still wait.
    pub fn share(&mut self, cpu_ns: u64, rest_ns: u64, period_ns: u64) -> u64 {
        self.settle(cpu_ns);
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
