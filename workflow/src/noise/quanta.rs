//! The time that a fixed piece of work takes, and the work that gets done in a fixed time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::batches::batches;
use super::period::{Period, period_of};
use super::quantiles::Quantiles;

/// What a piece of fixed work shall take.
const WORK_NS: f64 = 200_000.0;
/// A window of fixed time.
const WINDOW_NS: f64 = 1_000_000.0;
/// What a unit of the work that is counted in windows shall take.
const UNIT_NS: f64 = 250.0;
/// Tries from which the speed of the processor is known; the fastest counts.
const CALIBRATIONS: usize = 200;

/// Fixed work quantum: noise is what a piece takes longer than the fastest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FixedWork {
    /// How long was looked.
    pub measured_seconds: f64,
    /// Pieces of work.
    pub count: u64,
    /// What the fastest took.
    pub quantum_ns: f64,
    /// Share of the time that was noise.
    pub lost_percent: f64,
    /// Noise of each piece.
    pub noise_ns: Quantiles,
    /// [`FixedWork::lost_percent`] of each twentieth of the pieces.
    pub batch_lost_percent: Vec<f64>,
}

/// Fixed time quantum: noise is what share of the window with most work a window lacks (Sottile and Minnich, Cluster 2004).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FixedTime {
    /// How long was looked.
    pub measured_seconds: f64,
    /// A window.
    pub window_ns: f64,
    /// Windows.
    pub count: u64,
    /// Units of work in the window with most of it.
    pub units_max: u64,
    /// Share of the time that was noise.
    pub lost_percent: f64,
    /// Noise of each window.
    pub noise_ns: Quantiles,
    /// After what time the noise comes back.
    pub periods: Vec<Period>,
    /// [`FixedTime::lost_percent`] of each twentieth of the windows.
    pub batch_lost_percent: Vec<f64>,
}

impl FixedWork {
    /// Does the work again and again for a time.
    pub fn measure(time: Duration) -> FixedWork {
        let rounds = rounds_for(WORK_NS);
        let mut times_ns = Vec::with_capacity((2e9 / WORK_NS * time.as_secs_f64()) as usize + 1);
        let begin = Instant::now();
        let mut last = Duration::ZERO;
        while last < time {
            work(rounds);
            let now = begin.elapsed();
            times_ns.push((now - last).as_nanos() as f64);
            last = now;
        }
        FixedWork::of(&times_ns)
    }

    /// From what each piece took: noise_i = t_i − min t, and Σ noise / Σ t is the share that is lost.
    fn of(times_ns: &[f64]) -> FixedWork {
        let quantum_ns = times_ns.iter().copied().reduce(f64::min).unwrap_or(0.0);
        let lost = |part: &[f64]| {
            let all: f64 = part.iter().sum();
            if all > 0.0 { 100.0 * (1.0 - quantum_ns * part.len() as f64 / all) } else { 0.0 }
        };
        FixedWork {
            measured_seconds: times_ns.iter().sum::<f64>() * 1e-9,
            count: times_ns.len() as u64,
            quantum_ns,
            lost_percent: lost(times_ns),
            noise_ns: Quantiles::of(times_ns.iter().map(|t| t - quantum_ns).collect()),
            batch_lost_percent: batches(times_ns, lost),
        }
    }
}

impl FixedTime {
    /// Counts the work in each window for a time. A unit counts for the window in which it ends.
    pub fn measure(time: Duration) -> FixedTime {
        let rounds = rounds_for(UNIT_NS);
        let mut counts = vec![0u32; (time.as_nanos() as f64 / WINDOW_NS) as usize];
        let window = WINDOW_NS as u128;
        let begin = Instant::now();
        loop {
            work(rounds);
            let index = begin.elapsed().as_nanos() / window;
            match counts.get_mut(index as usize) {
                Some(count) => *count += 1,
                None => return FixedTime::of(&counts),
            }
        }
    }

