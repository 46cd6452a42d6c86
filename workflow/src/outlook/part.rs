//! One part of a run: its time now and at the targets, and how it bounds the speed-up.

use std::sync::Arc;

use falloff_models::{Inflexion, PartialBounds, Turning};
use falloff_postprocess::{ScopeKind, Tree};

use super::forecast::Forecast;
use crate::bounds::{Parts, Series, partial_bounds};
use crate::scoring::Scaling;

/// Where a part is in the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Context of the sweep's tree.
    pub context: u32,
    /// What it is.
    pub kind: ScopeKind,
    /// Names of the frames from the outermost to its own.
    pub path: Vec<Arc<str>>,
    /// Load module.
    pub module: Option<Arc<str>>,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// Line of the definition.
    pub line: Option<u32>,
}

/// One part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Where it is; `None` for all parts with too few samples together.
    pub place: Option<Place>,
    /// How many parts of the run it stands for: 1 if it has a place.
    pub count: usize,
    /// Times at all counts.
    pub series: Series,
    /// Its share of the whole run's time at the largest count, as a fraction.
    pub share: f64,
    /// What is predicted.
    pub forecast: Forecast,
    /// Its share of the whole run's predicted time at each target, as a fraction; `None` if one of the two is not predicted.
    pub shares: Vec<Option<f64>>,
    /// Largest over mean cost of the participants at the largest count; `None` if it does not run there.
    pub max_over_mean: Option<f64>,
    /// How fast the work of the smallest count could be done at most, while this part takes what it takes at the largest; against
    /// the run at the smallest count.
    pub bounds: PartialBounds,
    /// Where its time for the same work stops falling.
    pub inflexion: Inflexion,
    /// Where it is least by a curve through all counts, if it rises again and that can be told.
    pub turning: Option<Turning>,
    /// Its place by the time at the largest count, from 1.
    pub rank: usize,
    /// Its place by predicted time at the count that is ranked, among those that have one, from 1.
    pub rank_then: Option<usize>,
}

impl Place {
    /// The place of a context.
    fn of(tree: &Tree, context: u32) -> Place {
        let scope = tree.scope(context);
        let frame = |above: &u32| tree.kind(*above).is_frame();
        Place {
            context,
            kind: scope.kind,
            path: tree.path(context).into_iter().filter(frame).map(|c| tree.scope(c).name.clone()).collect(),
            module: scope.module.clone(),
            file: scope.file.clone(),
            line: scope.line,
        }
    }

    /// The places of the parts that are looked at one by one, each with its context, and at last, without a place, all others.
    pub(super) fn all<'a>(parts: &'a Parts, tree: &Tree) -> Vec<(Option<Place>, &'a [u32])> {
        let judged = parts.judged.chunks(1).map(|context| (Some(Place::of(tree, context[0])), context));
        let rare = Some((None, &parts.rare[..])).filter(|(_, contexts)| !contexts.is_empty());
        judged.chain(rare).collect()
    }

    /// Name of its own frame.
    pub fn name(&self) -> &str {
        self.path.last().map_or("<whole run>", |name| name)
    }
}

impl Part {
    /// A part of the run whose times are `whole` and predicted by `forecast`; not yet ranked.
    ///
    /// # Errors
    /// Its times cannot be compared.
    pub(super) fn new(
        place: Option<Place>,
        count: usize,
        series: Series,
        max_over_mean: Option<f64>,
        (whole, whole_forecast): (&Series, &Forecast),
        (scaling, targets): (Scaling, &[u32]),
    ) -> falloff_models::Result<Part> {
        let forecast = Forecast::new(&series, scaling, targets);
        let share = |target: &u32| Some(forecast.at(*target)? / whole_forecast.at(*target)?);
        let inflexion = Inflexion::new(&series.same_work)?;
        Ok(Part {
            place,
            count,
            share: series.last().mean / whole.last().mean,
            shares: targets.iter().map(share).collect(),
            forecast,
            max_over_mean,
            bounds: partial_bounds(whole, &series, (0, whole.same_work.len() - 1), (max_over_mean, None))?,
            turning: series.turning_of(&inflexion),
            inflexion,
            series,
            rank: 0,
            rank_then: None,
        })
    }

    /// Whether it stands for parts with too few samples.
    pub fn is_rare(&self) -> bool {
        self.place.is_none()
    }
}
