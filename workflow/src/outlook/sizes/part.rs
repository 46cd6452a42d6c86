//! One part of a run over problem sizes.

use falloff_models::Scale;

use super::surface::Surface;
use crate::outlook::part::Place;
use crate::outlook::standing::{Ranked, Standing};

/// One part of a run: its times over sizes and counts, and how it stands among the others.
#[derive(Clone, Debug, PartialEq)]
pub struct SizePart {
    /// Which it is and how it stands; now is the largest count of the largest size.
    pub standing: Standing,
    /// Its times, and what is predicted.
    pub surface: Surface,
}

impl SizePart {
    /// A part of the run whose times are `whole`, `last` being its largest scale; not yet ranked.
    pub(super) fn new(
        which: (Option<Place>, usize),
        surface: Surface,
        whole: &Surface,
        last: Scale,
    ) -> SizePart {
        let share = |target| Some(surface.at(target)? / whole.at(target)?);
        let now = (surface.measured(last), whole.measured(last));
        let standing = Standing::new(which, now, (0..whole.predictions.len()).map(share));
        SizePart { standing, surface }
    }
}

impl Ranked for SizePart {
    fn standing(&self) -> &Standing {
        &self.standing
    }

    fn standing_mut(&mut self) -> &mut Standing {
        &mut self.standing
    }

    fn then(&self, target: usize) -> Option<f64> {
        self.surface.at(target)
    }
}
