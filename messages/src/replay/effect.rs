//! What a change of circumstances does to a run.

use super::Run;

/// What a change of circumstances does to a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// By rank: by how many nanoseconds it ends later; negative for earlier.
    pub ranks: Vec<i64>,
    /// By how many nanoseconds the last rank ends later.
    pub whole: i64,
    /// Nanoseconds of noise that the rank with most of it got.
    pub noise: u64,
}

impl Effect {
    /// Of a changed run against a base.
    pub fn of(base: &Run, changed: &Run) -> Effect {
        let later = |(base, changed): (&u64, &u64)| *changed as i64 - *base as i64;
        Effect {
            ranks: base.finish.iter().zip(&changed.finish).map(later).collect(),
            whole: changed.end() as i64 - base.end() as i64,
            noise: changed.noise.iter().copied().max().unwrap_or(0),
        }
    }

    /// How much of the noise reaches the end: the delay of the last rank for each nanosecond of the rank with most noise. Below 1 slack
    /// absorbs noise; above 1 the noise of different ranks adds up. `None` without noise.
    ///
    /// ```
    /// use falloff_messages::{Effect, Run};
    /// let base = Run { finish: vec![100, 90], computed: vec![80, 80], noise: vec![0, 0] };
    /// let noisy = Run { finish: vec![115, 100], computed: vec![80, 90], noise: vec![0, 10] };
    /// assert_eq!(Effect::of(&base, &noisy).amplification(), Some(1.5));
    /// ```
    pub fn amplification(&self) -> Option<f64> {
        (self.noise > 0).then(|| self.whole as f64 / self.noise as f64)
    }

    /// Which share of the noise does not reach the end: 0 where all of it does, or more than that. `None` without noise.
    ///
    /// ```
    /// # use falloff_messages::{Effect, Run};
    /// let effect = Effect { ranks: vec![3, 1], whole: 3, noise: 12 };
    /// assert_eq!(effect.absorbed(), Some(0.75));
    /// ```
    pub fn absorbed(&self) -> Option<f64> {
        self.amplification().map(|reaching| (1.0 - reaching).max(0.0))
    }
}

impl Run {
    /// When the last rank is through, in nanoseconds.
    pub fn end(&self) -> u64 {
        self.finish.iter().copied().max().unwrap_or(0)
    }
}
