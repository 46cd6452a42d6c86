//! Whole runs made of synthetic measurement files.

use std::fs;
use std::path::Path;

use falloff_format::Frame;
use falloff_format::header::STATE_RUNNING;
use falloff_format::node::Pseudo;
use falloff_format::records::Unit as FormatUnit;
use proptest::prelude::*;

use crate::database::{Database, ProcessState, Provenance};
use crate::error::Error;
use crate::load::{Warnings, find, open_all};
use crate::open::{OpenOptions, merge, open};
use crate::synthetic::{Synthetic, SyntheticModule, SyntheticThread};

fn code(module: u16, address: u64) -> Frame {
    Frame::new(module, address)
}

fn process(pid: u32, paths: &[(&[u64], u64)]) -> Synthetic {
    let mut thread = SyntheticThread::default();
    for (path, cpu) in paths {
        let frames: Vec<Frame> = path.iter().map(|address| code(1, *address)).collect();
        thread.charge(&frames, &[*cpu, 1]);
    }
    Synthetic { pid, threads: vec![thread], ..Synthetic::default() }
}

fn open_default(dir: &Path) -> Result<Database, Error> {
    open(dir, &OpenOptions::default())
}

fn names(database: &Database, context: u32) -> Vec<String> {
    database.tree().path(context).iter().map(|c| database.tree().scope(*c).name.to_string()).collect()
}

/// Exclusive CPU time by path.
fn costs(database: &Database) -> Vec<(String, u64)> {
    let totals = database.exclusive_totals("cpu").unwrap();
    let with_cost = (0..totals.len() as u32).filter(|c| totals[*c as usize] > 0);
    with_cost.map(|c| (names(database, c).join(";"), totals[c as usize])).collect()
}

#[test]
fn processes_are_merged_by_path_and_kept_apart_by_location() {
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("measurements");
    Synthetic { rank: Some(0), ranks: 3, ..process(10, &[(&[1, 2], 100), (&[1, 3], 50)]) }.write(&files);
    Synthetic { rank: Some(2), ranks: 3, hole: 1 << 20, ..process(11, &[(&[1, 2], 7)]) }.write(&files);
    let database = open_default(dir.path()).unwrap();
    assert_eq!(costs(&database), [("prog+0x1;prog+0x2".into(), 107), ("prog+0x1;prog+0x3".into(), 50)]);
    let first = database.exclusive_at("cpu", |l| l.rank == Some(2)).unwrap();
    assert_eq!(first.iter().sum::<u64>(), 7);
    let health = database.health();
    assert_eq!((health.processes, health.samples, health.ranks_present), (2, 3, 2));
    assert_eq!(health.missing_ranks, [1]);
    assert_eq!(database.provenance().command, ["/bin/prog", "arg"]);
    assert!(
        database.warnings().iter().any(|w| w.contains("/nowhere/prog: no names")),
        "{:?}",
        database.warnings()
    );
    // The kept database is used again, and gives the same.
    assert_eq!(open_default(dir.path()).unwrap(), database);
    assert_eq!(Database::open(&dir.path().join("database")).unwrap(), database);
    assert_eq!(open_default(&dir.path().join("database")).unwrap(), database);
}

#[test]
fn threads_and_pseudo_frames_have_their_places() {
    let mut main = SyntheticThread::default();
    main.charge(&[code(1, 1)], &[10, 1]);
    main.charge(&[Frame::pseudo(Pseudo::Partial), code(1, 5)], &[20, 1]);
    main.charge(&[Frame::pseudo(Pseudo::Truncated), code(1, 5)], &[30, 1]);
    main.charge(&[Frame::pseudo(Pseudo::Unsampled)], &[40, 0]);
    main.charge(&[code(1, 1), Frame::pseudo(Pseudo::Anonymous), code(1, 6)], &[50, 1]);
    main.charge(&[code(9, 1)], &[60, 1]);
    let mut worker = SyntheticThread { start_module: 2, ..SyntheticThread::default() };
    worker.charge(&[code(1, 1)], &[70, 1]);
    worker.charge(&[Frame::pseudo(Pseudo::Anonymous)], &[80, 1]);
    let mut run = Synthetic {
        threads: vec![main, worker, SyntheticThread::default()],
        state: STATE_RUNNING,
        ..Synthetic::default()
    };
    run.modules
        .push(SyntheticModule { path: "/usr/lib/libopen-pal.so.40".into(), ..SyntheticModule::default() });
    let dir = tempfile::tempdir().unwrap();
    run.write(dir.path());
    let database = open_default(dir.path()).unwrap();
    let mut found = costs(&database);
    found.sort_by_key(|(_, cost)| *cost);
    let expected = [
        ("prog+0x1", 10),
        ("[partial];prog+0x5", 20),
        ("[truncated];prog+0x5", 30),
        ("[unsampled]", 40),
        ("prog+0x1;[anon];prog+0x6", 50),
        ("[unknown]", 60),
        ("<thread root>;prog+0x1", 70),
        ("<thread root>;[anon]", 80),
    ];
    assert_eq!(found, expected.map(|(path, cost)| (path.to_owned(), cost)));
    let locations = database.locations();
    assert_eq!(locations.len(), 3);
    assert_eq!(
        locations.iter().map(|l| (l.main, l.helper)).collect::<Vec<_>>(),
        [(true, false), (false, true), (false, false)]
    );
    assert_eq!(locations[2].samples, 0);
    assert!(locations.iter().all(|l| l.state == ProcessState::Killed));
}

