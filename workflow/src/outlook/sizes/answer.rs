//! The outlook of sweeps at several problem sizes.

use std::sync::Arc;

use falloff_models::{EXTRAPOLATION_MAX, Points, Scale, within_reach};
use falloff_postprocess::ClockGroups;
use rayon::prelude::*;

use super::joined::{Joined, SizedSweep};
use super::part::SizePart;
use super::surface::Surface;
use super::target::Target;
use crate::bounds::Parts;
use crate::outlook::part::Place;
use crate::outlook::standing::rank;
use crate::outlook::terms::{AskedTerms, LinearForm};
use crate::scoring::{Run, RunHealth, check_metric};
use crate::{Error, Result};

/// What the user asks in place of the default.
#[derive(Clone, Debug, Default)]
pub struct SizeAsked {
    /// Metric; what is scored by default if not given.
    pub metric: Option<String>,
    /// What to predict; twice the largest size, twice the largest count, and both, if none is given.
    pub targets: Vec<Target>,
    /// Counts that the time is made of, if the user knows some.
    pub terms: AskedTerms,
}

/// What columns of sweeps are asked.
#[derive(Clone, Debug)]
pub struct SizeQuestion {
    /// Metric, in nanoseconds.
    pub metric: String,
    /// As in [`SizeAsked`].
    pub targets: Vec<Target>,
    /// Asked time between samples, seconds.
    pub period: f64,
}

/// What sweeps at several problem sizes say of sizes and counts at which nobody ran the program.
#[derive(Clone, Debug)]
pub struct SizeOutlook {
    /// Metric.
    pub metric: String,
    /// Scales that are predicted, by size and count.
    pub targets: Vec<Scale>,
    /// The last of these that models reach; parts are in the order of their times there. `None` if all are too far.
    pub ranked: Option<usize>,
    /// The largest count of the largest size.
    pub last: Scale,
    /// The whole run.
    pub whole: Surface,
    /// Its parts, which have all of its time, in the order of their ranks.
    pub parts: Vec<SizePart>,
    /// The time of the whole run by the counts that it is made of, if these were asked for.
    pub form: Option<Arc<LinearForm>>,
    /// Cost of threads that the application did not start, over all runs; it is in no model. Seconds.
    pub helper_seconds: f64,
    /// State of the measurements of each sweep.
    pub health: Vec<RunHealth>,
}

impl SizeOutlook {
    /// Models the good runs of sweeps, which are put in order of their sizes.
    ///
    /// # Errors
    /// A size is given twice, a sweep has no good run, the metric is no time that was measured in all runs, or these were measured by
    /// unlike clocks.
    pub fn new(sweeps: &mut [SizedSweep], asked: &SizeAsked) -> Result<SizeOutlook> {
        sweeps.sort_by(|a, b| a.size.total_cmp(&b.size));
        different(sweeps)?;
        for sweep in sweeps.iter() {
            sweep.results.check_some_good()?;
        }
        let metric = asked.metric.clone().unwrap_or_else(|| default_metric(sweeps));
        let mut clocks = ClockGroups::for_metric(&metric);
        for SizedSweep { results, .. } in sweeps.iter() {
            check_metric(&results.runs, &metric, "model")?;
            results.add_clocks(&mut clocks);
        }
        let dir = &sweeps[0].results.state.dir;
        if let Some(groups) = clocks.unlike() {
            return Err(Error::UnlikeClocks { path: dir.clone(), groups });
        }
        let joined = Joined::new(sweeps, &metric).ok_or_else(|| Error::NotEnoughRuns {
            path: dir.clone(),
            reason: format!("`{metric}` was not measured in every run"),
        })?;
        let slowest = sweeps.iter().map(|sweep| sweep.results.state.plan.rate_hz).min().unwrap_or(1);
        let question =
            SizeQuestion { metric, targets: asked.targets.clone(), period: 1.0 / f64::from(slowest) };
        let health = sweeps.iter().map(|sweep| RunHealth::of(&sweep.results.runs)).collect();
        let mut outlook = SizeOutlook::of_columns(&joined, &question, health)?;
        let runs = sweeps.iter().flat_map(|sweep| sweep.results.runs.iter().map(|run| (sweep.size, run)));
        let runs: Vec<(f64, &Run)> = runs.collect();
        outlook.form = asked.terms.fit(&outlook.whole.times, &runs, &outlook.targets)?.map(Arc::new);
        Ok(outlook)
    }

