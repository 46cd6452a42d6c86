//! What the examination means: a verdict on each thing that can be measured, and what would better it.

use falloff_postprocess::SymbolSource;
use falloff_profiler::event::{EVENTS_MAX, PerfEvent};
use falloff_profiler::probe::{Access, Machine, obstacle, permission_remedy};
use serde::Serialize;

use super::examination::Examination;
use super::trial::REPORT;

/// Part of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// Time and how it is measured.
    Time,
    /// Events of perf.
    Events,
    /// What the machine and the user's rights are.
    Machine,
    /// Other programs and files.
    Surroundings,
}

/// How it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As well as can be.
    Ok,
    /// With a limit that is told.
    Limited,
    /// Not to be had.
    Missing,
    /// Nothing to judge.
    Fact,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Part of the report.
    pub topic: Topic,
    /// What was looked at.
    pub name: String,
    /// How it stands.
    pub verdict: Verdict,
    /// What was found.
    pub finding: String,
    /// What would better it.
    pub remedy: Option<String>,
}

/// Kernels and C libraries from which on something works, and what works.
const POPULATE: (u32, u32) = (5, 14);
const FIND_OBJECT: (u32, u32) = (2, 35);
/// Pages of 4 KiB that an event's records take.
const PAGES_OF_EVENT: u64 = 2;

/// All lines of the report.
pub fn checks(examination: &Examination) -> Vec<Check> {
    let mut all = vec![time(examination), cpu_by_perf(examination), waits(examination)];
    all.extend(events(examination));
    all.extend(machine(&examination.machine));
    all.extend([launchers(examination), debug_information(examination)]);
    all
}

fn check(topic: Topic, name: &str, verdict: Verdict, finding: String, remedy: Option<String>) -> Check {
    Check { topic, name: name.to_owned(), verdict, finding, remedy }
}

fn time(examination: &Examination) -> Check {
    let (verdict, finding, remedy) = match &examination.trial {
        Err(stopped) => (Verdict::Missing, stopped.reason.clone(), Some(stopped.remedy.clone())),
        Ok(trial) => {
            let error = 100.0 * trial.error();
            let clocks = trial.clocks.join(" and ");
            let finding = format!("a trial's CPU time is {error:.1} % from the truth; {clocks}");
            match (trial.is_right(), trial.has_time) {
                (true, _) => (Verdict::Ok, finding, None),
                (_, false) => {
                    (Verdict::Missing, format!("no waits were measured; {finding}"), Some(REPORT.into()))
                }
                _ => (Verdict::Missing, finding, Some("try again while the machine is quiet".into())),
            }
        }
    };
    check(Topic::Time, "time", verdict, finding, remedy)
}

fn cpu_by_perf(examination: &Examination) -> Check {
    let machine = &examination.machine;
    let stopped = obstacle(&PerfEvent::task_clock(), examination.task_clock, machine);
    let tick = machine.tick_hz.map_or("the kernel's tick".into(), |hz| format!("{hz} a second"));
    let (verdict, finding, remedy) = match (stopped, examination.task_clock) {
        (Some(stopped), _) => (
            Verdict::Limited,
            format!("{}; the timer in its place gives at most {tick}", stopped.reason),
            Some(stopped.remedy),
        ),
        (None, Access::UserOnly) => (
            Verdict::Limited,
            "in user mode only: time in the kernel is booked at the next sample".into(),
            Some(permission_remedy(machine)),
        ),
        (None, _) => (Verdict::Ok, format!("rates above {tick} are reached"), None),
    };
    check(Topic::Time, "CPU time by perf", verdict, finding, remedy)
}

fn waits(examination: &Examination) -> Check {
    let event = PerfEvent::context_switches();
    let (verdict, finding, remedy) = match obstacle(&event, examination.switches, &examination.machine) {
        None => (Verdict::Ok, "every wait is seen".to_owned(), None),
        Some(stopped) => (
            Verdict::Limited,
            format!(
                "{}; timed calls take their place, and waits by raw system calls have no call path",
                stopped.reason
            ),
            Some(stopped.remedy),
        ),
    };
    check(Topic::Time, "waits by switches", verdict, finding, remedy)
}

/// One line for all events that stand alike.
fn events(examination: &Examination) -> Vec<Check> {
    let mut groups: Vec<(Check, Vec<&PerfEvent>)> = Vec::new();
    for tried in &examination.events {
        let (verdict, finding, remedy) = match obstacle(&tried.event, tried.access, &examination.machine) {
            Some(stopped) => (Verdict::Missing, stopped.reason, Some(stopped.remedy)),
            None if tried.access == Access::UserOnly => (
                Verdict::Limited,
                "counted in user mode only".to_owned(),
                Some(permission_remedy(&examination.machine)),
            ),
            None => (Verdict::Ok, format!("at most {EVENTS_MAX} at a time"), None),
        };
        let line = check(Topic::Events, "", verdict, finding, remedy);
        match groups.iter_mut().find(|(known, _)| *known == line) {
            Some((_, events)) => events.push(&tried.event),
            None => groups.push((line, vec![&tried.event])),
        }
    }
    groups.into_iter().map(|(line, events)| Check { name: names(&events), ..line }).collect()
}

/// The names, but of cache events, which are many, only one.
fn names(events: &[&PerfEvent]) -> String {
    let (of_cache, others): (Vec<&PerfEvent>, Vec<&PerfEvent>) = events.iter().partition(|e| e.is_of_cache());
    let example = of_cache.iter().find(|e| e.name == "LLC-load-misses").or(of_cache.first());
    let others = others.iter().map(|event| event.name.clone());
    let caches = example.map(|event| format!("{} cache events such as {}", of_cache.len(), event.name));
    others.chain(caches).collect::<Vec<_>>().join(", ")
}

