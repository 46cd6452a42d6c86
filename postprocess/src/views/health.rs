//! How complete a measurement and what is shown of it are, as text.

use crate::database::{Health, Metric, Unit};

/// Lines about a measurement of `threads` threads: what was measured, what is lost and why, how much of the CPU time is
/// booked, and by which clocks. Lines that would say nothing are left out.
///
/// ```
/// use falloff_postprocess::{Health, views};
/// let health = Health { processes: 1, samples: 400, ..Health::default() };
/// assert_eq!(views::health_lines(&health, 4), ["1 process, 4 threads, 400 samples"]);
/// ```
pub fn health_lines(health: &Health, threads: usize) -> Vec<String> {
    let lines = [Some(counts(health, threads)), losses(health), cpu_time(health), clocks(health)];
    lines.into_iter().flatten().collect()
}

/// How reports go on after the cost that [`crate::Database::without_helpers`] left out.
pub const LEFT_OUT: &str = "of threads that the program did not start are left out";

/// Line about cost that was left out, in the metric's unit; `None` if it is nothing.
///
/// ```
/// use falloff_postprocess::{Metric, Unit, views};
/// let cpu = Metric::new(Unit::Nanoseconds, "cpu");
/// let line = views::left_out_line(&cpu, 1.5e9);
/// assert_eq!(line.unwrap(), "1.500 s of threads that the program did not start are left out");
/// assert_eq!(views::left_out_line(&cpu, 0.0), None);
/// ```
pub fn left_out_line(metric: &Metric, left_out: f64) -> Option<String> {
    let amount = match metric.unit {
        Unit::Nanoseconds => format!("{:.3} s", left_out * 1e-9),
        Unit::Count => format!("{left_out} {}", metric.name),
    };
    (left_out != 0.0).then(|| format!("{amount} {LEFT_OUT}"))
}

fn counts(health: &Health, threads: usize) -> String {
    let mut parts = vec![format!(
        "{}, {}",
        counted(health.processes, "process", "processes"),
        counted(threads as u64, "thread", "threads")
    )];
    if health.ranks_expected > 0 {
        parts.push(format!("{} of {} ranks", health.ranks_present, health.ranks_expected));
    }
    match health.missing_ranks.len() {
        0 => {}
        1 => parts.push(format!("rank {} is missing", health.missing_ranks[0])),
        _ => parts.push(format!("ranks {} are missing", ranges(&health.missing_ranks, ", "))),
    }
    if health.killed > 0 {
        parts.push(format!("{} did not end by exit", counted(health.killed, "process", "processes")));
    }
    parts.push(counted(health.samples, "sample", "samples"));
    if health.wait_samples > 0 {
        parts.push(counted(health.wait_samples, "wait sample", "wait samples"));
    }
    let share = |n: u64| percent(n as f64 / health.all_samples().max(1) as f64);
    for (count, what) in
        [(health.partial, "partial"), (health.truncated, "truncated"), (health.dropped, "dropped")]
    {
        if count > 0 {
            parts.push(format!("{count} {what} ({})", share(count)));
        }
    }
    parts.join(", ")
}

fn losses(health: &Health) -> Option<String> {
    let partial = listed("partial", &health.partial_by_reason.by_reason());
    let dropped = listed("dropped", &health.dropped_by_kind.by_kind());
    let both: Vec<String> = [partial, dropped].into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// Those that are not zero, the most frequent first.
fn listed(what: &str, counts: &[(&str, u64)]) -> Option<String> {
    let mut counts: Vec<_> = counts.iter().filter(|(_, n)| *n > 0).collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let texts: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
    (!texts.is_empty()).then(|| format!("{what}: {}", texts.join(", ")))
}

fn cpu_time(health: &Health) -> Option<String> {
    let coverage = health.coverage()?;
    let mut parts = vec![format!("{} of it booked", percent(coverage))];
    if let Some(unsampled) = health.unsampled_share().filter(|share| *share > 0.0) {
        parts.push(format!("{} between samples", percent(unsampled)));
    }
    if let Some(handler) = health.handler_share() {
        parts.push(format!("{} in the sampler", percent(handler)));
    }
    Some(format!("CPU time {:.3} s: {}", health.cpu_used_ns as f64 * 1e-9, parts.join(", ")))
}

fn clocks(health: &Health) -> Option<String> {
    let mut parts: Vec<String> = health.clocks.iter().map(ToString::to_string).collect();
    if parts.is_empty() {
        return None;
    }
    if !health.asked_rates_hz.is_empty() {
        let rates: Vec<String> = health.asked_rates_hz.iter().map(u32::to_string).collect();
        let reached = health.reached_rate_hz().map(|r| format!(", {r:.0}/s reached")).unwrap_or_default();
        parts.push(format!("{}/s asked{reached}", rates.join(" and ")));
    }
    Some(format!("clocks: {}", parts.join("; ")))
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// A number with its noun.
pub(super) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Ascending numbers as `0-3, 7`, with this separator.
pub(super) fn ranges(numbers: &[u32], separator: &str) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let texts = runs.map(|run| match run {
        [one] => one.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    texts.collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::{Clocks, CpuClock, Drops, Partials, WaitClock};

    #[test]
    fn a_measurement_with_every_fault_says_all_of_it() {
        let health = Health {
            samples: 9000,
            wait_samples: 1000,
            dropped: 12,
            dropped_by_kind: Drops { room: 2, unready: 10 },
            partial: 31,
            partial_by_reason: Partials {
                no_module: 1,
                no_cfi: 20,
                bad_read: 3,
                not_advancing: 4,
                unsupported: 3,
            },
            truncated: 7,
            processes: 3,
            killed: 1,
            ranks_present: 2,
            ranks_expected: 6,
            missing_ranks: vec![1, 2, 3, 5],
            cpu_used_ns: 10_000_000_000,
            cpu_booked_ns: Some(9_990_000_000),
            cpu_unsampled_ns: Some(20_000_000),
            handler_ns: 5_000_000,
            asked_rates_hz: vec![200, 1000],
            clocks: vec![
                Clocks { cpu: CpuClock::Timer, waits: WaitClock::Switches },
                Clocks { cpu: CpuClock::TaskClockUser, waits: WaitClock::Calls },
            ],
        };
        insta::assert_snapshot!("health", health_lines(&health, 5).join("\n"));
    }

    #[test]
    fn waits_alone_have_no_cpu_time() {
        let clocks = Clocks { cpu: CpuClock::NotMeasured, waits: WaitClock::Calls };
        let health = Health { processes: 1, wait_samples: 3, clocks: vec![clocks], ..Health::default() };
        assert_eq!(
            health_lines(&health, 1),
            [
                "1 process, 1 thread, 0 samples, 3 wait samples",
                "clocks: CPU time not measured, waits by timed calls"
            ]
        );
    }
}
