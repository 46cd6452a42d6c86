//! Folded call paths: one line a path, as flame graph tools read them.

use std::collections::BTreeSet;
use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::cct::{ScopeKind, THREAD_ROOT, Tree};
use crate::database::{Database, Location, Unit};

/// What is put in front of each path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Nothing: all locations together.
    #[default]
    None,
    /// `NAME:pid`.
    Process,
    /// `rank N`; `NAME:pid` for processes that have no rank.
    Rank,
    /// `NAME:pid:tid`.
    Thread,
}

impl By {
    fn label(self, location: &Location, image: usize) -> String {
        // A process that executes another image of the same name is two profiles.
        let suffix = if image > 0 { format!("#{}", image + 1) } else { String::new() };
        let process = || format!("{}:{}{suffix}", frame_text(location.program()), location.pid);
        match (self, location.rank) {
            (By::None, _) => String::new(),
            (By::Rank, Some(rank)) => format!("rank {rank}"),
            (By::Process | By::Rank, _) => process(),
            (By::Thread, _) => format!("{}:{}", process(), location.tid),
        }
    }
}

/// For each location, how many images of its program's name its process had executed before.
fn images(locations: &[Location]) -> Vec<usize> {
    fn key(location: &Location) -> (&str, u32, &str) {
        (&location.host, location.pid, location.program())
    }
    let mut starts: FxHashMap<_, BTreeSet<u64>> = FxHashMap::default();
    for location in locations {
        starts.entry(key(location)).or_default().insert(location.start_ns);
    }
    let before = |l: &Location| starts.get(&key(l)).map_or(0, |s| s.range(..l.start_ns).count());
    locations.iter().map(before).collect()
}

/// Writes every call path that has cost of its own, with `frame;frame;frame VALUE` a line, outermost frame first.
///
/// Frames are functions, inlined functions and pseudo frames. Values are whole microseconds for times and counts
/// for counts; microseconds are rounded so that their sum is the rounded total. `None` if the metric was not
/// measured.
pub fn folded(database: &Database, metric: &str, by: By) -> Option<String> {
    let unit = database.metric(metric)?.unit;
    let metric = database.metrics().iter().position(|m| m.name == metric)? as u32;
    let images = images(database.locations());
    let labels: Vec<String> = database.locations().iter().zip(images).map(|(l, i)| by.label(l, i)).collect();
    let paths = Paths::new(database.tree());
    let mut sums: FxHashMap<(&str, u32), u64> = FxHashMap::default();
    for value in database.values().iter().filter(|v| v.metric == metric) {
        let place = (labels[value.location as usize].as_str(), paths.of_context[value.context as usize]);
        let sum = sums.entry(place).or_default();
        *sum = sum.saturating_add(value.exclusive);
    }
    let mut lines: Vec<((&str, u32), u64)> = sums.into_iter().collect();
    lines.sort_unstable();
    if unit == Unit::Nanoseconds {
        to_microseconds(&mut lines);
    }
    let mut text = String::new();
    for ((label, path), value) in lines.into_iter().filter(|(_, v)| *v > 0) {
        paths.write(&mut text, label, path);
        // Writing to a string cannot fail.
        let _ = writeln!(text, " {value}");
    }
    Some(text)
}

/// A name as a frame of a line.
fn frame_text(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c == ';' {
                ':'
            } else if c.is_control() {
                ' '
            } else {
                c
            }
        })
        .collect()
}

/// Rounds nanoseconds to microseconds so that the sum of the lines is the rounded sum: the lines with the largest
/// remainders are rounded up.
fn to_microseconds<K>(lines: &mut [(K, u64)]) {
    let total: u128 = lines.iter().map(|(_, v)| u128::from(*v)).sum();
    let whole: u128 = lines.iter().map(|(_, v)| u128::from(*v / 1000)).sum();
    let up = ((total + 500) / 1000 - whole) as usize;
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(lines[*i].1 % 1000));
    for (place, line) in order.into_iter().enumerate() {
        lines[line].1 = lines[line].1 / 1000 + u64::from(place < up);
    }
}

/// Call paths by the names of their frames: paths that differ only in lines are one.
struct Paths {
    /// (path above, frame), path 0 being the empty one.
    paths: Vec<(u32, u32)>,
    frames: Vec<String>,
    of_context: Vec<u32>,
}

