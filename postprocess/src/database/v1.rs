//! Tables of version 1, and the checks that make them a database again.

use std::sync::Arc;

use super::location::{Location, ProcessState};
use super::model::{Database, Metric, ModuleInfo, SymbolSource, Unit, Value};
use super::summary::summarise;
use super::table::{Column, Kind, Table};
use crate::cct::{Context, Scope, ScopeKind, Tree, TreeBuilder};

/// Tables in the order in which they are written.
pub(super) fn tables(database: &Database) -> [(&'static str, Table); 6] {
    [
        (CONTEXTS, contexts(database.tree())),
        (LOCATIONS, locations(database.locations())),
        (METRICS, metrics(database.metrics())),
        (MODULES, modules(database.modules())),
        (VALUES, values(database.values())),
        (SUMMARY, summary(database)),
    ]
}

pub(super) const CONTEXTS: &str = "contexts";
pub(super) const LOCATIONS: &str = "locations";
pub(super) const METRICS: &str = "metrics";
pub(super) const MODULES: &str = "modules";
pub(super) const VALUES: &str = "values";
pub(super) const SUMMARY: &str = "summary";

/// Separates the arguments of a command in one text column.
const ARGUMENT_END: char = '\u{1f}';

/// Columns of a table that reading needs.
pub(super) fn columns(table: &str) -> &'static [(&'static str, Kind)] {
    match table {
        CONTEXTS => &[
            ("parent", Kind::U32),
            ("kind", Kind::Text),
            ("name", Kind::Text),
            ("module", Kind::MaybeText),
            ("file", Kind::MaybeText),
            ("line", Kind::MaybeU32),
            ("call_line", Kind::MaybeU32),
        ],
        LOCATIONS => &[
            ("rank", Kind::MaybeU32),
            ("host", Kind::Text),
            ("start_ns", Kind::U64),
            ("pid", Kind::U32),
            ("ordinal", Kind::U32),
            ("tid", Kind::U32),
            ("ppid", Kind::U32),
            ("ranks", Kind::U32),
            ("image", Kind::Text),
            ("argv", Kind::Text),
            ("thread", Kind::Text),
            ("main", Kind::Flag),
            ("helper", Kind::Flag),
            ("state", Kind::Text),
            ("forked", Kind::Flag),
            ("exec", Kind::Flag),
            ("clock", Kind::Text),
            ("wall_ns", Kind::U64),
            ("cpu_ns", Kind::U64),
            ("handler_ns", Kind::U64),
            ("samples", Kind::U64),
            ("dropped", Kind::U64),
            ("partial", Kind::U64),
            ("truncated", Kind::U64),
            ("overruns", Kind::U64),
        ],
        METRICS => &[("name", Kind::Text), ("unit", Kind::Text)],
        MODULES => &[
            ("path", Kind::Text),
            ("build_id", Kind::Text),
            ("source", Kind::Text),
            ("debug_file", Kind::MaybeText),
        ],
        VALUES => &[
            ("context", Kind::U32),
            ("location", Kind::U32),
            ("metric", Kind::U32),
            ("exclusive", Kind::U64),
        ],
        _ => &[],
    }
}

fn ids(rows: usize) -> Column {
    Column::U32((0..rows as u32).collect())
}

fn texts<T>(rows: &[T], text: impl Fn(&T) -> Arc<str>) -> Column {
    Column::Text(rows.iter().map(text).collect())
}

fn u32s<T>(rows: &[T], number: impl Fn(&T) -> u32) -> Column {
    Column::U32(rows.iter().map(number).collect())
}

fn u64s<T>(rows: &[T], number: impl Fn(&T) -> u64) -> Column {
    Column::U64(rows.iter().map(number).collect())
}

fn flags<T>(rows: &[T], flag: impl Fn(&T) -> bool) -> Column {
    Column::Flag(rows.iter().map(flag).collect())
}

fn contexts(tree: &Tree) -> Table {
    let rows = tree.contexts();
    let scope = |c: &Context| &tree.scopes()[c.scope as usize];
    Table::default()
        .with("context", ids(rows.len()))
        .with("parent", u32s(rows, |c| c.parent))
        .with("kind", texts(rows, |c| scope(c).kind.word().into()))
        .with("name", texts(rows, |c| scope(c).name.clone()))
        .with("module", Column::MaybeText(rows.iter().map(|c| scope(c).module.clone()).collect()))
        .with("file", Column::MaybeText(rows.iter().map(|c| scope(c).file.clone()).collect()))
        .with("line", Column::MaybeU32(rows.iter().map(|c| scope(c).line).collect()))
        .with("call_line", Column::MaybeU32(rows.iter().map(|c| scope(c).call_line).collect()))
}

