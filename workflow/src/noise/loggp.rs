//! The numbers by which models of communication describe a network.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::messages::Times;

/// Sizes up to which times tell of the start of a message, where all are eager: as much more takes longer for its bytes.
const SHORT_BYTES: u64 = 8192;
/// Sizes from which times tell of the bytes.
const LONG_BYTES: u64 = 32 * 1024;
/// Points that a line needs, for its error to be known.
const POINTS_MIN: usize = 3;

/// LogGPS (Alexandrov et al., SPAA 1995; Ino et al., PPoPP 2001): a message of s bytes arrives after o + L + (s − 1)·G + o; a rank
/// sends one each g; messages above S bytes need their receiver first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogGp {
    /// L.
    pub latency_ns: f64,
    /// Half width of its 95 % interval, as for the others.
    pub latency_half_width_ns: f64,
    /// o.
    pub overhead_ns: f64,
    /// g.
    pub gap_ns: f64,
    /// G of long messages.
    pub gap_per_byte_ns: f64,
    /// Half width of G.
    pub gap_per_byte_half_width_ns: f64,
    /// G of short messages, which are copied.
    pub short_gap_per_byte_ns: f64,
    /// What long messages take more at their start: the handshake with the receiver.
    pub rendezvous_ns: f64,
}

impl LogGp {
    /// Fits a line to the median times of short messages and one to those of long messages: the first begins at L + 2o, the second
    /// rises by G. `overhead_ns` is o, measured as the time that a send keeps its sender; `gap_ns` is g.
    ///
    /// Errors are taken to be in proportion to the times. `None` if a line has too few points or does not rise.
    pub(super) fn fit(
        sizes: &[Times],
        eager_limit_bytes: Option<u64>,
        overhead_ns: f64,
        gap_ns: f64,
    ) -> Option<LogGp> {
        let eager = eager_limit_bytes.unwrap_or(0);
        let line = |within: &dyn Fn(u64) -> bool| {
            let points: Vec<(f64, f64)> = sizes
                .iter()
                .filter(|times| within(times.bytes))
                .map(|times| (times.bytes.saturating_sub(1) as f64, times.one_way_ns.median()))
                .collect();
            Line::fit(&points)
        };
        let short = line(&|bytes| bytes <= SHORT_BYTES && (bytes <= eager || eager == 0))?;
        let long = line(&|bytes| bytes >= LONG_BYTES && bytes > eager.min(LONG_BYTES))?;
        if long.slope <= 0.0 {
            return None;
        }
        Some(LogGp {
            latency_ns: (short.start - 2.0 * overhead_ns).max(0.0),
            latency_half_width_ns: short.start_half_width,
            overhead_ns,
            gap_ns,
            gap_per_byte_ns: long.slope,
            gap_per_byte_half_width_ns: long.slope_half_width,
            short_gap_per_byte_ns: short.slope.max(0.0),
            rendezvous_ns: (long.start - short.start).max(0.0),
        })
    }

    /// o + L + (s − 1)·G + o of a message of s bytes by the model of its size.
    ///
    /// ```
    /// use falloff_workflow::noise::LogGp;
    /// let model = LogGp {
    ///     latency_ns: 800.0,
    ///     latency_half_width_ns: 0.0,
    ///     overhead_ns: 100.0,
    ///     gap_ns: 120.0,
    ///     gap_per_byte_ns: 0.1,
    ///     gap_per_byte_half_width_ns: 0.0,
    ///     short_gap_per_byte_ns: 0.5,
    ///     rendezvous_ns: 2000.0,
    /// };
    /// assert_eq!(model.one_way_ns(101, Some(4096)), 1050.0);
    /// assert_eq!(model.one_way_ns(1_000_001, Some(4096)), 103_000.0);
    /// ```
    pub fn one_way_ns(&self, bytes: u64, eager_limit_bytes: Option<u64>) -> f64 {
        let more = bytes.saturating_sub(1) as f64;
        let start = self.latency_ns + 2.0 * self.overhead_ns;
        if eager_limit_bytes.is_some_and(|limit| bytes <= limit) {
            start + more * self.short_gap_per_byte_ns
        } else {
            start + self.rendezvous_ns + more * self.gap_per_byte_ns
        }
    }
}

