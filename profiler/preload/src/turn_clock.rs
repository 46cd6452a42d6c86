//! Signal context: yes ([`begin`] not). Wall time by the processor's own counter, for what a thread does from yield to yield,
//! some hundred thousand times a second, and for the time in the handler: read in a third of the time that the C library takes,
//! or a tenth if that one's code and data are cold.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::{clock, cpu, raw};

/// Nanoseconds of a tick, in parts of 2^32; 0 as long as nobody has measured it: the C library's clock is read then.
#[unsafe(link_section = ".data")]
static SCALE: AtomicU64 = AtomicU64::new(0);
/// Whether it is to be measured.
#[unsafe(link_section = ".data")]
static IS_UNKNOWN: AtomicBool = AtomicBool::new(false);
/// Both clocks at the start.
#[unsafe(link_section = ".data")]
static START_NS: AtomicU64 = AtomicU64::new(0);
#[unsafe(link_section = ".data")]
static START_TICKS: AtomicU64 = AtomicU64::new(0);

/// Begins to measure the counter, at the start of the process. Where the kernel keeps time by another clock, the counters of two
/// processors may not agree: it is not used.
pub fn begin() {
    let mut name = [0; 32];
    let length =
        raw::read_file(c"/sys/devices/system/clocksource/clocksource0/current_clocksource", &mut name);
    let keeps_time =
        length.and_then(|l| name.get(..l)).is_some_and(|name| name.trim_ascii_end() == cpu::COUNTER);
    IS_UNKNOWN.store(keeps_time, Ordering::Relaxed);
    START_TICKS.store(cpu::ticks(), Ordering::Relaxed);
    START_NS.store(clock::wall_ns(), Ordering::Relaxed);
}

/// Measures the counter unless that is done, or too little time has passed.
pub fn measure() {
    /// Readings are some 50 ns apart from what they are of.
    const ENOUGH_NS: u64 = 1_000_000;
    if !IS_UNKNOWN.load(Ordering::Relaxed) {
        return;
    }
    let ticks = cpu::ticks().saturating_sub(START_TICKS.load(Ordering::Relaxed));
    let passed_ns = clock::wall_ns().saturating_sub(START_NS.load(Ordering::Relaxed));
    if passed_ns < ENOUGH_NS || !IS_UNKNOWN.swap(false, Ordering::Relaxed) {
        return;
    }
    let scale = (u128::from(passed_ns) << 32).checked_div(u128::from(ticks)).unwrap_or(0);
    SCALE.store(u64::try_from(scale).unwrap_or(0), Ordering::Relaxed);
}

/// Nanoseconds; only good for differences, of some seconds.
pub fn now_ns() -> u64 {
    match SCALE.load(Ordering::Relaxed) {
        0 => clock::wall_ns(),
        scale => {
            let ticks = cpu::ticks().wrapping_sub(START_TICKS.load(Ordering::Relaxed));
            let passed_ns = (u128::from(ticks) * u128::from(scale)) >> 32;
            START_NS.load(Ordering::Relaxed) + passed_ns as u64
        }
    }
}

/// A reading of a [`TurnClock`], in its own unit.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

impl Mark {
    /// Before all others.
    pub const ZERO: Mark = Mark(0);
    /// After all others.
    pub const NEVER: Mark = Mark(u64::MAX);
}

/// The clock with what was measured beside it: one thread's, in the memory that the thread is at anyway.
#[derive(Clone, Copy)]
pub struct TurnClock {
    /// As long as it is 0, readings are nanoseconds of the C library's clock.
    scale: u64,
    /// Ticks of a nanosecond, in parts of 2^32.
    ticks: u64,
}

impl TurnClock {
    /// Nothing measured.
    pub const UNKNOWN: TurnClock = TurnClock { scale: 0, ticks: 1 << 32 };

    /// Whether it is the processor's counter.
    pub fn counts(self) -> bool {
        self.scale != 0
    }

    /// Reads it.
    #[inline]
    pub fn mark(self) -> Mark {
        Mark(if self.scale == 0 { clock::wall_ns() } else { cpu::ticks() })
    }

    /// Nanoseconds between two readings, 0 if they are not in this order: counters of two processors may be a little apart.
    #[inline]
    pub fn between(self, begin: Mark, end: Mark) -> u64 {
        let passed = end.0.saturating_sub(begin.0);
        if self.scale == 0 { passed } else { ((u128::from(passed) * u128::from(self.scale)) >> 32) as u64 }
    }

    /// The reading so many nanoseconds after another.
    #[inline]
    pub fn later(self, mark: Mark, ns: u64) -> Mark {
        let passed = (u128::from(ns) * u128::from(self.ticks)) >> 32;
        Mark(mark.0.saturating_add(passed as u64))
    }

    /// Becomes the counter if that is measured by now; readings before are worth nothing then.
    #[inline]
    pub fn is_renewed(&mut self) -> bool {
        self.scale == 0 && self.renew()
    }

    #[cold]
    fn renew(&mut self) -> bool {
        measure();
        self.scale = SCALE.load(Ordering::Relaxed);
        let ticks = (1u128 << 64).checked_div(u128::from(self.scale)).unwrap_or(1 << 32);
        self.ticks = u64::try_from(ticks).unwrap_or(u64::MAX);
        self.scale != 0
    }
}
