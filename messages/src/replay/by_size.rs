//! What messages of different sizes took.

use super::histogram::Histogram;
use std::collections::BTreeMap;

use super::network::stall_beyond;

/// Times that make a size known.
const ENOUGH: u64 = 10;
/// On one host no message takes as long as this and [`SLOWEST_BYTE`] for each byte, nanoseconds.
const SLOWEST: u64 = 100_000;
/// Half a gigabyte a second.
const SLOWEST_BYTE: u64 = 2;
/// A share of the times that nothing but the network made as long as they are, for sure.
const UNDISTURBED: f64 = 0.1;

/// How times are spread, apart for each factor of two of the bytes that were moved.
#[derive(Clone, Debug, Default)]
pub(super) struct BySize(BTreeMap<u32, OfSize>);

#[derive(Clone, Debug, Default)]
struct OfSize {
    times: Histogram,
    /// Bytes but the first of all that were counted.
    more: u64,
}

/// A line through the usual times: `start` for the first byte, and `slope` more for each other, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub start: f64,
    /// `None` where all are of one size.
    pub slope: Option<f64>,
}

/// What messages of like size usually take.
struct Point {
    more: f64,
    time: f64,
    weight: f64,
}

impl BySize {
    /// A time that is too long for any message on one host is none of the network.
    pub fn add(&mut self, bytes: u64, time: u64) {
        if time > bytes.saturating_mul(SLOWEST_BYTE).saturating_add(SLOWEST) {
            return;
        }
        let of = self.0.entry(octave(bytes)).or_default();
        of.times.add(time);
        of.more = of.more.saturating_add(bytes.saturating_sub(1));
    }

    /// How many times.
    pub fn count(&self) -> u64 {
        self.0.values().map(|of| of.times.count()).sum()
    }

    /// What the shortest messages of which there are enough usually take.
    pub fn shortest(&self) -> Option<f64> {
        self.points().next().map(|point| point.time)
    }

    /// The line that fits the usual times best, each in proportion to itself, and starts at `least` or above. `None` without enough times.
    pub fn line(&self, least: f64) -> Option<Line> {
        let points: Vec<Point> = self.points().collect();
        let sum = |of: &dyn Fn(&Point) -> f64| points.iter().map(|p| p.weight * of(p)).sum::<f64>();
        let all = sum(&|_| 1.0);
        let first = points.first()?;
        let (more, time) = (sum(&|p| p.more) / all, sum(&|p| p.time) / all);
        if points.iter().all(|p| p.more == first.more) {
            return Some(Line { start: time, slope: None });
        }
        let spread = sum(&|p| (p.more - more).powi(2));
        let slope = sum(&|p| (p.more - more) * (p.time - time)) / spread;
        let line = match time - slope * more {
            _ if slope <= 0.0 => Line { start: time.max(least), slope: Some(0.0) },
            start if start >= least => Line { start, slope: Some(slope) },
            // Beyond a start that is given, the best slope of all.
            _ => {
                let slope = sum(&|p| p.more * (p.time - least)) / sum(&|p| p.more * p.more);
                Line { start: least, slope: Some(slope.max(0.0)) }
            }
        };
        Some(line)
    }

    /// Sizes of which there are enough; all of them, if there are few of any. What they usually take is the mean of what is not so far
    /// above the least tenth that something else must be why.
    fn points(&self) -> impl Iterator<Item = Point> {
        let wanted = self.0.values().map(|of| of.times.count()).max().unwrap_or(0).min(ENOUGH);
        self.0.values().filter(move |of| of.times.count() >= wanted).filter_map(|of| {
            let least = of.times.quantile(UNDISTURBED)?;
            let (count, time) = (of.times.count() as f64, of.times.mean_up_to(least + stall_beyond(least))?);
            Some(Point { more: of.more as f64 / count, time, weight: count / (time * time).max(1.0) })
        })
    }
}

/// 0 for nothing, else one more than the binary logarithm.
pub(super) fn octave(bytes: u64) -> u32 {
    u64::BITS - bytes.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of these sizes, each of which takes `start` and `slope` a byte, and some of which take far longer.
    fn planted(sizes: &[u64], start: f64, slope: f64) -> BySize {
        let mut all = BySize::default();
        for n in 0..200 {
            for &bytes in sizes {
                let time = start + slope * bytes.saturating_sub(1) as f64;
                all.add(
                    bytes,
                    (time * if n % 7 == 0 { 500.0 } else { 1.0 + 0.001 * f64::from(n % 5) }) as u64,
                );
            }
        }
        all
    }

    fn is_near(found: f64, wanted: f64) -> bool {
        (found / wanted - 1.0).abs() < 0.03
    }

    #[test]
    fn a_line_is_found_whatever_some_took() {
        let line = planted(&[8, 1024, 65_536, 1 << 20], 900.0, 0.12).line(0.0).unwrap();
        assert!(is_near(line.start, 900.0) && is_near(line.slope.unwrap(), 0.12), "{line:?}");
        assert!(is_near(planted(&[8, 1024], 900.0, 0.12).shortest().unwrap(), 900.0));
    }

    #[test]
    fn a_line_starts_where_it_must_and_does_not_fall() {
        let line = planted(&[1, 1001, 100_001], 100.0, 1.0).line(300.0).unwrap();
        assert_eq!(line.start, 300.0);
        assert!((0.9..1.03).contains(&line.slope.unwrap()), "{line:?}");
        let mut falling = planted(&[1], 500.0, 0.0);
        (0..200).for_each(|_| falling.add(1000, 400));
        let line = falling.line(0.0).unwrap();
        assert!((400.0..510.0).contains(&line.start) && line.slope == Some(0.0), "{line:?}");
    }

    #[test]
    fn one_size_has_no_slope_and_few_are_better_than_none() {
        assert_eq!(planted(&[64], 700.0, 0.0).line(0.0).unwrap().slope, None);
        assert_eq!(BySize::default().line(0.0), None);
        let mut few = BySize::default();
        few.add(8, 1000);
        assert!(is_near(few.line(0.0).unwrap().start, 1000.0));
    }
}
