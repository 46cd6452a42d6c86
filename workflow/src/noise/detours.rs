//! Gaps in a loop that does nothing but read the clock: what took the processor meanwhile was a detour.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::batches::{BATCHES, batches};
use super::period::{Period, period_of};
use super::quantiles::Quantiles;
use super::trace::Trace;

/// Detours after which a measurement ends early, so that its memory is bounded.
const DETOURS_MAX: usize = 1 << 20;
/// Typical gaps that a detour is longer than, as netgauge's selfish detour has it by default.
const THRESHOLD_GAPS: f64 = 10.0;
/// Readings from which the typical gap is known.
const TYPICAL_READINGS: usize = 20_001;
/// Bounds of lengths that are counted apart, nanoseconds: 1, 2, 5 times powers of ten.
const BOUNDS_NS: [f64; 22] = [
    0.0,
    500.0,
    1e3,
    2e3,
    5e3,
    1e4,
    2e4,
    5e4,
    1e5,
    2e5,
    5e5,
    1e6,
    2e6,
    5e6,
    1e7,
    2e7,
    5e7,
    1e8,
    2e8,
    5e8,
    1e9,
    f64::INFINITY,
];
/// Detours of like length that are looked at for a period, at least.
const PERIOD_EVENTS: usize = 20;
/// Steps between two detours of like length, for which a period is looked, and steps of the whole measurement at most.
const PERIOD_STEPS: (f64, f64) = (16.0, 262_144.0);

/// What took a thread's processor away, and how much.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detours {
    /// How long was looked.
    pub measured_seconds: f64,
    /// Time between two readings of the clock if nothing comes between: the median.
    pub gap_ns: f64,
    /// Gaps that are longer are detours.
    pub threshold_ns: f64,
    /// Detours.
    pub count: u64,
    /// Detours a second.
    pub rate_hz: f64,
    /// Share of the time that they took.
    pub lost_percent: f64,
    /// Their lengths, without the typical gap.
    pub length_ns: Quantiles,
    /// Their lengths in classes, without the empty ones.
    pub by_length: Vec<LengthBin>,
    /// After what times they come back.
    pub periods: Vec<Period>,
    /// [`Detours::rate_hz`] of each twentieth of the time.
    pub batch_rate_hz: Vec<f64>,
    /// [`Detours::lost_percent`] of each twentieth of the time.
    pub batch_lost_percent: Vec<f64>,
    /// The first of them one by one.
    pub trace: Trace,
}

/// Detours of like length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LengthBin {
    /// Length from which on.
    pub from_ns: f64,
    /// Length up to which; absent if there is no bound.
    pub to_ns: Option<f64>,
    /// How many.
    pub count: u64,
    /// Their lengths together.
    pub total_ns: f64,
}

/// A detour.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Detour {
    start_ns: u64,
    length_ns: u64,
}

impl Detours {
    /// Reads the clock over and over for a time; keeps at most `trace_max` detours one by one.
    pub fn measure(time: Duration, trace_max: usize) -> Detours {
        let gap_ns = typical_gap_ns();
        let threshold_ns = THRESHOLD_GAPS * gap_ns;
        let (threshold, gap) = (threshold_ns as u64, gap_ns as u64);
        let wanted_ns = nanoseconds(time);
        let mut found = Vec::with_capacity(DETOURS_MAX);
        // The pages are there before the clock is looked at.
        found.resize(DETOURS_MAX, Detour { start_ns: 0, length_ns: 0 });
        found.clear();
        let begin = Instant::now();
        let mut last = 0;
        while last < wanted_ns && found.len() < DETOURS_MAX {
            let now = nanoseconds(begin.elapsed());
            if now - last > threshold {
                found.push(Detour { start_ns: last, length_ns: now - last - gap });
            }
            last = now;
        }
        Detours::of(&found, last, (gap_ns, threshold_ns), trace_max)
    }

