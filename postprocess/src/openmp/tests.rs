//! Processes of libgomp and libomp, and what holds for any.

use std::collections::BTreeMap;

use falloff_format::Pseudo;
use proptest::prelude::*;

use super::graft;
use crate::database::{Location, Metric, Unit};
use crate::load::{Code, Cost, ModuleKey, Node, Origin, Process};

/// Places of modules in the processes here.
const MODULES: [&str; 4] =
    ["/usr/lib/libc.so.6", "/bin/prog", "/usr/lib/libgomp.so.1", "/usr/lib/libomp.so.5"];

/// A process with paths of frames `c1`, `p2a`, `g3`, `o4`: a module's letter, the number of a function, and a letter
/// for where in it. `x0` stands for callers that were lost. Each path has its location and values.
fn process(paths: &[(&str, u32, &[u64])]) -> Process {
    let path = |path: &&str| ModuleKey { path: (*path).into(), build_id: Vec::new(), origin: Origin::File };
    let metrics = [(Unit::Nanoseconds, "cpu"), (Unit::Count, "samples")];
    let locations = 1 + paths.iter().map(|(_, location, _)| *location).max().unwrap_or(0);
    let mut process = Process {
        locations: (0..locations)
            .map(|n| Location { ordinal: n, main: n == 0, ..Location::default() })
            .collect(),
        metrics: metrics.map(|(unit, name)| Metric::new(unit, name)).into(),
        modules: MODULES.iter().map(path).collect(),
        ..Process::default()
    };
    for (path, location, values) in paths {
        let mut parent = None;
        for frame in path.split(' ') {
            process.nodes.push(Node { parent, code: code(frame), main: *location == 0 });
            parent = Some(process.nodes.len() as u32 - 1);
        }
        for (metric, value) in (0u32..).zip(*values) {
            let node = process.nodes.len() as u32 - 1;
            process.costs.push(Cost { node, location: *location, metric, section: None, value: *value });
        }
    }
    process
}

fn code(frame: &str) -> Code {
    if frame.starts_with('x') {
        return Code::Pseudo(Pseudo::Partial);
    }
    let module = "cpgo".find(&frame[..1]).unwrap() as u32;
    let number: u64 = frame[1..2].parse().unwrap();
    let place = frame[2..].bytes().next().map_or(0, |b| u64::from(b - b'a' + 1));
    Code::Module { module, address: number * 16 + place }
}

fn frame(code: Code) -> String {
    match code {
        Code::Module { module, address } => {
            let place = (address % 16).checked_sub(1).map(|p| char::from(b'a' + p as u8));
            format!(
                "{}{}{}",
                &"cpgo"[module as usize..][..1],
                address / 16,
                place.map_or(String::new(), String::from)
            )
        }
        Code::Pseudo(pseudo) => pseudo.name().into(),
        other => format!("{other:?}"),
    }
}

/// Functions begin at multiples of 16; the library's are not known.
fn grafted(process: Process) -> Process {
    graft(process, |module, address| (module < 2).then_some(address / 16 * 16))
}

/// Values by path, location and metric.
fn costs(process: &Process) -> BTreeMap<(String, u32, u32), u64> {
    let mut sums = BTreeMap::new();
    for cost in &process.costs {
        let up = |at: &u32| process.nodes[*at as usize].parent;
        let mut path: Vec<String> = std::iter::successors(Some(cost.node), up)
            .map(|at| frame(process.nodes[at as usize].code))
            .collect();
        path.reverse();
        *sums.entry((path.join(" "), cost.location, cost.metric)).or_insert(0) += cost.value;
    }
    sums
}

/// Time by path and location after grafting.
fn times(paths: &[(&str, u32, &[u64])]) -> Vec<(String, u32, u64)> {
    let costs = costs(&grafted(process(paths)));
    costs.into_iter().filter(|((_, _, metric), _)| *metric == 0).map(|((p, l, _), v)| (p, l, v)).collect()
}

fn expect(found: &[(String, u32, u64)], expected: &[(&str, u32, u64)]) {
    let found: Vec<(&str, u32, u64)> = found.iter().map(|(p, l, v)| (p.as_str(), *l, *v)).collect();
    assert_eq!(found, expected);
}

