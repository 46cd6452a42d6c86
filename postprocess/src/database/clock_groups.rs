//! Whether runs were measured alike: costs by different clocks are not compared.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::{Clocks, CpuClock, WaitClock};

/// Runs by the clocks that their threads used.
///
/// ```
/// use falloff_postprocess::{ClockGroups, Clocks, CpuClock, WaitClock};
/// let by = |waits| [Clocks { cpu: CpuClock::Timer, waits }].into();
/// let mut groups = ClockGroups::for_metric("time");
/// groups.add("n0001-r1", by(WaitClock::Switches));
/// assert_eq!(groups.unlike(), None);
/// groups.add("n0002-r1", by(WaitClock::Calls));
/// assert_eq!(
///     groups.unlike().unwrap(),
///     "n0001-r1: CPU time by CPU timer, waits by context switches; n0002-r1: CPU time by CPU timer, waits by timed calls"
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct ClockGroups {
    metric: String,
    groups: BTreeMap<BTreeSet<Clocks>, Vec<String>>,
}

/// Runs of a group that are named one by one.
const NAMED: usize = 6;

impl ClockGroups {
    /// No runs yet. Clocks that have no part in `metric` are not looked at.
    pub fn for_metric(metric: &str) -> ClockGroups {
        ClockGroups { metric: metric.to_owned(), groups: BTreeMap::new() }
    }

    /// Adds a run and the clocks of its threads.
    pub fn add(&mut self, run: &str, clocks: BTreeSet<Clocks>) {
        let relevant: BTreeSet<Clocks> = clocks.into_iter().filter_map(|c| self.relevant(c)).collect();
        self.groups.entry(relevant).or_default().push(run.to_owned());
    }

    /// The clocks that have a part in the metric; `None` if the thread has none of it. A thread that switches or yields very often
    /// counts as measured by the clock that was chosen for it: it finds the same times by another.
    fn relevant(&self, clocks: Clocks) -> Option<Clocks> {
        let mut relevant = Clocks { cpu: clocks.cpu.chosen(), waits: clocks.waits.chosen() };
        if self.metric == "cpu" {
            relevant.waits = WaitClock::NotMeasured;
        } else if ["blocked", "preempted"].contains(&self.metric.as_str()) {
            relevant.cpu = CpuClock::NotMeasured;
        } else if self.metric != "time" {
            return None;
        }
        (relevant != Clocks::default()).then_some(relevant)
    }

    /// Which runs used which clocks, if there is none that all have used. A single thread may use another.
    pub fn unlike(&self) -> Option<String> {
        let common = self.groups.keys().cloned().reduce(|all, one| &all & &one);
        if self.groups.len() < 2 || common.is_some_and(|common| !common.is_empty()) {
            return None;
        }
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|(_, runs)| *runs);
        let texts = groups.into_iter().map(|(clocks, runs)| {
            let more = match runs.len().saturating_sub(NAMED) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let names = runs.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let clocks = clocks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            format!("{names}{more}: {}", if clocks.is_empty() { "not measured" } else { &clocks })
        });
        Some(texts.collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(cpu: CpuClock, waits: WaitClock) -> BTreeSet<Clocks> {
        [Clocks { cpu, waits }].into()
    }

    #[test]
    fn only_what_is_in_the_metric_counts() {
        let unlike = |metric: &str| {
            let mut groups = ClockGroups::for_metric(metric);
            groups.add("a", clocks(CpuClock::Timer, WaitClock::Switches));
            groups.add("b", clocks(CpuClock::Timer, WaitClock::Calls));
            groups.unlike().is_some()
        };
        assert!(unlike("time") && unlike("blocked") && unlike("preempted"));
        assert!(!unlike("cpu") && !unlike("page-faults"));
    }

    #[test]
    fn threads_that_switch_often_are_compared() {
        let mut groups = ClockGroups::for_metric("time");
        groups.add("a", clocks(CpuClock::Timer, WaitClock::Switches));
        groups.add("b", clocks(CpuClock::Timer, WaitClock::SwitchesThenCalls));
        assert_eq!(groups.unlike(), None);
        groups.add("c", clocks(CpuClock::Timer, WaitClock::Calls));
        assert!(groups.unlike().is_some());
    }

    #[test]
    fn some_threads_may_differ() {
        let mut groups = ClockGroups::for_metric("cpu");
        groups.add("a", clocks(CpuClock::TaskClock, WaitClock::Switches));
        let mut mixed = clocks(CpuClock::TaskClock, WaitClock::Switches);
        mixed.extend(clocks(CpuClock::Timer, WaitClock::Switches));
        groups.add("a2", mixed);
        assert_eq!(groups.unlike(), None);
        (0..9).for_each(|n| groups.add(&format!("b{n}"), clocks(CpuClock::Timer, WaitClock::Switches)));
        let text = groups.unlike().unwrap();
        assert!(text.contains("b5 and 3 more: CPU time by CPU timer"), "{text}");
    }
}
