//! All that is said of causes: the partition of the excess, what it looks like, and the efficiencies of every scale.

use std::collections::BTreeMap;

use super::accounts::{Accounts, Charge, Sides};
use super::diagnosis::Diagnosis;
use super::disturbance::{Disturbance, disturbances};
use super::efficiency::{Counters, Efficiencies, Useful, efficiencies};
use super::ledger::Ledger;
use super::partition::{CauseLoss, cells, partition};
use super::replicated::replicated;
use super::rules::{Case, diagnoses};
use super::spread::Spread;
use super::subtree::{Subtree, mean_useful, subtrees};
use super::waits::Waiting;
use super::waterfall::{Step, waterfall};
use crate::scoring::Comparison;

/// Smallest share of the run, as a fraction, for which the waiting of a collective call path is told.
const WORTH_TELLING: f64 = 0.001;

/// Why a sweep loses what it loses.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// To which call paths waiting for the last is charged.
    pub charge: Charge,
    /// The excess of the whole run by cause, largest first. The parts sum to it.
    pub causes: Vec<CauseLoss>,
    /// What the parts look like, by what they cost.
    pub diagnoses: Vec<Diagnosis>,
    /// Numbers of the ranks, or threads, that take part at the compared scale.
    pub numbers: Vec<u32>,
    /// Waiting in every collective call path at the compared scale, most time first.
    pub waiting: Vec<Waiting>,
    /// Efficiencies of every scale against the base, smallest scale first.
    pub efficiencies: Vec<ScaleEfficiency>,
    /// Parallel efficiency at the base: `1 − X = parallel_q · computational / parallel_p`.
    pub parallel_base: f64,
    /// From perfect scaling to the work efficiency.
    pub waterfall: Vec<Step>,
    /// Efficiencies of call paths.
    pub subtrees: Vec<Subtree>,
    /// Events that tell of disturbances, where they were counted.
    pub disturbances: Vec<Disturbance>,
}

/// Efficiencies of one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaleEfficiency {
    /// Processor count.
    pub scale: u32,
    /// Against the base.
    pub efficiencies: Efficiencies,
}

impl Analysis {
    /// Looks into the runs of a comparison. `transfer` has for each scale, if that is known, how much of their time its runs would have
    /// taken on a network that costs nothing. `None` if a scale did nothing.
    pub fn new(
        accounts: &Accounts,
        comparison: &Comparison,
        transfer: &BTreeMap<u32, f64>,
    ) -> Option<Analysis> {
        let tree = accounts.tree;
        let sides = Sides { base: accounts.of(comparison.base.scale), at: accounts.of(comparison.at.scale) };
        let base = mean(&sides.base);
        let efficiencies_of = |scale: u32| {
            let rho = comparison.scaling.rho(comparison.base.scale, scale);
            Some(ScaleEfficiency {
                scale,
                efficiencies: efficiencies(&base, &mean(&accounts.of(scale)), rho)?
                    .split(transfer.get(&scale).copied()),
            })
        };
        let scales = accounts.scales().into_iter().map(efficiencies_of).collect::<Option<Vec<_>>>()?;
        let at_scale = |scale: u32| scales.iter().find(|e| e.scale == scale).map(|e| &e.efficiencies);
        let again = replicated(tree, comparison, &sides);
        let placed = cells(accounts, comparison, &again, Charge::Place);
        let causes = match accounts.charge {
            Charge::Place => partition(&placed, comparison),
            charge => partition(&cells(accounts, comparison, &again, charge), comparison),
        };
        let case = Case::new(accounts, comparison, &sides, &placed)?;
        Some(Analysis {
            charge: accounts.charge,
            causes,
            diagnoses: diagnoses(&case),
            numbers: case.participants.iter().map(|participant| participant.number).collect(),
            waiting: waiting(accounts, comparison, &sides),
            parallel_base: base.useful.iter().sum::<f64>() / base.whole,
            waterfall: waterfall(at_scale(comparison.base.scale)?, at_scale(comparison.at.scale)?),
            subtrees: subtrees(tree, comparison, &sides),
            disturbances: disturbances(accounts, comparison),
            efficiencies: scales,
        })
    }

    /// Efficiencies at a scale.
    pub fn at(&self, scale: u32) -> Option<&Efficiencies> {
        self.efficiencies.iter().find(|e| e.scale == scale).map(|e| &e.efficiencies)
    }
}

/// Waiting in collective call paths.
fn waiting(accounts: &Accounts, comparison: &Comparison, sides: &Sides) -> Vec<Waiting> {
    let operations = Spread::mean(&sides.at.iter().map(|ledger| &ledger.operations).collect::<Vec<_>>());
    let meetings = operations.places().filter(|place| accounts.classified.activity(*place).is_meeting());
    let mut found: Vec<Waiting> = meetings.map(|meeting| Waiting::of(meeting, &operations)).collect();
    found.retain(|waiting| waiting.high >= WORTH_TELLING * comparison.whole_at);
    found.sort_by(|a, b| b.high.total_cmp(&a.high).then(a.place.cmp(&b.place)));
    found
}

/// The mean run.
fn mean(ledgers: &[&Ledger]) -> Useful {
    let count = ledgers.len().max(1) as f64;
    let counters = ledgers.iter().map(|l| l.useful.counters).reduce(|a, b| {
        let (a, b) = (a?, b?);
        Some(Counters { instructions: a.instructions + b.instructions, cycles: a.cycles + b.cycles })
    });
    Useful {
        useful: mean_useful(ledgers.iter().map(|l| l.useful.useful.clone())),
        whole: ledgers.iter().map(|l| l.useful.whole).sum::<f64>() / count,
        counters: counters
            .flatten()
            .map(|c| Counters { instructions: c.instructions / count, cycles: c.cycles / count }),
    }
}
