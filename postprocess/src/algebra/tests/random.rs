//! Random databases, and what in them counts.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::cct::{Scope, ScopeKind, TreeBuilder};
use crate::database::{
    Database, Location, Metric, ModuleInfo, Parts, Provenance, SymbolSource, Unit, Value, reduce, with_time,
};

/// One step of a call path: kind, name, file, line of the call or of the statement.
type Step = (u8, u8, u8, Option<u32>);
/// A value: call path, location, metric.
type Cost = (Vec<Step>, u8, u8, i64);

/// Metrics that a random database may have; of the first three `time` follows.
const METRICS: [(&str, Unit); 5] = [
    ("blocked", Unit::Nanoseconds),
    ("cpu", Unit::Nanoseconds),
    ("preempted", Unit::Nanoseconds),
    ("cycles", Unit::Count),
    ("samples", Unit::Count),
];

fn step() -> impl Strategy<Value = Step> {
    (0u8..8, 0u8..5, 0u8..3, prop_oneof![Just(None), (1u32..12).prop_map(Some)])
}

/// A database of some build: the same number is the same build, `None` is not known.
pub(super) fn database(build: impl Strategy<Value = Option<u8>>) -> impl Strategy<Value = Database> {
    let costs =
        prop::collection::vec((prop::collection::vec(step(), 1..5), 0u8..6, 0u8..5, -1000i64..1000), 0..25);
    let shape = (1u32..3, 1u32..3, any::<bool>(), prop_oneof![Just(5usize), Just(2)], 1u64..4);
    (costs, shape, build, 0u32..40).prop_map(
        |(costs, (ranks, threads, helper, metrics, divisor), build, shift)| {
            let locations: Vec<Location> = (0..ranks)
                .flat_map(|rank| (0..threads + u32::from(helper)).map(move |t| (rank, t)))
                .map(|(rank, ordinal)| Location {
                    rank: Some(rank),
                    host: format!("node{}", rank % 2),
                    start_ns: 100 + u64::from(shift),
                    pid: 10 * (rank + 1) + shift,
                    ordinal,
                    helper: ordinal == threads,
                    samples: 3,
                    ..Location::default()
                })
                .collect();
            let mut builder = TreeBuilder::new();
            let placed: Vec<(u32, &Cost)> = costs
                .iter()
                .map(|cost| (cost.0.iter().fold(0, |at, s| builder.child(at, &scope(s, build, shift))), cost))
                .collect();
            let (tree, order) = builder.finish();
            let all: Vec<Metric> = METRICS[..metrics]
                .iter()
                .map(|(name, unit)| Metric { divisor, ..Metric::new(*unit, *name) })
                .collect();
            let mut cells: BTreeMap<(u32, u32, u32), i64> = BTreeMap::new();
            for (context, (_, location, metric, exclusive)) in placed {
                let (location, metric) = (u32::from(*location), u32::from(*metric));
                if (location as usize) < locations.len() && (metric as usize) < metrics {
                    cells.insert((order[context as usize], location, metric), *exclusive);
                }
            }
            let values = cells
                .into_iter()
                .filter(|(_, exclusive)| *exclusive != 0)
                .map(|((context, location, metric), exclusive)| Value {
                    context,
                    location,
                    metric,
                    exclusive,
                })
                .collect();
            let (mut metrics, mut values) = with_time(all, values);
            reduce(&mut metrics, &mut values);
            let module = |path: &str| ModuleInfo {
                path: path.into(),
                build_id: build.map(|b| format!("{b}{path}")).unwrap_or_default(),
                source: SymbolSource::Debug,
                debug_file: None,
            };
            Database::from_parts(Parts {
                tree,
                metrics,
                locations,
                values,
                modules: vec![module("/bin/app"), module("/lib/lib.so")],
                warnings: Vec::new(),
                provenance: Provenance { run_id: format!("run-{shift}"), ..Provenance::default() },
            })
        },
    )
}

/// A scope; lines move from build to build.
fn scope((kind, name, file, line): &Step, build: Option<u8>, shift: u32) -> Scope {
    let names = ["f", "g", "f.part.0", "f._omp_fn.1", "app+0x1f"];
    let files = ["/src/a.c", "/old/a.c", "/src/b.c"];
    let moved = line.map(|l| l + if build == Some(0) { 0 } else { shift % 7 });
    let module = Some(if *name == 1 { "lib.so" } else { "app" }.into());
    let file = Some(files[usize::from(*file)].into());
    let kind = match kind {
        0 | 1 => ScopeKind::Function,
        2 => ScopeKind::Inlined,
        3 => ScopeKind::Pseudo,
        4 => ScopeKind::Loop,
        _ => ScopeKind::Line,
    };
    match kind {
        ScopeKind::Pseudo => Scope::pseudo("[partial]"),
        ScopeKind::Function | ScopeKind::Inlined => Scope {
            module,
            file,
            line: Some(u32::from(*name) * 100 + shift % 3),
            call_line: moved,
            ..Scope::new(kind, names[usize::from(*name)])
        },
        _ => {
            let line = moved.unwrap_or(7);
            Scope { module, file, line: Some(line), ..Scope::new(kind, &format!("a.c:{line}")) }
        }
    }
}

/// A database without anything.
pub(super) fn nothing() -> Database {
    Database::from_parts(Parts {
        tree: TreeBuilder::new().finish().0,
        metrics: Vec::new(),
        locations: Vec::new(),
        values: Vec::new(),
        modules: Vec::new(),
        warnings: Vec::new(),
        provenance: Provenance::default(),
    })
}

/// What tells a value: call path, location (rank, thread, whether a helper, whether gathered), metric.
pub(super) type Place = (Vec<Scope>, (Option<u32>, u32, bool, bool), String);

/// All values that are not 0, with their divisors.
pub(super) fn cells(database: &Database) -> BTreeMap<Place, (i64, u64)> {
    let tree = database.tree();
    let cell = |v: &Value| {
        let path = tree.path(v.context).into_iter().map(|c| tree.scope(c).clone()).collect();
        let l = &database.locations()[v.location as usize];
        let metric = &database.metrics()[v.metric as usize];
        let location = (l.rank, l.ordinal, l.helper, l.is_gathered());
        ((path, location, metric.name.clone()), (v.exclusive, metric.divisor))
    };
    let cells: BTreeMap<Place, (i64, u64)> = database.values().iter().map(cell).collect();
    assert_eq!(cells.len(), database.values().len(), "two values of one place");
    cells
}
