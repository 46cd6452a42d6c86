//! All that is said of causes: the partition of the excess, and the efficiencies of every scale.

use std::collections::BTreeSet;

use falloff_postprocess::Tree;
use rayon::prelude::*;

use super::classify::Classified;
use super::efficiency::{Counters, Efficiencies, Useful, efficiencies};
use super::frames::Frames;
use super::ledger::Ledger;
use super::partition::{CauseLoss, Sides, partition};
use crate::scoring::{Comparison, Growth, Run};

/// Why a sweep loses what it loses.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The excess of the whole run by cause, largest first. The parts sum to it.
    pub causes: Vec<CauseLoss>,
    /// Efficiencies of every scale against the base, smallest scale first; of the base and the compared scale alone where call
    /// paths have expectations of their own.
    pub efficiencies: Vec<ScaleEfficiency>,
    /// Parallel efficiency at the base: `1 − X = parallel_q · computational / parallel_p`.
    pub parallel_base: f64,
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
    /// Looks into the runs of a comparison. `maps[i]` has the places of run `i`'s contexts in the tree. `None` if the metric is
    /// missing somewhere or a scale did nothing.
    pub fn new(
        runs: &[Run],
        maps: &[Vec<u32>],
        tree: &Tree,
        metric: &str,
        comparison: &Comparison,
        growth: &Growth,
    ) -> Option<Analysis> {
        let (base, at) = (comparison.base.scale, comparison.at.scale);
        let scaling = |to: u32| comparison.scaling.rho(base, to);
        // What contexts of the base are expected to become, but for the growth that the whole run is expected to have.
        let weight = |scale: u32, context: u32| match scale == base {
            true => growth.of(context, base, at) / scaling(at),
            false => 1.0,
        };
        let classified = Classified::new(tree, &Frames::known());
        let frame_of = innermost_frames(tree);
        let mut ledgers: Vec<(u32, u32, Ledger)> = runs
            .par_iter()
            .zip(maps)
            .map(|(run, map)| {
                let weight = |context| weight(run.scale, context);
                let ledger = Ledger::new(run, map, tree, &classified, &frame_of, metric, weight)?;
                Some((run.scale, run.repetition, ledger))
            })
            .collect::<Option<_>>()?;
        ledgers.sort_by_key(|(scale, repetition, _)| (*scale, *repetition));
        let of_scale = |scale: u32| -> Vec<&Ledger> {
            ledgers.iter().filter(|(s, ..)| *s == scale).map(|(.., ledger)| ledger).collect()
        };
        let sides = Sides { base: of_scale(comparison.base.scale), at: of_scale(comparison.at.scale) };
        let expected = mean(&sides.base);
        // What is expected of the base at other counts is another run where call paths have expectations of their own.
        let known = |scale: &u32| growth.of_all(base, at).is_some() || [base, at].contains(scale);
        let scales: BTreeSet<u32> = ledgers.iter().map(|(scale, ..)| *scale).filter(known).collect();
        let of = |scale: u32| {
            let rho = scaling(scale);
            Some(ScaleEfficiency {
                scale,
                efficiencies: efficiencies(&expected, &mean(&of_scale(scale)), rho)?,
            })
        };
        Some(Analysis {
            causes: partition(tree, &classified, &frame_of, comparison, &sides),
            efficiencies: scales.into_iter().map(of).collect::<Option<_>>()?,
            parallel_base: expected.useful.iter().sum::<f64>() / expected.whole,
        })
    }

    /// Efficiencies at a scale.
    pub fn at(&self, scale: u32) -> Option<&Efficiencies> {
        self.efficiencies.iter().find(|e| e.scale == scale).map(|e| &e.efficiencies)
    }
}

/// The innermost frame of every context, itself if it is one; the root is its own.
fn innermost_frames(tree: &Tree) -> Vec<u32> {
    let mut frames = vec![0; tree.len()];
    for context in 1..tree.len() as u32 {
        let above = frames[tree.contexts()[context as usize].parent as usize];
        frames[context as usize] = if tree.kind(context).is_frame() { context } else { above };
    }
    frames
}

/// The mean of repetitions, participant by participant from the one with least work to the one with most: which one it is
/// may change from run to run.
fn mean(ledgers: &[&Ledger]) -> Useful {
    let count = ledgers.len().max(1) as f64;
    let mut useful = vec![0.0; ledgers.iter().map(|l| l.useful.useful.len()).max().unwrap_or(0)];
    for ledger in ledgers {
        let mut own = ledger.useful.useful.clone();
        own.resize(useful.len(), 0.0);
        own.sort_by(f64::total_cmp);
        useful.iter_mut().zip(own).for_each(|(sum, seconds)| *sum += seconds / count);
    }
    let counters = ledgers.iter().map(|l| l.useful.counters).reduce(|a, b| {
        let (a, b) = (a?, b?);
        Some(Counters { instructions: a.instructions + b.instructions, cycles: a.cycles + b.cycles })
    });
    Useful {
        useful,
        whole: ledgers.iter().map(|l| l.useful.whole).sum::<f64>() / count,
        counters: counters
            .flatten()
            .map(|c| Counters { instructions: c.instructions / count, cycles: c.cycles / count }),
    }
}
