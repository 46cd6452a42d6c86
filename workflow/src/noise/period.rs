//! Whether a disturbance comes back after the same time again and again.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

/// Autocorrelation that a period has at least.
const STRENGTH_MIN: f64 = 0.2;
/// Standard errors above chance that a period is at least. Chance is given 100,000 lags to try.
const ERRORS_MIN: f64 = 6.0;
/// Share of the strongest return from which an earlier one is taken for the period, whose multiples return as well.
const AS_STRONG: f64 = 0.5;
/// A period comes back at least so often.
const RETURNS_MIN: usize = 4;

/// A time after which disturbances come back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Period {
    /// The time.
    pub period_ms: f64,
    /// How regular it is: the autocorrelation after this time, at most about 1.
    pub strength: f64,
    /// Whose period it is.
    pub of: String,
}

/// The period of a series in steps of it, and its strength; `None` if there is none that chance does not explain.
///
/// The autocorrelation is r(l) = Σ (x_i − x̄)(x_{i+l} − x̄) / Σ (x_i − x̄)², summed over a lag and its neighbours because nothing
/// returns to the microsecond, of which white noise has the standard error √(3/n). Of the multiples of a period the first that is
/// at least half as strong as any is taken; then the multiples sharpen it.
pub(super) fn period_of(series: &[f64]) -> Option<(f64, f64)> {
    let n = series.len();
    let lags = n / RETURNS_MIN;
    let raw = autocorrelation(series, lags + 1)?;
    let smooth: Vec<f64> =
        (0..lags).map(|l| if l == 0 { raw[0] } else { raw[l - 1] + raw[l] + raw[l + 1] }).collect();
    let least = STRENGTH_MIN.max(ERRORS_MIN * (3.0 / n as f64).sqrt());
    // A disturbance that lasts resembles itself a little later; that is no return.
    let first = 2 + smooth.iter().skip(2).position(|s| *s < least / 2.0)?;
    let strongest = smooth[first..].iter().copied().fold(0.0, f64::max);
    if strongest < least {
        return None;
    }
    let strong = least.max(AS_STRONG * strongest);
    let begin = first + smooth[first..].iter().position(|s| *s >= strong)?;
    let end = begin + smooth[begin..].iter().take_while(|s| **s >= strong).count();
    let lag = peak(&smooth, begin, end);
    Some((sharpened(&smooth, lag), smooth[lag].min(1.0)))
}

/// Where the largest of some values is.
fn peak(values: &[f64], begin: usize, end: usize) -> usize {
    (begin..end).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(begin)
}

/// A lag by its multiples: what is half a step wrong at the lag is as much wrong at 2, 4, 8 … times the lag.
fn sharpened(smooth: &[f64], lag: usize) -> f64 {
    let mut found = lag as f64;
    let mut times = 2.0;
    loop {
        let middle = (found * times).round() as usize;
        if middle + 3 > smooth.len() {
            return found;
        }
        let near = peak(smooth, middle - 2, middle + 3);
        if smooth[near] < smooth[lag] / 2.0 {
            return found;
        }
        found = near as f64 / times;
        times *= 2.0;
    }
}

/// r(0) to r(count − 1), by the transform of the series (Wiener and Khinchin); `None` of a constant or a short series.
fn autocorrelation(series: &[f64], count: usize) -> Option<Vec<f64>> {
    let n = series.len();
    if n < 4 * RETURNS_MIN {
        return None;
    }
    let mean = series.iter().sum::<f64>() / n as f64;
    // As many zeros behind it, so that its end does not meet its beginning.
    let mut points = vec![(0.0, 0.0); (2 * n).next_power_of_two()];
    points.iter_mut().zip(series).for_each(|(point, value)| point.0 = value - mean);
    transform(&mut points);
    points.iter_mut().for_each(|point| *point = (point.0 * point.0 + point.1 * point.1, 0.0));
    transform(&mut points);
    let whole = points[0].0;
    // Fewer terms make up the sum at a longer lag.
    let value = |l: usize| points[l].0 / whole * n as f64 / (n - l) as f64;
    (whole > f64::EPSILON * n as f64).then(|| (0..count).map(value).collect())
}

/// Discrete Fourier transform in place, of a power of two of points (Cooley and Tukey, 1965).
fn transform(points: &mut [(f64, f64)]) {
    let n = points.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            points.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        let turn: Vec<(f64, f64)> = (0..half)
            .map(|k| {
                let (sin, cos) = (-TAU / (2 * half) as f64 * k as f64).sin_cos();
                (cos, sin)
            })
            .collect();
        for block in points.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for ((a, b), (cos, sin)) in low.iter_mut().zip(high).zip(&turn) {
                let turned = (b.0 * cos - b.1 * sin, b.0 * sin + b.1 * cos);
                *b = (a.0 - turned.0, a.1 - turned.1);
                *a = (a.0 + turned.0, a.1 + turned.1);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between 0 and 1 without a period.
    fn scatter(i: usize) -> f64 {
        let x = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let x = (x ^ (x >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (x >> 11) as f64 / (1u64 << 53) as f64
    }

    #[test]
    fn the_transform_is_that_of_the_definition() {
        let values = [1.0, -2.0, 3.5, 0.25, 4.0, 0.0, -1.0, 2.0];
        let mut points: Vec<(f64, f64)> = values.iter().map(|v| (*v, 0.0)).collect();
        transform(&mut points);
        for (k, point) in points.iter().enumerate() {
            let angle = |i: usize| -TAU * (k * i) as f64 / 8.0;
            let real: f64 = values.iter().enumerate().map(|(i, v)| v * angle(i).cos()).sum();
            let imaginary: f64 = values.iter().enumerate().map(|(i, v)| v * angle(i).sin()).sum();
            assert!((point.0 - real).abs() < 1e-12 && (point.1 - imaginary).abs() < 1e-12, "{k}");
        }
    }

    #[test]
    fn a_planted_period_is_found_among_noise() {
        for wanted in [7.0, 40.3, 250.0] {
            let series: Vec<f64> = (0..20_000)
                .map(|i| {
                    let jitter = scatter(3 * i + 1) - 0.5;
                    let phase = (i as f64 + jitter) % wanted;
                    f64::from(u8::from(phase < 1.0)) + 0.3 * scatter(i)
                })
                .collect();
            let (found, strength) = period_of(&series).unwrap();
            assert!((found / wanted - 1.0).abs() < 0.02, "{found} for {wanted}");
            assert!(strength > 0.2, "{strength}");
        }
    }

    #[test]
    fn what_lasts_is_no_period_but_its_return_is() {
        let series: Vec<f64> = (0..3000).map(|i| f64::from(u8::from(i % 100 < 20))).collect();
        assert_eq!(period_of(&series).unwrap().0, 100.0);
    }

    #[test]
    fn chance_has_no_period() {
        for start in 0..20 {
            let series: Vec<f64> = (0..5000)
                .map(|i| f64::from(u8::from(scatter(i + 7919 * start) < 0.02)) * scatter(i + 31 * start))
                .collect();
            assert_eq!(period_of(&series), None, "{start}");
        }
        assert_eq!(period_of(&[1.0; 1000]), None);
        assert_eq!(period_of(&[]), None);
    }
}
