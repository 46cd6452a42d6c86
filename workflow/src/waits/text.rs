//! The waiting of a run for people: how much, where, because of whom, and what the run's length hung on.

use falloff_messages::waits::{Cause, Metric};

use super::{Delay, Sufferer, Waiting};
use crate::report::Paint;
use crate::report::table::{percent, seconds};
use crate::report::{listed, section, shorten, table::Table};

/// What the reader wants to see.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Colours.
    pub paint: Paint,
    /// Columns of the screen.
    pub width: usize,
    /// Smallest share of all time, as a fraction, for something to be listed.
    pub threshold: f64,
    /// Most rows of each list.
    pub limit: usize,
}

/// Causes that are told of each call path that waited.
const CAUSES: usize = 3;
/// Sentences about what found no other side.
const UNFINISHED: usize = 12;
/// Columns before a cause.
const BELOW: usize = 11;

/// The whole report. `name` is what was analysed; `warnings` say what was missing.
pub fn text(waiting: &Waiting, name: &str, warnings: &[String], options: &TextOptions) -> String {
    let mut lines = header(waiting, name, warnings, options);
    lines.extend(headline(waiting, options.paint));
    lines.extend(section("WHERE TIME GOES", metric_lines(waiting, options), options.paint));
    lines.extend(section("WHO WAITS, AND FOR WHAT", sufferer_lines(waiting, options), options.paint));
    lines.extend(section("WHO MAKES OTHERS WAIT", delay_lines(waiting, options), options.paint));
    lines.extend(section("CRITICAL PATH", critical_lines(waiting, options), options.paint));
    lines.extend(legend(options.paint));
    lines.join("\n") + "\n"
}

fn header(waiting: &Waiting, name: &str, warnings: &[String], options: &TextOptions) -> Vec<String> {
    let (outcome, checks) = (&waiting.outcome, waiting.analysis.checks);
    let ranks = waiting.locations.iter().filter(|location| location.thread == 0).count();
    let mut lines = vec![
        options.paint.bold(&format!("falloff waits {}", shorten(name, options.width.saturating_sub(14)))),
        format!(
            "  run       {ranks} ranks for {} s; calls of MPI: {}, messages: {}, collective operations: {}",
            seconds(in_seconds(waiting.analysis.length_ns)),
            outcome.calls,
            outcome.messages,
            outcome.collectives
        ),
    ];
    let mut caveats = warnings.to_vec();
    if !outcome.is_whole() {
        caveats.push("the logs do not tell all: what found no other side counts as not waiting".into());
        caveats.extend(unfinished(&outcome.to_string()));
    }
    if checks.violated > 0 {
        caveats.push(format!(
            "clocks disagree: {} of {} waits end after their call ({} %), and are cut off there",
            checks.violated,
            checks.made,
            percent(checks.rate())
        ));
    }
    lines.extend(caveats.iter().map(|text| options.paint.yellow(&format!("  ! {text}"))));
    lines
}

/// The first of what an outcome tells beside its sums: who waits for one another, who for whom, and in which calls logs end.
fn unfinished(outcome: &str) -> Vec<String> {
    let mut told: Vec<String> = outcome.lines().skip(1).map(str::to_owned).collect();
    let more = told.len().saturating_sub(UNFINISHED);
    if more > 0 {
        told.truncate(UNFINISHED);
        told.push(format!("and {more} more, which `falloff view` tells"));
    }
    told
}

fn headline(waiting: &Waiting, paint: Paint) -> Vec<String> {
    let (whole, times) = (waiting.whole_ns(), &waiting.analysis.times);
    let waits = waiting.analysis.waiting_ns();
    let in_mpi = times.total(Metric::Mpi) - waits;
    let share = |ns: u64| percent(ns as f64 / whole.max(1) as f64);
    let mut lines = vec![
        String::new(),
        paint.bold(&format!(
            "WAITING {} % of all time: {} of {} s",
            share(waits),
            seconds(in_seconds(waits)),
            seconds(in_seconds(whole))
        )),
        format!(
            "  computation {} %, in MPI without waiting {} %",
            share(times.total(Metric::Computation)),
            share(in_mpi)
        ),
    ];
    if let Some(run) = waiting.analysis.efficiencies() {
        lines.push(format!(
            "  parallel efficiency {} % = load balance {} % x communication efficiency {} %",
            percent(run.parallel),
            percent(run.load_balance),
            percent(run.communication)
        ));
    }
    lines
}

