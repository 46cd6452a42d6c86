//! Whether more processors still make a part faster.

use crate::error::{Error, Result};
use crate::interval::student;
use crate::points::{Point, Points};

/// Changes below this part of the time are none.
const FLAT: f64 = 0.02;

/// What the last counts of a sweep say of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The last count is faster than the one before.
    Accelerating,
    /// The last counts are alike: within the noise, or within 2 %.
    Saturated,
    /// A count after the fastest is slower: from the fastest on, this part bounds the speed-up of all larger counts while it does
    /// not fall again.
    Past,
}

/// Where a time stops falling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inflexion {
    /// What the last counts say.
    pub state: State,
    /// The count with the least time; where the last counts are alike, the smallest of these.
    pub fastest: f64,
    /// Between which counts measured the least time lies; up to infinity where no count is slower.
    pub bracket: (f64, f64),
    /// Whether the noise is known, from repetitions or from sampling. If not, every change counts.
    pub noise_known: bool,
}

impl Inflexion {
    /// Of a time over processor counts.
    ///
    /// A count is slower (or faster) if the difference is larger than z standard errors, z for 95 % (Student's t, with the error
    /// pooled over the counts), by Bonferroni's rule for all counts after the fastest together.
    ///
    /// ```
    /// use falloff_models::{Inflexion, Observation, Points, State};
    /// let runs = [(1.0, 99.0), (16.0, 8.0), (32.0, 5.7), (64.0, 5.8), (128.0, 8.2)];
    /// let points = Points::new(&runs.map(|(p, t)| Observation::new(p, &[0.98 * t, t, 1.02 * t])))?;
    /// let inflexion = Inflexion::new(&points)?;
    /// assert_eq!((inflexion.state, inflexion.fastest, inflexion.bracket), (State::Past, 32.0, (16.0, 64.0)));
    /// # Ok::<(), falloff_models::Error>(())
    /// ```
    ///
    /// # Errors
    /// There are fewer than two scales.
    pub fn new(points: &Points) -> Result<Inflexion> {
        let all: Vec<&Point> = points.iter().collect();
        let last = all.len() - 1;
        if last == 0 {
            return Err(Error::TooFew { action: "see where a time stops falling", have: 1, need: 2 });
        }
        let best = (0..=last).min_by(|a, b| all[*a].mean.total_cmp(&all[*b].mean)).unwrap_or(last);
        let quantile = |looks: usize| match points.freedom() {
            0.0 => 0.0,
            freedom => student(1.0 - 0.025 / looks as f64, freedom),
        };
        let exceeds = |higher: usize, lower: usize, quantile: f64| {
            all[higher].mean - all[lower].mean > quantile * all[higher].error.hypot(all[lower].error)
        };
        let of_one = quantile(1);
        let alike = |at: usize| {
            let noise = of_one * all[at].error.hypot(all[best].error);
            all[at].mean - all[best].mean <= noise.max(FLAT * all[best].mean)
        };
        let of_later = if last > best + 1 { quantile(last - best) } else { of_one };
        let slower = (best + 1..=last).any(|later| exceeds(later, best, of_later));
        // The first of the last counts that are all alike.
        let flat_from = (0..=last).rev().take_while(|at| alike(*at)).last().unwrap_or(last);
        let (state, fastest) = if slower {
            (State::Past, best)
        } else if best == last && exceeds(last - 1, last, of_one) && flat_from == last {
            (State::Accelerating, last)
        } else {
            (State::Saturated, flat_from.min(best))
        };
        let low = all[fastest.saturating_sub(1)].scale.p;
        let high = match state {
            State::Past => all[best + 1].scale.p,
            State::Accelerating | State::Saturated => f64::INFINITY,
        };
        let noise_known = points.freedom() > 0.0;
        Ok(Inflexion { state, fastest: all[fastest].scale.p, bracket: (low, high), noise_known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Observation;

    fn of(times: &[(f64, f64)], noise: f64) -> Inflexion {
        let runs: Vec<Observation> = times
            .iter()
            .map(|(p, t)| Observation::new(*p, &[t * (1.0 - noise), *t, t * (1.0 + noise)]))
            .collect();
        Inflexion::new(&Points::new(&runs).unwrap()).unwrap()
    }

    #[test]
    fn states() {
        let falling = [(1.0, 100.0), (2.0, 51.0), (4.0, 26.0), (8.0, 14.0)];
        let found = of(&falling, 0.02);
        assert_eq!((found.state, found.fastest), (State::Accelerating, 8.0));
        assert_eq!(found.bracket, (4.0, f64::INFINITY));
        let flat = [(1.0, 100.0), (2.0, 51.0), (4.0, 40.0), (8.0, 39.8), (16.0, 40.2)];
        let found = of(&flat, 0.02);
        assert_eq!((found.state, found.fastest), (State::Saturated, 4.0));
        assert_eq!(found.bracket, (2.0, f64::INFINITY));
        let rising = [(1.0, 10.0), (2.0, 12.0), (4.0, 15.0)];
        let found = of(&rising, 0.02);
        assert_eq!((found.state, found.fastest, found.bracket), (State::Past, 1.0, (1.0, 2.0)));
    }

    /// 3 % slower is past with little noise, and nothing with much.
    #[test]
    fn noise_decides() {
        let times = [(1.0, 100.0), (2.0, 51.0), (4.0, 40.0), (8.0, 41.2)];
        assert_eq!(of(&times, 0.005).state, State::Past);
        assert_eq!(of(&times, 0.05).state, State::Saturated);
    }

    #[test]
    fn without_repetitions_every_change_counts() {
        let runs = [(1.0, 10.0), (2.0, 9.0), (4.0, 9.01)].map(|(p, t)| Observation::new(p, &[t]));
        let found = Inflexion::new(&Points::new(&runs).unwrap()).unwrap();
        assert_eq!((found.state, found.noise_known), (State::Past, false));
    }

    #[test]
    fn one_count_says_nothing() {
        let points = Points::new(&[Observation::new(4.0, &[1.0])]).unwrap();
        assert_eq!(
            Inflexion::new(&points).unwrap_err().to_string(),
            "failed to see where a time stops falling: there are 1 different scales and it needs 2"
        );
    }
}