#[test]
fn a_later_image_of_a_process_is_marked() {
    let dir = tempfile::tempdir().unwrap();
    process(10, &[(&[1], 1)]).write(dir.path());
    let mut later = process(10, &[(&[2], 1)]).bytes();
    // `start_realtime_ns` of the header.
    let at = std::mem::offset_of!(falloff_format::Header, start_realtime_ns);
    later[at..at + 8].copy_from_slice(&2_000_000_000u64.to_ne_bytes());
    fs::write(dir.path().join("later.falloff"), later).unwrap();
    let database = open_default(dir.path()).unwrap();
    assert_eq!(database.locations().iter().map(|l| l.exec).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn bad_files_are_named_and_cost_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let good = process(10, &[(&[1, 2], 100)]);
    good.write(dir.path());
    let bytes = process(11, &[(&[1, 2], 5)]).bytes();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("a-empty.falloff", &[]);
    write("b-foreign.falloff", &[b'x'; 5000]);
    write("c-header.falloff", &bytes[..100]);
    write("d-cut.falloff", &bytes[..bytes.len() - 4090]);
    let mut broken = bytes.clone();
    broken[256 + 16..256 + 24].fill(0xff);
    write("e-broken.falloff", &broken);
    let mut version = bytes.clone();
    version[8] = 9;
    write("f-version.falloff", &version);
    fs::create_dir(dir.path().join("g-dir.falloff")).unwrap();
    let database = open_default(dir.path()).unwrap();
    assert_eq!(database.exclusive_totals("cpu").unwrap().iter().sum::<u64>(), 100);
    let warnings = database.warnings().join("\n");
    for expected in [
        "a-empty.falloff: left out: the file is empty",
        "b-foreign.falloff: left out: not a falloff measurement file",
        "c-header.falloff: left out: the file ends after 100 bytes",
        "d-cut.falloff: cut short: 4090 bytes",
        "e-broken.falloff: damaged chunk at offset 256",
        "f-version.falloff: left out: format version 9",
        "g-dir.falloff: left out: not a regular file",
    ] {
        assert!(warnings.contains(expected), "{expected} is not in\n{warnings}");
    }
}

#[test]
fn errors_name_the_place_and_say_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let missing = open_default(&dir.path().join("none")).unwrap_err();
    assert!(matches!(missing, Error::Directory { .. }), "{missing}");
    let empty = open_default(dir.path()).unwrap_err();
    assert!(matches!(empty, Error::NoMeasurements { .. }));
    assert!(empty.hint().unwrap().contains("falloff run"));
    fs::write(dir.path().join("a.falloff"), []).unwrap();
    let unreadable = open_default(dir.path()).unwrap_err();
    assert!(unreadable.to_string().contains("a.falloff: left out: the file is empty"), "{unreadable}");
    process(10, &[(&[1], 1)]).write(dir.path());
    Synthetic { run_id: "run-2", ..process(11, &[(&[1], 1)]) }.write(dir.path());
    let mixed = open_default(dir.path()).unwrap_err();
    assert!(matches!(mixed, Error::MixedRuns { .. }));
    assert!(mixed.to_string().contains("-10-") && mixed.to_string().contains("-11-"), "{mixed}");
}

#[test]
fn a_database_that_is_older_or_of_other_files_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    process(10, &[(&[1], 1)]).write(dir.path());
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 1);
    process(11, &[(&[1], 2)]).write(dir.path());
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 3);
    process(11, &[(&[1], 20)]).write(dir.path());
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 21);
    // A damaged kept database is no obstacle.
    fs::write(dir.path().join("database/contexts.parquet"), b"PAR1").unwrap();
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 21);
    // Measurement files that were taken away leave the database.
    for file in find(dir.path()).unwrap() {
        fs::remove_file(file).unwrap();
    }
    assert_eq!(costs(&open_default(dir.path()).unwrap())[0].1, 21);
}

#[test]
fn a_run_without_samples_opens() {
    let dir = tempfile::tempdir().unwrap();
    Synthetic::default().write(dir.path());
    let database = open_default(dir.path()).unwrap();
    assert!(database.tree().is_empty());
    assert_eq!(database.health().samples, 0);
    assert_eq!(database.locations().len(), 1);
}

