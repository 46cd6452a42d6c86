//! The runs of a sweep, each with what it spent on what.

use falloff_postprocess::Tree;
use rayon::prelude::*;

use super::charge::Charges;
use super::classify::Classified;
use super::costs::{Participant, RunCosts};
use super::frames::Frames;
use super::ledger::Ledger;
use super::region::charge_meeting;
use super::waits::Waiting;
use crate::scoring::Columns;

/// Smallest part of a run's cost, as a fraction, from which waiting in one operation is charged to anybody.
const WORTH_CHARGING: f64 = 0.001;

/// To which call paths waiting for the last in collective operations counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charge {
    /// Where it is waited.
    #[default]
    Place,
    /// Where those who come last have more work than the others.
    Cause,
}

/// What all runs of a sweep spent, by what it was spent on.
pub struct Accounts<'a> {
    pub(super) tree: &'a Tree,
    pub(super) classified: Classified,
    pub(super) charge: Charge,
    /// Smallest scale first, and in order of repetitions.
    pub(super) runs: Vec<Account>,
}

/// One run.
pub(super) struct Account {
    pub scale: u32,
    pub participants: Vec<Participant>,
    pub ranked: bool,
    pub ledger: Ledger,
    pub events: Vec<(&'static str, Vec<(u32, f64)>)>,
    /// For each meeting, the work that its waiting is charged to; empty unless it is charged to causes.
    pub charges: Vec<(u32, Charges)>,
}

/// The runs of the two scales, in the order of the comparison's columns.
pub(super) struct Sides<'a> {
    pub base: Vec<&'a Ledger>,
    pub at: Vec<&'a Ledger>,
}

impl<'a> Accounts<'a> {
    /// Looks into the costs of the runs, which are over the contexts of `tree` and sampled once in `period` seconds.
    pub fn new(tree: &'a Tree, costs: Vec<RunCosts>, charge: Charge, period: f64) -> Accounts<'a> {
        let classified = Classified::new(tree, &Frames::known());
        let mut costs = costs;
        costs.sort_by_key(|run| (run.scale, run.repetition));
        let account = |costs: RunCosts| {
            let ledger = Ledger::new(&costs, tree, &classified);
            let charges = match charge {
                Charge::Place => Vec::new(),
                Charge::Cause => charges(&ledger, tree, &classified, period),
            };
            Account {
                scale: costs.scale,
                participants: costs.participants,
                ranked: costs.ranked,
                ledger,
                events: costs.events.into_iter().collect(),
                charges,
            }
        };
        let runs = costs.into_par_iter().map(account).collect();
        Accounts { tree, classified, charge, runs }
    }

    /// Moves what is waited for the last from the operations to the work that makes them late, in the columns of cost. The
    /// sum of each column stays the same.
    pub fn charge(&self, columns: &mut Columns) {
        let of_runs: Vec<usize> = columns.scales.iter().flat_map(|scale| scale.cost.clone()).collect();
        for (run, column) in self.runs.iter().zip(of_runs) {
            let values = &mut columns.values[column];
            for (meeting, charges) in &run.charges {
                for (task, seconds) in &charges.places {
                    let own = |context: u32| self.classified.operation(context) == Some(*meeting);
                    self.spread(values, &run.ledger, *meeting, own, -seconds);
                    let own = |context: u32| {
                        self.classified.operation(context).is_none()
                            && self.classified.frame(context) == *task
                    };
                    self.spread(values, &run.ledger, *task, own, *seconds);
                }
            }
        }
    }

    /// Adds seconds to the contexts at or below a place, in proportion to the own cost of those that are meant; to the place
    /// itself if they have none.
    fn spread(
        &self,
        values: &mut [f64],
        ledger: &Ledger,
        place: u32,
        is_meant: impl Fn(u32) -> bool,
        seconds: f64,
    ) {
        let meant = || (place..self.tree.end(place)).filter(|context| is_meant(*context));
        let sum: f64 = meant().map(|context| ledger.own[context as usize]).sum();
        if sum > 0.0 {
            for context in meant() {
                values[context as usize] += seconds * ledger.own[context as usize] / sum;
            }
        } else {
            values[place as usize] += seconds;
        }
    }

    /// The runs of a scale.
    pub(super) fn of(&self, scale: u32) -> Vec<&Ledger> {
        self.accounts_of(scale).map(|run| &run.ledger).collect()
    }

    /// The runs of a scale with who takes part.
    pub(super) fn accounts_of(&self, scale: u32) -> impl Iterator<Item = &Account> {
        self.runs.iter().filter(move |run| run.scale == scale)
    }

    /// Scales, smallest first.
    pub(super) fn scales(&self) -> Vec<u32> {
        let mut scales: Vec<u32> = self.runs.iter().map(|run| run.scale).collect();
        scales.dedup();
        scales
    }
}

/// What the waiting in each meeting of a run is charged to.
fn charges(ledger: &Ledger, tree: &Tree, classified: &Classified, period: f64) -> Vec<(u32, Charges)> {
    classified
        .operations()
        .filter(|operation| classified.activity(*operation).is_meeting())
        .map(|meeting| Waiting::of(meeting, &ledger.operations))
        .filter(|waiting| waiting.low() >= WORTH_CHARGING * ledger.useful.whole)
        .map(|waiting| (waiting.place, charge_meeting(&waiting, ledger, tree, classified, period)))
        .collect()
}