fn locations(rows: &[Location]) -> Table {
    Table::default()
        .with("location", ids(rows.len()))
        .with("rank", Column::MaybeU32(rows.iter().map(|l| l.rank).collect()))
        .with("host", texts(rows, |l| l.host.as_str().into()))
        .with("start_ns", u64s(rows, |l| l.start_ns))
        .with("pid", u32s(rows, |l| l.pid))
        .with("ordinal", u32s(rows, |l| l.ordinal))
        .with("tid", u32s(rows, |l| l.tid))
        .with("ppid", u32s(rows, |l| l.ppid))
        .with("ranks", u32s(rows, |l| l.ranks))
        .with("image", texts(rows, |l| l.image.as_str().into()))
        .with("argv", texts(rows, |l| join_arguments(&l.argv).into()))
        .with("thread", texts(rows, |l| l.thread.as_str().into()))
        .with("main", flags(rows, |l| l.main))
        .with("helper", flags(rows, |l| l.helper))
        .with("state", texts(rows, |l| l.state.word().into()))
        .with("forked", flags(rows, |l| l.forked))
        .with("exec", flags(rows, |l| l.exec))
        .with("clock", texts(rows, |l| l.clock.as_str().into()))
        .with("wall_ns", u64s(rows, |l| l.wall_ns))
        .with("cpu_ns", u64s(rows, |l| l.cpu_ns))
        .with("handler_ns", u64s(rows, |l| l.handler_ns))
        .with("samples", u64s(rows, |l| l.samples))
        .with("dropped", u64s(rows, |l| l.dropped))
        .with("partial", u64s(rows, |l| l.partial))
        .with("truncated", u64s(rows, |l| l.truncated))
        .with("overruns", u64s(rows, |l| l.overruns))
}

fn metrics(rows: &[Metric]) -> Table {
    Table::default()
        .with("metric", ids(rows.len()))
        .with("name", texts(rows, |m| m.name.as_str().into()))
        .with("unit", texts(rows, |m| m.unit.word().into()))
}

fn modules(rows: &[ModuleInfo]) -> Table {
    Table::default()
        .with("path", texts(rows, |m| m.path.as_str().into()))
        .with("build_id", texts(rows, |m| m.build_id.as_str().into()))
        .with("source", texts(rows, |m| m.source.word().into()))
        .with(
            "debug_file",
            Column::MaybeText(rows.iter().map(|m| m.debug_file.as_deref().map(Into::into)).collect()),
        )
}

fn values(rows: &[Value]) -> Table {
    Table::default()
        .with("context", u32s(rows, |v| v.context))
        .with("location", u32s(rows, |v| v.location))
        .with("metric", u32s(rows, |v| v.metric))
        .with("exclusive", u64s(rows, |v| v.exclusive))
}

fn summary(database: &Database) -> Table {
    let rows = summarise(database);
    Table::default()
        .with("context", u32s(&rows, |s| s.context))
        .with("metric", u32s(&rows, |s| s.metric))
        .with("inclusive_sum", u64s(&rows, |s| s.inclusive))
        .with("exclusive_sum", u64s(&rows, |s| s.sum))
        .with("exclusive_min", u64s(&rows, |s| if s.participants == 0 { 0 } else { s.min }))
        .with("exclusive_max", u64s(&rows, |s| s.max))
        .with(
            "max_location",
            Column::MaybeU32(rows.iter().map(|s| (s.participants > 0).then_some(s.max_location)).collect()),
        )
        .with("participants", u32s(&rows, |s| s.participants))
        .with("square_sum_high", u64s(&rows, |s| (s.sum_of_squares >> 64) as u64))
        .with("square_sum_low", u64s(&rows, |s| s.sum_of_squares as u64))
}

/// Rebuilds the tree; the table's rows must be in canonical order.
pub(super) fn read_contexts(mut table: Table) -> Result<Tree, String> {
    let rows = table.rows();
    let (parents, kinds, names) = (table.u32s("parent"), table.texts("kind"), table.texts("name"));
    let (modules, files) = (table.maybe_texts("module"), table.maybe_texts("file"));
    let (lines, call_lines) = (table.maybe_u32s("line"), table.maybe_u32s("call_line"));
    if rows == 0 {
        return Err("it has no root".into());
    }
    let mut builder = TreeBuilder::new();
    for row in 0..rows {
        let kind = ScopeKind::from_word(&kinds[row]).ok_or_else(|| format!("row {row} has no known kind"))?;
        let root = kind == ScopeKind::Root;
        if root != (row == 0) || (parents[row] as usize >= row && !root) {
            return Err(format!("row {row} is out of order"));
        }
        if root {
            continue;
        }
        let scope = Scope {
            kind,
            name: names[row].clone(),
            module: modules[row].clone(),
            file: files[row].clone(),
            line: lines[row],
            call_line: call_lines[row],
        };
        if builder.child(parents[row], &scope) as usize != row {
            return Err(format!("row {row} is there twice"));
        }
    }
    let (tree, place) = builder.finish();
    match place.iter().enumerate().find(|(row, at)| *row != **at as usize) {
        Some((row, _)) => Err(format!("row {row} is out of order")),
        None => Ok(tree),
    }
}

