//! What one run spent in its sections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use falloff_postprocess::Location;
use falloff_postprocess::sections::{Dwell, Sections};

use crate::scoring::SECONDS_PER_NS;

/// Labels from the outermost section to a section itself.
pub type LabelPath = Vec<Arc<str>>;

/// Times of the sections of one run.
///
/// They are wall times in the timeline of a process, that of its main thread: only these bound a speed-up. The timeline of a rank is
/// that of its processes that mark sections (of the longest of its processes, if none does); in a program without ranks every process
/// that marks some has one. Threads beside the main one, and forked children, are told apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSections {
    /// Processes that the run was started with.
    pub processes: u32,
    /// Threads of each that it was started with.
    pub threads: u32,
    /// Mean length of the timelines, seconds.
    pub wall: f64,
    /// By labels; sections with the same labels on several communicators are one.
    pub spent: BTreeMap<LabelPath, Spent>,
}

/// What the processes of one run spent in a section.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// From entry to exit, summed over the instances: mean over all timelines, those that were never in it among them. Seconds.
    pub inclusive: f64,
    /// Of that, in no section within.
    pub exclusive: f64,
    /// From entry to exit, of the timeline with most.
    pub largest: f64,
    /// Time in which any of the timelines is in it, seconds; `None` if that is not known: processes are on several hosts, whose clocks
    /// cannot be compared, not every instance has been logged, or others than the timelines are in it too.
    pub span: Option<f64>,
    /// What is in no timeline.
    pub elsewhere: Elsewhere,
}

/// Threads other than the main ones, and forked children, that were in a section.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Elsewhere {
    /// How many.
    pub threads: u32,
    /// From entry to exit, summed over them, seconds.
    pub seconds: f64,
}

impl RunSections {
    /// Of a run's measurement. No process, no time.
    pub fn of(sections: &Sections, locations: &[Location], processes: u32, threads: u32) -> RunSections {
        let timelines = Timelines::new(sections, locations);
        let count = timelines.walls.len();
        let mut outermost = vec![0.0; count];
        let mut sums: BTreeMap<LabelPath, (Vec<f64>, f64, Elsewhere)> = BTreeMap::new();
        let paths: Vec<LabelPath> = (0..sections.sections.len() as u32)
            .map(|section| sections.path(section).into_iter().map(Arc::from).collect())
            .collect();
        for dwell in &sections.dwells {
            let seconds = dwell.dwell_ns as f64 * SECONDS_PER_NS;
            let path = &paths[dwell.section as usize];
            let (inclusive, exclusive, elsewhere) =
                sums.entry(path.clone()).or_insert_with(|| (vec![0.0; count], 0.0, Elsewhere::default()));
            match timelines.of[dwell.location as usize] {
                None => {
                    elsewhere.threads += 1;
                    elsewhere.seconds += seconds;
                }
                Some(timeline) => {
                    inclusive[timeline] += seconds;
                    *exclusive += dwell.dwell_ns.saturating_sub(dwell.nested_ns) as f64 * SECONDS_PER_NS;
                    if path.len() == 1 {
                        outermost[timeline] += seconds;
                    }
                }
            }
        }
        let mean = |sum: f64| sum / count.max(1) as f64;
        // The end of a process that was killed may not be known, that of its sections is.
        let wall = timelines.walls.iter().zip(outermost).map(|(wall, inside)| wall.max(inside)).sum();
        let mut spans = spans(sections, &paths);
        let mut spent =
            |path: &LabelPath, (inclusive, exclusive, elsewhere): (Vec<f64>, f64, Elsewhere)| Spent {
                inclusive: mean(inclusive.iter().sum()),
                exclusive: mean(exclusive),
                largest: inclusive.into_iter().fold(0.0, f64::max),
                span: spans.remove(path).filter(|_| elsewhere.threads == 0),
                elsewhere,
            };
        RunSections {
            processes,
            threads,
            wall: mean(wall),
            spent: sums
                .into_iter()
                .map(|(path, sum)| {
                    let spent = spent(&path, sum);
                    (path, spent)
                })
                .collect(),
        }
    }

    /// Processor count.
    pub fn processors(&self) -> u32 {
        self.processes.saturating_mul(self.threads)
    }

    /// What was spent in a section; nothing where it was not entered.
    pub fn in_section(&self, path: &LabelPath) -> Spent {
        self.spent.get(path).copied().unwrap_or_default()
    }

    /// Time in no section, seconds: mean over the timelines.
    pub fn outside(&self) -> f64 {
        let inside: f64 = self.spent.values().map(|spent| spent.exclusive).sum();
        (self.wall - inside).max(0.0)
    }
}

