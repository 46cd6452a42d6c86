//! What was measured of the demonstration beside what was planted.

use super::planted::{Part, total_excess, total_work};
use crate::scoring::{Score, ScoredView};

/// Largest difference of a measured from a planted excess that passes: 3 percentage points.
pub const TOLERANCE: f64 = 0.03;
/// Largest difference of the sum of all parts from the whole, as a fraction: rounding only.
pub const ROUNDING: f64 = 1e-9;

/// A number in closed form and as measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// In closed form.
    pub planted: f64,
    /// Measured; `None` if the function is not in the profile.
    pub measured: Option<f64>,
}

/// One part, planted and measured. Shares and excess are fractions of the run at the scale of the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What was planted.
    pub name: &'static str,
    /// The function that was to be found; none for the whole program.
    pub function: Option<&'static str>,
    /// Its share of the work.
    pub share: Pair,
    /// Its excess work.
    pub excess: Pair,
    /// Half width of the excess's 95 % interval.
    pub half_width: f64,
    /// Largest over mean work of the ranks, where there is any work.
    pub max_over_mean: Option<Pair>,
}

impl Pair {
    fn agrees(&self) -> bool {
        self.measured.is_some_and(|m| (m - self.planted).abs() <= TOLERANCE)
    }
}

impl Check {
    /// Whether planted and measured share and excess agree.
    pub fn passes(&self) -> bool {
        self.share.agrees() && self.excess.agrees()
    }
}

/// The demonstration judged at one process count.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Process count, compared with one process.
    pub scale: u32,
    /// The parts, then the whole.
    pub checks: Vec<Check>,
    /// Largest difference, over the three views, of the sum of all exclusive excess from the root's, as a
    /// fraction of the run.
    pub parts_error: f64,
}

impl Verdict {
    /// Compares a score of the demonstration, whose base is one process, with the closed form.
    pub fn new(score: &Score) -> Verdict {
        let size = u64::from(score.at);
        let total = score.total();
        let mut checks: Vec<Check> = Part::ALL.iter().map(|part| check(score, *part, size)).collect();
        checks.push(Check {
            name: "the whole program",
            function: None,
            share: Pair { planted: 1.0, measured: Some(1.0) },
            excess: Pair { planted: total_excess(size), measured: Some(total.excess) },
            half_width: total.half_width,
            max_over_mean: None,
        });
        let sum = |view: &ScoredView| view.parts().map(|r| r.exclusive.excess).sum::<f64>();
        let parts_error = score.views().map(|view| (sum(view) - total.excess).abs()).fold(0.0, f64::max);
        Verdict { scale: score.at, checks, parts_error }
    }

    /// Whether every part is within [`TOLERANCE`] and the parts sum to the whole.
    pub fn passes(&self) -> bool {
        self.parts_error <= ROUNDING && self.checks.iter().all(Check::passes)
    }
}

fn check(score: &Score, part: Part, size: u64) -> Check {
    let suffix = format!("::{}", part.function());
    let row = score.flat.rows.iter().find(|r| r.is_function() && r.name.ends_with(&suffix));
    // A part that does no work at both process counts leaves no trace: it has nothing of either.
    let nothing = (part.work(1) == 0 && part.work(size) == 0).then_some(0.0);
    let run = score.total().work_at;
    Check {
        name: part.description(),
        function: Some(part.function()),
        share: Pair {
            planted: part.work(size) as f64 / total_work(size) as f64,
            measured: row.map(|r| r.inclusive.work_at / run).or(nothing),
        },
        excess: Pair { planted: part.excess(size), measured: row.map(|r| r.inclusive.excess).or(nothing) },
        half_width: row.map_or(0.0, |r| r.inclusive.half_width),
        max_over_mean: part
            .max_over_mean(size)
            .map(|planted| Pair { planted, measured: row.and_then(|r| r.max_over_mean) }),
    }
}
