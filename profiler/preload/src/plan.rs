//! What is measured, and which values a node of each class carries.

use falloff_format::job;
use falloff_format::limits::EVENTS_MAX;
use falloff_format::records::{Unit, WaitClock};

use crate::options::Environment;
use crate::perf::Request;
use crate::raw;
use crate::real::{self, Real};
use crate::sync::SetOnce;
use crate::text::{Text, decimal};

/// What to measure: `cpu`, `waits` and performance events, `NAME:TYPE:CONFIG:pPERIOD` or `…:rRATE`, comma separated.
const EVENTS: &[u8] = b"FALLOFF_EVENTS";
/// `timer` or `perf`: which clock drives the samples of CPU time.
const CPU_CLOCK: &[u8] = b"FALLOFF_CPU_CLOCK";
/// `switches` or `calls`: how waits are found.
const WAITS: &[u8] = b"FALLOFF_WAITS";
/// Program file names, separated by `:`; others are not measured.
const ONLY: &[u8] = b"FALLOFF_ONLY";

/// Samples a second that the kernel's tick surely drives.
const TICK_RATE: u64 = 250;

/// A performance event.
#[derive(Clone, Copy)]
pub struct Event {
    /// As the user calls it.
    pub name: Text<32>,
    /// What the kernel is asked for.
    pub request: Request,
}

/// The plan of this process.
#[derive(Clone, Copy)]
pub struct Plan {
    /// CPU time is sampled.
    pub cpu: bool,
    /// By perf's task clock, not by a timer.
    pub cpu_by_perf: ByPerf,
    /// Waits, and how.
    pub waits: WaitClock,
    /// Whether no thread gets an event for its switches, since there are more ranks than processors: those that wait yield so often
    /// that theirs would be closed soon, and until a second after that the kernel does more at every switch of any thread.
    pub spares_switches: bool,
    events: [Option<Event>; EVENTS_MAX],
}

/// Which threads perf's task clock samples.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ByPerf {
    /// None.
    Never,
    /// Those that do not yield ten thousands of times a second.
    UnlessYielding,
    /// All.
    Always,
}

/// Values that are booked together; a node belongs to one class. Callers have none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A caller.
    Caller,
    /// Samples, CPU time.
    Cpu,
    /// Samples, blocked and preempted time.
    Wait,
    /// Counts of the event with this number.
    Event(usize),
}

impl Class {
    /// Classes there can be.
    pub const COUNT: usize = 3 + EVENTS_MAX;

    /// Number below [`Class::COUNT`].
    pub fn number(self) -> usize {
        match self {
            Class::Caller => 0,
            Class::Cpu => 1,
            Class::Wait => 2,
            Class::Event(index) => 3 + index,
        }
    }
}

static PLAN: SetOnce<Plan> = SetOnce::new();

/// The plan; that of an unmeasured process before start-up.
pub fn get() -> &'static Plan {
    const NOTHING: Plan = Plan {
        cpu: false,
        cpu_by_perf: ByPerf::Never,
        waits: WaitClock::None,
        spares_switches: false,
        events: [None; EVENTS_MAX],
    };
    PLAN.get().unwrap_or(&NOTHING)
}

/// Makes the plan.
///
/// # Safety
/// Called once, at start-up.
pub unsafe fn make(environment: Environment, rate: u64) {
    // SAFETY: by contract.
    unsafe { PLAN.set(Plan::from_environment(environment, rate)) };
}

/// Whether a program of this file name is to be measured.
pub fn includes(environment: Environment, name: &[u8]) -> bool {
    environment.get(ONLY).is_none_or(|names| names.split(|b| *b == b':').any(|n| n == name))
}

impl Plan {
    fn from_environment(environment: Environment, rate: u64) -> Plan {
        let asked = environment.get(EVENTS).unwrap_or(b"cpu,waits");
        let mut events = [None; EVENTS_MAX];
        asked
            .split(|b| *b == b',')
            .filter_map(Event::parse)
            .zip(&mut events)
            .for_each(|(e, slot)| *slot = Some(e));
        let has = |name: &[u8]| asked.split(|b| *b == b',').any(|e| e == name);
        let waits = match environment.get(WAITS) {
            _ if !has(b"waits") => WaitClock::None,
            Some(b"calls") => WaitClock::Calls,
            Some(b"wall") => WaitClock::Wall,
            Some(_) => WaitClock::Switches,
            // Where the C library does not describe its frames, a path that ends in one of its calls cannot be followed.
            None if real::get().is_some_and(Real::describes_frames) => WaitClock::Switches,
            None => WaitClock::Calls,
        };
        let cpu_by_perf = match environment.get(CPU_CLOCK) {
            Some(b"timer") => ByPerf::Never,
            Some(b"perf") => ByPerf::Always,
            _ if rate > TICK_RATE => ByPerf::UnlessYielding,
            _ => ByPerf::Never,
        };
        let spares_switches = waits == WaitClock::Switches
            && environment.get(WAITS).is_none()
            && ranks_outnumber_processors(environment);
        Plan { cpu: has(b"cpu"), cpu_by_perf, waits, spares_switches, events }
    }