#[test]
fn workers_of_libgomp_go_under_the_fork() {
    let found = times(&[
        ("c1 p1 p2 g1 p3", 0, &[70]),
        ("c1 p1 p2 g1 g2", 0, &[5]),
        // Another address of the region's function, and what it calls.
        ("c2 c3 g9 p3b p4", 1, &[60]),
        ("c2 c3 g9 p3b g8", 1, &[4]),
        // Spinning, and sleeping in the C library for the library.
        ("c2 c3 g9 g7", 1, &[8]),
        ("c2 c3 g9 g7 c4", 1, &[9]),
        // A thread of the program's own, and a region that nobody else runs.
        ("c2 c3 p5", 2, &[3]),
        ("c2 c3 g9 p6", 1, &[2]),
    ]);
    expect(
        &found,
        &[
            ("OpenMpIdle c2 c3 g9 g7", 1, 8),
            ("OpenMpIdle c2 c3 g9 g7 c4", 1, 9),
            ("c1 p1 p2 g1 g2", 0, 5),
            ("c1 p1 p2 g1 p3", 0, 70),
            ("c1 p1 p2 g1 p3b g8", 1, 4),
            ("c1 p1 p2 g1 p3b p4", 1, 60),
            ("c2 c3 g9 p6", 1, 2),
            ("c2 c3 p5", 2, 3),
        ],
    );
}

#[test]
fn workers_of_libomp_go_under_the_fork() {
    let found = times(&[
        ("c1 p1 p2 o1 o2 o3 o4 p3 p4", 0, &[70]),
        ("c2 o5 o6 o7 o4 p3 p4", 1, &[60]),
        ("c2 o5 o6 o8 c5", 1, &[8]),
    ]);
    expect(
        &found,
        &[
            ("OpenMpIdle c2 o5 o6 o8 c5", 1, 8),
            ("c1 p1 p2 o1 o2 o3 o4 p3 p4", 0, 70),
            ("c1 p1 p2 o1 o2 o3 o4 p3 p4", 1, 60),
        ],
    );
}

#[test]
fn several_forks_share_by_their_own_time() {
    let found = times(&[
        ("c1 p1 p2 g1 p9", 0, &[10]),
        ("c1 p1 p3 g1 p9", 0, &[10]),
        ("c1 p1 p3 g1 p9 p4", 0, &[10]),
        // The end of the region is not its function.
        ("c1 p1 p2 g1 g2", 0, &[1000]),
        // Called by the program itself.
        ("c1 p1 p5 p9", 0, &[1000]),
        // A worker, for all that is known.
        ("x0 g9 p9", 1, &[1000]),
        ("c2 g9 p9", 1, &[10]),
    ]);
    let worker: Vec<_> = found.into_iter().filter(|(_, location, _)| *location == 1).collect();
    expect(&worker, &[("[partial] g9 p9", 1, 1000), ("c1 p1 p2 g1 p9", 1, 3), ("c1 p1 p3 g1 p9", 1, 7)]);
}

#[test]
fn the_outermost_calls_of_a_task_that_calls_itself_count() {
    let found = times(&[
        ("c1 p1 g1 p2 g2 p3", 0, &[10]),
        ("c1 p1 g1 p2 g2 p3 g2 p3", 0, &[90]),
        ("c2 g9 p3 g2 p3", 1, &[8]),
    ]);
    let worker: Vec<_> = found.into_iter().filter(|(_, location, _)| *location == 1).collect();
    expect(&worker, &[("c1 p1 g1 p2 g2 p3 g2 p3", 1, 8)]);
}

#[test]
fn regions_inside_regions_follow_the_outer_ones() {
    let found = times(&[
        // The main thread forks p2 in two places and p3 inside p2 in one of them; a worker forks p3 too.
        ("c1 p1 g1 p2 g1 p3", 0, &[10]),
        ("c1 p4 g1 p2", 0, &[30]),
        ("c2 g9 p2 g1 p3", 1, &[40]),
        ("c2 g9 p3", 2, &[400]),
        // Nobody forks p5 but what runs inside the workers' p3.
        ("c2 g9 p3 g1 p5", 2, &[4]),
        ("c2 g9 p5", 3, &[8]),
    ]);
    expect(
        &found,
        &[
            ("c1 p1 g1 p2 g1 p3", 0, 10),
            ("c1 p1 g1 p2 g1 p3", 1, 10),
            ("c1 p1 g1 p2 g1 p3", 2, 160),
            ("c1 p1 g1 p2 g1 p3 g1 p5", 2, 2),
            ("c1 p1 g1 p2 g1 p3 g1 p5", 3, 4),
            ("c1 p4 g1 p2", 0, 30),
            ("c1 p4 g1 p2 g1 p3", 1, 30),
            ("c1 p4 g1 p2 g1 p3", 2, 240),
            ("c1 p4 g1 p2 g1 p3 g1 p5", 2, 2),
            ("c1 p4 g1 p2 g1 p3 g1 p5", 3, 4),
        ],
    );
}

