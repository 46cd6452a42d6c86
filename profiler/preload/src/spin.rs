//! Signal context: yes. CPU time of one thread that yields again and again while it waits.
//!
//! The kernel takes samples of CPU time at its ticks, and at ticks it changes threads as well: a thread that yields as soon
//! as it runs is on the CPU between the ticks only. Performance events take longer to fire than it stays. Samples alone
//! would charge its CPU time to where it works next, so it is known at every yield. What passes from the end of a yield to the
//! next, a turn, is measured by a clock that takes nanoseconds to read ([`turn_clock`](crate::turn_clock)); the CPU clock,
//! whose reading is a system call, is read now and then, and says how much CPU time was not taken by turns of work.

use core::mem::offset_of;

use crate::turn_clock::{Mark, TurnClock};

/// CPU time of its own from yield to yield up to which a thread does nothing but wait.
const TURN_NS: u64 = 20_000;
/// CPU time that a tick may add to that, in a virtual machine.
const TICK_NS: u64 = 80_000;
/// Wall time between two readings of the CPU clock: half a sampling period, but not less, and not four times more.
const READING_NS: u64 = 1_000_000;
/// What a yield takes of the CPU, where only a guess is to be had.
const YIELD_NS: u64 = 1_000;
/// Yields in a window beyond which a thread yields often.
const OFTEN: u32 = 1_000;
const WINDOW_NS: u64 = 100_000_000;
/// Sampling periods of work in turns too short for samples that may wait for a sample of work.
const PATIENCE: u64 = 2;

/// One thread's. What every yield reads comes first: after a switch of processes all of it is cold.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Spin {
    clock: TurnClock,
    /// The begin of the last yield, and its end; both are the end as soon as it is accounted for.
    begun: Mark,
    returned: Mark,
    /// From when on a yield reads the CPU clock.
    due: Mark,
    /// CPU time of short turns since the reading, as guessed, and wall time of longer ones.
    guess_ns: u64,
    long_ns: u64,
    /// CPU time that belongs to where the thread yields, and is not booked there yet.
    kept_ns: u64,
    /// Of the samples; as much is worth a booking.
    pub period_ns: u64,
    /// Yields since a window began.
    count: u32,
    since: Mark,
    /// CPU time up to which turns are accounted for; 0 before the first yield.
    yielded_ns: u64,
    /// What the sampler has taken since the reading, and what samples have booked since.
    sampler_ns: u64,
    shared_ns: u64,
    /// CPU time of turns of work so short that a sample takes them for waiting, not booked yet.
    short_ns: u64,
}

impl Spin {
    /// Where the end of a yield is kept.
    pub const RETURNED: usize = offset_of!(Spin, returned);

    /// Nothing yet, of a thread that is sampled with this period.
    pub fn new(period_ns: u64) -> Spin {
        Spin {
            clock: TurnClock::UNKNOWN,
            begun: Mark::ZERO,
            returned: Mark::ZERO,
            due: Mark::ZERO,
            guess_ns: 0,
            long_ns: 0,
            kept_ns: 0,
            period_ns,
            count: 0,
            since: Mark::ZERO,
            yielded_ns: 0,
            sampler_ns: 0,
            shared_ns: 0,
            short_ns: 0,
        }
    }

    /// Whether the thread has ever yielded.
    pub fn is_used(&self) -> bool {
        self.yielded_ns != 0
    }

    /// Wall time by the clock of these turns.
    pub fn now(&self) -> Mark {
        self.clock.mark()
    }

    /// The thread yields; `read` reads its CPU clock. Says, once in a window, whether it yields ten thousand times a second
    /// and more.
    #[inline]
    pub fn yields(&mut self, read: impl FnOnce() -> u64) -> bool {
        if self.clock.is_renewed() {
            // As before the first yield: the turn that ends may have been long.
            (self.begun, self.returned, self.due, self.since) =
                (Mark::ZERO, Mark::ZERO, Mark::ZERO, self.now());
        }
        let now = self.now();
        let turn_ns = self.clock.between(self.returned, now);
        self.count += 1;
        let mut is_often = false;
        if now >= self.due {
            is_often = self.turn_ends(now, read());
        } else if turn_ns <= TURN_NS {
            self.guess_ns += turn_ns;
        } else {
            self.long_ns += turn_ns;
            self.short_ns += if self.may_wait(turn_ns) { turn_ns } else { 0 };
        }
        self.begun = now;
        is_often
    }