    fn of(
        found: &[Detour],
        measured_ns: u64,
        (gap_ns, threshold_ns): (f64, f64),
        trace_max: usize,
    ) -> Detours {
        let measured = measured_ns.max(1) as f64;
        let lost: f64 = found.iter().map(|d| d.length_ns as f64).sum();
        let slices = slices(found, measured_ns);
        let slice = measured / BATCHES as f64;
        Detours {
            measured_seconds: measured * 1e-9,
            gap_ns,
            threshold_ns,
            count: found.len() as u64,
            rate_hz: found.len() as f64 / measured * 1e9,
            lost_percent: 100.0 * lost / measured,
            length_ns: Quantiles::of(found.iter().map(|d| d.length_ns as f64).collect()),
            by_length: by_length(found),
            periods: periods(found, measured),
            batch_rate_hz: slices.iter().map(|(count, _)| count / slice * 1e9).collect(),
            batch_lost_percent: slices.iter().map(|(_, lost)| 100.0 * lost / slice).collect(),
            trace: trace(found, measured_ns, trace_max),
        }
    }
}

/// Count and length together of the detours in each part of the time; one that reaches over a bound is shared out.
fn slices(found: &[Detour], measured_ns: u64) -> Vec<(f64, f64)> {
    let mut parts = vec![(0.0, 0.0); BATCHES];
    let width = measured_ns.max(1) as f64 / BATCHES as f64;
    for detour in found {
        let (begin, end) = (detour.start_ns as f64, (detour.start_ns + detour.length_ns) as f64);
        let first = ((begin / width) as usize).min(BATCHES - 1);
        parts[first].0 += 1.0;
        for (index, part) in parts.iter_mut().enumerate().skip(first) {
            let from = (index as f64 * width).max(begin);
            let to = if index + 1 == BATCHES { end } else { ((index + 1) as f64 * width).min(end) };
            if to <= from {
                break;
            }
            part.1 += to - from;
        }
    }
    parts
}

fn by_length(found: &[Detour]) -> Vec<LengthBin> {
    let mut bins: Vec<LengthBin> = BOUNDS_NS
        .windows(2)
        .map(|b| LengthBin {
            from_ns: b[0],
            to_ns: Some(b[1]).filter(|b| b.is_finite()),
            count: 0,
            total_ns: 0.0,
        })
        .collect();
    for detour in found {
        let length = detour.length_ns as f64;
        let bin = &mut bins[BOUNDS_NS.partition_point(|bound| *bound <= length) - 1];
        bin.count += 1;
        bin.total_ns += length;
    }
    bins.retain(|bin| bin.count > 0);
    bins
}

/// Periods of the detours of each decade of lengths, apart because rare long ones would drown a regular short one.
fn periods(found: &[Detour], measured_ns: f64) -> Vec<Period> {
    let decades = [
        (0.0, 1e4, "shorter than 10 µs"),
        (1e4, 1e5, "10 to 100 µs"),
        (1e5, 1e6, "0.1 to 1 ms"),
        (1e6, f64::INFINITY, "longer than 1 ms"),
    ];
    let of = |(from, to, name): (f64, f64, &str)| {
        let within = |d: &&Detour| (from..to).contains(&(d.length_ns as f64));
        let starts: Vec<f64> = found.iter().filter(within).map(|d| d.start_ns as f64).collect();
        if starts.len() < PERIOD_EVENTS {
            return None;
        }
        let steps = (PERIOD_STEPS.0 * starts.len() as f64).min(PERIOD_STEPS.1);
        let step = measured_ns / steps.floor();
        let mut series = vec![0.0; steps as usize + 1];
        starts.iter().for_each(|start| series[(start / step) as usize] += 1.0);
        let (lag, strength) = period_of(&series)?;
        Some(Period { period_ms: lag * step * 1e-6, strength, of: format!("detours {name}") })
    };
    decades.into_iter().filter_map(of).collect()
}

fn trace(found: &[Detour], measured_ns: u64, most: usize) -> Trace {
    let kept = &found[..found.len().min(most)];
    Trace {
        covers_ns: found.get(most).map_or(measured_ns, |next| next.start_ns),
        start_ns: kept.iter().map(|d| d.start_ns).collect(),
        length_ns: kept.iter().map(|d| d.length_ns).collect(),
    }
}

