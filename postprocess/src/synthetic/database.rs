//! Databases.

use crate::cct::{Scope, ScopeKind, TreeBuilder};
use crate::database::{
    Clocks, CpuClock, Database, Drops, Location, Metric, Partials, Parts, ProcessState, Provenance,
    Unit as MetricUnit, Value, WaitClock, with_time,
};

/// A function of `solver.c` in module `app`.
pub(crate) fn function(name: &str, line: u32, call_line: Option<u32>) -> Scope {
    Scope {
        kind: ScopeKind::Function,
        name: name.into(),
        module: Some("app".into()),
        file: Some("/src/solver.c".into()),
        line: Some(line),
        call_line,
    }
}

/// A statement of `solver.c`.
pub(crate) fn statement(line: u32) -> Scope {
    Scope { kind: ScopeKind::Line, call_line: None, ..function(&format!("solver.c:{line}"), line, None) }
}

/// A loop of `solver.c`.
pub(crate) fn loop_at(line: u32) -> Scope {
    Scope { kind: ScopeKind::Loop, name: format!("loop at solver.c:{line}").into(), ..statement(line) }
}

fn location(rank: u32) -> Location {
    Location {
        rank: Some(rank),
        host: "node".into(),
        start_ns: 1,
        pid: 100 + rank,
        ordinal: 0,
        tid: 100 + rank,
        ppid: 1,
        ranks: 3,
        image: "/bin/app".into(),
        argv: vec!["app".into(), "in;put".into()],
        thread: "app".into(),
        main: true,
        helper: false,
        state: if rank == 0 { ProcessState::Ended } else { ProcessState::Killed },
        forked: false,
        exec: false,
        clocks: Clocks { cpu: CpuClock::Timer, waits: WaitClock::NotMeasured },
        rate_hz: 200,
        periods: vec![("cpu".into(), 5_000_000)],
        wall_ns: 5_000_000_000,
        cpu_ns: 4_000_000_000,
        handler_ns: 1_000_000,
        samples: 800,
        dropped: Drops { room: u64::from(rank), unready: 0 },
        partial: Partials {
            no_cfi: 1 + u64::from(rank),
            bad_read: 1 - u64::from(rank),
            ..Partials::default()
        },
        overruns: 3,
        ..Location::default()
    }
}

/// Two ranks of three: a recursive tree walk, an inlined kernel, a library without source, a worker thread's
/// root, a partial unwind and unsampled time.
pub(crate) fn database() -> Database {
    let mut tree = TreeBuilder::new();
    let main = tree.child(0, &function("main", 10, None));
    let solve = tree.child(main, &function("solve", 30, Some(12)));
    let kernel = tree.child(solve, &Scope { kind: ScopeKind::Inlined, ..function("kernel", 20, Some(33)) });
    let kernel_line = tree.child(kernel, &statement(22));
    let solve_line = tree.child(solve, &statement(35));
    let walk = tree.child(main, &function("walk", 50, Some(14)));
    let walk_again = tree.child(walk, &function("walk", 50, Some(53)));
    let walk_line = tree.child(walk, &statement(55));
    let walk_again_line = tree.child(walk_again, &statement(55));
    let library = Scope {
        module: Some("libmpi.so.40".into()),
        file: None,
        line: None,
        ..function("PMPI_Allreduce", 0, Some(36))
    };
    let reduce = tree.child(solve, &library);
    let unnamed = Scope { name: "libmpi.so.40+0x1f00".into(), call_line: None, ..library };
    let progress = tree.child(reduce, &unnamed);
    let partial = tree.child(0, &Scope::pseudo("[partial]"));
    let lost = tree.child(partial, &unnamed);
    let unsampled = tree.child(0, &Scope::pseudo("[unsampled]"));
    let threads = tree.child(0, &Scope::pseudo("<thread root>"));
    let worker = tree.child(threads, &function("worker", 70, None));
    let costs = [
        (kernel_line, [2_000_000_000, 1_900_000_400]),
        (solve_line, [300_000_000, 310_000_400]),
        (walk_line, [100_000_000, 90_000_000]),
        (walk_again_line, [200_000_000, 210_000_000]),
        (progress, [500_000_000, 700_000_000]),
        (lost, [10_000_000, 0]),
        (unsampled, [1_000_000, 2_000_300]),
        (worker, [400_000_000, 400_000_000]),
    ];
    let (tree, place) = tree.finish();
    let mut values: Vec<Value> = costs
        .iter()
        .flat_map(|(context, costs)| (0..).zip(costs).map(|(location, cost)| (*context, location, *cost)))
        .filter(|(.., cost)| *cost > 0)
        .flat_map(|(context, location, exclusive)| {
            let context = place[context as usize];
            [(0, exclusive), (1, exclusive / 5_000_000)].map(|(metric, exclusive)| Value {
                context,
                location,
                metric,
                exclusive,
            })
        })
        .filter(|v| v.exclusive > 0)
        .collect();
    values.sort();
    Database::from_parts(Parts {
        tree,
        metrics: vec![Metric::new(MetricUnit::Nanoseconds, "cpu"), Metric::new(MetricUnit::Count, "samples")],
        locations: vec![location(0), location(1)],
        values,
        modules: Vec::new(),
        warnings: vec!["libmpi.so.40: no names: the file is another build".into()],
        provenance: Provenance {
            run_id: "run-1".into(),
            command: vec!["app".into(), "in;put".into()],
            created: "1".into(),
            ..Provenance::default()
        },
    })
}