#[test]
fn processes_may_measure_different_metrics() {
    let dir = tempfile::tempdir().unwrap();
    process(10, &[(&[1], 5)]).write(dir.path());
    Synthetic {
        metrics: vec![("cycles", FormatUnit::Count), ("cpu", FormatUnit::Nanoseconds)],
        ..process(11, &[(&[1], 9)])
    }
    .write(dir.path());
    let database = open_default(dir.path()).unwrap();
    let metrics: Vec<&str> = database.metrics().iter().map(|m| m.name.as_str()).collect();
    assert_eq!(metrics, ["cpu", "cycles", "samples"]);
    let total = |metric| database.exclusive_totals(metric).unwrap().iter().sum::<u64>();
    assert_eq!((total("cpu"), total("cycles"), total("samples")), (6, 9, 1));
    assert!(database.exclusive_totals("time").is_none());
}

#[test]
fn a_path_of_a_hundred_thousand_frames_is_no_problem() {
    let nodes = (0..100_000).map(|i| crate::synthetic::SyntheticNode {
        parent: (i > 0).then(|| i - 1),
        frame: code(1, i as u64 % 7),
        values: vec![1, 1],
    });
    let thread = SyntheticThread { nodes: nodes.collect(), start_module: 0 };
    let dir = tempfile::tempdir().unwrap();
    Synthetic { threads: vec![thread], ..Synthetic::default() }.write(dir.path());
    let database = open_default(dir.path()).unwrap();
    assert_eq!(database.tree().len(), 100_001);
    let columns = [database.exclusive_totals("cpu").unwrap().iter().map(|v| *v as f64).collect()];
    use crate::views::{ViewKind, build};
    for kind in [ViewKind::Context, ViewKind::Callers, ViewKind::Flat] {
        let view = build(kind, database.tree(), &columns);
        assert_eq!(view.rows[0].inclusive, [100_000.0]);
        assert!(!view.hot_path(0, 0.5).is_empty());
        let text = crate::views::text::table(
            &view,
            0,
            &database.metrics()[0],
            &crate::views::text::TextOptions::default(),
        );
        assert!(text.len() < 100_000_000);
        crate::views::json::write(std::io::sink(), &database, &view, 0, &database.metrics()[0]).unwrap();
    }
}

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

fn database_of(dir: &Path, order: &[usize], processes: &[Synthetic]) -> Database {
    let names: Vec<_> = processes.iter().map(|p| dir.join(p.write(dir))).collect();
    let files: Vec<_> = order.iter().map(|i| names[*i].clone()).collect();
    let mut warnings = Warnings::default();
    let sources = open_all(&files, &mut warnings);
    merge(&sources, Provenance::default(), warnings, &OpenOptions::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_order_of_files_does_not_matter(
        processes in prop::collection::vec(arbitrary_process(), 1..5),
        seed in any::<u64>(),
    ) {
        let synthetic: Vec<Synthetic> = processes.iter().enumerate().map(|(i, paths)| {
            let paths: Vec<(&[u64], u64)> = paths.iter().map(|(p, v)| (p.as_slice(), *v)).collect();
            process(i as u32 + 1, &paths)
        }).collect();
        let forward: Vec<usize> = (0..synthetic.len()).collect();
        let mut shuffled = forward.clone();
        shuffled.sort_by_key(|i| (*i as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (database_of(dir.path(), &forward, &synthetic), database_of(dir.path(), &shuffled, &synthetic));
        a.write(&dir.path().join("a")).unwrap();
        b.write(&dir.path().join("b")).unwrap();
        prop_assert_eq!(contents(&dir.path().join("a")), contents(&dir.path().join("b")));
        prop_assert_eq!(Database::open(&dir.path().join("a")).unwrap(), a.clone());
        let total: u64 = processes.iter().flatten().map(|(_, v)| *v).sum();
        prop_assert_eq!(a.exclusive_totals("cpu").unwrap_or_default().iter().sum::<u64>(), total);
        // Joining parts gives the whole, in any order and grouping.
        let parts: Vec<Database> = forward.iter().map(|i| database_of(dir.path(), &[*i], &synthetic)).collect();
        let all: Vec<&Database> = parts.iter().collect();
        let reversed: Vec<&Database> = parts.iter().rev().collect();
        let joined = Database::join(&all).unwrap();
        prop_assert_eq!(joined.tree(), a.tree());
        prop_assert_eq!(joined.values(), a.values());
        prop_assert_eq!(joined.locations(), a.locations());
        let backwards = Database::join(&reversed).unwrap();
        prop_assert_eq!(&backwards, &joined);
        let nested = parts[1..].iter().fold(parts[0].clone(), |sum, part| Database::join(&[part, &sum]).unwrap());
        prop_assert_eq!(&nested, &joined);
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
