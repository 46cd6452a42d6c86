//! How sure a difference of two repeated measurements is.

use std::sync::LazyLock;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Two-sided 95 % quantile of the normal distribution.
const NORMAL_95: f64 = 1.959_963_985;

/// Mean and variance of one context's work over the repetitions of one scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// Mean work, seconds.
    pub mean: f64,
    /// Variance of one repetition, seconds squared: that seen between repetitions, and never less than what
    /// sampling alone brings.
    pub variance: f64,
    /// Number of repetitions.
    pub count: usize,
}

impl Repeated {
    /// From the work of each repetition, the mean time between samples and the mean work of the whole run, all in
    /// seconds.
    ///
    /// v = max(s², τ·W·(1 − W/A)). The whole run's CPU time A is read from a clock and is exact; samples only
    /// share it out. So the number of samples that fall into W is binomial, with that variance once each counts
    /// for τ. It is that of a Poisson count for a small part and nothing for the whole.
    ///
    /// ```
    /// use falloff_workflow::scoring::Repeated;
    /// let half = Repeated::new(&[2.0, 2.0, 2.0], 0.005, 4.0);
    /// assert_eq!(half.variance, 0.005 * 2.0 * 0.5);
    /// ```
    pub fn new(values: &[f64], period: f64, whole: f64) -> Repeated {
        let sum: f64 = values.iter().sum();
        Repeated::of_parts(values, period, sum / values.len().max(1) as f64, whole)
    }

    /// As [`Repeated::new`], for values Σ ρ·W over parts with factors ρ of their own, of which `squared` is Σ ρ²·W, seconds.
    ///
    /// Samples fall into the parts as in a multinomial draw: v = max(s², τ·(Σ ρ²·W − (Σ ρ·W)²/A)).
    pub fn of_parts(values: &[f64], period: f64, squared: f64, whole: f64) -> Repeated {
        let count = values.len();
        let mean = if count == 0 { 0.0 } else { values.iter().sum::<f64>() / count as f64 };
        let seen = match count {
            0 | 1 => 0.0,
            _ => values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1) as f64,
        };
        let drawn = if whole > 0.0 { (squared.abs() - mean * mean / whole).max(0.0) } else { 0.0 };
        Repeated { mean, variance: seen.max(period * drawn), count }
    }

    fn error_squared(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.variance / self.count as f64 }
    }
}

/// How unsure a difference `at.mean − rho · base.mean` is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uncertainty {
    /// Standard error, in the unit of the means.
    pub error: f64,
    /// Degrees of freedom of Student's t; infinite where the variances are known.
    pub freedom: f64,
}

impl Uncertainty {
    /// That of something compared with itself.
    pub const NONE: Uncertainty = Uncertainty { error: 0.0, freedom: f64::INFINITY };

    /// SE² = v_q/m_q + ρ²·v_p/m_p with Welch's degrees of freedom. A side that ran once adds only the sampling error, as
    /// known variance; the report then says `n=1`.
    ///
    /// Three repetitions each with standard deviations 0.1 and 0.2 give SE² = 0.01/3 + 0.04/3 and 2.94 degrees
    /// of freedom (t = 3.22):
    ///
    /// ```
    /// use falloff_workflow::scoring::{Repeated, Uncertainty};
    /// let base = Repeated { mean: 10.0, variance: 0.01, count: 3 };
    /// let at = Repeated { mean: 12.0, variance: 0.04, count: 3 };
    /// let unsure = Uncertainty::of(&base, &at, 1.0);
    /// assert!((unsure.half_width() - 0.4153).abs() < 1e-3);
    /// assert!((unsure.p_value(2.0) - 0.00071).abs() < 2e-4);
    /// ```
    pub fn of(base: &Repeated, at: &Repeated, rho: f64) -> Uncertainty {
        let parts = [(at.error_squared(), at.count), (rho * rho * base.error_squared(), base.count)];
        let squared: f64 = parts.iter().map(|(e, _)| e).sum();
        let spread: f64 = parts.iter().filter(|(_, m)| *m > 1).map(|(e, m)| e * e / (m - 1) as f64).sum();
        let freedom = if spread > 0.0 { squared * squared / spread } else { f64::INFINITY };
        Uncertainty { error: squared.max(0.0).sqrt(), freedom }
    }

    /// Half width of the 95 % interval.
    pub fn half_width(&self) -> f64 {
        if self.error > 0.0 { t_95(self.freedom) * self.error } else { 0.0 }
    }

    /// How often a difference of this size or larger would be seen if there were none: two-sided.
    pub fn p_value(&self, difference: f64) -> f64 {
        let size = difference.abs();
        match StudentsT::new(0.0, 1.0, self.freedom.min(FREEDOM_MAX)) {
            _ if size == 0.0 => 1.0,
            _ if self.error <= 0.0 => 0.0,
            Ok(t) => 2.0 * t.cdf(-size / self.error),
            Err(_) => 1.0,
        }
    }
}

