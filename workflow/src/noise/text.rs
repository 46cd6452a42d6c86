//! Signatures and their comparison for people.

use super::compare::{Comparison, Verdict};
use super::detours::Detours;
use super::messages::{Messages, Pair};
use super::signature::{RankNoise, Signature};
use crate::report::Paint;
use crate::report::table::Table;

/// Ranks that get a line of their own at most; the noisiest are shown.
const RANKS_SHOWN: usize = 16;
/// Characters of the longest bar.
const BAR: f64 = 40.0;
/// Sizes of messages that are shown.
const SIZES: [u64; 8] = [0, 8, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20, 4 << 20];

/// The whole report.
pub fn text(signature: &Signature, paint: Paint) -> String {
    let mut ranks: Vec<&RankNoise> = signature.ranks.iter().collect();
    ranks.sort_by(|a, b| b.detours.lost_percent.total_cmp(&a.detours.lost_percent));
    let Some(noisiest) = ranks.first().copied() else { return String::new() };
    let mut out = host_line(noisiest, signature.ranks.len());
    out += &format!("\n{}\n", paint.bold("NOISE"));
    out += &noise_table(&ranks);
    if ranks.len() > RANKS_SHOWN {
        out += &paint.dim(&format!("  {} quieter ranks are not shown\n", ranks.len() - RANKS_SHOWN));
    }
    out += &format!("\n{}\n", paint.bold(&format!("DETOURS BY LENGTH, rank {}", noisiest.rank)));
    out += &drawing(&noisiest.detours);
    out += &why(noisiest);
    if let Some(messages) = &signature.messages {
        out += &messages_text(messages, paint);
    }
    for note in &signature.notes {
        out += &format!("\n{}\n", paint.yellow(&format!("note: {note}")));
    }
    out
}

fn host_line(rank: &RankNoise, ranks: usize) -> String {
    let host = &rank.host;
    let ranks = if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") };
    let kind = if host.virtual_machine { ", virtual machine" } else { "" };
    let pinned = if host.pinned { "pinned to" } else { "free on" };
    format!(
        "{ranks}, {:.1} s of noise each; rank {} on {}: {}, {} processors{kind}, kernel {}, {pinned} {}\n",
        rank.seconds(),
        rank.rank,
        host.name,
        if host.cpu_model.is_empty() { "unknown processor" } else { &host.cpu_model },
        host.processors,
        host.kernel,
        host.allowed_processors,
    )
}

fn noise_table(ranks: &[&RankNoise]) -> String {
    let mut table = Table::new(&[
        "rank",
        "detours lose %",
        "fixed work %",
        "fixed time %",
        "detours/s",
        "median",
        "99 %",
        "longest",
        "on",
    ]);
    for rank in ranks.iter().take(RANKS_SHOWN) {
        let length = &rank.detours.length_ns;
        table.row(vec![
            rank.rank.to_string(),
            format!("{:.3}", rank.detours.lost_percent),
            format!("{:.3}", rank.fixed_work.lost_percent),
            format!("{:.3}", rank.fixed_time.lost_percent),
            format!("{:.1}", rank.detours.rate_hz),
            time(length.median()),
            time(length.at(0.99)),
            time(length.max()),
            rank.host.name.clone(),
        ]);
    }
    lines(&table)
}

/// Share of the time that detours of each class of lengths took, as bars.
fn drawing(detours: &Detours) -> String {
    if detours.by_length.is_empty() {
        return format!("  none of more than {}\n", time(detours.threshold_ns));
    }
    let share = |total_ns: f64| total_ns * 1e-7 / detours.measured_seconds;
    let most = detours.by_length.iter().map(|bin| share(bin.total_ns)).fold(f64::MIN_POSITIVE, f64::max);
    let mut table = Table::new(&["length", "detours/s", "% of time", ""]);
    for bin in &detours.by_length {
        let to = bin.to_ns.map_or("longer".to_owned(), time);
        table.row(vec![
            format!("{} to {to}", time(bin.from_ns)),
            format!("{:.1}", bin.count as f64 / detours.measured_seconds),
            format!("{:.4}", share(bin.total_ns)),
            "#".repeat((share(bin.total_ns) / most * BAR).ceil() as usize),
        ]);
    }
    lines(&table)
}

/// Periods and counters.
fn why(rank: &RankNoise) -> String {
    let mut out = String::new();
    for period in rank.detours.periods.iter().chain(&rank.fixed_time.periods) {
        out += &format!(
            "  {} come back every {:.2} ms (autocorrelation {:.2})\n",
            period.of, period.period_ms, period.strength
        )
        .replace("work in fixed time come", "what fixed time lacks comes");
    }
    let (counters, seconds) = (&rank.counters, rank.seconds().max(f64::MIN_POSITIVE));
    out += &format!(
        "  {:.1} involuntary and {:.1} voluntary switches/s",
        counters.involuntary_switches as f64 / seconds,
        counters.voluntary_switches as f64 / seconds
    );
    for (what, value) in [
        ("ready without a processor", counters.run_delay_seconds),
        ("stolen by the hypervisor", counters.stolen_seconds),
    ] {
        out += &value.map_or(String::new(), |value| format!(", {:.3} % {what}", 100.0 * value / seconds));
    }
    out + "\n"
}