pub(super) fn read_locations(mut t: Table) -> Result<Vec<Location>, String> {
    let rows = t.rows();
    let owned = |texts: Vec<Arc<str>>| -> Vec<String> { texts.iter().map(|t| t.to_string()).collect() };
    let (rank, host, start_ns) = (t.maybe_u32s("rank"), owned(t.texts("host")), t.u64s("start_ns"));
    let (pid, ordinal, tid, ppid) = (t.u32s("pid"), t.u32s("ordinal"), t.u32s("tid"), t.u32s("ppid"));
    let (ranks, image, argv) = (t.u32s("ranks"), owned(t.texts("image")), t.texts("argv"));
    let (thread, main, helper) = (owned(t.texts("thread")), t.flags("main"), t.flags("helper"));
    let (state, forked, exec) = (t.texts("state"), t.flags("forked"), t.flags("exec"));
    let (clock, wall_ns, cpu_ns) = (owned(t.texts("clock")), t.u64s("wall_ns"), t.u64s("cpu_ns"));
    let (handler_ns, samples, dropped) = (t.u64s("handler_ns"), t.u64s("samples"), t.u64s("dropped"));
    let (partial, truncated, overruns) = (t.u64s("partial"), t.u64s("truncated"), t.u64s("overruns"));
    (0..rows)
        .map(|i| {
            Ok(Location {
                rank: rank[i],
                host: host[i].clone(),
                start_ns: start_ns[i],
                pid: pid[i],
                ordinal: ordinal[i],
                tid: tid[i],
                ppid: ppid[i],
                ranks: ranks[i],
                image: image[i].clone(),
                argv: split_arguments(&argv[i]),
                thread: thread[i].clone(),
                main: main[i],
                helper: helper[i],
                state: ProcessState::from_word(&state[i])
                    .ok_or_else(|| format!("row {i} has no known state"))?,
                forked: forked[i],
                exec: exec[i],
                clock: clock[i].clone(),
                wall_ns: wall_ns[i],
                cpu_ns: cpu_ns[i],
                handler_ns: handler_ns[i],
                samples: samples[i],
                dropped: dropped[i],
                partial: partial[i],
                truncated: truncated[i],
                overruns: overruns[i],
            })
        })
        .collect()
}

pub(super) fn read_metrics(mut table: Table) -> Result<Vec<Metric>, String> {
    let (names, units) = (table.texts("name"), table.texts("unit"));
    names
        .iter()
        .zip(&units)
        .map(|(name, unit)| {
            let unit = Unit::from_word(unit).ok_or_else(|| format!("metric `{name}` has no known unit"))?;
            Ok(Metric { unit, name: name.to_string() })
        })
        .collect()
}

pub(super) fn read_modules(mut table: Table) -> Result<Vec<ModuleInfo>, String> {
    let (paths, build_ids) = (table.texts("path"), table.texts("build_id"));
    let (sources, debug_files) = (table.texts("source"), table.maybe_texts("debug_file"));
    (0..paths.len())
        .map(|i| {
            Ok(ModuleInfo {
                path: paths[i].to_string(),
                build_id: build_ids[i].to_string(),
                source: SymbolSource::from_word(&sources[i])
                    .ok_or_else(|| format!("row {i} has no known source"))?,
                debug_file: debug_files[i].as_deref().map(str::to_owned),
            })
        })
        .collect()
}

/// Values must be sorted, each place once, and refer to rows that are there.
pub(super) fn read_values(
    mut table: Table,
    contexts: usize,
    locations: usize,
    metrics: usize,
) -> Result<Vec<Value>, String> {
    let (context, location) = (table.u32s("context"), table.u32s("location"));
    let (metric, exclusive) = (table.u32s("metric"), table.u64s("exclusive"));
    let values: Vec<Value> = (0..context.len())
        .map(|i| Value {
            context: context[i],
            location: location[i],
            metric: metric[i],
            exclusive: exclusive[i],
        })
        .collect();
    let key = |v: &Value| (v.context, v.location, v.metric);
    if let Some(row) = values.windows(2).position(|w| key(&w[0]) >= key(&w[1])) {
        return Err(format!("row {} is out of order", row + 1));
    }
    let outside = |v: &Value| {
        v.context as usize >= contexts || v.location as usize >= locations || v.metric as usize >= metrics
    };
    match values.iter().position(outside) {
        Some(row) => Err(format!("row {row} refers to a row that is not there")),
        None => Ok(values),
    }
}

fn join_arguments(argv: &[String]) -> String {
    argv.iter().flat_map(|a| [a.replace(ARGUMENT_END, " "), ARGUMENT_END.into()]).collect()
}

fn split_arguments(text: &str) -> Vec<String> {
    text.split_terminator(ARGUMENT_END).map(str::to_owned).collect()
}
