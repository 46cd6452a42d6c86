//! What of a selection can be measured here, and what to say of the rest.

use serde::Serialize;

use super::{Access, Machine, Obstacle, obstacle};
use crate::event::{PerfEvent, Selection};

/// An event that was asked for and cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// Why it cannot be had.
    pub reason: String,
    /// What would enable it.
    pub remedy: String,
}

impl Missing {
    pub(crate) fn new(name: &str, obstacle: Obstacle) -> Missing {
        Missing { name: name.to_owned(), reason: obstacle.reason, remedy: obstacle.remedy }
    }
}

/// Takes the events that cannot be had out of a selection.
pub fn measurable(
    mut selection: Selection,
    machine: &Machine,
    access: impl Fn(&PerfEvent) -> Access,
) -> (Selection, Vec<Missing>) {
    let mut missing = Vec::new();
    selection.events.retain(|event| match obstacle(&event.perf, access(&event.perf), machine) {
        None => true,
        Some(obstacle) => {
            missing.push(Missing::new(&event.perf.name, obstacle));
            false
        }
    });
    (selection, missing)
}

/// One line about what is missing, why, and what would enable it; `None` if nothing is.
pub fn missing_line(missing: &[Missing]) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut told: Vec<&Missing> = Vec::new();
    for one in missing {
        if told.iter().any(|other| other.reason == one.reason) {
            continue;
        }
        told.push(one);
        let names: Vec<&str> =
            missing.iter().filter(|other| other.reason == one.reason).map(|m| m.name.as_str()).collect();
        parts.push(format!("no {}: {} (to enable: {})", names.join(", "), one.reason, one.remedy));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use nix::errno::Errno;

    use super::super::obstacle::tests::machine;
    use super::*;

    #[test]
    fn the_rest_is_measured() {
        let specs = ["cycles", "page-faults", "instructions", "migrations"];
        let selection = Selection::of(&specs.map(|s| s.parse().unwrap())).unwrap();
        let guest =
            Machine { virtual_machine: true, counters: vec![], perf_event_paranoid: Some(2), ..machine() };
        let access = |event: &PerfEvent| match event.is_hardware() {
            true => Access::Refused(Errno::ENOENT),
            false => Access::UserOnly,
        };
        let (selection, missing) = measurable(selection, &guest, access);
        assert_eq!(selection.events.len(), 1);
        assert_eq!(selection.events[0].perf.name, "page-faults");
        assert_eq!(
            missing_line(&missing).unwrap(),
            "no cycles, instructions: this machine's virtual CPU has no counters (to enable: turn on the virtual PMU in \
             the hypervisor (`-cpu host,pmu=on`), or measure on real hardware); no migrations: \
             kernel.perf_event_paranoid is 2 (to enable: sudo sysctl kernel.perf_event_paranoid=1, or give CAP_PERFMON)"
        );
        assert_eq!(missing_line(&[]), None);
    }
}
