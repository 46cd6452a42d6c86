//! What bounds the speed-up, as lines of text: 1/S = Σ 1/B.

use falloff_models::{Inflexion, State, Step, Waterfall};

use super::paint::Paint;
use super::table::{Table, percent};
use super::text::section;

/// A waterfall with what its steps are.
pub(super) struct Bounding<'a> {
    pub waterfall: &'a Waterfall,
    /// The counts that are compared.
    pub counts: (f64, f64),
    /// The step that bounds larger counts as well.
    pub lasting: Option<&'a Step>,
    /// Where the time of a step stops falling.
    pub inflexion: &'a dyn Fn(&Step) -> Option<Inflexion>,
    /// What a step is called, in so many characters.
    pub name: &'a dyn Fn(&Step, usize) -> String,
    /// What steps are.
    pub heading: &'a str,
}

/// Which steps are listed, and where.
pub(super) struct Listing {
    pub paint: Paint,
    pub width: usize,
    /// Smallest share of 1/S, as a fraction.
    pub threshold: f64,
    /// Most steps.
    pub limit: usize,
}

/// Characters of a name in a sentence.
const NAME: usize = 40;

impl Bounding<'_> {
    /// The steps that take most, and what they mean.
    pub fn lines(&self, listing: &Listing) -> Vec<String> {
        let (first, last) = self.counts;
        let steps = &self.waterfall.steps;
        let worth = |step: &&Step| step.share >= listing.threshold && step.seconds > 0.0;
        let listed: Vec<&Step> = steps.iter().filter(worth).take(listing.limit).collect();
        let mut table = Table::new(&["bound", "% of 1/S", "without it", "time"]);
        for step in &listed {
            let time = (self.inflexion)(step).map_or("-".into(), |inflexion| state(&inflexion));
            table.row(vec![bound(step.bound), percent(step.share), bound(step.without), time]);
        }
        let label = |row: usize, room: usize| (self.name)(listed[row], room);
        let mut body = table.with_last(listing.width, self.heading, label).lines();
        let more = steps.iter().filter(|step| step.seconds > 0.0).count() - listed.len();
        if more > 0 {
            let share = 1.0 - listed.iter().map(|step| step.share).sum::<f64>();
            body.push(listing.paint.dim(&format!("  {more} more: {} % of 1/S", percent(share))));
        }
        body.extend(self.sentences().into_iter().map(|line| format!("  {line}")));
        let title = format!(
            "WHAT BOUNDS THE SPEED-UP ({:.2} at {last} against {first}; 1/S is the sum of 1/bound)",
            self.waterfall.speedup
        );
        section(&title, body, listing.paint)
    }

    /// What bounds now, what would then, and what bounds for good.
    fn sentences(&self) -> Vec<String> {
        let Some(tightest) = self.waterfall.steps.first() else { return Vec::new() };
        let name = |step: &Step| (self.name)(step, NAME);
        let falls = (self.inflexion)(tightest).is_some_and(|found| found.state == State::Accelerating);
        let mut lines = vec![format!(
            "{} bounds the speed-up most at {}: {} times at most{}",
            name(tightest),
            self.counts.1,
            bound(tightest.bound),
            if falls { ", and its time still falls" } else { "" }
        )];
        if let Some((next, allowed)) = tightest.next {
            lines.push(format!(
                "with this fixed, all the rest allows {}, and the next bound is {} by {}",
                bound(tightest.without),
                bound(allowed),
                name(&self.waterfall.steps[next])
            ));
        }
        lines.push(match self.lasting.and_then(|step| Some((step, (self.inflexion)(step)?))) {
            Some((step, inflexion)) => format!(
                "larger counts: {} times at most unless {}, {}, falls again",
                bound(step.bound),
                name(step),
                state(&inflexion)
            ),
            None => "larger counts: every time here still falls, so that nothing bounds them yet".into(),
        });
        lines
    }
}

/// A bound of the speed-up.
pub(super) fn bound(value: f64) -> String {
    if value.is_finite() { format!("{value:.1}") } else { "none".into() }
}

/// Whether a time still falls, in words; `?` where nothing is known of the noise.
pub(super) fn state(inflexion: &Inflexion) -> String {
    let (low, high) = inflexion.bracket;
    let text = match inflexion.state {
        State::Accelerating => "falls".into(),
        State::Saturated => format!("flat from {}", inflexion.fastest),
        State::Past => format!("least at {} ({low} to {high})", inflexion.fastest),
    };
    if inflexion.noise_known { text } else { text + " ?" }
}
