//! Laws that hold for any run.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::{open_default, process, timed_process};
use crate::database::{Database, Shard};
use crate::load::find;
use crate::measurements::Measurements;
use crate::open::{OpenOptions, merge_into};
use crate::synthetic::Synthetic;

/// Names of the files in a directory with their bytes.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&p).unwrap()))
        .collect();
    all.sort();
    all
}

fn arbitrary_process() -> impl Strategy<Value = Vec<(Vec<u64>, u64)>> {
    prop::collection::vec((prop::collection::vec(0u64..4, 1..5), 0u64..1000), 0..12)
}

/// Call paths with CPU time, blocked and preempted time.
fn arbitrary_timed_process() -> impl Strategy<Value = Vec<(Vec<u64>, [u64; 3])>> {
    let values = prop::array::uniform3(prop_oneof![Just(0), 0u64..1000]);
    prop::collection::vec((prop::collection::vec(0u64..4, 1..5), values), 0..12)
}

fn database_of(dir: &Path, order: &[usize], processes: &[Synthetic]) -> Database {
    let names: Vec<_> = processes.iter().map(|p| dir.join(p.write(dir))).collect();
    let files: Vec<_> = order.iter().map(|i| names[*i].clone()).collect();
    Measurements::of(dir, &files, None).unwrap().merge_in_memory(&OpenOptions::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_order_of_files_does_not_matter(
        processes in prop::collection::vec((any::<bool>(), arbitrary_timed_process()), 1..5),
        seed in any::<u64>(),
    ) {
        let synthetic: Vec<Synthetic> = (1..)
            .zip(&processes)
            .map(|(pid, (waits, paths))| timed_process(pid, *waits, paths))
            .collect();
        let forward: Vec<usize> = (0..synthetic.len()).collect();
        let mut shuffled = forward.clone();
        shuffled.sort_by_key(|i| (*i as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
        let dir = tempfile::tempdir().unwrap();
        let a = database_of(dir.path(), &forward, &synthetic);
        // Callers may stand behind the called: the layout of a file does not matter either.
        let laid_out: Vec<Synthetic> =
            synthetic.iter().map(|s| Synthetic { callers_last: true, ..s.clone() }).collect();
        let b = database_of(dir.path(), &shuffled, &laid_out);
        a.write(&dir.path().join("a")).unwrap();
        b.write(&dir.path().join("b")).unwrap();
        prop_assert_eq!(contents(&dir.path().join("a")), contents(&dir.path().join("b")));
        prop_assert_eq!(Database::open(&dir.path().join("a")).unwrap(), a.clone());
        let measured = |part: usize| -> u64 {
            processes.iter().filter(|(waits, _)| *waits || part == 0).flat_map(|(_, p)| p).map(|(_, v)| v[part]).sum()
        };
        let totals = |metric| a.exclusive_totals(metric).unwrap_or_default();
        for (part, metric) in ["cpu", "blocked", "preempted"].into_iter().enumerate() {
            prop_assert_eq!(totals(metric).iter().sum::<f64>(), measured(part) as f64);
        }
        // `time` is the sum of its parts at every context, and is there only if they are.
        let waits = processes.iter().any(|(waits, _)| *waits);
        prop_assert_eq!(a.metric("time").is_some(), waits);
        for (context, time) in totals("time").iter().enumerate() {
            let parts = ["cpu", "blocked", "preempted"].map(|m| totals(m)[context]);
            prop_assert_eq!(*time, parts.iter().sum::<f64>());
        }
        // Joining parts gives the whole, in any order and grouping.
        let parts: Vec<Database> = forward.iter().map(|i| database_of(dir.path(), &[*i], &synthetic)).collect();
        let all: Vec<&Database> = parts.iter().collect();
        let reversed: Vec<&Database> = parts.iter().rev().collect();
        let joined = Database::join(&all).unwrap();
        prop_assert_eq!(joined.tree(), a.tree());
        prop_assert_eq!(joined.metrics(), a.metrics());
        prop_assert_eq!(joined.values(), a.values());
        prop_assert_eq!(joined.locations(), a.locations());
        let backwards = Database::join(&reversed).unwrap();
        prop_assert_eq!(&backwards, &joined);
        let nested = parts[1..].iter().fold(parts[0].clone(), |sum, part| Database::join(&[part, &sum]).unwrap());
        prop_assert_eq!(&nested, &joined);
    }

    #[test]
    fn parts_of_a_run_join_to_the_same_bytes(
        processes in prop::collection::vec((any::<bool>(), arbitrary_timed_process()), 1..6),
        copies in 0usize..3,
        parts in 1u32..5,
        turn in 0usize..5,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        for (pid, (waits, paths)) in (1..).zip(&processes) {
            timed_process(pid, *waits, paths).write(&run);
        }
        let files = find(&run).unwrap();
        for file in files.iter().take(copies) {
            fs::copy(file, file.with_extension("copy.falloff")).unwrap();
        }
        fs::write(run.join("broken.falloff"), b"x").unwrap();
        let place = |name: &str| dir.path().join(name);
        let options = OpenOptions::default();
        let whole = merge_into(&run, &options, None, &place("whole")).unwrap();
        let mut merged: Vec<Database> = (1..=parts)
            .map(|index| {
                let shard = Shard { index, of: parts };
                merge_into(&run, &options, Some(shard), &place(&index.to_string())).unwrap()
            })
            .collect();
        let turn = turn % merged.len();
        merged.rotate_left(turn);
        let joined = Database::join_into(&merged.iter().collect::<Vec<_>>(), &place("joined")).unwrap();
        prop_assert_eq!(contents(&place("whole")), contents(&place("joined")));
        prop_assert_eq!(&joined, &whole);
        // In memory, and one after the other.
        let (first, rest) = merged.split_first().unwrap();
        let nested = rest.iter().fold(first.clone(), |sum, part| Database::join(&[part, &sum]).unwrap());
        prop_assert_eq!(&nested, &whole);
        // What is there already adds nothing.
        let again = Database::join(&[&whole, &merged[0]]).unwrap();
        prop_assert_eq!(again.values(), whole.values());
    }

    #[test]
    fn damaged_bytes_never_panic(
        paths in arbitrary_process(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        cut in any::<prop::sample::Index>(),
        cuts in any::<bool>(),
    ) {
        let paths: Vec<(&[u64], u64)> = paths.iter().map(|(p, v)| (p.as_slice(), *v)).collect();
        let mut bytes = process(1, &paths).bytes();
        // Most bytes are padding: damage goes where something is.
        let used: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] != 0 || i % 64 == 0).collect();
        for (at, value) in changes {
            bytes[used[at.index(used.len())]] = value;
        }
        if cuts {
            bytes.truncate(cut.index(bytes.len()));
        }
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.falloff"), bytes).unwrap();
        if let Ok(database) = open_default(dir.path()) {
            prop_assert_eq!(Database::open(&dir.path().join("database")).unwrap(), database);
        }
    }
}