/// As [`database`] with a helper thread on rank 1, whose contexts are partly its own; or all threads are helpers.
pub(crate) fn database_with_helper(all: bool) -> Database {
    let plain = database();
    let mut tree = TreeBuilder::new();
    let mut places = vec![0];
    for context in 1..plain.tree().len() as u32 {
        let parent = plain.tree().contexts()[context as usize].parent;
        places.push(tree.child(places[parent as usize], plain.tree().scope(context)));
    }
    let threads = tree.child(0, &Scope::pseudo("<thread root>"));
    let worker = tree.child(threads, &function("worker", 70, None));
    let progress = tree.child(threads, &function("a_progress_engine", 80, None));
    let poll = tree.child(progress, &function("poll", 90, Some(81)));
    let (tree, place) = tree.finish();
    let at = |built: u32| place[built as usize];
    let value = |context, metric, exclusive| Value { context: at(context), location: 2, metric, exclusive };
    let mut values = vec![
        value(worker, 0, 100_000_000),
        value(worker, 1, 20),
        value(poll, 0, 2_500_000_000),
        value(poll, 1, 500),
    ];
    values.extend(plain.values().iter().map(|v| Value { context: at(places[v.context as usize]), ..*v }));
    values.sort();
    let helper = Location { helper: true, main: false, ordinal: 1, tid: 201, ..location(1) };
    let mut locations = [plain.locations(), &[helper]].concat();
    locations.iter_mut().for_each(|l| l.helper |= all);
    Database::from_parts(Parts {
        tree,
        metrics: plain.metrics().to_vec(),
        locations,
        values,
        modules: Vec::new(),
        warnings: plain.warnings().to_vec(),
        provenance: plain.provenance().clone(),
    })
}

/// One thread in loops: `solve` has a loop with one within it, from which `kernel` is called, which has one of its own
/// and was inlined at another place as well.
pub(crate) fn database_with_loops() -> Database {
    let mut tree = TreeBuilder::new();
    let main = tree.child(0, &function("main", 10, None));
    let solve = tree.child(main, &function("solve", 30, Some(12)));
    let outer = tree.child(solve, &loop_at(31));
    let inner = tree.child(outer, &loop_at(33));
    let called = tree.child(inner, &function("kernel", 20, Some(34)));
    let inlined = tree.child(outer, &Scope { kind: ScopeKind::Inlined, ..function("kernel", 20, Some(37)) });
    let called_loop = tree.child(called, &loop_at(21));
    let inlined_loop = tree.child(inlined, &loop_at(21));
    let nameless =
        tree.child(called, &Scope { file: None, line: None, name: "loop at app+0x40".into(), ..loop_at(0) });
    let costs = [
        (tree.child(solve, &statement(40)), 50_000_000),
        (tree.child(outer, &statement(32)), 100_000_000),
        (tree.child(inner, &statement(34)), 200_000_000),
        (tree.child(inner, &statement(40)), 10_000_000),
        (tree.child(called_loop, &statement(22)), 400_000_000),
        (tree.child(called, &statement(22)), 30_000_000),
        (tree.child(inlined_loop, &statement(22)), 150_000_000),
        (nameless, 60_000_000),
    ];
    let (tree, place) = tree.finish();
    let value = |(context, cost): &(u32, i64)| {
        [(0, *cost), (1, cost / 5_000_000)].map(|(metric, exclusive)| Value {
            context: place[*context as usize],
            location: 0,
            metric,
            exclusive,
        })
    };
    let mut values: Vec<Value> = costs.iter().flat_map(value).collect();
    values.sort();
    let plain = database();
    Database::from_parts(Parts {
        tree,
        metrics: plain.metrics().to_vec(),
        locations: plain.locations()[..1].to_vec(),
        values,
        modules: Vec::new(),
        warnings: Vec::new(),
        provenance: plain.provenance().clone(),
    })
}