#[test]
fn regions_inside_each_other_end() {
    let found = times(&[
        ("c1 p1 g1 p2", 0, &[10]),
        ("c1 p1 g1 p3", 0, &[10]),
        ("c2 g9 p2 g1 p3", 1, &[5]),
        ("c2 g9 p3 g1 p2", 2, &[7]),
    ]);
    let workers: Vec<_> = found.into_iter().filter(|(_, location, _)| *location > 0).collect();
    expect(&workers, &[("c1 p1 g1 p2 g1 p3", 1, 5), ("c1 p1 g1 p3 g1 p2", 2, 7)]);
}

#[test]
fn without_time_counts_decide_and_without_a_runtime_nothing_happens() {
    let counts: &[(&str, u32, &[u64])] =
        &[("c1 p1 g1 p9", 0, &[0, 1]), ("c1 p2 g1 p9", 0, &[0, 3]), ("c2 g9 p9", 1, &[0, 8])];
    let mut process = process(counts);
    process.costs.retain(|c| c.value > 0);
    let shared = costs(&grafted(process));
    let worker: Vec<u64> = shared.iter().filter(|((_, l, _), _)| *l == 1).map(|(_, v)| *v).collect();
    assert_eq!(worker, [2, 6]);
    let plain: &[(&str, u32, &[u64])] = &[("c1 p1", 0, &[1, 1]), ("c2 p2", 1, &[2, 1])];
    assert_eq!(costs(&grafted(self::process(plain))), costs(&self::process(plain)));
}

/// Paths of a few functions, so that workers and masters meet.
fn arbitrary_paths() -> impl Strategy<Value = Vec<(String, u32, [u64; 2])>> {
    let frames = prop::collection::vec("[cpgox][0-3][ab]?", 1..9);
    let values = (prop_oneof![Just(0u64), 0u64..1000], 0u64..5).prop_map(|(time, count)| [time, count]);
    let path = (frames, 0u32..4, values).prop_map(|(frames, location, values)| {
        let begin = if location == 0 { "c0 p0" } else { "c9 g9" };
        (format!("{begin} {}", frames.join(" ")), location, values)
    });
    prop::collection::vec(path, 0..30)
}

fn totals(process: &Process) -> BTreeMap<(u32, u32), u64> {
    let mut sums = BTreeMap::new();
    for cost in process.costs.iter().filter(|c| c.value > 0) {
        *sums.entry((cost.location, cost.metric)).or_insert(0) += cost.value;
    }
    sums
}

proptest! {
    #[test]
    fn sums_stay_and_the_order_of_paths_does_not_matter(paths in arbitrary_paths(), seed in any::<u64>()) {
        let made = |paths: &[(String, u32, [u64; 2])]| {
            let paths: Vec<(&str, u32, &[u64])> =
                paths.iter().map(|(path, location, values)| (path.as_str(), *location, &values[..])).collect();
            process(&paths)
        };
        let before = made(&paths);
        let expected = totals(&before);
        let after = grafted(before);
        prop_assert_eq!(totals(&after), expected);
        prop_assert!(after.nodes.iter().enumerate().all(|(at, n)| n.parent.is_none_or(|p| (p as usize) < at)));
        let nonzero = |process: &Process| {
            let mut costs = costs(process);
            costs.retain(|_, value| *value > 0);
            costs
        };
        let mut shuffled: Vec<_> = paths.iter().cloned().enumerate().collect();
        shuffled.sort_by_key(|(i, _)| (*i as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
        let shuffled: Vec<_> = shuffled.into_iter().map(|(_, path)| path).collect();
        prop_assert_eq!(nonzero(&grafted(made(&shuffled))), nonzero(&after));
        // What is in place stays there.
        let again = nonzero(&after);
        prop_assert_eq!(nonzero(&grafted(after)), again);
    }
}