/// When anybody was in the sections of a path.
#[derive(Default)]
struct Stays<'a> {
    /// Hosts whose clocks said so.
    hosts: BTreeSet<&'a str>,
    /// First entry and last exit of each instance.
    instances: Vec<(u64, u64)>,
}

/// Time in which anybody is in the sections of a path, seconds, where that is known. Instances may overlap: who is first enters the next
/// before the last has left, and sections of several communicators have nothing to do with each other.
fn spans(sections: &Sections, paths: &[LabelPath]) -> BTreeMap<LabelPath, f64> {
    let mut all: BTreeMap<&LabelPath, Stays<'_>> = BTreeMap::new();
    let mut unknown: BTreeSet<&LabelPath> = BTreeSet::new();
    unknown.extend(sections.dwells.iter().filter(|d| d.unlogged > 0).map(|d| &paths[d.section as usize]));
    for instance in &sections.instances {
        let path = &paths[instance.section as usize];
        let stays = all.entry(path).or_default();
        match &instance.host {
            Some(host) => stays.hosts.insert(host),
            None => unknown.insert(path),
        };
        stays.instances.push((instance.first_in_ns, instance.last_out_ns));
    }
    let known = all.into_iter().filter(|(path, stays)| stays.hosts.len() == 1 && !unknown.contains(path));
    known.map(|(path, stays)| (path.clone(), united(stays.instances) as f64 * SECONDS_PER_NS)).collect()
}

/// Length of what any of the stretches covers.
fn united(mut stretches: Vec<(u64, u64)>) -> u64 {
    stretches.sort_unstable();
    let (mut sum, mut covered) = (0u64, 0);
    for (from, to) in stretches {
        sum = sum.saturating_add(to.saturating_sub(from.max(covered)));
        covered = covered.max(to);
    }
    sum
}

/// The timelines of a run.
struct Timelines {
    /// Length of each, seconds.
    walls: Vec<f64>,
    /// By location, the timeline that it is part of.
    of: Vec<Option<usize>>,
}

/// Whose timeline: a rank's, or a process's on its host.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Owner<'a> {
    Rank(u32),
    Process(&'a str, u32),
}

impl Timelines {
    fn new(sections: &Sections, locations: &[Location]) -> Timelines {
        let process = |location: &Location| (location.host.clone(), location.pid, location.start_ns);
        let of_dwell = |dwell: &Dwell| locations.get(dwell.location as usize).map(process);
        let marking: BTreeSet<_> = sections.dwells.iter().filter_map(of_dwell).collect();
        let ranked = locations.iter().any(|location| location.rank.is_some());
        let mut by_owner: BTreeMap<Owner<'_>, Vec<usize>> = BTreeMap::new();
        for (index, location) in locations.iter().enumerate().filter(|(_, l)| l.main && !l.forked) {
            let owner = match location.rank {
                Some(rank) => Owner::Rank(rank),
                None if ranked || !marking.contains(&process(location)) => continue,
                None => Owner::Process(&location.host, location.pid),
            };
            by_owner.entry(owner).or_default().push(index);
        }
        let wall = |index: &usize| locations[*index].wall_ns as f64 * SECONDS_PER_NS;
        let mut timelines = Timelines { walls: Vec::new(), of: vec![None; locations.len()] };
        for indices in by_owner.into_values() {
            let marks = |index: &usize| marking.contains(&process(&locations[*index]));
            let marked: Vec<usize> = indices.iter().copied().filter(marks).collect();
            marked.iter().for_each(|index| timelines.of[*index] = Some(timelines.walls.len()));
            timelines.walls.push(match marked[..] {
                [] => indices.iter().map(wall).fold(0.0, f64::max),
                _ => marked.iter().map(wall).sum(),
            });
        }
        timelines
    }
}

#[cfg(test)]
mod tests {
    use falloff_postprocess::sections::{Instance, Section};

    use super::*;

    fn location(rank: Option<u32>, pid: u32, ordinal: u32, wall_s: u64) -> Location {
        Location {
            rank,
            pid,
            ordinal,
            main: ordinal == 0,
            wall_ns: wall_s * 1_000_000_000,
            ..Location::default()
        }
    }

    fn section(parent: Option<u32>, label: &str, communicator: Option<u32>) -> Section {
        Section { parent, label: label.into(), communicator }
    }

    /// Of (section, location, seconds, seconds in sections within).
    fn dwells(of: &[(u32, u32, u64, u64)]) -> Vec<Dwell> {
        let ns = 1_000_000_000;
        let dwell = |&(section, location, seconds, nested): &(u32, u32, u64, u64)| Dwell {
            section,
            location,
            count: 1,
            dwell_ns: seconds * ns,
            nested_ns: nested * ns,
            unlogged: 0,
        };
        of.iter().map(dwell).collect()
    }

