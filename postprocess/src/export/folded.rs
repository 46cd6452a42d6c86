//! Folded call paths: one line a path, as flame graph tools read them.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::negative;
use super::profile::Profile;
use super::text::one_line;
use crate::cct::{ScopeKind, THREAD_ROOT, Tree};
use crate::database::Unit;

/// Writes every call path that has cost of its own, with `frame;frame;frame VALUE` a line, outermost frame first, in the
/// profile's first metric; the label of a group is the outermost frame of its paths.
///
/// Frames are functions, inlined functions and pseudo frames. Values are whole microseconds for times and counts
/// for counts; microseconds are rounded so that their sum is the rounded total.
///
/// # Errors
/// Those of `out`; [`io::ErrorKind::InvalidInput`] for negative values.
pub fn folded(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    negative::refuse(profile, "folded")?;
    let Some(metric) = profile.metrics().first() else { return Ok(()) };
    let paths = Paths::new(profile.tree());
    let mut lines: Vec<((String, u32), u64)> = Vec::new();
    for group in profile.groups() {
        let mut sums: FxHashMap<u32, f64> = FxHashMap::default();
        for (context, cost) in group.costs(0) {
            *sums.entry(paths.of_context[*context as usize]).or_default() += cost;
        }
        let label = frame_text(&group.label);
        lines.extend(sums.into_iter().map(|(path, cost)| ((label.clone(), path), cost.round() as u64)));
    }
    lines.sort_unstable();
    if metric.unit == Unit::Nanoseconds {
        to_microseconds(&mut lines);
    }
    for ((label, path), value) in lines.into_iter().filter(|(_, v)| *v > 0) {
        writeln!(out, "{} {value}", paths.text(&label, path))?;
    }
    Ok(())
}

/// A name as a frame of a line.
fn frame_text(name: &str) -> String {
    one_line(name).replace(';', ":")
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

    fn text(&self, label: &str, path: u32) -> String {
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
        frames.reverse();
        frames.join(";")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::export::By;

    fn text(database: &Database, metric: &str, by: By) -> String {
        let mut out = Vec::new();
        folded(&Profile::new(database, &[metric], by), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

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
        insta::assert_snapshot!("folded", text(&database, "cpu", By::None));
        insta::assert_snapshot!("folded_by_rank", text(&database, "samples", By::Rank));
        assert_eq!(text(&database, "cycles", By::None), "");
        let first = |by| text(&database, "cpu", by).lines().next().unwrap().to_owned();
        assert!(first(By::Process).starts_with("app:100;"));
        assert!(first(By::Thread).starts_with("app:100:100;"));
        let total: f64 = database.exclusive_totals("cpu").unwrap().iter().sum();
        for by in [By::None, By::Process, By::Rank, By::Thread] {
            let sum: u64 = text(&database, "cpu", by)
                .lines()
                .map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
                .sum();
            assert_eq!(sum, (total / 1000.0).round() as u64);
        }
    }

    #[test]
    fn helpers_that_are_left_out_have_no_line() {
        let whole = crate::synthetic::database_with_helper(false);
        let plain = text(&crate::synthetic::database(), "cpu", By::Thread);
        assert!(text(&whole, "cpu", By::Thread).contains("a_progress_engine;poll 2500000\n"));
        assert_eq!(text(&whole.without_helpers(), "cpu", By::Thread), plain);
    }

    #[test]
    fn names_cannot_break_a_line() {
        assert_eq!(frame_text("a;b\nc"), "a:b c");
    }
}