fn messages_text(messages: &Messages, paint: Paint) -> String {
    let mut out = format!("\n{}\n  {}\n", paint.bold("MESSAGES"), messages.library);
    for pair in &messages.pairs {
        let place = if pair.same_host { "the same host" } else { "two hosts" };
        out += &format!("\n  ranks {} and {} on {place}\n", pair.ranks[0], pair.ranks[1]);
        out += &pair_table(pair);
        out += &pair_model(pair);
    }
    out
}

fn pair_table(pair: &Pair) -> String {
    let mut table = Table::new(&["bytes", "one way, median", "5 %", "95 %", "99 %", "MB/s", "messages"]);
    for times in SIZES.iter().filter_map(|bytes| pair.at(*bytes)) {
        let one_way = &times.one_way_ns;
        table.row(vec![
            times.bytes.to_string(),
            time(one_way.median()),
            time(one_way.at(0.05)),
            time(one_way.at(0.95)),
            time(one_way.at(0.99)),
            format!("{:.0}", times.bandwidth_megabytes_per_second),
            one_way.count.to_string(),
        ]);
    }
    lines(&table)
}

fn pair_model(pair: &Pair) -> String {
    let eager = match pair.eager_limit_bytes {
        Some(bytes) => format!("sends of up to {bytes} bytes do not wait for their receiver"),
        None => "every send waits for its receiver".to_owned(),
    };
    let model =
        pair.loggp.as_ref().map_or("no LogGP model fits: times do not rise with the size".to_owned(), |m| {
            format!(
                "LogGP: L {} ± {}, o {}, g {}, G {:.4} ± {:.4} ns a byte; handshake of long messages {}",
                time(m.latency_ns),
                time(m.latency_half_width_ns),
                time(m.overhead_ns),
                time(m.gap_ns),
                m.gap_per_byte_ns,
                m.gap_per_byte_half_width_ns,
                time(m.rendezvous_ns),
            )
        });
    format!("  {model}\n  {eager}\n")
}

/// The comparison; the two have the names that the user gave them.
pub fn comparison_text(comparison: &Comparison, names: [&str; 2], paint: Paint) -> String {
    let mut table = Table::new(&["", "first", "second", "difference, 95 % interval", "q", "more"]);
    for change in &comparison.changes {
        let unit = change.unit;
        let value = |value: f64| if unit == "ns" { time(value) } else { format!("{value:.3} {unit}") };
        let sign = if change.difference < 0.0 { "-" } else { "+" };
        table.row(vec![
            change.quantity.clone(),
            value(change.first),
            value(change.second),
            format!("{sign}{} ± {}", value(change.difference.abs()), value(change.difference_half_width)),
            format!("{:.2}", change.q_value),
            match change.verdict() {
                Verdict::First => "first".into(),
                Verdict::Second => "second".into(),
                Verdict::Neither => "cannot be told".into(),
            },
        ]);
    }
    let [first, second] = names;
    let by = comparison.changes.first().map_or(String::new(), |lost| {
        let (low, high) = (
            lost.difference.abs() - lost.difference_half_width,
            lost.difference.abs() + lost.difference_half_width,
        );
        format!("between {:.3} and {:.3} % more of the time is lost to detours", low.max(0.0), high)
    });
    let verdict = match comparison.noisier {
        Verdict::First => paint.red(&format!("the first is noisier: {by}")),
        Verdict::Second => paint.red(&format!("the second is noisier: {by}")),
        Verdict::Neither => {
            "which one is noisier cannot be told: the difference is not significant".to_owned()
        }
    };
    format!("first   {first}\nsecond  {second}\n\n{}\n{verdict}\n", lines(&table))
}

fn lines(table: &Table) -> String {
    table.lines().iter().map(|line| format!("{line}\n")).collect()
}

/// A time with three digits and its unit.
pub(super) fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        v if v >= 999.5e6 => (ns * 1e-9, "s"),
        v if v >= 999.5e3 => (ns * 1e-6, "ms"),
        v if v >= 999.5 => (ns * 1e-3, "µs"),
        _ => (ns, "ns"),
    };
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0} {unit}"),
        v if v >= 9.995 => format!("{value:.1} {unit}"),
        v if v > 0.0 => format!("{value:.2} {unit}"),
        _ => "0 ns".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::signature::tests::planted;

    #[test]
    fn times_have_three_digits() {
        let found = [0.0, 4.2, 999.4, 999.6, 12_345.0, 1e6, 2.5e9].map(time);
        assert_eq!(found, ["0 ns", "4.20 ns", "999 ns", "1.00 µs", "12.3 µs", "1.00 ms", "2.50 s"]);
    }

    #[test]
    fn reports_are_as_they_were() {
        insta::assert_snapshot!("noise_text", text(&planted(2, 3.0), Paint::default()));
        let comparison = Comparison::new(&planted(2, 3.0), &planted(2, 12.0));
        insta::assert_snapshot!(
            "noise_comparison",
            comparison_text(&comparison, ["a.json", "b.json"], Paint::default())
        );
    }
}