/// One thread with all parts of `time` and with events: `compute` runs, `wait` waits.
pub(crate) fn time_database() -> Database {
    let mut tree = TreeBuilder::new();
    let main = tree.child(0, &function("main", 10, None));
    let compute = tree.child(main, &function("compute", 20, Some(12)));
    let wait = tree.child(main, &function("wait", 30, Some(13)));
    let (tree, place) = tree.finish();
    let counts = ["branch-misses", "branches", "cycles", "instructions"];
    let times = ["blocked", "cpu", "preempted"].map(|name| Metric::new(MetricUnit::Nanoseconds, name));
    let metrics = times.into_iter().chain(counts.map(|name| Metric::new(MetricUnit::Count, name))).collect();
    let costs = [
        (compute, [0, 700_000_000, 50_000_000, 20, 1000, 2_000_000, 5_000_000]),
        (wait, [1_200_000_000, 30_000_000, 20_000_000, 0, 0, 100_000, 40_000]),
    ];
    let mut values = Vec::new();
    for (context, costs) in costs {
        let context = place[context as usize];
        let value = |(metric, exclusive)| Value { context, location: 0, metric, exclusive };
        values.extend((0..).zip(costs).map(value).filter(|v| v.exclusive > 0));
    }
    values.sort();
    let (metrics, values) = with_time(metrics, values);
    let location = Location {
        clocks: Clocks { cpu: CpuClock::TaskClock, waits: WaitClock::Switches },
        rate_hz: 1000,
        periods: vec![("cpu".into(), 1_000_000), ("cycles".into(), 100_000)],
        cpu_ns: 730_000_000,
        blocked_ns: 1_200_000_000,
        preempted_ns: 70_000_000,
        wait_samples: 40,
        partial: Partials::default(),
        overruns: 0,
        ranks: 0,
        rank: None,
        ..location(0)
    };
    let provenance = Provenance { command: vec!["app".into()], ..Provenance::default() };
    let (modules, warnings) = (Vec::new(), Vec::new());
    Database::from_parts(Parts {
        tree,
        metrics,
        locations: vec![location],
        values,
        modules,
        warnings,
        provenance,
    })
}

/// One thread that computes for 60 s, waits 8 of 10 s for messages, 3 of them in the wrong order, and 7 s at a barrier.
pub(crate) fn waits_database() -> Database {
    let mut tree = TreeBuilder::new();
    let main = tree.child(0, &function("main", 10, None));
    let [receive, barrier] = [("MPI_Recv", 11), ("MPI_Barrier", 12)]
        .map(|(name, line)| tree.child(main, &function(name, 1, Some(line))));
    let (tree, place) = tree.finish();
    let costs = [
        ("computation", main, 60),
        ("late-sender", receive, 5),
        ("transfer", receive, 2),
        ("wait-at-barrier", barrier, 7),
        ("wrong-order-same-source", receive, 3),
    ];
    let value = |(metric, (_, context, seconds)): (u32, &(&str, u32, i64))| Value {
        context: place[*context as usize],
        location: 0,
        metric,
        exclusive: seconds * 1_000_000_000,
    };
    let mut values: Vec<Value> = (0..).zip(&costs).map(value).collect();
    values.sort();
    Database::from_parts(Parts {
        tree,
        metrics: costs.iter().map(|(name, ..)| Metric::new(MetricUnit::Nanoseconds, *name)).collect(),
        locations: vec![location(0)],
        values,
        modules: Vec::new(),
        warnings: Vec::new(),
        provenance: Provenance::default(),
    })
}