fn metric_lines(waiting: &Waiting, options: &TextOptions) -> Vec<String> {
    let whole = waiting.whole_ns().max(1) as f64;
    let mut table = Table::new(&["s", "%"]);
    let mut names = Vec::new();
    for metric in Metric::all().filter(|metric| metric.is_within(Metric::Time)) {
        let ns = waiting.analysis.times.total(metric);
        if ns > 0 {
            table.row(vec![seconds(in_seconds(ns)), percent(ns as f64 / whole)]);
            names.push((metric, format!("{}{}", "  ".repeat(metric.depth()), metric.name())));
        }
    }
    let lines = table.with_last(options.width, "metric", |row, room| shorten(&names[row].1, room)).lines();
    let tinted = |(at, line): (usize, String)| match at.checked_sub(1).map(|row| names[row].0) {
        Some(metric) if metric.is_wait() => options.paint.red(&line),
        _ => line,
    };
    lines.into_iter().enumerate().map(tinted).collect()
}

fn sufferer_lines(waiting: &Waiting, options: &TextOptions) -> Vec<String> {
    let whole = waiting.whole_ns().max(1) as f64;
    let all = waiting.sufferers();
    let listed_ones = worth(&all, options, |sufferer| sufferer.ns as f64 / whole);
    if listed_ones.is_empty() {
        return vec![format!("  nobody for {} % of all time or more", percent(options.threshold))];
    }
    let mut table = Table::new(&["s", "%", "ranks", "pattern"]);
    for sufferer in listed_ones {
        let mut ranks: Vec<u32> =
            sufferer.locations.iter().map(|location| waiting.locations[*location as usize].rank).collect();
        ranks.dedup();
        let first = sufferer.patterns.first().map_or("", |(metric, _)| metric.name());
        let others = if sufferer.patterns.len() > 1 { " …" } else { "" };
        table.row(vec![
            seconds(in_seconds(sufferer.ns)),
            percent(sufferer.ns as f64 / whole),
            listed(&ranks),
            format!("{first}{others}"),
        ]);
    }
    let path = |row: usize, room: usize| path_name(waiting, listed_ones[row].path, room);
    let mut rows = table.with_last(options.width, "call path", path).lines().into_iter();
    let mut lines: Vec<String> = rows.next().into_iter().collect();
    for (row, sufferer) in rows.zip(listed_ones) {
        lines.push(row);
        lines.extend(cause_lines(waiting, sufferer, options));
    }
    lines.extend(rest_line(&all[listed_ones.len()..], |sufferer| sufferer.ns, "call path", options.paint));
    lines
}

fn cause_lines(waiting: &Waiting, sufferer: &Sufferer, options: &TextOptions) -> Vec<String> {
    let line = |(location, cause, ns): &(u32, Cause, u64)| {
        let before = format!(
            "{}{} s for {}, ",
            " ".repeat(BELOW),
            seconds(in_seconds(*ns)),
            waiting.location(*location)
        );
        let room = options.width.saturating_sub(before.chars().count());
        let what = match cause {
            Cause::Computation(path) => {
                let words = "which computed on the way to ";
                format!("{words}{}", path_name(waiting, *path, room.saturating_sub(words.len())))
            }
            Cause::Communication => "which was in MPI longer".to_owned(),
            Cause::Waiting(path) => {
                let words = "which had waited in ";
                format!("{words}{}", path_name(waiting, *path, room.saturating_sub(words.len())))
            }
        };
        options.paint.dim(&format!("{before}{what}"))
    };
    sufferer.causes.iter().take(CAUSES).map(line).collect()
}

