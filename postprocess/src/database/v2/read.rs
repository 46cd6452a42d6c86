//! Tables as parts of a database, checked.

use std::sync::Arc;

use super::schema::{EXCLUSIVE, INCLUSIVE, ITEM_END, StatisticsColumns};
use crate::cct::{Scope, ScopeKind, Tree, TreeBuilder};
use crate::database::statistics::Statistics;
use crate::database::summary::Summary;
use crate::database::table::Table;
use crate::database::totals::Sums;
use crate::database::{
    Clocks, CpuClock, Drops, Location, Metric, ModuleInfo, Partials, ProcessState, SymbolSource, Unit, Value,
    WaitClock,
};

/// Rebuilds the tree; the table's rows must be in canonical order.
pub(in crate::database) fn contexts(mut table: Table) -> Result<Tree, String> {
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

pub(in crate::database) fn locations(mut t: Table) -> Result<Vec<Location>, String> {
    let rows = t.rows();
    let owned = |texts: Vec<Arc<str>>| -> Vec<String> { texts.iter().map(|t| t.to_string()).collect() };
    let (rank, host, start_ns) = (t.maybe_u32s("rank"), owned(t.texts("host")), t.u64s("start_ns"));
    let (pid, ordinal, tid, ppid) = (t.u32s("pid"), t.u32s("ordinal"), t.u32s("tid"), t.u32s("ppid"));
    let (ranks, image, argv) = (t.u32s("ranks"), owned(t.texts("image")), t.texts("argv"));
    let (thread, main, helper) = (owned(t.texts("thread")), t.flags("main"), t.flags("helper"));
    let (state, forked, exec) = (t.texts("state"), t.flags("forked"), t.flags("exec"));
    let (cpu_clock, wait_clock) = (t.texts("cpu_clock"), t.texts("wait_clock"));
    let (rate_hz, periods, wall_ns) = (t.u32s("rate_hz"), t.texts("periods"), t.u64s("wall_ns"));
    let (cpu_ns, blocked_ns, preempted_ns) = (t.u64s("cpu_ns"), t.u64s("blocked_ns"), t.u64s("preempted_ns"));
    let (handler_ns, samples, wait_samples) =
        (t.u64s("handler_ns"), t.u64s("samples"), t.u64s("wait_samples"));
    let (dropped_room, dropped_unready) = (t.u64s("dropped_room"), t.u64s("dropped_unready"));
    let (no_module, no_cfi) = (t.u64s("partial_no_module"), t.u64s("partial_no_cfi"));
    let (bad_read, not_advancing) = (t.u64s("partial_bad_read"), t.u64s("partial_not_advancing"));
    let (unsupported, truncated) = (t.u64s("partial_unsupported"), t.u64s("truncated"));
    let overruns = t.u64s("overruns");
    let unknown = |i: usize, what: &str| format!("row {i} has no known {what}");
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
                argv: split_items(&argv[i]),
                thread: thread[i].clone(),
                main: main[i],
                helper: helper[i],
                state: ProcessState::from_word(&state[i]).ok_or_else(|| unknown(i, "state"))?,
                forked: forked[i],
                exec: exec[i],
                clocks: Clocks {
                    cpu: CpuClock::from_word(&cpu_clock[i]).ok_or_else(|| unknown(i, "CPU clock"))?,
                    waits: WaitClock::from_word(&wait_clock[i]).ok_or_else(|| unknown(i, "wait clock"))?,
                },
                rate_hz: rate_hz[i],
                periods: split_items(&periods[i])
                    .iter()
                    .map(|p| period(p))
                    .collect::<Option<_>>()
                    .ok_or_else(|| unknown(i, "periods"))?,
                wall_ns: wall_ns[i],
                cpu_ns: cpu_ns[i],
                blocked_ns: blocked_ns[i],
                preempted_ns: preempted_ns[i],
                handler_ns: handler_ns[i],
                samples: samples[i],
                wait_samples: wait_samples[i],
                dropped: Drops { room: dropped_room[i], unready: dropped_unready[i] },
                partial: Partials {
                    no_module: no_module[i],
                    no_cfi: no_cfi[i],
                    bad_read: bad_read[i],
                    not_advancing: not_advancing[i],
                    unsupported: unsupported[i],
                },
                truncated: truncated[i],
                overruns: overruns[i],
            })
        })
        .collect()
}

