//! Signal context: yes. The time of one thread off the CPU: how much of it is booked, and to which paths.
//!
//! The amounts come from the thread's clocks: time off the CPU is wall time less CPU time, and the kernel's run delay says
//! how much of that it was runnable. The paths come from traps or watched calls: of those between two bookings one is
//! chosen, each in proportion to the time it took, so that bookings are as rare as samples, their sum is exact, and paths
//! that wait longer are chosen more often.

use crate::clock;

/// Traps in a window beyond which every so manieth switch traps only.
const TRAPS_MAX: u32 = 50;
/// Bookings in a window up to which each is made as soon as it is worth one; beyond, a period of waiting comes together
/// before the next.
const BOOKINGS_MAX: u32 = 25;
/// Time off the CPU that is worth a booking: several times what a booking takes.
const WORTH_NS: u64 = 50_000;
/// Periods of time runnable but not running that are worth a booking: which path was met by it says little.
const PREEMPTED_PERIODS: u64 = 10;
/// Length of a window.
const WINDOW_NS: u64 = 100_000_000;
/// Time off the CPU that is told by itself where it was, also between two traps.
pub const LONG_NS: u64 = 1_000_000;
/// Periods of the context-switch event. Beyond the last, 14,000 switches a second, counting them costs more than watching
/// calls: some 1 us a switch.
const PERIODS: [u64; 3] = [1, 7, 28];

/// Which of two kinds of being off the CPU.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It gave the CPU up.
    Blocked = 0,
    /// It was made to give it up.
    Preempted = 1,
}

/// What becomes of the event that counts switches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It stays.
    Steady,
    /// It needs another period.
    Changed,
    /// The thread switches so often that even counting costs too much.
    TooFast,
}

/// The path that stands for the waits of a kind since the last booking.
#[derive(Clone, Copy)]
struct Choice {
    node: u32,
    weight_ns: u64,
}

const NO_CHOICE: Choice = Choice { node: 0, weight_ns: 0 };

/// A part of what is to be booked.
#[derive(Clone, Copy)]
pub struct Item {
    /// Where; 0 is "no path known".
    pub node: u32,
    /// Time that it was blocked.
    pub blocked_ns: u64,
    /// Time that it was runnable.
    pub preempted_ns: u64,
}

/// What is to be booked.
pub struct Bill {
    /// By path.
    pub items: [Item; 4],
    /// Time blocked outside what is watched.
    pub unwatched_ns: u64,
}

/// One thread's waits.
pub struct Waits {
    /// Readings of the clocks up to which everything is booked.
    wall_ns: u64,
    cpu_ns: u64,
    delay_ns: u64,
    /// Of the time off the CPU since then, what has been looked at, and what was blocked in something watched.
    seen_ns: u64,
    watched_ns: u64,
    choices: [Choice; 2],
    /// The choices before a stretch that is worth a booking of its own, with the time that they stand for.
    early: [Choice; 2],
    random: u64,
    /// Index into [`PERIODS`].
    level: usize,
    window_start_ns: u64,
    traps: u32,
    bookings_since_ns: u64,
    bookings: u32,
}

impl Waits {
    /// Nothing yet.
    pub const NONE: Waits = Waits {
        wall_ns: 0,
        cpu_ns: 0,
        delay_ns: 0,
        seen_ns: 0,
        watched_ns: 0,
        choices: [NO_CHOICE; 2],
        early: [NO_CHOICE; 2],
        random: 0,
        level: 0,
        window_start_ns: 0,
        traps: 0,
        bookings_since_ns: 0,
        bookings: 0,
    };

    /// Begins at these readings.
    pub fn begin(&mut self, wall_ns: u64, cpu_ns: u64, tid: u32) {
        let delay_ns = clock::run_delay_ns(tid).unwrap_or(0);
        *self =
            Waits { wall_ns, cpu_ns, delay_ns, window_start_ns: wall_ns, random: wall_ns | 1, ..Waits::NONE };
    }

    /// Time off the CPU since the last booking.
    fn off_ns(&self, wall_ns: u64, cpu_ns: u64) -> u64 {
        wall_ns.saturating_sub(self.wall_ns).saturating_sub(cpu_ns.saturating_sub(self.cpu_ns))
    }

    /// Time off the CPU that nobody has looked at.
    pub fn unseen_ns(&self, wall_ns: u64, cpu_ns: u64) -> u64 {
        self.off_ns(wall_ns, cpu_ns).saturating_sub(self.seen_ns)
    }

    /// Looks at a stretch of `weight_ns` off the CPU, and leaves `left_ns` to another look; gives whether its path is the one to
    /// keep, by [`choose`](Self::choose).
    pub fn look(&mut self, kind: Kind, weight_ns: u64, left_ns: u64, wall_ns: u64, cpu_ns: u64) -> bool {
        self.seen_ns = self.off_ns(wall_ns, cpu_ns).saturating_sub(left_ns);
        if kind == Kind::Blocked {
            self.watched_ns += weight_ns;
        }
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let random = self.random;
        let kind = kind as usize;
        let (Some(choice), Some(early)) = (self.choices.get_mut(kind), self.early.get_mut(kind)) else {
            return false;
        };
        if weight_ns >= WORTH_NS && early.node == 0 && choice.node != 0 {
            // Chance would now and then give a long wait to a short one that came before it.
            *early = core::mem::replace(choice, NO_CHOICE);
        }
        choice.weight_ns += weight_ns.max(1);
        // The n-th stretch replaces the choice with probability w_n / (w_1 + … + w_n): in the end each is it with
        // probability w_i / sum.
        choice.node == 0 || (u128::from(random) * u128::from(choice.weight_ns)) >> 64 < u128::from(weight_ns)
    }