fn machine(machine: &Machine) -> Vec<Check> {
    let fact = |name: &str, finding: String| check(Topic::Machine, name, Verdict::Fact, finding, None);
    let since = |name: &str, found: &str, new: bool, without: &str, remedy: String| {
        let (verdict, finding, remedy) = match new {
            true => (Verdict::Ok, found.to_owned(), None),
            false => (Verdict::Limited, format!("{found}: {without}"), Some(remedy)),
        };
        check(Topic::Machine, name, verdict, finding, remedy)
    };
    let (kernel, library) = (machine.kernel_version(), machine.glibc_version());
    let mut all = vec![
        since(
            "kernel",
            &machine.kernel,
            kernel >= POPULATE,
            "measurement files get their blocks at the start, not as they grow",
            format!("kernel {}.{} or later", POPULATE.0, POPULATE.1),
        ),
        since(
            "glibc",
            &machine.glibc,
            library >= FIND_OBJECT,
            "modules that the C library loads by itself are noticed late",
            format!("glibc {}.{} or later", FIND_OBJECT.0, FIND_OBJECT.1),
        ),
        fact("processors", processors(machine)),
    ];
    all.extend(machine.tick_hz.map(|hz| fact("tick", format!("{hz} a second"))));
    all.push(fact("rights", rights(machine)));
    let level = machine.perf_event_paranoid.map(|level| fact("perf_event_paranoid", level.to_string()));
    all.extend(level);
    all.extend(event_memory(machine).map(|finding| fact("memory for events", finding)));
    all.extend(
        machine.seccomp.then(|| fact("seccomp", "system calls are filtered, as in a container".into())),
    );
    let scope = machine
        .ptrace_scope
        .map(|scope| fact("ptrace_scope", format!("{scope}; falloff does not use ptrace")));
    all.extend(scope);
    all.push(match machine.run_delay {
        true => check(Topic::Machine, "run delay", Verdict::Ok, "/proc/PID/schedstat is there".into(), None),
        false => check(
            Topic::Machine,
            "run delay",
            Verdict::Limited,
            "the kernel does not tell it: time ready to run counts as blocked".into(),
            Some("use a kernel with CONFIG_SCHED_INFO".into()),
        ),
    });
    all
}

fn processors(machine: &Machine) -> String {
    let kind = if machine.virtual_machine { ", virtual" } else { "" };
    let counters = match machine.counters.is_empty() {
        true => "no counters".to_owned(),
        false => format!("counters: {}", machine.counters.join(", ")),
    };
    format!("{}{kind}; {counters}", machine.processors)
}

fn rights(machine: &Machine) -> String {
    let capabilities = [
        (machine.cap_perfmon, "CAP_PERFMON"),
        (machine.cap_sys_admin, "CAP_SYS_ADMIN"),
        (machine.cap_ipc_lock, "CAP_IPC_LOCK"),
    ];
    let held: Vec<&str> = capabilities.iter().filter(|(held, _)| *held).map(|(_, name)| *name).collect();
    let held = if held.is_empty() { "no capabilities that matter".into() } else { held.join(", ") };
    format!("user {}, {held}", machine.user_id)
}

/// How many events of all threads the kernel gives memory for.
fn event_memory(machine: &Machine) -> Option<String> {
    if machine.cap_ipc_lock {
        return Some("no limit".into());
    }
    let shared = machine.perf_event_mlock_kib?.saturating_mul(machine.processors as u64);
    let Some(limit) = machine.memlock_limit_bytes else { return Some("no limit".into()) };
    let events = (shared.saturating_add(limit / 1024)) / 4 / PAGES_OF_EVENT;
    Some(format!("room for about {events} events, then timers and timed calls take their place"))
}

fn launchers(examination: &Examination) -> Check {
    let named = examination.launchers.iter().map(|launcher| match &launcher.flavour {
        Some(flavour) => format!("{} ({flavour})", launcher.name),
        None => launcher.name.clone(),
    });
    let names = named.collect::<Vec<_>>().join(", ");
    let (verdict, finding, remedy) = match names.is_empty() {
        false => (Verdict::Ok, names, None),
        true => (
            Verdict::Limited,
            "none is in PATH; `--launcher plain` and `--launcher threads` need none".to_owned(),
            Some("load or install an MPI".to_owned()),
        ),
    };
    check(Topic::Surroundings, "launchers", verdict, finding, remedy)
}

fn debug_information(examination: &Examination) -> Check {
    let source = examination.trial.as_ref().ok().and_then(|trial| trial.c_library_names);
    let line = |verdict, finding: &str, remedy: Option<&str>| {
        check(
            Topic::Surroundings,
            "debug information",
            verdict,
            finding.to_owned(),
            remedy.map(str::to_owned),
        )
    };
    const INSTALL: &str = "install the C library's debug files (Debian: libc6-dbg; Fedora: debuginfo-install glibc), \
                           or give their place with --debug-path";
    match source {
        None => line(Verdict::Fact, "not known: the trial did not see the C library", None),
        Some(SymbolSource::Debug) => line(Verdict::Ok, "the C library's is there", None),
        Some(SymbolSource::Symbols | SymbolSource::Bounds | SymbolSource::Nothing) => line(
            Verdict::Limited,
            "not that of the C library, whose functions have their exported names and no lines",
            Some(INSTALL),
        ),
    }
}