/// From here on Student's t is the normal distribution.
const FREEDOM_MAX: f64 = 1e6;

/// Two-sided 95 % quantile of Student's t, by a table over 1/freedom in which it is smooth: there is one for each row of a view.
/// Right to 1e-4 from one degree of freedom on.
fn t_95(freedom: f64) -> f64 {
    static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let exact = |step: u32| match StudentsT::new(0.0, 1.0, f64::from(T_STEPS) / f64::from(step)) {
            Ok(t) if step > 0 => t.inverse_cdf(0.975),
            _ => NORMAL_95,
        };
        (0..=T_STEPS + 1).map(exact).collect()
    });
    let place = f64::from(T_STEPS) * (1.0 / freedom).clamp(0.0, 1.0);
    let (step, rest) = (place as usize, place.fract());
    TABLE[step] + rest * (TABLE[step + 1] - TABLE[step])
}

/// Steps of the table from infinite freedom to one degree.
const T_STEPS: u32 = 1024;

/// The q-value of each p-value: the share of false findings among all that are at least as small (Benjamini and Hochberg,
/// 1995).
///
/// ```
/// use falloff_workflow::scoring::q_values;
/// let found = q_values(&[0.01, 0.04, 0.03, 0.5]);
/// let wanted = [0.04, 0.16 / 3.0, 0.16 / 3.0, 0.5];
/// assert!(found.iter().zip(wanted).all(|(f, w)| (f - w).abs() < 1e-12));
/// ```
pub fn q_values(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut found = vec![1.0; p_values.len()];
    let mut least = 1.0f64;
    for (rank, index) in order.iter().enumerate().rev() {
        least = least.min(p_values[*index] * p_values.len() as f64 / (rank + 1) as f64);
        found[*index] = least;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_tables() {
        for (freedom, wanted) in [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (10.0, 2.228), (30.0, 2.042)] {
            assert!((t_95(freedom) - wanted).abs() < 1e-3, "{freedom}: {}", t_95(freedom));
        }
        for freedom in [1.0, 1.0009, 1.37, 2.94, 4.6, 17.3, 260.0] {
            let exact = StudentsT::new(0.0, 1.0, freedom).unwrap().inverse_cdf(0.975);
            assert!((t_95(freedom) - exact).abs() < 1e-4, "{freedom}: {} {exact}", t_95(freedom));
        }
        assert_eq!(t_95(f64::INFINITY), NORMAL_95);
    }

    #[test]
    fn parts_with_factors_of_their_own_are_drawn_together() {
        // Of 4 s, 1 s with factor 1 and 2 s with factor 3: 0.01 · (1 + 18 − 49/4)
        let both = Repeated::of_parts(&[7.0], 0.01, 19.0, 4.0);
        assert!((both.variance - 0.0675).abs() < 1e-12);
        // The same factor for all is that of the sum.
        let (sum, alike) = (Repeated::new(&[3.0], 0.01, 4.0), Repeated::of_parts(&[6.0], 0.01, 12.0, 4.0));
        assert!((alike.variance - 4.0 * sum.variance).abs() < 1e-12);
    }

    #[test]
    fn one_repetition_has_the_sampling_error_only() {
        let base = Repeated::new(&[1.0], 0.01, 2.0);
        let at = Repeated::new(&[4.0], 0.01, 8.0);
        assert!((Uncertainty::of(&base, &at, 1.0).half_width() - NORMAL_95 * (0.025f64).sqrt()).abs() < 1e-9);
        assert_eq!(Repeated::new(&[4.0], 0.01, 4.0).variance, 0.0);
    }

    #[test]
    fn nothing_has_no_width() {
        let none = Repeated::new(&[], 0.01, 1.0);
        assert_eq!(Uncertainty::of(&none, &none, 1.0).half_width(), 0.0);
    }

    /// Of intervals from three noisy repetitions, 93 to 98 % should hold the truth.
    #[test]
    fn coverage_is_what_it_says() {
        let mut state = 12345u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
        };
        let mut normal = || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let (base, at, cv, trials) = (10.0, 14.0, 0.03, 4000);
        let mut draw = |mean: f64| -> Vec<f64> { (0..3).map(|_| mean * (1.0 + cv * normal())).collect() };
        let held = (0..trials)
            .filter(|_| {
                let (p, q) = (Repeated::new(&draw(base), 0.005, 20.0), Repeated::new(&draw(at), 0.005, 30.0));
                ((q.mean - p.mean) - (at - base)).abs() <= Uncertainty::of(&p, &q, 1.0).half_width()
            })
            .count();
        let share = held as f64 / f64::from(trials);
        // 98 % has a standard error of 0.22 points over these trials.
        assert!((0.93..=0.98 + 2.0 * 0.0022).contains(&share), "{share}");
    }
}
