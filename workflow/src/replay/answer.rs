//! What replays of a run tell.

use falloff_messages::waits::Efficiencies;
use falloff_messages::{Delays, Effect, Network, Outcome, Run};

use super::{Origin, PathDelay};

/// What replays of a run tell. Times are in nanoseconds from each rank's first call.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The network that the run was taken to have had.
    pub network: Network,
    /// Where that is from.
    pub origin: Origin,
    /// What became of matching.
    pub outcome: Outcome,
    /// By rank: how long it took, as measured.
    pub measured: Vec<u64>,
    /// The run as it was, replayed.
    pub base: Run,
    /// By rank: by how much that ends later than measured.
    pub residuals: Vec<i64>,
    /// What the delays of the disturbed case come to where nothing absorbs them: its effect is not above that. `None`
    /// of detours.
    pub delays_only: Option<u64>,
    /// What else was asked.
    pub cases: Vec<Case>,
}

/// A run under other circumstances.
#[derive(Clone, Debug)]
pub struct Case {
    /// Which, in words.
    pub name: String,
    /// What became of it.
    pub run: Run,
    /// Against the base.
    pub effect: Effect,
    /// Where it falls behind the base, by location and call path.
    pub delays: Delays,
    /// The same by call path alone.
    pub paths: Vec<PathDelay>,
}

impl Case {
    /// The name of the case of a network that costs nothing.
    pub(super) const IDEAL: &str = "ideal network";

    /// The name of the case with more noise.
    pub(super) const DISTURBED: &str = "disturbed";

    pub(super) fn of(name: String, base: &Run, run: Run, delays: Delays) -> Case {
        Case { name, effect: Effect::of(base, &run), run, paths: PathDelay::of(&delays), delays }
    }
}

impl Answer {
    /// The factors of the efficiency of the run as measured, if the ideal network was asked for.
    pub fn efficiencies(&self) -> Option<Efficiencies> {
        let time = self.measured.iter().copied().max()?;
        let ideal = self.cases.iter().find(|case| case.name == Case::IDEAL)?;
        Efficiencies::new(&ideal.run.computed, time, Some(ideal.run.end()))
    }

    /// The case with more noise, if it was asked for.
    pub fn disturbed(&self) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == Case::DISTURBED)
    }

    /// By how much the last rank ends later in the replay than it was measured to, as a fraction of that; negative for earlier.
    pub fn error(&self) -> f64 {
        let measured = self.measured.iter().copied().max().unwrap_or(0);
        (self.base.end() as f64 - measured as f64) / measured.max(1) as f64
    }

    /// The largest residual of a rank against its measured time, as a fraction without sign.
    pub fn largest_residual(&self) -> f64 {
        let relative =
            |(&residual, &measured): (&i64, &u64)| residual.unsigned_abs() as f64 / (measured.max(1) as f64);
        self.residuals.iter().zip(&self.measured).map(relative).fold(0.0, f64::max)
    }
}
