//! One part of a run: its time now and at the targets, and how it bounds the speed-up.

use std::sync::Arc;

use falloff_models::{Inflexion, PartialBounds, Turning};
use falloff_postprocess::{ScopeKind, Tree};

use super::forecast::Forecast;
use super::standing::{Ranked, Standing};
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
    /// Which it is and how it stands; now is the largest count.
    pub standing: Standing,
    /// Times at all counts.
    pub series: Series,
    /// What is predicted.
    pub forecast: Forecast,
    /// Largest over mean cost of the participants at the largest count; `None` if it does not run there.
    pub max_over_mean: Option<f64>,
    /// How fast the work of the smallest count could be done at most, while this part takes what it takes at the largest; against
    /// the run at the smallest count.
    pub bounds: PartialBounds,
    /// Where its time for the same work stops falling.
    pub inflexion: Inflexion,
    /// Where it is least by a curve through all counts, if it rises again and that can be told.
    pub turning: Option<Turning>,
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
        which: (Option<Place>, usize),
        series: Series,
        max_over_mean: Option<f64>,
        (whole, whole_forecast): (&Series, &Forecast),
        (scaling, targets): (Scaling, &[u32]),
    ) -> falloff_models::Result<Part> {
        let forecast = Forecast::new(&series, scaling, targets);
        let share = |target: &u32| Some(forecast.at(*target)? / whole_forecast.at(*target)?);
        let inflexion = Inflexion::new(&series.same_work)?;
        let now = (series.last().mean, whole.last().mean);
        Ok(Part {
            standing: Standing::new(which, now, targets.iter().map(share)),
            forecast,
            max_over_mean,
            bounds: partial_bounds(whole, &series, (0, whole.same_work.len() - 1), (max_over_mean, None))?,
            turning: series.turning_of(&inflexion),
            inflexion,
            series,
        })
    }
}

impl Ranked for Part {
    fn standing(&self) -> &Standing {
        &self.standing
    }

    fn standing_mut(&mut self) -> &mut Standing {
        &mut self.standing
    }

    fn then(&self, target: usize) -> Option<f64> {
        self.forecast.predictions.get(target)?.seconds.as_ref().ok().map(|seconds| seconds.value)
    }
}