    /// Time in watched calls has passed that was too short to be looked at.
    pub fn pass_watched(&mut self, passed_ns: u64) {
        self.watched_ns += passed_ns;
    }

    /// Whether a path stands for what has been looked at.
    pub fn has_choice(&self) -> bool {
        self.choices.iter().any(|choice| choice.node != 0)
    }

    /// Keeps a path.
    pub fn choose(&mut self, kind: Kind, node: u32) {
        let kind = kind as usize;
        if let (Some(choice), Some(early)) = (self.choices.get_mut(kind), self.early.get_mut(kind)) {
            choice.node = node;
            if early.node == node {
                choice.weight_ns += early.weight_ns;
                *early = NO_CHOICE;
            }
        }
    }

    /// Whether what is seen and not booked is to be booked now.
    pub fn is_due(&mut self, wall_ns: u64, period_ns: u64) -> bool {
        if wall_ns.saturating_sub(self.bookings_since_ns) >= WINDOW_NS {
            (self.bookings_since_ns, self.bookings) = (wall_ns, 0);
        }
        // Who naps on one path again and again need not be booked each time, which takes longer than all the rest.
        let are_two = self.early.iter().any(|early| early.node != 0);
        let worth_ns = if are_two { WORTH_NS } else { LONG_NS };
        let due = self.watched_ns >= period_ns
            || self.watched_ns >= worth_ns && self.bookings < BOOKINGS_MAX
            || self.seen_ns >= PREEMPTED_PERIODS * period_ns;
        self.bookings += u32::from(due);
        due
    }

    /// Moves the readings on and says what is to be booked. `watches_all`: no wait goes past the watch. `None`: the
    /// kernel's numbers do not fit together yet; later.
    pub fn settle(&mut self, wall_ns: u64, cpu_ns: u64, tid: u32, watches_all: bool) -> Option<Bill> {
        let off_ns = self.off_ns(wall_ns, cpu_ns);
        let delay_ns = clock::run_delay_ns(tid).unwrap_or(self.delay_ns);
        let preempted_ns = delay_ns.saturating_sub(self.delay_ns).min(off_ns);
        if off_ns == 0 {
            return None;
        }
        let blocked_ns = off_ns - preempted_ns;
        let watched_ns = if watches_all { blocked_ns } else { self.watched_ns.min(blocked_ns) };
        let [blocked, preempted] = self.choices;
        let [blocked_early, preempted_early] = self.early.map(|c| if c.node == 0 { NO_CHOICE } else { c });
        let early_ns = (blocked_early.weight_ns.min(watched_ns), preempted_early.weight_ns.min(preempted_ns));
        let either = |first: u32, second: u32| if first != 0 { first } else { second };
        let item = |node, blocked_ns, preempted_ns| Item { node, blocked_ns, preempted_ns };
        let items = [
            item(blocked_early.node, early_ns.0, 0),
            item(either(blocked.node, preempted.node), watched_ns - early_ns.0, 0),
            item(preempted_early.node, 0, early_ns.1),
            item(either(preempted.node, blocked.node), 0, preempted_ns - early_ns.1),
        ];
        self.wall_ns = wall_ns;
        self.cpu_ns = cpu_ns;
        // A delay beyond the time off the CPU belongs to what comes.
        self.delay_ns += preempted_ns;
        self.seen_ns = 0;
        self.watched_ns = 0;
        (self.choices, self.early) = ([NO_CHOICE; 2], [NO_CHOICE; 2]);
        Some(Bill { items, unwatched_ns: blocked_ns - watched_ns })
    }

    /// Whether only every so manieth switch traps.
    pub fn are_thinned(&self) -> bool {
        self.level > 0
    }

    /// Switches between two traps.
    pub fn period(&self) -> u64 {
        PERIODS.get(self.level).copied().unwrap_or(1)
    }

    /// Counts a trap and says what becomes of the event.
    pub fn trapped(&mut self, wall_ns: u64) -> Pace {
        self.traps += 1;
        if self.traps <= TRAPS_MAX {
            self.relax(wall_ns)
        } else if self.level + 1 < PERIODS.len() {
            self.set_level(self.level + 1, wall_ns)
        } else {
            Pace::TooFast
        }
    }

    /// At the end of a window in which few traps came, makes them denser.
    pub fn relax(&mut self, wall_ns: u64) -> Pace {
        let window_ns = wall_ns.saturating_sub(self.window_start_ns);
        if window_ns < WINDOW_NS {
            return Pace::Steady;
        }
        let now = u64::from(self.traps) * self.period() * WINDOW_NS / window_ns;
        let denser = self
            .level
            .checked_sub(1)
            .filter(|l| PERIODS.get(*l).is_some_and(|period| now < u64::from(TRAPS_MAX) * period / 2));
        self.set_level(denser.unwrap_or(self.level), wall_ns)
    }

    fn set_level(&mut self, level: usize, wall_ns: u64) -> Pace {
        let pace = if self.level == level { Pace::Steady } else { Pace::Changed };
        (self.level, self.window_start_ns, self.traps) = (level, wall_ns, 0);
        pace
    }
}
