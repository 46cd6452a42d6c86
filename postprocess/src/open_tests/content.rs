//! What runs say.

use std::fs;

use falloff_format::Frame;
use falloff_format::header::STATE_RUNNING;
use falloff_format::node::Pseudo;
use falloff_format::records::{
    CpuClock as FormatCpuClock, MODULE_ANONYMOUS, ThreadRecord, Unit as FormatUnit,
    WaitClock as FormatWaitClock,
};

use super::{code, costs, open_default, process, timed_process};
use crate::database::{Clocks, CpuClock, Database, Drops, Partials, ProcessState, WaitClock};
use crate::synthetic::{Synthetic, SyntheticModule, SyntheticNode, SyntheticThread};

#[test]
fn processes_are_merged_by_path_and_kept_apart_by_location() {
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("measurements");
    Synthetic { rank: Some(0), ranks: 3, ..process(10, &[(&[1, 2], 100), (&[1, 3], 50)]) }.write(&files);
    Synthetic { rank: Some(2), ranks: 3, hole: 1 << 20, ..process(11, &[(&[1, 2], 7)]) }.write(&files);
    let database = open_default(dir.path()).unwrap();
    assert_eq!(costs(&database), [("prog+0x1;prog+0x2".into(), 107), ("prog+0x1;prog+0x3".into(), 50)]);
    let first = database.exclusive_at("cpu", |l| l.rank == Some(2)).unwrap();
    assert_eq!(first.iter().sum::<f64>(), 7.0);
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
fn what_a_thread_record_says_comes_through() {
    let record = ThreadRecord {
        wait_samples: 4,
        blocked_ns: 70,
        preempted_ns: 30,
        dropped_room: 1,
        dropped_unready: 2,
        partial: [1, 2, 3, 4, 5],
        handler_ns: 9,
        cpu_clock: FormatCpuClock::TaskClock as u16,
        wait_clock: FormatWaitClock::Calls as u16,
        ..ThreadRecord::default()
    };
    let mut run = timed_process(10, true, &[(vec![1], [200, 70, 30])]);
    run.threads[0].record = record;
    run.threads[0].charge(&[Frame::pseudo(Pseudo::Unsampled)], &[50, 0, 0, 0]);
    let helper = SyntheticThread { start_module: 2, ..SyntheticThread::default() };
    run.modules.push(SyntheticModule { path: "/usr/lib/libucs.so.0".into(), ..SyntheticModule::default() });
    run.threads.push(SyntheticThread {
        record: ThreadRecord { cpu_clock: FormatCpuClock::Timer as u16, ..ThreadRecord::default() },
        ..helper
    });
    let dir = tempfile::tempdir().unwrap();
    run.write(dir.path());
    let database = open_default(dir.path()).unwrap();
    let location = &database.locations()[0];
    assert_eq!((location.blocked_ns, location.preempted_ns, location.wait_samples), (70, 30, 4));
    assert_eq!((location.dropped, location.rate_hz), (Drops { room: 1, unready: 2 }, 200));
    let partial = Partials { no_module: 1, no_cfi: 2, bad_read: 3, not_advancing: 4, unsupported: 5 };
    assert_eq!(location.partial, partial);
    assert!(location.periods.contains(&("cpu".into(), 5_000_000)), "{:?}", location.periods);
    assert_eq!(location.reached_rate_hz(), Some(1e9 / 250.0));
    let clocks = Clocks { cpu: CpuClock::TaskClock, waits: WaitClock::Calls };
    // The helper's clock counts for nothing.
    assert_eq!(database.clocks().into_iter().collect::<Vec<_>>(), [clocks]);
    let health = database.health();
    assert_eq!((health.dropped, health.partial, health.handler_ns), (3, 15, 9));
    assert_eq!(
        (health.cpu_used_ns, health.cpu_booked_ns, health.cpu_unsampled_ns),
        (250, Some(250), Some(50))
    );
    assert_eq!((health.coverage(), health.unsampled_share()), (Some(1.0), Some(0.2)));
    assert_eq!(open_default(dir.path()).unwrap(), database);
}

#[test]
fn the_default_metric_is_the_most_telling_one() {
    let default = |metrics: &[(&'static str, FormatUnit)]| {
        let dir = tempfile::tempdir().unwrap();
        Synthetic { metrics: metrics.to_vec(), ..process(10, &[(&[1], 5)]) }.write(dir.path());
        open_default(dir.path()).unwrap().default_metric().map(|m| m.name.clone())
    };
    let (count, ns) = (FormatUnit::Count, FormatUnit::Nanoseconds);
    assert_eq!(default(&[("cpu", ns), ("blocked", ns), ("preempted", ns)]).as_deref(), Some("time"));
    assert_eq!(default(&[("samples", count), ("blocked", ns), ("cpu", ns)]).as_deref(), Some("cpu"));
    assert_eq!(default(&[("samples", count), ("zeta", count)]).as_deref(), Some("zeta"));
    assert_eq!(default(&[("samples", count)]).as_deref(), Some("samples"));
    assert_eq!(default(&[]), None);
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
    let total = |metric| database.exclusive_totals(metric).unwrap().iter().sum::<f64>();
    assert_eq!((total("cpu"), total("cycles"), total("samples")), (6.0, 9.0, 1.0));
    assert!(database.exclusive_totals("time").is_none());
}

#[test]
fn a_path_of_a_hundred_thousand_frames_is_no_problem() {
    let nodes = (0..100_000).map(|i| SyntheticNode {
        section: 0,
        parent: (i > 0).then(|| i - 1),
        frame: code(1, i as u64 % 7),
        values: vec![1, 1],
    });
    let thread = SyntheticThread { nodes: nodes.collect(), ..SyntheticThread::default() };
    let dir = tempfile::tempdir().unwrap();
    Synthetic { threads: vec![thread], ..Synthetic::default() }.write(dir.path());
    let database = open_default(dir.path()).unwrap();
    assert_eq!(database.tree().len(), 100_001);
    use crate::views::{Excerpt, Query, RowOptions, Sheet, Shown, ViewKind, json, text};
    let query = Query { metrics: vec!["cpu".into()], ..Query::default() };
    let excerpt = Excerpt::new(&database, &query).unwrap();
    for kind in [ViewKind::Context, ViewKind::Callers, ViewKind::Flat] {
        let sheet = Sheet::new(&excerpt, kind, None).unwrap();
        assert_eq!(sheet.view().rows[0].inclusive, [100_000.0]);
        assert!(!sheet.view().hot_path(0, 0.5).is_empty());
        let shown = Shown::new(&sheet, RowOptions::default()).unwrap();
        assert!(text::table(&shown).unwrap().len() < 100_000_000);
        json::write(std::io::sink(), &shown).unwrap();
    }
}

#[test]
fn generated_code_has_the_names_that_its_process_left() {
    let anonymous =
        SyntheticModule { path: "[anon]".into(), flags: MODULE_ANONYMOUS, ..SyntheticModule::default() };
    let made = |pid| {
        let mut run = process(pid, &[]);
        run.modules.push(anonymous.clone());
        // Addresses of the process's memory: two functions, and some in memory without names.
        for (address, cost) in [(0x7f10_0004, 1), (0x7f10_0024, 2), (0x7f20_0000, 4), (0x7f20_0008, 8)] {
            run.threads[0].charge(&[code(1, 1), code(2, address)], &[cost, 1]);
        }
        run
    };
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("measurements");
    made(10).write(&files);
    made(11).write(&files);
    made(12).write(&files);
    fs::write(files.join("perf-10.map"), "7f100000 20 add(int)\n7f100020 20 mul\n").unwrap();
    fs::write(files.join("perf-11.map"), "7f100000 20 add(int)\n").unwrap();
    let database = open_default(dir.path()).unwrap();
    let expected = [("prog+0x1;[anon]", 12 + 14 + 15), ("prog+0x1;add(int)", 2), ("prog+0x1;mul", 2)];
    assert_eq!(costs(&database), expected.map(|(path, cost)| (path.to_owned(), cost)));
    let named = database.tree().scopes().iter().find(|s| &*s.name == "mul").unwrap();
    assert_eq!(named.module.as_deref(), Some("[jit]"));
    let module = |path: &str| database.modules().iter().filter(|m| m.path == path).count();
    assert_eq!((module("[jit]"), module("[anon]")), (2, 1));
    assert_eq!(open_default(dir.path()).unwrap(), database);
}
