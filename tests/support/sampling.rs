//! How far a measured share may be from the true one by sampling alone.

/// A share may differ by so many standard errors before it counts as wrong: by chance that happens to a correct
/// profile in 6 of 100,000 checks.
const SURE: f64 = 4.0;

/// The samples behind a measured share.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Samples in all.
    pub samples: u64,
    /// Times that the program enters the function and leaves it again.
    pub stretches: u32,
}

impl Sampling {
    /// Standard error of a measured share whose true value is `share`.
    ///
    /// Samples come at regular intervals of CPU time and each stands for the interval before it. So only the ends of
    /// a stretch are uncertain, each by an error that is uniform over one interval (variance 1/12). Stretches shorter
    /// than an interval are met by chance: then the samples are independent draws.
    pub fn error(self, share: f64) -> f64 {
        let samples = self.samples.max(1) as f64;
        let ends = (2.0 * f64::from(self.stretches) / 12.0).sqrt() / samples;
        // A share of nearly nothing or nearly all still rests on whole samples.
        let least = (1.0 / samples).min(0.5);
        let share = share.clamp(least, 1.0 - least);
        let draws = (share * (1.0 - share) / samples).sqrt();
        ends.min(draws)
    }

    /// Whether a tolerance leaves room for chance.
    pub fn decides(self, share: f64, tolerance: f64) -> bool {
        SURE * self.error(share) < tolerance
    }
}

#[test]
fn errors_of_shares() {
    assert!(Sampling { samples: 1, stretches: 9 }.error(0.9).is_finite());
    let long = Sampling { samples: 200, stretches: 1 };
    assert!((long.error(0.5) - 0.00204).abs() < 1e-5);
    let fine = Sampling { samples: 220, stretches: 1000 };
    assert!((fine.error(0.7) - 0.0309).abs() < 1e-4);
    assert!(!fine.decides(0.7, 0.05) && Sampling { samples: 2200, ..fine }.decides(0.7, 0.05));
}