/// A straight line through points.
struct Line {
    start: f64,
    start_half_width: f64,
    slope: f64,
    slope_half_width: f64,
}

impl Line {
    /// Least squares of the relative residuals.
    fn fit(points: &[(f64, f64)]) -> Option<Line> {
        if points.len() < POINTS_MIN || points.iter().any(|(_, y)| *y <= 0.0) {
            return None;
        }
        let weight = |y: f64| 1.0 / (y * y);
        let sum =
            |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| weight(*y) * of(*x, *y)).sum::<f64>();
        let all = sum(&|_, _| 1.0);
        let (x_mean, y_mean) = (sum(&|x, _| x) / all, sum(&|_, y| y) / all);
        let spread = sum(&|x, _| (x - x_mean).powi(2));
        if spread <= 0.0 {
            return None;
        }
        let slope = sum(&|x, y| (x - x_mean) * (y - y_mean)) / spread;
        let start = y_mean - slope * x_mean;
        let freedom = (points.len() - 2) as f64;
        let variance = sum(&|x, y| (y - start - slope * x).powi(2)) / freedom;
        let t = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975);
        Some(Line {
            start,
            start_half_width: t * (variance * (1.0 / all + x_mean * x_mean / spread)).sqrt(),
            slope,
            slope_half_width: t * (variance / spread).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::quantiles::Quantiles;

    /// Times by a model, each off by up to a share.
    fn times(model: &LogGp, eager: u64, off: f64) -> Vec<Times> {
        let sizes = [0, 1, 8, 64, 256, 1024, 4096, 8192].into_iter().chain((14..23).map(|power| 1 << power));
        sizes
            .enumerate()
            .map(|(i, bytes)| {
                let exact = model.one_way_ns(bytes, Some(eager));
                let one_way = exact * (1.0 + off * if i % 2 == 0 { 1.0 } else { -1.0 });
                Times {
                    bytes,
                    one_way_ns: Quantiles::of(vec![one_way]),
                    send_overhead_ns: Quantiles::default(),
                    bandwidth_megabytes_per_second: 0.0,
                    batch_one_way_ns: Vec::new(),
                }
            })
            .collect()
    }

    const MODEL: LogGp = LogGp {
        latency_ns: 900.0,
        latency_half_width_ns: 0.0,
        overhead_ns: 150.0,
        gap_ns: 200.0,
        gap_per_byte_ns: 0.12,
        gap_per_byte_half_width_ns: 0.0,
        short_gap_per_byte_ns: 0.4,
        rendezvous_ns: 2500.0,
    };

    #[test]
    fn a_planted_model_is_found() {
        let found = LogGp::fit(&times(&MODEL, 4096, 0.0), Some(4096), 150.0, 200.0).unwrap();
        let pairs = [
            (found.latency_ns, MODEL.latency_ns),
            (found.gap_per_byte_ns, MODEL.gap_per_byte_ns),
            (found.short_gap_per_byte_ns, MODEL.short_gap_per_byte_ns),
            (found.rendezvous_ns, MODEL.rendezvous_ns),
        ];
        assert!(pairs.iter().all(|(found, wanted)| (found / wanted - 1.0).abs() < 1e-6), "{found:?}");
        let found = LogGp::fit(&times(&MODEL, 4096, 0.03), Some(4096), 150.0, 200.0).unwrap();
        assert!((found.latency_ns - 900.0).abs() < found.latency_half_width_ns, "{found:?}");
        assert!((found.gap_per_byte_ns - 0.12).abs() < found.gap_per_byte_half_width_ns, "{found:?}");
        assert!((found.gap_per_byte_ns / 0.12 - 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn too_few_sizes_have_no_model() {
        assert_eq!(LogGp::fit(&times(&MODEL, 4096, 0.0)[..6], Some(4096), 150.0, 200.0), None);
        assert_eq!(LogGp::fit(&[], None, 0.0, 0.0), None);
    }
}