/// Median time between two readings of the clock.
fn typical_gap_ns() -> f64 {
    let begin = Instant::now();
    let readings: Vec<u64> = (0..TYPICAL_READINGS).map(|_| nanoseconds(begin.elapsed())).collect();
    let mean_of_some = batches(&readings, |part| {
        let gaps: Vec<f64> = part.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        Quantiles::of(gaps).median()
    });
    Quantiles::of(mean_of_some).median().max(1.0)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Detours of a length every so often, over 4 s.
    fn planted(period_ns: u64, length_ns: u64) -> Vec<Detour> {
        (0..4 * SECOND / period_ns).map(|i| Detour { start_ns: i * period_ns, length_ns }).collect()
    }

    fn of(found: &[Detour]) -> Detours {
        Detours::of(found, 4 * SECOND, (25.0, 250.0), 100)
    }

    #[test]
    fn planted_duty_and_period_are_found() {
        for (period_ns, length_ns, duty) in [(4_000_000, 3_000, 0.075), (10_000_000, 1_000_000, 10.0)] {
            let found = of(&planted(period_ns, length_ns));
            assert!((found.lost_percent / duty - 1.0).abs() < 1e-9, "{}", found.lost_percent);
            assert!((found.rate_hz * period_ns as f64 * 1e-9 - 1.0).abs() < 1e-9);
            let [period] = &found.periods[..] else { panic!("{:?}", found.periods) };
            assert!((period.period_ms * 1e6 / period_ns as f64 - 1.0).abs() < 0.02, "{period:?}");
            assert!(period.strength > 0.8, "{period:?}");
        }
    }

    /// A tick of 4 ms does not drown in bursts, nor they in it.
    #[test]
    fn two_periods_are_told_apart() {
        let mut both = planted(4_000_000, 3_000);
        both.extend(
            planted(25_000_000, 2_000_000).iter().map(|d| Detour { start_ns: d.start_ns + 777_000, ..*d }),
        );
        both.sort_by_key(|d| d.start_ns);
        let periods: Vec<f64> = of(&both).periods.iter().map(|p| p.period_ms).collect();
        assert_eq!(periods.len(), 2);
        assert!((periods[0] - 4.0).abs() < 0.1 && (periods[1] - 25.0).abs() < 0.5, "{periods:?}");
    }

    #[test]
    fn classes_and_parts_hold_all_detours() {
        let mut both = planted(4_000_000, 3_000);
        both.push(Detour { start_ns: 4 * SECOND - 500_000_000, length_ns: 500_000_000 });
        let found = of(&both);
        assert_eq!(
            found.by_length.iter().map(|b| (b.from_ns, b.count)).collect::<Vec<_>>(),
            [(2e3, 1000), (5e8, 1)]
        );
        assert_eq!(found.batch_rate_hz.len(), BATCHES);
        let mean = found.batch_lost_percent.iter().sum::<f64>() / BATCHES as f64;
        assert!((mean - found.lost_percent).abs() < 1e-9, "{mean} {}", found.lost_percent);
        // Half a second is two and a half parts of 0.2 s.
        assert!(found.batch_lost_percent[19] > 99.0 && found.batch_lost_percent[16] < 1.0, "{found:?}");
    }

    #[test]
    fn the_trace_ends_where_its_room_ends() {
        let found = of(&planted(4_000_000, 3_000));
        assert_eq!((found.trace.start_ns.len(), found.trace.covers_ns), (100, 400_000_000));
        assert_eq!(of(&[]).trace, Trace { covers_ns: 4 * SECOND, ..Trace::default() });
    }

    #[test]
    fn a_replay_under_the_trace_takes_as_much_longer() {
        let overlay = of(&planted(10_000_000, 1_000_000)).trace.overlay().unwrap();
        // A tenth is lost: 9 s of work take 10 s.
        assert_eq!((overlay.share(), overlay.end(0, 9 * SECOND)), (0.1, 10 * SECOND));
        let found = Detours::measure(Duration::from_millis(50), 100);
        assert!(found.trace.overlay().is_ok(), "{found:?}");
    }

    #[test]
    fn a_measurement_adds_up() {
        let found = Detours::measure(Duration::from_millis(200), 10);
        assert!((0.2..5.0).contains(&found.measured_seconds), "{found:?}");
        assert!((0.0..=100.0).contains(&found.lost_percent) && found.gap_ns < 20_000.0, "{found:?}");
        assert_eq!(found.by_length.iter().map(|b| b.count).sum::<u64>(), found.count);
    }
}
