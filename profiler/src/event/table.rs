//! The table of perf events: name, type and config of `perf_event_attr`, how they are sampled if nothing else is asked,
//! and what they count.

use super::cache;

/// How often an event is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// This many samples a second.
    Rate(u32),
    /// A sample each time so many were counted.
    Period(u64),
}

/// Samples a second of what is not rare, if nothing else is asked.
pub const DEFAULT_RATE_HZ: u32 = 200;
/// Often enough that each would cost more than it tells.
const OFTEN: Sampling = Sampling::Rate(DEFAULT_RATE_HZ);
/// So rare that each is worth a sample.
const EACH: Sampling = Sampling::Period(1);

/// An event that the kernel or the processor counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PerfEvent {
    /// Name, by which the metric is called.
    pub name: String,
    /// `type` of `perf_event_attr`: 0 hardware, 1 software, 3 cache, 4 raw.
    pub kind: u32,
    /// `config` of `perf_event_attr`.
    pub config: u64,
    /// What it counts.
    pub counts: String,
    /// How it is sampled if nothing else is asked.
    pub default: Sampling,
}

/// A perf event with its sampling.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What is counted.
    pub perf: PerfEvent,
    /// How often it is sampled.
    pub sampling: Sampling,
}

pub(super) const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
pub(super) const CACHE: u32 = 3;
const RAW: u32 = 4;
/// Software events that happen in the kernel: counted in user mode only, there are none.
const IN_KERNEL: [u64; 2] = [3, 4];

/// One line of the table.
struct Row {
    name: &'static str,
    also: &'static str,
    kind: u32,
    config: u64,
    default: Sampling,
    counts: &'static str,
}

const fn row(
    name: &'static str,
    also: &'static str,
    kind: u32,
    config: u64,
    default: Sampling,
    counts: &'static str,
) -> Row {
    Row { name, also, kind, config, default, counts }
}

const CONTEXT_SWITCHES: Row =
    row("context-switches", "cs", SOFTWARE, 3, OFTEN, "times that a thread left its processor");

/// Configs are those of `linux/perf_event.h`.
const TABLE: [Row; 15] = [
    row("page-faults", "faults", SOFTWARE, 2, OFTEN, "page faults"),
    row("minor-faults", "", SOFTWARE, 5, OFTEN, "page faults without input"),
    row("major-faults", "", SOFTWARE, 6, EACH, "page faults that read from a file or swap"),
    CONTEXT_SWITCHES,
    row("migrations", "cpu-migrations", SOFTWARE, 4, EACH, "moves of a thread to another processor"),
    row("cycles", "cpu-cycles", HARDWARE, 0, OFTEN, "processor cycles"),
    row("instructions", "", HARDWARE, 1, OFTEN, "instructions completed"),
    row("cache-references", "", HARDWARE, 2, OFTEN, "accesses to the last cache"),
    row("cache-misses", "", HARDWARE, 3, OFTEN, "accesses that miss the last cache"),
    row("branches", "branch-instructions", HARDWARE, 4, OFTEN, "branches completed"),
    row("branch-misses", "", HARDWARE, 5, OFTEN, "branches predicted wrongly"),
    row("bus-cycles", "", HARDWARE, 6, OFTEN, "cycles of the bus"),
    row("stalled-cycles-frontend", "", HARDWARE, 7, OFTEN, "cycles that wait for instructions"),
    row("stalled-cycles-backend", "", HARDWARE, 8, OFTEN, "cycles that wait for data or units"),
    row("ref-cycles", "", HARDWARE, 9, OFTEN, "cycles at a constant frequency"),
];

impl Row {
    fn event(&self) -> PerfEvent {
        PerfEvent {
            name: self.name.to_owned(),
            kind: self.kind,
            config: self.config,
            counts: self.counts.to_owned(),
            default: self.default,
        }
    }
}

impl PerfEvent {
    /// The event of this name, however its letters are cased: from the table, a cache event as perf calls them
    /// (`LLC-load-misses`), or a raw code (`r01c2`, hexadecimal).
    pub fn named(name: &str) -> Option<PerfEvent> {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        if let Some(row) = TABLE.iter().find(|row| is(row.name) || !row.also.is_empty() && is(row.also)) {
            return Some(row.event());
        }
        cache::events().find(|event| is(&event.name)).or_else(|| raw(name))
    }

    /// CPU time of a thread, nanoseconds. It has no name of its own to ask for: that is `cpu`.
    pub fn task_clock() -> PerfEvent {
        row("task-clock", "", SOFTWARE, 1, OFTEN, "CPU time").event()
    }

    /// A thread's switches away from its processor.
    pub fn context_switches() -> PerfEvent {
        CONTEXT_SWITCHES.event()
    }

    /// Whether the processor counts it, not the kernel.
    pub fn is_hardware(&self) -> bool {
        self.kind != SOFTWARE
    }

    /// Whether it is one of the many events of caches.
    pub fn is_of_cache(&self) -> bool {
        self.kind == CACHE
    }

    /// Whether it happens in the kernel only, so that a counter for user mode alone stays at zero.
    pub fn is_in_kernel(&self) -> bool {
        self.kind == SOFTWARE && IN_KERNEL.contains(&self.config)
    }
}

/// All events that have a name: the table, then the cache events.
pub fn known_events() -> impl Iterator<Item = PerfEvent> {
    TABLE.iter().map(Row::event).chain(cache::events())
}

/// A processor's own code.
fn raw(name: &str) -> Option<PerfEvent> {
    let code = name.strip_prefix(['r', 'R'])?;
    if !code.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let config = u64::from_str_radix(code, 16).ok()?;
    Some(PerfEvent {
        name: name.to_ascii_lowercase(),
        kind: RAW,
        config,
        counts: "a code of this processor".to_owned(),
        default: OFTEN,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_aliases_and_codes() {
        let code = |name: &str| PerfEvent::named(name).map(|e| (e.kind, e.config));
        assert_eq!(code("branch-instructions"), code("branches"));
        assert_eq!(code("CPU-cycles"), Some((0, 0)));
        assert_eq!(code("cpu-migrations"), Some((1, 4)));
        assert_eq!(code("r01C2"), Some((4, 0x1c2)));
        assert_eq!(PerfEvent::named("R01C2").unwrap().name, "r01c2");
        for none in ["", "r", "r12345678123456789", "rhex", "cycle", "r-1", "r+1"] {
            assert_eq!(code(none), None, "{none}");
        }
    }

    #[test]
    fn every_name_is_its_own() {
        let names: Vec<String> = known_events().map(|e| e.name).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        // Names go into a list of colons and commas.
        assert!(names.iter().all(|n| !n.contains([':', ',', '@', '/'])));
        for name in &names {
            assert_eq!(PerfEvent::named(name).unwrap().name, *name);
        }
    }

    #[test]
    fn switches_happen_in_the_kernel() {
        let in_kernel: Vec<String> = known_events().filter(PerfEvent::is_in_kernel).map(|e| e.name).collect();
        assert_eq!(in_kernel, ["context-switches", "migrations"]);
    }
}