fn delay_lines(waiting: &Waiting, options: &TextOptions) -> Vec<String> {
    let whole = waiting.whole_ns().max(1) as f64;
    let cost = |delay: &Delay| delay.short_term_ns + delay.long_term_ns;
    let all = waiting.delays();
    let shown = worth(&all, options, |delay| cost(delay) as f64 / whole);
    if shown.is_empty() {
        return vec![format!("  nothing for {} % of all time or more", percent(options.threshold))];
    }
    let mut table = Table::new(&["s", "%", "handed on s", "who", "by"]);
    for delay in shown {
        table.row(vec![
            seconds(in_seconds(cost(delay))),
            percent(cost(delay) as f64 / whole),
            seconds(in_seconds(delay.long_term_ns)),
            waiting.location(delay.location),
            if delay.computes { "computing before" } else { "being in" }.into(),
        ]);
    }
    let path = |row: usize, room: usize| path_name(waiting, shown[row].path, room);
    let mut lines = table.with_last(options.width, "call path", path).lines();
    lines.extend(rest_line(&all[shown.len()..], cost, "place", options.paint));
    lines
}

fn critical_lines(waiting: &Waiting, options: &TextOptions) -> Vec<String> {
    let times = &waiting.analysis.times;
    let length = times.total(Metric::CriticalPath).max(1) as f64;
    let imbalance = waiting.analysis.critical_imbalance();
    let mut all: Vec<(u32, bool, u64)> = Vec::new();
    for (metric, computes) in [(Metric::CriticalComputation, true), (Metric::CriticalMpi, false)] {
        all.extend(times.by_path(metric).into_iter().map(|(path, ns)| (path, computes, ns)));
    }
    all.sort_by_key(|(path, computes, ns)| (std::cmp::Reverse(*ns), *path, !computes));
    let shown = worth(&all, options, |(.., ns)| *ns as f64 / length);
    let mut table = Table::new(&["s", "% of path", "imbalance s", "by"]);
    for (path, computes, ns) in shown {
        let unbalanced = imbalance.get(path).filter(|_| *computes);
        table.row(vec![
            seconds(in_seconds(*ns)),
            percent(*ns as f64 / length),
            unbalanced.map_or("-".into(), |ns| seconds(in_seconds(*ns))),
            if *computes { "computing before" } else { "being in" }.into(),
        ]);
    }
    let path = |row: usize, room: usize| path_name(waiting, shown[row].0, room);
    let mut lines = table.with_last(options.width, "call path", path).lines();
    lines.extend(rest_line(&all[shown.len()..], |(.., ns)| *ns, "place", options.paint));
    let mut shares: Vec<(u32, u64)> = times.by_location(Metric::CriticalPath).into_iter().collect();
    shares.sort_by_key(|(location, ns)| (std::cmp::Reverse(*ns), *location));
    let share = |(location, ns): &(u32, u64)| {
        format!("{} {} %", waiting.location(*location), percent(*ns as f64 / length))
    };
    let shown: Vec<String> = shares.iter().take(options.limit).map(share).collect();
    lines.push(format!("  it lies on {}", shown.join(", ")));
    lines
}

fn legend(paint: Paint) -> Vec<String> {
    let lines = [
        "% of all time: of all ranks together. A wait is shared among what the one waited for did more than the one that waited since",
        "they were level. Handed on: waiting for somebody who had waited for this. Imbalance: what the path computes more than ranks do",
        "in the mean. Computation counts for the call of MPI that ends it.",
    ];
    std::iter::once(String::new()).chain(lines.iter().map(|line| paint.dim(&format!("  {line}")))).collect()
}

/// Those at the head of a list that are large enough to be shown.
fn worth<'a, T>(all: &'a [T], options: &TextOptions, share: impl Fn(&T) -> f64) -> &'a [T] {
    let count = all.iter().take(options.limit).take_while(|of| share(of) >= options.threshold).count();
    &all[..count]
}

/// What all the others have together.
fn rest_line<T>(rest: &[T], ns: impl Fn(&T) -> u64, what: &str, paint: Paint) -> Option<String> {
    let sum: u64 = rest.iter().map(ns).sum();
    let many = if rest.len() == 1 { "" } else { "s" };
    let line =
        || paint.dim(&format!("  and {} s at {} other {what}{many}", seconds(in_seconds(sum)), rest.len()));
    (sum > 0).then(line)
}

fn path_name(waiting: &Waiting, path: u32, room: usize) -> String {
    let names = waiting.paths.get(&path).map(|names| names.join(" > ")).unwrap_or_default();
    shorten(&names, room)
}

fn in_seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}