    /// The performance events.
    pub fn events(&self) -> impl Iterator<Item = (usize, &Event)> {
        self.events.iter().enumerate().filter_map(|(i, e)| Some((i, e.as_ref()?)))
    }

    /// Whether anything planned needs performance events that trap.
    pub fn uses_traps(&self) -> bool {
        self.cpu && self.cpu_by_perf != ByPerf::Never
            || self.waits == WaitClock::Switches
            || self.events().next().is_some()
    }

    fn has_waits(&self) -> bool {
        self.waits != WaitClock::None
    }

    /// Place of the first performance event among the metrics: `samples`, then `cpu`, then `blocked` and `preempted`, as
    /// far as they are measured, stand before.
    fn first_event(&self) -> usize {
        1 + usize::from(self.cpu) + 2 * usize::from(self.has_waits())
    }

    /// Number of metrics.
    pub fn metric_count(&self) -> usize {
        self.first_event() + self.events().count()
    }

    /// The metrics in their order: name, unit, distance of two samples (0: no fixed one).
    pub fn metrics(&self, period_ns: u64) -> impl Iterator<Item = (&[u8], Unit, u64)> {
        let fixed: [(bool, &[u8], Unit, u64); 4] = [
            (true, b"samples", Unit::Count, 1),
            (self.cpu, b"cpu", Unit::Nanoseconds, period_ns),
            (self.has_waits(), b"blocked", Unit::Nanoseconds, period_ns),
            (self.has_waits(), b"preempted", Unit::Nanoseconds, period_ns),
        ];
        let events = self.events().map(|(_, e)| {
            let period = if e.request.is_rate { 0 } else { e.request.period };
            (e.name.as_bytes(), Unit::Count, period)
        });
        fixed.into_iter().filter(|m| m.0).map(|(_, name, unit, period)| (name, unit, period)).chain(events)
    }
}

/// Metrics of a class, a bit for each: `samples` and its own.
pub fn metrics_of(class: Class) -> u64 {
    const SAMPLES: u64 = 1;
    let plan = get();
    match class {
        Class::Caller => 0,
        Class::Cpu => SAMPLES | 0b10,
        Class::Wait => SAMPLES | 0b11 << (1 + u32::from(plan.cpu)),
        Class::Event(index) => SAMPLES | 1 << (plan.first_event() + index),
    }
}

impl Event {
    fn parse(text: &[u8]) -> Option<Event> {
        let mut parts = text.split(|b| *b == b':');
        let mut name = Text::new();
        name.push(parts.next()?);
        let kind = u32::try_from(hexadecimal(parts.next()?)?).ok()?;
        let config = hexadecimal(parts.next()?)?;
        let (how, amount) = parts.next()?.split_first()?;
        let period = decimal(amount).filter(|n| *n > 0)?;
        let request =
            Request { kind, config, period, is_rate: *how == b'r', user_only: false, records: true };
        Some(Event { name, request })
    }
}

/// Whether the launcher says so of the process's host, whichever of its processors the process may use.
fn ranks_outnumber_processors(environment: Environment) -> bool {
    let Some(ranks) = job::local_ranks(|name| environment.number(name)) else { return false };
    processors().is_some_and(|processors| i64::from(ranks) > i64::from(processors))
}

/// Processors of the host: one more than the last of their numbers.
fn processors() -> Option<u32> {
    let mut text = [0; 256];
    let length = raw::read_file(c"/sys/devices/system/cpu/online", &mut text)?;
    let last = text.get(..length)?.trim_ascii_end().rsplit(|b| b"-,".contains(b)).next()?;
    u32::try_from(decimal(last)?).ok()?.checked_add(1)
}

fn hexadecimal(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(core::str::from_utf8(text).ok()?, 16).ok()
}