    fn path(labels: &[&str]) -> LabelPath {
        labels.iter().map(|label| Arc::from(*label)).collect()
    }

    #[test]
    fn absent_is_zero_and_communicators_join() {
        let sections = Sections {
            sections: vec![
                section(None, "MAIN", Some(0)),
                section(Some(0), "HALF", Some(1)),
                section(Some(0), "HALF", Some(2)),
            ],
            dwells: dwells(&[(0, 0, 8, 2), (0, 1, 6, 4), (1, 0, 2, 0), (2, 1, 4, 0)]),
            ..Sections::default()
        };
        let locations = [
            location(Some(0), 10, 0, 10),
            location(Some(1), 11, 0, 10),
            // A rank that marks nothing, in a shell and the program that it starts.
            location(Some(2), 12, 0, 10),
            location(Some(2), 13, 0, 9),
        ];
        let run = RunSections::of(&sections, &locations, 3, 1);
        assert_eq!((run.wall, run.processors()), (10.0, 3));
        let main = run.in_section(&path(&["MAIN"]));
        assert_eq!((main.inclusive, main.exclusive, main.largest), (14.0 / 3.0, 8.0 / 3.0, 8.0));
        let half = run.in_section(&path(&["MAIN", "HALF"]));
        assert_eq!((half.inclusive, half.largest, half.elsewhere), (2.0, 4.0, Elsewhere::default()));
        assert!((run.outside() - (10.0 - 14.0 / 3.0)).abs() < 1e-12);
        assert_eq!(run.in_section(&path(&["HALF"])), Spent::default());
    }

    fn instance(section: u32, host: &str, from_s: u64, to_s: u64) -> Instance {
        let ns = 1_000_000_000;
        Instance::of_one(section, 0, host.into(), from_s * ns, to_s * ns, false)
    }

    #[test]
    fn the_span_is_when_anybody_is_in_it() {
        let mut sections = Sections {
            sections: vec![section(None, "HALF", Some(0)), section(None, "HALF", Some(1))],
            dwells: dwells(&[(0, 0, 3, 0), (1, 1, 4, 0)]),
            // 1 to 4 and 6 to 9 on one communicator, 3 to 7 on the other: 8 s.
            instances: vec![instance(0, "a", 1, 4), instance(0, "a", 6, 9), instance(1, "a", 3, 7)],
            ..Sections::default()
        };
        let locations = [location(Some(0), 10, 0, 10), location(Some(1), 11, 0, 10)];
        let span = |sections: &Sections| {
            RunSections::of(sections, &locations, 2, 1).in_section(&path(&["HALF"])).span
        };
        assert_eq!(span(&sections), Some(8.0));
        sections.dwells[0].unlogged = 1;
        assert_eq!(span(&sections), None, "one is not logged");
        sections.dwells[0].unlogged = 0;
        sections.instances[2].host = Some("b".into());
        assert_eq!(span(&sections), None, "clocks of two hosts");
        sections.instances.clear();
        assert_eq!(span(&sections), None);
    }

    #[test]
    fn other_threads_and_forked_children_are_apart() {
        let sections = Sections {
            sections: vec![section(None, "ALL", None)],
            dwells: dwells(&[(0, 0, 4, 0), (0, 1, 3, 0), (0, 2, 2, 0)]),
            ..Sections::default()
        };
        let child = Location { forked: true, ..location(None, 11, 0, 5) };
        // The last one is a shell around it.
        let locations = [location(None, 10, 0, 5), location(None, 10, 1, 5), child, location(None, 9, 0, 6)];
        let run = RunSections::of(&sections, &locations, 1, 2);
        let all = run.in_section(&path(&["ALL"]));
        assert_eq!((run.wall, all.inclusive, run.outside()), (5.0, 4.0, 1.0));
        assert_eq!(all.elsewhere, Elsewhere { threads: 2, seconds: 5.0 });
    }

    #[test]
    fn a_process_whose_end_is_not_known_is_as_long_as_its_sections() {
        let sections = Sections {
            sections: vec![section(None, "ALL", None)],
            dwells: dwells(&[(0, 0, 4, 0)]),
            ..Sections::default()
        };
        let run = RunSections::of(&sections, &[location(Some(0), 10, 0, 0)], 1, 1);
        assert_eq!((run.wall, run.outside()), (4.0, 0.0));
        assert_eq!(RunSections::of(&Sections::default(), &[], 1, 1).wall, 0.0);
    }
}