    /// From the units in each window: noise_i = (max n − n_i) / max n of a window.
    fn of(counts: &[u32]) -> FixedTime {
        let most = counts.iter().copied().max().unwrap_or(0);
        let noise: Vec<f64> =
            counts.iter().map(|n| f64::from(most - n) / f64::from(most.max(1)) * WINDOW_NS).collect();
        let lost = |part: &[f64]| 100.0 * part.iter().sum::<f64>() / (part.len().max(1) as f64 * WINDOW_NS);
        let period = period_of(&noise).map(|(lag, strength)| Period {
            period_ms: lag * WINDOW_NS * 1e-6,
            strength,
            of: "work in fixed time".into(),
        });
        FixedTime {
            measured_seconds: counts.len() as f64 * WINDOW_NS * 1e-9,
            window_ns: WINDOW_NS,
            count: counts.len() as u64,
            units_max: u64::from(most),
            lost_percent: lost(&noise),
            periods: period.into_iter().collect(),
            batch_lost_percent: batches(&noise, lost),
            noise_ns: Quantiles::of(noise),
        }
    }
}

/// Work that no processor does in parallel and no memory slows down: each step needs the one before.
#[inline(never)]
fn work(rounds: u64) {
    let mut x = black_box(1u64);
    for _ in 0..rounds {
        x = (x ^ (x >> 29)).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(x);
}

/// Rounds of the work that take about a time, undisturbed.
fn rounds_for(nanoseconds: f64) -> u64 {
    const ROUNDS: u64 = 2000;
    let once = || {
        let begin = Instant::now();
        work(ROUNDS);
        begin.elapsed().as_nanos() as f64
    };
    let fastest = (0..CALIBRATIONS).map(|_| once()).fold(f64::INFINITY, f64::min);
    (nanoseconds / fastest.max(1.0) * ROUNDS as f64).max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_noise_of_fixed_work_is_found() {
        // Every tenth piece takes twice as long: of 11 parts of time one is noise.
        let times: Vec<f64> = (0..1000).map(|i| if i % 10 == 0 { 400.0 } else { 200.0 }).collect();
        let found = FixedWork::of(&times);
        assert!((found.lost_percent - 100.0 / 11.0).abs() < 1e-9, "{}", found.lost_percent);
        assert_eq!((found.quantum_ns, found.noise_ns.max(), found.noise_ns.median()), (200.0, 200.0, 0.0));
        assert!(found.batch_lost_percent.iter().all(|lost| (lost - 100.0 / 11.0).abs() < 1e-9));
    }

    #[test]
    fn planted_duty_and_period_of_fixed_time_are_found() {
        // A burst of 2.5 windows every 20: 12.5 %.
        let counts: Vec<u32> = (0..4000)
            .map(|i| match i % 20 {
                0 | 1 => 0,
                2 => 2000,
                _ => 4000 - u32::from(i % 3 == 0),
            })
            .collect();
        let found = FixedTime::of(&counts);
        assert!((found.lost_percent - 12.5).abs() < 0.02, "{}", found.lost_percent);
        assert!((found.periods[0].period_ms - 20.0).abs() < 0.1, "{:?}", found.periods);
        assert_eq!(found.noise_ns.max(), WINDOW_NS);
    }

    #[test]
    fn nothing_measured_is_no_noise() {
        assert_eq!(FixedTime::of(&[]).lost_percent, 0.0);
        assert_eq!(FixedWork::of(&[]).lost_percent, 0.0);
        assert_eq!(FixedTime::of(&[0; 10]).lost_percent, 0.0);
    }

    #[test]
    fn measurements_are_of_the_size_that_was_asked_for() {
        let found = FixedWork::measure(Duration::from_millis(100));
        assert!((WORK_NS / 3.0..WORK_NS * 3.0).contains(&found.quantum_ns), "{}", found.quantum_ns);
        let found = FixedTime::measure(Duration::from_millis(100));
        assert_eq!(found.count, 100);
        assert!(found.units_max > 100, "{}", found.units_max);
    }
}