pub(in crate::database) fn metrics(mut table: Table) -> Result<Vec<Metric>, String> {
    let (names, units) = (table.texts("name"), table.texts("unit"));
    let divisors = table.u64s("divisor");
    (0..names.len())
        .map(|i| match divisors[i] {
            0 => Err(format!("metric `{}` is divided by 0", names[i])),
            divisor => Ok(Metric { divisor, ..Metric::new(unit(&names[i], &units[i])?, &*names[i]) }),
        })
        .collect()
}

/// The unit of a metric by its word.
pub(in crate::database) fn unit(name: &str, word: &str) -> Result<Unit, String> {
    Unit::from_word(word).ok_or_else(|| format!("metric `{name}` has no known unit"))
}

pub(in crate::database) fn modules(mut table: Table) -> Result<Vec<ModuleInfo>, String> {
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

pub(in crate::database) fn values(mut table: Table) -> Vec<Value> {
    let (context, location) = (table.u32s("context"), table.u32s("location"));
    let (metric, exclusive) = (table.u32s("metric"), table.i64s("exclusive"));
    let value = |i: usize| Value {
        context: context[i],
        location: location[i],
        metric: metric[i],
        exclusive: exclusive[i],
    };
    (0..context.len()).map(value).collect()
}

/// Values must be sorted and stand behind `last`, each place once, and refer to rows that are there: `bounds` are the
/// numbers of contexts, locations and metrics.
pub(in crate::database) fn checked(
    values: Vec<Value>,
    last: Option<Value>,
    bounds: [usize; 3],
) -> Result<Vec<Value>, String> {
    let key = |v: &Value| [v.context, v.location, v.metric];
    let in_order = values.is_sorted_by(|a, b| key(a) < key(b));
    if !in_order || last.zip(values.first().copied()).is_some_and(|(last, first)| key(&last) >= key(&first)) {
        return Err("a row is out of order".into());
    }
    let outside = |v: &Value| key(v).iter().zip(bounds).any(|(at, bound)| *at as usize >= bound);
    match values.iter().any(outside) {
        true => Err("a row refers to a row that is not there".into()),
        false => Ok(values),
    }
}

/// Context, metric and sums of each row of the summary that is read with [`super::SUMS`].
pub(in crate::database) fn sums(mut table: Table) -> Vec<(u32, u32, Sums)> {
    let (context, metric) = (table.u32s("context"), table.u32s("metric"));
    let (program, helpers) = (table.i64s("exclusive_sum"), table.i64s("helper_sum"));
    let participants = table.u32s("exclusive_participants");
    let sums = |i: usize| Sums { program: program[i], helpers: helpers[i], participants: participants[i] };
    (0..context.len()).map(|i| (context[i], metric[i], sums(i))).collect()
}

/// The summary, over this number of locations that count.
pub(in crate::database) fn summaries(mut table: Table, locations: u32) -> Vec<Summary> {
    let (context, metric, helper_sum) =
        (table.u32s("context"), table.u32s("metric"), table.i64s("helper_sum"));
    let inclusive = statistics(&mut table, &INCLUSIVE, locations);
    let exclusive = statistics(&mut table, &EXCLUSIVE, locations);
    (0..context.len())
        .map(|i| Summary {
            context: context[i],
            metric: metric[i],
            inclusive: inclusive[i],
            exclusive: exclusive[i],
            helper_sum: helper_sum[i],
        })
        .collect()
}

fn statistics(table: &mut Table, names: &StatisticsColumns, locations: u32) -> Vec<Statistics> {
    let (sum, participants) = (table.i64s(names.sum), table.u32s(names.participants));
    let (min, max, max_location) =
        (table.i64s(names.min), table.i64s(names.max), table.maybe_u32s(names.max_location));
    let (high, low) = (table.u64s(names.square_sum_high), table.u64s(names.square_sum_low));
    let percentiles = names.percentiles.map(|name| table.i64s(name));
    (0..sum.len())
        .map(|i| Statistics {
            locations,
            participants: participants[i],
            sum: sum[i],
            sum_of_squares: u128::from(high[i]) << 64 | u128::from(low[i]),
            min: min[i],
            max: max[i],
            max_location: max_location[i],
            percentiles: percentiles.each_ref().map(|column| column[i]),
        })
        .collect()
}

fn split_items(text: &str) -> Vec<String> {
    text.split_terminator(ITEM_END).map(str::to_owned).collect()
}

/// An item `METRIC=PERIOD`; a metric's name may hold `=` itself.
fn period(item: &str) -> Option<(String, u64)> {
    let (metric, period) = item.rsplit_once('=')?;
    Some((metric.to_owned(), period.parse().ok()?))
}