    /// Whether turns are measured by the processor's counter.
    pub fn counts(&self) -> bool {
        self.clock.counts()
    }

    /// When the yield that begins has taken so long.
    #[inline]
    pub fn after_yield_of(&self, ns: u64) -> Mark {
        self.clock.later(self.begun, ns)
    }

    /// The thread goes on after a yield, at the time that is given.
    pub fn returns(&mut self) -> Mark {
        self.returned = self.now();
        self.returned
    }

    /// Accounts for the yield that has ended, unless that is done. Says how long it was.
    #[inline]
    pub fn account(&mut self) -> u64 {
        if self.begun >= self.returned {
            return 0;
        }
        let passed_ns = self.clock.between(self.begun, self.returned);
        self.begun = self.returned;
        self.guess_ns += YIELD_NS.min(passed_ns);
        passed_ns
    }

    /// A turn ends at these times. Says whether a window ends in which the thread has yielded often.
    #[cold]
    fn turn_ends(&mut self, now: Mark, cpu_ns: u64) -> bool {
        self.settle(now, cpu_ns);
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
        self.due = self.clock.later(now, (self.period_ns / 2).clamp(READING_NS, 4 * READING_NS));
        (self.sampler_ns, self.shared_ns) = (0, 0);
        if self.clock.between(self.since, now) <= WINDOW_NS {
            return false;
        }
        self.since = now;
        core::mem::take(&mut self.count) > OFTEN
    }

    /// Accounts for the turns before the one that is under way. What longer ones and it cannot have taken, since it is more than
    /// the wall time that they took, was taken by short ones; if that is nothing, the thread has been made to wait within a turn,
    /// and the guess counts.
    fn settle(&mut self, now: Mark, cpu_ns: u64) {
        let passed_ns = cpu_ns.saturating_sub(self.yielded_ns);
        let is_yielding = self.begun > self.returned;
        let turn_ns = if is_yielding { 0 } else { self.clock.between(self.returned, now) };
        let least_ns = passed_ns.saturating_sub(self.long_ns + turn_ns);
        let short_ns = if least_ns > 0 { least_ns } else { self.guess_ns.min(passed_ns) };
        self.kept_ns += short_ns;
        self.yielded_ns += short_ns + self.long_ns.min(passed_ns - short_ns);
        (self.guess_ns, self.long_ns) = (0, 0);
    }

    /// The sampler has run for so long.
    pub fn sampled(&mut self, passed_ns: u64) {
        self.sampler_ns += passed_ns;
        self.due = Mark::ZERO;
    }

    /// Whether what is kept is worth a booking where the thread yields.
    pub fn is_worth(&self) -> bool {
        self.kept_ns + self.guess_ns >= self.period_ns
    }

    /// What is to be booked there, at these times.
    pub fn take(&mut self, now: Mark, cpu_ns: u64) -> u64 {
        self.settle(now, cpu_ns);
        core::mem::take(&mut self.kept_ns)
    }

    /// Whether a sample so long after a yield cannot tell that the thread works.
    fn may_wait(&self, turn_ns: u64) -> bool {
        self.is_used() && turn_ns <= TURN_NS + TICK_NS + self.sampler_ns
    }

    /// What a sample books of `rest_ns`, the CPU time up to `cpu_ns` that is not booked. Work is left to samples of the
    /// work, unless it is too short for any: the thread may still wait.
    pub fn share(&mut self, cpu_ns: u64, rest_ns: u64) -> u64 {
        self.settle(self.now(), cpu_ns);
        let work_ns = rest_ns.saturating_sub(self.kept_ns);
        let turn_ns = cpu_ns.saturating_sub(self.yielded_ns);
        let new_ns = turn_ns.saturating_sub(self.shared_ns).min(work_ns);
        self.shared_ns += new_ns;
        if self.may_wait(turn_ns) && self.short_ns <= PATIENCE * self.period_ns {
            return new_ns;
        }
        let short_ns = core::mem::take(&mut self.short_ns);
        if self.may_wait(turn_ns) { work_ns.min(new_ns + short_ns) } else { work_ns }
    }
}
