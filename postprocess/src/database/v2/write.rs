//! A database as tables.

use std::sync::Arc;

use super::schema::{EXCLUSIVE, INCLUSIVE, ITEM_END, StatisticsColumns};
use crate::cct::{Context, Tree};
use crate::database::column::Column;
use crate::database::statistics::Statistics;
use crate::database::table::Table;
use crate::database::{Location, Metric, ModuleInfo, Summary, Value};

fn ids(rows: usize) -> Column {
    Column::U32((0..rows as u32).collect())
}

pub(super) fn texts<T>(rows: &[T], text: impl Fn(&T) -> Arc<str>) -> Column {
    Column::Text(rows.iter().map(text).collect())
}

pub(super) fn u32s<T>(rows: &[T], number: impl Fn(&T) -> u32) -> Column {
    Column::U32(rows.iter().map(number).collect())
}

pub(super) fn u64s<T>(rows: &[T], number: impl Fn(&T) -> u64) -> Column {
    Column::U64(rows.iter().map(number).collect())
}

pub(super) fn i64s<T>(rows: &[T], number: impl Fn(&T) -> i64) -> Column {
    Column::I64(rows.iter().map(number).collect())
}

fn flags<T>(rows: &[T], flag: impl Fn(&T) -> bool) -> Column {
    Column::Flag(rows.iter().map(flag).collect())
}

pub(in crate::database) fn contexts(tree: &Tree) -> Table {
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

pub(in crate::database) fn locations(rows: &[Location]) -> Table {
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
        .with("argv", texts(rows, |l| join_items(l.argv.iter().cloned())))
        .with("thread", texts(rows, |l| l.thread.as_str().into()))
        .with("main", flags(rows, |l| l.main))
        .with("helper", flags(rows, |l| l.helper))
        .with("state", texts(rows, |l| l.state.word().into()))
        .with("forked", flags(rows, |l| l.forked))
        .with("exec", flags(rows, |l| l.exec))
        .with("cpu_clock", texts(rows, |l| l.clocks.cpu.word().into()))
        .with("wait_clock", texts(rows, |l| l.clocks.waits.word().into()))
        .with("rate_hz", u32s(rows, |l| l.rate_hz))
        .with("periods", texts(rows, |l| join_items(l.periods.iter().map(period))))
        .with("wall_ns", u64s(rows, |l| l.wall_ns))
        .with("cpu_ns", u64s(rows, |l| l.cpu_ns))
        .with("blocked_ns", u64s(rows, |l| l.blocked_ns))
        .with("preempted_ns", u64s(rows, |l| l.preempted_ns))
        .with("handler_ns", u64s(rows, |l| l.handler_ns))
        .with("samples", u64s(rows, |l| l.samples))
        .with("wait_samples", u64s(rows, |l| l.wait_samples))
        .with("dropped_room", u64s(rows, |l| l.dropped.room))
        .with("dropped_unready", u64s(rows, |l| l.dropped.unready))
        .with("partial_no_module", u64s(rows, |l| l.partial.no_module))
        .with("partial_no_cfi", u64s(rows, |l| l.partial.no_cfi))
        .with("partial_bad_read", u64s(rows, |l| l.partial.bad_read))
        .with("partial_not_advancing", u64s(rows, |l| l.partial.not_advancing))
        .with("partial_unsupported", u64s(rows, |l| l.partial.unsupported))
        .with("truncated", u64s(rows, |l| l.truncated))
        .with("overruns", u64s(rows, |l| l.overruns))
}

pub(in crate::database) fn metrics(rows: &[Metric]) -> Table {
    Table::default()
        .with("metric", ids(rows.len()))
        .with("name", texts(rows, |m| m.name.as_str().into()))
        .with("unit", texts(rows, |m| m.unit.word().into()))
        .with("divisor", u64s(rows, |m| m.divisor))
}

pub(in crate::database) fn modules(rows: &[ModuleInfo]) -> Table {
    Table::default()
        .with("path", texts(rows, |m| m.path.as_str().into()))
        .with("build_id", texts(rows, |m| m.build_id.as_str().into()))
        .with("source", texts(rows, |m| m.source.word().into()))
        .with(
            "debug_file",
            Column::MaybeText(rows.iter().map(|m| m.debug_file.as_deref().map(Into::into)).collect()),
        )
}

pub(in crate::database) fn values(rows: &[Value]) -> Table {
    Table::default()
        .with("context", u32s(rows, |v| v.context))
        .with("location", u32s(rows, |v| v.location))
        .with("metric", u32s(rows, |v| v.metric))
        .with("exclusive", i64s(rows, |v| v.exclusive))
}

pub(in crate::database) fn summaries(rows: &[Summary]) -> Table {
    let table =
        Table::default().with("context", u32s(rows, |s| s.context)).with("metric", u32s(rows, |s| s.metric));
    let table = statistics(table, &INCLUSIVE, rows, |s| &s.inclusive);
    let table = statistics(table, &EXCLUSIVE, rows, |s| &s.exclusive);
    table.with("helper_sum", i64s(rows, |s| s.helper_sum))
}

fn statistics(
    table: Table,
    names: &StatisticsColumns,
    rows: &[Summary],
    of: impl Fn(&Summary) -> &Statistics,
) -> Table {
    let table = table.with(names.sum, i64s(rows, |s| of(s).sum)).with(names.min, i64s(rows, |s| of(s).min));
    let percentiles = names.percentiles.iter().enumerate();
    percentiles
        .fold(table, |table, (at, name)| table.with(name, i64s(rows, |s| of(s).percentiles[at])))
        .with(names.max, i64s(rows, |s| of(s).max))
        .with(names.max_location, Column::MaybeU32(rows.iter().map(|s| of(s).max_location).collect()))
        .with(names.participants, u32s(rows, |s| of(s).participants))
        .with(names.square_sum_high, u64s(rows, |s| (of(s).sum_of_squares >> 64) as u64))
        .with(names.square_sum_low, u64s(rows, |s| of(s).sum_of_squares as u64))
}

/// A period as its item: `METRIC=PERIOD`.
fn period((metric, period): &(String, u64)) -> String {
    format!("{metric}={period}")
}

fn join_items(items: impl Iterator<Item = String>) -> Arc<str> {
    items.flat_map(|item| [item.replace(ITEM_END, " "), ITEM_END.into()]).collect::<String>().into()
}