    /// Models columns of exclusive cost over a tree.
    ///
    /// # Errors
    /// A run has no cost at all.
    pub fn of_columns(
        joined: &Joined,
        question: &SizeQuestion,
        health: Vec<RunHealth>,
    ) -> Result<SizeOutlook> {
        let Joined { tree, columns, .. } = joined;
        let parts = Parts::new(tree, columns);
        let wholes: Vec<f64> = parts.costs.iter().map(|column| column.iter().sum()).collect();
        let period = columns.period(question.period);
        let observed = |work: &[f64]| joined.observations(period, &wholes, work);
        let times = Points::new(&observed(&wholes))?;
        let largest = Scale { n: times.largest_n(), p: times.largest_p() };
        let targets = targets(&question.targets, largest);
        let ranked = targets.iter().rposition(|at| within_reach(&times, *at, EXTRAPOLATION_MAX).is_ok());
        let whole = Surface::new(&observed(&wholes), &targets)?;
        let last = times.get(times.len() - 1).scale;

        let part = |(place, contexts): (Option<Place>, &[u32])| {
            let sum = |column: &Vec<f64>| contexts.iter().map(|context| column[*context as usize]).sum();
            let work: Vec<f64> = parts.costs.iter().map(sum).collect();
            let surface = Surface::new(&observed(&work), &targets)?;
            Ok(SizePart::new((place, contexts.len()), surface, &whole, last))
        };
        let mut modelled =
            Place::all(&parts, tree).into_par_iter().map(part).collect::<falloff_models::Result<Vec<_>>>()?;
        rank(&mut modelled, ranked);
        Ok(SizeOutlook {
            metric: question.metric.clone(),
            targets,
            ranked,
            last,
            whole,
            parts: modelled,
            form: None,
            helper_seconds: columns.helper_seconds,
            health,
        })
    }

    /// How many of the call paths are not predicted at a target, and their share of the time at the largest count of the largest size, as
    /// a fraction.
    pub fn refused(&self, target: usize) -> (usize, f64) {
        let refused = self.parts.iter().filter(|part| part.surface.at(target).is_none());
        refused.fold((0, 0.0), |(count, share), SizePart { standing, .. }| {
            (count + standing.count, share + standing.share)
        })
    }
}

/// Fails if two sweeps are of one size.
fn different(sweeps: &[SizedSweep]) -> Result<()> {
    match sweeps.windows(2).find(|pair| pair[0].size == pair[1].size) {
        None => Ok(()),
        Some(pair) => Err(Error::Usage {
            action: "model the sweeps",
            reason: format!("the size {} is given twice", pair[0].size),
            hint: "give each sweep the size of its problem: `falloff model 500=small 1000=large`".into(),
        }),
    }
}

/// The metric that is modelled if none is named: CPU time, if processes shared processors in any of the sweeps.
fn default_metric(sweeps: &[SizedSweep]) -> String {
    let names: Vec<String> = sweeps.iter().map(|sweep| sweep.results.default_metric()).collect();
    let shared = names.iter().find(|name| *name == "cpu");
    shared.or(names.first()).cloned().unwrap_or_default()
}

/// The scales to predict, each once, by size and count.
fn targets(asked: &[Target], largest: Scale) -> Vec<Scale> {
    let mut targets: Vec<Scale> = match asked {
        [] => [(2.0, 1.0), (1.0, 2.0), (2.0, 2.0)]
            .map(|(n, p)| Scale { n: n * largest.n, p: p * largest.p })
            .to_vec(),
        asked => asked.iter().map(|target| target.scale(largest)).collect(),
    };
    targets.sort_by(|a, b| a.n.total_cmp(&b.n).then(a.p.total_cmp(&b.p)));
    targets.dedup();
    targets
}
