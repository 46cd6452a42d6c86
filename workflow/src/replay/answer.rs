//! What replays of a run tell.

use falloff_messages::waits::Efficiencies;
use falloff_messages::{Effect, Network, Outcome, Run};

/// What replays of a run tell. Times are in nanoseconds from each rank's first call.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The network that the run was taken to have had.
    pub network: Network,
    /// What became of matching.
    pub outcome: Outcome,
    /// By rank: how long it took, as measured.
    pub measured: Vec<u64>,
    /// The run as it was, replayed.
    pub base: Run,
    /// By rank: by how much that ends later than measured.
    pub residuals: Vec<i64>,
    /// What the delays of the disturbed case come to where nothing absorbs them: its effect is not above that.
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
}

impl Case {
    /// The name of the case of a network that costs nothing.
    pub(super) const IDEAL: &str = "ideal network";

    pub(super) fn of(name: String, base: &Run, run: Run) -> Case {
        Case { name, effect: Effect::of(base, &run), run }
    }
}

impl Answer {
    /// The factors of the efficiency of the run as measured, if the ideal network was asked for.
    pub fn efficiencies(&self) -> Option<Efficiencies> {
        let time = self.measured.iter().copied().max()?;
        let ideal = self.cases.iter().find(|case| case.name == Case::IDEAL)?;
        Efficiencies::new(&ideal.run.computed, time, Some(ideal.run.end()))
    }

    /// The largest residual of a rank against its measured time, as a fraction without sign.
    pub fn largest_residual(&self) -> f64 {
        let relative =
            |(&residual, &measured): (&i64, &u64)| residual.unsigned_abs() as f64 / (measured.max(1) as f64);
        self.residuals.iter().zip(&self.measured).map(relative).fold(0.0, f64::max)
    }
}