impl Paths {
    fn new(tree: &Tree) -> Paths {
        let mut paths =
            Paths { paths: vec![(0, 0)], frames: Vec::new(), of_context: Vec::with_capacity(tree.len()) };
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let frames = paths.intern_frames(tree);
        for (index, context) in tree.contexts().iter().enumerate() {
            let above = if index == 0 { 0 } else { paths.of_context[context.parent as usize] };
            let path = match frames[context.scope as usize] {
                None => above,
                Some(frame) => *known.entry((above, frame)).or_insert_with(|| {
                    paths.paths.push((above, frame));
                    paths.paths.len() as u32 - 1
                }),
            };
            paths.of_context.push(path);
        }
        paths
    }

    /// The frame of each scope; `None` for what is not printed.
    fn intern_frames(&mut self, tree: &Tree) -> Vec<Option<u32>> {
        let mut known: FxHashMap<&str, u32> = FxHashMap::default();
        let frame = |scope: &crate::Scope| {
            scope.kind.is_frame() && !(scope.kind == ScopeKind::Pseudo && &*scope.name == THREAD_ROOT)
        };
        tree.scopes()
            .iter()
            .map(|scope| {
                frame(scope).then(|| {
                    *known.entry(&scope.name).or_insert_with(|| {
                        self.frames.push(frame_text(&scope.name));
                        self.frames.len() as u32 - 1
                    })
                })
            })
            .collect()
    }

    fn write(&self, text: &mut String, label: &str, path: u32) {
        let mut frames: Vec<&str> = Vec::new();
        let mut here = path;
        while here != 0 {
            let (above, frame) = self.paths[here as usize];
            frames.push(&self.frames[frame as usize]);
            here = above;
        }
        if !label.is_empty() {
            frames.push(label);
        }
        if frames.is_empty() {
            frames.push("<program>");
        }
        for (index, frame) in frames.iter().rev().enumerate() {
            if index > 0 {
                text.push(';');
            }
            text.push_str(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_the_total() {
        let mut lines = [("a", 1_400), ("b", 1_400), ("c", 1_400), ("d", 600)];
        to_microseconds(&mut lines);
        assert_eq!(lines.map(|(_, v)| v), [2, 1, 1, 1]);
        assert_eq!(lines.iter().map(|(_, v)| v).sum::<u64>(), 5);
    }

    #[test]
    fn every_path_with_cost_is_a_line() {
        let database = crate::synthetic::database();
        insta::assert_snapshot!("folded", folded(&database, "cpu", By::None).unwrap());
        insta::assert_snapshot!("folded_by_rank", folded(&database, "samples", By::Rank).unwrap());
        assert_eq!(folded(&database, "cycles", By::None), None);
        let first = |by| folded(&database, "cpu", by).unwrap().lines().next().unwrap().to_owned();
        assert!(first(By::Process).starts_with("app:100;"));
        assert!(first(By::Thread).starts_with("app:100:100;"));
        let total: u64 = database.exclusive_totals("cpu").unwrap().iter().sum();
        for by in [By::None, By::Process, By::Rank, By::Thread] {
            let text = folded(&database, "cpu", by).unwrap();
            let sum: u64 = text.lines().map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
            assert_eq!(sum, (total + 500) / 1000);
        }
    }

    #[test]
    fn helpers_that_are_left_out_have_no_line() {
        let whole = crate::synthetic::database_with_helper(false);
        let plain = folded(&crate::synthetic::database(), "cpu", By::Thread).unwrap();
        assert!(folded(&whole, "cpu", By::Thread).unwrap().contains("a_progress_engine;poll 2500000\n"));
        assert_eq!(folded(&whole.without_helpers(), "cpu", By::Thread).unwrap(), plain);
    }

    #[test]
    fn images_of_one_process_are_told_apart() {
        let mut locations = vec![crate::synthetic::database().locations()[0].clone(); 3];
        locations[1].start_ns += 5;
        locations[2].start_ns += 5;
        locations[2].image = "/bin/other".into();
        let labels: Vec<String> =
            locations.iter().zip(images(&locations)).map(|(l, i)| By::Process.label(l, i)).collect();
        assert_eq!(labels, ["app:100", "app:100#2", "other:100"]);
    }

    #[test]
    fn names_cannot_break_a_line() {
        assert_eq!(frame_text("a;b\nc"), "a:b c");
    }
}
